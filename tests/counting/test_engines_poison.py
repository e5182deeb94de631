"""A matrix of poison records and engines: each is one record, and no release fails by one."""

from __future__ import annotations

import datetime as dt
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyarrow import feather
from support.draws import DICE, SOAK, few, some

import dproo
from dproo import Alphabet, ReleaseError, counting
from dproo.counting.sources import file_scan, files, footer
from dproo.counting.sources.descriptors import Opened
from dproo.counting.sources.footer import chunks_of
from dproo.counting.sources.text import cleaning
from dproo.schema.cell import text_of

pytestmark = pytest.mark.one_of(3)

MIB = 1 << 20
ALPHABETS: list[Any] = [["x", "7"], range(7, 9), Alphabet.bins([7, 8])]

CSV_RECORDS = {
    "a long cell": b"1," + b"y" * (20 * MIB),
    "a long cell of another column": b"y" * (20 * MIB) + b",z",
    "many cells": b"1,z" + b"," * (17 * MIB),
    "a long cell of several lines": b'1,"' + b"y\n" * (9 * MIB) + b'"',
    "a cell of quotes": b'1,"' + b'""' * (9 * MIB) + b'"',
    "no text": b"1,\xff",
    "no text in another column": b"\xff\xfe,z",
    "half a character": b"1,\xf0\x9f",
    "a surrogate": b"1,\xed\xa0\x80",
    "zeros": b"\x00\x00,\x00",
    "too many cells": b"1,z,3,4",
    "too few cells": b"1",
    "a quote within": b'1,z"z',
    "text behind a quote": b'1,"z"z',
}
JSON_RECORDS = {
    "a long text": b'{"b": "' + b"y" * (20 * MIB) + b'"}',
    "a very long text": b'{"b": "' + b"y" * (70 * MIB) + b'"}',
    "a long text of another column": b'{"c": "' + b"y" * (40 * MIB) + b'", "b": "z"}',
    "much space within": b'{"b": ' + b" " * (33 * MIB) + b'"x"}',
    "no text": b'{"b": "\xff"}',
    "no text in another column": b'{"c": "\xff", "b": "z"}',
    "deep": b'{"b": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deeper, and open": b'{"b": ' + b"[" * 5_000_000,
    "deep objects": b'{"b":' * 100_000 + b"1" + b"}" * 100_000,
    "a key twice": b'{"b": "z", "b": "y"}',
    "a wrong escape": b'{"b": "\\q"}',
    "half a pair": b'{"b": "\\ud800"}',
    "many digits": b'{"b": ' + b"9" * 100_000 + b"}",
    "many decimals": b'{"b": 0.' + b"7" * 100_000 + b"}",
    "a great exponent": b'{"b": 1e999999999}',
    "a zero": b'{"b": "\\u0000"}',
    "zeros": b"\x00\x00",
    "open": b'{"b": "x',
    "two": b'{"b": "x"} {"b": "x"}',
    "no object": b"[7]",
}


def assert_one_more(path: Path, content: Callable[[bytes], bytes], record: bytes) -> None:
    """Expect one record more, outside, and all others as they are without it."""
    counts = []
    alphabets = few(ALPHABETS, 1)
    for more in (b"", record + b"\n"):
        path.write_bytes(content(more))
        counts.append([list(counting.count(path, alphabet=a, column="b")) for a in alphabets])
    for without, with_it in zip(*counts, strict=True):
        assert with_it == [*without[:-1], without[-1] + 1]


@pytest.mark.one_of(3)
@pytest.mark.parametrize("name", some(CSV_RECORDS, one_of=10))
def test_a_poisoned_line_of_csv_is_one_record(name: str, tmp_path: Path) -> None:
    good = b"1,x\n2,7\n"
    path = tmp_path / "x.csv"
    assert_one_more(path, lambda record: b"a,b\n" + good + record + good, CSV_RECORDS[name])


@pytest.mark.parametrize("name", some(JSON_RECORDS, one_of=10))
def test_a_poisoned_line_of_json_is_one_record(name: str, tmp_path: Path) -> None:
    good = b'{"b": "x"}\n{"b": 7}\n'
    path = tmp_path / "x.jsonl"
    assert_one_more(path, lambda record: good + record + good, JSON_RECORDS[name])


@pytest.mark.one_of(3)
@pytest.mark.parametrize(
    "length",
    [
        *([9 * MIB, 16 * MIB, 17 * MIB, 31 * MIB, 32 * MIB - 1] if SOAK else []),
        32 * MIB,
        32 * MIB + 1,
    ],
)
def test_a_long_line_of_json_is_the_same_letter_beside_a_longer_one(
    length: int, tmp_path: Path
) -> None:
    """A line that makes the scan begin anew changes no other line's letter."""
    path = tmp_path / "x.jsonl"
    empty = len(b'{"b": "x", "c": ""}')
    line = b'{"b": "x", "c": "' + b"y" * (length - empty) + b'"}\n'
    longer = b"y" * (40 * MIB) + b"\n"
    for others in (b"", longer):
        for before in few([b"", b'{"b": "z"}\n' * 100_000], 1):
            path.write_bytes(before + line + others)
            assert counting.count(path, alphabet=["x"], column="b")[0] == (length <= 32 * MIB)


def invalid(cells: list[bytes | None], kind: pa.DataType) -> pa.Array:
    """Return text of Arrow that is not what it says."""
    bare = pa.array(cells, pa.binary_view() if kind == pa.string_view() else pa.binary())
    if kind == pa.large_string():
        bare = bare.cast(pa.large_binary())
    if pa.types.is_dictionary(kind):
        indices = pa.array([None if cell is None else i for i, cell in enumerate(cells)], pa.int8())
        texts = [cell or b"" for cell in cells]
        return pa.DictionaryArray.from_arrays(indices, invalid(texts, pa.string()))
    return bare.view(kind)


BYTES = [b"x", b"\xff", b"7", b"x\xff", None, b"\xed\xa0\x80", b"x" + b"\xc3" * 5000, b"\xf0\x9f"]
TEXTS = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]


