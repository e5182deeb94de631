"""The commands of code books that are found: discover, preview, and a table without one."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from dproo.cli.commands import run


def ran(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = run([str(argument) for argument in arguments])
    return code, *capsys.readouterr()


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    path = tmp_path / "visits.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["ward", "age", "note"])
        writer.writerows(["AB"[i % 2], i % 9, f"note {i} of one"] for i in range(2000))
    return path


@pytest.mark.one_of(3)
def test_a_strange_file_becomes_a_code_book_and_a_table(
    capsys: pytest.CaptureFixture[str], visits: Path, tmp_path: Path
) -> None:
    ledger, book, safe = tmp_path / "l.db", tmp_path / "book.json", tmp_path / "safe.csv"
    budget = ("--budget", "200", "--delta", "1e-5", "--ledger", ledger)
    assert ran(capsys, "ledger", "init", visits, *budget)[0] == 0
    paid = ("--epsilon", "90", "--delta", "1e-6", "--ledger", ledger)
    code, out, err = ran(capsys, "codebook", "discover", visits, *paid, "--out", book)
    assert (code, out) == (0, "")
    assert "note: left out; nothing in it is shared by enough people" in err
    assert "certified" in err
    code, out, _ = ran(capsys, "codebook", "preview", book)
    assert code == 0
    assert out.splitlines()[1].split() == ["ward", "string", "3", "A,", "B"]
    assert "found privately, for epsilon 90" in out
    code, out, _ = ran(capsys, "codebook", "preview", book, "--json")
    assert json.loads(out)["columns"][0]["source"].startswith("found privately")
    code, _, err = ran(capsys, "synthesize", visits, *paid, "--rows", 50, "--out", safe)
    assert code == 0
    assert "code book found" in err
    assert len(safe.read_text().splitlines()) == 51
    code, _, err = ran(capsys, "codebook", "discover", visits, *paid)
    assert code == 3  # the budget is spent
    assert "Traceback" not in err


@pytest.mark.one_of(3)
def test_the_receipt_and_the_code_book_can_be_printed(
    capsys: pytest.CaptureFixture[str], visits: Path
) -> None:
    paid = ("--epsilon", "90", "--delta", "1e-6", "--columns", "ward, age", "--no-ledger")
    code, out, _ = ran(capsys, "codebook", "discover", visits, *paid, "--json")
    assert code == 0
    assert json.loads(out)["discovery"]["left_out"] == {}
    code, out, _ = ran(capsys, "codebook", "discover", visits, *paid, "--quiet")
    assert [field["name"] for field in json.loads(out)["schema"]["fields"]] == ["ward", "age"]


def test_wrong_arguments_are_refused_before_anything_is_charged(
    capsys: pytest.CaptureFixture[str], visits: Path
) -> None:
    wrong = {
        ("codebook", "discover", visits, "--epsilon", "1", "--delta", "0"): "delta must be above 0",
        (
            *("codebook", "discover", visits, "--epsilon", "1", "--delta", "1e-6"),
            *("--out", visits),
        ): "out must be a new file",
        ("synthesize", visits, "--epsilon", "1", "--rows", "3"): "--delta must be given without",
        (
            *("synthesize", visits, "--epsilon", "1", "--delta", "1e-6", "--rows", "3"),
            *("--thousands", ","),
        ): "--thousands cannot be used without --alphabet",
    }
    for arguments, sentence in wrong.items():
        code, out, err = ran(capsys, *arguments, "--no-ledger")
        assert (code, out) == (2, "")
        assert sentence in err
