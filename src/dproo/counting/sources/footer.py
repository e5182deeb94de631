"""Footers of Parquet files: how their columns are stored.

DuckDB converts the least and greatest values that a footer states, whatever is asked for, and
fails on some: one record would decide whether a file is refused. Here they are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from dproo.counting.sources.descriptors import Opened

_MAGIC = b"PAR1"
_FIXED, _SPLIT = 7, 9
_CODECS = ("UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW")
# Identifiers of fields in parquet.thrift.
_ROW_GROUPS, _COLUMNS, _COLUMN, _TYPE, _ENCODINGS, _PATH, _CODEC = 4, 1, 3, 1, 2, 3, 4
# Types of Thrift's compact protocol.
_TRUE, _FALSE, _DOUBLE, _BINARY, _STRUCT = 1, 2, 7, 8, 12
_INTEGERS, _LISTS = (4, 5, 6), (9, 10)
_LONGEST = 63  # bits of an integer before its last byte


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """The cells of a column in one part of a file.

    Attributes:
        path: the name of the column, and of the fields in it if it is nested.
        compression: as Parquet calls it.
        is_split: whether values of a fixed number of bytes are in the encoding
            ``BYTE_STREAM_SPLIT``.
    """

    path: tuple[str, ...]
    compression: str
    is_split: bool


def chunks_of(file: Opened, *, groups: int | None = None) -> Iterator[Chunk]:
    """Yield the chunks of the first groups of rows of a Parquet file, by default of all.

    For any other file, this fails in any way.
    """
    end = file.part(file.size - 8, 8)
    size = int.from_bytes(end[:4], "little")
    if end[4:] != _MAGIC:
        raise ValueError("not a Parquet file")
    for group in islice(_groups(file.part(file.size - 8 - size, size)), groups):
        for column in group[_COLUMNS]:
            stored = column[_COLUMN]
            yield Chunk(
                path=tuple(name.decode(errors="replace") for name in stored[_PATH]),
                compression=_CODECS[stored[_CODEC]],
                is_split=stored[_TYPE] == _FIXED and _SPLIT in stored[_ENCODINGS],
            )


def _groups(content: bytes) -> Iterator[dict[int, Any]]:
    """Yield the groups of rows of a footer, each of which takes time to read."""
    _, at = _struct(content, 0, until=_ROW_GROUPS)
    _, length, at = _list(content, at)
    for _ in range(length):
        group, at = _struct(content, at)
        yield group


def _struct(content: bytes, at: int, *, until: int | None = None) -> tuple[dict[int, Any], int]:
    """Return the fields of a struct by their identifiers, and where it, or they, end.

    The field ``until``, if it is given, and what follows it are not read.
    """
    fields: dict[int, Any] = {}
    identifier = 0
    while head := content[at]:
        at, step, kind = at + 1, head >> 4, head & 15
        if step:
            identifier += step
        else:
            identifier, at = _integer(content, at)
        if identifier == until:
            return fields, at
        if kind in {_TRUE, _FALSE}:
            fields[identifier] = kind == _TRUE
        else:
            fields[identifier], at = _value(content, at, kind)
    return fields, at + 1


def _value(content: bytes, at: int, kind: int) -> tuple[Any, int]:
    """Return a value, or None for a type that is not needed, and where it ends."""
    if kind in _INTEGERS:
        return _integer(content, at)
    if kind == _BINARY:
        length, at = _count(content, at)
        return content[at : at + length], at + length
    if kind == _STRUCT:
        return _struct(content, at)
    if kind in _LISTS:
        kind, length, at = _list(content, at)
        values = []
        for _ in range(length):
            value, at = _value(content, at, kind)
            values.append(value)
        return values, at
    end = at + (8 if kind == _DOUBLE else 1)
    _ = content[end - 1]  # or a list that states a huge length would not end
    return None, end


def _list(content: bytes, at: int) -> tuple[int, int, int]:
    """Return the type of the elements of a list, their number, and where they begin."""
    kind, length = content[at] & 15, content[at] >> 4
    if length < 15:
        return kind, length, at + 1
    return kind, *_count(content, at + 1)


def _integer(content: bytes, at: int) -> tuple[int, int]:
    count, at = _count(content, at)
    return count >> 1 ^ -(count & 1), at


def _count(content: bytes, at: int) -> tuple[int, int]:
    byte = content[at]
    count, shift = byte & 127, 7
    while byte > 127:
        if shift > _LONGEST:
            raise ValueError("not an integer of Thrift")
        at += 1
        byte = content[at]
        count |= (byte & 127) << shift
        shift += 7
    return count, at + 1
