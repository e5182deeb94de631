"""A column may be called like a field that a receipt must not have."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.draws import some

import dproo
from dproo import Dataset, Ledger
from dproo.ledger.rules import private_names
from dproo.mechanisms import ADD_REMOVE, REPLACE

pytestmark = pytest.mark.one_of(3)

NAMES = sorted(private_names(ADD_REMOVE) | {"values", "other", "left_out", "rows", "columns"})
LETTERS = ["x", "y"]


def book(name: str) -> dict[str, Any]:
    """Return the code book of a column with this name, and of another one."""
    described = [
        {"name": each, "type": "string", "categories": LETTERS} for each in (name, "second")
    ]
    return {"schema": {"fields": described}}


FOUND = {"epsilon": 40, "delta": "1e-3"}
RELEASES: dict[str, Callable[[Dataset, str], Any]] = {
    "value": lambda data, name: data.value(name, LETTERS, epsilon=1),
    "open": lambda data, name: data.value(name, "open", **FOUND),
    "product": lambda data, name: data.value(None, {name: LETTERS, "second": LETTERS}, epsilon=1),
    "groups": lambda data, name: data.values(
        "second", LETTERS, by=dproo.Groups(name, LETTERS), epsilon=1
    ),
    "row": lambda data, name: data.row(book(name), epsilon=1),
    "rows": lambda data, name: data.rows(book(name), size=20, epsilon=1),
    "table": lambda data, name: data.synthesize(book(name), epsilon=1),
    "codebook": lambda data, name: data.codebook(columns=[name, "second"], **FOUND),
    "found table": lambda data, name: data.synthesize(columns=[name, "second"], **FOUND),
    "left out": lambda data, name: data.codebook(columns=["own", name, "second"], **FOUND),
}


@pytest.mark.parametrize("what", some(RELEASES, one_of=2))
@pytest.mark.parametrize("neighbours", [REPLACE, ADD_REMOVE])
def test_a_column_may_have_any_name(tmp_path: Path, what: str, neighbours: Any) -> None:
    ledger = Ledger.create(tmp_path / "ledger.sqlite3")
    ledger.declare("visits", budget="10000", delta="0.9", neighbours=neighbours)
    for name in NAMES:
        rows = [{name: "x", "second": "y", "own": f"{place} a b"} for place in range(200)]
        data = dproo.open(rows, ledger=ledger, dataset="visits", neighbours=neighbours)
        RELEASES[what](data, name)
    (account,) = ledger.verify().accounts
    assert [line.is_recorded for line in account.lines] == [True] * len(NAMES)


@pytest.mark.parametrize("place", ["other", "left_out"])
@pytest.mark.parametrize("name", sorted(private_names(REPLACE)))
def test_within_what_is_said_of_columns_fields_are_still_looked_at(
    tmp_path: Path, place: str, name: str
) -> None:
    ledger = Ledger.create(tmp_path / "ledger.sqlite3")
    ledger.declare("visits", budget="1", neighbours=REPLACE)
    entry = ledger.reserve("visits", epsilon="1", neighbours=REPLACE)
    with pytest.raises(ValueError, match=f"^receipt must be public, got a field '{name}'"):
        ledger.record(entry, {"values": ["x"], place: {"ward": {name: 1}}})
