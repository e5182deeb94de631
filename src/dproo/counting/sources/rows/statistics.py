"""SPSS and Stata files, read by pyreadstat: first their header, then their rows in chunks.

Text is requested as Latin-1, in which every byte is valid, and decoded here: then bytes that are
invalid in the file's encoding only put their cell outside. For the same reason :class:`LongText`
reads the long text of Stata files.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import re
from bisect import bisect_right
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from dproo.core.checks import refusal
from dproo.counting.boundary import load
from dproo.counting.fit import LABELS, Column, is_numeric
from dproo.counting.sources.text.cleaning import repaired
from dproo.counting.sql import statements as sql
from dproo.schema.cell import BEYOND

_START = re.compile(
    rb"<stata_dta><header><release>(11[789])</release><byteorder>(LSF|MSF)</byteorder><K>"
)
_UTF_8 = "utf-8"
_OLD = "cp1252"
"""The encoding of Stata files before release 118, which is nowhere stated in them."""
_MAP = b"<map>"
_TYPES = b"<variable_types>"
_DATA = b"<data>"
_STRLS = b"<strls>"
_LONG = 32768
_WIDTHS = {_LONG: 8, 65526: 8, 65527: 4, 65528: 4, 65529: 2, 65530: 1}
_TEXT = 130  # and 129 for bytes of any kind
_SECTIONS = 14
_HEAD = 1 << 10  # bytes; more than what comes before the number of variables
_FIRST_UNICODE = 118
_READ = 1 << 20


@dataclass(frozen=True)
class LongText:
    """Where the long texts of an open file are.

    Attributes:
        descriptor: the file's descriptor.
        order: its byte order.
        rows: where its rows begin.
        count: the number of rows.
        width: the bytes of a row.
        offsets: where in a row each variable begins.
        release: the release of the format.
        entries: where the section of texts begins and ends.
    """

    descriptor: int
    order: str
    rows: int
    count: int
    width: int
    offsets: tuple[int, ...]
    release: int
    entries: tuple[int, int]

    @classmethod
    def of(cls, descriptor: int) -> LongText:
        """Find where rows and texts are; no text is read."""
        start = os.pread(descriptor, _HEAD, 0)
        found = _START.match(start)
        if found is None:
            raise ValueError("not a Stata file with long text")
        release, order = int(found[1]), "little" if found[2] == b"LSF" else "big"
        many, at = (4 if release == 119 else 2), found.end()
        variables = _number(start[at : at + many], order)
        at += many + len(b"</K><N>")
        count = _number(start[at : at + (4 if release == 117 else 8)], order)
        at = start.index(_MAP) + len(_MAP)
        sections = [_number(start[at + 8 * i : at + 8 * i + 8], order) for i in range(_SECTIONS)]
        types = os.pread(descriptor, 2 * variables, sections[2] + len(_TYPES))
        offsets, width = [], 0
        for i in range(variables):
            offsets.append(width)
            kind = _number(types[2 * i : 2 * i + 2], order)
            width += _WIDTHS.get(kind, kind)
        return cls(
            descriptor=descriptor,
            order=order,
            rows=sections[9] + len(_DATA),
            count=count,
            width=width,
            offsets=tuple(offsets),
            release=release,
            entries=(sections[10] + len(_STRLS), sections[11]),
        )

    def texts(self, places: Sequence[int], longest: int) -> Iterator[list[bytes | None]]:
        """Yield the long texts of the variables at these places, row by row.

        A text of more than ``longest`` bytes, which cannot be a letter, is replaced by its
        fingerprint, so that different texts stay different.
        """
        entries = dict(self._listed())
        at_once = max(_READ // max(self.width, 1), 1)
        for start in range(0, self.count, at_once):
            size = min(at_once, self.count - start) * self.width
            block = os.pread(self.descriptor, size, self.rows + start * self.width)
            if len(block) < size:
                raise ValueError("the file ends too early")
            for row in range(0, size, self.width):
                keys = (self._key(block, row + self.offsets[place]) for place in places)
                yield [self._text(entries.get(key), longest) if any(key) else b"" for key in keys]

    def _key(self, block: bytes, at: int) -> tuple[int, int]:
        """Return the key stored in a row: the numbers of a variable and of a row."""
        middle = at + {117: 4, 118: 2, 119: 3}[self.release]
        return _number(block[at:middle], self.order), _number(block[middle : at + 8], self.order)

    def _text(self, entry: tuple[int, int] | None, longest: int) -> bytes | None:
        if entry is None:
            return None
        place, length = entry
        if length <= longest:
            text = os.pread(self.descriptor, length, place).removesuffix(b"\0")
            return None if b"\0" in text else text
        digest = hashlib.sha256()
        for at in range(place, place + length, _READ):
            digest.update(os.pread(self.descriptor, min(_READ, place + length - at), at))
        return b"\0" + digest.hexdigest().encode()

    def _listed(self) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
        """Yield the key of each text, with its position and its length in bytes."""
        wide = 4 if self.release == 117 else 8
        size = 3 + 4 + wide + 1 + 4
        at, end = self.entries
        block, base = b"", at
        while at < end:
            if at + size > base + len(block):
                block, base = os.pread(self.descriptor, _READ, at), at
            entry = block[at - base : at - base + size]
            if not entry.startswith(b"GSO") or len(entry) < size:
                return
            key = _number(entry[3:7], self.order), _number(entry[7 : 7 + wide], self.order)
            kind, length = entry[7 + wide], _number(entry[8 + wide :], self.order)
            if kind == _TEXT:
                yield key, (at + size, length)
            at += size + length


def _number(content: bytes, order: str) -> int:
    return int.from_bytes(content, order)  # type: ignore[arg-type]


SPSS, STATA = (".sav", ".zsav"), (".dta",)
"""The endings of such files."""

BYTES = 1 << 27
"""The memory, in bytes, that the rows of one chunk take, about."""

LONGEST = 1 << 20
"""The most bytes read of a long text: no letter is longer."""

_OBJECT = 64  # bytes that a cell takes in memory, besides its text
_LATIN_1 = "ISO-8859-1"
_BYTES = "AHEX"  # the format of bytes of any kind
_SPSS_HEAD, _SPSS_END = 176, 999  # bytes, and what ends the header
_ISO_8859 = 28590
_PARTS_OF_ISO = range(_ISO_8859 + 1, _ISO_8859 + 17)
_BY_NAME = (  # the parts of a header that have an entry for each variable
    *("variable_value_labels", "variable_to_label", "original_variable_types"),
    *("readstat_variable_types", "variable_storage_width", "missing_ranges"),
)
_NUMBERS = {"int8": sql.INTEGER, "int16": sql.INTEGER, "int32": sql.INTEGER}
# Formats of days: formats of other periods, and of times, hold no letters.
_KINDS = {
    r"[AEJS]?DATE[0-9.]*|%-?t?d.*": sql.DATE,
    r"DATETIME[0-9.]*|YMDHMS[0-9.]*|%-?t[cC].*": sql.TIMESTAMP,
    r"(D?TIME|MTIME|MOYR|QYR|WKYR)[0-9.]*|%-?t.*": None,
}
_SPSS_START, _STATA_START = datetime(1582, 10, 14), datetime(1960, 1, 1)  # noqa: DTZ001 - without a zone
_COUNTS_LEAPS = r"%-?tC.*"  # %tc does not count them
# The days at whose ends UTC has had a leap second.
_LEAP_DAYS = """
    1972-06-30 1972-12-31 1973-12-31 1974-12-31 1975-12-31 1976-12-31 1977-12-31 1978-12-31
    1979-12-31 1981-06-30 1982-06-30 1983-06-30 1985-06-30 1987-12-31 1989-12-31 1990-12-31
    1992-06-30 1993-06-30 1994-06-30 1995-12-31 1997-06-30 1998-12-31 2005-12-31 2008-12-31
    2012-06-30 2015-06-30 2016-12-31
