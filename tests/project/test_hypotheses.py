"""What the program checks is what the theorems assume: their Coq text on the same numbers."""

import re
from dataclasses import replace
from fractions import Fraction
from inspect import signature
from itertools import product
from math import prod

import check_proofs as check
import pytest
from support.coq import cases, evaluate, value
from support.draws import DICE, some

from dproo.core.draw import RandomSource
from dproo.core.numbers import exp_lower, exp_upper
from dproo.mechanisms import hypotheses
from dproo.mechanisms.keep import KeepRule
from dproo.mechanisms.network import SENSITIVITY, Network
from dproo.mechanisms.rows import RowSampler
from dproo.synthesis.request import CHOICE, MEASURE, QUESTION, TableRequest
from dproo.synthesis.run import run

pytestmark = pytest.mark.one_of(3)

THEOREMS = check.theorems()
UNCHECKED = {"search_found_nothing", "bare_search_found_nothing"}


def unchecked(values, slope):
    """Return a table that was not checked when it was made."""
    table = object.__new__(hypotheses.LetterTable)
    object.__setattr__(table, "values", tuple(values))
    object.__setattr__(table, "slope", slope)
    return table


def python(name, numbers):
    """Return what the condition of this name says of the same numbers."""
    holds = getattr(hypotheses, name)
    return holds(**{asked: numbers[asked] for asked in signature(holds).parameters})


def any_table(*, is_convex):
    steps = [DICE.randint(-1, 6) for _ in range(DICE.randint(1, 4))]
    if is_convex:
        steps = sorted(map(abs, steps))
    values = [DICE.randint(1, 9) if is_convex else DICE.randint(0, 9)]
    for step in steps[:-1]:
        values.append(values[-1] + step)
    return unchecked(values, steps[-1])


CONSTANT = {"table_straight"}


def compared(theorem, names, drawn, bound, *, least):
    """Compare every condition with the theorem's, and return which of both answers each gave.

    At least so many are drawn, and then more only until every condition gave both.
    """
    tried = {name: set() for name in names}
    for place, (numbers, coq) in enumerate(drawn):
        if place >= least and all(len(tried[name]) == 2 for name in names if name not in CONSTANT):
            break
        for name in names:
            # A table that rises from a positive entry on is all that its growth is asked of.
            if name == "table_grows_at_most" and not hypotheses.table_positive(numbers["table"]):
                continue
            said = evaluate(THEOREMS[theorem], name, coq, bound=bound)
            assert said is python(name, numbers), (name, numbers)
            tried[name].add(said)
    return tried


LS_ROO = "ls_roo_add_remove", "ls_roo_search", "ls_roo_both"


@pytest.mark.one_of(3)
@pytest.mark.parametrize(("theorem", "is_convex"), some(product(LS_ROO, [True, False]), one_of=2))
def test_the_conditions_of_ls_roo_are_those_of_its_theorems(theorem, is_convex):
    def drawn():
        for _ in range(60 if is_convex else 3000):
            table, n, k = any_table(is_convex=is_convex), DICE.randint(1, 6), DICE.randint(2, 4)
            growth = Fraction(DICE.randint(9, 40), 10)
            stop = table.last + DICE.randint(-1, 3) if table.last else DICE.randint(0, 3)
            if is_convex:
                stop = hypotheses.search_stop(table, growth)
            numbers = {"table": table, "growth": growth, "stop": stop, "n": n, "k": k}
            coq = {
                "f": lambda c, table=table: Fraction(table(c)),
                "G": growth, "n": n, "k": k, "last": table.last, "stop": stop,
            }  # fmt: skip
            yield numbers, coq

    names = [name for name in THEOREMS[theorem].hypotheses if is_convex or name not in UNCHECKED]
    tried = compared(theorem, names, drawn(), bound=10 if is_convex else 40, least=60)
    if is_convex:
        assert tried.keys() & UNCHECKED == {name for name in names if name in UNCHECKED}
        assert all(tried[name] == {True, False} for name in names if name in UNCHECKED)
    else:
        assert all(found == {True, False} for name, found in tried.items() if name not in CONSTANT)


