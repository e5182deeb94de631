r"""Dominating pairs: two laws at least as easy to tell apart as those of any two neighbours.

How well two laws can be told apart is their hockey-stick divergence at every level ``g``,
``H_g(P, Q) = sum over y of max(0, P(y) - g Q(y))``. A pair that has at least the divergence of
all neighbours, at every level and in both directions, *dominates* a sampler; then ``s``
independent draws of the pair dominate ``s`` independent releases.

Proof: docs/proofs/dominating_pair.md
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


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
        """Return the pair of a sampler whose laws on neighbours are that close.

        A divergence is convex in its level, is the total variation distance at level 1 and
        zero at the largest ratio: it lies below the straight line between, which this pair
        has. Without a bound on the distance it is randomized response.

        Args:
            ratio: the largest ratio of an output's probabilities on two neighbours.
            distance: a bound on the total variation distance of laws on two neighbours.
        """
        if ratio == 1:  # nothing is told of the data at all
            return cls(Fraction(1, 2), Fraction(1, 2))
        low = min(distance / (ratio - 1), 1 / (1 + ratio))
        return cls(ratio * low, low)

    def hockey_stick(self, level: Fraction) -> Fraction:
        """Return the divergence of the two laws at this level, not below 0."""
        rest = 1 - self.high - self.low
        outcomes = ((self.high, self.low), (self.low, self.high), (rest, rest))
        return sum((max(Fraction(0), p - level * q) for p, q in outcomes), Fraction(0))
