r"""The baselines: samplers that others proposed, with OpenDP's noise.

They add noise to the counts and draw from the result, so there is no rule from counts to weights
whose ratios :func:`~dproo.certify` could take. Their privacy rests on the proof of the noise and
on OpenDP's implementation of it; they are here for comparison, and no release accepts them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any, ClassVar

from dproo.core.checks import needing, one_of, refusal, shown, whole
from dproo.core.counts import Counts, Runs
from dproo.core.draw import RandomSource, pick
from dproo.core.numbers import parse_epsilon
from dproo.mechanisms.base import REPLACE, Relation

CLIP = "clip"
EUCLIDEAN = "euclidean"

_MOST_RECORDS = 2**62


@dataclass(frozen=True, kw_only=True)
class Baseline(ABC):
    """A sampler for datasets of ``n`` records over ``k`` letters, private by its noise.

    Attributes:
        epsilon: the privacy parameter, exact.
        n: the public number of records.
        k: the number of letters of the public alphabet.
        neighbours: ``"replace"``.
    """

    name: ClassVar[str]

    epsilon: Fraction
    n: int
    k: int
    neighbours: Relation = REPLACE

    def __post_init__(self) -> None:
        """Check every argument."""
        if self.neighbours != REPLACE:
            condition = f"be {REPLACE!r} for {self.name}"
            raise ValueError(refusal("neighbours", condition, self.neighbours))
        object.__setattr__(self, "epsilon", parse_epsilon(self.epsilon))
        object.__setattr__(self, "n", whole("n", self.n, at_least=1, at_most=_MOST_RECORDS))
        object.__setattr__(self, "k", whole("k", self.k, at_least=2))

    def draw(
        self, counts: Sequence[int] | Counts, *, source: RandomSource | None = None
    ) -> tuple[int, ...]:
        """Return one letter, as its index."""
        counts = Counts.of(counts)
        if counts.k != self.k:
            raise ValueError(refusal("counts", f"have k = {shown(self.k)} entries", counts.k))
        if counts.n != self.n:
            raise ValueError(refusal("counts", f"sum to n = {shown(self.n)}", counts.n))
        return (self._draw(list(counts), source or RandomSource()),)

    @abstractmethod
    def _draw(self, counts: list[int], source: RandomSource) -> int: ...


@dataclass(frozen=True, kw_only=True)
class LaplaceSampler(Baseline):
    r"""Add integer Laplace noise of scale ``2/epsilon`` to every count, project, and draw once.

    A replaced record changes two counts by one, so the L1 sensitivity is 2. The noisy counts
    are projected to the vectors of non-negative entries with sum ``n``: ``"euclidean"``
    subtracts one number from all of them and clips at zero, ``"clip"`` clips at zero and
    rescales. Both minimise the L1 distance. The projection is exact, in integers.

    Guarantee: epsilon-DP when one record is replaced, by OpenDP's proof of its noise.
    Reference: Raskhodnikova et al. (2021), Section 4; Duchi et al. (2008) for the projection.

    >>> LaplaceSampler(epsilon=1, n=4, k=3).projected([5, 1, -2])
    Runs([(4, 1), (0, 2)])
    """

    name = "laplace"

    projection: str = EUCLIDEAN

    @classmethod
    def worst_alpha_at(cls, *, n: int, k: int, epsilon: Fraction) -> Fraction:
        """Return ``2 k / (n epsilon)``, or 1 if that is larger."""
        return min(2 * k / (n * epsilon), Fraction(1))

    @classmethod
    def records_needed(cls, *, k: int, epsilon: Fraction, alpha: Fraction) -> int:
        """Return the fewest records for which ``worst_alpha_at`` is at most ``alpha``."""
        return ceil(2 * k / (alpha * epsilon))

    def __post_init__(self) -> None:
        """Check every argument."""
        super().__post_init__()
        chosen = one_of("projection", self.projection, (CLIP, EUCLIDEAN))
        object.__setattr__(self, "projection", chosen)

    @cached_property
    def measurement(self) -> Any:
        """OpenDP's integer Laplace mechanism on the counts, at no more than epsilon."""
        opendp = _opendp()
        space = (
            opendp.vector_domain(opendp.atom_domain(T="i64"), size=self.k),
            opendp.l1_distance(T="i64"),
        )
        return _within(self.epsilon, 2, lambda scale: opendp.m.make_laplace(*space, scale=scale))

    def projected(self, noisy: Sequence[int]) -> Runs:
        """Return integers in proportion to the projection of ``noisy``."""
        if self.projection == CLIP:
            weights = Runs((max(0, value), 1) for value in noisy)
            return weights if weights.total else Runs([(1, self.k)])
        total = 0
        for kept, value in enumerate(sorted(noisy, reverse=True), start=1):
            if kept * value - (total + value - self.n) <= 0:
                break
            total += value
            letters = kept
        return Runs((max(0, letters * value - (total - self.n)), 1) for value in noisy)

    def _draw(self, counts: list[int], source: RandomSource) -> int:
        return pick(self.projected(self.measurement(counts)), source)


@dataclass(frozen=True, kw_only=True)
class ExponentialSampler(Baseline):
    r"""Select a letter by OpenDP's noisy maximum of the counts, at scale ``2/epsilon``.

    OpenDP runs the exponential mechanism under pure DP as permute-and-flip, which is never
    less accurate at selecting the most frequent letter. It is a selector, not a sampler: it
    is accurate only if nearly all records have one letter.

    Guarantee: epsilon-DP when one record is replaced, by OpenDP's proof.
    Reference: McSherry and Talwar (2007); McKenna and Sheldon (2020).
    """

    name = "exponential"

    @cached_property
    def measurement(self) -> Any:
        """OpenDP's noisy maximum of the counts, at no more than epsilon."""
        opendp = _opendp()
        space = opendp.vector_domain(opendp.atom_domain(T="i64")), opendp.linf_distance(T="i64")
        pure = opendp.max_divergence()
        return _within(
            self.epsilon, 1, lambda scale: opendp.m.make_noisy_max(*space, pure, scale=scale)
        )

    def _draw(self, counts: list[int], source: RandomSource) -> int:  # noqa: ARG002 - OpenDP draws
        return int(self.measurement(counts))


BASELINES: dict[str, type[Baseline]] = {
    sampler.name: sampler for sampler in (LaplaceSampler, ExponentialSampler)
}


def _within(epsilon: Fraction, sensitivity: int, make: Any) -> Any:
    """Return ``make(scale)`` with the least scale from ``2/epsilon`` up that costs at most epsilon.

    OpenDP takes the scale as a float and states its cost as a float, rounded up; that cost is
    compared with epsilon exactly.
    """
    scale = float(2 / epsilon)  # float-ok: OpenDP's parameter; its stated cost is checked below
    while True:
        measurement = make(scale)
        if Fraction(measurement.map(sensitivity)) <= epsilon:
            return measurement
        scale += scale / 2**52


def _opendp() -> Any:
    with needing("opendp", extra="opendp"):
        import opendp.prelude as opendp
    opendp.enable_features("contrib")
    return opendp
