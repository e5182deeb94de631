"""``dproo codebook``: draft, find, import and preview code books."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import click

from dproo.cli.options import LAYOUT_OPTIONS, TABLE_OPTION, release, with_options
from dproo.cli.output import (
    echo,
    json_option,
    json_text,
    new_file,
    print_json,
    require_printable,
    unwritable,
    write_new,
)
from dproo.cli.sample import found_options
from dproo.codebooks.draft import draft_codebook
from dproo.codebooks.importing import import_codebook
from dproo.codebooks.overview import Overview, overview
from dproo.releases.charge import reprint
from dproo.releases.dataset import Dataset
from dproo.releases.run import guarded
from dproo.schema.codebook import CodeBook

if TYPE_CHECKING:
    from dproo.receipt import Receipt

_OUT = click.option("--out", help="A new JSON file. [default: standard output]")


@click.group("codebook")
def codebook_command() -> None:
    """Draft, find, import and preview code books.

    A code book lists the public columns of a table and their possible values.

    \b
    From a file to a release of whole rows, by what is known of it:
      dproo codebook draft visits.csv --out codebook.json
      (complete codebook.json)
      dproo sample visits.csv --codebook codebook.json --epsilon 1
    or with letters that are found privately:
      dproo codebook discover visits.csv --epsilon 0.5 --delta 1e-9 --out codebook.json
      dproo sample visits.csv --codebook codebook.json --epsilon 1
    """


@codebook_command.command("draft")
@click.argument("data")
@with_options((TABLE_OPTION, *LAYOUT_OPTIONS))
@_OUT
def draft_command(data: str, *, table: str | None, out: str | None, **layout: Any) -> None:
    """Draft a code book of DATA from its header and schema.

    No record is read: the draft holds names, types, and the values of enumerations in PostgreSQL.
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


@codebook_command.command("discover")
@found_options
@click.option("--delta", required=True, help="The probability that epsilon may fail.")
@click.option("--columns", help="Columns with commas between. [default: all but --person]")
@_OUT
def discover_command(
    data: str, *, columns: str | None, delta: str, out: str | None, **options: Any
) -> None:
    """Find the code book of DATA privately: nobody has to list anything.

    Values of text that enough people share become categories, numbers become bins of about equally
    many records, dates become months or years; a column of free text is left out. It is one
    charge: every column has the same share of epsilon and delta, so name --columns if there are
    many. With fewer people, a larger epsilon finds more.

    \b
    Examples:
      dproo codebook discover visits.csv --epsilon 0.5 --delta 1e-9 --out codebook.json
      dproo codebook preview codebook.json
      dproo codebook discover visits.csv --columns ward,diagnosis --person patient
          --epsilon 1 --delta 1e-9
    """
    if out is not None:
        new_file("out", out)
    if out is None or options["as_json"]:
        require_printable()
    names = None if columns is None else [name.strip() for name in columns.split(",")]

    def made(dataset: Dataset) -> tuple[Receipt, str]:
        book = dataset.codebook(epsilon=options["epsilon"], delta=delta, columns=names)
        receipt = cast("Receipt", book.receipt)
        if out is None:
            return receipt, json_text(book.descriptor, indent=2) + "\n"
        guarded(lambda: _saved(book, out), charged=reprint(receipt, dataset.charge.address))
        return receipt, ""

    release(data, options, made, what="discovering")


def _saved(book: CodeBook, out: str) -> None:
    try:
        book.save(out)
    except OSError:
        raise unwritable(out) from None


@codebook_command.command("preview")
@click.argument("file")
@json_option
def preview_command(file: str, *, as_json: bool) -> None:
    """Preview a code book, or a draft: its columns, their values and where these come from."""
    preview = overview(file)
    if as_json:
        print_json(_object(preview))
        return
    rows = [("column", "type", "values", "")]
    rows += [
        (line.column, line.kind, "TODO" if line.k is None else f"{line.k:,}", line.shown)
        for line in preview.lines
    ]
    widths = [max(len(row[place]) for row in rows) for place in range(3)]
    for column, kind, k, shown in rows:
        line = f"{column:<{widths[0]}}  {kind:<{widths[1]}}  {k:>{widths[2]}}  {shown}"
        echo(line.rstrip())
    for source in dict.fromkeys(line.source for line in preview.lines if line.source):
        named = [line.column for line in preview.lines if line.source == source]
        echo(f"Where the values come from: {source} ({', '.join(named)}).")
    for note in preview.notes:
        echo(note, err=True)


def _object(preview: Overview) -> dict[str, Any]:
    return {
        "is_draft": preview.is_draft,
        "codebook_sha256": preview.digest,
        "notes": list(preview.notes),
        "columns": [
            {
                "column": line.column,
                "type": line.kind,
                "k": line.k,
                "values": line.shown,
                "source": line.source,
            }
            for line in preview.lines
        ],
    }


def _write(draft: dict[str, Any], out: str | None) -> None:
    if out is None:
        click.echo(json_text(draft, indent=2))
    else:
        write_new(out, json.dumps(draft, indent=2, ensure_ascii=False) + "\n")
    for note in draft["draft"]:
        echo(note, err=True)
