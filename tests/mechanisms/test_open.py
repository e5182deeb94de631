"""Letters that nobody can list: (epsilon, delta) over all neighbours and all sets of outputs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
from click.testing import CliRunner
from support.divergences import hockey_stick, worst_divergence
from support.draws import DICE, SOAK, some

import dproo
from dproo.analysis.planner import plan_open
from dproo.cli.commands import cli
from dproo.core.counts import Counts
from dproo.core.numbers import exp_upper
from dproo.mechanisms import ADD_REMOVE, REPLACE
from dproo.mechanisms.open import OpenAlphabet

LETTERS = 4

SIZES = range(1, 9)
SETTINGS = [("0.01", "1e-6"), ("1", "0.01"), ("1", "0.4"), ("5", "1e-9"), ("20", "0.9")]


@pytest.mark.parametrize(("epsilon", "delta"), SETTINGS)
@pytest.mark.parametrize("n", some(SIZES, one_of=4))
def test_replacing_one_record_leaks_exactly_what_is_certified(
    n: int, epsilon: str, delta: str
) -> None:
    for minimum in (1, 2, 3) if SOAK else (1, 2 + n % 2):
        law = OpenAlphabet(epsilon=epsilon, delta=delta, n=n, minimum=minimum)  # type: ignore[arg-type]
        worst = worst_divergence(law, letters=LETTERS)
        assert worst == law.largest_delta <= law.delta


@pytest.mark.parametrize(("epsilon", "delta"), SETTINGS)
def test_adding_one_record_leaks_at_most_what_is_certified(epsilon: str, delta: str) -> None:
    for minimum in (1, 2):
        law = OpenAlphabet(
            epsilon=epsilon,  # type: ignore[arg-type]
            delta=delta,  # type: ignore[arg-type]
            neighbours=ADD_REMOVE,
            minimum=minimum,
        )
        worst = worst_divergence(law, letters=LETTERS, records=max(SIZES) if SOAK else 6)
        assert worst <= law.largest_delta <= law.delta


def largest_by_search(law: OpenAlphabet, records: int) -> Fraction:
    """Return the largest divergence where one letter gains a record, over all sizes."""
    found = [Fraction(0)]
    for count in range(records):
        for others in range(records):
            before, after = [count, others], [count + 1, others]
            found.append(hockey_stick(law.pmf(after), law.pmf(before), law.growth))
    return max(found)


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "0.01"), ("0.7", "0.3"), ("3", "0.001")])
def test_the_certificate_under_add_remove_is_reached(epsilon: str, delta: str) -> None:
    law = OpenAlphabet(epsilon=epsilon, delta=delta, neighbours=ADD_REMOVE)  # type: ignore[arg-type]
    assert largest_by_search(law, 40) == law.largest_delta


def test_no_set_of_outputs_is_worse_than_the_divergence() -> None:
    law = OpenAlphabet(epsilon=Fraction(1), delta=Fraction(1, 100), n=6, minimum=1)
    growth = exp_upper(law.epsilon)
    for before, after in (
        ([2, 2, 1, 1, 0], [1, 3, 1, 1, 0]),
        ([3, 3, 0, 0, 0], [2, 3, 0, 0, 1]),
        ([6, 0, 0, 0, 0], [5, 1, 0, 0, 0]),
    ):
        p, q = law.pmf(after), law.pmf(before)
        gaps = [
            sum((p[y] - law.growth * q[y] for y in outputs), Fraction(0))
            for size in range(6)
            for outputs in combinations(range(5), size)
        ]
        assert max(gaps) == hockey_stick(p, q, law.growth) <= law.delta
        assert hockey_stick(p, q, growth) <= hockey_stick(p, q, law.growth)


def test_random_settings_are_certified_and_random_neighbours_stay_within_them() -> None:
    for _ in range(2000 if SOAK else 100):
        is_replaced = DICE.random() < 0.5
        n = int(10 ** DICE.uniform(0, 5))
        law = OpenAlphabet(
            epsilon=Fraction(f"{10 ** DICE.uniform(-1, 1.3):.4f}"),
            delta=Fraction(f"{10 ** DICE.uniform(-17, -0.1):.3e}"),
            n=n if is_replaced else 0,
            neighbours=REPLACE if is_replaced else ADD_REMOVE,
            minimum=DICE.choice([1, 2, 5]),
        )
        assert law.largest_delta <= law.delta
        for _ in range(10):
            counts = [DICE.randrange(1 + min(n, law.proportional + 2)) for _ in range(4)]
            if sum(counts) >= n:
                continue
            before = [*counts, n - sum(counts)]
            gained, lost = DICE.sample(range(5), 2)
            after = list(before)
            after[gained] += 1
            if is_replaced:
                if not after[lost]:
                    continue
                after[lost] -= 1
            p, q = law.pmf(before), law.pmf(after)
            assert max(hockey_stick(p, q, law.growth), hockey_stick(q, p, law.growth)) <= (
                law.largest_delta
            )


def test_a_letter_that_too_few_have_never_appears() -> None:
    law = OpenAlphabet(epsilon=Fraction(1), delta=Fraction(1, 10**6), n=1000, minimum=10)
    assert [law.weigh(count) for count in range(10)] == [0] * 10
    assert law.weigh(10) > 0
    assert law.first == 10


def test_a_letter_that_many_have_is_revealed_in_proportion() -> None:
    law = OpenAlphabet(epsilon=Fraction(1), delta=Fraction(1, 10**9), n=10**5)
    p = law.pmf([50_000, 30_000, 14, 19_986])
    assert p[0] / p[1] == Fraction(5, 3)
    assert p[0] / p[2] == Fraction(50_000, 14)
    assert 1 - p[0] / Fraction(1, 2) < Fraction(1, 10_000)


def test_the_law_of_the_draw_is_the_pmf() -> None:
    """A weight is a number of units of the total; walk the ends of each letter's units."""
    law = OpenAlphabet(epsilon=Fraction(1), delta=Fraction(1, 100), n=9)
    counts = Counts.of([5, 0, 3, 1])
    weights = law.weights(counts)
    assert weights.total == 9 * law.unit + law.floor
    assert [Fraction(weight, weights.total) for weight in weights] == law.pmf(counts)
    assert min(list(weights)[-1:]) >= law.floor
    assert law.draw(counts) in range(4)


