"""The embedded DuckDB: its SQL dialect, and its sandbox.

It lives for one scan, sees only the files it was given, and writes nothing to disk.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dproo.counting.boundary import load
from dproo.counting.query import CountQuery
from dproo.counting.sql import statements as sql
from dproo.counting.sql.reading import Reader, literal
from dproo.schema.cell import INTEGER_TEXT, NUMBER_TEXT
from dproo.schema.reading import BLANKS

if TYPE_CHECKING:
    import duckdb

MEMORY = "384MB"
ROOM = 1536
"""Mebibytes of addresses for the engine, its threads and the buffers of its readers."""

TABLES = 1 << 31
"""Bytes for the tables of a count, of which every thread of the engine has its own."""


_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "allow_community_extensions": False,
    "allow_persistent_secrets": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    # This one trusts the least and greatest values that a file states, which ignore NaN and may be
    # wrong: one record would decide how another is read.
    "disabled_optimizers": "statistics_propagation",
    "preserve_insertion_order": False,
    "python_enable_replacements": False,
    "temp_directory": "",  # nothing is ever written to disk
}

NANOSECONDS = "TIMESTAMPTZ_NS"
"""The type of moments that few functions of the engine accept."""

HALF = "FLOAT16"
"""The type of short floats, which the engine calls FLOAT; Arrow would shorten others to it."""

NULL = '"NULL"'
"""The type of a column without any value, often because a writer found none: it may be text."""

_ENUMERATION = re.compile(r"ENUM\((?:'(?:[^']|'')*+'(?:, )?)*+\)")
_KINDS = {
    **dict.fromkeys((HALF, "FLOAT"), sql.FLOAT),
    "DOUBLE": sql.FLOAT,
    "BOOLEAN": sql.BOOLEAN,
    "DATE": sql.DATE,
    "TIMESTAMP WITH TIME ZONE": sql.INSTANT,
    NANOSECONDS: sql.INSTANT,
    NULL: sql.TEXT,
}

_AS_TEXT = "CAST({} AS VARCHAR)"
_AS_DOUBLE = "CAST({} AS DOUBLE)"
_FLOAT = f"CASE WHEN isnan({_AS_DOUBLE}) THEN NULL ELSE {_AS_DOUBLE} END"
_JSON_TEXT = "json_extract_string({}, '$')"
_JSON_KINDS = "VARCHAR", "BOOLEAN", "BIGINT", "UBIGINT", "HUGEINT"
_JSON_CELL = " ".join(f"WHEN '{kind}' THEN {_JSON_TEXT}" for kind in _JSON_KINDS)
_JSON_CELL = f"CASE json_type({{}}) {_JSON_CELL}"
_IS_NUMBER = f"regexp_full_match({{}}, '{NUMBER_TEXT}')"
_TEXT_NUMBER = f"CASE WHEN {_IS_NUMBER} THEN TRY_CAST({{}} AS DOUBLE) END"
_DAY = (
    "CASE WHEN TRY_CAST({} AS DATE) BETWEEN '0001-01-01' AND '9999-12-31'"
    " THEN CAST(TRY_CAST({} AS DATE) AS VARCHAR) END"
)
_NANOSECONDS = (
    "coalesce(epoch_ns({}), CASE WHEN {} = 'infinity' THEN 9223372036854775807"
    " WHEN {} = '-infinity' THEN -9223372036854775807 END)"  # what other programs store so
)
_PER_DAY = "86400000000000"
_DAY_OF_NANOSECONDS = (
    f"(CAST('1970-01-01' AS DATE) + CAST({_NANOSECONDS} // {_PER_DAY}"
    f" - CASE WHEN {_NANOSECONDS} % {_PER_DAY} < 0 THEN 1 ELSE 0 END AS INTEGER))"
)
# A whole number as an integer, whatever its type; any other as it is printed: different doubles
# are printed differently.
_DOUBLE_NAME = (
    "CASE WHEN abs({}) < 1e38 AND floor({}) = {}"
    " THEN CAST(TRY_CAST({} AS HUGEINT) AS VARCHAR) ELSE CAST({} AS VARCHAR) END"
)
# Zero in a type without digits before the point is printed as ".00".
_DECIMAL = rf"regexp_replace({_AS_TEXT}, '^(-?)[.]', '\10.')"
_DATE = f"CASE WHEN {{}} BETWEEN '0001-01-01' AND '9999-12-31' THEN {_AS_TEXT} END"
DIALECT = sql.Dialect(
    texts={
        sql.TEXT: _AS_TEXT,
        sql.INTEGER: _AS_TEXT,
        sql.DECIMAL: f"regexp_extract({_DECIMAL}, '^(-?[0-9]+)([.]0+)?$', 1)",
        # CASE does not guard here: the engine may cast first, and casting NaN is an error.
        sql.FLOAT: sql.whole_float(f"({_FLOAT})", cast="TRY_CAST"),
        sql.BOOLEAN: "CASE WHEN {} THEN 'true' WHEN NOT {} THEN 'false' END",
        sql.DATE: _DATE,
        sql.TIMESTAMP: _DAY,
        sql.INSTANT: _DAY.replace("{}", "TRY(make_timestamp(epoch_us({})))"),
        sql.JSON: (
            f"{_JSON_CELL} WHEN 'DOUBLE' THEN "
            + sql.whole_float(f"TRY_CAST({_JSON_TEXT} AS DOUBLE)", cast="TRY_CAST")
            + " END"
        ),
        sql.UNITED: "struct_extract({}, 't')",
    },
    numbers={
        sql.TEXT: _TEXT_NUMBER.replace("{}", _AS_TEXT),
        # Via text, which rounds once; casting an integer of 128 bits directly rounds twice.
        **dict.fromkeys((sql.INTEGER, sql.DECIMAL), f"TRY_CAST({_AS_TEXT} AS DOUBLE)"),
        sql.FLOAT: _FLOAT,
        sql.JSON: (
            f"CASE json_type({{}}) WHEN 'VARCHAR' THEN {_TEXT_NUMBER.replace('{}', _JSON_TEXT)}"
            " WHEN 'BOOLEAN' THEN NULL WHEN 'ARRAY' THEN NULL WHEN 'OBJECT' THEN NULL"
            f" ELSE TRY_CAST({_JSON_TEXT} AS DOUBLE) END"
        ),
        sql.UNITED: "struct_extract({}, 'n')",
    },
    is_letter="{} IN (SELECT letter FROM letters{column})",
    is_letter_of_many="TRY_CAST({} AS letters{column}) IS NOT NULL",
    is_integer=f"regexp_full_match({{}}, '{INTEGER_TEXT}')",
    reader=Reader(
        # Few cells have blanks around them, and searching for some is faster than trimming none.
        trimmed=f"CASE WHEN regexp_matches({{}}, '^[{BLANKS}]|[{BLANKS}]$')"
        f" THEN trim({{}}, '{BLANKS}') ELSE {{}} END",
        is_like="regexp_matches({}, {pattern})",
        replaced="regexp_replace({}, {pattern}, '')",
        shaped="regexp_replace({}, {pattern}, '9', 'g')",
        extracted="regexp_extract({}, {pattern}, {group})",
        double="TRY_CAST({} AS DOUBLE)",
        bigint="TRY_CAST({} AS BIGINT)",
    ),
    is_string={
        sql.JSON: "json_type({}) = 'VARCHAR'",
        sql.UNITED: "struct_extract({}, 's')",
    },
    missing={
        sql.UNITED: "(struct_extract({}, 'p') = '')",
        sql.FLOAT: f"({{}} IS NULL OR isnan({_AS_DOUBLE}))",
        sql.TEXT: "({} IS NULL OR {} = '')",
        # A missing identifier is JSON's null; SQL's null is a line that cannot be read.
        sql.JSON: (
            f"({{}} IS NOT NULL AND (json_type({{}}) = 'NULL' OR {_JSON_TEXT} = ''"
            f" OR (json_type({{}}) = 'DOUBLE' AND lower({_JSON_TEXT}) IN ('nan', '-nan'))))"
        ),
    },
    identifiers={
        **dict.fromkeys((sql.TEXT, sql.INTEGER, sql.BOOLEAN), _AS_TEXT),
        sql.DATE: _DATE,
        sql.UNITED: "struct_extract({}, 'p')",
        sql.DECIMAL: f"CASE WHEN contains({_AS_TEXT}, '.')"
        f" THEN rtrim(rtrim({_DECIMAL}, '0'), '.') ELSE {_AS_TEXT} END",
        sql.FLOAT: _DOUBLE_NAME.replace("{}", f"({_FLOAT})"),
        sql.JSON: (
            f"{_JSON_CELL} WHEN 'DOUBLE' THEN CASE"
            f" WHEN regexp_full_match({_JSON_TEXT}, '-?[0-9]+') THEN {_JSON_TEXT}"
            f" WHEN isinf(TRY_CAST({_JSON_TEXT} AS DOUBLE)) THEN NULL"
            f" ELSE {_DOUBLE_NAME.replace('{}', f'TRY_CAST({_JSON_TEXT} AS DOUBLE)')} END END"
        ),
    },
    is_short="(strlen({}) <= 64 AND NOT starts_with({}, '#'))",
    digest="sha256({})",
    is_replaced="contains({}, '\ufffd')",
)


@contextmanager
def engine_for(
    names: Sequence[str],
    *,
    is_attached: bool = False,
    is_bounded: bool = True,
    threads: int | None = None,
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Start an engine that can read these files and reach nothing else outside itself.

    Args:
        names: their names, without pattern characters, since DuckDB reads every name as a pattern.
        is_attached: whether the only file is a database, to attach as ``source``.
        is_bounded: whether its memory is limited to ``MEMORY``.
        threads: the most threads that it may have; by default one for each core.
    """
    duckdb = load("duckdb", room=ROOM)
    with duckdb.connect(config=_CONFIG) as engine:
        engine.execute("SET enable_progress_bar = false")
        # What a file states of its geometries depends on them, and would decide a column's type.
        engine.execute("SET enable_geoparquet_conversion = false")
        if is_bounded:
            engine.execute(f"SET memory_limit = {literal(MEMORY)}")
        if threads is not None:
            engine.execute(f"SET threads = least({threads}, current_setting('threads'))")
        if is_attached:
            engine.execute(f"ATTACH {literal(names[0])} AS source (READ_ONLY, TYPE duckdb)")
        else:
            engine.execute(f"SET allowed_paths = [{', '.join(map(literal, names))}]")
        engine.execute("SET enable_external_access = false")
        engine.execute("SET lock_configuration = true")
        yield engine


