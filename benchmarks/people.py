"""One record of each person from Parquet, as a ratio to DuckDB's own query of the same shape.

python benchmarks/people.py [--rows 10000000]

A tenth as many people as rows, a thousand letters, one of ten outside the alphabet. The same
shape is: group by person, keep the letter of least hash, count the letters. Beside it stand the
fastest way to keep one record at random, and the count of records without people, which need
no second key to group by. Memory is that of a process that does nothing else.
"""

from __future__ import annotations

import argparse
import tempfile
from multiprocessing import get_context
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any

import duckdb
from measuring import compared, peak_memory, write

from dproo import counting

LETTERS = [f"letter{i:04}" for i in range(900)]
KEPT = "SELECT {} AS letter FROM read_parquet($1) GROUP BY person"
BARE = {
    "DuckDB's own query of the same shape": KEPT.format(
        "arg_min(letter, left(md5(concat_ws('|', 'salt', person, letter)), 12))"
    ),
    "DuckDB keeping any record, by its fastest random number": KEPT.format(
        "arg_min(letter, random())"
    ),
    "DuckDB counting all records": "SELECT letter FROM read_parquet($1)",
}
TARGETS = {"DuckDB's own query of the same shape": 1.3}


def written(folder: Path, rows: int) -> Path:
    """Write the file in a process of its own, so that its memory is not ours."""
    path = folder / "people.parquet"
    writer = get_context("spawn").Process(target=_write, args=(path, rows))
    writer.start()
    writer.join()
    return path


def _write(path: Path, rows: int) -> None:
    duckdb.sql("SET enable_progress_bar = false")
    cells = (
        f"'person' || lpad((hash(i * 2 + 1) % {rows // 10})::VARCHAR, 9, '0') AS person,"
        " 'letter' || lpad((hash(i * 2) % 1000)::VARCHAR, 4, '0') AS letter"
    )
    duckdb.sql(f"SELECT {cells} FROM range({rows}) AS rows(i)").write_parquet(str(path))  # noqa: S608


def by_duckdb(path: Path, kept: str) -> int:
    """Count as DuckDB does by itself."""
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        query = f"SELECT letter, count(*) FROM ({kept}) GROUP BY letter"  # noqa: S608
        return len(connection.execute(query, [str(path)]).fetchall())


def ours(path: Path) -> int:
    """Count one record of each person."""
    return counting.count(path, alphabet=LETTERS, column="letter", person="person").n


def memory(path: Path) -> int:
    """Return the most memory that a process has which counts once, in MB."""
    context = get_context("spawn")
    found: Queue[int] = context.Queue()
    child = context.Process(target=_measure, args=(path, found))
    child.start()
    peak = found.get()
    child.join()
    return peak


def _measure(path: Path, found: Queue[int]) -> None:
    ours(path)
    found.put(peak_memory())


def main() -> None:
    """Measure and write ``people.json`` and ``people.md``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10**7, help="100000000 for 10^7 people")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder), options.rows)
        assert ours(path) <= options.rows // 10  # noqa: S101 - else it is no benchmark
        peak = memory(path)
        found: list[dict[str, Any]] = []
        for name, kept in BARE.items():
            row = compared(
                f"one record of each person, {options.rows:.0e} rows of Parquet",
                lambda: ours(path),
                lambda kept=kept: by_duckdb(path, kept),  # type: ignore[misc]
                to=name,
                rounds=options.rounds,
                target=TARGETS.get(name),
            )
            found.append(row | {"peak_memory_mb": peak})
        write("people", "One record of each person", found)


if __name__ == "__main__":
    main()
