"""Real processes on a real ledger: killed, torn and racing (tests/ledger/test_ledger_crash.py).

    python ledger_worker.py JOB FOLDER LEDGER ROUNDS

One process forks all others, because a fork costs a thousandth of a new interpreter. The
report is one JSON object.
"""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from dproo.core.numbers import charge_of
from dproo.errors import (
    BusyLedgerError,
    ChargedError,
    DatasetTakenError,
    ReleaseError,
    UnreachableLedgerError,
)
from dproo.ledger import BudgetRefused, Entry, Ledger, LedgerError
from dproo.ledger.account import BudgetTally
from dproo.ledger.stores import sqlite

sys.path.insert(0, str(Path(__file__).parents[1]))
from support.releasing import sample
from support.stores import fresh

RELATION = {"neighbours": "replace"}
EPSILON, CHARGE = "0.01", 10_000_000
KILLS_PER_LEDGER = 50
STARTED = b"started\n"
RACERS = int(os.environ.get("RACERS", "16"))


class ChargesLate(Ledger):
    """A broken twin: it charges when the release is recorded, after the data was read."""

    def reserve(self, dataset: str, **_: Any) -> Entry:
        return Entry(dataset=dataset, number=0, charge=CHARGE, hash="")

    def record(self, entry: Entry, receipt: Any) -> dict[str, Any]:
        charged = super().reserve(entry.dataset, epsilon=EPSILON, **RELATION)
        return super().record(charged, receipt)


class RecordsLate(Ledger):
    """A broken twin: it keeps a release in memory and writes it at the next occasion."""

    def reserve(self, dataset: str, **options: Any) -> Entry:
        for waiting in vars(self).pop("waiting", []):
            super().record(*waiting)
        return super().reserve(dataset, **options)

    def record(self, entry: Entry, receipt: Any) -> dict[str, Any]:
        vars(self)["waiting"] = [(entry, receipt)]
        charged = {"charge_nano_epsilon": 1, "head": ""}
        return {**receipt, "ledger": {"dataset": entry.dataset, "entry": entry.number, **charged}}


class LooksThenCharges(Ledger):
    """A broken twin: it looks at what is left in one transaction and charges in the next."""

    def reserve(self, dataset: str, *, epsilon: Any, **_: Any) -> Entry:
        charge = charge_of(epsilon)
        left = self.show()[0].left
        if charge > left:
            raise BudgetRefused(dataset, asked=charge, left=left)
        BudgetTally.require = lambda *_: None  # type: ignore[method-assign]
        return super().reserve(dataset, epsilon=epsilon, **RELATION)


LEDGERS = {twin.__name__: twin for twin in (Ledger, ChargesLate, RecordsLate, LooksThenCharges)}


def fork(task: Callable[[], None]) -> int:
    """Run ``task`` in a child and return its process id; the child never returns."""
    if child := os.fork():
        return child
    code = 1
    try:
        task()
        code = 0
    finally:
        os._exit(code)


def made(ledger: type[Ledger], path: Path | str, *, budget: str) -> Ledger:
    new = ledger.create(path)
    new.declare("patients", budget=budget, **RELATION)
    return new


def release(ledger: Ledger, pipe: int, *, dataset: str = "patients") -> None:
    """Release a record, telling the parent when data is read and what is shown."""

    def records() -> Iterator[str]:
        os.write(pipe, b"read\n")
        yield from ["flu", "cold", "flu"]

    drawn = sample(
        records(),
        alphabet=["flu", "cold"],
        epsilon=EPSILON,
        sampler="roo",
        ledger=ledger,
        dataset=dataset,
    )
    os.write(pipe, f"show {drawn.receipt.ledger.entry} {drawn.value}\n".encode())


def release_forever(ledger: Ledger, pipe: int) -> None:
    ledger = type(ledger)(ledger.path)
    os.write(pipe, STARTED)
    while True:
        release(ledger, pipe)


def kill(folder: Path, twin: type[Ledger], rounds: int) -> dict[str, Any]:
    """Kill releasing children at random moments; after each, hold the ledger to its word."""
    dice = random.Random()  # noqa: S311 - it chooses moments
    report: dict[str, Any] = {"kills": 0, "read": 0, "shown": 0, "charged": 0, "broken": []}
    for i in range(rounds):
        if i % KILLS_PER_LEDGER == 0:
            ledger = made(twin, fresh(folder, f"{i}"), budget="1000")
            sink = os.open(os.devnull, os.O_WRONLY)
            start = time.monotonic()
            release(ledger, sink)
            release(ledger, sink)
            pace = time.monotonic() - start
            os.close(sink)
            read = charged = len(Ledger(ledger.path).show()[0].lines)
        mine, theirs = os.pipe()
        child = fork(lambda ledger=ledger, pipe=theirs: release_forever(ledger, pipe))
        os.close(theirs)
        os.read(mine, len(STARTED))
        with os.fdopen(mine) as pipe:
            # On a busy machine a child may get nowhere in time; some are let through.
            lines = [pipe.readline().split() for _ in range(2 * (i % 5 == 0))]
            time.sleep(dice.uniform(0, pace))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            lines += [line.split() for line in pipe]
        shown = [(int(line[1]), line[2]) for line in lines if line[0] == "show"]
        read += len(lines) - len(shown)
        before, charged = charged, check(ledger.path, read, shown, report["broken"])
        report["kills"] += 1
        report["read"] += len(lines) - len(shown)
        report["shown"] += len(shown)
        report["charged"] += charged - before
        if report["broken"]:
            break
    return report


