"""A ledger in PostgreSQL, which many people and machines share.

The tables are written by functions of the database only (``schema.sql``): they hold the lock, the
cap, the chain and the clock against whoever calls them. What Python can check, it checks before,
under the same lock, so that a refusal reads as it does for a file.
"""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from dproo.engines import postgresql_url
from dproo.engines.postgresql_session import connect
from dproo.exceptions import (
    ChargedError,
    CorruptLedgerError,
    LedgerError,
    NewerFormatError,
    UnreachableLedgerError,
)
from dproo.ledger import tables
from dproo.ledger.address import Database
from dproo.ledger.calls import call_of
from dproo.ledger.chain import COLUMNS, Event, Rows, events, head
from dproo.ledger.postgresql_errors import LOST, LostError, failure_of
from dproo.ledger.store import Action, Result

FORMAT = 1
_NOW = (
    "to_char(greatest(at, clock_timestamp()) AT TIME ZONE 'UTC', "
    '\'YYYY-MM-DD"T"HH24:MI:SS"+00:00"\')'
)
_PAUSE = 0.05  # between attempts to reach a server that restarts
_PATIENCE_IDLE = "60s"  # a client that hangs in a transaction gives the lock back

_SETTINGS = (
    "SET LOCAL search_path = pg_catalog, dproo, pg_temp; "
    "SET LOCAL standard_conforming_strings = on; "
    f"SET LOCAL idle_in_transaction_session_timeout = '{_PATIENCE_IDLE}'; "
    "SELECT set_config('synchronous_commit', 'on', true)"
    " WHERE current_setting('synchronous_commit') = 'off'"
)
_KNOWN = f"SELECT {COLUMNS} FROM ends()"  # noqa: S608 - no outside text
_ENTRY = f"SELECT {COLUMNS} FROM found(?)"  # noqa: S608 - as above
_STANDING = f"SELECT {COLUMNS}, spent FROM standing(?)"  # noqa: S608 - as above
Ahead = Sequence[tuple[str, object]]
_READING = "REPEATABLE READ READ ONLY", "head"
_WRITING = "READ COMMITTED READ WRITE", "lock()"


@dataclass(eq=False)
class Session:
    """A connection inside a transaction.

    Attributes:
        connection: the driver's.
        head: the hash of the last event.
        now: the time of the server, which never goes back in the ledger.
        spender: the role that has connected.
        recent: the first event, the last one, and what was written since.
        ahead: answers that came with the lock, by question.
    """

    connection: Any = field(repr=False)
    head: str
    now: str
    spender: str
    recent: list[Event]
    ahead: dict[tuple[str, object], list[Any]] = field(default_factory=dict, repr=False)

    def asked(self, query: str, about: object) -> Iterable[Any]:
        """Return the answer to a query about one thing; the first time it may be there already."""
        known = self.ahead.pop((query, about), None)
        return self.execute(query, (about,)) if known is None else known

    def execute(self, query: str, parameters: tuple[Any, ...] = (), /) -> Rows:
        """Run a query whose parameters are written as question marks."""
        return self.connection.execute(  # type: ignore[no-any-return]
            query.replace("?", "%s"), parameters or None
        )


