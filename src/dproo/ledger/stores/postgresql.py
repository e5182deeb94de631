"""A ledger in PostgreSQL, shared by many people and machines.

Only functions of the database (``schema.sql``) write the table of events: they enforce the lock,
the cap, the rules, the chain and the clock, whoever calls them. They decide a charge as
:class:`~dproo.ledger.account.BudgetTally` does, by the same terms, and a replay checks them.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from dproo.core.checks import refusal
from dproo.counting.boundary import anew, interrupt_in
from dproo.counting.sources.postgresql import url as postgresql_url
from dproo.counting.sources.postgresql.session import connect
from dproo.errors import (
    BudgetRefused,
    ChargedError,
    DeltaRefused,
    FullDiskError,
    LedgerError,
    MissingLedgerError,
    ReadOnlyLedgerError,
    RoleError,
    RuleRefused,
    UnknownEntryError,
    UnreachableLedgerError,
    UnusableLedgerError,
)
from dproo.ledger.account import BudgetTally, corrupt, pure, taken, used
from dproo.ledger.events import (
    COLUMNS,
    DECLARED,
    NO_EVENT,
    RECORDED,
    REQUESTED,
    RESERVED,
    RESTORED,
    Draft,
    Event,
    canonical,
)
from dproo.ledger.location import Database
from dproo.ledger.rules import ALLOWANCES, SHAPES, TERMS, Limits, denied, exceeded
from dproo.ledger.stores.base import BUSY, LedgerSession, Result
from dproo.ledger.stores.sqlite import require_version
from dproo.ledger.witness import Memory

ROLES = ("dproo_owner", "dproo_spender", "dproo_auditor")

_OLDEST = 140000  # PostgreSQL 14
_ROLE = (
    "DO $$ BEGIN CREATE ROLE {} NOLOGIN; "
    "EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
)
_SETTINGS = (
    "SET LOCAL search_path = pg_catalog, dproo, pg_temp;"
    " SET LOCAL standard_conforming_strings = on; SET LOCAL statement_timeout = 0;"
    " SET LOCAL idle_in_transaction_session_timeout = 0"  # until it holds the lock
)
_READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITING = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
_LOCK = {_READING: "", _WRITING: "SELECT dproo.lock()"}  # nothing changes from here to the commit
# This query runs outside of a transaction too, where operators are found by the role's search_path.
_IDENTITY = "SELECT hash FROM dproo.event WHERE seq OPERATOR(pg_catalog.=) 1"
_SUMS = (
    "SELECT left(at, 10), role, kind, sum(nano), sum(atto) FROM event WHERE dataset = ?"
    " AND kind IN ('reserved', 'restored') GROUP BY 1, 2, 3"
)
_MAY_RECORD = "SELECT has_function_privilege('dproo.record(bigint, text, text)', 'EXECUTE')"
_PAUSE = 0.05  # seconds between attempts to reach a restarting server
_LOST = "lost the connection; try again."

_SENTENCES: dict[str, tuple[type[LedgerError], str]] = {
    "42501": (
        RoleError,
        (
            "may not be used so by this role: dproo_owner declares, dproo_spender releases, and"
            " nobody decides on a request of their own."
        ),
    ),
    "53100": (FullDiskError, "cannot be written: no space is left on the server's disk."),
    "55P03": BUSY,
}
_MISSING = (MissingLedgerError, "is not there. 'dproo ledger install' makes it in the database.")
_STANDBY = (ReadOnlyLedgerError, "cannot be written: the server is a copy of another one.")
_SENTENCES |= dict.fromkeys(("0A000", "25006"), _STANDBY)
_SENTENCES |= dict.fromkeys(("3F000", "42P01", "42703", "42883"), _MISSING)
_ELSE = (UnusableLedgerError, "refused the query; details are withheld.")


class LostError(Exception):
    """The connection was lost, and with it the result."""


@dataclass(eq=False, kw_only=True)
class PostgresqlSession(LedgerSession):
    """A connection inside a transaction."""

    connection: Any = field(repr=False)
    memory: Memory
    address: Database

    def execute(self, query: str, parameters: tuple[Any, ...] = (), /) -> Any:
        """Run a query whose parameters are written as question marks."""
        return self.connection.execute(query.replace("?", "%s"), parameters or None)

    def now(self) -> str:
        """Return the time of the server."""
        (now,) = self.execute("SELECT dproo.now()").fetchone()
        return str(now)

    clock = now

    @property
    def role(self) -> str:
        """The role that is connected."""
        (role,) = self.execute("SELECT session_user").fetchone()
        return str(role)

    def tally(self, dataset: str) -> BudgetTally:
        """Return the sums of a dataset, computed by the database."""
        tally = BudgetTally.of(self.declared(dataset))
        for day, role, kind, nano, atto in self.execute(_SUMS, (dataset,)):
            charge = tally.declared._replace(kind=kind, role=role, at=day)
            tally.add(charge._replace(nano=int(nano), atto=int(atto)))
        return tally

    def append(self, draft: Draft) -> Event:
        """Let the database write the next event, by the function for its kind."""
        if self.is_again and (sent := self.one("id = ?", draft.id)):
            return sent
        if draft.kind == RESERVED:
            self.declared(draft.dataset)  # suggests a similar name if it has no budget
            self.require_spender()
        function, arguments = _call(draft)
        places = ", ".join("?" * len(arguments))
        query = f"SELECT {COLUMNS} FROM dproo.{function}({places})"  # noqa: S608 - our own names
        try:
            event = Event._make(self.execute(query, arguments).fetchone())
        except postgresql_url.driver().Error as error:
            if refused := _refusal(error, draft):
                raise refused from None
            raise
        self._require_drafted(event, draft)
        if draft.kind == DECLARED:
            self.require_only(event)  # under the lock, so no other writer comes between
        return event

    def _require_drafted(self, event: Event, draft: Draft) -> None:
        """Raise unless the event is the drafted one, and continues the chain."""
        before = self.event(event.seq - 1)
        link = event.link(NO_EVENT if before is None else before.hash)
        drafted = draft.dataset, draft.nano, draft.atto, canonical(draft.body), link
        kinds = {draft.kind, REQUESTED} if draft.kind == RESERVED else {draft.kind}
        written = event.dataset, event.nano, event.atto, event.body, event.hash
        if written != drafted or event.kind not in kinds:
            raise corrupt(self.address, "its functions write other events than were asked for.")

    def insert(self, events: list[Event]) -> None:
        """Write events unchanged, which only the role that owns the table can do."""
        places = ", ".join(["%s"] * len(Event._fields))
        with self.connection.cursor() as cursor:
            cursor.executemany(f"INSERT INTO event ({COLUMNS}) VALUES ({places})", events)  # noqa: S608 - as above
        self.execute("UPDATE head SET seq = ?", (len(events),))

    def require_spender(self) -> None:
        """Raise if the role may not record releases, whether or not it may charge them."""
        if self.execute(_MAY_RECORD).fetchone() != (True,):
            kind, sentence = _SENTENCES["42501"]
            raise kind(f"the ledger {self.address} {sentence}")

    def require_intact(self) -> None:
        """Raise unless the writers' counter is at the last event."""
        (last,) = self.execute("SELECT seq FROM head").fetchone()
        (count,) = self.execute("SELECT count(*) FROM event").fetchone()
        if not last == count == self.head()[0]:
            raise corrupt(self.address, "its counter does not match its events.")


