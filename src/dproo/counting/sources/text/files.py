"""Text files as every reader accepts them: decompressed, in UTF-8, without their header.

Compressed files are recognised by their names and read chunk by chunk.
"""

from __future__ import annotations

import codecs
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from dproo.core.checks import refusal
from dproo.counting.boundary import attempt, load
from dproo.counting.layout import GZIP, UTF_8, ZIP, ZSTD, Layout
from dproo.counting.sources.descriptors import Incoming, Opened
from dproo.counting.sources.text.header import Header, after
from dproo.errors import DamagedFileError

_UTF_8_TOO = {UTF_8, "utf-8-sig", "ascii"}
# A zstd file may begin with a frame to skip, as pzstd writes it.
_SKIPPED = tuple(bytes([sign]) + b"\x2a\x4d\x18" for sign in range(0x50, 0x60))
_MAGIC = {
    GZIP: (b"\x1f\x8b",),
    ZSTD: (b"\x28\xb5\x2f\xfd", *_SKIPPED),
    ZIP: (b"PK\3\4",),
}
_ENCRYPTED = 1
_ANY_WINDOW = 32 + zlib.MAX_WBITS  # a gzip or zlib header, any window
_LONGEST = 1 << 20
_LONGEST_PACKED = 1 << 11
"""Bytes of zstd unpacked at a time: four of them may stand for 128 KiB."""


@dataclass(frozen=True)
class TextFile:
    """A text file of which no record has been read.

    Attributes:
        opened: the file.
        encoding: the encoding of its records.
        compression: its compression, if any.
        header: its header line, if any.
    """

    opened: Opened | Incoming
    encoding: str
    compression: str | None
    header: Header | None = None

    @classmethod
    def of(
        cls, opened: Opened | Incoming, layout: Layout, *, separator: str | None = None
    ) -> TextFile:
        """Read the header of a file, and nothing after it.

        The separator is what separates its names if neither the layout nor the header shows it. It
        is None if there is no header: the first bytes are then a record, which must not be read.
        """
        _, compression = layout.ending_of(opened.path)
        file = cls(opened, layout.encoding or UTF_8, compression)
        file.check_compression()
        if separator is None:
            return file
        header = Header.of(
            file.raw_blocks(),
            encoding=file.encoding,
            quote=layout.quote,
            delimiter=layout.delimiter,
            default=separator,
            skip=layout.skip_rows,
            comment=layout.comment,
        )
        return cls(opened, header.encoding, compression, header)

    def check_compression(self) -> None:
        """Refuse a file that is not compressed as stated, or cannot be unpacked."""
        file, compression = self.opened, self.compression
        if compression is None:
            return
        condition = f"be compressed as {compression}"
        if compression == ZSTD:
            load("zstandard", extra="zstd")
        if not file.start().startswith(_MAGIC[compression]):
            raise ValueError(refusal("data", condition, file.path))
        if compression == ZIP and (isinstance(file, Incoming) or the_only_file(file.name) is None):
            condition = "be an archive of one file without a password"
            raise ValueError(refusal("data", condition, file.path))
        with suppress(DamagedFileError):
            next(self.raw_blocks(), None)
            return
        condition += ", in a way that can be unpacked here"
        raise ValueError(refusal("data", condition, file.path))

    @property
    def is_plain(self) -> bool:
        """Whether the file can be read without conversion."""
        return self.compression is None and self.encoding in {UTF_8, "ascii"}

    def raw_blocks(self) -> Iterator[bytes]:
        """Yield the unpacked content, a part at a time."""
        if self.compression == ZIP:
            return _checked(_unzipped(self.opened.name))
        return plain_blocks(self.opened.blocks(), self.compression)

    def blocks(self) -> Iterator[bytes]:
        """Yield what follows the header, unpacked and in UTF-8, perhaps with invalid bytes."""
        blocks = self.raw_blocks()
        if self.header is not None:
            blocks = after(blocks, self.header.length)
        elif self.encoding == "utf-8-sig":
            blocks = unmarked(blocks)
        return blocks if self.encoding in _UTF_8_TOO else transcoded(blocks, self.encoding)

    def begins_with(self, sign: bytes) -> bool:
        """Return whether a character is the first after a byte-order mark and blanks."""
        starts = (block.lstrip() for block in unmarked(self.blocks()))
        return next(filter(None, starts), b"").startswith(sign)


def unmarked(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the same bytes without a leading UTF-8 mark."""
    start = b""
    for block in blocks:
        start += block
        if len(start) >= len(codecs.BOM_UTF8):
            break
    yield start.removeprefix(codecs.BOM_UTF8)
    yield from blocks


def transcoded(blocks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    """Yield the same text in UTF-8, with U+FFFD for bytes that are not text."""
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    for block in blocks:
        yield decoder.decode(block).encode(errors="replace")
    yield decoder.decode(b"", final=True).encode(errors="replace")


def plain_blocks(blocks: Iterable[bytes], compression: str | None) -> Iterator[bytes]:
    """Yield the decompressed bytes.

    Raises:
        DamagedFileError: the file is damaged, or ends too early.
    """
    if compression == GZIP:
        return _checked(_gunzipped(blocks))
    return _checked(_unzstd(blocks)) if compression == ZSTD else iter(blocks)


def _checked(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the same blocks; any error of a library becomes one without details."""
    try:
        yield from blocks
    except DamagedFileError:
        raise
    except Exception:  # noqa: BLE001 - of zlib, zstandard or zipfile, in its own words
        raise DamagedFileError from None


def the_only_file(archive: str) -> zipfile.ZipInfo | None:
    """Return the file in a ZIP archive, or None if there is not exactly one that can be read."""

    def listed() -> list[zipfile.ZipInfo]:
        with zipfile.ZipFile(archive) as opened:
            return [entry for entry in opened.infolist() if not entry.is_dir()]

    files = attempt(listed) or []  # for a damaged archive, the library may raise anything
    is_readable = len(files) == 1 and not files[0].flag_bits & _ENCRYPTED
    return files[0] if is_readable else None


def _unzipped(archive: str) -> Iterator[bytes]:
    only = the_only_file(archive)
    with zipfile.ZipFile(archive) as opened, opened.open(only or "") as content:
        while block := content.read(_LONGEST):
            yield block


def _gunzipped(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the bytes of a gzip file, which may have several members."""
    unpacking = zlib.decompressobj(_ANY_WINDOW)
    for block in blocks:
        rest = block
        while rest:
            if unpacking.eof:
                rest = rest.lstrip(b"\0")  # padding
                if not rest:
                    break
                unpacking = zlib.decompressobj(_ANY_WINDOW)
            yield unpacking.decompress(rest, _LONGEST)
            rest = unpacking.unconsumed_tail or unpacking.unused_data
    if not unpacking.eof:
        raise DamagedFileError("the file ends too early")


def _unzstd(blocks: Iterable[bytes]) -> Iterator[bytes]:
    unpacking = None
    for block in blocks:
        for start in range(0, len(block), _LONGEST_PACKED):
            rest = block[start : start + _LONGEST_PACKED]
            while rest:
                if unpacking is None:
                    unpacking = load("zstandard", extra="zstd").ZstdDecompressor().decompressobj()
                yield unpacking.decompress(rest)
                rest = b""
                if unpacking.eof:
                    rest, unpacking = unpacking.unused_data, None
    if unpacking is not None:
        raise DamagedFileError("the file ends too early")
