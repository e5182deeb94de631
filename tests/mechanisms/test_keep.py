"""Values that enough people share: (epsilon, delta) by brute force over all small neighbours."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from typing import Any

import pytest
from support.divergences import hockey_stick
from support.draws import DICE, SOAK

from dproo.core.counts import NamedCounts
from dproo.core.draw import RandomSource
from dproo.core.numbers import exp_lower, exp_upper, is_at_most_exp, power_lower
from dproo.mechanisms import ADD_REMOVE, REPLACE, Relation
from dproo.mechanisms.keep import KeepRule

VALUES = ("a", "b", None)
"""Two values, and a cell that is not a value."""
RECORDS = 5

Data = tuple[str | None, ...]
Law = dict[tuple[tuple[str, int], ...], Fraction]


class Walked(RandomSource):
    """Draws the units that it is given."""

    def __init__(self, units: list[int]) -> None:
        super().__init__()
        self.units = units

    def below(self, bound: int) -> int:
        unit = self.units.pop()
        assert 0 <= unit < bound
        return unit


def law_of(rule: KeepRule, data: Data) -> Law:
    """Return the exact law of what is released, by every branch of the draws."""
    seen = {value: data.count(value) for value in ("a", "b") if value in data}
    counts = NamedCounts.seen(seen, others=data.count(None))
    total = sum(rule.weights)
    firsts = [sum(rule.weights[:place]) for place in range(len(rule.weights))]
    law: Law = defaultdict(Fraction)
    for places in product(range(len(firsts)), repeat=len(seen)):
        source = Walked([firsts[place] for place in reversed(places)])
        released = rule.release(counts, source)
        chance = Fraction(1)
        for place in places:
            chance *= Fraction(rule.weights[place], total)
        law[tuple(released.items())] += chance
    return law


def neighbours_of(data: Data, rule: KeepRule) -> Iterator[Data]:
    """Yield what becomes of data when one person with ``rule.records`` records comes or changes."""
    others = combinations_with_replacement(VALUES, rule.records)
    if rule.neighbours == ADD_REMOVE:
        yield from ((*data, *added) for added in others)
    elif len(data) >= rule.records:
        for new in others:
            for places in combinations_with_replacement(range(len(data)), rule.records):
                if len({*places}) == rule.records:
                    rest = [cell for place, cell in enumerate(data) if place not in places]
                    yield (*rest, *new)


def worst(rule: KeepRule, records: int) -> Fraction:
    """Return the largest divergence over all neighbours of up to so many records."""
    key = lambda data: tuple(sorted(data, key=str))  # noqa: E731
    law = cache(lambda data: law_of(rule, data))
    found = [Fraction(0)]
    for n in range(records + 1):
        for data in combinations_with_replacement(VALUES, n):
            for other in {key(other) for other in neighbours_of(data, rule)}:
                one, two = law(key(data)), law(other)
                outputs = sorted({*one, *two})
                p, q = (
                    [part.get(output, Fraction(0)) for output in outputs] for part in (one, two)
                )
                found += [
                    hockey_stick(p, q, rule.largest_ratio),
                    hockey_stick(q, p, rule.largest_ratio),
                ]
    return max(found)


def setting(neighbours: Relation, people: int) -> KeepRule:
    while True:
        rule = KeepRule(
            epsilon=Fraction(f"{DICE.uniform(0.5, 6):.3f}"),
            delta=Fraction(f"{DICE.uniform(0.02, 0.5):.3f}"),
            neighbours=neighbours,
            records=people,
            minimum=DICE.choice([1, 1, 2]),
        )
        if len(rule.weights) < 9:
            return rule


@pytest.mark.parametrize("people", [1, 2])
@pytest.mark.parametrize("neighbours", [ADD_REMOVE, REPLACE])
def test_all_small_neighbours_leak_exactly_what_is_certified(
    neighbours: Relation, people: int
) -> None:
    reached = 0
    for _ in range(40 if SOAK else 4):
        rule = setting(neighbours, people)
        found = worst(rule, RECORDS)
        assert found <= rule.largest_delta <= rule.delta
        # One value that is certain, and one that is as frequent as can be and never kept.
        needed = rule.minimum - 1 + (rule.certain if neighbours == REPLACE else 0)
        if needed <= RECORDS - (neighbours == REPLACE and rule.certain < people):
            assert found == rule.largest_delta
            reached += 1
    assert reached or neighbours == REPLACE


def test_a_replaced_record_leaks_exactly_what_is_certified() -> None:
    rule = KeepRule(epsilon=Fraction(3), delta=Fraction(2, 5), minimum=1)
    assert rule.certain <= RECORDS
    assert worst(rule, rule.certain) == rule.largest_delta


def test_what_nobody_has_is_never_kept() -> None:
    for minimum in (0, 1, 4):
        rule = KeepRule(epsilon=Fraction(1), delta=Fraction(1, 4), minimum=minimum)
        assert rule.keep(rule.minimum - 1) == rule.keep(0) == 0 < rule.keep(rule.minimum)
        assert rule.keep(rule.certain - 1) < 1 == rule.keep(rule.certain) == rule.keep(10**9)
        assert rule.keep(rule.half - 1) < Fraction(1, 2) <= rule.keep(rule.half)


def optimal(epsilon: Fraction, delta: Fraction, counts: int) -> list[Fraction]:
    """Return the largest probabilities that are private for one record added or removed."""
    growth = exp_upper(epsilon)
    found = [Fraction(0)]
    for _ in range(counts):
        last = found[-1]
        more = min(growth * last + delta, 1 - (1 - last - delta) / growth, Fraction(1))
        found.append(Fraction(int(more * 2**200), 2**200))
    return found


def test_it_keeps_nearly_as_much_as_any_private_rule_could() -> None:
    for _ in range(50 if SOAK else 8):
        epsilon = Fraction(f"{10 ** DICE.uniform(-1.5, 0.5):.4f}")
        delta = Fraction(f"{10 ** DICE.uniform(-12, -1):.3e}")
        rule = KeepRule(epsilon=epsilon, delta=delta, neighbours=ADD_REMOVE, minimum=1)
        best = optimal(epsilon, delta, rule.certain + 1)
        slack = Fraction(1, 10**12)
        for count in range(1, rule.certain + 1):
            assert best[count - 1] - slack <= rule.keep(count) <= best[count] + slack


def test_estimates_are_right_on_average() -> None:
    rule = KeepRule(epsilon=Fraction(2), delta=Fraction(1, 3), minimum=1)
    data = ("a",) * (rule.certain + 3)
    law = law_of(rule, data)
    mean = sum(chance * dict(output)["a"] for output, chance in law.items())
    assert abs(mean - len(data)) <= Fraction(1, 2)


def test_values_are_kept_in_an_order_that_tells_nothing() -> None:
    rule = KeepRule(epsilon=Fraction(1), delta=Fraction(1, 4))
    counts = NamedCounts.seen({"z": 10**6, "a": 10**6, "m": 10**6}, others=5)
    assert list(rule.release(counts, RandomSource())) == ["a", "m", "z"]


def test_many_values_are_drawn_at_once() -> None:
    rule = KeepRule(epsilon=Fraction(1), delta=Fraction(1, 4))
    counts = NamedCounts.seen({f"{i:05}": 10**6 * (i % 2) + 1 for i in range(10**4)}, others=0)
    assert len(rule.release(counts, RandomSource())) == 5000


def test_weights_are_built_just_below_the_growth() -> None:
    rule = KeepRule(epsilon=Fraction(1), delta=Fraction(1, 10**6), records=3)
    assert rule.changes == 6
    assert rule.growth == exp_lower(Fraction(1, 6))
    assert all(rule.conditions.values())
    assert float(rule.weights[1] / rule.weights[0]) == pytest.approx(float(rule.growth))


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"delta": 0}, "delta must be above 0, and at most 0.5, to find values"),
        ({"delta": "0.6"}, "delta must be above 0, and at most 0.5, to find values"),
        ({"epsilon": "0.00001"}, "epsilon must be at least 0.00002 here"),
        ({"records": 0}, "records_per_person must be at least 1"),
        ({"minimum": -1}, "minimum must be at least 1"),
        ({"neighbours": "both"}, "neighbours must be one of"),
    ],
)
def test_what_cannot_be_is_refused(choices: dict[str, Any], sentence: str) -> None:
    known: dict[str, Any] = {"epsilon": 1, "delta": "1e-9"} | choices
    with pytest.raises(ValueError, match=sentence):
        KeepRule(**known)


def test_a_person_of_many_records_has_a_ratio_that_is_short_to_write() -> None:
    """Its exact power of a million bits would take minutes to multiply and compare."""
    for neighbours in (REPLACE, ADD_REMOVE):
        records = DICE.randrange(1000, 4000)
        epsilon = Fraction(DICE.randrange(1, 100))
        rule = KeepRule(epsilon=epsilon, delta="0.1", neighbours=neighbours, records=records)
        assert rule.largest_ratio.numerator.bit_length() < 1000
        assert is_at_most_exp(rule.largest_ratio, epsilon)
        assert rule.largest_ratio >= power_lower(rule.growth, rule.changes, bits=512)
