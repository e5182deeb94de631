"""Text files cleaned so that every reader accepts them, without losing or merging records.

No record may decide how the others are read: bytes that are not UTF-8 become U+FFFD, and in text
longer than any letter, a hash replaces the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256

UNREADABLE = "\ufffd".encode()
"""What replaces bytes that are not text."""

_ESCAPED = re.compile("[\ud800-\udfff]")
_LONGEST_SEQUENCE = 4
_BLANKS = b" \t\r"
_STRUCTURE = re.compile(rb'["\[\]{},\n\r]')
_IN_TEXT = re.compile(rb'["\\\n\r]')
_RETURNS = re.compile(rb"\r+(\n?)")
_NEVER_JSON = b"\x01"  # invalid both inside and outside strings


def own_breaks(blocks: Iterable[bytes], *, is_old: bool) -> Iterator[bytes]:
    r"""Yield the records of a CSV file, ended only by LF, CR LF or CR CR LF.

    A record ends at LF, with any CRs before it, or in an old file at CR: the header shows which.
    Some readers would also end a record at the other character, and take what follows for another
    record: so that character becomes U+FFFD. Of several CRs before LF two are left, since their
    meaning depends on quotes.

    >>> b"".join(own_breaks([b"a\r", b"\r\nb\rc\n", b"d\r\n"], is_old=False)).decode()
    'a\r\r\nb�c\nd\r\n'
    >>> b"".join(own_breaks([b"a\rb\nc\r"], is_old=True)).decode()
    'a\nb�c\n'
    """
    held = b""
    for block in blocks:
        if is_old:
            yield block.replace(b"\n", UNREADABLE).replace(b"\r", b"\n")
            continue
        whole = held + block
        text = whole.rstrip(b"\r")
        held = whole[len(text) :][:2]
        is_plain = text.count(b"\r") == text.count(b"\r\n")
        yield text if is_plain else _RETURNS.sub(_own_break, text)


def _own_break(match: re.Match[bytes]) -> bytes:
    return match[0][-3:] if match[1] else UNREADABLE


def valid_text(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the same bytes, with U+FFFD for each byte that is not valid UTF-8.

    >>> b"".join(valid_text([b"caf\\xc3", b"\\xa9 \\xff"])).decode() == "caf\u00e9 \ufffd"
    True
    """
    rest = b""
    for block in blocks:
        if not rest and block.isascii():
            yield block
            continue
        whole = rest + block
        cut = _last_boundary(whole)
        rest = whole[cut:]
        yield _valid(whole[:cut])
    yield _valid(rest)


def _last_boundary(block: bytes) -> int:
    """Return where the last character begins if it may continue in the next block, else the end."""
    for back in range(1, min(_LONGEST_SEQUENCE, len(block) + 1)):
        if block[-back] >= 0xC0:
            return len(block) - back
    return len(block)


def _valid(text: bytes) -> bytes:
    try:
        text.decode()
    except UnicodeDecodeError:
        return repaired(text).encode()
    return text


def repaired(text: bytes) -> str:
    """Return bytes as text, with U+FFFD for each byte that is not valid UTF-8."""
    return _ESCAPED.sub("\ufffd", text.decode(errors="surrogateescape"))


def short_runs(blocks: Iterable[bytes], *, marks: Sequence[bytes], longest: int) -> Iterator[bytes]:
    """Yield the same text, with a hash for what follows the ``longest`` run without a mark.

    The marks give a file its structure, which is unchanged. A shortened run is longer than
    ``longest``, so it differs from every other run. No character is cut in two. If U+FFFD was cut
    off, it follows the hash.

    Guarantee: what a run becomes depends only on its bytes; different runs stay different.

    >>> runs = b"".join(short_runs([b"1,x", b"xxxx", b"xxxx", b"x,y"], marks=[b","], longest=6))
    >>> runs[:8], len(runs), runs[-2:]
    (b'1,xxxxxx', 74, b',y')
    """
    sign = re.compile(b"|".join(map(re.escape, marks)))
    run = _UnmarkedRun(longest)
    for block in blocks:
        if run.is_short(block, sign):
            yield block
            continue
        start, shown = 0, bytearray()
        for mark in sign.finditer(block):
            shown += run.added(block[start : mark.start()]) + run.ended() + mark[0]
            start = mark.end()
        yield bytes(shown + run.added(block[start:]))
    yield run.ended()


