"""One poison cell in a column of any type of any source.

A source yields its types, found by asking the engine or library where it can be asked; each has
an ordinary cell, the poison cells that it can hold, and a way to build records of them. A record
has the cell in column ``a``, the text ``x`` in ``b`` and somebody of its own in ``who``.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import secrets
import sqlite3
import struct
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import sqlalchemy as sa
from support.draws import DICE, dice_of, few, few_made
from support.nasty import FLOATS, INTEGERS, TEXTS
from support.row_files import excel

from dproo.counting.layout import Layout

Source = tuple[Any, dict[str, Any]]

LONG = 5 << 20
WORDS: tuple[str, ...] = (
    *TEXTS,
    *("   ", " \t ", "\0", "7\0", "\0\0\0", "\u202e7", "\u200f7\u200f", "\u20667", "\ufffe"),
    *("\U0010ffff", "\ufffd", "9" * 309, "-" + "9" * 309, "1" + "0" * 400, "9" * 4301),
    *("1e400", "-1e400", "1e-400", "1e999999999", "-1e-999999999", "-0.0", "Infinity", "-inf"),
    *("-Infinity", "+7", ".", "-", "+", "e", "1e", "7.", ".7", "7,5", "1.234,5", "1,234", "0,0"),
    *("7." + "0" * 5000, "0" * 5000 + "7", " " * 5000 + "7", "-" + "0" * 400, "9" * 18, "9" * 19),
    *("0001-01-01", "9999-12-31", "0000-01-01", "-0001-01-01", "10000-01-01", "4714-11-24 BC"),
    *("290309-12-22 (BC) 00:00:00", "294247-01-10 04:00:54.775806", "294276-12-31 23:59:59"),
    *("5877642-06-25 (BC)", "5881580-07-10", "5874897-12-31", "+999999-12-31", "-99999-01-01"),
    *("2024-02-30", "2024-13-99", "2024", "2024-01", "2024-01-01T", "31.12.9999", "00.00.0000"),
    *("0001-01-01 00:00:00+14:00", "9999-12-31 23:59:59.999999-14:00", "9999-12-31T23:59:60Z"),
    *("2011-12-30 00:00:00 Pacific/Apia", "2024-01-01 00:00:00+15:59:59", "24:00:00"),
    *("1677-09-21 00:12:43.145225", "2262-04-11 23:47:16.854775807", "now", "epoch", "tomorrow"),
    *("[7]", "[[7]]", "{7}", '{"a": {"b": [7]}}', "[" * 9999, "(7,8)", "[7,8)", "\\x", "\\xff"),
    *("7 years", "178000000 years", "P999999999Y", "1" * 64, str(2**127 - 1)),
    dice_of("poison").choice(("7", "x", " ", "\u00e9")) * LONG,
)  # fmt: skip
LONE = ("\ud800", "7\udfff", "\udc80\ud800")
BYTES = (
    *(b"\xff", b"7\xff", b"\xed\xa0\x80", b"\xf0\x9f", b"\xc3", b"\x80", b"\xfe\xff", b"\xc0\x80"),
    *(b"\xf4\x90\x80\x80", b"\xff" * 9999, b"7" * 99 + b"\xe2\x82"),
)
NUMBERS: tuple[Any, ...] = (
    *INTEGERS,
    *FLOATS,
    *(2**64 - 1, 2**64, -(2**127), 2**128, 10**38, 10**308, 10**309, -(10**400), 10**5000),
    *(5e-324, -5e-324, 1.7976931348623157e308, -1.7976931348623157e308),
    *(Decimal("NaN"), Decimal("-sNaN"), Decimal("Infinity"), Decimal("1e9999")),
    *(Decimal("-0"), Decimal("1e-400"), Decimal(10) ** 400, Fraction(10**400, 3), 1j),
)
ZONE = dt.timezone(dt.timedelta(hours=23, minutes=59, seconds=59, microseconds=999999))
MOMENTS: tuple[Any, ...] = (
    *(dt.date.min, dt.date.max, dt.datetime.min, dt.datetime.max),  # noqa: DTZ901
    *(dt.datetime.min.replace(tzinfo=ZONE), dt.datetime.max.replace(tzinfo=dt.UTC)),
    dt.datetime.max.replace(tzinfo=dt.timezone(-dt.timedelta(hours=23, minutes=59))),
    *(dt.time.min, dt.time.max, dt.timedelta.min, dt.timedelta.max),
    *(np.datetime64("NaT"), np.datetime64(2**63 - 1, "s"), np.datetime64(-(2**63) + 1, "Y")),
    *(np.timedelta64(2**63 - 1, "ns"), pd.NaT, pd.NA, pd.Timestamp.min, pd.Timestamp.max),
)
NESTED: tuple[Any, ...] = ([], {}, [7], [[7]], {"a": {"b": [7]}}, (7,), {7}, b"", b"7", True, None)
OBJECTS: tuple[Any, ...] = (*WORDS, *LONE, *BYTES, *NUMBERS, *MOMENTS, *NESTED, np.float16("inf"))
GOOD: tuple[Any, ...] = (
    *("7", 7, 7.0, Decimal(7), True, dt.date(2024, 1, 1), dt.datetime(2024, 1, 1)),  # noqa: DTZ001
    *(dt.time(7), dt.timedelta(7), b"7", [7], ["7"], {"a": 7}, pd.Interval(7, 8), None),
)


@dataclass(frozen=True)
class Poisoned:
    """A type of a column: an ordinary cell, poison cells, and how records are built of cells.

    With ``is_torn`` a poison cell may spoil the rest of its record, and whom it is about.
    """

    kind: str
    good: Any
    cells: Sequence[Any]
    build: Callable[[list[Any]], Source]
    is_torn: bool = False


def who(place: int) -> str:
    return f"p{place}"


def encoded(words: Sequence[str]) -> list[bytes]:
    return [word.encode() for word in words]


# Text files


def delimited(folder: Path, name: str, delimiter: bytes, quote: bytes, layout: Layout) -> Any:
    def build(cells: list[bytes]) -> Source:
        lines = [delimiter.join((b"a", b"b", b"who"))]
        for place, cell in enumerate(cells):
            written = quote + (cell.replace(quote, quote * 2) if quote else cell) + quote
            lines.append(delimiter.join((written, b"x", who(place).encode())))
        (folder / name).write_bytes(b"\n".join(lines) + b"\n")
        return folder / name, {"layout": layout}

    return build


def text_files(folder: Path, name: str, delimiter: bytes, layout: Layout) -> Iterator[Poisoned]:
    codec = layout.encoding or "utf-8"
    words = [word.encode(codec, errors="replace") for word in WORDS] + list(BYTES)
    bare = [word for word in words if not set(word) & set(b'\r\n"' + delimiter)]
    build = delimited(folder, name, delimiter, b"", layout)
    yield Poisoned("bare", b"7", bare, build)
    yield Poisoned("quoted", b"7", words, delimited(folder, name, delimiter, b'"', layout))


def csv(folder: Path) -> Iterator[Poisoned]:
    yield from text_files(folder, "a.csv", b",", Layout())


def tsv(folder: Path) -> Iterator[Poisoned]:
    yield from text_files(folder, "a.tsv", b"\t", Layout(encoding="latin-1"))


TOKENS = [
    *(b"1e400", b"-1e400", b"1e-400", b"-0", b"-0.0", b"9" * 309, b"-" + b"9" * 309, b"9" * 4301),
    *(b"1e999999999", b"0." + b"7" * 5000, b"9223372036854775808", b"18446744073709551616"),
    *(b"null", b"true", b"[]", b"{}", b"[7]", b"[[[7]]]", b'{"a": 7}', b'{"a": {"a": []}}'),
    *(b'"\\u0000"', b"[" * 500 + b"]" * 500, b"1.5", b"7.0"),
]
BROKEN = [  # half a pair of surrogates too: the reader takes no part of such a line
    *(b'"\\ud800"', b'"\\udc00\\ud800"'),
    *(
        b"NaN",
        b"Infinity",
        b"-",
        b"07",
        b"+7",
        b"0x7",
        b"7e",
        b"\xff",
        b'"\xff"',
        b'"\xed\xa0\x80"',
    ),
    *(b'"', b'"x', b"[", b"{", b"}", b"7}, {", b"\0", b'"\\q"', b'"\\u00"', b"[" * 100_000, b"'7'"),
    *(b'7, "a": 8', b'7, "who": "p0"', b"", b"//", b"/* */ 7", b"\xef\xbb\xbf7"),
]


def objects(folder: Path, name: str, start: bytes, between: bytes, end: bytes) -> Any:
    def build(cells: list[bytes]) -> Source:
        items = [
            b'{"a": %b, "b": "x", "who": "%b"}' % (cell, who(place).encode())
            for place, cell in enumerate(cells)
        ]
        (folder / name).write_bytes(start + between.join(items) + end)
        return folder / name, {}

    return build


def json_lines(folder: Path) -> Iterator[Poisoned]:
    build = objects(folder, "a.jsonl", b"", b"\n", b"\n")
    texts = [
        json.dumps(word, ensure_ascii=is_ascii).encode()
        for word in WORDS
        for is_ascii in (True, False)
    ]
    yield Poisoned("text", b'"7"', texts, build)
    yield Poisoned("token", b"7", TOKENS, build)
    yield Poisoned("broken", b"7", BROKEN, build, is_torn=True)


def json_array(folder: Path) -> Iterator[Poisoned]:
    build = objects(folder, "a.json", b"[", b",\n", b"]\n")
    yield Poisoned(
        "text", b'"7"', [json.dumps(word, ensure_ascii=False).encode() for word in WORDS], build
    )
    yield Poisoned("token", b"7", TOKENS, build)


# Arrow, and what holds its columns


def arrow_types() -> list[pa.DataType]:
    """Return the types that Arrow has a name for, and those with parameters."""
    kinds = []
    for name in sorted({name.removeprefix("Type_").lower() for name in dir(pa.lib)}):
        with suppress(Exception):  # most have parameters, and other names
            kinds.append(pa.type_for_alias(name))
    kinds += [pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")]
    kinds += [pa.time32("s"), pa.time64("ns"), pa.duration("s"), pa.duration("ns")]
    kinds += [pa.timestamp(unit, "Pacific/Apia") for unit in ("s", "ms", "us", "ns")]
    kinds += [pa.timestamp("us", "+14:59"), pa.decimal128(38, 0), pa.decimal128(3, 3)]
    kinds += [pa.decimal128(38, 38), pa.decimal128(5, -2), pa.decimal256(76, 0), pa.decimal32(9, 2)]
    kinds += [pa.string_view(), pa.binary_view(), pa.binary(1), pa.decimal64(18, 18)]
    kinds += [pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int8(), pa.float64())]
    kinds += [pa.dictionary(pa.int32(), pa.date32()), pa.run_end_encoded(pa.int32(), pa.string())]
    kinds += [pa.list_(pa.int64()), pa.struct([("a", pa.int64())]), pa.month_day_nano_interval()]
    return [*dict.fromkeys(kinds)]


def one(cell: Any, kind: pa.DataType) -> pa.Array | None:
    """Return a column of one cell, nothing if the type does not hold it."""
    with suppress(Exception):
        if pa.types.is_dictionary(kind):
            return pa.array([cell], kind.value_type).dictionary_encode().cast(kind)
        if pa.types.is_run_end_encoded(kind):
            values = pa.array([cell], kind.value_type)
            return pa.RunEndEncodedArray.from_arrays(pa.array([1], kind.run_end_type), values)
        return pa.array([cell], kind)
    return None


def bits(kind: pa.DataType) -> Iterator[pa.Array]:
    """Yield cells of every pattern of bits that some reader may find odd."""
    with suppress(ValueError):
        width = kind.bit_width // 8
        patterns = [b"\xff" * width, b"\xff" * (width - 1) + b"\x7f", b"\0" * (width - 1) + b"\x80"]
        patterns += [b"\0" * width, b"\1" + b"\0" * (width - 1), secrets.token_bytes(width)]
        if width and not pa.types.is_nested(kind) and not pa.types.is_dictionary(kind):
            for pattern in patterns:
                yield pa.Array.from_buffers(kind, 1, [None, pa.py_buffer(pattern)])
    views = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary()}
    views |= {pa.string_view(): pa.binary_view()}
    if kind in views:
        for word in BYTES:
            yield pa.array([word], views[kind]).view(kind)


def arrow_columns(
    hold: Callable[[pa.Table], Source], *, has_odd_bytes: bool = True
) -> Iterator[Poisoned]:
    """Yield every type of Arrow that somebody can hold."""

    def build(cells: list[pa.Array]) -> Source:
        column = pa.chunked_array(cells) if pa.types.is_dictionary(cells[0].type) else None
        column = pa.concat_arrays(cells) if column is None else column.combine_chunks()
        others = {"b": ["x"] * len(cells), "who": [who(place) for place in range(len(cells))]}
        return hold(pa.table({"a": column, **others}))

    def column(kind: pa.DataType) -> Poisoned | None:
        good = next(
            (c for c in (one(cell, kind) for cell in GOOD) if c is not None), one(None, kind)
        )
        cells = [
            cell for cell in (one(cell, kind) for cell in few(OBJECTS, 50)) if cell is not None
        ]
        cells += [cell for cell in bits(kind) if has_odd_bytes or not pa.types.is_string(kind)]
        if not has_odd_bytes and kind in {pa.large_string(), pa.string_view()}:
            return None
        if not held([good], build, good):
            return None
        return Poisoned(str(kind), good, held(cells, build, good), build)

    yield from few_made(arrow_types(), 3, column)


def held(cells: list[Any], build: Callable[[list[Any]], Source], good: Any) -> list[Any]:
    """Return the cells that can be built beside an ordinary one."""
    unheld = (Exception, pl.exceptions.PanicException)  # the latter is none
    with suppress(*unheld):
        build([good, *cells])
        return cells
    found = []
    for cell in cells:
        with suppress(*unheld):
            build([good, cell])
            found.append(cell)
    return found


def arrow(_: Path) -> Iterator[Poisoned]:
    yield from arrow_columns(lambda rows: (rows, {}))


def parquet(folder: Path) -> Iterator[Poisoned]:
    def hold(rows: pa.Table) -> Source:
        pq.write_table(rows, folder / "a.parquet", use_dictionary=bool(DICE.getrandbits(1)))
        return folder / "a.parquet", {}

    yield from arrow_columns(hold)


def polars(_: Path) -> Iterator[Poisoned]:
    yield from arrow_columns(lambda rows: (pl.from_arrow(rows), {}), has_odd_bytes=False)


def framed(column: Any) -> Source:
    names = [who(place) for place in range(len(column))]
    return pd.DataFrame({"a": column, "b": ["x"] * len(column), "who": names}), {}


def pandas(_: Path) -> Iterator[Poisoned]:
    def hold(rows: pa.Table) -> Source:
        column = pd.Series(pd.arrays.ArrowExtensionArray(rows["a"]))
        return framed(column)

    yield from arrow_columns(hold)
    kinds: list[Any] = ["object", "category", "string", "boolean", "Int64", "UInt8", "Float64"]
    kinds += ["float16", "float32", "float64", "int8", "int64", "uint64", "bool", "complex128"]
    kinds += [f"datetime64[{unit}]" for unit in ("s", "ms", "us", "ns")]
    kinds += [f"datetime64[{unit}, Pacific/Apia]" for unit in ("s", "ns")]
    kinds += ["timedelta64[ns]", "period[D]", "interval[int64]", "Sparse[float64]", "Sparse[int64]"]
    for kind in few(kinds, 2):

        def built(cells: list[Any], kind: Any = kind) -> Source:
            return framed(
                pd.concat(
                    [pd.Series([cell], dtype=kind) for cell in cells], ignore_index=True
                ).astype(kind)
            )

        fitting = []
        for cell in few(OBJECTS, 50):
            if kind == "object":
                fitting.append(cell)
                continue
            # pandas takes minutes to see that 5 MiB of text are not a number or a day
            if kind not in {"category", "string"} and isinstance(cell, str) and len(cell) == LONG:
                continue
            with suppress(Exception):
                pd.Series([cell], dtype=kind)
                fitting.append(cell)
        if kind.startswith("datetime64"):
            unit = kind[11:].partition("]")[0].partition(",")[0]
            fitting += [np.datetime64(number, unit) for number in (2**63 - 1, -(2**63) + 1, 0)]
        good = next((good for good in GOOD if held([good], built, good)), None)
        yield Poisoned(kind, good, held(fitting, built, good), built)


def lists(_: Path) -> Iterator[Poisoned]:
    def rows(cells: list[Any]) -> Source:
        return [{"a": cell, "b": "x", "who": who(i)} for i, cell in enumerate(cells)], {}

    yield Poisoned("dicts", "7", OBJECTS, rows)
    yield Poisoned("dicts of numbers", 7, OBJECTS, rows)


# Databases


def duckdb_types(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Return every type that the engine knows by a name, and those with parameters."""
    named = connection.execute("SELECT DISTINCT logical_type FROM duckdb_types()").fetchall()
    kinds = sorted(name for (name,) in named)
    kinds += ["DECIMAL(38, 0)", "DECIMAL(3, 3)", "DECIMAL(38, 38)", "DECIMAL(4, 1)", "INTEGER[]"]
    kinds += ["STRUCT(a INTEGER)", "ENUM('7', 'x', '')", "MAP(VARCHAR, INTEGER)", "JSON", "INT[2]"]
    return kinds


