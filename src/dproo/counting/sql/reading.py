"""How a cell is read, in SQL: what :class:`dproo.schema.reading.Reading` does cell by cell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@dataclass(frozen=True, kw_only=True)
class Reader:
    """How one engine says what all of them do to text; ``{}`` is the operand.

    Attributes:
        trimmed: the text without blanks around it.
        is_like: whether ``{pattern}`` is found in it.
        replaced: the text, its match of ``{pattern}`` left out.
        double: the text as a double, where it is one.
        bigint: the text as an integer, where it is one.
        string: the name of the type of text.
        literal: writes a text as SQL.
    """

    trimmed: str
    is_like: str
    replaced: str
    double: str
    bigint: str
    string: str = "VARCHAR"
    literal: Callable[[str], str] = _quoted

    def text(self, cell: str, axis: Axis) -> str:
        """Return the text that a cell, a name here, is compared by."""
        reading = axis.reading
        if reading.kind == EXACT:
            read = self._loose_integer(cell)
        else:
            trimmed = self.trimmed.replace("{}", cell)
            if reading.kind == LOWER and isinstance(axis, Letters):
                upper, lower = upper_forms(axis.places)
                read = f"translate({trimmed}, {self.literal(upper)}, {self.literal(lower)})"
            elif reading.kind == INTEGER:
                read = self._integer(trimmed, reading)
            elif reading.kind in DAYS:
                read = self._period(trimmed, reading)
            else:
                read = trimmed
        return _if_short(cell, axis, read)

    def number(self, cell: str, axis: Axis) -> str:
        """Return the number that text is compared by."""
        reading = axis.reading
        if reading.kind in {INTEGER, *DAYS}:
            return self.double.replace("{}", f"({self.text(cell, axis)})")
        trimmed = self.trimmed.replace("{}", cell)
        is_number = self._is_like(trimmed, reading.number_shape)
        bare = self.double.replace("{}", self._bare(trimmed, reading))
        # One inside the other: an engine may ask both parts of an AND in any order.
        read = f"CASE WHEN {is_number} THEN {bare} END"
        return _if_short(cell, axis, read)

    def _is_like(self, text: str, pattern: str) -> str:
        return self.is_like.replace("{}", text).replace("{pattern}", self.literal(pattern))

    def _replaced(self, text: str, pattern: str) -> str:
        return self.replaced.replace("{}", text).replace("{pattern}", self.literal(pattern))

    def _bare(self, number: str, reading: Reading) -> str:
        if reading.thousands:
            number = f"replace({number}, {self.literal(reading.thousands)}, '')"
        return f"replace({number}, {self.literal(reading.decimal)}, '.')"

    def _loose_integer(self, cell: str) -> str:
        text = self._replaced(self.trimmed.replace("{}", cell), POINT_ZERO)
        return (
            f"CASE WHEN {text} <> '' AND NOT {self._is_like(text, NOT_ZERO)} THEN '0'"
            f" WHEN {self._is_like(text, IS_LED_BY_ZEROS)}"
            f" THEN {self._replaced(text, LEADING_ZEROS)} ELSE {text} END"
        )

    def _integer(self, text: str, reading: Reading) -> str:
        digits = self._replaced(self._bare(text, reading), "[.]0*$")
        integer = f"CAST({self.bigint.replace('{}', digits)} AS {self.string})"
        return f"CASE WHEN {self._is_like(text, reading.number_shape)} THEN {integer} END"

    def _period(self, text: str, reading: Reading) -> str:
        kept = DAYS[reading.kind]
        is_day = f"substr({text}, 11, 1) IN ('', 'T', ' ') AND length({text}) >= 10"
        begun = f"substr({text}, 1, 10)"
        whens = []
        if reading.format != ISO:
            parts = " || '-' || ".join(
                f"substr({text}, {part.start + 1}, {part.stop - part.start})"
                for part in reading.slices
            )
            width = len(reading.format)
            ends = f"substr({text}, {width + 1}, 1) IN ('', 'T', ' ') AND length({text}) >= {width}"
            is_like = self._is_like(f"substr({text}, 1, {width})", reading.shape)
            whens.append(f"WHEN {ends} AND {is_like} THEN substr({parts}, 1, {kept})")
        whens.append(
            f"WHEN {is_day} AND {self._is_like(begun, DAY_TEXT)} THEN substr({text}, 1, {kept})"
        )
        for shape, length in ((MONTH_TEXT, DAYS["month"]), (YEAR_TEXT, DAYS["year"])):
            if kept <= length < DAYS["date"]:
                is_period = f"length({text}) = {length} AND {self._is_like(text, shape)}"
                whens.append(f"WHEN {is_period} THEN substr({text}, 1, {kept})")
        return f"CASE {' '.join(whens)} END"


def _if_short(cell: str, axis: Axis, read: str) -> str:
    """Return what is read of a cell, null for one that is longer than every letter."""
    return f"CASE WHEN length({cell}) <= {axis.room} THEN {read} END"
