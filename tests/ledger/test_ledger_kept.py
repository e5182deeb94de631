"""A ledger that stays open: it looks at the file anew each time, and holds nobody up."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dproo import exceptions
from dproo.ledger import Ledger, LedgerError

DICE = random.Random()  # noqa: S311 - it chooses bytes
REPLACE: dict[str, Any] = {"neighbours": "replace"}


@pytest.fixture
def where(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite3"


def charge(ledger: Ledger, epsilon: str = "0.1") -> None:
    ledger.reserve("patients", epsilon=epsilon, **REPLACE)


def flip(path: Path, place: int, bit: int) -> None:
    with path.open("r+b") as file:
        file.seek(place)
        (byte,) = file.read(1)
        file.seek(place)
        file.write(bytes([byte ^ 1 << bit]))


def test_an_edit_between_two_calls_is_found_wherever_it_is(ledger: Ledger) -> None:
    charge(ledger)
    size = ledger.path.stat().st_size
    for place in (*DICE.sample(range(size), 40), 24, 27, 40, size - 1):
        bit = DICE.randrange(8)
        flip(ledger.path, place, bit)
        with pytest.raises(LedgerError):
            DICE.choice((ledger.head, lambda: charge(ledger)))()
        flip(ledger.path, place, bit)
        ledger.head()  # leaves a connection for the next call
    charge(ledger)
    assert ledger.verify().events == 3


def test_what_another_process_writes_is_seen(ledger: Ledger) -> None:
    other = Ledger(ledger.path)
    for _ in range(3):
        charge(ledger)
        charge(other)
        assert ledger.head() == other.head()
    assert len(ledger.verify().accounts[0].lines) == 6


def test_a_file_that_takes_the_place_of_another_is_the_one_that_is_read(
    ledger: Ledger, tmp_path: Path
) -> None:
    old = Path(shutil.copy2(ledger.path, tmp_path / "old"))
    charge(ledger)
    newest = Path(shutil.copy2(ledger.path, tmp_path / "newest"))
    old.replace(ledger.path)
    for call in (ledger.show, lambda: charge(ledger)):
        with pytest.raises(exceptions.RolledBackError):
            call()
    newest.replace(ledger.path)
    charge(ledger)
    assert ledger.verify().events == 3


def test_an_open_ledger_holds_nobody_up_not_even_after_a_refusal(ledger: Ledger) -> None:
    def is_free() -> bool:
        with closing(sqlite3.connect(ledger.path, timeout=0, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            other.execute("ROLLBACK")
        return True

    charge(ledger)
    assert is_free()
    with pytest.raises(exceptions.BudgetRefused) as refused:
        charge(ledger, "5")
    assert is_free(), refused.value
    with pytest.raises(exceptions.UnknownEntryError) as refused:
        ledger.released(9)
    assert is_free(), refused.value
    charge(ledger)


def test_a_fork_opens_the_ledger_for_itself(ledger: Ledger) -> None:
    charge(ledger)
    for _ in range(3):
        child = os.fork()
        if not child:
            try:
                charge(ledger)
                os._exit(0)
            finally:
                os._exit(1)
        charge(ledger)
        assert os.waitpid(child, 0)[1] == 0
    assert ledger.verify().events == 8
