"""Engines and connections of SQLAlchemy: any database that it reaches, streamed row by row.

Only the named columns are selected, and every cell is read here, as that of a list is; what the
database's collations say is never asked. Rows come from the driver itself, past all that logs
them and past SQLAlchemy's own types, which refuse some cells. PostgreSQL is read as any
connection of psycopg is.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from importlib import import_module
from typing import Any, TypeVar

from dproo.core.checks import refusal
from dproo.core.counts import Counts
from dproo.counting.asked import Asked
from dproo.counting.boundary import attempt
from dproo.counting.cells import count_records
from dproo.counting.fit import Column, MissingColumnError, check_fit
from dproo.counting.scan import Scan
from dproo.counting.sources import postgresql, sqlite_files
from dproo.counting.sources.cleaning import repaired
from dproo.counting.sql import query as sql
from dproo.counting.tally import Tally

Found = TypeVar("Found")

_SQLITE, _MARIADB, _POSTGRESQL = "sqlite", ("mysql", "mariadb"), "postgresql"
_REFUSED = "the database refused the query; details are withheld because they could reveal data."
# MariaDB shows a float with six digits, and a timestamp in the zone of the session: zero is none.
_MARIADB_CELLS = {
    "FLOAT": "CAST({} AS DOUBLE)",
    "TIMESTAMP": "TIMESTAMPADD(SECOND, NULLIF(UNIX_TIMESTAMP({}), 0), '1970-01-01')",
}


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table whose columns were looked up.

    Attributes:
        connection: the driver's own.
        dialect: how the database is spoken to.
        name: the quoted name.
        columns: the columns.
    """

    connection: Any = field(repr=False)
    dialect: Any = field(repr=False)
    name: str
    columns: tuple[Column, ...]

    @property
    def is_sqlite(self) -> bool:
        """Whether cells of any type are in any column."""
        return bool(self.dialect.name == _SQLITE)

    def query(self, columns: Sequence[Column]) -> str:
        """Return the query for these columns."""
        cells = ", ".join(map(self._cell, columns))
        return f"SELECT {cells} FROM {self.name}"  # noqa: S608

    def _cell(self, column: Column) -> str:
        if self.is_sqlite:
            return sqlite_files.cell(column.name)
        form = _MARIADB_CELLS.get(column.type_name, "{}") if self.is_mariadb else "{}"
        return form.replace("{}", quoted(column.name, self.dialect))

    @property
    def is_mariadb(self) -> bool:
        """Whether it is MariaDB or MySQL."""
        return self.dialect.name in _MARIADB

    @contextmanager
    def cursor(self) -> Iterator[Any]:
        """Yield a cursor that brings rows a part at a time, and text whatever its bytes are."""
        if not self.is_sqlite:
            with closing(self.connection.cursor(*_streaming(self.dialect))) as cursor:
                yield cursor
            return
        factory = self.connection.text_factory
        self.connection.text_factory = repaired
        try:
            with closing(self.connection.cursor()) as cursor:
                cursor.row_factory = None
                yield cursor
        finally:
            self.connection.text_factory = factory


def is_sqlalchemy(data: object) -> bool:
    """Return whether this is an engine or a connection; the library is not loaded for it."""
    return type(data).__module__.startswith("sqlalchemy.") and hasattr(data, "dialect")


def open_scan(data: Any, asked: Asked) -> Scan | None:
    """Return the scan of a table, or None if data is not an engine or connection.

    Raises:
        ValueError: the table cannot be read, or a column is not there or holds no letters.
        TypeError: the engine is asynchronous, or PostgreSQL is reached by another driver.
    """
    if not is_sqlalchemy(data):
        return None
    if not asked.columns:
        raise ValueError("column must be given for a table.")
    parts = sql.table_parts(asked.table)
    stack = ExitStack()
    try:
        scan = _opened(data, parts, asked, stack)
    except BaseException:
        stack.close()
        raise
    weakref.finalize(scan, stack.close)  # where it is never read
    return scan


def _opened(data: Any, parts: tuple[str, ...], asked: Asked, stack: ExitStack) -> Scan:
    connection = _connected(data, stack)
    if data.dialect.name == _POSTGRESQL:
        found = postgresql.open_table(connection, asked)
        columns, warnings = found.columns, found.warnings

        def read() -> Sequence[Tally | Counts]:
            with stack:
                return postgresql.count_table(found, asked)

    else:
        table = _looked_up(data, connection, parts)
        listed = {column.name: column for column in table.columns}
        for name in asked.read:
            if name not in listed:
                raise MissingColumnError(name)
        columns = tuple(listed[name] for name in asked.read)
        warnings = check_fit(columns, asked.axes)
        query = table.query(columns)
        _attempted(lambda: _tried(table, query))

        def read() -> Sequence[Tally | Counts]:
            with stack:
                return _count(table, query, columns, asked)

    return Scan(
        engine="sqlalchemy",
        columns=columns[: len(asked.axes)],
        warnings=warnings,
        _asked=asked,
        _read=read,
    )


def describe_table(data: Any, table: str | tuple[str, ...] | None) -> tuple[Column, ...]:
    """Return the columns of a table, by the catalog alone."""
    with ExitStack() as stack:
        connection = _connected(data, stack)
        if data.dialect.name == _POSTGRESQL:
            return postgresql.describe_table(connection, table)
        return _looked_up(data, connection, sql.table_parts(table)).columns


