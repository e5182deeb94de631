"""``dproo plan --alphabet open``: from which count on a value can appear."""

from __future__ import annotations

from typing import Any

from dproo.analysis.planner import OpenPlan, plan_open
from dproo.cli.output import echo, print_json
from dproo.core.checks import one_of
from dproo.core.numbers import decimal_text
from dproo.report import number


def print_open_plan(
    alphabet: str, *, as_json: bool, k: object, alpha: object, epsilon: str | None, **known: Any
) -> None:
    """Print the plan of an open alphabet in three sentences, or as JSON."""
    one_of("alphabet", alphabet, ["open"])
    if epsilon is None or k is not None or alpha is not None:
        raise ValueError("--alphabet open requires --epsilon and --delta, and no --k or --alpha.")
    answer = plan_open(epsilon=epsilon, **known)
    if as_json:
        print_json(_object(answer))
        return
    echo(f"A value that fewer than {answer.first:,} records have never appears.")
    echo(f"From {answer.likely:,} records on it has at least half of its share,")
    echo(f"from {answer.proportional:,} on all of it.")
    if answer.obscured is not None:
        echo(f"The probability of 'other' is at least {float(answer.obscured):.2g}.")


def _object(answer: OpenPlan) -> dict[str, Any]:
    return {
        "n": answer.n,
        "epsilon": number(answer.epsilon),
        "delta": decimal_text(answer.delta),
        "first": answer.first,
        "likely": answer.likely,
        "proportional": answer.proportional,
        "obscured": number(answer.obscured),
    }
