"""Data dictionaries of REDCap: one row per variable, choices split by bars."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from dproo.codebooks.draft import TO_DO
from dproo.schema.cell import INTEGER_TEXT
from dproo.schema.lookup import field_of, listed_once

# Names in the file that is downloaded, and in the one that the API returns.
_NAMES = {
    "name": ("variable / field name", "field_name"),
    "type": ("field type", "field_type"),
    "choices": ("choices, calculations, or slider labels", "select_choices_or_calculations"),
    "check": (
        "text validation type or show slider number",
        "text_validation_type_or_show_slider_number",
    ),
    "low": ("text validation min", "text_validation_min"),
    "high": ("text validation max", "text_validation_max"),
    "identifier": ("identifier?", "identifier"),
}
_CHOICES = {"radio", "dropdown"}
_NO_DATA = {"descriptive", "file", "notes", "calc", "sql"}


def is_dictionary(header: Sequence[str]) -> bool:
    """Return whether this is the header of a REDCap data dictionary."""
    known = {name.lower() for name in header}
    return all(known & set(_NAMES[part]) for part in ("name", "type", "choices"))


def fields_of_dictionary(
    rows: Sequence[Sequence[str]],
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the fields of a data dictionary, and the variables that are left out."""
    header = [name.lower() for name in rows[0]]
    places = {
        part: next((header.index(name) for name in names if name in header), None)
        for part, names in _NAMES.items()
    }
    fields: list[dict[str, Any]] = []
    left_out: list[str] = []
    for row in rows[1:]:
        variable = {
            part: row[place] if place is not None and place < len(row) else ""
            for part, place in places.items()
        }
        described = _fields(variable)
        fields += described
        left_out += [] if described else [variable["name"]]
    return fields, left_out


def _fields(variable: dict[str, str]) -> list[dict[str, Any]]:
    name, kind = variable["name"], variable["type"].lower()
    if variable["identifier"].lower() == "y" or kind in _NO_DATA:
        return []
    if kind in _CHOICES:
        return [field_of(name, _choices(variable["choices"]))]
    if kind == "checkbox":  # a column for each choice
        return [
            field_of(
                f"{name}___{re.sub('[^a-z0-9_]', '_', code.lower())}", [("0", ""), ("1", label)]
            )
            for code, label in listed_once(name, _choices(variable["choices"]))
        ]
    if kind in {"yesno", "truefalse"}:
        return [field_of(name, [("0", "no"), ("1", "yes")])]
    return [_unlisted(variable)]


def _unlisted(variable: dict[str, str]) -> dict[str, Any]:
    """Return the field of a variable without choices, by how its text is validated."""
    name, check = variable["name"], variable["check"]
    if variable["type"].lower() == "slider":
        return _range(name, variable["low"] or "0", variable["high"] or "100")
    if check.startswith("integer"):
        return _range(name, variable["low"], variable["high"])
    if check.startswith("number"):
        return {"name": name, "type": "number", "bins": TO_DO + "list the edges"}
    if check.startswith("date"):
        ends = {"minimum": TO_DO + "YYYY-MM", "maximum": TO_DO + "YYYY-MM"}
        return {"name": name, "type": "yearmonth", "constraints": ends}
    return {"name": name, "type": "string", "categories": TO_DO + "list every value"}


def _choices(text: str) -> list[tuple[str, str]]:
    parts = (choice.partition(",") for choice in text.split("|"))
    return [(code.strip(), label.strip()) for code, _, label in parts if code.strip()]


def _range(name: str, low: str, high: str) -> dict[str, Any]:
    ends = {
        key: int(end) if re.fullmatch(INTEGER_TEXT, end) else TO_DO
        for key, end in (("minimum", low), ("maximum", high))
    }
    return {"name": name, "type": "integer", "constraints": ends}