@dataclass(frozen=True, eq=False)
class PostgresqlStore:
    """A ledger in a database.

    Connections are reused by later transactions of the same process, never by a fork.
    """

    address: Database
    timeout: float = field(kw_only=True)
    witness: Path | None = field(default=None, kw_only=True)
    _idle: dict[int, list[Any]] = field(
        default_factory=lambda: defaultdict(list), init=False, repr=False
    )

    def __post_init__(self) -> None:
        weakref.finalize(self, _close, self._idle)

    def create(self) -> None:
        """Do nothing: ``dproo ledger install`` makes the ledger, with the right to create roles."""

    @contextmanager
    def reading(self, *, is_checked: bool = True) -> Iterator[PostgresqlSession]:
        """Begin a transaction that sees one state of the ledger."""
        del is_checked  # nobody can edit an event in the database
        try:
            with self._transaction(_READING) as session:
                yield session
                session.execute("COMMIT")
        except LostError:
            raise UnreachableLedgerError(f"the ledger {self.address} {_LOST}") from None

    def write(
        self, action: Callable[[PostgresqlSession], Result], *, is_patient: bool = False
    ) -> Result:
        """Run an action under the lock that every writer takes, and commit.

        If the connection is lost, a new one is made and the action runs again: an event that was
        committed although the result was lost is found by its id.

        Args:
            action: what to write.
            is_patient: whether to wait for a server that cannot be reached at first.
        """
        is_again = is_sent = False
        end = None
        while True:
            was_sent = is_sent
            try:
                with self._transaction(_WRITING) as session:
                    session.is_again = is_again
                    result = action(session)
                    is_sent = True
                    session.execute("COMMIT")
                    return result
            except (LostError, UnreachableLedgerError) as error:
                if isinstance(error, UnreachableLedgerError) and not (is_again or is_patient):
                    raise
                is_again = True
                end = end or time.monotonic() + self.timeout
                if time.monotonic() > end:
                    if is_sent:
                        raise self._uncertain() from None
                    raise UnreachableLedgerError(f"the ledger {self.address} {_LOST}") from None
            except (BudgetRefused, RuleRefused):
                raise  # by the ledger, which has looked for the event
            except LedgerError:
                if was_sent:
                    raise self._uncertain() from None
                raise
            time.sleep(_PAUSE)

    def _uncertain(self) -> ChargedError:
        """Return the error of a commit that was sent and never answered."""
        return ChargedError(
            f"the ledger {self.address} was lost in the middle of a commit, and a charge may stand;"
            " see 'dproo ledger show'."
        )

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[PostgresqlSession]:
        """Yield a session; without a commit, or after an error, all is rolled back.

        The witnesses are read before the transaction begins, so that it sees what others commit in
        between.
        """
        connection = failure = None
        handled = sys.exception()
        try:
            connection = self._connection()
            yield self._begun(connection, begin)
        except postgresql_url.driver().Error as error:
            _pass_on_interrupt(error, handled)
            failure = self._failure(error, connection)
        finally:
            if connection is not None:
                self._put_back(connection)
        if failure is not None:
            try:
                raise failure from None
            finally:
                del failure  # its traceback would keep the connection alive

    def _begun(self, connection: Any, begin: str) -> PostgresqlSession:
        patience = f"SET LOCAL lock_timeout = {max(1, int(self.timeout * 1000))}"
        while True:
            row = connection.execute(_IDENTITY).fetchone()
            known = "" if row is None else row[0]
            memory = Memory(ledger=known, chosen=self.witness)
            connection.execute(f"{begin}; {_SETTINGS}; {patience}; {_LOCK[begin]}")
            (version,) = connection.execute("SELECT format FROM dproo.head").fetchone()
            require_version(version, self.address)
            row = connection.execute(_IDENTITY).fetchone()
            if known == ("" if row is None else row[0]):
                return PostgresqlSession(connection=connection, memory=memory, address=self.address)
            connection.execute("ROLLBACK")  # the first event was written in between

    def _connection(self) -> Any:
        """Return an idle connection that still answers, or a new one."""
        mine, handled = self._idle[os.getpid()], sys.exception()
        with suppress(IndexError):  # another thread may have taken the last one
            while idle := mine.pop():
                try:
                    idle.execute("SELECT 1")
                except postgresql_url.driver().Error as error:
                    idle.close()
                    _pass_on_interrupt(error, handled)
                else:
                    return idle
        try:
            made = connect(self.address.url, name="ledger")
        except ValueError as error:
            raise UnreachableLedgerError(
                f"the ledger {self.address} could not be reached: {error}"
            ) from None
        made.autocommit = True  # transactions are begun and ended by statements
        made.execute("SET client_encoding TO 'UTF8'")
        return made

    def _failure(self, error: Any, connection: Any) -> Exception:
        """Return the exception to raise for a driver's error, whose own text is never shown."""
        code = error.sqlstate
        if code is None or code.startswith(("08", "57")) or code in {"25P03", "25P04"}:
            if connection is not None:
                connection.close()
            return LostError()
        kind, sentence = _SENTENCES.get(code, _ELSE)
        if kind is MissingLedgerError and connection is not None:
            with suppress(postgresql_url.driver().Error):
                connection.execute("ROLLBACK")
                (version,) = connection.execute("SELECT format FROM dproo.head").fetchone()
                try:
                    require_version(version, self.address)
                except LedgerError as other:
                    return other
        return kind(f"the ledger {self.address} {sentence}")

    def _put_back(self, connection: Any) -> None:
        """Store a connection for reuse, rolling back a transaction first."""
        status = postgresql_url.driver().pq.TransactionStatus
        with suppress(postgresql_url.driver().Error):
            if connection.pgconn.transaction_status in {status.INTRANS, status.INERROR}:
                connection.execute("ROLLBACK")
            if connection.pgconn.transaction_status == status.IDLE:
                self._idle[os.getpid()].append(connection)
                return
        connection.close()