def check(path: Any, read: int, shown: list[tuple[int, str]], broken: list[str]) -> int:
    """Return how many charges the ledger holds, and note what it should hold and does not."""
    ledger = Ledger(path)
    (account,) = ledger.verify().accounts
    if len(account.lines) < read:
        broken.append("data was read without a charge")
    if (
        account.spent != CHARGE * len(account.lines)
        or account.left != account.budget - account.spent
    ):
        broken.append("the sums are wrong")
    for entry, value in shown:
        try:
            if ledger.released(entry)["values"] != [value]:
                broken.append("another value was recorded")
        except LedgerError:
            broken.append("a value was shown that was not recorded")
    return len(account.lines)


def torn(folder: Path, twin: type[Ledger], rounds: int) -> dict[str, Any]:
    """Cut every write of a charge off at one byte after another, with and without a death."""
    report: dict[str, Any] = {"died": 0, "refused": 0, "charged": 0, "broken": []}
    ledger = made(twin, folder / "torn.sqlite3", budget="1000")
    original = ledger.path.read_bytes()
    for i in range(rounds):
        for action in (signal.SIG_DFL, signal.SIG_IGN):
            os.environ["XDG_STATE_HOME"] = str(folder / f"state-{i}-{int(action)}")
            ledger.path.write_bytes(original)
            limit = i * (len(original) + 100_000) // rounds

            def task(limit: int = limit, action: signal.Handlers = action) -> None:
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
                unlimited = resource.RLIM_INFINITY, resource.RLIM_INFINITY
                resource.getrlimit = lambda _: unlimited  # the end comes as a surprise
                signal.signal(signal.SIGXFSZ, action)
                try:
                    ledger.reserve("patients", epsilon=EPSILON, **RELATION)
                except LedgerError:
                    os._exit(7)

            _, status = os.waitpid(fork(task), 0)
            outcome = {signal.SIGXFSZ: "died", 7 << 8: "refused", 0: "charged"}.get(status)
            if outcome is None:
                report["broken"].append(f"a child ended with {status}")
                continue
            report[outcome] += 1
            charges = len(Ledger(ledger.path).verify().accounts[0].lines)
            if charges != (outcome == "charged"):
                report["broken"].append(f"{charges} charges where it {outcome}")
    return report


def unfinished(folder: Path, twin: type[Ledger], rounds: int) -> dict[str, Any]:
    """Die in the middle of the transaction, all pages written to the file, before the commit."""
    report: dict[str, Any] = {"died": 0, "journals": 0, "broken": []}
    ledger = made(twin, folder / "unfinished.sqlite3", budget="1000")

    def die(connection: Any, _: Path) -> None:
        connection.execute("PRAGMA cache_spill = 1")
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("INSERT INTO room VALUES (-1, zeroblob(300000))")
        os.kill(os.getpid(), signal.SIGKILL)

    def task() -> None:
        sqlite._commit = die
        ledger.reserve("patients", epsilon=EPSILON, **RELATION, request={"filler": "x" * 200_000})

    for _ in range(rounds):
        before = ledger.head()
        _, status = os.waitpid(fork(task), 0)
        report["died"] += status == signal.SIGKILL
        report["journals"] += Path(f"{ledger.path}-journal").stat().st_size > 0
        if ledger.verify().head != before:
            report["broken"].append("half a charge was kept")
    return report


def race(folder: Path, twin: type[Ledger], rounds: int) -> dict[str, Any]:
    """Let many processes at once charge until they are refused."""
    report: dict[str, Any] = {"granted": [], "charged": [], "failed": 0}
    for i in range(rounds):
        ledger = made(twin, fresh(folder, f"{i}"), budget="0.339")
        start, gate = os.pipe()
        mine, theirs = os.pipe()

        def task(ledger: Ledger = ledger, ends: tuple[int, ...] = (start, gate, theirs)) -> None:
            os.close(ends[1])
            os.read(ends[0], 1)  # returns for all at once, when the parent closes the gate
            try:
                while True:
                    ledger.reserve("patients", epsilon=EPSILON, **RELATION)
                    os.write(ends[2], b"g")
            except BudgetRefused:
                pass

        children = [fork(task) for _ in range(RACERS)]
        for end in (start, gate, theirs):
            os.close(end)
        with os.fdopen(mine, "rb") as pipe:
            report["granted"].append(len(pipe.read()))
        statuses = [os.waitpid(child, 0)[1] for child in children]
        report["failed"] += sum(status != 0 for status in statuses)
        report["charged"].append(
            sum(event["kind"] == "reserved" for event in Ledger(ledger.path).export())
        )
    return report