"""
_SECOND = 1000  # in milliseconds, as Stata counts moments
_LEAPS = [
    ((datetime.fromisoformat(day) - _STATA_START).days + 1) * 86400 * _SECOND + before * _SECOND
    for before, day in enumerate(_LEAP_DAYS.split())
]


def header_of(file: str, suffix: str, *, path: str, name: str, encoding: str | None = None) -> Any:
    """Return the header of a file; no row is read. Refusals call the file ``path``.

    Its text is in the ``encoding``, or in the one that the file states. Labels may be made of the
    data, so bytes in them that are not text become U+FFFD.
    """
    read = _reader(suffix)
    try:
        header = read(file, metadataonly=True, user_missing=True, encoding=_LATIN_1)[1]
        header.file_encoding = encoding or _stated_encoding(file, suffix)
        with Path(file).open("rb", buffering=0) as opened:
            if suffix in STATA and any(_is_long(header, name) for name in header.column_names):
                LongText.of(opened.fileno())
    except Exception:  # noqa: BLE001 - of a library, in its own words
        raise ValueError(refusal(name, "be a readable SPSS or Stata file", path)) from None
    _decode(header, encodings_of(header)[0])
    return header


def _stated_encoding(file: str, suffix: str) -> str:
    with Path(file).open("rb") as opened:
        if suffix in SPSS:
            return _encoding_of_spss(opened)
        return _UTF_8 if _is_unicode(opened.read(_HEAD)) else _OLD


def _encoding_of_spss(opened: BinaryIO) -> str:
    """Return the encoding that the header of an SPSS file states.

    The library shows it only if all labels are text.
    """
    start = opened.read(_SPSS_HEAD)
    order = "little" if start[64:68] in {b"\2\0\0\0", b"\3\0\0\0"} else "big"

    def number() -> int:
        part = opened.read(4)
        if len(part) < 4:
            raise EOFError
        return int.from_bytes(part, order, signed=True)  # type: ignore[arg-type]

    stated = _OLD
    while (kind := number()) != _SPSS_END:
        skipped = 0
        if kind == 2:  # a variable
            _, has_label, missing = number(), number(), number()
            opened.seek(16, os.SEEK_CUR)
            skipped = 8 * abs(missing) + (-(-number() // 4) * 4 if has_label else 0)
        elif kind == 3:  # labels of values
            for _ in range(number()):
                opened.seek(8, os.SEEK_CUR)
                opened.seek(opened.read(1)[0] | 7, os.SEEK_CUR)
        elif kind in {4, 6}:  # the variables of labels; lines of a document
            skipped = number() * (4 if kind == 4 else 80)
        else:
            part, size, count = number(), number(), number()
            content = opened.read(size * count)
            if part == 20:
                return content.decode("ascii").strip()
            if part == 3 and (page := int.from_bytes(content[28:32], order)) > 3:  # type: ignore[arg-type]
                # Windows has numbers of its own for the parts of ISO 8859.
                stated = f"iso8859-{page - _ISO_8859}" if page in _PARTS_OF_ISO else f"cp{page}"
        opened.seek(skipped, os.SEEK_CUR)
    return stated


def _decode(header: Any, codec: str) -> None:
    """Replace the text of a header, in which each byte is a character."""
    decode = _decoder(codec)

    def decoded(part: Any) -> Any:
        match part:
            case str():
                return decode(part)
            case dict():
                return {decoded(key): decoded(value) for key, value in part.items()}
            case list():
                return list(map(decoded, part))
        return part

    for name in ("column_names", *_BY_NAME):
        setattr(header, name, decoded(getattr(header, name)))


def _decoder(codec: str) -> Callable[[str], str]:
    """Return the function that decodes a text in which each byte is a character."""
    decode = repaired if codec == _UTF_8 else partial(str, encoding=codec, errors="replace")
    return lambda text: decode(text.encode(_LATIN_1))


def _is_unicode(start: bytes) -> bool:
    """Return whether a Stata file that begins so is of a release whose text is in UTF-8."""
    found = _START.match(start)
    return found is not None and int(found[1]) >= _FIRST_UNICODE


def _reader(suffix: str) -> Callable[..., tuple[Any, Any]]:
    pyreadstat = load("pyreadstat", extra="spss")
    read = pyreadstat.read_sav if suffix in SPSS else pyreadstat.read_dta
    return partial(read, output_format="dict")  # other formats need pandas


def columns_of(header: Any, numeric: Container[str] = ()) -> tuple[Column, ...]:
    """Return the variables, as the header describes them; those in ``numeric`` without labels."""

    def column(name: str) -> Column:
        if name not in numeric and is_labelled(header, name):
            return Column(name=name, kind=sql.TEXT, type_name=LABELS)
        kind = _kind(header, name)
        # The format of text and numbers has a width, which can be that of the longest cell.
        plain = "text" if kind == sql.TEXT else "number" if is_numeric(kind) else None
        plain = _BYTES if _format(header, name).startswith(_BYTES) else plain
        return Column(name=name, kind=kind, type_name=plain or _format(header, name))

    return tuple(map(column, header.column_names))


def labels_of(header: Any, name: str) -> dict[Any, str]:
    """Return the labels of a variable's values."""
    labels: dict[Any, str] = header.variable_value_labels.get(name, {})
    return labels


