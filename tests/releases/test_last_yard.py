"""From a strange file to a right count in at most two tries: what check tells before a charge.

The tables come from packages; their forms are drawn anew at each run.
"""

from __future__ import annotations

import datetime as dt
import json
import sqlite3
import zipfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pandas as pd
import pytest

import dproo
from dproo import Alphabet, CodeBook, counting
from dproo.cli.commands import run
from dproo.counting.layout import Layout

pytestmark = pytest.mark.one_of(3)

DAYS = [dt.date(2024, 1, 1) + dt.timedelta(17 * i) for i in range(20)]
WARDS = ["A", "B", "C"]


def ran(capsys, *arguments):
    code = run([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


# A cell that somebody types.


@pytest.mark.parametrize(
    ("letters", "cell", "told"),
    [
        ("bins:0,10000,20000", "13,755.00", "with --thousands ',' as [10000, 20000)"),
        ("bins:0,10000,20000", "13.755,00", "with --decimal ',' --thousands . as [10000, 20000)"),
        ("0..2000", "1,234", "with --thousands ',' as 1234"),
        ("0..2000", "1\u00a0234", "with --thousands nbsp as 1234"),
        ("bins:0,9999", "1\u202f234,5", "with --decimal ',' --thousands narrow-nbsp as"),
        ("0..2000", "7.5", "'7.5' counts as other."),
        ("0..2000", " 037", "' 037' counts as 37."),
        ("yes,no", "YES ", "with --as lower as yes"),
        ("Yes,No", "yess", "the nearest value is 'Yes'"),
        ("2024-01..2025-01", "31.1.2024", "with --as month:DD.MM.YYYY as 2024-01"),
        ("2024-01..2025-01", "3/4/2024", "--as month:DD/MM/YYYY as 2024-04"),
        ("2024-01-01..2025-01-01", "Mar 4, 2024", "with --as 'date:MMM DD, YYYY' as 2024-03-04"),
    ],
)
def test_a_typed_cell_is_told_with_the_option_that_changes_it(
    capsys, tmp_path, letters, cell, told
):
    (tmp_path / "a.csv").write_text("c\nsecret\n")
    asked = ("check", tmp_path / "a.csv", "--column", "c", "--alphabet", letters, "--cell", cell)
    code, out, _ = ran(capsys, *asked)
    assert (code, told in out) == (0, True)
    code, out, _ = ran(capsys, *asked, "--json")
    assert json.loads(out)["cells"][0]["cell"] == cell


def test_a_typed_cell_is_tried_in_every_column_or_in_one_and_in_the_words_of_a_code_book():
    fields = [
        {"name": "price", "type": "number", "bins": [0, 10000, 20000]},
        {"name": "seen", "type": "date", "constraints": {"minimum": "2024-01-01"}},
        {"name": "sex", "type": "string", "categories": ["f"], "outside": "f"},
    ]
    fields[1]["constraints"]["maximum"] = "2024-12-31"
    fields[2]["categories"].append("m")
    book = {"schema": {"fields": fields}}
    data = dproo.open([{"price": 1}])
    cells = {"price": "13.755,00", "seen": "3.4.2024"}
    found = list(map(str, data.check(book, cell=cells).cells))
    assert '"decimalChar": ",", "groupChar": "." as [10000, 20000)' in found[0]
    assert '"format": "DD.MM.YYYY" as 2024-04-03' in found[1]
    assert [str(one.letter) for one in data.check(book, cell="M").cells] == ["other", "other", "f"]
    with pytest.raises(ValueError, match="cell must be of a column that has values, got 'x'"):
        data.check(book, cell={"x": "7"})
    frame = pd.DataFrame({"n": [1.0]})
    assert dproo.open(frame).check("n", ["7"], cell="7.0").cells[0].letter == "7"


# What public facts tell.


@pytest.mark.parametrize(
    ("content", "letters", "options", "told"),
    [
        ("c\n", ["A ", "B"], {}, "begin or end with blanks"),
        ("c\n", ["7", "8"], {}, "Add .read_as('integer')"),
        ("c\n", ["2023", "2024"], {}, "Add .read_as('year')"),
        ("c\n", ["2023-01", "2024-01"], {}, "Add .read_as('month')"),
        ("c\n", ["A", "ł"], {"encoding": "latin-1"}, "iso8859-1 cannot write them"),
        ("c\n", ["ł"], {"encoding": "latin-1"}, "encoding must be able to write the letters"),
    ],
)
def test_what_public_facts_tell_is_told(tmp_path, content, letters, options, told):
    (tmp_path / "a.csv").write_text(content)
    found = dproo.open(tmp_path / "a.csv", **options).check("c", letters)
    assert told in " ".join((*found.warnings, *found.refusals))


def test_a_check_says_how_cells_are_read(capsys, tmp_path):
    (tmp_path / "a.csv").write_text("day;n;x;w\n")
    asked = ["check", tmp_path / "a.csv"]
    for column, letters in {
        "day": "2024-01..2025-01",
        "n": "0..9",
        "x": "bins:0,1",
        "w": "A,B",
    }.items():
        asked += ["--column", column, "--alphabet", letters]
    _, out, _ = ran(capsys, *asked)
    assert out.splitlines() == [
        "day  text, dates written YYYY-MM-DD",
        "n    text, integers written 1234",
        "x    text, numbers written 1234.5",
        "w    text",
        "Cells are separated by ';', as the names in the header line are.",
        "A release would begin.",
    ]
    found = dproo.open(pd.DataFrame({"n": [7.5]})).check("n", range(9))
    assert found.assumed == ("whole ones; any other, such as 7.5, is 'other'",)
    book = {"dialect": {"header": False}, "schema": {"fields": [field("a"), field("b")]}}
    found = dproo.open(tmp_path / "a.csv").check(book)
    assert "the code book must name all its columns, in their order: a, b." in found.notes[0]


def field(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": "string", "categories": ["A"], **more}


@pytest.mark.parametrize(
    ("book", "told"),
    [
        ({"schema": {"fields": [field("a", parent=[])]}}, "fields[0].parent is not a key"),
        ({"schema": {"fields": [field("a", Missing_Values=[])]}}, "Did you mean 'missingValues'?"),
        ({"schema": {"field": []}}, "schema.field is not a key of a code book."),
        ({"encodings": "x", "schema": {"fields": [field("a")]}}, "Did you mean 'encoding'?"),
        ({"schema": {"fields": [field("a", constraints={"minimun": 1})]}}, "'minimum'"),
        ({"schema": {"fields": [field("a", bareNumber=False)]}}, "bareNumber must be true"),
    ],
)
def test_a_misspelt_key_is_refused_with_its_place(book, told):
    with pytest.raises(ValueError, match=r"must|key") as refused:
        CodeBook.of(book)
    assert told in str(refused.value)
    CodeBook.of({"x-note": 1, "$schema": "", "schema": {"fields": [field("a", unit="kg")]}})


LONG = {
    "name": "a",
    "type": "integer",
    "constraints": {"minimum": 0, "maximum": 1 << 23},
    "parents": [],
}


def accepts(action: Callable[[], object]) -> bool:
    try:
        action()
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (field("a", parents=["b"]), field("b", parents=["a"])),  # not for a row
        (field("a", parents=["b"]), field("b", parents=[])),
        (field("a"), field("b")),
        (LONG, field("b")),  # not for a table
        (field("a", parents=["x"]), field("b")),  # for nothing
        (field("a", parents=["a"]), field("b")),
        (field("a", parents=["b", "b"]), field("b")),
    ],
)
def test_a_check_of_a_code_book_agrees_with_every_kind_of_release(a, b):
    book = {"schema": {"fields": [a, b]}}
    data = dproo.open([{"a": "A", "b": "A"}] * 2)
    kinds = {
        "row": lambda: data.row(book, epsilon=1),
        "private table": lambda: data.synthesize(book, epsilon=1),
    }
    found = []
    if accepts(lambda: found.append(data.check(book))):
        (checked,) = found
        refused = {kind for kind in kinds for told in checked.warnings if f"A {kind} would" in told}
        assert checked.holds
        assert CodeBook.of(book).letters("b").size
        assert data.value("b", CodeBook.of(book), epsilon=1).value
    else:
        refused = {*kinds}
    assert refused == {kind for kind, release in kinds.items() if not accepts(release)}


def test_named_records_are_read_by_their_names():
    class Visit(NamedTuple):
        age: int
        ward: str

    for records in ([{"age": 1, "ward": "A"}, {}], [Visit(1, "A"), Visit(2, "X")]):
        assert list(counting.count(records, alphabet=WARDS, column="ward")) == [1, 0, 0, 1]
        assert [*counting.count(iter(records), alphabet={"ward": WARDS})] == [1, 0, 0, 1]


# Values and code books with less to write.


def test_values_are_listed_on_the_command_line(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert [*Alphabet.parse("A, B,C").axes[0].letters] == WARDS
    assert [*Alphabet.parse("1,2").axes[0].letters] == [1, 2]
    Path("x,y.txt").write_text("A\n")
    assert [*Alphabet.parse("x,y.txt").axes[0].letters] == ["A"]
    Path("a.csv").write_text("ward\nA\n")
    options = ("--column", "ward", "--alphabet", "A,B,C", "--epsilon", "1", "--no-ledger")
    code, out, _ = ran(capsys, "sample", "a.csv", *options, "--quiet")
    assert (code, out.strip() in {*WARDS, "other"}) == (0, True)


def test_a_code_book_is_a_table_or_json_with_the_place_of_what_is_wrong(tmp_path):
    table = tmp_path / "book.csv"
    table.write_text("column;value;label\nward;A;surgery\nward;B;\nage;0..120;\nx;bins:0,1.5,3;\n")
    book = CodeBook.of(table)
    assert [field.axis.listed for field in book.fields] == [2, 120, 2]
    assert [field.kind for field in book.fields] == ["string", "integer", "number"]
    lines = [
        "column,value,label",
        "a,bins:0,18,65",
        'b,"bins:0,18"',
        "c,2024-01..2025-01",
        "d,7..9",
    ]
    table.write_text("\n".join(lines))
    fields = CodeBook.of(table).fields
    assert [field.axis.listed for field in fields] == [2, 1, 12, 2]
    assert [field.kind for field in fields] == ["number", "number", "yearmonth", "integer"]
    for spelled in ("bins:0,x", "bins:9", "9..7", "2024-02..2024-01"):
        table.write_text(f"column,value\nage,{spelled}\n")
        with pytest.raises(ValueError, match=r"^column 'age': "):
            CodeBook.of(table)
    for content in ("ward,sex\nsecret,f\n", "column,value\nsecret\n", ""):
        table.write_text(content)
        with pytest.raises(ValueError, match="must be a table of column, value") as refused:
            CodeBook.of(table)
        assert "secret" not in str(refused.value)
    (tmp_path / "book.json").write_text('{"schema":\n {"fields": [}')
    with pytest.raises(ValueError, match="Line 2, column 14: Expecting value"):
        CodeBook.of(tmp_path / "book.json")


# First contact.


@pytest.mark.parametrize("group", [(), ("ledger",), ("codebook",)])
def test_a_bare_group_prints_its_help(capsys, group):
    code, out, err = ran(capsys, *group)
    assert (code, out.startswith("Usage: "), "Commands:" in out, err) == (0, True, True, "")


@pytest.mark.parametrize("is_charged", [True, False])
def test_verbose_says_each_step_and_nothing_of_the_data(capsys, tmp_path, is_charged):
    data = tmp_path / "a.csv"
    data.write_text("ward;x\n" + "A;secret\n" * 1234)
    ledger = ("--ledger", tmp_path / "l.sqlite3") if is_charged else ("--no-ledger",)
    if is_charged:
        ran(capsys, "ledger", "init", data, "--budget", 3, *ledger)
    options = ("--column", "ward", "--alphabet", "A,B", "--epsilon", "1", "--quiet", *ledger)
    code, _, err = ran(capsys, "sample", data, *options, "--verbose")
    lines = [line.split(" s  ")[1] for line in err.splitlines()]
    steps = ["Cells are", "Checked by", "Rehearsed", "Charged:", "Counted", "Drawn", "Recorded"]
    expected = [step for step in steps if is_charged or step not in {"Charged:", "Recorded"}]
    assert code == 0
    assert [
        line for line, step in zip(lines, expected, strict=True) if line.startswith(step)
    ] == lines
    assert "secret" not in err
    assert "1234" not in err
    assert ran(capsys, "sample", data, *options)[2] == ""


def test_first_mistakes_are_met_with_what_was_meant(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "Did you mean 'check'?" in ran(capsys, "chek")[2]
    if version("click") >= "8.4":  # which names the nearest one itself
        assert "Did you mean 'draft'?" in ran(capsys, "codebook", "darft")[2]
    code, _, err = ran(capsys, "ledger", "init", "none.csv", "--budget", 3, "--ledger", "l.db")
    assert (code, "must be a file that exists" in err, Path("l.db").exists()) == (2, True, False)
    assert ran(capsys, "ledger", "init", "visits", "--budget", 3, "--ledger", "l.db")[0] == 0
    Path("iris.csv").write_text("species,width\nsetosa,1\n")
    options = ("--column", "Species", "--alphabet", "setosa,x")
    assert "Did you mean 'species'?" in ran(capsys, "check", "iris.csv", *options)[2]
    frame = pd.read_csv("iris.csv")
    for data in ("iris.csv", frame):
        with pytest.raises(ValueError, match=r"got 'specis'\. Did you mean 'species'"):
            dproo.open(data).value("specis", ["setosa"], epsilon=1)


def test_errors_of_python_speak_python(tmp_path):
    (tmp_path / "a.txt").write_text("a,b\n")
    (tmp_path / "a.csv").write_text('"a,b\n')
    frame = pd.DataFrame({"a": pd.to_datetime(["2024-01-01"])})
    for data in (tmp_path / "a.txt", tmp_path / "a.csv", frame, "-"):
        with pytest.raises(ValueError, match="must") as refused:
            dproo.open(data, ledger=tmp_path / "l").value("a", ["x"], epsilon=1)
        assert "--" not in str(refused.value)


def test_a_float_epsilon_is_the_decimal_that_it_prints_as(tmp_path):
    ledger = dproo.Ledger.create(tmp_path / "ledger.sqlite3")
    ledger.declare("visits", budget=0.3, neighbours="replace")
    visits = dproo.open(["A"] * 9, ledger=ledger, dataset="visits")
    for _ in range(3):
        visits.value(None, WARDS, epsilon=0.1)
    assert visits.budget.left == 0


# Files as people have them.


def test_the_separator_is_the_header_s_and_asked_for_only_where_two_are_possible(tmp_path):
    data = tmp_path / "a.csv"
    for sign in ",;\t|":
        data.write_text(f'"x,;|"{sign}ward\n1{sign}A\n')
        assert list(counting.count(data, alphabet=WARDS, column="ward")) == [1, 0, 0, 0]
    data.write_text("x,y;ward\n1;A\n")
    with pytest.raises(ValueError, match="delimiter must be given: the header line has more"):
        counting.prepare(data, alphabets=[WARDS], columns=["ward"])
    # Without a header the first line is a record, and decides nothing.
    data.write_text("1;A\n")
    layout = Layout(has_header=False)
    counts = counting.count(data, alphabet=WARDS, column="2", layout=layout)
    assert list(counts) == [0, 0, 0, 1]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_before_the_header_are_left_out(tmp_path, encoding, end):
    lines = ["Export; of, today", "", "# one", "# two", "sep=;", "x;ward", "1;A", "#;B"]
    (tmp_path / "a.csv").write_bytes(end.join([*lines, ""]).encode(encoding))
    layout = Layout(encoding=encoding, skip_rows=2, comment="#")
    counts = counting.count(tmp_path / "a.csv", alphabet=WARDS, column="ward", layout=layout)
    assert list(counts) == [1, 1, 0, 0]
    book = {"dialect": {"headerRows": [3], "commentChar": "#"}, "schema": {"fields": [field("a")]}}
    assert Layout.of(book) == Layout(skip_rows=2, comment="#")


def test_lines_before_a_header_are_refused_where_there_is_none(tmp_path):
    pd.DataFrame({"ward": WARDS}).to_parquet(tmp_path / "a.parquet")
    for path, layout in (
        (tmp_path / "a.parquet", {"skip_rows": 1}),
        (tmp_path / "a.parquet", {"comment": "#"}),
        ("x.csv", {"has_header": False, "skip_rows": 1}),
        ("x.csv", {"skip_rows": -1}),
        ("x.csv", {"comment": "é"}),
    ):
        with pytest.raises(ValueError, match=r"skip_rows|comment"):
            dproo.open(path, **layout).value("ward", WARDS, epsilon=1)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["", "\n"])
def test_lines_that_lead_to_no_header_are_refused_by_the_option(tmp_path, encoding, end, capsys):
    lines = ["# one", "", "x,ward", f"secret,A{end}"]
    (tmp_path / "a.csv").write_bytes("\n".join(lines).encode(encoding))
    pd.DataFrame({"ward": WARDS}).to_excel(tmp_path / "a.xlsx", index=False)
    asked = ("--column", "ward", "--alphabet", "A,B", "--encoding", encoding)
    for said in (("--skip-rows", 1), ("--skip-rows", 4), ("--skip-rows", 99), ("--comment", "#")):
        code, out, err = ran(capsys, "check", tmp_path / "a.csv", *asked, *said)
        assert (code, out) == (2, "")
        assert err.startswith("Error: --skip-rows and --comment must lead to the header line")
        assert "secret" not in err
    code, _, err = ran(capsys, "check", tmp_path / "a.csv", *asked)
    assert (code, err.endswith("skip them: --skip-rows 1.\n")) == (2, True)
    assert ran(capsys, "check", tmp_path / "a.csv", *asked, "--skip-rows", 2)[0] == 0
    code, _, err = ran(capsys, "check", tmp_path / "a.xlsx", *asked[:-2], "--skip-rows", 7)
    assert (code, "--skip-rows 7 skips" in err) == (2, True)


def test_rows_before_the_header_of_a_sheet_are_left_out(tmp_path):
    frame = pd.DataFrame({"x": [1, 2], "ward": ["A", "B"]})
    with pd.ExcelWriter(tmp_path / "a.xlsx") as writer:
        frame.to_excel(writer, sheet_name="visits", startrow=3, index=False)
        frame.to_excel(writer, sheet_name="more", index=False)
        writer.sheets["visits"].cell(1, 1, "Title") if hasattr(
            writer.sheets["visits"], "cell"
        ) else writer.sheets["visits"].write(0, 0, "Title")
    with pytest.raises(ValueError, match="Add table='visits' or table='more'"):
        counting.prepare(tmp_path / "a.xlsx", alphabets=[WARDS], columns=["ward"])
    options = {"table": "visits", "layout": Layout(skip_rows=3)}
    counts = counting.count(tmp_path / "a.xlsx", alphabet=WARDS, column="ward", **options)
    assert list(counts) == [1, 1, 0, 0]


def test_an_archive_of_one_file_is_read_and_no_other(tmp_path):
    data = tmp_path / "a.csv.zip"
    frame = pd.DataFrame({"ward": ["A", "B"] * 9000})
    frame.to_csv(data, index=False)
    assert list(counting.count(data, alphabet=WARDS, column="ward")) == [9000, 9000, 0, 0]
    with zipfile.ZipFile(data, "a") as archive:
        archive.writestr("b.csv", "ward\n")
    with pytest.raises(ValueError, match="must be an archive of one file"):
        counting.prepare(data, alphabets=[WARDS], columns=["ward"])


def test_a_folder_of_parquet_files_is_read(tmp_path):
    (tmp_path / "visits" / "part").mkdir(parents=True)
    frame = pd.DataFrame({"ward": ["A", "B"]})
    frame.to_parquet(tmp_path / "visits" / "0.parquet")
    frame.to_parquet(tmp_path / "visits" / "part" / "1.parquet")
    (tmp_path / "visits" / "_SUCCESS").write_text("")
    counts = counting.count(tmp_path / "visits", alphabet=WARDS, column="ward")
    assert list(counts) == [2, 2, 0, 0]


def test_a_file_with_two_names_is_counted_once(tmp_path):
    folder = tmp_path / "visits"
    (tmp_path / "more").mkdir()
    folder.mkdir()
    pd.DataFrame({"ward": ["A", "B"]}).to_parquet(folder / "0.parquet")
    pd.DataFrame({"ward": ["A", "C"]}).to_parquet(tmp_path / "more" / "1.parquet")
    (folder / "latest.parquet").symlink_to("0.parquet")
    (folder / "same.parquet").hardlink_to(folder / "0.parquet")
    (folder / "again").symlink_to(tmp_path / "more")
    (folder / "more").symlink_to(tmp_path / "more")
    for data in (folder, f"{folder}/**/*.parquet"):
        counts = counting.count(data, alphabet=WARDS, column="ward")
        assert list(counts) == [2, 1, 1, 0]


def test_tables_are_listed_where_one_must_be_named(capsys, tmp_path):
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute("CREATE TABLE visits (ward TEXT); CREATE SCHEMA s")
        connection.execute("CREATE VIEW s.seen AS FROM visits")
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute("CREATE TABLE visits (ward TEXT)")
    for name, told in {
        "a.duckdb": "Add table='s.seen' or table='visits'.",
        "a.db": "Add table='visits'.",
    }.items():
        with pytest.raises(ValueError, match="table must be given") as refused:
            counting.prepare(tmp_path / name, alphabets=[WARDS], columns=["ward"])
        assert told in str(refused.value)
    options = ("--column", "ward", "--alphabet", "A,B", "--table", "visits")
    assert ran(capsys, "check", tmp_path / "a.db", *options)[0] == 0
    connection.close()


def test_a_draft_takes_what_pandas_writes(tmp_path):
    pd.DataFrame({"ward": WARDS}).to_csv(tmp_path / "a.csv")
    draft = dproo.draft_codebook(tmp_path / "a.csv", skip_rows=0)
    assert [field["name"] for field in draft["schema"]["fields"]] == ["ward"]
