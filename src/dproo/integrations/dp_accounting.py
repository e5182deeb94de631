"""Our samplers in Google's dp_accounting: the privacy loss distribution of repeated releases.

``dproo.compose`` does not need this: it accounts for our own samplers in integers. The
distribution here is for composing them with other mechanisms.
"""

from __future__ import annotations

from math import log
from typing import Any

from dproo.analysis.composition import RELEASES_MAX
from dproo.core.checks import needing, refusal, whole
from dproo.mechanisms import Mechanism

GRID = 1e-4
"""The grid to which dp_accounting rounds losses up."""


def privacy_loss_distribution(
    mechanism: Mechanism, *, releases: int = 1, grid: float = GRID
) -> Any:
    """Return the privacy loss distribution of independent releases by ``mechanism``.

    It is built from the pair of distributions that dominates the sampler, in both directions, and
    composed with itself. Its losses are rounded up to the grid, by far more than floats round.

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
        ValueError: dp_accounting is not installed.
    """
    with needing("dp-accounting", extra="accounting"):
        from dp_accounting.pld import privacy_loss_distribution as library
    if not isinstance(mechanism, Mechanism) or not mechanism.is_for_release:
        raise TypeError(refusal("mechanism", "be a certified sampler", mechanism))
    releases = whole("releases", releases, at_least=1, at_most=RELEASES_MAX)
    pair = mechanism.dominating_pair
    rest = 1 - pair.high - pair.low
    upper = {"high": log(pair.high), "low": log(pair.low)}
    lower = {"high": upper["low"], "low": upper["high"]}
    if rest:
        upper["rest"] = lower["rest"] = log(rest)
    one = library.from_two_probability_mass_functions(
        lower, upper, value_discretization_interval=grid
    )
    return one.self_compose(releases)
