"""``dproo plan --codebook``: what a whole row costs, and how accurate it is."""

from __future__ import annotations

from typing import Any

from dproo.analysis.planner import plan
from dproo.analysis.row_plan import RowPlan
from dproo.cli.output import echo, print_json
from dproo.report import row_plan_object


def print_row_plan(codebook: str, *, as_json: bool, **known: Any) -> None:
    """Print the plan of a row as a table, or as JSON."""
    answer = plan(codebook=codebook, **known)
    if as_json:
        print_json(row_plan_object(answer))
        return
    width = max(len("column"), *(len(step.column) for step in answer.columns))
    echo(f"{'column':<{width}} {'letters':>8} {'cells':>12} {'epsilon':>9} {'alpha':>7}  parents")
    for step in answer.columns:
        echo(
            f"{step.column:<{width}} {step.k:>8,} {step.cells:>12,} {float(step.epsilon):>9.4f}"
            f" {float(step.alpha):>7.4f}  {', '.join(step.parents)}"
        )
    echo("")
    for line in _sentences(answer):
        echo(line)


def _sentences(answer: RowPlan) -> list[str]:
    if answer.network_epsilon:
        first = (
            f"The network is learned privately for epsilon {float(answer.network_epsilon):g};"
            " the parents shown are the largest there could be."
        )
    else:
        first = "The network is the one that the code book declares."
    if answer.alpha is None:
        second = (
            "No bound on the whole row is known: the parents of a column are not all in one"
            " earlier family."
        )
    else:
        share = f"{float(answer.alpha):.1%}"
        second = (
            f"At most {share} of rows differ from those of the network on {answer.n:,} records."
        )
    if answer.is_hopeless:
        second += " That is hopeless: use more records, more epsilon, or fewer letters and parents."
    if answer.parents is None:
        third = "Not even independent columns stay within 10 %."
    else:
        number_of = f"{answer.parents} parent{'' if answer.parents == 1 else 's'}"
        third = f"Within 10 %, each column can have {number_of}."
    return [first, second, third]
