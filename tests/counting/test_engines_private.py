"""Before the charge nothing of the data is touched, and no message quotes it; nor later."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.releasing import sample

import dproo
from dproo import Alphabet, Counts, ReleaseError, counting
from dproo.counting import boundary
from dproo.ledger import Ledger
from dproo.releases import run

ibis = pytest.importorskip("ibis", reason="Ibis is not installed.")
CANARY = "canary-51c7"


class TouchedError(AssertionError):
    """The data was touched before the charge."""


def touch(*_: object, **__: object) -> Any:
    raise TouchedError(CANARY)


class Untouchable(Sequence[Any]):
    """Data that tells when its length, its items or its text are asked for."""

    __getitem__ = __len__ = __iter__ = __contains__ = touch
    __repr__ = __str__ = __eq__ = __hash__ = __bool__ = __reversed__ = touch  # type: ignore[assignment]


class UntouchableMapping(Mapping[Any, Any]):
    __getitem__ = __len__ = __iter__ = __contains__ = items = keys = values = get = touch
    __repr__ = __str__ = __eq__ = __hash__ = __bool__ = touch  # type: ignore[assignment]


def touched_later() -> Iterator[str]:
    touch()
    yield CANARY


def a_lazy_frame() -> Any:
    return pl.LazyFrame({"a": [CANARY]}).map_batches(touch, schema={"a": pl.String})


class AStream:
    """A table of a library that runs its query when the stream is opened."""

    schema = pa.schema({"a": pa.string()})
    __arrow_c_stream__ = touch


def a_reader() -> Any:
    batches = (touch() for _ in range(1))
    return pa.RecordBatchReader.from_batches(AStream.schema, batches)


def objects_of_pandas() -> Any:
    return pd.Series([Untouchable()] * 3, dtype=object)


@pytest.mark.parametrize(
    "make",
    [
        *(Untouchable, touched_later, a_lazy_frame, AStream, a_reader),
        objects_of_pandas,
    ],
)
def test_data_is_not_touched_before_the_charge(make: Callable[[], Any], ledger: Ledger) -> None:
    counting.prepare(make(), alphabets=[["x"]])
    if make is objects_of_pandas:
        return  # whose cells are outside, and nothing fails
    with pytest.raises(ReleaseError) as failed:
        sample(make(), alphabet=["x"], epsilon=1, ledger=ledger, dataset="patients")
    assert CANARY not in str(failed.value)
    assert failed.value.__context__ is None
    assert ledger.show()[0].spent > 0


@pytest.mark.parametrize(
    "data",
    [
        {"diagnosis": [CANARY, "flu"]},
        {"a": 700.25},
        {"a": -700},
        {CANARY: "many"},
    ],
)
def test_counts_that_are_none_are_not_quoted(data: Any) -> None:
    with pytest.raises(TypeError, match="data must be records, or a dict of letters") as refused:
        counting.prepare(data, alphabets=[["a"]])
    assert CANARY not in str(refused.value)
    assert "700" not in str(refused.value)


@pytest.mark.parametrize("data", [UntouchableMapping(), MappingProxyType({"a": 10**12})])
def test_counts_that_are_not_a_dict_are_refused_untouched(data: Any, ledger: Ledger) -> None:
    """They could be none, or too many to be dealt one by one, and only reading them shows it."""
    dataset = dproo.open(data, ledger=ledger, dataset="patients")
    with pytest.raises(TypeError, match="data must be records, or a dict of letters"):
        dataset.values(None, ["a", "b"], epsilon=1, sampler="ls-roo", size=2)
    assert not ledger.show()[0].spent


def test_a_file_of_arrays_is_not_taken_for_counts(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", diagnosis=np.array(["flu"]))
    with (
        np.load(tmp_path / "a.npz") as arrays,
        pytest.raises(TypeError, match="pass a frame"),
    ):
        counting.prepare(arrays, alphabets=[["flu"]])


def test_keys_of_another_shape_are_outside() -> None:
    counts = counting.count({("x",): 2, "x": 3, (CANARY, 1): 4, 7: 5}, alphabet={"a": ["x"]})
    assert list(counts) == [2, 12]


@pytest.mark.parametrize("shape", [(701, 703), (701, 2, 703), ()])
@pytest.mark.parametrize("alphabet", [["a"], {"a": ["x"], "b": ["x"]}])
def test_no_refusal_tells_a_shape(shape: tuple[int, ...], alphabet: Any) -> None:
    with pytest.raises(ValueError, match="data must have") as refused:
        counting.prepare(np.zeros(shape), alphabets=[alphabet])
    assert "70" not in str(refused.value)


def test_no_refusal_tells_how_long_the_longest_cell_is() -> None:
    with pytest.raises(ValueError, match=r"got type bytes\. Cast"):
        counting.count(np.array([CANARY.encode()]), alphabet=["a"])


def test_parts_of_a_table_are_not_taken_for_records(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x\na\nb\n")
    refused = pytest.raises(TypeError, match="data must be a list, an array, a frame")
    with pd.read_csv(path, chunksize=1) as chunks, refused:
        counting.count(chunks, alphabet=["a", "b"])
    reader = pa.table({"x": ["a", "b", "a"]}).to_reader(max_chunksize=2)
    assert list(counting.count(reader, alphabet=["a", "b"])) == [2, 1, 0]


def test_what_the_items_of_a_list_are_decides_no_refusal() -> None:
    """A list of batches is a list of records: else one record would decide whether it is."""
    table = pa.table({"x": ["a", "b", "a"]})
    frame = table.to_pandas()
    items: list[Any] = [table, frame, frame["x"], pl.DataFrame(frame), table["x"], frame["x"].array]
    items += [*table.to_batches(max_chunksize=1), duckdb.connect().from_df(frame), np.ones(3)]
    for item in items:
        for records, counts in (([item], [0, 1]), ([item] * 2, [0, 2]), ([item, "a"], [1, 1])):
            for hold in (list, tuple, iter):
                scan = counting.prepare(hold(records), alphabets=[["a"]])
                assert scan.warnings == ()
                assert list(scan.count()) == counts
    assert list(counting.count(pa.Table.from_batches(table.to_batches()), alphabet=["a"])) == [2, 1]


def test_counts_of_other_letters_are_refused_without_their_number() -> None:
    with pytest.raises(ValueError, match="counts must have 3 letters") as refused:
        counting.prepare(Counts.of([1] * 701), alphabets=[["a", "b"]])
    assert "701" not in str(refused.value)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the engine below Ibis
def test_an_expression_of_ibis_is_not_run_before_the_charge() -> None:
    backend = ibis.duckdb.connect()
    backend.con.from_arrow(pa.table({"a": [CANARY]})).create("t")
    table = backend.table("t")
    broken = table.select(a=table.a.cast("int64"))
    scan = counting.prepare(broken, alphabets=[["7"]])
    with pytest.raises(ReleaseError) as failed:
        scan.count()
    assert CANARY not in str(failed.value)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("cells", [[1, 2], [1, CANARY]])
def test_a_table_of_ibis_in_memory_is_checked_alike_whatever_is_in_it(cells: list[object]) -> None:
    """A cell of another type makes Ibis fail: that is said before the charge, of every table."""
    frame = pd.DataFrame({"a": pd.Series(cells, dtype=object)})
    table = ibis.memtable(frame, schema={"a": "int64"})
    for data in (table, table.filter(table.a > 0)):
        scan = counting.prepare(data, alphabets=[[1]], columns=["a"])
        scan.rehearse()
        (warning,) = scan.warnings
        assert "if one of them makes it fail" in warning


def relations(cells: dict[str, Any], folder: Path) -> Iterator[tuple[Any, str]]:
    """Yield relations of DuckDB over text, moments, objects and files, and the column to count."""
    text = pa.array([b"x", cells["bytes"]], pa.binary()).view(pa.string())
    for unit in ("s", "ms"):
        moments = pa.array([0, cells["moment"]], pa.int64()).view(pa.timestamp(unit, "UTC"))
        connection = duckdb.connect()
        yield connection.from_arrow(pa.table({"a": moments})), "date"
    pq.write_table(pa.table({"a": text}), folder / "x.parquet")
    file = f"'{folder / 'x.parquet'}'"
    yield duckdb.connect().sql(f"FROM {file}"), "text"
    yield duckdb.connect().read_parquet(str(folder / "x.parquet")), "text"
    frame = pd.DataFrame({"a": pd.Series(["x", cells["text"]], dtype=object)})
    yield duckdb.connect().from_df(frame), "text"
    connection = duckdb.connect()
    connection.register("frame", frame)
    connection.execute(f"CREATE VIEW file AS FROM {file}")
    for name in ("frame", "file"):
        yield connection.table(name), "text"
        yield connection.sql(f"FROM {name}"), "text"
    connection.execute("CREATE TABLE stored (a VARCHAR)")
    connection.execute("INSERT INTO stored VALUES ('7'), ($1)", [cells["number"]])
    yield connection.sql("SELECT CAST(a AS INTEGER)::VARCHAR AS a FROM stored"), "text"
    yield connection.table("stored").project("CAST(a AS INTEGER)::VARCHAR AS a"), "text"


GOOD = {"bytes": b"y", "moment": 1, "text": "y", "number": "8"}
BAD = {"bytes": b"\xff", "moment": 2**62, "text": "\ud800", "number": CANARY}


@pytest.mark.one_of(3)
def test_a_relation_that_a_cell_may_break_is_announced_whatever_is_in_it(tmp_path: Path) -> None:
    """DuckDB converts the cells before they are ours: it is said before the charge, always."""
    found = []
    for cells, is_broken in ((GOOD, False), (BAD, True)):
        for relation, kind in relations(cells, tmp_path):
            alphabet = Alphabet.of(["1970-01-01"]).read_as("date") if kind == "date" else ["x"]
            scan = counting.prepare(relation, alphabets=[alphabet], columns=["a"])
            found.append(scan.warnings)
            if is_broken:
                with pytest.raises(ReleaseError):
                    scan.count()
            else:
                assert scan.count().n == 2
    (warnings,) = set(found)
    assert "if one of them makes it fail" in warnings[0]
    assert "the table, frame or file that the relation reads" in warnings[0]


def test_a_table_of_duckdb_needs_no_warning(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
        connection.execute('CREATE SCHEMA "my.s"')
        for name in ("t", '"my.s"."t ""1"""'):
            connection.execute(f"CREATE TABLE {name} AS SELECT 'x' AS a")
        connection.execute("CREATE TEMP TABLE held AS FROM t")
        connection.execute("CREATE VIEW seen AS FROM t")
        for data, table, is_stored in (
            (connection, "t", True),
            (connection, ("my.s", 't "1"'), True),
            (connection, "held", True),
            (connection.table("t"), None, True),
            (connection, "seen", False),
            (connection.table("seen"), None, False),
        ):
            scan = counting.prepare(data, alphabets=[["x"]], columns=["a"], table=table)
            assert bool(scan.warnings) != is_stored
            assert list(scan.count()) == [1, 0]


