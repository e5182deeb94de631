r"""DS-ROO: obscure less when every letter has been seen.

The obscuring probability ``q_m`` depends on the count ``m`` of the rarest letter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import ceil

from dproo.core.checks import flag
from dproo.core.counts import Counts, Runs
from dproo.core.numbers import BITS, ceil_div, power_lower
from dproo.mechanisms import hypotheses
from dproo.mechanisms.base import Mechanism, Transition
from dproo.mechanisms.roo import alpha_of

ENTRIES_MAX = 1 << 14
"""A longer table is cut here; its last entry applies to every larger minimum."""

_Histogram = list[tuple[int, int]]


@dataclass(frozen=True, kw_only=True)
class DataSpecificRevealOrObscure(Mechanism):
    r"""Draw a uniform record, or, with probability ``q_m``, a uniform letter.

    ``m`` is the smallest count of any letter. The table ``q_0, q_1, ...`` is the smallest
    that is private: each entry is the least that the transitions from ``m - 1`` to ``m`` and
    within ``m`` allow. Entries are integers, so the table drawn from is the table certified.
    For two letters the least table is computed the other way, from the middle down.

    Guarantee: epsilon-DP when one record is replaced, unless ``as_printed``.
    Proof: docs/proofs/data_specific.md
    Reference: Tasnim et al. (2025), Algorithm 2, whose printed table is not private.

    Args:
        as_printed: use the table of Algorithm 2 verbatim. It leaks, so it is for study only:
            no release accepts it, and the certificate shows the leak.

    >>> ds = DataSpecificRevealOrObscure(epsilon="0.1", n=1000, k=9)
    >>> [round(float(ds.q(m)), 4) for m in (0, 5, 10, 20)]
    [0.0788, 0.0681, 0.0441, 0.0]
    """

    name = "ds-roo"
    basis = "exact: a point mass leaves a letter unseen"
    is_closed_form = True

    as_printed: bool = False

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._set(as_printed=flag("as_printed", self.as_printed))
        _ = self.table  # refuses a printed table that is too long

    @property
    def is_for_release(self) -> bool:
        """Whether the table is the private one."""
        return not self.as_printed

    @property
    def theorem(self) -> str | None:
        """The theorem on the private table, or on the table for two letters."""
        if self.as_printed:
            return None
        return "ds_roo_replace" if self.k > 2 else "ds_roo_two_letters"

    @property
    def conditions(self) -> dict[str, bool]:
        """What the theorem assumes of the table."""
        if self.as_printed:
            return {}
        entries, unit, growth, n, k = self.table, self._unit, self.growth, self.n, self.k
        common = {
            "growth_at_least_one": hypotheses.growth_at_least_one(growth),
            "unit_positive": hypotheses.unit_positive(unit),
            "entries_nonnegative": hypotheses.entries_nonnegative(entries),
            "entries_at_most_unit": hypotheses.entries_at_most_unit(entries, unit),
        }
        if k == 2:
            return common | {
                "pair_rises": hypotheses.pair_rises(entries, unit, n=n),
                "pair_grows_at_most": hypotheses.pair_grows_at_most(entries, unit, growth, n=n),
            }
        return common | {
            "entries_falling": hypotheses.entries_falling(entries),
            "rarest_may_gain": hypotheses.rarest_may_gain(entries, unit, growth, n=n, k=k),
            "minimum_may_fall": hypotheses.minimum_may_fall(entries, unit, growth, n=n, k=k),
            "largest_may_rise": hypotheses.largest_may_rise(entries, unit, growth, n=n, k=k),
        }

    @cached_property
    def _unit(self) -> int:
        """Table entries are integers in units of ``1 / _unit``, much finer than the least q_0."""
        return 1 << (BITS + self.n.bit_length() + int(self.growth).bit_length())

    @cached_property
    def table(self) -> tuple[int, ...]:
        """The useful entries ``q_0, q_1, ...`` in units; the last applies to every larger ``m``."""
        if self.k == 2 and not self.as_printed:
            return self._table_of_two_letters()
        entries = [self._same_minimum_bound(0)]
        for m in range(1, self.n // self.k + 1):
            if entries[-1] == 0 or m * self.k == self.n:  # all counts are equal: any q works
                break
            if m == ENTRIES_MAX:
                if self.as_printed:
                    raise ValueError(
                        f"as_printed needs more than {ENTRIES_MAX} table entries here."
                        " Choose a larger epsilon or a smaller n."
                    )
                break
            entries.append(max(0, *self._lower_bounds(m, entries[-1])))
        return tuple(entries)

    def q(self, m: int) -> Fraction:
        """Return the obscuring probability at smallest count ``m``."""
        return Fraction(self._entry(m), self._unit)

    def _entry(self, m: int) -> int:
        return self.table[min(m, len(self.table) - 1)]

    def _lower_bounds(self, m: int, previous: int) -> Iterator[int]:
        """Yield lower bounds on ``q_m``, given ``q_{m-1}``."""
        over, under = self.growth.as_integer_ratio()
        n, k = self.n, self.k
        # Eq. (13) of Tasnim et al.: a rarest letter gains a record, another falls below it.
        yield ceil_div(
            under * (n - k * (m + 1)) * previous - k * self._unit * (m * (over - under) - under),
            over * (n - k * m),
        )
        if self.as_printed:
            return
        yield self._same_minimum_bound(m)
        big = n - (k - 1) * m  # the largest count of a letter untouched as the minimum rises
        excess = k * big - n  # positive: it is (k - 1)(n - km), and the counts are not all equal
        yield ceil_div(
            over * previous * excess - self._unit * k * big * (over - under), under * excess
        )

    def _same_minimum_bound(self, m: int) -> int:
        """Return the least ``q_m`` at which a rarest letter may gain a record while ``m`` stays."""
        over, under = self.growth.as_integer_ratio()
        n, k = self.n, self.k
        return ceil_div(
            self._unit * k * (under - m * (over - under)),
            (over - under) * (n - k * m) + k * under,
        )

    @property
    def _last_of_two_letters(self) -> int:
        """The last useful entry of the table for two letters."""
        over, under = self.growth.as_integer_ratio()
        return min(ceil_div(under, over - under), self.n // 2, ENTRIES_MAX)

    def _table_of_two_letters(self) -> tuple[int, ...]:
        """Return the least table for ``k = 2``, from its last useful entry down.

        With two letters the only neighbours are ``(m, n-m)`` and ``(m+1, n-m-1)``, so ``q_m`` need
        only keep the rarer letter from growing by more than ``e^epsilon`` at the next step.
        """
        over, under = self.growth.as_integer_ratio()
        n, unit = self.n, self._unit
        last = self._last_of_two_letters
        entries = [max(0, self._same_minimum_bound(last))]
        for m in reversed(range(last)):
            following = 2 * (m + 1) * unit + entries[-1] * (n - 2 * (m + 1))
            short = under * following - over * 2 * m * unit
            entries.append(max(0, ceil_div(short, over * (n - 2 * m))))
        return tuple(reversed(entries))

    def weights(self, counts: Counts) -> Runs:
        """Return ``q_m n + (1 - q_m) k c`` for every letter, in units."""
        q = self._entry(counts.smallest)
        return counts.map(lambda count: self._weight(q, count))

    def _weight(self, q: int, count: int) -> int:
        return q * self.n + (self._unit - q) * self.k * count

    @property
    def worst_alpha(self) -> Fraction:
        """``q_0 (1 - 1/k)``: a point mass leaves a letter unseen, whatever ``n`` is."""
        return alpha_of(self.q(0), k=self.k)

    @classmethod
    def worst_alpha_at(cls, *, n: int, k: int, epsilon: Fraction) -> Fraction:
        """Return ``q_0 (1 - 1/k)`` without the rest of the table; for two letters, barely more."""
        sampler = cls.__new__(cls)  # only for its first entry
        sampler._set(n=n, k=k, epsilon=epsilon)  # noqa: SLF001
        return alpha_of(Fraction(sampler._first, sampler._unit), k=k)  # noqa: SLF001

    @property
    def _first(self) -> int:
        """The first entry; for two letters, a bound on it.

        The weight ``W_m = 2 m + q_m (n - 2m)`` of the rarer of two letters is ``W_{m+1}``
        divided by the growth, or ``2m`` if that is more, which only the last two entries can
        be; and in integers every entry rounds up by at most ``n``.
        """
        if self.k > 2:
            return self._same_minimum_bound(0)
        n, unit, growth, last = self.n, self._unit, self.growth, self._last_of_two_letters
        q_last = max(0, self._same_minimum_bound(last))
        weights = [(last, 2 * last * unit + q_last * (n - 2 * last))]
        weights += [(last - 1, 2 * (last - 1) * unit)] if last else []
        weight = max(weight / power_lower(growth, m, bits=2 * BITS) for m, weight in weights)
        rounded = growth / (growth - 1) if last else 0
        return min(unit, ceil(weight / n + rounded))

    @property
    def neighbour_distance(self) -> Fraction:
        """One record's share, plus the table's largest step times a law's distance from uniform."""
        steps = (abs(low - high) for low, high in pairwise(self.table))
        step = Fraction(max(steps, default=0), self._unit)
        return Fraction(1, self.n) + alpha_of(step, k=self.k) if step else Fraction(1, self.n)

    @cached_property
    def worst(self) -> Transition:
        """The worst of the extreme transitions.

        Between two given minima a letter's ratio is a linear fraction in its count, so it is
        largest at one end of the counts that the transition allows.
        """
        over, under = 0, 1
        for lower, upper, positions in self._extreme_pairs():
            q, following = self._entry(min(lower)[0]), self._entry(min(upper)[0])
            for i in range(positions):
                weight = self._weight(q, lower[i][0])
                grown = self._weight(following, upper[i][0])
                if grown * under > over * weight:
                    over, under, worst = grown, weight, (lower, upper, i)
                if positions > 1 and weight * under > over * grown:
                    over, under, worst = weight, grown, (upper, lower, i)
        before, after, i = worst
        letter = sum(letters for _, letters in before[:i])
        return Transition(Counts(before), Counts(after), (letter,))

    def _extreme_pairs(self) -> Iterator[tuple[_Histogram, _Histogram, int]]:
        """Yield pairs of neighbours and how many letters to watch, in both directions.

        Where the minimum stays, only the first letter is watched, and only as it gains. Past
        the table's end ``q`` is constant, and the first such entry is the worst.
        """
        n, k = self.n, self.k
        for m in range(len(self.table)):
            donor = n - (k - 1) * m
            if donor > m and (k > 2 or donor == m + 1):
                yield [(m, 1), (donor, 1), (m, k - 2)], [(m + 1, 1), (donor - 1, 1), (m, k - 2)], 1
            if k * (m + 1) > n:
                continue
            donor = n - m - (k - 2) * (m + 1)
            pairs = [(
                [(m, 1), (donor, 1), (m + 1, k - 2)],
                [(m + 1, 1), (donor - 1, 1), (m + 1, k - 2)],
            )]  # fmt: skip
            if k > 2:
                big = donor - 1
                pairs.append((
                    [(m, 1), (m + 2, 1), (big, 1), (m + 1, k - 3)],
                    [(m + 1, 1), (m + 1, 1), (big, 1), (m + 1, k - 3)],
                ))  # fmt: skip
            for lower, upper in pairs:
                yield lower, upper, min(k, 3)
