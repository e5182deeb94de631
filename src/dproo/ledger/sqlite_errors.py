"""What to say of an error of SQLite, whose own text is not repeated."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dproo.exceptions import (
    BusyLedgerError,
    ChargedError,
    CorruptLedgerError,
    FullDiskError,
    LedgerError,
    NotALedgerError,
    ReadOnlyLedgerError,
    UnusableLedgerError,
)

_SENTENCES: dict[int, tuple[type[LedgerError], str]] = {
    sqlite3.SQLITE_BUSY: (
        BusyLedgerError,
        "was held by other processes for too long. Nothing was charged; try again.",
    ),
    sqlite3.SQLITE_READONLY: (ReadOnlyLedgerError, "cannot be written: it is read-only."),
    sqlite3.SQLITE_FULL: (FullDiskError, "cannot be written: no space is left on the disk."),
    sqlite3.SQLITE_IOERR: (UnusableLedgerError, "could not be read or written by the system."),
    sqlite3.SQLITE_CANTOPEN: (
        UnusableLedgerError,
        "could not be opened; check the permissions of the file and its folder.",
    ),
    sqlite3.SQLITE_NOTADB: (NotALedgerError, "is not a ledger."),
}
_CORRUPT = (CorruptLedgerError, "is corrupt: SQLite cannot read it.")


@contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """Turn every error of SQLite into one sentence."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter from a torn message
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        kind, sentence = _SENTENCES.get(code, _CORRUPT)
        raise kind(f"the ledger {path} {sentence}") from None


def commit(connection: sqlite3.Connection, path: Path) -> None:
    """Commit; where the system fails in the middle, nobody knows what the disk holds."""
    try:
        connection.execute("COMMIT")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_IOERR:
            raise
        raise ChargedError(
            f"the ledger {path} could not be synced by the system, and a charge may stand; "
            "see 'dproo ledger show'."
        ) from None
