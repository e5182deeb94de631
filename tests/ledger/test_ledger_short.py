"""The short way to charge a shared ledger: two messages, and every refusal as by the long way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from support.databases import role_of
from support.stores import emptied, unguarded, url_of

from dproo import exceptions
from dproo.ledger import Ledger, Limits
from dproo.ledger.chain import Event
from dproo.ledger.known import Known
from dproo.ledger.store import Standing

REPLACE: dict[str, Any] = {"neighbours": "replace"}


@pytest.fixture
def where(ledger_database: str) -> str:
    return emptied(ledger_database)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every message that is sent to a server."""
    import psycopg  # noqa: PLC0415 - not for every worker

    queries: list[str] = []
    execute = psycopg.Connection.execute

    def noted(self: Any, query: Any, *rest: Any, **options: Any) -> Any:
        queries.append(str(query))
        return execute(self, query, *rest, **options)

    monkeypatch.setattr(psycopg.Connection, "execute", noted)
    return queries


def charge(ledger: Ledger, epsilon: str = "0.01", **options: Any) -> Any:
    return ledger.reserve("patients", epsilon=epsilon, **REPLACE | options)


def test_a_charge_and_its_record_take_two_messages_each(ledger: Ledger, sent: list[str]) -> None:
    charge(ledger)
    sent.clear()
    entry = charge(ledger)
    assert [query.split()[0] for query in sent] == ["BEGIN", "COMMIT"]
    ledger.record(entry, {"values": ["flu"]})
    assert [query.split()[0] for query in sent] == ["BEGIN", "COMMIT"] * 2
    assert ledger.verify().events == 4


def test_what_others_charged_since_counts(ledger: Ledger, ledger_database: str) -> None:
    spenders = [Ledger(role_of(ledger_database, name)) for name in ("bob", "eve")]
    for turn in range(9):
        charge(spenders[turn % 2], "0.1")
    for spender in spenders:
        with pytest.raises(exceptions.BudgetRefused, match=r"at most the 0\.1 left") as refused:
            charge(spender, "0.2")
        assert (refused.value.asked, refused.value.left) == (2 * 10**8, 10**8)
    charge(spenders[0], "0.1")
    assert ledger.verify().accounts[0].left == 0


def test_a_spender_who_was_away_for_long_finds_back(ledger: Ledger, ledger_database: str) -> None:
    charge(ledger)
    with unguarded(ledger_database) as connection:
        connection.execute(
            "SELECT reserve('patients', '1/1000', NULL, md5(i::text), '{}')"
            " FROM generate_series(1, 150) AS i"
        )
    charge(ledger)
    (account,) = ledger.verify().accounts
    assert account.spent == 170 * 10**6


RULES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "too little is left": ({}, {"epsilon": "0.995"}),
    "another relation": ({}, {"neighbours": "add-remove"}),
    "another unit": ({}, {"request": {"unit": "person"}}),
    "a delta": ({}, {"delta": "1e-9"}),
    "a release too large": ({"per_release": "0.1"}, {"epsilon": "0.2"}),
    "a day too large": ({"per_day": "0.1"}, {"epsilon": "0.095"}),
    "a spender too greedy": ({"per_spender": "0.1"}, {"epsilon": "0.095"}),
    "another column": ({"columns": ["sex"]}, {"request": {"columns": ["age"]}}),
}


@pytest.mark.parametrize("refusal", RULES)
def test_a_refusal_reads_as_by_the_long_way(where: str, refusal: str) -> None:
    limits, asked = RULES[refusal]
    ledger = Ledger(where)
    ledger.declare("patients", budget=1, limits=Limits(**limits), **REPLACE)
    right: dict[str, Any] = {"request": {"columns": ["sex"]}}
    charge(ledger, **right)
    said = []
    for one in (ledger, Ledger(where)):
        with pytest.raises(exceptions.LedgerError) as refused:
            charge(one, **right | asked)
        said.append(repr(refused.value))
    assert said[0] == said[1]
    assert ledger.verify().events == 2


@pytest.mark.parametrize(
    ("limits", "is_short"),
    [({"per_release": "0.3", "until": "2099-01-31"}, True), ({"per_day": "0.5"}, False)],
)
def test_nothing_is_written_ahead_that_a_rule_of_history_decides(
    where: str, sent: list[str], limits: dict[str, Any], *, is_short: bool
) -> None:
    ledger = Ledger(where)
    ledger.declare("patients", budget=1, limits=Limits(**limits), **REPLACE)
    charge(ledger, "0.2")
    sent.clear()
    charge(ledger, "0.3")
    assert (len(sent) == 2) == is_short
    charge_more = ledger.limited(Limits(per_day="0.55" if is_short else "0.5"))
    with pytest.raises(exceptions.RuleRefused, match="per_day"):
        charge(charge_more, "0.1")
    assert "ROLLBACK" not in sent[:-1]
    assert ledger.verify().accounts[0].spent == 5 * 10**8


def test_what_is_private_is_not_even_sent(ledger: Ledger, sent: list[str]) -> None:
    entry = charge(ledger)
    for receipt in ({"counts": "CANARY"}, {"values": object()}):
        with pytest.raises(ValueError, match="receipt must be"):
            ledger.record(entry, receipt)
    assert not any("CANARY" in query for query in sent)
    ledger.record(entry, {"values": ["flu"]})


def test_sums_that_an_administrator_has_lowered_are_not_believed(
    ledger: Ledger, ledger_database: str
) -> None:
    charge(ledger, "0.9")
    with unguarded(ledger_database) as connection:
        connection.execute("UPDATE budget SET spent_nano = 0")
    for one in (ledger, Ledger(url_of(ledger))):
        with pytest.raises(exceptions.BudgetRefused, match=r"at most the 0\.1 left"):
            charge(one, "0.2")


def test_the_database_itself_makes_a_charge_durable(ledger: Ledger, ledger_database: str) -> None:
    import psycopg  # noqa: PLC0415 - not for every worker

    del ledger
    url = role_of(ledger_database, "bob", synchronous_commit="off")
    with psycopg.connect(url) as connection:
        connection.execute("SELECT dproo.reserve('patients', '1/4', NULL, repeat('ab', 16), '{}')")
        assert connection.execute("SHOW synchronous_commit").fetchone() == ("on",)


def linked(previous: Event, **changes: Any) -> Event:
    event = replace(previous, seq=previous.seq + 1, kind="reserved", **changes)
    return replace(event, hash=event.link(previous.hash))


FAULTS: dict[str, Callable[[Event], Event]] = {
    "a smaller charge": lambda event: replace(event, nano=1),
    "another hash": lambda event: replace(event, hash="a" * 64),
    "another number": lambda event: replace(event, seq=event.seq + 1),
}


def test_only_what_follows_in_the_chain_is_added_to_what_is_known() -> None:
    first = Event(
        seq=1, kind="declared", dataset="patients", entry=0, nano=10**9, body="{}", hash="b" * 64
    )
    stands = Standing(declared=first, first=None, spent=0)
    known = Known(origin=first, last=first, stands=stands)
    second = linked(first, nano=5)
    third = linked(second, nano=7, dataset="visits")
    after = known.after([second, third])
    assert after is not None
    assert (after.last, after.stands.first, after.stands.spent) == (third, second, 5)
    for fault in FAULTS.values():
        assert known.after([fault(second), third]) is None
    assert known.after([third]) is None