@pytest.mark.one_of(3)
@pytest.mark.parametrize(("theorem", "letters"), [("ds_roo_replace", 3), ("ds_roo_two_letters", 2)])
def test_the_conditions_of_ds_roo_are_those_of_its_theorems(theorem, letters):
    def drawn():
        for _ in range(400):
            size = DICE.randint(1, 4)
            entries = [DICE.randint(-1, 11) for _ in range(size)]
            if DICE.randint(0, 2):
                entries = sorted(map(abs, entries), reverse=True)
            n, unit = DICE.randint(1, 9), DICE.choice([0, 8, 10, 12])
            growth = Fraction(DICE.randint(9, 40), 10)
            numbers = {
                "entries": tuple(entries), "unit": unit, "growth": growth, "n": n, "k": letters
            }  # fmt: skip
            coq = {
                "table": lambda m, entries=entries: Fraction(entries[min(m, len(entries) - 1)]),
                "unit": Fraction(unit), "G": growth, "n": n, "k": letters,
            }  # fmt: skip
            is_sound = min(entries) >= 0 and max(entries) <= unit and growth >= 1
            yield numbers, coq, is_sound

    names = THEOREMS[theorem].hypotheses
    tried = {name: set() for name in names}
    for numbers, coq, is_sound in drawn():
        for name in names:
            # From the last entry on, the others decide what is asked of larger minima.
            if is_sound or ("_may_" not in name and "pair_" not in name):
                said = evaluate(THEOREMS[theorem], name, coq, bound=12)
                assert said is python(name, numbers), (name, numbers)
                tried[name].add(said)
    assert all(found == {True, False} for found in tried.values()), tried


@pytest.mark.parametrize(
    "theorem", ["limit_of_samplers", "limit_of_samplers_even", "limit_of_samplers_few",
                "limit_of_datasets"]
)  # fmt: skip
def test_the_conditions_of_the_limit_are_those_of_its_theorems(theorem):
    def drawn():
        for _ in range(200):
            letters, k, n, count = (DICE.randint(0, 4) for _ in range(4))
            share = DICE.choice([Fraction(1, letters or 1), Fraction(DICE.randint(-1, 4), 4)])
            growth = Fraction(DICE.randint(8, 14), 10)
            numbers = {
                "letters": letters, "k": k, "share": share, "growth": growth, "n": n,
                "records": count,
            }  # fmt: skip
            yield numbers, {"letters": letters, "k": k, "u": share, "G": growth, "c": count, "n": n}

    tried = compared(theorem, THEOREMS[theorem].hypotheses, drawn(), bound=1, least=10**9)
    assert all(found == {True, False} for found in tried.values())


@pytest.mark.parametrize(
    ("theorem", "name", "times"),
    [("roo_replace", "base_covers_draws", "draws"),
     ("roo_one_draw_replace", "base_covers_records", "records")],
)  # fmt: skip
def test_the_conditions_of_roo_are_those_of_its_theorems_at_every_rational_growth(
    theorem, name, times
):
    """They hold at the bound below e^epsilon only if they hold, and then at the one above it."""
    found = set()
    for _ in range(200):
        base, unit, many = (DICE.randint(1, 6) for _ in range(3))
        epsilon = Fraction(DICE.randint(1, 40), 20)
        coq = {"base": lambda _, base=base: base, "unit": Fraction(unit), "draws": many, "g": many}
        low, high = (
            evaluate(THEOREMS[theorem], name, coq | {"G": bound(epsilon)}, bound=1)
            for bound in (exp_lower, exp_upper)
        )
        held = python(name, {"base": base, "unit": unit, times: many, "epsilon": epsilon})
        assert low <= held <= high
        found.add(held)
    assert found == {True, False}


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_a_row_checks_exactly_what_its_theorem_assumes(relation):
    network = Network.of({"a": (), "b": ("a",), "c": ("a", "b")}, [2, 3, 4])
    row = RowSampler(epsilon=1, network=network, neighbours=relation, n=50)
    assert {*row.conditions} == {*THEOREMS[row.theorem].hypotheses}
    assert all(row.conditions.values())


