"""The search for the first integer at which a curve meets a target, in few evaluations.

A curve is a worst-case accuracy as a function of one integer. Its log odds are nearly linear in
the logarithm of that integer, so secants lead close to the answer. ``least`` and ``most`` then
find the exact integer; if evaluations are slow, ``roughly`` stops at an integer that meets the
target and is a few percent too cautious.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from math import exp, inf, log, log1p

from dproo.core.numbers import first_true

LARGEST = 10**18

_SECANTS = 20
_TRIES = 7
_CLOSE = 0.06
_CAUTION = 0.01
_LEAP = log(100)
_USELESS = 0.9
_FLAT = Fraction(49, 50)
_GALLOP = 8


@dataclass
class Curve:
    """A curve, the target, and the values computed so far.

    Attributes:
        at: the curve.
        target: the largest value allowed, above 0 and below 1.
        low: the least integer to try.
        falls: whether the curve falls, so that the target is met from some integer on.
        high: the largest integer to try.
    """

    at: Callable[[int], Fraction]
    target: Fraction
    low: int
    falls: bool
    high: int = LARGEST
    _seen: dict[int, Fraction] = field(default_factory=dict)

    def __call__(self, x: int) -> Fraction:
        """Return the curve at ``x``, evaluated once."""
        if x not in self._seen:
            self._seen[x] = self.at(x)
        return self._seen[x]

    def __contains__(self, x: int) -> bool:
        """Whether ``x`` was evaluated."""
        return x in self._seen

    def holds(self, x: int) -> bool:
        """Whether the target is met."""
        return self(x) <= self.target

    def gap(self, x: int) -> float:
        """Return by how much the log odds exceed the target's."""
        return _log_odds(self(x)) - _log_odds(self.target)

    def within(self, x: float | Fraction) -> int:
        """Return the nearest integer in the range."""
        return min(max(self.low, round(min(x, self.high))), self.high)

    def between(self, held: int, failed: int, caution: float) -> int:
        """Return an integer between two that should meet the target with a margin, by a secant."""
        above, below = self.gap(failed) + caution, self.gap(held) + caution
        share = above / (above - below) if 0 < above - below < inf else 0.5
        y = self.within(failed * exp(share * log(held / failed)))
        return min(max(y, min(held, failed) + 1), max(held, failed) - 1)

    def is_flat(self, x: int, y: int) -> bool:
        """Whether the curve is nearly constant, and below 1, from one integer to another."""
        return _FLAT * self(x) <= self(y) <= _USELESS

    def near(self, guess: float | Fraction) -> int:
        """Return an integer at which the curve is close to the target, by secants."""
        slope = -1.0 if self.falls else 1.0
        x = self.within(guess)
        gap = self.gap(x)
        for _ in range(_SECANTS):
            if gap == 0 or abs(gap) == inf:
                break
            y = self.within(x * exp(min(max(-gap / slope, -_LEAP), _LEAP)))
            if y == x:
                break
            before, gap = gap, self.gap(y)
            if abs(before) < _CLOSE and abs(gap) > abs(before) / 2:  # the curve is not smooth
                break
            if before != gap and abs(gap) != inf:
                slope = (gap - before) / log1p((y - x) / x)
            x = y
        return x


def least(curve: Curve, guess: float | Fraction) -> int | None:
    """Return the least integer at which a falling curve meets the target, or None."""
    return _first(curve, curve.near(guess), is_met=True)


def most(curve: Curve, guess: float | Fraction) -> int:
    """Return the largest integer at which a rising curve meets the target.

    If none does, it is one below ``low``; if all do, the largest.
    """
    first = _first(curve, curve.near(guess), is_met=False)
    return LARGEST if first is None else first - 1


def roughly(curve: Curve, guess: float | Fraction) -> int | None:
    """Return an integer that meets the target and is nearly the best one, or None.

    It assumes nothing: whatever the curve is, the returned integer meets the target.
    """
    towards = 1 if curve.falls else -1
    found: int | None = None
    failed: int | None = None
    leap, caution = log(2), _CAUTION
    x = curve.within(guess)
    for _ in range(_TRIES):
        gap = _log(curve(x)) - _log(curve.target)
        if curve.holds(x):
            found = x
            if gap > -_CLOSE:
                break
        elif failed is not None and found is None and curve.is_flat(failed, x):
            break
        else:
            caution *= 1 if failed is None else 2
            failed = x
        if curve(x) > _USELESS:  # nearly 1: the value does not show how far away the target is
            gap, leap = max(gap, leap), 2 * leap
        y = curve.within(x * exp(towards * min(max(gap + caution, -_LEAP), _LEAP)))
        if found is not None and failed is not None:
            if abs(log(found / failed)) <= _CLOSE or abs(found - failed) == 1:
                break
            y = curve.between(found, failed, caution)
        if y == x:
            y = curve.within(x - towards if curve.holds(x) else x + towards)
        if y in curve:
            break
        x = y
    return found


def _log_odds(alpha: Fraction) -> float:
    """Return ``log(alpha / (1 - alpha))``, nearly ``log(k / (n epsilon))`` plus a constant."""
    return _log(alpha / (1 - alpha)) if alpha < 1 else inf


def _log(x: Fraction) -> float:
    """Return the logarithm, even of numbers beyond the range of floats."""
    return log(x.numerator) - log(x.denominator) if x else -inf


def _first(curve: Curve, guess: int, *, is_met: bool) -> int | None:
    """Return the least integer from which the target is met, or missed, searching from a guess.

    It is None past ``LARGEST``.
    """

    def is_true(x: int) -> bool:
        return x > LARGEST or curve.holds(x) == is_met

    floor, high, step = curve.low - 1, guess, 1
    low = floor
    while not is_true(high):
        low, high, step = high, high + step, _GALLOP * step
    while low == floor and high - step > floor:
        if not is_true(high - step):
            low = high - step
        else:
            high, step = high - step, _GALLOP * step
    first = first_true(is_true, low, high)
    return first if first <= LARGEST else None


def last_digit(epsilon: Fraction, digits: int) -> Fraction:
    """Return the place value of the last of ``digits`` significant digits, a power of ten."""
    unit = Fraction(1)
    while epsilon / unit < 10 ** (digits - 1):
        unit /= 10
    return unit
