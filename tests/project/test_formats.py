"""Ledgers, receipts and models of every version that was released can still be read."""

import gzip
import json
from pathlib import Path

import pytest
from support.commands import dproo

import dproo as package
from dproo.ledger import in_epsilon

RELEASED = sorted((Path(__file__).parent / "formats").iterdir())
"""A folder for each version, with what it wrote; none of them is ever changed."""


@pytest.fixture(params=RELEASED, ids=lambda folder: folder.name)
def ledger(request, tmp_path):
    """Return the ledger of a version: 3 declared, 1 spent on a value and 1 on a private table."""
    path = tmp_path / "ledger.sqlite3"
    path.touch(0o600)
    path.write_bytes(gzip.decompress((request.param / "ledger.sqlite3.gz").read_bytes()))
    return package.Ledger(path)


def test_a_ledger_is_intact_and_knows_what_was_spent(ledger):
    assert ledger.verify().events == 5
    (budget,) = ledger.show()
    assert (budget.dataset, in_epsilon(budget.left)) == ("admissions", "1")


def test_a_ledger_takes_another_charge_and_refuses_the_next(ledger, tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("code\na\nb\n", encoding="utf-8")
    opened = package.open(data, ledger=ledger, dataset="admissions")
    assert opened.value("code", ["a", "b"], epsilon=1).value in {"a", "b", "other"}
    with pytest.raises(package.BudgetRefused):
        opened.value("code", ["a", "b"], epsilon=1)


@pytest.mark.parametrize("folder", RELEASED, ids=lambda folder: folder.name)
def test_a_receipt_still_says_the_same(folder):
    receipt = json.loads((folder / "receipt.json").read_text(encoding="utf-8"))
    assert (receipt["schema_version"], receipt["epsilon"], receipt["n"]) == (1, "1", 4000)
    sampler = package.mechanism(receipt["sampler"], epsilon="1", n=receipt["n"], k=receipt["k"])
    again = package.certify(sampler)
    assert receipt["certificate"]["ratio"] == str(again.ratio)


@pytest.mark.parametrize("folder", RELEASED, ids=lambda folder: folder.name)
def test_rows_still_come_from_a_model(folder):
    done = dproo("rows", str(folder / "model.json"), "--rows", "3")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 4
