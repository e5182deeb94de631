"""Lookup tables: a value and its label in each row, of one column or of several."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from io import StringIO
from typing import Any

from dproo.core.checks import refusal
from dproo.schema.alphabet import Alphabet
from dproo.schema.axis import OTHER, Axis, Bins, IntegerRange
from dproo.schema.cell import INTEGER_TEXT
from dproo.schema.reading import DATE

_COLUMN = {"column", "variable", "field", "variable name", "field name"}
_WIDEST = 3
LEADING_ZEROS = "Excel turns 001 into 1: compare the values with the data's documentation."


def fields_of_lookup(rows: Sequence[Sequence[str]], column: str | None) -> list[dict[str, Any]]:
    """Return the fields of a lookup table.

    Its columns are value and label, or column, value and label if the first is called so. Without
    a column of names, all values belong to ``column``, by default the first name of the header.

    >>> fields_of_lookup([["sex", "label"], ["1", "female"], ["2", "male"]], None)[0]["type"]
    'integer'

    Raises:
        ValueError: it has more columns, so it may be data, from which nothing may be taken.
    """
    header, *entries = rows
    if len(header) > _WIDEST:
        raise ValueError(
            "file must be a lookup table of values and labels, got one with more columns."
            " To draft a code book of data: dproo.draft_codebook(DATA)."
        )
    if header[0].lower() in _COLUMN and len(header) > 1:
        if column is not None:
            raise ValueError(refusal("column", "be left out: the table names the columns", column))
        names = dict.fromkeys(row[0] for row in entries if row[0])
        return [
            field_of(name, [_entry(row[1:]) for row in entries if row[0] == name]) for name in names
        ]
    return [field_of(column or header[0], [_entry(row) for row in entries])]


def _entry(cells: Sequence[str]) -> tuple[str, str]:
    """Return a value and its label; commas may make each edge of bins a cell."""
    if cells and cells[0].startswith("bins:"):
        return ",".join(filter(None, cells)), ""
    value, label, *_ = (*cells, "", "")  # a row may end early
    return value, label


def table_rows(text: str) -> list[list[str]] | None:
    """Return the rows of a small CSV file without blank ones, or None if it is not CSV.

    The separator is the most frequent one in the first line. Blanks around cells are stripped.
    """
    delimiter = max(",;\t|", key=text.partition("\n")[0].count)
    try:
        rows = list(csv.reader(StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error:
        return None
    return [cells for row in rows if any(cells := [cell.strip() for cell in row])]


def described(text: str) -> dict[str, Any] | None:
    """Return the descriptor of a table of column, value and label, or None for another table.

    Instead of listing values, a column may have one line such as ``0..120``, ``bins:0,18,65`` or
    ``2024-01..2025-01``.

    >>> described("column,value\\nsex,f\\nsex,m\\nage,0..120")["schema"]["fields"][1]["type"]
    'integer'
    """
    rows = table_rows(text) or [[]]
    is_table = len(rows) > 1 and 1 < len(rows[0]) <= _WIDEST and rows[0][0].lower() in _COLUMN
    if not is_table or any(len(row) < 2 for row in rows):
        return None
    return {"schema": {"fields": fields_of_lookup(rows, None)}}


def field_of(name: str, entries: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return the field of a column with these values and labels."""
    listed = listed_once(name, entries)
    if len(listed) == 1:
        try:
            spelled = Alphabet.spelled(listed[0][0])
        except ValueError as error:
            raise ValueError(f"column {name!r}: {error}") from None
        if spelled is not None:
            return {"name": name, **_declared(spelled.axes[0])}
    is_integer = bool(listed) and all(re.fullmatch(INTEGER_TEXT, value) for value, _ in listed)
    categories = [
        {"value": int(value) if is_integer else value, **({"label": label} if label else {})}
        for value, label in listed
    ]
    kind = "integer" if is_integer else "string"
    named = named_other([value for value, _ in listed])
    return {"name": name, "type": kind, "categories": categories, **named}


def named_other(values: Sequence[str]) -> dict[str, str]:
    """Return the key that names all other cells of a column, if a value has their usual name.

    >>> named_other(["a", "b"]), named_other(["a", "other"])
    ({}, {'other': 'any other'})
    """
    other: str = OTHER
    while other in values:
        other = f"any {other}"
    return {"other": other} if other != OTHER else {}


def _declared(axis: Axis) -> dict[str, Any]:
    """Return the keys of a field with letters that a text spells out."""
    if isinstance(axis, Bins):
        return {"type": "number", "bins": list(axis.edges)}
    kind = "date" if axis.reading.kind == DATE else "yearmonth"
    return {
        "type": "integer" if isinstance(axis, IntegerRange) else kind,
        "constraints": {"minimum": axis.letter(0), "maximum": axis.letter(axis.listed - 1)},
    }


def listed_once(name: str, entries: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the entries of a column that have a value.

    Raises:
        ValueError: a value is listed twice, so that it is not clear which label it has.
    """
    listed = [(value, label) for value, label in entries if value]
    for value, times in Counter(value for value, _ in listed).items():
        if times > 1:
            raise ValueError(refusal(f"column {name!r}", "list each value once", value))
    return listed
