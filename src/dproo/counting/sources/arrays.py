"""NumPy arrays: their cells become Python values, chunk by chunk."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from dproo.counting.asked import Asked
from dproo.counting.cells import count_records
from dproo.counting.fit import Column, check_fit
from dproo.counting.scan import Scan
from dproo.counting.sources.frames import pandas_kind
from dproo.counting.sql import query as sql
from dproo.schema.cell import FINE

_CHUNK = 1 << 16
_LONG = re.compile(r"\[[0-9]*[YMWD]\]$")  # a unit of at least a day


def open_scan(data: Any, asked: Asked) -> Scan | None:
    """Return the scan of an array, or None if data is not an array.

    Raises:
        ValueError: its shape does not fit the alphabet's columns, or it holds no letters.
    """
    is_array = type(data).__module__.partition(".")[0] == "numpy" and hasattr(data, "shape")
    if asked.table is not None or not is_array:
        return None
    found = _columns(data, asked.read if asked.alphabets[0].columns or asked.person else ())
    return Scan(
        engine="cells",
        columns=found[: len(asked.axes)],
        warnings=check_fit(found, asked.axes),
        _asked=asked,
        _read=lambda: count_records(_cells(data), asked),
    )


def _columns(array: Any, columns: Sequence[str]) -> tuple[Column, ...]:
    """Return the columns of an array: its number of dimensions and of columns must fit."""
    if array.shape[1:] != ((len(columns),) if columns else ()) or not array.ndim:
        shape = f"have shape (n, {len(columns)})" if columns else "have one dimension"
        raise ValueError(f"data must {shape}.")
    kind = sql.TEXT if array.dtype.kind in "UT" else pandas_kind(array.dtype)
    if array.dtype.kind == "M" and array.dtype.str[1:] == "M8[D]":
        kind = sql.DATE
    name = array.dtype.type.__name__.rstrip("_")  # without the length of the longest cell
    return tuple(Column(name=column, kind=kind, type_name=name) for column in columns or ["data"])


def _cells(array: Any) -> Iterator[object]:
    for start in range(0, len(array), _CHUNK):
        part = array[start : start + _CHUNK]
        yield from (_days(part) if array.dtype.kind == "M" else part).tolist()


def _days(moments: Any) -> Any:
    """Return the days of moments, which NumPy converts to dates rather than integers."""
    if moments.dtype.name.endswith(FINE):
        moments = moments.astype("M8[us]")  # NumPy cannot convert some finer units to days
    days = moments.astype("M8[D]")
    if _LONG.search(moments.dtype.name):
        days[days.astype(moments.dtype) != moments] = "NaT"  # so far away that it overflowed
    return days
