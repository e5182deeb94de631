"""What left, when, for which purpose, by whom and how accurate: shown, and for an auditor."""

import csv
import io
import json
import re

import pytest
from click.testing import CliRunner
from support.releasing import sample

import dproo
from dproo.cli.commands import cli
from dproo.cli.ledger import _harmless
from dproo.releases.charge import Charge

LETTERS = ["a", "b", "=1+1"]


def run(*arguments, ledger):
    return CliRunner().invoke(cli, [*arguments, "--ledger", str(ledger)])


@pytest.fixture
def ledger(tmp_path):
    """A budget of a file in a private folder, with a release, a row, and one that never ended."""
    folder = tmp_path / "home-of-ann"
    folder.mkdir()
    path, data = tmp_path / "ledger.sqlite3", folder / "visits.csv"
    data.write_text("c,d\n" + "a,x\n" * 300)
    book = dproo.Ledger.create(path)
    book.declare(str(data), budget="9", neighbours="replace")
    charged = {"ledger": book, "dataset": str(data)}
    stated = {"purpose": "monthly <b>bulletin</b>", "operator": "Ann Lee"}
    sample(data, column="c", alphabet=["a"], epsilon=1, **charged, **stated)
    fields = [{"name": name, "type": "string", "categories": ["a", "x"]} for name in ("d", "c")]
    sample(data, codebook={"schema": {"fields": fields}}, epsilon=1, **charged)
    book.reserve(str(data), epsilon=1, neighbours="replace", request={"purpose": "=1+1"})
    return path


def test_show_answers_what_left_when_why_by_whom_and_how_accurate(ledger):
    shown = run("ledger", "show", ledger=ledger).output
    released, row, unfinished = shown.split("\n  entry ")[1:]
    assert released.startswith("2  20")
    assert "what      c: " in released
    assert "purpose   monthly <b>bulletin</b>\n    by        Ann Lee\n" in released
    assert "accuracy  at most 0." in released
    assert "what      d, c: d=" in row  # in the order of the code book
    assert "by        not stated" in row
    assert "of rows differ from rows drawn without privacy" in row
    assert "charged, never released" in unfinished
    assert "accuracy" not in unfinished
    entries = json.loads(run("ledger", "show", "--json", ledger=ledger).output)
    first, second, third = entries["datasets"][0]["entries"]
    assert (first["purpose"], first["operator"]) == ("monthly <b>bulletin</b>", "Ann Lee")
    assert first["columns"] == ["c"]
    assert first["values"][0] in {"a", "other"}
    assert len(second["codebook_sha256"]) == 64
    assert third["values"] == []


def test_what_may_be_published_names_no_folder_and_nobody(ledger):
    printed = run("ledger", "print", "2", ledger=ledger).output
    receipt = json.loads(printed)
    assert receipt["ledger"]["dataset"] == "visits.csv"
    assert receipt["purpose"] == "monthly <b>bulletin</b>"
    assert receipt["column_names"] == ["c"]
    assert "home-of-ann" not in printed
    assert "Ann Lee" not in printed


def test_budgets_of_files_with_one_name_are_told_apart_for_an_auditor(ledger, tmp_path):
    book = dproo.Ledger(ledger)
    here = book.show()[0].dataset
    names = {here: "home-of-ann/visits.csv", "/a/23/flu.csv": "23/flu.csv"}
    names |= {"/a/24/flu.csv": "24/flu.csv", "flu.csv": "flu.csv", "/b/only.csv": "only.csv"}
    names |= {"visits.csv": "visits.csv", "/c/folder/": "c/folder", "/d/folder": "d/folder"}
    for name in names.keys() - {here}:
        book.declare(name, budget=1, neighbours="replace")
        book.reserve(name, epsilon="0.1", neighbours="replace")
    for out in (tmp_path / "all.csv", tmp_path / "all.html"):
        run("ledger", "report", "--out", str(out), ledger=ledger)
    rows = csv.DictReader(io.StringIO((tmp_path / "all.csv").read_text()))
    assert {row["dataset"] for row in rows} == set(names.values())
    captions = re.findall("<caption>(.*): epsilon", (tmp_path / "all.html").read_text())
    assert sorted(captions) == sorted(names.values())


def test_a_release_of_python_is_as_public(ledger):
    book = dproo.Ledger(ledger)
    name = book.show()[0].dataset
    receipt = sample(
        ["a"] * 50, alphabet=["a"], epsilon=1, ledger=book, dataset=name, operator="Ann Lee"
    ).receipt.as_dict()
    assert receipt["ledger"]["dataset"] == "visits.csv"
    assert "Ann Lee" not in json.dumps(receipt)
    assert book.show()[0].lines[-1].request["operator"] == "Ann Lee"


def test_the_report_is_a_table_that_a_spreadsheet_takes_for_text(ledger, tmp_path):
    out = tmp_path / "releases.csv"
    written = run("ledger", "report", "--out", str(out), ledger=ledger)
    assert written.output == f"3 entries in {out}\n"
    text = out.read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["entry"] for row in rows] == ["2", "4", "6"]
    assert rows[0]["by"] == "Ann Lee"
    assert rows[0]["purpose"] == "monthly <b>bulletin</b>"
    assert rows[2]["purpose"] == "'=1+1"
    assert rows[2]["state"] == "charged, never released"
    assert {row["dataset"] for row in rows} == {"visits.csv"}
    assert "home-of-ann" not in text
    run("ledger", "report", "--out", str(tmp_path / "none.csv"), "--year", "1999", ledger=ledger)
    assert len((tmp_path / "none.csv").read_text().splitlines()) == 1


