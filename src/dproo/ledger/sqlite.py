"""The file: one SQLite database, written durably, whose every byte is sealed.

Every opening checks the seal, and so does every write before it seals anew. A connection is kept
for the next transaction, which begins by comparing all bytes of the file with those that the
last one has left; where one differs, the file is checked as at its opening.
"""

from __future__ import annotations

import os
import sqlite3
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dproo.exceptions import CorruptLedgerError
from dproo.ledger import chain
from dproo.ledger.place import (
    make_folder,
    require_folder,
    require_path,
    require_place,
    require_unmounted,
    system_errors,
)
from dproo.ledger.sealing import UNSEALED, is_as_left, require_seal, seal
from dproo.ledger.sqlite_errors import commit, sqlite_errors
from dproo.ledger.sqlite_format import (
    APPLICATION_ID,
    FORMAT,
    SCHEMA,
    format_needed,
    require_format,
)
from dproo.ledger.store import Action, Result, Standing

_PRAGMAS = (
    "synchronous = EXTRA",  # the deletion of the journal, which is the commit, is synced too
    "fullfsync = ON",  # where fsync alone does not reach the disk (macOS)
    "trusted_schema = OFF",
    "cell_size_check = ON",
    "cache_size = -65536",  # 64 MiB: the seal reads all pages several times
)
_FIRST = "SELECT min(seq) FROM event WHERE dataset = ? AND kind ="
_STANDING = (
    f"SELECT {chain.COLUMNS}, (SELECT coalesce(sum(nano), 0) FROM event"  # noqa: S608 - no outside text
    f" WHERE {chain.CHARGED} AND dataset = ?) FROM event"
    f" WHERE seq IN (({_FIRST} 'declared'), ({_FIRST} 'reserved')) ORDER BY seq"
)
_ENTRY = (
    "entry = ? AND kind IN ('reserved', 'recorded') OR kind = 'declared' AND dataset ="
    " (SELECT dataset FROM event WHERE seq = ?)"
)
_ENDS = "seq = 1 OR seq = (SELECT max(seq) FROM event)"


@dataclass(eq=False)
class Session:
    """A connection inside a transaction.

    Attributes:
        connection: the driver's.
        recent: the first event, the last one, and what was written since.
        stands: how datasets stand, as far as that is known.
    """

    connection: sqlite3.Connection
    recent: list[chain.Event]
    stands: dict[str, Standing]

    def execute(self, query: str, parameters: tuple[Any, ...] = (), /) -> sqlite3.Cursor:
        """Run a query."""
        return self.connection.execute(query, parameters)


@dataclass(eq=False)
class Opened:
    """A connection that is kept.

    Attributes:
        connection: to the file.
        inode: which file it is, whatever comes to have its name.
        left: what the file held when it was last found or made right, if ever.
        version: the format of that.
        recent: its first event and its last.
        stands: how datasets stood in it, as far as that was asked for.
    """

    connection: sqlite3.Connection
    inode: tuple[int, int]
    left: bytes | None = None
    version: int = 0
    recent: list[chain.Event] = field(default_factory=list)
    stands: dict[str, Standing] = field(default_factory=dict)

    def look(self) -> None:
        """Read the ends of a file that is not as it was left."""
        self.recent = list(chain.events(self.connection, where=_ENDS))
        self.stands = {}

    def keep(self, session: Session, last: int) -> None:
        """Keep what is known after a transaction that has written up to a number."""
        if session.recent and session.recent[-1].seq == last:
            self.recent = session.recent[:1] + session.recent[1:][-1:]
            self.stands = session.stands
        else:  # not event by event
            self.look()


