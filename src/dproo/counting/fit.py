"""Whether the cells of a column can be letters at all, by header and schema alone.

A column whose cells could only be ``other`` is refused before the charge; one with letters that
can never occur causes a warning.
"""

from __future__ import annotations

import difflib
import re
import reprlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dproo.core.checks import refusal
from dproo.counting.sql import statements as sql
from dproo.schema.axis import Axis, Bins, IntegerRange, Letters, OpenText
from dproo.schema.cell import INTEGER_TEXT
from dproo.schema.reading import DATE, DAYS, EXACT, INTEGER, ISO, KINDS, TEXTS, YEAR

LIST_THEM = " List the columns: dproo.open(DATA).columns."
"""How to find the name of a column of a file."""

_NUMBERS = {sql.INTEGER: "integers", sql.DECIMAL: "numbers", sql.FLOAT: "numbers"}
_DAYS = {sql.DATE: "dates", sql.TIMESTAMP: "timestamps", sql.INSTANT: "timestamps"}
_WORDS = {**_NUMBERS, **_DAYS, sql.BOOLEAN: "booleans", sql.TEXT: "the values of its type"}
_LIKE_A_CELL = re.compile(r"[\W_]*|[+-]?[0-9][0-9.,:/ -]*")
_LISTED = 12
_ALIKE = 0.8  # the share of characters in which a misspelt name agrees with the right one


class MissingColumnError(ValueError):
    """A column that is not in the data.

    Only a similar name in the data is quoted: without a header line, the names would be a record.
    """

    def __init__(
        self,
        column: str,
        *,
        condition: str = "be a column of the data",
        among: Sequence[str] = (),
        hint: str = "",
    ) -> None:
        hint = _nearest(column, among) or hint
        super().__init__(refusal("column", condition, column) + hint)
        self.column = column
        self._condition, self._hint = condition, hint

    def of_person(self) -> ValueError:
        """Return the same refusal for the argument ``person``."""
        return ValueError(refusal("person", self._condition, self.column) + self._hint)


def require_columns(names: Iterable[str], *, among: Sequence[str], is_file: bool = False) -> None:
    """Refuse a name that is not exactly once ``among`` the columns of the data."""
    for name in names:
        times = among.count(name)
        if times > 1:
            hint = " The header has it more than once."
            raise MissingColumnError(name, condition="be a column of the data, once", hint=hint)
        if times == 0:
            hint = LIST_THEM if is_file else ""
            if is_file and len(among) == 1:
                hint += " If there are lines before the header, skip them: skip_rows=1."
            raise MissingColumnError(name, among=among, hint=hint)


def tables_listed(names: Iterable[str]) -> str:
    """Return a sentence that offers the first few tables, whose names are part of a schema.

    >>> tables_listed(["visits", "wards"])
    "Add table='visits' or table='wards'."
    """
    listed = [f"table={name!r}" for name in names]
    shown = [*listed[:_LISTED], *(["another"] if len(listed) > _LISTED else [])]
    return f"Add {', '.join(shown[:-1])}{' or ' * (len(shown) > 1)}{shown[-1]}." if shown else ""


def named(names: Sequence[str]) -> Sequence[str]:
    """Return the names of a header line without an empty first one and an empty last one.

    The first is that of the row numbers that pandas writes. The last follows a comma that ends
    every line; after a single name it is rather the empty cell of a record.

    >>> named(["", "age", "ward"]), named(["age", "ward", ""]), named(["age", ""])
    (['age', 'ward'], ['age', 'ward'], ['age', ''])
    """
    inner = names[1:] if len(names) > 1 and not names[0] else names
    return inner[:-1] if len(inner) > 2 and not inner[-1] else inner


def looks_like_record(names: Sequence[str]) -> bool:
    """Return whether a first line is hardly a header, since a name in it is empty or a number."""
    return any(_LIKE_A_CELL.fullmatch(name) for name in named(names))


def _nearest(column: object, names: Sequence[str]) -> str:
    plain = {name.strip().lower(): name for name in names}
    given = str(column).strip().lower()
    near = [given] if given in plain else []
    if not near and not looks_like_record(names):
        near = difflib.get_close_matches(given, plain, n=1, cutoff=_ALIKE)
    if not near:
        return ""
    name = plain[near[0]]
    has_blanks = name != name.strip()
    more = " Add .read_as('text'), for its cells may have blanks too." if has_blanks else ""
    return f" Did you mean {name!r}?{more}"


def is_numeric(kind: str | None) -> bool:
    """Return whether all cells of a column of this kind are numbers."""
    return kind in _NUMBERS


def united(columns: Iterable[Column]) -> Column:
    """Return the column that files of a pattern share, from their own columns of its name.

    A writer may choose a type by what it finds in one file, such as floats where an integer is
    missing. So numbers of all types are numbers, and a column of other types is one in which each
    cell has its own.
    """
    several = list(dict.fromkeys(columns))
    kinds = {column.kind for column in several}
    if len(several) == 1:
        return several[0]
    if None in kinds:  # refused if it is released
        return next(column for column in several if column.kind is None)
    merged = next(iter(kinds)) if len(kinds) == 1 else sql.ANY
    for mixed in (_NUMBERS, _DAYS):
        if len(kinds) > 1 and kinds <= mixed.keys():
            merged = max((kind for kind in kinds if kind), key=list(mixed).index)
    names = {column.type_name for column in several}
    return Column(
        name=several[0].name,
        kind=merged,
        type_name=names.pop() if len(names) == 1 else f"{merged} of several types",
    )


