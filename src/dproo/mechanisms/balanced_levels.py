r"""The level of every letter of a dataset: the highest at which the gifts to the others fit.

Over levels, gifts are straight lines that bend where a letter comes to be starved, on the slope,
or forgotten. Between two bends the highest level that fits is a division; a search need only
find between which two it is.

Proof: docs/proofs/balanced.md
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from itertools import accumulate
from math import isqrt
from typing import NamedTuple

from dproo.core.counts import Counts, Runs
from dproo.mechanisms.balanced_table import BalancedTable

_LINES = 4
"""Every so many segments of a search, one is by halving."""


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
        rise: what a level more adds to all gifts and takes from the surplus.
        base: what all gifts exceed the surplus by, were the line to go on to level zero.
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

    Letters are sorted by count, with sums over all before each: a sum over a range of counts is
    a difference of two of them. Gifts are times the denominator of the slope.
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

        The gifts rise with the level. Letters have levels near one another, so a search begins
        in the segment where the last one ended, and follows its straight line to where all
        would just fit; now and then it halves what is left instead.
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
        """Return the segment that a level is in, with the sum over all letters.

        A letter that is starved loses ``starved unit - level power``, whatever its count.
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
