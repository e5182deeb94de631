"""The worst case of every sampler of ours over the limits of all private samplers.

``limit`` is what no sampler can beat over all distributions, ``datasets`` what none can beat
over all datasets. The samplers' worst cases are exact or proven, over all datasets; ``mean`` is
BAL-ROO's over all distributions, proven. ``found`` is its largest distance over the
distributions that prove Theorem 1 of the limit: one large letter, some equal ones, the rest
empty; by Monte Carlo, so it is what ``mean`` is at least. Prints a table and writes
``benchmarks/worst_case.json``. Run it with ``python benchmarks/worst_case.py``.
"""

from __future__ import annotations

from math import expm1

import numpy as np
from measuring import write_by_row

from dproo import limit
from dproo.mechanisms import BalancedRevealOrObscure, mechanism
from dproo.study.average import worst_mean_alpha
from dproo.study.simulation import _laws

SETTINGS = (
    (10_000, 100, "0.1"),
    (3334, 100, "0.3"),
    (1000, 100, "1"),
    (100_000, 1000, "0.1"),
    (33_333, 1000, "0.3"),
    (4000, 40, "0.1"),
    (1334, 40, "0.3"),
    (900, 9, "0.1"),
    (300, 9, "0.3"),
    (400, 40, "1"),
    (1000, 20, "1"),
    (200, 20, "1"),
    (90, 9, "1"),
)
SAMPLERS = ("roo", "ls-roo", "bal-roo")
CURVE = (4, 6, 9, 14, 20, 30, 40, 60, 100, 160, 250, 400, 640, 1000)
"""Numbers of letters for the curves, with n epsilon = 10 k."""

EPSILONS = ("0.1", "0.3", "1")
RANGE = ("0.1", "0.2", "0.5", "1", "2", "4")
"""The epsilons of the curves for a few numbers of letters, again with n epsilon = 10 k."""

LETTERS = (3, 9, 100)
SHARES = (0.1, 0.2, 0.3, 0.4, 0.55)
RECORDS = (1.25, 1.75, 2.1, 2.5, 3.0, 4.0, 6.0, 7.5)
"""Of the equal letters, over ``1 / (e^epsilon - 1)``."""

_CELLS = 60_000


def found(sampler: BalancedRevealOrObscure) -> float:
    """Return the largest distance that was found."""
    n, k, generator = sampler.n, sampler.k, np.random.default_rng(1)
    worst = 0.0
    for share in SHARES:
        j = max(1, round(share * (k - 1)))
        for records in RECORDS:
            u = records / expm1(sampler.epsilon) / n
            if j * u >= 1:
                continue
            p = np.r_[1 - j * u, np.full(j, u), np.zeros(k - 1 - j)]
            counts = generator.multinomial(n, p, size=max(200, _CELLS // k))
            gap = (_laws(sampler, counts, generator) - counts / n).mean(axis=0)
            sums = gap[0], gap[1 : j + 1].sum(), gap[j + 1 :].sum()
            worst = max(worst, float(sum(map(abs, sums))) / 2)
    return worst


def measured(n: int, k: int, epsilon: str) -> dict[str, object]:
    """Return the limits, and what the samplers have at most."""
    least = limit(n=n, k=k, epsilon=epsilon)
    samplers = {name: mechanism(name, n=n, k=k, epsilon=epsilon) for name in SAMPLERS}
    row: dict[str, object] = {"n": n, "k": k, "epsilon": epsilon}
    row |= {"limit": float(least.lower), "datasets": float(least.datasets)}
    row |= {name: float(sampler.worst_alpha) for name, sampler in samplers.items()}
    return row | {"mean": float(worst_mean_alpha(samplers["bal-roo"]))}


def main() -> None:
    """Print the table and write it, with the curves."""
    print(f"{'n':>7} {'k':>5} {'eps':>4}    limit   over it: datasets,", *SAMPLERS, "mean, found")
    rows = []
    for setting in SETTINGS:
        row = measured(*setting)
        n, k, epsilon = setting
        row["found"] = found(BalancedRevealOrObscure(n=n, k=k, epsilon=epsilon))
        rows.append(row)
        shown = (row[name] / row["limit"] for name in ("datasets", *SAMPLERS, "mean", "found"))
        print(f"{n:>7} {k:>5} {epsilon:>4}  {row['limit']:.5f}", *(f"{x:>7.3f}" for x in shown))
    curves, ranges = (
        [measured(round(10 * k / float(epsilon)), k, epsilon) for epsilon in some for k in letters]
        for some, letters in ((EPSILONS, CURVE), (RANGE, LETTERS))
    )
    write_by_row(__file__, {"settings": rows, "curves": curves, "range": ranges})


if __name__ == "__main__":
    main()
