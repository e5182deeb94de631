"""PostgreSQL through psycopg: a connection, or a URL, and a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from dproo.core.checks import refusal
from dproo.core.counts import Counts
from dproo.counting.boundary import required
from dproo.counting.fit import Column
from dproo.counting.query import Batch, CountQuery
from dproo.counting.scan import Scan
from dproo.counting.sources.postgresql import url as postgresql_url
from dproo.counting.sources.postgresql.session import Session, sentence
from dproo.counting.sql import people
from dproo.counting.sql import statements as sql
from dproo.counting.sql.postgresql import CELLS, KINDS, dialect_in
from dproo.counting.table import Table
from dproo.counting.tally import Tally, tables_of
from dproo.schema.axis import Axis, Bins

BYTES_MAX = 2 << 30
"""The most bytes of a table that is grouped first, and so of what the server writes to disk."""

FEW = 10**5
"""The most groups that the planner may expect."""

Result = TypeVar("Result")

_FOREIGN = re.compile(" *(->  )?(Async |Parallel )*Foreign ")
_RELATION = (
    "SELECT n.nspname, c.relname FROM pg_class AS c JOIN pg_namespace AS n"
    " ON n.oid = c.relnamespace WHERE c.oid = %s AND c.relkind = ANY('{r,p,v,m,f}')"
)
# Each column with its base type: a domain's is the type it is made of. Of types that are not
# PostgreSQL's own, enumerations and citext hold text, but a row type called citext does not.
_COLUMNS = """
    WITH RECURSIVE typed (attnum, attname, oid) AS (
        SELECT attnum, attname, atttypid FROM pg_attribute
        WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped
        UNION ALL
        SELECT attnum, attname, typbasetype FROM typed JOIN pg_type USING (oid) WHERE typtype = 'd'
    )
    SELECT attname, typname, CASE WHEN typtype = 'e' THEN 'enum'
        WHEN typtype = 'b' AND typname = 'citext' THEN 'text'
        WHEN nspname = 'pg_catalog' THEN typname END,
        ARRAY(SELECT CAST(enumlabel AS text) FROM pg_enum WHERE enumtypid = oid_of
            ORDER BY enumsortorder)
    FROM (SELECT attnum, attname, oid, oid AS oid_of FROM typed) AS t JOIN pg_type USING (oid)
        JOIN pg_namespace ON pg_namespace.oid = typnamespace
    WHERE typtype <> 'd'
    ORDER BY attnum
"""
# Casts between the types that the query casts, made after the database (the first such number is
# 16384). One by input and output does what PostgreSQL does without it.
_OWN_CASTS = """
    SELECT FROM pg_cast, CAST('{int2,int4,int8,float4,float8,numeric,text,varchar}' AS regtype[])
        AS cast_types
    WHERE pg_cast.oid >= 16384 AND castmethod <> 'i'
        AND castsource = ANY (cast_types) AND casttarget = ANY (cast_types)
"""
_HASH = "SELECT md5('')"
_BYTES_OF_A_CHARACTER = 4
_HASHLESS = (
    "person must be used with a server that computes MD5, which decides which records of a person"
    " count. In FIPS mode it does not: release from a copy of the table elsewhere."
)
_INSUFFICIENT_RESOURCES = "53"  # the class of disk full, out of memory and temp_file_limit
# All tables that a scan of this one reads; only a heap's size bounds its contents.
_SIZE = """
    WITH RECURSIVE parts (oid) AS (
        SELECT CAST(to_regclass(%s) AS oid)
        UNION SELECT inhrelid FROM pg_inherits JOIN parts ON inhparent = parts.oid
    )
    SELECT bool_and(relkind = 'p' OR (relkind IN ('r', 'm') AND amname = 'heap')),
        CAST(sum(coalesce(pg_relation_size(pg_class.oid), 0)) AS BIGINT)
    FROM parts JOIN pg_class USING (oid) LEFT JOIN pg_am ON pg_am.oid = relam
