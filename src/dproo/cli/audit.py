"""The command that audits a sampler: ``dproo audit``."""

from __future__ import annotations

import os
import sys
from decimal import ROUND_FLOOR, Decimal
from types import SimpleNamespace
from typing import Any

import click

from dproo.analysis.certificate import certify
from dproo.auditing.program import Command
from dproo.auditing.trials import DEPENDENT, NOT_REFUTED, SIDES, VIOLATED, Audit, audit, many
from dproo.cli.output import echo, is_terminal, json_option, neighbours_option, print_json
from dproo.core.checks import refusal
from dproo.core.numbers import decimal_text, rational
from dproo.mechanisms import REPLACE, SAMPLERS, mechanism
from dproo.report import VIOLATION

_SENTENCES = {
    VIOLATED: "is VIOLATED",
    NOT_REFUTED: "is not refuted (which proves nothing)",
    DEPENDENT: "cannot hold: the draws repeat each other, as from a seed, a cache or a counter;"
    " the bound is void",
}
_CONSTANT = (
    "Every draw gave the same letter: the sampler ignores its data, or its generator is seeded."
    " Audit two datasets that differ in many records, with --distance."
)
_SHOWN = 8


@click.command("audit")
@click.option("--sampler", help=f"A built-in sampler: {', '.join(SAMPLERS)}.")
@click.option("-n", "--n", type=int, help="Number of records, with --sampler; take few.")
@click.option("-k", "--k", type=int, help="Number of letters, with --sampler; take few.")
@click.option("--as-printed", is_flag=True, help="ds-roo with the paper's own table, for study.")
@click.option("--draws", type=int, help="Records released jointly (roo, subrr).")
@neighbours_option
@click.option(
    "--command", "template", help="A program that prints a letter; {} is the dataset's path."
)
@click.option("--dataset", help="A file of invented data for the program.")
@click.option("--neighbour", help="The same file with one record changed.")
@click.option(
    "--distance", default=1, show_default=True, help="How many records the two files differ in."
)
@click.option("--epsilon", required=True, help="The claimed privacy parameter.")
@click.option("--delta", default="0", help="The claimed delta, for a claim that is not pure.")
@click.option(
    "--trials", help="Runs on each dataset. [default: 1e6 with --sampler, 1000 with --command]"
)
@click.option("--confidence", default="0.999", show_default=True, help="Between 0 and 1.")
@json_option
def audit_command(
    *, sampler: str | None, template: str | None, trials: str | None, as_json: bool, **options: Any
) -> int:
    """Test a claimed epsilon by drawing from any sampler.

    Prints a lower bound on epsilon. Exit code 0: no violation found, which proves nothing;
    5: epsilon is violated, or the draws repeat each other. A built-in sampler is tested on the
    worst pair of neighbours that its certificate found. A program runs without a shell; its
    output is the letter, and a failed run counts as a letter of its own.

    Use invented data only: an audit makes thousands of releases and prints what it saw.

    \b
    Examples:
      dproo audit --sampler roo --epsilon 1 -n 100 -k 5
      dproo audit --sampler ds-roo --as-printed --epsilon 0.5 -n 4 -k 3
      dproo audit --command './their-sampler --file {}' --epsilon 1
          --dataset a.csv --neighbour b.csv
    """
    claim = {name: options.pop(name) for name in ("epsilon", "delta", "confidence", "distance")}
    dataset, neighbour = options.pop("dataset"), options.pop("neighbour")
    known = {
        name: value for name, value in options.items() if value is not None and value is not False
    }
    if (sampler is None) == (template is None):
        raise ValueError("audit needs either --sampler or --command.")
    if sampler is not None:
        if dataset or neighbour or claim["distance"] != 1:
            raise ValueError("--sampler cannot be used with --dataset, --neighbour or --distance.")
        subject, size, pair = sampler, 10**6, _worst_pair(sampler, claim["epsilon"], **known)
    else:
        if dataset is None or neighbour is None or known != {"neighbours": REPLACE}:
            raise ValueError(
                "--command requires --dataset and --neighbour, and no sampler options."
            )
        subject, size, pair = str(template), 10**3, _files(str(template), dataset, neighbour)
    size = size if trials is None else _whole("trials", trials)
    with click.progressbar(
        length=2 * size, label="drawing", file=sys.stderr, hidden=not is_terminal(sys.stderr)
    ) as bar:
        draw_many = many(pair.pop("draw"))

        def watched(data: Any, size: int) -> Any:
            letters = draw_many(data, size)
            bar.update(size)
            return letters

        result = audit(SimpleNamespace(draw_many=watched), **pair, trials=size, **claim)
    if as_json:
        print_json(_object(subject, result))
    else:
        _print(subject, result)
    if template and result.letters == (1, 1) and result.verdict == NOT_REFUTED:
        echo(_CONSTANT, err=True)
    return 0 if result.verdict == NOT_REFUTED else VIOLATION


