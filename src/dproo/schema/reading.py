"""How the cells of a column are read before they are compared with its letters.

A reading maps one cell to the text it is compared by, whatever the other cells are, so it costs
no privacy. All but ``exact`` strip blanks around a cell.

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
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache, cached_property
from typing import Any, Final

from dproo.core.checks import exact, one_of, plain_text, refusal
from dproo.schema.cell import number_of, plain, text_of

PERIODS_MAX = 10**6
"""The most days that one column may have, because counting lists them all."""


@dataclass(frozen=True)
class Periods(Sequence[str]):
    """All days or months from a first one, by its number, in order, each computed when needed."""

    first: int
    size: int
    kind: str

    def __len__(self) -> int:
        return self.size

    @property
    def _numbers(self) -> range:
        return range(self.first, self.first + self.size)

    def __getitem__(self, place: Any) -> Any:
        numbers = self._numbers[place]
        return tuple(map(self._text, numbers)) if isinstance(place, slice) else self._text(numbers)

    def __iter__(self) -> Iterator[str]:
        return map(self._text, self._numbers)

    def place(self, text: str) -> int | None:
        """Return the place of a period by its text, or None if it is not one of them."""
        try:
            place = _number(text, self.kind) - self.first
        except ValueError:
            return None
        return place if 0 <= place < self.size else None

    def _text(self, number: int) -> str:
        if self.kind == DATE:
            return date.fromordinal(number).isoformat()
        return f"{number // 12:04}-{number % 12 + 1:02}"


def periods(first: object, last: object, kind: str) -> Periods:
    """Return all days or months from the first to the last, both included.

    >>> list(periods("2023-12", "2024-02", "month"))
    ['2023-12', '2024-01', '2024-02']
    >>> len(periods("2024-01-01", "2024-12-31", "date"))
    366

    Raises:
        ValueError: an end is not a period, the last precedes the first, or there are too many.
    """
    start, stop = _number(first, kind), _number(last, kind)
    if not start <= stop:
        raise ValueError(refusal("maximum", f"not come before {first}", last))
    if stop - start >= PERIODS_MAX:
        raise ValueError(refusal("maximum", f"be within {PERIODS_MAX:,} days of {first}", last))
    return Periods(start, stop - start + 1, kind)


def _number(text: object, kind: str) -> int:
    """Return the number of a day, counted from the year 1, or of a month, from the year 0."""
    try:
        if isinstance(text, str) and re.fullmatch(KINDS[kind].shape, text):
            day = date.fromisoformat(text if kind == DATE else f"{text}-01")
            return day.toordinal() if kind == DATE else day.year * 12 + day.month - 1
    except ValueError:
        pass
    raise ValueError(refusal("minimum and maximum", f"look like {KINDS[kind].letters}", text))


EXACT, TEXT, LOWER, INTEGER, NUMBER, DATE, MONTH, YEAR, SHAPE = (
    *("exact", "text", "lower", "integer", "number", "date", "month", "year", "shape"),
)
BLANKS: Final = " \u00a0\u2007\u202f"
"""The blanks that are stripped from a cell: the space, and the spaces that do not break a line."""
DIGITS = "[0-9]+"
DAY_TEXT = "^[0-9]{4}-[0-9]{2}-[0-9]{2}"
MONTH_TEXT = "^[0-9]{4}-[0-9]{2}"
YEAR_TEXT = "^[0-9]{4}"


@dataclass(frozen=True, kw_only=True)
class ReadingKind:
    """What the rest of the package must know of a kind of reading.

    Attributes:
        letters: how the letters must be written, in words.
        is_of_text: whether cells stay text, so that ``as`` of a code book may name it.
        used: for days, how many characters of ``YYYY-MM-DD`` it uses.
        shape: for days, the regular expression of what a day is read as.
    """

    letters: str = ""
    is_of_text: bool = False
    used: int = 0
    shape: str = ""


KINDS: Final = {
    EXACT: ReadingKind(),
    TEXT: ReadingKind(letters="without blanks around them", is_of_text=True),
    LOWER: ReadingKind(letters="in lower case", is_of_text=True),
    INTEGER: ReadingKind(letters="integers of at most 18 digits"),
    NUMBER: ReadingKind(),
    DATE: ReadingKind(letters="YYYY-MM-DD", used=10, shape=DAY_TEXT),
    MONTH: ReadingKind(letters="YYYY-MM", used=7, shape=MONTH_TEXT),
    YEAR: ReadingKind(letters="YYYY", used=4, shape=YEAR_TEXT),
    SHAPE: ReadingKind(letters="shapes"),  # every number becomes 9; used to draft code books
}
READINGS: Final = tuple(name for name in KINDS if name != SHAPE)
TEXTS: Final = tuple(name for name, kind in KINDS.items() if kind.is_of_text)
DAYS: Final = {name: kind.used for name, kind in KINDS.items() if kind.used}
"""The readings of days, and how many characters of ``YYYY-MM-DD`` each uses."""

POINT_ZERO = "[.]0*$"
ZERO = "^[+-]?0+$"
LEADING = (("^([+]0*|0+)[1-9]", "^[+]?0*", ""), ("^-0+[1-9]", "^-0+", "-"))
"""Integers with a plus sign or leading zeros: their form, what is replaced in it, and by what."""
ISO = "YYYY-MM-DD"

FORMATS: Final = (
    *("DD.MM.YYYY", "MM/DD/YYYY", "DD/MM/YYYY", "MM-DD-YYYY", "DD-MM-YYYY", "YYYY/MM/DD"),
    *("YYYYMMDD", "DD MMM YYYY", "MMM DD, YYYY", "DD-MMM-YYYY", "MM/YYYY", "MMM YYYY"),
    *("DD.MM.YY@1930", "MM/DD/YY@1930", "DD/MM/YY@1930", "DD-MMM-YY@1930"),
)
"""Forms of dates that people use; any other order and any other separators are read too."""

FORMS: Final = (
    "DD.MM.YYYY, M/D/YYYY, YYYYMMDD, DD MMM YYYY (names of months in English), MM/YYYY, or"
    " DD.MM.YY@1930 for the years 1930 to 2029"
)
MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ENDS = ("uary", "ruary", "ch", "il", "", "e", "y", "ust", "tember", "ober", "ember", "ember")

UNTYPED: Final = {"nbsp": "\u00a0", "narrow-nbsp": "\u202f"}
"""Names on the command line of blanks that no key types."""

_POINTS = ".,"
_GROUPS = " .,'_\u00a0\u202f\u2019"
_PART = re.compile("YYYY|YY|MMMM|MMM|MM|M|DD|D")
_FORMAT = re.compile(f"(?:(?:{_PART.pattern})[-./, ]{{0,2}}){{1,3}}(?<=[YMD])(@[0-9]{{4}})?")


def _any_case(word: str) -> str:
    return "".join(f"[{sign.upper()}{sign}]" for sign in word)


_NAMES = "|".join(
    _any_case(month) + (f"(?:{_any_case(end)})?" if end else "")
    for month, end in zip(MONTHS, _ENDS, strict=True)
)


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
        format: how days are written in text, out of ``YYYY``, ``MM``, ``DD`` and the signs between
            them; zeros in front may be missing, ``MMM`` is a month's name in English, and ``YY``
            needs the first of a hundred years, as in ``DD.MM.YY@1930``. ``YYYY-MM-DD`` is always
            read too.

    >>> Reading(kind="integer", thousands=",").text(" 1,234 "), Reading(kind="year").text("2024-03")
    ('1234', '2024')
    >>> Reading(kind="date", format="DD.MM.YYYY").text("1.12.2024")
    '2024-12-01'
    >>> Reading(kind="month", format="MMM DD, YY@1930").text("March 5, 29")
    '2029-03'
    """

    kind: str = EXACT
    decimal: str = "."
    thousands: str = ""
    format: str = ISO

    def __post_init__(self) -> None:
        vars(self).update({name: exact(given) for name, given in vars(self).items()})
        one_of("reading", self.kind, KINDS)
        for name in ("decimal", "thousands", "format"):
            plain_text(name, vars(self)[name])
        if self.decimal not in tuple(_POINTS):
            raise ValueError(refusal("decimal", "be '.' or ','", self.decimal))
        if self.thousands and self.thousands not in tuple(_GROUPS):
            raise ValueError(refusal("thousands", "be a blank or one of . , ' _", self.thousands))
        if self.thousands == self.decimal:
            other = _POINTS.replace(self.decimal, "")
            raise ValueError(
                refusal("thousands", "differ from the decimal sign", self.thousands)
                + f" If {self.thousands!r} groups digits, the decimal sign is {other!r}: give both."
            )
        if (self.decimal, self.thousands) != (".", "") and self.kind not in {INTEGER, NUMBER}:
            raise ValueError("decimal and thousands signs must be used with integers or numbers.")
        if self.format != ISO and not self.parts:
            raise ValueError(
                refusal(
                    "format",
                    "be a date format, for cells read as a date, month or year",
                    self.format,
                )
                + f" Such are {FORMS}."
            )

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The parts of the format, such as ``DD`` and ``YYYY``, or () if it is not a format."""
        form, _, pivot = self.format.partition("@")
        parts = tuple(_PART.findall(form)) if _FORMAT.fullmatch(self.format) else ()
        units = "".join(sorted({part[0] for part in parts}))
        needed = {DATE: ("DMY",), MONTH: ("DMY", "MY"), YEAR: ("DMY", "MY", "Y")}
        is_whole = len(units) == len(parts) and units in needed.get(self.kind, ())
        is_iso = re.fullmatch("YYYY-D+-M+", form)  # it would look like YYYY-MM-DD
        return parts if is_whole and not is_iso and ("YY" in parts) == bool(pivot) else ()

    @cached_property
    def shape(self) -> str:
        """The regular expression of a text that begins with a date of this format.

        Its first group is the date, the others are its parts. Days and months may have one digit
        if they are separated.
        """
        form = self.format.partition("@")[0]
        is_apart = not re.search("YM|MY|MD|DM|YD|DY", form)
        digits = "([0-9]{1,2})" if is_apart else "([0-9]{2})"

        def pattern(match: re.Match[str]) -> str:
            part = match[0]
            if part[0] == "Y":
                return f"([0-9]{{{len(part)}}})"
            return f"({_NAMES})" if part in {"MMM", "MMMM"} else digits

        signs = re.sub("[-./, ]", lambda sign: f"[{sign[0]}]", form)
        return f"^({_PART.sub(pattern, signs)})"

    @property
    def pivot(self) -> tuple[str, str, str]:
        """The least two digits of a year in the first century of the format, and both centuries."""
        first = int(self.format.partition("@")[2])
        return f"{first % 100:02}", f"{first // 100:02}", f"{first // 100 + 1:02}"

    @property
    def spelled(self) -> str:
        """How the reading is written in Python.

        >>> Reading(kind="number", thousands=",").spelled
        ".read_as('number', thousands=',')"
        """
        signs = {"decimal": (self.decimal, "."), "thousands": (self.thousands, "")}
        signs["format"] = (self.format, ISO)
        options = [f", {name}={sign!r}" for name, (sign, usual) in signs.items() if sign != usual]
        return f".read_as({self.kind!r}{''.join(options)})"

    @cached_property
    def number_shape(self) -> str:
        """A regular expression for a number in text, without blanks around them."""
        grouped = f"[0-9]{{1,3}}([{self.thousands}][0-9]{{3}}){{1,5}}|" if self.thousands else ""
        end = f"([{self.decimal}][0-9]{{0,20}})?([eE][+-]?[0-9]{{1,2}})?"
        if self.kind == INTEGER:
            end = f"([{self.decimal}]0*)?"
        return f"^[+-]?({grouped}[0-9]{{1,18}}){end}$"

    def text(self, cell: object) -> str | None:
        """Return the text that a cell is compared by, or None if it has none."""
        cell = plain(cell)
        if self.kind in {*DAYS, SHAPE} and isinstance(cell, datetime):
            cell = _day(cell)
        text = text_of(cell)
        if text is None or self.kind == EXACT:
            return text
        text = text.strip(BLANKS)
        if self.kind == LOWER:
            text = "".join(map(lowered, text))
        elif self.kind == INTEGER:
            text = self._integer(text)
        elif self.kind in DAYS:
            text = self._period(text)
        elif self.kind == SHAPE:
            text = re.sub(DIGITS, "9", text)
        return text or None

    def number(self, cell: object) -> float | None:
        """Return the number that a cell is compared by, or None if it is not a number."""
        if self.kind in {INTEGER, YEAR}:
            return number_of(self.text(cell))
        cell = plain(cell)
        if self.kind != NUMBER or not isinstance(cell, str):
            return number_of(cell)
        text = cell.strip(BLANKS)
        return float(self._bare(text)) if re.fullmatch(self.number_shape, text) else None

    def _bare(self, number: str) -> str:
        number = number.replace(self.thousands, "") if self.thousands else number
        return number.replace(self.decimal, ".")

    def _integer(self, text: str) -> str:
        is_integer = re.fullmatch(self.number_shape, text)
        return str(int(self._bare(text).partition(".")[0])) if is_integer else ""

    def _period(self, text: str) -> str:
        """Return the day, month or year that a text begins with."""
        used = DAYS[self.kind]
        match = re.match(self.shape, text) if self.format != ISO else None
        if match and _ends(text, len(match[1])):
            return self._iso(match.groups()[1:])[:used]
        if _ends(text, DAYS[DATE]) and re.match(DAY_TEXT, text):
            return text[:used]
        for shape, length in ((MONTH_TEXT, DAYS[MONTH]), (YEAR_TEXT, DAYS[YEAR])):
            if used <= length == len(text) and re.match(shape, text):
                return text[:used]
        return ""

    def _iso(self, texts: Sequence[str]) -> str:
        """Return the day, month or year whose parts, in the order of the format, are these."""
        parts = {part[0]: text for part, text in zip(self.parts, texts, strict=True)}
        year, month = parts["Y"], parts.get("M", "")
        if "YY" in self.parts:
            least, first, second = self.pivot
            year = (first if year >= least else second) + year
        if month[:3].lower() in MONTHS:
            month = f"{MONTHS.index(month[:3].lower()) + 1}"
        rest = (part.rjust(2, "0") for part in (month, parts.get("D", "")) if part)
        return "-".join((year, *rest))


def ways() -> Iterator[Reading]:
    """Yield the usual ways to read a cell, the plainest first."""
    for kind in (EXACT, *TEXTS, NUMBER, INTEGER, *DAYS):
        yield Reading(kind=kind)
    for kind in (NUMBER, INTEGER):
        for decimal in _POINTS:
            for thousands in ("", *_GROUPS.replace(decimal, "")):
                yield Reading(kind=kind, decimal=decimal, thousands=thousands)
    for kind in DAYS:
        for form in FORMATS:
            with suppress(ValueError):  # a form without a day is not a date
                yield Reading(kind=kind, format=form)


def _ends(text: str, width: int) -> bool:
    """Return whether a text ends after this many characters, or goes on with a time."""
    return len(text) >= width and text[width : width + 1] in {"", "T", " "}


def upper_forms(texts: Iterable[str]) -> tuple[str, str]:
    """Return the other characters whose lower case occurs in the texts, and that lower case.

    >>> upper_forms(["ab"])
    ('AB', 'ab')
    """
    used = set().union(*texts)
    pairs = [(chr(code), lowered(chr(code))) for code in _cased()]
    pairs = [(upper, lower) for upper, lower in pairs if lower in used]
    return "".join(upper for upper, _ in pairs), "".join(lower for _, lower in pairs)


def loose_integer(text: str) -> str:
    """Return text as it is compared with integers.

    Blanks, a plus sign, leading and decimal zeros, and the sign of zero are left out.

    >>> [loose_integer(text) for text in ("517.0", " 007", "-0.0", "-07", "+7", "1.5")]
    ['517', '7', '0', '-7', '7', '1.5']
    """
    if text.isascii() and text.isdecimal() and text[0] != "0":  # the usual case
        return text
    text = re.sub(POINT_ZERO, "", text.strip(BLANKS))
    if re.fullmatch(ZERO, text):
        return "0"
    for form, start, sign in LEADING:
        if re.search(form, text):
            return re.sub(start, sign, text, count=1)
    return text


def lowered(character: str) -> str:
    """Return a character's lower case if that is a single character, else the character.

    >>> lowered("Ü"), lowered("\u0130") == "\u0130"
    ('ü', True)
    """
    lower = character.lower()
    return lower if len(lower) == 1 else character


@cache
def _cased() -> list[int]:
    """Return the characters that have a lower case; the last ones are the Adlam letters."""
    return [code for code in range(0x1E922) if lowered(chr(code)) != chr(code)]


def _day(moment: datetime) -> object:
    """Return the day of a moment, in UTC if it has a zone, or None if there is none."""
    try:
        return (moment if moment.tzinfo is None else moment.astimezone(UTC)).date()
    except (OverflowError, ValueError):
        return None
