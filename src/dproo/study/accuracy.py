r"""Accuracy: how far the law ``Q`` of a release is from the distribution ``P`` of the records.

``Q(y)`` is the probability that letter ``y`` is released, over datasets of ``n`` records
drawn from ``P`` and over the sampler's draw; the accuracy is the total variation distance
``alpha = sum_y |Q(y) - P(y)| / 2``. It is computed from the sampler's own integers.

Reference: Tasnim et al. (2025), Definition 1; Axelrod et al. (2020).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from itertools import pairwise
from math import comb, factorial, prod
from typing import Any, Final, Literal

from dproo.core.checks import needing, one_of, refusal, shown, whole
from dproo.core.counts import Counts, every_dataset
from dproo.mechanisms import (
    AUTO,
    REPLACE,
    DataSpecificRevealOrObscure,
    LetterSpecificRevealOrObscure,
    Mechanism,
    RevealOrObscure,
    SubsampledRandomizedResponse,
)
from dproo.study.baselines import Baseline
from dproo.study.distributions import Distribution

CLOSED_FORM = "closed form"
ENUMERATION: Final = "enumeration"
MINIMUM_COUNT = "law of the smallest count"
LIFTED_COUNTS = "transform of the lifted counts"
MONTE_CARLO: Final = "monte carlo"
TRIALS = 4_000
CONFIDENCE = 0.99
ERROR = 1e-9
"""The error allowed for an accuracy in floats; see :mod:`dproo.study.expectation`."""

Method = Literal["auto", "exact", "enumeration", "monte carlo"]
METHODS: tuple[Method, ...] = (AUTO, "exact", ENUMERATION, MONTE_CARLO)

_FEW_DATASETS = 5_000
_MOST_DATASETS = 500_000
_MOST_WORK = 4e10
_SUM_ERROR = 1e-10
_RULE_ERROR = 1e-13
_MOST_NODES = 150


@dataclass(frozen=True)
class Accuracy:
    """The distance between the law of a release and the distribution of the records.

    Attributes:
        alpha: the total variation distance, or the best estimate of it.
        low: a lower bound. With an exact method, ``low`` and ``high`` differ only by rounding;
            with Monte Carlo they are the ends of a confidence interval.
        high: an upper bound.
        method: how it was computed.
        output: the law ``Q`` of the release.
        exact: the distance as a rational, if available.
    """

    alpha: float
    low: float
    high: float
    method: str
    output: tuple[float, ...]
    exact: Fraction | None = None


def accuracy(
    mechanism: Mechanism | Baseline,
    p: Iterable[object] | Distribution,
    *,
    n: int | None = None,
    method: Method = AUTO,
    trials: int = TRIALS,
    confidence: float = CONFIDENCE,
    seed: int | None = None,
) -> Accuracy:
    """Return the accuracy of ``mechanism`` on records from ``p``.

    Args:
        mechanism: the sampler.
        p: the probability of every letter.
        n: the number of records, for samplers under add-remove neighbours, which do not fix it.
        method: ``"auto"``; or ``"exact"``, which raises if only Monte Carlo works;
            ``"enumeration"`` of all datasets; ``"monte carlo"``.
        trials: the number of datasets that Monte Carlo draws.
        confidence: the confidence of the Monte Carlo interval.
        seed: the seed of the Monte Carlo generator. Nothing private is drawn here.

    Guarantee: the distance is between ``low`` and ``high``, for Monte Carlo with the given
    confidence.

    >>> from dproo.mechanisms import mechanism
    >>> round(accuracy(mechanism("roo", epsilon="0.1", n=1000, k=4), [1, 0, 0, 0]).alpha, 6)
    0.02748

    Raises:
        TypeError: ``p`` is not a sequence of numbers.
        ValueError: ``p`` does not fit the sampler, or the method cannot be used.
    """
    if not isinstance(mechanism, Mechanism | Baseline):
        raise TypeError(refusal("mechanism", "be a sampler", mechanism))
    p = Distribution.of(p)
    if p.k != mechanism.k:
        raise ValueError(refusal("p", f"have k = {shown(mechanism.k)} entries", p.k))
    n = _records(mechanism, n)
    method = one_of("method", method, METHODS)
    datasets = comb(n + p.k - 1, p.k - 1)
    if method == ENUMERATION:
        if not isinstance(mechanism, Mechanism) or datasets > _MOST_DATASETS:
            raise ValueError(
                f"method must not be 'enumeration' for {mechanism.name}, n = {shown(n)}."
            )
        return _enumerated(mechanism, p, n)
    if method != MONTE_CARLO:
        found = _exact(mechanism, p, n)
        if found is None and isinstance(mechanism, Mechanism) and datasets <= _FEW_DATASETS:
            found = _enumerated(mechanism, p, n)
        if found is not None:
            return found
        if method == "exact":
            raise ValueError(f"method must not be 'exact' for {mechanism.name} at this size.")
    with needing("scipy", extra="accuracy"):
        from dproo.study.simulation import simulate  # noqa: PLC0415 - it needs an extra
    alpha, low, high, output = simulate(
        mechanism, p, n=n, trials=trials, confidence=confidence, seed=seed
    )
    return Accuracy(alpha, low, high, MONTE_CARLO, output)


def _records(mechanism: Mechanism | Baseline, n: int | None) -> int:
    if n is None:
        if mechanism.neighbours != REPLACE:
            raise TypeError("n must be given under add-remove neighbours, which do not fix it.")
        return mechanism.n
    if mechanism.neighbours == REPLACE and n != mechanism.n:
        raise ValueError(refusal("n", f"be the sampler's own, {shown(mechanism.n)}", n))
    return whole("n", n, at_least=1, at_most=mechanism.n)


@singledispatch
def _exact(mechanism: Any, p: Distribution, n: int) -> Accuracy | None:  # noqa: ARG001
    """Return the accuracy if the structure of the sampler's law gives it exactly, else None."""
    return None