def duckdb_columns(
    connection: duckdb.DuckDBPyConnection, hold: Callable[[], Source]
) -> Iterator[Poisoned]:
    # What has no text: the greatest and least values, and those beyond the ends of the calendar.
    made = ["'7'", "7", "DATE '2024-01-01'", "true", "TIME '07:00:00'", "NULL"]
    made += ["'NaN'::DOUBLE", "'-inf'::DOUBLE", "1e308::DOUBLE", "chr(0)", "'infinity'::DATE"]
    made += ["'-infinity'::TIMESTAMP", "repeat('9', 5000)::BIGNUM", "chr(55296)", "'\\xFF'::BLOB"]
    made += ["'9999-12-31 23:59:59-14'::TIMESTAMPTZ", "170141183460469231731687303715884105727"]

    def column(kind: str) -> Poisoned | None:
        def build(cells: list[Any]) -> Source:
            connection.execute(f"CREATE OR REPLACE TABLE rows (a {kind}, b VARCHAR, who VARCHAR)")
            for place, (form, cell) in enumerate(cells):
                sign = "$1" if form is None else form
                given = [cell] if form is None else []
                connection.execute(
                    f"INSERT INTO rows SELECT CAST({sign} AS {kind}), 'x', '{who(place)}'", given
                )
            return hold()

        found = []
        for form, cell in [
            *((form, None) for form in made),
            *((None, word) for word in few(WORDS, 30)),
        ]:
            sign, given = ("$1", [cell]) if form is None else (form, [])
            with suppress(duckdb.Error, UnicodeDecodeError):  # the second where it quotes a BLOB
                connection.execute(f"SELECT CAST({sign} AS {kind})", given).fetchall()
                found.append((form, cell))
        return Poisoned(kind, found[0], found, build) if found else None

    yield from few_made(duckdb_types(connection), 3, column)


