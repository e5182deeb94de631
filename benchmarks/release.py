"""Release from a Parquet file of 10^8 rows, against DuckDB's bare count of the same file."""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path

import duckdb

import dproo

ROWS = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**8
LETTERS = [f"letter{i:04}" for i in range(1000)]
ROUNDS = 7


def write(path: Path) -> None:
    """Write one column of a thousand letters, a tenth of which are outside the alphabet."""
    duckdb.sql("SET enable_progress_bar = false")
    duckdb.sql(
        "SELECT 'letter' || lpad((hash(i) % 1000)::VARCHAR, 4, '0') AS code"  # noqa: S608
        f" FROM range({ROWS}) AS rows(i)"
    ).write_parquet(str(path))


def bare(path: Path) -> int:
    """Count as DuckDB does by itself; return the number of rows."""
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        query = "SELECT code, count(*) FROM read_parquet($1) GROUP BY code"
        return sum(count for _, count in connection.execute(query, [str(path)]).fetchall())


def ours(path: Path) -> int:
    """Release a record; return the number of records, which is public."""
    release = dproo.sample(path, alphabet=LETTERS[:900], column="code", epsilon=1)
    return int(release.receipt["n"])


def seconds(count: Callable[[Path], int], path: Path) -> float:
    """Return the time of one count."""
    start = time.perf_counter()
    assert count(path) == ROWS  # noqa: S101 - a benchmark of a wrong count is none
    return time.perf_counter() - start


def main() -> None:
    """Print the best of several rounds, taken in turns."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        writer = get_context("spawn").Process(target=write, args=(path,))  # its memory is its own
        writer.start()
        writer.join()
        bare(path), ours(path)
        times = [(seconds(bare, path), seconds(ours, path)) for _ in range(ROUNDS)]
    best_bare, best_ours = (min(column) for column in zip(*times, strict=True))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{ROWS:,} rows: DuckDB {best_bare:.3f} s, dproo {best_ours:.3f} s,", end=" ")
    print(f"ratio {best_ours / best_bare:.2f}; peak memory of the process {memory} MB")


if __name__ == "__main__":
    main()