def holders(column: pa.Array, folder: Path) -> Iterator[Any]:
    """Yield a column of Arrow in every hand that takes it without a look at its bytes."""
    yield column
    yield pa.table({"a": column})
    yield pa.table({"a": pa.chunked_array([column.slice(0, 3), column.slice(3)])})
    frame = pd.DataFrame({"a": pd.arrays.ArrowExtensionArray(pa.chunked_array([column]))})
    yield frame
    yield frame.assign(b=1)
    if not pa.types.is_dictionary(column.type) and column.type != pa.string_view():
        for kind, use_dictionary in (("plain", False), ("dictionary", True)):
            path = folder / f"{kind}.parquet"
            pq.write_table(pa.table({"a": column}), path, use_dictionary=use_dictionary)
            yield path


@pytest.mark.one_of(3)
@pytest.mark.parametrize("kind", some(TEXTS, one_of=4), ids=str)
def test_bytes_that_are_not_text_are_one_record_each(kind: pa.DataType, tmp_path: Path) -> None:
    column = invalid(BYTES, kind)
    for data in holders(column, tmp_path):
        options = {} if isinstance(data, pa.Array) else {"column": "a"}
        counts = counting.count(data, alphabet=["x", "7"], **options)
        assert list(counts) == [1, 1, len(BYTES) - 2], type(data)
        assert list(counting.count(data, alphabet=range(7, 8), **options)) == [1, len(BYTES) - 1]
        bins = counting.count(data, alphabet=Alphabet.bins([7, 8]), **options)
        assert list(bins) == [1, len(BYTES) - 1], type(data)


def test_bytes_that_are_not_text_in_one_column_leave_the_others_alone(tmp_path: Path) -> None:
    rows = pa.table({"a": invalid([b"\xff", b"x"], pa.string()), "b": ["y", "y"]})
    pq.write_table(rows, tmp_path / "x.parquet")
    objects = rows.to_pandas(types_mapper=pd.ArrowDtype).assign(b=np.array(["y", "y"], object))
    for data in (rows, tmp_path / "x.parquet", objects):
        assert list(counting.count(data, alphabet=["y"], column="b")) == [2, 0]
        assert list(counting.count(data, alphabet={"a": ["x"], "b": ["y"]})) == [1, 1]


