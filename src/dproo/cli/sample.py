"""The command that releases: ``dproo sample``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from dproo.cli import output
from dproo.cli.options import (
    HEADER_OPTION,
    LAYOUT_OPTIONS,
    READING,
    READING_OPTIONS,
    TABLE_OPTION,
    letters,
    release,
    texts,
    with_options,
)
from dproo.cli.output import (
    is_terminal,
    json_option,
    ledger_option,
    neighbours_option,
    refuse_unused,
    require_printable,
    sampler_option,
    shown,
)
from dproo.mechanisms import AUTO
from dproo.receipt import Receipt
from dproo.releases.charge import STATEMENTS
from dproo.releases.dataset import Dataset
from dproo.releases.protection import Groups
from dproo.releases.run import Release
from dproo.schema import OTHER, UNIFORM, Alphabet, Record
from dproo.schema.axis import OPEN
from dproo.schema.codebook import CodeBook

_LAYOUT = {"codebook", "comment", "delimiter", "encoding", "format", "has_header", "skip_rows"}
"""The options that may say where the header is, or that there is none."""

_SPECIAL = frozenset("$`\\\"'!;|&<>(){}*?#~\n")
"""Characters of a name that a shell would not take as they stand."""


def _columns(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Offer the columns of the file in the command, or none if its first line may be a record.

    The whole command line counts, and the user's defaults: what stands behind the cursor, or in
    a code book, may declare that the file has no header.
    """
    # An option that still lacks its value stops the parser before the argument.
    data = context.params.get("data") or next(iter(context.args), "")
    with suppress(Exception):  # a shell shows no errors, and a file may be anything
        if _may_lack_header(context):
            return []
        from dproo.counting.source import describe  # noqa: PLC0415 - it takes long

        names = (column.name for column in describe(Path(data).expanduser()))
        return [n for n in names if n.startswith(incomplete) and not _SPECIAL.intersection(n)]
    return []


def _may_lack_header(context: click.Context) -> bool:
    """Return whether anything but the file's name may declare how its lines are laid out."""
    from dproo.cli.commands import defaults  # noqa: PLC0415 - only a shell needs it here

    if os.environ.get("_DPROO_COMPLETE", "").startswith("fish"):
        return True  # fish does not tell what stands behind the cursor
    typed = os.environ.get("COMP_WORDS", "")
    known = [option for option in context.command.params if option.name in _LAYOUT]
    stated = defaults(None).get(context.info_name or "", {})
    return not _LAYOUT.isdisjoint(stated) or any(
        text in typed for text in ["--config", *(text for one in known for text in one.opts)]
    )


_DATA = click.argument("data", shell_complete=output.files)
_COLUMNS = (
    click.option(
        "--column",
        "columns",
        multiple=True,
        help="The column; repeat it for several columns.",
        shell_complete=_columns,
    ),
    click.option(
        "--alphabet",
        "alphabets",
        multiple=True,
        shell_complete=output.files,
        help="The public letters, one alphabet for each column: A,B,C, a file with one per line"
        " (codes.txt), a column of a CSV file (codes.csv:code), integers (0..120), bins"
        " (bins:0,18,65), months or days (2024-01..2025-01). 'open' (dproo sample only): nobody"
        " can list them; see --delta.",
    ),
)
_OUTSIDE = click.option(
    "--outside",
    default=OTHER,
    show_default=True,
    help="Count a cell outside the alphabet as 'other', or as a random letter: 'uniform'.",
)
_SOURCE = (
    click.option(
        "--epsilon", required=True, help="The privacy parameter: smaller is more private."
    ),
    TABLE_OPTION,
    click.option(
        "--engine",
        help="'spark', or a cluster such as spark://host:7077: read DATA, a table or Parquet"
        " files, with Spark.",
    ),
)
_CHARGE = (
    neighbours_option,
    click.option(
        "--records-per-person", default=1, show_default=True, help="The most records of one person."
    ),
    click.option(
        "--person",
        help="The column that identifies people: count one record of each person.",
        shell_complete=_columns,
    ),
    click.option(
        "--missing-person",
        type=click.Choice(["one", "each"]),
        default="one",
        show_default=True,
        help="Whose records without an identifier are: together one person's, or each somebody"
        " else's.",
    ),
    ledger_option,
    click.option("--dataset", help="The name of the budget. [default: the file's full path]"),
    click.option("--no-ledger", is_flag=True, help="Release without charging a budget."),
    *(click.option(f"--{name}", help=words) for name, words in STATEMENTS.items()),
    click.option("--quiet", is_flag=True, help="Print only the release, no receipt."),
    click.option("--verbose", is_flag=True, help="Say each step, and when it was done."),
    json_option,
)


source_options = with_options((_DATA, *_COLUMNS, *_SOURCE, *READING_OPTIONS, *_CHARGE))
"""The options that every release of listed letters has."""

found_options = with_options((_DATA, *_SOURCE, *LAYOUT_OPTIONS, HEADER_OPTION, *_CHARGE))
"""The options of a release whose letters are found."""


