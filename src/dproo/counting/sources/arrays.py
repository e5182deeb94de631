"""NumPy arrays, whose cells become Python values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from dproo.counting.cells import cells_of, count_records
from dproo.counting.fit import Column, check_fit
from dproo.counting.query import CountQuery
from dproo.counting.scan import Scan
from dproo.counting.sources.arrow import ROWS
from dproo.counting.sources.frames import pandas_kind
from dproo.counting.sql import statements as sql
from dproo.counting.table import Table
from dproo.schema.cell import BEYOND, FINE, library_of

_LONG = re.compile(r"\[[0-9]*[YMWD]\]$")  # a unit of at least a day


def open_table(data: Any, query: CountQuery) -> Table | None:
    """Return an array as a table whose columns have no names, or None if data is not an array."""
    is_array = library_of(data) == "numpy" and hasattr(data, "shape")
    if query.table is not None or not is_array:
        return None
    return Table(columns=None, plan=lambda _, query: _planned_array(data, query))


def _planned_array(data: Any, query: CountQuery) -> Scan:
    if query.person is not None:
        raise ValueError(
            "person must be the name of a column, but columns of an array have no names. Make a"
            " frame of it: pandas.DataFrame(data, columns=[...])."
        )
    is_part = {*query.columns} < {*query.order}  # a later stage counts some of the columns
    names = query.order if is_part else query.columns
    columns = _array_columns(data, names if query.alphabets[0].columns else ())
    if is_part:
        columns = tuple(columns[names.index(name)] for name in query.columns)

    def records() -> Iterator[object]:
        rows = _array_cells(data)
        return (cells_of(row, query.columns, order=names) for row in rows) if is_part else rows

    return Scan(
        engine="cells",
        columns=columns,
        warnings=check_fit(columns, query.axes),
        _query=query,
        _read=lambda: count_records(records(), query),
    )


def _array_columns(array: Any, columns: Sequence[str]) -> tuple[Column, ...]:
    """Return the columns of an array, which must have as many dimensions and columns."""
    if array.shape[1:] != ((len(columns),) if columns else ()) or not array.ndim:
        shape = f"have shape (n, {len(columns)})" if columns else "have one dimension"
        raise ValueError(f"data must {shape}.")
    kind = sql.TEXT if array.dtype.kind in "UT" else pandas_kind(array.dtype)
    if array.dtype.kind == "M" and array.dtype.str[1:] == "M8[D]":
        kind = sql.DATE
    name = array.dtype.type.__name__.rstrip("_")  # without the length of the longest cell
    return tuple(Column(name=column, kind=kind, type_name=name) for column in columns or ["data"])


def _array_cells(array: Any) -> Iterator[object]:
    for start in range(0, len(array), ROWS):
        part = array[start : start + ROWS]
        yield from _calendar(_days(part).tolist()) if array.dtype.kind == "M" else part.tolist()


def _calendar(cells: list[Any]) -> Iterator[Any]:
    """Yield the days of an array, or its rows; beyond the calendar NumPy returns integers."""
    for cell in cells:
        is_row, is_beyond = isinstance(cell, list), isinstance(cell, int)
        yield list(_calendar(cell)) if is_row else BEYOND if is_beyond else cell


def _days(moments: Any) -> Any:
    """Return the days of moments: NumPy converts these to dates, but some moments to integers."""
    if moments.dtype.name.endswith(FINE):
        moments = moments.astype("M8[us]")  # NumPy cannot convert some finer units to days
    days = moments.astype("M8[D]")
    if _LONG.search(moments.dtype.name):
        days[days.astype(moments.dtype) != moments] = "NaT"  # so far away that it overflowed
    return days
