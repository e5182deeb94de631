from __future__ import annotations

import io
import math
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from itertools import permutations
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.draws import DICE, SOAK

from dproo import Alphabet, counting
from dproo.codebooks.found import shapes
from dproo.counting.query import CountQuery
from dproo.counting.sources import arrow, descriptors, file_scan, files
from dproo.counting.sql import duckdb as duckdb_dialect
from dproo.schema.axis import OpenText

pytestmark = pytest.mark.one_of(3)

CELLS = st.lists(st.sampled_from(["a", "b", "c", "", " a", None]), max_size=30)


def test_importing_the_package_loads_no_engine() -> None:
    code = (
        "import dproo, sys; dproo.sample(['a'], ['a'], epsilon=1);"
        "print({'numpy', 'duckdb', 'narwhals', 'psycopg', 'pandas'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


@pytest.mark.one_of(3)
@settings(max_examples=50 if SOAK else 12)
@given(cells=CELLS, order=st.randoms(), cut=st.integers(0, 30))
def test_neither_order_nor_partition_nor_relabelling_changes_counts(
    cells: list[str | None], order: random.Random, cut: int
) -> None:
    letters = ["a", "b", "c"]
    counts = counting.count(cells, alphabet=letters)
    assert counts.n == len(cells)
    shuffled = order.sample(cells, len(cells))
    for data in (shuffled, tuple(shuffled), iter(shuffled), pl.Series(shuffled, dtype=pl.String)):
        assert counting.count(data, alphabet=letters) == counts
    parts = pa.chunked_array([shuffled[:cut], shuffled[cut:]], pa.string())
    assert counting.count(parts, alphabet=letters) == counts
    new = {"a": "\u00e9", "b": "1", "c": "-"}
    renamed = pd.Series([new.get(cell, cell) for cell in shuffled], dtype=object)
    order.shuffle(letters)
    relabelled = counting.count(renamed, alphabet=[new[letter] for letter in letters])
    assert list(relabelled) == [*(counts["abc".index(letter)] for letter in letters), counts[3]]


@pytest.mark.parametrize(
    "data",
    [
        ["7", 7, 7.0, None, float("nan"), 2**53 + 1],
        (cell for cell in ["7", 7, 7.0, None, float("nan"), 2**53 + 1]),
        np.array(["7", 7, 7.0, None, float("nan"), 2**53 + 1], dtype=object),
        pd.Series(["7", 7, 7.0, None, float("nan"), 2**53 + 1], dtype=object),
        pd.Series(["7", 7, 7.0, None, float("nan"), 2**53 + 1], dtype="category"),
        pl.Series(["7", "7", "7", None, "", str(2**53 + 1)]),
        pa.array(["7", "7", "7", None, "", str(2**53 + 1)]),
        pd.Series(["7", "7", "7", None, "", str(2**53 + 1)]),
        pd.DataFrame({"only": ["7", "7", "7", None, "", str(2**53 + 1)]}),
    ],
    ids=lambda data: type(data).__module__ + type(data).__name__,
)
def test_cells_in_memory_are_counted_by_their_text(data: Any) -> None:
    assert list(counting.count(data, alphabet=[7, 2**53 + 1])) == [3, 1, 2]


def test_a_frame_of_narwhals_is_that_of_its_own_library() -> None:
    narwhals = pytest.importorskip("narwhals")
    table = pa.table({"a": ["x", None], "b": ["x", "y"]})
    for own in (table, table.to_pandas(), pl.from_arrow(table).lazy()):
        assert list(counting.count(narwhals.from_native(own), alphabet={"a": ["x"]})) == [1, 1]
    series = narwhals.from_native(pl.Series(["x", None]), series_only=True)
    assert list(counting.count(series, alphabet=["x"])) == [1, 1]


def test_cells_that_are_equal_to_python_but_not_as_text_are_told_apart() -> None:
    for cells in (
        [1, True, 1, None, True],
        [True, True, None, 1, 1],
        [1, 1, None, True, 1.0, True],
    ):
        found = counting.count(cells, alphabet=[1, "true"])
        assert list(found) == [cells.count(1) - 2, 2, 1]


@pytest.mark.parametrize(
    ("array", "counts"),
    [
        (np.array([1, 2, 2**63 - 1]), [1, 1, 0, 1]),
        (np.array([1, 2, 2**64 - 1], dtype=np.uint64), [1, 1, 1, 0]),
        (np.array([1.0, 2.5, np.nan], dtype=np.float32), [1, 0, 0, 2]),
        (np.array(["1", "2", ""]), [1, 1, 0, 1]),
        (np.array([], dtype=int), [0, 0, 0, 0]),
    ],
)
def test_arrays_are_counted_by_their_type(array: np.ndarray, counts: list[int]) -> None:
    assert list(counting.count(array, alphabet=[1, 2, 2**64 - 1])) == counts


def test_days_of_an_array_are_dates() -> None:
    days = np.array(["2026-01-02", "NaT"], dtype="M8[D]")
    assert list(counting.count(days, alphabet=["2026-01-02"])) == [1, 1]


@pytest.mark.parametrize(
    "data", [5, 5.0, None, object(), b"ab", bytearray(b"ab"), Exception, lambda: 1, pd.Index(["a"])]
)
def test_data_that_no_engine_knows_is_refused(data: object) -> None:
    with pytest.raises(
        TypeError, match="data must be a list, an array, a frame, a path, a URL or counts"
    ):
        counting.prepare(data, alphabets=[["a"]])


def test_ready_counts_are_in_no_table() -> None:
    with pytest.raises(TypeError, match="data must be a list, an array, a frame"):
        counting.prepare({"a": 3}, alphabets=[["a"]], table="visits")


@pytest.mark.parametrize(
    ("data", "options", "sentence"),
    [
        ("no/such.csv", {"column": "a"}, "data must be a file that exists, got 'no/such.csv'."),
        ("no/such*.csv", {"column": "a"}, "data must be a file that exists, got 'no/such*.csv'."),
        ("https://example.org/a.csv", {"column": "a"}, "data must be a file that exists, got "),
        (
            "postgresql:///x?host=/nowhere",
            {"column": "a"},
            "table must be the name of a table, or schema.table, got None.",
        ),
        ("postgresql:///x?host=/nowhere", {"table": "t"}, "column must be given for a table."),
        (pl.DataFrame({"a": [1], "b": [2]}), {}, "column must be given for a table."),
        (
            pl.DataFrame({"a": [1]}),
            {"column": "b"},
            "column must be a column of the data, got 'b'.",
        ),
        (np.zeros((2, 2)), {}, "data must have one dimension."),
        (np.array(3), {}, "data must have one dimension."),
    ],
)
def test_what_can_be_known_before_reading_is_refused_before(
    data: object, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ValueError, match="must") as refused:
        counting.count(data, alphabet=["a"], **options)
    assert str(refused.value).startswith(sentence)
    assert "nowhere" not in str(refused.value)


def test_a_table_that_a_connection_does_not_have_is_refused() -> None:
    with (
        duckdb.connect() as connection,
        pytest.raises(ValueError, match="table must be a table of the connection, got 't'"),
    ):
        counting.prepare(connection, alphabets=[["a"]], columns=["a"], table="t")


def test_a_column_beside_an_alphabet_of_columns_is_refused() -> None:
    with pytest.raises(
        ValueError, match="column must be left out: the alphabet names its columns, got 'a'"
    ):
        counting.count([("x",)], alphabet={"a": ["x"]}, column="a")


@pytest.mark.parametrize(
    ("name", "content", "options", "sentence"),
    [
        ("x.pdf", b"", {"column": "a"}, "the end of the file's name must be one of "),
        ("x.csv", b"", {"column": "a"}, "data must begin with a header line in its encoding"),
        ("x.csv", b"secret\n1\n", {}, "column must be given for a file."),
        (
            "x.csv",
            b"secret\n1\n",
            {"column": "a"},
            "column must be a column of the data, got 'a'.",
        ),
        (
            "x.csv",
            b"a,a\n1,2\n",
            {"column": "a"},
            "column must be a column of the data, once, got 'a'.",
        ),
        (
            "x.csv",
            b"a\n1\n",
            {"column": "a", "table": "t"},
            "table must be given for a DuckDB file",
        ),
        ("x.duckdb", b"secret", {"column": "a"}, "table must be given for a DuckDB file"),
        (
            "x.duckdb",
            b"secret",
            {"column": "a", "table": "t"},
            "data must be a DuckDB file with table 't'",
        ),
        ("x.parquet", b"PAR1secretPAR1", {"column": "a"}, "data must be a readable file, got "),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_without_quoting_it(
    tmp_path: Path, name: str, content: bytes, options: dict[str, Any], sentence: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match="must") as refused:
        counting.count(tmp_path / name, alphabet=["a"], **options)
    assert str(refused.value).startswith(sentence)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("content", "counts"),
    [
        (b"a,b\n1,x\n1,y\n", [1, 1]),
        (b"a,b\r\n1,x\r\n", [1, 0]),
        (b"\xef\xbb\xbfb,a\nx,1\n", [1, 0]),
        (b"a,b\n1,x", [1, 0]),
        (b"a,b\n", [0, 0]),
        (b"a,b\n1\n1,x,2,3\n", [1, 1]),  # too short, too long
        (b"a,b\n\n1,x\n\n", [1, 0]),  # blank lines are no records in a file of several columns
        (b"b\n\nx\n\n", [1, 2]),  # and empty cells in a file of one
        (b'a,b\n1,"x"\n1,"x\ny"\n1,"x""y"\n', [1, 2]),
        (b'a,b\n1,"x"y\n1,x\n', [1, 1]),  # text behind a closing quote is of the cell
        (b'a,b\n1,x"y\n1,x\n', [1, 1]),
        (b'a,b\n1,x\n1,"x\n1,x\n', [1, 1]),  # an open quote takes all that follows
        (b"a,b\n1,\xff\n\xff,x\n\xff,\xff\n1,x\n", [2, 2]),  # bad UTF-8 in the column is outside
        (b"a,b\n1,x\n" + b"1," + b"y" * (17 << 20) + b"\n1,x\n", [2, 1]),  # a very long line
        (b"a,b\n1, x\n1,x \n1,NULL\n#1,x\n", [1, 3]),
        (b'a,b\n1, "x"\n', [1, 0]),  # blanks around quotes are not of the cell
        (b"a,b\n1,x\n1,x\r\n1,x\r", [3, 0]),
        (b"a,b\n1,\x00\n1,x\x00\n", [0, 2]),
    ],
)
def test_every_line_of_a_csv_file_is_one_record(
    tmp_path: Path, content: bytes, counts: list[int]
) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    assert list(counting.count(path, alphabet=["x"], column="b")) == counts


@pytest.mark.one_of(3)
def test_lines_of_random_bytes_are_all_counted(tmp_path: Path) -> None:
    alphabet = list(b"ab \xff\xc3\xa9\x80\x00;',")
    for _ in range(20):
        lines = [
            bytes(DICE.choices(alphabet, k=DICE.randint(1, 6))) for _ in range(DICE.randint(0, 99))
        ]
        path = tmp_path / "x.csv"
        path.write_bytes(b"b,a\n" + b"".join(line + b"\n" for line in lines))
        counts = counting.count(path, alphabet=["a"], column="b")
        first = [line.split(b",") for line in lines]
        assert counts.n == len(lines), path.read_bytes()
        assert counts[0] <= sum(line[0] == b"a" for line in first), path.read_bytes()


@pytest.mark.parametrize(
    ("content", "counts"),
    [
        (b'{"b": "x"}\n{"b": "x "}\n{"b": "\\u0078"}\n', [2, 0, 1]),
        (b'{"b": 7}\n{"b": 7.0}\n{"b": "7"}\n{"b": 7.5}\n{"b": 7e0}\n{"b": true}\n', [0, 4, 2]),
        (b'{"b": null}\n{}\n{"c": "x"}\n["x"]\n"x"\n{"b": ["x"]}\n{"b": {"b": "x"}}\n', [0, 0, 7]),
        (b'{"b": "x"}\n{"b": "x"\n\n{"b": "\xff"}\nx\n{"b": "x"}', [2, 0, 3]),
        (b'{"b": NaN}\n{"b": 1e999}\n{"b": -0}\n', [0, 0, 3]),
    ],
)
def test_every_line_of_a_json_file_is_one_record(
    tmp_path: Path, content: bytes, counts: list[int]
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    assert list(counting.count(path, alphabet=["x", 7], column="b")) == counts


def test_files_of_a_pattern_have_the_same_columns(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": ["x"]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"a": ["x"], "b": [1]}), tmp_path / "2.parquet")
    pq.write_table(pa.table({"b": ["x"]}), tmp_path / "4.parquet")
    (tmp_path / "1.csv").write_text("a\nx\n")
    (tmp_path / "2.csv").write_text("b\nx\n")
    for pattern in ("[12].parquet", "[14].parquet"):
        with pytest.raises(ValueError, match="data must be files with the same columns, got"):
            counting.prepare(str(tmp_path / pattern), alphabets=[["x"]], columns=["a"])
    with pytest.raises(ValueError, match="data must be files with the same header"):
        counting.prepare(str(tmp_path / "*.csv"), alphabets=[["x"]], columns=["a"])
    with pytest.raises(ValueError, match="data must be files of one format, got"):
        counting.prepare(str(tmp_path / "1.*"), alphabets=[["x"]], columns=["a"])
    (tmp_path / "2.csv").write_text("a\nx\ny\n\xff\n", encoding="latin-1")
    assert list(counting.count(str(tmp_path / "*.csv"), alphabet=["x"], column="a")) == [2, 2]


PARTS: dict[str, list[pa.Array]] = {
    "number": [
        pa.array([7, 1], pa.int32()),
        pa.array([7, 2**53 + 1]),
        pa.array([7.0, None, 7.5, float("nan"), -0.0, float("inf"), 1e16, 2.0**53, 1.5e300]),
        pa.array([7.0, 0.1], pa.float32()),
        pa.array([Decimal("7.00"), Decimal("0.10")], pa.decimal128(9, 2)),
        pa.nulls(2),
    ],
    # The longest of one unit are beyond the other, or lost in it.
    "day": [
        pa.array([0, -1, 2**63 - 1, None], pa.timestamp("ns")),
        pa.array([0, -1, 2**61, 2**55, None], pa.timestamp("us")),
        pa.array([0, -1, None], pa.date32()),
        pa.array([0, -1, 2**55, None], pa.timestamp("us", "UTC")),
    ],
    "moment": [
        pa.nulls(1),
        pa.array([0, None], pa.date32()),
        pa.array([0, None], pa.timestamp("ms")),
        pa.array([0, None], pa.timestamp("us", "UTC")),
    ],
    "word": [pa.nulls(1), pa.array(["x", None])],
}
"""A column as a writer may type it, which looks at the cells of one file."""


@pytest.mark.parametrize(
    ("column", "alphabet"),
    [
        ("number", Alphabet.of(["7", "0", str(2**53 + 1), str(2**53), str(10**16)])),
        ("number", Alphabet.of(range(8))),
        ("number", Alphabet.bins([0, 0.1, 0.2, 7, 7.5, 2**53])),
        ("number", Alphabet.bins([0, 5, 10]).read_as("integer")),
        ("day", Alphabet.of(["1970-01-01", "1969-12-31", "2262-04-11"]).read_as("date")),
        ("moment", Alphabet.of(["1970-01-01"]).read_as("date")),
        ("word", Alphabet.of(["x"])),
    ],
)
def test_files_of_a_pattern_may_differ_in_types_that_follow_from_their_cells(
    tmp_path: Path, column: str, alphabet: Alphabet
) -> None:
    """pandas writes doubles where an integer is missing, and a type of its own for nulls only."""
    cells = []
    for place, part in enumerate(PARTS[column]):
        table = pa.table({column: part, "<files>": [str(place)] * len(part)})
        pq.write_table(table, tmp_path / f"{place}.parquet")
        cells += arrow.values(part)
    expected = list(counting.count(cells, alphabet=alphabet))
    assert list(counting.count(tmp_path, alphabet=alphabet, column=column)) == expected
    if column in {"number", "word"}:
        records = [{column: cell, "<files>": "0"} for cell in cells]
        for is_each in (False, True):
            of_people = {"alphabet": ["0"], "column": "<files>", "person": column}
            people = counting.count(records, **of_people, is_each_missing=is_each)
            assert counting.count(tmp_path, **of_people, is_each_missing=is_each).n == people.n


@pytest.mark.parametrize("kind", ["TIMESTAMP_NS", "TIMESTAMPTZ_NS"])
def test_a_nanosecond_before_midnight_is_of_the_day_before(kind: str, tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "x.duckdb") as engine:
        moments = "unnest([-1, 0, -86400000000001, -86400000000000, 1577836799999999999, NULL])"
        engine.execute(
            f"CREATE TABLE t AS SELECT CAST(make_timestamp_ns({moments}) AS {kind}) AS c"
        )
    days = ["1969-12-30", "1969-12-31", "1970-01-01", "2019-12-31", "2020-01-01"]
    alphabet = Alphabet.of(days).read_as("date")
    counts = counting.count(tmp_path / "x.duckdb", table="t", column="c", alphabet=alphabet)
    assert list(counts) == [1, 2, 1, 1, 0, 1]


@pytest.mark.parametrize("units", [*permutations(("ms", "us", "ns"), 2)])
def test_no_moment_makes_a_release_from_files_with_different_units_fail(
    tmp_path: Path, units: tuple[str, str]
) -> None:
    """Arrow would convert them to one unit, and fail on nanoseconds and distant years."""
    for place, unit in enumerate(units):
        moments = pa.array([1, 2**62, -(2**63), None], pa.int64()).cast(pa.timestamp(unit))
        pq.write_table(pa.table({"at": moments}), tmp_path / f"{place}.parquet")
    alphabet = Alphabet.of(["1970-01-01"]).read_as("date")
    assert list(counting.count(tmp_path, alphabet=alphabet, column="at")) == [2, 6]


MIXED: list[list[Any]] = [
    ["7", "7.5", "x", None, ""],
    [7.0, 7.5, math.nan, None, 1e300],
    [7, 8, None],
    [True, False, None],
    [date(2020, 1, 1), None],
    [datetime(2020, 1, 1, 5)],  # noqa: DTZ001
    [Decimal("7.00"), Decimal("7.50")],
    [None],
]


@pytest.mark.parametrize("order", [1, -1])
def test_each_file_of_a_pattern_may_have_a_type_of_its_own(tmp_path: Path, order: int) -> None:
    for place, cells in enumerate(MIXED[::order]):
        pq.write_table(pa.table({"a": cells, "b": cells}), tmp_path / f"{place}.parquet")

    def counts(alphabet: Any, **options: Any) -> list[int]:
        return list(counting.count(str(tmp_path), alphabet=alphabet, column="a", **options))

    listed = Alphabet.of(["7", "x", "true", "2020-01-01", "7.5"])
    assert counts(listed) == counts(listed.read_as("text")) == [4, 1, 1, 1, 1, 14]
    cells = [cell for several in MIXED for cell in several]
    assert counts(listed) == list(counting.count(cells, alphabet=listed))
    assert counts(Alphabet.of(["2020-01-01"]).read_as("date")) == [2, 20]
    assert counts(range(7, 9)) == [4, 1, 17]
    assert counts(Alphabet.bins([0, 7.2, 9])) == [4, 4, 14]
    assert counts(Alphabet.bins([0, 7.2, 9, 1e301])) == [4, 4, 1, 13]
    people = ["7", "7.5", "x", "1e+300", "8", "true", "false", "2020-01-01"]
    moments, missing = 1, 8
    assert sum(counts(["x"], person="b")) == len(people) + 1
    each = counts(["x"], person="b", is_each_missing=True)
    assert sum(each) == len(people) + moments + missing


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize("unit", ["us", "ns"])
def test_moments_beside_other_types_count_as_in_lists(
    tmp_path: Path, unit: str, zone: str | None
) -> None:
    """Their shapes are those of days, from which days are found without a code book."""
    moments = pa.array([10**9, 0, None], pa.timestamp(unit, zone))
    cells = []
    for place, part in enumerate((moments, pa.array(["1970-01-01", "x"]), pa.array([7, 8]))):
        pq.write_table(pa.table({"a": part}), tmp_path / f"{place}.parquet")
        cells += part.to_pylist()
    listed = Alphabet.of(["1970-01-01", "x"])
    several = listed, listed.read_as("text"), Alphabet.of(["1970-01-01"]).read_as("date"), shapes()
    for alphabet in (*several, range(9), Alphabet.bins([0, 8]), Alphabet(axes=(OpenText(),))):
        found = counting.count(str(tmp_path), alphabet=alphabet, column="a")
        assert list(found) == list(counting.count(cells, alphabet=alphabet))


ALONE: list[Any] = [
    pa.array([7.5, 250.1, 7.0, -0.0, math.nan, 1e300, 5e-324, 2.0**53 + 2, 1e22, 1.234, None]),
    pa.array([0.7, 7.5, 0.1], pa.float32()),
    pa.array([7, 2**53 + 1, 2**63 - 1, None]),
    pa.array([Decimal("7.50"), Decimal("7.00"), Decimal("0.10")]),
    pa.array([date(2020, 1, 1), None]),
    pa.array([True, False, None]),
    pa.array(["7", "7.5", "1.234,5", "1e22", "2020-01-01", "01.01.2020", " 7", "", None]),
]
LISTED = ["7", "7.5", "250.1", "true", "2020-01-01", "0.1", "1e22", "1.234", "9007199254740994"]
READ: list[Any] = [
    Alphabet.of(LISTED),
    Alphabet.of(LISTED).read_as("lower"),
    Alphabet.of(range(10)),
    Alphabet.of([7, 10**22, 2**53 + 2, 2**63 - 1]),
    Alphabet.of(range(2000)).read_as("integer", decimal=",", thousands="."),
    Alphabet.bins([-1, 0, 1e-300, 0.7, 2, 100, 1e20, 1e301]),
    Alphabet.bins([-1, 0.7, 2, 100, 1e4, 1e301]).read_as("number", decimal=",", thousands="."),
    Alphabet.parse("2020-01-01..2020-02-01").read_as("date", format="DD.MM.YYYY"),
]


@pytest.mark.parametrize("other", ALONE[:1] + ALONE[-2:], ids=["numbers", "booleans", "text"])
@pytest.mark.parametrize("cells", ALONE, ids=lambda cells: str(cells.type))
def test_no_type_of_another_file_decides_what_a_cell_counts_as(
    tmp_path: Path, cells: Any, other: Any
) -> None:
    for place, one in enumerate([cells, other]):
        pq.write_table(pa.table({"a": one}), tmp_path / f"{place}.parquet")

    def counts(name: str, alphabet: Alphabet, outside: int = 0) -> list[int]:
        try:
            return list(counting.count(str(tmp_path / name), alphabet=alphabet, column="a"))
        except ValueError:  # its type can hold none of the letters
            return [0] * (alphabet.k - 1) + [outside]

    for alphabet in READ:
        files = counts("0.parquet", alphabet, len(cells)), counts("1.parquet", alphabet, len(other))
        together = counts("*.parquet", alphabet, len(cells) + len(other))
        assert together == list(map(sum, zip(*files, strict=True)))


@pytest.mark.parametrize("last", ["flu", "7", "True", ""])
def test_no_cell_decides_whether_files_of_pandas_fit_together(tmp_path: Path, last: str) -> None:
    """The type that pandas reads depends on the cells of each file."""
    for place, text in enumerate(("code,y\nflu,1\ncold,2\n", f"code,y\n,1\n{last},2\n")):
        table = pd.read_csv(io.StringIO(text))
        table.to_parquet(tmp_path / f"{place}.parquet")
    found = list(counting.count(str(tmp_path), alphabet=["flu", "7", "true"], column="code"))
    assert found == [1 + (last == "flu"), last == "7", last == "True", 3 - (last != "")]


def test_only_moments_in_milliseconds_need_arrow(tmp_path: Path) -> None:
    alphabet = Alphabet.of(["1970"]).read_as("year")
    engines = []
    for unit in ("ms", "us", "ns"):
        path = tmp_path / f"{unit}.parquet"
        pq.write_table(pa.table({"at": pa.array([0], pa.timestamp(unit))}), path)
        engines.append(counting.prepare(path, alphabets=[alphabet], columns=["at"]).engine)
    assert engines == ["frames", "files", "files"]


def test_columns_that_only_arrow_reads_are_of_one_type(tmp_path: Path) -> None:
    axes = (*Alphabet.of(["1970"]).read_as("year").axes, *Alphabet.of(range(8)).axes)
    both = Alphabet(columns=("at", "n"), axes=axes)
    for unit in ("us", "ms"):
        for place, numbers in enumerate((pa.array([7]), pa.array([7.5]))):
            moments = pa.array([0], pa.timestamp(unit))
            pq.write_table(pa.table({"at": moments, "n": numbers}), tmp_path / f"{place}.parquet")
        assert counting.count(tmp_path, alphabet=Alphabet.of(range(8)), column="n").n == 2
        if unit == "us":
            assert counting.count(tmp_path, alphabet=both).n == 2
    with pytest.raises(ValueError, match="types of column 'n' fit together"):
        counting.prepare(tmp_path, alphabets=[both])


def test_longer_floats_are_not_shortened_to_those_of_another_file(tmp_path: Path) -> None:
    for place, kind in enumerate((np.float16, np.float32)):
        table = pa.table({"n": np.array([0.5, 60000], kind) + kind(place * 10_000)})
        for encoding in ("PLAIN", "BYTE_STREAM_SPLIT"):
            (tmp_path / encoding).mkdir(exist_ok=True)
            path, options = tmp_path / encoding / f"{place}.parquet", {"use_dictionary": False}
            pq.write_table(table, path, column_encoding={"n": encoding}, **options)
    bins = Alphabet.bins([0, 60000, 10**5])
    assert list(counting.count(tmp_path / "PLAIN", alphabet=bins, column="n")) == [2, 2, 0]
    with pytest.raises(ValueError, match="types of column 'n' fit together"):
        counting.prepare(tmp_path / "BYTE_STREAM_SPLIT", alphabets=[bins], columns=["n"])


@pytest.mark.one_of(3)
def test_more_different_cells_than_memory_holds_are_counted_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.parquet"
    duckdb.sql(
        "SELECT CASE WHEN i % 10 = 0 THEN 'x' ELSE md5(i::VARCHAR) || md5(i::VARCHAR) END AS a"
        " FROM range(1000000) AS r(i)"
    ).write_parquet(str(path))
    scans: list[bool] = []
    scan = file_scan._counted

    def spy(*arguments: Any, is_grouped: bool, **options: Any) -> Any:
        scans.append(is_grouped)
        return scan(*arguments, is_grouped=is_grouped, **options)

    monkeypatch.setattr(file_scan, "_counted", spy)
    monkeypatch.setattr(duckdb_dialect, "MEMORY", "64MB")
    assert list(counting.count(path, alphabet=["x"], column="a")) == [100_000, 900_000]
    assert scans == [True, True, False]  # rehearsed, given up, and one by one


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
@pytest.mark.parametrize("alphabet", [["0", "1"], range(2), Alphabet.bins([0, 1, 2])])
def test_nan_in_a_file_is_outside_though_its_statistics_leave_it_out(
    kind: pa.DataType, alphabet: Any, tmp_path: Path
) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"a": pa.array([0.0, 1.0, float("nan"), None], kind)}), path)
    for data in (path, duckdb.connect().read_parquet(str(path)), pl.scan_parquet(path)):
        assert list(counting.count(data, alphabet=alphabet, column="a")) == [1, 1, 2]


def test_a_file_that_may_not_be_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.csv").write_text("a\nx\n")

    def forbidden(*_: object, **__: object) -> None:
        raise PermissionError("secret")

    monkeypatch.setattr(os, "open", forbidden)
    with pytest.raises(ValueError, match="data must be a readable file, got ") as refused:
        counting.prepare(tmp_path / "x.csv", alphabets=[["x"]], columns=["a"])
    assert "secret" not in str(refused.value)


def test_the_engine_for_files_can_do_nothing_else(tmp_path: Path) -> None:
    path, secret = tmp_path / "x.csv", tmp_path / "secret.csv"
    path.write_text("a\n1\n")
    secret.write_text("a\n1\n")
    opened = descriptors.Opened(str(path))
    with duckdb_dialect.engine_for([opened.name]) as engine:
        for query in (
            f"SELECT * FROM '{secret}'",
            f"COPY (SELECT 1) TO '{tmp_path}/out.csv'",
            f"ATTACH '{tmp_path}/new.duckdb'",
            "INSTALL httpfs",
            "LOAD httpfs",
            "SET enable_external_access = true",
            "SET memory_limit = '1TB'",
            "SELECT * FROM rows_of_python",
        ):
            with pytest.raises(duckdb.Error):
                engine.execute(query)
        assert engine.execute("SELECT current_setting('enable_progress_bar')").fetchall() == [
            (False,)
        ]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["secret.csv", "x.csv"]


rows_of_python = pd.DataFrame({"a": [1]})


@pytest.mark.one_of(3)
def test_an_alphabet_of_a_hundred_thousand_letters_is_no_trouble(tmp_path: Path) -> None:
    letters = [f"l{i}" for i in range(100_000)]
    rows = pa.table({"a": [*letters[::7], "x", None]})
    pq.write_table(rows, tmp_path / "x.parquet")
    for data in (tmp_path / "x.parquet", rows, pl.from_arrow(rows)):
        counts = counting.count(data, alphabet=letters, column="a")
        assert counts[7] == 1
        assert counts[100_000] == 2
        assert counts.n == rows.num_rows


def test_iterables_are_read_once_and_only_when_counted() -> None:
    read = []

    def cells() -> Iterator[str]:
        read.append(1)
        yield from "aab"

    scan = counting.prepare(cells(), alphabets=[["a"]])
    assert not read
    assert list(scan.count()) == [2, 1]
    assert read == [1]


def test_rows_of_other_shapes_are_outside() -> None:
    alphabet = Alphabet.of({"a": ["x"], "b": ["y"]})
    rows: list[object] = [
        ("x", "y"),
        ["x", "y"],
        {"b": "y", "a": "x"},
        ("x",),
        "xy",
        None,
        ("x", "y", 1),
        {},
    ]
    assert list(counting.count(rows, alphabet=alphabet)) == [3, 5]


def test_the_engine_kept_for_the_scan_is_locked_in_and_never_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    for name in ("x.parquet", "secret.parquet"):
        pq.write_table(pa.table({"a": ["x", "x", None]}), tmp_path / name)
    query = CountQuery(alphabets=(Alphabet.of(["x"]),), columns=("a",))
    found = files.open_files(descriptors.find_files(tmp_path / "x.parquet"), query)
    engine = found.engine.start()
    for statement in (f"FROM '{tmp_path}/secret.parquet'", "SET enable_external_access = true"):
        with pytest.raises(duckdb.Error):
            engine.execute(statement)
    for _ in range(2):  # by the engine that was kept, and by another
        (tally,) = file_scan.count_files(found, query)
        assert list(tally.counts()) == [2, 1]
        assert found.engine.start(found.names) is not engine
    with pytest.raises(duckdb.ConnectionException):
        engine.execute("SELECT 1")
    assert not list(temporary.iterdir())


def test_a_scan_that_needs_more_memory_than_its_kept_engine_has_starts_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duckdb_dialect, "MEMORY", "1MB")
    path = tmp_path / "x.parquet"
    duckdb.sql("SELECT 'cell' || i AS a FROM range(200000) AS rows(i)").write_parquet(str(path))
    scan = counting.prepare(path, alphabets=[["cell7"]], columns=["a"])
    assert list(scan.count()) == [1, 199_999]
