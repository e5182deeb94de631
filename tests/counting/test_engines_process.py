"""A release leaves the process as it was, and reads the file that was checked."""

from __future__ import annotations

import glob
import logging
import os
import shutil
import signal
import subprocess
import sys
import threading
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.draws import SOAK
from support.releasing import sample

import dproo
from dproo import ReleaseError, counting
from dproo.counting.boundary import apart
from dproo.counting.layout import COMPRESSED, FORMATS
from dproo.counting.source import Source
from dproo.counting.sources import descriptors
from dproo.ledger import Ledger
from dproo.web.folder import Folder

THREADS, RELEASES = 16, 50 if SOAK else 2


pytestmark = pytest.mark.one_of(3)


def state() -> tuple[Any, ...]:
    """Return what of the process a library could change for all of it."""
    handlers = [signal.getsignal(number) for number in signal.valid_signals()]
    loggers = {
        name: (logger.level, logger.disabled, tuple(logger.filters), tuple(logger.handlers))
        for name, logger in logging.root.manager.loggerDict.items()
        if isinstance(logger, logging.Logger)
    }
    filters = list(warnings.filters)
    return logging.root.manager.disable, logging.root.level, loggers, filters, handlers


@pytest.mark.one_of(3)
def test_releases_in_threads_leave_the_process_as_it_was(tmp_path: Path) -> None:
    rows = pa.table({"a": ["x", "y", None] * 50})
    pq.write_table(rows, tmp_path / "x.parquet")
    (tmp_path / "x.csv").write_text("a\n" + "x\ny\n\n" * 50)
    (tmp_path / "x.jsonl").write_text('{"a": "x"}\n{"a": "y"}\n{}\n' * 50)
    files = [tmp_path / name for name in ("x.parquet", "x.csv", "x.jsonl")]
    frames = [rows, rows.to_pandas(), pl.from_arrow(rows), pl.from_arrow(rows).lazy()]
    sources = [*files, *frames, ["x", "y", None] * 50]

    def release(number: int) -> None:
        for i in range(RELEASES):
            data = sources[(number + i) % len(sources)]
            column = None if isinstance(data, list) else "a"
            receipt = sample(data, alphabet=["x", "y"], column=column, epsilon=1).receipt.as_dict()
            assert receipt["n"] == 150

    for first in range(0, len(sources), RELEASES):  # each library loads, and opens, what it needs
        release(first)
    before, descriptors_before = state(), len(os.listdir("/dev/fd"))  # noqa: PTH208
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(release, range(THREADS)))
    assert state() == before
    assert len(os.listdir("/dev/fd")) <= descriptors_before + 2  # noqa: PTH208
    assert not [thread for thread in threading.enumerate() if thread.name == "dproo-pipe"]


def test_logs_and_warnings_of_others_arrive_during_a_release(
    caplog: pytest.LogCaptureFixture,
) -> None:
    logger = logging.getLogger("application")

    def cells() -> Any:
        logger.warning("during")
        with pytest.warns(UserWarning, match="also during"):
            warnings.warn("also during", stacklevel=1)
        yield "x"

    assert list(counting.count(cells(), alphabet=["x"])) == [1, 0]
    assert "during" in caplog.text


def replaced(path: Path, how: str) -> None:
    """Put something else where a file was."""
    if how == "a new name":
        path.rename(path.with_name("moved"))
        return
    path.unlink()
    match how:
        case "another file":
            path.write_bytes(b"a\ny\ny\ny\n")
        case "a pipe":
            os.mkfifo(path)
        case "a link to a device":
            path.symlink_to("/dev/zero")


@pytest.mark.parametrize(
    "how", ["nothing", "another file", "a pipe", "a link to a device", "a new name"]
)
@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.parquet", "x.duckdb"])
def test_what_was_checked_is_what_is_read(name: str, how: str, tmp_path: Path) -> None:
    path = tmp_path / name
    options: dict[str, Any] = {"columns": ["a"]}
    rows = pa.table({"a": ["x", "x"]})
    if name == "x.csv":
        path.write_text("a\nx\nx\n")
    elif name == "x.jsonl":
        path.write_text('{"a": "x"}\n' * 2)
    elif name == "x.parquet":
        pq.write_table(rows, path)
    else:
        options["table"] = "t"
        with duckdb.connect(str(path)) as file:
            file.execute("CREATE TABLE t AS SELECT * FROM rows")
    scan = counting.prepare(path, alphabets=[["x", "y"]], **options)
    replaced(path, how)
    assert list(scan.count()) == [2, 0, 0]


