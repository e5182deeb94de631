"""Text files as every reader can take them: unpacked, in UTF-8, their header apart."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dproo.core.checks import refusal
from dproo.counting.fit import MissingColumnError
from dproo.counting.layout import UTF_8, Layout
from dproo.counting.sources.compression import is_packed, plain_blocks, require
from dproo.counting.sources.descriptors import Incoming, Opened
from dproo.counting.sources.header import Header, behind

_OTHERS = ";,|"
_AS_THEY_ARE = {UTF_8, "utf-8-sig", "ascii"}


@dataclass(frozen=True)
class TextFile:
    """A text file, of which no record was looked at.

    Attributes:
        opened: the file.
        encoding: of its records.
        compression: how it is compressed, if it is.
        header: its header line, where it has one.
    """

    opened: Opened | Incoming
    encoding: str
    compression: str | None
    header: Header | None = None

    @classmethod
    def of(
        cls, opened: Opened | Incoming, layout: Layout, *, delimiter: str | None = None
    ) -> TextFile:
        """Look at the header of a file, and at nothing behind it.

        Args:
            opened: the file.
            layout: what its owner says of it.
            delimiter: what separates the names of its header; nothing if it has none: then its
                first bytes are a record, and are not looked at.

        Raises:
            ValueError: it is not compressed as its name says, or its header is none.
        """
        _, compression = layout.ending_of(opened.path)
        require(compression)
        if compression is not None and not is_packed(opened.start(), compression):
            raise ValueError(refusal("data", f"be compressed as {compression}", opened.path))
        encoding = layout.encoding or UTF_8
        raw = cls(opened, encoding, compression)
        if delimiter is None:
            return raw
        header = Header.of(
            raw.raw_blocks(), encoding=encoding, delimiter=delimiter, quote=layout.quote
        )
        return cls(opened, header.encoding, compression, header)

    @property
    def is_plain(self) -> bool:
        """Whether the file holds the bytes that are read, as they are."""
        return self.compression is None and self.encoding in {UTF_8, "ascii"}

    def raw_blocks(self) -> Iterator[bytes]:
        """Yield the content unpacked, a part at a time."""
        return plain_blocks(self.opened.blocks(), self.compression)

    def blocks(self) -> Iterator[bytes]:
        """Yield all behind the header, unpacked and in UTF-8, which bytes of it may not be."""
        blocks = self.raw_blocks()
        if self.header is not None:
            blocks = behind(blocks, self.header.length)
        elif self.encoding == "utf-8-sig":
            blocks = unmarked(blocks)
        return blocks if self.encoding in _AS_THEY_ARE else _transcoded(blocks, self.encoding)

    def begins_with(self, sign: bytes) -> bool:
        """Return whether a sign is the first one behind a byte-order mark and blanks."""
        starts = (block.lstrip() for block in unmarked(self.blocks()))
        return next((start for start in starts if start), b"").startswith(sign)


def unmarked(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the same bytes without the mark of UTF-8 that they begin with."""
    held = b""
    for block in blocks:
        held += block
        if len(held) >= len(codecs.BOM_UTF8):
            break
    yield held.removeprefix(codecs.BOM_UTF8)
    yield from blocks


def _transcoded(blocks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    for block in blocks:
        yield decoder.decode(block).encode(errors="replace")
    yield decoder.decode(b"", final=True).encode(errors="replace")


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
        other = [sign for sign in _OTHERS if sign != delimiter and sign in header[0]]
        hint = (
            f" Its cells may be separated otherwise: add --delimiter {other[0]!r}."
            if other
            else hint
        )
    raise MissingColumnError(column, condition="be a column of the data, once", hint=hint)
