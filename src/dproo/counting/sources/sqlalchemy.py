"""Engines and connections of SQLAlchemy: any database that it reaches, streamed row by row.

Only the named columns are selected, and every cell is read here, like a cell of a list: the
database's collations play no part. Rows come from the driver itself, bypassing loggers and
SQLAlchemy's types, which refuse some cells. PostgreSQL is read like any psycopg connection.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from importlib import import_module
from sqlite3 import SQLITE_LIMIT_LENGTH
from typing import Any

from dproo.core.checks import refusal
from dproo.core.counts import Counts
from dproo.counting.boundary import Lazy, attempt, required
from dproo.counting.cells import count_rows
from dproo.counting.fit import Column
from dproo.counting.query import CountQuery
from dproo.counting.scan import Scan
from dproo.counting.sources.postgresql import scan as postgresql
from dproo.counting.sources.postgresql import session
from dproo.counting.sources.rows import sqlite as sqlite_files
from dproo.counting.sources.text.cleaning import repaired
from dproo.counting.sql import statements as sql
from dproo.counting.sql.people import REPLACED
from dproo.counting.table import Table
from dproo.counting.tally import Tally
from dproo.schema.cell import BEYOND

library, types = Lazy("sqlalchemy"), Lazy("sqlalchemy.types")

_SQLITE, _MARIADB, _POSTGRESQL = "sqlite", ("mysql", "mariadb"), "postgresql"
# A session's own limit would make one long cell an error. SQLite lowers this to its greatest.
_SQLITE_LONGEST = (1 << 31) - 1
_PADDED = "CHAR", "NCHAR"
_REFUSED = "the database refused the query; details are withheld because they could reveal data."
# MariaDB prints floats with six digits, and timestamps in the session's zone; zero means none.
_MARIADB_CELLS = {
    "FLOAT": "CAST({} AS DOUBLE)",
    "TIMESTAMP": "TIMESTAMPADD(SECOND, NULLIF(UNIX_TIMESTAMP({}), 0), '1970-01-01')",
}
# It also sends text in the connection's character set, with "?" for what that set lacks, and a
# connection may have converters of its own. Bytes are sent unchanged. So letters are sent as the
# bytes of UTF-8, identifiers as the bytes stored, and other cells as the bytes of their print.
_MARIADB_BYTES = "CAST({} AS BINARY)"
_MARIADB_TEXT = "CONVERT({} USING utf8mb4)"
# A cell longer than a packet is sent as NULL, so a long identifier is sent as its hash, which is
# longer than every short one. One with U+FFFD in it names nobody: only that character is sent.
_MARIADB_IDENTIFIER = (
    "CASE WHEN {} LIKE _utf8mb4 X'25EFBFBD25' COLLATE utf8mb4_bin THEN X'EFBFBD'"
    " WHEN LENGTH({}) > 64 THEN CONCAT('#', SHA2({}, 256)) ELSE CAST({} AS BINARY) END"
)
# By bytes: every collation that is known to MySQL and MariaDB alike ignores trailing blanks.
_MARIADB_MISSING = (
    "CASE WHEN CAST(CONVERT({} USING utf8mb4) AS BINARY) IN ({texts}) THEN NULL ELSE {} END"
)
_MARIADB_PADDED = "RTRIM({})"  # by characters, which take several bytes in some sets
_MARIADB_READERS: dict[str, Callable[[str], Any]] = {
    sql.INTEGER: int,
    sql.DECIMAL: Decimal,
    sql.FLOAT: float,
    sql.DATE: date.fromisoformat,
    sql.TIMESTAMP: datetime.fromisoformat,
    sql.INSTANT: datetime.fromisoformat,
}
# A limit of the session, ``sql_select_limit``, is for queries that have none.
_MARIADB_ALL = " LIMIT 18446744073709551615"
# The ledger may keep a session waiting for longer than one may be idle; MySQL has the first alone.
_MARIADB_PATIENT = {
    "wait_timeout": "GREATEST(@@wait_timeout, 28800)",
    "idle_transaction_timeout": "0",
    "idle_readonly_transaction_timeout": "0",
}
# Prepared by a text that is the same in every mode and character set of a session.
_MARIADB_QUERY = (
    "SET @dproo_query = CONVERT(X'{}' USING utf8mb4)",
    "PREPARE dproo_query FROM @dproo_query",
)
_MARIADB_RUN = "EXECUTE dproo_query"
_MARIADB_END = "DEALLOCATE PREPARE dproo_query"
# What a session must not allow, since the count could then end after the charge.
_MARIADB_LIMITS = {
    "NOT @@sql_big_selects": (
        "the session must not limit the rows that a query examines. Run SET sql_big_selects = 1"
        " in it."
    ),
    "@@{isolation} = 'SERIALIZABLE'": (
        "data must be a connection outside a transaction, or in one below SERIALIZABLE, in which"
        " the count waits for what others write, even after the charge."
    ),
}


@dataclass(frozen=True, kw_only=True)
class StreamedTable:
    """A table, by its quoted name, and the driver's own connection, which can be abandoned."""

    connection: Any = field(repr=False)
    dialect: Any = field(repr=False)
    name: str
    abandon: Callable[[], object] = field(repr=False)

    @property
    def is_sqlite(self) -> bool:
        """Whether it is SQLite, where any column may hold cells of any type."""
        return bool(self.dialect.name == _SQLITE)

    def statement(self, columns: Sequence[Column], query: CountQuery) -> str:
        """Return the query for these columns, the person's last."""
        cells = ", ".join(self._cell(column, query) for column in columns)
        return f"SELECT {cells} FROM {self.name}{_MARIADB_ALL * self.is_mariadb}"  # noqa: S608

    def check(self, statement: str, width: int) -> str:
        """Let the database check a query of some columns; return what could end its count, or "".

        A query for no row may still compute parts of a view, which may fail on a record. So where
        a database can, it only prepares the query.
        """
        checks = [f"{statement} WHERE 1 = 0"]
        if self.is_sqlite:
            checks = [sqlite_files.compiled(statement, width)]
        elif self.is_mariadb:
            checks = [*_prepared(statement), _MARIADB_END]
        with self.cursor() as cursor:
            for check in checks:
                cursor.execute(check)
                if cursor.description:
                    cursor.fetchall()
            for limit, sentence in _MARIADB_LIMITS.items() if self.is_mariadb else ():
                limited = limit.replace("{isolation}", _isolation(self.dialect))
                cursor.execute(f"SELECT 'limited' FROM DUAL WHERE {limited}")  # noqa: S608
                if cursor.fetchall():
                    return sentence
        return ""

    def _cell(self, column: Column, query: CountQuery) -> str:
        if self.is_sqlite:
            return sqlite_files.cell(column.name)
        cell = quoted(column.name, self.dialect)
        return _mariadb_cell(cell, column, query) if self.is_mariadb else cell

    @property
    def is_mariadb(self) -> bool:
        """Whether it is MariaDB or MySQL."""
        return self.dialect.name in _MARIADB

    @contextmanager
    def cursor(self) -> Iterator[Any]:
        """Yield a cursor that streams rows, and accepts any bytes as text."""
        if not self.is_sqlite:
            with _in_step(self.dialect, self.abandon):
                cursor = self.connection.cursor(*_streaming(self.dialect))
                try:
                    yield cursor
                except self.dialect.dbapi.Error:
                    cursor.close()
                    raise
                cursor.close()
            return
        factory = self.connection.text_factory
        self.connection.text_factory = repaired
        longest = self.connection.setlimit(SQLITE_LIMIT_LENGTH, _SQLITE_LONGEST)
        try:
            with closing(self.connection.cursor()) as cursor:
                cursor.row_factory = None
                yield cursor
        finally:
            self.connection.setlimit(SQLITE_LIMIT_LENGTH, longest)
            self.connection.text_factory = factory


