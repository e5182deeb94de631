"""Several tables of counts at once: all of the same records, whichever engine counts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.draws import SOAK, few, some
from support.nasty import Batch, batch
from support.sources import SOURCES
from test_parity import FIRST_SEED, fill, plain

from dproo import Alphabet, Counts, ReleaseError, counting
from dproo.counting.query import CountQuery
from dproo.counting.sql import duckdb as duckdb_dialect
from dproo.counting.sql.statements import JOINS_MAX
from dproo.counting.tally import Tally

pytestmark = [pytest.mark.untraced, pytest.mark.one_of(3)]

BATCHES = 6 if SOAK else 4


def batches() -> list[Batch]:
    return [batch(FIRST_SEED + i) for i in range(BATCHES)]


def tables_of(nasty: Batch) -> list[Alphabet]:
    """Each column by itself, and both in either order; every other time with open columns."""
    axes = dict(zip(nasty.alphabet.columns, nasty.alphabet.axes, strict=True))
    if nasty.seed % 2:
        axes = {name: replace(axis, is_open=True) for name, axis in axes.items()}
    wanted = (("cell",), ("table", "cell"), ("table",), ("cell", "table"))
    return [Alphabet(axes=tuple(axes[name] for name in names), columns=names) for names in wanted]


def one_by_one(rows: pa.Table, alphabets: list[Alphabet]) -> list[Counts]:
    """Count a list of the rows by each alphabet alone."""
    cells = rows.to_pydict()
    return [
        counting.count(
            list(zip(*(cells[name] for name in alphabet.columns), strict=True)), alphabet=alphabet
        )
        for alphabet in alphabets
    ]


def assert_several(nasty: Batch, data: Any, **options: Any) -> None:
    alphabets = tables_of(nasty)
    try:
        scan = counting.prepare(
            data, alphabets=alphabets, columns=nasty.rows.column_names, **options
        )
    except ValueError as refused:
        if not (hasattr(data, "read_next_batch") and "several passes" in str(refused)):
            raise
        return  # a stream is read once, and these letters are too many for that
    expected = one_by_one(nasty.rows, alphabets)
    assert list(scan.count_several()) == expected, f"seed {nasty.seed}"


@pytest.mark.parametrize("name", some(SOURCES, one_of=6))
def test_every_engine_counts_by_several_alphabets_as_by_each(name: str, tmp_path: Path) -> None:
    for nasty in batches():
        data, options = SOURCES[name](nasty.rows, tmp_path)
        assert_several(nasty, data, **options)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # its own, of the engine below it
def test_ibis_counts_by_several_alphabets(tmp_path: Path) -> None:
    ibis = pytest.importorskip("ibis")
    backend = ibis.duckdb.connect()
    for nasty in batches():
        pq.write_table(nasty.rows, tmp_path / f"{nasty.seed}.parquet")
        assert_several(nasty, backend.read_parquet(tmp_path / f"{nasty.seed}.parquet"))


def test_postgresql_counts_by_several_alphabets(server: Any, postgresql: str) -> None:
    for i, nasty in enumerate(batches()):
        fill(server, f"several {i}", nasty.rows)
        assert_several(nasty, server if i % 2 else postgresql, table=("ward", f"several {i}"))


def test_spark_counts_by_several_alphabets(spark: Any, tmp_path: Path) -> None:
    for nasty in few(batches(), 1):
        assert_several(nasty, spark.createDataFrame(plain(nasty.rows)))
    lower = spark.sql(
        "SELECT col1 COLLATE UTF8_LCASE AS a, col2 AS b FROM VALUES ('x', 1), ('X', 2)"
    )
    scan = counting.prepare(lower, alphabets=[{"a": ["x"]}, {"a": ["x"], "b": [1, 2]}])
    assert list(map(list, scan.count_several())) == [[1, 1], [1, 0, 1]]
    pq.write_table(pa.table({"a": ["x", "y"], "b": [1, 1]}), tmp_path / "rows.parquet")
    scan = counting.prepare(
        tmp_path / "rows.parquet", alphabets=[{"a": ["x"]}, {"b": [1]}], engine="spark"
    )
    assert list(map(list, scan.count_several())) == [[1, 1], [2, 0]]
    assert_many_columns(spark.createDataFrame, columns=33 if SOAK else 3)


# Many columns


def assert_many_columns(
    hold: Callable[[pa.Table], Any], *, columns: int = 40, **options: Any
) -> None:
    """More columns than one mark is for, in pairs of neighbours."""
    names = [f"column {i}" for i in range(columns)]
    cells = {name: ["x" if i % (j + 2) else None for j in range(9)] for i, name in enumerate(names)}
    alphabets = [Alphabet.of({one: ["x"], other: ["x"]}) for one, other in pairwise(names)]
    rows = pa.table({name: pa.array(column, pa.string()) for name, column in cells.items()})
    found = counting.prepare(hold(rows), alphabets=alphabets, **options).count_several()
    assert list(found) == one_by_one(rows, alphabets)


def test_files_and_relations_have_any_number_of_columns(tmp_path: Path) -> None:
    def written(rows: pa.Table) -> Path:
        pq.write_table(rows, tmp_path / "wide.parquet")
        return tmp_path / "wide.parquet"

    assert_many_columns(written)
    assert_many_columns(lambda rows: duckdb.connect().from_arrow(rows))


def test_a_table_of_postgresql_has_any_number_of_columns(server: Any) -> None:
    def filled(rows: pa.Table) -> Any:
        columns = ", ".join(f'"{name}" text' for name in rows.column_names)
        server.execute(f"CREATE TABLE wide ({columns})")
        with server.cursor() as cursor, cursor.copy("COPY wide FROM STDIN") as copy:
            for row in zip(*rows.to_pydict().values(), strict=True):
                copy.write_row(row)
        return server

    assert_many_columns(filled, table="ward.wide")


# One reading

BOTH = [{"a": ["x", "y"]}, {"a": ["x", "y"], "b": ["x", "y"]}, {"b": ["x", "y"]}]
COIN = "CASE WHEN {} < 0.5 THEN 'x' ELSE 'y' END"
COINS = f"SELECT {COIN} AS a, {COIN} AS b FROM"


def assert_one_reading(data: Any, **options: Any) -> tuple[Counts, ...]:
    """The table of two columns has the sums of the tables of each."""
    first, both, second = counting.prepare(data, alphabets=BOTH, **options).count_several()
    pairs = list(both)[:4]
    assert list(first)[:2] == [sum(pairs[:2]), sum(pairs[2:])]
    assert list(second)[:2] == [sum(pairs[::2]), sum(pairs[1::2])]
    return first, both, second


def test_a_relation_that_differs_at_every_reading_is_read_once() -> None:
    random = COINS.replace("{}", "random()")
    connection = duckdb.connect()
    relation = connection.sql(f"{random} range(10001)")
    readings = [counting.count(relation, alphabet=["x"], column="a") for _ in range(6)]
    assert len({counts[0] for counts in readings}) > 1  # the control
    assert_one_reading(relation)
    connection.execute(f"CREATE VIEW coins AS {random} range(10001)")
    assert_one_reading(connection, table="coins")


def test_a_lazy_frame_is_read_once() -> None:
    readings = []

    def read(frame: pl.DataFrame) -> pl.DataFrame:
        readings.append(frame)
        return frame.with_columns(pl.col("a", "b").shuffle())

    frame = pl.DataFrame({"a": ["x", "x", "y", "y"], "b": ["y", "y", "x", "x"]})
    assert_one_reading(frame.lazy().map_batches(read))
    assert len(readings) == 1


def test_objects_of_a_lazy_frame_are_counted_whatever_their_column_is_called() -> None:
    names = "^.*$", "*"
    frame = pl.LazyFrame(
        {names[0]: ["x", 1, None], names[1]: ["y", "x", "y"]},
        schema={names[0]: pl.Object, names[1]: pl.String},
    )
    alphabets = [{names[0]: ["x", 1]}, {names[1]: ["y"], names[0]: ["x", 1]}]
    scan = counting.prepare(frame, alphabets=alphabets)
    assert list(map(list, scan.count_several())) == [[1, 1, 1], [1, 0, 2]]


def test_a_view_of_postgresql_that_differs_at_every_reading_is_read_once(server: Any) -> None:
    random = COINS.replace("{}", "random()")
    server.execute(f"CREATE VIEW coins AS {random} generate_series(1, 10001)")
    assert_one_reading(server, table="ward.coins")


def test_a_frame_of_spark_that_differs_at_every_reading_is_read_once(spark: Any) -> None:
    assert_one_reading(spark.sql(f"{COINS.replace('{}', 'rand()')} range(10001)"))


@pytest.mark.parametrize("is_url", [False, True])
def test_a_table_that_is_written_meanwhile_is_never_seen_half(
    server: Any, postgresql: str, *, is_url: bool
) -> None:
    server.execute("CREATE TABLE written (a text, b text)")
    is_over = threading.Event()

    def write() -> None:
        with psycopg.connect(postgresql, autocommit=True) as writer:
            while not is_over.is_set():
                writer.execute("INSERT INTO ward.written VALUES ('x', 'y'), ('y', 'x')")

    thread = threading.Thread(target=write)
    thread.start()
    try:
        sizes = set()
        while len(sizes) < 5:
            data = postgresql if is_url else server
            first, both, _ = assert_one_reading(data, table="ward.written")
            assert first[0] == first[1] == both[1] == both[2]
            sizes.add(first.n)
    finally:
        is_over.set()
        thread.join()


def test_an_iterator_is_read_once_and_only_when_counted() -> None:
    read: list[object] = []

    def rows() -> Iterator[dict[str, str]]:
        for cell in ("x", "y", "z"):
            read.append(cell)
            yield {"a": cell, "b": "x"}

    scan = counting.prepare(rows(), alphabets=BOTH)
    assert not read
    assert list(map(list, scan.count_several())) == [
        [1, 1, 1],
        [1, 0, 1, 0, 1],
        [3, 0, 0],
    ]
    assert read == ["x", "y", "z"]


# Poison


class _Raising(dict):  # type: ignore[type-arg]
    def get(self, *_: object) -> object:
        raise RuntimeError


def test_a_record_of_any_kind_is_one_record_of_every_table() -> None:
    rows = [{"a": "x", "b": "y"}, _Raising(), None, "xy", ("x",), ("x", "y", "x"), {}, ("x", [])]
    for counts in counting.prepare(rows, alphabets=BOTH).count_several():
        assert counts.n == len(rows)
    table = Alphabet.of({"a": ["x"], "b": ["y"]})
    opened = replace(table, axes=tuple(replace(axis, is_open=True) for axis in table.axes))
    (counts,) = counting.prepare(rows, alphabets=[opened]).count_several()
    assert list(counts) == [1, 1, 0, 6, 0]


def test_a_poison_line_is_one_record_of_every_table(tmp_path: Path) -> None:
    longest = b"z" * (17 << 20)
    # Its marks keep it from being cut: it is longer than any record that is read.
    table = b'a,b\nx,y\n"' + b'""'.join([longest[:1000]] * 17_000) + b'",y\n\xff,y\ny\n'
    (tmp_path / "rows.csv").write_bytes(table)
    lines = b'{"a": "x", "b": "y"}\n[' + longest * 2 + b']\n{"a": "\xff", "b": "y"}\n{"a": "y"\n'
    (tmp_path / "rows.jsonl").write_bytes(lines)
    for name in ("rows.csv", "rows.jsonl"):
        scan = counting.prepare(tmp_path / name, alphabets=BOTH)
        assert {counts.n for counts in scan.count_several()} == {4}, name
        assert scan.engine == "files"


def test_cells_that_are_too_many_to_group_are_mapped_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rows.parquet"
    duckdb.sql(
        "SELECT CASE WHEN i % 10 = 0 THEN 'x' ELSE md5(i::VARCHAR) || md5(i::VARCHAR) END AS a,"
        " CASE WHEN i % 4 = 0 THEN 'y' END AS b FROM range(1000000) AS r(i)"
    ).write_parquet(str(path))
    monkeypatch.setattr(duckdb_dialect, "MEMORY", "64MB")
    first, both, second = counting.prepare(path, alphabets=BOTH).count_several()
    assert list(first) == [100_000, 0, 900_000]
    assert list(both) == [0, 50_000, 0, 0, 950_000]
    assert list(second) == [0, 250_000, 750_000]


# Refusals


@pytest.mark.parametrize(
    ("data", "options", "kind", "message"),
    [
        (Counts.of([1, 2]), {}, TypeError, "data must be records, got ready counts"),
        ({("x", "y"): 3}, {}, TypeError, "data must be records, got ready counts"),
        (
            [],
            {"alphabets": [{"a": ["x"]}, {"a": ["y"], "b": ["x"]}]},
            ValueError,
            "alphabets must all give a column the same letters, got 'a'",
        ),
        (np.zeros((3, 1)), {}, ValueError, "data must have shape \\(n, 2\\)"),
        (
            pl.DataFrame({"a": ["x"]}),
            {},
            ValueError,
            "column must be a column of the data, got 'b'",
        ),
        (object(), {}, TypeError, "data must be a list"),
        ([], {"engine": "local"}, ValueError, "engine must be 'spark', or a cluster"),
    ],
)
def test_what_cannot_be_counted_is_refused_before_it_is_read(
    data: Any, options: dict[str, Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        counting.prepare(data, **{"alphabets": BOTH, **options})


def test_one_table_is_asked_for_as_several_are() -> None:
    scan = counting.prepare([("x", "y")], alphabets=BOTH)
    with pytest.raises(ValueError, match="the scan is for several alphabets: call count_several"):
        scan.count()
    (only,) = counting.prepare([("x",)], alphabets=BOTH[:1]).count_several()
    assert list(only) == [1, 0, 0]
    assert counting.prepare(["x"], alphabets=[["x"]]).count_several() == (Counts.of([1, 0]),)


def test_tables_of_different_numbers_of_records_are_a_failure() -> None:
    query = CountQuery(alphabets=tuple(map(Alphabet.of, BOTH[::2])), columns=("a", "b"))
    tallies = [Tally(alphabet=alphabet, seen={0: 5}, outside=0) for alphabet in query.alphabets]
    scan = counting.Scan(engine="cells", _query=query, _read=lambda: tallies)
    assert [counts.n for counts in scan.count_several()] == [5, 5]
    tallies[1] = replace(tallies[1], outside=1)
    with pytest.raises(ReleaseError) as failed:
        scan.count_several()
    assert str(failed.value) == counting.COUNT_FAILED


ODD = ["a", "A", "é", "e\u0301", "it's", '"', "\\", "\x01", "a b", "x" * 300, "%", "NULL", "0"]


def wide(columns: int) -> tuple[pa.Table, Alphabet]:
    """Return a table of so many columns of odd letters, and their product."""
    cells = [*ODD, None, "other", *ODD]
    shared = pa.array(cells, pa.string())
    letters = Alphabet.of(ODD).axes[0]
    names = [f"c{i}" for i in range(columns)]
    table = pa.table({**dict.fromkeys(names, shared), "id": range(len(cells))})
    return table, Alphabet(axes=(letters,) * columns, columns=tuple(names))


@pytest.mark.parametrize("person", [None, "id"])
def test_a_product_may_have_many_columns(person: str | None, tmp_path: Path) -> None:
    """A join for the letters of each column would take memory by the square of their number."""
    for columns in (JOINS_MAX, 100) if person is None else (JOINS_MAX + 1,):
        table, alphabet = wide(columns)
        expected = Tally(
            alphabet=alphabet,
            seen={alphabet.index((letter,) * columns): 2 for letter in ODD},
            outside=2,
        )
        pq.write_table(table, tmp_path / "wide.parquet")
        pl.from_arrow(table).write_ndjson(tmp_path / "wide.jsonl")
        pl.from_arrow(table).write_csv(tmp_path / "wide.csv")
        files = [tmp_path / f"wide.{ending}" for ending in ("parquet", "jsonl", "csv")]
        for data in (table, *few(files, 1)):
            scan = counting.prepare(data, alphabets=[alphabet], person=person)
            scan.rehearse()
            assert scan.count() == expected.counts(), data
