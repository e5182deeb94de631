r"""Weights by a letter's count and by the other letters, and a bound on what they leak.

A letter with count ``c``, whose fellow letters have ``d`` records at risk, weighs

    ``W(c, d) = min(max(c, knee) unit, powers[c] level(d))``,
    ``level(d) = min(high, d LEVEL_STEP + offset)``,

``d`` being the sum of ``min(count, knee)`` over the *other* letters. So a letter's own records
never move its own level.

Proof: docs/proofs/adaptive.md
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from operator import gt

from dproo.core.counts import Counts, Runs
from dproo.core.exact import ceil_div
from dproo.mechanisms.power_table import PowerTable

LEVEL_STEP = 1 << 32
"""What one record at risk adds to the level."""

_FINENESS = 16
_SLOPES = 4
_ONE = 1 << 64
"""Totals are in records times this, rounded to the safe side."""


@dataclass(frozen=True)
class AdaptiveTable(PowerTable):
    """The integers of ``W``: convex powers, and ``powers[knee] high < knee unit``.

    Attributes:
        offset: the level of a letter without fellows; above ``LEVEL_STEP / (growth - 1)``.
        high: the highest level.
    """

    offset: int
    high: int

    def level(self, at_risk: int) -> int:
        """Return the level of a letter whose fellows have so many records at risk."""
        return min(self.high, at_risk * LEVEL_STEP + self.offset)

    def __call__(self, count: int, at_risk: int) -> int:
        """Return the weight of a letter whose fellows have so many records at risk."""
        return self.weight(count, self.level(at_risk))

    def weight(self, count: int, level: int) -> int:
        """Return the weight of a letter at a level."""
        revealed = max(count, self.knee) * self.unit
        if count >= len(self.powers):
            return revealed
        return min(revealed, self.powers[count] * level)

    def weights(self, counts: Counts) -> Runs:
        """Return the weight of every letter of a dataset."""
        knee = self.knee
        total = sum(min(count, knee) * letters for count, letters in counts.sizes.items())
        return counts.map(lambda count: self(count, total - min(count, knee)))

    def is_as_proven(self, n: int) -> bool:
        """Whether these very integers meet all that the proof relies on, for ``n`` records.

        The conditions are those of the proof, (a) to (f), and that no letter is beyond the end
        of the table before it is revealed at every level.
        """
        powers, steps, knee, last = self.powers, self.steps, self.knee, len(self.powers) - 1
        over, under = (self.growth - 1).as_integer_ratio()
        offset, raised = self.offset, self.offset + LEVEL_STEP
        return (
            powers[0] > 0
            and not any(map(gt, steps, steps[1:]))
            and all(
                step * under <= power * over
                and step * offset >= power * LEVEL_STEP
                and step * (knee + 1) * offset >= power * raised
                for power, step in zip(powers, steps, strict=False)
            )
            and (knee - 1) * over < under <= knee * over
            and powers[min(knee, last)] * self.high < knee * self.unit
            and offset * over > LEVEL_STEP * under
            and (last >= n or (last > knee and powers[last] * self.level(0) >= last * self.unit))
        )

    def largest_ratio(self, n: int, k: int, *, beyond: Fraction | None = None) -> Fraction | None:
        """Return a bound on the probability ratio when one of ``n`` records is replaced.

        It is the largest of two bounds over all ranges of levels. The letter that gains may
        grow by ``growth`` while the total falls by one step of the table; or it is revealed
        and grows by one record while the level of all others falls. Where the least total is
        too small to bound anything there is no bound. A bound ``beyond`` what is of use is
        returned as soon as it is, and is no more than a part of it.
        """
        over, under = self.growth.as_integer_ratio()
        slope = _SLOPES
        for span in self._spans(n, k):
            for is_best in (False, True):  # the slope of the span before is often as good
                slope = span.best_slope if is_best else slope
                ratios = span.ratios(span.total_with(slope))
                if all(low > 0 and high * under <= over * low for high, low in ratios):
                    break
            for high, low in ratios:
                if low <= 0:
                    return None
                if high * under > over * low:
                    over, under = high, low
            if beyond is not None and over * beyond.denominator > under * beyond.numerator:
                break
        return Fraction(over, under)

    @cached_property
    def shrinking(self) -> int:
        """``1 - 1/growth``, rounded up."""
        return _ONE - int(_ONE / self.growth)

    def largest_distance(self, n: int, k: int) -> Fraction:
        """Return a bound on the distance between the law and the records, for any dataset."""
        over, under = 0, 1
        whole = n * _ONE
        for span in self._spans(n, k):
            lifted, lost = span.most_lifted, span.most_lost
            for high, low in ((lifted, max(whole, whole + lifted - lost)), (lost, whole)):
                if high * under > over * low:
                    over, under = high, low
        return min(Fraction(over, under), Fraction(1))

    def _spans(self, n: int, k: int) -> Iterator[_Span]:
        """Yield ranges of the records at risk that together hold every dataset."""
        most = max(0, min(n, k * self.knee) - self.knee)
        first, crossing = 0, None
        while first <= most:
            level = self.level(first)
            crossing = self.crossing(level, below=crossing)
            last = min(most, first + level // (LEVEL_STEP * _FINENESS))
            if level == self.high:
                last = most
            yield _Span(self, n, k, first, last, level, crossing)
            first = last + 1


@dataclass(frozen=True)
class _Span:
    """All datasets with ``first + knee`` to ``last + knee`` records at risk.

    If ``first`` is zero, all with fewer, too. Every letter's fellows then have at least ``first``
    records at risk, and at most ``last + knee``; those of a letter at ``knee`` or above have at
    most ``last``. All masses are in records times ``_ONE``.

    Attributes:
        table: the integers.
        n: the number of records.
        k: the number of letters.
        first: see above.
        last: see above.
        level: the lowest level, that of ``first``.
        crossing: the largest crossing of all letters, that of this level.
    """

    table: AdaptiveTable
    n: int
    k: int
    first: int
    last: int
    level: int
    crossing: int

    def ratios(self, total: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return both bounds for at least this total, each as a ratio of two integers.

        There is no bound where the second one is not positive.
        """
        table, knee, x = self.table, self.table.knee, self.last_crossing
        over, under = table.growth.as_integer_ratio()
        one_step = total - max(_ONE, self.crossing * table.shrinking)
        fallen, level = self.fall
        all_fall = (total - _ONE) * knee * level - fallen * min(total * knee, self.most_hidden)
        gained, gains = (x + 1, x) if x < self.n else (1, 1)
        return (over * total, under * one_step), (gained * total * knee * level, gains * all_fall)

    @property
    def last_crossing(self) -> int:
        """The smallest crossing of a letter at ``knee`` or above."""
        return self.table.crossing(self.table.level(self.last), below=self.crossing)

    @property
    def fall(self) -> tuple[int, int]:
        """By how much a level falls at most when one record is no longer at risk, and from where.

        As a share, no level falls by more.
        """
        level = self.table.level(max(1, self.first))
        return level - self.table.level(max(1, self.first) - 1), level

    @property
    def most_hidden(self) -> int:
        """The largest total weight of letters that are not revealed as they are, times the knee."""
        return self.most_lifted * self.table.knee + self.last * self.crossing * _ONE

    @property
    def most_lifted(self) -> int:
        """The most that all weights together are above their counts: that of unseen letters."""
        unseen = self.table(0, self.last + self.table.knee)
        return ceil_div(self.k * unseen * _ONE, self.table.unit)

    @property
    def most_lost(self) -> int:
        """The most that all weights together are below their counts."""
        table, count = self.table, self._flattest(_SLOPES)
        lost = max(0, count * table.unit - table.weight(count, self.level))
        at_risk = self.last + table.knee
        return ceil_div(lost * at_risk * _ONE, table.unit * min(count, table.knee))

    @property
    def least_total(self) -> int:
        """The least total weight, by weak duality.

        For any slope ``a`` there is a ``b`` with ``W(c, d) >= W(0, d) + a c + b min(c, knee)``
        for all counts; summed over the letters, ``Z >= k W(0, d) + a n + b (d + knee)``.
        """
        return self.total_with(self.best_slope)

    @property
    def best_slope(self) -> int:
        """The slope, in quarters, that bounds the total best."""
        return max(range(_SLOPES + 1), key=self.total_with)

    def total_with(self, quarters: int) -> int:
        """Return the bound on the total that a slope of so many quarters gives."""
        table, knee = self.table, self.table.knee
        slope, scale = quarters * table.unit, _SLOPES * knee
        unseen, count = table.weight(0, self.level), self._flattest(quarters)
        b = (table.weight(count, self.level) - unseen) * _SLOPES - slope * count
        if knee > 1:
            b = min(b, ((table.weight(1, self.level) - unseen) * _SLOPES - slope) * knee)
        at_risk = self.last + knee if b < 0 else self.first
        total = self.k * unseen * scale + slope * self.n * knee + b * at_risk
        return total * _ONE // (table.unit * scale)

    def _flattest(self, quarters: int) -> int:
        """Return the count from ``knee`` on where ``W`` is least above the line of the slope."""
        table = self.table
        least, end = ceil_div(quarters * table.unit, _SLOPES * self.level), self.crossing - 1
        return bisect_left(table.steps, least, min(table.knee, end), end)
