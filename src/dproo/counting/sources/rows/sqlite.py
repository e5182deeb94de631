"""SQLite files, read by the standard library: read-only, row by row, any cell.

In SQLite any column may hold cells of any type; each cell is read by its own type.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

from dproo.core.checks import refusal
from dproo.counting.boundary import attempt
from dproo.counting.fit import Column, tables_listed
from dproo.counting.sources.descriptors import Opened
from dproo.counting.sources.text.cleaning import repaired
from dproo.counting.sql import statements as sql

Result = TypeVar("Result")

_PART = 1 << 10  # rows, whose cells may be long
_STEPS = 1 << 18  # of a query, between two of which Python handles a signal
_WAL = b"\2"
# A column may hold anything, whatever its type; a moment is text with a day and a time.
_KINDS = dict.fromkeys(("DATETIME", "TIMESTAMP"), sql.TIMESTAMP)


_COPY = (
    " the records into a table of another file, as in: CREATE TABLE other.visits AS SELECT * FROM"
    " visits."
)
_UNSAFE = (
    " A view, an index or a computed column in it calls a function, such as json_extract, that this"
    f" version of SQLite does not run for a file that may come from others. Copy{_COPY}"
)
_LACKING = (
    " It needs a function or a collation of the program that made it. With that program,"
    f" copy{_COPY}"
)
_REMEDIES = {
    "unsafe use of": _UNSAFE,
    **dict.fromkeys(("no such function", "unknown function", "no such collation"), _LACKING),
    "no query solution": _LACKING,  # the collation of a primary key without row ids
}


def kind_of(declared: str) -> str:
    """Return what a column holds, by its declared type."""
    return _KINDS.get(declared.upper(), sql.ANY)


def connected(file: Opened) -> sqlite3.Connection:
    """Open a file for reading only; nothing is written beside it.

    SQLite opens it by its name: by the one that the open file has now, which must still mean it.
    """
    path, place = file.path, file.place  # a log is beside the file, not beside a link
    log = f"{place}-wal"
    if os.path.exists(log) and os.path.getsize(log):  # noqa: PTH110, PTH202 - the name unchanged
        raise ValueError(
            refusal("data", "be an SQLite file without a log of changes beside it", path)
            + " Close the programs that write it, or run PRAGMA wal_checkpoint(TRUNCATE)."
        )

    def connect() -> sqlite3.Connection:
        # Opening a file in WAL mode would create another log beside it.
        options = "mode=ro&immutable=1" if is_logged(file) else "mode=ro"
        uri = f"{Path(place).as_uri()}?{options}"
        connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
        connection.text_factory = repaired
        connection.set_progress_handler(lambda: 0, _STEPS)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if not file.is_at(place):
            raise OSError
        return connection

    connection, remedy = _tried(connect)
    if connection is None:
        journal = f"{place}-journal"
        if os.path.exists(journal) and os.path.getsize(journal):  # noqa: PTH110, PTH202 - as above
            remedy = (
                " A change to it was interrupted, and only a program that may write it can undo"
                " that: open it once with such a program, as in: sqlite3 FILE .tables"
            )
        raise ValueError(refusal("data", "be a readable SQLite file", path) + remedy)
    return connection


def _tried(action: Callable[[], Result]) -> tuple[Result | None, str]:
    """Return the result of reading a schema, or None and what to do about the failure."""

    def tried() -> tuple[Result | None, str]:
        try:
            return action(), ""
        except sqlite3.Error as error:
            remedies = (remedy for words, remedy in _REMEDIES.items() if words in str(error))
            return None, next(remedies, "")

    return attempt(tried) or (None, "")


def columns_of(
    connection: sqlite3.Connection, table: str | tuple[str, ...] | None
) -> tuple[Column, ...]:
    """Return the columns of a table or view, from the schema alone."""
    if table is None:
        listed = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY name"
        tables = attempt(lambda: connection.execute(listed).fetchall()) or []
        names = [sql.quoted(name) if "." in name else name for (name,) in tables]
        raise ValueError(f"table must be given for an SQLite file. {tables_listed(names)}")
    *schema, name = sql.table_parts(table)
    # Generated columns included.
    statement = "SELECT name, type FROM pragma_table_xinfo(?, ?) WHERE hidden <> 1"
    of_table = (name, *(schema or ["main"]))
    columns, remedy = _tried(lambda: connection.execute(statement, of_table).fetchall())
    if not columns:
        condition = "be readable" if remedy else "be a table or view of the database"
        raise ValueError(refusal("table", condition, table) + remedy)
    return tuple(Column(name=name, kind=kind_of(kind), type_name=kind) for name, kind in columns)


def rows_of(
    connection: sqlite3.Connection, table: str | tuple[str, ...] | None, names: Sequence[str]
) -> Iterator[Sequence[Any]]:
    """Yield the cells of these columns, row by row."""
    with closing(connection.cursor()) as cursor:
        yield from fetched(cursor.execute(_query(table, names)))


def is_logged(file: Opened) -> bool:
    """Return whether a file is in WAL mode: then it is read without a lock."""
    return file.start(19)[18:] == _WAL


def try_rows(
    connection: sqlite3.Connection, table: str | tuple[str, ...] | None, names: Sequence[str]
) -> None:
    """Refuse a table that no query can read, whatever its rows are; none is read."""
    statement = compiled(_query(table, names), len(names))
    tried, remedy = _tried(lambda: connection.execute(statement).fetchall())
    if tried is None:
        raise ValueError(refusal("table", "be readable", table) + remedy)


def _query(table: str | tuple[str, ...] | None, names: Sequence[str]) -> str:
    return f"SELECT {', '.join(map(cell, names))} FROM {sql.table_name(table)}"  # noqa: S608


def compiled(query: str, width: int) -> str:
    """Return a statement for which SQLite compiles a query of some columns, but runs none of it.

    With WHERE 1 = 0, SQLite would still compute what a view needs first, from the records.
    """
    nothing = ", ".join(["NULL"] * width)
    return f"SELECT CASE WHEN random() IS NULL THEN ({query}) IS ({nothing}) END"


def cell(name: str) -> str:
    """Return a column without declared type and name, which could trigger a program's converter.

    A name in double quotes that is not, or no longer, a column would be a text in SQLite.
    """
    quoted = name.replace("`", "``")
    return f"+`{quoted}` AS cell"


def fetched(cursor: Any) -> Iterator[Sequence[Any]]:
    """Yield the rows of a cursor, fetched in chunks."""
    while part := cursor.fetchmany(_PART):
        yield from part
