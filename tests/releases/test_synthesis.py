"""A private table of listed columns: charged once, near the data, and refused for nothing."""

import csv
import json
import os
from collections import Counter

import duckdb
import pytest
from support import commands

import dproo
from dproo.errors import DeltaRefused, PureBudgetError, ReleaseError
from dproo.ledger import Ledger
from dproo.releases import run as execute

LETTERS = dproo.Alphabet.of({"code": ["a", "b", "c"]})
DATA = [{"code": code} for code in ["a"] * 600 + ["b"] * 300 + [None] * 100]
BUDGET = {"epsilon": "1", "delta": "1e-6"}


@pytest.fixture
def book(tmp_path):
    new = Ledger.create(tmp_path / "ledger.sqlite3")
    new.declare("patients", budget="3", delta="1e-6", neighbours="replace")
    return new


def synthesize(data, letters=LETTERS, **options):
    opening = {name: options.pop(name) for name in ("ledger", "dataset") if name in options}
    return dproo.open(data, **opening).synthesize(letters, **(BUDGET | options))


def test_epsilon_and_delta_are_charged_before_the_first_record_is_read(book):
    seen = []

    def records():
        (account,) = Ledger(book.path).show()
        seen.append((account.left, account.delta_left))
        yield from DATA

    made = synthesize(records(), ledger=book, dataset="patients")
    assert seen == [(2 * 10**9, 0)]
    assert book.released(made.receipt.ledger.entry)["model"]["sha256"] == made.sha256
    with pytest.raises(DeltaRefused, match="delta must be at most the 0 left"):
        synthesize(records(), ledger=book, dataset="patients")
    assert len(seen) == 1
    pure = synthesize(DATA, delta=0, ledger=book, dataset="patients")
    assert pure.receipt.ledger.charge_atto_delta == 0
    assert "charge_atto_delta" not in pure.receipt.as_dict()["ledger"]


def test_a_pure_budget_pays_for_no_delta(ledger):
    with pytest.raises(PureBudgetError, match="is pure epsilon"):
        synthesize(DATA, ledger=ledger, dataset="patients")
    assert ledger.show()[0].spent == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delta": "1"}, "delta must be at least 0 and below 1, got '1'."),
        ({"delta": "1e-6x"}, "delta must be a decimal number"),
        ({"columns": ["code"]}, "columns must be left out with a code book"),
        ({"letters": dproo.Alphabet.of({"code": ["a", "other"]})}, "letter must not be 'other'"),
        ({"letters": dproo.Alphabet.of(["a", "b"])}, "must name its columns"),
        ({"letters": dproo.Alphabet.of({"code": range(10**7)})}, "at most .* possible values"),
    ],
)
def test_a_refused_table_reads_nothing_and_costs_nothing(book, options, message):
    def records():
        raise AssertionError("read")
        yield

    with pytest.raises(ValueError, match=message):
        synthesize(records(), **options, ledger=book, dataset="patients")
    assert book.show()[0].spent == 0


def test_a_hundred_thousand_rows_are_made_of_a_million_records(tmp_path):
    path = tmp_path / "rows.parquet"
    duckdb.sql("SET enable_progress_bar = false")
    duckdb.sql("SELECT 'l' || (i % 20) AS code FROM range(1000000) AS t(i)").write_parquet(
        str(path)
    )
    letters = dproo.Alphabet.of({"code": [f"l{i}" for i in range(20)]})
    model = synthesize(path, letters, delta=0)
    counts = model.counts("code").rows
    assert max(abs(row["count"] - 50_000) for row in counts if row["code"] != "other") < 100
    drawn = Counter(row["code"] for row in model.rows(10**5))
    assert sum(abs(drawn[f"l{i}"] - 5000) for i in range(20)) / 2e5 < 0.02


def test_several_listed_columns_are_rows_of_their_letters():
    data = [{"sex": "f", "age": 1}, {"sex": "m", "age": 70}, {"sex": "x", "age": -9}] * 100
    letters = dproo.Alphabet.of({"sex": ["f", "m"], "age": "bins:0,18,65,120"})
    model = synthesize(data, letters, epsilon=50, delta=0)
    kept = {(row["sex"], row["age"]) for row in model.rows(200)}
    assert {("f", "[0, 18)"), ("m", "[65, 120)"), ("other", "other")} <= kept


def test_the_letters_of_named_columns_are_found():
    data = [{"ward": "AB"[i % 2], "note": f"n{i}"} for i in range(2000)]
    model = dproo.open(data).synthesize(columns=["ward"], epsilon=20, delta="1e-6")
    assert model.names == ("ward",)