def _close(idle: dict[int, list[Any]]) -> None:
    for connection in idle.get(os.getpid(), []):
        connection.close()


def _call(draft: Draft) -> tuple[str, tuple[Any, ...]]:
    """Return the function that writes an event and sets its time, and its arguments.

    >>> draft = Draft(kind="recorded", dataset="a", body={"receipt": {"k": 9}}, entry=2, id="b")
    >>> _call(draft)
    ('record', (2, '{"k":9}', 'b'))
    """
    kind, dataset, body, entry = draft.kind, draft.dataset, draft.body, draft.entry
    delta = body.get("delta")
    if kind == DECLARED:
        rules = canonical(body["limits"]) if "limits" in body else None
        basis = body["neighbours"], body["records_per_person"], body["unit"]
        return "declare_budget", (dataset, body["budget"], delta, *basis, rules, draft.id)
    if kind == RESERVED:
        rules = canonical(draft.limits.declared) if draft.limits.declared else None
        request = canonical(body["request"])
        return "reserve", (dataset, body["epsilon"], delta, request, rules, draft.id)
    if kind == RECORDED:
        return "record", (entry, canonical(body["receipt"]), draft.id)
    if kind == RESTORED:
        return "restore", (dataset, draft.nano, draft.atto, body["head"], draft.id)
    return "decide", (entry, kind, draft.id)


