"""A ledger in a file or in PostgreSQL, for tests that hold for both."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.databases import role_of

from dproo.ledger import Database, Ledger, install
from dproo.ledger.events import Event

DATABASE = "ledgers"
PEOPLE = {
    "ann": "dproo_owner",
    "bob": "dproo_spender",
    "eve": "dproo_spender",
    "kim": "dproo_auditor",
    "team": "dproo_owner, dproo_spender",
}
_TABLES = ("event", "head")


def installed(server: str) -> str:
    """Return the URL of a database with a ledger, as the server's superuser sees it."""
    import psycopg  # noqa: PLC0415 - not for every test

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {DATABASE}")
        url = server.replace("/postgres?", f"/{DATABASE}?")
        install(Database(url))
        for name, roles in PEOPLE.items():
            connection.execute(f"CREATE ROLE {name} LOGIN IN ROLE {roles}")
    return url


@contextmanager
def unguarded(url: str) -> Iterator[Any]:
    """Yield a superuser's connection for which no trigger fires."""
    import psycopg  # noqa: PLC0415 - as above

    with psycopg.connect(url) as connection:
        connection.execute("SET session_replication_role = replica; SET search_path = dproo")
        yield connection


def emptied(url: str) -> str:
    """Empty the ledger of a database; return its URL for a role that may declare and spend."""
    url = url.replace("user=team", "user=dproo")
    with unguarded(url) as connection:
        connection.execute("DELETE FROM event; UPDATE head SET seq = 0")
    return role_of(url, "team")


def copy_of(ledger: Ledger) -> Any:
    """Return all that a ledger holds."""
    if isinstance(ledger.path, Path):
        return ledger.path.read_bytes()
    with unguarded(_superuser(ledger)) as connection:
        return rows_of(connection)


def put_back(ledger: Ledger, copy: Any) -> None:
    """Replace what a ledger holds by a copy."""
    if isinstance(ledger.path, Path):
        ledger.path.write_bytes(copy)
        return
    with unguarded(_superuser(ledger)) as connection:
        put_rows(connection, copy)


def rows_of(connection: Any) -> Any:
    """Return the rows of every table of a ledger in a database."""
    query = "SELECT * FROM {} ORDER BY 1"
    return [connection.execute(query.format(name)).fetchall() for name in _TABLES]


def put_rows(connection: Any, copy: Any) -> None:
    """Replace the rows of every table."""
    for name, rows in zip(_TABLES, copy, strict=True):
        connection.execute(f"DELETE FROM {name}")
        for row in rows:
            places = ", ".join(["%s"] * len(row))
            connection.execute(f"INSERT INTO {name} VALUES ({places})", row)


def url_of(ledger: Ledger) -> str:
    """Return what opens the ledger in another process."""
    return ledger.path.url if isinstance(ledger.path, Database) else str(ledger.path)


def _superuser(ledger: Ledger) -> str:
    assert isinstance(ledger.path, Database)
    return re.sub(r"user=\w+", "user=dproo", ledger.path.url)


def fresh(folder: Path, name: str) -> Path | str:
    """Return where a worker makes its next ledger: in the folder, or in ``LEDGER_DATABASE``."""
    url = os.environ.get("LEDGER_DATABASE")
    return emptied(url) if url else folder / f"{name}.sqlite3"


def future(ledger: Ledger) -> None:
    """Write a charge of another dataset to a database, dated in a year to come."""
    last = Event(**{**ledger.export()[-1], "body": "{}"})
    body = '{"epsilon":"1/1000","request":{}}'
    made = last._replace(seq=last.seq + 1, kind="reserved", dataset="patients", nano=10**6)
    made = made._replace(at="2100-01-01T00:00:00+00:00", id="ab" * 16, body=body, atto=0, entry=0)
    row = made._replace(hash=made.link(last.hash))
    with unguarded(_superuser(ledger)) as connection:
        places = ", ".join(["%s"] * len(row))
        connection.execute(f"INSERT INTO event VALUES ({places})", row)
        connection.execute("UPDATE head SET seq = seq + 1")
