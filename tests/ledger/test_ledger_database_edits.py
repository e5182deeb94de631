"""Every edit of a ledger in PostgreSQL is found: of its events and of the lock beside them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.draws import DICE, SOAK
from support.edits import randomly
from support.stores import emptied, put_rows, rows_of, unguarded

from dproo.ledger import Ledger, LedgerError
from dproo.ledger.account import Replay
from dproo.ledger.events import Event
from dproo.ledger.stores.postgresql import PostgresqlSession

EDITS = 10_000 if SOAK else 200
BESIDE = ["UPDATE head SET seq = seq - 1", "UPDATE head SET seq = seq + 1"]


@dataclass
class Marked:
    """A connection whose parameters are written as question marks."""

    connection: Any

    def execute(self, query: str, parameters: tuple[Any, ...] = ()) -> Any:
        return self.connection.execute(query.replace("?", "%s"), parameters or None)


@dataclass
class Original:
    """A ledger of which nothing is remembered elsewhere, its rows, and who can change them."""

    ledger: Ledger
    rows: Any
    administrator: Any

    @contextmanager
    def edited(self) -> Iterator[Ledger]:
        """Yield the ledger with one random edit that the database's own constraints allow."""
        import psycopg  # noqa: PLC0415 - not for every worker

        connection = self.administrator
        while rows_of(connection) == self.rows:
            try:
                (randomly if DICE.random() < 0.7 else beside)(Marked(connection))
            except psycopg.Error:
                connection.rollback()
        connection.commit()
        try:
            yield self.ledger
        finally:
            put_rows(connection, self.rows)
            connection.commit()


@pytest.fixture
def original(
    ledger_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Original]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "before"))
    made = Ledger(emptied(ledger_database))
    made.declare("patients", budget="2", neighbours="replace")
    made.declare("visits", budget="1/3", neighbours="add-remove", records_per_person=4)
    for epsilon in ("0.5", "1/3", "0.25"):
        entry = made.reserve(
            "patients", epsilon=epsilon, neighbours="replace", request={"k": 9, "size": 1}
        )
        made.record(entry, {"values": ["flu"], "worst_alpha": 0.25})
    made.reserve("visits", epsilon="0.1", neighbours="add-remove", records_per_person=4)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "after"))
    with unguarded(ledger_database) as administrator:
        administrator.execute("SET SESSION session_replication_role = replica")
        administrator.execute("SET SESSION search_path = dproo")
        administrator.commit()
        yield Original(made, rows_of(administrator), administrator)


def beside(connection: Marked) -> None:
    """Edit what the functions keep besides the chain."""
    connection.execute(DICE.choice(BESIDE))


def is_found(made: Ledger) -> bool:
    try:
        made.verify()
    except LedgerError:
        return True
    return False


@pytest.mark.one_of(3)
@pytest.mark.untraced
def test_random_edits_are_all_found(original: Original) -> None:
    for i in range(EDITS):
        with original.edited() as made:
            assert is_found(made)
        if i % 50 == 0:  # what finds everything must not find fault with the original
            assert not is_found(made)


@pytest.mark.parametrize("check", ["chain", "rules", "end"])
def test_without_a_check_some_edits_are_missed(
    original: Original, monkeypatch: pytest.MonkeyPatch, check: str
) -> None:
    if check == "chain":
        monkeypatch.setattr(Event, "link", lambda self, _: self.hash)
    elif check == "rules":
        monkeypatch.setattr(Event, "link", lambda self, _: self.hash)
        monkeypatch.setattr(Replay, "_apply", lambda *_: None)
    else:
        monkeypatch.setattr(PostgresqlSession, "require_intact", lambda _: None)
    for _ in range(1_000):
        with original.edited() as made:
            if not is_found(made):
                return
    pytest.fail("every edit was found without the check")
