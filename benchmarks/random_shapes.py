"""Random shapes: 500 distributions drawn from six kinds, BAL-ROO against the best peer of each.

k is from 5 to 1200, epsilon from 0.05 to 3, n epsilon / k from 1 to 100, all log-uniform. No
constant of any sampler was chosen by them. Prints a summary and writes
``benchmarks/random_shapes.json``. Run it with ``python benchmarks/random_shapes.py [seed]``;
another seed is another 500.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from fractions import Fraction
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
from measuring import ratio_to_best, summarise

from dproo import accuracy
from dproo.study.comparison import contenders
from dproo.study.distributions import Distribution

CASES = 500
KINDS = ("zipf", "dirichlet", "geometric", "few letters", "two levels", "mixture")
SAMPLER = "bal-roo"
LEFT_OUT = ("ls-roo", "exponential")
_CELLS, _FEWEST, _MOST = 200_000, 400, 10_000

Array = Any


@dataclass(frozen=True)
class Case:
    """Records of ``n`` people over ``k`` letters of a random shape."""

    n: int
    k: int
    epsilon: str
    kind: str
    weights: tuple[float, ...]

    def measure(self) -> dict[str, Any]:
        """Return the accuracy of BAL-ROO and of every peer."""
        shares = [Fraction(weight) for weight in self.weights]
        p = Distribution.of(share / sum(shares) for share in shares)
        trials = min(max(_CELLS // self.k, _FEWEST), _MOST)
        samplers = contenders(n=self.n, k=self.k, epsilon=self.epsilon)
        alphas = {
            name: accuracy(sampler, p, trials=trials).alpha
            for name, sampler in samplers.items()
            if name not in LEFT_OUT
        }
        found = {"n": self.n, "k": self.k, "epsilon": self.epsilon, "kind": self.kind}
        found["ratio"] = round(ratio_to_best(alphas, SAMPLER), 4)
        return found | {name: round(alpha, 6) for name, alpha in alphas.items()}


def shape(kind: str, k: int, generator: np.random.Generator) -> Array:
    """Return the weights of a random shape."""
    ranks = np.arange(1, k + 1)
    if kind == "zipf":
        return ranks ** -generator.uniform(0.3, 2.5)
    if kind == "dirichlet":
        return generator.dirichlet(np.full(k, exp(generator.uniform(log(0.03), log(10))))) + 1e-9
    if kind == "geometric":
        return np.maximum(exp(-exp(generator.uniform(log(2 / k), 0))) ** ranks, 1e-12)
    if kind == "few letters":
        letters = generator.integers(1, max(2, k // 3))
        return np.where(ranks <= letters, 1.0, 0.0)
    if kind == "two levels":
        share, mass = generator.uniform(0.05, 0.6), generator.uniform(0.1, 0.95)
        letters = max(1, int(share * k))
        return np.where(ranks <= letters, mass / letters, (1 - mass) / (k - letters))
    first, second = (shape(part, k, generator) for part in generator.choice(KINDS[:5], 2))
    share = generator.uniform(0.1, 0.9)
    return share * first / first.sum() + (1 - share) * generator.permutation(second / second.sum())


def cases(seed: int) -> Iterator[Case]:
    """Yield all cases of a seed."""
    generator = np.random.default_rng(seed)
    for i in range(CASES):
        k = round(exp(generator.uniform(log(5), log(1200))))
        epsilon = float(f"{exp(generator.uniform(log(0.05), log(3))):.2g}")
        n = max(20, round(exp(generator.uniform(0, log(100))) * k / epsilon))
        kind = KINDS[i % len(KINDS)]
        weights = shape(kind, k, generator)
        yield Case(n, k, str(epsilon), kind, tuple(np.round(weights / weights.sum(), 12).tolist()))


def main(seed: int) -> None:
    """Measure all cases on two processes, and write after each what is known so far."""
    start, measured = time.monotonic(), []
    with ProcessPoolExecutor(2) as pool:
        for case in pool.map(Case.measure, cases(seed)):
            measured.append(case)
            ratios = [case["ratio"] for case in measured]
            summary = asdict(summarise(ratios)) | {
                "lost by more than 5 %": sum(ratio > 1.05 for ratio in ratios),
                "lost by more than 50 %": sum(ratio > 1.5 for ratio in ratios),
            }
            write(seed, summary, measured)
    print(summary)
    for case in sorted(measured, key=lambda case: -case["ratio"])[:12]:
        print(case)
    print(f"{len(measured)} cases in {time.monotonic() - start:.0f} s")


def write(seed: int, summary: dict[str, Any], measured: list[dict[str, Any]]) -> None:
    """Write the summary and a line for every case."""
    head = json.dumps({"seed": seed, "summary": summary}, indent=1).removesuffix("\n}")
    lines = ",\n".join(f"  {json.dumps(case)}" for case in measured)
    text = f'{head},\n "cases": [\n{lines}\n ]\n}}\n'
    Path(__file__).with_suffix(".json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
