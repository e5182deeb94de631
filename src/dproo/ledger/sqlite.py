"""The file: one SQLite database, written durably, whose every byte is sealed.

The last thing a transaction writes is the *seal*: the SHA-256 of the whole file as it will
be after the commit, with the 32 bytes of the seal itself as zeros. It is committed with what
it covers, so no crash separates them. Every opening checks it, and so does every write before
it seals anew; a byte that SQLite would ignore is covered like any other.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dproo.core.arguments import WITHHELD, may_hold_secret
from dproo.exceptions import (
    BusyLedgerError,
    ChargedError,
    CorruptLedgerError,
    FullDiskError,
    LedgerError,
    MissingLedgerError,
    NewerFormatError,
    NotALedgerError,
    ReadOnlyLedgerError,
    UnusableLedgerError,
)
from dproo.ledger import chain
from dproo.ledger.place import make_folder, require_file, require_folder
from dproo.ledger.store import Action, Result

APPLICATION_ID = int.from_bytes(b"dpro", "big")
FORMAT, FORMAT_WITH_DELTA, FORMAT_WITH_IDENTITY, FORMAT_WITH_LIMITS = 1, 2, 3, 4
"""Software that knows no delta, no identity and restore, or no rules refuses a ledger with them."""

SCHEMA = (
    (
        "CREATE TABLE event (seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, dataset TEXT NOT NULL, "
        "entry INTEGER NOT NULL, nano INTEGER NOT NULL, body TEXT NOT NULL, hash TEXT NOT NULL)"
    ),
    "CREATE TABLE seal (one INTEGER PRIMARY KEY CHECK (one = 1), digest BLOB NOT NULL)",
    (
        "CREATE TRIGGER event_is_next BEFORE INSERT ON event "
        "WHEN NEW.seq IS NOT 1 + coalesce((SELECT max(seq) FROM event), 0) "
        "BEGIN SELECT RAISE(ABORT, 'events are appended only'); END"
    ),
    (
        "CREATE TRIGGER event_is_final BEFORE UPDATE ON event "
        "BEGIN SELECT RAISE(ABORT, 'events are never changed'); END"
    ),
    (
        "CREATE TRIGGER event_stays BEFORE DELETE ON event "
        "BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END"
    ),
)

_PRAGMAS = (
    "synchronous = EXTRA",  # the deletion of the journal, which is the commit, is synced too
    "fullfsync = ON",  # where fsync alone does not reach the disk (macOS)
    "trusted_schema = OFF",
    "cell_size_check = ON",
    "cache_size = -65536",  # 64 MiB: the seal reads all pages twice
)
_UNSEALED = bytes(32)
_CHANGE_COUNTER, _VALID_FOR, _WRITER = slice(24, 28), slice(92, 96), slice(96, 100)

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


@dataclass(frozen=True)
class SqliteStore:
    """A ledger in a file."""

    address: Path
    timeout: float = field(kw_only=True)

    def create(self) -> None:
        """Make the file, unless it is there."""
        create(self.address, timeout=self.timeout)

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """Begin a transaction that sees one state of the ledger."""
        return transaction(self.address, timeout=self.timeout, write=False)

    def write(self, action: Action[Result]) -> Result:
        """Run ``action`` under SQLite's write lock, and commit."""
        with transaction(self.address, timeout=self.timeout, write=True) as connection:
            return action(connection, is_again=False)

    def now(self, connection: sqlite3.Connection) -> str:
        """Return the time of this machine."""
        del connection
        return chain.now()

    def spender(self, connection: sqlite3.Connection) -> None:
        """Return nothing: a file has one owner."""

    def append(self, connection: sqlite3.Connection, kind: str, **fields: Any) -> chain.Event:
        """Write the next event."""
        return chain.append(connection, kind, **fields)

    def recent(self, connection: sqlite3.Connection) -> list[chain.Event]:
        """Return nothing: to ask a file costs nothing."""
        del connection
        return []

    def require_intact(self, connection: sqlite3.Connection) -> None:
        """Raise if SQLite finds a page that is damaged."""
        if connection.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
            raise CorruptLedgerError(
                f"the ledger {self.address} is corrupt: its pages are damaged."
            )


def create(path: Path, *, timeout: float) -> None:
    """Make an empty ledger, durably; one that exists is left as it is.

    The file is for its owner only (mode 0600), and so is every folder made for it (0700). A
    crash in between leaves an empty file, which the next call completes.
    """
    _require_file(path)
    with _system_errors(path):
        make_folder(path.parent)
        require_folder(path.parent)
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    with _connection(path, timeout=timeout) as connection:
        connection.execute("BEGIN IMMEDIATE")
        if path.stat().st_size == 0:
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {FORMAT}")
            for statement in SCHEMA:
                connection.execute(statement)
            connection.execute("INSERT INTO seal VALUES (1, ?)", (_UNSEALED,))
            seal(connection)
            connection.execute("COMMIT")


@contextmanager
def transaction(path: Path, *, timeout: float, write: bool) -> Iterator[sqlite3.Connection]:
    """Yield a connection to a ledger whose seal holds; on leaving, seal anew and commit.

    An exception rolls everything back. A new connection each time keeps forks apart.
    """
    with _connection(path, timeout=timeout) as connection:
        connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
        _require_format(connection, path)
        require_seal(connection, path)
        yield connection
        if write:
            connection.execute(f"PRAGMA user_version = {_format_needed(connection)}")
            seal(connection)
        _commit(connection, path)


