"""The machine-checked proofs: what the pages and the program say of them is what they say.

``make proofs`` checks the proofs themselves; nothing here needs Coq.
"""

import re
from dataclasses import replace
from fractions import Fraction
from inspect import signature
from itertools import product
from pathlib import Path

import check_proofs as check
import pytest
from support.draws import DICE

import dproo
from dproo.core.counts import Counts
from dproo.mechanisms import SAMPLERS, hypotheses, mechanism
from dproo.mechanisms.ls_roo.calibration import Envelope
from dproo.mechanisms.ls_roo.sampler import LetterSpecificRevealOrObscure
from dproo.mechanisms.ls_roo.table import LetterTable


def unchecked(values, slope):
    """Return a table that was not checked when it was made."""
    table = object.__new__(LetterTable)
    object.__setattr__(table, "values", tuple(values))
    object.__setattr__(table, "slope", slope)
    return table


ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "proofs").glob("*.md"))
LIST = ROOT / "docs" / "proofs" / "machine_checked.md"

THEOREMS = check.theorems()
MADE = [
    mechanism(name, epsilon=epsilon, n=12, k=3, neighbours=relation, **options)
    for name, options in [
        ("roo", {}),
        ("subrr", {}),
        ("roo", {"draws": 3, "prior": [1, 2, 5]}),
        ("roo", {"records_per_person": 4}),
        ("roo", {"records_per_person": 30, "draws": 5, "prior": [1, 2, 5]}),
        ("ls-roo", {}),
        ("ds-roo", {}),
    ]
    for relation in SAMPLERS[name].relations
    for epsilon in ("0.1", "1", "8")
] + [
    mechanism("ds-roo", epsilon=epsilon, n=n, k=2)
    for epsilon in ("0.1", "1", "8")
    for n in (1, 2, 11, 12, 1000)
]


def condition_of(name):
    """Return the condition with the name of a hypothesis."""
    return getattr(hypotheses, name)


def blocks_of(page):
    """Yield the indented blocks of a page, without their indentation."""
    for block in re.findall(r"(?:^    .*\n)+", page.read_text(encoding="utf-8"), re.MULTILINE):
        yield re.sub(r"^    ", "", block, flags=re.MULTILINE).rstrip()


# The sources


def test_nothing_is_assumed_or_left_out():
    assert check.gaps() == []


@pytest.mark.parametrize("gap", ["Admitted.", "Axiom a : False.", "Parameter p : nat.", "admit."])
def test_a_gap_would_be_found(gap):
    assert re.search(check.GAPS, check.without_comments(f"Proof. (* fine *) {gap}"))
    assert not re.search(check.GAPS, check.without_comments(f"(* {gap} *) Qed."))


def test_every_source_is_checked():
    assert sorted(check.files()) == sorted(path.name for path in (ROOT / "proofs").glob("*.v"))


def test_a_theorem_is_read_with_the_hypotheses_of_its_own_sections():
    assert [*THEOREMS["ls_roo_add_remove"].hypotheses] == [
        "table_positive",
        "table_rising",
        "table_grows_at_most",
        "growth_at_least_one",
    ]
    assert "table_grows_at_most" not in THEOREMS["ls_roo_replace"].hypotheses
    assert THEOREMS["group_privacy"].hypotheses == {}


# The pages


def test_the_list_of_theorems_is_that_of_the_sources():
    text = LIST.read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE) == [*THEOREMS]


def test_every_theorem_is_quoted_once_and_every_quote_is_one():
    quotes = [block for page in PAGES for block in blocks_of(page) if "Theorem " in block]
    assert sorted(quotes) == sorted(theorem.quote for theorem in THEOREMS.values())


def test_the_paper_map_names_theorems_that_exist():
    text = (ROOT / "docs" / "paper-map.md").read_text(encoding="utf-8")
    rows = [line.split("|") for line in text.splitlines() if line.startswith("|")]
    assert {len(row) for row in rows} == {7}
    named = {name for row in rows[2:] for name in re.findall(r"`(\w+)`", row[4])}
    assert named
    assert named <= {*THEOREMS}


