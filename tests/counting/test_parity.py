"""One test body, every engine, the same nasty tables: the counts are identical."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.draws import SOAK, dice_of, some
from support.nasty import TABLES_PER_BATCH, Batch, batch
from support.sources import SOURCES

from dproo import Counts, counting
from dproo.counting.sources import arrow, frames
from dproo.counting.sources.postgresql import scan as postgresql_scan
from dproo.counting.sql.statements import quoted
from dproo.schema import OTHER

pytestmark = pytest.mark.untraced

TABLES = 5000 if SOAK else 200
FIRST_SEED = dice_of("parity").randrange(10**9)


def batches() -> list[Batch]:
    return [batch(FIRST_SEED + i) for i in range(TABLES // TABLES_PER_BATCH)]


def counted(
    nasty: Batch, count: Callable[..., object], source: object, **options: object
) -> Counter:
    """Count by the engine and by hand; return the differences."""
    counts = count(source, alphabet=nasty.alphabet, **options)
    found: Counter[object] = Counter()
    index = 0
    for value, letters in counts.runs:
        for letter in range(index, index + letters) if value else ():
            found[_place(nasty, letter)] += value
        index += letters
    return found


def _place(nasty: Batch, letter: int) -> object:
    if letter == nasty.alphabet.size:
        return OTHER
    table, place = divmod(letter, nasty.alphabet.axes[1].size)
    is_bins = "edges" in nasty.alphabet.axes[1].content
    return table, place if is_bins else str(nasty.alphabet.axes[1][place])


def assert_parity(
    nasty: Batch, count: Callable[..., object], source: object, **options: object
) -> None:
    expected: Counter[object] = Counter()
    for (table, letter), records in nasty.expected().items():
        expected[OTHER if letter is None else (table, letter)] += records
    found = counted(nasty, count, source, **options)
    assert found == expected, f"seed {nasty.seed}: {nasty.rows['cell'].type}"
    assert found.total() == nasty.rows.num_rows
    if nasty.seed % 4 == 0 and not isinstance(source, Iterator):  # which can be read once only
        assert_parity_of_an_open_axis(nasty, count, source, **options)


def assert_parity_of_an_open_axis(
    nasty: Batch, count: Callable[..., Any], source: object, **options: object
) -> None:
    """Where every cell outside is a letter of its own table, each table keeps all its records."""
    tables, cells = nasty.alphabet.axes
    opened = replace(nasty.alphabet, axes=(tables, replace(cells, is_open=True)))
    parts = list(count(source, alphabet=opened, **options).split(cells.size + 1))
    listed: Counter[int] = Counter()
    for (table, letter), records in nasty.expected().items():
        listed[table] += 0 if letter is None else records
    records = Counter(nasty.rows["table"].to_pylist())
    for table, part in enumerate(parts):
        assert part.n == records[table], f"seed {nasty.seed}: {nasty.rows['cell'].type}"
        assert part[cells.size] == records[table] - listed[table], f"seed {nasty.seed}"


def drops_nulls(rows: list[tuple[object, object]], **options: Any) -> Counts:
    return counting.count([row for row in rows if row[1] is not None], **options)


def trims_text(rows: list[tuple[object, object]], **options: Any) -> Counts:
    trimmed = [(i, cell.strip() if isinstance(cell, str) else cell) for i, cell in rows]
    return counting.count(trimmed, **options)


def reads_numbers_in_text(rows: list[tuple[object, object]], **options: Any) -> Counts:
    numbers = [(i, cell.lstrip("0") if isinstance(cell, str) else cell) for i, cell in rows]
    return counting.count(numbers, **options)


@pytest.mark.parametrize("source", ["pandas_default", "pandas_nullable", "polars", "polars_lazy"])
def test_frames_are_counted_the_same_without_arrow_and_told_to_be_slow(
    source: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(frames, "find_spec", lambda _: None)
    for nasty in batches():
        frame = SOURCES[source](nasty.rows, tmp_path)[0]
        assert_parity(nasty, counting.count, frame)
        scan = counting.prepare(frame, alphabets=[nasty.alphabet])
        assert [warning for warning in scan.warnings if "pip install 'dproo[frames]'" in warning]


@pytest.mark.parametrize("wrong", [drops_nulls, trims_text, reads_numbers_in_text])
def test_an_engine_that_is_wrong_is_caught(wrong: Callable[..., Counts], tmp_path: Path) -> None:
    def many_batches() -> None:
        """Go on until one is caught: not every batch has text."""
        for i in range(20 * len(batches())):
            nasty = batch(FIRST_SEED + i)
            assert_parity(nasty, wrong, SOURCES["cells"](nasty.rows, tmp_path)[0])

    with pytest.raises(AssertionError, match="seed"):
        many_batches()


@pytest.mark.parametrize("name", some(SOURCES, one_of=4))
def test_every_engine_counts_the_same_on_nasty_tables(name: str, tmp_path: Path) -> None:
    for nasty in batches():
        source, options = SOURCES[name](nasty.rows, tmp_path)
        assert_parity(nasty, counting.count, source, **options)


@pytest.mark.parametrize("name", ["pandas_default", "pandas_arrow", "polars", "arrow"])
def test_frames_in_many_parts_count_the_same(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dictionary, and text that is cut or repaired, is the same in every part."""
    monkeypatch.setattr(arrow, "ROWS", 7)
    for nasty in batches():
        source, options = SOURCES[name](nasty.rows, tmp_path)
        assert_parity(nasty, counting.count, source, **options)


