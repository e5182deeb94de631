"""The records of a CSV file in a form in which none affects how another is read.

DuckDB loses, doubles or merges records at the edge of its buffer, and after a cell with quotes in
odd places it may misread the next record. So it gets parts that fit into one buffer, of whole
records, with quotes only where a careful program writes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import Enum, auto

from dproo.counting.sources.text.cleaning import UNREADABLE


class Place(Enum):
    """Where in a record a byte is."""

    START = auto()
    """At the start of a cell: a quote opens it."""
    BLANK = auto()
    """After one blank at the start of a cell: a quote still opens it."""
    PLAIN = auto()
    """In a cell that no quote opened: a quote is a character like any other."""
    QUOTED = auto()
    """Between quotes: a line break is part of the cell."""
    CLOSED = auto()
    """After a closing quote: another one opens the cell again."""


class Syntax:
    r"""How cells are separated and quoted, and where the records of a text end.

    The text is received block by block. In it a run of more than ``longest_run`` bytes without a
    quote is shortened, if that is given.

    >>> syntax = Syntax(delimiter=b",", quote=b'"')
    >>> syntax.ends(b'a,"b\n'), syntax.place.name
    ((0, 0, True), 'QUOTED')
    >>> syntax.ends(b'c"\n5" pipe\nd'), syntax.place.name
    ((3, 11, False), 'PLAIN')
    """

    def __init__(self, *, delimiter: bytes, quote: bytes, longest_run: int | None = None) -> None:
        self.place = Place.START
        self.delimiter, self.quote = delimiter, quote
        self._longest_run = longest_run
        d, q = re.escape(delimiter), re.escape(quote)
        blank = b"" if delimiter == b" " else b" ?"
        opening = rb"(?:(?<![^%b\n%b])|(?<=[%b\n] ))%b" % (d, q, d, q)
        closing = rb"%b(?=[%b\r\n%b]|\Z)" % (q, d, q)
        inside, between = rb"[^%b]*+" % q, rb"[^%b%b\n]*+" % (q, d)
        self._opening = re.compile(opening)
        self._pairs = re.compile(rb"(?:%b%b%b%b)*" % (inside, opening, inside, closing))
        self._record = re.compile(rb"[^%b\n]*+(?:%b%b%b[^%b\n]*+)*\n" % (q, q, inside, q, q))
        again = rb"%b%b%b%b" % (between, q, inside, q)
        quoted = rb"%b%b%b(?:%b)*%b" % (q, inside, q, again, between)
        self._cell = re.compile(rb"(?:%b(%b)|([^%b\n]*+))(%b|\n)" % (blank, quoted, d, d))

    def ends(self, block: bytes) -> tuple[int, int, bool]:
        """Return where the first and the last record in a block end, and go on to the next block.

        Both are 0 if no record ends in it. The third result is whether quotes are only where a
        careful program writes them.
        """
        start, place = 0, self.place
        if place is Place.QUOTED:
            start = block.find(self.quote) + 1
            if not start:
                return 0, 0, True
            place = Place.CLOSED
        following = block[start : start + 1]
        is_odd = place in {Place.PLAIN, Place.BLANK} and following == self.quote
        if place is Place.CLOSED:
            is_odd = following not in {b"", b"\r", b"\n", self.delimiter, self.quote}
        pairs = self._pairs.match(block, start)
        end = start if pairs is None else pairs.end()
        quote = block.find(self.quote, end)
        is_open = quote >= 0
        if is_open:
            is_last = block.find(self.quote, quote + 1) < 0
            is_odd = is_odd or not (is_last and self._opening.match(block, quote))
        if is_odd:
            return self._walked(block)
        place = Place.CLOSED if end > start else place
        outside = quote if is_open else len(block)
        self.place = Place.QUOTED if is_open else self._after(place, block, end, outside)
        first = self._record.match(block, start, outside)
        if first is None:
            return 0, 0, True
        return first.end(), self._last(block, start, end, outside), True

    def _walked(self, block: bytes) -> tuple[int, int, bool]:
        """Return what :meth:`ends` returns, going from quote to quote: for odd quotes, slowly."""
        at, first, last, place = 0, 0, 0, self.place
        while True:
            quote = block.find(self.quote, at)
            end = len(block) if quote < 0 else quote
            if place is not Place.QUOTED:
                first = first or block.find(b"\n", at, end) + 1
                last = block.rfind(b"\n", at, end) + 1 or last
                place = self._after(place, block, at, end)
            if quote < 0:
                self.place = place
                return first, last, False
            at = quote + 1
            if place is Place.QUOTED:
                place = Place.CLOSED
            elif place is not Place.PLAIN:
                place = Place.QUOTED

    def _after(self, place: Place, block: bytes, start: int, end: int) -> Place:
        """Return the place after bytes without a quote, from a place outside quotes."""
        cell = max(block.rfind(self.delimiter, start, end), block.rfind(b"\n", start, end)) + 1
        if cell:
            start, place = cell, Place.START
        if start == end or place in {Place.PLAIN, Place.CLOSED}:
            return place
        is_blank = place is Place.START and block[start:end] == b" "
        return Place.BLANK if is_blank else Place.PLAIN

    def _last(self, block: bytes, start: int, end: int, outside: int) -> int:
        """Return the last line break outside quotes, which come in pairs up to ``end``."""
        found = block.rfind(b"\n", end, outside) + 1
        while not found:
            opening = block.rfind(self.quote, start, end - 1)
            end = max(block.rfind(self.quote, start, opening) + 1, start)
            found = block.rfind(b"\n", end, opening) + 1
        return found

    @property
    def closing(self) -> bytes:
        """The bytes that would end a record here."""
        return (self.quote if self.place is Place.QUOTED else b"") + b"\n"

    def careful(self, records: bytes) -> bytes:
        r"""Return whole records with quotes as a careful program writes them.

        >>> syntax = Syntax(delimiter=b",", quote=b'"')
        >>> syntax.careful(b'5" pipe,"a"b, "c,""d" ,e\n"f\n"\r\n').decode()
        '"5"" pipe","ab","c,""d",e\n"f\n"\n'
        """
        return self._cell.sub(self._careful, records)

    def _careful(self, match: re.Match[bytes]) -> bytes:
        quoted, cell, end = match.groups()
        if quoted is not None:
            _, *parts = quoted.split(self.quote)
            # The parts are by turns inside and outside quotes; an empty part outside is a quote.
            parts[-1] = parts[-1].rstrip(b" \r")
            is_odd = any(parts[1::2])
            parts[1:-1:2] = [part or self.quote for part in parts[1:-1:2]]
            cell = b"".join(parts)
            if is_odd and self._longest_run is not None and len(cell) > self._longest_run:
                cell += UNREADABLE  # with its quotes elsewhere, it would be shortened differently
        elif self.quote not in cell:
            return match[0]
        text = cell.rstrip(b"\r") if quoted is None else cell
        return self.quote + text.replace(self.quote, self.quote * 2) + self.quote + end

    def ended_once(self, records: bytes) -> bytes:
        r"""Return careful records that all end in LF or CR LF, also those that end in CR CR LF.

        In a cell, CR CR LF is not CR LF: it becomes U+FFFD and CR LF.

        >>> syntax = Syntax(delimiter=b",", quote=b'"')
        >>> syntax.ended_once(b'a,"b\r\r\nc"\r\r\n').decode()
        'a,"b�\r\nc"\r\n'
        """
        if b"\r\r" not in records:
            return records
        parts = records.split(self.quote)
        for i, part in enumerate(parts):
            parts[i] = part.replace(b"\r\r", UNREADABLE + b"\r" if i % 2 else b"\r")
        return self.quote.join(parts)


class Parts:
    r"""A text in parts of whole records, each to be read by itself.

    Guarantee: the parts have the records of the text, in order, each in one part. What a record
    becomes depends on it alone.

    Args:
        blocks: the text, with records that end in LF, CR LF or CR CR LF.
        syntax: how cells are separated and quoted.
        length: how long a part is; it may be longer by a record and two blocks.
        longest: how long a record may be; a longer one becomes a line that is just too long.

    >>> syntax = Syntax(delimiter=b",", quote=b'"')
    >>> blocks = [b"1,a\n", b'"2\n', b'3"\n4\n', b"5678", b"9012\n5"]
    >>> [b"".join(part) for part in Parts(blocks, syntax, length=9, longest=6)]
    [b'1,a\n"2\n3"\n4\n', b'xxxxxxx\n5\n']
    """

    def __init__(
        self, blocks: Iterable[bytes], syntax: Syntax, *, length: int, longest: int
    ) -> None:
        self._blocks, self._syntax = iter(blocks), syntax
        self._length, self._longest = length, longest
        self._is_over = False
        self._begin()

    def _begin(self) -> None:
        self._held: list[bytes] = []
        self._size, self._is_careful = 0, True

    def __iter__(self) -> Iterator[Iterator[bytes]]:
        while not self._is_over:
            yield self._part()

    def _part(self) -> Iterator[bytes]:
        length = 0
        for block in self._blocks:
            first, last, is_careful = self._syntax.ends(block)
            if first:
                text = self._ended(block[:first], is_careful=is_careful)
                rest = block[first:last]
                text += rest if is_careful else self._syntax.careful(rest)
                text = self._syntax.ended_once(text)
                yield text
                length += len(text)
            self._hold(block[last:], is_careful=is_careful)
            if first and length >= self._length:
                return
        self._is_over = True
        if self._size:
            yield self._syntax.ended_once(self._ended(self._syntax.closing, is_careful=True))

    def _hold(self, part: bytes, *, is_careful: bool) -> None:
        """Add to the record that has not ended."""
        self._size += len(part)
        self._is_careful = self._is_careful and is_careful
        self._held.append(part)
        if self._size > self._longest:
            self._held = []

    def _ended(self, part: bytes, *, is_careful: bool) -> bytes:
        """Return the record that ends with these bytes, and begin another."""
        self._hold(part, is_careful=is_careful)
        text = b"".join(self._held)
        if self._size > self._longest:
            text = b"x" * (self._longest + 1) + b"\n"
        elif not self._is_careful:
            text = self._syntax.careful(text)
        self._begin()
        return text
