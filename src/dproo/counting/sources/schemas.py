"""The columns of Parquet files, or of a table of a DuckDB file, from their schemas alone."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from dproo.counting.boundary import apart, attempt
from dproo.counting.sources.descriptors import Incoming, Opened
from dproo.counting.sql.duckdb import engine_for, literal

if TYPE_CHECKING:
    import duckdb

    Started = tuple[ExitStack, duckdb.DuckDBPyConnection]
    Named = tuple[str, str, str]  # a column's name, its type, and DuckDB's name of it

FILES = "<files>"

MILLISECONDS = "TIMESTAMP_MILLIS"
"""Moments that DuckDB converts to microseconds while reading, failing if one overflows."""

_STORED = (
    "SELECT name, num_children, precision, concat(converted_type, ' ', logical_type)"
    " FROM parquet_schema($1)"
)
_ENCRYPTED = "SELECT count(encryption_algorithm) FROM parquet_file_metadata($1)"
_DIGITS = 38  # DuckDB reads longer decimals as doubles, which have 16


def schemas_of(
    opened: Sequence[Opened | Incoming], relation: str, *, is_attached: bool
) -> tuple[list[list[Named] | None], list[Started]]:
    """Return the columns of each file, None for one that is unreadable.

    The engine that read them is returned too, still open and sandboxed.

    Args:
        opened: the files.
        relation: the table expression that reads them, with ``<files>`` for their names.
        is_attached: whether the only one is a database.
    """
    names = [file.name for file in opened]

    def look() -> Started:
        with ExitStack() as stack:
            engine = stack.enter_context(engine_for(names, is_attached=is_attached))
            for name in names:
                source = relation if is_attached else relation.replace(FILES, literal(name))
                rows = engine.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()  # noqa: S608
                columns = [(column, kind, column) for column, kind, *_ in rows]
                schemas.append(columns if is_attached else _stored(engine, name, columns))
            return stack.pop_all(), engine

    schemas: list[list[Named] | None] = []
    started = attempt(lambda: apart(look))  # the engine turns an interrupt into an error
    if started is None:
        return [*schemas, None], []
    return schemas, [started]


def _stored(engine: duckdb.DuckDBPyConnection, file: str, columns: list[Named]) -> list[Named]:
    """Return the columns of a Parquet file by the names they have there.

    If names are equal, or differ only in case, DuckDB renames all but the first. A file with
    encrypted columns may have a footer in plain text.

    Raises:
        ValueError: some of the file is encrypted.
    """
    if engine.execute(_ENCRYPTED, [file]).fetchall() != [(0,)]:
        raise ValueError
    _, *parts = engine.execute(_STORED, [file]).fetchall()
    names, left = [], 0
    for name, children, digits, stored in parts:
        if not left:
            is_wide = (digits or 0) > _DIGITS
            is_coarse = "TIMESTAMP" in stored.upper() and "MILLIS" in stored.upper()
            names.append((name, "DECIMAL256" if is_wide else MILLISECONDS if is_coarse else None))
        left += (children or 0) - (left > 0)
    return [
        (name, odd or kind, called)
        for (name, odd), (_, kind, called) in zip(names, columns, strict=True)
    ]


def tables_of(file: Opened | Incoming) -> list[str]:
    """Return the tables of a DuckDB file, as they are named; none if it is unreadable."""

    def look() -> list[str]:
        with engine_for([file.name], is_attached=True) as engine:
            listed = (
                "SELECT CASE schema_name WHEN 'main' THEN name ELSE schema_name || '.' || name END"
                " FROM (SELECT schema_name, table_name AS name, database_name FROM duckdb_tables()"
                " UNION ALL SELECT schema_name, view_name, database_name FROM duckdb_views()"
                " WHERE NOT internal) WHERE database_name = 'source' ORDER BY 1"
            )
            return [name for (name,) in engine.execute(listed).fetchall()]

    return attempt(lambda: apart(look)) or []
