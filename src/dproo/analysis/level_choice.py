"""Which levels to take: floats choose, and a bad choice makes the limit less sharp, never false.

For many letters the best levels depend on epsilon alone: on how many records a letter in the
middle has on average, and on how many times as many one above it has. Given these, the number of
letters in the middle and the odds that another letter is above are the best for this ``k``. How
many letters are above is then binomial; where that is wide, the weights are those of a narrower
bell.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate
from math import ceil, cos, exp, floor, log, log1p, pi, sqrt
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
_PAYS = 1.001
_WIDE, _HALF_WIDTH = 45, 17
_MOST, _FALL = 90, 10.0
_ODDS, _WEIGHT = 1 << 192, 1 << 96


class _Shape(NamedTuple):
    """What is left to choose, for one letter without probability.

    Attributes:
        middle: the probability of a letter in the middle.
        high: the probability of a letter above.
        odds: of being above, for a letter that is not in the middle.
        owed: the largest ``d`` for one letter without probability and so many above.
    """

    middle: float
    high: float
    odds: float
    owed: float

    def letters(self, k: int) -> float:
        """Return the best number of letters in the middle."""
        root = sqrt(self.owed / (1 + self.odds))
        return k * root / (1 + root)

    def whole_letters(self, k: int) -> int:
        """Return the best whole number of letters in the middle."""
        near = floor(self.letters(k))
        whole = (min(max(1, letters), k - 1) for letters in (near, near + 1))
        return max(whole, key=lambda letters: self.bound(k, letters))

    def fitting(self, k: int) -> int:
        """Return the number of letters, or fewer if all of these had too much probability."""
        letters = self.letters(k)
        used = letters * self.middle + self.above(k, letters) * self.high
        return k if used < _LARGEST_SHARE else max(2, int(k * _LARGEST_SHARE / used))

    def above(self, k: int, letters: float) -> float:
        """Return how many letters are above, on average."""
        return (k - letters) * self.odds / (1 + self.odds)

    def bound(self, k: int, letters: float) -> float:
        """Return the limit, if every number of letters above has its weight."""
        others = (k - letters) / (1 + self.odds)
        gain = self.owed * self.middle - self.odds * self.high
        return others * gain / (1 + others * self.owed / letters)


def choose_levels(n: int, k: int, epsilon: float, *, above: float) -> Levels | None:
    """Return levels whose bound should be above so much, or None if there seem to be none."""
    if not min(_RECORDS) <= epsilon <= max(_RECORDS):
        return None
    records, times = _records(epsilon)
    if times * records > _LARGEST_SHARE * n:
        return None
    shapes = _shapes(n, epsilon, records / n, times * records / n)
    shape = max(shapes, key=lambda shape: shape.bound(k, shape.letters(k)))
    fitting = shape.fitting(k)
    letters = shape.whole_letters(fitting)
    if shape.bound(fitting, letters) < above * _PAYS:
        return None
    return _levels(fitting, letters, shape)


def _records(epsilon: float) -> tuple[float, ...]:
    """Return a row of the table, or what lies between two on straight lines of logarithms."""
    rows = list(_RECORDS)
    i = min(bisect(rows, epsilon), len(rows) - 1)
    share = log(epsilon / rows[i - 1]) / log(rows[i] / rows[i - 1])
    ends = zip(_RECORDS[rows[i - 1]], _RECORDS[rows[i]], strict=True)
    return tuple(low * (high / low) ** share for low, high in ends)


def _shapes(n: int, epsilon: float, middle: float, high: float) -> Iterator[_Shape]:
    """Yield the odds at which the conditions on ``d`` for some ``t`` and ``t + 1`` coincide.

    Between two of them one condition decides, and the bound has hardly ever a maximum.
    """
    lows = highs = 0.0
    terms = zip(_terms(n, epsilon, middle), _terms(n, epsilon, high), strict=False)
    for low, up in terms:
        if lows:
            slope = up * lows - low * highs
            yield _Shape(middle, high, low / slope, up / slope)
        lows, highs = lows + low, highs + up


def _terms(n: int, epsilon: float, share: float) -> Iterator[float]:
    """Yield the terms of ``S(u, t)``, not all of them."""
    ratio = exp(epsilon) * share / (1 - share)
    term = exp(n * log1p(-share))
    for count in range(min(n, _TERMS) + 1):
        yield term
        term *= ratio * (n - count) / (count + 1)
        if term > _HUGE:
            return


def _levels(k: int, letters: int, shape: _Shape) -> Levels | None:
    """Return the levels, if their probabilities leave something for one more letter."""
    mean = shape.above(k, letters)
    middle, high = (share / (1 - share) for share in (shape.middle, shape.high))
    rest = 1 - (letters - 1) * middle - mean * high
    if rest <= 0:
        return None
    first, weights = _weights(k - letters, shape.odds, mean)
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
    if mean > _WIDE:
        angles = (i * pi / (2 * _HALF_WIDTH) for i in range(1 - _HALF_WIDTH, _HALF_WIDTH))
        return round(mean) - _HALF_WIDTH + 1, tuple(ceil(_WEIGHT * cos(x) ** 2) for x in angles)
    steps = (log(odds) + log(others - i) - log(i + 1) for i in range(min(others, _MOST)))
    heights = list(accumulate(steps, initial=0.0))
    top = max(heights)
    kept = [i for i, height in enumerate(heights) if height > top - _FALL]
    chosen = heights[kept[0] : kept[-1] + 2]
    return kept[0], tuple(ceil(_WEIGHT * exp(height - top)) for height in chosen)
