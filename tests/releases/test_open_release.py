"""A release from an open alphabet: what it costs, what it shows, what it refuses."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support import commands
from support.releasing import sample

from dproo import Ledger
from dproo.core.numbers import exp_upper
from dproo.ledger import LedgerError
from dproo.mechanisms import ADD_REMOVE
from dproo.releases.open_value import OpenRequest
from dproo.releases.protection import Protection

CITIES = ["LAX"] * 600 + ["JFK"] * 399 + ["canary"]
FLIGHTS = [{"plane": i % 50, "dest": city} for i, city in enumerate(CITIES)]
OPEN: dict[str, Any] = {"alphabet": "open", "epsilon": 1, "delta": "1e-6"}


def test_what_many_have_is_shown_and_what_one_has_never_is() -> None:
    found = {sample(CITIES, **OPEN).value for _ in range(60)}
    assert {"LAX", "JFK"} <= found <= {"LAX", "JFK", "other"}


def test_the_ledger_charges_epsilon_and_delta(tmp_path: Path) -> None:
    book = Ledger.create(tmp_path / "ledger.sqlite3")
    book.declare("pure", budget="2", neighbours="replace")
    book.declare("flights", budget="2", neighbours="replace", delta="1e-6")
    with pytest.raises(LedgerError, match="delta must be 0 as declared"):
        sample(CITIES, ledger=book, dataset="pure", **OPEN)
    release = sample(CITIES, ledger=book, dataset="flights", **OPEN)
    assert (str(release.receipt.epsilon), release.receipt.details["delta"]) == (
        "1",
        "1/1000000",
    )
    assert Fraction(release.receipt.certificate["delta"]) <= Fraction(1, 10**6)
    with pytest.raises(LedgerError, match="delta"):
        sample(CITIES, ledger=book, dataset="flights", **OPEN)
    assert b"canary" not in (tmp_path / "ledger.sqlite3").read_bytes()


def test_under_add_remove_no_number_of_records_is_told() -> None:
    receipts = [
        sample(cells, neighbours="add-remove", **OPEN).receipt.as_dict() | {"values": []}
        for cells in (CITIES, CITIES * 2)
    ]
    assert "n" not in receipts[0]
    assert receipts[0] == receipts[1]


def test_people_and_a_minimum_of_them_are_respected() -> None:
    cells = pytest.importorskip("polars").DataFrame(FLIGHTS)
    release = sample(cells, column="dest", person="plane", minimum_people=51, **OPEN)
    assert release.value == "other"
    assert release.receipt.n == 50
    assert release.receipt.protects == "one person, whatever they contribute"


def test_several_records_of_a_person_share_epsilon_and_delta_and_count_as_one() -> None:
    request = OpenRequest(
        epsilon=Fraction(1),
        delta=Fraction(1, 10**6),
        protection=Protection(neighbours=ADD_REMOVE, records=3),
        minimum_people=4,
    )
    law = request.sampler_for(1)
    assert law.epsilon == Fraction(1, 3)
    growth = exp_upper(law.epsilon)
    assert law.delta * (1 + growth + growth**2) <= request.delta * (1 + Fraction(1, 10**9))
    assert law.first == 10  # three people have nine records at most


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"delta": None}, "delta must be at least 1e-18"),
        ({"sampler": "roo"}, "sampler must be left out with open values"),
        ({"minimum_people": 0}, "minimum_people must be at least 1"),
    ],
)
def test_what_does_not_go_together_is_refused(choices: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        sample(CITIES, **(OPEN | choices))


def test_the_command_line_releases_and_plans_an_open_alphabet(tmp_path: Path) -> None:
    path = tmp_path / "flights.csv"
    path.write_text("\n".join(["plane,dest", *(f"{i % 50},{c}" for i, c in enumerate(CITIES))]))
    command = ["sample", str(path), "--column", "dest", "--alphabet", "open", "--epsilon", "1"]
    done = commands.dproo(*command, "--delta", "1e-6", "--no-ledger")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() in {"LAX", "JFK", "other"}
    assert "open: text of 2 or more" in done.stderr
    done = commands.dproo(*command, "--delta", "1e-6", "--no-ledger", "--json", "--person", "plane")
    assert json.loads(done.stdout)["alphabet"] == "open"
    assert commands.dproo(*command, "--no-ledger").returncode == 2
    done = commands.dproo(*command, "--delta", "1e-6", "--no-ledger", "--as", "date")
    assert done.returncode == 2
    assert "--as cannot be used with --alphabet open" in done.stderr
    asked = "plan", "--alphabet", "open", "--epsilon", "1", "--delta", "1e-9"
    done = commands.dproo(*asked, "--n", "100000")
    assert "fewer than 2 records have never appears" in done.stdout
    assert json.loads(commands.dproo(*asked, "--json").stdout)["proportional"] == 25
    done = commands.dproo(*asked, "--k", "3")
    assert done.returncode == 2
    assert "requires --epsilon and --delta" in done.stderr
