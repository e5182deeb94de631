"""Every figure as a ratio, in one run, to what others take for the same job.

python benchmarks/ratios.py [name ...]      all, or those whose name begins so; the others stay
DPROO_ROWS=1e8 python benchmarks/ratios.py  with as many records at most
"""

from __future__ import annotations

import importlib.util
import math
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from multiprocessing import get_context
from pathlib import Path
from subprocess import DEVNULL, run
from typing import Any

import duckdb
import numpy as np
import polars as pl
from measuring import compared, peak_memory, write

import dproo
from dproo.mechanisms import SAMPLERS

ROWS = int(float(os.environ.get("DPROO_ROWS", "1e9")))
MANY = min(ROWS, 10**8)
LETTERS = [f"letter{i:04}" for i in range(1000)]
Row = dict[str, Any]


def _write(path: Path, columns: str, rows: int) -> None:
    duckdb.sql("SET enable_progress_bar = false")
    duckdb.sql(f"SELECT {columns} FROM range({rows}) AS rows(i)").write_parquet(str(path))  # noqa: S608


def written(folder: Path, columns: str, rows: int) -> Path:
    """Write Parquet files in a process of its own, so that its memory is not ours.

    More than 10^8 rows are the same file of 10^8 under several names.
    """
    path = folder / f"rows-{rows}.parquet"
    files = -(-rows // 10**8)
    writer = get_context("spawn").Process(target=_write, args=(path, columns, rows // files))
    writer.start()
    writer.join()
    for i in range(1, files):
        path.with_name(f"rows-{rows}-{i}.parquet").hardlink_to(path)
    return path if files == 1 else path.with_name(f"rows-{rows}*.parquet")


CODE = "'letter' || lpad((hash(i) % 1000)::VARCHAR, 4, '0') AS code"


def bare_count(path: Path, columns: str) -> int:
    """Count as DuckDB does by itself."""
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        query = f"SELECT {columns}, count(*) FROM read_parquet($1) GROUP BY {columns}"  # noqa: S608
        return len(connection.execute(query, [str(path)]).fetchall())


def parquet(folder: Path) -> Iterator[Row]:
    """A release from Parquet files; a tenth of their letters are outside the alphabet."""
    for rows in sorted({MANY, ROWS}):
        path = written(folder, CODE, rows)

        def ours(path: Path = path, rows: int = rows) -> None:
            released = dproo.open(path).values("code", LETTERS[:900], epsilon=1)
            assert released.receipt.n == rows  # noqa: S101 - a benchmark of a wrong count is none

        row = compared(
            f"release from {rows:.0e} rows of Parquet",
            ours,
            lambda path=path: bare_count(path, "code"),
            to="bare DuckDB count",
            target=1.1,
        )
        yield row | {"peak_memory_mb": peak_memory()}


def balanced(folder: Path) -> Iterator[Row]:
    """A release of the sampler with levels, to one of the sampler without."""
    path = written(folder, CODE, MANY)
    fresh = count(1001)  # an epsilon of its own for each release, so that no table is kept

    def by(sampler: str) -> None:
        epsilon = f"{next(fresh)}/1000"
        dproo.open(path).values("code", LETTERS, epsilon=epsilon, sampler=sampler)

    yield compared(
        f"bal-roo from {MANY:.0e} rows of Parquet",
        lambda: by("bal-roo"),
        lambda: by("ls-roo"),
        to="ls-roo on the same file",
        rounds=15,
        target=1.05,
    )


def groups(folder: Path) -> Iterator[Row]:
    """One record for each of 10^5 groups."""
    number = 10**5
    path = written(folder, f"(hash(i) % {number})::INTEGER AS g, {GROUPED}", MANY)
    yield compared(
        f"one record for each of 1e5 groups, {MANY:.0e} rows",
        lambda: dproo.open(path, neighbours="add-remove").values(
            "code",
            [f"letter{i}" for i in range(10)],
            epsilon=1,
            by=dproo.Groups("g", range(number)),
        ),
        lambda: bare_count(path, "g, code"),
        to="bare DuckDB GROUP BY",
        rounds=3,
        target=2.0,
    )


GROUPED = "'letter' || (hash(i + 1) % 10)::VARCHAR AS code"


def spark(folder: Path) -> Iterator[Row]:
    """A release from a frame of Spark in local mode."""
    from pyspark.sql import SparkSession

    path = written(folder, CODE, MANY)
    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = session.config("spark.ui.showConsoleProgress", "false")
    session = session.config("spark.driver.memory", "2g").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    frame = session.read.parquet(str(path))
    yield compared(
        f"release from {MANY:.0e} rows in Spark",
        lambda: dproo.open(frame).values("code", LETTERS[:900], epsilon=1),
        lambda: frame.groupBy("code").count().collect(),
        to="bare Spark count",
        target=1.15,
        is_here=False,
    )
    session.stop()


def postgresql(_: Path) -> Iterator[Row]:
    """A release from a table of PostgreSQL, in a cluster of its own, of few values or many."""
    import psycopg

    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from support.databases import Server

    rows = min(MANY, 10**7)
    cells = {
        "10": "'letter' || i %% 10",
        "1,000": "'letter' || lpad((i %% 1000)::text, 4, '0')",
        "1e6": "'l' || lpad((i %% 1000000)::text, 6, '0')",
    }
    server = Server()
    try:
        with psycopg.connect(server.url, autocommit=True) as connection:
            for values, cell in cells.items():
                connection.execute("DROP TABLE IF EXISTS visits")
                # A table of one session is read by one process, so that the clock is of use.
                made = f"SELECT {cell} AS code FROM generate_series(1, {rows}) AS rows(i)"  # noqa: S608
                connection.execute(f"CREATE TEMP TABLE visits AS {made}", [])
                connection.execute("ANALYZE visits")
                yield compared(
                    f"release from {rows:.0e} rows in PostgreSQL, {values} values",
                    lambda: dproo.open(connection, table="visits").value(
                        "code", LETTERS[:900], epsilon=1
                    ),
                    lambda: connection.execute(
                        "SELECT code, count(*) FROM visits GROUP BY code"
                    ).fetchall(),
                    to="bare PostgreSQL count",
                    target=1.2,
                    is_here=False,
                )
    finally:
        server.remove()


def memory(_: Path) -> Iterator[Row]:
    """A release from a column in memory, to one copy of that memory."""
    cells = np.random.default_rng().integers(0, 1000, size=10**7, dtype=np.int32)
    frame = pl.DataFrame({"code": cells})
    yield compared(
        "release from 1e7 integers in memory (Polars)",
        lambda: dproo.open(frame).values("code", range(1000), epsilon=1),
        cells.copy,
        to="one copy of that memory",
        rounds=3,
    )


def draws(_: Path) -> Iterator[Row]:
    """10^6 independent draws from each sampler, and 10^6 drawn jointly."""
    generator = np.random.default_rng()
    uniform = np.full(1000, 1 / 1000)
    counts = dproo.Counts.of([int(c) for c in generator.multinomial(10**7, uniform)])
    for name in SAMPLERS:
        sampler = dproo.mechanism(name, epsilon="0.1", n=counts.n, k=1000)
        weights = np.array([float(p) for p in sampler.pmf(counts)])
        law = weights / weights.sum()
        yield compared(
            f"1e6 exact secure draws over 1,000 letters, {name}",
            lambda sampler=sampler: sampler.draw_many(counts, 10**6),
            lambda law=law: generator.choice(1000, size=10**6, p=law),
            to="numpy choice, not secure",
            target=10.0,
        )
    letters = dict(zip(LETTERS, counts, strict=True))
    yield compared(
        "Polya release of 1e6 draws (2 s allowed)",
        lambda: dproo.open(letters).values(None, LETTERS, epsilon=1, size=10**6, sampler="roo"),
        lambda: generator.choice(1000, size=10**6, p=uniform),
        to="numpy choice, not secure",
    )


def peers(_: Path) -> Iterator[Row]:
    """One private record of 10^5 records over 1,000 letters, by other libraries."""
    cells = np.random.default_rng().integers(0, 1000, size=10**5)
    records = [LETTERS[cell] for cell in cells]

    def ours() -> object:
        return dproo.open(records).values(None, LETTERS, epsilon=1)

    import opendp.prelude as dp

    dp.enable_features("contrib")
    table = (
        (dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance())
        >> dp.t.then_count_by_categories(categories=LETTERS, null_category=True)
        >> dp.m.then_laplace(scale=2.0)
    )
    generator = np.random.default_rng()

    def opendp() -> object:
        weights = np.maximum(np.array(table(records), dtype=np.float64), 0)
        return generator.choice(len(weights), p=weights / weights.sum())

    figure = "one record of 1e5 in memory, 1,000 letters"
    yield compared(figure, ours, opendp, to="OpenDP: noisy table of counts, one draw")
    if importlib.util.find_spec("diffprivlib") is None:
        print("peers: diffprivlib is not installed")
        return
    from diffprivlib.mechanisms import Exponential

    def exponential() -> object:
        counts = Counter(records)
        return Exponential(
            epsilon=1, sensitivity=1, utility=[counts[c] for c in LETTERS], candidates=LETTERS
        ).randomise()

    yield compared(figure, ours, exponential, to="diffprivlib: exponential mechanism on counts")


def several(_: Path) -> Iterator[Row]:
    """A thousand records for one epsilon, each from a block of its own."""
    letters = range(1000)
    falling = [1 / (letter + 1) for letter in letters]
    for records, shares, shape in (
        (10**5, [1.0] * 1000, ""),
        (10**6, [1.0] * 1000, ""),
        (10**6, falling, " by Zipf's law"),
    ):
        seen = {letter: int(records * share / sum(shares)) for letter, share in enumerate(shares)}
        counts = dproo.Counts.sparse(seen, k=1001)
        for sampler in ("ls-roo", "auto"):

            def ours(counts: dproo.Counts = counts, sampler: str = sampler) -> None:
                dproo.open(counts).values(None, letters, epsilon=1, size=1000, sampler=sampler)

            yield compared(
                f"1,000 of {records:.0e} records{shape}, 1,000 letters, {sampler} (1 s allowed)",
                ours,
                lambda records=records: np.random.default_rng().permutation(records),
                to="one shuffle of the records by numpy, not secure",
                rounds=3,
            )


def start(_: Path) -> Iterator[Row]:
    """The start of the command line, to that of a bare interpreter."""
    interpreter = sys.executable
    command = str(Path(interpreter).with_name("dproo"))

    def started(*arguments: str) -> Callable[[], object]:
        return lambda: run(arguments, check=True, stdout=DEVNULL)  # noqa: S603 - our own command

    bare, to = started(interpreter, "-c", "pass"), "a bare interpreter's start"
    numbers = "--k", "9", "--epsilon", "0.1"
    for name, ours, target in (
        ("dproo --help (0.25 s allowed)", started(command, "--help"), 4.0),
        (
            "import click, which every command needs",
            started(interpreter, "-c", "import click"),
            None,
        ),
        ("dproo plan", started(command, "plan", *numbers, "--alpha", "0.05"), None),
        ("dproo certify", started(command, "certify", *numbers, "--n", "1000"), None),
    ):
        yield compared(name, ours, bare, to=to, rounds=15, target=target)


def certificates(_: Path) -> Iterator[Row]:
    """Making and certifying each sampler, to a thousand decimal digits of e^epsilon."""
    for name in SAMPLERS:
        yield compared(
            f"make and certify {name}, n = 1e12, k = 1e6, epsilon = 0.001 (2 s allowed)",
            lambda name=name: dproo.certify(
                dproo.mechanism(name, n=10**12, k=10**6, epsilon="0.001")
            ),
            lambda: math.factorial(20_000),
            to="20,000 factorial",
            rounds=3,
        )


FIGURES = (
    *(parquet, balanced, groups, spark, postgresql, memory, draws, several, peers),
    *(certificates, start),
)


def main() -> None:
    """Measure, and write the table; figures that were not measured now stay in it."""
    for measure in FIGURES:
        if sys.argv[1:] and not any(measure.__name__.startswith(name) for name in sys.argv[1:]):
            continue
        with tempfile.TemporaryDirectory() as folder:
            write("ratios", "Ratios to what others take", list(measure(Path(folder))))


if __name__ == "__main__":
    main()
