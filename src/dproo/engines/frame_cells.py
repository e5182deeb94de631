"""The cells of a frame as letters: expressions of narwhals, equal in every library behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dproo.alphabet.axis import Axis, Bins, IntegerRange, Letters
from dproo.alphabet.cell import (
    EXACT_FLOAT,
    INTEGER_FOREIGN,
    INTEGER_TEXT,
    NUMBER_FOREIGN,
    NUMBER_TEXT,
)


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
        number, is_number = _number(column, dtype)
        low, high = axis.edges[0], axis.edges[-1]
        is_letter = is_number & number.is_between(low, high, closed="left")
        # A plain number: some engines read a long one as a decimal, and round the edges to it.
        outside = min(2 * low - 1, -1.0) if axis.is_open else low
        return (
            _by_halving(number, axis.edges, axis.edges[:-1]),
            is_letter.fill_null(value=False),
            outside,
        )
    text = text_of(column, dtype)
    if isinstance(axis, IntegerRange):
        is_integer = _is_like(text, INTEGER_TEXT, INTEGER_FOREIGN)
        integer = nw.when(is_integer).then(text).otherwise(nw.lit("0")).cast(nw.Int64)
        is_letter = is_integer & integer.is_between(axis.start, axis.stop - 1)
    else:
        assert isinstance(axis, Letters)  # noqa: S101 - for the type checker
        is_letter = text.is_in(list(axis.places)) if is_known is None else is_known
    return text, is_letter.fill_null(value=False), ""


def place_of(column: Any, dtype: Any, axis: Bins) -> Any:
    """Return the place of the bin that a cell is in, as text, empty outside all of them."""
    import narwhals as nw

    number, is_number = _number(column, dtype)
    is_letter = is_number & number.is_between(axis.edges[0], axis.edges[-1], closed="left")
    place = _by_halving(number, axis.edges, list(map(str, range(axis.listed))))
    return nw.when(is_letter.fill_null(value=False)).then(place).otherwise(nw.lit(""))


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
        # Years before 1 and after 9999 are longer or shorter.
        return nw.when(text.str.len_chars() == len("YYYY-MM-DD")).then(text).otherwise(nothing)
    return nw.when(column.is_null()).then(nothing).otherwise(nothing)


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


def _by_halving(number: Any, edges: Sequence[float], values: Sequence[float | str]) -> Any:
    """Return the value of the bin that a number is in, the first one's below all of them."""
    import narwhals as nw

    if len(values) == 1:
        return nw.lit(values[0])
    middle = len(values) // 2
    below = _by_halving(number, edges[: middle + 1], values[:middle])
    above = _by_halving(number, edges[middle:], values[middle:])
    return nw.when(number < edges[middle]).then(below).otherwise(above)