class _UnmarkedRun:
    """Bytes without a mark, received in parts."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._begin()

    def _begin(self) -> None:
        self._length, self._dropped = 0, sha256()
        self._is_cut, self._is_unreadable, self._last = False, False, b""

    def is_short(self, block: bytes, sign: re.Pattern[bytes]) -> bool:
        """Return whether no run in a block is too long; if so, count its last run as begun."""
        half = self._longest // 2
        first = sign.search(block)
        if first is None or self._length + first.start() > self._longest:
            return False
        # If a run is too long, one of these parts has no mark.
        starts = range(0, len(block) - half + 1, half)
        if not all(sign.search(block, start, start + half) for start in starts):
            return False
        last = len(block) - 1
        while not sign.match(block, last):
            last -= 1
        self._length = len(block) - sign.match(block, last).end()  # type: ignore[union-attr]
        return True

    def added(self, part: bytes) -> bytes:
        """Return what remains of further bytes of the run."""
        room = 0 if self._is_cut else max(self._longest - self._length, 0)
        # The rest of a character remains too: half a character would spoil the record.
        while not self._is_cut and room < len(part) and part[room] & 0xC0 == 0x80:
            room += 1
        self._is_cut = room < len(part)
        self._drop(part[room:])
        self._length += len(part)
        return part[:room]

    def _drop(self, part: bytes) -> None:
        self._dropped.update(part)
        joint = self._last + part[:_LONGEST_SEQUENCE]  # a character may begin in the part before
        self._is_unreadable |= UNREADABLE in part or UNREADABLE in joint
        self._last = (self._last + part[-_LONGEST_SEQUENCE:])[-_LONGEST_SEQUENCE:]

    def ended(self) -> bytes:
        """Return the replacement for the bytes that were dropped, and begin another run."""
        digest = self._dropped.hexdigest().encode() if self._length > self._longest else b""
        digest += UNREADABLE * self._is_unreadable
        self._begin()
        return digest


def short_lines(blocks: Iterable[bytes], *, longest: int) -> Iterator[bytes]:
    r"""Yield the same lines of JSON; a longer one is cut, and marked so that it is not JSON.

    Blanks at the ends of a line do not count. No block may be longer than ``longest``.

    >>> b"".join(short_lines([b"[1]\n [2", b"2]   ", b"  \n[3]", b"   4\n"], longest=5))
    b'[1]\n[22] \n[3]  \x01\n'
    """
    length, is_marked = 0, False
    for block in blocks:
        end, line_break, following = block.partition(b"\n")
        end = end if length else end.lstrip(_BLANKS)
        room = longest - length
        shown, dropped = end[:room], end[room:]
        if not is_marked and dropped.strip(_BLANKS):
            shown, is_marked = shown + _NEVER_JSON, True
        yield shown
        length += min(len(end), room)
        if line_break:
            lines, last_break, begun = following.rpartition(b"\n")
            begun = begun.lstrip(_BLANKS)
            yield line_break + lines + last_break + begun
            length, is_marked = len(begun), False


def array_lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    r"""Yield the items of a JSON array as JSON lines, each on one line whatever is in it.

    Only strings and brackets are parsed: an invalid item becomes an invalid line.

    >>> b"".join(array_lines([b'[{"a": "x,]"},\n {"a":\n', b'[1, 2]}, 3]\n']))
    b'{"a": "x,]"}\n  {"a": [1, 2]}\n 3\n \n'
    """
    splitter = _ArraySplitter()
    for block in blocks:
        yield splitter.lines(block)
    yield b"\n"


class _ArraySplitter:
    """Splits an array block by block; it knows where in the array the last block ended."""

    def __init__(self) -> None:
        self.depth, self.is_text, self.is_escaped = 0, False, False

    def lines(self, block: bytes) -> bytes:
        """Return a block with its items on lines."""
        shown = bytearray()
        start, at = 0, int(self.is_escaped and block[:1] not in {b"\n", b"\r"})
        self.is_escaped = self.is_escaped and not block
        while mark := (_IN_TEXT if self.is_text else _STRUCTURE).search(block, at):
            place, at = mark.start(), mark.end()
            instead = self._instead(mark[0])
            if instead is not None:
                shown += block[start:place] + instead
                start = at
            if self.is_text and mark[0] == b"\\":
                self.is_escaped = at == len(block)
                at += block[at : at + 1] not in {b"\n", b"\r", b""}
        return bytes(shown + block[start:])

    def _instead(self, sign: bytes) -> bytes | None:
        """Return the replacement of a character on the lines, or None if it is unchanged."""
        if sign in {b"\n", b"\r"}:
            return b" "
        if sign == b'"':
            self.is_text = not self.is_text
        if self.is_text:
            return None
        if sign in {b"[", b"{"}:
            self.depth += 1
            return b"" if self.depth == 1 else None
        if sign in {b"]", b"}"}:
            self.depth -= 1
            return None if self.depth else b"\n"
        return b"\n" if sign == b"," and self.depth == 1 else None
