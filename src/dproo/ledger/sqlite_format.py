"""The format of the file: its tables, its triggers, and the numbers it is known by."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from dproo.exceptions import CorruptLedgerError, NewerFormatError, NotALedgerError

APPLICATION_ID = int.from_bytes(b"dpro", "big")
FORMAT, FORMAT_WITH_DELTA, FORMAT_WITH_IDENTITY, FORMAT_WITH_LIMITS = 1, 2, 3, 4
"""Software that knows no delta, no identity and restore, or no rules refuses a ledger with them."""

SCHEMA = (
    (
        "CREATE TABLE event (seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, dataset TEXT NOT NULL, "
        "entry INTEGER NOT NULL, nano INTEGER NOT NULL, body TEXT NOT NULL, hash TEXT NOT NULL)"
    ),
    "CREATE TABLE seal (one INTEGER PRIMARY KEY CHECK (one = 1), digest BLOB NOT NULL)",
    (
        "CREATE TRIGGER event_is_next BEFORE INSERT ON event "
        "WHEN NEW.seq IS NOT 1 + coalesce((SELECT max(seq) FROM event), 0) "
        "BEGIN SELECT RAISE(ABORT, 'events are appended only'); END"
    ),
    (
        "CREATE TRIGGER event_is_final BEFORE UPDATE ON event "
        "BEGIN SELECT RAISE(ABORT, 'events are never changed'); END"
    ),
    (
        "CREATE TRIGGER event_stays BEFORE DELETE ON event "
        "BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END"
    ),
)


def require_format(connection: sqlite3.Connection, path: Path) -> int:
    """Raise unless the file is a ledger of ours; return the number of its format."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION_ID:
        raise NotALedgerError(f"the ledger {path} is not a ledger.")
    version: int
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version not in range(FORMAT, FORMAT_WITH_LIMITS + 1):
        raise NewerFormatError(
            f"the ledger {path} must have format {FORMAT} to {FORMAT_WITH_LIMITS}, got "
            f"{version}. A later version of dproo can read it."
        )
    found = connection.execute("SELECT sql FROM sqlite_master ORDER BY rowid").fetchall()
    journal = connection.execute("PRAGMA journal_mode").fetchone()
    is_ours = found == [(statement,) for statement in SCHEMA] and journal == ("delete",)
    if not is_ours or version != format_needed(connection)[0]:
        raise CorruptLedgerError(
            f"the ledger {path} is corrupt: its tables or settings are not a ledger's."
        )
    return version


def format_needed(connection: sqlite3.Connection, *, since: int = 0) -> tuple[int, int]:
    """Return the format that the events after one ask for, and the number of the last one."""
    limits, identities, deltas, last = connection.execute(
        "SELECT count(*) FILTER (WHERE kind = 'declared' AND instr(body, '\"limits\":')), "
        "count(*) FILTER (WHERE kind = 'restored' OR seq = 1 AND instr(body, '\"id\":')), "
        "count(*) FILTER (WHERE kind = 'declared' AND instr(body, '\"delta\":')), "
        "coalesce(max(seq), ?) FROM event WHERE seq > ?",
        (since, since),
    ).fetchone()
    if limits:
        return FORMAT_WITH_LIMITS, last
    if identities:
        return FORMAT_WITH_IDENTITY, last
    return FORMAT_WITH_DELTA if deltas else FORMAT, last
