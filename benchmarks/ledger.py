"""Charges a second, in a file and in PostgreSQL, beside a bare INSERT of the same durability.

DPROO_POSTGRESQL=postgresql://... python benchmarks/ledger.py

The database gets a schema ``dproo`` and a table ``bare``, which are dropped at the end.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from measuring import compared, seconds, write

from dproo.ledger import Database, Ledger, install

ABOUT = """\
A charge is one `Ledger.reserve`: checked, written and synced before data is read. The **bare \
INSERT** beside it writes a row of about the same size on a connection that stays open, with the \
same settings and so with the same durability: in SQLite a rollback journal with \
`synchronous = EXTRA`, in PostgreSQL `synchronous_commit = on`. Each is a transaction of its own.

A charge is durable in two places: the ledger commits it, and a witness notes it in another file. \
One INSERT is durable in one. So it is also compared with an **INSERT and a line** that is \
appended to another file and synced. A **release** is a charge and, after the data was read, the \
record of what is released; beside it stand two INSERTs.

How much the ratio says depends on the cost of a sync. A virtual disk whose host answers from a \
cache syncs in well under 0.1 ms, and what is compared is mostly the work of the processor. So \
the syncs of both sides are counted (by strace and by the server's statistics), and the last \
column says what the ratio would be if every sync took 1 ms, as a disk of its own may well need. \
It is computed from the counts and the measured times, not measured. Once it was measured, with \
every sync of client and server slowed down to 1.08 ms: 2.92 times a bare INSERT in PostgreSQL \
(2.72 to 3.04), 1.57 times an INSERT and a line, and 1.34 and 1.14 times in a file.
"""
VARIABLE = "DPROO_POSTGRESQL"
CHARGES = 50
BODY = "x" * 200
TARGET = 3.0
SYNC = 1.0  # milliseconds
COUNTED = 10
REFERENCES = {
    "insert": "bare INSERT",
    "insert_and_line": "bare INSERT and synced line",
    "two_inserts": "two bare INSERTs",
}
NAMES = count()

Run = Callable[[], None]


class Side:
    """What is done once on a store, ours or bare."""

    def __init__(self, url: str | None, folder: Path) -> None:
        self.url, self.folder = url, folder
        self.line = os.open(folder / "lines", os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)

    @contextmanager
    def charge(self) -> Iterator[Run]:
        """Yield what makes one charge to a fresh budget."""
        ledger, name = self._ledger()
        yield lambda: _reserved(ledger, name)

    @contextmanager
    def release(self) -> Iterator[Run]:
        """Yield what makes one charge and records its release."""
        ledger, name = self._ledger()
        yield lambda: ledger.record(_reserved(ledger, name), {"values": ["flu"]})

    @contextmanager
    def insert(self) -> Iterator[Run]:
        """Yield what inserts a row and syncs it as a ledger does."""
        if self.url is None:
            path = self.folder / f"{next(NAMES)}.bare"
            with closing(sqlite3.connect(path, isolation_level=None)) as connection:
                connection.execute("PRAGMA synchronous = EXTRA")
                connection.execute("CREATE TABLE bare (seq INTEGER PRIMARY KEY, body TEXT)")
                yield lambda: connection.execute("INSERT INTO bare (body) VALUES (?)", (BODY,))
        else:
            import psycopg

            with psycopg.connect(self.url, autocommit=True) as connection:
                connection.execute("DROP TABLE IF EXISTS bare")
                connection.execute("CREATE TABLE bare (seq serial PRIMARY KEY, body text)")
                yield lambda: connection.execute("INSERT INTO bare (body) VALUES (%s)", (BODY,))

    @contextmanager
    def two_inserts(self) -> Iterator[Run]:
        """Yield what inserts two rows, each for itself."""
        with self.insert() as insert:
            yield lambda: (insert(), insert())

    @contextmanager
    def insert_and_line(self) -> Iterator[Run]:
        """Yield what inserts a row, and then appends a line to a file and syncs it."""
        with self.insert() as insert:
            yield lambda: (insert(), self.append())

    def append(self) -> None:
        """Append a line to a file, and sync it."""
        os.write(self.line, BODY.encode())
        os.fsync(self.line)

    def _ledger(self) -> tuple[Ledger, str]:
        if self.url is None:
            ledger = Ledger.create(self.folder / f"{next(NAMES)}.sqlite3")
        else:
            _emptied(self.url)
            install(Database(self.url))
            ledger = Ledger(self.url)
        ledger.declare("bench", budget=10**6, neighbours="replace")
        return ledger, "bench"


def _reserved(ledger: Ledger, name: str) -> Any:
    return ledger.reserve(name, epsilon="0.001", neighbours="replace", request={"k": 9})


def _emptied(url: str) -> None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS dproo CASCADE; DROP TABLE IF EXISTS bare")


def syncs(url: str | None, what: str) -> float | None:
    """Return how many syncs one ``what`` takes, of this process and of the server."""
    if shutil.which("strace") is None:
        return None
    few, many = (_traced(url, what, times) for times in (COUNTED, 2 * COUNTED))
    return round((many - few) / COUNTED, 1)


def _traced(url: str | None, what: str, times: int) -> int:
    """Return how many syncs a process takes that does ``what`` so often."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        told = Path(folder) / "told"
        trace = ["strace", "-f", "-qq", "-e", "trace=fsync,fdatasync", "-o", str(told)]
        before = _server_syncs(url)
        command = [sys.executable, __file__, what, str(times), folder, "server" if url else "file"]
        subprocess.run([*trace, *command], check=True)  # noqa: S603 - our own script
        called = [line for line in told.read_text().splitlines() if "sync(" in line]
        return len(called) + _server_syncs(url) - before


def _server_syncs(url: str | None) -> int:
    if url is None:
        return 0
    import psycopg

    others = (
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    )
    with psycopg.connect(url, autocommit=True) as connection:
        while connection.execute(others).fetchone()[0]:  # at its end each tells what it did
            time.sleep(0.1)
        return connection.execute("SELECT wal_sync FROM pg_stat_wal").fetchone()[0]


def repeated(side: Side, what: str, times: int) -> None:
    """Do ``what`` so often, in a process whose syncs are counted."""
    with getattr(side, what)() as run:
        for _ in range(times):
            run()


def row(store: str, side: Side, ours: str, reference: str) -> dict[str, Any]:
    """Return a row of the table."""
    found = taken(store, side, ours, reference)
    cost = statistics.median(1000 * seconds(side.append) for _ in range(CHARGES))
    each = [1000 * found[name] / CHARGES for name in ("seconds", "reference_seconds")]
    counts = [syncs(side.url, name) for name in (ours, reference)]
    slow = [a + n * (SYNC - cost) for a, n in zip(each, counts, strict=True) if n is not None]
    return found | {
        "a_second": round(1000 / each[0]),
        "reference_a_second": round(1000 / each[1]),
        "sync_milliseconds": round(cost, 3),
        "syncs": counts[0],
        "reference_syncs": counts[1],
        "computed_ratio_at_1_ms": round(slow[0] / slow[1], 2) if slow and cost < SYNC else None,
    }


def taken(store: str, side: Side, ours: str, reference: str) -> dict[str, Any]:
    """Return what both took, in turns; at the end their connections are closed."""

    def times(run: Run) -> Run:
        return lambda: [run() for _ in range(CHARGES)]

    with getattr(side, ours)() as mine, getattr(side, reference)() as theirs:
        return compared(
            f"{ours}s, {store}",
            times(mine),
            times(theirs),
            to=f"{REFERENCES[reference]} in {store}",
            target=TARGET,
            is_here=side.url is None,
        )


def main() -> None:
    """Measure both stores and write the table."""
    stores: dict[str, str | None] = {"SQLite": None}
    if url := os.environ.get(VARIABLE):
        stores["PostgreSQL"] = url
    else:
        print(f"postgresql: left out, {VARIABLE} names no server")
    rows = []
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        os.environ["XDG_STATE_HOME"] = folder
        for store, url in stores.items():
            side = Side(url, Path(folder))
            for ours, reference in (
                ("charge", "insert"),
                ("charge", "insert_and_line"),
                ("release", "two_inserts"),
            ):
                rows.append(row(store, side, ours, reference))
            if url is not None:
                _emptied(url)
    write("ledger", "The ledger", rows, about=ABOUT)


if __name__ == "__main__":
    if arguments := sys.argv[1:]:
        what, times, folder, store = arguments
        os.environ["XDG_STATE_HOME"] = folder
        server = os.environ[VARIABLE] if store == "server" else None
        repeated(Side(server, Path(folder)), what, int(times))
    else:
        main()