def _prepared(statement: str) -> list[str]:
    return [part.replace("{}", statement.encode().hex()) for part in _MARIADB_QUERY]


@contextmanager
def _in_step(dialect: Any, abandon: Callable[[], object]) -> Iterator[None]:
    """Abandon the connection if anything but the driver's own error passes.

    It may be in the middle of an answer, which the next command of the pool would read as its own.
    SQLAlchemy does the same for the commands that it sends.
    """
    try:
        yield
    except dialect.dbapi.Error:
        raise
    except BaseException:
        attempt(abandon)
        raise


def _mariadb_cell(cell: str, column: Column, query: CountQuery) -> str:
    is_key = column.name == query.person
    forms = [_MARIADB_CELLS.get(column.type_name, "{}")]
    if column.kind == sql.TEXT:
        is_padded = is_key and column.type_name in _PADDED
        forms = [_MARIADB_PADDED] * is_padded + [_MARIADB_IDENTIFIER if is_key else _MARIADB_TEXT]
        if is_key and query.missing_texts:
            texts = ", ".join(f"X'{text.encode().hex()}'" for text in query.missing_texts)
            forms.insert(is_padded, _MARIADB_MISSING.replace("{texts}", texts))
    for form in (*forms, _MARIADB_BYTES):
        cell = form.replace("{}", cell)
    return cell