def is_labelled(header: Any, name: str) -> bool:
    """Return whether a variable holds numbers with labels."""
    # Even if its set of labels is empty: `encode` makes an empty one if the data has no text.
    return name in header.variable_to_label and _kind(header, name) in {sql.INTEGER, sql.FLOAT}


def encodings_of(header: Any) -> tuple[str, str]:
    """Return Python's names of the encodings of a file's text and of its long text.

    Raises:
        ValueError: Python does not have it.
    """
    stored = header.file_encoding or _UTF_8
    for name in (stored, stored.lower().replace("windows-", "cp")):
        with suppress(LookupError):
            return codecs.lookup(name).name, _UTF_8
    raise ValueError(
        refusal("encoding", "be given, since Python does not have the one of the file", stored)
        + " Name one that is like it, or save the file in Unicode (UTF-8)."
    )


def _format(header: Any, name: str) -> str:
    return str(header.original_variable_types.get(name, ""))


def _kind(header: Any, name: str) -> str | None:
    stored = header.readstat_variable_types.get(name)
    if stored == "string":
        # The library ends a text at its first zero byte, so different bytes would be one text.
        return None if _format(header, name).startswith(_BYTES) else sql.TEXT
    for shape, kind in _KINDS.items():
        if re.fullmatch(shape, _format(header, name)):
            return kind
    return _NUMBERS.get(str(stored), sql.FLOAT)


