"""What a schema shows before the charge does not depend on a record."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pandas as pd
import pyreadstat
import pytest

import dproo
from dproo import counting

TYPES = ["w", "w[]", "w[2]", "STRUCT(a w, b DATE)", "MAP(w, INTEGER)", "UNION(a w, b INTEGER)"]


@pytest.mark.parametrize("held", TYPES)
@pytest.mark.parametrize("how", ["file", "connection", "relation"])
def test_the_values_of_an_enumeration_of_duckdb_are_nowhere_in_a_schema(
    tmp_path: Path, held: str, how: str
) -> None:
    path = str(tmp_path / "x.duckdb")
    with duckdb.connect(path) as engine:
        engine.execute("CREATE TYPE w AS ENUM ('it''s Ann', 'x, y)', '')")
        engine.execute(f"CREATE TABLE t (c {held}, d DECIMAL(9,2))")
        if how != "file":
            data = engine.table("t") if how == "relation" else engine
            table = None if how == "relation" else "t"
            columns = dproo.open(data, table=table).columns
    if how == "file":
        columns = dproo.open(path, table="t").columns
    assert "Ann" not in str(columns)
    assert [column.type_name.count("ENUM") for column in columns] == [1, 0]
    assert columns[1].type_name == "DECIMAL(9,2)"


@pytest.mark.parametrize("name", [0, None, ("a", 1)])
def test_a_name_that_is_no_text_is_refused_in_words(name: object) -> None:
    frame = pd.DataFrame({"a": [1]})
    frame.columns = pd.Index([name], tupleize_cols=False)
    with pytest.raises(ValueError, match="data must have columns whose names are texts"):
        _ = dproo.open(frame).columns


@pytest.mark.parametrize("cell", [777_777, 0.777_777, True])
def test_the_cell_that_fills_a_sparse_column_is_not_in_its_schema(cell: float) -> None:
    kind = type(cell)
    shown = [
        dproo.open(pd.DataFrame({"c": pd.arrays.SparseArray([kind(1)] * 3, fill_value=fill)}))
        for fill in (cell, kind(0))
    ]
    assert shown[0].columns == shown[1].columns
    assert shown[0].columns[0].type_name.startswith("Sparse[")


@pytest.mark.parametrize("texts", [[None, None], [None, "a"], ["x", "b"]])
def test_an_encoded_column_of_stata_is_taken_whatever_was_encoded(
    tmp_path: Path, texts: list[str | None]
) -> None:
    path = tmp_path / "x.dta"
    pd.DataFrame({"c": pd.Categorical(texts)}).to_stata(path, write_index=False)
    assert dproo.open(str(path)).check("c", ["a", "b"]).refusals == ()
    release = dproo.open(str(path)).value("c", ["a", "b"], epsilon=1)
    assert release.receipt.n == 2


def test_a_stamp_of_stata_is_refused_by_the_name_of_its_type(tmp_path: Path) -> None:
    path = tmp_path / "x.dta"
    stamps = pd.Series([pd.Timestamp("2024-01-01 10:00")])
    pd.DataFrame({"p": stamps, "c": ["a"]}).to_stata(path, write_index=False)
    with pytest.raises(ValueError, match=r"got type %tc\. It must name a person"):
        dproo.open(str(path), person="p").value("c", ["a", "b"], epsilon=1)


@pytest.mark.parametrize("name", [1, None, ("c", "x"), 2.5])
def test_a_column_of_pandas_whose_name_is_not_text_is_not_found_by_text(name: object) -> None:
    frame = pd.DataFrame([["a"]], columns=pd.Index([name], tupleize_cols=False))
    with pytest.raises(ValueError, match=r"^column must be a column of the data, got '1'.$"):
        dproo.open(frame).value("1", ["a", "b"], epsilon=1)


@pytest.mark.parametrize("ending", ["sav", "zsav", "dta"])
def test_the_length_of_the_longest_text_neither_shows_nor_sets_files_apart(
    tmp_path: Path, ending: str
) -> None:
    for place, (text, number) in enumerate([("a", 1), ("a" * 200, 30_000), ("a" * 3000, 2)]):
        frame = pd.DataFrame({"c": ["a", text], "n": pd.Series([1, number], dtype="int32")})
        path = tmp_path / f"{place}.{ending}"
        if ending == "dta":
            few = frame.astype({"n": "int8" if number < 100 else "int32"})
            long = ["c"] if len(text) > 2000 else []
            few.to_stata(path, write_index=False, version=118, convert_strl=long)
        else:
            pyreadstat.write_sav(frame, str(path), compress=ending == "zsav")
    files = dproo.open(tmp_path / f"*.{ending}")
    assert [column.type_name for column in files.columns] == ["text", "number"]
    assert list(counting.count(tmp_path / f"*.{ending}", column="c", alphabet=["a"])) == [4, 2]
