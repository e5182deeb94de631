r"""LS-ROO: obscure only the letters that need it.

A letter seen ``c`` times needs help only while one record more or less would change its
count by more than a factor ``e^epsilon``. Every letter gets its own lift.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from dproo.counts import Counts, Runs
from dproo.exact import BITS, ceil_div
from dproo.mechanisms.law import ADD_REMOVE, BOTH, REPLACE, Mechanism, Transition
from dproo.mechanisms.letter_table import (
    LetterTable,
    worst_addition,
    worst_change,
    worst_replacement,
)
from dproo.randomness import Source
from dproo.sampling import pick_each

ENTRIES_MAX = 1 << 14
"""A longer table is cut to about this length by a constant pseudo-count on every letter."""


@dataclass(frozen=True, kw_only=True)
class LetterSpecificRevealOrObscure(Mechanism):
    r"""Draw a letter in proportion to its count, lifted where it is rare: ``f(c)``.

    ``f(c) = max_j (c + j) growth^-j`` is the smallest table above the identity whose step
    ratio is at most ``growth``: ``f(c) = c`` once ``(c+1)/c <= growth``, so a letter seen
    often is never obscured. Under replacement ``growth`` is a little below ``e^epsilon``,
    the most that the certificate allows; under add-remove it is ``e^epsilon``. Under
    ``"both"`` one epsilon covers a record that is replaced, added or removed, in a dataset
    of unknown size: what one of several groups sees of a record that may move between them.

    Guarantee: epsilon-DP when one record is replaced, or when one is added or removed, or
    both; on every dataset of a public size the obscured mass is at most ROO's.
    Proof: docs/proofs/letter_specific.md
    Reference: this project.

    >>> ls = LetterSpecificRevealOrObscure(epsilon=1, n=100, k=4)
    >>> [round(float(p), 3) for p in ls.pmf([70, 30, 0, 0])]
    [0.695, 0.298, 0.004, 0.004]
    """

    name = "ls-roo"
    relations = (REPLACE, ADD_REMOVE, BOTH)

    @cached_property
    def table(self) -> LetterTable:
        """The lifted counts, in integers: the least table that certifies."""
        if self.neighbours == ADD_REMOVE:
            return self._envelope(int((self.growth - 1) * self._step_unit))
        return self._calibrated()

    @cached_property
    def _pseudo(self) -> int:
        """The constant pseudo-count that keeps the table short: zero unless epsilon is tiny."""
        if self.n <= ENTRIES_MAX:
            return 0
        return max(0, int(1 / (self.growth - 1)) - ENTRIES_MAX)

    @cached_property
    def _step_unit(self) -> int:
        """Growth rates are integers in units of ``1 / _step_unit``."""
        return 1 << (2 * BITS + int(1 / (self.growth - 1)).bit_length())

    def _envelope(self, rate: int) -> LetterTable:
        """Return the least convex table above ``c + pseudo`` with steps ``1 + rate/unit``."""
        unit, pseudo = self._step_unit, self._pseudo
        slope = 1 << (2 * BITS + int(self.growth).bit_length())
        last = min(max(0, ceil_div(unit, rate) - pseudo), self.n)
        values = [slope * (last + pseudo)]
        step = slope
        for _ in range(last):
            above = values[-1]
            value = max(ceil_div(above * unit, unit + rate), above - step)
            step = above - value
            values.append(value)
        return LetterTable(tuple(reversed(values)), slope)

    def _calibrated(self) -> LetterTable:
        """Return the table of the largest rate that certifies, by false position.

        The worst ratio rises with the rate and is at least ``1 + rate/unit``, so the largest
        rate is at most that of ``e^epsilon`` itself.
        """
        limit = self.growth
        tolerance = (limit - 1) / 2**40

        def excess(rate: int) -> tuple[LetterTable, Fraction]:
            table = self._envelope(rate)
            ratio, _ = self._search(table, self.n, self.k)
            return table, ratio - limit

        high = int((limit - 1) * self._step_unit)
        table, above = excess(high)
        low, below = high, above
        while below > 0:
            low = int(low * (limit - 1) / (limit - 1 + 2 * below))
            table, below = excess(low)
        halve = False
        while high - low > 1 and below < -tolerance:
            share = Fraction(1, 2) if halve else -below / (above - below)
            middle = low + min(max(int((high - low) * share), 1), high - low - 1)
            candidate, value = excess(middle)
            halve = not halve and abs(value) > abs(below) / 2
            if value > 0:
                high, above = middle, value
            else:
                low, below, table = middle, value, candidate
        return table

    def weights(self, counts: Counts) -> Runs:
        """Return the lifted count of every letter."""
        return counts.map(self.table)

    def draw_each(self, counts: Counts, *, source: Source | None = None) -> list[int]:
        """Return a letter of each dataset, from the weights of all of them at once.

        A letter's weight depends on nothing but its count. Under add-remove no dataset can
        have too many records if all of them together have not.
        """
        if self.neighbours == REPLACE or counts.n > self.n:
            return super().draw_each(counts, source=source)
        return pick_each(self.weights(counts), self.k, source or Source())

    @property
    def worst_alpha(self) -> Fraction:
        """``(k-1) f(0) / (f(n) + (k-1) f(0))``: a point mass is worst."""
        missing = (self.k - 1) * self.table(0)
        return Fraction(missing, missing + self.table(self.n))

    @property
    def neighbour_distance(self) -> Fraction:
        """One step of the table, over the least total that any dataset has."""
        step = self.table.slope
        if self.neighbours == ADD_REMOVE:
            return Fraction(step, self.k * self.table(0) + step)
        fewest = self.n if self.neighbours == REPLACE else 1
        return Fraction(step, self.table.least(fewest, self.k))

    @cached_property
    def worst(self) -> Transition:
        """The worst transition, found by a search that leaves out only what cannot be it."""
        _, transition = self._search(self.table, self.n, self.k)
        return transition

    @property
    def _search(self) -> Callable[[LetterTable, int, int], tuple[Fraction, Transition]]:
        searches = {REPLACE: worst_replacement, ADD_REMOVE: worst_addition, BOTH: worst_change}
        return searches[self.neighbours]
