r"""Accuracy by Monte Carlo, with an interval that allows for the bias of a plug-in distance.

A trial draws a dataset (and the sampler's noise, if any) and takes the whole law of the release
minus the empirical distribution. Its mean is ``G = Q - P``, since the empirical distribution has
mean ``P``; the sampler's effect is far smaller than the scatter of the records. Letters of equal
probability have equal gaps, so they are averaged.

The distance is ``alpha = max_s <s, G>/2`` over all signs ``s``. For the mean ``H`` of all
trials, ``max_s <s, H>/2`` is too large on average (a maximum is convex), so it is never used
as if it had mean ``alpha``. Two one-sided bounds make the interval:

* above: with the true signs ``s*``, ``<s*, H>/2`` has mean ``alpha``, is a mean of
  independent trials, and is at most ``max_s <s, H>/2``. So ``alpha`` exceeds
  ``max_s <s, H>/2 + t se`` only if a one-dimensional mean is ``t`` standard errors low.
* below: signs chosen on one half of the trials and applied to the other half give a mean
  of at most ``alpha``. So ``alpha`` is below that minus ``t se`` only if it is ``t``
  standard errors high.

``se`` is the standard error over 40 batches and ``t`` Student's quantile. Events too rare to show
in a standard error are covered by the linear term of Bernstein's inequality,
``reach log(2 / (1 - confidence)) / (3 trials)``, where ``reach`` bounds the contribution of one
dataset. The estimate is the midpoint of the two one-sided means, one of which is too large and
the other too small.
"""

from __future__ import annotations

from functools import lru_cache, singledispatch
from itertools import pairwise
from math import log
from typing import Any

import numpy as np
from scipy.special import stdtrit

from dproo.core.checks import refusal, whole
from dproo.core.counts import Counts
from dproo.mechanisms import BalancedRevealOrObscure, Mechanism
from dproo.study.baselines import CLIP, ExponentialSampler, LaplaceSampler
from dproo.study.distributions import Distribution

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

BATCHES = 40
TRIALS_MAX = 10**7

_CELLS = 1 << 20


