"""The command that releases many records: ``dproo synthesize``."""

from __future__ import annotations

import sys
from typing import Any

import click

from dproo.cli.charging import book_of, opened, printing, protection_of, texts
from dproo.cli.output import echo, is_terminal, print_facts, print_json, require_printable, waiting
from dproo.cli.reading import letters, reading_of
from dproo.cli.releasing import source_options
from dproo.cli.telling import facts, told_before, warn
from dproo.core.exact import parse_delta, parse_epsilon
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
        with printing(made.receipt, book_of(options["path"])):
            if as_json:
                print_json(made.receipt)
                return
            if out is None:
                stream = _Rows() if is_terminal(sys.stdout) else sys.stdout
                write_csv(made.values, names, stream)
                sys.stdout.flush()  # what cannot be written is said before anything else
            if not quiet:
                print_facts(facts(made.receipt))
                warn(set(made.receipt["warnings"]) - set(told))


class _Rows:
    """A terminal that shows each row as one line."""

    def write(self, row: str) -> None:
        echo(row.removesuffix("\n"))
