"""The constants of BAL-ROO: how they were chosen, to be done again.

Criterion: that of ``constants.py``, on its settings and its public family of shapes: the
smallest geometric mean of the accuracy over LS-ROO's, among the constants that are nowhere more
than 10 % worse where n epsilon >= 10 k, and whose proven worst case at n = 10^4, k = 100,
epsilon = 0.1 is at most 1.15 times 0.01468, the limit of every private sampler. The shapes and
settings of the accuracy suites, and the random shapes, are not looked at. Run it with
``python benchmarks/balance.py``; it takes about half an hour.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import constants
import numpy as np
from constants import SETTINGS, Case, family, mean

from dproo.analysis.simulation import _laws
from dproo.mechanisms import balanced, mechanism

SLOPES = ("1/16", "1/12", "1/10", "1/8", "1/4")
TOPS = ("9/10", "99/100")
RATES = ("1/2", "7/10", "4/5")
LIMIT = 0.01468


def main() -> None:
    """Print the criterion for every choice of constants, and for every kind of shape."""
    constants.CELLS = 60_000
    cases = {
        setting: [Case(*setting, kind, p) for kind, p in family(setting[0])] for setting in SETTINGS
    }
    print(f"{sum(map(len, cases.values()))} cases; geometric means of BAL-ROO over LS-ROO")
    print(" slope   top  rate |   all sparse  heavy dense | worst if n eps >= 10 k | to limit")
    names = ("SLOPE", "TOP", "RATE")
    chosen = tuple(getattr(balanced, name) for name in names)
    slope, top, rate = chosen
    grid = [(Fraction(s), top, Fraction(r)) for s, r in product(SLOPES, RATES)]
    grid += [(slope, Fraction(t), rate) for t in TOPS]
    for candidate in grid:
        for name, value in zip(names, candidate, strict=True):
            setattr(balanced, name, value)
        kinds: dict[str, list[float]] = {"any": [], "sparse": [], "heavy tail": [], "dense": []}
        worst = 0.0
        sampler = mechanism("bal-roo", n=10**4, k=100, epsilon="0.1")
        worst_case = float(sampler.worst_alpha) / LIMIT
        for (k, n, epsilon), members in cases.items():
            sampler = mechanism("bal-roo", n=n, k=k, epsilon=epsilon)
            for case in members:
                ratio = case.ratio(lambda counts, by=sampler: _laws(by, counts, np.nan))
                kinds[case.kind].append(ratio)
                if n * float(epsilon) >= 10 * k:
                    worst = max(worst, ratio)
        every = [ratio for ratios in kinds.values() for ratio in ratios]
        means = [mean(every), *(mean(kinds[kind]) for kind in ("sparse", "heavy tail", "dense"))]
        print(
            *(f"{c!s:>6}" for c in candidate),
            "|",
            *(f"{m:5.3f}" for m in means),
            f"| {worst:.2f} | {worst_case:.3f}",
            "<- chosen" if candidate == chosen else "",
            flush=True,
        )


if __name__ == "__main__":
    main()
