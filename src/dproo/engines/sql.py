"""PostgreSQL through psycopg: a connection, or a URL, and a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dproo._check import refusal
from dproo.alphabet import Alphabet
from dproo.axis import Letters
from dproo.cell import INTEGER_TEXT, NUMBER_TEXT
from dproo.engines import statement as sql
from dproo.engines.tally import Tally

URLS = ("postgresql://", "postgres://")

_KINDS = {
    **dict.fromkeys(("int2", "int4", "int8", "oid"), sql.INTEGER),
    **dict.fromkeys(("text", "varchar", "bpchar", "name", "citext"), sql.TEXT),
    **dict.fromkeys(("float4", "float8"), sql.FLOAT),
    "numeric": sql.DECIMAL,
    "bool": sql.BOOLEAN,
    "date": sql.DATE,
}

# The collation "C" compares bytes, whatever the column or the database says.
_AS_TEXT = 'CAST({} AS TEXT) COLLATE "C"'
_AS_DOUBLE = "CAST({} AS DOUBLE PRECISION)"
POSTGRESQL = sql.Dialect(
    texts={
        sql.TEXT: _AS_TEXT,
        sql.INTEGER: _AS_TEXT,
        sql.DECIMAL: f"substring({_AS_TEXT} FROM '^(-?[0-9]+)(?:[.]0+)?$')",
        sql.FLOAT: sql.whole_float(_AS_DOUBLE),
        sql.BOOLEAN: "CASE WHEN {} THEN 'true' WHEN NOT {} THEN 'false' END",
        sql.DATE: (
            "CASE WHEN {} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'"
            " THEN to_char({}, 'YYYY-MM-DD') END"
        ),
        sql.NOTHING: "CAST(NULL AS TEXT)",
    },
    numbers={
        sql.TEXT: f"CASE WHEN {_AS_TEXT} ~ '{NUMBER_TEXT}' THEN {_AS_DOUBLE} END",
        sql.INTEGER: _AS_DOUBLE,
        # A numeric beyond the doubles would be an error; it is beyond every bin too.
        sql.DECIMAL: f"CASE WHEN {{}} BETWEEN -1e300 AND 1e300 THEN {_AS_DOUBLE} END",
        sql.FLOAT: _AS_DOUBLE,
        sql.BOOLEAN: "CAST(NULL AS DOUBLE PRECISION)",
        sql.DATE: "CAST(NULL AS DOUBLE PRECISION)",
        sql.NOTHING: "CAST(NULL AS DOUBLE PRECISION)",
    },
    is_letter="{} = ANY(%(letters{column})s)",
    is_integer=f"{{}} ~ '{INTEGER_TEXT}'",
    bigint="CAST({} AS BIGINT)",
)


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of a database, its columns looked up; no record was read.

    Attributes:
        database: an open connection of psycopg, or a URL.
        name: its quoted name.
        columns: the names of the columns to count.
        kinds: their kinds.
    """

    database: Any
    name: str
    columns: tuple[str, ...]
    kinds: tuple[str, ...]


def is_connection(data: object) -> bool:
    """Tell whether this is an open connection of psycopg; the library is not loaded for it."""
    return any(kind.__module__.startswith("psycopg.") for kind in type(data).__mro__[:-1])


def open_table(
    database: Any, *, table: str | tuple[str, str] | None, columns: Sequence[str]
) -> Table:
    """Look up the columns of a table; no record is read.

    Args:
        database: an open connection of psycopg, or a URL.
        table: the name of the table, or of its schema and the table.
        columns: the columns to count.

    Raises:
        ValueError: the database cannot be reached, or the table or a column is not there.
    """
    name = sql.table_name(table)
    if not columns:
        raise ValueError("column must be given for a table.")
    schema: list[tuple[str, Any]] | None
    try:
        with _cursor(database) as cursor:
            cursor.execute(f"SELECT * FROM {name} LIMIT 0")  # noqa: S608
            schema = [(c.name, c.type_code) for c in cursor.description]
            cursor.execute(
                "SELECT oid, CASE typtype WHEN 'e' THEN 'text' ELSE typname END FROM pg_type"
                " WHERE oid = ANY(%s)",
                [[code for _, code in schema]],
            )
            types = dict(cursor.fetchall())
            schema = [(column, types[code]) for column, code in schema]
    except Exception:  # noqa: BLE001 - the message could quote a password
        schema = None
    if schema is None:
        raise ValueError(refusal("table", "be a table of a database that answers", table))
    kinds = dict(schema)
    for column in columns:
        if column not in kinds:
            raise ValueError(refusal("column", "be a column of the data", column))
    return Table(
        database=database,
        name=name,
        columns=tuple(columns),
        kinds=tuple(_KINDS.get(kinds[column], sql.NOTHING) for column in columns),
    )


def count_table(table: Table, *, alphabet: Alphabet) -> Tally:
    """Count the records of a table by letter, within the database."""
    cells = ", ".join(f"{sql.quoted(name)} AS c{i}" for i, name in enumerate(table.columns))
    relation = f"(SELECT {cells}, 1 AS records FROM {table.name})"  # noqa: S608
    # The names may hold the sign of a parameter; no other part of the query does.
    dialect = POSTGRESQL
    query = sql.statement("{relation}", kinds=table.kinds, axes=alphabet.axes, dialect=dialect)
    query = query.replace("{relation}", _escaped(relation))
    letters = {
        f"letters{i}": [letter for letter in axis.places if "\0" not in letter]
        for i, axis in enumerate(alphabet.axes)
        if isinstance(axis, Letters)
    }
    with _cursor(table.database) as cursor:
        cursor.execute(query, letters)
        rows = cursor.fetchall()
    return Tally.of(rows, alphabet=alphabet)


def _escaped(text: str) -> str:
    return text.replace("%", "%%")


@contextmanager
def _cursor(database: Any) -> Iterator[Any]:
    """Yield a cursor in a transaction of its own, or a savepoint in the caller's."""
    if not isinstance(database, str):
        with database.transaction(), database.cursor() as cursor:
            yield cursor
        return
    import psycopg  # noqa: PLC0415 - loaded for a URL only

    with psycopg.connect(database) as connection:
        connection.read_only = True
        with connection.cursor() as cursor:
            yield cursor
