"""The labels of values in the header of an SPSS or Stata file; no row is read.

Whoever designed a survey wrote most of them; but Stata's ``encode`` makes labels of the data. So
they are listed only where somebody asks for them, to confirm each, and no release takes them by
itself.
"""

from __future__ import annotations

from typing import Any

from dproo.counting.sources.rows.statistics import header_of, labels_of
from dproo.schema.lookup import field_of

LABELS = (
    "Labels of the file are listed as values: keep those that were written before the data was"
    " seen. Stata's 'encode' makes labels of the data: remove such."
)
EVERY = "Check that every value that could occur has a label: labels need not name them all."


def with_labels(draft: dict[str, Any], path: str, suffix: str) -> dict[str, Any]:
    """Return a draft of a file with the values that have labels listed."""
    header = header_of(path, suffix, path=path, name="file")
    named = [name for name in header.column_names if labels_of(header, name)]
    listed = {name: field for name in named if (field := _field(header, name))["categories"]}
    fields = [listed.get(field["name"], field) for field in draft["schema"]["fields"]]
    notes = [*draft["draft"], LABELS, EVERY] if listed else draft["draft"]
    return draft | {"draft": notes, "schema": draft["schema"] | {"fields": fields}}


def _field(header: Any, name: str) -> dict[str, Any]:
    labels = labels_of(header, name)
    is_text = header.readstat_variable_types.get(name) == "string"
    # Not missing_user_values, which is collected from rows.
    ranges = header.missing_ranges.get(name, [])
    missing = [value for value in labels if _is_missing(value, ranges, is_text=is_text)]
    listed = [(_text(value), label) for value, label in labels.items() if value not in missing]
    if not is_text and any(not value.removeprefix("-").isdecimal() for value, _ in listed):
        listed = [(label, "") for _, label in listed]  # cells are read by labels then
    texts = [_text(value) for value in missing]
    return field_of(name, listed) | ({"missingValues": ["", *texts]} if texts else {})


def _is_missing(value: Any, ranges: Any, *, is_text: bool) -> bool:
    if not is_text and isinstance(value, str):
        return True  # a letter code of Stata
    return any(part["lo"] <= value <= part["hi"] for part in ranges)


def _text(value: Any) -> str:
    """Return a value as text; SPSS keeps every number as a float."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