@_exact.register(RevealOrObscure)
@_exact.register(SubsampledRandomizedResponse)
def _smoothed(mechanism: Mechanism, p: Distribution, n: int) -> Accuracy:
    """Average the law over the datasets that consist of one letter.

    The weights are linear in the counts and their total is constant, so the law on the
    expected counts, a mixture of those datasets, is the expected law.
    """
    weights = mechanism.weights(Counts.sparse({0: n}, k=p.k))
    base = list(mechanism.weights(Counts.sparse({1: n}, k=p.k)))
    base[1] = weights[1]
    record = Fraction(weights[0] - base[0], n)
    output = [
        (b + record * n * share) / weights.total for b, share in zip(base, p.shares, strict=True)
    ]
    return _exactly(output, p, CLOSED_FORM)


@_exact.register(DataSpecificRevealOrObscure)
def _by_minimum(mechanism: DataSpecificRevealOrObscure, p: Distribution, n: int) -> Accuracy | None:
    """Use ``Q(y) = E[q_M]/k + E[(1 - q_M) c_y]/n`` for the smallest count ``M``."""
    records = _grouped(p, n)
    entries = len(mechanism.table)
    if entries * len(records.shares) * n**0.5 > _MOST_WORK:
        return None
    q = [float(mechanism.q(m)) for m in range(entries)]
    steps = [1 - q[0], *(before - after for before, after in pairwise(q))]
    revealed, by_share = records.minimum(steps)
    output = (1 - revealed) / p.k + by_share / n
    return _numerically(output, p, MINIMUM_COUNT)


