"""Charges a second, in a file and in PostgreSQL, beside a bare INSERT of the same durability.

DPROO_POSTGRESQL=postgresql://... python benchmarks/ledger.py

A charge is committed by the ledger and then noted by a witness, so two syncs stand beside one; the
rest of its time is the processor's. So the ratio depends on what a sync costs, which is measured
too: where it takes milliseconds, a charge is two to three bare inserts; where a cache answers at
once, only the computing is left to compare.
The database gets a schema ``dproo`` and a table ``bare``, which are dropped at the end.
"""

from __future__ import annotations

import os
import sqlite3
import statistics
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from measuring import compared, seconds, write

from dproo.ledger import Database, Ledger, install

CHARGES = 50
BODY = "x" * 200
TARGET = 3.0


def charges(ledger: Ledger) -> Callable[[], None]:
    """Return what charges a fresh budget."""
    ledger.declare("bench", budget=10**6, neighbours="replace")

    def run() -> None:
        for _ in range(CHARGES):
            ledger.reserve("bench", epsilon="0.001", neighbours="replace", request={"k": 9})

    return run


def sync_milliseconds(folder: Path) -> float:
    """Return what it costs to append a line to a file and sync it, the median of many."""
    with (folder / "synced").open("ab", buffering=0) as file:

        def run() -> None:
            file.write(BODY.encode())
            os.fsync(file)

        return round(1000 * statistics.median(seconds(run) for _ in range(CHARGES)), 3)


def measured(store: str, ours: Callable[[], None], bare: Callable[[], None]) -> dict[str, Any]:
    """Return the row of a store, with charges a second."""
    to, is_here = f"bare INSERT in {store}", store == "SQLite"
    row = compared(f"charges, {store}", ours, bare, to=to, target=TARGET, is_here=is_here)
    return row | {
        "charges_a_second": round(CHARGES / row["seconds"]),
        "inserts_a_second": round(CHARGES / row["reference_seconds"]),
    }


@contextmanager
def bare_sqlite(folder: Path) -> Iterator[Callable[[], None]]:
    """Yield what inserts rows into a file, each synced as a ledger's are."""
    with closing(sqlite3.connect(folder / "bare.sqlite3", isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = EXTRA")
        connection.execute("CREATE TABLE bare (seq INTEGER PRIMARY KEY, body TEXT)")

        def run() -> None:
            for _ in range(CHARGES):
                connection.execute("INSERT INTO bare (body) VALUES (?)", (BODY,))

        yield run


@contextmanager
def bare_postgresql(url: str) -> Iterator[Callable[[], None]]:
    """Yield what inserts rows into a table, each in a transaction of its own."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE bare (seq serial PRIMARY KEY, body text)")

        def run() -> None:
            for _ in range(CHARGES):
                connection.execute("INSERT INTO bare (body) VALUES (%s)", (BODY,))

        try:
            yield run
        finally:
            connection.execute("DROP TABLE bare; DROP SCHEMA IF EXISTS dproo CASCADE")


def main() -> None:
    """Measure both stores and write the table."""
    rows = []
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        os.environ["XDG_STATE_HOME"] = folder
        with bare_sqlite(Path(folder)) as bare:
            ours = charges(Ledger.create(Path(folder) / "ledger.sqlite3"))
            rows.append(measured("SQLite", ours, bare))
        url = os.environ.get("DPROO_POSTGRESQL")
        if url is None:
            print("postgresql: left out, DPROO_POSTGRESQL names no server")
        else:
            with bare_postgresql(url) as bare:
                install(Database(url))
                ours = charges(Ledger(url))
                rows.append(measured("PostgreSQL", ours, bare))
        sync = sync_milliseconds(Path(folder))
    write("ledger", "The ledger", [row | {"sync_milliseconds": sync} for row in rows])


if __name__ == "__main__":
    main()
