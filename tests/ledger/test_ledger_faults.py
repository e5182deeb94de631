"""Servers that die, lines that are cut, many spenders at once: PostgreSQL as it really fails."""

from __future__ import annotations

import gc
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from support.cutting import Cutter, Moment
from support.databases import Server, role_of
from support.draws import DICE
from support.releasing import sample
from support.stores import emptied, installed, unguarded, url_of

from dproo import errors
from dproo.ledger import Ledger, Limits, accept_restore
from dproo.ledger.stores import postgresql

pytestmark = pytest.mark.untraced

REPLACE: dict[str, Any] = {"neighbours": "replace"}
LOCK = "SELECT dproo.lock()"
WORKER = Path(__file__).parents[1] / "support" / "ledger_worker.py"
SOAK = os.environ.get("DPROO_SOAK") == "1"
CLIENT_KILLS, SERVER_KILLS = (800, 200) if SOAK else (15, 3)


@pytest.fixture
def where(ledger_database: str) -> str:
    return emptied(ledger_database)


@pytest.fixture
def line(ledger: Ledger) -> Iterator[tuple[Cutter, Ledger]]:
    """Yield a line that can be cut, and the ledger at its other end."""
    where = url_of(ledger)
    folder = where.partition("host=")[2].partition("&")[0]
    with tempfile.TemporaryDirectory() as place:  # a short name, as sockets need
        cutter = Cutter(Path(place), Path(folder))
        yield cutter, Ledger(where.replace(folder, place))
        cutter.close()


def run(job: str, folder: Path, database: str, *, ledger: str = "Ledger", rounds: int) -> Any:
    command = [sys.executable, str(WORKER), job, str(folder), ledger, str(rounds)]
    known = {**os.environ, "LEDGER_DATABASE": database, "RACERS": "64"}
    gc.collect()  # closes what earlier tests have left open: a server takes 100 connections
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=known)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


MOMENTS: list[tuple[Moment, ...]] = [
    ("before",),
    ("during",),
    ("after",),
    ("after", "before", "during"),
]


@pytest.mark.parametrize("moments", MOMENTS)
def test_a_line_cut_around_the_commit_charges_once(
    line: tuple[Cutter, Ledger], ledger: Ledger, moments: tuple[Moment, ...]
) -> None:
    cutter, far = line
    cutter.cut(*moments)
    entry = far.reserve("patients", epsilon="0.25", **REPLACE)
    assert not cutter.moments
    (account,) = ledger.verify().accounts
    assert [one.entry for one in account.lines] == [entry.number]
    cutter.cut(*moments)
    receipt = far.record(entry, {"values": ["flu"]})
    assert ledger.released(entry.number) == receipt
    cutter.cut(*moments)
    far.declare("visits", budget=1, **REPLACE)
    assert [event["kind"] for event in ledger.export()] == [
        "declared",
        "reserved",
        "recorded",
        "declared",
    ]
    with pytest.raises(errors.AlreadyRecordedError):
        far.record(entry, {"values": ["flu"]})


def test_a_release_whose_line_is_cut_at_every_commit_is_paid_and_shown_once(
    line: tuple[Cutter, Ledger], ledger: Ledger
) -> None:
    cutter, far = line
    cutter.cut(None, "after", "during", None, "after", "before")
    data = ["flu"] * 30 + ["cold"] * 20
    release = sample(data, alphabet=["flu", "cold"], epsilon="0.5", ledger=far, dataset="patients")
    (account,) = ledger.verify().accounts
    assert [one.is_recorded for one in account.lines] == [True]
    assert ledger.released(account.lines[0].entry) == release.receipt.as_dict()


def test_a_line_that_stays_cut_says_that_a_charge_may_stand(
    line: tuple[Cutter, Ledger], ledger: Ledger
) -> None:
    cutter, far = line
    impatient = Ledger(far.path, timeout=0.2)
    cutter.cut(*["during"] * 99)
    with pytest.raises(errors.ChargedError, match="in the middle of a commit, and a charge ma"):
        impatient.reserve("patients", epsilon="0.25", **REPLACE)
    assert len(ledger.verify().accounts[0].lines) <= 1


def clock(sleep: Callable[[float], object]) -> SimpleNamespace:
    """Return a module ``time`` for the store alone: other threads sleep as ever."""
    return SimpleNamespace(monotonic=time.monotonic, sleep=sleep)


