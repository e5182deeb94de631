"""SPSS and Stata files, by pyreadstat: their header by itself, their rows a part at a time.

Text is asked for as Latin-1, which every byte is, and decoded here: bytes that are not of the
file's encoding make one cell outside, and stop nothing. The long text of Stata files is read by
:mod:`dproo.engines.stata_text` for the same reason.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

from dproo.core.checks import refusal
from dproo.engines import query as sql
from dproo.engines.cleaning import repaired
from dproo.engines.fit import Column
from dproo.engines.loading import load
from dproo.engines.stata_text import LongText

SPSS, STATA = (".sav", ".zsav"), (".dta",)
"""How the names of such files end."""

BYTES = 1 << 27
"""Memory that the rows of one part take, or so."""

LONGEST = 1 << 20
"""Bytes of a long text that are read: what is longer is longer than any letter."""

_OBJECT = 64  # bytes of a cell in memory, besides its text
_LATIN_1 = "ISO-8859-1"
_NUMBERS = {"int8": sql.INTEGER, "int16": sql.INTEGER, "int32": sql.INTEGER}
# Formats of days: those of other periods, and of times, have no letters.
_KINDS = {
    r"[AEJS]?DATE[0-9.]*|%-?t?d.*": sql.DATE,
    r"DATETIME[0-9.]*|YMDHMS[0-9.]*|%-?t[cC].*": sql.TIMESTAMP,
    r"(D?TIME|MTIME|MOYR|QYR|WKYR)[0-9.]*|%-?t.*": None,
}
_SPSS_START, _STATA_START = datetime(1582, 10, 14), datetime(1960, 1, 1)  # noqa: DTZ001 - of no zone


def header_of(file: str, suffix: str, *, path: str, name: str) -> Any:
    """Return the header of a file; no row is read.

    Args:
        file: what to open.
        suffix: how its name ends.
        path: how a refusal calls it.
        name: the argument that it is.

    Raises:
        ValueError: the library is not installed, or the file is not readable.
    """
    read = _reader(suffix)
    try:
        header = read(file, metadataonly=True, user_missing=True)[1]
        if suffix in STATA and any(_is_long(header, column) for column in header.column_names):
            with _opened(file) as descriptor:
                LongText.of(descriptor)
    except Exception:  # noqa: BLE001 - of a library, in its own words
        raise ValueError(refusal(name, "be a readable SPSS or Stata file", path)) from None
    return header


@contextmanager
def _opened(file: str) -> Iterator[int]:
    descriptor = os.open(file, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _reader(suffix: str) -> Callable[..., tuple[Any, Any]]:
    pyreadstat = load("pyreadstat", extra="spss")
    read: Callable[..., tuple[Any, Any]] = (
        pyreadstat.read_sav if suffix in SPSS else pyreadstat.read_dta
    )
    return read


def columns_of(header: Any) -> tuple[Column, ...]:
    """Return the variables, as the header tells of them."""
    return tuple(
        Column(name=name, kind=_kind(header, name), type_name=_format(header, name) or "number")
        for name in header.column_names
    )


def _format(header: Any, name: str) -> str:
    return str(header.original_variable_types.get(name, ""))


def _kind(header: Any, name: str) -> str | None:
    stored = header.readstat_variable_types.get(name)
    if stored == "string":
        return sql.TEXT
    for shape, kind in _KINDS.items():
        if re.fullmatch(shape, _format(header, name)):
            return kind
    return _NUMBERS.get(str(stored), sql.FLOAT)


def rows_of(
    file: str, suffix: str, header: Any, places: Sequence[int], encoding: str | None
) -> Iterator[Sequence[Any]]:
    """Yield the cells of the variables at these places, row by row.

    Args:
        file: what to open.
        suffix: how its name ends.
        header: its header.
        places: of the variables.
        encoding: of its text, by default the one that the header names.
    """
    names = [header.column_names[place] for place in places]
    stored = header.file_encoding or "utf-8"
    readings = [_reading(header, name, suffix, encoding or stored) for name in names]
    is_long = [suffix in STATA and _is_long(header, name) for name in names]
    long = [place for place, is_text in zip(places, is_long, strict=True) if is_text]
    short = [name for name, is_text in zip(names, is_long, strict=True) if not is_text]
    parts: list[Iterator[Sequence[Any]]] = []
    if long:
        parts.append(_long_texts(file, long))
    if short:
        widths = [header.variable_storage_width.get(name) or 0 for name in short]
        asked_for = [name.encode(stored).decode(_LATIN_1) for name in short]
        parts.append(
            _short_cells(file, suffix, asked_for, sum(width + _OBJECT for width in widths))
        )
    # Cells come as long texts first; here they get back to their places.
    order = sorted(range(len(names)), key=lambda place: not is_long[place])
    back = [order.index(place) for place in range(len(names))]
    for row in zip(*parts, strict=True):
        cells = list(chain.from_iterable(row))
        yield [reading(cells[at]) for reading, at in zip(readings, back, strict=True)]


def _is_long(header: Any, name: str) -> bool:
    """Return whether a variable of a Stata file is long text, whose width no header tells."""
    is_text = header.readstat_variable_types.get(name) == "string"
    return is_text and not header.variable_storage_width.get(name)


def _long_texts(file: str, places: Sequence[int]) -> Iterator[Sequence[Any]]:
    with _opened(file) as descriptor:
        for texts in LongText.of(descriptor).texts(places, LONGEST):
            yield [None if text is None else text.decode(_LATIN_1) for text in texts]


def _short_cells(
    file: str, suffix: str, names: Sequence[str], width: int
) -> Iterator[Sequence[Any]]:
    size = max(BYTES // width, 1)
    read, start = _reader(suffix), 0
    options: dict[str, Any] = {"user_missing": True} if suffix in SPSS else {}
    while True:
        cells, _ = read(
            file,
            usecols=list(names),
            row_offset=start,
            row_limit=size,
            encoding=_LATIN_1,
            output_format="dict",
            disable_datetime_conversion=True,
            **options,
        )
        columns = [cells[name] for name in names]
        yield from zip(*columns, strict=True)
        if len(columns[0]) < size:
            return
        start += size


def _reading(header: Any, name: str, suffix: str, encoding: str) -> Callable[[Any], Any]:
    """Return what a stored cell of a variable means."""
    kind = _kind(header, name)
    if kind == sql.TEXT:
        is_utf_8 = encoding.lower().replace("_", "-") in {"utf-8", "utf8"}
        return _utf_8 if is_utf_8 else lambda cell: _decoded(cell, encoding)
    if kind not in {sql.DATE, sql.TIMESTAMP}:
        return lambda cell: cell
    is_days = suffix in STATA and kind == sql.DATE
    start = _SPSS_START if suffix in SPSS else _STATA_START
    unit = timedelta(1) if is_days else timedelta(seconds=1 if suffix in SPSS else 0.001)

    def moment(cell: Any) -> Any:
        try:
            found = start + cell * unit
        except (ArithmeticError, TypeError, ValueError):  # missing, or beyond the calendar
            return None
        return found.date() if kind == sql.DATE else found

    return moment


def _utf_8(cell: Any) -> Any:
    return repaired(cell.encode(_LATIN_1)) if isinstance(cell, str) else cell


def _decoded(cell: Any, encoding: str) -> Any:
    if not isinstance(cell, str):
        return cell
    return cell.encode(_LATIN_1).decode(encoding, errors="replace").replace("\ufffd", "?")
