"""What a transaction in PostgreSQL begins with: one message, since each one costs time.

The short way sends what will be written along with the lock; it is taken where everything that
this is held against is known. If anything is not as expected, it is rolled back, and the long way
decides, which asks first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from dproo.engines import postgresql_url
from dproo.ledger.calls import call_of
from dproo.ledger.chain import (
    COLUMNS,
    NO_EVENT,
    RECORDED,
    RESERVED,
    Draft,
    Event,
    Rows,
)
from dproo.ledger.known import Known
from dproo.ledger.rules import is_name
from dproo.ledger.store import Standing

_NOW = (
    "to_char(greatest(at, clock_timestamp()) AT TIME ZONE 'UTC', "
    '\'YYYY-MM-DD"T"HH24:MI:SS"+00:00"\')'
)
_SETTINGS = (
    "SET LOCAL search_path = pg_catalog, dproo, pg_temp; SET LOCAL standard_conforming_strings = on"
)
_KNOWN = f"SELECT {COLUMNS} FROM ends()"  # noqa: S608 - no outside text
_ENTRY = f"SELECT {COLUMNS} FROM found(?)"  # noqa: S608 - as above
_STANDING = f"SELECT {COLUMNS}, spent FROM standing(?)"  # noqa: S608 - as above
_READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITING = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"


class MisguessedError(Exception):
    """The short way led elsewhere; what it wrote must be rolled back."""


@dataclass(eq=False, kw_only=True)
class Session:
    """A connection inside a transaction.

    Attributes:
        connection: the driver's.
        recent: the first event, the last one, and what was written since.
        now: the time of the server, which never goes back in the ledger.
        spender: the role that has connected.
        stands: answers that are there already, by dataset.
        entries: the same, by number.
        known: what is known of a dataset once this is committed.
        guess: what was written ahead, until it is asked for.
        is_settled: whether names mean what our queries mean by them.
    """

    connection: Any = field(repr=False)
    recent: list[Event]
    now: str
    spender: str
    stands: dict[str, Standing | None] = field(default_factory=dict)
    entries: dict[int, list[Event]] = field(default_factory=dict)
    known: Known | None = None
    guess: tuple[Draft, Event] | None = None
    is_settled: bool = True

    def execute(self, query: str, parameters: tuple[Any, ...] = (), /) -> Rows:
        """Run a query whose parameters are written as question marks."""
        if self.guess is not None:  # the answer would not be that of before it
            raise MisguessedError
        if not self.is_settled:
            self.connection.execute(_SETTINGS)
            self.is_settled = True
        return self.connection.execute(  # type: ignore[no-any-return]
            query.replace("?", "%s"), parameters or None
        )

    def commit(self) -> None:
        """Make what was written durable."""
        if self.guess is not None:  # nobody has asked for it
            raise MisguessedError
        self.connection.execute("COMMIT")

    def standing(self, dataset: str) -> Standing | None:
        """Return how a dataset stands, if it has a budget."""
        if dataset not in self.stands:
            self.stands[dataset] = Standing.of(self.execute(_STANDING, (dataset,)))
        return self.stands[dataset]

    def entry(self, number: int) -> Iterator[Event]:
        """Return a reservation, its record if there is one, and the declaration of its dataset."""
        if number in self.entries:
            return iter(self.entries.pop(number))
        return map(Event.of, self.execute(_ENTRY, (number,)))

    def append(self, draft: Draft) -> Event | None:
        """Have the database write the next event, by the function of its kind.

        Returns:
            The event, if it is the one that was asked for and follows the last one.
        """
        if self.guess is not None and self.guess[0] is draft:
            event, self.guess = self.guess[1], None
        else:
            function, arguments = call_of(draft)
            places = ", ".join("?" * len(arguments))
            query = f"SELECT {COLUMNS} FROM {function}({places})"  # noqa: S608 - names of our own
            event = Event.of(self.execute(query, arguments).fetchone())
            if event.hash != event.link(self.recent[-1].hash if self.recent else NO_EVENT):
                return None
            stands = self.stands.pop(draft.dataset, None)
            if stands is not None and draft.kind == RESERVED:
                stands = stands.after(event)
                self.known = Known(origin=self.recent[0], last=event, stands=stands)
        asked = (draft.kind, draft.dataset, draft.nano)
        if (event.kind, event.dataset, event.nano) != asked or not event.is_canonical:
            return None
        self.recent.append(event)
        return event


def read(connection: Any) -> tuple[int, Session]:
    """Begin a transaction that sees one state of the ledger; return its format too."""
    return _begun(connection, f"{_READING}; {_SETTINGS}", "head", None)


def write(connection: Any, *, patience: int, likely: Draft | None) -> tuple[int, Session]:
    """Begin a transaction under the lock of all writers; return the format too.

    Args:
        connection: to begin it in.
        patience: milliseconds to wait for the lock.
        likely: what will probably be appended, and so asked about before.
    """
    return _begun(connection, f"{_WRITING}; {_SETTINGS}", f"lock({patience})", likely)


def _begun(connection: Any, message: str, head: str, likely: Draft | None) -> tuple[int, Session]:
    message += f"; SELECT format, {_NOW}, session_user::text FROM {head}; {_KNOWN}"  # noqa: S608 - as above
    if likely is not None and likely.kind == RESERVED and is_name(likely.dataset):
        message += f"; {_filled(connection, _STANDING, likely.dataset)}"
    elif likely is not None and likely.kind == RECORDED:
        message += f"; {_filled(connection, _ENTRY, likely.entry)}"
    else:
        likely = None
    answers = _answers(connection.execute(message))
    told = answers.pop() if likely is not None else None
    *_, [(version, now, spender)], ends = answers
    recent = list(map(Event.of, ends))
    session = Session(connection=connection, recent=recent, now=now, spender=spender)
    if told is not None and likely is not None:
        if likely.entry is None:
            session.stands[likely.dataset] = Standing.of(told)
        else:
            session.entries[likely.entry] = list(map(Event.of, told))
    return version, session


def guess(connection: Any, draft: Draft, known: Known, *, patience: int) -> Session:
    """Begin a transaction under the same lock, and write an event that is likely to be asked for.

    Raises:
        MisguessedError: it cannot be sent, or other events than these came since.
    """
    try:
        function, arguments = call_of(draft)
    except (TypeError, ValueError, RecursionError):  # no JSON
        raise MisguessedError from None
    places = ", ".join("?" * (len(arguments) + 2))
    call = f"SELECT {COLUMNS} FROM dproo.{function}({places})"  # noqa: S608 - as above
    message = _filled(connection, call, *arguments, known.last.seq, patience)
    cursor = connection.execute(f"{_WRITING}; {message}")
    cursor.nextset()
    *events, made = map(Event.of, cursor.fetchall())
    before = known.after(events)
    after = before.after([made]) if before is not None else None
    if before is None or after is None:
        raise MisguessedError
    session = Session(
        connection=connection,
        recent=[known.origin, known.last, *events],
        now=made.fields.get("at", ""),
        spender=made.fields.get("by", ""),
        stands={draft.dataset: before.stands},
        known=after,
        guess=(draft, made),
        is_settled=False,
    )
    if draft.entry is not None:
        session.entries[draft.entry] = [known.last, known.stands.declared]
    return session


def _filled(connection: Any, query: str, *values: object) -> str:
    """Return a query with literals in place of its question marks."""
    first, *rest = query.split("?")
    filled = [_literal(connection, value) for value in values]
    return first + "".join(text + part for text, part in zip(filled, rest, strict=True))


def _literal(connection: Any, value: object) -> str:
    """Return a value as SQL text, which means the same under every setting of a session."""
    if value is None:
        return "NULL"
    if type(value) is int:
        return str(value)
    if type(value) is str and value.isascii() and "\\" not in value:
        return "'" + value.replace("'", "''") + "'"
    return postgresql_url.driver().sql.Literal(value).as_string(connection)  # type: ignore[no-any-return]


def _answers(cursor: Any) -> list[list[Any]]:
    """Return the rows of every statement of a message."""
    found = [cursor.fetchall() if cursor.description else []]
    while cursor.nextset():
        found.append(cursor.fetchall() if cursor.description else [])
    return found
