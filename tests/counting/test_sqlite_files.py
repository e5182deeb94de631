"""SQLite files by their path: read-only, whatever a cell holds, also on the command line."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing, nullcontext, suppress
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlalchemy
from support.commands import dproo

from dproo import Alphabet, ReleaseError, counting, draft_codebook
from dproo.counting.source import Source
from dproo.counting.sources.rows import sqlite as sqlite_files

POISON = (
    *("CAST(x'ff61' AS TEXT)", "CAST(x'610062' AS TEXT)", "x'ff'", "NULL", "2e300", "-0.0", "''"),
    *("9223372036854775807", "9e999", "zeroblob(9)", "printf('%.*c', 100000, 'x')"),
)


def made(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)
    return path


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    return made(
        tmp_path / "visits.sqlite3",
        'CREATE TABLE "my.visits" (ward TEXT COLLATE NOCASE, seen DATETIME, who)',
        "INSERT INTO \"my.visits\" VALUES ('A', '2024-01-31 10:00', 1), ('a', NULL, 1)",
        'CREATE VIEW seen AS SELECT ward FROM "my.visits"',
    )


def test_a_file_is_counted_by_its_path(visits: Path) -> None:
    table = '"my.visits"'
    assert list(counting.count(visits, table=table, column="ward", alphabet=["A", "a"])) == [
        1,
        1,
        0,
    ]
    assert list(counting.count(visits, table="seen", column="ward", alphabet=["A"])) == [1, 1]
    months = counting.count(visits, table=table, column="seen", alphabet="2024-01..2024-03")
    assert list(months) == [1, 0, 1]
    people = counting.count(visits, table=table, column="ward", alphabet=["A"], person="who")
    assert people.n == 1
    fields = draft_codebook(visits, table=table)["schema"]["fields"]
    assert [field["name"] for field in fields] == ["ward", "seen", "who"]


@pytest.mark.parametrize("cell", POISON)
def test_a_cell_is_one_record_whatever_it_holds(cell: str, tmp_path: Path) -> None:
    for declared in ("", "TEXT", "INTEGER", "REAL", "DATE", "BOOLEAN", "DECIMAL(9, 2)"):
        path = made(tmp_path / f"x{declared}.sqlite3", f"CREATE TABLE t (c {declared})")
        made(path, f"INSERT INTO t VALUES (7), ({cell}), (7)")
        for alphabet in ([7], range(7, 8), "bins:7,8"):
            counts = counting.count(path, table="t", column="c", alphabet=alphabet)
            assert list(counts) == [2, 1], declared


def test_the_command_reads_a_table(visits: Path) -> None:
    letters = visits.with_name("letters.txt")
    letters.write_text("A\na\n")
    command = ["sample", str(visits), "--table", "seen", "--column", "ward"]
    options = ["--alphabet", str(letters), "--epsilon", "1", "--no-ledger"]
    result = dproo(*command, *options)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() in {"A", "a", "other"}


REFUSED: dict[str, tuple[Callable[[Path], Any], dict[str, Any], str]] = {
    "no table": (lambda path: path, {"table": None}, "table must be given for an SQLite file"),
    "another table": (lambda path: path, {"table": "none"}, "table must be a table or view"),
    "another column": (lambda path: path, {"column": "none"}, "column must be a column"),
    "not a database": (
        lambda path: path.write_bytes(b"canary" * 99),
        {},
        "data must be a readable SQLite file",
    ),
    "a log": (
        lambda path: Path(f"{path}-wal").write_bytes(b"canary"),
        {},
        "without a log of changes beside it",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused_before(name: str, visits: Path) -> None:
    change, options, words = REFUSED[name]
    change(visits)
    asked = {"table": "seen", "column": "ward", "alphabet": ["A"], **options}
    with pytest.raises(ValueError, match=words) as refused:
        counting.count(visits, **asked)
    assert "canary" not in str(refused.value)


@pytest.mark.parametrize("end", ["sqlite3", "duckdb"])
def test_a_log_beside_the_file_that_a_link_names_is_seen(end: str, tmp_path: Path) -> None:
    file, link = tmp_path / f"a.{end}", tmp_path / "links" / f"b.{end}"
    link.parent.mkdir()
    link.symlink_to(file)
    connect: Callable[[Path], Any] = sqlite3.connect if end == "sqlite3" else duckdb.connect
    with closing(connect(file)) as connection:
        connection.execute("CREATE TABLE t (a VARCHAR(9))")
        connection.commit()
    asked: dict[str, Any] = {"table": "t", "column": "a", "alphabet": ["x"]}
    assert counting.count(link, **asked).n == 0
    Path(f"{file}{'-wal' if end == 'sqlite3' else '.wal'}").write_bytes(b"canary")
    with pytest.raises(ValueError, match="without a log of changes beside it"):
        counting.count(link, **asked)


@pytest.mark.parametrize("kind", ["VIRTUAL", "STORED"])
def test_a_generated_column_is_a_column(kind: str, visits: Path) -> None:
    with closing(sqlite3.connect(visits)) as connection, connection:
        connection.execute(f"CREATE TABLE g (a TEXT, b TEXT AS (a || '!') {kind})")
        connection.execute("INSERT INTO g VALUES ('x'), (NULL)")
    assert list(counting.count(visits, table="g", column="b", alphabet=["x!"])) == [1, 1]


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_nothing_is_written_beside_a_file(mode: str, visits: Path) -> None:
    with closing(sqlite3.connect(visits)) as connection:
        connection.execute(f"PRAGMA journal_mode = {mode}")
    before = visits.read_bytes()
    assert counting.count(visits, table="seen", column="ward", alphabet=["A"]).n == 2
    assert [path.name for path in visits.parent.iterdir()] == [visits.name]
    assert visits.read_bytes() == before


UNSAFE = {
    "view": "CREATE VIEW v AS SELECT json_extract(a, '$.b') AS a FROM g",
    "index": "CREATE INDEX v ON g (json_extract(a, '$.b'))",
    "column": "CREATE TABLE v (a, b AS (json_extract(a, '$.b')))",
}


@pytest.mark.parametrize("definition", UNSAFE.values(), ids=UNSAFE)
def test_a_function_that_is_not_run_for_a_file_of_others_is_met_with_a_remedy(
    definition: str, visits: Path
) -> None:
    with closing(sqlite3.connect(visits)) as connection, connection:
        connection.execute("CREATE TABLE g (a)")
        connection.execute(definition)
    table = "g" if "INDEX" in definition else "v"
    try:
        assert counting.count(visits, table=table, column="a", alphabet=["x"]).n == 0
    except ValueError as error:  # versions of SQLite differ in what they run
        assert "Copy the records into a table of another file" in str(error)  # noqa: PT017


OWN = {
    "column": "CREATE TABLE v (b, a AS (mine(b)))",
    "key": "CREATE TABLE v (a TEXT COLLATE mine PRIMARY KEY) WITHOUT ROWID",
    "view": "CREATE VIEW v AS SELECT mine(1) AS a",
    "order": "CREATE VIEW v AS SELECT 1 AS a ORDER BY a COLLATE mine",
}


@pytest.mark.parametrize("definition", OWN.values(), ids=OWN)
def test_what_only_the_program_of_a_file_can_read_is_refused_before(
    definition: str, tmp_path: Path
) -> None:
    path = tmp_path / "visits.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        connection.create_function("mine", 1, lambda cell: cell, deterministic=True)
        connection.create_collation("mine", lambda a, b: (a > b) - (a < b))
        connection.execute(definition)
    words = 'table must be readable, got "v". It needs a function or a collation of the program'
    with pytest.raises(ValueError, match=words.replace('"', "'")):
        counting.prepare(path, table="v", columns=["a"], alphabets=[["x"]])


# Each computes its cells before a filter of the query can leave records out, in some version.
EAGER = {
    "with": "WITH w AS (SELECT abs(a) AS a FROM t) SELECT x.a FROM w AS x, w AS y",
    "materialized": "WITH w AS MATERIALIZED (SELECT abs(a) AS a FROM t) SELECT a FROM w",
    "recursive": "WITH RECURSIVE w(a) AS (SELECT abs(a) FROM t UNION SELECT a FROM w)"
    " SELECT a FROM w",
    "group": "SELECT max(abs(a)) AS a FROM t GROUP BY abs(a)",
    "distinct": "SELECT DISTINCT abs(a) AS a FROM t",
    "union": "SELECT abs(a) AS a FROM t UNION SELECT 1",
    "window": "SELECT sum(abs(a)) OVER () AS a FROM t",
    "order": "SELECT abs(a) AS a FROM t ORDER BY 1 LIMIT 5",
    "limit": "SELECT a FROM t LIMIT (SELECT max(abs(a)) FROM t)",
    "subquery": "SELECT (SELECT max(abs(a)) FROM t) AS a",
    "member": "SELECT a FROM t WHERE a IN (SELECT abs(a) FROM t)",
    "join": "SELECT x.a FROM t LEFT JOIN (SELECT abs(a) AS a FROM t LIMIT 9) AS x",
}


@pytest.mark.parametrize("source", ["path", "engine"])
@pytest.mark.parametrize("definition", EAGER.values(), ids=EAGER)
def test_nothing_of_a_view_is_computed_before(definition: str, source: str, tmp_path: Path) -> None:
    path = made(
        tmp_path / "visits.sqlite3",
        "CREATE TABLE t (a)",
        "INSERT INTO t VALUES (-9223372036854775808), (-1)",  # the first one has no absolute value
        f"CREATE VIEW v AS {definition}",
    )
    engine = sqlalchemy.create_engine(f"sqlite:///{path}")
    scan = counting.prepare(
        engine if source == "engine" else path, table="v", columns=["a"], alphabets=[[1, 2]]
    )
    with pytest.raises(ReleaseError):
        scan.count()
    engine.dispose()


@pytest.mark.parametrize("source", ["path", "engine"])
def test_a_column_that_is_gone_is_not_read_as_its_name(source: str, tmp_path: Path) -> None:
    path = made(tmp_path / "visits.sqlite3", "CREATE TABLE t (`a``b`)", "INSERT INTO t VALUES (1)")
    engine = sqlalchemy.create_engine(f"sqlite:///{path}")
    scan = counting.prepare(
        engine if source == "engine" else path, table="t", columns=["a`b"], alphabets=[["a`b"]]
    )
    made(path, "ALTER TABLE t RENAME COLUMN `a``b` TO c")
    with pytest.raises(ReleaseError):
        scan.count()
    engine.dispose()


def test_a_file_without_locks_that_changes_while_it_is_read_is_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n WHERE i < 9999)"
    for mode in ("DELETE", "WAL"):
        path = made(
            tmp_path / f"{mode}.sqlite3",
            f"PRAGMA journal_mode = {mode}",
            f"CREATE TABLE t AS {numbers} SELECT i % 7 AS a FROM n",
        )
        scan = counting.prepare(path, table="t", columns=["a"], alphabets=[range(7)])
        fetched = sqlite_files.fetched

        def changed(cursor: Any, path: Path = path, fetched: Any = fetched) -> Any:
            rows = fetched(cursor)
            yield next(rows)
            with closing(sqlite3.connect(path, timeout=0)) as writer, suppress(sqlite3.Error):
                writer.execute("DELETE FROM t")
                writer.commit()
                writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            yield from rows

        monkeypatch.setattr(sqlite_files, "fetched", changed)
        with pytest.raises(ReleaseError) if mode == "WAL" else nullcontext():
            assert scan.count().n == 9999
        monkeypatch.undo()


@pytest.mark.parametrize("cell", ["i", "(SELECT count(*) FROM n)"])
def test_an_interrupt_ends_a_query_that_takes_long(tmp_path: Path, cell: str) -> None:
    """A view may compute for hours before its first row, or for its next one."""
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1e12)"
    view = f"CREATE VIEW v AS {numbers} SELECT {cell} AS c FROM n WHERE i % 1e12 = 0"
    path, begun = made(tmp_path / "a.sqlite3", view), time.monotonic()
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        counting.count(path, table="v", column="c", alphabet=["x"])
    assert time.monotonic() - begun < 30


def test_an_interrupted_change_is_met_with_a_remedy(visits: Path) -> None:
    code = (
        "import os, sqlite3, sys; db = sqlite3.connect(sys.argv[1], isolation_level=None);"
        " db.execute('PRAGMA cache_size = 1'); db.execute('BEGIN');"
        " db.execute('CREATE TABLE big (a)');"
        " db.executemany('INSERT INTO big VALUES (?)', [['x' * 999]] * 999); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code, str(visits)], check=True)
    with pytest.raises(ValueError, match="A change to it was interrupted, and only"):
        counting.prepare(visits, table="seen", columns=["ward"], alphabets=[["A"]])


def test_a_file_put_in_its_place_is_not_read(visits: Path, tmp_path: Path) -> None:
    """Each stage of a release opens the file again."""
    other = made(tmp_path / "other.sqlite3", "CREATE TABLE seen AS SELECT 'A' AS ward")
    source = Source(data=str(visits), table="seen").opened()

    def counted() -> list[int]:
        with source.scan([Alphabet.of(["A"])], ("ward",)) as scan:
            return list(scan.count())

    assert counted() == [1, 1]
    visits.rename(tmp_path / "moved.sqlite3")
    other.rename(visits)
    assert counted() == [1, 1]
    visits.rename(tmp_path / "moved.sqlite3")
    with pytest.raises(ValueError, match="data must be a readable SQLite file, got"):
        counted()


@pytest.mark.parametrize("journal", ["DELETE", "WAL"])
def test_a_file_that_is_replaced_while_it_is_opened_is_refused(
    journal: str, visits: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = made(tmp_path / "other.sqlite3", "CREATE TABLE seen AS SELECT 'A' AS ward")
    for path in (visits, other):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(f"PRAGMA journal_mode = {journal}")
    connect = sqlite3.connect

    def late(*arguments: Any, **options: Any) -> Any:
        other.rename(visits)
        return connect(*arguments, **options)

    monkeypatch.setattr(sqlite3, "connect", late)
    with pytest.raises(ValueError, match="data must be a readable SQLite file, got"):
        counting.count(visits, table="seen", column="ward", alphabet=["A"])
