"""The header: where it ends, which encodings it may have, and which names it may hold.

It is the only part of a file that is shown before a charge, so no record may be taken for part of
it. A header ends at the first line break *of the bytes*: in an encoding in which those bytes mean
something else, or with an unclosed quote, every record would become the name of a column.
Anything that is not a header by these rules is refused in one sentence that quotes nothing.
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
"""The most bytes that a header may have."""

NAME_MAX = 256
"""The most characters that a name may have."""

NO_HEADER = (
    "data must begin with a header line in its encoding: at most 64 KiB, with every quote closed,"
    " and names of at most 256 characters without control or direction-changing ones. If the file"
    " is written in another way, add encoding=, delimiter= or format=; if it has no header line,"
    " add has_header=False."
)
BAD_NAMES = (
    "data must have columns whose names are texts of at most 256 characters, without line breaks"
    " and without control or direction-changing characters, in at most 64 KiB. Rename the columns."
)
SKIPPED = (
    "skip_rows and comment must lead to the header line, in the first 64 KiB of the file; the line"
    " that they lead to is empty, or after the end. Skip another number of lines: skip_rows=2."
)
MANY_SEPARATORS = (
    "delimiter must be given: the header line has more than one of , ; | and tab. Add"
    " delimiter=',' or the one that separates its names."
)
UTF_16 = "utf-16"

_SEPARATORS = ",;\t|"
_NAMED_SEPARATOR = re.compile(r'"?sep=([^"\'])"?', re.IGNORECASE)

_JOINERS = "\u200c\u200d"  # letters of some scripts look wrong without them
_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp", "Cn"}
_MARKS_16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_BREAK = re.compile(rb"\r*\n|\r")
_BREAKS = "\n" * 8
_BEHIND = [b"", *(bytes([second]) for second in range(256) if second != ord("\n"))]


class HeaderError(ValueError):
    """A line that is not a header, or cannot be shown; the message does not quote it."""


_RECORD = re.compile(r'\s*(\{|\[\s*[\[{"\d-])')
"""The beginning of a line of JSON, which is a record, not a header."""


@dataclass(frozen=True)
class Header:
    """The header line of a text file.

    Attributes:
        names: the columns that it names.
        length: how many bytes come before the records.
        is_marked: whether the file begins with a byte-order mark.
        line_break: the line break that ends it, in ASCII, or b"" if the file ends with it.
        encoding: the encoding of the records.
        delimiter: what separates its names, and the cells of the records.
    """

    names: tuple[str, ...]
    length: int
    is_marked: bool
    line_break: bytes
    encoding: str
    delimiter: str

    @classmethod
    def of(
        cls,
        blocks: Iterable[bytes],
        *,
        encoding: str,
        quote: str,
        delimiter: str | None = None,
        default: str = ",",
        skip: int = 0,
        comment: str = "",
    ) -> Header:
        """Read the header line of a file, and nothing after it.

        A line such as ``sep=;`` before it, as Excel writes and reads it, names the separator.

        Args:
            blocks: the bytes of the file, decompressed.
            encoding: a name that :func:`text_encoding` returned.
            quote: what encloses names.
            delimiter: what separates them; by default the one that the line has.
            default: what separates them if the line has none.
            skip: how many lines come before the header.
            comment: how further lines before it begin, if there are any.
        """
        is_wide = encoding == UTF_16
        try:
            start = _start(blocks, is_wide=is_wide, skip=skip, comment=comment)
        except Exception:  # noqa: BLE001 - of a library that unpacks, in its own words
            raise HeaderError(NO_HEADER) from None
        mark, unit, encoding = _mark(start, encoding)
        at, end, line_break, named_separator = _located(start, len(mark), unit, skip, comment)
        length = end + len(line_break) * unit
        if (skip or comment) and at == end:
            raise HeaderError(SKIPPED)
        if length > LENGTH_MAX:
            raise HeaderError(NO_HEADER)
        try:
            text = start[at:end].decode(encoding)
            delimiter = delimiter or named_separator or _separator(text, quote, default)
            (names,) = csv.reader([text], delimiter=delimiter, quotechar=quote, strict=True)
        except HeaderError:
            raise
        except (UnicodeError, ValueError, csv.Error):
            raise HeaderError(NO_HEADER) from None
        if not any(names) or _RECORD.match(text):
            raise HeaderError(NO_HEADER)
        require_names(names, NO_HEADER)
        return cls(tuple(names), length, bool(mark), line_break, encoding, delimiter)


def _separator(line: str, quote: str, default: str) -> str:
    """Return the only separator that a header line has outside quotes, or the default.

    >>> _separator("name;age", '"', ","), _separator('"name;age"', '"', ",")
    (';', ',')
    """
    bare = re.sub(f"{quote}[^{quote}]*{quote}", "", line)
    separators = [sign for sign in _SEPARATORS if sign in bare]
    if len(separators) > 1:
        raise HeaderError(MANY_SEPARATORS)
    return separators[0] if separators else default


def require_names(names: Sequence[str], sentence: str = BAD_NAMES) -> None:
    """Refuse names that are too odd for names of columns: they may be records.

    >>> require_names(["age", "größe"])
    """
    if not all(map(_is_name, names)) or sum(map(len, names)) > LENGTH_MAX:
        raise HeaderError(sentence)


def _is_name(name: object) -> bool:
    # In pandas a name may be anything.
    return (
        isinstance(name, str)
        and len(name) <= NAME_MAX
        and not any(unicodedata.category(sign) in _HIDDEN and sign not in _JOINERS for sign in name)
    )


def _start(blocks: Iterable[bytes], *, is_wide: bool, skip: int, comment: str) -> bytes:
    """Return the first bytes: all of the header line, or more than a header can have."""
    start = b""
    for block in blocks:
        start += block
        if len(start) > LENGTH_MAX:
            break
        if not is_wide:
            _, end, line_break, _ = _located(start, 0, 1, skip, comment)
            # Only the byte after CR shows whether the line break is CR LF.
            if line_break and start[end:].strip(b"\r"):
                break
    return start[: LENGTH_MAX + 1]


def _located(
    start: bytes, begin: int, unit: int, skip: int, comment: str
) -> tuple[int, int, bytes, str]:
    """Return where the header line begins and ends, what ends it, and what ``sep=`` names.

    Lines are counted by the line breaks of the bytes.
    """
    named_separator = ""
    left = skip
    while True:
        end, line_break = _first_break(start, begin, unit)
        ascii_only = start[begin:end].removeprefix(codecs.BOM_UTF8).replace(b"\0", b"")
        line = ascii_only.decode("ascii", "replace")
        named = _NAMED_SEPARATOR.fullmatch(line)
        is_before = left > 0 or named or (comment and line.startswith(comment))
        if not is_before or not line_break:
            return end if is_before else begin, end, line_break, named_separator
        named_separator = named[1] if named and not left else named_separator
        left = max(left - 1, 0)
        begin = end + len(line_break) * unit


def _mark(start: bytes, encoding: str) -> tuple[bytes, int, str]:
    """Return the byte-order mark, the size of a code unit in bytes, and the encoding after it."""
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
    """Return the position of the first line break, and the line break.

    In UTF-16 a line break is a code unit, not any two bytes that look like one.
    """
    if unit == 1:
        match = _BREAK.search(start, begin)
        return (match.start(), match[0]) if match else (len(start), b"")
    is_little = start[:2] == codecs.BOM_UTF16_LE
    order = "little" if is_little else "big"
    units = [
        int.from_bytes(start[at : at + 2], order)  # type: ignore[arg-type]
        for at in range(begin, len(start) - 1, 2)
    ]
    match = _BREAK.search(bytes(min(128, unit) for unit in units))
    return (begin + 2 * match.start(), match[0]) if match else (len(start), b"")


def after(blocks: Iterable[bytes], length: int) -> Iterator[bytes]:
    """Yield the bytes after the first ``length`` ones."""
    left = length
    for block in blocks:
        if left < len(block):
            yield block[left:]
        left = max(left - len(block), 0)


@cache
def text_encoding(name: str) -> str | None:
    """Return Python's name of an encoding that files may have, or None for any other.

    UTF-16 is one: its byte-order mark shows where lines end. For all others the condition is
    computed, not listed: ASCII bytes mean ASCII characters, whatever comes before them, so that a
    line break of the bytes is one of the text and no byte changes the meaning of later ones; and
    invalid bytes can be replaced.

    >>> [text_encoding(name) for name in ("latin1", "UTF_16", "cp037", "utf-7", "idna", "rot13")]
    ['iso8859-1', 'utf-16', None, None, None, None]
    """
    try:
        codec = codecs.lookup(name).name
        return codec if codec == UTF_16 or _is_plain(codec) else None
    except Exception:  # noqa: BLE001 - a codec may raise anything
        return None


def _is_plain(name: str) -> bool:
    """Return whether ASCII bytes mean ASCII, alone, in pairs, and after any other byte."""
    pairs = bytes(byte for first in range(128) for second in range(128) for byte in (first, second))
    if pairs.decode(name) != pairs.decode("ascii"):  # also refuses codecs that are not for text
        return False
    decoder = codecs.getincrementaldecoder(name)
    return all(_keeps(decoder(errors="replace"), bytes([first])) for first in range(128, 256))


def _keeps(decoder: codecs.IncrementalDecoder, first: bytes) -> bool:
    """Return whether line breaks, quotes and commas keep their meaning after this byte.

    A trail byte may be ASCII, but not below the digits. Enough line breaks follow to complete a
    character for which a decoder waits, of at most eight bytes.
    """
    text = decoder.decode(b"".join(first + rest + _BREAKS.encode() for rest in _BEHIND))
    parts = text.split(_BREAKS)
    return len(parts) == len(_BEHIND) + 1 and all(
        part.endswith(rest.decode())
        for part, rest in zip(parts, _BEHIND, strict=False)
        if rest < b"0"
    )
