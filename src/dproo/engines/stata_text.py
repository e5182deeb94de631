"""Long text of Stata files (``strL``), read here: their library stops at bytes that are not UTF-8.

Since release 117 of the format a file is a sequence of sections, whose places a map at its
beginning lists. The rows of the section of data all have the same width; in place of a long text
stands the key of an entry in a section of its own, ``strls``, so that a row is read without any
other. Nothing in an entry can make another one, or a row, unreadable: an entry that is damaged
or missing is a cell outside.

Reference: Stata manual, ``help dta`` (releases 117 to 119).
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_START = re.compile(
    rb"<stata_dta><header><release>(11[789])</release><byteorder>(LSF|MSF)</byteorder><K>"
)
_MAP = b"<map>"
_TYPES = b"<variable_types>"
_DATA = b"<data>"
_STRLS = b"<strls>"
_LONG = 32768
_WIDTHS = {_LONG: 8, 65526: 8, 65527: 4, 65528: 4, 65529: 2, 65530: 1}
_TEXT = 130  # and 129 for bytes of any kind
_SECTIONS = 14
_READ = 1 << 20


@dataclass(frozen=True)
class LongText:
    """Where the long texts of an open file are.

    Attributes:
        descriptor: of the file.
        order: of its bytes.
        rows: where its rows begin.
        count: how many rows there are.
        width: how many bytes a row has.
        offsets: where in a row each variable begins.
        release: of the format.
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
        """Look up where rows and texts are; no text is read.

        Raises:
            ValueError: the file is none of Stata, or damaged.
        """
        start = os.pread(descriptor, 1 << 10, 0)
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

        In place of a text of more than ``longest`` bytes, which is no letter, stands its
        fingerprint: two of them are still told apart.

        Raises:
            ValueError: the file ends too early.
        """
        found = dict(self._found())
        at_once = max(_READ // max(self.width, 1), 1)
        for start in range(0, self.count, at_once):
            size = min(at_once, self.count - start) * self.width
            block = os.pread(self.descriptor, size, self.rows + start * self.width)
            if len(block) < size:
                raise ValueError("the file ends too early")
            for row in range(0, size, self.width):
                keys = (self._key(block, row + self.offsets[place]) for place in places)
                yield [self._text(found.get(key), longest) if any(key) else b"" for key in keys]

    def _key(self, block: bytes, at: int) -> tuple[int, int]:
        """Return the key that stands in a row: the numbers of a variable and of a row."""
        middle = at + {117: 4, 118: 2, 119: 3}[self.release]
        return _number(block[at:middle], self.order), _number(block[middle : at + 8], self.order)

    def _text(self, entry: tuple[int, int] | None, longest: int) -> bytes | None:
        if entry is None:
            return None
        place, length = entry
        if length <= longest:
            return os.pread(self.descriptor, length, place).partition(b"\0")[0]
        digest = hashlib.sha256()
        for at in range(place, place + length, _READ):
            digest.update(os.pread(self.descriptor, min(_READ, place + length - at), at))
        return b"\0" + digest.hexdigest().encode()

    def _found(self) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
        """Yield the key of each text, where it begins and how many bytes it has."""
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
