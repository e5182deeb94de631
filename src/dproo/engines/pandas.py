"""Columns of pandas: objects one by one, the others as Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from importlib.util import find_spec
from typing import Any

from dproo.alphabet import Alphabet
from dproo.engines import arrow
from dproo.engines.cells import count_cells
from dproo.engines.tally import Tally

_PLAIN = {
    "boolean",
    "bool",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    "float32",
    "float64",
}

_FIRST, _LAST = date.min.isoformat(), date.max.isoformat()


def count_pandas(columns: Sequence[Any], *, alphabet: Alphabet) -> Tally | None:
    """Count columns of pandas; nothing where they are plain numbers and there is no Arrow."""
    columns = [_days(column) for column in columns]
    if any(_is_of_objects(column.dtype) for column in columns):
        cells = [_values(column) for column in columns]
        rows = zip(*cells, strict=True) if alphabet.columns else cells[0]
        return count_cells(rows, alphabet=alphabet)
    if any(is_arrow(column.dtype) for column in columns) or _is_arrow_there(columns):
        return arrow.count_arrow([_chunked(column) for column in columns], alphabet=alphabet)
    return None


def _days(column: Any) -> Any:
    """Return a column of timestamps as categories of the days in UTC, any other as it is."""
    if is_arrow(column.dtype) or column.dtype.kind != "M":
        return column
    moments = column if column.dt.tz is None else column.dt.tz_convert("UTC")
    cells = moments.dt.tz_localize(None).to_numpy().astype("M8[D]")
    day = cells.dtype.type
    cells[(cells < day(_FIRST)) | (cells > day(_LAST))] = day("NaT")
    days = type(column)(cells.astype("M8[s]")).astype("category")
    return days.cat.rename_categories([day.date() for day in days.cat.categories])


def is_arrow(dtype: Any) -> bool:
    """Tell whether a type of pandas keeps its cells as Arrow."""
    is_text = type(dtype).__name__ == "StringDtype" and dtype.storage == "pyarrow"
    return is_text or type(dtype).__name__ == "ArrowDtype"


def _is_of_objects(dtype: Any) -> bool:
    """Tell whether cells are Python objects, or categories, which may be of any type."""
    return dtype.kind == "O" and not is_arrow(dtype)


def _is_arrow_there(columns: Sequence[Any]) -> bool:
    """Tell whether numbers can be had as Arrow, which maps them to letters several times faster."""
    are_plain = all(
        type(column).__module__.partition(".")[0] == "pandas"
        and str(column.dtype).lower() in _PLAIN
        for column in columns
    )
    return are_plain and find_spec("pyarrow") is not None


def _chunked(column: Any) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - where pandas has columns of it

    cells = pa.array(column, from_pandas=True)
    return cells if isinstance(cells, pa.ChunkedArray) else pa.chunked_array([cells])


def values(column: Any) -> list[Any]:
    """Return all cells of a column as Python values, of timestamps the days."""
    return _values(_days(column))


def _values(column: Any) -> list[Any]:
    if type(column.dtype).__name__ == "CategoricalDtype":
        categories = [*_values(column.cat.categories.to_series()), None]
        return [categories[code] for code in column.cat.codes]  # none is the last, -1
    if is_arrow(column.dtype):
        return arrow.values(_chunked(column))
    return list(column.to_list())
