"""The same rows as Excel, SPSS and Stata files, as far as these can hold them."""

from __future__ import annotations

import datetime as dt
import math
import zipfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import openpyxl
import pandas as pd
import pyarrow as pa
import pyreadstat

from dproo.schema.cell import text_of

EXACT = 2**53


def _excel_cell(cell: object) -> object:
    """Return a cell as Excel can hold it, nothing in place of one that it cannot."""
    if isinstance(cell, str):
        is_plain = bool(cell) and all(sign in "\n\t" or sign >= " " for sign in cell)
        return cell if is_plain else None
    if isinstance(cell, Decimal):
        return text_of(cell) or float(cell)
    if isinstance(cell, float):  # which openpyxl writes with 16 digits
        return cell if math.isfinite(cell) and float(f"{cell:.16g}") == cell else None
    if isinstance(cell, dt.date) and cell.year < 1901:
        return cell.isoformat()
    is_wide = isinstance(cell, int) and abs(cell) > EXACT
    return str(cell) if is_wide else cell


def _number(cell: object) -> object:
    """Return a number as a double, nothing in place of one that is none."""
    if isinstance(cell, int) and not isinstance(cell, bool):
        return float(cell) if abs(cell) <= EXACT else None
    if isinstance(cell, Decimal):
        return float(cell) if float(cell) == cell else None
    return cell if isinstance(cell, float) and math.isfinite(cell) else None


def _statistics_cell(cell: object, longest: int) -> object:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, str):
        # SPSS pads text with blanks.
        return cell if cell == cell.rstrip(" ") and len(cell) <= longest else None
    if isinstance(cell, dt.date):
        return cell if cell.year > 1900 else None
    return _number(cell)


def as_held(rows: pa.Table, hold: Callable[[object], object]) -> list[object]:
    return [hold(cell) for cell in rows["cell"].to_pylist()]


def write_excel(rows: pa.Table, path: Path) -> list[object]:
    """Write rows, and return the cells as they are held."""
    cells = as_held(rows, _excel_cell)
    book = openpyxl.Workbook()
    book.active.append(["table", "cell"])
    for place, cell in enumerate(cells, start=2):
        book.active.cell(place, 1, rows["table"][place - 2].as_py())
        written = book.active.cell(place, 2)
        written.value = cell
        if isinstance(cell, str):
            written.data_type = "s"  # and no formula
    book.save(path)
    return cells


def write_statistics(rows: pa.Table, path: Path) -> list[object]:
    """Write rows as SPSS or Stata, and return the cells as they are held."""
    is_spss = path.suffix == ".sav"
    cells = as_held(rows, lambda cell: _statistics_cell(cell, 32767 if is_spss else 2045))
    is_text = any(isinstance(cell, str) for cell in cells)
    plain = [("" if cell is None else cell) if is_text else cell for cell in cells]
    frame = pd.DataFrame({"table": rows["table"].to_pylist(), "cell": plain})
    if not is_text and not any(isinstance(cell, dt.date) for cell in cells):
        frame["cell"] = frame["cell"].astype(float)
    (pyreadstat.write_sav if is_spss else pyreadstat.write_dta)(frame, str(path))
    return cells


def excel(folder: Path, *rows: list[object], name: str = "a.xlsx", sheets: int = 1) -> Path:
    book = openpyxl.Workbook()
    for i in range(1, sheets):
        book.create_sheet(f"Sheet{i}")
    for row in rows:
        book.active.append(row)
    book.save(folder / name)
    return folder / name


def raw_sheet(
    folder: Path, cells: str, *, name: str = "a.xlsx", until: bytes = b"</sheetData>"
) -> Path:
    """Write a sheet with the records a, b and one more, whose cells are given, in their place."""
    path = excel(folder, ["code", "n"], ["a", 1], ["b", 2], name=name)
    with zipfile.ZipFile(path) as book:
        parts = {part: book.read(part) for part in book.namelist()}
    row = f'<row r="9"><c r="A9" t="str"><v>a</v></c>{cells}</row>'
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = parts[sheet].replace(until, row.encode() + until)
    with zipfile.ZipFile(path, "w") as book:
        for part, content in parts.items():
            book.writestr(part, content)
    return path