def duckdb_relation(_: Path) -> Iterator[Poisoned]:
    connection = duckdb.connect()
    yield from duckdb_columns(connection, lambda: (connection.table("rows"), {}))


def duckdb_file(folder: Path) -> Iterator[Poisoned]:
    path = folder / "copy.duckdb"
    connection = duckdb.connect()

    def hold() -> Source:
        path.unlink(missing_ok=True)
        connection.execute(f"ATTACH '{path}' AS copy")
        connection.execute("CREATE TABLE copy.rows AS FROM rows")
        connection.execute("DETACH copy")
        return path, {"table": "rows"}

    yield from duckdb_columns(connection, hold)


SQLITE_TYPES = [
    *("", "TEXT", "INTEGER", "REAL", "NUMERIC", "BLOB", "BOOLEAN", "DATE", "DATETIME", "TIME"),
    *("VARCHAR(3)", "DECIMAL(5, 2)", "BIGINT", "DOUBLE", "FLOAT", "JSON", "CHAR(2)", "TIMESTAMP"),
]


def sqlite_columns(folder: Path, hold: Callable[[Path], Source]) -> Iterator[Poisoned]:
    numbers = [
        n for n in NUMBERS if isinstance(n, float) or (isinstance(n, int) and abs(n) < 2**63)
    ]
    cells: list[Any] = [*WORDS, *numbers, None, b"", b"7", *BYTES]
    # Text that is not UTF-8 goes in as bytes that are said to be text.
    cells += [("CAST(? AS TEXT)", word) for word in BYTES]
    path = folder / "a.sqlite3"
    for kind in few(SQLITE_TYPES, 3):

        def build(cells: list[Any], kind: str = kind) -> Source:
            path.unlink(missing_ok=True)
            with closing(sqlite3.connect(path)) as connection, connection:
                connection.execute(f"CREATE TABLE rows (a {kind}, b TEXT, who TEXT)")
                for place, cell in enumerate(cells):
                    sign, value = cell if isinstance(cell, tuple) else ("?", cell)
                    insert = f"INSERT INTO rows VALUES ({sign}, 'x', '{who(place)}')"
                    connection.execute(insert, [value])
            return hold(path)

        yield Poisoned(
            kind or "any", 7 if kind not in {"DATE", "DATETIME"} else "2024-01-01", cells, build
        )


