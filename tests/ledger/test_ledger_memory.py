"""What a ledger has lost is found by what was remembered elsewhere, and is charged again."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from support.commands import dproo
from support.stores import copy_of, put_back, url_of

from dproo import errors
from dproo.core import paths
from dproo.ledger import Ledger, accept_restore, copy, in_epsilon, witness
from dproo.ledger.events import Draft
from dproo.ledger.stores import sqlite

pytestmark = pytest.mark.one_of(3)

REPLACE: dict[str, Any] = {"neighbours": "replace"}
FILE = pytest.mark.parametrize("where", ["file"], indirect=True)
NO_NUMBERS = (-1, 1.5, True, "1", None, 2**63, 10**30)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give every test an empty memory, and return its folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "dproo"


def charge(ledger: Ledger, epsilon: str = "0.1", **delta: str) -> int:
    return ledger.reserve("patients", epsilon=epsilon, **REPLACE, **delta).number


def left(ledger: Ledger) -> str:
    return in_epsilon(ledger.show()[0].left)


def test_an_old_copy_put_back_is_refused_by_every_call(ledger: Ledger) -> None:
    old = copy_of(ledger)
    charge(ledger, "0.75")
    newest = copy_of(ledger)
    put_back(ledger, old)
    calls = [
        lambda: Ledger(ledger.path),
        ledger.show,
        ledger.verify,
        ledger.export,
        ledger.head,
        lambda: ledger.released(2),
        lambda: charge(ledger),
        lambda: ledger.declare("visits", budget=1, **REPLACE),
    ]
    for call in calls:
        with pytest.raises(errors.RolledBackError) as refused:
            call()
        assert str(refused.value) == (
            f"the ledger {ledger.path} lacks 1 of its events, the last one of 'patients': it is an "
            "old copy, or a crash lost them. Put the newest copy back, or continue with this one: "
            "'dproo ledger accept-restore' charges again what was lost."
        )
    put_back(ledger, newest)
    assert left(ledger) == "0.25"


@FILE
def test_a_release_from_an_old_copy_is_refused_on_the_command_line(ledger: Ledger) -> None:
    old = copy_of(ledger)
    charge(ledger)
    put_back(ledger, old)
    ours = ["--ledger", str(ledger.path)]
    for command in (["show"], ["verify"]):
        done = dproo("ledger", *command, *ours)
        assert (done.returncode, done.stdout) == (2, "")
        assert "lacks 1 of its events" in done.stderr
    done = dproo("ledger", "accept-restore", *ours)
    assert (done.returncode, done.stdout) == (0, "patients: 0.1 charged again\n")
    done = dproo("ledger", "show", *ours)
    assert "patients: 0.9 left of 1" in done.stdout
    assert "0.1  lost with an older copy, charged again" in done.stdout


@FILE
def test_a_journal_rolled_back_over_later_charges_is_found(ledger: Ledger, tmp_path: Path) -> None:
    """As in a container: the journal of a killed process is elsewhere, and comes back later."""
    code = (
        "import os, signal, sys; from dproo.ledger import Ledger\n"
        "from dproo.ledger.stores import sqlite\n"
        "def die(connection, path):\n"
        "    connection.execute('PRAGMA cache_spill = 1')\n"
        "    connection.execute('PRAGMA cache_size = 1')\n"
        "    connection.execute('CREATE TABLE more (x)')\n"
        "    connection.execute('INSERT INTO more VALUES (zeroblob(300000))')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "sqlite._commit = die\n"
        "Ledger(sys.argv[1]).reserve('patients', epsilon='0.1', neighbours='replace',"
        " request={'filler': 'x' * 200_000})"
    )
    before = copy_of(ledger)
    done = subprocess.run([sys.executable, "-c", code, str(ledger.path)], check=False)
    assert done.returncode == -signal.SIGKILL
    journal = Path(f"{ledger.path}-journal")
    journal.rename(tmp_path / "elsewhere")
    ledger.path.write_bytes(before)  # its pages never reached this disk
    charge(ledger, "0.5")
    (tmp_path / "elsewhere").rename(journal)
    with pytest.raises(errors.RolledBackError, match="lacks 1 of its events"):
        ledger.verify()
    assert not journal.exists()
    assert copy_of(ledger) == before, "SQLite has rolled the charge back"


@FILE
def test_of_two_copies_only_one_can_be_charged(ledger: Ledger, tmp_path: Path) -> None:
    twin = Ledger(Path(shutil.copy2(ledger.path, tmp_path / "twin.sqlite3")))
    charge(ledger)
    for call in (twin.show, lambda: charge(twin)):
        with pytest.raises(errors.RolledBackError):
            call()
    charge(ledger)


def test_a_ledger_goes_to_another_machine_and_comes_back(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    charge(ledger)
    here = os.environ["XDG_STATE_HOME"]
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "there"))
    charge(ledger)
    old = copy_of(ledger)
    charge(ledger)
    newest = copy_of(ledger)
    put_back(ledger, old)
    with pytest.raises(errors.RolledBackError):
        ledger.show()
    put_back(ledger, newest)
    monkeypatch.setenv("XDG_STATE_HOME", here)
    charge(ledger)
    assert left(ledger) == "0.6"


def test_a_death_between_commit_and_note_locks_nobody_out(ledger: Ledger, state: Path) -> None:
    code = (
        "import os, signal, sys; from dproo.ledger import Ledger, ledger\n"
        "ledger.write_notes = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)\n"
        "Ledger(sys.argv[1]).reserve('patients', epsilon='0.1', neighbours='replace')"
    )
    done = subprocess.run([sys.executable, "-c", code, url_of(ledger)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert left(ledger) == "0.9"
    (notes,) = state.iterdir()
    assert len(notes.read_text().splitlines()) == 1
    charge(ledger)
    assert len(notes.read_text().splitlines()) == ledger.verify().events == 3


def test_a_note_that_a_crash_cut_off_is_written_again(ledger: Ledger, state: Path) -> None:
    charge(ledger)
    (notes,) = state.iterdir()
    notes.write_bytes(notes.read_bytes()[:-9])
    old = copy_of(ledger)
    charge(ledger)
    put_back(ledger, old)
    with pytest.raises(errors.RolledBackError, match="lacks 1 of"):
        ledger.show()


@pytest.mark.parametrize(
    "spoilt",
    [
        *({name: value} for name in ("seq", "nano", "atto") for value in NO_NUMBERS),
        *({"hash": value} for value in (1, None, "", "ab", "AB" * 32, "ab" * 33)),
        *({"dataset": value} for value in (1, None, ["patients"])),
        {"ledger": 1},
        {"more": 1},
    ],
    ids=str,
)
def test_a_line_that_no_ledger_wrote_is_not_a_note(
    ledger: Ledger, state: Path, spoilt: dict[str, Any]
) -> None:
    """Charged again, it would give budget back, or leave a ledger that is corrupt."""
    charge(ledger)
    (notes,) = state.iterdir()
    last = json.loads(notes.read_text().splitlines()[-1])
    with notes.open("a") as file:
        file.write(json.dumps({**last, "seq": 3, "hash": "ab" * 32, **spoilt}) + "\n")
        file.write(f'["{last["ledger"]}", {"[" * 100_000}\n')
    assert left(ledger) == "0.9"
    with pytest.raises(ValueError, match="there is no restore to accept"):
        accept_restore(ledger.path)
    charge(ledger)
    assert ledger.verify().events == 3


def test_however_much_was_noted_a_restore_can_be_accepted(ledger: Ledger, state: Path) -> None:
    charge(ledger)
    (notes,) = state.iterdir()
    last = json.loads(notes.read_text().splitlines()[-1])
    with notes.open("a") as file:
        for seq in (3, 4):
            lost = {**last, "seq": seq, "hash": f"{seq:064x}", "nano": 2**63 - 1}
            file.write(json.dumps(lost) + "\n")
    accept_restore(ledger.path)
    assert left(ledger) == "0"
    assert ledger.verify().events == 4


OTHERS = {
    "data": b"ward,diagnosis\nA,flu\n",
    "data after a blank line": b"\nward,diagnosis\nA,flu\n",
    "data after many": b"\n" * 10_000 + b"ward,diagnosis\nA,flu\n",
    "one character": b"A",
    "lines of JSON": b'{"ledger": "A", "seq": 1}\n',
    "a JSON object": b'{\n  "ledger": "' + b"a" * 64 + b'"\n}\n',
    "a JSON list": b"[]",
    "UTF-16": "ward\nA\n".encode("utf-16"),
    "zeros before data": bytes(512) + b"A\n",
    "a note in another file's text": b'note,text\n1,{"ledger": "' + b"a" * 64 + b'", "seq": 1}\n',
}


@pytest.mark.parametrize("name", [*OTHERS, "another ledger", "the ledger itself"])
def test_a_file_of_something_else_is_never_a_witness(
    ledger: Ledger, tmp_path: Path, name: str
) -> None:
    """It may be the data that is released: a note in it would be counted as a record."""
    if name == "the ledger itself" and not isinstance(ledger.path, Path):
        pytest.skip("it is no file")
    other = tmp_path / "other"
    other.touch()
    (tmp_path / "link").symlink_to(other)
    known = Ledger(url_of(ledger), witness=tmp_path / "link")
    entry = known.reserve("patients", epsilon="0.1", **REPLACE)
    if name == "the ledger itself":
        other.unlink()
        other.symlink_to(str(ledger.path))
    elif name == "another ledger":
        other.unlink()
        Ledger.create(other)
    else:
        other.write_bytes(OTHERS[name])
    before = copy_of(ledger), other.read_bytes()
    calls = [
        lambda: Ledger(url_of(ledger), witness=other),
        lambda: Ledger.create(tmp_path / "new.sqlite3", witness=other),
        lambda: accept_restore(ledger.path, witness=other),
        known.show,
        lambda: charge(known),
        lambda: known.declare("visits", budget=1, **REPLACE),
        lambda: known.record(entry, {"values": ["flu"]}),
    ]
    for call in calls:
        with pytest.raises(errors.UnusableWitnessError, match="it holds more than notes"):
            call()
    assert (copy_of(ledger), other.read_bytes()) == before
    assert not (tmp_path / "new.sqlite3").exists()


def test_a_file_of_something_else_is_not_written_even_if_it_takes_the_place_of_a_witness(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the moment between the commit and its note."""
    kept = tmp_path / "kept.jsonl"
    kept.touch()

    def later(*given: Any, **named: Any) -> None:
        kept.write_bytes(OTHERS["data"])
        witness.write_notes(*given, **named)

    monkeypatch.setattr("dproo.ledger.ledger.write_notes", later)
    with pytest.raises(errors.ChargedError, match=r"more than notes.* charge in it stays\.$"):
        charge(Ledger(url_of(ledger), witness=kept))
    assert kept.read_bytes() == OTHERS["data"]


