"""Many sets of columns are counted in batches of bounded size, all of the same records."""

from __future__ import annotations

import secrets
import sqlite3
from contextlib import closing
from itertools import combinations
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
from duckdb import sql
from support.draws import DICE

from dproo import Alphabet, counting
from dproo.counting import query as counted
from dproo.counting.prepare import open_scan
from dproo.counting.query import CountQuery
from dproo.counting.sql import duckdb

WIDTH = 12  # of which two batches are made
NAMES = [f"c{i}" for i in range(WIDTH)]
KINDS = "text", "bigint", "double precision"  # in turn, and each column has letters of its own
CELLS = {
    name: ([f"{name}x", f"{name}y"], [i, i + 1], [i + 0.5, i + 2.5])[i % 3]
    for i, name in enumerate(NAMES)
}
AXES = {
    name: Alphabet.bins([i, i + 1, i + 4]) if i % 3 == 2 else Alphabet.of(CELLS[name])
    for i, name in enumerate(NAMES)
}
PAIRS = [Alphabet.product({a: AXES[a], b: AXES[b]}) for a, b in combinations(NAMES, 2)]


def rows_of(size: int) -> pa.Table:
    cells = {name: [*some, some[0] * 50, None] for name, some in CELLS.items()}
    columns = {name: DICE.choices(some, k=size) for name, some in cells.items()}
    return pa.table({**columns, "who": [DICE.choice("abcdefgh") for _ in range(size)]})


def counts_of(data: Any, *, salt: str, person: str | None, **options: Any) -> list[list[int]]:
    query = CountQuery(
        alphabets=tuple(PAIRS), columns=tuple(NAMES), person=person, salt=salt, **options
    )
    assert len(query.batches) > 1
    return [list(counts) for counts in open_scan(data, query).count_several()]


@pytest.mark.one_of(3)
def test_batches_hold_every_alphabet_once_and_no_more_than_they_may() -> None:
    names = [f"c{i}" for i in range(200)]
    pairs = [Alphabet.of({a: ["x", "y"], b: ["x", "y"]}) for a, b in combinations(names, 2)]
    batches = CountQuery(alphabets=tuple(pairs), columns=tuple(names)).batches
    assert sorted(i for batch in batches for i in batch.alphabets) == list(range(19_900))
    assert len(batches) < 450
    for batch in batches:
        assert len(batch.query.sets) <= counted.SETS_MAX
        assert len(batch.query.axes) <= counted.COLUMNS_MAX
        assert batch.query.columns == tuple(names[place] for place in batch.columns)


def test_a_batch_has_no_more_cells_than_it_may_unless_one_set_has() -> None:
    letters = [str(i) for i in range(1500)]
    pairs = [Alphabet.of({a: letters, b: letters}) for a, b in combinations("abcd", 2)]
    batches = CountQuery(alphabets=tuple(pairs), columns=tuple("abcd")).batches
    assert [len(batch.alphabets) for batch in batches] == [1] * 6


@pytest.mark.parametrize("kind", ["parquet", "frame"])
def test_every_thread_of_a_large_machine_has_room_for_its_tables(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each thread of DuckDB has tables of its own: 64 of them would take 19 GB here."""
    monkeypatch.setattr(duckdb.os, "cpu_count", lambda: 64)
    monkeypatch.setitem(duckdb._CONFIG, "threads", 64)
    seen = []
    start = duckdb.Engine.start

    def started(self: Any, *names: Any, **options: Any) -> Any:
        running = start(self, *names, **options)
        ((threads,),) = running.execute("SELECT current_setting('threads')").fetchall()
        seen.append(threads)
        return running

    monkeypatch.setattr(duckdb.Engine, "start", started)
    letters = [str(i) for i in range(200)]
    names = NAMES[:9]
    pairs = [Alphabet.of({a: letters, b: letters}) for a, b in combinations(names, 2)]
    frame = pa.table({name: ["1", "2", "x"] for name in names})
    pq.write_table(frame, tmp_path / "x.parquet")
    data = frame if kind == "frame" else str(tmp_path / "x.parquet")
    query = CountQuery(alphabets=tuple(pairs), columns=tuple(names))
    with open_scan(data, query) as scan:
        assert all(counts.n == 3 for counts in scan.count_several())
    assert 1 <= seen[-1] < 64
    assert seen[-1] * query.room <= duckdb.TABLES
    one = CountQuery(alphabets=(Alphabet.of(letters),), columns=("c0",))
    with open_scan(data, one) as scan:
        scan.count()
    assert seen[-1] == 64


@pytest.mark.one_of(3)
@pytest.mark.parametrize("person", [None, "who"])
def test_every_engine_counts_all_batches_of_the_same_records(
    person: str | None, tmp_path: Path, server: Any, postgresql: str
) -> None:
    rows, salt = rows_of(60), secrets.token_hex(4)
    expected = counts_of(rows.to_pylist(), salt=salt, person=person)
    pq.write_table(rows, tmp_path / "x.parquet")
    pc.write_csv(rows, tmp_path / "x.csv")
    columns = ", ".join(f"{name} {kind}" for name, kind in zip(NAMES, KINDS * 4, strict=True))
    created = f"CREATE TABLE wide ({columns}, who text)"
    server.execute(created)
    with closing(sqlite3.connect(tmp_path / "x.db")) as database:
        database.execute(created)
        records = zip(*rows.to_pydict().values(), strict=True)
        database.executemany(f"INSERT INTO wide VALUES ({', '.join('?' * (WIDTH + 1))})", records)
        database.commit()
    with server.cursor() as cursor, cursor.copy("COPY wide FROM STDIN") as copy:
        for row in zip(*rows.to_pydict().values(), strict=True):
            copy.write_row(row)
    for data, options in (
        (tmp_path / "x.parquet", {}),
        (tmp_path / "x.csv", {}),
        (tmp_path / "x.db", {"table": "wide"}),
        (rows, {}),
        (rows.to_pandas(), {}),
        (sql("SELECT * FROM rows"), {}),
        (postgresql, {"table": "ward.wide"}),
        (server, {"table": "ward.wide"}),
    ):
        assert counts_of(data, salt=salt, person=person, **options) == expected, data


def test_a_transaction_in_which_the_records_may_change_is_refused(
    server: Any, postgresql: str
) -> None:
    server.execute(f"CREATE TABLE wide ({', '.join(f'{name} text' for name in NAMES)})")
    with server.transaction():
        server.execute("SELECT 1")
        with pytest.raises(ValueError, match="outside a transaction, or in one at REPEATABLE READ"):
            counting.prepare(server, alphabets=PAIRS, table="ward.wide")
    scan = counting.prepare(postgresql, alphabets=PAIRS, table="ward.wide")
    server.execute("INSERT INTO wide DEFAULT VALUES")
    assert {counts.n for counts in scan.count_several()} <= {0, 1}


def test_a_file_that_changes_between_two_passes_is_not_released(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pq.write_table(rows_of(10), tmp_path / "x.parquet")
    scan = counting.prepare(tmp_path / "x.parquet", alphabets=PAIRS)
    from dproo.counting.sources import file_scan  # noqa: PLC0415

    count, passes = file_scan._count, []

    def changed(*arguments: Any, **options: Any) -> Any:
        passes.append(1)
        found = count(*arguments, **options)
        with (tmp_path / "x.parquet").open("r+b") as file:
            file.write(b"PAR1")
        return found

    monkeypatch.setattr(file_scan, "_count", changed)
    with pytest.raises(counting.scan.ReleaseError, match="could not be counted"):
        scan.count_several()
    assert len(passes) > 1
