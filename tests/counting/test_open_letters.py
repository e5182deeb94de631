"""Letters that nobody has listed: every engine brings back the same, and no rare ones."""

from __future__ import annotations

from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.draws import some
from support.sources import SOURCES

from dproo import Alphabet, Counts, counting
from dproo.core.counts import NamedCounts
from dproo.counting.prepare import open_scan
from dproo.counting.query import CountQuery
from dproo.counting.sql import people
from dproo.schema.axis import OpenText
from dproo.schema.cell import text_of
from dproo.schema.reading import Reading

pytestmark = pytest.mark.untraced

TEXTS = ["LAX", "é", "x" * 200, "x" * 201, "y" * 300, "other", "a\tb", "\u202e", "", " ", None, "1"]
CELLS: dict[str, tuple[list[Any], pa.DataType, str]] = {
    "text": (TEXTS, pa.string(), "text"),
    "integers": ([7, -7, 2**40, None], pa.int64(), "bigint"),
    "dates": ([date(2020, 1, 1), None], pa.date32(), "date"),
}


def rows_of(kind: str) -> pa.Table:
    """Return cells that occur 3, 4, 5, ... times, and some that occur once or twice."""
    cells, arrow_type, _ = CELLS[kind]
    several = [cell for i, cell in enumerate(cells) for _ in range(3 + i)]
    if kind == "text":
        several += ["canary-1", "canary-2", "canary-2"]
    who = [f"p{i % 11}" for i in range(len(several))]
    return pa.table(
        {
            "cell": pa.array(several, arrow_type),
            "table": pa.array([i % 3 for i in range(len(several))]),
            "who": pa.array(who),
        }
    )


def expected(cells: list[Any], minimum: int) -> tuple[dict[str, int], int]:
    found = Counter(map(text_of, cells))
    letters = {
        text: number
        for text, number in found.items()
        if text and number >= minimum and len(text) <= 200 and text.isprintable()
    }
    letters.pop("other", None)
    return letters, len(cells) - sum(letters.values())


def counted(data: Any, *, person: str | None, minimum: int = 3, **options: Any) -> NamedCounts:
    query = CountQuery(
        alphabets=(Alphabet(axes=(OpenText(minimum=minimum),)),),
        columns=("cell",),
        person=person,
        salt="salt",
        **options,
    )
    (counts,) = open_scan(data, query).count_several()
    assert isinstance(counts, NamedCounts)
    return counts


def assert_parity(data: Any, rows: pa.Table, **options: Any) -> None:
    cells = rows["cell"].to_pylist()
    *seen, others = counts = counted(data, person=None, **options)
    assert (dict(zip(counts.letters, seen, strict=True)), others) == expected(cells, 3)
    assert "canary" not in "".join(counts.letters)


def assert_parity_of_people(data: Any, rows: pa.Table, **options: Any) -> None:
    query = CountQuery(
        alphabets=(Alphabet(axes=(OpenText(),)),), columns=("c",), person="w", salt="salt"
    )
    pairs = zip(rows["cell"].to_pylist(), rows["who"].to_pylist(), strict=True)
    kept = [cell for cell, _ in people.kept_rows(pairs, query)]
    *seen, others = counts = counted(data, person="who", minimum=1, **options)
    assert (dict(zip(counts.letters, seen, strict=True)), others) == expected(kept, 1)
    assert counts.n == len(set(rows["who"].to_pylist()))


NAMELESS = ("cells", "generator_of_dicts", "numpy_objects")


@pytest.mark.parametrize("name", some([name for name in SOURCES if name not in NAMELESS], one_of=6))
def test_every_engine_brings_the_same_letters(name: str, tmp_path: Path) -> None:
    for kind in CELLS:
        rows = rows_of(kind)
        if kind == "dates" and name == "json_lines":
            continue  # there they are text
        for check in (assert_parity, assert_parity_of_people):
            data, options = SOURCES[name](rows, tmp_path)
            check(data, rows, **options)


@pytest.mark.one_of(4)
def test_postgresql_and_spark_bring_the_same_letters(
    server: Any, postgresql: str, spark: Any
) -> None:
    for kind, (_, _, sql_type) in CELLS.items():
        rows = rows_of(kind)
        server.execute(f'CREATE TABLE "{kind}" (cell {sql_type}, "table" int, who text)')
        with server.cursor() as cursor, cursor.copy(f'COPY "{kind}" FROM STDIN') as copy:
            for row in zip(*rows.to_pydict().values(), strict=True):
                copy.write_row(row)
        assert_parity(postgresql, rows, table=("ward", kind))
        assert_parity_of_people(server, rows, table=("ward", kind))
    rows = rows_of("text")
    assert_parity(spark.createDataFrame(rows), rows)


def test_a_letter_is_as_frequent_as_it_is_in_all_files_together(tmp_path: Path) -> None:
    for i in range(3):
        (tmp_path / f"{i}.csv").write_text("cell\nLAX\nrare\n" if i else "cell\nLAX\n")
        pq.write_table(
            pa.table({"cell": ["LAX", "rare"][: 1 + bool(i)]}), tmp_path / f"{i}.parquet"
        )
    for pattern in ("*.csv", "*.parquet"):
        counts = counted(str(tmp_path / pattern), person=None)
        assert (counts.letters, list(counts)) == (("LAX",), [3, 2])


def test_lists_and_arrays_have_letters_too() -> None:
    rows = rows_of("text")
    cells = rows["cell"].to_pylist()
    query = CountQuery(alphabets=(Alphabet(axes=(OpenText(minimum=3),)),))
    for data in (cells, rows["cell"].to_pandas().to_numpy()):
        (counts,) = open_scan(data, query).count_several()
        assert isinstance(counts, NamedCounts)
        *seen, others = counts
        assert (dict(zip(counts.letters, seen, strict=True)), others) == expected(cells, 3)


@pytest.mark.parametrize("data", [{"LAX": 3}, Counts.of([3, 1])])
def test_ready_counts_are_refused(data: Any) -> None:
    alphabet = Alphabet(axes=(OpenText(),))
    with pytest.raises(ValueError, match="alphabet must list the letters of ready counts"):
        counting.prepare(data, alphabets=[alphabet])


def test_the_word_for_an_open_alphabet_is_no_list() -> None:
    with pytest.raises(ValueError, match="alphabet must list its letters here"):
        Alphabet.of("open")
    axis = OpenText()
    assert axis.place("LAX") is None
    assert axis.content == {"longest": 200}
    with pytest.raises(IndexError):
        axis.letter(0)
    with pytest.raises(ValueError, match="reading of an open alphabet must be one of exact"):
        axis.read_as(Reading(kind="date"))


class _Odd:
    def __getattr__(self, name: str) -> Any:
        raise OSError(name)

    @property
    def __class__(self) -> Any:
        raise OSError


def test_a_cell_whose_methods_fail_is_other() -> None:
    query = CountQuery(alphabets=(Alphabet(axes=(OpenText(),)),))
    (counts,) = open_scan(["a", _Odd()], query).count_several()
    assert list(counts) == [1, 1]