@pytest.mark.parametrize("end", ["csv", "jsonl", "parquet", "duckdb"])
def test_a_pipe_or_a_device_is_refused_without_waiting(end: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / f"pipe.{end}")
    (tmp_path / f"device.{end}").symlink_to("/dev/zero")
    (tmp_path / f"folder.{end}").mkdir()
    table = "t" if end == "duckdb" else None
    for name in ("pipe", "device", "folder"):
        what = "file, or a folder with Parquet files" if name == "folder" else "regular file"
        with pytest.raises(ValueError, match=f"data must be a {what}, got "):
            counting.prepare(
                tmp_path / f"{name}.{end}", alphabets=[["x"]], columns=["a"], table=table
            )


PARQUET = [name for name, kind in FORMATS.items() if kind == "parquet"]


@pytest.mark.parametrize("end", [*PARQUET, *map(str.upper, PARQUET), ".Parquet", ".snappy.parquet"])
def test_a_folder_has_every_file_that_is_parquet_by_its_name(end: str, tmp_path: Path) -> None:
    """As Spark writes it: with marks, checksums and folders for the values of a column."""
    names = [f"a{end}", "b.parquet", f"y=1/part-0{end}"]
    left_out = ["_SUCCESS", f".a{end}.crc", f".hidden{end}", f".hidden/c{end}", f"a{end}.crc"]
    for name in (*names, *left_out):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        pq.write_table(pa.table({"a": ["x"]}), tmp_path / name)
    for name in names:
        assert list(counting.count(tmp_path / name, alphabet=["x"], column="a")) == [1, 0]
    assert list(counting.count(tmp_path, alphabet=["x"], column="a")) == [3, 0]


@pytest.mark.parametrize("name", ["_a.parquet", "_temporary/0/part-0.parquet", "y=1/_b/c.pq"])
def test_a_folder_in_which_a_writer_has_not_finished_is_refused(name: str, tmp_path: Path) -> None:
    """Other programs leave its files out, and they may hold the same records again."""
    for file in ("a.parquet", "_y=1/part-0.parquet", name):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"a": ["x"]}), tmp_path / file)
    with pytest.raises(ValueError, match="be a folder without Parquet files below names that"):
        counting.prepare(tmp_path, alphabets=[["x"]], columns=["a"])
    (tmp_path / name).unlink()
    assert list(counting.count(tmp_path, alphabet=["x"], column="a")) == [2, 0]


@pytest.mark.parametrize("end", ["parquet", "csv"])
def test_a_pattern_finds_nothing_that_a_writer_has_not_finished(end: str, tmp_path: Path) -> None:
    """A folder's name may begin so if the pattern spells it out."""
    table = pa.table({"a": ["x"]})
    for name in ("_own/a", "_own/_y=1/_b", "_own/_temporary/0/c"):
        file = tmp_path / f"{name}.{end}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("a\nx\n") if end == "csv" else pq.write_table(table, file)
    for pattern in (f"_own/**/*.{end}", f"_own/*/*/*.{end}"):
        with pytest.raises(ValueError, match="be a pattern without files below names that begin"):
            counting.prepare(tmp_path / pattern, alphabets=[["x"]], columns=["a"])
    for pattern in (f"_own/*.{end}", f"_own/_temporary/*/*.{end}", f"_own/_y*/*.{end}"):
        assert list(counting.count(tmp_path / pattern, alphabet=["x"], column="a")) == [1, 0]


@pytest.mark.parametrize("end", ["parquet", "csv"])
def test_a_pattern_that_leaves_out_a_folder_of_data_is_refused(end: str, tmp_path: Path) -> None:
    """Spark calls a folder by the name that others give to a file."""
    for name in ("2024", "2025.x/part-0", "other/note"):
        file = tmp_path / f"{name.replace('.x', '.' + end)}.{end}"
        file.parent.mkdir(exist_ok=True)
        file.write_text("a\nx\n")
        if end == "parquet":
            pq.write_table(pa.table({"a": ["x"]}), file)
    for pattern in (f"*.{end}", "2025*", "*"):
        with pytest.raises(ValueError, match="be a pattern without folders of data"):
            counting.prepare(tmp_path / pattern, alphabets=[["x"]], columns=["a"])
    for pattern, n in ((f"**/*.{end}", 3), (f"2025.{end}/*", 1), ("2024*", 1)):
        assert counting.count(tmp_path / pattern, alphabet=["x"], column="a").n == n


