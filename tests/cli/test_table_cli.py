"""A private table on the command line: one charge, files, and rows for nothing."""

import csv
import json
import re

import pyarrow.parquet as pq
import pytest
from support.draws import DICE

from dproo import Ledger, Model
from dproo.cli.commands import run

pytestmark = pytest.mark.one_of(3)

BOOK = {
    "schema": {
        "fields": [
            {"name": "sex", "type": "string", "categories": ["F", "M"]},
            {"name": "age", "type": "integer", "bins": [0, 18, 65, 120], "outside": 70},
        ]
    }
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = ["sex,age", *(f"{'FM'[i % 2]},{i % 100}" for i in range(400))]
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "book.json").write_text(json.dumps(BOOK))
    ledger = Ledger.create(tmp_path / "ledger.sqlite3")
    ledger.declare("visits", budget=3, neighbours="replace")
    return tmp_path


def synthesize(*more, epsilon="1", book="book.json"):
    charged = ("--ledger", "ledger.sqlite3", "--dataset", "visits")
    return run(
        ["synthesize", "data.csv", "--codebook", book, "--epsilon", epsilon, *charged, *more]
    )


def spent(folder):
    return Ledger(folder / "ledger.sqlite3").show()[0].spent


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_table_is_written_with_its_model(folder, capsys, ending):
    assert synthesize("--rows", "50", "--out", f"t.{ending}", "--model", "m.json") == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    model = Model.load(folder / "m.json")
    assert model.sha256[:16] in shown.err
    if ending == "parquet":
        table = pq.read_table(folder / "t.parquet")
        assert table.num_rows == 50
        assert table.schema.metadata[b"dproo_model"].decode() == model.sha256
    else:
        lines = (folder / f"t.{ending}").read_text().splitlines()
        assert len(lines) == 50 + (ending == "csv")
        about = json.loads((folder / f"t.{ending}-metadata.json").read_text())
        assert about["dproo_model"] == model.sha256
    assert spent(folder) == 10**9
    assert not list(folder.glob(".dproo*"))


@pytest.mark.parametrize(("option", "ending"), [("--model", ".json"), ("--out", ".csv")])
@pytest.mark.parametrize("length", [235, 240, 241, 245, 255, 256])
def test_a_name_of_any_length_is_written_or_refused_before_the_charge(
    folder, option, ending, length
):
    name = "m" * (length - len(ending)) + ending
    is_possible = length <= (255 if option == "--model" else 255 - len("-metadata.json"))
    code = synthesize("--rows", "5", "--quiet", option, name)
    assert (code, spent(folder)) == ((0, 10**9) if is_possible else (2, 0))
    assert is_possible == (len(name) <= 255 and (folder / name).exists())