PARTITIONED = {
    pa.string(): "x",
    pa.large_string(): "x",
    pa.int8(): 7,
    pa.int64(): 7,
    pa.float64(): 7.0,
    pa.bool_(): True,
    pa.date32(): dt.date(2024, 1, 2),
}


@pytest.mark.parametrize("form", ["parquet", "ipc"])
@pytest.mark.parametrize("kind", some(PARTITIONED, one_of=4), ids=str)
def test_a_null_that_a_folder_names_is_one_record(
    kind: pa.DataType, form: str, tmp_path: Path
) -> None:
    """Arrow gives the cells of such a partition no type, and one of them ended the count."""
    cell = PARTITIONED[kind]
    letter = cell if isinstance(cell, str) else text_of(cell)
    rows = pa.table({"a": pa.array([cell, cell, None], kind), "b": ["y"] * 3, "p": list("uvw")})
    parts = ds.partitioning(pa.schema([("a", kind)]), flavor="hive")
    ds.write_dataset(rows, tmp_path, format=form, partitioning=parts)
    data = ds.dataset(tmp_path, format=form, partitioning=parts)
    for dataset in (data, data.filter(ds.field("b") == "y"), ds.dataset([data, data])):
        twice = 2 if hasattr(dataset, "children") else 1
        counts = [2 * twice, twice]
        assert list(counting.count(dataset, alphabet=[letter], column="a")) == counts
    assert list(counting.count(data, alphabet={"a": [letter], "b": ["y"]})) == [2, 1]
    assert list(counting.count(data, alphabet=["y"], column="b", person="a")) == [1, 1]


@pytest.mark.one_of(3)
@pytest.mark.parametrize("index", [pa.int8(), pa.int16(), pa.int32(), pa.int64()], ids=str)
def test_a_category_in_a_dataset_is_counted_whatever_its_bytes_are(
    index: pa.DataType, tmp_path: Path
) -> None:
    """Arrow checked it when it converted the indices, and one value ended the count."""
    for text, (i, part) in product([pa.string(), pa.large_string()], enumerate("ab")):
        texts = invalid([b"x", b"\xff", b"7"], text)
        cells = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, i], index), texts)
        folder = tmp_path / str(text) / f"part={part}"
        folder.mkdir(parents=True)
        rows = pa.table({"a": cells, "p": [f"{part}{i}" for i in range(4)]})
        pq.write_table(rows, folder / "x.parquet", row_group_size=3)
    for text in ("string", "large_string"):
        data = ds.dataset(tmp_path / text, partitioning="hive")
        few_rows = ds.FileSystemDataset(
            [next(data.get_fragments()).subset(row_group_ids=[0])], data.schema, data.format
        )
        for dataset, counts in ((data, [3, 0, 5]), (few_rows, [1, 0, 2])):
            for options in ({}, {"person": "p"}):
                scan = counting.prepare(dataset, alphabets=[["x", "7"]], columns=["a"], **options)
                assert scan.warnings == ()
                assert list(scan.count()) == counts
        assert list(counting.count(data, alphabet=["a"], column="part")) == [4, 4]


def test_a_category_beside_moments_that_arrow_reads_is_counted_alike(tmp_path: Path) -> None:
    texts = invalid([b"x", b"\xff"], pa.dictionary(pa.int8(), pa.string()))
    rows = pa.table({"a": texts, "m": pa.array([0, 1], pa.timestamp("ms"))})
    pq.write_table(rows, tmp_path / "x.parquet")
    days = replace(Alphabet.of(["1970-01-01"]).read_as("date"), columns=("m",))
    both = [replace(Alphabet.of(["x"]), columns=("a",)), days]
    tables = counting.prepare(tmp_path / "x.parquet", alphabets=both).count_several()
    assert list(map(list, tables)) == [[1, 1], [2, 0]]


