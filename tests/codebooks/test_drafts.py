"""Drafts: header and schema only, what a person must fill in marked, refused until confirmed."""

import json
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.releasing import check, sample

import dproo
from dproo import CodeBook, draft_codebook
from dproo.codebooks.overview import overview
from dproo.counting.layout import Layout

CANARY = "canary-71c"


def fields_of(draft):
    return {field["name"]: field for field in draft["schema"]["fields"]}


def test_a_draft_keeps_how_its_file_is_written(tmp_path):
    path = tmp_path / "a.csv"
    stated = Layout(delimiter=";", encoding="latin-1", quote="'", comment="#", skip_rows=1)
    path.write_text("x\n# one\n'a';'b'\n", encoding="latin-1")
    draft = draft_codebook(path, **vars(stated))
    assert list(fields_of(draft)) == ["a", "b"]
    assert Layout.of(draft) == stated


def test_a_draft_of_a_csv_file_holds_names_and_nothing_else_of_it(tmp_path):
    path = tmp_path / "My Visits.csv"
    path.write_text(f"id,sex\n{CANARY},f\n", encoding="utf-8")
    draft = draft_codebook(path)
    assert list(fields_of(draft)) == ["id", "sex"]
    assert CANARY not in json.dumps(draft)
    assert str(tmp_path) not in json.dumps(draft)
    assert (draft["name"], draft["path"]) == ("my-visits", "My Visits.csv")


def test_a_draft_of_typed_data_names_the_types(tmp_path):
    rows = pa.table(
        {
            "age": pa.array([7], pa.int8()),
            "fee": [0.5],
            "sex": [CANARY],
            "dead": [True],
            "seen": pa.array([0], pa.timestamp("s")),
            "scan": [b"x"],
        }
    )
    pq.write_table(rows, tmp_path / "a.parquet")
    draft = draft_codebook(tmp_path / "a.parquet")
    kinds = {name: field["type"] for name, field in fields_of(draft).items()}
    assert kinds == {
        "age": "integer",
        "fee": "number",
        "sex": "string",
        "dead": "boolean",
        "seen": "yearmonth",
    }
    assert "scan" in draft["draft"][-1]
    assert CANARY not in json.dumps(draft)
    assert fields_of(draft_codebook(rows)) == fields_of(draft)


def test_enumerations_of_a_schema_are_taken_over_and_categories_of_the_data_are_not():
    frame = pl.DataFrame({"mood": pl.Series(["ok"], dtype=pl.Enum(["ok", "it's"]))})
    assert fields_of(draft_codebook(frame))["mood"]["categories"] == ["ok", "it's"]
    categories = frame.with_columns(pl.lit(CANARY).cast(pl.Categorical).alias("mood"))
    for data in (categories, categories.to_pandas()):
        assert CANARY not in json.dumps(draft_codebook(data))


ENUMERATIONS = {
    "a category of pandas": "CREATE TABLE clinic.visits AS SELECT * FROM frame",
    "a query": "CREATE TYPE mood AS ENUM (SELECT DISTINCT CAST(mood AS VARCHAR) FROM frame);"
    " CREATE TABLE clinic.visits AS SELECT CAST(mood AS mood) AS mood FROM frame",
    "a list": f"CREATE TYPE mood AS ENUM ('ok', 'bad', '{CANARY}');"
    " CREATE TABLE clinic.visits AS SELECT CAST(mood AS mood) AS mood FROM frame",
}


@pytest.mark.one_of(3)
@pytest.mark.parametrize("made", ENUMERATIONS)
def test_one_record_of_an_enumeration_in_a_duckdb_file_is_not_seen(tmp_path, made):
    """DuckDB makes enumerations of the data, and a file does not say which."""
    seen = []
    for cells in (["ok"] * 500 + ["bad"] * 500, ["ok"] * 500 + ["bad"] * 499 + [CANARY]):
        path = tmp_path / f"{len(seen)}" / "a.duckdb"
        path.parent.mkdir()
        frame = pd.DataFrame({"mood": pd.Categorical(cells)})
        with duckdb.connect(str(path)) as connection:
            connection.register("frame", frame)
            connection.execute(f"CREATE SCHEMA clinic; {ENUMERATIONS[made]}")
        draft = draft_codebook(path, table="clinic.visits")
        assert draft["dialect"] == {"table": "clinic.visits"}
        data = dproo.open(path, table="clinic.visits")
        checked = [data.check("mood", [word, "x"]).refusals for word in (CANARY, "ok", "y")]
        book = data.codebook(epsilon=20, delta="1e-9")
        found = sorted(book.descriptor["schema"]["fields"][0]["categories"])
        seen.append((fields_of(draft), checked, found))
    assert seen[0] == seen[1]
    assert seen[0][2] == ["bad", "ok"]


