"""Sheets of Excel files, by calamine.

A sheet is unpacked as a whole to find its header, and stays in memory until it is counted:
that is at most 2^20 rows. Before the charge only its first row is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dproo.core.arguments import refusal
from dproo.engines import query as sql
from dproo.engines.fit import Column

SUFFIXES = (".xlsx", ".xlsm", ".xls", ".xlsb", ".ods")
"""How the names of files end that hold sheets."""


def workbook_of(file: str, path: str, *, name: str) -> Any:
    """Return a workbook.

    Args:
        file: what to open.
        path: how a refusal calls it.
        name: the argument that it is.

    Raises:
        ValueError: the library is not installed, or the file is not readable.
    """
    try:
        from python_calamine import CalamineWorkbook  # noqa: PLC0415 - an extra
    except ImportError:
        raise ValueError(
            "python-calamine must be installed for this: pip install 'dproo[excel]'."
        ) from None
    try:
        with Path(file).open("rb") as content:
            return CalamineWorkbook.from_filelike(content)
    except Exception:  # noqa: BLE001 - of a library, in its own words
        raise ValueError(refusal(name, "be a readable Excel file", path)) from None


def sheet_of(file: str, path: str, table: str | tuple[str, ...] | None) -> Any:
    """Return a sheet of a workbook, by its name or because it is the only one.

    Raises:
        ValueError: there is no such sheet, or it cannot be read.
    """
    workbook = workbook_of(file, path, name="data")
    names = [sheet.name for sheet in workbook.sheets_metadata if _is_table(sheet)]
    if table is None and len(names) != 1:
        raise ValueError("table must name the sheet of an Excel file that has several.")
    wanted = names[0] if table is None else table
    if wanted not in names:
        raise ValueError(
            refusal("table", "be a sheet of the Excel file", wanted) + " Case and blanks count."
        )
    try:
        return workbook.get_sheet_by_name(wanted)
    except Exception:  # noqa: BLE001 - of a library, in its own words
        raise ValueError(refusal("data", "be a readable Excel file", path)) from None


def _is_table(sheet: Any) -> bool:
    """Tell a sheet of cells from a chart or a macro."""
    return bool(sheet.typ == type(sheet.typ).WorkSheet)


def columns_of(sheet: Any) -> tuple[Column, ...]:
    """Return the columns that the first row names; each cell has a type of its own.

    Raises:
        ValueError: there is none.
    """
    header: Sequence[Any] = () if sheet.start is None else next(sheet.iter_rows(), ())
    if not any(header):
        raise ValueError("data must be a sheet with a header row.")
    return tuple(Column(name=str(name).strip(), kind=sql.ANY, type_name="cell") for name in header)


def rows_of(sheet: Any, places: Sequence[int]) -> Iterator[Sequence[Any]]:
    """Yield the cells at these places of every row but the first.

    A row without any cell is no record, unless the sheet has only one column.
    """
    rows = sheet.iter_rows()
    next(rows, None)
    is_kept = sheet.width == 1
    for row in rows:
        if is_kept or any(cell != "" for cell in row):
            yield [row[place] for place in places]