def sqlite_file(folder: Path) -> Iterator[Poisoned]:
    yield from sqlite_columns(folder, lambda path: (path, {"table": "rows"}))


def sqlalchemy(folder: Path) -> Iterator[Poisoned]:
    yield from sqlite_columns(
        folder, lambda path: (sa.create_engine(f"sqlite:///{path}"), {"table": "rows"})
    )


def postgresql(connection: Any) -> Iterator[Poisoned]:
    """Yield every type of a server that a column can have, by an open connection to it."""
    named = connection.execute(
        "SELECT oid::regtype::text FROM pg_type WHERE typtype IN ('b', 'r', 'm') AND typelem = 0"
        " AND typisdefined AND typnamespace = 'pg_catalog'::regnamespace AND typname !~ '^_'"
    ).fetchall()
    kinds = sorted(name for (name,) in named)
    kinds += ["numeric(1000, 500)", "varchar(3)", "char(3)", "integer[]", "ward.mood", "ward.short"]
    connection.execute("CREATE TYPE ward.mood AS ENUM ('7', 'x', '')")
    connection.execute("CREATE DOMAIN ward.short AS text CHECK (length(value) < 9)")
    words = [word for word in WORDS if "\0" not in word]

    def column(kind: str) -> Poisoned | None:
        def build(cells: list[Any]) -> Source:
            connection.execute("DROP TABLE IF EXISTS ward.rows")
            connection.execute(f"CREATE TABLE ward.rows (a {kind}, b text, who text)")
            for place, cell in enumerate(cells):
                row = [cell, who(place)]
                connection.execute(f"INSERT INTO ward.rows SELECT %s::{kind}, 'x', %s", row)
            return connection, {"table": "ward.rows"}

        fitting: list[str | None] = []
        with suppress(psycopg.Error):  # a type that no column can have
            build([None])
            fitting.append(None)
        for word in words if fitting else ():
            with suppress(psycopg.Error):
                connection.execute(f"SELECT octet_length((%s::{kind})::text)", [word])
                fitting.append(word)
        if not fitting:
            return None
        good = next((word for word in ("7", "2024-01-01", "true") if word in fitting), None)
        return Poisoned(kind, good, fitting, build)

    yield from few_made(kinds, 8, column)