def test_more_rows_are_free_and_repeatable(folder, capsys):
    assert synthesize("--model", "m.json", "--quiet") == 0
    assert run(["ledger", "print", "2", "--ledger", "ledger.sqlite3"]) == 0
    (folder / "receipt.json").write_text(capsys.readouterr().out)
    drawn = []
    for source in ("m.json", "receipt.json"):
        assert run(["rows", source, "--rows", "7", "--seed", "3"]) == 0
        drawn.append(capsys.readouterr().out)
    assert drawn[0] == drawn[1]
    rows = list(csv.DictReader(drawn[0].splitlines()))
    assert len(rows) == 7
    assert {*rows[0]} == {"sex", "age"}
    assert run(["rows", "m.json", "--rows", "2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["synthetic"] is True
    assert len(told["rows"]) == 2
    assert run(["rows", "m.json", "--rows", "2", "--out", "more.csv"]) == 0
    assert run(["rows", "m.json", "--rows", "2", "--out", "more.csv", "--plot", "m.png"]) == 2
    assert not (folder / "m.png").exists()
    assert spent(folder) == 10**9


@pytest.mark.usefixtures("folder")
def test_rows_stand_in_the_object_however_many_they_are(capsys):
    """Some pay for themselves, and many come from a private table."""
    for size in (1, DICE.randrange(2, 10), 50):
        command = ["sample", "data.csv", "--codebook", "book.json", "--epsilon", "1"]
        assert run([*command, "--size", str(size), "--no-ledger", "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert [{*row} for row in told["values"]] == [{*told["column_names"]}] * size


def test_the_receipt_as_json_and_rows_as_text(folder, capsys):
    assert synthesize("--rows", "5", "--out", "t.csv", "--json") == 0
    receipt = json.loads(capsys.readouterr().out)
    assert receipt["certificate"]["holds"]
    assert {*receipt["model"]} == {"sha256"}
    assert synthesize("--rows", "5", "--quiet") == 0
    shown = capsys.readouterr()
    assert (len(shown.out.splitlines()), shown.err) == (6, "")
    assert spent(folder) == 2 * 10**9


@pytest.mark.parametrize(
    "more",
    [
        (),
        ("--rows", "0"),
        ("--rows", "100000000000"),
        ("--out", "t.csv"),
        ("--rows", "5", "--out", "t.xls"),
        ("--rows", "5", "--out", "data.csv"),
        ("--rows", "5", "--out", "nowhere/t.csv"),
        ("--rows", "5", "--out", "taken.csv"),
        ("--rows", "5", "--model", "m.txt"),
        ("--rows", "5", "--model", "book.json"),
        ("--rows", "5", "--model", "/proc/m.json"),
        ("--rows", "5", "--model", f"{'m' * 251}.json"),
        ("--rows", "5", "--out", "/proc/t.csv"),
        ("--rows", "5", "--out", f"{'t' * 252}.csv"),
        ("--rows", "5", "--out", f"{'t' * 250}.csv"),
        ("--rows", "5", "--out", "t.csv", "--model", "t.csv-metadata.json"),
        ("--rows", "5", "--out", "t.csv", "--model", "../{here}/t.csv-metadata.json"),
        ("--rows", "5", "--json"),
        ("--rows", "5", "--model", "m.json", "--json"),
        ("--rows", "5", "--network", "star"),
        ("--rows", "5", "--network", "declared"),
        ("--rows", "5", "--delta", "2"),
        ("--rows", "5", "--column", "sex"),
        ("--rows", "5", "--alphabet", "0..3"),
        ("--rows", "5", "--sampler", "roo"),
        ("--rows", "5", "--as", "lower"),
        ("--rows", "5", "--outside", "uniform"),
        ("--rows", "5", "--epsilon", "0"),
        ("--rows", "5", "--neighbours", "add-remove"),
        ("--rows", "5", "--codebook", "none.json"),
    ],
)
def test_a_refusal_is_a_sentence_and_charges_nothing(folder, capsys, more):
    (folder / "taken.csv-metadata.json").write_text("{}")
    before = {*folder.iterdir()}
    assert synthesize(*(word.replace("{here}", folder.name) for word in more)) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Error: " in shown.err
    assert "bug" not in shown.err
    assert {*folder.iterdir()} == before
    assert spent(folder) == 0


def test_too_little_budget_is_refused_before_anything_is_written(folder):
    assert synthesize("--rows", "5", "--out", "t.csv", epsilon="4") == 3
    assert not (folder / "t.csv").exists()
    assert spent(folder) == 0


def test_a_file_that_cannot_be_written_after_the_charge_leaves_the_model_in_the_ledger(
    folder, capsys, monkeypatch
):
    def full(*_):
        raise OSError(28, "secret")

    monkeypatch.setattr(Model, "save", full)
    assert synthesize("--rows", "5", "--model", "m.json") == 4
    shown = capsys.readouterr().err
    assert "dproo ledger print 2" in shown
    assert "secret" not in shown
    assert Model.of_receipt(Ledger(folder / "ledger.sqlite3").released(2)).rows(1)


@pytest.mark.parametrize("end", [KeyboardInterrupt, OSError])
@pytest.mark.parametrize("moment", [0, 1])
def test_rows_whose_writing_ends_early_leave_no_part_behind(folder, monkeypatch, end, moment):
    assert synthesize("--model", "m.json", "--quiet") == 0
    before, synced = {*folder.iterdir()}, []

    def sync(file):
        synced.append(file)
        if len(synced) > moment:
            raise end

    monkeypatch.setattr("dproo.cli.synthesize.os.fsync", sync)
    assert run(["rows", "m.json", "--rows", "5", "--out", "t.csv"]) != 0
    assert {*folder.iterdir()} == before


def test_a_changed_model_is_refused(folder, capsys):
    assert synthesize("--model", "m.json", "--quiet") == 0
    content = json.loads((folder / "m.json").read_text())
    content["potentials"][0]["values"][0] -= 1
    (folder / "m.json").write_text(json.dumps(content))
    assert run(["rows", "m.json", "--rows", "5"]) == 2
    assert "was changed after it was saved" in capsys.readouterr().err


PROBED = ("synthesize", "data.csv", "--ledger", "ledger.sqlite3", "--dataset", "visits", "--probe")
LISTED = ("--column", "sex", "--alphabet", "F,X", "--column", "age", "--alphabet", "0..120")


@pytest.mark.parametrize(("epsilon", "charge"), [((), 5 * 10**7), (("--epsilon", "2"), 2 * 10**9)])
def test_a_probe_tells_the_share_of_other_with_its_noise(folder, capsys, epsilon, charge):
    assert run([*PROBED, *LISTED, *epsilon]) == 0
    shown = capsys.readouterr()
    told = dict(line.split(maxsplit=1) for line in shown.out.splitlines())
    assert set(told) == {"sex", "age"}
    share, least, most = (int(part) for part in re.findall(r"\d+", told["sex"]))
    assert least <= share <= most <= 100
    assert "'other'" not in shown.err  # said once
    if epsilon:  # half of the records, and noise of a tenth has a probability of 3e-9
        assert 40 < share < 60
    assert spent(folder) == charge
    assert run([*PROBED, "--codebook", "book.json", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)["other"]) == {"sex"}


@pytest.mark.parametrize(
    "more",
    [
        (),
        (*LISTED, "--rows", "3"),
        (*LISTED, "--out", "t.csv"),
        (*LISTED, "--model", "m.json"),
        (*LISTED, "--network", "learned"),
        ("--codebook", "closed.json"),
    ],
)
def test_a_probe_that_makes_no_sense_charges_nothing(folder, capsys, more):
    fields = [{"name": "age", "type": "integer", "bins": [0, 18, 65, 120], "outside": 70}]
    (folder / "closed.json").write_text(json.dumps({"schema": {"fields": fields}}))
    assert run([*PROBED, *more]) == 2
    assert "--probe" in capsys.readouterr().err
    assert spent(folder) == 0
