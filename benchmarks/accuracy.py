"""The accuracy suite: 7 settings times 9 distributions, every sampler, with intervals.

Prints a table, writes ``benchmarks/accuracy.json``, and gives for each of our samplers the
geometric mean of its accuracy over that of the best peer of the case, the number of cases
won and tied, and the worst ratio; with the exponential mechanism among the peers and without.
Run it with ``python benchmarks/accuracy.py``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any

from measuring import FLOOR, OURS, ratio_to_best, summarise

from dproo.study.comparison import compare
from dproo.study.distributions import SUITE, Distribution, shape

SETTINGS = (
    (10, 100, "1"),
    (10, 1000, "0.1"),
    (100, 1000, "1"),
    (100, 1000, "0.1"),
    (100, 10000, "0.1"),
    (1000, 10000, "1"),
    (1000, 10000, "0.2"),
)
PEERS: dict[str, tuple[str, ...]] = {"all peers": (), "all but exponential": ("exponential",)}
"""The sets of peers to compare with, by whom they leave out."""

DIGITS = 7


@dataclass(frozen=True)
class Case:
    """Records of ``n`` people over ``k`` letters whose probabilities go as ``weights``."""

    k: int
    n: int
    epsilon: str
    p: str
    weights: tuple[int | Fraction, ...]

    def measure(self) -> dict[str, Any]:
        """Return the accuracy of every sampler."""
        total = sum(self.weights)
        p = Distribution.of(Fraction(weight) / total for weight in self.weights)
        found = compare(n=self.n, k=self.k, epsilon=self.epsilon, p=p)
        alphas = {name: a.alpha for name, a in found.items()}
        return {
            "k": self.k,
            "n": self.n,
            "epsilon": self.epsilon,
            "p": self.p,
            "ratios": {
                f"{ours}, {peers}": round(ratio_to_best(alphas, ours, without=without), DIGITS)
                for ours in OURS
                if ours in alphas
                for peers, without in PEERS.items()
            },
            "samplers": {
                name: {
                    "alpha": round(a.alpha, DIGITS),
                    "low": round(a.low, DIGITS),
                    "high": round(a.high, DIGITS),
                    "method": a.method,
                }
                for name, a in found.items()
            },
        }


def run(cases: Sequence[Case], result: Path, **more: object) -> None:
    """Measure all cases on two processes, print them and write them, and more, to ``result``."""
    start = time.monotonic()
    with ProcessPoolExecutor(2) as pool:
        measured = list(pool.map(Case.measure, cases))
    summaries = {
        name: asdict(summarise(case["ratios"][name] for case in measured))
        for name in measured[0]["ratios"]
    }
    show(measured, summaries)
    print(f"{len(measured)} cases in {time.monotonic() - start:.0f} s")
    head = {
        "schema_version": 2,
        "software": f"dproo {version('dproo')}",
        "floor": FLOOR,
        "summary": summaries,
    }
    lines = ",\n".join(f"  {json.dumps(case)}" for case in measured)
    text = json.dumps(head, indent=1).removesuffix("\n}") + f',\n "cases": [\n{lines}\n ]'
    for name, value in more.items():
        text += f",\n {json.dumps(name)}: {json.dumps(value)}"
    result.write_text(text + "\n}\n", encoding="utf-8")


def show(measured: list[dict[str, Any]], summaries: dict[str, dict[str, Any]]) -> None:
    """Print the table, with the best sampler of each case starred."""
    names = sorted(measured[0]["samplers"])
    print(f"{'k':>5} {'n':>6} {'eps':>4} {'p':<20}", *(f"{name:>18}" for name in names))
    for case in measured:
        alphas = {name: case["samplers"][name]["alpha"] for name in names}
        best = min(alphas, key=lambda name: alphas[name])
        cells = (f"{alphas[name]:>17.5f}{'*' if name == best else ' '}" for name in names)
        print(f"{case['k']:>5} {case['n']:>6} {case['epsilon']:>4} {case['p']:<20}", *cells)
    for against, summary in summaries.items():
        print(
            f"{against}: geometric mean {summary['geometric_mean']:.3f}, "
            f"won {summary['won']}, tied {summary['tied']}, worst {summary['worst']:.3g}"
        )


if __name__ == "__main__":
    run(
        [
            Case(k, n, epsilon, name, shape(name, k=k).shares)
            for k, n, epsilon in SETTINGS
            for name in SUITE
        ],
        Path(__file__).with_suffix(".json"),
        dirichlet_vectors={
            str(k): {p: [round(float(x), 12) for x in shape(p, k=k).shares] for p in SUITE[-2:]}
            for k in sorted({k for k, _, _ in SETTINGS})
        },
    )
