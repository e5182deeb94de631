"""The accuracy suite: 7 settings times 9 distributions, every sampler, with intervals.

Prints a table, writes ``benchmarks/accuracy.json``, and gives three figures: the geometric
mean of our default's accuracy over that of the best other sampler of the case, the number of
cases won, and the worst ratio. Run it with ``python benchmarks/accuracy.py``.
"""

from __future__ import annotations

import json
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dproo.comparison import DEFAULT, FLOOR, compare, ratio_to_best, summarise
from dproo.distributions import SHAPES, SUITE, shape

SETTINGS = (
    (10, 100, "1"),
    (10, 1000, "0.1"),
    (100, 1000, "1"),
    (100, 1000, "0.1"),
    (100, 10000, "0.1"),
    (1000, 10000, "1"),
    (1000, 10000, "0.2"),
)
RESULT = Path(__file__).with_suffix(".json")
SELECTOR = "exponential"
DIGITS = 7
DRAWN = ("dirichlet", "dirichlet-0.1")


def case(setting: tuple[int, int, str], p: str) -> dict[str, Any]:
    """Return the accuracies of every sampler in one case."""
    k, n, epsilon = setting
    found = compare(n=n, k=k, epsilon=epsilon, p=shape(p, k=k))
    alphas = {name: a.alpha for name, a in found.items()}
    return {
        "k": k,
        "n": n,
        "epsilon": epsilon,
        "p": p,
        "ratio": round(ratio_to_best(alphas), DIGITS),
        "ratio_without_selector": round(ratio_to_best(alphas, without=[SELECTOR]), DIGITS),
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


def main() -> None:
    """Run all cases on two processes."""
    start = time.monotonic()
    with ProcessPoolExecutor(2) as pool:
        jobs = [pool.submit(case, setting, p) for setting in SETTINGS[::-1] for p in SUITE]
        cases = [job.result() for job in jobs]
    order = {f"{k} {n} {epsilon}": i for i, (k, n, epsilon) in enumerate(SETTINGS)}
    cases.sort(key=lambda c: order[f"{c['k']} {c['n']} {c['epsilon']}"])
    summaries = {
        "all peers": asdict(summarise(c["ratio"] for c in cases)),
        f"without {SELECTOR}": asdict(summarise(c["ratio_without_selector"] for c in cases)),
    }
    show(cases, summaries)
    print(f"{len(cases)} cases in {time.monotonic() - start:.0f} s")
    published = {
        str(k): {
            name: [round(float(x), 12) for x in shape(name, k=k).shares] for name in SUITE[-2:]
        }
        for k in sorted({k for k, _, _ in SETTINGS})
    }
    fields = {
        "schema_version": 1,
        "software": f"dproo {version('dproo')}",
        "default": DEFAULT,
        "floor": FLOOR,
        "shapes": {name: SHAPES[name][1] for name in SUITE},
        "summary": summaries,
        "cases": cases,
        "dirichlet_vectors": published,
    }
    RESULT.write_text(lines_of(fields), encoding="utf-8")


def lines_of(fields: dict[str, Any]) -> str:
    """Return ``fields`` as JSON with one line for every case and every vector."""
    marked = json.dumps(fields, indent=1)
    for value in [
        *fields["cases"],
        *(v for k in fields["dirichlet_vectors"].values() for v in k.values()),
    ]:
        depth = 2 if isinstance(value, dict) else 3
        block = json.dumps(value, indent=1).replace("\n", "\n" + " " * depth)
        marked = marked.replace(block, json.dumps(value))
    return marked + "\n"


def show(cases: list[dict[str, Any]], summaries: dict[str, dict[str, Any]]) -> None:
    """Print the table, with the best sampler of each case starred."""
    names = sorted(cases[0]["samplers"])
    print(f"{'k':>5} {'n':>6} {'eps':>4} {'p':<14}", *(f"{name:>18}" for name in names), "ratio")
    for c in cases:
        best = min(names, key=lambda name: c["samplers"][name]["alpha"])
        cells = (
            f"{c['samplers'][name]['alpha']:>17.5f}{'*' if name == best else ' '}" for name in names
        )
        print(
            f"{c['k']:>5} {c['n']:>6} {c['epsilon']:>4} {c['p']:<14}", *cells, f"{c['ratio']:.3g}"
        )
    for against, summary in summaries.items():
        print(
            f"{DEFAULT} against the best of {against}: geometric mean "
            f"{summary['geometric_mean']:.3f}, won {summary['won']}, tied {summary['tied']}, "
            f"worst {summary['worst']:.3g}"
        )


if __name__ == "__main__":
    main()
