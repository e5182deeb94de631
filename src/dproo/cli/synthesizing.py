"""The command that releases many records: ``dproo synthesize``."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from typing import Any

import click

from dproo.cli import completing
from dproo.cli.charging import book_of, opened, print_release, protection_of, texts
from dproo.cli.drawing import Targets
from dproo.cli.output import (
    is_terminal,
    json_object,
    print_facts,
    require_printable,
    shown,
    waiting,
)
from dproo.cli.reading import letters, reading_of
from dproo.cli.releasing import source_options
from dproo.cli.telling import facts, told_before, warn
from dproo.core.numbers import parse_delta, parse_epsilon
from dproo.mechanisms import AUTO
from dproo.releases.budget_name import reprint
from dproo.releases.execute import guarded
from dproo.releases.sample_request import SampleRequest
from dproo.releases.synthesis_request import SynthesisRequest
from dproo.releases.tables import release_to, write_csv
from dproo.schema import OTHER, Record
from dproo.schema.codebook import CodeBook


@click.command("synthesize")
@source_options
@click.option(
    "--codebook",
    help="A JSON file that lists the public columns: release a private table.",
    shell_complete=completing.files,
)
@click.option(
    "--network",
    default=AUTO,
    show_default=True,
    help="Which columns of a table are counted together: 'declared' in the code book, 'learned'"
    " privately, or 'independent'.",
)
@click.option(
    "--model", help="A new .json file for the model of a table, which more rows come from."
)
@click.option("--rows", type=int, help="How many records to release.")
@click.option(
    "--delta", default="0", help="The probability that epsilon may fail; far below 1/records."
)
@click.option(
    "--out",
    help="A new .csv or .parquet file, for a table also .jsonl. [default: CSV on standard output]",
)
def synthesize_command(
    data: str,
    *,
    columns: tuple[str, ...],
    alphabets: tuple[str, ...],
    codebook: str | None,
    network: str,
    model: str | None,
    rows: int | None,
    delta: str,
    out: str | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Release a private table of DATA, or many records of a column, for one epsilon.

    With --codebook, noisy counts of the columns are released once, as a model that any number of
    rows come from, now and later ('dproo rows'), for nothing. Without it, the rows themselves are
    drawn, of the columns that --column and --alphabet name; epsilon and delta cover all of them.
    A release with a delta needs a budget with one: dproo ledger init DATA --budget 3 --delta 1e-6.

    \b
    Examples:
      dproo synthesize visits.csv --codebook codebook.json --epsilon 1
          --rows 10000 --out table.csv --model model.json
      dproo synthesize visits.parquet --column diagnosis --alphabet codes.txt
          --rows 100000 --epsilon 1 --delta 1e-6 --out synthetic.csv
      dproo synthesize visits.csv --column sex --alphabet sex.txt
          --column age --alphabet bins:0,18,65,120 --rows 500 --epsilon 0.5 --delta 1e-7
    """
    shown = {"as_json": as_json, "quiet": quiet}
    if codebook is not None:
        given = {"column": columns, "alphabet": alphabets} | {
            name: options[name] != default for name, default in _OF_COLUMNS.items()
        }
        for name in (name for name, is_given in given.items() if is_given):
            spelled = {"readings": "as"}.get(name, name)
            raise ValueError(
                f"--{spelled} cannot be used with --codebook, which describes every column."
            )
        targets = Targets(rows=rows, out=out, model=model)
        _table_of(data, codebook, targets, options | shown | {"delta": delta, "network": network})
        return
    if model is not None or network != AUTO:
        name = "network" if model is None else "model"
        raise ValueError(f"--{name} must be used with --codebook: it is of a private table.")
    if rows is None:
        raise ValueError("--rows must be given: it says how many records to release.")
    alphabet, column = letters(columns, alphabets, options["outside"], **reading_of(options))
    names = alphabet.columns or (column or "value",)
    if as_json or out is None:
        require_printable(() if as_json else (*names, *texts(alphabet)))
    epsilon = parse_epsilon(options["epsilon"])
    protection = protection_of(options)
    request = SynthesisRequest(
        request=SampleRequest(
            alphabet=alphabet,
            column=column,
            epsilon=epsilon,
            sampler=options["sampler"],
            protection=protection,
        ),
        rows=rows,
        delta=parse_delta(delta),
    )
    told = [] if as_json or quiet else told_before(epsilon, protection, groups=None)
    with opened(data, options) as dataset:
        with waiting("synthesizing"):
            made = dataset.release(request) if out is None else release_to(out, dataset, request)
        receipt = made.receipt
        text = ""
        if as_json:
            text = json_object(receipt)
        elif out is None:
            text = _table(made.values, names)
        print_release(text, receipt, book_of(options["path"]))
    if not (as_json or quiet):
        print_facts(facts(receipt))
        warn(set(receipt["warnings"]) - set(told))


_OF_COLUMNS: dict[str, Any] = {
    "sampler": AUTO,
    "readings": (),
    "missing": (),
    "decimal": ".",
    "thousands": "",
    "outside": OTHER,
}
"""The options of named columns, which a code book takes the place of."""


def _table_of(data: str, codebook: str, targets: Targets, options: dict[str, Any]) -> None:
    """Release a private table, and write the model and rows of it."""
    is_told = not (options["as_json"] or options["quiet"])
    book = CodeBook.of(codebook)
    targets.check(book.columns, is_json=options["as_json"])
    if not targets.out:
        is_plain = options["as_json"]
        require_printable(() if is_plain else (*book.columns, *texts(book.alphabet)))
    epsilon = parse_epsilon(options["epsilon"])
    told = told_before(epsilon, protection_of(options), groups=None) if is_told else []
    with opened(data, options) as dataset:
        with waiting("synthesizing"):
            made = dataset.synthesize(
                book, epsilon=epsilon, delta=options["delta"], network=options["network"]
            )
            receipt = dict(made.receipt or {})
            kept = reprint(receipt, book_of(options["path"]))
            text = guarded(lambda: targets.write(made), kept=kept)
        text = json_object(receipt) if options["as_json"] else text
        print_release(text, receipt, book_of(options["path"]))
    if is_told:
        print_facts(facts(receipt))
        warn(set(receipt["warnings"]) - set(told))


def _table(values: Sequence[Record], names: Sequence[str]) -> str:
    """Return the rows as CSV, on a terminal each as one line."""
    table = io.StringIO(newline="")
    write_csv(values, names, _Lines(table) if is_terminal(sys.stdout) else table)
    return table.getvalue()


class _Lines:
    """A table whose rows are each shown as one line."""

    def __init__(self, table: io.StringIO) -> None:
        self._table = table

    def write(self, row: str) -> None:
        self._table.write(shown(row.removesuffix("\n")))
