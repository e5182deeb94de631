r"""Exact noise for tables of counts, and exact private choices.

**Geometric noise.** A cell is released as ``N + Z`` with ``Pr[Z = z] = (1-q)/(1+q) q^|z|``, where
``q = a / 2^b`` is rational and at least ``e^-loss``: one step of a count changes every probability
by at most ``1/q``, an exact number. ``Z`` is the difference of two geometric variables. The binary
digits of a geometric variable are independent, and digit ``i`` is 1 with odds ``q^(2^i) : 1``; so
one variable takes about ``log2(1/loss)`` comparisons of a uniform number with a known one. The
uniform number is drawn byte by byte, only as far as the comparison needs: it is exact without
long integers.

**Choices.** Scores are integers. Permute-and-flip takes the candidates in a random order and
accepts one that is ``gap`` below the best with probability ``q^gap``; the exponential mechanism,
which zCDP accounts for more tightly, takes them with repetition.

**Gaussian noise**, where a delta is allowed: ``Pr[Z = z]`` is proportional to ``exp(-z^2/(2 v))``,
exactly, and accounted for as ``1/(2 v)``-zCDP for each unit of squared change.

Proof: docs/proofs/table.md
Reference: McKenna and Sheldon (2020), permute-and-flip; Canonne, Kamath and Steinke (2020), the
discrete Gaussian; Ghosh, Roughgarden and Sundararajan (2009), geometric noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import count
from math import floor, isqrt

from dproo.core.checks import refusal
from dproo.core.draw import RandomSource, first_taken
from dproo.core.numbers import ceil_div, exp_lower, log_lower, log_upper, power, rounded_up

BYTE = 8
"""The number of bits of a uniform number that are drawn and compared at a time."""

_TIE = 2
_COMPARED = [
    bytes(_TIE if byte == first else byte < first for byte in range(1 << BYTE))
    for first in range(1 << BYTE)
]

_FINE = 16
"""The ratio's loss is within a relative ``2^-16`` of the loss allowed."""

RESERVE = 1 - Fraction(1, 1 << 20)
"""A ratio spends this much of its share, so that a rational lies between it and e^epsilon."""


@dataclass(frozen=True)
class Ratio:
    """A rational number ``q = over / 2^bits`` between 0 and 1: what one step of a count costs.

    Guarantee: ``Ratio.of(loss)`` is at least ``e^-loss``.

    >>> Ratio.of(Fraction(1)).value >= Fraction(36787, 100000)
    True
    >>> Ratio(1, 1).value, Ratio(1, 1).power(3)
    (Fraction(1, 2), Fraction(8, 1))
    """

    over: int
    bits: int

    def __post_init__(self) -> None:
        if not 0 < self.over < 1 << self.bits:
            raise ValueError(refusal("ratio", "be between 0 and 1", (self.over, self.bits)))

    @classmethod
    def of(cls, loss: Fraction) -> Ratio:
        """Return a ratio of few bits just above ``e^-loss``, for a positive loss."""
        if not loss > 0:
            raise ValueError(refusal("loss", "be positive", loss))
        small = max(0, loss.denominator.bit_length() - loss.numerator.bit_length())
        large = 3 * ceil_div(loss.numerator, 2 * loss.denominator)
        bits = _FINE + small + large
        lower = exp_lower(loss, bits=bits + 8)
        return cls(ceil_div(lower.denominator << bits, lower.numerator), bits)

    @property
    def value(self) -> Fraction:
        """The ratio as a fraction."""
        return Fraction(self.over, 1 << self.bits)

    def power(self, steps: int) -> Fraction:
        """Return ``q^-steps``, the largest factor by which so many steps change a probability.

        For many steps it is a rational just above that, with few digits.
        """
        return power(1 / self.value, steps)

    @cached_property
    def _doublings(self) -> int:
        """The least ``j`` with ``q^(2^j)`` proven to be at most a half."""
        precision = 2 * self.bits + 64
        upper, doublings = self.over << (precision - self.bits), 0
        while 2 * upper > 1 << precision:
            upper, doublings = ceil_div(upper * upper, 1 << precision), doublings + 1
        return doublings

    def _bounds(self, doublings: int, precision: int) -> tuple[int, int]:
        """Return bounds on ``q^(2^doublings)`` in units of ``2^-precision``."""
        one = self.over << precision
        lower, upper = one >> self.bits, ceil_div(one, 1 << self.bits)
        for _ in range(doublings):
            lower = lower * lower >> precision
            upper = ceil_div(upper * upper, 1 << precision)
        return lower, upper

    @lru_cache(maxsize=1 << 14)  # noqa: B019 - a ratio is small
    def _threshold(self, doublings: int, places: int, *, is_digit: bool) -> int:
        """Return the probability ``p`` of a comparison in units of ``2^-places``, rounded down.

        With ``x = q^(2^doublings)``, ``p`` is ``x``, or for a digit ``x / (1 + x)``.
        """
        precision = places + self.bits + 2 * doublings + 32
        while True:
            found = {
                (part << places) // ((1 << precision) + (part if is_digit else 0))
                for part in self._bounds(doublings, precision)
            }
            if len(found) == 1:
                return found.pop()
            precision *= 2

    def _events(self, doublings: int, size: int, source: RandomSource, *, is_digit: bool) -> bytes:
        """Return ``size`` independent bytes, 1 with the probability of a comparison, else 0.

        A uniform number is below a probability if its first byte is, or if the first bytes
        are equal and its rest is below the rest.
        """
        first = self._threshold(doublings, BYTE, is_digit=is_digit)
        events = bytearray(source.bytes(size).translate(_COMPARED[first]))
        place = events.find(_TIE)
        while place >= 0:
            events[place] = self._is_below(doublings, source, is_digit=is_digit)
            place = events.find(_TIE, place)
        return bytes(events)

    def _is_below(self, doublings: int, source: RandomSource, *, is_digit: bool) -> bool:
        """Decide a comparison whose first bytes are equal, by further bytes."""
        for places in count(2 * BYTE, BYTE):
            byte = self._threshold(doublings, places, is_digit=is_digit) % (1 << BYTE)
            (drawn,) = source.bytes(1)
            if drawn != byte:
                return drawn < byte
        raise AssertionError  # pragma: no cover - the loop has no end

    def geometric(self, size: int, source: RandomSource) -> list[int]:
        """Return ``size`` independent draws with ``Pr[g] = (1 - q) q^g``, exactly."""
        top = self._doublings
        values = [0] * size
        alive = list(range(size))
        while alive:
            lived = self._events(top, len(alive), source, is_digit=False)
            alive = [place for place, is_one in zip(alive, lived, strict=True) if is_one]
            for place in alive:
                values[place] += 1
        for start in reversed(range(0, top, BYTE)):  # eight digits of every draw at a time
            length = min(BYTE, top - start)
            digits = 0
            for digit in range(length):
                ones = self._events(start + digit, size, source, is_digit=True)
                digits |= int.from_bytes(ones, "big") << digit
            bytes_of_each = digits.to_bytes(size, "big")
            values = [
                value << length | low for value, low in zip(values, bytes_of_each, strict=True)
            ]
        return values

    def noise(self, size: int, source: RandomSource) -> list[int]:
        """Return ``size`` independent draws of two-sided geometric noise, exactly."""
        drawn = self.geometric(2 * size, source)
        return [drawn[place] - drawn[size + place] for place in range(size)]


