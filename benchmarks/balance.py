"""The constants of BAL-ROO: how they were chosen, to be done again.

Criterion: of the constants whose proven worst case over all distributions is within what is
promised at six public settings with few letters and many, and as a geometric mean within half a
percent of the least, those with the smallest geometric mean of the accuracy over LS-ROO's on the
public family of ``shapes.py``. Beside it stands in how many settings condition (C) makes the
plateau longer. The accuracy suites and the random shapes are not looked at. Prints a table and
writes ``benchmarks/balance.json``. Run it with ``python benchmarks/balance.py``; it takes some
minutes.
"""

from __future__ import annotations

from fractions import Fraction
from operator import le

import numpy as np
import shapes
from measuring import mean, write_by_row
from shapes import Case, family

from dproo import limit
from dproo.mechanisms import BalancedRevealOrObscure
from dproo.mechanisms.bal_roo import sampler as balanced
from dproo.mechanisms.bal_roo.bounds import flattest
from dproo.study.average import worst_mean_alpha
from dproo.study.simulation import _laws

PROMISED = {
    (10_000, 1000, "1"): 1.75,
    (3334, 100, "0.3"): 1.15,
    (400, 40, "1"): 1.75,
    (200, 20, "1"): 1.75,
    (300, 9, "0.3"): 1.5,
    (90, 9, "1"): 1.75,
}
"""The most that the worst case may be over the limit, by records, letters and epsilon."""

GRID = {
    "SLOPE": ("1/24", "1/18", "1/16", "1/12"),
    "TOP": ("9/10", "15/16", "31/32"),
    "SURPLUS": ("1/5", "1/2", "1"),
    "EVEN": ("1/2", "9/16", "5/8", "3/4", "1"),
}
TOGETHER = {"SLOPE": Fraction(1, 20), "SURPLUS": Fraction(3, 2)}
"""Two changes at once: the least worst case that was seen."""

NEW = ((700, 5000, "0.3"), (1000, 30_000, "0.3"), (20, 2000, "0.1"))
"""Settings of the family beside those of ``shapes.py``: many letters, and few records each."""


def is_longer(sampler: BalancedRevealOrObscure) -> bool:
    """Return whether condition (C) makes the plateau longer than all others do."""
    table = sampler.table
    return table.plateau > (1 + table.slope) * (table.unit + flattest(table)) + table.unit / 1000


def main() -> None:
    """Print the criterion for the constants that were chosen, and with each changed in turn."""
    shapes.CELLS = 24_000
    settings = (*shapes.SETTINGS, *NEW)
    cases = {
        (k, n, epsilon): [Case(k, n, epsilon, kind, p) for kind, p in family(k)]
        for k, n, epsilon in settings
    }
    chosen = {name: getattr(balanced, name) for name in GRID}
    grid = [chosen]
    for name, values in GRID.items():
        grid += [chosen | {name: Fraction(v)} for v in values if Fraction(v) != chosen[name]]
    grid.append(chosen | TOGETHER)
    limits = [float(limit(n=n, k=k, epsilon=e).lower) for n, k, e in PROMISED]
    print(*(f"{name:>7}" for name in GRID), "| worst case | kept | longer | family over LS-ROO")
    rows = []
    for candidate in grid:
        for name, value in candidate.items():
            setattr(balanced, name, value)
        samplers = [BalancedRevealOrObscure(n=n, k=k, epsilon=e) for n, k, e in PROMISED]
        worst = [
            float(worst_mean_alpha(sampler)) / least
            for sampler, least in zip(samplers, limits, strict=True)
        ]
        kept = sum(map(le, worst, PROMISED.values()))
        ratios = []
        for (k, n, epsilon), members in cases.items():
            sampler = BalancedRevealOrObscure(n=n, k=k, epsilon=epsilon)
            ratios += [
                case.ratio(lambda counts, by=sampler: _laws(by, counts, np.nan)) for case in members
            ]
        row = {name: str(value) for name, value in candidate.items()}
        row |= {"worst": mean(worst), "kept": kept, "longer": sum(map(is_longer, samplers))}
        row["family"] = mean(ratios)
        print(
            *(f"{value!s:>7}" for value in candidate.values()),
            f"| {row['worst']:10.4f} | {kept:4} | {row['longer']:6} | {row['family']:.4f}",
            "<- chosen" if candidate == chosen else "",
            flush=True,
        )
        rows.append(row)
    write_by_row(__file__, rows)


if __name__ == "__main__":
    main()
