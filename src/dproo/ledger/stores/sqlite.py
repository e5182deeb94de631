"""A ledger in a file: one SQLite database, written durably.

Every opening checks the chain of hashes from the first event to the last. A process that keeps
using a file checks it again unless the file is exactly as it left it. Each transaction has its
own connection, which reads every page anew.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import quote
from weakref import WeakSet

from dproo.errors import (
    ChargedError,
    CorruptLedgerError,
    FullDiskError,
    LedgerError,
    NewerFormatError,
    NotALedgerError,
    ReadOnlyLedgerError,
    RuleRefused,
    UnusableLedgerError,
)
from dproo.ledger.account import BROKEN_CHAIN, BrokenRule, BudgetTally, corrupt, used
from dproo.ledger.events import (
    CHARGES,
    COLUMNS,
    DECLARED,
    NO_EVENT,
    RECORDED,
    RESERVED,
    Draft,
    Event,
)
from dproo.ledger.location import (
    GATE,
    fullness,
    lock_folder,
    make_folder,
    require_folder,
    require_path,
    require_place,
    require_unmounted,
    system_error,
    system_errors,
    unlock_folder,
)
from dproo.ledger.rules import FORMAT
from dproo.ledger.stores.base import BUSY, LedgerSession, Result
from dproo.ledger.witness import Memory

APPLICATION_ID = int.from_bytes(b"dpro", "big")
SCHEMA = (
    (
        "CREATE TABLE event (seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, dataset TEXT NOT NULL, "
        "entry INTEGER NOT NULL, nano INTEGER NOT NULL, atto INTEGER NOT NULL, at TEXT NOT NULL, "
        "role TEXT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL, hash TEXT NOT NULL)"
    ),
    "CREATE UNIQUE INDEX event_is_answered_once ON event (entry, kind) WHERE entry > 0",
    "CREATE TABLE room (charge INTEGER PRIMARY KEY, ballast BLOB NOT NULL)",
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
    "synchronous = EXTRA",  # also syncs the deletion of the journal, which commits
    "fullfsync = ON",  # fsync alone does not reach the disk on macOS
    "trusted_schema = OFF",
    "cell_size_check = ON",
)
_INSERT = f"INSERT INTO event ({COLUMNS}) VALUES ({', '.join('?' * len(Event._fields))})"  # noqa: S608 - no outside text
_ROOMS = 16  # charges that may wait for their record at once
_FREE = 1 << 20  # bytes of disk that a charge and its record leave free, more or less

_CODES: dict[int, tuple[type[LedgerError], str]] = {
    sqlite3.SQLITE_BUSY: BUSY,
    sqlite3.SQLITE_READONLY_DBMOVED: (
        UnusableLedgerError,
        "was moved or replaced while it was in use; try again.",
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


class _Connection(sqlite3.Connection):
    """A connection that is closed with its cursors.

    SQLite keeps a file locked while an answer is unread, and what raised an interrupt, or keeps
    its traceback, may refer to one for long.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._cursors: WeakSet[sqlite3.Cursor] = WeakSet()

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        """Run a statement by a cursor that is closed with the connection."""
        cursor = self.cursor()
        self._cursors.add(cursor)
        return cursor.execute(*arguments)

    def close(self) -> None:
        """Close every cursor first."""
        for cursor in self._cursors:
            cursor.close()
        super().close()


@dataclass(kw_only=True)
class Checked:
    """A chain checked from the first event to the last.

    Attributes:
        last: the last event, if there is one.
        at: the latest time in it.
        tallies: the sums, by dataset.
    """

    last: Event | None = None
    at: str = ""
    tallies: dict[str, BudgetTally] = field(default_factory=dict)

    @property
    def head(self) -> tuple[int, str]:
        """Number and hash of the last event."""
        return (0, NO_EVENT) if self.last is None else (self.last.seq, self.last.hash)

    def take(self, event: Event) -> None:
        """Add the next event.

        Raises:
            BrokenRule: it is not the next one.
            KeyError: it belongs to no budget.
        """
        seq, previous = self.head
        if event.seq != seq + 1 or event.hash != event.link(previous):
            raise BrokenRule(f"{BROKEN_CHAIN} at event {seq + 1}")
        if event.kind == DECLARED:
            self.tallies[event.dataset] = BudgetTally.of(event)
        elif event.kind in CHARGES:
            self.tallies[event.dataset].add(event)
        self.last, self.at = event, max(self.at, event.at)