@pytest.mark.parametrize("cut", [0, 1, 11, 12, 40, 76, 77, 90, -1], ids="first {}".format)
@pytest.mark.parametrize("end", [b"", b"\n", bytes(9)], ids=["end", "line", "zeros"])
def test_a_witness_whose_first_note_a_crash_cut_off_is_written_on(
    ledger: Ledger, state: Path, tmp_path: Path, cut: int, end: bytes
) -> None:
    kept = tmp_path / "kept.jsonl"
    (notes,) = state.iterdir()
    kept.write_bytes(notes.read_bytes().splitlines()[0][:cut] + end)
    known = Ledger(url_of(ledger), witness=kept)
    charge(known)
    old = copy_of(ledger)
    charge(known)
    shutil.rmtree(state)
    put_back(ledger, old)
    with pytest.raises(errors.RolledBackError, match="lacks 1 of"):
        known.show()


@FILE
def test_the_data_as_a_witness_are_refused_on_the_command_line(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data.csv"
    data.write_bytes(b"diagnosis\n" + 4000 * b"flu\n")
    monkeypatch.setenv("DPROO_WITNESS", str(data))
    new = tmp_path / "new.sqlite3"
    letters = ["--column", "diagnosis", "--alphabet", "flu,cold"]
    spend = ["--epsilon", "0.1", "--ledger", str(ledger.path), "--dataset", "patients"]
    before = copy_of(ledger)
    for command in (
        ["sample", str(data), *letters, *spend],
        ["ledger", "init", "visits", "--budget", "1", "--ledger", str(new)],
        ["ledger", "show", "--ledger", str(ledger.path)],
        ["ledger", "accept-restore", "--ledger", str(ledger.path)],
        ["ledger", "export", "--to", str(new), "--ledger", str(ledger.path)],
    ):
        done = dproo(*command)
        assert (done.returncode, done.stdout) == (2, ""), command
        assert "could not be read: it holds more than notes of a ledger." in done.stderr
        assert "flu" not in done.stderr
    assert not new.exists()
    assert (copy_of(ledger), len(data.read_bytes())) == (before, 16_010)


@pytest.mark.parametrize("begins", ["empty", "notes"])
def test_data_to_which_a_charge_would_be_written_are_refused(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: Path, begins: str
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "monday.jsonl").write_text(100 * '{"ledger": "x"}\n')
    (folder / "tuesday.jsonl").touch()
    monkeypatch.setenv("DPROO_WITNESS", str(folder / "tuesday.jsonl"))
    if begins == "notes":
        charge(Ledger(url_of(ledger)))
    before = left(ledger)
    letters = ["--column", "ledger", "--alphabet", "x,y", "--neighbours", "replace"]
    spend = ["--epsilon", "0.1", "--ledger", url_of(ledger), "--dataset", "patients"]
    for data in (folder / "*.jsonl", folder / "tuesday.jsonl", state / "*.jsonl"):
        done = dproo("sample", str(data), *letters, *spend)
        assert (done.returncode, done.stdout) == (2, ""), data
        assert "data must not hold the ledger or a witness of it" in done.stderr
    assert left(ledger) == before


@FILE
def test_the_ledger_is_not_data(ledger: Ledger) -> None:
    letters = ["--table", "event", "--column", "kind", "--alphabet", "declared,reserved"]
    spend = ["--epsilon", "0.1", "--ledger", str(ledger.path), "--dataset", "patients"]
    done = dproo("sample", str(ledger.path), *letters, *spend)
    assert (done.returncode, done.stdout) == (2, "")
    assert "data must not hold the ledger" in done.stderr


@FILE
def test_a_pipe_in_place_of_a_witness_is_not_waited_for(ledger: Ledger, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(errors.UnusableWitnessError, match="could not be read"):
        Ledger(ledger.path, witness=tmp_path / "pipe")


def test_what_was_lost_is_charged_again_and_only_once(ledger: Ledger) -> None:
    ledger.declare("visits", budget=1, delta="1e-6", **REPLACE)
    old = copy_of(ledger)
    charge(ledger, "0.25")
    ledger.reserve("visits", epsilon="0.5", delta="1e-7", **REPLACE)
    put_back(ledger, old)
    found = accept_restore(ledger.path)
    assert [(loss.dataset, loss.charge, loss.delta, loss.is_declared) for loss in found] == [
        ("patients", 250_000_000, 0, True),
        ("visits", 500_000_000, 10**11, True),
    ]
    assert left(ledger) == "0.75"
    assert [line.is_restored for line in ledger.show()[0].lines] == [True]
    assert ledger.show()[1].delta_left == 9 * 10**11
    with pytest.raises(ValueError, match="lacks nothing; there is no restore to accept"):
        accept_restore(ledger.path)
    with pytest.raises(errors.UnknownEntryError):
        ledger.released(ledger.show()[0].lines[0].entry)
    charge(ledger, "0.125")
    put_back(ledger, old)  # once more: the charges of both branches are known
    accept_restore(ledger.path)
    assert left(ledger) == "0.625"
    assert ledger.show()[1].delta_left == 9 * 10**11
    assert ledger.verify().events == 5


def test_a_restore_that_a_crash_cut_off_is_charged_once(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = copy_of(ledger)
    charge(ledger, "0.25")
    put_back(ledger, old)
    with monkeypatch.context() as patch:
        patch.setattr("dproo.ledger.restore.write_notes", lambda *_, **__: None)
        accept_restore(ledger.path)
    with pytest.raises(errors.RolledBackError):
        ledger.show()
    accept_restore(ledger.path)
    assert left(ledger) == "0.75"


def test_a_restore_that_an_interrupt_cut_off_charges_all_or_nothing(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.declare("visits", budget=1, **REPLACE)
    old = copy_of(ledger)
    for dataset in ("patients", "visits"):
        ledger.reserve(dataset, epsilon="0.25", **REPLACE)
    put_back(ledger, old)

    def draft(**parts: Any) -> Draft:
        if parts["dataset"] == "visits":  # the first event is written
            raise KeyboardInterrupt
        return Draft(**parts)

    with monkeypatch.context() as patch:
        patch.setattr("dproo.ledger.restore.Draft", draft)
        with pytest.raises(KeyboardInterrupt):
            accept_restore(ledger.path)
    accept_restore(ledger.path)
    assert [account.spent for account in ledger.verify().accounts] == [250_000_000] * 2


def test_others_may_accept_a_restore_and_charge_before_it_is_noted(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = copy_of(ledger)
    entry = ledger.reserve("patients", epsilon="0.25", **REPLACE)
    ledger.record(entry, {"values": ["flu"]})
    put_back(ledger, old)

    def later(*given: Any, **named: Any) -> None:
        patch.undo()
        assert [loss.charge for loss in accept_restore(ledger.path)] == [250_000_000]
        charge(ledger, "0.125")
        witness.write_notes(*given, **named)

    with monkeypatch.context() as patch:
        patch.setattr("dproo.ledger.restore.write_notes", later)
        accept_restore(ledger.path)
    assert left(ledger) == "0.625"
    assert ledger.verify().events == 3


@pytest.mark.parametrize("order", [("first", "second"), ("second", "first")])
def test_machines_that_remember_parts_of_a_loss_charge_each_part_once(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: tuple[str, str]
) -> None:
    """The first has seen one of the two charges, the second both."""
    old = copy_of(ledger)
    for machine, epsilon in (("first", "0.25"), ("second", "0.5")):
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / machine))
        charge(ledger, epsilon)
    put_back(ledger, old)
    for machine in order:
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / machine))
        with pytest.raises(errors.RolledBackError):
            ledger.show()
        accept_restore(ledger.path)
    for machine in order:
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / machine))
        assert left(ledger) == "0.25"
    assert ledger.verify().events == 3