@dataclass(frozen=True, kw_only=True)
class NoFloor(OpenAlphabet):
    """Let ``other`` have nothing of its own."""

    @property
    def floor(self) -> int:  # type: ignore[override]
        return 0


def test_without_the_floor_of_other_it_leaks_and_is_refused() -> None:
    choices: dict[str, Any] = {"epsilon": Fraction(1), "delta": Fraction(1, 100), "n": 6}
    with pytest.raises(ValueError, match="did not certify"):
        NoFloor(**choices)
    law = object.__new__(NoFloor)
    for name, value in (choices | {"neighbours": REPLACE, "minimum": 1}).items():
        object.__setattr__(law, name, value)
    assert worst_divergence(law, letters=2) > 10 * law.delta


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"delta": 0}, "delta must be at least 1e-18 with an open alphabet"),
        ({"delta": 1}, "delta must be at least 0 and below 1"),
        ({"epsilon": "1e-4"}, "epsilon must be at least 0.001 with an open alphabet"),
        ({"minimum": 0}, "minimum_people must be at least 1"),
        ({"n": 0}, "n must be at least 1"),
        ({"neighbours": "both"}, "neighbours must be one of"),
    ],
)
def test_what_cannot_be_is_refused(choices: dict[str, Any], sentence: str) -> None:
    known: dict[str, Any] = {"epsilon": 1, "delta": "1e-9", "n": 10} | choices
    with pytest.raises(ValueError, match=sentence):
        OpenAlphabet(**known)


