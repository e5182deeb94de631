"""``dproo check``: what a release would refuse, from header and schema alone."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

import click

from dproo.cli.options import (
    READING,
    READING_OPTIONS,
    TABLE_OPTION,
    letters,
    source_of,
    warn,
    with_options,
)
from dproo.cli.output import echo, json_option, print_json, refuse_unused
from dproo.releases.check import Check, Trial
from dproo.releases.dataset import Dataset
from dproo.releases.protection import Protection
from dproo.report import as_options
from dproo.schema import OTHER
from dproo.schema.codebook import CodeBook


@click.command("check")
@click.argument("data")
@click.option("--column", "columns", multiple=True, help="The column; repeat it for several.")
@click.option(
    "--alphabet", "alphabets", multiple=True, help="The possible values, as for dproo sample."
)
@click.option("--codebook", help="Or the code book of all columns.")
@click.option(
    "--cell",
    "cells",
    multiple=True,
    help="A cell that you type: what would it count as? For one of several columns: COLUMN=CELL.",
)
@click.option("--person", help="The column that identifies people.")
@with_options((TABLE_OPTION, *READING_OPTIONS))
@json_option
def check_command(
    data: str, *, codebook: str | None, cells: tuple[str, ...], as_json: bool, **options: Any
) -> None:
    """Check DATA against its possible values before a release.

    Only header and schema are read; no record is read and nothing is charged. Every release
    makes the same check before its charge.

    \b
    Examples:
      dproo check visits.csv --column diagnosis --alphabet codes.txt
      dproo check visits.csv.gz --delimiter ';' --codebook codebook.json
      dproo check visits.csv --column price --alphabet bins:0,100,1000 --cell '1,234.50'
    """
    if codebook is not None:
        idle = {"columns": (), "alphabets": (), **READING}
        refuse_unused(options, idle, (), "with --codebook, which describes every column")
    protection = Protection(person=options["person"])
    dataset = Dataset(source=source_of(data, options), protection=protection)
    if codebook is None:
        alphabet, name = letters(options, OTHER)
        names = alphabet.columns
        checked = [dataset.check(name, alphabet, cell=cell) for cell in _cells(cells, names)]
    else:
        book = CodeBook.of(codebook)
        checked = [dataset.check(book, cell=cell) for cell in _cells(cells, book.columns)]
    result = checked[0]
    trials = [trial for one in checked for trial in one.cells]
    if as_json:
        print_json(_object(result, trials))
    elif result.holds:
        _print_columns(result)
        echo("A release would begin.")
        if codebook is not None:
            name = shlex.quote(codebook)
            echo(f"How close it would be: dproo plan --codebook {name} --n N --epsilon 1")
    for trial in trials if not as_json else ():
        echo(as_options(str(trial)))
    warn(map(as_options, result.warnings))
    if not result.holds:
        for refusal in result.refusals[:-1]:
            echo(f"Error: {as_options(refusal)}", err=True)
        raise ValueError(result.refusals[-1])


def _cells(cells: tuple[str, ...], columns: Sequence[str]) -> list[Any]:
    """Return each cell for its column, or for all columns; without cells, None once."""
    split = [cell.partition("=") for cell in cells]
    return [
        {name: rest} if name in columns else cell
        for cell, (name, _, rest) in zip(cells, split, strict=True)
    ] or [None]


def _print_columns(result: Check) -> None:
    width = max((len(column.name) for column in result.columns), default=0)
    for column, how in zip(result.columns, result.assumed, strict=True):
        echo(f"{column.name:<{width}}  {column.kind}{', ' * bool(how)}{how}")
    for note in result.notes:
        echo(as_options(note))


def _object(result: Check, trials: Sequence[Trial]) -> dict[str, Any]:
    return {
        "holds": result.holds,
        "columns": [
            {"column": column.name, "holds": column.kind, "read_as": how}
            for column, how in zip(result.columns, result.assumed, strict=True)
        ],
        "notes": list(map(as_options, result.notes)),
        "refusals": list(map(as_options, result.refusals)),
        "warnings": list(map(as_options, result.warnings)),
        "cells": [
            {"column": one.column, "cell": one.cell, "counts_as": one.letter, "told": str(one)}
            for one in trials
        ],
    }
