"""Epsilon at the ends of its range: a refusal says whose epsilon it is, as one would write it."""

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

import dproo

pytestmark = pytest.mark.one_of(3)

BOOK = {
    "schema": {
        "fields": [
            {"name": "w", "type": "string", "categories": ["a", "b"]},
            {"name": "v", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}},
        ]
    }
}
ROWS = [{"w": "a", "v": i % 9, "g": i % 2} for i in range(90)]
GROUPS = dproo.Groups("g", range(2))
SAMPLERS = ["auto", "roo", "ls-roo", "bal-roo", "ds-roo", "subrr"]
KINDS: dict[str, Callable[[dproo.Dataset, Any], Any]] = {
    **{
        name: lambda data, epsilon, name=name: data.values(
            "w", ["a", "b"], epsilon=epsilon, sampler=name
        )
        for name in SAMPLERS
    },
    "values": lambda data, epsilon: data.values("w", ["a", "b"], epsilon=epsilon, size=3),
    "groups": lambda data, epsilon: data.values("w", ["a", "b"], epsilon=epsilon, by=GROUPS),
    "open": lambda data, epsilon: data.value("w", "open", epsilon=epsilon, delta="1e-6"),
    **{
        f"{size} {network}": lambda data, epsilon, size=size, network=network: data.rows(
            BOOK, epsilon=epsilon, size=size, network=network
        )
        for size in (1, 3)
        for network in ("learned", "independent")
    },
    "rows by group": lambda data, epsilon: data.rows(
        BOOK, epsilon=epsilon, by=GROUPS, network="independent"
    ),
    "table": lambda data, epsilon: data.synthesize(BOOK, epsilon=epsilon),
    "found": lambda data, epsilon: data.codebook(epsilon=epsilon, delta="1e-6", columns=["w"]),
    "plan": lambda _, epsilon: dproo.plan(codebook=BOOK, n=90, epsilon=epsilon),
}


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("records", [10**32, 10**60, 10**400])
@pytest.mark.parametrize("kind", KINDS)
def test_no_release_fails_for_the_records_of_a_person_once_it_is_charged(kind, records, neighbours):
    protection = dproo.Protection(neighbours=neighbours, records=records)
    for epsilon in ("1e-12", "1", "500"):
        with suppress(ValueError):  # refused before the charge
            KINDS[kind](dproo.open(ROWS, neighbours=protection), epsilon)


@pytest.mark.parametrize("records", [1, 3])
@pytest.mark.parametrize("epsilon", ["1e-30", "3e-30", "1000", "600"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_refusal_names_the_epsilon_that_was_given_or_says_whose_it_is(kind, epsilon, records):
    data = dproo.open(ROWS, neighbours=dproo.Protection(records=records))
    try:
        KINDS[kind](data, epsilon)
    except (ValueError, dproo.ReleaseError) as refused:
        text = str(refused)
        assert "Fraction" not in text
        assert len(text) < 250
        said = re.search(r"got ('?)([^ ]+?)\1\.(?: |$)", text)
        if said and text.startswith("epsilon must"):
            assert float(said[2]) == float(epsilon), text  # the rest is a share, and says so


def test_private_groups_spend_twice_with_or_without_a_ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    ledger = dproo.Ledger.create(tmp_path / "ledger.sqlite3")
    ledger.declare("d", budget=5000, neighbours="replace")
    for charge in ({}, {"ledger": ledger, "dataset": "d"}):
        for kind in ("groups", "rows by group"):
            with pytest.raises(ValueError, match=r"be at most 500 with private groups, got 600\."):
                KINDS[kind](dproo.open(ROWS, **charge), 600)
            KINDS[kind](dproo.open(ROWS, **charge), 500)


def test_a_share_that_is_given_is_named():
    data = dproo.open(ROWS)
    with pytest.raises(ValueError, match=r"^shares must be between 1e-30 and 1000, got '1e-31'"):
        data.row(BOOK, epsilon=1, shares={"w": 1, "v": "1e-31"}, network="independent")
    with pytest.raises(ValueError, match="epsilon must leave at least 1e-30 for every column"):
        data.row(BOOK, epsilon="1e-30", network="independent")
