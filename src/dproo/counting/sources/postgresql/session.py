"""A read-only session of PostgreSQL: its rights, its timeouts, its end."""

from __future__ import annotations

import codecs
import math
import os
import time
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from threading import RLock
from typing import Any

from dproo.counting.sources.postgresql import url as postgresql_url

LOCK_TIMEOUT = "30s"
"""How long to wait for others' locks if neither role nor URL sets a limit."""

_CANCEL_TIMEOUT = 5.0

# A server ends a session a moment after it was closed, and the role may not have two.
_END_TIME, _PAUSE = 5.0, 0.05
_CLOSED = deque([-math.inf], maxlen=1)
"""When a session was closed last."""

_LOCK_TIMEOUT_SET = (
    f"SELECT set_config('lock_timeout', '{LOCK_TIMEOUT}', true)"
    " WHERE current_setting('lock_timeout') = '0'"
)
_TRANSACTION_TIMEOUT_UNSET = (  # PostgreSQL 17 or later
    "SELECT set_config('transaction_timeout', '0', true)"
    " WHERE current_setting('transaction_timeout', true) IS NOT NULL"
)
# Unqualified names mean PostgreSQL's own: no function, operator or type of others can replace
# one that the query uses.
_PINNED = (
    "SET LOCAL search_path = pg_catalog, pg_temp",
    "SET LOCAL standard_conforming_strings = on",
    "SET LOCAL client_encoding = 'UTF8'",
    "SET LOCAL datestyle = 'ISO, YMD'",
    "SET LOCAL extra_float_digits = 3",  # floats with all their digits
    # The transaction waits while a ledger is charged, however long that takes.
    "SET LOCAL idle_in_transaction_session_timeout = 0",
    _TRANSACTION_TIMEOUT_UNSET,
    _LOCK_TIMEOUT_SET,
)
# Between the check and the count, a caller's session is idle, in their transaction or outside one.
_IDLE = "idle_session_timeout", "idle_in_transaction_session_timeout"
# Lets the server end the query of a process that was killed (PostgreSQL 14 or later).
_CHECKED = (
    "SELECT set_config(name, '1s', true) FROM pg_settings"
    " WHERE name = 'client_connection_check_interval' AND setting = '0'"
)

# Encodings that Python names differently, or does not have.
_CODECS = {
    "SQL_ASCII": "",
    "UTF8": "utf-8",
    "EUC_JIS_2004": "euc_jis_2004",
    "SHIFT_JIS_2004": "shift_jis_2004",
    **{
        f"LATIN{i}": f"iso8859-{part}"
        for i, part in enumerate((1, 2, 3, 4, 9, 10, 13, 14, 15, 16), 1)
    },
    **{f"WIN{page}": f"cp{page}" for page in (866, 874, *range(1250, 1259))},
    "KOI8R": "koi8-r",
    "KOI8U": "koi8-u",
}

