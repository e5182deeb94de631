"""Whether the cells of a column can be its letters at all, told from header and schema alone.

What could only be ``other`` is refused before the charge; what may be is warned of.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Sequence
from dataclasses import dataclass

from dproo.core.checks import refusal
from dproo.counting.sql import query as sql
from dproo.schema.axis import Axis, IntegerRange, Letters, OpenText
from dproo.schema.cell import INTEGER_TEXT
from dproo.schema.reading import DAY_TEXT, DAYS, MONTH_TEXT, YEAR

_NUMBERS = {sql.INTEGER: "integers", sql.DECIMAL: "numbers", sql.FLOAT: "numbers"}
_DAYS = {sql.DATE: "dates", sql.TIMESTAMP: "timestamps", sql.INSTANT: "timestamps"}
_WORDS = {**_NUMBERS, **_DAYS, sql.BOOLEAN: "booleans", sql.TEXT: "the values of its type"}
_SHAPES = {"date": DAY_TEXT + "$", "month": MONTH_TEXT + "$", "year": "^[0-9]{4}$"}


class MissingColumnError(ValueError):
    """A column that is not in the data, by the argument that named it."""

    def __init__(
        self, column: str, *, condition: str = "be a column of the data", hint: str = ""
    ) -> None:
        super().__init__(refusal("column", condition, column) + hint)
        self.column = column
        self._condition, self._hint = condition, hint

    def of_person(self) -> ValueError:
        """Return the same of the column that names people."""
        hint = self._hint.replace("--column", "--person")
        return ValueError(refusal("person", self._condition, self.column) + hint)


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column, as header and schema tell of it.

    Attributes:
        name: its name.
        kind: what it holds, as in ``"integer"``; nothing if no letters.
        type_name: what the engine calls its type.
        values: all values that its type has, where the schema lists them.
    """

    name: str
    kind: str | None
    type_name: str
    values: tuple[str, ...] = ()


def check_fit(columns: Sequence[Column], axes: Sequence[Axis]) -> tuple[str, ...]:
    """Return a warning for each column some of whose letters can never occur.

    Args:
        columns: those to count, and that of the person last, if there is one.
        axes: the letters of each column to count.

    Raises:
        ValueError: all cells of a column would be outside, or nobody could be told by the
            column of the person.
    """
    counted = columns[: len(axes)]
    for person in columns[len(axes) :]:
        if person.kind in {None, sql.TIMESTAMP, sql.INSTANT, sql.NOTHING}:
            sql.refuse_type(person.name, person.type_name, remedy="It must name a person.")
    found = (_fit(column, axis) for column, axis in zip(counted, axes, strict=True))
    return tuple(warning for warning in found if warning)


def _fit(column: Column, axis: Axis) -> str:
    reading = axis.reading.kind
    if column.kind is None:
        sql.refuse_type(column.name, column.type_name)
    if column.kind in {sql.TIMESTAMP, sql.INSTANT} and reading not in DAYS:
        remedy = "" if isinstance(axis, OpenText) else "Add --as date, month or year."
        sql.refuse_type(column.name, column.type_name, remedy=remedy)
    if column.kind == sql.NOTHING:
        sql.refuse_type(column.name, "null", remedy="It is empty by its schema: choose another.")
    if (
        reading in DAYS
        and column.kind in {*_NUMBERS, sql.BOOLEAN}
        and not (reading == YEAR and column.kind in _NUMBERS)
    ):
        _refuse(column, "cannot be read as days", "Leave out --as.")
    if isinstance(axis, OpenText):
        return ""
    if isinstance(axis, Letters):
        return _fit_letters(column, axis)
    is_year = reading == YEAR and column.kind in _DAYS
    is_number = column.kind in {*_NUMBERS, sql.JSON, sql.ANY} or is_year
    if column.kind == sql.TEXT:
        is_number = not column.values or any(
            axis.place(value) is not None for value in column.values
        )
    if not is_number:
        what = "integers" if isinstance(axis, IntegerRange) else "bins"
        remedy = _REMEDIES.get(column.kind, "List values of the type, one per line.")
        _refuse(column, f"can never be one of the {what}", remedy)
    return ""


_REMEDIES = {
    sql.BOOLEAN: "Use the letters true and false.",
    sql.DATE: "Use days, such as --alphabet 2024-01-01..2025-01-01.",
    sql.TIMESTAMP: "Use days, such as --alphabet 2024-01-01..2025-01-01.",
    sql.INSTANT: "Use days, such as --alphabet 2024-01-01..2025-01-01.",
    **dict.fromkeys(_NUMBERS, "Use integers or bins, such as --alphabet bins:0,18,65."),
}


def _fit_letters(column: Column, axis: Letters) -> str:
    possible = [text for text in axis.places if _is_possible(text, column, axis)]
    if not possible:
        remedy = _REMEDIES.get(str(column.kind), "List values of the type, one per line.")
        _refuse(column, "can never be one of the letters", remedy)
    if len(possible) == len(axis.places):
        return ""
    return (
        f"column {reprlib.repr(column.name)} holds {_WORDS[str(column.kind)]}:"
        " some of the letters can never occur in it."
    )


def _is_possible(text: str, column: Column, axis: Letters) -> bool:
    """Tell whether a cell of the column could be this letter."""
    if column.kind in _NUMBERS:
        return bool(re.fullmatch(INTEGER_TEXT.replace("{0,17}", "*"), text))
    if column.kind == sql.BOOLEAN:
        return text in {"true", "false"}
    if column.kind in _DAYS:
        reading = axis.reading.kind
        return bool(re.fullmatch(_SHAPES[reading if reading in DAYS else "date"], text))
    if column.values:
        return text in {axis.text_of(value) for value in column.values}
    return True


def _refuse(column: Column, what: str, remedy: str) -> None:
    raise ValueError(
        f"column {reprlib.repr(column.name)} holds {_WORDS[str(column.kind)]}, which {what}."
        f" {remedy}"
    )
