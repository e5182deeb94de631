"""The paper's figures, drawn again from exact numbers, and ours beside them.

Every figure is a list of rows, written as CSV, and a drawing of those rows.

Reference: Tasnim et al. (2025), Figures 1 to 3. The paper does not say which distribution
its Figures 2 and 3 use; binomial(8, 1/2) fits its description, and is our assumption.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from dproo.analysis.accuracy import accuracy
from dproo.analysis.distributions import Distribution, shape
from dproo.analysis.planner import plan
from dproo.figures.plotting import (
    ALPHA,
    EPSILONS,
    GRID,
    LEAK,
    SPARSE,
    STYLE,
    SUPPORTS,
    K,
    N,
    Row,
    draw_accuracy,
    draw_obscuring,
    draw_output,
    draw_records,
    draw_sparse,
)
from dproo.mechanisms import DataSpecificRevealOrObscure, Mechanism, mechanism
from dproo.mechanisms.baselines import CLIP, EUCLIDEAN, Baseline, LaplaceSampler

TRIALS = 100_000
SEED = 0
"""Of what is simulated, so that a figure drawn again is the same figure."""


_UNDATED: dict[str, dict[str, None]] = {
    "pdf": {"CreationDate": None},
    "png": {},
    "svg": {"Date": None},
}


@dataclass(frozen=True)
class Plot:
    """One figure: its name, its rows and its drawing."""

    name: str
    rows: Callable[[int], Sequence[Row]]
    draw: Callable[[Sequence[Row]], Figure]


def write_all(out: str | Path, *, trials: int = TRIALS) -> Iterator[Path]:
    """Write every figure as PDF, PNG and SVG and its numbers as CSV; yield the paths."""
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    for plot in PLOTS:
        rows = plot.rows(trials)
        path = folder / f"{plot.name}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        yield path
        with mpl.rc_context(STYLE):  # type: ignore[arg-type]
            figure = plot.draw(rows)
            for suffix, undated in _UNDATED.items():
                path = folder / f"{plot.name}.{suffix}"
                figure.savefig(path, metadata=undated, bbox_inches="tight")
                yield path


def obscuring_rows(trials: int = 0) -> list[Row]:  # noqa: ARG001 - nothing is simulated
    """Return ``q_m`` against ``m``, as printed and as private: Figure 1."""
    rows: list[Row] = []
    for epsilon, n, k in [*((epsilon, N, K) for epsilon in EPSILONS), LEAK]:
        printed, private = (
            DataSpecificRevealOrObscure(epsilon=Fraction(epsilon), n=n, k=k, as_printed=is_printed)
            for is_printed in (True, False)
        )
        rows += [
            {
                "epsilon": epsilon,
                "n": n,
                "k": k,
                "m": m,
                "printed": float(printed.q(m)),
                "private": float(private.q(m)),
            }
            for m in range(n // k + 1)
        ]
    return rows


def output_rows(trials: int = 0) -> list[Row]:  # noqa: ARG001 - nothing is simulated
    """Return the true and the output distributions, exactly: Figure 2."""
    p = shape("binomial", k=K)
    laws = {
        name: accuracy(mechanism(name, epsilon="0.1", n=N, k=K), p, method="exact").output
        for name in ("roo", "ds-roo", "ls-roo")
    }
    return [
        {"letter": y + 1, "true": float(share), **{name: law[y] for name, law in laws.items()}}
        for y, share in enumerate(p.shares)
    ]


def accuracy_rows(trials: int = TRIALS) -> list[Row]:
    """Return the accuracy against epsilon: Figure 3. Only Laplace is simulated."""
    p = shape("binomial", k=K)
    rows = []
    for epsilon in GRID:
        bound = plan(n=N, k=K, epsilon=epsilon, samplers=["roo"])
        row: Row = {
            "epsilon": epsilon,
            "laplace bound": float(2 * K / (N * Fraction(epsilon))),
            "roo bound": float(bound["roo"] or 0),
        }
        for name in ("roo", "ds-roo", "ls-roo"):
            sampler = mechanism(name, epsilon=epsilon, n=N, k=K)
            row[name] = accuracy(sampler, p, method="exact").alpha
        for projection in (CLIP, EUCLIDEAN):
            peer = LaplaceSampler(epsilon=Fraction(epsilon), n=N, k=K, projection=projection)
            found = accuracy(peer, p, trials=trials, seed=SEED)
            row |= {
                f"laplace {projection}": found.alpha,
                f"laplace {projection} low": found.low,
                f"laplace {projection} high": found.high,
            }
        rows.append(
            {name: value if name == "epsilon" else float(value) for name, value in row.items()}
        )
    return rows


def records_rows(trials: int = 0) -> list[Row]:  # noqa: ARG001 - nothing is simulated
    """Return the records needed in the worst case against epsilon: our Figure 4."""
    rows = []
    for epsilon in GRID:
        asked = ("subrr", "roo", "ls-roo")
        answer = plan(k=K, epsilon=epsilon, alpha=ALPHA, samplers=asked)
        needed = {name: answer[name] for name in asked}
        at = {"epsilon": Fraction(epsilon), "alpha": Fraction(ALPHA)}
        bound = LaplaceSampler.records_needed(k=K, **at)
        rows.append({"epsilon": epsilon, "laplace bound": bound, **needed})
    return rows


def sparse_rows(trials: int = TRIALS) -> list[Row]:
    """Return the accuracy on records that are uniform on some of the letters: our Figure 5."""
    epsilon, n, k = SPARSE
    samplers = {name: mechanism(name, epsilon=epsilon, n=n, k=k) for name in ("roo", "ls-roo")}
    simulated: dict[str, Mechanism | Baseline] = {
        "bal-roo": mechanism("bal-roo", epsilon=epsilon, n=n, k=k)
    }
    for projection in (CLIP, EUCLIDEAN):
        peer = LaplaceSampler(epsilon=Fraction(epsilon), n=n, k=k, projection=projection)
        simulated[f"laplace {projection}"] = peer
    rows = []
    for letters in SUPPORTS:
        p = Distribution.of([Fraction(1, letters)] * letters + [Fraction(0)] * (k - letters))
        row: Row = {"letters": letters}
        row |= {name: accuracy(sampler, p).alpha for name, sampler in samplers.items()}
        for name, sampler in simulated.items():
            found = accuracy(sampler, p, trials=max(40, trials // 10), seed=SEED)
            row |= {name: found.alpha, f"{name} low": found.low, f"{name} high": found.high}
        rows.append(row)
    return rows


PLOTS = (
    Plot("figure1_obscuring", obscuring_rows, draw_obscuring),
    Plot("figure2_output", output_rows, draw_output),
    Plot("figure3_accuracy", accuracy_rows, draw_accuracy),
    Plot("figure4_records", records_rows, draw_records),
    Plot("figure5_sparse", sparse_rows, draw_sparse),
)
"""The figures, in the paper's order, and ours."""