def spark_types() -> list[str]:
    """Return every plain type that Spark has a class for, and those with parameters."""
    from pyspark.sql import types  # noqa: PLC0415 - an extra

    kinds, waiting = [], [types.AtomicType]
    while waiting:
        waiting += (known := waiting.pop()).__subclasses__()
        with suppress(Exception):
            kinds.append(known().simpleString())
    kinds += ["decimal(38,0)", "decimal(38,38)", "decimal(3,3)", "decimal(20,2)"]
    kinds += ["string collate UTF8_LCASE", "array<int>", "struct<a:int>"]
    return sorted(dict.fromkeys(kinds))


def spark(session: Any, folder: Path) -> Iterator[Poisoned]:
    """Yield every type of Spark that a file can hold, by an open session."""
    made = ["double('NaN')", "float('-Infinity')", "double('1e308')", "-0.0D", "cast(null as int)"]
    made += ["date_from_unix_date(2147483647)", "date_from_unix_date(-2147483648)", "char(0)"]
    made += ["timestamp_micros(9223372036854775807)", "timestamp_micros(-9223372036854775808)"]
    made += ["cast(X'FF37' as string)", "cast(X'EDA080' as string)", "X'FF'", "date'0001-01-01'"]
    made += ["9223372036854775807L", "cast(repeat('9', 38) as decimal(38,0))"]
    made += ["timestamp'9999-12-31 23:59:59.999999-18:00'", f"repeat('7', {LONG})"]
    goods = ["'7'", "7", "date'2024-01-01'", "true", "array(7)", "named_struct('a', 7)"]
    words = [word for word in WORDS if len(word) < 500 and "\0" not in word]

    def is_fit(form: str) -> bool:
        with suppress(Exception):
            return bool(session.sql(f"SELECT {form}").schema)
        return False

    def column(kind: str) -> Poisoned | None:
        cast = "cast({} as {})" if kind.startswith(("array", "struct")) else "try_cast({} as {})"
        fitting = [
            form for form in (cast.format(cell, kind) for cell in (*goods, *made)) if is_fit(form)
        ]
        has_words = is_fit(cast.format("'7'", kind))

        def build(cells: list[str]) -> Source:
            path = str(folder / secrets.token_hex(8))
            text = cast.format("word", kind)
            given = [cell.removeprefix("word ") for cell in cells if cell.startswith("word ")]
            forms = [cell for cell in cells if not cell.startswith("word ")]
            queries = [
                f"SELECT {cell} AS a, 'x' AS b, '{who(i)}' AS who" for i, cell in enumerate(forms)
            ]
            rows = session.sql(" UNION ALL ".join(queries))
            if given:
                names = [(word, f"w{place}") for place, word in enumerate(given)]
                more = session.createDataFrame(names, "word string, who string")
                rows = rows.union(more.selectExpr(f"{text} AS a", "'x' AS b", "who"))
            rows.coalesce(1).write.parquet(path)
            return session.read.parquet(path), {}

        if not fitting or not held([fitting[0]], build, fitting[0]):
            return None
        more = [f"word {word}" for word in words] if has_words else []
        return Poisoned(kind, fitting[0], [*fitting, *more], build)

    yield from few_made(spark_types(), 3, column)