def dproo_command(*arguments, folder):
    environment = os.environ | {"DPROO_LEDGER": str(folder / "l.sqlite3")}
    return commands.dproo(*arguments, env=environment | {"XDG_CONFIG_HOME": str(folder)})


def test_the_command_declares_synthesizes_and_is_refused(tmp_path):
    data, codes = tmp_path / "data.csv", tmp_path / "codes.txt"
    data.write_text("code,sex\n" + "a,f\n" * 800 + "b,m\n" * 200)
    codes.write_text("a\nb\n")
    made = ["synthesize", str(data), "--column", "code", "--alphabet", str(codes), "--rows", "40"]
    made += ["--epsilon", "1", "--delta", "1e-6"]
    missing = dproo_command(*made, folder=tmp_path)
    assert (missing.returncode, missing.stdout) == (2, "")
    assert "Declare a budget first" in missing.stderr
    terms = ["--budget", "3", "--delta", "1.5e-6"]
    assert dproo_command("ledger", "init", str(data), *terms, folder=tmp_path).returncode == 0
    result = dproo_command(*made, folder=tmp_path)
    assert result.returncode == 0
    header, *rows = list(csv.reader(result.stdout.splitlines()))
    assert header == ["code"]
    assert len(rows) == 40
    assert {cell for (cell,) in rows} <= {"a", "b", "other"}
    assert "delta" in result.stderr
    refused = dproo_command(*made, folder=tmp_path)
    assert (refused.returncode, refused.stdout) == (3, "")
    assert "delta must be at most the 5e-7 left" in refused.stderr
    shown = dproo_command("ledger", "show", folder=tmp_path).stdout
    assert "2 left of 3, delta 5e-7 left of 1.5e-6" in shown
    (account,) = json.loads(dproo_command("ledger", "show", "--json", folder=tmp_path).stdout)[
        "datasets"
    ]
    assert (account["delta"], account["delta_left"]) == ("1.5e-6", "5e-7")
    found = [*made[:2], "--column", "sex", "--epsilon", "20", "--delta", "1e-6", "--rows", "9"]
    sexes = dproo_command(*found, "--no-ledger", folder=tmp_path)
    assert sexes.stdout.splitlines()[0] == "sex"
    for more in (["--as", "lower"], ["--missing", "-9"], ["--decimal", ","]):
        wrong = dproo_command(*found, *more, "--no-ledger", folder=tmp_path)
        assert wrong.returncode == 2
        assert f"{more[0]} cannot be used without --alphabet." in wrong.stderr
    unnamed = [*made[:2], *made[4:], "--no-ledger"]
    assert "--column must be given" in dproo_command(*unnamed, folder=tmp_path).stderr


def test_the_plan_shows_all_ways_side_by_side(tmp_path):
    plan = ["plan", "--n", "1000", "--k", "20", "--epsilon", "1", "--releases", "100"]
    result = dproo_command(*plan, "--delta", "1e-6", "--json", folder=tmp_path)
    found = json.loads(result.stdout)
    cost = {(row["sampler"], row["way"]): row["epsilon"] for row in found["ways"]}
    assert cost["roo", "basic"] == 100
    assert cost["roo", "composed"] == pytest.approx(3.967, abs=1e-3)
    assert cost["roo", "joint"] == 1
    printed = dproo_command(*plan, "--delta", "1e-6", folder=tmp_path)
    assert "3.9672" in printed.stdout
    much = dproo_command(*plan, "--delta", "0.001", folder=tmp_path)
    assert "Note: a delta of 1/n or more allows someone's record to be shown." in much.stderr
    wrong = dproo_command(*plan, "--alpha", "0.1", folder=tmp_path)
    assert wrong.returncode == 2
    assert "--releases requires --n, --k and --epsilon, and no --alpha." in wrong.stderr


def test_an_entropy_failure_shows_nothing(book, monkeypatch):
    def broken(_):
        raise OSError("canary-7f3a")

    kind = dproo.core.draw.RandomSource
    sources = iter([kind(), kind(broken)])  # the first is for the rehearsal
    monkeypatch.setattr(execute, "RandomSource", lambda: next(sources))
    with pytest.raises(ReleaseError) as failed:
        synthesize(DATA, ledger=book, dataset="patients")
    assert str(failed.value) == f"{execute.RELEASE_FAILED} The charge stays: entry 2 of 'patients'."
    assert [line.is_recorded for line in book.show()[0].lines] == [False]
