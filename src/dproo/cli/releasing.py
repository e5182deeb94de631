"""The command that releases: ``dproo sample``."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import click

from dproo.alphabet import OTHER, UNIFORM, Alphabet, Policy, Record
from dproo.alphabet.codebook import CodeBook
from dproo.alphabet.open_text import OPEN
from dproo.cli import completing
from dproo.cli.charging import book_of, charging, printing, texts
from dproo.cli.output import (
    echo,
    is_terminal,
    json_option,
    ledger_option,
    neighbours_option,
    print_facts,
    print_json,
    require_printable,
    sampler_option,
    waiting,
)
from dproo.cli.reading import READING_OPTIONS, letters, with_options
from dproo.cli.telling import facts, told_before, warn
from dproo.mechanisms import AUTO
from dproo.releases.sample import sample

_SOURCE_OPTIONS = (
    click.argument("data", shell_complete=completing.files),
    click.option(
        "--column",
        "columns",
        multiple=True,
        help="The column; repeat it for several columns.",
        shell_complete=completing.columns,
    ),
    click.option(
        "--alphabet",
        "alphabets",
        multiple=True,
        shell_complete=completing.files,
        help="The public letters, one alphabet for each column: a file with one per line"
        " (codes.txt), a column of a CSV file (codes.csv:code), integers (0..120), bins"
        " (bins:0,18,65), months or days (2024-01..2025-01). 'open' (dproo sample only): nobody"
        " can list them; see --delta.",
    ),
    click.option(
        "--outside",
        default=OTHER,
        show_default=True,
        help="Count a cell outside the alphabet as 'other', or as a random letter: 'uniform'.",
    ),
    click.option(
        "--epsilon", required=True, help="The privacy parameter: smaller is more private."
    ),
    click.option("--table", help="The table of a database or DuckDB file: table or schema.table."),
    click.option("--engine", help="'spark': read DATA, a table or Parquet files, with Spark."),
    click.option("--master", help="The Spark cluster, such as spark://host:7077. [default: local]"),
    *READING_OPTIONS,
    sampler_option,
    neighbours_option,
    click.option(
        "--records-per-person", default=1, show_default=True, help="The most records of one person."
    ),
    click.option(
        "--person",
        help="The column that names whom a record is about: count one record of each person.",
        shell_complete=completing.columns,
    ),
    ledger_option,
    click.option("--dataset", help="The name of the budget. [default: the file's full path]"),
    click.option("--no-ledger", is_flag=True, help="Release without charging a budget."),
    click.option("--purpose", help="What the release is for, as receipt and ledger will say."),
    click.option("--operator", help="Who makes it, as the ledger will say, and only the ledger."),
    click.option("--quiet", is_flag=True, help="Print only the release, no receipt."),
    json_option,
)


source_options = with_options(_SOURCE_OPTIONS)
"""The options that every release has."""


@click.command("sample")
@source_options
@click.option(
    "--codebook",
    help="A JSON file that lists the public columns: release whole rows.",
    shell_complete=completing.files,
)
@click.option(
    "--network",
    default=AUTO,
    show_default=True,
    help="How the columns of a row depend on each other: 'declared' in the code book,"
    " 'learned' privately for a fifth of epsilon, or 'independent'.",
)
@click.option(
    "--share",
    "shares",
    multiple=True,
    metavar="COLUMN=EPSILON",
    help="The epsilon of a column of a row. Give it for every column, or for none.",
)
@click.option(
    "--within-bins",
    is_flag=True,
    help="Show a number drawn from a bin instead of the bin (rows only).",
)
@click.option(
    "--size", default=1, show_default=True, help="How many records to release for this epsilon."
)
@click.option(
    "--by",
    shell_complete=completing.columns,
    help="A column of groups: release one record for each. It costs epsilon once with"
    " --neighbours add-remove or --groups-public; otherwise twice, since a record that is"
    " replaced can leave one group and enter another.",
)
@click.option(
    "--groups",
    help="The public list of groups, in any form that --alphabet takes.",
    shell_complete=completing.files,
)
@click.option("--groups-public", is_flag=True, help="Who is in which group is public knowledge.")
@click.option("--delta", help="With --alphabet open: the probability that epsilon may fail.")
@click.option(
    "--minimum-people",
    type=int,
    help="With --alphabet open: never show a value that fewer records, or people, have."
    " [default: 2]",
)
def sample_command(
    data: str,
    *,
    columns: tuple[str, ...],
    alphabets: tuple[str, ...],
    outside: Policy,
    codebook: str | None,
    shares: tuple[str, ...],
    by: str | None,
    groups: str | None,
    groups_public: bool,
    path: str | None,
    dataset: str | None,
    no_ledger: bool,
    as_json: bool,
    quiet: bool,
    readings: tuple[str, ...],
    decimal: str,
    thousands: str,
    missing: tuple[str, ...],
    **choices: Any,
) -> None:
    """Release a representative value or row of DATA.

    The release is pure epsilon-DP, unless the alphabet is open. DATA is a CSV, TSV, JSON, JSON
    lines (also as .gz or .zst), Parquet, Excel, SPSS, Stata or DuckDB file, a quoted pattern of
    several, - for CSV from standard input, a postgresql:// URL, or what Spark can read. A listed
    alphabet is public and never learned from the data: 'dproo codebook draft DATA' helps to
    write one for every column. The value goes to standard output, the receipt to standard error.

    \b
    Examples:
      dproo sample examples/admissions.csv --column diagnosis --epsilon 1
          --alphabet examples/diagnosis_codes.txt
      dproo sample 'visits-*.parquet' --column sex --alphabet sex.txt
          --column age --alphabet bins:0,18,65,120 --epsilon 0.5
      dproo sample visits.csv --column diagnosis --alphabet codes.txt --epsilon 1
          --by ward --groups wards.txt --neighbours add-remove
      dproo sample visits.csv --codebook codebook.json --epsilon 1
      dproo sample visits.csv --column note --alphabet open --epsilon 1 --delta 1e-9
          --person patient
      dproo sample export.txt.gz --delimiter ';' --encoding latin-1 --column admitted
          --as month:DD.MM.YYYY --alphabet 2024-01..2025-01 --epsilon 1
      dproo sample clinic.visits --engine spark --master spark://host:7077
          --column diagnosis --alphabet codes.txt --epsilon 1
    """
    is_read = bool(readings or missing or (decimal, thousands) != (".", ""))
    if codebook is not None:
        if columns or alphabets or is_read:
            raise ValueError(
                "--codebook cannot be used with --column, --alphabet, --as, --decimal, --thousands"
                " or --missing: it describes the columns."
            )
        book = CodeBook.of(codebook)
        alphabet, column, choices["codebook"] = book.alphabet, None, book
    elif _is_open(columns, alphabets, is_read=is_read):
        alphabet, column, choices["alphabet"] = None, columns[0], OPEN
    else:
        alphabet, column = letters(
            columns,
            alphabets,
            outside,
            readings=readings,
            decimal=decimal,
            thousands=thousands,
            missing=missing,
        )
        choices["alphabet"] = alphabet
    if shares:
        choices["shares"] = dict(share.rpartition("=")[::2] for share in shares)
    if (by is None) != (groups is None):
        raise ValueError("--by and --groups must be given together.")
    if by is not None and groups is not None:
        choices["by"] = {by: Alphabet.parse(groups, policy=UNIFORM)}
        choices["are_groups_public"] = groups_public
    printed = () if as_json or alphabet is None else texts(alphabet, choices.get("by"))
    require_printable(printed, breaks="\n\r\t")
    told = [] if as_json or quiet else told_before(choices)
    with charging(data, path, dataset, no_ledger=no_ledger) as charged:
        with waiting("counting"):
            release = sample(data, column=column, **charged, **choices)
        with printing(release.receipt, book_of(path)):
            if as_json:
                print_json(release.receipt)
                return
            for line in _lines(release.values):
                echo(line)
            if not quiet:
                print_facts(facts(release.receipt))
                warn(set(release.receipt["warnings"]) - set(told))


def _is_open(columns: tuple[str, ...], alphabets: tuple[str, ...], *, is_read: bool) -> bool:
    """Tell whether one column is released whose letters nobody has listed."""
    if alphabets != (OPEN,) or len(columns) != 1:
        return False
    if is_read:
        raise ValueError(
            "--alphabet open cannot be used with --as, --decimal, --thousands or --missing: its"
            " values are the cells as they stand."
        )
    return True


def _lines(values: Sequence[Record]) -> Iterator[str]:
    """Yield the records, one per line; a single row on a terminal has a line per column."""
    for value in values:
        if not isinstance(value, dict):
            yield str(value)
        elif len(values) == 1 and is_terminal(sys.stdout):
            width = max(map(len, value))
            yield from (f"{column:<{width}}  {letter}" for column, letter in value.items())
        else:
            yield "\t".join(f"{column}={letter}" for column, letter in value.items())