@pytest.mark.one_of(3)
def test_a_draft_of_a_table_of_postgresql(postgresql):
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS drafts CASCADE; CREATE SCHEMA drafts")
        connection.execute("CREATE TYPE drafts.mood AS ENUM ('ok', 'bad')")
        connection.execute("CREATE TABLE drafts.visits (mood drafts.mood, age int, scan bytea)")
        for data in (postgresql, connection):
            draft = draft_codebook(data, table="drafts.visits")
            assert fields_of(draft)["mood"]["categories"] == ["ok", "bad"]
            assert postgresql not in json.dumps(draft)
        with pytest.raises(ValueError, match="table must be in a schema of the database"):
            draft_codebook(postgresql, table="nowhere.visits")
        connection.execute("DROP SCHEMA drafts CASCADE")


def test_a_comma_at_the_end_of_every_line_names_no_column(tmp_path):
    (tmp_path / "a.csv").write_text("age,ward,\n1,x,\n", encoding="utf-8")
    assert list(fields_of(draft_codebook(tmp_path / "a.csv"))) == ["age", "ward"]


@pytest.mark.parametrize(
    "line", ["1,2\n", "a,a\n", "a,\n", "a,,\n", "a,b,,\n", ",a,\n", "2024-01-05,x\n"]
)
def test_a_first_line_that_looks_like_a_record_is_refused(tmp_path, line):
    (tmp_path / "a.csv").write_text(line, encoding="utf-8")
    with pytest.raises(ValueError, match="looks like a record"):
        draft_codebook(tmp_path / "a.csv")


def test_what_has_no_header_is_refused(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n', encoding="utf-8")
    with pytest.raises(ValueError, match="Import a code book: dproo codebook import"):
        draft_codebook(tmp_path / "a.jsonl")
    (tmp_path / "a.csv").write_text("a;b\n1;2\n", encoding="utf-8")
    assert len(draft_codebook(tmp_path / "a.csv")["schema"]["fields"]) == 2
    for data in ([1, 2], {"a": 1}, 7):
        with pytest.raises(TypeError, match="data must have a header or a schema"):
            draft_codebook(data)


def test_a_draft_is_refused_until_it_is_completed_and_confirmed(tmp_path):
    (tmp_path / "a.csv").write_text("sex\nf\nm\n", encoding="utf-8")
    draft = draft_codebook(tmp_path / "a.csv")
    for use in (
        lambda: sample(tmp_path / "a.csv", codebook=draft, epsilon="1"),
        lambda: dproo.plan(codebook=draft, n=10, epsilon="1"),
        lambda: check(tmp_path / "a.csv", codebook=draft),
    ):
        with pytest.raises(ValueError, match="to do: dproo codebook preview FILE"):
            use()
    assert overview(draft).lines[0].k is None
    del draft["draft"]
    with pytest.raises(ValueError, match=r"fields\[0\].categories must be a list, got 'TODO"):
        CodeBook.of(draft)
    draft["schema"]["fields"][0]["categories"] = ["f", "m"]
    assert sample(tmp_path / "a.csv", codebook=draft, epsilon="1").receipt.n == 2
    found = overview(draft)
    assert (found.lines[0].k, found.digest) == (3, CodeBook.of(draft).digest)


def test_an_overview_shows_a_draft_that_is_half_done():
    fields = [
        {"name": "a", "type": "integer", "constraints": {"minimum": 1, "maximum": 12}},
        {"name": "b", "type": "string", "categories": "TODO"},
    ]
    found = overview({"draft": True, "schema": {"fields": fields}})
    assert [(line.k, line.shown) for line in found.lines] == [
        (13, "1, 2, 3, 4, 5, ..."),
        (None, ""),
    ]
    assert found.is_draft
    with pytest.raises(ValueError, match="must be a list of objects"):
        overview({"draft": True, "schema": {"fields": [1]}})


def test_the_example_is_shown():
    example = Path(__file__).parents[2] / "examples" / "codebook.json"
    assert [line.k for line in overview(example).lines] == [15, 3, 6, 7]
