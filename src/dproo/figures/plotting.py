"""How each figure looks: drawings of rows of numbers, in one style."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

K, N = 9, 1000
EPSILONS = ("0.005", "0.01", "0.05", "0.1", "0.5", "1")
LEAK = ("0.01", 100_000, 1000)
GRID = ("0.02", "0.03", "0.05", "0.07", "0.1", "0.15", "0.2", "0.3", "0.5", "0.7", "1", "1.5", "2")
ALPHA = "0.05"
SPARSE = ("0.1", 1000, 100)
SUPPORTS = (1, 2, 3, 5, 8, 13, 20, 32, 50, 70, 85, 99)

_VISIBLE = 0.005

Row = dict[str, Any]

# Okabe and Ito's palette: distinct to colour-blind readers, and so are the markers.
_BLACK, _ORANGE, _SKY, _GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
_BLUE, _RED, _PINK = "#0072B2", "#D55E00", "#CC79A7"
STYLE = {
    "font.size": 11,
    "axes.titlesize": 12,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1.8,
    "legend.frameon": False,
    "savefig.dpi": 150,
    "svg.hashsalt": "dproo",
}
_LINES = {
    "laplace bound": (_BLACK, "--", "s", "Laplace, proven bound"),
    "laplace clip": (_BLACK, ":", "v", "Laplace, clip and rescale"),
    "laplace euclidean": (_ORANGE, "-.", "^", "Laplace, Euclidean"),
    "subrr": (_PINK, ":", "D", "SubRR"),
    "roo bound": (_SKY, "--", "o", "ROO, worst case"),
    "roo": (_SKY, "-", "o", "ROO"),
    "true": (_BLACK, "-", "", "true distribution"),
    "ds-roo": (_RED, "-", "x", "DS-ROO"),
    "ls-roo": (_BLUE, "-", "*", "LS-ROO (ours)"),
    "bal-roo": (_GREEN, "-", "P", "BAL-ROO (ours)"),
}


def draw_obscuring(rows: Sequence[Row]) -> Figure:
    """Draw the obscuring probability: the paper's Figure 1, and where it leaks."""
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    colours = (_PINK, _BLUE, _SKY, _GREEN, _ORANGE, _RED)
    for i, (epsilon, colour) in enumerate(zip(EPSILONS, colours, strict=True)):
        line = [row for row in rows if row["epsilon"] == epsilon and row["k"] == K]
        style = {"color": colour, "linestyle": ("-", "--", "-.")[i % 3]}
        left.plot(_column(line, "m"), _column(line, "printed"), **style, label=f"ε = {epsilon}")
        raised = [row for row in line if row["private"] - row["printed"] > _VISIBLE]
        if raised:
            left.plot(
                _column(raised, "m"),
                _column(raised, "private"),
                "o",
                color=colour,
                markerfacecolor="none",
                label=f"the private $q_m$ where it is higher (ε = {epsilon})",
            )
    leak = [row for row in rows if row["k"] != K]
    m = _column(leak, "m")
    right.plot(m, _column(leak, "printed"), "--", color=_RED, label="as printed, not private")
    right.plot(m, _column(leak, "private"), color=_BLUE, label="the smallest private table")
    epsilon, n, k = LEAK
    left.set_title(f"Figure 1 of the paper: k = {K}, n = {N}")
    right.set_title(f"Where it leaks: k = {k}, n = {n:,}, ε = {epsilon}")
    for axes in (left, right):
        axes.set(xlabel="count m of the rarest letter", ylabel="obscuring probability $q_m$")
        axes.set_ylim(bottom=0)
    left.set_ylim(0, 1)
    left.legend(ncols=2, loc="upper right", fontsize=10)
    right.legend(loc="lower left")
    return figure


