r"""Many releases from the same data: what they cost together, and what a budget buys.

Three ways to release ``s`` records:

* *basic*: ``s`` releases cost the sum of their epsilons, and no delta;
* *joint*: ROO's Polya urn draws all ``s`` for one epsilon, with more smoothing;
* *composed*: ``s`` independent releases, accounted for by their privacy loss distribution,
  cost far less than the sum, plus a delta.

Nothing here reads data: every choice follows from public parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dproo.core.checks import refusal, whole
from dproo.core.divergence import DominatingPair, Losses
from dproo.core.numbers import Number, ceil_div, first_true, log_upper, parse_delta
from dproo.mechanisms import BOTH, Mechanism, RevealOrObscure

BASIC, JOINT, COMPOSED = "basic", "joint", "composed"

RELEASES_MAX = 10**6

_NANO = 10**9


@dataclass(frozen=True, kw_only=True)
class Way:
    """One way to release several records.

    Attributes:
        name: ``"basic"``, ``"joint"`` or ``"composed"``.
        sampler: the sampler of each record, or with ``"joint"`` of all records.
        epsilon: the epsilon of all records together.
        delta: the delta of all records together.
    """

    name: str
    sampler: Mechanism
    epsilon: Fraction
    delta: Fraction

    @property
    def alpha(self) -> Fraction:
        """The worst-case accuracy of each record, where the data has the sampler's ``n``.

        Under add-remove that is the largest number of records allowed.
        """
        return self.sampler.worst_alpha


@dataclass(frozen=True)
class Composition:
    """What several releases cost, in each of the three ways.

    Attributes:
        releases: the number of releases.
        basic: the sum of the epsilons.
        joint: ROO's urn, which draws all of them for the epsilon of one release.
        composed: by the privacy loss distribution.
    """

    releases: int
    basic: Way
    joint: Way
    composed: Way


def compose(mechanism: Mechanism, *, releases: int, delta: Number) -> Composition:
    """Return what several releases by ``mechanism`` from the same data cost together.

    Guarantee: the releases are (epsilon, delta)-DP for the epsilon and delta of each way.
    Proof: docs/proofs/dominating_pair.md

    Args:
        mechanism: the sampler of one release.
        releases: the number of independent releases.
        delta: the probability with which the composed epsilon may fail; with 0 it is the sum.

    >>> from dproo.mechanisms import mechanism
    >>> cost = compose(mechanism("roo", epsilon=1, n=1000, k=20), releases=100, delta="1e-6")
    >>> float(cost.basic.epsilon), round(float(cost.composed.epsilon), 2)
    (100.0, 3.97)
    """
    if not isinstance(mechanism, Mechanism) or not mechanism.is_for_release:
        raise TypeError(refusal("mechanism", "be a certified sampler", mechanism))
    if mechanism.neighbours == BOTH:
        condition = "be for neighbours 'replace' or 'add-remove'"
        raise ValueError(
            refusal("mechanism", condition, mechanism.neighbours)
            + " No joint draw is for both; make a sampler for one of them."
        )
    releases = whole("releases", releases, at_least=1, at_most=RELEASES_MAX)
    allowed = parse_delta(delta)
    basic = releases * mechanism.epsilon
    composed = composed_epsilon(mechanism.dominating_pair, releases, allowed)
    urn = RevealOrObscure(
        epsilon=mechanism.epsilon,
        n=mechanism.n,
        k=mechanism.k,
        neighbours=mechanism.neighbours,
        draws=releases * mechanism.draws,
        records_per_person=mechanism.records_per_person,
        prior=mechanism.prior if isinstance(mechanism, RevealOrObscure) else None,
    )
    pure = Fraction(0)
    return Composition(
        releases,
        Way(name=BASIC, sampler=mechanism, epsilon=basic, delta=pure),
        Way(name=JOINT, sampler=urn, epsilon=mechanism.epsilon, delta=pure),
        Way(name=COMPOSED, sampler=mechanism, epsilon=min(basic, composed), delta=allowed),
    )


def composed_epsilon(pair: DominatingPair, releases: int, delta: Fraction) -> Fraction:
    """Return the least epsilon that ``delta`` allows, rounded up to a nano-epsilon."""
    losses = Losses.of(pair, releases)
    basic = releases * log_upper(pair.high / pair.low)
    most = ceil_div(basic.numerator * _NANO, basic.denominator)
    least = first_true(lambda nano: losses.delta(Fraction(nano, _NANO)) <= delta, -1, most)
    return Fraction(least, _NANO)
