"""A draft of a code book from header and schema: names, types, enumerations, never a value."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Unpack

from dproo.core.checks import exact
from dproo.counting.fit import Column, looks_like_record, named
from dproo.counting.layout import PLAIN, Layout, LayoutOptions
from dproo.counting.source import describe
from dproo.counting.sql import statements as sql
from dproo.schema.lookup import named_other

PROFILE = "https://datapackage.org/profiles/2.0/dataresource.json"
TO_DO = "TODO: "
FILL_IN = "Fill in what is marked TODO from public knowledge, never by looking at the data."
REMOVE = "Remove the columns that are not to be released, then this key, 'draft'."

_VALUES = TO_DO + "list every value that could occur"
_TYPES: dict[str, tuple[str, dict[str, Any]]] = {
    sql.TEXT: ("string", {"categories": _VALUES}),
    sql.ANY: ("string", {"categories": _VALUES}),
    sql.INTEGER: ("integer", {"constraints": {"minimum": TO_DO, "maximum": TO_DO}}),
    sql.DECIMAL: ("number", {"bins": TO_DO + "list the edges, in increasing order"}),
    sql.FLOAT: ("number", {"bins": TO_DO + "list the edges, in increasing order"}),
    sql.BOOLEAN: ("boolean", {}),
    **dict.fromkeys(
        (sql.DATE, sql.TIMESTAMP, sql.INSTANT),
        (
            "yearmonth",
            {"constraints": {"minimum": TO_DO + "YYYY-MM", "maximum": TO_DO + "YYYY-MM"}},
        ),
    ),
}
_UNTYPED = {
    "categories": TO_DO + "list every value that could occur; or set type to integer, number or"
    " yearmonth and give constraints or bins instead"
}


def draft_codebook(
    data: Any,
    *,
    table: str | tuple[str, ...] | None = None,
    **reading: Unpack[LayoutOptions],
) -> dict[str, Any]:
    """Draft a code book of a file, a table or a frame, from header and schema alone.

    No record is read. What a person must fill in is marked ``TODO``, and no release takes the
    draft until its key ``draft`` is gone.

    Args:
        data: a file with a header or a schema, a frame, a ``postgresql://`` URL, a connection.
        table: the table of a database.
        reading: parts of the layout, as for :func:`dproo.open`.

    >>> import polars
    >>> field, = draft_codebook(polars.DataFrame({"age": [37]}))["schema"]["fields"]
    >>> field
    {'name': 'age', 'type': 'integer', 'constraints': {'minimum': 'TODO: ', 'maximum': 'TODO: '}}

    Raises:
        TypeError: the data has neither header nor schema.
        ValueError: it cannot be read, or its first line is not a header.
    """
    layout = Layout(**reading)
    data, table = exact(data) if isinstance(data, str) else data, exact(table)
    columns = describe(data, table=table, layout=layout)
    is_path = isinstance(data, str | os.PathLike)
    is_text = is_path and all(column.type_name == "text" for column in columns)
    names = [column.name for column in columns]
    is_repeated = len(set(named(names))) < len(named(names))
    # A draft must not hold a record.
    if is_text and (is_repeated or looks_like_record(names)):
        raise ValueError(
            "data must have a header line with a name for each column, once; its first line looks"
            " like a record. Add a header line."
        )
    if is_text:
        columns = tuple(column for column in columns if column.name)
    known = [column for column in columns if column.kind in _TYPES]
    left_out = [column.name for column in columns if column.kind not in _TYPES]
    notes = []
    if left_out:
        notes = [f"Left out, because their types hold no letters: {', '.join(left_out)}."]
    fields = [_field(column, is_text=is_text) for column in known]
    return drafted(notes, resource_of(data, table, layout), fields)


def drafted(
    notes: Sequence[str], resource: dict[str, Any], fields: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Return a draft: what a person must do, what is known about the data, and its columns."""
    return {
        "$schema": PROFILE,
        "draft": [FILL_IN, REMOVE, *notes],
        **resource,
        "schema": {"fieldsMatch": "subset", "missingValues": [""], "fields": list(fields)},
    }


def _field(column: Column, *, is_text: bool) -> dict[str, Any]:
    kind, letters = _TYPES[str(column.kind)]
    known = {"type": kind, **(_UNTYPED if is_text else letters)}
    return {"name": column.name, **(letters_of_type(column.values) if column.values else known)}


def letters_of_type(values: Sequence[str]) -> dict[str, Any]:
    """Return the keys of a column whose type lists its values.

    An empty text is a missing cell. If a value is ``"other"``, all other cells are called
    something else.

    >>> letters_of_type(["", "female", "male", "other"])
    {'type': 'string', 'categories': ['female', 'male', 'other'], 'other': 'any other'}
    """
    letters = [value for value in values if value]
    return {"type": "string", "categories": letters, **named_other(letters)}


def resource_of(data: Any, table: str | tuple[str, ...] | None, layout: Layout) -> dict[str, Any]:
    """Return the parts of a descriptor other than its columns; they hold no folder or address."""
    name = "data"
    resource: dict[str, Any] = {}
    if table is not None:
        name = table if isinstance(table, str) else ".".join(table)
        resource["dialect"] = {"table": name}
    elif isinstance(data, str | os.PathLike):
        path = Path(os.fspath(data))
        name = path.name.partition(".")[0]
        if path.name.isprintable():
            resource["path"] = path.name
    if layout.encoding is not None:
        resource["encoding"] = layout.encoding
    known = {
        "delimiter": layout.delimiter,
        "quoteChar": layout.quote if layout.quote != PLAIN.quote else None,
        "headerRows": [layout.skip_rows + 1] if layout.skip_rows else None,
        "commentChar": layout.comment or None,
    }
    if dialect := {key: value for key, value in known.items() if value is not None}:
        resource["dialect"] = resource.get("dialect", {}) | dialect
    return {"name": slug_of(name), **resource}


def slug_of(name: str) -> str:
    """Return a name as the standard allows it."""
    return re.sub("[^a-z0-9._-]+", "-", name.lower()).strip("-") or "data"