def birth(folder: Path, twin: type[Ledger], rounds: int) -> dict[str, Any]:
    """Let 16 processes at once make one ledger and declare one name."""
    report: dict[str, Any] = {"declared": [], "failed": 0}
    for i in range(rounds):
        path = folder / f"{i}" / "ledger.sqlite3"

        def task(path: Path = path) -> None:
            try:
                made(twin, path, budget="1")
            except DatasetTakenError:
                os._exit(7)

        children = [fork(task) for _ in range(RACERS)]
        statuses = [os.waitpid(child, 0)[1] for child in children]
        report["declared"].append(sum(status == 0 for status in statuses))
        report["failed"] += sum(status not in {0, 7 << 8} for status in statuses)
        Ledger(path).verify()
    return report


def client(url: str) -> None:
    """Release until the end, and tell of every step."""
    ledger = Ledger(url)
    while True:
        os.write(1, b"try\n")
        try:
            release(ledger, 1, dataset="many")
        except (LedgerError, ReleaseError):
            os.write(1, b"failed\n")


def member(ledger: Ledger, log: int) -> None:
    """Be one of a team: charge and record, look and verify, and write down every step."""
    dice = random.Random()  # noqa: S311 - it chooses what to do
    ledger = Ledger(ledger.path)
    while True:
        step = dice.random()
        try:
            if step < 0.2:
                dice.choice([ledger.head, lambda: ledger.budget("tight")])()
            elif step < 0.23:
                dice.choice([ledger.show, ledger.verify])()
            else:
                name = "many" if step < 0.9 else "tight"
                os.write(log, f"try {name}\n".encode())
                entry = ledger.reserve(name, epsilon=EPSILON, **RELATION)
                os.write(log, f"charged {name} {entry.number}\n".encode())
                ledger.record(entry, {"values": [str(entry.number)]})
                os.write(log, f"shown {name} {entry.number}\n".encode())
        except BudgetRefused:
            os.write(log, b"refused\n")
        except (UnreachableLedgerError, ChargedError, BusyLedgerError):
            os.write(log, b"failed\n")
        except Exception as error:  # noqa: BLE001 - whatever else it is
            os.write(log, f"alarm {type(error).__name__}: {error}\n".encode())


def soak(folder: Path, twin: type[Ledger], rounds: int) -> dict[str, Any]:
    """Let many members work on a ledger for so many seconds, and kill and replace one at a time."""
    dice = random.Random()  # noqa: S311 - it chooses whom
    ledger = twin(fresh(folder, "soak"))
    ledger.declare("many", budget="100000", **RELATION)
    ledger.declare("tight", budget="0.339", **RELATION)
    log = os.open(folder / "log", os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    kills, end = int(os.environ["KILLS"]), time.monotonic() + rounds
    team = [fork(lambda: member(ledger, log)) for _ in range(RACERS)]
    try:
        for i in range(kills):
            time.sleep(max(0.0, end - time.monotonic()) / (kills - i))
            whom = dice.randrange(len(team))
            os.kill(team[whom], signal.SIGKILL)
            os.waitpid(team[whom], 0)
            team[whom] = fork(lambda: member(ledger, log))
    finally:
        for one in team:
            os.kill(one, signal.SIGKILL)
            os.waitpid(one, 0)
    steps = [line.split() for line in (folder / "log").read_text().splitlines()]
    found = {account.dataset: account for account in Ledger(ledger.path).verify().accounts}
    lines = {line.entry: line for account in found.values() for line in account.lines}
    charged = [int(step[2]) for step in steps if step[0] == "charged"]
    shown = {int(step[2]) for step in steps if step[0] == "shown"}
    return {
        "kills": kills,
        "charges": len(lines),
        "tries": sum(step[0] == "try" for step in steps),
        "failed": sum(step[0] == "failed" for step in steps),
        "alarms": [" ".join(step) for step in steps if step[0] == "alarm"],
        "lost": [one for one in charged if one not in lines]
        + [one for one in shown if not lines[one].is_recorded],
        "twice": len(charged) - len(set(charged)),
        "unseen": len(lines) - len(charged),
        "tight": found["tight"].spent,
    }


if __name__ == "__main__":
    job, folder, twin, rounds = sys.argv[1:]
    if job == "client":
        client(folder)
    jobs = {"kill": kill, "torn": torn, "unfinished": unfinished, "race": race, "birth": birth}
    jobs["soak"] = soak
    sys.stdout.write(json.dumps(jobs[job](Path(folder), LEDGERS[twin], int(rounds))))
