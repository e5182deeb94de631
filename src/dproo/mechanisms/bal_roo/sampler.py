r"""BAL-ROO: unseen letters get what well-seen letters give.

LS-ROO only lifts: a lifted letter takes its share from all others. Here it takes only what the
letters that can spare it give.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil

from dproo.core.counts import Counts, Runs
from dproo.core.numbers import BITS, exp_lower, exp_upper, log_lower, log_upper
from dproo.mechanisms.bal_roo.bounds import BalancedBounds, least_plateau
from dproo.mechanisms.bal_roo.table import (
    BalancedTable,
    balanced_weights,
    extend,
    extend_to_crossing,
)
from dproo.mechanisms.base import ADD_REMOVE, REPLACE, Mechanism, Transition, enough
from dproo.mechanisms.ls_roo.sampler import LetterSpecificRevealOrObscure
from dproo.mechanisms.ls_roo.table import even

SLOPE = Fraction(1, 16)
"""How fast a loss is forgotten, over ``rate`` times the mean of surplus and knee."""

TOP = Fraction(15, 16)
"""The highest level, as a share of what would lift every letter above its count."""

EVEN = Fraction(9, 16)
"""The level at which unseen letters get just what seen ones give, over the highest, for many
letters; with fewer it is nearer to the highest."""

RATE = Fraction(1, 2)
"""The least share of epsilon to be left for the growth."""

SURPLUS = Fraction(1)
"""Times ``1 / (growth - 1)``, the logarithm of this share of the letters, and at least 1."""

DOUBLINGS = 12
"""Surpluses to try, each twice the one before; the first that leaves ``RATE`` is taken."""

FUTILE = Fraction(3, 5)
"""From this worst case of LS-ROO on, BAL-ROO's bound is never smaller and is not computed."""

LARGE = 5
"""From this epsilon on, no smaller bound was ever found, and none is searched for."""

CLEARLY = Fraction(3, 5)
"""If LS-ROO's worst case is at most this share of the proven one, LS-ROO is used instead."""

ATTEMPTS = 6
ENTRIES_MAX = 1 << 16

_MARGIN = 1 + Fraction(1, 2**40)
_NARROW = Fraction(1, 2)
_LEAST_FALL = 2
_STEPS = 16
_TINY = Fraction(1, 2**20)