def open_table(data: Any, query: CountQuery) -> Table | None:
    """Return a table, or None if data is not an engine or connection."""
    is_database = type(data).__module__.startswith("sqlalchemy.") and hasattr(data, "dialect")
    if not is_database or isinstance(data, Iterator):  # the rows of an answer
        return None
    query.require_column("table")
    parts = sql.table_parts(query.table)
    with ExitStack() as stack, ExitStack() as restored:
        connection = _connected(data, stack, restored)
        driver_connection = connection.connection.driver_connection
        if data.dialect.name == _POSTGRESQL:
            table = postgresql.table_of(driver_connection, query)
            restored.callback(attempt, table.close)
        else:
            table = _streamed(connection, driver_connection, parts)
        opened, changed = stack.pop_all(), restored.pop_all()

    def close() -> None:
        with opened:  # an interrupt must not keep the connection
            changed.close()

    weakref.finalize(close, opened.close)  # in case the table is never read
    return Table(
        columns=table.columns,
        plan=lambda places, query: replace(table.plan(places, query), engine="sqlalchemy"),
        close=close,
    )


def _connected(data: Any, stack: ExitStack, restored: ExitStack) -> Any:
    """Return the connection; only one, since a pool may have no more.

    At the end, an engine's is returned to its pool, and a caller's is as it was: a transaction
    that they did not begin would keep its locks, and see no new record.
    """
    name, driver = data.dialect.name, data.dialect.driver
    if data.dialect.is_async:
        raise TypeError(refusal("data", "be a synchronous engine or connection", driver))
    if name == _POSTGRESQL and driver != "psycopg":
        raise TypeError(refusal("data", "be an engine of postgresql+psycopg", f"{name}+{driver}"))
    is_engine = not hasattr(data, "exec_driver_sql")

    def connect() -> Any:
        connection = _own(data, stack) if is_engine else data
        is_within = connection.in_transaction()
        if not is_within:
            restored.callback(attempt, connection.rollback)
            if name == _POSTGRESQL:  # what its program sets for a transaction may decide the rows
                connection.begin()
        driver_connection = connection.connection.driver_connection
        if name in _MARIADB:
            act = partial(_set, driver_connection, data.dialect, connection.invalidate)
            _prepare(act, restored, data.dialect, is_within=is_within)
        return connection

    return required(connect, "the database cannot be reached with this engine.")


def _own(engine: Any, stack: ExitStack) -> Any:
    """Return a connection of the engine, whose session may only be admitted once another ended."""
    while True:
        try:
            connection = engine.connect()
        except library.exc.OperationalError:
            if engine.dialect.name == _SQLITE or not session.another_ends():
                raise
        else:
            stack.callback(session.note_end)
            return stack.enter_context(connection)


def _isolation(dialect: Any) -> str:
    return "tx_isolation" if dialect.is_mariadb else "transaction_isolation"


def _prepare(
    session: Callable[[dict[str, str]], None],
    restored: ExitStack,
    dialect: Any,
    *,
    is_within: bool,
) -> None:
    """Let a session of MariaDB wait for the ledger, in a mode in which SQL means what is meant.

    At the end it has its own settings again. A mode decides whether double quotes are texts or
    names, as SQLAlchemy learnt from the engine's first session, and how a schema is shown. Unless
    it is within a caller's transaction, it is to wait for nobody's lock on a record.
    """
    mode = "'ANSI_QUOTES'" if dialect.identifier_preparer.initial_quote == '"' else "''"
    patient = list(_MARIADB_PATIENT.items())[: None if dialect.is_mariadb else 1]
    settings = {"sql_mode": mode, "sql_quote_show_create": "1", **dict(patient)}
    if not is_within:
        settings[_isolation(dialect)] = "'REPEATABLE-READ'"
    session({f"@dproo_{name}": f"@@{name}" for name in settings})
    # By their scope: without it, an isolation is that of the next transaction alone.
    theirs = {f"@@session.{name}": f"@dproo_{name}" for name in settings}
    restored.callback(attempt, lambda: session(theirs))
    session({f"@@session.{name}": value for name, value in settings.items()})


def _set(
    connection: Any, dialect: Any, abandon: Callable[[], object], values: dict[str, str]
) -> None:
    with _in_step(dialect, abandon):
        cursor = connection.cursor()
        cursor.execute("SET " + ", ".join(f"{name} = {value}" for name, value in values.items()))
        cursor.close()


