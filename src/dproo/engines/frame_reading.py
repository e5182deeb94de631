"""How a cell is read, in narwhals: what :class:`dproo.schema.reading.Reading` does."""

from __future__ import annotations

from typing import Any

from dproo.schema.axis import Axis, Letters
from dproo.schema.reading import (
    DAY_TEXT,
    DAYS,
    EXACT,
    INTEGER,
    IS_LED_BY_ZEROS,
    ISO,
    LEADING_ZEROS,
    LOWER,
    MONTH_TEXT,
    NOT_ZERO,
    POINT_ZERO,
    YEAR_TEXT,
    Reading,
    upper_forms,
)


def read(text: Any, axis: Axis) -> Any:
    """Return the text that a cell is compared by, empty where it has none.

    Args:
        text: the canonical text of the cells, never null.
        axis: the letters of the column.
    """
    import narwhals as nw

    reading = axis.reading
    trimmed = text.str.strip_chars_start(" ").str.strip_chars_end(" ")
    if reading.kind == EXACT:
        found = _loose_integer(trimmed)
    elif reading.kind == LOWER and isinstance(axis, Letters):
        found = trimmed
        for upper, lower in zip(*upper_forms(axis.places), strict=True):
            found = found.str.replace_all(upper, lower, literal=True)
    elif reading.kind == INTEGER:
        found = _integer(trimmed, reading)
    elif reading.kind in DAYS:
        found = _period(trimmed, reading)
    else:
        found = trimmed
    return nw.when(text.str.len_chars() <= axis.room).then(found).otherwise(nw.lit(""))


def number(text: Any, axis: Axis) -> tuple[Any, Any]:
    """Return the number that text is compared by, and whether it is one."""
    import narwhals as nw

    trimmed = text.str.strip_chars_start(" ").str.strip_chars_end(" ")
    is_number = (text.str.len_chars() <= axis.room) & _is_number(trimmed, axis.reading)
    bare = nw.when(is_number).then(_bare(trimmed, axis.reading)).otherwise(nw.lit("0"))
    return bare.cast(nw.Float64), is_number


def _is_number(text: Any, reading: Reading) -> Any:
    # Pandas warns of groups that are captured.
    shape = reading.number_shape.replace("(", "(?:")
    return ~text.str.contains(reading.number_foreign) & text.str.contains(shape)


def _bare(text: Any, reading: Reading) -> Any:
    if reading.thousands:
        text = text.str.replace_all(reading.thousands, "", literal=True)
    if reading.decimal != ".":
        text = text.str.replace_all(reading.decimal, ".", literal=True)
    return text.str.replace_all("+", "", literal=True) if reading.kind == INTEGER else text


def _loose_integer(text: Any) -> Any:
    import narwhals as nw

    text = text.str.replace_all(POINT_ZERO, "")
    is_led = text.str.contains(IS_LED_BY_ZEROS)
    found = nw.when(is_led).then(text.str.replace_all(LEADING_ZEROS, "")).otherwise(text)
    is_zero = (text != "") & ~text.str.contains(NOT_ZERO)
    return nw.when(is_zero).then(nw.lit("0")).otherwise(found)


def _integer(text: Any, reading: Reading) -> Any:
    import narwhals as nw

    is_integer = _is_number(text, reading)
    digits = _bare(text, reading).str.replace_all("[.]0*$", "")
    whole = nw.when(is_integer).then(digits).otherwise(nw.lit("0")).cast(nw.Int64)
    return nw.when(is_integer).then(whole.cast(nw.String)).otherwise(nw.lit(""))


def _period(text: Any, reading: Reading) -> Any:
    import narwhals as nw

    kept, length = DAYS[reading.kind], text.str.len_chars()
    found: Any = nw.lit("")
    for shape, width in ((YEAR_TEXT, DAYS["year"]), (MONTH_TEXT, DAYS["month"])):
        if kept <= width:
            is_period = (length == width) & text.str.contains(shape)
            found = nw.when(is_period).then(text.str.slice(0, kept)).otherwise(found)
    is_day = _ends(text, DAYS["date"]) & text.str.contains(DAY_TEXT)
    found = nw.when(is_day).then(text.str.slice(0, kept)).otherwise(found)
    if reading.format != ISO:
        parts = [text.str.slice(part.start, part.stop - part.start) for part in reading.slices]
        width = len(reading.format)
        is_day = _ends(text, width) & text.str.contains(reading.shape)
        day = nw.concat_str(*parts, separator="-").str.slice(0, kept)
        found = nw.when(is_day).then(day).otherwise(found)
    return found


def _ends(text: Any, width: int) -> Any:
    """Tell whether a day of this width ends where it should, by itself or before a time."""
    end = text.str.slice(width, 1)
    return (text.str.len_chars() >= width) & end.is_in(["", "T", " "])
