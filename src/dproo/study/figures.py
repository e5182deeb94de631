"""The paper's figures, redrawn from exact numbers, and our own; plans and models too.

Every figure of the paper is a list of rows, written as CSV, and a drawing of those rows. All
figures have one style.

Reference: Tasnim et al. (2025), Figures 1 to 3. The paper does not state which distribution
its Figures 2 and 3 use; binomial(8, 1/2) fits its description, and is our assumption.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from dproo.analysis.planner import plan
from dproo.core.paths import folder_of, written
from dproo.mechanisms import DataSpecificRevealOrObscure, Mechanism, mechanism
from dproo.study.accuracy import accuracy
from dproo.study.baselines import CLIP, EUCLIDEAN, Baseline, LaplaceSampler
from dproo.study.distributions import Distribution, shape

K, N = 9, 1000
EPSILONS = ("0.005", "0.01", "0.05", "0.1", "0.5", "1")
LEAK = ("0.01", 100_000, 1000)
GRID = ("0.02", "0.03", "0.05", "0.07", "0.1", "0.15", "0.2", "0.3", "0.5", "0.7", "1", "1.5", "2")
ALPHA = "0.05"
SPARSE = ("0.1", 1000, 100)
SUPPORTS = (1, 2, 3, 5, 8, 13, 20, 32, 50, 70, 85, 99)

_VISIBLE = 0.005

Row = dict[str, Any]

# Okabe and Ito's palette: colours and markers are distinct to colour-blind readers.
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


_ANSWERS = {
    "alpha": "accuracy $\\alpha$ in the worst case (smaller is better)",
    "n": "records needed",
    "k": "letters at most",
}


def draw_plan(
    curve: Mapping[str, Any], *, at: tuple[float, float] | None, recommended: str | None
) -> Figure:
    """Draw every sampler's answer against epsilon, and the limit of all private samplers.

    The curve is as :func:`dproo.report.curve` returns it; ``at`` is the epsilon that was planned
    for, and the recommended sampler's answer.
    """
    figure = Figure(figsize=(7.5, 4.8), layout="constrained")
    axes = figure.subplots()
    for name, answers in curve["series"].items():
        colour, dash, marker, label = _LINES[name]
        is_best = name == recommended
        axes.plot(
            *_known(curve["epsilon"], answers),
            dash,
            color=colour,
            marker=marker,
            markersize=5,
            linewidth=3 if is_best else 1.8,
            label=f"{label.removesuffix(' (ours)')}, recommended" if is_best else label,
        )
    limit = _known(curve["epsilon"], curve["limit"])
    axes.plot(*limit, "--", color=_BLACK, label="limit of all private samplers")
    if at is not None:
        axes.plot(*at, "o", markersize=13, markerfacecolor="none", color=_BLACK, label="your plan")
    solved_for = curve["solved_for"]
    given = (f"{_GREEK.get(name, name)} = {value}" for name, value in curve["given"].items())
    axes.set_title(", ".join(given))
    axes.set(xlabel="privacy parameter ε", ylabel=_ANSWERS[solved_for], yscale="log", xscale="log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.legend()
    return figure


_GREEK = {"alpha": "$\\alpha$"}
_SMALLEST = 1e-6


def _known(places: Sequence[float], answers: Sequence[float | None]) -> tuple[list[Any], list[Any]]:
    """Return the points that a logarithmic axis can show."""
    points = [(x, y) for x, y in zip(places, answers, strict=True) if y and y > _SMALLEST]
    return [x for x, _ in points], [y for _, y in points]


def draw_columns(columns: Mapping[str, Sequence[Row]]) -> Figure:
    """Draw the counts of each column, as ``Model.counts`` gives them, with their intervals."""
    across = min(3, len(columns))
    down = -(-len(columns) // across)
    tallest = max(min(len(rows), _SHOWN + 1) for rows in columns.values())
    figure = Figure(figsize=(4.2 * across, down * (1.1 + 0.27 * tallest)), layout="constrained")
    grid = figure.subplots(down, across, squeeze=False)
    for place, axes in enumerate(grid.ravel()):
        axes.set_visible(place < len(columns))
    for axes, (name, rows) in zip(grid.ravel(), columns.items(), strict=False):
        _bars(axes, name, rows)
        axes.set_ylim(tallest - 0.5, -0.5)  # bars of one width, from the top
    figure.supxlabel("records; what was measured has its 95 % interval")
    return figure


_SHOWN = 12
_LONGEST = 24


def _bars(axes: Any, name: str, rows: Sequence[Row]) -> None:
    """Draw the values of a column from top to bottom; of many only the most frequent."""
    most = len(rows) if len(rows) <= _SHOWN + 1 else _SHOWN
    kept = sorted(range(len(rows)), key=lambda place: -rows[place]["count"])[:most]
    shown = [rows[place] for place in sorted(kept)]
    labels = [_short(next(iter(row.values()))) for row in shown]
    counts = _column(shown, "count")
    places = list(range(len(shown)))
    axes.barh(places, counts, color=_SKY)
    if shown[0]["low"] is not None:
        ends = [
            [max(0, row["count"] - row["low"]) for row in shown],
            [max(0, row["high"] - row["count"]) for row in shown],
        ]
        axes.errorbar(counts, places, xerr=ends, fmt="none", ecolor=_BLACK, capsize=2, linewidth=1)
    if len(rows) > len(shown):
        rest = sum(_column(rows, "count")) - sum(counts)
        axes.barh(len(shown), rest, color="#BBBBBB")
        labels.append(f"{len(rows) - len(shown):,} more")
    axes.set_yticks(range(len(labels)), labels=[text.replace("$", r"\$") for text in labels])
    axes.grid(visible=False, axis="y")
    axes.set_title(_short(name).replace("$", r"\$"))
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.xaxis.set_major_formatter("{x:,.0f}")


def _short(name: object) -> str:
    text = str(name)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


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


TRIALS = 100_000
SEED = 0
"""The seed of simulations, so that a figure can be reproduced."""


_UNDATED: dict[str, dict[str, None]] = {
    "pdf": {"CreationDate": None},
    "png": {},
    "svg": {"Date": None},
}


ENDINGS = tuple(f".{name}" for name in _UNDATED)
"""How the names of pictures end."""


def write_all(out: str | Path, *, trials: int = TRIALS) -> Iterator[Path]:
    """Write every figure as PDF, PNG and SVG and its numbers as CSV; yield the paths."""
    folder = folder_of("out", out)
    for name, (rows_of, draw) in PLOTS.items():
        rows = rows_of(trials)
        path = folder / f"{name}.csv"
        with written(path) as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        yield path
        for suffix in ENDINGS:
            path = folder / f"{name}{suffix}"
            write(path, lambda: draw(rows))  # noqa: B023 - called at once
            yield path


def write(path: Path, draw: Callable[[], Figure]) -> None:
    """Write what a function draws, as the ending of the path says, in our style."""
    with mpl.rc_context(STYLE):
        kind, drawn = path.suffix[1:], draw()
        with written(path, "wb") as file:
            drawn.savefig(file, format=kind, metadata=_UNDATED[kind], bbox_inches="tight")


def obscuring_rows() -> list[Row]:
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


def output_rows() -> list[Row]:
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


def records_rows() -> list[Row]:
    """Return the records needed in the worst case against epsilon: our Figure 4."""
    rows = []
    for epsilon in GRID:
        names = ("subrr", "roo", "ls-roo")
        answer = plan(k=K, epsilon=epsilon, alpha=ALPHA, samplers=names)
        needed = {name: answer[name] for name in names}
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


PLOTS: dict[str, tuple[Callable[[int], Sequence[Row]], Callable[[Sequence[Row]], Figure]]] = {
    "figure1_obscuring": (lambda _: obscuring_rows(), draw_obscuring),
    "figure2_output": (lambda _: output_rows(), draw_output),
    "figure3_accuracy": (accuracy_rows, draw_accuracy),
    "figure4_records": (lambda _: records_rows(), draw_records),
    "figure5_sparse": (sparse_rows, draw_sparse),
}
"""The rows of each figure, by the number of simulated datasets, and its drawing."""
