"""Drafts of code books from lookup tables, data dictionaries, and SPSS or Stata files.

Most labels of an SPSS or Stata file were written by the designer of the survey, but Stata's
``encode`` makes labels of the data. So no release uses a draft before a person has confirmed it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dproo.codebooks.draft import draft_codebook, drafted, slug_of
from dproo.codebooks.redcap import fields_of_dictionary, is_dictionary
from dproo.core.checks import exact, needing, one_of, refusal
from dproo.core.paths import BYTES_MAX, Origin, path_of, read_public, require_public
from dproo.counting.sources.rows.statistics import SPSS, STATA, header_of, labels_of
from dproo.schema.lookup import LEADING_ZEROS, field_of, fields_of_lookup, table_rows

EXCEL = (".xlsx", ".xlsm", ".xls", ".xlsb", ".ods")
LABELS = (
    "Labels of the file are listed as values: keep those that were written before the data was"
    " seen. Stata's 'encode' makes labels of the data: remove such."
)
EVERY = "Check that every value that could occur has a label: labels need not name them all."

_TABLES = (".csv", ".tsv", ".txt", *EXCEL)


def import_codebook(path: str | os.PathLike[str], *, column: str | None = None) -> dict[str, Any]:
    """Draft a code book from one in another form; a person completes and confirms it.

    Args:
        path: a lookup table (CSV or Excel: value and label; or column, value and label), a data
            dictionary of REDCap (CSV), or an SPSS or Stata file (only its header is read).
        column: the column that a lookup table lists the values of.

    Raises:
        ValueError: it is of no such form, or cannot be read.
    """
    name, column = str(path_of("path", path)), exact(column)
    suffix = Path(name).suffix.lower()
    one_of("the end of the file's name", suffix, (*_TABLES, *SPSS, *STATA))
    if column is not None and suffix not in _TABLES:
        raise ValueError(refusal("column", "be given with a lookup table only", column))
    if suffix in (*SPSS, *STATA):
        return _with_labels(draft_codebook(name), name, suffix)
    notes: list[str] = []
    rows = _rows(name)
    if is_dictionary(rows[0]) and column is None:
        fields, left_out = fields_of_dictionary(rows)
        if left_out:
            notes = [f"Left out, as identifiers or without values: {', '.join(left_out)}."]
    else:
        fields = fields_of_lookup(rows, column)
        notes = [LEADING_ZEROS] if suffix in EXCEL else []
    return drafted(notes, {"name": slug_of(Path(name).stem)}, fields)


def _rows(name: str) -> list[list[str]]:
    """Return the rows of a public CSV or Excel file, blank ones left out."""
    is_excel = Path(name).suffix.lower() in EXCEL
    rows = _excel_rows(name) if is_excel else table_rows(read_public("file", name))
    if rows is None:
        raise ValueError(refusal("file", "be a readable CSV file", name))
    if len(rows) < 2:
        raise ValueError(refusal("file", "have a header and a row below it", name))
    return rows


def _excel_rows(name: str) -> list[list[str]]:
    with needing("python-calamine", extra="excel"):
        from python_calamine import CalamineWorkbook  # noqa: PLC0415 - an extra
    require_public("file", _origin(name, ()))
    try:
        is_short = Path(name).stat().st_size <= BYTES_MAX
        workbook: Any = CalamineWorkbook.from_path(name) if is_short else None
        cells = workbook.get_sheet_by_index(0).to_python()
    except Exception:  # noqa: BLE001 - the library may raise anything
        raise ValueError(refusal("file", "be a readable Excel file", name)) from None
    rows = [[_text(cell) for cell in row] for row in cells]
    require_public("file", _origin(name, rows[0] if rows else ()))
    rows = [[cell.strip() for cell in row] for row in rows]
    return [row for row in rows if any(row)]


def _origin(name: str, header: Sequence[str]) -> Origin:
    try:
        return Origin.of(name, header)
    except OSError:
        raise ValueError(refusal("file", "be a readable Excel file", name)) from None


def _with_labels(draft: dict[str, Any], path: str, suffix: str) -> dict[str, Any]:
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
        different = dict.fromkeys(label for _, label in listed)
        listed = [(label, "") for label in different]  # such cells are read as their labels
    texts = [_text(value) for value in missing]
    return field_of(name, listed) | ({"missingValues": ["", *texts]} if texts else {})


def _is_missing(value: Any, ranges: Any, *, is_text: bool) -> bool:
    if not is_text and isinstance(value, str):
        return True  # a letter code of Stata
    return any(part["lo"] <= value <= part["hi"] for part in ranges)


def _text(value: Any) -> str:
    """Return a value as text; SPSS and Excel store every number as a float."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