def test_a_row_whose_steps_are_private_for_the_wrong_relation_cannot_be_made():
    class Wrong(RowSampler):
        def _step(self, family, epsilon):
            return self.sampler(epsilon=epsilon, k=self.network.sizes[family.column], n=self.n)

    network = Network.of({"a": (), "b": ("a",)}, [2, 3])
    with pytest.raises(ValueError, match=r"^the row did not certify: steps_private_both does not"):
        Wrong(epsilon=1, network=network, n=50)


KINDS = {MEASURE: "Measure", CHOICE: "Choose", QUESTION: "Ask"}


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_the_steps_of_a_table_have_the_ratios_of_its_theorem(relation):
    """A step's largest ratio is ``step_growth`` of ``Table.v``, whichever kind it is of."""
    theorem = THEOREMS["table_replace" if relation == "replace" else "table_add_remove"]
    [changes] = re.findall(r"step_growth (\d)", theorem.hypotheses["paths_within"])
    growth, sound = cases("Table.v", "step_growth"), cases("Table.v", "sound")
    assert {*growth} == {*sound} == {*KINDS.values()}
    request = TableRequest(
        sizes=(2, 3), epsilon=1, neighbours=relation, records=60 if relation == "replace" else None
    )
    cost = Fraction(DICE.randint(1, 99), 100)
    made = [request.measurement((0,), cost), request.choice((0, 1), cost), request.question(cost)]
    assert [step.kind for step in made] == [*KINDS]
    for step in made:
        q, asked = step.ratio.value, 16 * SENSITIVITY[relation]
        numbers = {"q": q, "t": q, "u": 16, "s": asked, "changes": int(changes)}
        assert step.largest_ratio == value(growth[KINDS[step.kind]], numbers)
        assert step.kind == CHOICE or "0 < q < 1" in sound[KINDS[step.kind]]


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_a_table_checks_exactly_what_its_theorem_assumes(relation):
    sizes = (2, 3, 2)

    def provide(families):
        for family in families:
            yield [DICE.randint(0, 90) for _ in range(prod(sizes[column] for column in family))]

    records = 60 if relation == "replace" else None
    request = TableRequest(sizes=sizes, epsilon=1, neighbours=relation, records=records)
    found = run(request, provide, RandomSource())
    assert {*found.conditions} == {*THEOREMS[found.theorem].hypotheses}
    assert all(found.conditions.values())
    louder = replace(found, steps=(*found.steps, request.measurement((0,), Fraction(1, 10))))
    assert louder.conditions == {"steps_sound": True, "paths_within": False}
    assert not hypotheses.steps_sound([Fraction(1, 2), Fraction(1)])
    gaussian = replace(found, request=replace(request, delta=Fraction(1, 9), noise="gaussian"))
    assert gaussian.theorem is None
    assert gaussian.conditions == {}


@pytest.mark.parametrize("theorem", ["keep_add_remove", "keep_replace", "keep_unseen"])
def test_the_conditions_of_the_keep_rule_are_those_of_its_theorems(theorem):
    def drawn():
        for _ in range(4000):
            weights = [DICE.randint(0, 5) for _ in range(DICE.randint(0, 4))]
            if DICE.randint(0, 1):
                weights += weights[::-1]
            records = DICE.randint(0, len(weights) + 1)
            growth, minimum = Fraction(DICE.randint(8, 40), 10), DICE.randint(0, 1)
            numbers = {
                "weights": tuple(weights), "growth": growth, "records": records, "minimum": minimum
            }  # fmt: skip
            coq = {
                # A person with one record more than there are weights sees the last one again.
                "w": lambda t, weights=weights: Fraction([*weights, *weights[-1:]][t]),
                "size": len(weights), "G": growth, "g": records, "minimum": minimum,
            }  # fmt: skip
            yield numbers, coq

    tried = compared(theorem, THEOREMS[theorem].hypotheses, drawn(), bound=9, least=60)
    assert all(found == {True, False} for found in tried.values())


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_the_keep_rule_checks_exactly_what_its_theorems_assume(relation):
    rule = KeepRule(epsilon=1, delta="0.001", neighbours=relation, records=2)
    assumed = THEOREMS[rule.theorem].hypotheses | THEOREMS["keep_unseen"].hypotheses
    assert {*rule.conditions} == {*assumed}
    assert rule.largest_ratio == rule.growth**rule.changes
