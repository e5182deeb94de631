"""Edits of a ledger's events by SQL, as someone makes them who can get at the rows."""

from __future__ import annotations

from typing import Any

from support.draws import DICE

from dproo.ledger.events import COLUMNS, Event

PLACES = ", ".join("?" * len(Event._fields))


def events(connection: Any) -> list[Event]:
    """Return the events of a ledger, by SQL."""
    rows = connection.execute(f"SELECT {COLUMNS} FROM event ORDER BY seq")
    return [Event._make(row) for row in rows]


def randomly(connection: Any) -> None:
    """Make one edit of the table ``event``."""
    edit = DICE.choice([changed_value, changed_value, deleted, inserted, swapped, moved])
    edit(connection)


def changed_value(connection: Any) -> None:
    names = ["kind", "dataset", "entry", "nano", "atto", "at", "role", "id", "body", "hash"]
    column = DICE.choice(names)
    rows = list(events(connection))
    old = getattr(DICE.choice(rows), column)
    new = {
        "kind": DICE.choice(["reserved", "recorded", "declared", "refunded"]),
        "dataset": DICE.choice(["patients", "visits", "others"]),
        "entry": DICE.randrange(20),
        "nano": DICE.choice([0, 1, -1, 10**8, DICE.randrange(10**10)]),
        "atto": DICE.choice([0, 1, -1, 10**8]),
        "at": str(old).replace(DICE.choice("0123456789"), DICE.choice("0123456789"), 1),
        "role": DICE.choice(["", "eve", "bob"]),
        "id": DICE.randbytes(16).hex(),
        "body": str(old).replace(DICE.choice('0123456789"aeu'), DICE.choice("0123456789x"), 1),
        "hash": DICE.choice([row.hash for row in rows] + [DICE.randbytes(32).hex()]),
    }[column]
    seq = DICE.randint(1, len(rows))
    if getattr(rows[seq - 1], column) == new:
        new = DICE.choice([b"", 7.5, "9" * 64])
    connection.execute(f"UPDATE event SET {column} = ? WHERE seq = ?", (new, seq))


def deleted(connection: Any) -> None:
    last = len(list(events(connection)))
    connection.execute("DELETE FROM event WHERE seq = ?", (DICE.randrange(1, last),))


def inserted(connection: Any) -> None:
    rows = list(events(connection))
    row = DICE.choice(rows)
    seq = DICE.choice([0, -1, len(rows) + 1, len(rows) + 9, 2**62])
    values = row._replace(seq=seq)
    connection.execute(f"INSERT INTO event ({COLUMNS}) VALUES ({PLACES})", values)


def swapped(connection: Any) -> None:
    first, second = DICE.sample(range(1, len(list(events(connection))) + 1), 2)
    for old, new in ((first, -1), (second, first), (-1, second)):
        connection.execute("UPDATE event SET seq = ? WHERE seq = ?", (new, old))


def moved(connection: Any) -> None:
    seq = DICE.randint(1, len(list(events(connection))))
    connection.execute("UPDATE event SET seq = ? WHERE seq = ?", (DICE.choice([0, 99]), seq))