def _worst_pair(sampler: str, epsilon: str, **options: Any) -> dict[str, Any]:
    """Return the worst case of the certificate: two datasets and an event."""
    if not {"n", "k"} <= set(options):
        raise ValueError("--sampler requires --n and --k; small ones show most.")
    certificate = certify(mechanism(sampler, epsilon=epsilon, **options))
    law, witness = certificate.mechanism, certificate.witness
    event = [witness.letters] if law.draws > 1 else witness.letters
    return {"draw": law, "dataset": witness.before, "neighbour": witness.after, "event": event}


def _files(template: str, dataset: str, neighbour: str) -> dict[str, Any]:
    for name, path in (("dataset", dataset), ("neighbour", neighbour)):
        if not os.path.exists(path):  # noqa: PTH110 - Path raises where it may not look
            raise ValueError(refusal(name, "be a file that exists", path))
    return {"draw": Command(template), "dataset": dataset, "neighbour": neighbour}


def _whole(name: str, text: str) -> int:
    number = rational(name, text)
    if number.denominator != 1:
        raise ValueError(refusal(name, "be a whole number", text))
    return int(number)


def _print(subject: str, result: Audit) -> None:
    shown = ", ".join(sorted(map(_shown, result.event))[:_SHOWN])
    rest = len(result.event) - _SHOWN
    bound = Decimal(result.epsilon_lower).quantize(Decimal("1e-6"), ROUND_FLOOR)
    beyond = f", delta = {decimal_text(result.delta)}" if result.delta else ""
    echo(f"epsilon = {result.epsilon}{beyond} {_SENTENCES[str(result.verdict)]} for {subject}")
    echo(f"epsilon is at least  {bound}{beyond}, with confidence {result.confidence}")
    echo(f"event                {shown}{f' and {rest} more' if rest > 0 else ''}")
    for side, count, measured in zip(SIDES, result.counts, result.measured, strict=True):
        echo(f"on the {side:<13} {count:,} of {measured:,} measured draws")


def _shown(letter: object) -> str:
    """Return a letter for people, who count the letters of our samplers from one."""
    if isinstance(letter, tuple):
        return " then ".join(map(_shown, letter))
    return f"letter {letter + 1}" if isinstance(letter, int) else str(letter)


def _object(subject: str, result: Audit) -> dict[str, Any]:
    return {
        "subject": subject,
        "claimed_epsilon": str(result.epsilon),
        "claimed_delta": str(result.delta),
        "verdict": result.verdict,
        "epsilon_lower": result.epsilon_lower,
        "confidence": result.confidence,
        "trials": result.trials,
        "distance": result.distance,
        "event": sorted(map(str, result.event)),
        "likelier_on": result.likelier_on,
        "counts": dict(zip(SIDES, result.counts, strict=True)),
        "measured": dict(zip(SIDES, result.measured, strict=True)),
        "letters": dict(zip(SIDES, result.letters, strict=True)),
        "are_independent": result.are_independent,
    }
