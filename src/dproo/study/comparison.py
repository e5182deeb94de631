"""The comparison: every sampler's accuracy on the same public distribution, and a summary.

Nothing here reads data. Our samplers and their peers are measured alike, and lost cases are
listed like all others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import exp, log

from dproo.core.numbers import Number, parse_epsilon
from dproo.mechanisms import PLAIN, SAMPLERS, Mechanism, mechanism
from dproo.study.accuracy import Accuracy, accuracy
from dproo.study.baselines import (
    CLIP,
    EUCLIDEAN,
    Baseline,
    ExponentialSampler,
    LaplaceSampler,
)
from dproo.study.distributions import Distribution

OURS = ("ls-roo", "bal-roo")
"""The samplers of this project; all others are peers."""

FLOOR = 0.002
"""Accuracies below this count as equal: no user could notice the difference."""

_CELLS = 4_000_000
_FEWEST, _MOST = 2_000, 100_000


@dataclass(frozen=True)
class Summary:
    """How one sampler compares with the best of the others, case by case.

    Attributes:
        cases: the number of cases.
        geometric_mean: the mean ratio of its accuracy to the best other sampler's.
        won: how many ratios are below 1.
        tied: how many are 1, with both accuracies at the floor.
        worst: the largest ratio.
    """

    cases: int
    geometric_mean: float
    won: int
    tied: int
    worst: float


def contenders(*, n: int, k: int, epsilon: Number) -> dict[str, Mechanism | Baseline]:
    """Return every sampler for these parameters, the Laplace sampler with each projection."""
    ours = {name: mechanism(name, n=n, k=k, epsilon=epsilon) for name in SAMPLERS}
    exact = parse_epsilon(epsilon)
    peers: dict[str, Baseline] = {
        f"laplace {projection}": LaplaceSampler(n=n, k=k, epsilon=exact, projection=projection)
        for projection in (CLIP, EUCLIDEAN)
    }
    return {**ours, **peers, "exponential": ExponentialSampler(n=n, k=k, epsilon=exact)}


def compare(
    *,
    n: int,
    k: int,
    epsilon: Number,
    p: Iterable[object] | Distribution,
    trials: int | None = None,
    seed: int | None = None,
) -> dict[str, Accuracy]:
    """Return the accuracy of every sampler on records from ``p``, the best one first.

    Args:
        n: the number of records.
        k: the number of letters.
        epsilon: the privacy parameter.
        p: the probability of every letter.
        trials: for the samplers that only Monte Carlo can measure; more if k is small.
        seed: the seed of the Monte Carlo generator.

    >>> found = compare(n=1000, k=3, epsilon="0.1", p=["0.8", "0.1", "0.1"], seed=1)
    >>> found["roo"].alpha > found["ls-roo"].alpha
    True
    """
    p = Distribution.of(p)
    found = {
        name: accuracy(sampler, p, trials=trials or _trials(name, k), seed=seed)
        for name, sampler in contenders(n=n, k=k, epsilon=epsilon).items()
    }
    return dict(sorted(found.items(), key=lambda item: item[1].alpha))


def _trials(name: str, k: int) -> int:
    """Return more trials if they are cheap, fewer for a selector, whose law varies little."""
    trials = min(max(_CELLS // k, _FEWEST), _MOST)
    return trials // 4 if name == "exponential" else trials


def ratio_to_best(
    alphas: Mapping[str, float], sampler: str = PLAIN, *, without: Iterable[str] = ()
) -> float:
    """Return the accuracy of ``sampler`` over the accuracy of the best peer, both floored.

    >>> ratio_to_best({"ls-roo": 0.03, "roo": 0.06, "ds-roo": 0.05})
    0.6
    """
    left_out = {*OURS, sampler, *without}
    best = min(alpha for name, alpha in alphas.items() if name not in left_out)
    return max(alphas[sampler], FLOOR) / max(best, FLOOR)


def summarise(ratios: Iterable[float]) -> Summary:
    """Return the summary of the ratios of all cases.

    >>> summarise([0.5, 2.0, 1.0]).geometric_mean
    1.0
    """
    ratios = list(ratios)
    return Summary(
        cases=len(ratios),
        geometric_mean=exp(sum(map(log, ratios)) / len(ratios)),
        won=sum(ratio < 1 for ratio in ratios),
        tied=sum(ratio == 1 for ratio in ratios),
        worst=max(ratios),
    )
