"""The best of all private samplers, from both sides, over the closed-form limit.

The linear program bounds the best worst case from below; the sampler that it finds, at the worst
``P`` that a search finds for it, says how far the program is from the truth. That ``P`` joins the
program, and so on, until both sides meet or the rounds are over. Where a record is added or
removed the program has datasets of up to ``most`` records, and its sampler is one for all sizes.
Prints a table and writes
``benchmarks/minimax.json``. Run it with ``python benchmarks/minimax.py``; it takes a few minutes.
"""

from __future__ import annotations

from measuring import write_by_row

from dproo import limit
from dproo.study.minimax import minimax, worst_distribution

SETTINGS = (
    (6, 3, "0.1"),
    (10, 2, "1"),
    (10, 2, "3"),
    (10, 2, "5"),
    (20, 2, "1"),
    (12, 3, "0.5"),
    (10, 3, "1"),
    (10, 3, "3"),
    (10, 3, "5"),
    (10, 4, "1"),
)
ADD_REMOVE = (
    (1, 2, "1", 8),
    (5, 2, "1", 14),
    (10, 2, "1", 22),
    (10, 2, "0.3", 40),
    (2, 3, "1", 9),
    (5, 3, "1", 13),
)
ROUNDS = 40
FINE = 120
"""Of the grid from which the last search starts, twice as fine as that of the others."""


def main() -> None:
    """Print both sides for every setting, and write them."""
    rows = []
    for n, k, epsilon in SETTINGS:
        least = float(limit(n=n, k=k, epsilon=epsilon).lower)
        first = minimax(n=n, k=k, epsilon=epsilon)
        found = minimax(n=n, k=k, epsilon=epsilon, rounds=ROUNDS)
        row = {"n": n, "k": k, "epsilon": epsilon, "limit": least}
        row |= {"grid_bound": first.bound / least, "grid_reached": first.reached / least}
        _, reached = worst_distribution(found.sampler, grid=FINE)
        row |= {"bound": found.bound / least, "reached": max(found.reached, reached) / least}
        print(f"{n:>3} {k:>2} {epsilon:>4}", *(f"{x:.4f}" for x in list(row.values())[3:]))
        rows.append(row)
    write_by_row(__file__, {"rounds": ROUNDS, "settings": rows, "add_remove": added()})


def added() -> list[dict[str, object]]:
    """Return both sides where a record is added or removed, over the limit at twice epsilon."""
    rows = []
    for n, k, epsilon, most in ADD_REMOVE:
        found = minimax(n=n, k=k, epsilon=epsilon, most=most, rounds=ROUNDS)
        least = float(limit(n=n, k=k, epsilon=epsilon, neighbours="add-remove").lower)
        _, reached = worst_distribution(found.sampler, grid=FINE)
        row = {"n": n, "k": k, "epsilon": epsilon, "most": most, "limit": least}
        row |= {"bound": found.bound / least, "reached": max(found.reached, reached) / least}
        print(f"{n:>3} {k:>2} {epsilon:>4}", *(f"{x:.4f}" for x in list(row.values())[4:]))
        rows.append(row)
    return rows


if __name__ == "__main__":
    main()
