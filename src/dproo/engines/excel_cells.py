"""What a cell of an Excel sheet means: its type, its number, and the format that makes it a day."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final
from xml.etree.ElementTree import Element

EMPTY: Final = object()
"""A cell without anything in it."""

NUMBER, MOMENT, SPAN = "number", "moment", "span"

_NUMBER = re.compile(r"[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?")
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
# Formats without a code of their own.
_MOMENTS = {*range(14, 23), *range(27, 37), 45, 47, *range(50, 59)}
_SPANS = {46}
# What a code shows as it is, and colours, conditions and locales.
_SHOWN = re.compile(r'"[^"]*"|\\.|_.|\*.|\[[^\]]*\]|General', re.IGNORECASE)
_LONGEST_CODE = 255
_LEAP_DAY = 60  # the 29th of February of 1900, which Excel has and the calendar has not
_DAY = timedelta(1)


def local(element: Element) -> str:
    """Return the name of an element without its namespace, of which there are two for each."""
    return element.tag.rpartition("}")[2]


def string_of(element: Element) -> str:
    """Return the text of a string, all its runs; how it is spoken is left out."""
    runs = []
    for part in element:
        if local(part) == "t":
            runs.append(part.text or "")
        elif local(part) == "r":
            runs += [run.text or "" for run in part if local(run) == "t"]
    return unescaped("".join(runs))


def unescaped(text: str) -> str:
    """Return text whose characters that XML has not are written as ``_x000D_``.

    >>> unescaped("a_x000D_b") == "a" + chr(13) + "b"
    True
    """
    if "_x" not in text:
        return text
    found = _ESCAPED.sub(lambda sign: chr(int(sign[1], 16)), text)
    # Two of them may be one character; one alone that is none becomes a question mark.
    return (
        found.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\ufffd", "?")
    )


@dataclass(frozen=True, kw_only=True)
class Cells:
    """What cells refer to.

    Attributes:
        strings: the strings that sheets share, by their number.
        styles: what a number of each style is.
        is_1904: whether days are counted from 1904.
    """

    strings: Mapping[int, str]
    styles: tuple[str, ...]
    is_1904: bool

    def value(self, cell: Element) -> Any:
        """Return the value of a cell; nothing for one that is there and means none."""
        if cell.get("t") == "inlineStr":
            texts = [string_of(part) for part in cell if local(part) == "is"]
            return "".join(texts) or EMPTY
        text = "".join(part.text or "" for part in cell if local(part) == "v")
        if not text:
            return EMPTY
        read = _READ.get(cell.get("t", "n"))
        return None if read is None else read(self, text, cell.get("s", ""))

    def _number(self, text: str, style: str) -> Any:
        number = float(text) if _NUMBER.fullmatch(text.strip()) else None
        kind = self.styles[int(style)] if _is_index(style, len(self.styles)) else NUMBER
        if number is None or kind == SPAN:
            return None
        return self._moment(number) if kind == MOMENT else number

    def _moment(self, number: float) -> date | None:
        """Return the day that a number counts, or a moment of it; nothing for a time of no day."""
        start = datetime(1904, 1, 1) if self.is_1904 else datetime(1899, 12, 30)  # noqa: DTZ001
        if number < 1 or (not self.is_1904 and _LEAP_DAY <= number < _LEAP_DAY + 1):
            return None
        if not self.is_1904 and number < _LEAP_DAY:
            start += _DAY
        try:
            found = start + number * _DAY
        except (OverflowError, ValueError):  # beyond the calendar
            return None
        return found.date() if number.is_integer() else found

    def _shared(self, text: str, _: str) -> str | None:
        return self.strings.get(int(text)) if re.fullmatch("[0-9]{1,9}", text) else None

    def _text(self, text: str, _: str) -> str:
        return unescaped(text)

    def _boolean(self, text: str, _: str) -> bool | None:
        return {"1": True, "true": True, "0": False, "false": False}.get(text)

    def _iso(self, text: str, _: str) -> date | None:
        try:
            return datetime.fromisoformat(text) if len(text) > 10 else date.fromisoformat(text)
        except ValueError:
            return None


_READ: dict[str, Callable[[Cells, str, str], Any]] = {
    "n": Cells._number,  # noqa: SLF001 - of this module
    "s": Cells._shared,  # noqa: SLF001
    "str": Cells._text,  # noqa: SLF001
    "b": Cells._boolean,  # noqa: SLF001
    "d": Cells._iso,  # noqa: SLF001
}
"""How the text of a cell is read, by its type; of every other type, as an error, it means none."""


def _is_index(text: str, size: int) -> bool:
    return bool(re.fullmatch("[0-9]{1,9}", text)) and int(text) < size


def kind_of(number: str, code: str | None) -> str:
    """Return what a format makes of a number: itself, a moment, or a span of time.

    Args:
        number: the format's own, which says what it is where there is no code.
        code: what it is written as; Excel takes no longer one than 255 characters.

    >>> [kind_of("164", code) for code in ("dd/mm/yyyy", "[h]:mm", "0.00E+00", '"day" 0', "14")]
    ['moment', 'span', 'number', 'number', 'number']
    >>> kind_of("14", None)
    'moment'
    """
    if code is None:
        found = int(number) if re.fullmatch("[0-9]{1,4}", number) else 0
        return SPAN if found in _SPANS else MOMENT if found in _MOMENTS else NUMBER
    if len(code) > _LONGEST_CODE:
        return NUMBER
    if re.search(r"\[(h+|m+|s+)\]", code, re.IGNORECASE):
        return SPAN
    is_moment = re.search("[dmyhs]", _SHOWN.sub("", code), re.IGNORECASE)
    return MOMENT if is_moment else NUMBER
