"""Sources that cannot be opened: refused before the charge, in one sentence, whoever asks."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset as pds
import pyarrow.parquet as pq
import pytest
from support.sources import SOURCES

import dproo
from dproo import counting
from dproo.errors import UnpreparedError
from dproo.ledger import Ledger

pytestmark = pytest.mark.one_of(3)

ROWS = pa.table({"cell": ["x", "y"] * 3, "table": ["x", "y"] * 3})
UNPREPARED = "the release cannot be prepared: .* Nothing was read or charged[.]"


def of_one_file(path: Path) -> Any:
    return pds.dataset(path)


def of_a_folder(path: Path) -> Any:
    return pds.dataset(path.parent, format="parquet")


def of_a_union(path: Path) -> Any:
    return pds.dataset([pds.dataset(path), pds.dataset(ROWS)])


@pytest.mark.parametrize("made", [of_one_file, of_a_folder, of_a_union])
def test_a_dataset_without_one_of_its_files_is_not_charged(
    made: Callable[[Path], Any], ledger: Ledger, tmp_path: Path
) -> None:
    path = tmp_path / "rows" / "x.parquet"
    path.parent.mkdir()
    pq.write_table(ROWS, path)
    data = dproo.open(made(path), ledger=ledger, dataset="patients")
    data.value("cell", ["x", "y"], epsilon="0.1")
    path.unlink()
    before = ledger.budget("patients")
    with pytest.raises(UnpreparedError, match=UNPREPARED):
        data.value("cell", ["x", "y"], epsilon="0.1")
    assert ledger.budget("patients") == before


def test_a_dataset_in_memory_needs_no_file() -> None:
    sink = pa.BufferOutputStream()
    pq.write_table(ROWS, sink)
    kind = pds.ParquetFileFormat()
    parts = [kind.make_fragment(sink.getvalue())]
    data = pds.FileSystemDataset(parts, ROWS.schema, kind)
    assert list(counting.count(data, alphabet=["x", "y"], column="cell")) == [3, 3, 0]


HALVES = pa.table({"cell": ["x"], "half": pa.array([1.5]).cast(pa.float16())})


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the engine below Ibis
@pytest.mark.parametrize("column", ["cell", "half"])
@pytest.mark.parametrize("rows", [HALVES, HALVES[:0]], ids=["one record", "no record"])
def test_a_table_in_memory_that_the_backend_does_not_accept_is_not_charged(
    rows: pa.Table, column: str, ledger: Ledger
) -> None:
    """DuckDB has no such floats: it accepts no other column of the table either."""
    ibis = pytest.importorskip("ibis")
    table = ibis.memtable(rows)
    letters = {"cell": ["x"], "half": dproo.Alphabet.bins([0, 2])}[column]
    for refused in (table, table.select(column), table.filter(table.cell == "x")):
        data = dproo.open(refused, ledger=ledger, dataset="patients")
        before = ledger.budget("patients")
        with pytest.raises(ValueError, match="a backend of Ibis that accepts every column"):
            data.value(column, letters, epsilon="0.1")
        assert ledger.budget("patients") == before


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_tables_in_memory_that_the_backend_accepts_are_counted(tmp_path: Path) -> None:
    """SQLite has such floats, and may be used only in the thread that has opened it."""
    ibis = pytest.importorskip("ibis")
    for backend in (ibis.sqlite.connect(tmp_path / "x.sqlite3"), ibis.duckdb.connect()):
        stored = backend.create_table("t", ibis.memtable(ROWS.slice(0, 2)))
        held = HALVES if backend.name == "sqlite" else HALVES.drop_columns("half")
        for data in (stored, stored.join(ibis.memtable(held), "cell")):
            found, _ = counting.count(data, alphabet=["x"], column="cell")
            assert found == 1


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_backend_of_ibis_that_lacks_a_package_is_not_charged(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The package is loaded with the first answer."""
    ibis = pytest.importorskip("ibis")
    backend = ibis.duckdb.connect()
    backend.raw_sql("CREATE TABLE t AS SELECT 'x' AS cell")
    data = dproo.open(backend.table("t"), ledger=ledger, dataset="patients")
    monkeypatch.setitem(sys.modules, "ibis.backends.duckdb.converter", None)
    before = ledger.budget("patients")
    with pytest.raises(ValueError, match="data must have a backend of Ibis that answers"):
        data.value("cell", ["x"], epsilon="0.1")
    assert ledger.budget("patients") == before


def test_a_table_of_ibis_without_a_backend_is_refused() -> None:
    ibis = pytest.importorskip("ibis")
    data = ibis.table({"cell": "string"}, name="rows")
    with pytest.raises(ValueError, match="data must have a backend of Ibis"):
        counting.count(data, alphabet=["x"], column="cell")


def _a_dropped_table(_: Path) -> Any:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE rows AS SELECT 'x' AS cell")
    relation = connection.table("rows")
    connection.execute("DROP TABLE rows")
    return relation


def _a_query_of_a_dropped_table(_: Path) -> Any:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE rows AS SELECT 'x' AS cell")
    relation = connection.sql("SELECT * FROM rows")
    connection.execute("DROP TABLE rows")
    return relation


def _a_closed_connection(_: Path) -> Any:
    connection = duckdb.connect()
    relation = connection.sql("SELECT 'x' AS cell")
    connection.close()
    return relation


def _with_an_answer_left(connection: Any) -> None:
    connection.execute("SELECT 'x' FROM range(3)").fetchone()


