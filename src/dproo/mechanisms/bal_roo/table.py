"""The table of BAL-ROO: weights by count and level, and the level of every letter of a dataset.

Integer powers of a growth overtake the count at the *crossing*. A letter with count ``c`` and
level ``A`` weighs ``A powers[c]``, and from the knee on ``min(c unit, A powers[c])``. At a level,
a letter is given

    ``gift = A powers[c] - c unit``                                   below ``c*``,
    ``gift = min(0, max(-loss, slope (c unit - plateau) - (1 + slope) loss))``  from ``c*`` on,

where ``loss``, the most that any letter gives, is what a letter with the *starved* count ``c*``
gives. A letter's level is the highest at which the gifts of the *other* letters add up to at
most ``surplus - A fading``. So a letter's own records never move its own level.

As functions of the level, gifts are straight lines that bend where a letter becomes starved,
sloping or forgotten. Between two bends a division gives the highest level that fits; a search
need only find these two bends.

Proof: docs/proofs/balanced.md
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import isqrt
from operator import sub
from typing import NamedTuple

from dproo.core.counts import Counts, Runs
from dproo.core.numbers import ceil_div, first_true

_STEPS = 3


def extend(powers: list[int], growth: Fraction, last: int) -> None:
    """Append powers up to the count ``last``, each rounded down.

    The denominator of ``growth`` is a power of two, so a shift divides by it.
    """
    over, places = growth.numerator, growth.denominator.bit_length() - 1
    power = powers[-1]
    for _ in range(last + 1 - len(powers)):
        power = power * over >> places
        powers.append(power)


def extend_to_crossing(
    powers: list[int], growth: Fraction, *, knee: int, unit: int, level: int
) -> None:
    """Append powers up to a level's crossing above the knee."""
    end = knee + 1
    extend(powers, growth, end)
    while powers[end] * level < end * unit:
        end += end // 8 + 8
        extend(powers, growth, end)
    last = first_true(lambda count: powers[count] * level >= count * unit, knee, end)
    del powers[last + 1 :]


@dataclass(frozen=True)
class BalancedTable:
    """The integers of the weights.

    Attributes:
        powers: the powers of ``growth`` by count, rounded down.
        growth: the largest factor of a weight for one more record.
        knee: the least count of a letter that may weigh exactly its count.
        unit: the weight of a revealed record.
        slope: how fast a loss is forgotten, per record.
        plateau: a loss is remembered in full for ``plateau`` above itself.
        surplus: the most that the gifts to the other letters may total, at level zero.
        fading: how much less it is one level higher; at high levels it is below zero.
        low: the lowest level.
        high: the highest level.
    """

    powers: tuple[int, ...]
    growth: Fraction
    knee: int
    unit: int
    slope: Fraction
    plateau: int
    surplus: int
    fading: int
    low: int
    high: int

    @cached_property
    def steps(self) -> tuple[int, ...]:
        """What one more record adds to each of the powers."""
        return tuple(map(sub, self.powers[1:], self.powers))

    def crossing(self, level: int, *, below: int | None = None) -> int:
        """Return the first count, from the knee on, whose letters weigh exactly their count.

        The power that this takes rises with the count. The first count with the power that a
        later count needs is never too early, so the end comes down in few steps; it begins at
        ``below``, the crossing of a lower level, if that is known.
        """
        powers, unit, low = self.powers, self.unit, self.knee
        end = len(powers) - 1 if below is None else min(below, len(powers) - 1)
        if end < low or powers[end] * level < end * unit:
            return end + 1
        for _ in range(_STEPS if below is None else 1):
            end = bisect_left(powers, ceil_div(end * unit, level), low, end)
        step = 1
        while end - step >= low and powers[end - step] * level >= (end - step) * unit:
            end, step = end - step, 2 * step
        is_crossed = lambda count: powers[count] * level >= count * unit  # noqa: E731
        return first_true(is_crossed, max(low - 1, end - step), end)

    def left(self, level: int) -> int:
        """Return what is left of the surplus at a level."""
        return self.surplus - level * self.fading

    def with_plateau(self, plateau: int) -> BalancedTable:
        """Return the same table with another plateau."""
        table = replace(self, plateau=plateau)
        vars(table)["steps"] = self.steps  # unchanged, so reused
        return table

    def __call__(self, count: int, level: int) -> int:
        """Return the weight of a letter."""
        if count >= len(self.powers):
            return count * self.unit
        lifted = self.powers[count] * level
        return lifted if count < self.knee else min(count * self.unit, lifted)

    def starved(self, level: int) -> tuple[int, int]:
        """Return the count that loses most at a level, ``c*``, and its loss."""
        count = bisect_left(self.steps, ceil_div(self.unit, level))
        return count, count * self.unit - level * self.powers[count]

    def levels_of(self, starved: int) -> tuple[int, int]:
        """Return the lowest and the highest level at which this count loses most."""
        first, last = self.low, self.high
        if starved < len(self.steps):
            first = max(first, ceil_div(self.unit, self.steps[starved]))
        if starved:
            last = min(last, ceil_div(self.unit, self.steps[starved - 1]) - 1)
        return first, last

    def forgotten(self, loss: int) -> int:
        """Return the last count at which a loss is remembered, or only just forgotten."""
        over, under = self.slope.numerator, self.slope.denominator
        return (over * self.plateau + (under + over) * loss) // (over * self.unit)

    @cached_property
    def remembered(self) -> int:
        """The last count whose loss is remembered, or only just forgotten, at every level."""
        return self.forgotten(self.starved(self.low)[1])

    @cached_property
    def revealed(self) -> int:
        """The count from which letters weigh exactly their count at every level."""
        return self.crossing(self.low)

    def gift(self, count: int, level: int) -> int:
        """Return what a level gives a letter, times the denominator of the slope."""
        over, under = self.slope.numerator, self.slope.denominator
        starved, loss = self.starved(level)
        if count < starved:
            return under * (level * self.powers[count] - count * self.unit)
        rising = over * (count * self.unit - self.plateau) - (under + over) * loss
        return min(0, max(-under * loss, rising))


