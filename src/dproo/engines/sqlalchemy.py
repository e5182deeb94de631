"""Engines and connections of SQLAlchemy: SQLite, MariaDB and MySQL, PostgreSQL.

The database groups equal cells, compared by their bytes whatever its collations say, and each
group is looked up here. Text longer than every letter is left out: it is outside, as null is.
PostgreSQL is read as any connection of psycopg is.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, TypeVar

from dproo.alphabet.axis import Axis, Bins
from dproo.core.checks import refusal
from dproo.core.counts import Counts
from dproo.engines import postgresql
from dproo.engines import query as sql
from dproo.engines.asked import Asked
from dproo.engines.boundary import attempt
from dproo.engines.cells import count_people
from dproo.engines.cleaning import repaired
from dproo.engines.fit import Column, check_fit
from dproo.engines.open_letters import named_counts, texts_of
from dproo.engines.scan import Scan
from dproo.engines.sqlalchemy_cells import MARIADB_TYPES, PERSONS, SQLITE_CELL, SQLITE_TYPES
from dproo.engines.tally import Tally

Found = TypeVar("Found")

_BYTES_OF_A_CHARACTER = 4
_SQLITE, _MARIADB, _POSTGRESQL = "sqlite", ("mysql", "mariadb"), "postgresql"
_REFUSED = "the database refused the query; details are withheld because they could reveal data."


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table whose columns were looked up.

    Attributes:
        connection: the driver's own, past everything that logs.
        name: the quoted name.
        columns: the columns.
        cells: how a cell of each is said, ``{}`` in place of its name.
        encoding: of text.
        quote: how a name is quoted.
        cursor: makes a cursor that brings rows a part at a time.
    """

    connection: Any = field(repr=False)
    name: str
    columns: tuple[Column, ...]
    cells: tuple[str, ...]
    encoding: str
    quote: Callable[[str], str]
    cursor: Callable[[], Any] = field(repr=False)


def is_sqlalchemy(data: object) -> bool:
    """Tell whether this is an engine or a connection; the library is not loaded for it."""
    return type(data).__module__.startswith("sqlalchemy.") and hasattr(data, "dialect")


def open_scan(data: Any, asked: Asked) -> Scan | None:
    """Return the scan of a table, or nothing if the data are no engine or connection.

    Raises:
        ValueError: the table cannot be read, or a column is not there or holds no letters.
        TypeError: the database is another one.
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
        columns = _columns(table, asked.read)
        warnings = check_fit(columns, asked.axes)
        query = _query(table, asked)
        _attempted(lambda: _explained(table, query))

        def read() -> Sequence[Tally | Counts]:
            with stack:
                return _count(table, query, asked)

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
    if name not in {_SQLITE, *_MARIADB, _POSTGRESQL} or data.dialect.is_async:
        raise TypeError(
            refusal("data", "be a database of SQLite, MariaDB or PostgreSQL", name)
            + " Others can be read as frames, as can asynchronous ones."
        )
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

    def look() -> list[tuple[str, Any]]:
        found = sqlalchemy.inspect(data)
        try:
            columns = found.get_columns(name, schema=schema[0] if schema else None)
        except sqlalchemy.exc.NoSuchTableError:
            return []
        return [(column["name"], column["type"]) for column in columns]

    columns = _attempted(look)
    if not columns:
        raise ValueError(refusal("table", "be a table or view of the database", parts))
    is_sqlite = data.dialect.name == _SQLITE
    types = [type(kind).__visit_name__.upper() for _, kind in columns]
    kinds = [
        (SQLITE_TYPES.get(name, sql.ANY), SQLITE_CELL)
        if is_sqlite
        else MARIADB_TYPES.get(name, (None, ""))
        for name in types
    ]
    quote = sql.quoted if is_sqlite else _backquoted
    return Table(
        connection=connection,
        name=".".join(map(quote, parts)),
        columns=tuple(
            Column(name=column, kind=kind, type_name=type_name)
            for (column, _), type_name, (kind, _) in zip(columns, types, kinds, strict=True)
        ),
        cells=tuple(cell for _, cell in kinds),
        encoding=_encoding(connection) if is_sqlite else "utf-8",
        quote=quote,
        cursor=connection.cursor if is_sqlite else lambda: connection.cursor(*_streaming(data)),
    )


def _backquoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _encoding(connection: Any) -> str:
    with closing(connection.cursor()) as cursor:
        return str(_attempted(lambda: cursor.execute("PRAGMA encoding").fetchone()[0])).lower()


def _streaming(data: Any) -> list[Any]:
    """Return the driver's kind of cursor that brings rows a part at a time, if it has one."""
    try:
        return [import_module(f"{data.dialect.dbapi.__name__}.cursors").SSCursor]
    except (ImportError, AttributeError):
        return []