class Panic(BaseException):
    """As those of Polars, which are no ``Exception``."""


def raising(error: BaseException) -> Iterator[str]:
    yield "x"
    raise error


def test_a_panic_is_the_fixed_sentence() -> None:
    with pytest.raises(ReleaseError) as failed:
        counting.count(raising(Panic(CANARY)), alphabet=["x"])
    assert str(failed.value) == counting.COUNT_FAILED
    assert failed.value.__context__ is None
    frame = pl.LazyFrame({"a": [2**31 - 1]}).select(pl.col("a").cast(pl.Int32).cast(pl.Date))
    panicking = frame.select(pl.col("a").dt.to_string("%Y"))
    with pytest.raises(ReleaseError):
        counting.count(panicking, alphabet=["x"])


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_goes_on_without_what_it_said(kind: type[BaseException]) -> None:
    with pytest.raises(kind) as raised:
        counting.count(raising(kind(CANARY)), alphabet=["x"])
    assert CANARY not in repr(raised.value.args)
    assert raised.value.__context__ is None
    assert kind is not SystemExit or raised.value.code == 1  # type: ignore[attr-defined]


def test_an_exit_that_a_library_replaced_never_looks_like_success() -> None:
    """Before a charge as after it, and in whichever thread it was."""

    def replaced() -> None:
        try:
            sys.exit(7)
        finally:
            raise RuntimeError("interrupted")

    def waiting(_: object) -> None:
        replaced()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boundary._Errand, "wait", waiting)
        with pytest.raises(SystemExit) as apart:
            boundary.apart(lambda: None)
    ends = [apart.value]
    for action in (boundary.attempt, run.guarded, lambda act: run.guarded(act, state=awaited())):
        with pytest.raises(SystemExit) as ended:
            action(replaced)
        ends.append(ended.value)
    assert [end.code for end in ends] == [1, 1, run.EXIT, 1]