@dataclass(frozen=True, kw_only=True)
class BalancedRevealOrObscure(Mechanism):
    r"""Draw a letter in proportion to its count, lifted and lowered in balance.

    A letter with count ``c`` weighs ``level growth^c``, or ``c`` once that exceeds it, from
    ``1 / (growth - 1)`` records on. At its level, the *other* letters gain above their counts
    what they give below them, and a little more. Letters seen often give nothing and count for
    nothing. Where LS-ROO's worst case is clearly smaller, this sampler is LS-ROO. The constants
    were chosen once, on a public family of shapes, by ``benchmarks/balance.py``.

    Guarantee: epsilon-DP when one record is replaced, or when one is added or removed.
    Proof: docs/proofs/balanced.md
    Reference: this project.

    >>> bal = BalancedRevealOrObscure(epsilon=1, n=100, k=6)
    >>> [round(float(p), 4) for p in bal.pmf([70, 30, 0, 0, 0, 0])]
    [0.6953, 0.298, 0.0017, 0.0017, 0.0017, 0.0017]
    """

    name = "bal-roo"
    relations = (REPLACE, ADD_REMOVE)
    basis = "proven bound"

    def weights(self, counts: Counts) -> Runs:
        """Return the balanced count of every letter."""
        return self.plain.weights(counts) if self.plain else balanced_weights(self.table, counts)

    @cached_property
    def plain(self) -> LetterSpecificRevealOrObscure | None:
        """LS-ROO if its worst case is clearly smaller or the table would be too long, else None."""
        if self._certified:
            return None
        return LetterSpecificRevealOrObscure(
            epsilon=self.epsilon, n=self.n, k=self.k, neighbours=self.neighbours
        )

    @property
    def table(self) -> BalancedTable:
        """The table of nearly the largest rate that certifies."""
        return self.bounds.table

    @property
    def bounds(self) -> BalancedBounds:
        """The bounds proven for the table."""
        if self._certified is None:
            raise AttributeError(f"{self.name} is ls-roo here, and has no levels.")
        return self._certified[0]

    @property
    def largest_ratio(self) -> Fraction:
        """A bound on the largest probability ratio; for LS-ROO, the ratio itself."""
        if self._certified:
            return self._certified[1]
        return self.ratio(self.worst)

    @cached_property
    def _certified(self) -> tuple[BalancedBounds, Fraction] | None:
        """The table with its bounds, and the bound on its ratio; None if this is LS-ROO.

        A table that fails a condition of the proof is rejected.
        """
        if self.growth > _least_growth(self.k):
            for doublings in range(DOUBLINGS):
                surplus = self._least_surplus * 2**doublings
                found = None if self._is_in_vain(surplus) else self._calibrated(surplus)
                if found and all(found[0].conditions.values()):
                    return None if self._is_worse(found[0].table) else found
        return None

    def _is_worse(self, table: BalancedTable) -> bool:
        """Whether LS-ROO's worst case is clearly smaller than the bound proven for the table.

        LS-ROO attains its worst case; the table only has a bound, which data drawn at random
        seldom comes near. So if the two are close, balance is the better choice. Under
        add-remove both are compared at a number of records that epsilon and the letters
        decide, so that the law does not depend on the number of records.
        """
        if self.neighbours == REPLACE:
            plain = LetterSpecificRevealOrObscure.worst_alpha_at(
                n=self.n, k=self.k, epsilon=self.epsilon
            )
            return plain <= CLEARLY * BalancedBounds(table, self.n, self.k).largest_distance
        n = enough(self.epsilon, self.k)
        lifted = LetterSpecificRevealOrObscure(
            epsilon=self.epsilon, n=n, k=self.k, neighbours=self.neighbours
        )
        return lifted.worst_alpha <= CLEARLY * BalancedBounds(table, n, self.k).largest_distance

    @property
    def _least_surplus(self) -> Fraction:
        """The first surplus to try, over ``1 / (growth - 1)``."""
        many = log_lower(max(SURPLUS * self.k, Fraction(1)))
        return max(Fraction(1), Fraction(int(many * _STEPS), _STEPS))

    def _is_in_vain(self, surplus: Fraction) -> bool:
        """Whether the total of ``n`` records may fall by more than they have to spare."""
        spare = exp_upper(self.epsilon * (1 - RATE)) - 1
        return self.neighbours == REPLACE and self.n * spare < self._least_fall(surplus)

    def _least_fall(self, surplus: Fraction) -> Fraction:
        """Return a lower bound on the bound on the fall of the total.

        A letter at its crossing ``x`` loses ``x (1 - 1 / growth)``, and at the lowest level
        ``growth^x`` is at least ``(k - 1) / surplus``, up to rounding.
        """
        own = log_lower(max((self.k - 1) / surplus, Fraction(1))) / (1 + self.epsilon)
        return max(Fraction(_LEAST_FALL), own - _TINY)

    def _calibrated(self, surplus: Fraction) -> tuple[BalancedBounds, Fraction] | None:
        """Return the table that certifies with nearly all of epsilon spent.

        Drifting levels and a falling total add to the loss, almost independently of the rate,
        so the rate is lowered by the excess, or raised by what is left.
        """
        least = RATE * self.epsilon
        rate = self.epsilon / (1 + SLOPE / 2)
        if self.neighbours == REPLACE:
            rate -= log_upper(1 + self._least_fall(surplus) / self.n)
        rate = self._rounded(max(rate, least))
        found, attempts = None, 0
        while rate >= least and attempts < ATTEMPTS:
            attempts += 1
            table = self._table_of(rate, surplus)
            if table is None:
                return None
            bounds = BalancedBounds(table, self.n, self.k)
            ratio = bounds.added if self.neighbours == ADD_REMOVE else bounds.replaced
            excess = self.epsilon if ratio is None else log_upper(ratio) - self.epsilon
            if ratio is not None and excess <= 0:
                found = bounds, ratio
                if -excess <= self.epsilon / 1000:
                    break
            rate = self._rounded(max(rate - excess * Fraction(129, 128), rate / 2))
        return found

    def _rounded(self, rate: Fraction) -> Fraction:
        return self.epsilon * Fraction(int(rate / self.epsilon * 2**24), 2**24)

    def _table_of(self, rate: Fraction, surplus: Fraction) -> BalancedTable | None:
        """Return the table of ``growth = e^rate``, rounded down; None if levels can hardly move."""
        growth = exp_lower(rate)
        real_knee = 1 / (growth - 1)
        knee = ceil(real_knee)
        powers = [1 << (BITS + 2 * knee.bit_length())]
        unit = (powers[0] * self.k << BITS) * (int(growth) + 1)
        extend(powers, growth, knee)
        flat = int(real_knee * _MARGIN * unit) + 1
        high = int(TOP * knee * unit / powers[knee])
        given = int(surplus * flat)
        even = high * (EVEN + (1 - EVEN) / surplus)
        fading = int(given / even)
        low = given // ((self.k - 1) * powers[0] + fading)
        if low > _NARROW * high:
            return None
        extend_to_crossing(powers, growth, knee=knee, unit=unit, level=low)
        slope = SLOPE * (1 + self._least_surplus) / 2 * log_lower(growth) * real_knee
        slope = Fraction(_STEPS, int(_STEPS / slope))
        plateau = int((1 + slope) * (unit + flat)) + 1
        shape = (tuple(powers), growth, knee, unit)
        table = BalancedTable(*shape, slope, plateau, given, fading, low, high)
        return table.with_plateau(least_plateau(table))

    @property
    def worst_alpha(self) -> Fraction:
        """A bound on the distance from any dataset."""
        return self.worst_alpha_among(self.n)

    def worst_alpha_among(self, records: int) -> Fraction:
        """Return the worst case of ``records`` records; from none, a uniform letter is drawn."""
        if self.plain:
            return self.plain.worst_alpha_among(records)
        if not records:
            return 1 - Fraction(1, self.k)
        return self.bounds.distance_among(records)

    @classmethod
    def worst_alpha_at(cls, *, n: int, k: int, epsilon: Fraction) -> Fraction:
        """Return the sampler's bound; for LS-ROO, LS-ROO's own worst case."""
        sampler = cls.__new__(cls)  # only for its table
        sampler._set(n=n, k=k, epsilon=epsilon, neighbours=REPLACE)  # noqa: SLF001
        if sampler._certified is None:  # noqa: SLF001
            return LetterSpecificRevealOrObscure.worst_alpha_at(n=n, k=k, epsilon=epsilon)
        return sampler.bounds.largest_distance

    @classmethod
    def is_futile(cls, *, alpha: Fraction, epsilon: Fraction = Fraction(0)) -> bool:
        """Whether LS-ROO is too far from the records for balance to help, or close enough."""
        return alpha >= FUTILE or epsilon >= LARGE

    @classmethod
    def plain_below(cls, k: int) -> Fraction:
        """Return the epsilon below which the table would be too long."""
        return log_upper(_least_growth(k))

    @property
    def neighbour_distance(self) -> Fraction:
        """LS-ROO's if this is LS-ROO; otherwise the trivial one, as none is proven."""
        return self.plain.neighbour_distance if self.plain else super().neighbour_distance

    @cached_property
    def worst(self) -> Transition:
        """The transition with the largest ratio among the candidates."""
        return self.plain.worst if self.plain else max(self._candidates(), key=self.ratio)

    def _candidates(self) -> Iterator[Transition]:
        """Yield transitions in which one letter gains and another falls.

        The falling letter is at its crossing and weighs much, or has a single record, and
        lowers the levels of all.
        """
        n, k = self.n, self.k
        if self.neighbours == ADD_REMOVE:
            others = [(n - 1, 1), (0, k - 2)]
            yield Transition(Counts([(0, 1), *others]), Counts([(1, 1), *others]))
            return
        crossing = self.table.crossing(self.table.low)
        for letters in {1, max(1, k // 4), k - 2}:
            for loses in {1, crossing}:
                if loses > n:
                    continue
                others = [*even(n - loses, letters), (0, k - 2 - letters)]
                yield Transition(
                    Counts([(0, 1), (loses, 1), *others]),
                    Counts([(1, 1), (loses - 1, 1), *others]),
                )


def _least_growth(k: int) -> Fraction:
    """Return a growth above which every table is short enough."""
    return 1 + Fraction(1, ENTRIES_MAX // (6 + k.bit_length()))