@dataclass(frozen=True, eq=False)
class SqliteStore:
    """A ledger in a file.

    Connections are kept for the next transaction, by process: a fork uses none of its parent's.
    One that has met an error is closed.
    """

    address: Path
    timeout: float = field(kw_only=True)
    _idle: dict[int, list[Opened]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        weakref.finalize(self, _close, self._idle)

    def create(self) -> None:
        """Make the file, unless it is there."""
        create(self.address, timeout=self.timeout)

    def reading(self) -> AbstractContextManager[Session]:
        """Begin a transaction that sees one state of the ledger."""
        return self._transaction(is_write=False)

    def write(self, action: Action[Result], *, likely: chain.Draft | None = None) -> Result:
        """Run ``action`` under SQLite's write lock, and commit."""
        del likely  # a file costs no messages
        with self._transaction(is_write=True) as session:
            return action(session, is_again=False)

    def now(self, connection: Session) -> str:
        """Return the time of this machine."""
        del connection
        return chain.now()

    def spender(self, connection: Session) -> None:
        """Return nothing: a file has one owner."""

    def append(self, connection: Session, draft: chain.Draft) -> chain.Event:
        """Write the next event."""
        event = chain.append(connection, draft, known=connection.recent)
        connection.recent.append(event)
        stands = connection.stands.items()
        connection.stands = {name: one.after(event) for name, one in stands}
        return event

    def standing(self, connection: Session, dataset: str) -> Standing | None:
        """Return how a dataset stands, if it has a budget."""
        found = connection.stands.get(dataset)
        if found is None:
            found = Standing.of(connection.execute(_STANDING, (dataset,) * 3))
        if found is not None:
            connection.stands[dataset] = found
        return found

    def entry(self, connection: Session, number: int) -> Iterator[chain.Event]:
        """Return a reservation, its record if there is one, and the declaration of its dataset."""
        return chain.events(connection, where=_ENTRY, of=(number, number))

    def recent(self, connection: Session) -> list[chain.Event]:
        """Return the first and the last event, and those written since."""
        return connection.recent

    def require_intact(self, connection: Session) -> None:
        """Raise if SQLite finds a page that is damaged."""
        if connection.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
            raise CorruptLedgerError(
                f"the ledger {self.address} is corrupt: its pages are damaged."
            )

    @contextmanager
    def _transaction(self, *, is_write: bool) -> Iterator[Session]:
        """Yield a session in a ledger whose seal holds; on leaving, seal anew and commit.

        An exception rolls everything back.
        """
        path = self.address
        inode = require_place(path)
        with sqlite_errors(path):
            opened = self._opened(inode)
            try:
                yield from _used(opened, path, is_write=is_write)
            except BaseException:
                opened.connection.close()
                raise
            self._idle[os.getpid()].append(opened)

    def _opened(self, inode: tuple[int, int]) -> Opened:
        """Return a connection that was kept, if the file is still the same, or a new one."""
        mine = self._idle.setdefault(os.getpid(), [])
        with suppress(IndexError):  # none is left; another thread may have taken the last one
            while kept := mine.pop():
                if kept.inode == inode:
                    kept.connection.execute("PRAGMA shrink_memory")  # forgets every page
                    return kept
                kept.connection.close()
        return Opened(_connect(self.address, timeout=self.timeout), inode)


def _used(opened: Opened, path: Path, *, is_write: bool) -> Iterator[Session]:
    connection = opened.connection
    connection.execute("BEGIN IMMEDIATE" if is_write else "BEGIN")
    if not is_as_left(connection, path, opened.left):
        opened.version = require_format(connection, path)
        opened.left = require_seal(connection, path)
        opened.look()
    session = Session(connection, opened.recent.copy(), opened.stands.copy())
    last = session.recent[-1].seq if session.recent else 0
    yield session
    if is_write:
        needed, last = format_needed(connection, since=last)
        version = max(opened.version, needed)
        if version != opened.version:
            connection.execute(f"PRAGMA user_version = {version}")
            opened.version = version
        opened.keep(session, last)
        opened.left = seal(connection)
    commit(connection, path)


def _close(idle: dict[int, list[Opened]]) -> None:
    for opened in idle.get(os.getpid(), []):
        opened.connection.close()


def create(path: Path, *, timeout: float) -> None:
    """Make an empty ledger, durably; one that exists is left as it is.

    The file is for its owner only (mode 0600), and so is every folder made for it (0700). A
    crash in between leaves an empty file, which the next call completes.
    """
    require_path(path)
    with system_errors(path):
        make_folder(path.parent)
        require_folder(path.parent)
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    require_place(path)
    with sqlite_errors(path), closing(_connect(path, timeout=timeout)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        if path.stat().st_size == 0:
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {FORMAT}")
            for statement in SCHEMA:
                connection.execute(statement)
            connection.execute("INSERT INTO seal VALUES (1, ?)", (UNSEALED,))
            seal(connection)
            connection.execute("COMMIT")


def _connect(path: Path, *, timeout: float) -> sqlite3.Connection:
    """Return a connection, which never makes a file.

    One thread at a time uses it, though not always the same.
    """
    with system_errors(path):
        require_unmounted(path)
    address = f"file:{quote(os.fsencode(path))}?mode=rw"
    made = sqlite3.connect(
        address, uri=True, timeout=timeout, isolation_level=None, check_same_thread=False
    )
    try:
        for pragma in _PRAGMAS:
            made.execute(f"PRAGMA {pragma}")
    except BaseException:
        made.close()
        raise
    return made