def awaited() -> Any:
    """Return the state of a charge that is still awaited."""
    return run._ChargeState()


TABLE = pa.table({"a": ["x"] * 5})


def interrupted(end: type[BaseException] | None) -> Iterator[pa.RecordBatch]:
    """Yield a batch, then end in this way when interrupted."""
    yield from TABLE.to_batches()
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.5)  # DuckDB may read in a thread that signals do not reach
    except KeyboardInterrupt:
        if end is not None:
            raise end(CANARY) from None


def a_reader_of(batches: Iterator[pa.RecordBatch]) -> pa.RecordBatchReader:
    return pa.RecordBatchReader.from_batches(TABLE.schema, batches)


class Stream:
    """A stream of another library, whose errors pass through C code."""

    schema = TABLE.schema

    def __init__(self, batches: Iterator[pa.RecordBatch]) -> None:
        self._reader = a_reader_of(batches)

    def __arrow_c_stream__(self, requested: object = None) -> object:
        return self._reader.__arrow_c_stream__(requested)


@pytest.mark.parametrize("end", [KeyboardInterrupt, OSError, None])
@pytest.mark.parametrize("hold", [a_reader_of, Stream])
def test_an_interrupt_of_a_stream_goes_on_whatever_becomes_of_it(
    hold: Callable[[Any], Any], end: type[BaseException] | None
) -> None:
    """It was a failed count once, or the records before it were taken for all."""
    before = [*map(signal.getsignal, signal.valid_signals())]
    with pytest.raises(KeyboardInterrupt) as raised:
        counting.count(hold(interrupted(end)), alphabet=["x"])
    assert raised.value.__context__ is None
    assert [*map(signal.getsignal, signal.valid_signals())] == before


