"""Lookup tables: a value and its label in each row, of one column or of several."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from dproo.core.checks import refusal
from dproo.schema.cell import INTEGER_TEXT

_COLUMN = {"column", "variable", "field", "variable name", "field name"}
_WIDEST = 3
LEADING_ZEROS = "Excel turns 001 into 1: compare the values with the data's documentation."


def fields_of_lookup(rows: Sequence[Sequence[str]], column: str | None) -> list[dict[str, Any]]:
    """Return the fields of a lookup table.

    Its columns are value and label; or column, value and label, by the name of the first.

    Args:
        rows: the table, its header first.
        column: the column that it lists the values of, by default the first name of the header.

    >>> fields_of_lookup([["sex", "label"], ["1", "female"], ["2", "male"]], None)[0]["type"]
    'integer'

    Raises:
        ValueError: it has more columns, as data have, which nothing may be taken from.
    """
    header, *entries = rows
    if len(header) > _WIDEST:
        raise ValueError(
            "file must be a lookup table of values and labels, got one with more columns."
            " Of data, draft a code book: dproo codebook draft DATA."
        )
    if header[0].lower() in _COLUMN and len(header) > 1:
        if column is not None:
            raise ValueError(refusal("column", "be left out: the table names the columns", column))
        names = dict.fromkeys(row[0] for row in entries if row[0])
        return [
            field_of(name, [(row[1], _label(row, 2)) for row in entries if row[0] == name])
            for name in names
        ]
    return [field_of(column or header[0], [(row[0], _label(row, 1)) for row in entries])]


def field_of(name: str, entries: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return the field of a column with these values and labels."""
    listed = [(value, label) for value, label in entries if value]
    is_integer = bool(listed) and all(re.fullmatch(INTEGER_TEXT, value) for value, _ in listed)
    categories = [
        {"value": int(value) if is_integer else value, **({"label": label} if label else {})}
        for value, label in dict(listed).items()
    ]
    return {
        "name": name,
        "type": "integer" if is_integer else "string",
        "categories": categories,
    }


def _label(row: Sequence[str], place: int) -> str:
    return row[place] if place < len(row) else ""