def _with_an_answer_unread(connection: Any) -> None:
    connection.execute("SELECT 'x' FROM range(3)")


def _with_a_failed_transaction(connection: Any) -> None:
    connection.begin()
    with pytest.raises(duckdb.Error):
        connection.execute("SELECT error('x')").fetchall()


def _of_a_connection(connection: Any) -> dict[str, Any]:
    return {"data": connection, "table": "rows"}


def _of_a_table(connection: Any) -> dict[str, Any]:
    return {"data": connection.table("rows")}


def _of_a_query(connection: Any) -> dict[str, Any]:
    return {"data": connection.sql("SELECT error('x') AS cell FROM rows")}


@pytest.mark.parametrize("opened", [_of_a_connection, _of_a_table, _of_a_query])
@pytest.mark.parametrize(
    "occupy", [_with_an_answer_left, _with_an_answer_unread, _with_a_failed_transaction]
)
def test_a_connection_of_duckdb_that_is_not_free_is_not_charged(
    occupy: Callable[[Any], None], opened: Callable[[Any], dict[str, Any]], ledger: Ledger
) -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE rows AS SELECT 'x' AS cell")
    data = dproo.open(**opened(connection), ledger=ledger, dataset="patients")
    occupy(connection)
    before = ledger.budget("patients")
    with pytest.raises(ValueError, match=r"that is free|readable schema"):
        data.value("cell", ["x"], epsilon="0.1")
    assert ledger.budget("patients") == before


def test_a_connection_of_duckdb_whose_answers_are_fetched_is_free(ledger: Ledger) -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE unread AS SELECT 'x' AS cell")
    connection.execute("SELECT 1").fetchall()
    for data in (connection.table("unread"), connection.sql("FROM unread")):
        opened = dproo.open(data, ledger=ledger, dataset="patients")
        assert opened.value("cell", ["x"], epsilon="0.1").value in {"x", "other"}
        assert connection.execute("SELECT 1").fetchall() == [(1,)]


@pytest.mark.parametrize("opened", [_of_a_connection, _of_a_table])
def test_threads_that_share_a_connection_of_duckdb_take_turns(
    opened: Callable[[Any], dict[str, Any]],
) -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE rows AS SELECT 'x' AS cell FROM range(20000)")
    each, numbers = [dproo.open(**opened(connection)) for _ in range(4)], list[int | None]()

    def release(data: Any) -> None:
        for _ in range(3):
            numbers.append(data.value("cell", ["x"], epsilon="0.1").receipt.n)

    threads = [threading.Thread(target=release, args=[data]) for data in each]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert numbers == [20000] * 12


def _a_lost_file_of_polars(folder: Path) -> Any:
    pq.write_table(ROWS, folder / "x.parquet")
    frame = pl.scan_parquet(folder / "x.parquet")
    (folder / "x.parquet").unlink()
    return frame


class Library:
    """A frame of another library, which fails whatever it is asked."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


ASKED: dict[str, Callable[[dproo.Dataset], Any]] = {
    "columns": lambda data: data.columns,
    "codebook": lambda data: data.codebook(epsilon=1, delta="1e-6"),
    "value": lambda data: data.value("cell", ["x"], epsilon=1),
    "count": lambda data: counting.count(
        data.source.data, table=data.source.table, alphabet=["x"], column="cell"
    ),
    "draft": lambda data: dproo.draft_codebook(data.source.data, table=data.source.table),
}


def assert_refused(data: dproo.Dataset, sentence: str) -> None:
    """Assert that all that opens the data refuses it without a word of its library."""
    (refused,) = data.check("cell", ["x"]).refusals
    told = [refused]
    for ask in ASKED.values():
        with pytest.raises(ValueError, match=sentence) as failed:
            ask(data)
        assert failed.value.__cause__ is None
        assert failed.value.__context__ is None
        told.append(str(failed.value))
    assert len(set(told)) == 1


@pytest.mark.parametrize(
    "gone",
    [
        _a_dropped_table,
        _a_query_of_a_dropped_table,
        _a_closed_connection,
        _a_lost_file_of_polars,
    ],
)
def test_what_a_library_cannot_open_is_refused(gone: Callable[[Path], Any], tmp_path: Path) -> None:
    assert_refused(dproo.open(gone(tmp_path)), "Nothing was read or charged|readable schema")


def test_what_answers_no_question_about_itself_is_refused() -> None:
    data = dproo.open(Library())
    with pytest.raises(TypeError, match="got 'Library'") as failed:
        data.value("cell", ["x"], epsilon=1)
    assert failed.value.__cause__ is None


class Panic(BaseException):
    """What the libraries in Rust raise, which is not an ``Exception``."""


OPENING = import_module("dproo.counting.prepare")  # whose name in the package is a function
OTHERWISE = {"generator_of_dicts", "arrow_reader", "json_lines"}  # refused as what they are


@pytest.mark.one_of(3)
@pytest.mark.parametrize("kind", [RuntimeError, OSError, Panic])
@pytest.mark.parametrize("name", sorted(SOURCES.keys() - OTHERWISE))
def test_no_source_lets_an_error_of_a_library_through(
    name: str, kind: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(source: Callable[..., Any]) -> Callable[..., Any]:
        def opened(*asked: Any) -> None:
            if source(*asked) is not None:
                raise kind("cell")

        return opened

    data, options = SOURCES[name](ROWS, tmp_path)
    monkeypatch.setattr(OPENING, "SOURCES", tuple(map(failing, OPENING.SOURCES)))
    assert_refused(dproo.open(data, **options), UNPREPARED)
