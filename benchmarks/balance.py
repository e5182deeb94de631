"""The constants of BAL-ROO: how they were chosen, to be done again.

Criterion: that of ``constants.py``, on its settings and its public family of shapes: the
smallest geometric mean of the accuracy over LS-ROO's, among the constants that are nowhere more
than 10 % worse where n epsilon >= 10 k. The shapes and settings of the accuracy suites, and
the random shapes, are not looked at. Run it with ``python benchmarks/balance.py``; it takes
about half an hour.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import constants
import numpy as np
from constants import SETTINGS, Case, family, mean

from dproo.mechanisms import balanced, mechanism
from dproo.simulation import _laws

SLOPES = ("1/32", "1/16", "1/8", "1/4")
PLATEAUS = ("1/10", "3/10", "6/10")
TOPS = ("9/10", "19/20", "99/100")
RATES = ("7/10", "9/10")


def main() -> None:
    """Print the criterion for every choice of constants, and for every kind of shape."""
    constants.CELLS = 60_000
    cases = {
        setting: [Case(*setting, kind, p) for kind, p in family(setting[0])] for setting in SETTINGS
    }
    print(f"{sum(map(len, cases.values()))} cases; geometric means of BAL-ROO over LS-ROO")
    print(" slope plateau top  rate |   all sparse  heavy dense | worst where n eps >= 10 k")
    names = ("SLOPE", "PLATEAU", "TOP", "RATE")
    chosen = tuple(getattr(balanced, name) for name in names)
    grid = [(*map(Fraction, c), chosen[3]) for c in product(SLOPES, [PLATEAUS[1]], TOPS)]
    grid += [(chosen[0], Fraction(p), *chosen[2:]) for p in PLATEAUS if p != PLATEAUS[1]]
    grid += [(*chosen[:3], Fraction(rate)) for rate in RATES]
    for candidate in grid:
        for name, value in zip(names, candidate, strict=True):
            setattr(balanced, name, value)
        kinds: dict[str, list[float]] = {"any": [], "sparse": [], "heavy tail": [], "dense": []}
        worst = 0.0
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
            f"| {worst:.2f}",
            "<- chosen" if candidate == chosen else "",
            flush=True,
        )


if __name__ == "__main__":
    main()
