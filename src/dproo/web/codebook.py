"""Code books on the page: the columns of the data, a preview, a check."""

from __future__ import annotations

from typing import Any

from dproo.codebooks.draft import PROFILE, draft_codebook
from dproo.codebooks.overview import line_of
from dproo.core.checks import refusal
from dproo.mechanisms.network import Network
from dproo.report import Fields
from dproo.schema.axis import PeriodRange
from dproo.schema.codebook import CodeBook
from dproo.web.folder import FIELDS, Folder, NamedData, texts_of

_TEXT_FILES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz", ".csv.zst", ".tsv.zst")
_MOST_FIELDS = 1000
_MOST_DAYS = 10**6


def columns(form: Fields, folder: Folder) -> dict[str, Any]:
    """Return the columns of the data by header or schema: names, types, enumerations.

    No record is read.
    """
    source = NamedData.of(texts_of(form, FIELDS), folder)
    draft = draft_codebook(
        source.data,
        table=source.table,
        delimiter=source.layout.delimiter,
        encoding=source.layout.encoding,
    )
    listed = [
        {
            "name": field["name"],
            "type": field["type"],
            "values": found if isinstance(found := field.get("categories"), list) else [],
        }
        for field in draft["schema"]["fields"]
    ]
    is_text = source.name.lower().endswith(_TEXT_FILES)
    return {
        "from": "header" if is_text else "schema",
        "columns": listed,
        "notes": draft["draft"][2:],
        "dataset": source.dataset,
        "codebook": {key: draft[key] for key in draft if key not in {"draft", "schema"}},
    }


def preview(form: Fields) -> dict[str, Any]:
    """Return how many values each column of a code book has, the first of them, or what is wrong.

    An unfinished code book is usually wrong, so an error is an answer, not a refusal. If a cell
    is typed, each column says what it counts as there.
    """
    descriptor = confirmed(form)
    cell = form.get("cell") or ""
    if not isinstance(cell, str):
        raise TypeError(refusal("cell", "be text", cell))
    lines = [_line(descriptor, field, cell) for field in descriptor["schema"]["fields"]]
    is_clean = not any(line["error"] for line in lines)
    wrong = ""
    if is_clean:
        try:
            found = book_of(descriptor)
            Network.wired("auto", found.parents, found.sizes)
        except (TypeError, ValueError) as error:
            wrong = str(error)
    return {
        "columns": lines,
        "error": wrong,
        "is_complete": is_clean and not wrong,
        "codebook": {"$schema": PROFILE, **descriptor},
    }


def _line(descriptor: dict[str, Any], field: dict[str, Any], cell: str) -> dict[str, Any]:
    """Return how many values one column has, the first of them, and what other cells count as."""
    schema = {**descriptor["schema"], "fields": [{**field, "parents": []}]}
    try:
        (found,) = CodeBook.of({**descriptor, "schema": schema}).fields
    except (TypeError, ValueError) as error:
        wrong = str(error).removeprefix("schema.fields[0]").lstrip(".: ")
        return {"column": field.get("name"), "k": None, "values": "", "rest": "", "error": wrong}
    rest = f"anything else is “{found.other}”"
    if found.outside is not None:
        rest = f"anything else counts as {found[found.outside]}"
    if cell:
        place = found.axis.place(cell)
        outside = found.axis.listed if found.outside is None else found.outside
        rest += f"; “{cell}” counts as “{found[outside if place is None else place]}”"
    line = line_of(found)
    return {"column": line.column, "k": line.k, "values": line.shown, "rest": rest, "error": ""}


def book_of(descriptor: dict[str, Any]) -> CodeBook:
    """Return a code book whose days can be listed quickly, as for a release."""
    book = CodeBook.of(descriptor)
    days = sum(field.axis.listed for field in book.fields if isinstance(field.axis, PeriodRange))
    if days > _MOST_DAYS:
        raise ValueError(
            f"columns of days must have at most {_MOST_DAYS:,} together, got {days:,}."
            " Give months or years instead."
        )
    return book


def descriptor_of(form: Fields) -> dict[str, Any]:
    """Return the descriptor of a code book; refuse another form, and what takes long to read."""
    book = form.get("codebook")
    schema = book.get("schema") if isinstance(book, dict) else None
    fields = schema.get("fields") if isinstance(schema, dict) else None
    is_list = isinstance(fields, list) and all(isinstance(field, dict) for field in fields)
    if not isinstance(book, dict) or not isinstance(fields, list) or not is_list:
        raise ValueError("codebook must be an object with schema.fields, a list of columns.")
    if len(fields) > _MOST_FIELDS:
        raise ValueError(f"codebook must have at most {_MOST_FIELDS} columns.")
    return book


def confirmed(form: Fields) -> dict[str, Any]:
    """Return a descriptor without its mark as a draft, since the page shows it to its sender."""
    return {key: value for key, value in descriptor_of(form).items() if key != "draft"}