@dataclass
class Engine:
    """The DuckDB of one scan: the engine that has read the schema or rehearsed also counts.

    Starting another takes as long as counting some 10^7 records.
    """

    _opened: ExitStack = field(default_factory=ExitStack, repr=False)
    _running: duckdb.DuckDBPyConnection | None = None
    _is_bounded: bool = True
    _threads: int | None = None
    _query: CountQuery | None = None

    def start(
        self,
        names: Sequence[str] = (),
        *,
        is_attached: bool = False,
        is_bounded: bool = True,
        room: int = 0,
    ) -> duckdb.DuckDBPyConnection:
        """Return the running engine if it has this memory, else a new one for these files.

        Args:
            names: the files.
            is_attached: as for :func:`engine_for`.
            is_bounded: as for :func:`engine_for`.
            room: bytes that the count takes in each thread.
        """
        enough = max(1, TABLES // max(1, room))
        threads = enough if enough < (os.cpu_count() or 1) else None
        if self._running is None or (self._is_bounded, self._threads) != (is_bounded, threads):
            self.close()
            engine = engine_for(
                names, is_attached=is_attached, is_bounded=is_bounded, threads=threads
            )
            self._running = self._opened.enter_context(engine)
            self._is_bounded, self._threads = is_bounded, threads
        return self._running

    def write_letters(self, query: CountQuery) -> None:
        """Write the lists of letters into the tables, or types, that the query uses, once."""
        if self._running is None or self._query is query:
            return
        for place, listed in query.letters.items():
            table = f"CREATE OR REPLACE TEMP TABLE letters{place} AS SELECT unnest($1::VARCHAR[])"
            self._running.execute(f"{table} AS letter", [listed])
            if len(query.letters) > sql.JOINS_MAX:
                self._running.execute(f"DROP TYPE IF EXISTS letters{place}")
                values = f"ENUM (SELECT letter FROM letters{place})"  # noqa: S608
                self._running.execute(f"CREATE TEMP TYPE letters{place} AS {values}")
        self._query = query

    def stop(self) -> None:
        """Interrupt it, from another thread."""
        if (running := self._running) is not None:
            running.interrupt()

    def close(self) -> None:
        """End it."""
        self._running = self._query = None
        self._opened.close()


def by_bytes(cell: str) -> str:
    """Return a cell as text that is compared bytewise, whatever the column's collation."""
    return f'CAST({cell} AS VARCHAR) COLLATE "binary"'


def in_range(cell: str, type_name: str, *, is_key: bool = False) -> str:
    """Return a cell of a file; a decimal with more digits than its type allows is missing.

    A writer may store any bits there, which the engine shows as garbage or fails on. As an
    identifier it is not missing: it becomes U+FFFD, which names nobody. Moments in nanoseconds
    become their days in UTC, since the engine would first round them to microseconds.
    """
    if type_name in {"TIMESTAMP_NS", NANOSECONDS}:
        return _DAY_OF_NANOSECONDS.replace("{}", cell)
    if type_name == NULL:
        return _AS_TEXT.replace("{}", cell)
    match = re.fullmatch("DECIMAL\\(([0-9]+),([0-9]+)\\)", type_name)
    if match is None:
        return cell
    digits, scale = map(int, match.groups())
    nines = "9" * (digits - scale) + "." + "9" * scale
    least, most = (f"CAST('{sign}{nines}' AS {type_name})" for sign in ("-", ""))
    # Clamped as well: CASE does not guard, since the engine may evaluate what follows THEN first.
    clamped = f"least(greatest({cell}, {least}), {most})"
    if is_key:
        clamped = f"CAST({clamped} AS VARCHAR) WHEN {cell} IS NOT NULL THEN '\ufffd'"
    return f"(CASE WHEN {cell} BETWEEN {least} AND {most} THEN {clamped} END)"


def shown_type(name: str) -> str:
    """Return DuckDB's name of a type without the values of enumerations, which are not public.

    >>> shown_type("STRUCT(a ENUM('x', 'y'), b DATE)"), shown_type("DECIMAL(9,2)")
    ('STRUCT(a ENUM, b DATE)', 'DECIMAL(9,2)')
    """
    return _ENUMERATION.sub("ENUM", name)


def duckdb_kind(name: str) -> str | None:
    """Return what a column holds, by DuckDB's name of its type; None if no letters."""
    if re.fullmatch("U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|BIGNUM", name):
        return sql.INTEGER
    if name == "VARCHAR" or (name.startswith("ENUM(") and name.endswith(")")):
        return sql.TEXT
    if re.fullmatch("DECIMAL\\([0-9]+,[0-9]+\\)", name):
        return sql.DECIMAL
    if re.fullmatch("TIMESTAMP(_S|_MS|_NS|_MILLIS)?", name):
        return sql.TIMESTAMP
    return _KINDS.get(name)
