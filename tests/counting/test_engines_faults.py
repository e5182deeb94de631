"""Whatever fails once data is touched: one sentence, and no cell in it or anywhere else."""

from __future__ import annotations

import logging
import pickle
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dproo import ReleaseError, counting

CANARY = "canary-7f3a9c51"


def assert_silent(
    scan: counting.Scan, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Assert that a scan fails by the fixed sentence and leaves no trace of a cell."""
    caplog.set_level(logging.DEBUG)
    capfd.readouterr()
    with pytest.raises(ReleaseError) as failed:
        scan.count()
    error = failed.value
    assert str(error) == counting.COUNT_FAILED
    assert error.__cause__ is None
    assert error.__context__ is None
    printed = "".join(capfd.readouterr()) + caplog.text
    printed += "".join(traceback.format_exception(error)) + repr(error.args)
    assert CANARY not in printed
    assert CANARY.encode() not in pickle.dumps(error)


def broken(cells: object = None) -> Any:
    raise RuntimeError(f"{CANARY} {cells}")


def broken_cells() -> Iterator[str]:
    yield CANARY
    broken()


def _a_generator(_: Path) -> Any:
    return broken_cells()


def _a_polars_plan(_: Path) -> Any:
    frame = pl.LazyFrame({"a": [CANARY, "1"]})
    return frame.select(pl.col("a").cast(pl.Int64))


def _a_polars_function(_: Path) -> Any:
    return pl.LazyFrame({"a": [CANARY]}).map_batches(broken, schema={"a": pl.String})


def _a_reader(_: Path) -> Any:
    batches = (broken() for _ in range(1))
    return pa.RecordBatchReader.from_batches(pa.schema({"a": pa.string()}), batches)


def _a_duckdb_relation(_: Path) -> Any:
    return duckdb.connect().sql(f"SELECT CAST(b AS INTEGER) AS a FROM (SELECT '{CANARY}' AS b)")


def _a_damaged_parquet_file(folder: Path) -> Any:
    path = folder / "x.parquet"
    pq.write_table(pa.table({"a": [f"{CANARY}{i}" for i in range(9999)]}), path, compression="zstd")
    content = bytearray(path.read_bytes())
    content[200:5000] = b"\xff" * 4800
    path.write_bytes(content)
    return path


def _a_view_in_a_duckdb_file(folder: Path) -> Any:
    path = folder / "x.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            f"CREATE VIEW t AS SELECT CAST('{CANARY}' || i AS INTEGER) AS a FROM range(9) r(i)"
        )
    return path


FAULTS = [
    _a_generator,
    _a_polars_plan,
    _a_polars_function,
    _a_reader,
    _a_duckdb_relation,
    _a_damaged_parquet_file,
    _a_view_in_a_duckdb_file,
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_is_one_sentence_without_data(
    fault: Callable[[Path], Any],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    data = fault(tmp_path)
    table = "t" if isinstance(data, Path) and data.suffix == ".duckdb" else None
    columns = [] if fault is _a_generator else ["a"]
    scan = counting.prepare(data, alphabets=[["x", "7"]], columns=columns, table=table)
    assert_silent(scan, capfd, caplog)


def test_a_truncated_parquet_file_is_refused_without_data(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"a": [f"{CANARY}{i}" for i in range(999)]}), path, compression="none")
    content = path.read_bytes()
    assert CANARY.encode() in content
    for length in (0, 3, 100, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(ValueError, match="data must be a readable file, got ") as refused:
            counting.prepare(path, alphabets=[["x", "7"]], columns=["a"])
        assert CANARY not in "".join(traceback.format_exception(refused.value))


def test_a_fault_in_postgresql_is_one_sentence_without_data(
    postgresql: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with psycopg.connect(postgresql) as connection:
        connection.execute("CREATE TABLE cells (b text)")
        connection.execute("INSERT INTO cells VALUES (%s)", [CANARY])
        connection.execute("CREATE VIEW faulty AS SELECT b::integer AS a FROM cells")
        scan = counting.prepare(connection, alphabets=[["x", "7"]], columns=["a"], table="faulty")
        assert_silent(scan, capfd, caplog)
        # The caller's transaction goes on, with all that was done in it.
        assert connection.execute("SELECT count(*) FROM cells").fetchone() == (1,)
        connection.rollback()


def test_without_the_boundary_the_cell_would_show(tmp_path: Path) -> None:
    """The control: these engines do quote the cell, so the tests above can fail."""
    quoting = 0
    for fault in (_a_generator, _a_polars_plan, _a_duckdb_relation, _a_view_in_a_duckdb_file):
        data = fault(tmp_path)
        table = "t" if isinstance(data, Path) and data.suffix == ".duckdb" else None
        columns = [] if fault is _a_generator else ["a"]
        try:
            counting.prepare(data, alphabets=[["x", "7"]], columns=columns, table=table)._read()
        except Exception as error:  # noqa: BLE001
            quoting += CANARY in "".join(traceback.format_exception(error))
    assert quoting == 4