@dataclass(frozen=True, eq=False)
class PostgresqlStore:
    """A ledger in a database.

    Connections are kept for the next transaction, by process: a fork uses none of its parent's.
    """

    address: Database
    timeout: float = field(kw_only=True)
    _idle: dict[int, list[Any]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        weakref.finalize(self, _close, self._idle)

    def create(self) -> None:
        """Leave the ledger to ``dproo ledger install``, which needs the rights to make roles."""

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Begin a transaction that sees one state of the ledger."""
        try:
            with self._transaction(_READING) as session:
                yield session
                session.execute("COMMIT")
        except LostError:
            raise UnreachableLedgerError(f"the ledger {self.address} {LOST}") from None

    def write(
        self, action: Action[Result], *, dataset: str | None = None, entry: int | None = None
    ) -> Result:
        """Run ``action`` under the lock of all writers, and commit.

        Where the connection is lost it is made anew, and the action runs again: under the lock it
        is certain whether the first commit took place.
        """
        asked = ((_STANDING, dataset), (_ENTRY, entry))
        ahead = [(query, about) for query, about in asked if about is not None]
        is_again = is_sent = False
        end = None
        while True:
            try:
                with self._transaction(_WRITING, ahead) as session:
                    result = action(session, is_again=is_again)
                    is_sent = True
                    session.execute("COMMIT")
                    return result
            except (LostError, UnreachableLedgerError) as error:
                if isinstance(error, UnreachableLedgerError) and not is_again:
                    raise
                is_again, end = True, end or time.monotonic() + self.timeout
                if time.monotonic() > end:
                    raise self._given_up(is_sent=is_sent) from None
            time.sleep(_PAUSE)

    def now(self, connection: Session) -> str:
        """Return the time of the server, which never goes back in the ledger."""
        return connection.now

    def spender(self, connection: Session) -> str:
        """Return the role that has connected."""
        return connection.spender

    def append(
        self,
        connection: Session,
        kind: str,
        *,
        dataset: str,
        nano: int,
        body: dict[str, Any],
        entry: int | None = None,
    ) -> Event:
        """Have the database write the next event, by the function of its kind.

        The time is the server's. What comes back must follow the last event.
        """
        function, arguments = call_of(kind, dataset=dataset, nano=nano, entry=entry, body=body)
        places = ", ".join("?" * len(arguments))
        query = f"SELECT {COLUMNS} FROM {function}({places})"  # noqa: S608 - names of our own
        event = Event.of(connection.execute(query, arguments).fetchone())
        asked = (kind, dataset, nano, event.link(connection.head))
        if (event.kind, event.dataset, event.nano, event.hash) != asked or not event.is_canonical:
            raise self._corrupt("its functions write other events than were asked for.")
        connection.head = event.hash
        connection.recent.append(event)
        return event

    def standing(self, connection: Session, dataset: str) -> Iterable[Any]:
        """Return the declaration with what was spent, and the first charge."""
        return connection.asked(_STANDING, dataset)

    def entry(self, connection: Session, number: int) -> Iterator[Event]:
        """Return a reservation, its record if there is one, and the declaration of its dataset."""
        return map(Event.of, connection.asked(_ENTRY, number))

    def recent(self, connection: Session) -> list[Event]:
        """Return the events that came with the lock, and those written since."""
        return connection.recent

    def require_intact(self, connection: Session) -> None:
        """Raise unless the other tables are what the events make them."""
        (last,) = connection.execute("SELECT seq, hash FROM head")
        (count,) = connection.execute("SELECT count(*) FROM event").fetchone()
        if (count, head(connection)) != (last[0], tuple(last)):
            raise self._corrupt("its end is not that of its events.")
        try:
            is_right = tables.are_right(connection, events(connection))
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError):  # another body
            is_right = False
        if not is_right:
            raise self._corrupt("its sums are not those of its events.")

    @contextmanager
    def _transaction(self, mode: tuple[str, str], ahead: Ahead = ()) -> Iterator[Session]:
        """Yield a session; without a commit, or after an error, all is rolled back."""
        psycopg = postgresql_url.driver()
        connection = failure = None
        try:
            connection, session = self._begun(mode, ahead)
            yield session
        except psycopg.Error as error:
            failure = failure_of(error, self.address)
        finally:
            if connection is not None:
                self._put_back(connection)
        if failure is not None:
            raise failure

    def _begun(self, mode: tuple[str, str], ahead: Ahead) -> tuple[Any, Session]:
        """Return a connection in a transaction, one that was kept if it still answers."""
        mine = self._idle.setdefault(os.getpid(), [])
        with suppress(IndexError):  # none is left; another thread may have taken the last one
            while kept := mine.pop():
                with suppress(LostError):
                    return kept, self._session(kept, *mode, ahead)
        try:
            made = connect(self.address.url, name="ledger")
        except ValueError as error:
            raise UnreachableLedgerError(
                f"the ledger {self.address} could not be reached: {error}"
            ) from None
        made.autocommit = True  # transactions are begun and ended by statements
        return made, self._session(made, *mode, ahead)

    def _session(self, connection: Any, mode: str, head: str, ahead: Ahead) -> Session:
        """Begin a transaction, in one message: each answer that is waited for costs time."""
        literal = postgresql_url.driver().sql.Literal
        message = (
            f"BEGIN ISOLATION LEVEL {mode}; {_SETTINGS}; "  # noqa: S608 - as above
            f"SET LOCAL lock_timeout = {int(self.timeout * 1000)}; "
            f"SELECT format, hash, {_NOW}, session_user::text FROM {head}; {_KNOWN}"
        )
        try:
            for query, about in ahead:
                message += "; " + query.replace("?", literal(about).as_string(connection))
            answers = _answers(connection.execute(message))[-2 - len(ahead) :]
            [(version, last, time_there, role)], known, *rest = answers
            self._require_format(version)
            recent, told = list(map(Event.of, known)), dict(zip(ahead, rest, strict=True))
            return Session(connection, last, time_there, role, recent, told)
        except postgresql_url.driver().Error as error:
            failure = failure_of(error, self.address)
        except LedgerError:
            self._put_back(connection)
            raise
        if isinstance(failure, LostError):
            connection.close()
        self._put_back(connection)
        raise failure

    def _put_back(self, connection: Any) -> None:
        """Keep a connection that is idle; one in a transaction rolls it back first."""
        status = postgresql_url.driver().pq.TransactionStatus
        with suppress(postgresql_url.driver().Error):
            if connection.pgconn.transaction_status in {status.INTRANS, status.INERROR}:
                connection.execute("ROLLBACK")
            if connection.pgconn.transaction_status == status.IDLE:
                self._idle[os.getpid()].append(connection)
                return
        connection.close()

    def _given_up(self, *, is_sent: bool) -> LedgerError:
        if is_sent:
            return ChargedError(
                f"the ledger {self.address} was lost in the middle of a commit, and a charge may "
                "stand; see 'dproo ledger show'."
            )
        return UnreachableLedgerError(f"the ledger {self.address} {LOST}")

    def _corrupt(self, what: str) -> CorruptLedgerError:
        return CorruptLedgerError(f"the ledger {self.address} is corrupt: {what}")

    def _require_format(self, version: int) -> None:
        if version != FORMAT:
            raise NewerFormatError(
                f"the ledger {self.address} must have format {FORMAT}, got {version}. "
                "A later version of dproo can read it."
            )


def _answers(cursor: Any) -> list[list[Any]]:
    """Return the rows of every statement of a message."""
    found = [cursor.fetchall() if cursor.description else []]
    while cursor.nextset():
        found.append(cursor.fetchall() if cursor.description else [])
    return found


def _close(idle: dict[int, list[Any]]) -> None:
    for connection in idle.get(os.getpid(), []):
        connection.close()
