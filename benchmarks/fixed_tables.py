"""One table for few letters, found by optimisation, beside LS-ROO and BAL-ROO.

A letter with ``c`` records weighs ``f(c)``, whatever the others have. The table is optimised for
small n and k, from LS-ROO's on: the largest distance over some ``P``, under the condition that
every replaced record changes no probability by more than ``e^epsilon``. The worst ``P`` of what is
found joins the others. Then the table is rounded to integers and certified by enumeration, so that
only its accuracy rests on a search. Writes ``benchmarks/fixed_tables.json``. Run it with
``python benchmarks/fixed_tables.py``; it takes some minutes.
"""

from __future__ import annotations

from itertools import permutations, product
from math import factorial, prod

import numpy as np
from measuring import write_by_row
from scipy.optimize import minimize

from dproo import limit, mechanism
from dproo.core.counts import every_dataset, falling_datasets
from dproo.study.minimax import OptimalSampler, worst_distribution

SETTINGS = (
    (10, 2, "1"),
    (10, 3, "1"),
    (10, 3, "3"),
    (12, 3, "0.5"),
    (10, 4, "1"),
    (8, 5, "2"),
    (7, 6, "2"),
)
ROUNDS, GRID, FINE = 12, 12, 30
UNIT = 1 << 60


class Optimised:
    """The best table found for ``n`` records of ``k`` letters."""

    def __init__(self, n: int, k: int, epsilon: str) -> None:
        self.n, self.k, self.epsilon = n, k, epsilon
        self.datasets = np.array(list(every_dataset(n, k)))
        self.orders = np.array([
            factorial(n) / prod(map(factorial, row)) for row in self.datasets.tolist()
        ])  # fmt: skip
        self.parts = np.array([part for part in product((0, 1), repeat=k) if 0 < sum(part) < k])
        changes = set()
        for row in falling_datasets(n, k):
            for loser, gainer in permutations(range(k), 2):
                if row[loser]:
                    after = [*row]
                    after[loser] -= 1
                    after[gainer] += 1
                    changes.add((tuple(row), tuple(after), row[gainer], after[gainer]))
        self.before, self.after, self.old, self.new = map(np.array, zip(*changes, strict=True))

    def slack(self, logs: np.ndarray) -> np.ndarray:
        """Return what every replaced record leaves of epsilon, for the letter that gains."""
        weights = np.exp(logs)
        grown = logs[self.new] - logs[self.old]
        totals = np.log(weights[self.after].sum(1) / weights[self.before].sum(1))
        return float(self.epsilon) - grown + totals

    def distances(self, logs: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """Return by how much every set of letters is too likely, in records."""
        weights = np.exp(logs)[self.datasets]
        laws = weights / weights.sum(1, keepdims=True)
        chances = np.array([self.orders * np.prod(p**self.datasets, axis=1) for p in chosen])
        return ((chances @ laws - chosen) @ self.parts.T).ravel() * self.n

    def found(self) -> tuple[OptimalSampler, float]:
        """Return the best sampler, and its largest distance from any ``P`` that a search found."""
        table = mechanism("ls-roo", n=self.n, k=self.k, epsilon=self.epsilon).table
        logs = np.log([table(count) / table.slope for count in range(self.n + 1)])
        chosen = np.array([*falling_datasets(GRID, self.k)]) / GRID
        samplers = []
        for _ in range(ROUNDS):
            start = np.append(logs, self.distances(logs, chosen).max())
            solved = minimize(
                lambda v: v[-1],
                start,
                jac=lambda v: np.append(np.zeros(len(v) - 1), 1.0),
                method="SLSQP",
                constraints=[
                    {"type": "ineq", "fun": lambda v: self.slack(v[:-1])},
                    {"type": "ineq", "fun": lambda v, p=chosen: v[-1] - self.distances(v[:-1], p)},
                ],
                options={"maxiter": 200},
            )
            logs = solved.x[:-1]
            sampler = self.rounded(logs)
            worst, distance = worst_distribution(sampler, grid=FINE)
            samplers.append((distance, len(samplers), sampler))
            chosen = np.vstack([chosen, [float(share) for share in worst.shares]])
        distance, _, sampler = min(samplers)
        return sampler, distance

    def rounded(self, logs: np.ndarray) -> OptimalSampler:
        """Return the table in integers, every letter lifted alike until it certifies."""
        lift = UNIT >> 40
        while True:
            weights = [int(UNIT * float(np.exp(value - logs.max()))) + lift for value in logs]
            table = {
                (row, count): weights[count]
                for row in map(tuple, falling_datasets(self.n, self.k))
                for count in row
            }
            try:
                return OptimalSampler(epsilon=self.epsilon, n=self.n, k=self.k, table=table)
            except ValueError:
                lift *= 4


def main() -> None:
    """Print and write the distances over the limit."""
    rows = []
    for n, k, epsilon in SETTINGS:
        least = float(limit(n=n, k=k, epsilon=epsilon).lower)
        _, reached = Optimised(n, k, epsilon).found()
        row = {"n": n, "k": k, "epsilon": epsilon, "table": reached / least}
        for name in ("ls-roo", "bal-roo"):
            sampler = mechanism(name, n=n, k=k, epsilon=epsilon)
            row[name] = worst_distribution(sampler, grid=FINE)[1] / least
        print(row, flush=True)
        rows.append(row)
    write_by_row(__file__, rows)


if __name__ == "__main__":
    main()