@click.command("sample")
@source_options
@_OUTSIDE
@sampler_option
@click.option(
    "--codebook",
    help="A JSON file that lists the public columns: release whole rows, or with --column one value"
    " of that column.",
    shell_complete=output.files,
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
    "--size",
    default=1,
    show_default=True,
    help="How many records to release for this epsilon; five or more rows come from a private"
    " table.",
)
@click.option(
    "--by",
    shell_complete=_columns,
    help="A column of groups: release one record for each. It costs epsilon once with"
    " --neighbours add-remove or --groups-public; otherwise twice, since a record that is"
    " replaced can leave one group and enter another.",
)
@click.option(
    "--groups",
    help="The public list of groups, in any form that --alphabet takes.",
    shell_complete=output.files,
)
@click.option("--groups-public", is_flag=True, help="Who is in which group is public knowledge.")
@click.option("--delta", help="With --alphabet open: the probability that epsilon may fail.")
@click.option(
    "--minimum-people",
    type=int,
    help="With --alphabet open: never show a value that fewer records, or people, have."
    " [default: 2]",
)
def sample_command(data: str, **options: Any) -> None:
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
      dproo sample clinic.visits --engine spark://host:7077
          --column diagnosis --alphabet codes.txt --epsilon 1
    """
    grouped = _groups(options["by"], options["groups"], are_public=options["groups_public"])
    listed, released = _choice(options)
    as_json, shares = options["as_json"], options["shares"]
    require_printable(() if as_json else texts(listed, grouped), breaks="\n\r\t")
    each: dict[str, Any] = {"by": grouped} if grouped else {}
    if of_columns := dict(share.rpartition("=")[::2] for share in shares):
        each["shares"] = of_columns
    if len(of_columns) < len(shares):
        raise ValueError("--share must be given once for each column, got one twice.")

    def made(dataset: Dataset) -> tuple[Receipt, str]:
        result = released(dataset, epsilon=options["epsilon"], **each)
        if not as_json:
            return result.receipt, "".join(map(shown, _lines(result.values)))
        # The receipt of a private table holds its model, and none of the rows drawn from it.
        details = {"values": list(result.values), **result.receipt.details}
        return replace(result.receipt, details=details), ""

    release(data, options, made, what="counting", groups=grouped)


ROW, VALUE, COLUMN = "row", "value", "column"
_DEFAULTS: dict[str, Any] = {
    "network": AUTO,
    "within_bins": False,
    "size": 1,
    "sampler": AUTO,
    "delta": None,
    "minimum_people": None,
    **READING,
    "outside": OTHER,
    "alphabets": (),
    "columns": (),
    "by": None,
    "shares": (),
}
_PASSED = {
    ROW: ("network", "within_bins", "size"),
    VALUE: ("size", "sampler"),
    COLUMN: ("size", "sampler"),
    OPEN: ("delta", "minimum_people"),
}
"""The options that each kind of release passes on."""
_TAKES = {
    ROW: {*_PASSED[ROW], "shares", "by"},
    VALUE: {*_PASSED[VALUE], *READING, "outside", "columns", "alphabets", "by"},
    COLUMN: {*_PASSED[COLUMN], "columns", "by"},
    OPEN: {*_PASSED[OPEN], "columns", "alphabets"},
}
_BESIDE = {
    ROW: "with --codebook, which describes every column",
    COLUMN: "with --codebook and one --column, whose values the code book lists",
    VALUE: "with listed values: it is for rows (--codebook) or open values (--alphabet open)",
    OPEN: "with --alphabet open, which is one value of one column, as its cells stand",
}


def _choice(options: Mapping[str, Any]) -> tuple[Alphabet | None, Callable[..., Release]]:
    """Return the letters that may be printed, if they are listed, and a function that releases."""
    columns, alphabets, codebook = (options[n] for n in ("columns", "alphabets", "codebook"))
    is_open = alphabets == (OPEN,) and len(columns) == 1
    kind = ROW if codebook is not None else OPEN if is_open else VALUE
    if kind == ROW and len(columns) == 1 and not alphabets:
        kind = COLUMN
    refuse_unused(options, _DEFAULTS, _TAKES[kind], _BESIDE[kind])
    passed = {name: options[name] for name in _PASSED[kind]}
    if kind == ROW:
        book = CodeBook.of(codebook)
        return book.alphabet, lambda dataset, **each: dataset.rows(book, **passed, **each)
    if kind == COLUMN:
        book = CodeBook.of(codebook)
        listed = book.letters(columns[0])
        return listed, lambda dataset, **each: dataset.values(columns[0], book, **passed, **each)
    if kind == OPEN:
        return None, lambda dataset, **each: dataset.value(columns[0], OPEN, **passed, **each)
    alphabet, column = letters(options, options["outside"])
    return alphabet, lambda dataset, **each: dataset.values(column, alphabet, **passed, **each)


def _groups(by: str | None, groups: str | None, *, are_public: bool) -> Groups | None:
    if (by is None) != (groups is None):
        raise ValueError("--by and --groups must be given together.")
    if are_public and by is None:
        raise ValueError("--groups-public must be used with --by and --groups.")
    if by is None:
        return None
    return Groups(by, Alphabet.parse(str(groups), policy=UNIFORM), are_public=are_public)


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
