"""How the cells of a column are read before they are compared with its letters.

A reading maps one cell to the text it is compared by, and knows nothing of the others: it costs
no privacy. Blanks around a cell are left out by all of them but ``exact``.

| reading | cells | are read as |
|---|---|---|
| ``exact`` | any | their canonical text; where all letters are integers, the text ``007``, `` 7`` or ``7.0`` is 7 |
| ``text`` | text | themselves |
| ``lower`` | text | themselves in lower case |
| ``integer`` | ``007``, ``517.0``, ``1,234`` | decimal digits |
| ``number`` | ``1.234,5`` | a number, for bins |
| ``date``, ``month``, ``year`` | dates, timestamps (in UTC), ``2024-03-01T10:00`` | ``2024-03-01``, ``2024-03``, ``2024`` |
"""  # noqa: E501 - a table

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache, cached_property
from typing import Final, overload

from dproo.core.checks import one_of, refusal
from dproo.schema.cell import number_of, plain, text_of

PERIODS_MAX = 10**6
"""Days that one column may have: counting lists them all."""

_SHAPES = {"date": "[0-9]{4}-[0-9]{2}-[0-9]{2}", "yearmonth": "[0-9]{4}-[0-9]{2}"}


@dataclass(frozen=True)
class Periods(Sequence[str]):
    """All days or months from a first to a last, in order, each computed when it is needed.

    Attributes:
        first: the number of the first.
        size: how many there are.
        kind: ``"date"`` or ``"yearmonth"``.
    """

    first: int
    size: int
    kind: str

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...

    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        numbers = range(self.first, self.first + self.size)
        if isinstance(place, slice):
            return tuple(map(self._text, numbers[place]))
        return self._text(numbers[place])

    def __iter__(self) -> Iterator[str]:
        return map(self._text, range(self.first, self.first + self.size))

    def place(self, text: str) -> int | None:
        """Return the place of a period by its text, or None if it is not one of them."""
        try:
            place = _number(text, self.kind) - self.first
        except ValueError:
            return None
        return place if 0 <= place < self.size else None

    def _text(self, number: int) -> str:
        if self.kind == "date":
            return date.fromordinal(number).isoformat()
        return f"{number // 12:04}-{number % 12 + 1:02}"


def periods(first: object, last: object, kind: str) -> Periods:
    """Return all days or months from the first to the last, both included.

    Args:
        first: as ``2024-01-31``, or ``2024-01``.
        last: in the same form.
        kind: ``"date"`` or ``"yearmonth"``.

    >>> list(periods("2023-12", "2024-02", "yearmonth"))
    ['2023-12', '2024-01', '2024-02']
    >>> len(periods("2024-01-01", "2024-12-31", "date"))
    366

    Raises:
        ValueError: an end is not a period, the last comes before the first, or they are too many.
    """
    start, stop = _number(first, kind), _number(last, kind)
    if not start <= stop:
        raise ValueError(refusal("maximum", f"not come before {first}", last))
    if stop - start >= PERIODS_MAX:
        raise ValueError(refusal("maximum", f"be within {PERIODS_MAX:,} days of {first}", last))
    return Periods(start, stop - start + 1, kind)


def _number(text: object, kind: str) -> int:
    """Return the number of a day since the year 1, or of a month since the year 0."""
    try:
        if isinstance(text, str) and re.fullmatch(_SHAPES[kind], text):
            day = date.fromisoformat(text if kind == "date" else f"{text}-01")
            return day.toordinal() if kind == "date" else day.year * 12 + day.month - 1
    except ValueError:
        pass
    shown = "YYYY-MM-DD" if kind == "date" else "YYYY-MM"
    raise ValueError(refusal("minimum and maximum", f"look like {shown}", text))


EXACT, TEXT, LOWER, INTEGER, NUMBER, DATE, MONTH, YEAR = (
    *("exact", "text", "lower", "integer", "number", "date", "month", "year"),
)
READINGS: Final = (EXACT, TEXT, LOWER, INTEGER, NUMBER, DATE, MONTH, YEAR)
DAYS: Final = {DATE: len("YYYY-MM-DD"), MONTH: len("YYYY-MM"), YEAR: len("YYYY")}
"""The readings of days, and how much of ``YYYY-MM-DD`` each keeps."""