def test_text_is_cut_behind_the_longest_letter() -> None:
    frame = pl.DataFrame({"a": ["ab", "abc", "abcd", "b", None]})
    assert list(counting.count(frame, alphabet=["a", "b", "ab"])) == [0, 1, 1, 3]


def plain(rows: pa.Table) -> pa.Table:
    """Return the rows without the types that Spark and PostgreSQL do not have."""
    column = rows["cell"]
    if pa.types.is_dictionary(column.type):
        column = column.cast(pa.string())
    if column.type == pa.uint64():
        cells = [None if cell is None else Decimal(cell) for cell in column.to_pylist()]
        column = pa.chunked_array([cells], pa.decimal128(20, 0))
    return rows.set_column(1, "cell", column)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # its own, of the engine below it
def test_ibis_counts_the_same_on_nasty_tables(tmp_path: Path) -> None:
    ibis = pytest.importorskip("ibis")
    backend = ibis.duckdb.connect()
    for nasty in batches():
        pq.write_table(nasty.rows, tmp_path / f"{nasty.seed}.parquet")
        table = backend.read_parquet(tmp_path / f"{nasty.seed}.parquet")
        assert_parity(nasty, counting.count, table)


TYPES = {
    pa.string(): "text",
    pa.int64(): "bigint",
    pa.int32(): "integer",
    pa.int8(): "smallint",
    pa.float64(): "double precision",
    pa.float32(): "real",
    pa.decimal128(20, 0): "numeric(20, 0)",
    pa.decimal128(20, 2): "numeric(20, 2)",
    pa.bool_(): "boolean",
    pa.date32(): "date",
}


def fill(connection: psycopg.Connection, table: str, rows: pa.Table) -> None:
    """Write rows into a new table."""
    rows = plain(rows)
    name = quoted(table)
    connection.execute(f'CREATE TABLE {name} ("table" bigint, cell {TYPES[rows["cell"].type]})')
    with connection.cursor() as cursor, cursor.copy(f"COPY {name} FROM STDIN") as copy:
        for row in zip(*rows.to_pydict().values(), strict=True):
            copy.write_row(row)


def test_postgresql_counts_the_same_on_nasty_tables(
    postgresql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with psycopg.connect(postgresql, autocommit=True) as connection:
        for i, nasty in enumerate(batches()):
            fill(connection, f"rows {i}", nasty.rows)
            source = postgresql if i % 2 else connection
            # Grouped first, and mapped one by one.
            for largest in (postgresql_scan.BYTES_MAX, -1):
                monkeypatch.setattr(postgresql_scan, "BYTES_MAX", largest)
                assert_parity(nasty, counting.count, source, table=f"rows {i}")
            monkeypatch.undo()