def test_a_release_given_up_after_a_lost_commit_is_not_said_to_be_uncharged(
    line: tuple[Cutter, Ledger], ledger: Ledger
) -> None:
    cutter, far = line
    before = cutter.commits
    awaited = far.limited(Limits(), is_awaited=lambda: cutter.commits == before)
    cutter.cut("after")
    with pytest.raises(errors.ChargedError, match="in the middle of a commit, and a charge ma"):
        awaited.reserve("patients", epsilon="0.25", **REPLACE)
    assert len(ledger.verify().accounts[0].lines) == 1


def test_a_ledger_that_is_busy_after_a_lost_commit_says_that_a_charge_may_stand(
    line: tuple[Cutter, Ledger], ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    cutter, far = line
    impatient = Ledger(far.path, timeout=0.2)
    with psycopg.connect(url_of(ledger)) as holder:
        monkeypatch.setattr(postgresql, "time", clock(lambda _: holder.execute(LOCK)))
        cutter.cut("after")
        with pytest.raises(errors.ChargedError, match="in the middle of a commit, and a charge ma"):
            impatient.reserve("patients", epsilon="0.25", **REPLACE)
    assert len(ledger.verify().accounts[0].lines) == 1


def test_a_charge_that_is_refused_after_a_lost_commit_is_known_not_to_stand(
    line: tuple[Cutter, Ledger], ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    cutter, far = line

    def spend(_: float) -> None:
        ledger.reserve("patients", epsilon="0.9", **REPLACE)

    monkeypatch.setattr(postgresql, "time", clock(spend))
    cutter.cut("before")
    with pytest.raises(errors.BudgetRefused):
        far.reserve("patients", epsilon="0.25", **REPLACE)
    assert ledger.budget("patients").spent == 9 * 10**8


@pytest.mark.one_of(3)
def test_a_server_that_is_away_is_one_sentence_and_its_return_is_noticed() -> None:
    server = Server()
    try:
        url = role_of(installed(server.url), "team")
        ledger = Ledger(url)
        ledger.declare("patients", budget=1, **REPLACE)
        server.kill()
        with pytest.raises(errors.UnreachableLedgerError, match="no PostgreSQL server answ"):
            ledger.reserve("patients", epsilon="0.25", **REPLACE)
        server.start()
        ledger.reserve("patients", epsilon="0.25", **REPLACE)
        report = killed(server, url, SERVER_KILLS)
    finally:
        server.remove()
    assert report["kills"] == SERVER_KILLS
    assert report["shown"] > 0


def killed(server: Server, url: str, kills: int) -> dict[str, int]:
    """Kill the server under a releasing client; after each kill, hold the ledger to its word."""
    ledger = Ledger(url)
    ledger.declare("many", budget="100000", **REPLACE)
    report = {"kills": 0, "shown": 0}
    client = subprocess.Popen(
        [sys.executable, str(WORKER), "client", url, "Ledger", "0"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert client.stdout is not None
    tries = reads = 0
    shown: list[list[str]] = []
    try:
        for _ in range(kills):
            before = len(shown)
            while len(shown) == before:  # at least one release between two kills
                words = client.stdout.readline().split()
                tries += words[0] == "try"
                reads += words[0] == "read"
                shown += [words[1:]] * (words[0] == "show")
            time.sleep(DICE.uniform(0, 0.05))
            server.kill()
            server.start()
            report["kills"] += 1
    finally:
        client.terminate()
    for words in (text.split() for text in client.stdout):
        tries += words[0] == "try"
        reads += words[0] == "read"
        shown += [words[1:]] * (words[0] == "show")
    client.wait()
    client.stdout.close()
    account = next(one for one in ledger.verify().accounts if one.dataset == "many")
    assert reads <= len(account.lines) <= tries, "released without a charge, or charged twice"
    for entry, value in shown:
        assert ledger.released(int(entry))["values"] == [value]
    assert len({entry for entry, _ in shown}) == len(shown), "released twice for one charge"
    report["shown"] = len(shown)
    return report


@pytest.mark.one_of(3)
def test_clients_killed_at_any_moment_never_read_or_showed_anything_uncharged(
    tmp_path: Path, ledger_database: str
) -> None:
    report = run("kill", tmp_path, ledger_database, rounds=CLIENT_KILLS)
    assert report["kills"] == CLIENT_KILLS
    assert not report["broken"]
    assert report["charged"] >= report["read"] >= report["shown"] > 0
    assert report["charged"] - report["shown"] <= CLIENT_KILLS


@pytest.mark.one_of(3)
@pytest.mark.parametrize(
    ("twin", "sentence"),
    [
        ("ChargesLate", "data was read without a charge"),
        ("RecordsLate", "a value was shown that was not recorded"),
    ],
)
def test_a_twin_that_writes_too_late_is_caught_by_kills(
    tmp_path: Path, ledger_database: str, twin: str, sentence: str
) -> None:
    def broken() -> list[str]:
        return run("kill", tmp_path, ledger_database, ledger=twin, rounds=10)["broken"]

    assert any(sentence in broken() for _ in range(20))


@pytest.mark.one_of(3)
def test_a_database_that_does_not_lock_is_caught_by_racers(
    tmp_path: Path, ledger_database: str
) -> None:
    with unguarded(ledger_database) as connection:
        (text,) = connection.execute("SELECT pg_get_functiondef('lock'::regproc)").fetchone()
        assert "UPDATE dproo.head" in text
        connection.execute(re.sub("UPDATE dproo.head .*;", "", text))
    right = {"granted": [33], "charged": [33], "failed": 0}
    try:
        assert any(run("race", tmp_path, ledger_database, rounds=1) != right for _ in range(10))
    finally:
        with unguarded(ledger_database) as connection:
            connection.execute(text)


@pytest.mark.one_of(3)
def test_a_standby_is_read_and_one_that_lagged_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server()
    standby = None
    try:
        url = role_of(installed(server.url), "team")
        ledger = Ledger(url)
        ledger.declare("patients", budget=1, **REPLACE)
        standby = server.copy()
        there = url.replace(str(server.folder), str(standby.folder))
        ledger.reserve("patients", epsilon="0.25", **REPLACE)
        while not follows(there, ledger.head()):
            pass  # every look takes a connection; a stream that is broken ends in the time limit
        with pytest.raises(errors.ReadOnlyLedgerError, match="a copy of another one"):
            Ledger(there).reserve("patients", epsilon="0.25", **REPLACE)
        moved = Ledger(there)
        standby.kill()  # from here on it lags
        data = ["flu"] * 30 + ["cold"] * 20
        given: dict[str, Any] = {"alphabet": ["flu", "cold"], "dataset": "patients"}
        release = sample(data, epsilon="0.5", ledger=ledger, **given)
        server.kill()
        standby.start()
        standby.promote()
        with pytest.raises(errors.RolledBackError, match="lacks 2 of its events"):
            Ledger(there)
        with pytest.raises(errors.RolledBackError, match="lacks 2 of its events"):
            moved.reserve("patients", epsilon="0.1", **REPLACE)
        with monkeypatch.context() as patch:  # a machine that has seen nothing of it
            patch.setenv("XDG_STATE_HOME", str(tmp_path))
            with pytest.raises(errors.CorruptLedgerError, match="lacks the event of the exp"):
                Ledger(there).verify(expect_head=release.receipt.ledger.head)
        assert [loss.charge for loss in accept_restore(there)] == [500_000_000]
        with pytest.raises(errors.BudgetRefused):
            sample(data, epsilon="0.5", ledger=Ledger(there), **given)
        Ledger(there).reserve("patients", epsilon="0.25", **REPLACE)
        assert Ledger(there).verify().accounts[0].left == 0
    finally:
        for one in filter(None, (standby, server)):
            one.remove()


def follows(url: str, head: str) -> bool:
    """Return whether a standby has got as far as its server."""
    try:
        return Ledger(url).head() == head
    except errors.RolledBackError:
        return False


@pytest.mark.one_of(3)
def test_sixty_four_spenders_at_once_are_granted_exactly_what_fits(
    tmp_path: Path, ledger_database: str
) -> None:
    rounds = 20 if SOAK else 1
    report = run("race", tmp_path, ledger_database, rounds=rounds)
    assert report == {"granted": [33] * rounds, "charged": [33] * rounds, "failed": 0}
