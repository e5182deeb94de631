"""Headers of SPSS and Stata files: variables and the labels of their values; no row is read."""

from __future__ import annotations

from typing import Any

from dproo.codebooks.draft import TO_DO
from dproo.counting.sources.rows.statistics import header_of
from dproo.schema.lookup import field_of


def fields_of_header(path: str, suffix: str) -> list[dict[str, Any]]:
    """Return the fields of a file of SPSS or Stata, by its header alone.

    Raises:
        ValueError: the library is not installed, or the file is not readable.
    """
    header = header_of(path, suffix, path=path, name="file")
    return [_field(header, name) for name in header.column_names]


def _field(header: Any, name: str) -> dict[str, Any]:
    labels = header.variable_value_labels.get(name, {})
    is_text = header.readstat_variable_types.get(name) == "string"
    # Not missing_user_values, which is collected from rows.
    ranges = header.missing_ranges.get(name, [])
    missing = [value for value in labels if _is_missing(value, ranges, is_text=is_text)]
    listed = [(_text(value), label) for value, label in labels.items() if value not in missing]
    if listed:
        field = field_of(name, listed)
    elif is_text:
        field = {"name": name, "type": "string", "categories": TO_DO + "list every value"}
    else:
        field = {"name": name, "type": "number", "bins": TO_DO + "list the edges"}
    texts = [_text(value) for value in missing]
    return {**field, "missingValues": ["", *texts]} if texts else field


def _is_missing(value: Any, ranges: Any, *, is_text: bool) -> bool:
    if not is_text and isinstance(value, str):
        return True  # a letter code of Stata
    return any(part["lo"] <= value <= part["hi"] for part in ranges)


def _text(value: Any) -> str:
    """Return a value as text; SPSS keeps every number as a float."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