def _columns(table: Table, names: Sequence[str]) -> tuple[Column, ...]:
    columns = {column.name: column for column in table.columns}
    for name in names:
        if name not in columns:
            raise ValueError(refusal("column", "be a column of the data", name))
    return tuple(columns[name] for name in names)


def _query(table: Table, asked: Asked) -> str:
    """Return the one query: of groups, or of all rows where records are to be told apart."""
    places = {column.name: place for place, column in enumerate(table.columns)}
    # SQLite groups an integer with its real, though beyond 2^53 only one of them is a letter.
    is_any = [name for name in asked.columns if table.cells[places[name]] == SQLITE_CELL]
    apart = [f"typeof({table.quote(name)})" for name in is_any]
    cells = [
        table.cells[places[name]]
        .replace("{most}", str(_longest(axis)))  # first: a column may be called so
        .replace("{}", table.quote(name))
        for name, axis in zip(asked.columns, asked.axes, strict=True)
    ]
    if asked.person is not None:
        # Long identifiers are cut where they are looked at; a missing one is nobody's.
        person = table.cells[places[asked.person]]
        cells.append(PERSONS.get(person, person).replace("{}", table.quote(asked.person)))
        return f"SELECT {', '.join(cells)} FROM {table.name}"  # noqa: S608
    groups = ", ".join([*(str(place + 1) for place in range(len(cells))), *apart])
    return f"SELECT {', '.join(cells)}, count(*) FROM {table.name} GROUP BY {groups}"  # noqa: S608


def _longest(axis: Axis) -> int:
    is_read = axis.is_read or isinstance(axis, Bins)
    return _BYTES_OF_A_CHARACTER * (axis.room if is_read else axis.longest)


def _explained(table: Table, query: str) -> Any:
    """Have the database plan the query: rights are asked for, and nothing is read."""
    with closing(table.cursor()) as cursor:
        cursor.execute(f"EXPLAIN {query}")
        return cursor.fetchall()


def _count(table: Table, query: str, asked: Asked) -> Sequence[Tally | Counts]:
    with closing(table.cursor()) as cursor:
        cursor.execute(query)
        rows = _rows(cursor, table.encoding)
        if asked.person is not None:
            return count_people(rows, asked)
        if asked.open_axis is not None:
            texts = ((text, row[1]) for row in rows for text, _ in texts_of(row[:1]))
            return named_counts(texts, asked.open_axis)
        return Tally.several(rows, asked=asked)


def _rows(cursor: Any, encoding: str) -> Iterator[tuple[Any, ...]]:
    while part := cursor.fetchmany(1 << 12):
        for row in part:
            yield tuple(
                _text(cell, encoding) if isinstance(cell, bytes | bytearray) else cell
                for cell in row
            )


def _text(cell: bytes | bytearray, encoding: str) -> str:
    if encoding == "utf-8":
        return repaired(bytes(cell))
    return bytes(cell).decode(encoding, errors="replace").replace("\ufffd", "?")
