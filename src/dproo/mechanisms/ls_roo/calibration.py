r"""LS-ROO's tables: one for each rate, and the rate that spends all of epsilon.

With ``last = ceil(1/rate)``, a count below ``last`` weighs ``last (1 + rate)^(count - last)``,
any other count itself. If that is too long, ``last`` is ``ENTRIES_MAX`` and weighs ``1/rate``.
The table is computed in integers, entry by entry. The same formula, evaluated only at the
entries needed, gives the rate and the worst case without a table.

Proof: docs/proofs/letter_specific.md
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from dproo.core.numbers import BITS, ceil_div, power_lower
from dproo.mechanisms.base import Transition
from dproo.mechanisms.ls_roo.table import LetterTable, even, worst_change, worst_replacement

ENTRIES_MAX = 1 << 14
"""A longer table is cut to this length, by a constant pseudo-count for every letter."""

_SECANTS = 8


@dataclass(frozen=True)
class Envelope:
    """All tables for ``n`` records of ``k`` letters and a growth of at most ``growth``.

    If ``n`` is not public, a dataset may have fewer records, and a neighbour one more or less.
    """

    growth: Fraction
    n: int
    k: int
    is_n_public: bool = True

    @cached_property
    def unit(self) -> int:
        """Rates are integers in units of ``1 / unit``."""
        return 1 << (2 * BITS + int(1 / (self.growth - 1)).bit_length())

    @cached_property
    def slope(self) -> int:
        """The weight that a record adds beyond the table."""
        return 1 << (2 * BITS + int(self.growth).bit_length())

    @property
    def largest_rate(self) -> int:
        """The rate of ``growth`` itself."""
        return int((self.growth - 1) * self.unit)

    @property
    def tolerance(self) -> Fraction:
        """How far below ``growth`` the worst ratio may be."""
        return (self.growth - 1) / 2**40

    def end(self, rate: int) -> tuple[int, int]:
        """Return the count from which the table of this rate is a straight line, and its weight.

        At any rate, there are at most ``ENTRIES_MAX`` counts before it.
        """
        knee = ceil_div(self.unit, rate)
        if min(knee, self.n) <= ENTRIES_MAX:
            last = min(knee, self.n)
            return last, self.slope * last
        return ENTRIES_MAX, ceil_div(self.slope * self.unit, rate)

    def table(self, rate: int) -> LetterTable:
        """Return the least convex table above its straight line with steps ``1 + rate/unit``."""
        unit, slope = self.unit, self.slope
        last, top = self.end(rate)
        values = [top]
        step = slope
        for _ in range(last):
            above = values[-1]
            value = max(ceil_div(above * unit, unit + rate), above - step)
            step = above - value
            values.append(value)
        return LetterTable(tuple(reversed(values)), slope)

    def calibrated(self) -> tuple[LetterTable, Transition]:
        """Return the table of the largest rate that certifies, and its worst transition.

        The worst ratio rises with the rate and is at least ``1 + rate/unit``, so the rate of
        ``growth`` itself is an upper bound. The likely rate is tried first, and is nearly
        always good enough; otherwise the rate is found by false position.
        """
        search = worst_replacement if self.is_n_public else worst_change

        def excess(rate: int) -> tuple[tuple[LetterTable, Transition], Fraction]:
            table = self.table(rate)
            ratio, worst = search(table, self.n, self.k)
            return (table, worst), ratio - self.growth

        low = self.likely_rate
        found, below = excess(low)
        if -self.tolerance <= below <= 0:
            return found
        high = self.largest_rate
        largest, above = excess(high)
        if above <= 0:
            return largest
        while below > 0:
            low = int(low * (self.growth - 1) / (self.growth - 1 + 2 * below))
            found, below = excess(low)
        halve = False
        while high - low > 1 and below < -self.tolerance:
            share = Fraction(1, 2) if halve else -below / (above - below)
            middle = low + min(max(int((high - low) * share), 1), high - low - 1)
            candidate, value = excess(middle)
            halve = not halve and abs(value) > abs(below) / 2
            if value > 0:
                high, above = middle, value
            else:
                low, below, found = middle, value, candidate
        return found

    @cached_property
    def likely_rate(self) -> int:
        """The rate at which an unseen letter spends all of epsilon, found by secants."""
        aim = self.growth - self.tolerance / 2
        before, rate = 0, self.largest_rate
        over, excess = 1 - aim, self._likely_ratio(rate) - aim
        for _ in range(_SECANTS):
            if abs(excess) <= self.tolerance / 4 or excess == over:
                break
            following = rate - int((rate - before) * excess / (excess - over))
            before, over = rate, excess
            rate = min(max(following, 1), self.largest_rate)
            excess = self._likely_ratio(rate) - aim
        return rate

    def _likely_ratio(self, rate: int) -> Fraction:
        """Return the largest ratio of an unseen letter."""
        weigh = self._weigher(rate)
        unseen, seen = weigh(0), weigh(1)
        largest = Fraction(0)
        for loses in self._likely_losers(rate):
            others = even(self.n - loses if self.is_n_public else 0, self.k - 2)
            total = unseen + weigh(loses) + sum(weigh(count) * each for count, each in others)
            gap = weigh(loses) - weigh(loses - 1) - (seen - unseen)
            largest = max(largest, Fraction(seen * total, unseen * (total - gap)))
        return largest

    def _likely_losers(self, rate: int) -> Iterator[int]:
        """Yield counts of the losing letter: just past the table, or the even share."""
        if self.k == 2 and self.is_n_public:
            yield self.n
            return
        share = max(1, self.n // (self.k - 1)) if self.is_n_public else 1
        last, _ = self.end(rate)
        most = max(share, min(self.n, last + 1))
        yield most
        if most > share:
            yield most - 1

    def _weigher(self, rate: int) -> Callable[[int], int]:
        """Return the table of this rate as a function.

        A weight needs the bits of the unit so that its steps have ``2 * BITS``.
        """
        last, top = self.end(rate)
        base, bits = 1 + Fraction(rate, self.unit), self.unit.bit_length()

        def weigh(count: int) -> int:
            if count >= last:
                return top + self.slope * (count - last)
            power = power_lower(base, last - count, bits=bits)
            return top * power.denominator // power.numerator

        return weigh

    def worst_alpha(self) -> Fraction:
        """Return the distance of a point mass at the likely rate, or barely more.

        An integer entry is less than ``1 + 1/rate`` above the formula: every entry rounds up
        by less than one, and the error is then divided by ``1 + rate`` at each step.
        """
        rate = self.likely_rate
        weigh = self._weigher(rate)
        missing = (self.k - 1) * (weigh(0) + 3 + ceil_div(self.unit, rate))
        return Fraction(missing, missing + weigh(self.n))