def test_a_dataset_that_a_cell_may_break_is_announced(tmp_path: Path) -> None:
    rows = pa.table({"a": pa.array(["x", "x"]).dictionary_encode(), "b": [7, 8]})
    pq.write_table(rows, tmp_path / "x.parquet")
    pq.write_table(rows.select(["b"]), tmp_path / "plain.parquet")
    (tmp_path / "x.csv").write_text("a,b\nx,7\nx,8\n")
    (tmp_path / "x.json").write_text('{"a": "x", "b": 7}\n{"a": "x", "b": 8}\n')
    feather.write_feather(rows, tmp_path / "x.arrow")
    files = {kind: ds.dataset(tmp_path / f"x.{kind}", format=kind) for kind in FORMATS}
    filtered = files["parquet"].filter(ds.field("b") > 0)
    plain = ds.dataset(tmp_path / "plain.parquet")
    safe = [files["parquet"], files["arrow"], ds.dataset(rows), plain, ds.dataset([plain, plain])]
    unsafe = [files["csv"], files["json"], filtered, ds.dataset([files["parquet"]] * 2)]
    for dataset in (*safe, *unsafe):
        scan = counting.prepare(dataset, alphabets=[[7]], columns=["b"])
        is_announced = any("makes it fail" in warning for warning in scan.warnings)
        assert is_announced == any(dataset is one for one in unsafe)
        assert scan.count()[0] == len(getattr(dataset, "children", "1"))


FORMATS = ("parquet", "csv", "json", "arrow")


class Library:
    """A table of a library that is known by the Arrow stream protocol alone."""

    def __init__(self, table: pa.Table, select: Callable[..., Any] | None) -> None:
        self.table, self.schema = table, table.schema
        if select is not None:
            self.select = lambda *names: Library(select(table, list(names)), select)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        if "b" in self.schema.names:
            raise RuntimeError("a cell cannot be converted")
        return self.table.__arrow_c_stream__(requested_schema)


def beside_a_broken_cell(folder: Path) -> Iterator[Any]:
    """Yield tables with columns a and p, and a cell in b that their library cannot convert."""
    ibis = pytest.importorskip("ibis")
    rows = {"a": ["x", "y"], "b": ["7", "seven"], "p": ["ann", "bob"]}
    with closing(sqlite3.connect(folder / "x.sqlite3")) as file, file:
        file.execute("CREATE TABLE t (a TEXT, b INTEGER, p TEXT)")
        file.executemany("INSERT INTO t VALUES (?, ?, ?)", zip(*rows.values(), strict=True))
    table = ibis.sqlite.connect(folder / "x.sqlite3").table("t")
    yield from (table, table.filter(table.a != "z"))
    table = ibis.memtable(pa.table(rows))
    yield table.mutate(b=table.b.cast("int64"))
    yield pl.LazyFrame(rows).with_columns(pl.col("b").cast(pl.Int64))
    connection = duckdb.connect()
    connection.register("rows", pa.table(rows))
    yield connection.sql("SELECT a, CAST(b AS INTEGER) AS b, p FROM rows")
    pa.csv.write_csv(pa.table(rows), folder / "x.csv")
    types = pa.schema({"a": pa.string(), "b": pa.int64(), "p": pa.string()})
    yield ds.dataset(folder / "x.csv", format="csv", schema=types)
    yield Library(pa.table(rows), pa.Table.select)


@pytest.mark.one_of(3)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the engine below Ibis
def test_a_cell_of_a_column_that_is_not_named_decides_nothing(tmp_path: Path) -> None:
    """Ibis converted all columns, and failed after the charge by a cell of any of them."""
    for data in beside_a_broken_cell(tmp_path):
        assert list(counting.count(data, alphabet=["x"], column="a")) == [1, 1], type(data)
        counts = counting.count(data, alphabet=["x"], column="a", person="p")
        assert list(counts) == [1, 1], type(data)
        with pytest.raises(ReleaseError):
            counting.count(data, alphabet=["7"], column="b")


EXTREMES = {
    "moments": (pa.timestamp("us"), pa.int64()),
    "moments with a zone": (pa.timestamp("us", "UTC"), pa.int64()),
    "moments in milliseconds": (pa.timestamp("ms"), pa.int64()),
    "moments in nanoseconds": (pa.timestamp("ns"), pa.int64()),
    "days": (pa.date32(), pa.int32()),
    "times": (pa.time64("us"), pa.int64()),
    "spans": (pa.duration("us"), pa.int64()),
}


