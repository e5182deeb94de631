"""The command that releases: ``dproo sample``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from dproo.alphabet import OTHER, UNIFORM, Alphabet, Policy
from dproo.cli.charging import book_of, charging, printing, texts
from dproo.cli.output import (
    echo,
    json_option,
    neighbours_option,
    print_facts,
    print_json,
    require_printable,
    sampler_option,
    waiting,
)
from dproo.ledger import in_epsilon
from dproo.releases.execute import sample

_SOURCE_OPTIONS = (
    click.argument("data"),
    click.option("--column", "columns", multiple=True, help="The column; several make a product."),
    click.option(
        "--alphabet",
        "alphabets",
        multiple=True,
        required=True,
        help="The public letters, one for each column: a file with one a line (codes.txt), a"
        " column of a CSV file (codes.csv:code), integers (0..120) or bins (bins:0,18,65).",
    ),
    click.option("--outside", default=OTHER, show_default=True, help="'other' or 'uniform'."),
    click.option(
        "--epsilon", required=True, help="The privacy parameter: smaller is more private."
    ),
    click.option("--table", help="The table of a database or DuckDB file, or schema.table."),
    click.option(
        "--engine", help="'spark': DATA is a table's name or Parquet files, read by Spark."
    ),
    click.option("--master", help="The cluster of Spark, as spark://host:7077; else this machine."),
    sampler_option,
    neighbours_option,
    click.option(
        "--records-per-person", default=1, show_default=True, help="The most that one person owns."
    ),
    click.option(
        "--ledger", "path", help="The ledger to charge; else DPROO_LEDGER, else your own."
    ),
    click.option("--dataset", help="The name of the budget; by default the file's full path."),
    click.option("--no-ledger", is_flag=True, help="Charge no budget: nothing adds up releases."),
    click.option("--quiet", is_flag=True, help="Print what is released only."),
    json_option,
)


def source_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that every release has."""
    for option in reversed(_SOURCE_OPTIONS):
        command = option(command)
    return command


@click.command("sample")
@source_options
@click.option("--size", default=1, show_default=True, help="Records released for this epsilon.")
@click.option("--by", help="A column of groups: one record is released for each group.")
@click.option("--groups", help="The public groups, in any form that an alphabet has.")
@click.option("--groups-public", is_flag=True, help="Everybody may know who is in which group.")
@click.option(
    "--guess", help="For als-roo, from public knowledge: 'sparse', 'heavy tail', 'dense'."
)
def sample_command(
    data: str,
    *,
    columns: tuple[str, ...],
    alphabets: tuple[str, ...],
    outside: Policy,
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
    """Release one representative record of DATA under pure epsilon-DP.

    DATA is a CSV, TSV, Parquet, JSON lines or DuckDB file, a pattern of several, a
    postgresql:// URL, or what Spark can read. The alphabet is public and never learned from
    the data; a cell outside it counts as the extra letter 'other'. The record goes to
    standard output, the receipt to standard error.

    \b
    Examples:
      dproo sample examples/admissions.csv --column diagnosis --epsilon 1
          --alphabet examples/diagnosis_codes.txt
      dproo sample 'visits-*.parquet' --column sex --alphabet sex.txt
          --column age --alphabet bins:0,18,65,120 --epsilon 0.5
      dproo sample visits.csv --column diagnosis --alphabet codes.txt --epsilon 1
          --by ward --groups wards.txt --neighbours add-remove
      dproo sample clinic.visits --engine spark --master spark://host:7077
          --column diagnosis --alphabet codes.txt --epsilon 1
    """
    alphabet, column = letters(columns, alphabets, outside)
    if (by is None) != (groups is None):
        raise ValueError("groups must be given with by, and by with groups.")
    if by is not None and groups is not None:
        choices["by"] = {by: Alphabet.parse(groups, policy=UNIFORM)}
        choices["are_groups_public"] = groups_public
    printed = () if as_json else texts(alphabet, choices.get("by"))
    require_printable(printed, breaks="\n\r\t")
    with charging(data, path, dataset, no_ledger=no_ledger) as charged:
        with waiting("counting"):
            release = sample(data, alphabet=alphabet, column=column, **charged, **choices)
        with printing(release.receipt, book_of(path)):
            if as_json:
                print_json(release.receipt)
                return
            for value in release.values:
                echo(_shown(value))
            if not quiet:
                print_facts(facts(release.receipt))


def letters(
    columns: tuple[str, ...], alphabets: tuple[str, ...], outside: Policy
) -> tuple[Alphabet, str | None]:
    """Return the alphabet that the options name, and the column where there is one only."""
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


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "\t".join(f"{column}={letter}" for column, letter in value.items())
    return str(value)


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
        "records n": receipt.get("n", "private"),
        "letters k": receipt["k"],
        "alphabet": f"sha256 {receipt['alphabet_sha256'][:16]}",
        "ledger": f"entry {charged['entry']} of {charged['dataset']!r},"
        f" charged {in_epsilon(charged['charge_nano_epsilon'])}"
        if charged
        else "none: nothing adds up this and other releases",
        "software": receipt["software"],
    }