def test_a_folder_of_parquet_files_may_be_called_like_any_file(tmp_path: Path) -> None:
    for name in ("visits.db", "visits.xlsx", "visits.csv"):
        (tmp_path / name).mkdir()
        pq.write_table(pa.table({"a": ["x"]}), tmp_path / name / "part-0.parquet")
        assert list(counting.count(tmp_path / name, alphabet=["x"], column="a")) == [1, 0]


LOGS = (
    "_delta_log/00000000000000000000.json",
    ".hoodie/hoodie.properties",
    "metadata/v1.metadata.json",
    "metadata/00000-9f3c.gz.metadata.json",
    "snapshot/EARLIEST",
    "ducklake-0196b5f2-5f1c-7d3a-9c8e-2b7d6a4e1f00.parquet",
    "_spark_metadata/0",
)
"""By which a table says which of the files below its folder still count."""


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """A folder with a table of two partitions, one of them elsewhere, and with links to them."""
    table, elsewhere = tmp_path / "lake" / "visits", tmp_path / "elsewhere"
    for folder in (table / "data" / "y=1", elsewhere):
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"c": ["a"]}), folder / "part-0.parquet")
    (table / "data" / "y=2").symlink_to(elsewhere)
    (tmp_path / "linked").symlink_to(table / "data" / "y=1")
    (tmp_path / "linked.parquet").symlink_to(table / "data" / "y=1" / "part-0.parquet")
    return tmp_path


def put(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize(
    "data",
    [
        "lake",
        "lake/visits",
        "lake/visits/data",
        "lake/visits/data/y=1",
        "lake/visits/data/y=2",
        "lake/visits/*/*/*.parquet",
        "lake/**",
        "lake/visits/data/y=1/part-0.parquet",
        "lake/visits/data/y=2/part-0.parquet",
        "linked",
        "linked.parquet",
    ],
)
def test_no_file_of_a_table_with_deleted_records_is_read(
    data: str, log: str, lake: Path, ledger: Ledger
) -> None:
    put(lake / "lake" / "visits" / log)
    opened = dproo.open(lake / data, ledger=ledger, dataset="patients")
    before = ledger.budget("patients")
    with pytest.raises(ValueError, match="must be outside the folders of Delta, Iceberg and Hudi"):
        opened.value("c", ["a"], epsilon="0.1")
    assert ledger.budget("patients") == before


@pytest.mark.parametrize("log", LOGS)
def test_the_page_offers_no_file_of_such_a_table(log: str, lake: Path) -> None:
    put(lake / "lake" / "visits" / log)
    named = Folder(lake / "lake" / "visits" / "data").find("data", "y=1/part-0.parquet")
    with pytest.raises(ValueError, match=r"deleted records too, got '.*visits'\. Pass the table"):
        Source(data=named).opened()


@pytest.mark.parametrize(
    "other",
    [
        *(f"tables/{log}" for log in LOGS if "/" in log),  # beside the files
        "metadata/visits.metadata.json",
        "metadata/2026.json",
        "metadata",
        "_delta_log",
        ".hoodie",
        "_spark_metadata",
        "snapshot/2026",
        "ducklake-visits.txt",
        "v1.metadata.json",
    ],
)
def test_a_name_that_is_no_log_of_a_table_refuses_nothing(other: str, lake: Path) -> None:
    put(lake / "lake" / "visits" / other)
    assert list(counting.count(lake / "lake", alphabet=["a"], column="c")) == [2, 0]
    assert list(counting.count(lake / "linked", alphabet=["a"], column="c")) == [1, 0]


def test_a_folder_that_may_not_be_listed_has_no_log(lake: Path) -> None:
    (lake / "metadata").mkdir(mode=0)
    assert list(counting.count(lake / "linked", alphabet=["a"], column="c")) == [1, 0]


def test_each_folder_is_searched_for_a_log_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [str(tmp_path / f"y={i % 7}" / f"{i}.parquet") for i in range(1000)]
    searched = Counter[tuple[str, Path]]()
    monkeypatch.setattr(glob, "glob", lambda log, *, root_dir: searched.update([(log, root_dir)]))
    descriptors.refuse_tables(paths)
    assert {folder for _, folder in searched} >= {*Path(paths[0]).parents}
    assert set(searched.values()) == {1}


@pytest.mark.parametrize("end", COMPRESSED)
def test_a_folder_leaves_out_no_compressed_parquet_file(end: str, tmp_path: Path) -> None:
    for name in ("a.parquet", f"b.parquet{end}"):
        pq.write_table(pa.table({"a": ["x"]}), tmp_path / name)
    for data in (tmp_path / f"b.parquet{end}", tmp_path):
        with pytest.raises(ValueError, match="data must be a text file if it is compressed, got "):
            counting.prepare(data, alphabets=[["x"]], columns=["a"])


def test_a_database_with_a_log_beside_it_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)) as file:
        file.execute("CREATE TABLE t AS SELECT 'x' AS a")
    (tmp_path / "x.duckdb.wal").write_bytes(b"")
    with pytest.raises(ValueError, match=r"without a log of changes beside it.*CHECKPOINT"):
        counting.prepare(path, alphabets=[["x"]], columns=["a"], table="t")