def draw_output(rows: Sequence[Row]) -> Figure:
    """Draw the true and the output distributions: the paper's Figure 2, and the differences."""
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    letters = _column(rows, "letter")
    for axes, names in ((left, ("true", "ds-roo", "ls-roo")), (right, ("roo", "ds-roo", "ls-roo"))):
        for i, name in enumerate(names):
            values = _column(rows, name)
            if axes is right:
                values = [value - row["true"] for value, row in zip(values, rows, strict=True)]
            colour, _, _, label = _LINES[name]
            places = [letter + (i - 1) * 0.27 for letter in letters]
            axes.bar(places, values, 0.25, color=colour, label=label)
        axes.set(xlabel="letter", xticks=letters)
        axes.grid(visible=False, axis="x")
    right.axhline(0, color=_BLACK, linewidth=0.8)
    left.set_title(f"Figure 2 of the paper: P binomial(8, ½), n = {N}, ε = 0.1")
    right.set_title("What the samplers change")
    left.set_ylabel("probability")
    right.set_ylabel("output minus true probability")
    left.legend(loc="upper left")
    right.legend(loc="lower left")
    return figure


def draw_accuracy(rows: Sequence[Row]) -> Figure:
    """Draw the accuracy against epsilon: the paper's Figure 3, and all samplers on one P."""
    figure = Figure(figsize=(11, 5), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    _lines(left, rows, ("laplace bound", "roo bound", "ds-roo"))
    _lines(right, rows, ("laplace clip", "laplace euclidean", "roo", "ds-roo", "ls-roo"))
    left.set_title("Figure 3 of the paper: bounds, and DS-ROO")
    right.set_title("All samplers on the same P, binomial(8, ½)")
    for axes in (left, right):
        axes.set(xlabel="privacy parameter ε", yscale="log")
        axes.set_ylim(3e-6, 1)
    left.set_ylabel("accuracy $\\alpha$ (smaller is better)")
    return figure


def draw_records(rows: Sequence[Row]) -> Figure:
    """Draw the records needed in the worst case."""
    figure = Figure(figsize=(6.5, 4.8), layout="constrained")
    axes = figure.subplots()
    _lines(axes, rows, ("laplace bound", "subrr", "roo", "ls-roo"))
    axes.lines[2].set_label("ROO and DS-ROO")
    axes.legend()
    axes.set_title(f"Records needed for $\\alpha$ = {ALPHA} in the worst case, k = {K}")
    axes.set(xlabel="privacy parameter ε", ylabel="number of records n", yscale="log")
    return figure


def draw_sparse(rows: Sequence[Row]) -> Figure:
    """Draw the accuracy against the number of letters that occur."""
    figure = Figure(figsize=(7.5, 4.8), layout="constrained")
    axes = figure.subplots()
    names = ("laplace clip", "laplace euclidean", "roo", "ls-roo", "bal-roo")
    _lines(axes, rows, names, x="letters", ticks=(1, 2, 5, 10, 20, 50, 100))
    epsilon, n, k = SPARSE
    axes.set_title(f"Records uniform on some of k = {k} letters, n = {n}, ε = {epsilon}")
    axes.set(xlabel="letters that occur", yscale="log", ylim=(3e-3, 1))
    axes.set_ylabel("accuracy $\\alpha$ (smaller is better)")
    return figure


def _lines(
    axes: Any,
    rows: Sequence[Row],
    names: Sequence[str],
    *,
    x: str = "epsilon",
    ticks: Sequence[float] = (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2),
) -> None:
    places = [float(row[x]) for row in rows]
    for name in names:
        colour, dash, marker, label = _LINES[name]
        values = _column(rows, name)
        axes.plot(places, values, dash, color=colour, marker=marker, markersize=5, label=label)
        if f"{name} low" in rows[0]:
            low, high = (_column(rows, f"{name} {end}") for end in ("low", "high"))
            axes.fill_between(places, low, high, color=colour, alpha=0.2, linewidth=0)
    axes.set_xscale("log")
    axes.set_xticks(ticks, labels=[f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.legend()


def _column(rows: Sequence[Row], name: str) -> list[Any]:
    return [row[name] for row in rows]
