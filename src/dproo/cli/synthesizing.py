"""The command that releases many records: ``dproo synthesize``."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from typing import Any

import click

from dproo.alphabet import Record
from dproo.cli.charging import book_of, opened, print_release, protection_of, texts
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
from dproo.releases.sample_request import SampleRequest
from dproo.releases.synthesis_request import SynthesisRequest
from dproo.releases.tables import release_to, write_csv


@click.command("synthesize")
@source_options
@click.option("--rows", type=int, required=True, help="How many records to release.")
@click.option(
    "--delta", default="0", help="The probability that epsilon may fail; far below 1/records."
)
@click.option("--out", help="A new .csv or .parquet file. [default: CSV on standard output]")
def synthesize_command(
    data: str,
    *,
    columns: tuple[str, ...],
    alphabets: tuple[str, ...],
    rows: int,
    delta: str,
    out: str | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Release many synthetic records of DATA for one epsilon.

    Every row is drawn from a distribution close to that of the data; epsilon and delta cover
    all rows together. With a delta, this costs far less than the rows one by one, and the
    budget must have one too: dproo ledger init DATA --budget 3 --delta 1e-6.

    \b
    Examples:
      dproo synthesize visits.parquet --column diagnosis --alphabet codes.txt
          --rows 100000 --epsilon 1 --delta 1e-6 --out synthetic.csv
      dproo synthesize visits.csv --column sex --alphabet sex.txt
          --column age --alphabet bins:0,18,65,120 --rows 500 --epsilon 0.5 --delta 1e-7
    """
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
