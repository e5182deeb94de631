"""The command that releases: ``dproo sample``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import click

from dproo.alphabet import OTHER, UNIFORM, Alphabet, Policy, Record
from dproo.alphabet.codebook import CodeBook
from dproo.alphabet.open_text import OPEN
from dproo.cli.charging import book_of, charging, printing, texts
from dproo.cli.output import (
    echo,
    is_terminal,
    json_option,
    neighbours_option,
    print_facts,
    print_json,
    require_printable,
    sampler_option,
    waiting,
)
from dproo.ledger import in_epsilon
from dproo.mechanisms import AUTO
from dproo.releases.pure_request import A_PERSON
from dproo.releases.sample import sample

_SOURCE_OPTIONS = (
    click.argument("data"),
    click.option(
        "--column", "columns", multiple=True, help="The column; repeat it for several columns."
    ),
    click.option(
        "--alphabet",
        "alphabets",
        multiple=True,
        help="The public letters, one alphabet for each column: a file with one per line"
        " (codes.txt), a column of a CSV file (codes.csv:code), integers (0..120) or bins"
        " (bins:0,18,65). 'open' (dproo sample only): nobody can list them; see --delta.",
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
    click.option("--engine", help="'spark': read DATA, a table's name or Parquet files, by Spark."),
    click.option("--master", help="The Spark cluster, such as spark://host:7077. [default: local]"),
    sampler_option,
    neighbours_option,
    click.option(
        "--records-per-person", default=1, show_default=True, help="The most records of one person."
    ),
    click.option(
        "--person",
        help="The column that names whom a record is about: count one record of each person.",
    ),
    click.option(
        "--ledger", "path", help="The ledger to charge. [default: $DPROO_LEDGER, else your own]"
    ),
    click.option("--dataset", help="The name of the budget. [default: the file's full path]"),
    click.option("--no-ledger", is_flag=True, help="Release without charging a budget."),
    click.option("--quiet", is_flag=True, help="Print only the release, no receipt."),
    json_option,
)


def source_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that every release has."""
    for option in reversed(_SOURCE_OPTIONS):
        command = option(command)
    return command


@click.command("sample")
@source_options
@click.option("--codebook", help="A JSON file that lists the public columns: release whole rows.")
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
@click.option("--by", help="A column of groups: release one record for each group.")
@click.option("--groups", help="The public list of groups, in any form that --alphabet takes.")
@click.option("--groups-public", is_flag=True, help="Who is in which group is public knowledge.")
@click.option("--delta", help="With --alphabet open: the probability that epsilon may fail.")
@click.option(
    "--minimum-people",
    type=int,
    help="With --alphabet open: never show a value that fewer records, or people, have."
    " [default: 2]",
)
@click.option(
    "--guess",
    help="The public's guess of the shape, for als-roo: 'sparse', 'heavy tail' or 'dense'.",
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
    **choices: Any,
) -> None:
    """Release a representative record or row of DATA.

    The release is pure epsilon-DP, unless the alphabet is open. DATA is a CSV, TSV, Parquet,
    JSON lines or DuckDB file, a quoted pattern of several, a postgresql:// URL, or what Spark
    can read. A listed alphabet is public and never learned from the data. The record goes to
    standard output, the receipt to standard error.

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
      dproo sample clinic.visits --engine spark --master spark://host:7077
          --column diagnosis --alphabet codes.txt --epsilon 1
    """
    if codebook is not None:
        if columns or alphabets:
            raise ValueError(
                "--codebook cannot be used with --column or --alphabet: it names the columns."
            )
        book = CodeBook.of(codebook)
        alphabet, column, choices["codebook"] = book.alphabet, None, book
    elif alphabets == (OPEN,) and len(columns) == 1:
        alphabet, column, choices["alphabet"] = None, columns[0], OPEN
    else:
        alphabet, column = letters(columns, alphabets, outside)
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


def letters(
    columns: tuple[str, ...], alphabets: tuple[str, ...], outside: Policy
) -> tuple[Alphabet, str | None]:
    """Return the alphabet that the options name, and the column where there is one only."""
    if not alphabets:
        raise ValueError("--alphabet must be given: it lists every value that could occur.")
    if len(alphabets) == 1 and len(columns) < 2:
        return Alphabet.parse(alphabets[0], policy=outside), columns[0] if columns else None
    if len(columns) != len(alphabets):
        raise ValueError(
            f"alphabet must be given for each column, got {len(alphabets)} for {len(columns)}."
        )
    parts = {
        column: Alphabet.parse(text, policy=UNIFORM)
        for column, text in zip(columns, alphabets, strict=True)
    }
    return Alphabet.product(parts, policy=outside), None


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


def _public(receipt: dict[str, Any]) -> dict[str, object]:
    """Return which letters a release was out of."""
    if "longest" in receipt:
        least = f"of {receipt['minimum_people']} or more, {receipt['longest']} characters at most"
        return {"letters": f"open: text {least}"}
    if "codebook_sha256" not in receipt:
        letters = {"letters k": receipt["k"]}
        return letters | {"alphabet": f"sha256 {receipt['alphabet_sha256'][:16]}"}
    arrows = (
        f"{', '.join(step['parents'])} -> {step['column']}" if step["parents"] else step["column"]
        for step in receipt["columns"]
    )
    return {
        "network": f"{receipt['network']}: {'; '.join(arrows)}",
        "code book": f"sha256 {receipt['codebook_sha256'][:16]}",
    }


def facts(receipt: dict[str, Any]) -> dict[str, object]:
    """Return what a person wants to read of a receipt."""
    charged = receipt["ledger"]
    several = {"rows": f"{receipt['rows']:,}, {receipt['way']}"} if "rows" in receipt else {}
    if receipt.get("delta", "0") != "0":
        several["delta"] = receipt["delta_decimal"]
    return {
        **several,
        "sampler": receipt["sampler"],
        "epsilon": f"{receipt['epsilon_decimal']} (worst loss, certified:"
        f" {receipt['certificate']['epsilon']:.9g})",
        "protects": f"{receipt['protects']}, {receipt['neighbours']}",
        f"{'people' if receipt['protects'] == A_PERSON else 'records'} n": receipt.get(
            "n", "private"
        ),
        **_public(receipt),
        "ledger": f"entry {charged['entry']} of {charged['dataset']!r},"
        f" charged {in_epsilon(charged['charge_nano_epsilon'])}"
        if charged
        else "none: not charged to any budget",
        "software": receipt["software"],
    }
