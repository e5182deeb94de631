"""A ledger in PostgreSQL, which many people and machines share.

The tables are written by functions of the database only (``schema.sql``): they hold the lock, the
cap, the chain and the clock against whoever calls them. What Python can check, it checks before,
under the same lock, so that a refusal reads as it does for a file.
"""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from dproo.engines import postgresql_url
from dproo.engines.postgresql_session import connect
from dproo.exceptions import (
    BusyLedgerError,
    ChargedError,
    CorruptLedgerError,
    LedgerError,
    MissingLedgerError,
    UnreachableLedgerError,
)
from dproo.ledger import sessions, tables
from dproo.ledger.address import Database
from dproo.ledger.chain import Draft, Event, events, head
from dproo.ledger.known import Known
from dproo.ledger.postgresql_errors import LOST, LostError, failure_of, require_format
from dproo.ledger.sessions import MisguessedError, Session
from dproo.ledger.store import Action, Result, Standing

_PAUSE = 0.05  # between attempts to reach a server that restarts

Begin = Callable[[Any], Session]


@dataclass(frozen=True, eq=False)
class PostgresqlStore:
    """A ledger in a database.

    Connections are kept for the next transaction, by process: a fork uses none of its parent's.
    """

    address: Database
    timeout: float = field(kw_only=True)
    _idle: dict[int, list[Any]] = field(default_factory=dict, init=False, repr=False)
    _known: dict[str, Known] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        weakref.finalize(self, _close, self._idle)

    def create(self) -> None:
        """Leave the ledger to ``dproo ledger install``, which needs the rights to make roles."""

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Begin a transaction that sees one state of the ledger."""
        try:
            with self._transaction(self._read) as session:
                yield session
                session.commit()
        except LostError:
            raise UnreachableLedgerError(f"the ledger {self.address} {LOST}") from None

    def write(self, action: Action[Result], *, likely: Draft | None = None) -> Result:
        """Run ``action`` under the lock of all writers, and commit.

        Where the connection is lost it is made anew, and the action runs again: under the lock it
        is certain whether the first commit took place.
        """
        known = self._known_for(likely)
        is_again = is_sent = False
        end = None
        while True:
            try:
                with self._transaction(self._writing(likely, known)) as session:
                    result = action(session, is_again=is_again)
                    is_sent = True
                    session.commit()
            except MisguessedError:
                is_sent, known = False, None
                continue
            except (LostError, UnreachableLedgerError) as error:
                if isinstance(error, UnreachableLedgerError) and not is_again:
                    raise
                is_again, known = True, None
                end = end or time.monotonic() + self.timeout
                if time.monotonic() > end:
                    raise self._given_up(is_sent=is_sent) from None
            else:
                if session.known is not None:
                    self._known[session.known.last.dataset] = session.known
                return result
            time.sleep(_PAUSE)

    def _known_for(self, likely: Draft | None) -> Known | None:
        """Return what the short way needs to know for an event, if it is known."""
        if likely is None or not isinstance(likely.dataset, str):
            return None
        known = self._known.get(likely.dataset)
        return known if known is not None and known.answers(likely) else None

    def _read(self, connection: Any) -> Session:
        version, session = sessions.read(connection)
        require_format(version, self.address)
        return session

    def _writing(self, likely: Draft | None, known: Known | None) -> Begin:
        """Return what begins a transaction that writes, by the short way or by the long one."""
        patience = int(self.timeout * 1000)

        def long(connection: Any) -> Session:
            version, session = sessions.write(connection, patience=patience, likely=likely)
            require_format(version, self.address)
            return session

        def short(draft: Draft, known: Known, connection: Any) -> Session:
            try:
                return sessions.guess(connection, draft, known, patience=patience)
            except postgresql_url.driver().Error as error:
                if not isinstance(failure_of(error, self.address), LostError | BusyLedgerError):
                    raise MisguessedError from None
                raise

        return long if likely is None or known is None else partial(short, likely, known)

    def now(self, connection: Session) -> str:
        """Return the time of the server, which never goes back in the ledger."""
        return connection.now

    def spender(self, connection: Session) -> str:
        """Return the role that has connected."""
        return connection.spender

    def append(self, connection: Session, draft: Draft) -> Event:
        """Have the database write the next event; the time is the server's."""
        event = connection.append(draft)
        if event is None:
            raise self._corrupt("its functions write other events than were asked for.")
        return event

    def standing(self, connection: Session, dataset: str) -> Standing | None:
        """Return how a dataset stands, if it has a budget."""
        return connection.standing(dataset)

    def entry(self, connection: Session, number: int) -> Iterator[Event]:
        """Return a reservation, its record if there is one, and the declaration of its dataset."""
        return connection.entry(number)

    def recent(self, connection: Session) -> list[Event]:
        """Return the events that came with the lock, and those written since."""
        return connection.recent

    def require_intact(self, connection: Session) -> None:
        """Raise unless the other tables are what the events make them."""
        (last,) = connection.execute("SELECT seq FROM head").fetchone()
        (count,) = connection.execute("SELECT count(*) FROM event").fetchone()
        if not last == count == head(connection)[0]:
            raise self._corrupt("its end is not that of its events.")
        try:
            is_right = tables.are_right(connection, events(connection))
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError):  # another body
            is_right = False
        if not is_right:
            raise self._corrupt("its sums are not those of its events.")

    @contextmanager
    def _transaction(self, begin: Begin) -> Iterator[Session]:
        """Yield a session; without a commit, or after an error, all is rolled back."""
        connection = failure = None
        try:
            connection, session = self._begun(begin)
            yield session
        except postgresql_url.driver().Error as error:
            failure = failure_of(error, self.address)
        finally:
            if connection is not None:
                self._put_back(connection)
        if failure is not None:
            try:
                raise failure
            finally:
                del failure  # its traceback holds this frame, which would hold the connection

    def _begun(self, begin: Begin) -> tuple[Any, Session]:
        """Return a connection in a transaction, one that was kept if it still answers."""
        mine = self._idle.setdefault(os.getpid(), [])
        with suppress(IndexError):  # none is left; another thread may have taken the last one
            while kept := mine.pop():
                with suppress(LostError):
                    return kept, self._session(kept, begin)
        try:
            made = connect(self.address.url, name="ledger")
        except ValueError as error:
            raise UnreachableLedgerError(
                f"the ledger {self.address} could not be reached: {error}"
            ) from None
        made.autocommit = True  # transactions are begun and ended by statements
        return made, self._session(made, begin)

    def _session(self, connection: Any, begin: Begin) -> Session:
        try:
            return begin(connection)
        except postgresql_url.driver().Error as error:
            failure = failure_of(error, self.address)
        except (LedgerError, MisguessedError):
            self._put_back(connection)
            raise
        if isinstance(failure, LostError):
            connection.close()
        self._put_back(connection)
        if isinstance(failure, MissingLedgerError):
            self._require_format(connection)
        try:
            raise failure
        finally:
            del failure  # as above

    def _require_format(self, connection: Any) -> None:
        """Raise if what lacks a table or a function is the ledger of another version."""
        with suppress(postgresql_url.driver().Error):
            (version,) = connection.execute("SELECT format FROM dproo.head").fetchone()
            require_format(version, self.address)

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


def _close(idle: dict[int, list[Any]]) -> None:
    for connection in idle.get(os.getpid(), []):
        connection.close()