def test_two_copies_charged_beyond_the_budget_leave_nothing(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = copy_of(ledger)
    charge(ledger, "0.75")
    here = os.environ["XDG_STATE_HOME"]
    put_back(ledger, old)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "there"))
    charge(ledger, "0.75")
    monkeypatch.setenv("XDG_STATE_HOME", here)
    accept_restore(ledger.path)
    (account,) = ledger.verify().accounts
    assert (account.spent, account.left) == (1_500_000_000, 0)
    with pytest.raises(errors.BudgetRefused, match="at most the 0 left"):
        charge(ledger)


def test_a_lost_declaration_is_told_and_a_lost_record_accepted(ledger: Ledger) -> None:
    entry = ledger.reserve("patients", epsilon="0.5", **REPLACE)
    old = copy_of(ledger)
    ledger.record(entry, {"values": ["flu"]})
    ledger.declare("visits", budget=1, **REPLACE)
    ledger.reserve("visits", epsilon="0.5", **REPLACE)
    put_back(ledger, old)
    losses = {loss.dataset: loss for loss in accept_restore(ledger.path)}
    assert (losses["visits"].charge, losses["visits"].is_declared) == (500_000_000, False)
    assert losses["patients"].charge == 0
    assert left(ledger) == "0.5"
    ledger.verify()


