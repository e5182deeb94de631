"""Our samplers in Google's dp_accounting: the privacy loss distribution of repeated releases.

``dproo.compose`` does not need this: it accounts for our own samplers in integers. The
distribution here is for composing them with other mechanisms.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from math import ceil, floor
from typing import Any

from dproo.analysis.composition import RELEASES_MAX
from dproo.core.checks import needing, refusal, whole
from dproo.core.numbers import Number, float_upper, log_lower, log_upper, rational
from dproo.mechanisms import Mechanism

GRID = 1e-4
"""The grid to which dp_accounting rounds losses up."""

_FINEST = Fraction(1, 10**12)


def privacy_loss_distribution(
    mechanism: Mechanism, *, releases: int = 1, grid: Number = GRID
) -> Any:
    """Return the privacy loss distribution of independent releases by ``mechanism``.

    It is built from the pair of distributions that dominates the sampler, in both directions, and
    composed with itself. Its losses are rounded up to the grid exactly, and its masses to floats.

    Proof: docs/proofs/dominating_pair.md

    Args:
        mechanism: any certified sampler.
        releases: the number of releases.
        grid: the grid of the losses; a finer one is tighter and takes longer.

    >>> from dproo.mechanisms import mechanism
    >>> roo = mechanism("roo", epsilon=1, n=1000, k=20)
    >>> losses = privacy_loss_distribution(roo, releases=100)
    >>> round(losses.get_epsilon_for_delta(1e-6), 2)
    3.97

    Raises:
        ValueError: dp_accounting is not installed, or the grid is not between 1e-12 and 1.
    """
    with needing("dp-accounting", extra="accounting"):
        from dp_accounting.pld import privacy_loss_distribution as library
    if not isinstance(mechanism, Mechanism) or not mechanism.is_for_release:
        raise TypeError(refusal("mechanism", "be a certified sampler", mechanism))
    releases = whole("releases", releases, at_least=1, at_most=RELEASES_MAX)
    exact = rational("grid", grid)
    if not _FINEST <= exact <= 1:
        raise ValueError(refusal("grid", "be between 1e-12 and 1", grid))
    step, pair = Fraction(float(exact)), mechanism.dominating_pair
    ratio = pair.high / pair.low
    masses: dict[int, Fraction] = defaultdict(Fraction)  # small losses share a step
    masses[ceil(log_upper(ratio) / step)] += pair.high
    masses[-floor(log_lower(ratio) / step)] += pair.low
    masses[0] += 1 - pair.high - pair.low
    losses = {steps: float_upper(mass) for steps, mass in masses.items()}
    one = library.PrivacyLossDistribution.create_from_rounded_probability(losses, 0, float(step))
    return one.self_compose(releases)