@pytest.mark.parametrize("kind", EXTREMES.values(), ids=EXTREMES)
def test_the_least_and_greatest_cells_of_another_column_decide_nothing(
    kind: tuple[pa.DataType, pa.DataType], tmp_path: Path
) -> None:
    """DuckDB converts those that a footer states, and may fail on one."""
    other, stored = kind
    numbers = pa.array([Decimal("7.5"), Decimal(9)], pa.decimal128(10, 2))
    (greatest,) = np.array([-1], stored.to_pandas_dtype()).view(f"u{stored}") >> 1
    for share in (1, 1000, 1024, 10**6):
        extremes = pa.array([int(greatest) // share, -int(greatest) // share], stored).view(other)
        pq.write_table(pa.table({"n": numbers, "other": extremes}), tmp_path / "a.parquet")
        bins = Alphabet.bins([7, 8])
        found = counting.count(tmp_path / "a.parquet", alphabet=bins, column="n")
        assert list(found) == [1, 1]
        assert not files.require_same_columns([str(tmp_path / "a.parquet")], but=["BROTLI"])


def test_the_place_that_geometries_cover_decides_nothing(tmp_path: Path) -> None:
    """Programs state it in a file: without any geometry as NaN, which is not JSON."""
    table = pa.table({"c": ["a", "b"], "g": pa.array([None, None], pa.binary())})
    for name, places in {"a": "[1.0, 2.0, 1.0, 2.0]", "b": "[NaN, NaN, NaN, NaN]"}.items():
        column = f'{{"encoding": "WKB", "geometry_types": [], "bbox": {places}}}'
        stated = f'{{"version": "1.1.0", "primary_column": "g", "columns": {{"g": {column}}}}}'
        pq.write_table(table.replace_schema_metadata({"geo": stated}), tmp_path / f"{name}.parquet")
    paths = [str(tmp_path / f"{name}.parquet") for name in "ab"]
    first, second = (dproo.open(path).columns for path in paths)
    assert first == second
    assert not files.require_same_columns(paths, but=["BROTLI"])


def test_a_footer_shows_how_columns_are_stored(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    nested = [{"b": True, "c": [1, 2]}] * 40
    table = pa.table({"a": nested, "é" * 300: range(40), "d": [Decimal(n) for n in range(40)]})
    pq.write_table(table, path, row_group_size=9, compression={"d": "zstd"})
    metadata = pq.read_metadata(path)
    groups, columns = range(metadata.num_row_groups), range(metadata.num_columns)
    stored = [metadata.row_group(group).column(place) for group in groups for place in columns]
    assert [
        (".".join(chunk.path), chunk.compression) for chunk in chunks_of(Opened(str(path)))
    ] == [(column.path_in_schema, column.compression) for column in stored]


@pytest.mark.parametrize("kind", [b"\x01", b"\x02", b"\x07"], ids=["true", "false", "double"])
def test_a_list_in_a_footer_ends_where_the_footer_does(kind: bytes) -> None:
    """Else a stated length of 2^60 would not end."""
    stated = bytes([0xF0 | kind[0]]) + b"\xe8\x07"  # 1,000 values
    with pytest.raises(IndexError):
        footer._value(stated + bytes(900), 0, 9)
    with pytest.raises(ValueError, match="integer"):
        footer._count(b"\x80" * 300_000 + b"\0", 0)


@pytest.mark.parametrize(
    "select",
    [
        None,
        lambda table, names: table.select(names[::-1]),
        lambda table, names: table.select(["c", *names]),
        lambda table, names: table.select(["c"]).rename_columns(names[:1]),
        lambda table, names: table[names],
    ],
)
def test_a_library_that_selects_something_else_is_read_whole(select: Any) -> None:
    table = pa.table({"c": [1, 2], "a": ["x", "y"], "p": ["ann", "bob"]})
    for options in ({}, {"person": "p"}):
        data = Library(table, select)
        assert list(counting.count(data, alphabet=["x"], column="a", **options)) == [1, 1]


@pytest.mark.parametrize("kind", [pa.date32(), pa.date64()], ids=str)
def test_days_beyond_the_calendar_are_one_record_each(kind: pa.DataType, tmp_path: Path) -> None:
    unit = 1 if kind == pa.date32() else 86_400_000
    days = [20455, None, -(2**31), 2**31 - 1, -719_163, 2_932_897]
    bare = pa.array(
        [None if d is None else d * unit for d in days],
        (kind.bit_width == 32 and pa.int32()) or pa.int64(),
    )
    column = bare.view(kind)
    pq.write_table(pa.table({"a": column}), tmp_path / "x.parquet")
    expected = [1, len(days) - 1]
    for data in (column, tmp_path / "x.parquet", pd.Series(pd.arrays.ArrowExtensionArray(column))):
        options = {"column": "a"} if isinstance(data, Path) else {}
        assert list(counting.count(data, alphabet=["2026-01-02"], **options)) == expected
    if kind == pa.date32():
        series = pl.Series("a", days, dtype=pl.Int32).cast(pl.Date)
        for data in (
            series,
            series.to_frame().lazy(),
            duckdb.connect().from_arrow(pa.table({"a": column})),
        ):
            assert list(counting.count(data, alphabet=["2026-01-02"])) == expected


class Hostile:
    """A cell none of whose methods can be called."""

    def _refuse(self, *_: object) -> Any:
        raise RuntimeError("secret")

    __eq__ = __hash__ = __len__ = __repr__ = __str__ = __bool__ = __iter__ = _refuse  # type: ignore[assignment]
    __float__ = __int__ = __index__ = __abs__ = __lt__ = _refuse


class HostileText(str):
    __slots__ = ()
    __str__ = __eq__ = __hash__ = Hostile._refuse  # type: ignore[assignment]


class HostileInteger(int):
    __abs__ = __str__ = __int__ = __float__ = Hostile._refuse  # type: ignore[assignment]


class HostileRow(dict):  # type: ignore[type-arg]
    get = __getitem__ = Hostile._refuse  # type: ignore[assignment]


OBJECTS: list[Any] = [
    *(Hostile(), HostileText("x"), HostileInteger(7), HostileRow(), [], {}, b"x", object()),
    *(np.array([1, 2]), np.ma.masked, pd.NA, pd.NaT, float("nan"), Decimal("sNaN"), 10**5000),
    *(Decimal("1e999999"), "\ud800", "x" * MIB, 1j, dt.datetime(2026, 1, 2), Ellipsis, type),  # noqa: DTZ001
]


@pytest.mark.parametrize(
    "hold",
    [
        list,
        iter,
        lambda cells: pd.Series(cells, dtype=object),
        lambda cells: np.fromiter(cells, dtype=object, count=len(cells)),
        lambda cells: pl.Series(cells, dtype=pl.Object),
    ],
)
def test_an_object_is_one_record_whatever_its_methods_do(hold: Callable[[Any], Any]) -> None:
    for cell in OBJECTS:
        cells = ["x", cell, "x"]
        for alphabet, good in ((["x"], 2), (range(2), 0), (Alphabet.bins([0, 1]), 0)):
            counts = list(counting.count(hold(cells), alphabet=alphabet))
            assert sum(counts) == 3
            assert good <= counts[0] <= 3


def test_a_row_is_one_record_whatever_its_methods_do() -> None:
    rows = [HostileRow(a="x"), {"a": "x"}, Hostile(), [Hostile()], ["x"]]
    assert list(counting.count(rows, alphabet={"a": ["x"]})) == [2, 3]


@pytest.mark.one_of(3)
def test_blanks_around_a_line_of_json_are_not_of_it(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    blanks = b"".join(blank * (13 * MIB) for blank in (b" ", b"\t", b"\r"))
    for line in few([b'{"b": "x"}' + blanks, blanks + b'{"b": "x"}'], 1):
        for others in (b"", b"\n" + b"y" * (40 * MIB)):
            path.write_bytes(b"{}\n" + line + others)
            counts = counting.count(path, alphabet=["x"], column="b")
            assert list(counts) == [1, 1 + bool(others)]


def test_both_ways_to_read_json_are_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The way for long lines reads every other line as the fast way does."""
    pieces = [
        b"{",
        b"}",
        b'"b"',
        b":",
        b'"x"',
        b"7",
        b" ",
        b"\r",
        b",",
        b"[",
        b"\xff",
        b"\\",
        b"\x00",
    ]
    lines = [b"".join(DICE.choices(pieces, k=DICE.randrange(8))) for _ in range(2000)]
    lines += [json.dumps({"b": DICE.choice(["x", 7, None])}).encode() for _ in range(2000)]
    DICE.shuffle(lines)
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"\n".join(lines))
    fast = counting.count(path, alphabet=["x", 7], column="b")
    counted = file_scan._counted
    monkeypatch.setattr(
        file_scan, "_counted", lambda *a, **options: counted(*a, **options | {"is_piped": True})
    )
    assert counting.count(path, alphabet=["x", 7], column="b") == fast


def test_text_is_repaired_wherever_it_is_cut() -> None:
    for _ in range(2000):
        text = bytes(DICE.choices(b"a\xc3\xa9\x80\xff\xe2\x82\xac\xed\xa0\xf0\x9f\x98", k=12))
        cuts = sorted(DICE.sample(range(13), 3))
        parts = [text[i:j] for i, j in zip([0, *cuts], [*cuts, 12], strict=True)]
        whole = b"".join(cleaning.valid_text(parts)).decode()
        assert whole == cleaning.repaired(text)


@pytest.mark.one_of(3)
@pytest.mark.parametrize("sign", some(["\u00e9", "\u20ac", "\U0001f600"], one_of=6))
def test_a_long_cell_beyond_ascii_leaves_the_rest_of_its_record_alone(
    sign: str, tmp_path: Path
) -> None:
    """One that was cut within a character took its whole record with it."""
    path = tmp_path / "x.csv"
    for more in range(4):
        rows = [f"{'y' * more}{sign * 9000},x,{person}" for person in ("ann", "bob")]
        path.write_text("\n".join(["a,b,who", *rows, ""]), encoding="utf-8")
        assert counting.count(path, alphabet=["z"], column="a", person="who").n == 2
        both = [{"a": ["z"]}, {"b": ["x"]}]
        _, others = counting.prepare(path, alphabets=both).count_several()
        assert list(others) == [2, 0]


@pytest.mark.one_of(3)
def test_memory_stays_flat_with_millions_of_bad_lines(tmp_path: Path) -> None:
    code = (
        "import sys; from dproo import counting;"
        "print(list(counting.count(sys.argv[1], alphabet=['x'], column='b')));"
        "print(*[line.split()[1] for line in open('/proc/self/status') if 'VmHWM' in line])"
    )
    files = {
        "x.csv": b"a,b\n" + b"1,\xff\n" * 3_000_000,
        "x.jsonl": b'{"b": "\xff"}\n{"b":\nx\n' * 1_000_000,
    }
    if not os.path.exists("/proc/self/status"):  # noqa: PTH110
        pytest.skip("the system does not tell the memory of a process")
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        command = [sys.executable, "-c", code, str(tmp_path / name)]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        counts, kilobytes = run.stdout.splitlines()
        assert counts == "[0, 3000000]"
        assert int(kilobytes) < 400 * 1024


@pytest.mark.parametrize("digits", some([308, 309, 5000], one_of=6))
def test_a_long_integer_of_duckdb_is_one_record_however_it_is_read(digits: int) -> None:
    connection = duckdb.connect()
    long = "9" * digits
    connection.execute("CREATE TABLE rows AS SELECT CAST('7' AS BIGNUM) AS b, 'ann' AS who")
    connection.execute(f"INSERT INTO rows SELECT CAST('{long}' AS BIGNUM), 'bob'")
    for alphabet in (["7"], range(7, 8), Alphabet.bins([7, 8])):
        for person in (None, "who"):
            counts = counting.count(
                connection.table("rows"), alphabet=alphabet, column="b", person=person
            )
            assert list(counts) == [1, 1], (alphabet, person)
    people = counting.count(connection.table("rows"), alphabet=["ann"], column="who", person="b")
    assert people.n == 2


def test_a_category_without_a_value_is_a_column_like_any_other() -> None:
    for cells in ([None, None], []):
        frame = pd.DataFrame({"a": pd.Categorical(cells), "b": [1] * len(cells)})
        assert list(counting.count(frame, alphabet=["x"], column="a")) == [0, len(cells)]
        assert list(counting.count(frame["a"], alphabet=["x"])) == [0, len(cells)]