# The conditions


@pytest.mark.parametrize("made", MADE, ids=lambda made: f"{made.theorem}-{made.epsilon}")
def test_a_sampler_checks_exactly_what_its_theorem_assumes(made):
    assert {*made.conditions} == {*THEOREMS[made.theorem].hypotheses}
    assert all(callable(condition_of(name)) for name in made.conditions)
    assert all(made.conditions.values())


def test_a_sampler_without_a_theorem_claims_no_condition():
    both = mechanism("roo", epsilon=8, n=12, k=3, draws=2, records_per_person=2)
    many = mechanism("roo", epsilon=1, n=100, k=3, draws=65, records_per_person=65)
    answers = mechanism("subrr", epsilon=1, n=12, k=3, draws=2)
    others = [mechanism("bal-roo", epsilon=1, n=100, k=3)]
    others += [mechanism("ds-roo", epsilon=1, n=100, k=3, as_printed=True)]
    for made in (both, many, answers, *others):
        assert made.theorem is None
        assert made.conditions == {}


def test_a_sampler_that_fails_a_condition_cannot_be_made():
    class Broken(LetterSpecificRevealOrObscure):
        @property
        def conditions(self):
            return super().conditions | {"table_convex": False}

    with pytest.raises(ValueError, match=r"^ls-roo did not certify: table_convex does not hold\.$"):
        Broken(epsilon=1, n=12, k=3)


@pytest.mark.parametrize(
    ("n", "k", "theorem"),
    [
        (1000, 9, "limit_of_samplers"),
        (30, 9, "limit_of_samplers_even"),
        (3, 2, "limit_of_samplers_few"),
    ],
)
def test_the_limit_checks_exactly_what_its_theorem_assumes(n, k, theorem):
    found = [
        dproo.limit(n=n, k=k, epsilon="0.1", neighbours=relation)
        for relation in ("replace", "add-remove")
    ]
    assert found[0].theorem == theorem
    for limit in found:
        assert {*limit.conditions} == {*THEOREMS[limit.theorem].hypotheses}
        assert all(callable(condition_of(name)) for name in limit.conditions)
        assert all(limit.conditions.values())


def test_a_limit_that_fails_a_condition_cannot_be_made():
    found = dproo.limit(n=1000, k=9, epsilon="0.1")
    with pytest.raises(ValueError, match=r"^the limit does not follow: share_fits does not hold"):
        replace(found, pair=(3, Fraction(1, 2)))


TWO = Fraction(2)


@pytest.mark.parametrize(
    ("condition", "good", "bad"),
    [
        ("table_positive", [unchecked((1, 2), 1)], [unchecked((0, 1), 1)]),
        ("table_rising", [unchecked((1, 1), 0)], [unchecked((2, 1), 1)]),
        ("table_convex", [unchecked((1, 2, 4), 2)], [unchecked((1, 3, 4), 2)]),
        ("table_convex", [unchecked((1, 2, 4), 2)], [unchecked((1, 2, 5), 2)]),
        ("growth_at_least_one", [Fraction(1)], [Fraction(99, 100)]),
        ("search_ends", [unchecked((1, 2), 1), 1], [unchecked((1, 2), 1), 0]),
        (
            "stop_grows_at_most",
            [unchecked((1, 2), 2), TWO, 1],
            [unchecked((1, 2), 3), TWO, 1],
        ),
        ("unit_positive", [1], [0]),
        ("base_positive", [1], [0]),
        ("unit_nonnegative", [0], [-1]),
        ("base_covers_draws", [2, 1, 3, Fraction(1)], [1, 1, 2, Fraction(1)]),
        ("lightest_positive", [1], [0]),
        ("base_at_least", [2, (3, 2)], [2, (3, 1)]),
        ("unit_at_most_lightest", [2, 2], [3, 2]),
        ("lightest_covers_all", [9, 2, 2, 3, Fraction(1)], [8, 2, 2, 3, Fraction(1)]),
        ("entries_nonnegative", [(1, 0)], [(1, -1)]),
        ("entries_at_most_unit", [(2, 1), 2], [(3, 1), 2]),
        ("entries_falling", [(1, 1)], [(1, 2)]),
        ("letters_leave_one", [1, 2], [2, 2]),
        ("letters_leave_one", [1, 2], [0, 2]),
        ("letters_are_several", [2, 2], [1, 2]),
        ("letters_are_several", [2, 2], [3, 2]),
        ("share_nonnegative", [Fraction(0)], [Fraction(-1, 9)]),
        ("share_fits", [2, Fraction(1, 2)], [2, Fraction(51, 100)]),
        ("share_even", [2, Fraction(1, 2)], [2, Fraction(49, 100)]),
        ("some_letter", [1], [0]),
        ("some_records", [1], [0]),
        ("records_fit", [2, 3, 6], [2, 3, 5]),
        ("base_covers_records", [2, 1, 3, Fraction(1)], [1, 1, 2, Fraction(1)]),
    ],
)
def test_each_condition_tells_a_table_that_breaks_it(condition, good, bad):
    holds = condition_of(condition)
    assert holds(*good)
    assert not holds(*bad)


