r"""Dominating pairs: two laws at least as distinguishable as those on any two neighbours.

How distinguishable two laws are is their hockey-stick divergence at every level ``g``,
``H_g(P, Q) = sum over y of max(0, P(y) - g Q(y))``. A pair *dominates* a sampler if its divergence
is at least as large as on any two neighbours, at every level and in both directions; then ``s``
independent draws of the pair dominate ``s`` independent releases.

The privacy loss of many releases is computed in integers, never below its true value. With a
dominating pair ``(high, low, rest)`` the loss of one release is ``+L``, ``-L`` or 0,
``L = log(high/low)``; for ``s`` independent ones it is ``j L``, ``j`` from ``-s`` to ``s``. Its
law is the ``s``-fold convolution of three masses, and ``s`` releases are (epsilon, delta)-DP for

    ``delta = sum over j of P(j) max(0, 1 - e^epsilon (low/high)^j)``.

Masses are integers in units of ``2^-96``, always rounded up; mass in a far tail is moved to a
larger loss. Both can only raise delta. It uses no floats and no Fourier transform.

Proof: docs/proofs/dominating_pair.md
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import ceil, floor

from dproo.core.numbers import ceil_div, exp_upper, log_lower, log_upper


@dataclass(frozen=True)
class DominatingPair:
    """The laws ``(high, low, rest)`` and ``(low, high, rest)``, mirror images of each other.

    The privacy loss of an outcome is ``log(high / low)``, its negative, or zero.

    Attributes:
        high: the larger probability.
        low: the smaller one, above zero.

    >>> pair = DominatingPair.of(ratio=Fraction(3), distance=Fraction(1, 10))
    >>> pair.high, pair.low, pair.hockey_stick(Fraction(2))
    (Fraction(3, 20), Fraction(1, 20), Fraction(1, 20))
    """

    high: Fraction
    low: Fraction

    @classmethod
    def of(cls, *, ratio: Fraction, distance: Fraction) -> DominatingPair:
        """Return a dominating pair of a sampler whose laws on neighbours are this close.

        A divergence is convex in its level, equals the total variation distance at level 1,
        and is zero at the largest ratio: it lies below the line between these points, which
        this pair attains. With ``distance=1`` the pair is randomized response.

        Args:
            ratio: the largest ratio of an output's probabilities on two neighbours.
            distance: a bound on the total variation distance of laws on two neighbours.
        """
        if ratio == 1:  # the release reveals nothing
            return cls(Fraction(1, 2), Fraction(1, 2))
        low = min(distance / (ratio - 1), 1 / (1 + ratio))
        return cls(ratio * low, low)

    def hockey_stick(self, level: Fraction) -> Fraction:
        """Return the divergence of the two laws at this level, for ``level >= 0``."""
        rest = 1 - self.high - self.low
        outcomes = ((self.high, self.low), (self.low, self.high), (rest, rest))
        return sum((max(Fraction(0), p - level * q) for p, q in outcomes), Fraction(0))


_MASS_BITS = 96
_TAIL = 1 << (_MASS_BITS - 80)
_POWER_BITS = 256


@dataclass(frozen=True)
class Losses:
    """The law of the loss of several releases, in steps of ``log(high/low)``.

    Attributes:
        pair: the pair of one release.
        first: the loss of the first mass, in steps.
        masses: the masses of ``first, first + 1, ...`` steps, in units.
        beyond: the mass of all larger losses, in units, counted as an infinite loss.
    """

    pair: DominatingPair
    first: int
    masses: tuple[int, ...]
    beyond: int = 0

    @classmethod
    def of(cls, pair: DominatingPair, releases: int) -> Losses:
        """Return the losses of ``releases`` independent releases, by repeated squaring.

        >>> losses = Losses.of(DominatingPair.of(ratio=Fraction(3), distance=Fraction(1)), 2)
        >>> losses.first, [mass / 2**96 for mass in losses.masses]
        (-2, [0.0625, 0.0, 0.375, 0.0, 0.5625])
        """
        shares = pair.low, 1 - pair.high - pair.low, pair.high
        one = cls(pair, -1, tuple(ceil(share * (1 << _MASS_BITS)) for share in shares))
        total = one
        for bit in f"{releases:b}"[1:]:
            total = total.followed_by(total)
            if bit == "1":
                total = total.followed_by(one)
        return total

    def followed_by(self, other: Losses) -> Losses:
        """Return the losses of both, one after the other."""
        masses = _convolve(self.masses, other.masses)
        beyond = self.beyond + other.beyond
        below = sum(total <= _TAIL for total in accumulate(masses))
        above = sum(total <= _TAIL for total in accumulate(reversed(masses)))
        below, above = min(below, len(masses) - 1), min(above, len(masses) - 1)
        middle = masses[below : max(below + 1, len(masses) - above)]
        middle[0] += sum(masses[:below])
        beyond += sum(masses[below + len(middle) :])
        return Losses(self.pair, self.first + other.first + below, tuple(middle), beyond)

    def delta(self, epsilon: Fraction) -> Fraction:
        """Return a delta for which all releases together are (epsilon, delta)-DP.

        The summands are positive from the first ``j`` with ``j L > epsilon`` on. Bounds on ``L``
        leave one or two candidates for it; the larger sum is never below the true one.
        """
        most = Fraction(0)
        if self.pair.high == self.pair.low:  # no outcome loses anything
            return Fraction(self.beyond, 1 << _MASS_BITS)
        first, last = (floor(epsilon / loss) + 1 for loss in reversed(self._of_a_step))
        for steps in range(max(first, self.first), max(last, self.first) + 1):
            mass, shrinking = self._tails[min(steps - self.first, len(self.masses))]
            beyond = max(Fraction(0), steps * self._of_a_step[1] - epsilon)
            most = max(most, mass - shrinking / exp_upper(beyond, bits=_POWER_BITS))
        return min(Fraction(1), (self.beyond + most) / (1 << _MASS_BITS))

    @cached_property
    def _of_a_step(self) -> tuple[Fraction, Fraction]:
        """Bounds on the loss of one step."""
        ratio = self.pair.high / self.pair.low
        return log_lower(ratio, bits=_POWER_BITS), log_upper(ratio, bits=_POWER_BITS)

    @cached_property
    def _tails(self) -> list[tuple[int, Fraction]]:
        """The sum of the masses from each ``j`` on, and of ``P(i) (low/high)^(i - j)``, not above.

        Each sum follows from the next one, so that a delta takes no sum over all masses.
        """
        over, under = (self.pair.low / self.pair.high).as_integer_ratio()
        total = shrinking = 0
        tails = [(0, Fraction(0))]
        for mass in reversed(self.masses):
            total += mass
            shrinking = (mass << _POWER_BITS) + shrinking * over // under
            tails.append((total, Fraction(shrinking, 1 << _POWER_BITS)))
        return tails[::-1]


def _convolve(left: tuple[int, ...], right: tuple[int, ...]) -> list[int]:
    """Return the convolution, rounded up, by one product of two long integers.

    The masses are the digits of two integers, in a base that no sum of products reaches.
    """
    widest = max(left).bit_length() + max(right).bit_length()
    width = (widest + min(len(left), len(right)).bit_length()) // 8 + 1
    product = _packed(left, width) * _packed(right, width)
    length = len(left) + len(right) - 1
    digits = product.to_bytes(length * width, "little")
    return [
        ceil_div(int.from_bytes(digits[i : i + width], "little"), 1 << _MASS_BITS)
        for i in range(0, length * width, width)
    ]


def _packed(masses: tuple[int, ...], width: int) -> int:
    return int.from_bytes(b"".join(mass.to_bytes(width, "little") for mass in masses), "little")
