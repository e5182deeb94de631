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
from itertools import pairwise
from operator import gt

from dproo.core.counts import Counts, Runs
from dproo.core.exact import ceil_div

LEVEL_STEP = 1 << 32
"""What one record at risk adds to the level."""

_FINENESS = 16
_SLOPES = 4
_ONE = 1 << 64
"""Totals are in records, rounded to the safe side by less than one part in this."""


@dataclass(frozen=True)
class AdaptiveTable:
    """The integers of ``W``.

    Attributes:
        powers: the powers of ``growth`` by count, rounded: convex, and no entry is more than
            ``growth`` times the one before.
        growth: at least ``1 + 1/knee``.
        knee: a letter seen at least so often may be revealed as it is.
        unit: what a revealed record weighs; ``powers[knee] high < knee unit``.
        offset: the level of a letter without fellows; above ``LEVEL_STEP / (growth - 1)``.
        high: the highest level.
    """

    powers: tuple[int, ...]
    growth: Fraction
    knee: int
    unit: int
    offset: int
    high: int

    def level(self, at_risk: int) -> int:
        """Return the level of a letter whose fellows have so many records at risk."""
        return min(self.high, at_risk * LEVEL_STEP + self.offset)

    def __call__(self, count: int, at_risk: int) -> int:
        """Return the weight of a letter."""
        revealed = max(count, self.knee) * self.unit
        if count >= len(self.powers):
            return revealed
        return min(revealed, self.powers[count] * self.level(at_risk))

    def weights(self, counts: Counts) -> Runs:
        """Return the weight of every letter of a dataset."""
        knee = self.knee
        total = sum(min(count, knee) * letters for count, letters in counts.sizes.items())
        return counts.map(lambda count: self(count, total - min(count, knee)))

    def crossing(self, at_risk: int) -> int:
        """Return the first count, from ``knee`` on, whose letters are revealed as they are."""
        level = self.level(at_risk)
        return bisect_left(
            range(len(self.powers)),
            x=True,
            lo=min(self.knee, len(self.powers)),
            key=lambda count: self.powers[count] * level >= count * self.unit,
        )

    def is_as_proven(self, n: int) -> bool:
        """Whether these very integers meet all that the proof relies on, for ``n`` records.

        The conditions are those of the proof, (a) to (f), and that no letter is beyond the end
        of the table before it is revealed at every level.
        """
        powers, knee, last = self.powers, self.knee, len(self.powers) - 1
        over, under = (self.growth - 1).as_integer_ratio()
        steps = [after - before for before, after in pairwise(powers)]
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

    def largest_ratio(self, n: int, k: int) -> Fraction | None:
        """Return a bound on the probability ratio when one of ``n`` records is replaced.

        It is the largest of two bounds over all ranges of levels. The letter that gains may
        grow by ``growth`` while the total falls by one step of the table; or it is revealed
        and grows by one record while the level of all others falls. Where the least total is
        too small to bound anything there is no bound.
        """
        largest = self.growth
        slope = _SLOPES
        for span in self._spans(n, k):
            ratio = span.ratio(span.total_with(slope))  # often as good as the best slope
            if ratio is None or ratio > largest:
                slope = span.best_slope
                ratio = span.ratio(span.total_with(slope))
            if ratio is None:
                return None
            largest = max(largest, ratio)
        return largest

    @cached_property
    def shrinking(self) -> Fraction:
        """``1 - 1/growth``, rounded up."""
        return Fraction(_ONE - int(_ONE / self.growth), _ONE)

    def largest_distance(self, n: int, k: int) -> Fraction:
        """Return a bound on the distance between the law and the records, for any dataset."""
        worst = Fraction(0)
        for span in self._spans(n, k):
            lifted, lost = span.most_lifted, span.most_lost
            worst = max(worst, lifted / max(Fraction(n), n + lifted - lost), lost / n)
        return min(worst, Fraction(1))

    def _spans(self, n: int, k: int) -> Iterator[_Span]:
        """Yield ranges of the records at risk that together hold every dataset."""
        most = max(0, min(n, k * self.knee) - self.knee)
        first = 0
        while first <= most:
            level = self.level(first)
            last = min(most, first + level // (LEVEL_STEP * _FINENESS))
            if level == self.high:
                last = most
            yield _Span(self, n, k, first, last)
            first = last + 1


@dataclass(frozen=True)
class _Span:
    """All datasets with ``first + knee`` to ``last + knee`` records at risk.

    If ``first`` is zero, all with fewer, too. Every letter's fellows then have at least ``first``
    records at risk, and at most ``last + knee``; those of a letter at ``knee`` or above have at
    most ``last``.
    """

    table: AdaptiveTable
    n: int
    k: int
    first: int
    last: int

    def ratio(self, total: Fraction) -> Fraction | None:
        """Return the larger of both bounds, for at least this total."""
        one_step = total - max(Fraction(1), self.crossing * self.table.shrinking)
        all_fall = total - 1 - self.fall * min(total, self.most_hidden)
        if one_step <= 0 or all_fall <= 0:
            return None
        x = self.last_crossing
        gain = 1 + Fraction(1, x) if x < self.n else Fraction(1)
        return max(self.table.growth * total / one_step, gain * total / all_fall)

    @cached_property
    def crossing(self) -> int:
        """The largest crossing of all letters."""
        return self.table.crossing(self.first)

    @cached_property
    def last_crossing(self) -> int:
        """The smallest crossing of a letter at ``knee`` or above."""
        return self.table.crossing(self.last)

    @cached_property
    def fall(self) -> Fraction:
        """By what share the levels fall at most when one record is no longer at risk."""
        first = max(1, self.first)
        return 1 - Fraction(self.table.level(first - 1), self.table.level(first))

    @cached_property
    def most_hidden(self) -> Fraction:
        """The largest total weight of letters that are not revealed as they are."""
        return self.most_lifted + Fraction(self.last * self.crossing, self.table.knee)

    @property
    def most_lifted(self) -> Fraction:
        """The most that all weights together are above their counts: that of unseen letters."""
        unseen = self.table(0, self.last + self.table.knee)
        return Fraction(ceil_div(self.k * unseen * _ONE, self.table.unit), _ONE)

    @property
    def most_lost(self) -> Fraction:
        """The most that all weights together are below their counts."""
        table, count = self.table, self._flattest(_SLOPES)
        lost = max(0, count * table.unit - table(count, self.first)) * (self.last + table.knee)
        return Fraction(ceil_div(lost * _ONE, table.unit * min(count, table.knee)), _ONE)

    @property
    def least_total(self) -> Fraction:
        """The least total weight, by weak duality.

        For any slope ``a`` there is a ``b`` with ``W(c, d) >= W(0, d) + a c + b min(c, knee)``
        for all counts; summed over the letters, ``Z >= k W(0, d) + a n + b (d + knee)``.
        """
        return self.total_with(self.best_slope)

    @property
    def best_slope(self) -> int:
        """The slope, in quarters, that bounds the total best."""
        return max(range(_SLOPES + 1), key=self.total_with)

    def total_with(self, quarters: int) -> Fraction:
        """Return the bound on the total that a slope of so many quarters gives."""
        table, knee = self.table, self.table.knee
        slope, scale = quarters * table.unit, _SLOPES * knee
        unseen, count = table(0, self.first), self._flattest(quarters)
        b = (table(count, self.first) - unseen) * _SLOPES - slope * count
        if knee > 1:
            b = min(b, ((table(1, self.first) - unseen) * _SLOPES - slope) * knee)
        at_risk = self.last + knee if b < 0 else self.first
        total = self.k * unseen * scale + slope * self.n * knee + b * at_risk
        return Fraction(total * _ONE // (table.unit * scale), _ONE)

    def _flattest(self, quarters: int) -> int:
        """Return the count from ``knee`` on where ``W`` is least above the line of the slope."""
        table = self.table
        level, slope = table.level(self.first), quarters * table.unit
        return bisect_left(
            range(self.crossing - 1),
            x=True,
            lo=min(table.knee, self.crossing - 1),
            key=lambda c: (table.powers[c + 1] - table.powers[c]) * level * _SLOPES >= slope,
        )