_LOST = "the connection to the database was lost. Nothing was charged; try again."
_SENTENCES = {
    "22P05": "alphabet must contain only letters that the database's encoding has, and so must the"
    " missingValues of a code book with person.",
    "25P02": "data must be a connection without a failed transaction; roll it back first.",
    "42501": "the role may not read the table. Grant it SELECT on the table, and USAGE on its"
    " schema. With row_security = off it may not read a table whose policies hide rows from it.",
    "55000": "the table cannot be read as it is; a materialized view must be refreshed first.",
    "55P03": "the table is locked by another session. Try again, or raise lock_timeout"
    f" ({LOCK_TIMEOUT} unless set; in a URL, options=-c%20lock_timeout%3D10min).",
    "57014": "the database cancelled the check of the table, because of statement_timeout or its"
    " administrator.",
}
_NOT_ADMITTED = (
    "the server refused the connection. Check the database's name, the role and its password,"
    " and that the role may connect from here."
)
_ELSE = (
    "the database refused the query; details are withheld because they could reveal data. Nothing"
    " was charged: try to read the table yourself."
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Session:
    """A connection, and whether it is ours to close.

    Our own connection is in one read-only transaction from its first cursor until it is closed,
    so that what was checked is what is read. In a caller's connection every cursor has a read-only
    transaction, or a savepoint in the caller's transaction, which is rolled back at its end.

    Guarantee: nothing is written through it to the database it is connected to.
    """

    connection: Any = field(repr=False)
    is_ours: bool
    is_repeatable: bool = False

    @classmethod
    def of(cls, database: Any, *, is_repeatable: bool = False) -> Session:
        """Return the session of a URL, or of an open connection.

        If it ``is_repeatable``, all queries of a transaction see the same records.
        """
        if isinstance(database, str):
            connection, levels = connect(database), postgresql_url.driver().IsolationLevel
            level = levels.REPEATABLE_READ if is_repeatable else levels.READ_COMMITTED
            connection.isolation_level, connection.read_only = level, True
            session = cls(connection=connection, is_ours=True, is_repeatable=is_repeatable)
            weakref.finalize(session, _close, connection, os.getpid())
            return session
        if not isinstance(database, postgresql_url.driver().Connection):
            raise TypeError("data must be a synchronous Connection of psycopg.")
        if database.closed:
            raise ValueError("data must be an open connection, got a closed one.")
        with _shared(database).turn:
            _refuse_in_use(database)
        return cls(connection=database, is_ours=False, is_repeatable=is_repeatable)

    @contextmanager
    def cursor(self) -> Iterator[Any]:
        """Yield a read-only cursor; any exception cancels its query."""
        psycopg = postgresql_url.driver()
        with ExitStack() as stack:
            if not self.is_ours:
                stack.enter_context(_shared(self.connection).turn)
                is_new = (
                    self.connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
                )
                stack.enter_context(self.connection.transaction(force_rollback=True))
                if is_new:  # whatever level the caller prefers
                    level = "REPEATABLE READ" if self.is_repeatable else "READ COMMITTED"
                    self.connection.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
            stack.enter_context(_cancelling(self.connection))
            cursor = stack.enter_context(_plain_cursor(self.connection))
            cursor.execute("SET LOCAL transaction_read_only = on")
            yield cursor

    def pin(self, cursor: Any) -> None:
        """Give names the meaning that PostgreSQL defines, and set limits, for this transaction."""
        for setting in _PINNED:
            cursor.execute(setting)
        with suppress(postgresql_url.driver().Error), self.connection.transaction():
            cursor.execute(_CHECKED)

    def codec(self, cursor: Any) -> str:
        """Return Python's name of the database's encoding; refuse one that Python cannot read."""
        cursor.execute("SHOW server_encoding")
        ((encoding,),) = cursor.fetchall()
        with suppress(LookupError):
            return codecs.lookup(_CODECS.get(encoding, encoding)).name
        raise ValueError(
            f"alphabet must be listed: the database's encoding, {encoding}, is not one that Python"
            " can read."
        )

    def refuse_isolation(self, cursor: Any) -> None:
        """Refuse a caller's transaction that others can end, or whose queries may see changes."""
        cursor.execute("SHOW transaction_isolation")
        ((level,),) = cursor.fetchall()
        if level == "serializable":
            raise ValueError(
                "data must be a connection outside a transaction, or in one below SERIALIZABLE,"
                " which the database may end because of what others write, even after the charge."
            )
        if self.is_repeatable and level != "repeatable read":
            raise ValueError(
                "data must be a connection outside a transaction, or in one at REPEATABLE READ:"
                " so many columns are counted by several queries, which must see the same records."
            )

    def wait_patiently(self) -> None:
        """Lift the limits of a caller's idle session until it is closed: the ledger may take long.

        PostgreSQL has the first from version 14 on.
        """
        if self.is_ours:
            return
        shared = _shared(self.connection)
        with shared.turn:
            shared.waiting.add(self)
            self._lift(shared.limits)

    def _lift(self, limits: dict[str, str]) -> None:
        """Lift limits, and note those that nobody else has lifted."""
        psycopg = postgresql_url.driver()
        is_idle = self.connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        for name in _IDLE:
            which = f"{'SESSION' if is_idle else 'LOCAL'} {name}"
            with suppress(psycopg.errors.UndefinedObject), self.connection.transaction():
                cursor = _plain_cursor(self.connection)
                ((limit,),) = cursor.execute(f"SHOW {name}").fetchall()
                cursor.execute(f"SET {which} = 0")
                limits.setdefault(which, limit)

    def close(self) -> None:
        """Close a connection of our own, or set a caller's limits again once nobody waits."""
        if self.is_ours:
            _close(self.connection, os.getpid())
            return
        shared = _shared(self.connection)
        with suppress(Exception), shared.turn:
            shared.waiting.discard(self)
            limits = {} if shared.waiting else dict(shared.limits)
            for which, limit in limits.items():
                del shared.limits[which]
                with self.connection.transaction():
                    _plain_cursor(self.connection).execute(f"SET {which} = '{limit}'")


def sentence(error: BaseException) -> str:
    """Return the sentence that reports a database error before the charge."""
    code = getattr(error, "sqlstate", None)
    if code is None or code.startswith(("08", "57P")):
        is_lost = isinstance(error, postgresql_url.driver().OperationalError)
        return _LOST if is_lost else _ELSE
    return _SENTENCES.get(code, _ELSE)


def connect(url: str, *, name: str = "data") -> Any:
    """Return a new connection; ``name`` is what a refusal calls the URL.

    Raises:
        ValueError: it failed; the message gives a reason but does not repeat the URL.
    """
    psycopg = postgresql_url.driver()
    settings = postgresql_url.parsed(url, name=name)
    if "connect_timeout" not in settings and "PGCONNECT_TIMEOUT" not in os.environ:
        settings["connect_timeout"] = str(postgresql_url.CONNECT_TIMEOUT)
    failure = ""
    while not failure:
        try:
            connection = psycopg.connect(**settings)
            connection.prepare_threshold = None
        except Exception as error:  # noqa: BLE001 - it holds the password
            failure = _unconnected(error, settings, name)
        else:
            return connection
        if failure == _NOT_ADMITTED and another_ends():
            failure = ""
    raise ValueError(failure)


def note_end() -> None:
    """Note that a session was closed."""
    _CLOSED.append(time.monotonic())


def another_ends() -> bool:
    """Return whether a session that was closed may still have to end, after a short pause if so."""
    if time.monotonic() > _CLOSED[0] + _END_TIME:
        return False
    time.sleep(_PAUSE)
    return True


def _unconnected(error: Exception, settings: dict[str, str], name: str) -> str:
    """Return why there is no connection; a server answers a ping without authentication."""
    psycopg = postgresql_url.driver()
    ping = psycopg.pq.Ping.NO_RESPONSE
    if not isinstance(error, psycopg.errors.ConnectionTimeout):
        ping = psycopg.pq.PGconn.ping(psycopg.conninfo.make_conninfo("", **settings).encode())
    if ping == psycopg.pq.Ping.NO_RESPONSE:
        return (
            "no PostgreSQL server answers at this host and port. Check both, and that the server"
            " runs and can be reached from here."
        )
    if ping == psycopg.pq.Ping.REJECT:
        return "the server accepts no connections at the moment. Try again later."
    if ping == psycopg.pq.Ping.NO_ATTEMPT:
        return f"{name} must be a URL with settings that psycopg knows, such as sslmode=require."
    if getattr(getattr(error, "pgconn", None), "needs_password", False):
        return (
            "the server asks for a password and none was found. Keep it in a password file"
            " (~/.pgpass or PGPASSFILE)."
        )
    return _NOT_ADMITTED


def _plain_cursor(connection: Any) -> Any:
    """Return the driver's own cursor, rows and values, not those of a caller's connection."""
    psycopg = postgresql_url.driver()
    types = psycopg.types
    cursor = psycopg.Cursor(connection, row_factory=psycopg.rows.tuple_row)
    for name in ("text", "varchar", "name"):
        cursor.adapters.register_loader(name, types.string.TextLoader)
    for name in ("int8", "oid"):
        cursor.adapters.register_loader(name, types.numeric.IntLoader)
    cursor.adapters.register_loader("float8", types.numeric.FloatLoader)
    cursor.adapters.register_loader("bool", types.bool.BoolLoader)
    cursor.adapters.register_loader("bytea", types.string.ByteaLoader)
    for kind, dumper in (
        (str, types.string.StrDumperUnknown),
        (int, types.numeric.IntDumper),
        (list, types.array.ListDumper),
    ):
        cursor.adapters.register_dumper(kind, dumper)
    return cursor


@dataclass(frozen=True)
class _Shared:
    """What threads that share a caller's connection have in common.

    Attributes:
        turn: whose turn it is: they may not share a transaction.
        waiting: the sessions that have lifted the limits of the connection.
        limits: the limits before the first of them.
    """

    turn: RLock = field(default_factory=RLock)
    waiting: weakref.WeakSet[Session] = field(default_factory=weakref.WeakSet)
    limits: dict[str, str] = field(default_factory=dict)


_SHARED: weakref.WeakKeyDictionary[Any, _Shared] = weakref.WeakKeyDictionary()


def _shared(connection: Any) -> _Shared:
    return _SHARED.setdefault(connection, _Shared())


@contextmanager
def _cancelling(connection: Any) -> Iterator[None]:
    """Cancel the running query if any exception passes."""
    try:
        yield
    except BaseException:
        active = postgresql_url.driver().pq.TransactionStatus.ACTIVE
        if not connection.closed and connection.pgconn.transaction_status == active:
            with suppress(Exception):
                connection.cancel_safe(timeout=_CANCEL_TIMEOUT)
                while connection.pgconn.get_result() is not None:
                    pass  # discard what the cancelled query has left on the connection
        raise


def _refuse_in_use(connection: Any) -> None:
    """Refuse a caller's connection on which a query of ours would wait, or be mixed with others."""
    pq = postgresql_url.driver().pq
    if connection.pgconn.pipeline_status != pq.PipelineStatus.OFF:
        raise ValueError("data must be a connection outside pipeline mode. Leave the block first.")
    if connection.pgconn.transaction_status == pq.TransactionStatus.ACTIVE:
        raise ValueError(
            "data must be a connection that runs no command, such as COPY or a streamed query."
            " Finish it first, or use another connection."
        )


def _close(connection: Any, process: int) -> None:
    """Close a connection, unless it belongs to a parent process."""
    if os.getpid() == process and not connection.closed:
        connection.close()
        note_end()
