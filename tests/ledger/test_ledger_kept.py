"""A ledger that stays open: it looks at the file anew each time, and holds nobody up."""

from __future__ import annotations

import itertools
import os
import shutil
import sqlite3
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.draws import DICE, SOAK

from dproo import errors
from dproo.ledger import Ledger
from dproo.ledger.events import Event
from dproo.ledger.stores.sqlite import SqliteStore

REPLACE: dict[str, Any] = {"neighbours": "replace"}


@pytest.fixture
def where(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite3"


def charge(ledger: Ledger, epsilon: str = "0.1") -> None:
    ledger.reserve("patients", epsilon=epsilon, **REPLACE)


def edit(path: Path, old: bytes, new: bytes) -> None:
    """Change bytes in place, as an editor does, later than any write before."""
    data = path.read_bytes()
    assert old in data
    with path.open("r+b") as file:
        file.seek(data.rindex(old))
        file.write(new)
    time = path.stat().st_mtime_ns + 10**9
    os.utime(path, ns=(time, time))


def test_an_edit_between_two_calls_is_found_by_the_next(ledger: Ledger) -> None:
    ledger.reserve("patients", epsilon="0.1", request={"by": "ward"}, **REPLACE)
    for call in (ledger.head, lambda: charge(ledger), lambda: ledger.budget("patients")):
        edit(ledger.path, b"ward", b"wart")
        with pytest.raises(errors.CorruptLedgerError, match="hashes breaks at event 2"):
            call()
        edit(ledger.path, b"wart", b"ward")
        ledger.head()  # remembers what it has checked
    charge(ledger)
    assert ledger.verify().events == 3


def test_a_file_that_is_as_it_was_left_is_not_checked_again(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The chain of a long ledger takes a while, and a release opens it several times."""
    links = []
    link = Event.link

    def counted(self: Event, previous: str) -> str:
        links.append(self.seq)
        return link(self, previous)

    for _ in range(5):
        charge(ledger, "0.01")
    ledger.head()
    monkeypatch.setattr(Event, "link", counted)
    ledger.head()
    ledger.budget("patients")
    assert not links
    charge(ledger, "0.01")
    assert set(links) == {7}
    Ledger(ledger.path).head()
    assert set(links) == set(range(1, 8))


def test_what_another_process_writes_is_seen(ledger: Ledger) -> None:
    other = Ledger(ledger.path)
    for _ in range(3):
        charge(ledger)
        charge(other)
        assert ledger.head() == other.head()
    assert len(ledger.verify().accounts[0].lines) == 6


def test_what_another_process_writes_in_between_is_seen(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between a commit and the look at the file's stamp nothing is locked."""
    other = Ledger(ledger.path)
    stamp, calls = SqliteStore._stamp, itertools.count(1)

    def late(self: SqliteStore) -> tuple[int, ...]:
        if next(calls) == 2:  # the first is before the charge, the second after its commit
            monkeypatch.undo()
            charge(other)
        return stamp(self)

    monkeypatch.setattr(SqliteStore, "_stamp", late)
    charge(ledger)
    charge(ledger)
    assert ledger.verify().events == 4


def test_a_file_that_takes_the_place_of_another_is_the_one_that_is_read(
    ledger: Ledger, tmp_path: Path
) -> None:
    old = Path(shutil.copy2(ledger.path, tmp_path / "old"))
    charge(ledger)
    newest = Path(shutil.copy2(ledger.path, tmp_path / "newest"))
    old.replace(ledger.path)
    for call in (ledger.show, lambda: charge(ledger)):
        with pytest.raises(errors.RolledBackError):
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
    with pytest.raises(errors.BudgetRefused) as refused:
        charge(ledger, "5")
    assert is_free(), refused.value
    with pytest.raises(errors.UnknownEntryError) as refused:
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


@pytest.mark.one_of(3)
def test_a_fork_while_a_thread_charges_finds_no_lock_that_nobody_gives_back(
    ledger: Ledger,
) -> None:
    """A child inherits what SQLite believes of the parent's locks, unless the fork waits."""
    ledger.declare("many", budget=1000, **REPLACE)
    is_over = threading.Event()

    def charges() -> None:
        while not is_over.is_set():
            ledger.reserve("many", epsilon="0.01", **REPLACE)

    thread = threading.Thread(target=charges)
    thread.start()
    try:
        for _ in range(20):
            child = os.fork()
            if not child:
                try:
                    Ledger(ledger.path, timeout=20).reserve("many", epsilon="0.01", **REPLACE)
                    os._exit(0)
                finally:
                    os._exit(1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        is_over.set()
        thread.join()
    ledger.verify()


def interrupted(action: Callable[[], object], at: int) -> tuple[BaseException | None, int]:
    """Interrupt an action at a line of the ledger's code; return that, and how many lines ran."""
    lines = 0

    def trace(frame: Any, event: str, _: object) -> Any:
        nonlocal lines
        if f"dproo{os.sep}ledger{os.sep}" not in frame.f_code.co_filename:
            return None
        lines += event == "line"
        if lines == at and event == "line":
            sys.settrace(None)
            raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        action()
    except KeyboardInterrupt as interrupt:
        return interrupt, lines
    finally:
        sys.settrace(None)
    return None, lines


@pytest.mark.untraced
@pytest.mark.parametrize(
    "action", [Ledger.show, Ledger.head, charge], ids=["show", "head", "charge"]
)
def test_an_interrupt_leaves_the_file_to_others_though_its_traceback_is_kept(
    ledger: Ledger, action: Callable[[Ledger], object]
) -> None:
    charge(ledger)
    lines, kept = interrupted(partial(action, Ledger(ledger.path)), 0)[1], []
    for _ in range(200 if SOAK else 9):
        reading = Ledger(ledger.path)  # which reads the chain anew
        kept.append(interrupted(partial(action, reading), DICE.randint(1, lines))[0])
        with closing(sqlite3.connect(ledger.path, timeout=0, isolation_level=None)) as another:
            another.execute("BEGIN EXCLUSIVE")
            another.execute("ROLLBACK")
    assert any(kept)
    charge(ledger)
