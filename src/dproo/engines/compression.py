"""Compressed files, told by their first bytes and read a part at a time."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import Any

from dproo.core.checks import refusal

GZIP, ZSTD = "gz", "zst"
SUFFIXES = {".gz": GZIP, ".zst": ZSTD}

_MAGIC = {b"\x1f\x8b": GZIP, b"\x28\xb5\x2f\xfd": ZSTD}
_ANY_WINDOW = 32 + zlib.MAX_WBITS  # a gzip header
_LONGEST = 1 << 20


def compression_of(start: bytes) -> str | None:
    """Return how a file that starts with these bytes is compressed.

    >>> compression_of(bytes([31, 139, 8])), compression_of(b"a,b")
    ('gz', None)
    """
    return next((name for magic, name in _MAGIC.items() if start.startswith(magic)), None)


def require(compression: str | None) -> None:
    """Refuse a compression whose library is not installed."""
    if compression == ZSTD:
        _zstandard()


def plain_blocks(blocks: Iterable[bytes], compression: str | None) -> Iterator[bytes]:
    """Yield the bytes that were compressed.

    Raises:
        ValueError: the file is damaged, or ends too early.
    """
    if compression == GZIP:
        return _gunzipped(blocks)
    return _unzstd(blocks) if compression == ZSTD else iter(blocks)


def _gunzipped(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield what gzip compressed; a file may be several, one after the other."""
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
        raise ValueError("the file ends too early")


def _zstandard() -> Any:
    try:
        import zstandard  # noqa: PLC0415 - an extra
    except ImportError:
        raise ValueError(
            "zstandard must be installed for this: pip install 'dproo[zstd]'."
        ) from None
    return zstandard


def _unzstd(blocks: Iterable[bytes]) -> Iterator[bytes]:
    unpacking = None
    for block in blocks:
        rest = block
        while rest:
            if unpacking is None:
                unpacking = _zstandard().ZstdDecompressor().decompressobj()
            yield unpacking.decompress(rest)
            rest = b""
            if unpacking.eof:
                rest, unpacking = unpacking.unused_data, None
    if unpacking is not None:
        raise ValueError("the file ends too early")


def refuse_disguised(start: bytes, path: str) -> None:
    """Refuse a file that by its first bytes is no text at all."""
    kinds = {b"PAR1": "a Parquet file", b"PK\x03\x04": "a zip archive or an Excel file"}
    for magic, kind in kinds.items():
        if start.startswith(magic):
            sentence = refusal("data", f"be a text file: its content is {kind}", path)
            raise ValueError(f"{sentence} Give it the ending of its format, or unpack it.")