@_exact.register(LetterSpecificRevealOrObscure)
def _by_lift(mechanism: LetterSpecificRevealOrObscure, p: Distribution, n: int) -> Accuracy | None:
    """Use ``1/Z = integral of e^(-sZ) ds`` for the total ``Z`` of the lifted counts.

    In units of the slope the lifted count is ``c + base + extra(c)``, with ``extra`` zero past
    the table, so ``Z = n + k base + sum_x extra(c_x)``. The integral over ``s`` is a
    Gauss-Laguerre sum, and each ``e^(-sZ)`` is a product over the letters.
    """
    import numpy as np

    table = mechanism.table
    base = float(Fraction(table(table.last), table.slope) - table.last)
    extra = np.array([
        float(Fraction(table(c), table.slope) - c) - base for c in range(min(table.last, n + 1))
    ])  # fmt: skip
    ends = [float(Fraction(end(n, p.k), table.slope)) for end in (table.least, table.most)]
    rule = _rule_for_inverse(*ends)
    records = _grouped(p, n)
    work = len(extra) * len(records.shares) * n**0.5 * 5
    if rule is None or work * len(rule[0]) > _MOST_WORK:
        return None
    rates, weights = rule
    weights = weights * np.exp(-rates * (n + p.k * base))
    factors = [lambda lift, rate=rate: np.exp(-rate * lift) for rate in rates]
    output = np.zeros(len(records.shares))
    for weight, (whole_, marked) in zip(weights, records.tables(factors, extra), strict=True):
        output += weight * (marked + base * whole_)
    return _numerically(output, p, LIFTED_COUNTS)


def _rule_for_inverse(low: float, high: float) -> tuple[Any, Any] | None:
    """Return rates and weights with ``1/Z = sum weight e^(-rate Z)`` for ``low <= Z <= high``.

    It is checked on a grid before it is returned, to a relative error of 1e-13.
    """
    import numpy as np

    scale = 2 / (1 / low + 1 / high)
    grid = np.geomspace(low, high, 2001)
    for nodes in range(4, _MOST_NODES, 4):
        u, w = np.polynomial.laguerre.laggauss(nodes)
        weights = np.exp(np.log(w, out=np.full_like(w, -np.inf), where=w > 0) + u) / scale
        inverse = weights @ np.exp(-np.outer(u / scale, grid))
        if abs(inverse * grid - 1).max() < _RULE_ERROR:
            return u / scale, weights
    return None


def _grouped(p: Distribution, n: int) -> Any:
    with needing("scipy", extra="accuracy"):
        from dproo.study.expectation import Records  # noqa: PLC0415 - it needs an extra
    return Records(n, tuple(map(float, p.groups)), tuple(p.groups.values()))


def _enumerated(mechanism: Mechanism, p: Distribution, n: int) -> Accuracy:
    """Sum over all datasets, each with its exact multinomial probability."""
    output = [Fraction(0)] * p.k
    for counts in every_dataset(n, p.k):
        chance = prod(
            (share**c / factorial(c) for share, c in zip(p.shares, counts, strict=True)),
            start=Fraction(factorial(n)),
        )
        if chance:
            weights = mechanism.weights(Counts.of(counts))
            for y, weight in enumerate(weights):
                output[y] += chance * weight / weights.total
    return _exactly(output, p, ENUMERATION)


def _exactly(output: list[Fraction], p: Distribution, method: str) -> Accuracy:
    alpha = sum((abs(q - share) for q, share in zip(output, p.shares, strict=True)), Fraction(0))
    shown = float(alpha / 2)
    return Accuracy(shown, shown, shown, method, tuple(map(float, output)), alpha / 2)


def _numerically(by_group: Any, p: Distribution, method: str) -> Accuracy:
    """Return the accuracy of an output law computed in floats, one entry per group."""
    groups = dict(zip(p.groups, map(float, by_group), strict=True))
    if not abs(sum(p.groups[share] * q for share, q in groups.items()) - 1) <= _SUM_ERROR:
        raise ArithmeticError("the output law does not sum to 1: precision was lost.")
    alpha = sum(p.groups[share] * abs(q - float(share)) for share, q in groups.items()) / 2
    return Accuracy(alpha, max(0.0, alpha - ERROR), alpha + ERROR, method, p.spread(groups))
