"""The cells of a frame as letters: expressions of narwhals, equal in every library behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dproo.engines import frame_reading
from dproo.schema.axis import LONGEST_OPEN, Axis, Bins, IntegerRange, Letters, OpenText
from dproo.schema.cell import (
    EXACT_FLOAT,
    INTEGER_FOREIGN,
    INTEGER_TEXT,
    NUMBER_FOREIGN,
    NUMBER_TEXT,
)
from dproo.schema.reading import EXACT, INTEGER, NUMBER, YEAR


def key_of(column: Any, dtype: Any, axis: Axis, is_known: Any) -> tuple[Any, Any, str | float]:
    """Return a cell's key, whether it is a letter, and the key of all that is none.

    Args:
        column: the cells.
        dtype: their type.
        axis: the letters of the column.
        is_known: whether a cell is of a list of letters, where that was already looked up.
    """
    import narwhals as nw

    if isinstance(axis, Bins):
        number, is_number = _read_number(column, dtype, axis)
        low, high = axis.edges[0], axis.edges[-1]
        is_letter = is_number & number.is_between(low, high, closed="left")
        # A plain number: some engines read a long one as a decimal, and round the edges to it.
        outside = min(2 * low - 1, -1.0) if axis.is_open else low
        return _bin_key(number, axis.edges, axis.keys), is_letter.fill_null(value=False), outside
    text = read_text(column, dtype, axis)
    if isinstance(axis, IntegerRange):
        is_integer = _is_like(text, INTEGER_TEXT, INTEGER_FOREIGN)
        integer = nw.when(is_integer).then(text).otherwise(nw.lit("0")).cast(nw.Int64)
        is_letter = is_integer & integer.is_between(axis.start, axis.stop - 1)
    elif isinstance(axis, OpenText):
        is_letter = text.str.len_chars() <= LONGEST_OPEN
    else:
        assert isinstance(axis, Letters)  # noqa: S101 - for the type checker
        is_letter = text.is_in(list(axis.places)) if is_known is None else is_known
    return text, is_letter.fill_null(value=False), ""


def named_key_of(column: Any, dtype: Any, axis: Axis, is_known: Any) -> Any:
    """Return a cell's key as text, that of a bin its place, empty where it is no letter."""
    import narwhals as nw

    if isinstance(axis, Bins):
        number, is_number = _read_number(column, dtype, axis)
        is_letter = is_number & number.is_between(axis.edges[0], axis.edges[-1], closed="left")
        key = _bin_key(number, axis.edges, list(map(str, range(axis.listed))))
    else:
        key, is_letter, _ = key_of(column, dtype, axis, is_known)
    return nw.when(is_letter.fill_null(value=False)).then(key).otherwise(nw.lit(""))


def read_text(column: Any, dtype: Any, axis: Axis) -> Any:
    """Return the text that a cell is compared by, empty where it has none; never null."""
    import narwhals as nw

    text = text_of(column, dtype)
    kind = axis.reading.kind
    is_written = dtype == nw.String or kind != EXACT
    return frame_reading.read(text, axis) if axis.is_read and is_written else text


def text_of(column: Any, dtype: Any) -> Any:
    """Return the canonical text of a cell, empty where it has none; never null."""
    import narwhals as nw

    nothing = nw.lit("")
    if dtype == nw.String or dtype.is_integer():
        return column.cast(nw.String).fill_null("")
    if dtype.is_float():
        number, is_number = _number(column, dtype)
        is_exact = is_number & number.is_between(-EXACT_FLOAT, EXACT_FLOAT)
        is_exact = is_exact.fill_null(value=False)
        # Half is no integer; it keeps NaN and infinities out of what follows.
        number = nw.when(is_exact).then(number).otherwise(nw.lit(0.5))
        is_whole = (number.round(0) == number).fill_null(value=False)
        whole = nw.when(is_whole).then(number).otherwise(nw.lit(0.0)).cast(nw.Int64)
        return nw.when(is_whole).then(whole.cast(nw.String)).otherwise(nothing)
    if dtype.is_decimal():
        text = column.cast(nw.String).fill_null("").str.replace_all("^0E-[0-9]+$", "0")
        text = text.str.replace_all("[.]0+$", "")
        return nw.when(text.str.contains(INTEGER_FOREIGN)).then(nothing).otherwise(text)
    if dtype == nw.Boolean:
        text = nw.when(column.fill_null(value=False)).then(nw.lit("true"))
        return nw.when(column.is_null()).then(nothing).otherwise(text.otherwise(nw.lit("false")))
    if dtype == nw.Date:
        text = column.cast(nw.String).fill_null("")
        # Years before 0 and after 9999 are longer or shorter.
        is_day = (text.str.len_chars() == len("YYYY-MM-DD")) & ~text.str.starts_with("0000")
        return nw.when(is_day).then(text).otherwise(nothing)
    return nw.when(column.is_null()).then(nothing).otherwise(nothing)


def _read_number(column: Any, dtype: Any, axis: Bins) -> tuple[Any, Any]:
    """Return the number that a cell is compared by, and whether it has one."""
    import narwhals as nw

    kind = axis.reading.kind
    if kind == NUMBER and dtype == nw.String:
        number, is_number = frame_reading.number(text_of(column, dtype), axis)
    elif kind in {INTEGER, YEAR}:
        text = read_text(column, dtype, axis)
        is_number = text != ""
        number = nw.when(is_number).then(text).otherwise(nw.lit("0")).cast(nw.Float64)
    else:
        number, is_number = _number(column, dtype)
    for missing in axis.missing:
        is_number = is_number & (number != missing)
    return number, is_number


def _number(column: Any, dtype: Any) -> tuple[Any, Any]:
    """Return the double nearest to a cell, and whether the cell is a number."""
    import narwhals as nw

    if dtype.is_float():
        number = column.cast(nw.Float64)
        # DuckDB drops comparisons that hold for all values of a file but NaN.
        return number, ~column.is_null() & ~number.is_nan()
    if dtype.is_numeric():
        # By its text, which is rounded once and never refused.
        return column.cast(nw.String).fill_null("0").cast(nw.Float64), ~column.is_null()
    if dtype != nw.String:
        return nw.when(column.is_null()).then(nw.lit(0.0)).otherwise(nw.lit(0.0)), nw.lit(
            value=False
        )
    text = column.cast(nw.String).fill_null("")
    is_number = _is_like(text, NUMBER_TEXT, NUMBER_FOREIGN)
    return nw.when(is_number).then(text).otherwise(nw.lit("0")).cast(nw.Float64), is_number


def _is_like(text: Any, pattern: str, foreign: str) -> Any:
    # Pandas warns of groups that are captured.
    return ~text.str.contains(foreign) & text.str.contains(pattern.replace("(", "(?:"))


def _bin_key(number: Any, edges: Sequence[float], keys: Sequence[float | str]) -> Any:
    """Return the key of the bin that a number is in, by halving."""
    import narwhals as nw

    if len(keys) <= 1:
        return nw.lit(keys[0])
    middle = len(keys) // 2
    below = _bin_key(number, edges[: middle + 1], keys[:middle])
    above = _bin_key(number, edges[middle:], keys[middle:])
    return nw.when(number < edges[middle]).then(below).otherwise(above)
