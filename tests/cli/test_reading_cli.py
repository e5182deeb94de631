"""The commands that help from a file to a release: check, codebook, and how cells are read."""

import gzip
import json

import pytest

from dproo.cli.commands import run

CSV = "id;Seen;fee;sex\n" + "".join(
    f"{i};{i % 28 + 1:02}.03.2024 08:30;{i},5;{'F' if i % 3 else ' m '}\n" for i in range(40)
)


@pytest.fixture
def export(tmp_path):
    path = tmp_path / "export.txt.gz"
    path.write_bytes(gzip.compress(CSV.encode("utf-16")))
    return path


def ran(capsys, *arguments):
    code = run([str(argument) for argument in arguments])
    return code, *capsys.readouterr()


HOW = ("--delimiter", ";", "--encoding", "utf-16")


@pytest.mark.parametrize(
    ("options", "values"),
    [
        (("Seen", "--as", "month:DD.MM.YYYY", "--alphabet", "2024-03..2024-05"), ["2024-03"]),
        (  # one record of forty has no fee
            ("fee", "--decimal", ",", "--alphabet", "bins:0,100", "--missing", "0.5"),
            ["[0, 100)", "other"],
        ),
        (("id", "--thousands", ",", "--alphabet", "0..40"), [str(i) for i in range(40)]),
    ],
)
def test_a_strange_file_is_released_by_one_command(capsys, export, options, values):
    arguments = ("sample", export, *HOW, "--epsilon", "50", "--no-ledger", "--quiet", "--column")
    code, out, err = ran(capsys, *arguments, *options)
    assert (code, err) == (0, "")
    assert out.strip() in values


def test_each_column_has_a_reading_of_its_own(capsys, export, tmp_path):
    (tmp_path / "sex.txt").write_text("f\nm\n", encoding="utf-8")
    arguments = ("synthesize", export, *HOW, "--rows", "3", "--epsilon", "90", "--no-ledger")
    options = ("--column", "sex", "--alphabet", tmp_path / "sex.txt", "--as", "lower")
    options += ("--column", "id", "--alphabet", "0..40", "--as", "integer", "--quiet")
    code, out, _ = ran(capsys, *arguments, *options)
    assert code == 0
    assert {line.partition(",")[0] for line in out.splitlines()[1:]} <= {"f", "m"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--column", "id"), "For all columns of a file: dproo codebook draft DATA."),
        (
            ("--column", "id", "--alphabet", "0..9", "--as", "text", "--as", "lower"),
            "--as must be given once, or for each column, got 2 times.",
        ),
        (("--column", "id", "--alphabet", "0..9", "--missing", "3"), "must be used with bins"),
        (("--column", "id", "--alphabet", "bins:0,9", "--missing", "x"), "must be a number"),
        (("--codebook", "x", "--as", "text"), "--as cannot be used with --codebook"),
    ],
)
def test_options_that_do_not_go_together_are_refused(capsys, export, options, message):
    code, out, err = ran(capsys, "sample", export, "--epsilon", "1", "--no-ledger", *options)
    assert (code, out) == (2, "")
    assert message in err


def test_a_check_prints_the_columns_or_every_refusal(capsys, export, tmp_path):
    good = ("--column", "id", "--alphabet", "0..40")
    code, out, err = ran(capsys, "check", export, *HOW, *good)
    assert (code, out, err) == (0, "id  text, integers written 1234\nA release would begin.\n", "")
    code, out, err = ran(capsys, "check", export, *good)
    assert (code, out) == (2, "")
    assert "For other text files add --delimiter, for others --format." in err
    field = {"type": "string", "categories": ["é"]}
    names = ["Sex", "sex", "ward"]
    book = {"schema": {"fields": [{"name": name, **field} for name in names]}}
    (tmp_path / "book.json").write_text(json.dumps(book), encoding="utf-8")
    code, out, err = ran(capsys, "check", export, *HOW, "--codebook", tmp_path / "book.json")
    assert (code, out, err.count("Error: ")) == (2, "", 2)
    code, out, err = ran(
        capsys, "check", export, *HOW, "--json", "--codebook", tmp_path / "book.json"
    )
    assert (code, json.loads(out)["holds"], len(json.loads(out)["refusals"])) == (2, False, 2)
    code, _, err = ran(capsys, "check", export, *good, "--codebook", "x")
    assert (code, "--column cannot be used with --codebook" in err) == (2, True)