_LINES = 4
"""In a search, every fourth step is a bisection."""


def balanced_weights(table: BalancedTable, counts: Counts) -> Runs:
    """Return the weight of every letter of a dataset."""
    level, revealed = Levels(table, counts.sizes), table.revealed
    return counts.map(lambda count: table(count, table.low if count >= revealed else level(count)))


class Segment(NamedTuple):
    """A range of levels without a bend.

    Attributes:
        first: the lowest of them.
        last: the highest.
        starved: the count that loses most, ``c*``.
        sloping: the first count of the dataset, from ``c*`` on, whose loss is being forgotten.
        forgotten: the first whose loss is forgotten.
        rise: what one level more adds to all gifts and takes from the surplus.
        base: the excess of all gifts over the surplus, extrapolated to level zero.
    """

    first: int
    last: int
    starved: int
    sloping: int
    forgotten: int
    rise: int
    base: int


class Levels:
    """The levels of the letters of a dataset.

    Letters are sorted by count, with cumulative sums: a sum over a range of counts is a
    difference of two of them. Gifts are multiplied by the denominator of the slope.
    """

    def __init__(self, table: BalancedTable, sizes: Mapping[int, int]) -> None:
        self.table = table
        self.over, self.under = table.slope.as_integer_ratio()
        self.counts = sorted(count for count in sizes if count <= table.remembered)
        letters = [sizes[count] for count in self.counts]
        last = len(table.powers) - 1
        pairs = list(zip(self.counts, letters, strict=True))
        self.letters = [0, *accumulate(letters)]
        self.records = [0, *accumulate(count * size for count, size in pairs)]
        self.powers = [0, *accumulate(table.powers[min(c, last)] * size for c, size in pairs)]

        self._near = self._segment(isqrt(table.low * table.high))

    def __call__(self, own: int) -> int:
        """Return the highest level at which all letters but one, of count ``own``, fit.

        The gifts rise with the level. Letters have similar levels, so a search begins in the
        segment where the last one ended, and follows its straight line to where all would
        just fit; now and then it bisects instead.
        """
        low, high = self.table.low, self.table.high
        segment, lines = self._near, 0
        level = segment.first
        while low < high:
            rise, base = self._others(own, segment)
            root = -base // rise if rise else high
            if segment.first <= root < segment.last:
                low = high = root
            elif root < segment.first:
                high = max(low, min(level, segment.first) - 1)
            else:
                low = min(high, max(level, segment.last))
            if low < high:
                lines += 1
                following = root if lines % _LINES else isqrt(low * high)
                level = min(max(following, low + 1), high)
                segment = self._segment(level)
        self._near = segment
        return low

    def _segment(self, level: int) -> Segment:
        """Return the segment of a level, with the sum over all letters.

        A starved letter loses ``starved unit - level power``, whatever its count.
        """
        table, counts, over, both = self.table, self.counts, self.over, self.over + self.under
        starved, loss = table.starved(level)
        power, most = table.powers[starved], starved * table.unit
        low = bisect_left(counts, starved)
        flat = bisect_right(counts, (table.plateau + loss) // table.unit, lo=low)
        high = bisect_right(counts, table.forgotten(loss), lo=flat)
        first, last = table.levels_of(starved)
        if flat > low:
            last = min(last, (most - self._above(flat - 1)) // power)
        if flat < len(counts):
            first = max(first, (most - self._above(flat)) // power + 1)
        if high > flat:
            last = min(last, (both * most - over * self._above(high - 1)) // (both * power))
        if high < len(counts):
            first = max(first, (both * most - over * self._above(high)) // (both * power) + 1)
        losing = self.letters[high] - self.letters[low]
        sloping = self.letters[high] - self.letters[flat]
        rising = table.unit * (self.records[high] - self.records[flat])
        lifted = self.under * self.powers[low] + (self.under * losing + over * sloping) * power
        base = over * (rising - (table.plateau + most) * sloping)
        base -= self.under * (table.unit * self.records[low] + most * losing + table.surplus)
        return Segment(
            first=first,
            last=last,
            starved=starved,
            sloping=counts[flat] if flat < len(counts) else table.remembered + 1,
            forgotten=counts[high] if high < len(counts) else table.remembered + 1,
            rise=lifted + self.under * table.fading,
            base=base,
        )

    def _above(self, place: int) -> int:
        """Return how far a count of the dataset is above the plateau."""
        return self.counts[place] * self.table.unit - self.table.plateau

    def _others(self, own: int, segment: Segment) -> tuple[int, int]:
        """Return rise and base without a letter of count ``own``."""
        table, over, under = self.table, self.over, self.under
        power, most = table.powers[segment.starved], segment.starved * table.unit
        rise, base = segment.rise, segment.base
        if own < segment.starved:
            return rise - under * table.powers[own], base + under * own * table.unit
        if own < segment.sloping:
            return rise - under * power, base + under * most
        if own < segment.forgotten:
            above = own * table.unit - table.plateau
            return rise - (under + over) * power, base + (under + over) * most - over * above
        return rise, base
