"""The comparison: every sampler's accuracy on the same public distribution.

Nothing here reads data. All samplers are measured alike, and cases that ours lose are listed too.
"""

from __future__ import annotations

from collections.abc import Iterable

from dproo.core.numbers import Number, parse_epsilon
from dproo.mechanisms import SAMPLERS, Mechanism, mechanism
from dproo.study.accuracy import Accuracy, accuracy
from dproo.study.baselines import CLIP, EUCLIDEAN, Baseline, ExponentialSampler, LaplaceSampler
from dproo.study.distributions import Distribution

_CELLS = 4_000_000
_FEWEST, _MOST = 2_000, 100_000


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
    measured = {
        name: accuracy(sampler, p, trials=_trials(name, k) if trials is None else trials, seed=seed)
        for name, sampler in contenders(n=n, k=k, epsilon=epsilon).items()
    }
    return dict(sorted(measured.items(), key=lambda item: item[1].alpha))


def _trials(name: str, k: int) -> int:
    """Return more trials if they are cheap, fewer for a selector, whose law varies little."""
    trials = min(max(_CELLS // k, _FEWEST), _MOST)
    return trials // 4 if name == "exponential" else trials