def _refusal(error: Any, draft: Draft) -> LedgerError | None:
    """Return the refusal raised by a function of the ledger, worded as for a file."""
    code, text = error.sqlstate or "", error.diag.message_detail or ""
    detail = text.split()
    name, entry = draft.dataset, draft.entry
    own = "be the number of a charge of your own in this ledger"
    refusals: dict[str, Callable[[], LedgerError]] = {
        "DP001": lambda: BudgetRefused(name, asked=int(detail[0]), left=int(detail[1])),
        "DP002": lambda: DeltaRefused(name, asked=int(detail[0]), left=int(detail[1])),
        "DP003": lambda: _rule_refused(name, text, draft),
        "DP005": lambda: taken(name),
        "DP006": lambda: UnknownEntryError(refusal("entry", own, entry)),
        "DP007": lambda: used(entry),
        "DP008": lambda: pure(name, draft.atto),
        "DP009": lambda: UnknownEntryError(
            refusal("request", "be the number of an open one", entry)
        ),
    }
    return refusals[code]() if code in refusals else None


def _rule_refused(dataset: str, detail: str, draft: Draft) -> RuleRefused:
    rule, _, rest = detail.partition(" ")
    if rule in ALLOWANCES:
        amount, most = map(int, rest.split())
        return exceeded(rule, dataset, amount=amount, most=most)
    if rule == "denied":
        return denied(dataset, int(rest))
    if rule == "open":
        condition = f"{TERMS['open_max']} requests of yours wait for a decision, and no more may"
        return RuleRefused("approval_above", dataset, condition)
    # Python refuses the same release again, in its own words.
    shown = re.sub(r"(\\u[eE]000)\\ue001", r"\1", rest.replace(r"\ue000\ue002", r"\u0000"))
    limits = Limits(**json.loads(shown))
    request, at = draft.body["request"], "9999" if rule == "until" else ""
    try:
        limits.require(dataset, request, at=at, sums=dict.fromkeys(ALLOWANCES, 0))
    except RuleRefused as refused:
        return refused
    return RuleRefused(rule, dataset, "it forbids the release")