def test_a_file_that_ends_early_is_not_taken_for_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a\n" + "x\n" * 100_000)
    scan = counting.prepare(path, alphabets=[["x"]], columns=["a"])
    read = os.pread

    def broken(descriptor: int, size: int, place: int) -> bytes:
        if place:
            raise OSError("canary")
        return read(descriptor, size, place)

    monkeypatch.setattr(os, "pread", broken)
    with pytest.raises(ReleaseError):
        scan.count()


def test_a_reader_that_gives_up_frees_the_writer() -> None:
    pipe = descriptors.Pipe()
    with pytest.raises(KeyError), pipe.filled(iter([b"x" * descriptors.BLOCK] * 1000)):
        raise KeyError
    assert not [thread for thread in threading.enumerate() if thread.name == "dproo-pipe"]


def test_an_interrupt_that_wakes_nobody_is_heeded_all_the_same() -> None:
    """One that strikes just before a wait sets a flag, and the wait goes on."""
    stopped, ends = threading.Event(), []

    def action() -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        stopped.wait(0.5)  # by then the main thread waits
        os.kill(os.getpid(), signal.SIGINT)  # for this thread: the main one blocks it
        ends.append(stopped.wait(20))

    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with pytest.raises(KeyboardInterrupt):
            apart(action, stop=stopped.set)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    assert ends == [True]


BLAST = """
import random, signal, sys, threading
from dproo.counting.boundary import apart

left = 0

def strike(number, frame):
    global left
    if left:
        left -= 1
        raise KeyboardInterrupt

def attempt():
    global left
    left = 2
    signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-5, 2e-3), random.uniform(1e-5, 5e-5))
    apart(lambda: stopped.wait(60), stop=stopped.set)

signal.signal(signal.SIGALRM, strike)
for _ in range(int(sys.argv[1])):
    stopped = threading.Event()
    try:
        attempt()
    except KeyboardInterrupt:
        pass
    left = 0
    signal.setitimer(signal.ITIMER_REAL, 0)
print("all ended")
"""


def test_interrupts_that_follow_each_other_at_once_stay_interrupts() -> None:
    """A supervisor sends SIGTERM and SIGHUP: the second one strikes where the first is heeded."""
    rounds = str(2000 if SOAK else 200)
    command = [sys.executable, "-c", BLAST, rounds]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert run.stdout == "all ended\n", run.stderr[-2000:]


@pytest.mark.parametrize(("end", "number"), [("csv", 80), ("parquet", 40), ("xlsx", 40)])
def test_more_files_than_may_be_open_are_refused(end: str, number: int, tmp_path: Path) -> None:
    """DuckDB opens each Parquet file twice more while it counts, after the charge."""
    frame, first = pd.DataFrame({"a": ["x"]}), tmp_path / f"0.{end}"
    write = {"csv": frame.to_csv, "parquet": frame.to_parquet, "xlsx": frame.to_excel}[end]
    write(first, index=False)
    for i in range(1, number):
        shutil.copy(first, tmp_path / f"{i}.{end}")
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64));"
        "from dproo import counting;"
        "counting.prepare(sys.argv[1], alphabets=[['x']], columns=['a'])"
    )
    command = [sys.executable, "-c", code, str(tmp_path / f"*.{end}")]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "more files than may be open at once" in run.stderr


@pytest.mark.parametrize("kind", ["category", "string", "Int64", "object", "float64"])
def test_no_warning_becomes_an_error_after_the_charge(kind: str) -> None:
    """The tests run with every warning an error; these columns once warned."""
    cells = ["x", None] if kind in {"category", "string", "object"} else [1, None]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        counting.count(pd.Series(cells, dtype=kind), alphabet=["x", 1])
    assert not caught