@pytest.mark.parametrize(
    ("condition", "entries"),
    [
        ("rarest_may_gain", (13, 13)),
        ("minimum_may_fall", (14, 8)),
        ("largest_may_rise", (37, 21)),
    ],
)
def test_a_table_of_data_specific_entries_that_breaks_a_condition_is_told(condition, entries):
    """Among twelve records of three letters, at a growth of 3/2, each table breaks exactly one."""
    asked = "rarest_may_gain", "minimum_may_fall", "largest_may_rise"
    table = entries, 40, Fraction(3, 2)
    held = {name: condition_of(name)(*table, n=12, k=3) for name in asked}
    assert held == {name: name != condition for name in asked}


def ratio_of_entries(entries, unit, n, k):
    """Return the largest ratio of DS-ROO with these entries, by looking at all neighbours."""

    def weights(counts):
        q = entries[min(*counts, len(entries) - 1)]
        return [q * n + (unit - q) * k * count for count in counts]

    worst = Fraction(1)
    for before in product(range(n + 1), repeat=k):
        if sum(before) != n:
            continue
        for a, b in product(range(k), repeat=2):
            if before[b] and a != b:
                after = [*before]
                after[a], after[b] = after[a] + 1, after[b] - 1
                pairs = zip(weights(after), weights(before), strict=True)
                worst = max(worst, *(Fraction(new, old) for new, old in pairs))
    return worst


def test_entries_that_meet_the_conditions_do_not_leak():
    """The least growth at which a random table meets them is never below its true ratio."""
    for k, asked in [
        (2, ["pair_rises", "pair_grows_at_most"]),
        (3, ["entries_falling", "rarest_may_gain", "minimum_may_fall", "largest_may_rise"]),
    ]:
        met = 0
        for _ in range(400):
            n = DICE.randint(1, 9)
            entries = tuple(sorted(DICE.choices(range(1, 41), k=DICE.randint(1, 4)))[::-1])
            growth = Fraction(DICE.randint(100, 300), 100)
            arguments = {
                "entries": entries, "unit": 40, "growth": growth, "n": n, "k": k
            }  # fmt: skip
            if all(
                holds(**{name: arguments[name] for name in signature(holds).parameters})
                for holds in map(condition_of, asked)
            ):
                assert ratio_of_entries(entries, 40, n, k) <= growth
                met += 1
        assert met > 20


def test_a_table_of_two_letters_that_breaks_a_condition_is_told():
    """Of three records, in units of ten: the rarer letter has one of them or none."""
    for entries, rises, grows in [
        ((5, 5), True, True),
        ((0, 0), True, False),
        ((8, 3), False, True),
    ]:
        assert hypotheses.pair_rises(entries, 10, n=3) is rises
        assert hypotheses.pair_grows_at_most(entries, 10, Fraction(5, 3), n=3) is grows


