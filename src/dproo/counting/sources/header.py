"""The header: where it ends, which encodings it may have, and which names it may hold.

It is the one part of a file that is shown before a charge, so nothing behind it may get into it.
A header ends at the first line break *of the bytes*: read in an encoding in which those bytes
mean something else, or with a quote that no one closes, every record would become the name of a
column. Whatever is not a header by these rules is refused in one sentence that quotes nothing.
"""

from __future__ import annotations

import codecs
import csv
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

LENGTH_MAX = 1 << 16
"""How many bytes a header may have."""

NAME_MAX = 256
"""How many characters a name may have."""

NO_HEADER = (
    "data must begin with a header line in its encoding: at most 64 KiB, with every quote closed,"
    " and names of at most 256 characters without control or direction-changing ones. If the file"
    " is written in another way, add --encoding, --delimiter or --format; if it has no header line,"
    " add --no-header."
)
BAD_NAMES = (
    "data must have columns with names of at most 256 characters, without line breaks and without"
    " control or direction-changing characters, in at most 64 KiB. Rename the columns."
)
UTF_16 = "utf-16"

_JOINERS = "\u200c\u200d"  # letters of some scripts look wrong without them
_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp", "Cn"}
_MARKS_16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_BREAK = re.compile(rb"\r*\n|\r")
_BREAKS = "\n" * 8
_BEHIND = [b"", *(bytes([second]) for second in range(256) if second != ord("\n"))]


class HeaderError(ValueError):
    """A header that is none, or that cannot be shown; the message quotes nothing of it."""


_RECORD = re.compile(r'\s*(\{|\[\s*[\[{"\d-])')
"""How a line of JSON begins, which is a record and no header."""


@dataclass(frozen=True)
class Header:
    """The first line of a text file.

    Attributes:
        names: the columns that it names.
        length: how many bytes it takes, its line break and a byte-order mark included.
        is_marked: whether a byte-order mark stands before it.
        line_break: what ends it, in ASCII; nothing if the file ends with it.
        encoding: of the bytes behind it.
    """

    names: tuple[str, ...]
    length: int
    is_marked: bool
    line_break: bytes
    encoding: str

    @classmethod
    def of(cls, blocks: Iterable[bytes], *, encoding: str, delimiter: str, quote: str) -> Header:
        """Read the first line of a file, and nothing behind it.

        Args:
            blocks: the bytes of the file, unpacked.
            encoding: a name that :func:`text_encoding` returned.
            delimiter: what separates names.
            quote: what encloses them.

        Raises:
            HeaderError: there is no such line.
        """
        try:
            start = _start(blocks, is_bytewise=encoding != UTF_16)
        except Exception:  # noqa: BLE001 - of a library that unpacks, in its own words
            raise HeaderError(NO_HEADER) from None
        mark, unit, encoding = _mark(start, encoding)
        end, line_break = _first_break(start, len(mark), unit)
        line = start[len(mark) : end]
        length = end + len(line_break) * unit
        if length > LENGTH_MAX:
            raise HeaderError(NO_HEADER)
        try:
            text = line.decode(encoding)
            (names,) = csv.reader([text], delimiter=delimiter, quotechar=quote, strict=True)
        except (UnicodeError, ValueError, csv.Error):
            raise HeaderError(NO_HEADER) from None
        if not any(names) or _RECORD.match(text):
            raise HeaderError(NO_HEADER)
        require_names(names, NO_HEADER)
        return cls(tuple(names), length, bool(mark), line_break, encoding)


def require_names(names: Sequence[str], sentence: str = BAD_NAMES) -> None:
    """Refuse names that cannot be shown as names of columns: they may be anything but names.

    Raises:
        HeaderError: one is too long or has a character that no name has.

    >>> require_names(["age", "größe"])
    """
    if sum(map(len, names)) > LENGTH_MAX or not all(map(_is_name, names)):
        raise HeaderError(sentence)


def _is_name(name: str) -> bool:
    return len(name) <= NAME_MAX and not any(
        unicodedata.category(sign) in _HIDDEN and sign not in _JOINERS for sign in name
    )