def simulate(
    mechanism: Any, p: Distribution, *, n: int, trials: int, confidence: float, seed: int | None
) -> tuple[float, float, float, tuple[float, ...]]:
    """Return the estimate, its interval and the estimated output law.

    Guarantee: the interval covers the accuracy with the given confidence, as far as Student's
    quantile is right for 40 means of ``trials / 40`` datasets.
    """
    whole("trials", trials, at_least=BATCHES, at_most=TRIALS_MAX)
    if not 0 < confidence < 1:
        raise ValueError(refusal("confidence", "be between 0 and 1", confidence))
    generator = np.random.default_rng(seed)
    shares = np.array([float(share) for share in p.shares])
    groups, letters = list(p.groups), np.array(list(p.groups.values()))
    places = {share: i for i, share in enumerate(groups)}
    member = np.array([places[share] for share in p.shares])
    gaps = np.empty((BATCHES, len(groups)))
    for batch in range(BATCHES):
        gap = _mean_gap(mechanism, shares / shares.sum(), n, trials // BATCHES, generator)
        gaps[batch] = np.bincount(member, weights=gap) / letters
    alpha, low, high = interval(gaps, letters, confidence)
    reach = float(mechanism.worst_alpha_among(n)) if isinstance(mechanism, Mechanism) else 1.0
    rare = reach * log(2 / (1 - confidence)) / (3 * trials)
    low, high = max(0.0, low - rare), min(1.0, high + rare)
    output = shares + gaps.mean(axis=0)[member]
    return alpha, low, high, tuple(output.tolist())


def interval(gaps: Array, letters: Array, confidence: float) -> tuple[float, float, float]:
    """Return the estimate and its interval from batch means of the gaps of groups of letters."""
    batches = len(gaps)
    quantile = float(stdtrit(batches - 1, (1 + confidence) / 2)) / batches**0.5

    def signed(rows: Array, by: Array) -> Array:
        return rows @ (np.where(by.mean(axis=0) > 0, 1.0, -1.0) * letters) / 2

    first, second = gaps[::2], gaps[1::2]
    crossed = np.concatenate([signed(first, second), signed(second, first)])
    plugged = signed(gaps, gaps)
    below, above = float(crossed.mean()), float(plugged.mean())
    low = below - quantile * float(crossed.std(ddof=1))
    high = above + quantile * float(plugged.std(ddof=1))
    return (max(0.0, below) + above) / 2, max(0.0, low), min(1.0, high)


def _mean_gap(mechanism: Any, shares: Array, n: int, trials: int, generator: Any) -> Array:
    """Return the mean over ``trials`` datasets of the law minus the empirical distribution."""
    total = np.zeros(len(shares))
    portion = max(1, _CELLS // len(shares))
    for start in range(0, trials, portion):
        counts = generator.multinomial(n, shares, size=min(portion, trials - start))
        total += (_laws(mechanism, counts, generator) - counts / n).sum(axis=0)
    return total / trials


@singledispatch
def _laws(mechanism: Any, counts: Any, generator: Any) -> Array:  # noqa: ARG001
    """Return the law of the release for each row of counts, and for fresh noise."""
    raise TypeError(refusal("mechanism", "be a sampler", mechanism))


@_laws.register(Mechanism)
def _by_weights(mechanism: Mechanism, counts: Any, generator: Any) -> Array:  # noqa: ARG001
    """Take the law from the sampler's own integers, one dataset at a time."""
    laws = np.empty(counts.shape)
    for law, row in zip(laws, counts.tolist(), strict=True):
        weights = mechanism.weights(Counts.of(row))
        shift = max(0, weights.total.bit_length() - 512)  # so that both fit into floats
        total = float(weights.total >> shift)
        chances = {weight: float(weight >> shift) / total for weight in weights.sizes}
        law[:] = [chances[weight] for weight in weights]
    return laws


@_laws.register(BalancedRevealOrObscure)
def _by_balance(mechanism: BalancedRevealOrObscure, counts: Any, generator: Any) -> Array:
    """Find the levels of many datasets at once.

    Gifts are linear between the levels at which a count changes its part, so they need only be
    computed there.
    """
    if mechanism.plain:
        return _by_weights(mechanism, counts, generator)
    powers, levels, gifts, left, knee = _balance(mechanism)
    clipped = np.minimum(counts, len(gifts) - 1)
    rows = np.arange(len(counts))
    cells = (rows[:, None] * len(gifts) + clipped).ravel()
    sizes = np.bincount(cells, minlength=len(counts) * len(gifts)).reshape(-1, len(gifts))
    totals = sizes @ gifts - left
    pairs, places = np.unique(cells, return_inverse=True)
    row, own = np.divmod(pairs, len(gifts))
    low, high = np.zeros(len(pairs), int), np.full(len(pairs), len(levels) - 1)
    while (high - low > 1).any():
        middle = (low + high) // 2
        is_above = totals[row, middle] > gifts[own, middle]
        low, high = np.where(is_above, low, middle), np.where(is_above, middle, high)
    below, above = (totals[row, end] - gifts[own, end] for end in (low, high))
    share = np.where(above > 0, -below / np.where(above > below, above - below, 1), 1)
    level = levels[low] + np.clip(share, 0, 1) * (levels[high] - levels[low])
    lifted = powers[np.minimum(own, len(powers) - 1)] * level
    laws = lifted[places].reshape(counts.shape)
    laws = np.where(counts < knee, laws, np.minimum(counts, laws))
    laws = np.where(counts < len(powers), laws, counts)
    return laws / laws.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]


@lru_cache(maxsize=4)
def _balance(mechanism: BalancedRevealOrObscure) -> tuple[Array, Array, Array, Array, int]:
    """Return the powers, the levels where gifts bend, their gifts, by count, and surplus left."""
    table = mechanism.table
    unit, first, slope = table.unit, table.powers[0], float(table.slope)
    plateau, surplus, fading = table.plateau / unit, table.surplus / unit, table.fading / first
    powers = np.array([power / first for power in table.powers])
    lowest, highest = table.low * first / unit, table.high * first / unit
    bends = np.clip([unit / step * first / unit for step in table.steps], lowest, highest)
    bends = np.unique([lowest, highest, *bends])
    end = table.forgotten(table.starved(table.low)[1]) + 1
    most = (np.arange(end + 1)[:, None] - plateau) * [1, slope / (1 + slope)]
    losses = _losses(powers, bends)
    inside = most[(most > losses.min()) & (most < losses.max())]
    levels = np.unique([*bends, *np.interp(inside, losses[::-1], bends[::-1])])
    losses = _losses(powers, levels)
    counts = np.arange(end + 1.0)[:, None]
    given = powers[np.minimum(np.arange(end + 1), len(powers) - 1)][:, None] * levels - counts
    rising = slope * (counts - plateau) - (1 + slope) * losses
    starved = counts >= (np.arange(len(powers))[:, None] - powers[:, None] * levels).argmax(axis=0)
    gifts = np.where(starved, np.minimum(0, np.maximum(-losses, rising)), given)
    return powers, levels, gifts, surplus - fading * levels, table.knee


def _losses(powers: Array, levels: Array) -> Array:
    """Return the most that a letter loses at each level."""
    return (np.arange(len(powers))[:, None] - powers[:, None] * levels).max(axis=0)  # type: ignore[no-any-return]


@_laws.register(LaplaceSampler)
def _by_noise(mechanism: LaplaceSampler, counts: Any, generator: Any) -> Array:
    """Add noise by the floating-point generator of NumPy: for analysis, never for release."""
    success = -np.expm1(-float(mechanism.epsilon) / 2)
    noise = generator.geometric(success, counts.shape) - generator.geometric(success, counts.shape)
    noisy = (counts + noise).astype(float)
    if mechanism.projection == CLIP:
        kept = np.maximum(noisy, 0)
        kept[kept.sum(axis=1) == 0] = 1
        return kept / kept.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]
    falling = -np.sort(-noisy, axis=1)
    surplus = (np.cumsum(falling, axis=1) - mechanism.n) / np.arange(1, mechanism.k + 1)
    last = (falling > surplus).sum(axis=1) - 1
    return (  # type: ignore[no-any-return]
        np.maximum(noisy - surplus[np.arange(len(noisy)), last][:, None], 0) / mechanism.n
    )


@_laws.register(ExponentialSampler)
def _by_flips(mechanism: ExponentialSampler, counts: Any, generator: Any) -> Array:  # noqa: ARG001
    """Use the law of permute-and-flip, ``h_y`` times the integral of ``prod (1 - h_x t) dt``.

    ``h_y = exp(epsilon (c_y - max c) / 2)``, the product is over ``x != y`` and ``t`` runs
    from 0 to 1; for many letters it falls fast, so the nodes are dense near zero.

    Reference: McKenna and Sheldon (2020); Ding et al. (2021).
    """
    nodes, weights = np.polynomial.legendre.leggauss(6)
    edges = [0.0, *(2.0 ** -np.arange(counts.shape[1].bit_length() + 2)[::-1])]
    heads = np.exp((counts - counts.max(axis=1, keepdims=True)) * float(mechanism.epsilon) / 2)
    laws = np.zeros(counts.shape)
    for low, high in pairwise(edges):
        for t, weight in zip(
            (low + high) / 2 + nodes * (high - low) / 2, weights * (high - low) / 2, strict=True
        ):
            tails = 1 - heads * t
            laws += weight * np.exp(np.log(tails).sum(axis=1, keepdims=True)) / tails
    laws *= heads
    return laws / laws.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]
