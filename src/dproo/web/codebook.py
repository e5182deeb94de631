"""Code books on the page: the columns of the data, a preview, a check."""

from __future__ import annotations

from typing import Any, cast

from dproo.codebooks.draft import PROFILE, draft_codebook
from dproo.codebooks.overview import line_of
from dproo.core.checks import refusal
from dproo.counting.layout import CSV, EXCEL, FORMATS
from dproo.report import Fields
from dproo.schema.axis import PeriodRange
from dproo.schema.codebook import CodeBook, check_parents
from dproo.web.folder import FIELDS, Folder, NamedData, texts_of

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
    ending, _ = source.layout.ending_of(source.name)
    file_format = FORMATS.get(ending, CSV if source.is_file else None)
    return {
        "from": "header" if file_format in {CSV, EXCEL} else "schema",
        "columns": listed,
        "notes": draft["draft"][2:],
        "dataset": source.dataset,
        "codebook": {key: draft[key] for key in draft if key not in {"draft", "schema"}},
    }


def preview(form: Fields) -> dict[str, Any]:
    """Return how many values each column of a code book has, the first of them, or what is wrong.

    An unfinished code book is usually wrong, so an error is an answer, not a refusal. If a cell
    is typed, each column states what it counts as.
    """
    descriptor = confirmed(form)
    cell = form.get("cell") or ""
    if not isinstance(cell, str):
        raise TypeError(refusal("cell", "be text", cell))
    lines = [_line(descriptor, field, cell) for field in descriptor["schema"]["fields"]]
    has_errors, wrong = any(line["error"] for line in lines), ""
    if not has_errors:
        try:
            check_parents(book_of(descriptor).parents or {})
        except (TypeError, ValueError) as error:
            wrong = str(error)
    return {
        "columns": lines,
        "error": wrong,
        "is_complete": not (has_errors or wrong),
        "codebook": {"$schema": PROFILE, **descriptor},
    }


def _line(descriptor: dict[str, Any], field: dict[str, Any], cell: str) -> dict[str, Any]:
    """Return how many values one column has, the first of them, and what other cells count as."""
    schema = {**descriptor["schema"], "fields": [{**field, "parents": []}]}
    try:
        (known,) = CodeBook.of({**descriptor, "schema": schema}).fields
    except (TypeError, ValueError) as error:
        wrong = str(error).removeprefix("schema.fields[0]").lstrip(".: ")
        return {"column": field.get("name"), "k": None, "values": "", "rest": "", "error": wrong}
    rest = f"anything else is “{known.other}”"
    if known.outside is not None:
        rest = f"anything else counts as {known[known.outside]}"
    if cell:
        place = known.axis.place(cell)
        outside = known.axis.listed if known.outside is None else known.outside
        rest += f"; “{cell}” counts as “{known[outside if place is None else place]}”"
    line = line_of(known)
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
    """Return the descriptor of a code book; refuse one that is malformed or takes long to read."""
    book: Any = form.get("codebook")
    match book:
        case {"schema": {"fields": list(fields)}} if all(isinstance(one, dict) for one in fields):
            if len(fields) > _MOST_FIELDS:
                raise ValueError(f"codebook must have at most {_MOST_FIELDS} columns.")
            return cast("dict[str, Any]", book)
    raise ValueError("codebook must be an object with schema.fields, a list of columns.")


def confirmed(form: Fields) -> dict[str, Any]:
    """Return a descriptor without its mark as a draft: its sender sees it on the page."""
    return {key: value for key, value in descriptor_of(form).items() if key != "draft"}
