"""Public distributions of records, against which accuracy is measured.

A :class:`Distribution` is an assumption, never learned from the data.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import count
from math import comb

from dproo.core.checks import one_of, refusal, whole
from dproo.core.numbers import rational

_SUM_TOLERANCE = Fraction(1, 10**9)


@dataclass(frozen=True)
class Distribution:
    """A probability for each of the letters ``0 .. k-1``, exact, with sum 1.

    >>> Distribution.of(["0.5", "0.25", 0.25]).groups
    {Fraction(1, 2): 1, Fraction(1, 4): 2}
    """

    shares: tuple[Fraction, ...]

    @classmethod
    def of(cls, p: Iterable[object] | Distribution) -> Distribution:
        """Return ``p``, given as numbers that sum to 1; a rounding error in the sum is corrected.

        Raises:
            TypeError: an entry is not a number.
            ValueError: there are fewer than two, one is negative, or they do not sum to 1.
        """
        if isinstance(p, Distribution):
            return p
        if isinstance(p, str | bytes) or not isinstance(p, Iterable):
            raise TypeError(refusal("p", "be a sequence of probabilities", p))
        shares = [rational("p", share) for share in p]
        if not len(shares) >= 2:
            raise ValueError(refusal("p", "have at least two entries", len(shares)))
        if any(share < 0 for share in shares):
            raise ValueError(refusal("p", "be non-negative for every letter", min(shares)))
        total = sum(shares, Fraction(0))
        if not abs(total - 1) <= _SUM_TOLERANCE:
            raise ValueError(refusal("p", "sum to 1", total))
        return cls(tuple(share / total for share in shares) if total != 1 else tuple(shares))

    @property
    def k(self) -> int:
        """The number of letters."""
        return len(self.shares)

    @cached_property
    def groups(self) -> dict[Fraction, int]:
        """The number of letters with each probability."""
        return dict(Counter(self.shares))

    def spread(self, by_group: Mapping[Fraction, float]) -> tuple[float, ...]:
        """Return one number per letter from one per group."""
        return tuple(by_group[share] for share in self.shares)


def _proportional(weights: Iterable[int | float | Fraction]) -> Distribution:
    """Return the distribution in proportion to ``weights``, to twelve digits."""
    exact = [Fraction(weight) for weight in weights]
    total = sum(exact)
    units = [round(weight * 10**12 / total) for weight in exact]
    whole_units = sum(units)
    return Distribution(tuple(Fraction(unit, whole_units) for unit in units))


def _first_letters(k: int, support: int) -> Distribution:
    return _proportional([1] * support + [0] * (k - support))


def _zipf(k: int, exponent: int) -> Distribution:
    return _proportional(Fraction(1, rank**exponent) for rank in range(1, k + 1))


def _dirichlet(k: int, tenths: int) -> Distribution:
    """Return a fixed draw of a symmetric Dirichlet: gamma quantiles of hashed uniforms."""
    from scipy.special import gammaincinv

    shape = tenths / 10
    uniforms = _hashed_uniforms(f"dproo/dirichlet/{tenths}/10/{k}")
    return _proportional(float(gammaincinv(shape, next(uniforms))) for _ in range(k))


def _hashed_uniforms(name: str) -> Iterator[float]:
    for i in count():
        digest = hashlib.sha256(f"{name}/{i}".encode()).digest()
        yield (int.from_bytes(digest[:6], "big") + 0.5) / 2**48


SHAPES: Mapping[str, tuple[Callable[[int], Distribution], str]] = {
    "point": (lambda k: _first_letters(k, 1), "all records have one letter"),
    "uniform-tenth": (
        lambda k: _first_letters(k, min(k, max(2, k // 10))),
        "uniform on a tenth of the letters, the others never occur",
    ),
    "uniform-half": (
        lambda k: _first_letters(k, max(1, k // 2)),
        "uniform on half of the letters, the others never occur",
    ),
    "zipf": (lambda k: _zipf(k, 1), "Zipf: the r-th letter has probability in proportion to 1/r"),
    "zipf-2": (lambda k: _zipf(k, 2), "Zipf with exponent 2, in proportion to 1/r^2"),
    "geometric": (
        # From rank 400 on, nothing is left to twelve digits.
        lambda k: _proportional(Fraction(9, 10) ** rank if rank < 400 else 0 for rank in range(k)),
        "each letter has 0.9 times the probability of the one before",
    ),
    "half": (
        lambda k: _proportional([k - 1] + [1] * (k - 1)),
        "half of the records have one letter, the rest are spread evenly",
    ),
    "dirichlet": (lambda k: _dirichlet(k, 10), "a fixed draw of a Dirichlet(1): fairly even"),
    "dirichlet-0.1": (
        lambda k: _dirichlet(k, 1),
        "a fixed draw of a Dirichlet(0.1): few letters have nearly everything",
    ),
    "uniform": (lambda k: _first_letters(k, k), "all letters are equally likely"),
    "binomial": (
        lambda k: _proportional(comb(k - 1, i) for i in range(k)),
        "binomial(k - 1, 1/2): a central letter is the most likely",
    ),
}
"""Named shapes: a distribution for every number of letters, and its description."""

SUITE = tuple(SHAPES)[:9]
"""The nine shapes of the accuracy benchmark."""


def shape(name: str, *, k: int) -> Distribution:
    """Return the distribution of ``k`` letters with this name.

    >>> [float(share) for share in shape("uniform-half", k=4).shares]
    [0.5, 0.5, 0.0, 0.0]
    """
    make, _ = SHAPES[one_of("p", name, SHAPES)]
    return make(whole("k", k, at_least=2))