@dataclass(eq=False, kw_only=True)
class SqliteSession(LedgerSession):
    """A connection inside a transaction; ``checked`` is None if the chain was not checked."""

    connection: sqlite3.Connection
    memory: Memory
    checked: Checked | None
    address: Path

    def execute(self, query: str, parameters: tuple[Any, ...] = (), /) -> sqlite3.Cursor:
        """Run a query."""
        return self.connection.execute(query, parameters)

    def now(self) -> str:
        """Return the time of this machine, or the ledger's latest if the clock was set back."""
        return max(self._chain.at, self.clock())

    def tally(self, dataset: str) -> BudgetTally:
        """Return the sums of a dataset."""
        return self._chain.tallies[self.declared(dataset).dataset]

    @property
    def _chain(self) -> Checked:
        if self.checked is None:
            self.checked = _checked(self.connection, self.address)
        return self.checked

    def append(self, draft: Draft) -> Event:
        """Write the next event, if the rules allow it."""
        chain = self._chain
        event = draft.event(after=chain.last, at="" if draft.kind == RECORDED else self.now())
        if draft.kind == DECLARED:
            self.require_only(event)
        elif draft.kind == RESERVED:
            tally = self.tally(draft.dataset)
            tally.require(event, draft.body["request"], draft.limits)
            if tally.limits.needs_approval(draft.nano):
                raise RuleRefused("approval_above", draft.dataset, "a file has no second person")
            self._set_aside(event, draft.room)
        elif draft.kind == RECORDED:
            if self.one("kind = 'recorded' AND entry = ?", draft.entry) is not None:
                raise used(draft.entry)
            self.execute("DELETE FROM room WHERE charge = ?", (draft.entry,))
        self.execute(_INSERT, tuple(event))
        chain.take(event)
        return event

    def _set_aside(self, charge: Event, size: int) -> None:
        """Reserve space in the file for a charge's record, so that a full disk refuses both.

        The charge itself takes its text and the record's space. The record of any waiting charge
        then needs as much again, for the journal of the pages that it overwrites. The rest is for
        the notes of a witness on the same disk.
        """
        (waiting,) = self.execute("SELECT coalesce(max(length(ballast)), 0) FROM room").fetchone()
        needed = _FREE + len(charge.body) + size + max(size, waiting)
        if what := fullness(self.address, self.address.parent, needed):
            raise FullDiskError(
                f"the ledger {self.address} cannot be written: hardly any space is left on the"
                f" {what}, and the record of a release needs some."
            )
        self.execute("INSERT INTO room VALUES (?, zeroblob(?))", (charge.seq, size))
        newest = "SELECT charge FROM room ORDER BY charge DESC LIMIT ?"
        self.execute(f"DELETE FROM room WHERE charge NOT IN ({newest})", (_ROOMS,))  # noqa: S608 - as above

    def insert(self, events: list[Event]) -> None:
        """Write events unchanged."""
        self.connection.executemany(_INSERT, events)
        self.checked = None

    def require_spender(self) -> None:
        """Do nothing: whoever may write the file may charge it."""

    def require_intact(self) -> None:
        """Raise if SQLite finds a damaged page."""
        if self.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
            raise corrupt(self.address, "its pages are damaged.")


