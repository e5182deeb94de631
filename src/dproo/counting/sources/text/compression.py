"""Compressed files, recognised by their names and read chunk by chunk."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

from dproo.counting.loading import load
from dproo.errors import DamagedFileError

GZIP, ZSTD, ZIP = "gz", "zst", "zip"
SUFFIXES = {".gz": GZIP, ".zst": ZSTD, ".zip": ZIP}

_MAGIC = {GZIP: b"\x1f\x8b", ZSTD: b"\x28\xb5\x2f\xfd", ZIP: b"PK\3\4"}
_ENCRYPTED = 1
_ANY_WINDOW = 32 + zlib.MAX_WBITS  # a gzip or zlib header, any window
_LONGEST = 1 << 20
_LONGEST_PACKED = 1 << 11
"""Bytes of zstd unpacked at a time: four of them may stand for 128 KiB."""


def is_packed(start: bytes, compression: str) -> bool:
    """Return whether a file that starts with these bytes can have this compression.

    >>> is_packed(bytes([31, 139, 8]), "gz"), is_packed(b"a,b", "gz")
    (True, False)
    """
    return start.startswith(_MAGIC[compression])


def require(compression: str | None) -> None:
    """Refuse a compression whose library is not installed."""
    if compression == ZSTD:
        _zstandard()


def plain_blocks(blocks: Iterable[bytes], compression: str | None) -> Iterator[bytes]:
    """Yield the decompressed bytes.

    Raises:
        DamagedFileError: the file is damaged, or ends too early.
    """
    if compression == GZIP:
        return _checked(_gunzipped(blocks))
    return _checked(_unzstd(blocks)) if compression == ZSTD else iter(blocks)


def _checked(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the same blocks; what a library raises becomes an error without details."""
    try:
        yield from blocks
    except DamagedFileError:
        raise
    except Exception:  # noqa: BLE001 - in the words of zlib, zstandard or zipfile
        raise DamagedFileError from None


def the_only_file(archive: str) -> zipfile.ZipInfo | None:
    """Return the file in a ZIP archive; None if there is not exactly one that can be read."""
    try:
        with zipfile.ZipFile(archive) as opened:
            files = [found for found in opened.infolist() if not found.is_dir()]
    except (OSError, zipfile.BadZipFile):
        return None
    is_read = len(files) == 1 and not files[0].flag_bits & _ENCRYPTED
    return files[0] if is_read else None


def unzipped(archive: str) -> Iterator[bytes]:
    """Yield the content of the only file in a ZIP archive."""
    return _checked(_unzipped(archive))


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


def _zstandard() -> Any:
    return load("zstandard", extra="zstd")


def _unzstd(blocks: Iterable[bytes]) -> Iterator[bytes]:
    unpacking = None
    for block in blocks:
        for start in range(0, len(block), _LONGEST_PACKED):
            rest = block[start : start + _LONGEST_PACKED]
            while rest:
                if unpacking is None:
                    unpacking = _zstandard().ZstdDecompressor().decompressobj()
                yield unpacking.decompress(rest)
                rest = b""
                if unpacking.eof:
                    rest, unpacking = unpacking.unused_data, None
    if unpacking is not None:
        raise DamagedFileError("the file ends too early")