LABELS = "labels"
"""The type of a column of numbers that are read as their labels."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column, as the header or schema describes it.

    Attributes:
        name: its name.
        kind: what it holds, such as ``"integer"``; None if its cells cannot be letters.
        type_name: the engine's name of its type.
        values: all values of its type, if the schema lists them.
    """

    name: str
    kind: str | None
    type_name: str
    values: tuple[str, ...] = ()


def check_fit(columns: Sequence[Column], axes: Sequence[Axis]) -> tuple[str, ...]:
    """Return a warning for each column some of whose letters can never occur.

    After the columns to count comes the person's, if there is one.

    Raises:
        ValueError: all cells of a column would be outside, or the person's column cannot
            identify anyone.
    """
    counted = columns[: len(axes)]
    for person in columns[len(axes) :]:
        if person.kind in {None, sql.TIMESTAMP, sql.INSTANT}:
            sql.refuse_type(person.name, person.type_name, remedy="It must name a person.")
    return tuple(filter(None, map(_fit, counted, axes)))


def _fit(column: Column, axis: Axis) -> str:
    """Return a warning, or '' if every letter can occur."""
    reading = axis.reading.kind
    if column.kind is None:
        sql.refuse_type(column.name, column.type_name)
    if column.kind in {sql.TIMESTAMP, sql.INSTANT} and reading not in DAYS:
        remedy = "Add .read_as('date'), .read_as('month') or .read_as('year')."
        is_open = isinstance(axis, OpenText)
        sql.refuse_type(column.name, column.type_name, remedy="" if is_open else remedy)
    if (
        reading in DAYS
        and column.kind in {*_NUMBERS, sql.BOOLEAN}
        and not (reading == YEAR and column.kind in _NUMBERS)
    ):
        _refuse(column, "cannot be read as days", "Leave out read_as.")
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
        letters = "integers" if isinstance(axis, IntegerRange) else "bins"
        _refuse(column, f"can never be one of the {letters}")
    return ""


def assumed(column: Column, axis: Axis) -> str:
    """Return how the cells of a column are read, or '' if that is obvious."""
    reading = axis.reading
    if column.type_name == LABELS:
        return "the labels of its numbers"
    if column.kind in _NUMBERS:
        is_cut = column.kind != sql.INTEGER and axis.is_of_integers
        return "whole ones; any other, such as 7.5, is 'other'" if is_cut else ""
    if column.kind not in {sql.TEXT, sql.JSON, sql.ANY} or column.values:
        return ""
    if reading.kind in DAYS:
        forms = ISO if reading.format == ISO else f"{reading.format} or {ISO}"
        return f"dates written {forms}"
    if isinstance(axis, Bins) or axis.is_of_integers:
        is_whole = axis.is_of_integers or reading.kind == INTEGER
        numbers, rest = ("integers", "") if is_whole else ("numbers", f"{reading.decimal}5")
        return f"{numbers} written 1{reading.thousands}234{rest}"
    return KINDS[reading.kind].letters if reading.kind in TEXTS else ""


_REMEDIES = {
    sql.BOOLEAN: "Use the letters true and false.",
    **dict.fromkeys(_DAYS, "Use days, such as '2024-01-01..2025-01-01'."),
    **dict.fromkeys(_NUMBERS, "Use integers or bins, such as 'bins:0,18,65'."),
}


def _fit_letters(column: Column, axis: Letters) -> str:
    listed = {axis.text_of(value) for value in column.values}
    possible = [text for text in axis.places if _is_possible(text, column, axis, listed)]
    if not possible:
        _refuse(column, "can never be one of the letters")
    if len(possible) == len(axis.places):
        if axis.reading.kind == EXACT and any(text != text.strip() for text in axis.places):
            return (
                f"letters of column {reprlib.repr(column.name)} begin or end with blanks: cells"
                " without them are 'other'. Remove the blanks, and add .read_as('text')."
            )
        is_boolean = column.kind == sql.ANY and column.type_name.upper() == "BOOLEAN"
        if is_boolean and {*axis.places} <= {"true", "false"}:
            return (
                f"column {reprlib.repr(column.name)} holds 0 and 1 where a program stores booleans:"
                " SQLite has none."
            )
        return ""
    return (
        f"column {reprlib.repr(column.name)} holds {_WORDS[str(column.kind)]}:"
        " some of the letters can never occur in it."
    )


def _is_possible(text: str, column: Column, axis: Letters, listed: set[str | None]) -> bool:
    if column.kind in _NUMBERS:
        return bool(re.fullmatch(INTEGER_TEXT.replace("{0,17}", "*"), text))
    if column.kind == sql.BOOLEAN:
        return text in {"true", "false"}
    if column.kind in _DAYS:
        reading = axis.reading.kind
        return bool(re.fullmatch(KINDS[reading if reading in DAYS else DATE].shape, text))
    return not listed or text in listed


def _refuse(column: Column, what: str, remedy: str = "") -> None:
    remedy = remedy or _REMEDIES.get(str(column.kind), "List values of the type, one per line.")
    raise ValueError(
        f"column {reprlib.repr(column.name)} holds {_WORDS[str(column.kind)]}, which {what}."
        f" {remedy}"
    )