def _streamed(data: Any, driver_connection: Any, parts: tuple[str, ...]) -> Table:
    *schema, name = parts

    def inspected() -> list[Column]:
        try:
            columns = library.inspect(data).get_columns(name, schema=schema[0] if schema else None)
        except library.exc.NoSuchTableError:
            return []
        return [_column(column["name"], column["type"], data.dialect.name) for column in columns]

    columns = required(inspected, _REFUSED)
    if not columns:
        raise ValueError(refusal("table", "be a table or view of the database", parts))
    streamed = StreamedTable(
        connection=driver_connection,
        dialect=data.dialect,
        name=".".join(quoted(part, data.dialect) for part in parts),
        abandon=data.invalidate,
    )

    def plan(places: Sequence[int], query: CountQuery) -> Scan:
        chosen = [columns[place] for place in places]
        statement = streamed.statement(chosen, query)
        limited = required(lambda: streamed.check(statement, len(chosen)), _REFUSED)
        if limited:
            raise ValueError(limited)
        return Scan(
            engine="sqlalchemy",
            _query=query,
            _read=lambda: _count(streamed, statement, chosen, query),
        )

    return Table(columns=tuple(columns), plan=plan)


def _column(name: str, dtype: Any, database: str) -> Column:
    type_name = type(dtype).__visit_name__.upper()
    kind = sqlite_files.kind_of(type_name) if database == _SQLITE else _kind(dtype, type_name)
    if database in _MARIADB and type_name == "TIMESTAMP":
        kind = sql.INSTANT
    return Column(name=name, kind=kind, type_name=type_name)


def _kind(dtype: Any, type_name: str) -> str | None:
    """Return what a column holds, by its SQLAlchemy type, or None if no letters."""
    if isinstance(dtype, types.DateTime):
        return sql.INSTANT if dtype.timezone else sql.TIMESTAMP
    if type_name == "SET":  # several values, which SQLAlchemy declares as text
        return None
    kinds: dict[Any, str] = {
        types.String: sql.TEXT,
        types.Integer: sql.INTEGER,
        types.Float: sql.FLOAT,
        types.Numeric: sql.DECIMAL,
        types.Boolean: sql.BOOLEAN,
        types.Date: sql.DATE,
    }
    matches = (kind for base, kind in kinds.items() if isinstance(dtype, base))
    return next(matches, sql.INTEGER if type_name == "YEAR" else None)


def quoted(name: str, dialect: Any) -> str:
    """Return a name as an identifier of the database.

    SQLAlchemy would double percent signs, which a driver leaves doubled without parameters.
    """
    signs = dialect.identifier_preparer
    escaped = name.replace(signs.escape_quote, signs.escape_to_quote)
    return f"{signs.initial_quote}{escaped}{signs.final_quote}"


def _streaming(dialect: Any) -> list[Any]:
    """Return the driver's class of streaming cursors, if it has one."""
    try:
        return [import_module(f"{dialect.dbapi.__name__}.cursors").SSCursor]
    except (ImportError, AttributeError):
        return []


def _count(
    table: StreamedTable, statement: str, columns: Sequence[Column], query: CountQuery
) -> tuple[Tally | Counts, ...]:
    read = [_reader(column, table, is_key=column.name == query.person) for column in columns]
    if table.is_mariadb and columns[-1].kind == sql.TEXT:  # those of a person's text are null
        query = replace(query, missing_texts=())
    steps = [*_prepared(statement), _MARIADB_RUN] if table.is_mariadb else [statement]
    with table.cursor() as cursor:
        for step in steps:
            cursor.execute(step)
        rows = (
            [cell if act is None else act(cell) for act, cell in zip(read, row, strict=True)]
            for row in sqlite_files.fetched(cursor)
        )
        counted = count_rows(rows, query)
        if table.is_mariadb:
            cursor.execute(_MARIADB_END)
        return counted


def _reader(column: Column, table: StreamedTable, *, is_key: bool) -> Callable[[Any], Any] | None:
    """Return the conversion of a cell to its column's kind, where drivers differ."""
    if table.is_sqlite:
        return None
    if table.is_mariadb:
        return lambda cell: _of_bytes(cell, column, is_key=is_key)
    if column.type_name in _PADDED:  # some drivers return the padding
        return lambda cell: cell.rstrip(" ") if isinstance(cell, str) else cell
    if column.kind == sql.BOOLEAN:
        return lambda cell: bool(cell) if cell in (0, 1) else cell if cell is None else BEYOND
    if column.kind == sql.DATE and not is_key:  # an identifier is its whole value
        return lambda cell: cell.date() if isinstance(cell, datetime) else cell
    return None


def _of_bytes(cell: Any, column: Column, *, is_key: bool) -> Any:
    """Return a cell of MariaDB; each byte of an identifier becomes a character, so none merge."""
    if not isinstance(cell, bytes | bytearray):
        return cell
    if column.kind == sql.TEXT and is_key:
        return REPLACED if cell == REPLACED.encode() else cell.decode("latin-1")
    text = repaired(bytes(cell))
    if column.kind == sql.TEXT:
        return text.rstrip(" ") if column.type_name in _PADDED else text
    try:
        return _MARIADB_READERS[str(column.kind)](text)
    except (ArithmeticError, ValueError):  # a day such as 0000-00-00
        return BEYOND
