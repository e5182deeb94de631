"""What a file states of its own values, the least and the greatest, decides nothing.

Writers leave NaN out of them, so that one record would decide how the others are read; and a file
may simply be wrong.
"""

from __future__ import annotations

import struct
from itertools import product
from math import inf, nan
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.draws import DICE, few, some

from dproo import counting
from dproo.schema.axis import Bins

LETTERS = ["a", "b"]
KINDS = {"float": pa.float32(), "double": pa.float64(), "half": pa.float16()}
WRITERS = ("pyarrow", "polars", "duckdb")


def written(path: Path, writer: str, who: list[float | None], cells: list[str]) -> Path:
    table = pa.table({"p": pa.array(who, KINDS[path.stem]), "c": cells})
    if writer == "pyarrow":
        pq.write_table(table, path, row_group_size=DICE.choice([1, 3, 1000]))
    elif writer == "polars":
        pl.DataFrame(table).write_parquet(path, row_group_size=1000)
    else:
        duckdb.from_arrow(table).write_parquet(str(path))
    return path


ASKED: list[dict[str, Any]] = [
    {"column": "c", "alphabet": LETTERS, "person": "p"},
    {"column": "c", "alphabet": LETTERS, "person": "p", "is_each_missing": True},
    {"column": "p", "alphabet": ["7", "8"]},
    {"column": "p", "alphabet": Bins.of([0, 7.5, 9])},
]


@pytest.mark.one_of(3)
@pytest.mark.parametrize(("writer", "kind"), some(product(WRITERS, KINDS), one_of=2))
def test_nan_is_read_alike_whatever_the_other_numbers_are(
    writer: str, kind: str, tmp_path: Path
) -> None:
    if (writer, kind) == ("duckdb", "half"):
        pytest.skip("DuckDB has no halves.")
    others: list[list[float | None]] = [[7, 7], [7, 8], [7, None], [7, inf], [7, -inf, 8], [None]]
    for known, number in few(product(others, range(1, 9)), 2):
        who = [*known, *[nan] * number, *DICE.choices([7.0, 8.0, -0.0, 1e3], k=DICE.randrange(3))]
        DICE.shuffle(who)
        cells = ["a"] * len(who)
        path = written(tmp_path / f"{kind}.parquet", writer, who, cells)
        for asked in ASKED:
            rows = [{"p": one, "c": cell} for one, cell in zip(who, cells, strict=True)]
            expected = list(counting.count(rows, **asked))
            assert list(counting.count(path, **asked)) == expected, (who, asked)


@pytest.mark.parametrize("person", [None, "p"])
def test_statistics_that_are_wrong_change_no_count(tmp_path: Path, person: str | None) -> None:
    """The greatest number is said to be 8, and the least, where it is 1, to be 7."""
    path = tmp_path / "x.parquet"
    numbers = [7, 8, 1, 1, 999, 999]
    table = pa.table({"n": numbers, "d": [float(n) for n in numbers], "p": list(range(6))})
    pq.write_table(table, path, use_dictionary=False, compression="none")
    stored = path.read_bytes()
    (size,) = struct.unpack("<I", stored[-8:-4])
    data, footer = stored[: -8 - size], stored[-8 - size :]
    for code in ("<q", "<d"):
        for true, false in ((999, 8), (1, 7)):
            assert struct.pack(code, true) in footer
            footer = footer.replace(struct.pack(code, true), struct.pack(code, false))
    path.write_bytes(data + footer)
    for column in ("n", "d"):
        asked = {"column": column, "person": person}
        assert list(counting.count(path, alphabet=["1", "7", "999"], **asked)) == [2, 1, 2, 1]
        assert list(counting.count(path, alphabet=Bins.of([0, 5, 9]), **asked)) == [2, 2, 2]
