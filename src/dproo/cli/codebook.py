"""``dproo codebook``: draft, import and show code books."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from dproo.cli.options import LAYOUT_OPTIONS, with_options
from dproo.cli.output import echo, json_option, json_text, print_json
from dproo.codebooks.draft import draft_codebook
from dproo.codebooks.importing import import_codebook
from dproo.codebooks.overview import Overview, overview
from dproo.core.checks import refusal

_OUT = click.option("--out", help="A new JSON file. [default: standard output]")


@click.group("codebook")
def codebook_command() -> None:
    """Draft, import and show code books.

    A code book lists the public columns of a table and their possible values.

    \b
    From a file to a release of whole rows:
      dproo codebook draft visits.csv --out codebook.json
      (complete codebook.json)
      dproo sample visits.csv --codebook codebook.json --epsilon 1
    """


@codebook_command.command("draft")
@click.argument("data")
@click.option("--table", help="The table of a database or DuckDB file: table or schema.table.")
@with_options(LAYOUT_OPTIONS)
@_OUT
def draft_command(data: str, *, table: str | None, out: str | None, **layout: Any) -> None:
    """Draft a code book of DATA from its header and schema.

    No record is read: the draft holds names, types, and the values of a database's enumerations.
    Fill in what is marked TODO; no release takes the draft before its key 'draft' is removed.
    """
    _write(draft_codebook(data, table=table, **layout), out)


@codebook_command.command("import")
@click.argument("file")
@click.option("--column", help="The column that a lookup table lists the values of.")
@_OUT
def import_command(file: str, *, column: str | None, out: str | None) -> None:
    """Draft a code book from FILE, a code book in another format.

    FILE is a lookup table (CSV or Excel: value and label; or column, value and label), a data
    dictionary of REDCap (CSV), or an SPSS or Stata file (only its header is read). Check what was
    imported, and complete it like any draft.
    """
    _write(import_codebook(file, column=column), out)


@codebook_command.command("show")
@click.argument("file")
@json_option
def show_command(file: str, *, as_json: bool) -> None:
    """Show the columns of a code book, or of a draft, as a table."""
    found = overview(file)
    if as_json:
        print_json(_object(found))
        return
    rows = [("column", "type", "values", "")]
    rows += [
        (line.column, line.kind, "TODO" if line.k is None else f"{line.k:,}", line.shown)
        for line in found.lines
    ]
    widths = [max(len(row[place]) for row in rows) for place in range(3)]
    for column, kind, k, shown in rows:
        line = f"{column:<{widths[0]}}  {kind:<{widths[1]}}  {k:>{widths[2]}}  {shown}"
        echo(line.rstrip())
    for note in found.notes:
        echo(note, err=True)


def _object(found: Overview) -> dict[str, Any]:
    return {
        "is_draft": found.is_draft,
        "codebook_sha256": found.digest,
        "notes": list(found.notes),
        "columns": [
            {"column": line.column, "type": line.kind, "k": line.k, "values": line.shown}
            for line in found.lines
        ],
    }


def _write(draft: dict[str, Any], out: str | None) -> None:
    if out is None:
        click.echo(json_text(draft, indent=2))
    else:
        try:
            with Path(out).open("x", encoding="utf-8") as file:
                file.write(json.dumps(draft, indent=2, ensure_ascii=False) + "\n")
        except OSError:
            raise ValueError(refusal("out", "be a new file that can be written", out)) from None
    for note in draft["draft"]:
        echo(note, err=True)