# Sheets and statistics


def sheet(folder: Path) -> Iterator[Poisoned]:
    digits = "9" * 5000
    words = [
        escape(word) for word in WORDS if all(sign >= " " and sign < "\ufffe" for sign in word)
    ]
    words += ["_xD800_", "_x0000_", "_xFFFF_"]
    forms = {
        "text": ('<c t="str"><v>7</v></c>', [f'<c t="str"><v>{word}</v></c>' for word in words]),
        "inline": (
            '<c t="inlineStr"><is><t>7</t></is></c>',
            [f'<c t="inlineStr"><is><t>{word}</t></is></c>' for word in words],
        ),
        "number": ("<c><v>7</v></c>", [f"<c><v>{word}</v></c>" for word in words]),
        "boolean": ('<c t="b"><v>1</v></c>', [f'<c t="b"><v>{word}</v></c>' for word in words]),
        "date": ('<c t="d"><v>2024-01-01</v></c>', [f'<c t="d"><v>{w}</v></c>' for w in words]),
        "shared": ('<c t="s"><v>0</v></c>', [f'<c t="s"><v>{word}</v></c>' for word in words]),
        "styled": (
            '<c s="0"><v>7</v></c>',
            [f'<c s="{s}"><v>{v}</v></c>' for s in (1, -1, 10**9, digits) for v in ("7", digits)],
        ),
        "error": ("<c><v>7</v></c>", ['<c t="e"><v>#N/A</v></c>', '<c t="x"><v>7</v></c>', "<c/>"]),
    }

    def build(cells: list[str]) -> Source:
        path = excel(folder, ["a", "b", "who"])
        with zipfile.ZipFile(path) as book:
            parts = {part: book.read(part) for part in book.namelist()}
        rows = "".join(
            f'<row>{cell}<c t="str"><v>x</v></c><c t="str"><v>{who(place)}</v></c></row>'
            for place, cell in enumerate(cells)
        )
        name = "xl/worksheets/sheet1.xml"
        parts[name] = parts[name].replace(b"</sheetData>", rows.encode() + b"</sheetData>")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as book:
            for part, content in parts.items():
                book.writestr(part, content)
        return path, {}

    for kind, (good, cells) in forms.items():
        yield Poisoned(kind, good, cells, build)


