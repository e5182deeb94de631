r"""The limit where epsilon is not small: a mean over distributions on three levels.

Let ``j - 1`` letters have the odds ``v``, ``i`` letters the odds ``w > v`` and one letter the
odds ``z``; call that distribution ``B_i``, and with one more letter at ``v`` call it ``A_i``. For
all weights ``r_i > 0`` of ``B_i``, ``first <= i <= last``, with sums over ``i < last``,

    ``alpha >= sum_i (d_i u_i - (i+1) r_{i+1} U_i) / (sum_i d_i / j + sum_{i <= last} r_i)``,

where a letter at ``v`` has the probability ``u_i`` in ``A_i``, a letter at ``w`` has ``U_i`` in
``B_{i+1}``, and ``d_i >= 0`` is any number such that for all ``0 <= t <= n``

    ``d_i S(u_i, t) <= (k-j-i) r_i + (i+1) r_{i+1} S(U_i, t)``,
    ``S(u, t) = sum_{c <= t} binomial(n, c) (e^epsilon u)^c (1-u)^(n-c)``.

Proof: docs/proofs/limit.md
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from dproo.core.exact import ceil_div, power_lower, power_upper

_BITS = 128
_UNIT = 1 << _BITS


@dataclass(frozen=True, kw_only=True)
class Levels:
    """The distributions that prove a limit.

    Attributes:
        letters: ``j``.
        rest: ``z``, an integer.
        middle: ``v``.
        high: ``w``.
        first: the fewest letters at ``w``.
        weights: ``r_i`` from there on.
    """

    letters: int
    rest: int
    middle: int
    high: int
    first: int
    weights: tuple[int, ...]

    def __post_init__(self) -> None:
        """Check what the proof assumes."""
        if not (self.letters >= 1 and self.first >= 0 and len(self.weights) > 1):
            raise ValueError("levels must have a letter in the middle and two weights.")
        if not (self.rest > 0 and 0 < self.middle < self.high and min(self.weights) > 0):
            raise ValueError("levels must have positive weights, and odds that rise.")

    @property
    def last(self) -> int:
        """The most letters at ``w``."""
        return self.first + len(self.weights) - 1

    def bound(self, *, n: int, k: int, growth: Fraction) -> Fraction:
        """Return the bound with ``growth`` for ``e^epsilon``, rounded down.

        Raises:
            ValueError: there are not letters enough.
        """
        if self.letters + self.last > k:
            raise ValueError(f"levels need {self.letters + self.last} letters, got {k}.")
        won, weight = 0, self.letters * sum(self.weights)
        for i, (here, above) in enumerate(pairwise(self.weights), start=self.first):
            others = self._others(i)
            empty, gained = (k - self.letters - i) * here, (i + 1) * above
            owed = self._owed(n, growth, others, empty, gained)
            won += owed * self.middle * _UNIT // (others + self.middle)
            won -= ceil_div(gained * self.high * _UNIT, others + self.high)
            weight += owed
        return Fraction(max(0, self.letters * won), weight * _UNIT)

    def distributions(self, k: int) -> Iterator[tuple[Fraction, ...]]:
        """Yield all ``B_i`` and ``A_i``, their probabilities in falling order."""
        for i in range(self.first, self.last + 1):
            for letters in (self.letters - 1, self.letters)[: 1 + (i < self.last)]:
                odds = [self.rest, *[self.middle] * letters, *[self.high] * i]
                shares = sorted((Fraction(value, sum(odds)) for value in odds), reverse=True)
                yield (*shares, *[Fraction(0)] * (k - len(shares)))

    def _others(self, i: int) -> int:
        """Return the odds of all letters of ``B_i`` together."""
        return self.rest + (self.letters - 1) * self.middle + i * self.high

    def _owed(self, n: int, growth: Fraction, others: int, empty: int, gained: int) -> int:
        """Return the largest ``d_i``, rounded down.

        It falls with ``t`` until a term of ``S(U, t)`` is large enough for that of ``S(u, t)``.
        Their quotient rises with ``t``, so then no later term asks for less.
        """
        low = _first_term(others, self.middle, n, is_upper=True)
        high = _first_term(others, self.high, n, is_upper=False)
        lows, highs = low, high
        owed = ((empty << _BITS) + gained * highs) // lows
        for count in range(n):
            over = growth.numerator * (n - count)
            under = growth.denominator * (count + 1) * others
            low = ceil_div(low * over * self.middle, under)
            high = high * over * self.high // under
            if gained * high >= owed * low:
                break
            lows, highs = lows + low, highs + high
            owed = ((empty << _BITS) + gained * highs) // lows
        return owed


def _first_term(others: int, odds: int, n: int, *, is_upper: bool) -> int:
    """Return ``(1-u)^n`` in units of ``2^-128``, for the odds of one letter, rounded."""
    base = 1 + Fraction(odds, others)
    if is_upper:
        power = power_lower(base, n, bits=_BITS)
        return ceil_div(power.denominator << _BITS, power.numerator)
    power = power_upper(base, n, bits=_BITS)
    return (power.denominator << _BITS) // power.numerator
