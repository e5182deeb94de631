"""Several tables of counts in one scan of Parquet, as a ratio to DuckDB's own grouping sets.

python benchmarks/rows_scan.py [--rows 10000000] [--rounds 5] [--only "7 families"]

Eight columns of 2 to 100 letters, a tenth of them outside the alphabets: first the seven
families of two neighbouring columns, as a whole row in a chain needs them, then all 28 pairs,
as the choice of a network needs them, then columns and pairs, as a private table needs them. Last,
a million rows of a private table of these columns, as a ratio to NumPy's own draws of independent
columns.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import combinations, pairwise
from math import prod
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from measuring import compared, peak_memory, write

from dproo import Alphabet, Model, counting
from dproo.core.draw import RandomSource
from dproo.schema.axis import Letters
from dproo.synthesis.model import ModelColumn
from dproo.synthesis.request import TableRequest
from dproo.synthesis.run import run

SIZES = (2, 5, 10, 20, 50, 100, 7, 12)
NAMES = tuple(f"a{i}" for i in range(len(SIZES)))
FAMILIES = {
    "7 families of two columns": tuple(pairwise(NAMES)),
    "28 pairs of columns": tuple(combinations(NAMES, 2)),
    "8 columns and 28 pairs": (*((name,) for name in NAMES), *combinations(NAMES, 2)),
}
TARGETS = {"8 columns and 28 pairs": 1.3}


def written(folder: Path, rows: int) -> Path:
    """Write the file in a process of its own, so that its memory is not ours."""
    path = folder / "rows.parquet"
    cells = ", ".join(
        f"'letter' || lpad((hash(i * {len(SIZES)} + {i}) % {size})::VARCHAR, 4, '0') AS {name}"
        for i, (name, size) in enumerate(zip(NAMES, SIZES, strict=True))
    )
    writer = get_context("spawn").Process(target=_write, args=(path, cells, rows))
    writer.start()
    writer.join()
    return path


def _write(path: Path, cells: str, rows: int) -> None:
    duckdb.sql("SET enable_progress_bar = false")
    duckdb.sql(f"SELECT {cells} FROM range({rows}) AS rows(i)").write_parquet(str(path))  # noqa: S608


def alphabets_of(families: tuple[tuple[str, ...], ...]) -> list[Alphabet]:
    """Return the letters of each family; every cell outside is one more, as in a code book."""
    axes = {
        name: Letters(tuple(f"letter{i:04}" for i in range(max(size * 9 // 10, 1))), is_open=True)
        for name, size in zip(NAMES, SIZES, strict=True)
    }
    return [Alphabet.product({name: axes[name] for name in family}) for family in families]


def by_duckdb(path: Path, families: tuple[tuple[str, ...], ...]) -> int:
    """Count as DuckDB does by itself, on the columns as they are."""
    sets = ", ".join(f"({', '.join(family)})" for family in families)
    names = ", ".join(NAMES)
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        query = (
            f"SELECT GROUPING({names}), {names}, count(*) FROM read_parquet($1)"  # noqa: S608
            f" GROUP BY GROUPING SETS ({sets})"
        )
        return len(connection.execute(query, [str(path)]).fetchall())


def figures(path: Path, rows: int, *, rounds: int, only: str) -> list[dict[str, Any]]:
    """Return the ratio for each list of families whose name begins so."""
    found = []
    for name, families in FAMILIES.items():
        if not name.startswith(only):
            continue
        alphabets = alphabets_of(families)

        def ours(alphabets: list[Alphabet] = alphabets) -> None:
            tables = counting.prepare(path, alphabets=alphabets).count_several()
            assert {counts.n for counts in tables} == {rows}  # noqa: S101 - else it is no benchmark

        row = compared(
            f"{name}, {rows:.0e} rows of Parquet",
            ours,
            lambda families=families: by_duckdb(path, families),  # type: ignore[misc]
            to="DuckDB's GROUPING SETS on raw columns",
            rounds=rounds,
            target=TARGETS.get(name, 1.5),
        )
        found.append(row | {"peak_memory_mb": peak_memory()})
    return found


def draws(*, rounds: int, size: int = 10**6) -> dict[str, Any]:
    """Return the ratio for rows of a model, which are drawn as columns of letters."""
    chance = np.random.default_rng()
    places = [chance.integers(0, size, 10**5) for size in SIZES]
    request = TableRequest(sizes=SIZES, epsilon=Fraction(1))
    released = run(
        request, lambda families: map(partial(_counts, places), families), RandomSource()
    )
    letters = [tuple(f"letter{i:04}" for i in range(size)) for size in SIZES]
    model = Model.of(released, [ModelColumn(*both) for both in zip(NAMES, letters, strict=True)])
    return compared(
        f"{size:.0e} rows of 8 columns of a model",
        lambda: model.rows(size),
        lambda: [chance.choice(column, size).tolist() for column in letters],
        to="NumPy's choice of each column, uniform",
        rounds=rounds,
    )


def _counts(places: list[Any], family: Sequence[int]) -> Any:
    place = sum(
        (places[column] * prod(SIZES[c] for c in family if c > column) for column in family),
        start=np.zeros(len(places[0]), dtype=int),
    )
    return np.bincount(place, minlength=prod(SIZES[column] for column in family))


def main() -> None:
    """Measure and write ``rows_scan.json`` and ``rows_scan.md``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder), asked.rows)
        found = figures(path, asked.rows, rounds=asked.rounds, only=asked.only)
    if not asked.only or asked.only == "rows":
        found.append(draws(rounds=asked.rounds))
    write("rows_scan", "Several tables in one scan", found)


if __name__ == "__main__":
    main()