def permute_and_flip(scores: Sequence[int], ratio: Ratio, source: RandomSource) -> int:
    """Return the place of a score that is probably among the best.

    Guarantee: scores that each change by up to ``s`` change no probability by more than
    ``ratio.power(2 s)``.
    """
    best = max(scores)
    reaches = ratio.geometric(len(scores), source)
    return first_taken(len(scores), lambda place: reaches[place] >= best - scores[place], source)


def exponential(scores: Sequence[int], ratio: Ratio, source: RandomSource) -> int:
    """Return the place of a score with probability proportional to ``ratio^-score``.

    Guarantee: scores that each change by up to ``s`` change the ratio of any two probabilities
    by at most ``ratio.power(2 s)``: the choice is ``(log of that)^2 / 8``-zCDP.
    """
    best = max(scores)
    while True:
        places = [source.below(len(scores)) for _ in range(len(scores))]
        for place, reach in zip(places, ratio.geometric(len(scores), source), strict=True):
            if reach >= best - scores[place]:
                return place


def gaussian(variance: Fraction, size: int, source: RandomSource) -> list[int]:
    """Return ``size`` independent draws with ``Pr[z]`` proportional to ``exp(-z^2/(2 variance))``.

    Reference: Canonne, Kamath and Steinke (2020), Algorithms 2 and 3.
    """
    if not variance > 0:
        raise ValueError(refusal("variance", "be positive", variance))
    scale = isqrt(floor(variance)) + 1
    return [_gaussian(variance, scale, source) for _ in range(size)]


def _gaussian(variance: Fraction, scale: int, source: RandomSource) -> int:
    while True:
        rest = source.below(scale)
        if not source.is_survived(Fraction(rest, scale)):
            continue
        whole = 0
        while source.is_survived(Fraction(1)):
            whole += 1
        size, is_negative = rest + scale * whole, source.below(2) == 1
        if is_negative and size == 0:
            continue
        gap = size - variance / scale
        if source.is_survived(gap * gap / (2 * variance)):
            return -size if is_negative else size


@lru_cache(maxsize=64)
def concentrated(epsilon: Fraction, delta: Fraction) -> Fraction:
    r"""Return a ``rho`` such that ``rho``-zCDP implies ``(epsilon, delta)``-DP.

    For every order ``a > 1``, ``rho``-zCDP implies ``(epsilon, delta)``-DP with
    ``log delta = (a-1)(a rho - epsilon) - log(a-1) - a log(a/(a-1))``. The order is searched
    among rational numbers; every logarithm is rounded to the safe side.

    Reference: Canonne, Kamath and Steinke (2020), Section 2.3.

    >>> float(concentrated(Fraction(1), Fraction(1, 10**9))) > 0.0119  # float-ok: shown only
    True
    """
    if not 0 < delta < 1:
        raise ValueError(refusal("delta", "be above 0 and below 1", delta))
    needed = log_upper(1 / delta)

    def rate(order: Fraction) -> Fraction:
        less = order - 1
        own = log_lower(less) if less >= 1 else -log_upper(1 / less)
        gain = own + order * log_lower(order / less)
        return (epsilon - (needed - gain) / less) / order

    largest = max(30, floor(needed / epsilon).bit_length() + 2)  # beyond the best order
    orders = [
        1 + Fraction(16 + step, 16) * Fraction(2) ** level
        for level in range(-6, largest)
        for step in range(16)
    ]
    return 1 / rounded_up(1 / max(map(rate, orders)))