@pytest.mark.parametrize("copies", ["nb", "nnb", "bnb", "nbnb", "nbb", "bnnbb"])
@pytest.mark.parametrize("anew", ["", "0.0625"], ids=["", "declared anew"])
def test_a_declaration_that_comes_back_brings_its_charges_along(
    ledger: Ledger, copies: str, anew: str
) -> None:
    """Copies from before (n) and after (b) a declaration, put back one after the other."""
    copy = {"n": copy_of(ledger)}
    ledger.declare("visits", budget=1, delta="1e-6", **REPLACE)
    copy["b"] = copy_of(ledger)
    ledger.reserve("visits", epsilon="0.25", **REPLACE)
    ledger.reserve("visits", epsilon="0.125", delta="1e-7", **REPLACE)
    for which in copies:
        if which == "n" and anew and len(ledger.show()) == 1:
            ledger.declare("visits", budget="0.625", **REPLACE)
            ledger.reserve("visits", epsilon=anew, **REPLACE)
        put_back(ledger, copy[which])
        accept_restore(ledger.path)
        charge(ledger, "0.01")
    visits = ledger.budget("visits")
    once = copies.count("b") == 1
    assert visits.spent == 375_000_000 if once else visits.spent >= 375_000_000
    assert visits.delta_spent >= 10**11
    assert ledger.budget("patients").spent == len(copies) * 10**7
    with pytest.raises(ValueError, match="there is no restore to accept"):
        accept_restore(ledger.path)
    ledger.verify()


