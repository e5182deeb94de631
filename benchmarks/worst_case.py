"""The worst case of BAL-ROO over the limit of every private sampler: proven, and found.

Proven is ``worst_alpha``, a bound over all datasets. Found is the largest distance over the
distributions that prove the limit: one large letter, some equal ones, the rest empty; by Monte
Carlo, so it is what the worst case is at least. Run it with ``python benchmarks/worst_case.py``.
"""

from __future__ import annotations

from math import exp, expm1, log1p

import numpy as np

from dproo.analysis.simulation import _laws
from dproo.mechanisms import BalancedRevealOrObscure, mechanism

SETTINGS = (
    (10_000, 100, "0.1"),
    (3334, 100, "0.3"),
    (100_000, 1000, "0.1"),
    (4000, 40, "0.1"),
    (2000, 40, "0.3"),
    (1000, 9, "0.1"),
    (300, 9, "0.3"),
    (1000, 20, "1"),
    (1000, 100, "1"),
)
SHARES = (0.1, 0.2, 0.3, 0.4, 0.55)
RECORDS = (1.0, 1.25, 1.5, 1.75, 2.1)
"""Of the equal letters, over ``1 / (e^epsilon - 1)``."""

_CELLS = 60_000


def limit(n: int, k: int, epsilon: float) -> float:
    """Return what no private sampler can beat: docs/proofs/balanced.md."""
    best = 0.0
    for j in {*range(1, min(k, 40)), *(k * i // 60 for i in range(1, 60))} - {0}:
        for i in range(1, 400):
            u = i / 400 / j
            power = n * log1p(u * expm1(epsilon))
            if j < k and power < 300:
                best = max(best, j * u / (1 + j / (k - j) * exp(power)))
    return best


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


def main() -> None:
    """Print the table."""
    print(f"{'n':>7} {'k':>5} {'eps':>4}    limit  proven   found  ls-roo")
    for n, k, epsilon in SETTINGS:
        least = limit(n, k, float(epsilon))
        sampler = mechanism("bal-roo", n=n, k=k, epsilon=epsilon)
        plain = mechanism("ls-roo", n=n, k=k, epsilon=epsilon)
        ratios = (
            float(sampler.worst_alpha) / least,  # type: ignore[union-attr]
            found(sampler) / least,  # type: ignore[arg-type]
            float(plain.worst_alpha) / least,  # type: ignore[union-attr]
        )
        print(
            f"{n:>7} {k:>5} {epsilon:>4}  {least:.5f}", *(f"{r:>7.3f}" for r in ratios), flush=True
        )


if __name__ == "__main__":
    main()