def rows_of(
    file: str,
    suffix: str,
    header: Any,
    places: Sequence[int],
    *,
    encodings: tuple[str, str],
    numeric: Container[str] = (),
    person: str | None = None,
) -> Iterator[Sequence[Any]]:
    """Yield the cells of the variables at these places, row by row.

    The encodings are of text and of long text. A number that has a label becomes the label, unless
    its variable is in ``numeric``: that depends only on this cell and on the header. A day with a
    time becomes the day, but in the person's variable the number that is stored.
    """
    names = [header.column_names[place] for place in places]
    is_long = [suffix in STATA and _is_long(header, name) for name in names]
    readings = [
        _label(labels_of(header, name))
        if name not in numeric and is_labelled(header, name)
        else _reading(header, name, suffix, encodings[long], is_whole=name == person)
        for name, long in zip(names, is_long, strict=True)
    ]
    long = [place for place, is_text in zip(places, is_long, strict=True) if is_text]
    short = [place for place, is_text in zip(places, is_long, strict=True) if not is_text]
    parts: list[Iterator[Sequence[Any]]] = []
    if long:
        parts.append(_long_texts(file, long))
    if short:
        widths = header.variable_storage_width
        width = sum((widths.get(header.column_names[place]) or 0) + _OBJECT for place in short)
        parts.append(_short_cells(file, suffix, short, width))
    # Long texts come first; this restores the order of the places.
    order = sorted(range(len(names)), key=lambda place: not is_long[place])
    back = [order.index(place) for place in range(len(names))]
    for row in zip(*parts, strict=True):
        cells = list(chain.from_iterable(row))
        yield [reading(cells[at]) for reading, at in zip(readings, back, strict=True)]


def _is_long(header: Any, name: str) -> bool:
    """Return whether a variable of a Stata file is long text: it has no declared width."""
    is_text = header.readstat_variable_types.get(name) == "string"
    return is_text and not header.variable_storage_width.get(name)


def _long_texts(file: str, places: Sequence[int]) -> Iterator[Sequence[Any]]:
    with Path(file).open("rb", buffering=0) as opened:
        for texts in LongText.of(opened.fileno()).texts(places, LONGEST):
            # Bytes of any kind are not listed, and text has no zero byte but at its end.
            yield [BEYOND if text is None else text.decode(_LATIN_1) for text in texts]


def _short_cells(
    file: str, suffix: str, places: Sequence[int], width: int
) -> Iterator[Sequence[Any]]:
    size = max(BYTES // width, 1)
    read, start = _reader(suffix), 0
    # The library finds columns by their names, as this encoding spells them.
    named = read(file, metadataonly=True, encoding=_LATIN_1)[1].column_names
    names = [named[place] for place in places]
    options: dict[str, Any] = {"user_missing": True} if suffix in SPSS else {}
    while True:
        cells, _ = read(
            file,
            usecols=names,
            row_offset=start,
            row_limit=size,
            encoding=_LATIN_1,
            disable_datetime_conversion=True,
            **options,
        )
        columns = [cells[name] for name in names]
        yield from zip(*columns, strict=True)
        if len(columns[0]) < size:
            return
        start += size


def _reading(
    header: Any, name: str, suffix: str, encoding: str, *, is_whole: bool
) -> Callable[[Any], Any]:
    """Return the function that decodes a stored cell of a variable, if ``is_whole`` all of it."""
    kind = _kind(header, name)
    if kind == sql.TEXT:
        decode = _decoder(encoding)
        return lambda cell: decode(cell) if isinstance(cell, str) else cell
    if kind not in {sql.DATE, sql.TIMESTAMP}:
        return lambda cell: cell
    is_days = suffix in STATA and kind == sql.DATE
    start = _SPSS_START if suffix in SPSS else _STATA_START
    unit = timedelta(1) if is_days else timedelta(seconds=1 if suffix in SPSS else 0.001)
    day = timedelta(1) // unit
    leaps = _LEAPS if re.fullmatch(_COUNTS_LEAPS, _format(header, name)) else ()

    def moment(cell: Any) -> Any:
        try:
            time = start + (cell - bisect_right(leaps, cell) * _SECOND) * unit
        except OverflowError:
            return BEYOND
        except (ArithmeticError, TypeError, ValueError):  # missing
            return None
        if is_whole and cell % day:
            return cell
        return time.date() if kind == sql.DATE else time

    return moment


def _label(labels: dict[Any, str]) -> Callable[[Any], Any]:
    """Return the function that names a number by its label, if it has one."""
    return lambda cell: labels.get(cell, cell)