def test_a_budget_declared_anew_is_not_charged_what_the_lost_one_had_spent(ledger: Ledger) -> None:
    old = copy_of(ledger)
    ledger.declare("visits", budget=1, **REPLACE)
    ledger.reserve("visits", epsilon="0.75", **REPLACE)
    put_back(ledger, old)
    accept_restore(ledger.path)
    ledger.declare("visits", budget="0.25", **REPLACE)
    new = copy_of(ledger)
    ledger.reserve("visits", epsilon="0.125", **REPLACE)
    put_back(ledger, new)
    assert [loss.charge for loss in accept_restore(ledger.path)] == [125_000_000]
    assert ledger.budget("visits").left == 125_000_000


def test_a_witness_on_another_disk_finds_what_the_home_has_forgotten(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kept.jsonl"
    kept.touch()
    monkeypatch.setenv("DPROO_WITNESS", str(kept))
    ledgers = [Ledger.create(tmp_path / name) for name in ("a", "b")]
    for ledger in ledgers:
        ledger.declare("patients", budget=1, **REPLACE)
    old = copy_of(ledgers[0])
    for ledger in ledgers:
        for _ in range(3):
            charge(ledger)
    shutil.rmtree(state)
    put_back(ledgers[0], old)
    with pytest.raises(errors.RolledBackError, match="lacks 3 of its events"):
        ledgers[0].show()
    assert left(ledgers[1]) == "0.7"
    assert len(kept.read_text().splitlines()) == 8


@FILE
def test_a_witness_that_cannot_be_written_is_refused_before_the_charge(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = copy_of(ledger)
    with pytest.raises(errors.UnusableWitnessError, match="could not be read: No such file"):
        Ledger(ledger.path, witness=tmp_path / "not mounted" / "kept.jsonl")
    with pytest.raises(errors.UnusableWitnessError, match="written: it is not a plain file"):
        charge(Ledger(ledger.path, witness=Path("/dev/full")))
    monkeypatch.setenv("XDG_STATE_HOME", str(ledger.path))  # a file where a folder must be
    with pytest.raises(errors.UnusableWitnessError, match="XDG_STATE_HOME to a folder"):
        charge(ledger)
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(paths, "_registered_home", str)
    assert left(ledger) == "1"
    with pytest.raises(errors.UnusableWitnessError, match="there is no home folder"):
        charge(ledger)
    assert copy_of(ledger) == before
    kept = tmp_path / "kept.jsonl"
    kept.touch()
    charge(Ledger(ledger.path, witness=kept))  # enough without a home


def test_a_disk_that_is_full_is_refused_before_the_charge(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(witness, "_ROOM", 1 << 80)
    with pytest.raises(errors.UnusableWitnessError, match="hardly any space is left"):
        charge(ledger)
    assert left(ledger) == "1"


def test_a_link_in_place_of_the_memory_is_refused_before_the_charge(
    ledger: Ledger, state: Path, tmp_path: Path
) -> None:
    (notes,) = state.iterdir()
    notes.rename(tmp_path / "elsewhere")
    notes.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(errors.UnusableWitnessError, match="it is not a plain file"):
        charge(ledger)
    assert left(ledger) == "1"


@FILE
def test_a_forged_identity_leads_nowhere(ledger: Ledger, tmp_path: Path) -> None:
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        connection.execute("DROP TRIGGER event_is_final")
        connection.execute("UPDATE event SET hash = '../../../outside'")
        connection.execute("DROP TRIGGER event_stays")
        for trigger in sqlite.SCHEMA[4:]:
            connection.execute(trigger)
        connection.execute("COMMIT")
    with pytest.raises(errors.CorruptLedgerError, match="hashes breaks at event 1"):
        charge(ledger)
    assert not list(tmp_path.rglob("outside*"))


def test_a_witness_that_fails_after_the_commit_says_that_the_charge_stays(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(witness.os, "fsync", full)
        with pytest.raises(errors.ChargedError, match=r"No space left.* charge in it stays\.$"):
            charge(ledger)
    assert left(ledger) == "0.9"
    charge(ledger)
    assert left(ledger) == "0.8"


def test_notes_stand_in_the_order_of_the_events_whoever_writes_first(
    ledger: Ledger, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One process is overtaken by another between its commit and its note."""
    late: list[Any] = []
    with monkeypatch.context() as patch:
        patch.setattr("dproo.ledger.ledger.write_notes", late.append)
        charge(ledger)
        charge(ledger)
    charge(ledger)
    for news in reversed(late):
        witness.write_notes(news)
    (notes,) = state.iterdir()
    lines = notes.read_text().splitlines()
    assert [f'"seq": {seq},' in line for seq, line in enumerate(lines, start=1)] == [True] * 4
    held = witness.Witness(notes).lineage(ledger.export()[0]["hash"])
    assert [note.hash for note in held] == [event["hash"] for event in ledger.export()]


def test_what_is_remembered_is_for_its_owner_only_and_says_little(
    ledger: Ledger, state: Path
) -> None:
    entry = ledger.reserve("patients", epsilon="0.5", request={"by": "ward"}, **REPLACE)
    ledger.record(entry, {"values": ["flu"]})
    (notes,) = state.iterdir()
    assert notes.stat().st_mode & 0o777 == 0o600
    assert state.stat().st_mode & 0o777 == 0o700
    assert not any(word in notes.read_text() for word in ("flu", "ward", str(ledger.path)))


def test_a_new_witness_is_told_of_every_event(ledger: Ledger, tmp_path: Path) -> None:
    for _ in range(3):
        charge(ledger)
    file = tmp_path / "witness.jsonl"
    file.touch()
    charge(Ledger(url_of(ledger), witness=file))
    notes = [json.loads(line) for line in file.read_text().splitlines()]
    assert [note["seq"] for note in notes] == [1, 2, 3, 4, 5]
    assert [note["hash"] for note in notes] == [event["hash"] for event in ledger.export()]


def test_a_copy_has_the_witness_of_its_source(ledger: Ledger, tmp_path: Path, state: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    kept.touch()
    source = Ledger(url_of(ledger), witness=kept)
    charge(copy(source, tmp_path / "copied.sqlite3"))
    shutil.rmtree(state)
    with pytest.raises(errors.RolledBackError, match="lacks 1 of its events"):
        charge(source)