FORMULAS = (
    "=1+cmd|A!A0",
    "+1+1",
    "-2+3",
    "@SUM(1)",
    "\uff1d1",
    "\uff0dA1",
    "=HYPERLINK(A1)",
    "- 1",
    "-1%",
)
BEFORE = ("", " ", "x;", "x,", "x|", "x; ", 'x;"', "x;'", 'x;""', "x,;", "x;-3;", "\u00a0")


@pytest.mark.one_of(3)
def test_no_part_of_a_cell_is_a_formula_wherever_lines_are_split(tmp_path):
    path = tmp_path / "ledger.sqlite3"
    book = dproo.Ledger.create(path)
    texts = [before + formula for before in BEFORE for formula in FORMULAS]
    for number, text in enumerate(texts):
        book.declare(f"{text} {number}".strip(), budget="9", neighbours="replace")
        stated = {"purpose": text, "operator": text, "columns": [text, text]}
        book.reserve(f"{text} {number}".strip(), epsilon=1, neighbours="replace", request=stated)
    out = tmp_path / "releases.csv"
    assert run("ledger", "report", "--out", str(out), ledger=path).exit_code == 0
    text = out.read_bytes().decode()
    parts = re.split("[;,|:\t\r\n]", text)
    for separator in ";,|:\t":
        rows = csv.reader(io.StringIO(text), delimiter=separator)
        parts += [cell for row in rows for cell in row]
    begun = {part.lstrip(' \u00a0"') for part in parts}
    begun = {part for part in begun if part[:1] in {*"=+-@\uff1d\uff0b\uff0d\uff20"}}
    assert begun == {"-3"}  # a number is no formula


@pytest.mark.parametrize("cell", ["-3", "[-10, -5)", "1e-06", "a - b", "x=1", "2024-01-02", "-3.5"])
def test_numbers_bins_and_days_are_written_as_they_are(cell):
    assert _harmless(cell) == cell


def test_the_report_opens_in_a_browser(ledger, tmp_path, browser):
    out = tmp_path / "releases.html"
    assert run("ledger", "report", "--out", str(out), ledger=ledger).exit_code == 0
    page = browser.new_page()
    try:
        page.goto(out.as_uri())
        assert page.title() == "Releases"
        assert page.locator("caption").inner_text() == "visits.csv: epsilon 6 left of 9 (replace)"
        assert page.locator("tr").count() == 4
        first = page.locator("tr").nth(1).locator("td").all_inner_texts()
        assert "monthly <b>bulletin</b>" in first
        assert "Ann Lee" in first
        assert page.locator("td b").count() == 0
    finally:
        page.close()


def test_a_report_overwrites_nothing_and_knows_two_kinds_of_files(ledger, tmp_path):
    taken = tmp_path / "taken.csv"
    taken.write_text("mine")
    for out, words in [
        (taken, "out must be a new file in a folder that exists"),
        (tmp_path / "no" / "x.html", "out must be a new file in a folder that exists"),
        (tmp_path / "x.pdf", "out must end in .csv or .html"),
    ]:
        refused = run("ledger", "report", "--out", str(out), ledger=ledger)
        assert words in str(refused.exception)
    assert taken.read_text() == "mine"


@pytest.mark.parametrize("name", ["purpose", "operator"])
def test_a_statement_is_plain_text_and_refused_before_the_charge(name, ledger):
    for wrong in ("", " ", "two\nlines", "x" * 201, "postgresql://ann:secret@host/db"):
        with pytest.raises(ValueError, match=f"{name} must be printable text") as refused:
            Charge(**{name: wrong})
        assert "secret" not in str(refused.value)
    with pytest.raises(TypeError, match=f"{name} must be text, got 3"):
        Charge(**{name: 3})
    book = dproo.Ledger(ledger)
    dataset, before = book.show()[0].dataset, book.head()
    with pytest.raises(ValueError, match=name):
        sample(
            ["a"], alphabet=["a"], epsilon=1, ledger=book, dataset=dataset, **{name: "two\nlines"}
        )
    assert book.head() == before


def test_the_report_of_one_release_states_the_whole_budget_as_show_does(tmp_path):
    path, out = tmp_path / "ledger.sqlite3", tmp_path / "releases.html"
    book = dproo.Ledger.create(path)
    book.declare("visits", budget=3, delta="1e-6", neighbours="replace", unit="person")
    book.reserve("visits", epsilon=1, delta="5e-7", neighbours="replace", unit="person")
    left = "2 left of 3, delta 5e-7 left of 1e-6 (replace, people)"
    assert f"visits: {left}\n" in run("ledger", "show", ledger=path).output
    written = run("ledger", "report", "--out", str(out), ledger=path).output
    assert written == f"1 entry in {out}\n"
    assert f"<caption>visits: epsilon {left}</caption>" in out.read_text(encoding="utf-8")
