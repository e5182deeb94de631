"""The seal of a file: the SHA-256 of all of its bytes.

The last thing a transaction writes is the digest of the whole file as it will be after the
commit, with the 32 bytes of the digest itself as zeros. It is committed with what it covers, so
no crash separates them; a byte that SQLite would ignore is covered like any other.

The bytes come through SQLite and not from the file, because closing a file of one's own would
give up the locks that this process holds on it.
"""

from __future__ import annotations

import hashlib
import sqlite3
from pathlib import Path

from dproo.exceptions import CorruptLedgerError

UNSEALED = bytes(32)
_CHANGE_COUNTER, _VALID_FOR, _WRITER = slice(24, 28), slice(92, 96), slice(96, 100)


def seal(connection: sqlite3.Connection) -> bytes:
    """Write the digest of the file as it will be after this transaction; return all its bytes."""
    connection.execute("UPDATE seal SET digest = ?", (UNSEALED,))
    digest = hashlib.sha256(_committed(connection)).digest()
    connection.execute("UPDATE seal SET digest = ?", (digest,))
    return _committed(connection)


def _committed(connection: sqlite3.Connection) -> bytes:
    """Return the bytes of the file as a commit would leave them.

    At the commit SQLite changes three fields of the header besides, in a documented way: the
    change counter goes up by one, and its copy and the writer's version follow.
    """
    data = bytearray(connection.serialize())
    count = int.from_bytes(data[_CHANGE_COUNTER], "big") + 1
    data[_CHANGE_COUNTER] = data[_VALID_FOR] = count.to_bytes(4, "big")
    major, minor, patch = sqlite3.sqlite_version_info
    data[_WRITER] = (major * 1_000_000 + minor * 1_000 + patch).to_bytes(4, "big")
    return bytes(data)


def require_seal(connection: sqlite3.Connection, path: Path) -> bytes:
    """Raise unless every byte of the file is as the last transaction left it; return them."""
    rows = connection.execute("SELECT digest FROM seal").fetchall()
    data = connection.serialize()
    if path.stat().st_size == len(data) and len(rows) == 1:
        (digest,) = rows[0]
        if isinstance(digest, bytes) and len(digest) == len(UNSEALED):
            before, _, after = data.partition(digest)
            found = hashlib.sha256(before)
            found.update(UNSEALED)
            found.update(after)
            if found.digest() == digest:
                return data
    raise CorruptLedgerError(f"the ledger {path} is corrupt: its bytes do not match its seal.")


def is_as_left(connection: sqlite3.Connection, path: Path, left: bytes | None) -> bool:
    """Return whether every byte of the file is as it was left, if that is known."""
    if left is None:
        return False
    return path.stat().st_size == len(left) and connection.serialize() == left
