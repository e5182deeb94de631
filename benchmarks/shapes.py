"""A public family of shapes that the constants of a sampler are chosen on.

Uniform on s letters, power laws, and mixtures of both with the uniform law, on 14 settings. The
shapes and settings of the accuracy suites are not among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from measuring import FLOOR

from dproo.mechanisms import mechanism

SETTINGS = (
    (10, 50, "1"),
    (10, 300, "0.3"),
    (30, 1000, "0.1"),
    (30, 300, "1"),
    (30, 2000, "0.5"),
    (100, 300, "1"),
    (100, 500, "0.1"),
    (100, 3000, "0.3"),
    (300, 1000, "0.3"),
    (300, 1000, "0.05"),
    (300, 10000, "0.1"),
    (300, 3000, "2"),
    (1000, 1000, "1"),
    (1000, 3000, "0.1"),
)
EXPONENTS = (0.5, 1, 1.5, 2, 3)
CELLS = 300_000

Array = Any


def family(k: int) -> Iterator[tuple[str, Array]]:
    """Yield the kind and the probabilities of every shape."""
    support = 1
    while support < k:
        kind = "sparse" if support <= k / 4 else "any"
        yield kind, np.r_[np.full(support, 1 / support), np.zeros(k - support)]
        support = max(support + 1, int(support * 2.7))
    powers = [np.arange(1.0, k + 1) ** -exponent for exponent in EXPONENTS]
    powers = [power / power.sum() for power in powers]
    yield "dense", powers[0]
    for power in powers[1:]:
        yield "heavy tail", power
    tenth = np.r_[np.full(k // 10, 1 / (k // 10)), np.zeros(k - k // 10)]
    for shape, share in product([*powers, tenth], (0.3, 0.7)):
        yield "dense", share * shape + (1 - share) / k


class Case:
    """Datasets of one shape, and LS-ROO's accuracy on them."""

    def __init__(self, k: int, n: int, epsilon: str, kind: str, p: Array) -> None:
        self.k, self.n, self.epsilon, self.kind = k, n, epsilon, kind
        self.groups = np.unique(p, return_inverse=True)[1]
        generator = np.random.default_rng([k, n, len(kind)])
        self.counts = generator.multinomial(n, p, size=CELLS // k)
        table = mechanism("ls-roo", n=n, k=k, epsilon=epsilon).table  # type: ignore[attr-defined]
        values = np.array([float(Fraction(v, table.slope)) for v in table.values])
        lifted = values[np.minimum(self.counts, table.last)]
        self.plain = self.accuracy(lifted + np.maximum(self.counts - table.last, 0))

    def accuracy(self, weights: Array) -> float:
        """Return the distance of the mean law from the mean of the datasets, floored."""
        laws = weights / weights.sum(axis=1, keepdims=True)
        gap = (laws - self.counts / self.n).mean(axis=0)
        return max(FLOOR, float(abs(np.bincount(self.groups, gap)).sum() / 2))

    def ratio(self, weights: Callable[[Array], Array]) -> float:
        """Return the accuracy over LS-ROO's."""
        return self.accuracy(weights(self.counts)) / self.plain
