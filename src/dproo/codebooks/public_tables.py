"""Small public tables, CSV or Excel, as rows of text: what code books are imported from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dproo.core.checks import needing, refusal
from dproo.core.paths import BYTES_MAX, Origin, read_public, require_public
from dproo.schema.lookup import table_rows

EXCEL = (".xlsx", ".xlsm", ".xls", ".xlsb", ".ods")


def read_rows(path: str | os.PathLike[str]) -> list[list[str]]:
    """Return the rows of a public CSV or Excel file, blank ones left out."""
    name = os.fspath(path)
    rows = _excel_rows(name) if Path(name).suffix.lower() in EXCEL else _csv_rows(name)
    rows = [[cell.strip() for cell in row] for row in rows]
    rows = [row for row in rows if any(row)]
    if len(rows) < 2:
        raise ValueError(refusal("file", "have a header and a row below it", name))
    return rows


def _csv_rows(name: str) -> list[list[str]]:
    rows = table_rows(read_public("file", name))
    if rows is None:
        raise ValueError(refusal("file", "be a readable CSV file", name))
    return rows


def _excel_rows(name: str) -> list[list[str]]:
    with needing("python-calamine", extra="excel"):
        from python_calamine import CalamineWorkbook  # noqa: PLC0415 - an extra
    require_public("file", _origin(name, ()))
    try:
        is_short = Path(name).stat().st_size <= BYTES_MAX
        workbook: Any = CalamineWorkbook.from_path(name) if is_short else None
        cells = workbook.get_sheet_by_index(0).to_python()
    except Exception:  # noqa: BLE001 - whatever the library raises
        raise ValueError(refusal("file", "be a readable Excel file", name)) from None
    rows = [[_text(cell) for cell in row] for row in cells]
    require_public("file", _origin(name, rows[0] if rows else ()))
    return rows


def _origin(name: str, header: Sequence[str]) -> Origin:
    try:
        return Origin.of(name, header)
    except OSError:
        raise ValueError(refusal("file", "be a readable Excel file", name)) from None


def _text(cell: Any) -> str:
    """Return a cell as text; Excel keeps every number as a float."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)
