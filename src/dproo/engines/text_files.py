"""Text files as every reader can take them: unpacked, in UTF-8, their header looked up."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dproo.core.checks import refusal
from dproo.engines.compression import SUFFIXES as COMPRESSED
from dproo.engines.compression import compression_of, plain_blocks, refuse_disguised, require
from dproo.engines.descriptors import Incoming, Opened
from dproo.engines.fit import MissingColumnError
from dproo.engines.layout import Layout

HEADER_MAX = 1 << 24

_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_OTHERS = {";": ";", "\t": "tab", ",": ",", "|": "|"}


def suffix_of(path: str) -> str:
    """Return how a file's name ends, a compression left out.

    >>> suffix_of("visits.CSV.gz"), suffix_of("visits.gz")
    ('.csv', '')
    """
    name = Path(path)
    if name.suffix.lower() in COMPRESSED:
        name = name.with_suffix("")
    return name.suffix.lower()


@dataclass(frozen=True)
class TextFile:
    """A text file whose first bytes were looked at.

    Attributes:
        opened: the file.
        encoding: of its characters.
        compression: how it is compressed, if it is.
        is_marked: whether a byte-order mark tells its encoding.
    """

    opened: Opened | Incoming
    encoding: str
    compression: str | None
    is_marked: bool

    @classmethod
    def of(cls, opened: Opened | Incoming, layout: Layout) -> TextFile:
        """Look at the first bytes of a file.

        Raises:
            ValueError: it is no text, or in another encoding than is said.
        """
        start = opened.start()
        compression = compression_of(start)
        ending = COMPRESSED.get(Path(opened.path).suffix.lower())
        if ending not in {None, compression}:
            raise ValueError(refusal("data", f"be compressed as {ending}", opened.path))
        require(compression)
        refuse_disguised(start, opened.path)
        raw = cls(opened, layout.encoding or "utf-8", compression, is_marked=False)
        try:
            first = next((block for block in raw.raw_blocks() if block), b"")
        except Exception:  # noqa: BLE001 - of a library, in its own words
            raise ValueError(refusal("data", "be a readable file", opened.path)) from None
        mark = next((name for sign, name in _MARKS.items() if first.startswith(sign)), None)
        if mark == "utf-16" and layout.encoding is None:
            raise ValueError(
                refusal("data", "be UTF-8 text; its first bytes are not", opened.path)
                + " Add --encoding utf-16."
            )
        if mark and layout.is_utf_8:
            return cls(opened, mark, compression, is_marked=True)
        return raw

    @property
    def is_plain(self) -> bool:
        """Whether the file holds the bytes that are read, as they are."""
        return self.compression is None and self.encoding in {"utf-8", "ascii"}

    def raw_blocks(self) -> Iterator[bytes]:
        """Yield the content unpacked, a part at a time."""
        return plain_blocks(self.opened.blocks(), self.compression)

    def blocks(self) -> Iterator[bytes]:
        """Yield the content unpacked and in UTF-8, which bytes of a file in UTF-8 may not be."""
        if self.is_marked:
            return _unmarked(self.raw_blocks())
        if self.encoding in {"utf-8", "utf-8-sig", "ascii"}:
            return self.raw_blocks()
        return _transcoded(self.raw_blocks(), self.encoding)

    def begins_with(self, sign: bytes) -> bool:
        """Tell what the first character behind blanks is."""
        starts = (block.lstrip() for block in self.blocks())
        return next((start for start in starts if start), b"").startswith(sign)

    def header(self, delimiter: str, quote: str) -> list[str]:
        """Return the names in the first line.

        Raises:
            ValueError: there are none, or the line is not in the encoding.
        """
        try:
            header = next(csv.reader(self._lines(), delimiter=delimiter, quotechar=quote), [])
        except UnicodeDecodeError:
            raise ValueError(
                refusal("data", "be UTF-8 text; its header is not", self.opened.path)
                + " Add --encoding latin-1, or the one it has."
            ) from None
        except Exception:  # noqa: BLE001 - of a library, in its own words
            raise ValueError(refusal("data", "be a readable file", self.opened.path)) from None
        if any("\0" in name for name in header):
            raise ValueError(
                refusal("data", "be UTF-8 text; its header is not", self.opened.path)
                + " Add --encoding utf-16-le, or the one it has."
            )
        if not header:
            raise ValueError(refusal("data", "be a file with a header line", self.opened.path))
        return header

    def _lines(self) -> Iterator[str]:
        """Yield the first lines as text; the rest of a block is not decoded."""
        held = bytearray()
        for block in self.blocks():
            held += block
            while (end := held.find(b"\n")) >= 0:
                line = bytes(held[: end + 1])
                del held[: end + 1]
                yield line.decode("utf-8-sig")
            if len(held) > HEADER_MAX:
                raise ValueError
        yield bytes(held).decode("utf-8-sig")


def _unmarked(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the same bytes without the mark of UTF-8 that they begin with."""
    held = b""
    for block in blocks:
        held += block
        if len(held) >= len(codecs.BOM_UTF8):
            yield held.removeprefix(codecs.BOM_UTF8)
            break
    yield from blocks


def _transcoded(blocks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    for block in blocks:
        yield decoder.decode(block).replace("\ufffd", "?").encode(errors="replace")
    yield decoder.decode(b"", final=True).replace("\ufffd", "?").encode()


def refuse_column(column: str, header: Sequence[str], *, delimiter: str) -> None:
    """Refuse a column that is not in the header once, and say what may be the matter.

    The header itself is not quoted: without a header line it would be a record.
    """
    times = header.count(column)
    if times == 1:
        return
    hint = " List the columns: dproo codebook draft DATA."
    alike = [name for name in header if name.strip().lower() == column.strip().lower()]
    if times > 1:
        hint = " The header has it more than once."
    elif len(alike) == 1:
        more = (
            "" if alike[0] == alike[0].strip() else " --as text, for its cells may have blanks too"
        )
        hint = f" Case and blanks count: use --column {alike[0]!r}{more}."
    elif len(header) == 1:
        other = [name for sign, name in _OTHERS.items() if sign != delimiter and sign in header[0]]
        hint = (
            f" Its cells may be separated otherwise: add --delimiter {other[0]!r}."
            if other
            else hint
        )
    raise MissingColumnError(column, condition="be a column of the data, once", hint=hint)
