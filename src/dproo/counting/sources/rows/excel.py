"""Sheets of Excel files (``.xlsx``, ``.xlsm``), read as streams of XML.

Before the charge only the names of the sheets and the first row are read. With a library that
unpacks a whole sheet first, one cell could make a release fail: by an unknown error value, or by a
place so far out that the rectangle around all cells exceeds memory.
"""

from __future__ import annotations

import operator
import posixpath
import re
import sys
import zipfile
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import cached_property
from itertools import chain, islice, pairwise
from math import inf
from typing import IO, Any, Final
from xml.etree import ElementTree as ET
from xml.etree.ElementTree import Element

from dproo.core.checks import refusal
from dproo.counting.boundary import required
from dproo.counting.fit import Column, tables_listed
from dproo.counting.layout import UTF_8
from dproo.counting.sources.text.cleaning import UNREADABLE, valid_text
from dproo.counting.sources.text.files import transcoded
from dproo.counting.sources.text.header import UTF_16, text_encoding
from dproo.counting.sql import statements as sql
from dproo.schema.cell import BEYOND

EMPTY: Final = object()
"""An empty cell."""

NUMBER, MOMENT, TIME, SPAN = "number", "moment", "time", "span"

_NUMBER = re.compile(r"[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?")
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
_INTEGER = re.compile("[+-]?[0-9]{1,1000}")
# Controls, U+FFFE and U+FFFF, which some programs write; references; and the beginning of one.
_NEVER_XML = re.compile(
    rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]|&#(?:[0-9]{1,64}|x[0-9A-Fa-f]{1,64});"
)
_BEGUN = re.compile(rb"(?:&(?:#(?:[0-9]{0,64}|x[0-9A-Fa-f]{0,64}))?)?\Z")
_OF_XML = re.compile("[\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Parts are in UTF-8 or UTF-16; a few programs declare another encoding.
_ENCODING = re.compile(rb"<\?xml[^>]*encoding\s*=\s*[\"']([^\"']*)")
# Formats without a code of their own.
_MOMENTS = {*range(14, 23), *range(27, 37), 45, 47, *range(50, 59)}
_TIMES = {*range(18, 22), *range(32, 36), 45, 47, 55, 56}  # in some languages, if not in all
_SPANS = {46}
# Literal text in a code, and colours, conditions and locales.
_SHOWN = re.compile(r'"[^"]*"|\\.|_.|\*.|\[[^\]]*\]|General', re.IGNORECASE | re.DOTALL)
_CONDITION = re.compile(r"\[(<=|>=|<>|<|>|=)([^\]]*)\]")
_SPAN = re.compile(r"\[(h+|m+|s+)\]", re.IGNORECASE)
_HOLDS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<>": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}
# Which numbers the sections of a format are for, by how many sections there are: the last is for
# all others.
_SECTIONS = {2: [(">=", 0.0)], 3: [(">", 0.0), ("<", 0.0)]}
_LONGEST_CODE = 255
_LEAP_DAY = 60  # 29 February 1900, which exists only in Excel
_DAY = timedelta(1)


def local(element: Element) -> str:
    """Return the name of an element without its namespace, which has two versions."""
    return element.tag.rpartition("}")[2]


def string_of(element: Element) -> str:
    """Return the text of a string: all its runs, without phonetic hints."""
    runs = []
    for part in element:
        if local(part) == "t":
            runs.append(part.text or "")
        elif local(part) == "r":
            runs += [run.text or "" for run in part if local(run) == "t"]
    return unescaped("".join(runs))


def unescaped(text: str) -> str:
    """Return text with escapes such as ``_x000D_`` decoded.

    >>> unescaped("a_x000D_b") == "a" + chr(13) + "b"
    True
    """
    if "_x" not in text:
        return text
    decoded = _ESCAPED.sub(lambda sign: chr(int(sign[1], 16)), text)
    # Two surrogates may be one character; a lone one becomes U+FFFD.
    return decoded.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@dataclass(frozen=True, kw_only=True)
class Cells:
    """What cells refer to.

    Attributes:
        strings: the shared strings, by their number.
        styles: the number format of each style.
        is_1904: whether days are counted from 1904.
    """

    strings: Mapping[int, str]
    styles: tuple[Format, ...]
    is_1904: bool

    def value(self, cell: Element) -> Any:
        """Return the value of a cell: EMPTY if there is none, BEYOND if it cannot be read."""
        if cell.get("t") == "inlineStr":
            texts = [string_of(part) for part in cell if local(part) == "is"]
            return "".join(texts) or EMPTY
        text = "".join(part.text or "" for part in cell if local(part) == "v")
        if not text:
            return EMPTY
        value: Any = BEYOND  # of an error
        match cell.get("t", "n"):
            case "n":
                value = self._number(text, cell.get("s", "0"))
            case "s":
                place = _whole(text)
                value = BEYOND if place is None else self.strings.get(place, BEYOND)
            case "str":
                value = unescaped(text)
            case "b":
                value = {"1": True, "true": True, "0": False, "false": False}.get(text, BEYOND)
            case "d":
                value = _iso(text)
        return value

    def _number(self, text: str, style: str) -> Any:
        text = text.strip()
        if not _NUMBER.fullmatch(text):
            return BEYOND
        number, place = float(text), _whole(style)
        is_styled = place is not None and place < len(self.styles)
        kind = self.styles[place or 0].kind(number) if is_styled else NUMBER
        if kind == NUMBER:
            # Several integers beyond 2^53 are one double, and all beyond 10^308 are infinite.
            whole = int(text) if _INTEGER.fullmatch(text) else number
            return whole if abs(whole) < inf else BEYOND
        # Day 0 is a time without a day, but for a format with days that begins with 1904.
        first = 0 if self.is_1904 and kind == MOMENT else 1
        return BEYOND if number < first or kind == SPAN else self._moment(number)

    def _moment(self, number: float) -> object:
        """Return the day, or moment, that a number means; BEYOND for a day that only Excel has."""
        start = datetime(1904, 1, 1) if self.is_1904 else datetime(1899, 12, 30)  # noqa: DTZ001
        if not self.is_1904 and _LEAP_DAY <= number < _LEAP_DAY + 1:
            return BEYOND
        if not self.is_1904 and number < _LEAP_DAY:
            start += _DAY
        try:
            moment = start + number * _DAY
        except (OverflowError, ValueError):
            return BEYOND
        return moment.date() if number.is_integer() else moment


def _iso(text: str) -> object:
    try:
        return datetime.fromisoformat(text) if len(text) > 10 else date.fromisoformat(text)
    except ValueError:
        return BEYOND


def _whole(text: str) -> int | None:
    return int(text) if re.fullmatch("[0-9]{1,9}", text) else None


@dataclass(frozen=True, kw_only=True)
class Format:
    """How a number format shows a number: as itself, a moment, a time, or a span of time.

    Attributes:
        sections: how each section shows the numbers that it is for.
        conditions: which numbers those are, for all sections but the last.
    """

    sections: tuple[str, ...]
    conditions: tuple[tuple[str, float], ...] = ()

    def kind(self, number: float) -> str:
        """Return how the section for this number shows it."""
        for (sign, limit), kind in zip(self.conditions, self.sections, strict=False):
            if _HOLDS[sign](number, limit):
                return kind
        return self.sections[-1]


def format_of(number: str, code: str | None) -> Format:
    """Return a number format; its own number identifies it if it has no code.

    >>> codes = "dd/mm/yyyy", "[h]:mm", "0.00E+00", '"day" 0', "14", "h:mm", "0;yyyy"
    >>> [format_of("164", code).kind(7) for code in codes]
    ['moment', 'span', 'number', 'number', 'number', 'time', 'number']
    >>> format_of("14", None).kind(7), format_of("164", "[>9]0;yyyy;@").kind(7)
    ('moment', 'moment')
    """
    if code is None:
        known = int(number) if re.fullmatch("[0-9]{1,4}", number) else 0
        moment = TIME if known in _TIMES else MOMENT if known in _MOMENTS else NUMBER
        return Format(sections=(SPAN if known in _SPANS else moment,))
    if len(code) > _LONGEST_CODE:
        return Format(sections=(NUMBER,))
    *numbers, last = _sections(code)
    if "@" not in _SHOWN.sub("", last):  # else it is for text
        numbers.append(last)
    numbers = numbers[:3] or [""]
    usual = _SECTIONS.get(len(numbers), [])
    return Format(
        sections=tuple(map(_section_kind, numbers)),
        conditions=tuple(map(_condition, numbers, usual)),
    )


def _sections(code: str) -> list[str]:
    """Return the sections of a code, which semicolons outside literal text separate."""
    parts = re.finditer(f"{_SHOWN.pattern}|(;)", code, _SHOWN.flags)
    places = [-1, *(part.start() for part in parts if part[1]), len(code)]
    return [code[start + 1 : end] for start, end in pairwise(places)]


def _stated(code: str, shape: re.Pattern[str]) -> re.Match[str] | None:
    """Return the first of these that is in brackets, outside literal text."""
    parts = (shape.fullmatch(part[0]) for part in _SHOWN.finditer(code))
    return next(filter(None, parts), None)


def _section_kind(code: str) -> str:
    if _stated(code, _SPAN):
        return SPAN
    signs = {*_SHOWN.sub("", code).lower().replace("am/pm", "h").replace("a/p", "h")} & {*"dmyhs"}
    if not signs:
        return NUMBER
    # Beside hours or seconds, m means minutes.
    return MOMENT if signs & {*"dy"} or signs == {"m"} else TIME


def _condition(code: str, usual: tuple[str, float]) -> tuple[str, float]:
    """Return the condition that a section states, or the usual one."""
    match = _stated(code, _CONDITION)
    if match is None or not _NUMBER.fullmatch(match[2].strip()):
        return usual
    return match[1], float(match[2])


OTHERS = (".xls", ".xlsb", ".ods")
"""The endings of files whose sheets cannot be read row by row."""

HEADER_MAX = 1 << 22
"""The most characters of XML that a sheet may have up to the end of its first row."""

_ROW = ("worksheet", "sheetData", "row")
_STRING = ("sst", "si")
_PLACE = re.compile("([A-Z]{1,3})[0-9]*")
_BLOCK = 1 << 16
_DECLARATION = 256  # bytes; more than the first line of a part


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """A sheet of an open workbook.

    Attributes:
        archive: the workbook, which refusals call ``path``.
        part: the sheet's place in it.
        related: the places of what all sheets share, by kind.
        is_1904: whether days are counted from 1904.
        skip: how many rows come before the header.
    """

    archive: zipfile.ZipFile = field(repr=False)
    part: str
    related: dict[str, str]
    is_1904: bool
    path: str
    skip: int = 0

    @cached_property
    def styles(self) -> tuple[Format, ...]:
        """The number formats that cells refer to."""
        part = self.related.get("styles")
        return () if part is None else tuple(_styles(self.archive.read(part)))


def sheet_of(file: str, path: str, table: str | tuple[str, ...] | None, *, skip: int = 0) -> Sheet:
    """Return a sheet of a workbook, by its name or because it is the only one.

    Refusals call the workbook ``path``; ``skip`` rows come before the header.
    """
    try:
        archive = zipfile.ZipFile(file)
        (main,) = [
            target for _, kind, target in _relations(archive, "") if kind == "officeDocument"
        ] or ["xl/workbook.xml"]
        relations = list(_relations(archive, main))
        book = ET.fromstring(archive.read(main))  # noqa: S314 - as above
    except Exception:  # noqa: BLE001 - of a library, in its own words
        raise ValueError(_unreadable(path)) from None
    sheets = {name: target for name, kind, target in relations if kind == "worksheet"}
    parts = {
        str(sheet.get("name")): sheets[name]
        for sheet in book.iter()
        if local(sheet) == "sheet"
        for key, name in sheet.items()
        if key.endswith("}id") and name in sheets
    }
    if table is None and len(parts) != 1:
        raise ValueError(
            f"table must name the sheet of an Excel file that has several. {tables_listed(parts)}"
        )
    name = next(iter(parts)) if table is None else table
    if name not in parts:
        raise ValueError(
            refusal("table", "be a sheet of the Excel file", name) + f" {tables_listed(parts)}"
        )
    properties = (part for part in book if local(part) == "workbookPr")
    return Sheet(
        archive=archive,
        part=parts[name],
        related={kind: target for _, kind, target in reversed(relations)},  # the first of each
        is_1904=any(part.get("date1904") in {"1", "true"} for part in properties),
        path=path,
        skip=skip,
    )


def _unreadable(path: str) -> str:
    return refusal("data", "be a readable Excel file", path)


def _relations(archive: zipfile.ZipFile, part: str) -> Iterator[tuple[str, str, str]]:
    """Yield identifier, kind and place of the parts that a part refers to."""
    folder, name = posixpath.split(part)
    listed = ET.fromstring(  # noqa: S314 - as above
        archive.read(posixpath.join(folder, "_rels", f"{name}.rels"))
    )
    for relation in listed:
        target = posixpath.join("/", folder, relation.get("Target", ""))
        kind = relation.get("Type", "").rpartition("/")[2]
        yield relation.get("Id", ""), kind, posixpath.normpath(target).lstrip("/")


def columns_of(sheet: Sheet) -> tuple[Column, ...]:
    """Return the columns that the first row names; each cell has its own type."""
    header = required(lambda: _header(sheet), _unreadable(sheet.path))
    if not any(header):
        rows = f" after the {sheet.skip} that skip_rows={sheet.skip} skips" if sheet.skip else ""
        raise ValueError(f"data must be a sheet with a header row{rows}.")
    return tuple(Column(name=name, kind=sql.ANY, type_name="cell") for name in header)


def _header(sheet: Sheet) -> list[str]:
    """Return the names in the first row, up to the last one; open all that the rows refer to."""
    _ = sheet.styles
    if (shared := sheet.related.get("sharedStrings")) is not None:
        with sheet.archive.open(shared) as content:
            next(_accepted(content))  # fails unless its encoding is known
    rows = _rows(sheet, at_most=HEADER_MAX)
    number, row = next(((n, row) for n, row in rows if n > sheet.skip), (0, None))
    if row is None or number != sheet.skip + 1:
        return []
    placed = dict(_placed(row))
    used = {index for cell in placed.values() if (index := _index_of(cell)) is not None}
    texts = enumerate(islice(_strings(sheet), max(used, default=-1) + 1))
    strings = {index: text for index, text in texts if index in used}
    cells = Cells(strings=strings, styles=(), is_1904=sheet.is_1904)
    names = {place: cells.value(cell) for place, cell in placed.items()}
    last = max((place for place, name in names.items() if name not in {EMPTY, BEYOND}), default=-1)
    return [_name(names.get(place, EMPTY)) for place in range(last + 1)]


def _name(cell: object) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return "" if cell is EMPTY or cell is BEYOND else str(cell).strip()


def _index_of(cell: ET.Element) -> int | None:
    """Return the number of a cell's shared string, or None if it is not one."""
    text = "".join(part.text or "" for part in cell if local(part) == "v")
    return _whole(text) if cell.get("t") == "s" else None


def rows_of(sheet: Sheet, places: Sequence[int]) -> Iterator[Sequence[Any]]:
    """Yield the cells at these places of every row but the first; skip rows without any."""
    cells = Cells(
        strings=dict(enumerate(_strings(sheet))),
        styles=sheet.styles,
        is_1904=sheet.is_1904,
    )
    rows = _rows(sheet)
    next((number for number, _ in rows if number > sheet.skip), None)  # up to the header
    for _, row in rows:
        values: dict[int, Any] = {}
        for at, cell in _placed(row):
            value = cells.value(cell)
            if value is EMPTY and any(local(part) == "f" for part in cell):
                value = BEYOND  # a formula whose value was not stored
            if value is not EMPTY:
                values.setdefault(at, value)  # if two cells have one place, the first counts
        if values:
            yield [values.get(at) for at in places]


def _rows(sheet: Sheet, at_most: int | None = None) -> Iterator[tuple[int, ET.Element]]:
    """Yield the rows with their numbers; a row without a number has its place's."""
    rows = _elements(sheet.archive, sheet.part, _ROW, at_most=at_most)
    for place, row in enumerate(rows, start=1):
        number = _whole(row.get("r", ""))
        yield place if number is None else number, row


def _elements(
    archive: zipfile.ZipFile, part: str, path: tuple[str, ...], *, at_most: int | None = None
) -> Iterator[ET.Element]:
    """Yield the elements at a path one by one, freeing each afterwards.

    An element nested in one of the same name, such as a row in a cell, is part of it.

    Raises:
        ValueError: more than ``at_most`` characters were read.
    """
    parser: Any = ET.XMLPullParser(events=("start", "end"))
    above: list[ET.Element] = []
    size, depth = 0, len(path) - 1
    with archive.open(part) as content:
        for block in _accepted(content):
            parser.feed(block)
            for event, element in parser.read_events():
                if event == "start":
                    above.append(element)
                    continue
                above.pop()
                if len(above) == depth and local(element) == path[-1]:
                    if tuple(map(local, above)) == path[:-1]:
                        yield element
                    above[-1].clear()
            size += len(block)
            if at_most is not None and size > at_most:
                raise ValueError
        parser.close()


def _accepted(content: IO[bytes]) -> Iterator[str]:
    """Yield the text of a part, with U+FFFD for bytes and characters that no parser accepts.

    >>> from io import BytesIO
    >>> content = BytesIO("<t>\uffff&#1;</t>".encode())
    >>> "".join(_accepted(content)) == "<t>\ufffd\ufffd</t>"
    True
    """
    start = content.read(_DECLARATION)
    blocks = chain([start], iter(lambda: content.read(_BLOCK), b""))
    declared, is_marked = _ENCODING.match(start), start[:2] in {BOM_UTF16_LE, BOM_UTF16_BE}
    encoding = text_encoding(UTF_16 if is_marked else declared[1].decode() if declared else UTF_8)
    if encoding is None:
        raise ValueError
    begun = b""
    for block in valid_text(blocks if encoding == UTF_8 else transcoded(blocks, encoding)):
        whole = begun + block
        begun = _BEGUN.search(whole)[0]  # type: ignore[index]
        yield _NEVER_XML.sub(_readable, whole[: len(whole) - len(begun)]).decode()
    yield begun.decode()


def _readable(match: re.Match[bytes]) -> bytes:
    """Return a reference to a character that XML has, or U+FFFD."""
    digits = match[0][2:-1].decode(errors="replace")
    if match[0].startswith(b"&"):
        code = int(digits[1:], 16) if digits.startswith("x") else int(digits)
        if code <= sys.maxunicode and _OF_XML.match(chr(code)):
            return match[0]
    return UNREADABLE


def _placed(row: ET.Element) -> Iterator[tuple[int, ET.Element]]:
    """Yield the cells of a row with their columns' places; one without a place is the next."""
    place = -1
    for cell in row:
        if local(cell) == "c":
            match = _PLACE.fullmatch(cell.get("r", "A"))
            place = _number(match[1]) if match and "r" in cell.keys() else place + 1  # noqa: SIM118
            yield place if match else -1, cell


def _number(letters: str) -> int:
    """Return the place of a column such as ``AA``."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def _strings(sheet: Sheet) -> Iterator[str]:
    part = sheet.related.get("sharedStrings")
    if part is not None:
        yield from map(string_of, _elements(sheet.archive, part, _STRING))


def _styles(part: bytes) -> Iterator[Format]:
    styles = ET.fromstring(part)  # noqa: S314 - as above
    codes = {
        form.get("numFmtId", ""): form.get("formatCode", "")
        for form in styles.iter()
        if local(form) == "numFmt"
    }
    for group in styles:
        for style in group if local(group) == "cellXfs" else ():
            number = style.get("numFmtId", "0")
            yield format_of(number, codes.get(number))