def test_what_may_be_is_warned_of_before_a_release_and_by_a_check(capsys, tmp_path, caplog):
    (tmp_path / "a.csv").write_text("city\nKöln\n", encoding="utf-8")
    (tmp_path / "cities.txt").write_text("Köln\n", encoding="utf-8")
    options = ("--column", "city", "--alphabet", tmp_path / "cities.txt")
    code, out, err = ran(capsys, "check", tmp_path / "a.csv", *options)
    assert (code, out) == (0, "city  text\nA release would begin.\n")
    assert err.startswith("Warning: letters beyond ASCII")
    ran(capsys, "sample", tmp_path / "a.csv", *options, "--epsilon", "1", "--no-ledger")
    assert "letters beyond ASCII" in caplog.text
    caplog.clear()
    options += ("--encoding", "utf-8")
    ran(capsys, "sample", tmp_path / "a.csv", *options, "--epsilon", "1", "--no-ledger")
    assert not caplog.text


def test_a_draft_is_written_shown_and_never_over_another_file(capsys, export, tmp_path):
    out_file = tmp_path / "book.json"
    code, out, err = ran(capsys, "codebook", "draft", export, *HOW, "--out", out_file)
    assert (code, out, len(err.splitlines())) == (0, "", 2)
    draft = json.loads(out_file.read_text(encoding="utf-8"))
    assert (draft["encoding"], draft["dialect"]) == ("utf-16", {"delimiter": ";"})
    code, _, err = ran(capsys, "codebook", "draft", export, *HOW, "--out", out_file)
    assert (code, "out must be a new file" in err) == (2, True)
    code, out, err = ran(capsys, "codebook", "preview", out_file)
    assert out.splitlines()[:2] == ["column  type    values", "id      string    TODO"]
    code, out, _ = ran(capsys, "codebook", "preview", out_file, "--json")
    assert json.loads(out)["is_draft"]
    code, out, _ = ran(capsys, "codebook", "draft", export, *HOW)
    assert json.loads(out) == draft
    (tmp_path / "sex.csv").write_text("code,label\nF,female\nm,male\n", encoding="utf-8")
    code, out, _ = ran(capsys, "codebook", "import", tmp_path / "sex.csv", "--column", "sex")
    assert json.loads(out)["schema"]["fields"][0]["name"] == "sex"


def test_standard_input_needs_a_name_for_its_budget(capsys):
    options = ("--column", "a", "--alphabet", "0..9", "--epsilon", "1")
    code, _, err = ran(capsys, "sample", "-", *options)
    assert (code, "Add --dataset NAME, or --no-ledger." in err) == (2, True)


def test_a_column_of_people_is_checked_and_warned_of(capsys, tmp_path):
    data, codes = tmp_path / "visits.csv", tmp_path / "codes.txt"
    data.write_text("patient,code\n7,flu\n7,cold\n")
    codes.write_text("flu\ncold\n")
    asked = [data, "--column", "code", "--alphabet", codes]
    code, out, err = ran(capsys, "check", *asked, "--person", "patient")
    assert (code, out, err) == (0, "code  text\nA release would begin.\n", "")
    code, out, err = ran(capsys, "check", *asked, "--person", "Patient")
    assert (code, out) == (2, "")
    assert err.startswith(
        "Error: person must be a column of the data, got 'Patient'. Did you mean 'patient'?"
    )
    code, out, err = ran(
        capsys, "sample", *asked, "--person", "patient", "--epsilon", "11", "--no-ledger"
    )
    assert code == 0
    assert "protects little: one person may change the odds" in err
