"""Which levels to take: floats choose, and a bad choice makes the limit less sharp, never false.

For many letters the best levels depend on epsilon alone: on how many records a letter in the
middle has on average, and on how many times as many one above it has. Given these, the number of
letters in the middle and the odds that another letter is above are the best for this ``k``. How
many letters are above is then nearly binomial; where that takes too many terms, the weights are
those of a narrower bell.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate
from math import ceil, exp, floor, log, log1p, sqrt
from typing import NamedTuple

from dproo.analysis.levels import Levels

_RECORDS = {
    0.25: (5.25, 2.09), 0.5: (2.40, 2.34), 0.7: (1.62, 2.50), 1.0: (1.065, 2.71),
    1.5: (0.642, 2.98), 2.0: (0.459, 3.15), 2.5: (0.324, 3.38), 3.0: (0.241, 3.40),
    4.0: (0.216, 3.35), 6.0: (0.164, 3.26), 8.0: (0.119, 3.19), 12.0: (0.0587, 3.09),
    20.0: (0.0130, 3.0), 40.0: (0.0001, 3.0),
}  # fmt: skip
"""For some epsilon: the records of a letter in the middle, and how many times as many above."""

_LARGEST_SHARE = 0.9
_TERMS, _HUGE = 40, 1e60
_CUTS, _LEAST_LOG_ODDS = 32, -40.0
_PAYS = 1.001
_HALF_WIDTH, _DEVIATION, _FALL = 16, 8.0, 14.0
_ODDS, _WEIGHT = 1 << 192, 1 << 96


class _Found(NamedTuple):
    """The best odds that a letter is above.

    Attributes:
        bound: what the limit is about, if there were levels for every number of letters above.
        letters: how many are in the middle.
        odds: of being above, for each of the others.
    """

    bound: float
    letters: float
    odds: float


class _Curves(NamedTuple):
    """``S(u, t)`` of a letter in the middle and of one above, and their probabilities."""

    middle: list[float]
    high: list[float]
    shares: tuple[float, float]

    def needed(self, odds: float) -> float:
        """Return the largest ``d`` for one letter without probability and ``odds`` above."""
        sums = zip(self.middle, self.high, strict=False)
        return min((1 + odds * above) / below for below, above in sums)

    def best(self, k: int) -> _Found:
        """Return the best odds, with the best number of letters in the middle."""
        low, high = _LEAST_LOG_ODDS, 0.0
        for _ in range(_CUTS):
            left, right = low + (high - low) / 3, high - (high - low) / 3
            if self.at(k, None, exp(left)).bound < self.at(k, None, exp(right)).bound:
                low = left
            else:
                high = right
        return self.at(k, None, exp(low))

    def at(self, k: int, letters: int | None, odds: float) -> _Found:
        """Return what these odds give."""
        owed = self.needed(odds) / (1 + odds)
        root = sqrt(owed)
        j = k * root / (1 + root) if letters is None else letters
        middle, high = self.shares
        gain = owed * middle - odds / (1 + odds) * high
        return _Found(gain * j * (k - j) / (j + (k - j) * owed), j, odds)


def choose_levels(n: int, k: int, epsilon: float, *, above: float) -> Levels | None:
    """Return levels whose bound should be above so much, or None if there seem to be none."""
    if not min(_RECORDS) <= epsilon <= max(_RECORDS):
        return None
    records, times = _records(epsilon)
    shares = records / n, times * records / n
    if shares[1] > _LARGEST_SHARE:
        return None
    middle, high = (list(_sums(n, epsilon, share)) for share in shares)
    curves = _Curves(middle, high, shares)
    near = curves.best(k)
    whole = {min(max(1, letters), k - 1) for letters in (floor(near.letters), ceil(near.letters))}
    found = max(curves.at(k, letters, near.odds) for letters in whole)
    return _levels(k, shares, found) if found.bound > above * _PAYS else None


def _records(epsilon: float) -> tuple[float, ...]:
    """Return a row of the table, or what lies between two on straight lines of logarithms."""
    rows = list(_RECORDS)
    i = min(bisect(rows, epsilon), len(rows) - 1)
    share = log(epsilon / rows[i - 1]) / log(rows[i] / rows[i - 1])
    ends = zip(_RECORDS[rows[i - 1]], _RECORDS[rows[i]], strict=True)
    return tuple(low * (high / low) ** share for low, high in ends)


def _sums(n: int, epsilon: float, share: float) -> Iterator[float]:
    """Yield ``S(u, t)`` for ``t = 0, 1, ...``, not all of them."""
    ratio = exp(epsilon) * share / (1 - share)
    term = total = exp(n * log1p(-share))
    for count in range(min(n, _TERMS)):
        yield total
        term *= ratio * (n - count) / (count + 1)
        total += term
        if total > _HUGE:
            return
    yield total


def _levels(k: int, shares: tuple[float, float], found: _Found) -> Levels | None:
    """Return the levels, if their probabilities leave something for one more letter."""
    letters = int(found.letters)
    mean = (k - letters) * found.odds / (1 + found.odds)
    middle, high = (share / (1 - share) for share in shares)
    rest = 1 - (letters - 1) * middle - mean * high
    if rest <= 0:
        return None
    first, weights = _weights(k - letters, found.odds, mean)
    return Levels(
        letters=letters,
        rest=int(Fraction(rest) * _ODDS),
        middle=int(Fraction(middle) * _ODDS),
        high=int(Fraction(high) * _ODDS),
        first=first,
        weights=weights,
    )


def _weights(others: int, odds: float, mean: float) -> tuple[int, tuple[int, ...]]:
    """Return the fewest letters above, and the weights from there on: a bell about the mean."""
    first = max(0, floor(mean) - _HALF_WIDTH)
    last = min(others, ceil(mean) + _HALF_WIDTH)
    excess = max(0.0, _DEVIATION**-2 - 1 / mean)
    steps = (
        log(odds) + log(others - i) - log(i + 1) - excess * (i - mean) for i in range(first, last)
    )
    heights = list(accumulate(steps, initial=0.0))
    top = max(heights)
    kept = [i for i, height in enumerate(heights) if height > top - _FALL]
    chosen = heights[kept[0] : kept[-1] + 2]
    return first + kept[0], tuple(ceil(_WEIGHT * exp(height - top)) for height in chosen)
