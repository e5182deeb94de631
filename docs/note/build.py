"""Builds the note: plots its figures, then compiles it to docs/_build/note/note.pdf."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib as mpl
import typst
from matplotlib.figure import Figure

from dproo import mechanism
from dproo.study.figures import STYLE

ROOT = Path(__file__).parents[2]
BUILT = ROOT / "docs" / "_build" / "note"
SOURCE = Path(__file__).with_name("note.typ")

# Okabe and Ito's palette, as in the other figures.
LINES = {
    "roo": ("#56B4E9", "--", "ROO"),
    "ls-roo": ("#0072B2", ":", "LS-ROO"),
    "bal-roo": ("#D55E00", "-", "BAL-ROO"),
}
WEIGHTS = {"n": 100_000, "k": 1000, "epsilon": "0.1"}
SMALL = {"font.size": 9, "axes.titlesize": 9, "lines.linewidth": 1.5, "font.family": "serif"}
SMALL |= {"legend.frameon": True, "legend.framealpha": 1, "legend.edgecolor": "none"}


def plot_worst_case() -> Figure:
    """Plot the worst cases over the limits, against the number of letters."""
    rows = json.loads((ROOT / "benchmarks" / "worst_case.json").read_text(encoding="utf-8"))
    figure = Figure(figsize=(6.4, 2.5), layout="constrained")
    for axes, epsilon in zip(figure.subplots(1, 2, sharey=True), ("0.1", "1"), strict=True):
        line = [row for row in rows["curves"] if row["epsilon"] == epsilon]
        for name, (colour, style, label) in LINES.items():
            times = [row[name] / row["datasets"] for row in line]
            letters = [row["k"] for row in line]
            axes.plot(letters, times, style, color=colour, label=label)
        mean = [row["mean"] / row["limit"] for row in line]
        axes.plot(letters, mean, "-", color="#CC79A7", label="BAL-ROO, mean")
        axes.axhline(1, color="black", linewidth=0.8)
        axes.set(xscale="log", yscale="log", xlabel="letters k", title=f"ε = {epsilon}")
        axes.set_yticks([1, 1.5, 2, 3, 4, 6], ["1", "1.5", "2", "3", "4", "6"])
        axes.set_ylim(0.95, 7)
        axes.minorticks_off()
    figure.axes[0].set_ylabel("times the limit")
    figure.axes[1].legend(loc="upper center", ncols=2, fontsize=8)
    return figure


def plot_weights() -> Figure:
    """Plot the weight of a letter by its count, in units of 1/epsilon."""
    plain, table = mechanism("ls-roo", **WEIGHTS), mechanism("bal-roo", **WEIGHTS).table
    counts = range(46)
    unit = 1 / float(WEIGHTS["epsilon"])
    figure = Figure(figsize=(4.2, 2.4), layout="constrained")
    axes = figure.subplots()
    axes.plot([c / unit for c in counts], [c / unit for c in counts], color="black", linewidth=0.7)
    lifted = [plain.table(c) / plain.table.slope / unit for c in counts]
    axes.plot([c / unit for c in counts], lifted, ":", color="#0072B2", label="LS-ROO")
    for level, style, label in (
        (table.high * 2 // 3, "-", "BAL-ROO, high level"),
        (table.high // 6, "--", "BAL-ROO, low level"),
    ):
        weights = [table(c, level) / table.unit / unit for c in counts]
        axes.plot([c / unit for c in counts], weights, style, color="#D55E00", label=label)
    axes.set(xlabel="records c·ε", ylabel="weight·ε", xlim=(0, 4.5), ylim=(0, 4.5))
    axes.legend(loc="upper left", fontsize=8)
    return figure


def plot_tables() -> Figure:
    """Plot the printed and the private table of DS-ROO, where the printed one leaks."""
    figure = Figure(figsize=(4.2, 2.1), layout="constrained")
    axes = figure.subplots()
    counts = range(60, 100)
    for as_printed, style, label in ((True, "--", "as printed"), (False, "-", "private")):
        table = mechanism("ds-roo", n=100_000, k=1000, epsilon="0.01", as_printed=as_printed)
        colour = LINES["roo" if as_printed else "bal-roo"][0]
        axes.plot(counts, [float(table.q(m)) for m in counts], style, color=colour, label=label)
    axes.set(xlabel="smallest count m", ylabel="$q_m$", ylim=(0, None))
    axes.legend(fontsize=8)
    return figure


def plot_range() -> Figure:
    """Plot the smallest proven worst case over the limit, against epsilon."""
    rows = json.loads((ROOT / "benchmarks" / "worst_case.json").read_text(encoding="utf-8"))
    figure = Figure(figsize=(4.2, 2.2), layout="constrained")
    axes = figure.subplots()
    for k, colour, style in ((3, "#0072B2", ":"), (9, "#56B4E9", "--"), (100, "#D55E00", "-")):
        line = [row for row in rows["range"] if row["k"] == k]
        best = [min(row["ls-roo"], row["mean"]) / row["limit"] for row in line]
        epsilons = [float(row["epsilon"]) for row in line]
        axes.plot(epsilons, best, style, color=colour, label=f"k = {k}")
    axes.set(xscale="log", xlabel="ε", ylabel="times the limit", ylim=(0.9, None))
    axes.set_xticks([0.1, 0.2, 0.5, 1, 2, 4], ["0.1", "0.2", "0.5", "1", "2", "4"])
    axes.minorticks_off()
    axes.axhline(1, color="black", linewidth=0.8)
    axes.legend(fontsize=8)
    return figure


def build(**options: Any) -> Any:
    """Plot the figures and compile the note; what Typst warns of is an error."""
    BUILT.mkdir(parents=True, exist_ok=True)
    plots = {
        "range": plot_range,
        "tables": plot_tables,
        "weights": plot_weights,
        "worst_case": plot_worst_case,
    }
    with mpl.rc_context({**STYLE, **SMALL}):
        for name, plot in plots.items():
            plot().savefig(BUILT / f"{name}.svg", metadata={"Date": None})
    found, warnings = typst.compile_with_warnings(SOURCE, root=ROOT, **options)
    if warnings:
        raise ValueError("; ".join(str(warning) for warning in warnings))
    return found


if __name__ == "__main__":
    build(output=BUILT / "note.pdf")
    print(f"The note is {(BUILT / 'note.pdf').relative_to(ROOT)}.")
