"""PostgreSQL through psycopg: a connection, or a URL, and a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dproo.alphabet.axis import Letters
from dproo.alphabet.cell import INTEGER_TEXT, NUMBER_TEXT
from dproo.core.arguments import refusal
from dproo.core.counts import Counts
from dproo.engines import open_letters, people, postgresql_session, postgresql_url
from dproo.engines import query as sql
from dproo.engines.asked import Asked
from dproo.engines.postgresql_session import Session
from dproo.engines.scan import Scan
from dproo.engines.tally import Tally

_KINDS = {
    **dict.fromkeys(("int2", "int4", "int8", "oid"), sql.INTEGER),
    **dict.fromkeys(("text", "varchar", "bpchar", "name", "char"), sql.TEXT),
    **dict.fromkeys(("float4", "float8"), sql.FLOAT),
    "numeric": sql.DECIMAL,
    "bool": sql.BOOLEAN,
    "date": sql.DATE,
}
# Types that PostgreSQL casts to fewer others are cast to a plain one of their kind first.
_CELLS = {"oid": "CAST({} AS BIGINT)"} | {
    name: "CAST({} AS TEXT)" for name, kind in _KINDS.items() if kind == sql.TEXT
}
_RELATION = (
    "SELECT n.nspname, c.relname FROM pg_class AS c JOIN pg_namespace AS n"
    " ON n.oid = c.relnamespace WHERE c.oid = %s AND c.relkind = ANY('{r,p,v,m,f}')"
)
# Each column with the type it is made of: a domain is its base type, an enumeration is text.
_COLUMNS = """
    WITH RECURSIVE typed (attname, oid) AS (
        SELECT attname, atttypid FROM pg_attribute
        WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped
        UNION ALL
        SELECT attname, typbasetype FROM typed JOIN pg_type USING (oid) WHERE typtype = 'd'
    )
    SELECT attname, typname, CASE WHEN typtype = 'e' OR typname = 'citext' THEN 'text'
        WHEN nspname = 'pg_catalog' THEN typname END
    FROM typed JOIN pg_type USING (oid) JOIN pg_namespace ON pg_namespace.oid = typnamespace
    WHERE typtype <> 'd'
"""

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
    missing={sql.FLOAT: "({} IS NULL OR {} = 'NaN')", sql.TEXT: "({} IS NULL OR {} = '')"},
)


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of a database whose count was planned there; no record was read.

    Attributes:
        session: the session that reads it.
        query: the query that counts it.
        letters: the parameters of the query.
    """

    session: Session
    query: str = field(repr=False)
    letters: dict[str, list[str]] = field(repr=False)


def open_scan(data: Any, asked: Asked) -> Scan | None:
    """Return the scan of a table, or nothing if the data are no URL, nor a connection with one.

    Raises:
        ValueError: the table cannot be read, or a column is not there or holds no letters.
    """
    is_table = asked.table is not None and _is_connection(data)
    if not (is_table or postgresql_url.is_url(data)):
        return None
    found = open_table(data, asked)
    return Scan(engine="postgresql", _asked=asked, _read=lambda: count_table(found, asked))


def _is_connection(data: object) -> bool:
    """Tell whether this is of psycopg; the library is not loaded for it."""
    return any(kind.__module__.startswith("psycopg.") for kind in type(data).__mro__[:-1])


def open_table(database: Any, asked: Asked) -> Table:
    """Look up a table and have the database plan its count; no record is read.

    Args:
        database: an open connection of psycopg, or a URL, whose new connection then holds a
            lock on the table until it is counted, so that it stays what it was.
        asked: the table, the columns and their letters.

    Raises:
        ValueError: the database cannot be reached, or the table or a column is not there, or
            cannot be read, or is of a type that holds no letters.
    """
    parts = sql.table_parts(asked.table)
    if not asked.columns:
        raise ValueError("column must be given for a table.")
    opened = Session.of(database)
    found, failure = None, ""
    try:
        with opened.cursor() as cursor:
            # The only query that sees the role's own search_path.
            cursor.execute(
                "SELECT CAST(pg_catalog.to_regclass(%s) AS pg_catalog.oid)", [sql.table_name(parts)]
            )
            ((oid,),) = cursor.fetchall()
            opened.pin(cursor)
            name = _qualified(cursor, oid, parts)
            query = _query(name, _types(cursor, oid, asked.read), asked)
            letters = _letters(asked)
            # It is planned and begun, so that rights and locks are asked for, and reads nothing.
            # All characters of the letters in one: that the database has them can be told too.
            characters = {key: ["".join(set().union(*some))] for key, some in letters.items()}
            cursor.execute(f"{query} LIMIT 0", characters)
            found = Table(session=opened, query=query, letters=letters)
    except ValueError as error:
        failure = str(error)
    except Exception as error:  # noqa: BLE001 - its message could quote anything
        failure = postgresql_session.sentence(error)
    finally:
        if found is None:  # an interrupt too lets go of the lock
            opened.close()
    if found is None:
        raise ValueError(failure)
    return found


