"""``dproo check``: what a release would refuse, from header and schema alone."""

from __future__ import annotations

from typing import Any

import click

from dproo.cli.charging import source_of
from dproo.cli.options import READING_OPTIONS, letters, reading_of, with_options
from dproo.cli.output import echo, json_option, print_json
from dproo.releases.check import Check
from dproo.releases.dataset import Dataset
from dproo.releases.protection import Protection
from dproo.schema import OTHER
from dproo.schema.codebook import CodeBook


@click.command("check")
@click.argument("data")
@click.option("--column", "columns", multiple=True, help="The column; repeat it for several.")
@click.option(
    "--alphabet", "alphabets", multiple=True, help="The possible values, as for dproo sample."
)
@click.option("--codebook", help="Or the code book of all columns.")
@click.option("--person", help="The column that names whom a record is about.")
@click.option("--table", help="The table of a database or DuckDB file: table or schema.table.")
@with_options(READING_OPTIONS)
@json_option
def check_command(
    data: str,
    *,
    columns: tuple[str, ...],
    alphabets: tuple[str, ...],
    codebook: str | None,
    person: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Check DATA against its possible values before a release.

    Only header and schema are looked at; no record is read and nothing is charged. Every
    release makes the same check before its charge.

    \b
    Examples:
      dproo check visits.csv --column diagnosis --alphabet codes.txt
      dproo check visits.csv.gz --delimiter ';' --codebook codebook.json
    """
    if codebook is not None and (columns or alphabets):
        raise ValueError(
            "--codebook cannot be used with --column or --alphabet: it names the columns."
        )
    dataset = Dataset(source=source_of(data, options), protection=Protection(person=person))
    if codebook is None:
        alphabet, name = letters(columns, alphabets, OTHER, **reading_of(options))
        found = dataset.check(name, alphabet)
    else:
        found = dataset.check(CodeBook.of(codebook))
    if as_json:
        print_json(_object(found))
    elif found.holds:
        width = max((len(column.name) for column in found.columns), default=0)
        for column in found.columns:
            echo(f"{column.name:<{width}}  {column.kind}")
        echo("A release would begin.")
    for warning in found.warnings:
        echo(f"Warning: {warning}", err=True)
    if not found.holds:
        for refusal in found.refusals[:-1]:
            echo(f"Error: {refusal}", err=True)
        raise ValueError(found.refusals[-1])


def _object(found: Check) -> dict[str, Any]:
    return {
        "holds": found.holds,
        "columns": [{"column": column.name, "holds": column.kind} for column in found.columns],
        "refusals": list(found.refusals),
        "warnings": list(found.warnings),
    }