"""


@dataclass(frozen=True, kw_only=True)
class EqualCells:
    """The groups of equal cells of a table, which are mapped to letters once, not record by record.

    With few distinct cells, this is as fast as PostgreSQL's own counting. With many, the server may
    have to write them to disk, so only tables of limited size are grouped first. Among these the
    planner's estimate decides, as for every query; a wrong one costs only time.

    The relation has the cells ``c0, c1, ...`` and ``records``; the query counts by them.
    """

    name: str
    relation: str = field(repr=False)
    statement: str = field(repr=False)

    def are_few(self, cursor: Any) -> bool:
        """Return whether to group first, by the catalog and the statistics; no record is read."""
        cursor.execute(_SIZE, [self.name])
        ((is_heap, size),) = cursor.fetchall()
        if not is_heap or size > BYTES_MAX:
            return False
        cursor.execute(f"EXPLAIN SELECT * FROM {self.relation} AS grouped")  # noqa: S608
        estimate = re.search(r" rows=([0-9]+) ", cursor.fetchall()[0][0])
        return estimate is not None and int(estimate[1]) <= FEW


def open_table(data: Any, query: CountQuery) -> Table | None:
    """Return a table of a database, or None if data is neither a URL nor a connection."""
    is_connection = any(kind.__module__.startswith("psycopg.") for kind in type(data).__mro__[:-1])
    is_table = query.table is not None and is_connection
    return table_of(data, query) if is_table or postgresql_url.is_url(data) else None


def table_of(database: Any, query: CountQuery) -> Table:
    """Look up a table or view, by the catalog alone.

    The connection of a URL locks it from the plan of its count until it is counted, so that its
    schema cannot change.
    """
    parts = sql.table_parts(query.table)
    query.require_column("table")
    session = Session.of(database, is_repeatable=len(query.batches) > 1)
    name, types = _within(session, lambda cursor: _described(cursor, session, parts))
    session.wait_patiently()

    def plan(places: Sequence[int], query: CountQuery) -> Scan:
        chosen = [types[place] for place in places]
        return _within(session, lambda cursor: _planned(cursor, session, name, chosen, query))

    return Table(columns=tuple(column for column, _ in types), plan=plan, close=session.close)


def _planned(
    cursor: Any, session: Session, name: str, types: Sequence[tuple[Column, str]], query: CountQuery
) -> Scan:
    """Let the database plan the count of these columns; no record is read."""
    if not session.is_ours:  # each of its cursors has a transaction of its own
        session.pin(cursor)
    try:
        codec = session.codec(cursor)
    except ValueError:
        if query.open_axis is not None:
            raise
        codec = "ascii"
    dialect = dialect_in(codec)
    session.refuse_isolation(cursor)
    queries = [
        (_query(name, types, query, batch, dialect), _letters(query.letters_in(batch)))
        for batch in query.batches
    ]
    groups = _groups(name, types, query, dialect)
    _refuse_casts(cursor)
    if query.person is not None:
        required(lambda: cursor.execute(_HASH), _HASHLESS)
    _refuse_foreign(cursor, sql.relation_of(_cells(types), name))
    # Each query is planned and started, which checks rights and takes locks, but reads nothing.
    # One text with all characters of the letters shows whether the database's encoding has them.
    for statement, letters in queries:
        characters = {key: ["".join(set().union(*some))] for key, some in letters.items()}
        cursor.execute(f"{statement} LIMIT 0", characters)

    def read() -> tuple[Tally | Counts, ...]:
        # All queries see one state of the table: a single one always does, several run in a
        # transaction that ensures it.
        remaining = iter(queries)

        def count(batch: Batch) -> tuple[Tally | Counts, ...]:
            rows = _rows(reader, session.connection, *next(remaining), groups)
            if query.open_axis is not None:
                rows = [(_text(stored, codec), number) for stored, number in rows]
            return tables_of(rows, batch.query)

        with session.cursor() as reader:
            session.pin(reader)
            return query.in_batches(count)

    return Scan(engine="postgresql", _query=query, _read=read)


def _within(session: Session, action: Callable[[Any], Result]) -> Result:
    """Run an action with a cursor; if it fails, close the session and refuse in our own words."""
    result, failure = None, ""
    try:
        with session.cursor() as cursor:
            result = action(cursor)
    except ValueError as error:
        failure = str(error)
    except Exception as error:  # noqa: BLE001 - its message could quote anything
        failure = sentence(error)
    finally:
        if result is None:  # an interrupt must also release the lock
            session.close()
    if result is None:
        raise ValueError(failure)
    return result


def _described(
    cursor: Any, session: Session, parts: tuple[str, ...]
) -> tuple[str, list[tuple[Column, str]]]:
    """Return the full name of a table, and its columns with their base types."""
    # The only query that depends on the role's own search_path.
    cursor.execute(
        "SELECT CAST(pg_catalog.to_regclass(%s) AS pg_catalog.oid)", [sql.table_name(parts)]
    )
    ((oid,),) = cursor.fetchall()
    session.pin(cursor)
    return _qualified(cursor, oid, parts), _types(cursor, oid)


def _text(stored: Any, codec: str) -> str | None:
    """Return the stored text, or None if other bytes are the same text."""
    if stored is None:
        return None
    try:
        text = bytes(stored).decode(codec)
        return text if text.encode(codec) == bytes(stored) else None
    except UnicodeError:
        return None


def _rows(
    cursor: Any,
    connection: Any,
    statement: str,
    letters: dict[str, list[str]],
    groups: EqualCells | None,
) -> list[Any]:
    """Return the rows of the count, by groups if they are few and the server has room for them."""
    if groups is not None and groups.are_few(cursor):
        try:
            with connection.transaction():
                return list(cursor.execute(groups.statement, letters).fetchall())
        except postgresql_url.driver().Error as error:
            if not (error.sqlstate or "").startswith(_INSUFFICIENT_RESOURCES):
                raise
    return list(cursor.execute(statement, letters).fetchall())


def _qualified(cursor: Any, oid: int | None, parts: tuple[str, ...]) -> str:
    cursor.execute(_RELATION, [oid])
    rows = cursor.fetchall()
    if rows and rows[0][-len(parts) :] == parts:  # the server cuts names that are too long
        return sql.table_name(rows[0])
    if len(parts) > 1:
        cursor.execute("SELECT FROM pg_namespace WHERE nspname = %s", [parts[0]])
        if not cursor.fetchall():
            raise ValueError(refusal("table", "be in a schema of the database", parts))
    raise ValueError(
        refusal("table", "be a table or view of the database", parts)
        + " Outside the role's search_path a table needs its schema: schema.table."
    )


def _types(cursor: Any, oid: int) -> list[tuple[Column, str]]:
    cursor.execute(_COLUMNS, [oid])
    return [
        (Column(name=name, kind=KINDS.get(base), type_name=named, values=tuple(values)), base)
        for name, named, base, values in cursor.fetchall()
    ]


def _refuse_casts(cursor: Any) -> None:
    """Refuse casts of others, which no search_path hides: the query would call them for a cell."""
    cursor.execute(_OWN_CASTS)
    if cursor.fetchall():
        raise ValueError(
            "the database must not have casts of its own between numbers and text, which would"
            " decide what a cell is. Drop them, or copy the table into another database."
        )


def _refuse_foreign(cursor: Any, records: str) -> None:
    """Refuse records on another server, which compares text, and fails, by rules of its own."""
    cursor.execute(f"EXPLAIN SELECT * FROM {records} AS records")  # noqa: S608
    if any(_FOREIGN.match(line) for (line,) in cursor.fetchall()):
        raise ValueError(
            "table must not be a foreign table, or read from one: its server compares text by"
            " rules of its own. Copy it first: CREATE TABLE ... AS SELECT."
        )


def _cells(types: Sequence[tuple[Column, str]]) -> list[str]:
    return [CELLS.get(base, "{}").replace("{}", sql.quoted(column.name)) for column, base in types]


def _groups(
    name: str, types: Sequence[tuple[Column, str]], query: CountQuery, dialect: sql.Dialect
) -> EqualCells | None:
    """Return the groups of equal cells, or None if some may be too long.

    Equal cells are the same letter. Text longer than every letter becomes null: both are
    outside.
    """
    is_one = len(query.alphabets) == 1 and query.person is None and query.open_axis is None
    # A numeric has up to 10^5 digits, which may take next to nothing in the table.
    kinds = [KINDS[base] for _, base in types]
    if not is_one or sql.DECIMAL in kinds:
        return None
    shortened = zip(_cells(types), kinds, query.axes, strict=True)
    cells = ", ".join(f"{_short(*cell)} AS c{i}" for i, cell in enumerate(shortened))
    keys = ", ".join(f"c{i}" for i in range(len(types)))
    relation = (
        f"(SELECT {keys}, count(*) AS records FROM"  # noqa: S608
        f" (SELECT {cells} FROM {name}) AS cells GROUP BY {keys})"
    )
    statement = sql.counting_query(
        _with_percents(relation), kinds=kinds, query=query, dialect=dialect
    )
    return EqualCells(name=name, relation=relation, statement=statement)


def _short(cell: str, kind: str, axis: Axis) -> str:
    if kind != sql.TEXT:
        return cell
    longest = axis.room if axis.is_read or isinstance(axis, Bins) else axis.longest
    is_short = f"octet_length({cell}) <= {_BYTES_OF_A_CHARACTER * longest}"
    return f'CASE WHEN {is_short} THEN {cell} COLLATE "C" END'


def _query(
    name: str,
    types: Sequence[tuple[Column, str]],
    query: CountQuery,
    batch: Batch,
    dialect: sql.Dialect,
) -> str:
    statement = people.windowed_query(
        list(map(_with_percents, _cells(types))),
        _with_percents(name),
        kinds=[KINDS[base] for _, base in types],
        query=query,
        batch=batch,
        dialect=dialect,
    )
    if query.open_axis is not None:
        # As the stored bytes, because some text cannot be sent.
        stored = "convert_to(letter, getdatabaseencoding())"
        statement = f"SELECT {stored}, number FROM ({statement}) AS found (letter, number)"  # noqa: S608
    return statement


def _with_percents(part: str) -> str:
    """Escape percent signs, which mark parameters; only names in a query may contain them."""
    return part.replace("%", "%%")


def _letters(lists: dict[int, list[str]]) -> dict[str, list[str]]:
    return {
        f"letters{place}": [letter for letter in listed if sql.is_storable(letter)]
        for place, listed in lists.items()
    }