def _start(blocks: Iterable[bytes], *, is_bytewise: bool) -> bytes:
    """Return the first bytes: all of the first line, or more than a header can have."""
    held = bytearray()
    for block in blocks:
        held += block
        found = _BREAK.search(held) if is_bytewise else None
        # What is behind CR tells whether it is CR LF.
        if len(held) > LENGTH_MAX or (found and held[found.start() :].strip(b"\r")):
            break
    return bytes(held[: LENGTH_MAX + 1])


def _mark(start: bytes, encoding: str) -> tuple[bytes, int, str]:
    """Return the byte-order mark, the bytes of a code unit, and the encoding behind the mark."""
    if encoding == UTF_16:
        mark = start[:2]
        if mark not in _MARKS_16:
            raise HeaderError(NO_HEADER)
        return mark, 2, _MARKS_16[mark]
    is_utf_8 = encoding in {"utf-8", "utf-8-sig"}
    if is_utf_8 and start.startswith(codecs.BOM_UTF8):
        return codecs.BOM_UTF8, 1, "utf-8"
    return b"", 1, "utf-8" if is_utf_8 else encoding


def _first_break(start: bytes, begin: int, unit: int) -> tuple[int, bytes]:
    """Return where the first line ends, and what ends it.

    In UTF-16 a line break is a code unit, not any two bytes that look like one.
    """
    if unit == 1:
        found = _BREAK.search(start, begin)
        return (found.start(), found[0]) if found else (len(start), b"")
    is_little = start[:2] == codecs.BOM_UTF16_LE
    order = "little" if is_little else "big"
    signs = [
        int.from_bytes(start[at : at + 2], order)  # type: ignore[arg-type]
        for at in range(begin, len(start) - 1, 2)
    ]
    found = _BREAK.search(bytes(min(128, sign) for sign in signs))
    return (begin + 2 * found.start(), found[0]) if found else (len(start), b"")


def behind(blocks: Iterable[bytes], length: int) -> Iterator[bytes]:
    """Yield the bytes without the first ones."""
    left = length
    for block in blocks:
        if left < len(block):
            yield block[left:]
        left = max(left - len(block), 0)


@cache
def text_encoding(name: str) -> str | None:
    """Return Python's name of an encoding that files may have, or None for any other.

    UTF-16 is one, as a byte-order mark shows where its lines end. Of all others that is computed,
    not listed: ASCII bytes mean ASCII characters, whatever stands before them, so that a line
    break of the bytes is one of the text and no byte changes what those behind it mean; and
    bytes that mean nothing can be replaced.

    >>> [text_encoding(name) for name in ("latin1", "UTF_16", "cp037", "utf-7", "idna", "rot13")]
    ['iso8859-1', 'utf-16', None, None, None, None]
    """
    try:
        found = codecs.lookup(name).name
        if found == UTF_16:
            return found
        return found if _is_plain(found) else None
    except Exception:  # noqa: BLE001 - a codec may do anything
        return None


def _is_plain(name: str) -> bool:
    """Return whether ASCII bytes mean ASCII, alone, in pairs, and behind any other byte."""
    pairs = bytes(byte for first in range(128) for second in range(128) for byte in (first, second))
    if pairs.decode(name) != pairs.decode("ascii"):  # also refuses a codec that is not one of text
        return False
    decoder = codecs.getincrementaldecoder(name)
    return all(_keeps(decoder(errors="replace"), bytes([first])) for first in range(128, 256))


def _keeps(decoder: codecs.IncrementalDecoder, first: bytes) -> bool:
    """Return whether line breaks, quotes and commas are what they are behind this byte.

    A trail byte may be ASCII, but none below the digits. Line breaks enough follow for a decoder
    that waits for the rest of a character, of eight bytes at most.
    """
    text = decoder.decode(b"".join(first + rest + _BREAKS.encode() for rest in _BEHIND))
    parts = text.split(_BREAKS)
    return len(parts) == len(_BEHIND) + 1 and all(
        part.endswith(rest.decode())
        for part, rest in zip(parts, _BEHIND, strict=False)
        if rest < b"0"
    )