def test_the_growth_of_a_table_is_asked_up_to_the_most_records_and_no_further():
    for n, holds in [(1, True), (2, True), (3, False), (9, False)]:
        table = unchecked((4, 8, 16), 17)
        assert hypotheses.table_grows_at_most(table, TWO, n=n) is holds


def test_a_table_is_straight_from_its_end_on():
    class Bent(LetterTable):
        def __call__(self, count):
            return super().__call__(count) + (count > self.last + 1)

    assert hypotheses.table_straight(unchecked((1, 2), 3))
    assert not hypotheses.table_straight(Bent((1, 2), 3))


def tables(number):
    """Yield random convex tables, some of them short, flat or steep."""
    for _ in range(number):
        steps = sorted(DICE.choices(range(DICE.choice([2, 9])), k=DICE.randint(1, 5)))
        values = [DICE.randint(1, 30)]
        for step in steps[:-1]:
            values.append(values[-1] + step)
        yield LetterTable(tuple(values), steps[-1])


def lifted_tables(number):
    """Yield tables that grow by one factor up to their end, as LS-ROO's do.

    An unseen letter is the worst one there, and what it gains depends on how the rest lies.
    """
    for _ in range(number):
        n, k = DICE.choice([(6, 4), (8, 4), (6, 5)])
        growth = 1 + Fraction(DICE.randint(300, 900), 1000)
        tables = Envelope(growth, n, k)
        yield tables.table(tables.largest_rate), n, k


def exact_ratio(table, n, k):
    """Return the largest ratio over all neighbours, by looking at all of them."""
    worst = Fraction(1)
    for before in product(range(n + 1), repeat=k):
        if sum(before) != n:
            continue
        total = sum(map(table, before))
        for a, b in product(range(k), repeat=2):
            if before[b] and a != b:
                after = [*before]
                after[a], after[b] = after[a] + 1, after[b] - 1
                scale = Fraction(total, sum(map(table, after)))
                worst = max(
                    worst,
                    *(
                        scale * Fraction(table(new), table(old))
                        for new, old in zip(after, before, strict=True)
                    ),
                )
    return worst


@pytest.mark.one_of(3)
def test_the_search_finds_nothing_exactly_where_no_neighbours_leak():
    """At the exact worst ratio it finds nothing; a hair below it, it does."""
    found = 0
    sizes = [(k, n) for k in (2, 3, 4, 5) for n in range(1, 10 - k)]
    any_tables = [(table, n, k) for table in tables(200) for k, n in [DICE.choice(sizes)]]
    for table, n, k in [*any_tables, *lifted_tables(12)]:
        ratio = exact_ratio(table, n, k)
        for growth, holds in [(ratio, True), (ratio * (1 - Fraction(1, 2**40)), False)]:
            if growth <= 1:
                continue
            stop = hypotheses.search_stop(table, growth)
            assert hypotheses.search_ends(table, stop)
            assert hypotheses.stop_grows_at_most(table, growth, stop)
            shown = hypotheses.search_found_nothing(table, growth, stop, n=n, k=k)
            assert shown is holds, (table, n, k, growth)
            found += 1
    assert found > 100


def test_without_convexity_the_search_would_miss_a_leak():
    table, growth = unchecked((1, 1, 7, 7, 10), 0), Fraction(21, 5)
    stop = hypotheses.search_stop(table, growth)
    assert hypotheses.search_found_nothing(table, growth, stop, n=4, k=3)
    assert exact_ratio(table, 4, 3) == 7
    assert not hypotheses.table_convex(table)


def test_the_counts_of_a_dataset_are_those_of_the_theorems():
    """A letter's weight is the table at its count, and the law its share of the total."""
    made = mechanism("ls-roo", epsilon=1, n=12, k=3)
    weights = [made.table(count) for count in (7, 5, 0)]
    assert made.pmf(Counts.of([7, 5, 0])) == [Fraction(w, sum(weights)) for w in weights]