def install(database: Database) -> bool:
    """Make an empty ledger in a database, and any missing roles.

    Returns:
        Whether it was made; an existing one is left unchanged.

    Raises:
        LedgerError: the server cannot be reached, is too old, or does not allow this role.
    """
    if not isinstance(database, Database):
        raise TypeError(refusal("database", "be a Database, as address_of returns", database))
    try:
        connection = connect(database.url, name="ledger")
    except ValueError as error:
        raise UnusableLedgerError(f"the ledger {database} could not be made: {error}") from None
    psycopg = postgresql_url.driver()
    failure: LedgerError
    try:
        with closing(connection), connection.transaction():
            return _make(connection, database)
    except psycopg.errors.InsufficientPrivilege:
        failure = RoleError(
            f"the ledger {database} could not be made: the role needs CREATE on the database and "
            "CREATEROLE."
        )
    except psycopg.Error:
        failure = UnusableLedgerError(
            f"the ledger {database} could not be made: the database refused; details are withheld."
        )
    raise failure


def _make(connection: Any, database: Database) -> bool:
    execute = connection.execute
    execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED")  # see what the lock waited for
    execute("SET LOCAL search_path = pg_catalog, pg_temp")
    execute("SET LOCAL standard_conforming_strings = on")
    execute("SET LOCAL client_encoding = 'UTF8'")
    execute("SELECT pg_advisory_xact_lock(hashtext('dproo ledger install'))")
    (version, encoding) = execute(
        "SELECT current_setting('server_version_num')::integer, getdatabaseencoding()"
    ).fetchone()
    if version < _OLDEST or encoding != "UTF8":
        raise UnusableLedgerError(
            f"the ledger {database} could not be made: it needs PostgreSQL 14 or later and a "
            "database in UTF8."
        )
    if execute("SELECT 1 FROM pg_namespace WHERE nspname = 'dproo'").fetchone():
        if execute("SELECT to_regclass('dproo.head')").fetchone() == (None,):
            raise UnusableLedgerError(
                f"the ledger {database} could not be made: the schema dproo is there, with"
                " something else in it."
            )
        (version,) = execute("SELECT format FROM dproo.head").fetchone()
        require_version(version, database)
        return False
    existing = {name for (name,) in execute("SELECT rolname FROM pg_roles")}
    for role in ROLES:
        if role not in existing:
            execute(_ROLE.format(role))
    execute(schema())
    for part, shapes in SHAPES.items():
        for name, types in shapes.items():
            execute("INSERT INTO dproo.shape VALUES (%s, %s, %s)", (part, name, list(types)))
    return True


def schema() -> str:
    """Return the SQL that makes a ledger, with the terms of :mod:`dproo.ledger.rules` inserted."""
    text = files("dproo.ledger.stores").joinpath("schema.sql").read_text(encoding="utf-8")
    return re.sub(r"@(\w+)@", lambda term: str(TERMS[term[1]]), text)


def _pass_on_interrupt(error: BaseException, handled: BaseException | None) -> None:
    """Raise the interrupt that a driver's error hides: it may have broken the connection."""
    interrupt = interrupt_in(error, but=handled)
    if interrupt is not None:
        raise anew(interrupt) from None