def _commit(connection: sqlite3.Connection, path: Path) -> None:
    try:
        connection.execute("COMMIT")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_IOERR:
            raise
        raise ChargedError(
            f"the ledger {path} could not be synced by the system, and a charge may stand; "
            "see 'dproo ledger show'."
        ) from None


def seal(connection: sqlite3.Connection) -> None:
    """Write the digest of the file as it will be after this transaction.

    At the commit SQLite changes three fields of the header besides, in a documented way: the
    change counter goes up by one, and its copy and the writer's version follow.
    """
    connection.execute("UPDATE seal SET digest = ?", (_UNSEALED,))
    data = bytearray(connection.serialize())
    count = int.from_bytes(data[_CHANGE_COUNTER], "big") + 1
    data[_CHANGE_COUNTER] = data[_VALID_FOR] = count.to_bytes(4, "big")
    major, minor, patch = sqlite3.sqlite_version_info
    data[_WRITER] = (major * 1_000_000 + minor * 1_000 + patch).to_bytes(4, "big")
    connection.execute("UPDATE seal SET digest = ?", (hashlib.sha256(data).digest(),))


def require_seal(connection: sqlite3.Connection, path: Path) -> None:
    """Raise unless every byte of the file is as the last transaction left it.

    The bytes come through SQLite and not from the file, because closing a file of one's own
    would give up the locks that this process holds on it.
    """
    rows = connection.execute("SELECT digest FROM seal").fetchall()
    data = connection.serialize()
    if path.stat().st_size == len(data) and len(rows) == 1:
        (digest,) = rows[0]
        if isinstance(digest, bytes) and len(digest) == len(_UNSEALED):
            before, _, after = data.partition(digest)
            found = hashlib.sha256(before)
            found.update(_UNSEALED)
            found.update(after)
            if found.digest() == digest:
                return
    raise CorruptLedgerError(f"the ledger {path} is corrupt: its bytes do not match its seal.")


def _require_format(connection: sqlite3.Connection, path: Path) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION_ID:
        raise NotALedgerError(f"the ledger {path} is not a ledger.")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version not in range(FORMAT, FORMAT_WITH_LIMITS + 1):
        raise NewerFormatError(
            f"the ledger {path} must have format {FORMAT} to {FORMAT_WITH_LIMITS}, got "
            f"{version}. A later version of dproo can read it."
        )
    found = connection.execute("SELECT sql FROM sqlite_master ORDER BY rowid").fetchall()
    journal = connection.execute("PRAGMA journal_mode").fetchone()
    is_ours = found == [(statement,) for statement in SCHEMA] and journal == ("delete",)
    if not is_ours or version != _format_needed(connection):
        raise CorruptLedgerError(
            f"the ledger {path} is corrupt: its tables or settings are not a ledger's."
        )


def _format_needed(connection: sqlite3.Connection) -> int:
    """Return the format that what a ledger holds asks for."""
    limits, identities, deltas = connection.execute(
        "SELECT count(*) FILTER (WHERE kind = 'declared' AND instr(body, '\"limits\":')), "
        "count(*) FILTER (WHERE kind = 'restored' OR seq = 1 AND instr(body, '\"id\":')), "
        "count(*) FILTER (WHERE kind = 'declared' AND instr(body, '\"delta\":')) FROM event"
    ).fetchone()
    if limits:
        return FORMAT_WITH_LIMITS
    if identities:
        return FORMAT_WITH_IDENTITY
    return FORMAT_WITH_DELTA if deltas else FORMAT


@contextmanager
def _connection(path: Path, *, timeout: float) -> Iterator[sqlite3.Connection]:
    """Yield a connection that never makes a file and whose errors are one sentence each."""
    _require_file(path)
    with _system_errors(path):
        found = path.lstat()
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        raise NotALedgerError(f"ledger must be a plain file and not a link, got {str(path)!r}.")
    with _system_errors(path):
        require_folder(path.parent)
        require_file(path)
    try:
        address = f"file:{quote(os.fsencode(path))}?mode=rw"
        with closing(
            sqlite3.connect(address, uri=True, timeout=timeout, isolation_level=None)
        ) as connection:
            for pragma in _PRAGMAS:
                connection.execute(f"PRAGMA {pragma}")
            yield connection
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter from a torn message
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        kind, sentence = _SENTENCES.get(code, _CORRUPT)
        raise kind(f"the ledger {path} {sentence}") from None


def _require_file(path: Path) -> None:
    """Refuse a URL, which is a path too, with folders called after a password."""
    is_url = any(part.endswith(":") and part[:-1].isidentifier() for part in path.parts)
    if is_url or may_hold_secret(str(path)):
        raise NotALedgerError(f"ledger must be a file, got {WITHHELD}.")


@contextmanager
def _system_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise MissingLedgerError(
            f"ledger must be a file that exists, got {str(path)!r}. 'dproo ledger init' adds one."
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no such path can exist"
        raise UnusableLedgerError(f"the ledger {path} could not be opened: {reason}.") from None