def _connected(data: Any, stack: ExitStack) -> Any:
    """Return the driver's connection; that of an engine is given back at the end."""
    name, driver = data.dialect.name, data.dialect.driver
    if data.dialect.is_async:
        raise TypeError(refusal("data", "be a synchronous engine or connection", driver))
    if name == _POSTGRESQL and driver != "psycopg":
        raise TypeError(refusal("data", "be an engine of postgresql+psycopg", f"{name}+{driver}"))
    is_engine = not hasattr(data, "exec_driver_sql")

    def connect() -> Any:
        connection = stack.enter_context(data.connect()) if is_engine else data
        return connection.connection.driver_connection

    return _attempted(connect, "the database cannot be reached with this engine.")


def _attempted(act: Callable[[], Found], sentence: str = _REFUSED) -> Found:
    """Return what an act returns; a refusal of the database is told in our own words."""
    found = attempt(act)
    if found is None:
        raise ValueError(sentence)
    return found


def _looked_up(data: Any, connection: Any, parts: tuple[str, ...]) -> Table:
    """Return a table with all its columns."""
    import sqlalchemy  # noqa: PLC0415 - where there is an engine of it

    *schema, name = parts

    def look() -> list[Column]:
        found = sqlalchemy.inspect(data)
        try:
            columns = found.get_columns(name, schema=schema[0] if schema else None)
        except sqlalchemy.exc.NoSuchTableError:
            return []
        return [_column(column["name"], column["type"], data.dialect.name) for column in columns]

    columns = _attempted(look)
    if not columns:
        raise ValueError(refusal("table", "be a table or view of the database", parts))
    return Table(
        connection=connection,
        dialect=data.dialect,
        name=".".join(quoted(part, data.dialect) for part in parts),
        columns=tuple(columns),
    )


def _column(name: str, dtype: Any, database: str) -> Column:
    type_name = type(dtype).__visit_name__.upper()
    kind = sqlite_files.kind_of(type_name) if database == _SQLITE else _kind(dtype, type_name)
    if database in _MARIADB and type_name == "TIMESTAMP":
        kind = sql.INSTANT
    return Column(name=name, kind=kind, type_name=type_name)


def _kind(dtype: Any, type_name: str) -> str | None:
    """Return what a column holds by its type in SQLAlchemy, or None if no letters."""
    from sqlalchemy import types as t  # noqa: PLC0415 - where there is an engine of it

    if isinstance(dtype, t.DateTime):
        return sql.INSTANT if dtype.timezone else sql.TIMESTAMP
    if type_name == "SET":  # of several values, and text to SQLAlchemy
        return None
    kinds: dict[Any, str] = {
        t.String: sql.TEXT,
        t.Integer: sql.INTEGER,
        t.Float: sql.FLOAT,
        t.Numeric: sql.DECIMAL,
        t.Boolean: sql.BOOLEAN,
        t.Date: sql.DATE,
    }
    found = (kind for base, kind in kinds.items() if isinstance(dtype, base))
    return next(found, sql.INTEGER if type_name == "YEAR" else None)


def quoted(name: str, dialect: Any) -> str:
    """Return a name as an identifier of the database.

    SQLAlchemy's own way doubles percent signs, which a driver without parameters keeps.
    """
    signs = dialect.identifier_preparer
    escaped = name.replace(signs.escape_quote, signs.escape_to_quote)
    return f"{signs.initial_quote}{escaped}{signs.final_quote}"


def _streaming(dialect: Any) -> list[Any]:
    """Return the driver's kind of cursor that brings rows a part at a time, if it has one."""
    try:
        return [import_module(f"{dialect.dbapi.__name__}.cursors").SSCursor]
    except (ImportError, AttributeError):
        return []


def _tried(table: Table, query: str) -> Any:
    """Have the database check the query: rights are asked for, and no row is read."""
    with table.cursor() as cursor:
        cursor.execute(f"{query} WHERE 1 = 0")
        return cursor.fetchall()


def _count(
    table: Table, query: str, columns: Sequence[Column], asked: Asked
) -> Sequence[Tally | Counts]:
    read = [_reader(column, table) for column in columns]
    with table.cursor() as cursor:
        cursor.execute(query)
        rows = (
            [cell if act is None else act(cell) for act, cell in zip(read, row, strict=True)]
            for row in sqlite_files.fetched(cursor)
        )
        # Without names an alphabet has one column, whose cells are counted as they are.
        is_bare = not asked.alphabets[0].columns and asked.person is None
        return count_records((cell for (cell,) in rows) if is_bare else rows, asked)


def _reader(column: Column, table: Table) -> Callable[[Any], Any] | None:
    """Return what makes a cell of its column's kind where drivers differ."""
    if table.is_sqlite:
        return None
    if column.type_name in {"CHAR", "NCHAR"}:  # some show their padding
        return lambda cell: cell.rstrip(" ") if isinstance(cell, str) else cell
    if column.kind == sql.BOOLEAN:
        return lambda cell: bool(cell) if cell in (0, 1) else None
    if column.kind == sql.DATE:
        return lambda cell: cell.date() if isinstance(cell, datetime) else cell
    return None
