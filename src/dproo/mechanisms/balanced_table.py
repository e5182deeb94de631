r"""Weights by a letter's count and a level at which unseen letters get what seen ones give.

A letter with count ``c`` and level ``A`` weighs ``A powers[c]``, and from the knee on
``min(c unit, A powers[c])``. At a level, a letter is given

    ``gift = A powers[c] - c unit``                                   below ``c*``,
    ``gift = min(0, max(-loss, slope (c unit - plateau) - (1 + slope) loss))``  from ``c*`` on,

where ``loss``, the most that any letter gives, is what a letter with the *starved* count ``c*``
gives. A letter's level is the highest at which the gifts of the *other* letters add up to at
most ``surplus (1 - A / high)``. So a letter's own records never move its own level.

Proof: docs/proofs/balanced.md
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from math import isqrt

from dproo.core.counts import Counts, Runs
from dproo.core.exact import ceil_div


@dataclass(frozen=True)
class BalancedTable:
    """The integers of the weights.

    Attributes:
        powers: the powers of ``growth`` by count, rounded down.
        growth: what one record more may do to a weight.
        knee: a letter seen at least so often may be revealed as it is.
        unit: what a revealed record weighs.
        slope: how fast a loss is forgotten, per record.
        plateau: a loss is remembered in full for ``plateau`` above itself.
        surplus: what the gifts to the other letters add up to, at most; less at higher levels.
        low: no letter's level is below it.
        high: the highest level.
    """

    powers: tuple[int, ...]
    growth: Fraction
    knee: int
    unit: int
    slope: Fraction
    plateau: int
    surplus: int
    low: int
    high: int

    @cached_property
    def steps(self) -> tuple[int, ...]:
        """What one record more adds to each of the powers."""
        return tuple(after - before for before, after in pairwise(self.powers))

    @cached_property
    def fading(self) -> int:
        """How much less of the surplus is given at one level more; at the highest, none is."""
        return self.surplus // self.high

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

    def forgotten(self, loss: int) -> int:
        """Return the last count up to which a loss is not wholly forgotten, nor just so."""
        over, under = self.slope.numerator, self.slope.denominator
        return (over * self.plateau + (under + over) * loss) // (over * self.unit)

    def gift(self, count: int, level: int) -> int:
        """Return what a level gives a letter, times the denominator of the slope."""
        over, under = self.slope.numerator, self.slope.denominator
        starved, loss = self.starved(level)
        if count < starved:
            return under * (level * self.powers[count] - count * self.unit)
        rising = over * (count * self.unit - self.plateau) - (under + over) * loss
        return min(0, max(-under * loss, rising))

    def crossing(self, level: int) -> int:
        """Return the first count, from the knee on, whose letters are revealed as they are."""
        return bisect_left(
            range(len(self.powers)),
            x=True,
            lo=self.knee,
            key=lambda count: self.powers[count] * level >= count * self.unit,
        )

    def weights(self, counts: Counts) -> Runs:
        """Return the weight of every letter of a dataset."""
        gifts = _Gifts(self, counts.sizes)
        revealed = self.crossing(self.low)
        return counts.map(
            lambda count: self(count, self.low if count >= revealed else gifts.level(count))
        )


class _Gifts:
    """The gifts to all letters of a dataset together, as a function of the level.

    Letters sorted by count, with sums over all before each: a sum over a range of counts is a
    difference of two of them.
    """

    def __init__(self, table: BalancedTable, sizes: Mapping[int, int]) -> None:
        self.table = table
        self._totals: dict[int, int] = {}  # all searches begin at the same two levels
        end = table.forgotten(table.starved(table.low)[1])
        self.counts = sorted(count for count in sizes if count <= end)
        letters = [sizes[count] for count in self.counts]
        last = len(table.powers) - 1
        self.letters = list(accumulate(letters, initial=0))
        self.records = list(
            accumulate((c * m for c, m in zip(self.counts, letters, strict=True)), initial=0)
        )
        self.powers = list(
            accumulate(
                (table.powers[min(c, last)] * m for c, m in zip(self.counts, letters, strict=True)),
                initial=0,
            )
        )

    def total(self, level: int) -> int:
        """Return the sum of all gifts, times the denominator of the slope."""
        if level not in self._totals:
            self._totals[level] = self._sum(level)
        return self._totals[level]

    def _sum(self, level: int) -> int:
        table = self.table
        over, under = table.slope.numerator, table.slope.denominator
        starved, loss = table.starved(level)
        low = bisect_left(self.counts, starved)
        flat = bisect_right(self.counts, (table.plateau + loss) // table.unit, lo=low)
        high = bisect_right(self.counts, table.forgotten(loss), lo=flat)
        lifted = level * self.powers[low] - table.unit * self.records[low]
        lost = loss * (self.letters[high] - self.letters[low])
        rising = table.unit * (self.records[high] - self.records[flat])
        rising -= (table.plateau + loss) * (self.letters[high] - self.letters[flat])
        return under * (lifted - lost) + over * rising

    def level(self, own: int) -> int:
        """Return the highest level at which all letters but one, of count ``own``, fit.

        The sum rises with the level. A false position is followed by a point just beyond
        where the root should be, so that both ends come near; where they do not, by a middle.
        """
        table = self.table

        def excess(level: int) -> int:
            given = table.slope.denominator * (table.surplus - level * table.fading)
            return self.total(level) - table.gift(own, level) - given

        low, high = table.low, table.high
        above = excess(high)
        if above <= 0:
            return high
        below = excess(low)

        def narrow(level: int) -> int:
            nonlocal low, high, below, above
            level = min(max(level, low + 1), high - 1)
            value = excess(level)
            if value > 0:
                high, above = level, value
            else:
                low, below = level, value
            return value

        while (width := high - low) > 1:
            rise = above - below
            middle = low + width * -below // rise
            beyond = 2 * (narrow(middle) * width // rise) + 1
            if high - low > 1:
                narrow(middle - beyond)
            if 2 * (high - low) > max(width, 2):
                narrow(isqrt(low * high))
        return low
