"""Hostile names of columns, tables and files: exact counts, and no SQL but ours."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa
from support.draws import DICE, SOAK, few, some

import dproo
from dproo import Layout, counting
from dproo.counting.single_pass import is_single_pass
from dproo.counting.sql.statements import quoted

PIECES = (
    *(
        '"',
        "'",
        "''",
        '""',
        ";",
        "--",
        "/*",
        "*/",
        "\\",
        "`",
        "$1",
        "$$",
        "%s",
        "%(x)s",
        "%",
        "?",
        "{}",
    ),
    *(
        "{0}",
        "{column}",
        "{relation}",
        " ",
        "\t",
        "\n",
        ",",
        ".",
        "*",
        "[a]",
        "[",
        "]",
        "(",
        ")",
        ":x",
    ),
    *(
        "@",
        "#",
        "~",
        "~1",
        "&",
        "|",
        "=",
        "<",
        "\u00e9",
        "e\u0301",
        "\U0001f600",
        "\u2028",
        "A",
        "a",
        "0",
    ),
    *(
        '"; DROP TABLE canary; --',
        "'; DROP TABLE canary; --",
        "x) FROM canary; --",
        "c0",
        "records",
    ),
    *(
        "v0",
        "k0",
        "g0",
        "cells",
        "letters0",
        "SELECT",
        "NULL",
        "key0",
        "inside",
        "count(*)",
        "../x",
        "^.*$",
        "a.b",
        "<files>",
    ),
)


def names(how_many: int = 500) -> list[str]:
    found = dict.fromkeys(PIECES)
    while len(found) < how_many:
        found["".join(DICE.choices(PIECES, k=DICE.randint(2, 5)))[:30]] = None
    # Names that differ in case alone are one name to DuckDB, and a blank is stripped nowhere.
    unique = {name.lower(): name for name in found}
    return list(unique.values())[:how_many]


NAMES = names(600)[: 500 if SOAK else 200]
ENDS = (".csv", ".jsonl", ".csv", ".jsonl", ".parquet")
PARTS = [NAMES[i : i + 10] for i in range(0, len(NAMES), 10)]


def rows_of(columns: list[str]) -> pa.Table:
    """Return three records of which two are all x."""
    return pa.table(
        {column: ["x", "y" if i == 3 else "x", "x"] for i, column in enumerate(columns)}
    )


def write_csv(rows: pa.Table, folder: Path) -> Path:
    with (folder / "x.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(rows.column_names)
        writer.writerows(zip(*(column.to_pylist() for column in rows.columns), strict=True))
    return folder / "x.csv"


def write_json(rows: pa.Table, folder: Path) -> Path:
    (folder / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows.to_pylist()))
    return folder / "x.jsonl"


def write_parquet(rows: pa.Table, folder: Path) -> Path:
    pq.write_table(rows, folder / "x.parquet")
    return folder / "x.parquet"


def to_dataset(rows: pa.Table, _: Path) -> Any:
    return ds.dataset(rows)


@pytest.mark.parametrize(
    "build",
    [
        write_csv,
        write_json,
        write_parquet,
        to_dataset,
        lambda rows, _: rows,
        lambda rows, _: rows.to_pandas(),
        lambda rows, _: pl.from_arrow(rows),
        lambda rows, _: pl.from_arrow(rows).lazy(),
        lambda rows, _: duckdb.connect().from_arrow(rows),
        lambda rows, _: rows.to_pylist(),
    ],
)
def test_columns_may_have_any_name(build: Callable[[pa.Table, Path], Any], tmp_path: Path) -> None:
    is_file = build in {write_csv, write_json, write_parquet}
    for part in few(PARTS, 2 if is_file else 1):
        if build is write_csv:  # a header ends at its first line break, and begins like no JSON
            fit = [name for name in part if not set(name) & set("\n\t\u2028")]
            part = ["first", *fit]  # noqa: PLW2901
        data = build(rows_of(part), tmp_path)
        layout = Layout(delimiter="," if build is write_csv else None)  # names may have others
        counts = counting.count(data, alphabet={column: ["x"] for column in part}, layout=layout)
        assert list(counts) == [2, 1], part


NO_TEXTS = [pd.NA, pd.NaT, None, float("nan"), 0, True, b"a", ("a", 0), pd.Timestamp(2024, 1, 1)]


@pytest.mark.parametrize("name", NO_TEXTS, ids=repr)
def test_a_name_of_pandas_that_is_no_text_is_that_of_no_column(name: Any) -> None:
    names = pd.Index([name, "a"], dtype=object, tupleize_cols=False)
    frame = pd.DataFrame([["x", "x"], ["x", None]], columns=names)
    assert list(counting.count(frame, alphabet={"a": ["x"]})) == [1, 1]
    assert list(counting.count(frame[["a"]], alphabet=["x"])) == [1, 1]
    with pytest.raises(ValueError, match="column must be a column of the data"):
        counting.count(frame, alphabet=["x"], column="b")


def attributes_asked_for() -> list[str]:
    """Return every attribute that the package asks an object for, by its source."""
    source = Path(dproo.__file__).parent
    texts = [path.read_text(encoding="utf-8") for path in sorted(source.glob("counting/**/*.py"))]
    return sorted({name for text in texts for name in ASKED.findall(text)})


ASKED = re.compile(r"""(?:has|get)attr\([^,"]+, "([a-z_]+)\"""")
IN_FRAMES: dict[str, Callable[[str], Any]] = {
    "a label of pandas": lambda name: pd.Series(["x", "y"], index=[name, "b"]),
    "a column of pandas": lambda name: pd.DataFrame({name: ["x", "y"]}),
    "a column of Polars": lambda name: pl.DataFrame({name: ["x", "y"]}),
    "a column of DuckDB": lambda name: duckdb.connect().from_arrow(pa.table({name: ["x", "y"]})),
    "a column of Ibis": lambda name: ibis.memtable(pa.table({name: ["x", "y"]})),
}


@pytest.mark.parametrize("hold", IN_FRAMES.values(), ids=IN_FRAMES)
def test_columns_and_labels_may_be_called_like_an_attribute(hold: Callable[[str], Any]) -> None:
    """A frame answers an attribute that it lacks with a column, or with a record."""
    names = attributes_asked_for()
    assert {"columns", "read_next_batch"} <= {*names}
    for name in few(names, 12):
        data = hold(name)
        assert not is_single_pass(data), name
        assert list(counting.count(data, alphabet=["x"])) == [1, 1], name


@pytest.mark.one_of(3)
def test_files_may_have_any_name(tmp_path: Path) -> None:
    for i, name in enumerate(NAMES):
        path = tmp_path / (name.replace("/", "_") + ENDS[i % len(ENDS)])
        if path.suffix == ".parquet":
            pq.write_table(pa.table({"a": ["x"] * i}), path)
        else:
            line, head = ("x\n", "a\n") if path.suffix == ".csv" else ('{"a": "x"}\n', "")
            path.write_text(head + line * i)
    before = sorted(tmp_path.iterdir())
    assert len(before) == len(NAMES)
    for i, name in few(enumerate(NAMES), 30):
        path = tmp_path / (name.replace("/", "_") + ENDS[i % len(ENDS)])
        assert list(counting.count(path, alphabet=["x"], column="a")) == [i, 0], name
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.one_of(3)
def test_tables_of_a_duckdb_file_may_have_any_name(tmp_path: Path) -> None:
    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE canary (a INTEGER)")
        for i, name in enumerate(NAMES):
            connection.execute(
                f"CREATE TABLE {quoted(name)} AS SELECT 'x' AS {quoted(name)} FROM range({i})"
            )
    digest = path.read_bytes()
    for i, name in few(enumerate(NAMES), 8):
        assert list(counting.count(path, alphabet=["x"], column=name, table=(name,))) == [i, 0], (
            name
        )
    assert path.read_bytes() == digest


def test_a_table_of_a_duckdb_file_may_stand_in_a_schema(tmp_path: Path) -> None:
    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute('CREATE SCHEMA "a.b"; CREATE TABLE "a.b"."c.d" AS SELECT \'x\' AS a')
        for data in (connection, path):
            for table in ('"a.b"."c.d"', ("a.b", "c.d")):
                if data is path:
                    connection.close()
                assert list(counting.count(data, alphabet=["x"], column="a", table=table)) == [1, 0]


def test_tables_and_columns_of_postgresql_may_have_any_name(postgresql: str) -> None:
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA hostile; SET search_path = hostile")
        connection.execute("CREATE TABLE canary (a integer)")
        for i, name in enumerate(NAMES):
            connection.execute(
                f"CREATE TABLE {quoted(name)} AS SELECT 'x'::text AS {quoted(name)}"
                f" FROM generate_series(1, {i})"
            )
        seen = "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'hostile'"
        assert connection.execute(seen).fetchone() == (len(NAMES) + 1,)
        for i, name in few(enumerate(NAMES), 50):
            counts = counting.count(
                connection, alphabet=["x"], column=name, table=("hostile", name)
            )
            assert list(counts) == [i, 0], name
            assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        assert connection.execute(seen).fetchone() == (len(NAMES) + 1,)


@pytest.mark.parametrize("column", some(NAMES[:40], one_of=8))
def test_a_column_that_is_not_there_is_refused_whatever_its_name(
    column: str, tmp_path: Path
) -> None:
    rows = pa.table({"secret": ["x"]})
    for data in (write_csv(rows, tmp_path), write_parquet(rows, tmp_path), rows):
        with pytest.raises(ValueError, match="column must be a column of the data") as refused:
            counting.prepare(data, alphabets=[["x"]], columns=[column])
        assert "secret" not in str(refused.value)


def test_names_that_differ_in_case_alone_are_two_columns(tmp_path: Path) -> None:
    """DuckDB would take the first for both."""
    cells = pa.table([["lo"], ["hi"], ["x"], ["y"]], names=["a", "A", "b", "b"])
    pq.write_table(cells, tmp_path / "a.parquet")
    for column, found in {"a": [1, 0, 0], "A": [0, 1, 0]}.items():
        counts = counting.count(tmp_path / "a.parquet", column=column, alphabet=["lo", "hi"])
        assert list(counts) == found
    for column, words in {"b": "The header has it more than once", "b_1": "List the col"}.items():
        with pytest.raises(ValueError, match=words):
            counting.count(tmp_path / "a.parquet", column=column, alphabet=["x", "y"])
    with pytest.raises(ValueError, match="columns of different names"):
        counting.count(duckdb.sql("SELECT 'lo' AS a, 'hi' AS A"), column="A", alphabet=["hi"])


def test_a_macro_never_takes_the_place_of_a_function(tmp_path: Path) -> None:
    """It could look at all records to say what one of them is."""
    path, seven = tmp_path / "a.duckdb", {"column": "x", "alphabet": range(7, 9)}
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE t AS SELECT 7 AS x")
        connection.execute("CREATE MACRO mine(a) AS a")
        assert list(counting.count(connection, table="t", **seven)) == [1, 0, 0]
        connection.execute("CREATE MACRO Regexp_Matches(a, b) AS (SELECT count(*) > 9 FROM t)")
        connection.execute("CREATE MACRO duckdb_functions() AS TABLE SELECT 1 LIMIT 0")
        for data, where in ((connection, {"table": "t"}), (connection.sql("FROM t"), {})):
            assert list(counting.count(data, **where, **seven)) == [1, 0, 0]
    assert list(counting.count(path, table="t", **seven)) == [1, 0, 0]


def test_columns_of_sqlalchemy_may_be_called_like_a_part_of_the_query() -> None:
    engine = sa.create_engine("sqlite://", poolclass=sa.StaticPool)
    names = ["{most}", "{}", "80", '"', "%s"]
    with engine.begin() as connection:
        listed = ", ".join(f"{quoted(name)} TEXT" for name in names)
        connection.exec_driver_sql(f"CREATE TABLE t ({listed})")
        connection.exec_driver_sql("INSERT INTO t VALUES ('a', 'a', 'a', 'a', 'a')")
    for name in names:
        assert list(counting.count(engine, table="t", column=name, alphabet=["a"])) == [1, 0]
