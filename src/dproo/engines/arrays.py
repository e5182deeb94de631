"""NumPy arrays: their cells become Python values, a part at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dproo.engines.asked import Asked
from dproo.engines.cells import count_records
from dproo.engines.query import refuse_type
from dproo.engines.scan import Scan

_CHUNK = 1 << 16
_DOUBLE = 8  # bytes


def open_scan(data: Any, asked: Asked) -> Scan | None:
    """Return the scan of an array, or nothing if the data are no array.

    Raises:
        ValueError: its shape is not that of the alphabet's columns, or its cells are no letters.
    """
    if asked.table is not None or type(data).__module__.partition(".")[0] != "numpy":
        return None
    _check(data, asked.read if asked.alphabets[0].columns or asked.person else ())
    return Scan(engine="cells", _asked=asked, _read=lambda: count_records(_cells(data), asked))


def _check(array: Any, columns: Sequence[str]) -> None:
    """Refuse an array by its type: its number of dimensions and of columns, its cells' type."""
    if array.shape[1:] != ((len(columns),) if columns else ()) or not array.ndim:
        shape = f"have shape (n, {len(columns)})" if columns else "have one dimension"
        raise ValueError(f"data must {shape}.")
    is_day = array.dtype.kind == "M" and array.dtype.str[1:] == "M8[D]"
    is_double = array.dtype.kind == "f" and array.dtype.itemsize <= _DOUBLE
    if not (is_day or is_double or array.dtype.kind in "OUTbiu"):
        refuse_type(columns[0] if columns else "data", str(array.dtype))


def _cells(array: Any) -> Iterator[object]:
    for start in range(0, len(array), _CHUNK):
        yield from array[start : start + _CHUNK].tolist()