CRASH = """
import os, resource, sys
LIMITS = resource.RLIMIT_CORE, resource.RLIMIT_NOFILE
cores, files = (resource.getrlimit(limit)[1] for limit in LIMITS)
resource.setrlimit(resource.RLIMIT_CORE, (cores, cores))
resource.setrlimit(resource.RLIMIT_NOFILE, (64, files))
from dproo import cli
from dproo.cli import commands
commands.run = lambda: print(*map(resource.getrlimit, LIMITS)) or 0
sys.argv[1:] = ["plan"]
cli.main()
"""


def test_a_crash_of_the_command_leaves_no_core_and_it_may_open_many_files() -> None:
    command = [sys.executable, "-c", CRASH]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    wanted = 10_240 if most == resource.RLIM_INFINITY else min(most, 10_240)
    assert run.stdout.strip() == f"(0, 0) ({wanted}, {most})"


def test_the_library_leaves_the_limits_of_the_process_alone(tmp_path: Path) -> None:
    limits = resource.RLIMIT_CORE, resource.RLIMIT_NOFILE
    before = [*map(resource.getrlimit, limits)]
    (tmp_path / "a.csv").write_text("a\nx\n")
    counting.count(tmp_path / "a.csv", alphabet=["x"], column="a")
    assert [*map(resource.getrlimit, limits)] == before


def test_no_scan_writes_into_the_temporary_folder(tmp_path: Path) -> None:
    """So that a run that is killed leaves nothing there, whatever the file is called."""
    data = tmp_path / "data [1].parquet"
    pl.DataFrame({"a": ["x"]}).write_parquet(data)
    left = tmp_path / "left"
    left.mkdir()
    code = (
        "import os, signal, sys; from dproo import counting;"
        "scan = counting.prepare(sys.argv[1], alphabets=[['x']], columns=['a']);"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    command = [sys.executable, "-c", code, str(data)]
    run = subprocess.run(command, check=False, env=os.environ | {"TMPDIR": str(left)})
    assert run.returncode == -9
    assert not list(left.iterdir())
