"""The constants of ALS-ROO: how they were chosen, to be done again.

Criterion: the smallest geometric mean of ALS-ROO's accuracy over LS-ROO's, on 14 settings and
a public family of shapes (uniform on s letters, power laws, mixtures of both with the uniform
law), among the constants that are nowhere more than 10 % worse where n epsilon >= 10 k. The
shapes and settings of the accuracy suites are not looked at. Run it with
``python benchmarks/constants.py``; it takes some minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from math import exp, log
from typing import Any

import numpy as np

from dproo.analysis.comparison import FLOOR
from dproo.mechanisms import adaptive, mechanism
from dproo.mechanisms.adaptive_table import LEVEL_STEP

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
TOPS = ("9/10", "19/20", "1")
SPREADS = ("1/2", "1", "5/4", "3/2", "7/4", "2")
RATES = ("7/10", "4/5", "9/10", "19/20")
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


def weights_of(k: int, n: int, epsilon: str) -> Callable[[Array], Array]:
    """Return ALS-ROO's weights for many datasets at once, in floats."""
    table = mechanism("als-roo", n=n, k=k, epsilon=epsilon).table  # type: ignore[attr-defined]
    scale = Fraction(table.high, table.unit)
    powers = np.array([*(float(power * scale) for power in table.powers), np.inf])

    def weights(counts: Array) -> Array:
        at_risk = np.minimum(counts, table.knee)
        others = at_risk.sum(axis=1, keepdims=True) - at_risk
        level = np.minimum(1.0, (others * float(LEVEL_STEP) + table.offset) / table.high)
        lifted = powers[np.minimum(counts, len(powers) - 1)] * level
        return np.minimum(np.maximum(counts, table.knee), lifted)

    return weights


def main() -> None:
    """Print the criterion for every choice of constants, and for every kind of shape."""
    cases = {
        setting: [Case(*setting, kind, p) for kind, p in family(setting[0])] for setting in SETTINGS
    }
    print(f"{sum(map(len, cases.values()))} cases; geometric means of ALS-ROO over LS-ROO")
    print("  top spread  rate |   all sparse  heavy dense | worst where n eps >= 10 k")
    chosen = adaptive.TOP, adaptive.SPREADS["any"], adaptive.RATE
    grid = [(Fraction(t), Fraction(s), chosen[2]) for t, s in product(TOPS, SPREADS)]
    grid += [(*chosen[:2], Fraction(rate)) for rate in RATES if Fraction(rate) != chosen[2]]
    for constants in grid:
        adaptive.TOP, adaptive.SPREADS["any"], adaptive.RATE = constants
        kinds: dict[str, list[float]] = {"any": [], "sparse": [], "heavy tail": [], "dense": []}
        worst = 0.0
        for (k, n, epsilon), members in cases.items():
            weights = weights_of(k, n, epsilon)
            for case in members:
                ratio = case.ratio(weights)
                kinds[case.kind].append(ratio)
                if n * float(epsilon) >= 10 * k:
                    worst = max(worst, ratio)
        every = [ratio for ratios in kinds.values() for ratio in ratios]
        means = [mean(every), *(mean(kinds[kind]) for kind in ("sparse", "heavy tail", "dense"))]
        print(
            *(f"{c!s:>6}" for c in constants),
            "|",
            *(f"{m:5.3f}" for m in means),
            f"| {worst:.2f}",
            "<- chosen" if constants == chosen else "",
            flush=True,
        )


def mean(ratios: list[float]) -> float:
    """Return the geometric mean."""
    return exp(sum(map(log, ratios)) / len(ratios))


if __name__ == "__main__":
    main()
