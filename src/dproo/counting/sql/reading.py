"""How a cell is read, in SQL: :class:`dproo.schema.reading.Reading` for whole columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dproo.schema import reading as rules
from dproo.schema.axis import Axis, Letters
from dproo.schema.reading import Reading, upper_forms


def literal(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


@dataclass(frozen=True, kw_only=True)
class Reader:
    """The SQL expressions of one engine that read text; ``{}`` is the operand.

    Attributes:
        trimmed: the text without blanks around it.
        is_like: whether ``{pattern}`` is found in it.
        replaced: the text without its match of ``{pattern}``.
        shaped: the text, all its matches of ``{pattern}`` replaced by ``9``.
        extracted: the ``{group}`` of its match of ``{pattern}``.
        double: the text as a double, if it is one.
        bigint: the text as an integer, if it is one.
        string: the name of the type of text.
        literal: writes a text as SQL.
        encoding: Python's name of an encoding that has every character of the engine's text.
    """

    trimmed: str
    is_like: str
    replaced: str
    shaped: str
    extracted: str
    double: str
    bigint: str
    string: str = "VARCHAR"
    literal: Callable[[str], str] = literal
    encoding: str = "utf-8"

    def text(self, cell: str, axis: Axis) -> str:
        """Return the text that a cell, given by its name, is compared by."""
        reading = axis.reading
        if reading.kind == rules.EXACT:
            read = self._loose_integer(cell)
        else:
            trimmed = self.trimmed.replace("{}", cell)
            if reading.kind == rules.LOWER and isinstance(axis, Letters):
                forms = zip(*upper_forms(axis.places), strict=True)
                known = [pair for pair in forms if self._has(pair[0])]
                upper, lower = ("".join(pair[i] for pair in known) for i in (0, 1))
                read = f"translate({trimmed}, {self.literal(upper)}, {self.literal(lower)})"
            elif reading.kind == rules.INTEGER:
                read = self._integer(trimmed, reading)
            elif reading.kind in rules.DAYS:
                read = self._period(trimmed, reading)
            elif reading.kind == rules.SHAPE:
                read = self.shaped.replace("{}", trimmed)
                read = read.replace("{pattern}", self.literal(rules.DIGITS))
            else:
                read = trimmed
        return _if_short(cell, axis, read)

    def number(self, cell: str, axis: Axis) -> str:
        """Return the number that text is compared by."""
        reading = axis.reading
        if reading.kind in {rules.INTEGER, *rules.DAYS}:
            return self.double.replace("{}", f"({self.text(cell, axis)})")
        trimmed = self.trimmed.replace("{}", cell)
        is_number = self._is_like(trimmed, reading.number_shape)
        bare = self.double.replace("{}", self._bare(trimmed, reading))
        # Nested, because an engine may evaluate the parts of an AND in any order.
        read = f"CASE WHEN {is_number} THEN {bare} END"
        return _if_short(cell, axis, read)

    def _has(self, character: str) -> bool:
        return bool(character.encode(self.encoding, errors="ignore"))

    def _is_like(self, text: str, pattern: str) -> str:
        return self.is_like.replace("{}", text).replace("{pattern}", self.literal(pattern))

    def _replaced(self, text: str, pattern: str) -> str:
        return self.replaced.replace("{}", text).replace("{pattern}", self.literal(pattern))

    def _bare(self, number: str, reading: Reading) -> str:
        if reading.thousands:
            number = f"replace({number}, {self.literal(reading.thousands)}, '')"
        return f"replace({number}, {self.literal(reading.decimal)}, '.')"

    def _loose_integer(self, cell: str) -> str:
        text = self._replaced(self.trimmed.replace("{}", cell), rules.POINT_ZERO)
        led = " ".join(
            f"WHEN {self._is_like(text, form)} THEN '{sign}' || {self._replaced(text, start)}"
            for form, start, sign in rules.LEADING
        )
        return f"CASE WHEN {self._is_like(text, rules.ZERO)} THEN '0' {led} ELSE {text} END"

    def _integer(self, text: str, reading: Reading) -> str:
        digits = self._replaced(self._bare(text, reading), "[.]0*$")
        integer = f"CAST({self.bigint.replace('{}', digits)} AS {self.string})"
        return f"CASE WHEN {self._is_like(text, reading.number_shape)} THEN {integer} END"

    def _period(self, text: str, reading: Reading) -> str:
        used = rules.DAYS[reading.kind]
        is_day = f"substr({text}, 11, 1) IN ('', 'T', ' ') AND length({text}) >= 10"
        start = f"substr({text}, 1, 10)"
        whens = []
        if reading.format != rules.ISO:
            date = self._group(text, reading, 1)
            ends = f"substr({text}, length({date}) + 1, 1) IN ('', 'T', ' ')"
            is_like = self._is_like(text, reading.shape)
            whens.append(f"WHEN {is_like} AND {ends} THEN {self._iso(text, reading)}")
        is_day += f" AND {self._is_like(start, rules.DAY_TEXT)}"
        whens.append(f"WHEN {is_day} THEN substr({text}, 1, {used})")
        for shape, length in (
            (rules.MONTH_TEXT, rules.DAYS["month"]),
            (rules.YEAR_TEXT, rules.DAYS["year"]),
        ):
            if used <= length < rules.DAYS["date"]:
                is_period = f"length({text}) = {length} AND {self._is_like(text, shape)}"
                whens.append(f"WHEN {is_period} THEN substr({text}, 1, {used})")
        return f"CASE {' '.join(whens)} END"

    def _group(self, text: str, reading: Reading, group: int) -> str:
        extracted = self.extracted.replace("{}", text).replace("{group}", str(group))
        return extracted.replace("{pattern}", self.literal(reading.shape))

    def _iso(self, text: str, reading: Reading) -> str:
        """Return the day, month or year of a text that has the form of the reading."""
        groups = {
            part[0]: self._group(text, reading, place)
            for place, part in enumerate(reading.parts, start=2)
        }
        if "YY" in reading.parts:
            least, first, second = map(self.literal, reading.pivot)
            year = groups["Y"]
            groups["Y"] = f"CASE WHEN {year} >= {least} THEN {first} ELSE {second} END || {year}"
        if {"MMM", "MMMM"} & {*reading.parts}:
            name = f"lower(substr({groups['M']}, 1, 3))"
            whens = (f"WHEN '{name}' THEN '{i}'" for i, name in enumerate(rules.MONTHS, start=1))
            groups["M"] = f"CASE {name} {' '.join(whens)} END"
        rest = (f"lpad({groups[unit]}, 2, '0')" for unit in "MD" if unit in groups)
        day = " || '-' || ".join((f"({groups['Y']})", *rest))
        return f"substr({day}, 1, {rules.DAYS[reading.kind]})"


def _if_short(cell: str, axis: Axis, read: str) -> str:
    """Return what a cell is read as, or null if it is too long to be a letter."""
    return f"CASE WHEN length({cell}) <= {axis.room} THEN {read} END"
