r"""Expectations over multinomial counts, without enumeration and without simulation.

The counts ``c_x`` of ``n`` records from ``P`` are independent Poisson variables with rates
``n p_x``, given that their sum is ``n``. So for functions ``a(c)`` that are 1 from some count
on, with ``F_x(z) = sum_c Poisson(c; n p_x) a(c) z^c``,

    ``E[prod_x a(c_x)] = [z^n] prod_x F_x(z) / Poisson(n; n)``,

and the coefficient is the mean of ``prod_x F_x(z) z^-n`` over ``N`` roots of unity, apart
from the coefficients of ``z^{n +- N}, ...``. With ``b(c)`` in place of one factor's ``a(c)``,
the same sum gives ``E[b(c_y) prod_{x != y} a(c_x)]``.

Precision: ``|a| <= 1``, so the coefficient of ``z^s`` is at most ``Poisson(s; n)``, and with
``N = 10 sqrt(n) + 61`` the neglected ones are below 1e-16 of the result's scale. Each factor
is at most 1 on the circle and known to a few ``m`` units in the last place (``m`` terms), so
a product of ``k`` of them is known to ``k m 1e-16``; nothing is ever divided by a factor. At
``k = 1000``, ``m = 100`` that is 1e-11; we state 1e-9. It is also checked at run time: the
output law must sum to 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isqrt

import numpy as np
from scipy.special import bdtrc, gammaln, xlogy

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Complex = np.ndarray[tuple[int, ...], np.dtype[np.complex128]]

_CELLS = 1 << 20
_NEGLIGIBLE = 1e-15


@dataclass(frozen=True)
class Records:
    """``n`` records; ``letters[i]`` letters have probability ``shares[i]`` each."""

    n: int
    shares: tuple[float, ...]
    letters: tuple[int, ...]

    def minimum(self, steps: Sequence[float]) -> tuple[float, Array]:
        """Return ``E[g(M)]`` and, per share, ``E[g(M) c_y]`` for the smallest count ``M``.

        ``g(M) = steps[0] + ... + steps[M]``, with zero steps past the end. It is the sum over
        ``m`` of ``steps[m]`` times the indicator of ``M >= m``, a product over the letters.
        Only the ``m`` that ``M`` may reach with noticeable probability are used.
        """
        steps = steps[: self._reach(len(steps))]
        total = np.zeros(1 + len(self.shares))
        for roots in self._roots():
            factor, marked = roots.tails()
            total += steps[0] * roots.mean(factor, marked)
            pmf, powers = roots.below(len(steps))
            for m in range(1, len(steps)):
                term = pmf[:, m - 1, None] * powers[m - 1]
                factor -= term
                marked -= (m - 1) * term
                total += steps[m] * roots.mean(factor, marked)
        return float(total[0]), total[1:]

    def _reach(self, entries: int) -> int:
        """Return how many of the first ``entries`` values ``M`` may noticeably reach.

        The counts are negatively associated (Joag-Dev and Proschan 1983), so the probability
        that all are at least ``m`` is at most the product of the probabilities that each is.
        """
        for m in range(1, entries):
            chances = bdtrc(m - 1, self.n, np.array(self.shares))
            if np.prod(chances ** np.array(self.letters)) < _NEGLIGIBLE:
                return m
        return entries

    def tables(
        self, factors: Sequence[Callable[[Array], Array]], extra: Array
    ) -> Iterator[tuple[float, Array]]:
        """Yield, for each ``a`` of ``factors``, ``E[A]`` and per share ``E[(c_y + extra) A]``.

        ``A = prod_x a(extra(c_x))``; ``extra`` holds the values for the counts
        ``0, 1, ...`` and is zero past its end, where ``a`` must be 1.
        """
        counts = np.arange(len(extra), dtype=float)
        sums = [np.zeros(1 + len(self.shares)) for _ in factors]
        for roots in self._roots():
            tail, marked_tail = roots.tails()
            pmf, powers = roots.below(len(extra))
            for i, a in enumerate(factors):
                value = a(extra)
                factor = tail + (pmf * (value - 1)) @ powers
                marked = marked_tail + (pmf * (value * (counts + extra) - counts)) @ powers
                sums[i] += roots.mean(factor, marked)
        for row in sums:
            yield float(row[0]), row[1:]

    def _roots(self) -> Iterator[_Roots]:
        """Yield the roots of unity of the upper half circle, in portions that fit memory."""
        half = 5 * (isqrt(self.n) + 1) + 30
        angles = 2 * np.pi * np.arange(half + 1) / (2 * half + 1)
        weights = np.full(half + 1, 2.0)
        weights[0] = 1.0
        mean = np.array([float(self.n)])
        weights /= (2 * half + 1) * poisson(mean, mean)[0, 0]
        portion = max(1, _CELLS // len(self.shares))
        for start in range(0, half + 1, portion):
            stop = start + portion
            yield _Roots(self, angles[start:stop], weights[start:stop])


@dataclass(frozen=True)
class _Roots:
    """Some of the roots of unity, and the weight of each in the mean."""

    records: Records
    angles: Array
    weights: Array

    @property
    def _rates(self) -> Array:
        return self.records.n * np.array(self.records.shares)

    def tails(self) -> tuple[Complex, Complex]:
        """Return, per share and root, the transforms of ``a = 1`` and of ``b(c) = c``."""
        real, imaginary = -2 * np.sin(self.angles / 2) ** 2, np.sin(self.angles)
        tail = np.exp(self._rates[:, None] * (real + 1j * imaginary))
        return tail, self._rates[:, None] * np.exp(1j * self.angles) * tail

    def below(self, count: int) -> tuple[Array, Complex]:
        """Return the Poisson probabilities of the counts below, and the powers of the roots."""
        counts = np.arange(count, dtype=float)
        return poisson(self._rates, counts), np.exp(1j * counts[:, None] * self.angles)

    def mean(self, factor: Complex, marked: Complex) -> Array:
        """Return the part of these roots in ``E[prod a]`` and in every marked expectation."""
        letters = np.array(self.records.letters)[:, None]
        single = bool((letters == 1).all())
        powers = factor if single else factor**letters
        before = np.ones_like(factor)
        np.cumprod(powers[:-1], axis=0, out=before[1:])
        after = np.ones_like(factor)
        after[:-1] = np.cumprod(powers[:0:-1], axis=0)[::-1]
        rotation = self.weights * np.exp(-1j * self.records.n * self.angles)
        whole = before[-1] * powers[-1] * rotation
        before *= after
        if not single:
            before *= factor ** (letters - 1)
        before *= marked
        return np.concatenate([[whole.sum().real], (before @ rotation).real])


def poisson(rates: Array, counts: Array) -> Array:
    """Return the Poisson probability of each count at each rate, to a few units in the last place.

    For large counts by the saddle point ``exp(-c D(rate/c) - stirling(c)) / sqrt(2 pi c)``,
    ``D(x) = x - 1 - log x``, so that no large logarithms cancel.

    Reference: Loader (2000), Fast and accurate computation of binomial probabilities.
    """
    rate, count = np.broadcast_arrays(rates[:, None], counts[None, :])
    large = np.maximum(count, 16.0)
    excess = rate / large - 1
    with np.errstate(divide="ignore"):  # at rate zero a positive count is impossible
        deviance = large * (excess - np.log1p(excess))
    inverse = 1 / large**2
    stirling = (1 / 12 - (1 / 360 - (1 / 1260 - inverse / 1680) * inverse) * inverse) / large
    saddle = np.exp(-deviance - stirling) / np.sqrt(2 * np.pi * large)
    direct = np.exp(xlogy(count, rate) - rate - gammaln(count + 1))
    return np.where(count >= 16, saddle, direct)  # type: ignore[no-any-return]