def test_counts_of_another_size_are_refused() -> None:
    with pytest.raises(ValueError, match="counts must sum to n"):
        OpenAlphabet(epsilon=Fraction(1), delta=Fraction(1, 9), n=3).pmf([1, 1])


def test_the_plan_says_from_which_count_on_a_letter_can_appear() -> None:
    answer = dproo.plan(alphabet="open", n=100_000, epsilon=1, delta="1e-9")
    law = OpenAlphabet(epsilon=Fraction(1), delta=Fraction(1, 10**9), n=100_000)
    assert (answer.first, answer.proportional) == (law.first, law.proportional) == (2, 14)
    assert law.weigh(answer.first - 1) == 0 < law.weigh(answer.first)
    assert answer.obscured == law.pmf([50_000, 50_000, 0])[2]
    assert dproo.plan(alphabet="open", epsilon=1, delta="1e-9").obscured is None
    with pytest.raises(ValueError, match="alphabet must be one of open"):
        dproo.plan(alphabet="closed", epsilon=1, delta="1e-9")


def test_what_the_plan_says_is_true_at_random_settings() -> None:
    for _ in range(300 if SOAK else 30):
        n, minimum = DICE.randint(1, 60), DICE.choice([1, 2, 5])
        asked: dict[str, Any] = {
            "n": n,
            "epsilon": Fraction(f"{10 ** DICE.uniform(-2.9, 1):.4f}"),
            "delta": Fraction(f"{10 ** DICE.uniform(-9, -0.1):.3e}"),
        }
        answer = plan_open(**asked, minimum_people=minimum)
        law = OpenAlphabet(**asked, minimum=minimum)
        total, most = n * law.unit + law.floor, [0]
        for records in range(1, n + 1):  # the largest weight of any letters with so many records
            most.append(max(most[-c] + law.weigh(c) for c in range(1, records + 1)))
        assert answer.obscured == 1 - Fraction(most[n], total)
        for count in range(1, n + 1):
            kept = Fraction(law.weigh(count), total) / Fraction(count, n)
            assert (kept > 0) == (count >= answer.first)
            assert kept <= 1 - answer.obscured
            if answer.proportional <= n:
                assert (kept == 1 - answer.obscured) == (count >= answer.proportional)


def test_the_plan_promises_no_more_than_a_value_keeps() -> None:
    """A value that three of 50 records have appears with a probability of 0.015, not 0.06."""
    law = OpenAlphabet(epsilon=Fraction(1, 100), delta=Fraction(1, 100), n=50)
    assert round(float(law.pmf([3, 47, 0])[0]), 3) == 0.015
    asked = ["plan", "--alphabet", "open", "--n", "50", "--epsilon", "0.01", "--delta"]
    never = "A value that fewer than 2 records have never appears.\n"
    assert CliRunner().invoke(cli, [*asked, "0.01"]).stdout == (
        f"{never}From 3 records on it is drawn in proportion to them.\n"
        "'other' takes at least 74 % of every value's share.\n"
    )
    assert CliRunner().invoke(cli, [*asked, "1e-9"]).stdout == (
        f"{never}'other' takes at least 99 % of every value's share.\n"
    )


@pytest.mark.one_of(3)
def test_a_black_box_audit_finds_what_is_certified_and_no_more() -> None:
    """One letter more: the largest event is that the new letter is released."""
    law = OpenAlphabet(epsilon=Fraction(1, 2), delta=Fraction(1, 10), n=4, minimum=1)
    before, after = [0, 2, 2], [1, 1, 2]
    trials = 20_000
    certified = hockey_stick(law.pmf(after), law.pmf(before), law.growth)
    assert certified == law.pmf(after)[0] <= law.largest_delta
    drawn = [
        sum(law.draw(Counts.of(counts)) == 0 for _ in range(trials)) for counts in (before, after)
    ]
    found = drawn[1] / trials - float(law.growth) * drawn[0] / trials
    deviation = 6 * (0.25 / trials) ** 0.5
    assert abs(found - float(certified)) < deviation
    assert float(certified) > 2 * deviation  # the control: nothing would be found below