def count_table(table: Table, asked: Asked) -> tuple[Tally | Counts, ...]:
    """Count the records of a table by the letters of each alphabet, within the database.

    One statement counts by all of them, and so sees one state of the table.
    """
    try:
        with table.session.cursor() as cursor:
            table.session.pin(cursor)
            cursor.execute(table.query, table.letters)
            if asked.open_axis is not None:
                return open_letters.named_counts(cursor.fetchall(), asked.open_axis)
            return Tally.of_sets(cursor.fetchall(), asked=asked)
    finally:
        table.session.close()


def _qualified(cursor: Any, oid: int | None, parts: tuple[str, ...]) -> str:
    """Return the full name of a table or view."""
    cursor.execute(_RELATION, [oid])
    rows = cursor.fetchall()
    if rows:
        return sql.table_name(rows[0])
    if len(parts) > 1:
        cursor.execute("SELECT FROM pg_namespace WHERE nspname = %s", [parts[0]])
        if not cursor.fetchall():
            raise ValueError(refusal("table", "be in a schema of the database", parts))
    raise ValueError(
        refusal("table", "be a table or view of the database", parts)
        + " Outside the role's search_path a table needs its schema: schema.table."
    )


def _types(cursor: Any, oid: int, columns: Sequence[str]) -> dict[str, str]:
    """Return the type of each of these columns."""
    cursor.execute(_COLUMNS, [oid])
    types = {column: (type_name, base) for column, type_name, base in cursor.fetchall()}
    for column in columns:
        if column not in types:
            raise ValueError(refusal("column", "be a column of the data", column))
        type_name, base = types[column]
        if base not in _KINDS:
            sql.refuse_type(column, type_name)
    return {column: types[column][1] for column in columns}


def _query(name: str, types: dict[str, str], asked: Asked) -> str:
    cells = ", ".join(
        _CELLS.get(base, "{}").replace("{}", sql.quoted(column)) + f" AS c{i}"
        for i, (column, base) in enumerate(types.items())
    )
    relation = f"(SELECT {cells}, 1 AS records FROM {name})"  # noqa: S608
    kinds = [_KINDS[base] for base in types.values()]
    # The names may hold the sign of a parameter; no other part of the query does.
    source = "{relation}"
    if asked.person is not None:
        ranked = people.ranked(source, kinds=kinds, asked=asked, dialect=POSTGRESQL)
        source, kinds = people.kept_by_window(ranked, asked), people.kept_kinds(asked)
    if asked.open_axis is not None:
        query = open_letters.statement(
            source,
            kind=kinds[0],
            axis=asked.open_axis,
            dialect=POSTGRESQL,
            minimum=asked.open_axis.minimum,
        )
    elif len(asked.alphabets) == 1:
        query = sql.statement(source, kinds=kinds, axes=asked.axes, dialect=POSTGRESQL)
    else:
        query = sql.statement_of_sets(
            source,
            grouped_by=asked.sets,
            kinds=kinds,
            axes=asked.axes,
            dialect=POSTGRESQL,
        )
    return query.replace("{relation}", relation.replace("%", "%%"))


def _letters(asked: Asked) -> dict[str, list[str]]:
    return {
        f"letters{i}": [letter for letter in axis.places if sql.is_storable(letter)]
        for i, axis in enumerate(asked.axes)
        if isinstance(axis, Letters)
    }