@dataclass(frozen=True, eq=False)
class SqliteStore:
    """A ledger in a file."""

    address: Path
    timeout: float = field(kw_only=True)
    witness: Path | None = field(default=None, kw_only=True)
    _known: dict[tuple[int, ...], Checked] = field(default_factory=dict, init=False, repr=False)

    def create(self) -> None:
        """Make an empty ledger, durably; an existing one is left unchanged.

        The file is for its owner only (mode 0600), and so is every folder made for it (0700). A
        crash in between leaves an empty file, which the next call completes.
        """
        path = self.address
        require_path(path)
        with system_errors(path):
            make_folder(path.parent)
            require_folder(path.parent)
            with suppress(FileExistsError):
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with self._connected() as connection:
            self._begin(connection, "BEGIN IMMEDIATE")
            if path.stat().st_size == 0:
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {FORMAT}")
                for statement in SCHEMA:
                    connection.execute(statement)
                connection.execute("COMMIT")

    @contextmanager
    def reading(self, *, is_checked: bool = True) -> Iterator[SqliteSession]:
        """Begin a transaction that sees one state of the ledger; nobody commits meanwhile.

        If ``is_checked``, a file with an edited event is refused.
        """
        with self._connected() as connection:
            self._begin(connection, "BEGIN")
            session = self._session(connection)
            if is_checked:
                self._check(session)
            yield session
            connection.execute("COMMIT")
            unlock_folder(self.address.parent)  # as soon as SQLite does, whatever interrupts
            if session.checked is not None:
                self._remember(session.checked)

    def write(
        self, action: Callable[[SqliteSession], Result], *, is_patient: bool = False
    ) -> Result:
        """Run an action under SQLite's write lock, and commit."""
        del is_patient  # a file is never away for a while
        with self._connected() as connection:
            self._begin(connection, "BEGIN IMMEDIATE")
            session = self._session(connection)
            identity = self._check(session)
            result = action(session)
            chain = session._chain  # noqa: SLF001 - in this module
            _commit(connection, self.address)
            unlock_folder(self.address.parent)
        self._known.clear()
        if self._remember(chain) != identity:
            raise ChargedError(
                f"the ledger {self.address} was moved or replaced while it was written; a charge in"
                " it stays."
            )
        return result

    def _remember(self, chain: Checked) -> tuple[int, ...]:
        """Remember the chain of the file as it is now, and return its identity, if it is there."""
        try:
            stamp = self._stamp()
        except OSError:
            return ()
        self._known[stamp] = chain
        return stamp[:2]

    def _check(self, session: SqliteSession) -> tuple[int, ...]:
        """Check the chain, unless the file is as this process left it; return its identity."""
        stamp = self._stamp()
        known = self._known.pop(stamp, None)
        self._known.clear()
        if known is None or session.head() != known.head:  # another process wrote first
            known = _checked(session.connection, self.address)
        session.checked = known
        return stamp[:2]

    def _begin(self, connection: sqlite3.Connection, how: str) -> None:
        """Lock the folder before anything is read, and begin a transaction."""
        lock_folder(self.address.parent, self.timeout)
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        connection.execute(how)

    def _session(self, connection: sqlite3.Connection) -> SqliteSession:
        _require_format(connection, self.address)
        row = connection.execute("SELECT hash FROM event WHERE seq = 1").fetchone()
        memory = Memory(ledger="" if row is None else str(row[0]), chosen=self.witness)
        return SqliteSession(
            connection=connection, memory=memory, checked=None, address=self.address
        )

    def _stamp(self) -> tuple[int, ...]:
        """Return facts that change with every write to the file, through SQLite or not."""
        status = self.address.stat()  # closing an open file would release SQLite's locks
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection, which never creates a file; one transaction per process at a time.

        Without a commit, or after an error, all is rolled back.
        """
        path = self.address
        require_place(path)
        if not GATE.acquire(timeout=max(0, self.timeout)):
            _fail(path, sqlite3.SQLITE_BUSY)
        try:
            require_unmounted(path)
            address = f"file:{quote(os.fsencode(path))}?mode=rw"
            options: dict[str, Any] = {"timeout": self.timeout, "isolation_level": None}
            made = sqlite3.connect(address, uri=True, factory=_Connection, **options)
            with closing(made):
                yield made
        except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter from a torn message
            _fail(path, getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT))
        except BlockingIOError:
            _fail(path, sqlite3.SQLITE_BUSY)
        except OSError as error:
            raise system_error(path, error) from None
        finally:
            try:
                unlock_folder(path.parent)
            finally:
                GATE.release()


def _fail(path: Path, code: int) -> NoReturn:
    """Raise the sentence for an SQLite error, whose own text is never shown."""
    kind, sentence = _CODES.get(code) or _CODES.get(code & 0xFF, _CORRUPT)
    raise kind(f"the ledger {path} {sentence}") from None


def _commit(connection: sqlite3.Connection, path: Path) -> None:
    """Commit, or say that the state of the disk is unknown if the system fails midway."""
    try:
        connection.execute("COMMIT")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_IOERR:
            raise
        raise ChargedError(
            f"the ledger {path} could not be synced by the system, and a charge may stand; "
            "see 'dproo ledger show'."
        ) from None


def _checked(connection: sqlite3.Connection, path: Path) -> Checked:
    """Return the chain, checked from the first event to the last."""
    chain = Checked()
    rows = connection.execute(f"SELECT {COLUMNS} FROM event ORDER BY seq")  # noqa: S608 - as above
    try:
        for event in map(Event._make, rows):
            chain.take(event)
    except BrokenRule as broken:
        raise corrupt(path, f"{broken}.") from None
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        raise corrupt(path, "an event belongs to no budget.") from None
    return chain


def _require_format(connection: sqlite3.Connection, path: Path) -> None:
    """Raise unless the file is a ledger of this format, with exactly its tables and triggers."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION_ID:
        raise NotALedgerError(f"the ledger {path} is not a ledger.")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    require_version(version, path)
    schema = connection.execute("SELECT sql FROM sqlite_master ORDER BY rowid").fetchall()
    journal = connection.execute("PRAGMA journal_mode").fetchone()
    if schema != [(statement,) for statement in SCHEMA] or journal != ("delete",):
        raise corrupt(path, "its tables or settings are not a ledger's.")


def require_version(version: int, ledger: object) -> None:
    """Raise unless a ledger has the format that this software reads and writes."""
    sentence = f"the ledger {ledger} must have format {FORMAT}, got {version}."
    if version > FORMAT:
        raise NewerFormatError(f"{sentence} A later version of dproo can read it.")
    if version < FORMAT:
        raise UnusableLedgerError(
            f"{sentence} A development version of dproo made it: 'dproo ledger show' of that"
            " version shows what is left of each budget. Declare that in a new ledger."
        )