MARK = struct.unpack("<d", b"\1\2\3\4\5\6\7\x40")[0]
DOUBLES = [struct.pack("<d", number) for number in FLOATS if not math.isnan(number)] + [
    *(b"\xff" * 8, b"\xff" * 7 + b"\x7f", b"\0" * 7 + b"\x80", b"\0" * 6 + b"\xf8\x7f"),
    *(b"\0" * 6 + b"\xe0\x7f", b"\xff" * 6 + b"\xef\xff", b"\xfe" + b"\xff" * 5 + b"\xef\xff"),
    *(struct.pack("<d", 1e15), struct.pack("<d", -1e15), struct.pack("<d", 253402300800.0)),
]


def statistics(folder: Path, name: str) -> Iterator[Poisoned]:
    """Yield numbers, days, moments and text, whose bytes are put in place of those of a mark."""
    write = pyreadstat.write_sav if name.endswith("sav") else pyreadstat.write_dta
    path = folder / name

    def number(cells: list[bytes], form: str | None = None) -> Source:
        names = [who(place) for place in range(len(cells))]
        frame = pd.DataFrame({"a": [MARK] * len(cells), "b": ["x"] * len(cells), "who": names})
        formats = {} if form is None else {"variable_format": {"a": form}}
        write(frame, str(path), **formats)
        return replaced(cells, b"\1\2\3\4\5\6\7\x40")

    def text(cells: list[bytes]) -> Source:
        names = [who(place) for place in range(len(cells))]
        frame = pd.DataFrame(
            {"a": ["abcdefgh"] * len(cells), "b": ["x"] * len(cells), "who": names}
        )
        write(frame, str(path))
        return replaced([cell[:8].ljust(8) for cell in cells], b"abcdefgh")

    def replaced(cells: list[bytes], mark: bytes) -> Source:
        parts = path.read_bytes().split(mark)
        assert len(parts) == len(cells) + 1
        whole = parts[0] + b"".join(c + part for c, part in zip(cells, parts[1:], strict=True))
        path.write_bytes(whole)
        return path, {}

    seven = struct.pack("<d", 7.0)
    yield Poisoned("number", seven, DOUBLES, number)
    forms = ["DATE11", "DATETIME20", "TIME8"] if name.endswith("sav") else ["%td", "%tc", "%tm"]
    for form in forms:
        yield Poisoned(form, seven, DOUBLES, lambda cells, form=form: number(cells, form))
    short = [word.encode() for word in WORDS if len(word) < 99]
    yield Poisoned("text", b"7", [*short, *BYTES], text)


def spss(folder: Path) -> Iterator[Poisoned]:
    yield from statistics(folder, "a.sav")


def stata(folder: Path) -> Iterator[Poisoned]:
    yield from statistics(folder, "a.dta")

    def long(cells: list[str]) -> Source:
        names = [who(place) for place in range(len(cells))]
        frame = pd.DataFrame({"a": cells, "b": ["x"] * len(cells), "who": names})
        path = folder / "long.dta"
        frame.to_stata(path, version=118, convert_strl=["a"], write_index=False)
        return path, {}

    yield Poisoned("strL", "7", [word for word in WORDS if "\0" not in word], long)


HERE: dict[str, Callable[[Path], Iterator[Poisoned]]] = {
    "csv": csv,
    "tsv": tsv,
    "json lines": json_lines,
    "json array": json_array,
    "parquet": parquet,
    "duckdb file": duckdb_file,
    "sqlite file": sqlite_file,
    "excel": sheet,
    "spss": spss,
    "stata": stata,
    "pandas": pandas,
    "polars": polars,
    "arrow": arrow,
    "duckdb relation": duckdb_relation,
    "list": lists,
    "sqlalchemy": sqlalchemy,
}
"""The sources that need no server."""