DAY_TEXT = "^[0-9]{4}-[0-9]{2}-[0-9]{2}"
MONTH_TEXT = "^[0-9]{4}-[0-9]{2}"
YEAR_TEXT = "^[0-9]{4}"
POINT_ZERO = "[.]0+$"
LEADING_ZEROS = "^0+"
IS_LED_BY_ZEROS = "^0+[1-9]"
NOT_ZERO = "[^0]"
ISO = "YYYY-MM-DD"

_POINTS = ".,"
_GROUPS = " .,'_\u00a0\u202f\u2019"
_FORMAT = re.compile("(YYYY|MM|DD)([-./ ]?)(YYYY|MM|DD)([-./ ]?)(YYYY|MM|DD)")
_SPACE = 100  # characters of a cell beyond the longest letter


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a cell is read.

    Guarantee: what a cell is read as depends on this cell alone, and reading it again changes
    nothing.

    Attributes:
        kind: one of ``exact``, ``text``, ``lower``, ``integer``, ``number``, ``date``, ``month``
            and ``year``.
        decimal: the decimal sign of numbers in text.
        thousands: the sign between groups of three digits, if there is one.
        format: how days are written in text; ``YYYY-MM-DD`` is always read too.

    >>> Reading(kind="integer", thousands=",").text(" 1,234 "), Reading(kind="year").text("2024-03")
    ('1234', '2024')
    >>> Reading(kind="date", format="DD.MM.YYYY").text("31.12.2024")
    '2024-12-31'
    """

    kind: str = EXACT
    decimal: str = "."
    thousands: str = ""
    format: str = ISO

    def __post_init__(self) -> None:
        one_of("reading", self.kind, READINGS)
        if self.decimal not in tuple(_POINTS):
            raise ValueError(refusal("decimal", "be '.' or ','", self.decimal))
        if self.thousands and self.thousands not in set(_GROUPS) - {self.decimal}:
            raise ValueError(
                refusal("thousands", "be a blank or one of . , ' _", self.thousands)
                + " It differs from the decimal sign."
            )
        if (self.decimal, self.thousands) != (".", "") and self.kind not in {INTEGER, NUMBER}:
            raise ValueError("decimal and thousands signs must be used with integers or numbers.")
        if self.format != ISO and (self.kind not in DAYS or self.slices == ()):
            raise ValueError(
                refusal("format", "be a form of dates such as DD.MM.YYYY", self.format)
                + " It is for cells that are read as a date, month or year."
            )

    @cached_property
    def slices(self) -> tuple[slice, ...]:
        """Where year, month and day stand in text of the format; none if it is no format."""
        found = _FORMAT.fullmatch(self.format)
        parts = ("YYYY", "MM", "DD")
        if not found or {*found.group(1, 3, 5)} != {*parts}:
            return ()
        starts = [self.format.index(part) for part in parts]
        if self.format == "YYYY-DD-MM":  # it could not be told from YYYY-MM-DD
            return ()
        return tuple(
            slice(start, start + len(part)) for start, part in zip(starts, parts, strict=True)
        )

    @cached_property
    def shape(self) -> str:
        """The regular expression of the beginning of text of the format."""
        signs = ("[0-9]" if sign in "YMD" else f"[{sign}]" for sign in self.format)
        return "^" + "".join(signs)

    @cached_property
    def number_shape(self) -> str:
        """The regular expression of a number in text, without blanks around it."""
        grouped = f"[0-9]{{1,3}}([{self.thousands}][0-9]{{3}}){{1,5}}|" if self.thousands else ""
        end = f"([{self.decimal}][0-9]{{0,20}})?([eE][+-]?[0-9]{{1,2}})?"
        if self.kind == INTEGER:
            end = f"([{self.decimal}]0*)?"
        return f"^[+-]?({grouped}[0-9]{{1,18}}){end}$"

    @property
    def number_foreign(self) -> str:
        """The regular expression of a character that no number has."""
        return f"[^0-9eE{self.decimal}{self.thousands}+-]"

    def room(self, longest: int) -> int:
        """Return how many characters a cell may have, if the longest letter has so many."""
        return longest + _SPACE

    def text(self, cell: object) -> str | None:
        """Return the text that a cell is compared by, or nothing if it has none."""
        cell = plain(cell)
        if self.kind in DAYS and isinstance(cell, datetime):
            cell = _day(cell)
        text = text_of(cell)
        if text is None or self.kind == EXACT:
            return text
        text = text.strip(" ")
        if self.kind == LOWER:
            text = "".join(map(lowered, text))
        elif self.kind == INTEGER:
            text = self._integer(text)
        elif self.kind in DAYS:
            text = self._period(text)
        return text or None

    def number(self, cell: object) -> float | None:
        """Return the number that a cell is compared by, or nothing if it is none."""
        if self.kind in {INTEGER, YEAR}:
            return number_of(self.text(cell))
        cell = plain(cell)
        if self.kind != NUMBER or not isinstance(cell, str):
            return number_of(cell)
        text = cell.strip(" ")
        is_number = not re.search(self.number_foreign, text) and re.match(self.number_shape, text)
        return float(self._bare(text)) if is_number else None

    def _bare(self, number: str) -> str:
        number = number.replace(self.thousands, "") if self.thousands else number
        return number.replace(self.decimal, ".")

    def _integer(self, text: str) -> str:
        is_integer = not re.search(self.number_foreign, text) and re.match(self.number_shape, text)
        return str(int(self._bare(text).partition(".")[0])) if is_integer else ""

    def _period(self, text: str) -> str:
        """Return the day, month or year that a text begins with."""
        kept, width = DAYS[self.kind], len(self.format)
        if self.format != ISO and _ends(text, width) and re.match(self.shape, text[:width]):
            return "-".join(text[part] for part in self.slices)[:kept]
        if _ends(text, DAYS[DATE]) and re.match(DAY_TEXT, text):
            return text[:kept]
        for shape, length in ((MONTH_TEXT, DAYS[MONTH]), (YEAR_TEXT, DAYS[YEAR])):
            if kept <= length == len(text) and re.match(shape, text):
                return text[:kept]
        return ""


def _ends(text: str, width: int) -> bool:
    """Tell whether a day of this width ends where it should, by itself or before a time."""
    return len(text) >= width and text[width : width + 1] in {"", "T", " "}


def upper_forms(texts: Iterable[str]) -> tuple[str, str]:
    """Return all other characters whose lower case occurs in texts, and that lower case.

    >>> upper_forms(["ab"])
    ('AB', 'ab')
    """
    wanted = set().union(*texts)
    pairs = [(chr(code), lowered(chr(code))) for code in _cased()]
    found = [(upper, lower) for upper, lower in pairs if lower in wanted]
    return "".join(upper for upper, _ in found), "".join(lower for _, lower in found)


def loose_integer(text: str) -> str:
    """Return text as it is compared with integers: blanks, leading and decimal zeros left out.

    >>> [loose_integer(text) for text in ("517.0", " 007", "00", "-7", "1.5")]
    ['517', '7', '0', '-7', '1.5']
    """
    if text.isascii() and text.isdecimal() and text[0] != "0":  # as nearly all are
        return text
    text = re.sub(POINT_ZERO, "", text.strip(" "))
    if text and not re.search(NOT_ZERO, text):
        return "0"
    return re.sub(LEADING_ZEROS, "", text) if re.search(IS_LED_BY_ZEROS, text) else text


def lowered(character: str) -> str:
    """Return a character in lower case, if that is one character.

    >>> lowered("Ü"), lowered("\u0130") == "\u0130"
    ('ü', True)
    """
    lower = character.lower()
    return lower if len(lower) == 1 else character


@cache
def _cased() -> list[int]:
    """Return the characters with a lower case; none beyond the Adlam letters has one."""
    return [code for code in range(0x1E922) if lowered(chr(code)) != chr(code)]


def _day(moment: datetime) -> object:
    """Return the day of a moment, in UTC where it has a zone; nothing for one that is none."""
    try:
        return (moment if moment.tzinfo is None else moment.astimezone(UTC)).date()
    except (OverflowError, ValueError):
        return None
