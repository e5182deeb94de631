"""Charges a second, in a file and in PostgreSQL, beside a bare INSERT of the same durability.

DPROO_POSTGRESQL=postgresql://... python benchmarks/ledger.py

A charge is committed by the ledger and then noted by a witness, so two syncs stand beside one.
The database gets a schema ``dproo`` and a table ``bare``, which are dropped at the end.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from measuring import compared, write

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
            figure = f"{CHARGES} charges to a file"
            rows.append(compared(figure, ours, bare, to="bare INSERT in SQLite", target=TARGET))
        url = os.environ.get("DPROO_POSTGRESQL")
        if url is None:
            print("postgresql: left out, DPROO_POSTGRESQL names no server")
        else:
            with bare_postgresql(url) as bare:
                install(Database(url))
                ours = charges(Ledger(url))
                figure = f"{CHARGES} charges to PostgreSQL"
                to = "bare INSERT in PostgreSQL"
                rows.append(compared(figure, ours, bare, to=to, target=TARGET, is_here=False))
    write("ledger", "The ledger", rows)


if __name__ == "__main__":
    main()
