"""The room that a charge sets aside is enough for its record, and no more than a ledger takes."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from support.draws import DICE

import dproo
from dproo.ledger import Ledger
from dproo.ledger.events import canonical
from dproo.releases.request import room_of
from dproo.schema.axis import Letters

pytestmark = pytest.mark.one_of(3)

MOST = 1 << 24
SIGNS = ["a", "é", "\x7f", '"', "\\", "\U0001f600", "\u2028", "漢"]


@pytest.fixture
def rooms(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return what was set aside for each release, and then what it needed."""
    found: list[int] = []
    reserve, record = Ledger.reserve, Ledger.record

    def reserving(self: Ledger, *names: Any, room: int, **options: Any) -> Any:
        found.append(room)
        return reserve(self, *names, room=room, **options)

    def recording(self: Ledger, entry: Any, receipt: dict[str, Any]) -> Any:
        stored = record(self, entry, receipt)
        found.append(len(canonical(stored)))
        return stored

    monkeypatch.setattr(Ledger, "reserve", reserving)
    monkeypatch.setattr(Ledger, "record", recording)
    return found


def letters_of(sign: str, length: int) -> list[str]:
    return [sign * length, f"b{sign}" * (length // 2), sign]


def charged(data: Any, tmp_path: Path) -> dproo.Dataset:
    book = dproo.Ledger.create(tmp_path / "ledger.sqlite3")
    book.declare("x", budget="1000", delta="0.1", neighbours="replace")
    return dproo.open(data, ledger=book, dataset="x")


def named(sign: str, count: int) -> list[dict[str, Any]]:
    """Return columns with names, and other cells, that are as long as they may be."""
    long = sign if sign.isprintable() else "n"
    return [
        {
            "name": f"{at:03}" + long * 200,
            "type": "string",
            "categories": ["a", "b"],
            "other": sign * 200,
        }
        for at in range(count)
    ]


MANY = ["learned", "table", "found", "discovered"]


def released_of_many(kind: str, sign: str, tmp_path: Path) -> Any:
    """Release from many columns with long names."""
    book = {"schema": {"fields": named(sign, 9 if kind == "found" else 30)}}
    columns = [field["name"] for field in book["schema"]["fields"]]
    letters = ["a"] * 9 + ["b", "c"]
    data = charged([{n: DICE.choice(letters) for n in columns} for _ in range(200)], tmp_path)
    if kind == "learned":
        return data.row(book, epsilon=100)
    if kind == "table":
        network = DICE.choice(["auto", "independent"])
        return data.synthesize(book, epsilon=100, network=network)
    if kind == "found":
        return data.synthesize(columns=columns, epsilon=100, delta="1e-3")
    return data.codebook(columns=columns, epsilon=100, delta="1e-3")


def released(kind: str, sign: str, length: int, times: int, tmp_path: Path) -> Any:
    """Release many long letters; a high epsilon shows those that the data has."""
    letters = letters_of(sign, length)
    cells = [letters[0]] * times
    name = sign * 9 if sign.isprintable() else "name"
    if kind == "values":
        return charged(cells, tmp_path).values(None, letters, size=times, epsilon=100)
    if kind == "columns":
        rows = [{name: cell, "age": 119, "weight": 0.5} for cell in cells]
        alphabet = {name: letters, "age": range(120), "weight": "bins:0,0.25,1"}
        return charged(rows, tmp_path).values(None, alphabet, size=times, epsilon=100)
    if kind == "groups":
        rows = [{name: cell, "group": i} for i, cell in enumerate(cells)]
        by = dproo.Groups("group", range(times), are_public=True)
        return charged(rows, tmp_path).values(name, letters, epsilon=100, by=by)
    if kind in MANY:
        return released_of_many(kind, sign, tmp_path)
    columns = [f"{name}{i}" for i in range(9)]
    rows = [dict.fromkeys(columns, cell) | {"weight": 0.5} for cell in cells]
    fields = [{"name": each, "type": "string", "categories": letters} for each in columns]
    if kind == "others":
        rows = [dict.fromkeys(columns, "outside") | {"weight": 0.5} for _ in cells]
        fields = [field | {"categories": ["b"], "other": letters[0]} for field in fields]
    fields.append({"name": "weight", "type": "number", "bins": [0, 0.25, 1]})
    book = {"schema": {"fields": fields}}
    is_within = DICE.random() < 0.5
    shares = dict.fromkeys([*columns, "weight"], 10)  # else they would be of a table
    return charged(rows, tmp_path).rows(
        book, size=times, epsilon=100, network="independent", shares=shares, within_bins=is_within
    )


KINDS = ["values", "columns", "groups", "rows", "others"]


@pytest.mark.parametrize(
    ("kind", "sign"), [*product(KINDS, SIGNS), *((kind, "\U0001f600") for kind in MANY)]
)
def test_no_receipt_needs_more_room_than_was_set_aside(
    kind: str, sign: str, tmp_path: Path, rooms: list[int]
) -> None:
    released(kind, sign, DICE.choice([2, 20, 900]), DICE.choice([1, 3, 40]), tmp_path)
    set_aside, needed = rooms
    assert needed <= set_aside <= MOST


@pytest.mark.parametrize("kind", KINDS)
def test_a_receipt_that_a_ledger_might_not_take_is_refused_before_the_charge(
    kind: str, tmp_path: Path, rooms: list[int]
) -> None:
    with pytest.raises(ValueError, match=r"receipt must have at most 16,777,216 bytes.* fewer"):
        released(kind, "é", MOST // 6 // 100, 101, tmp_path)
    assert rooms == []


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_many_short_records_have_room_with_the_blanks_that_a_ledger_counts(columns: int) -> None:
    names = [f"column{i}" for i in range(columns)]
    letters = Letters.of(["code001", "code002"])
    records = [dict.fromkeys(names, "code002")] * 1000
    assert len(json.dumps(records)) <= room_of(1000, names, [letters] * columns)


def test_every_integer_that_may_be_a_letter_can_be_recorded(tmp_path: Path) -> None:
    longest = 10**308 - 1
    for letter in (longest, -longest):
        dataset = charged([{"c": letter, "g": letter}] * 50, tmp_path / str(letter < 0))
        assert dataset.value("c", [1, letter], epsilon=50).value == letter
        groups = dproo.Groups("g", [1, letter])
        assert dataset.values("c", ["a"], by=groups, epsilon=1).values[1]["g"] == letter
    with pytest.raises(ValueError, match="letter must have at most 308 digits"):
        dataset.value("c", [1, longest + 1], epsilon=1)
    assert dataset.budget.spent == 51 * 10**9 + 10**9  # private groups cost twice
