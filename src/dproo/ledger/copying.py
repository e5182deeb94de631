"""Moving a ledger between a file and a database, event by event and hash by hash."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from dproo.core.numbers import delta_budget_of
from dproo.exceptions import NotEmptyLedgerError
from dproo.ledger.accounts import accounts_of, require_chain
from dproo.ledger.address import Database
from dproo.ledger.chain import (
    APPROVED,
    COLUMNS,
    DECLARED,
    DENIED,
    REQUESTED,
    RESERVED,
    Connection,
    Event,
    canonical,
    events,
)
from dproo.ledger.ledger import Ledger

_STATE = "UPDATE approval SET state = ? WHERE seq = ?"
_VALUES = "(?, ?, ?, ?, ?, ?, ?)"


def copy(source: Ledger, target: str | os.PathLike[str] | Database) -> Ledger:
    """Copy every event of a ledger into an empty one.

    Both are then the same ledger, by chain and by identity: what is charged to one of them makes
    the other an old copy, which a witness refuses.

    Args:
        source: the ledger to read; it is verified first.
        target: a new file, or a database with an empty ledger. There the role must own the
            ledger's tables, as the one that installed it does.

    Raises:
        NotEmptyLedgerError: the target holds events.
    """
    with source._reading() as connection:  # noqa: SLF001 - a part of the same package
        source._store.require_intact(connection)  # noqa: SLF001
        chain = list(events(connection))
    require_chain(chain)
    accounts_of(chain)
    made = Ledger.create(target)

    def write(connection: Connection, *, is_again: bool) -> None:
        held = list(events(connection))
        if is_again and held == chain:
            return
        if held:
            raise NotEmptyLedgerError(f"the ledger {made.path} must be empty to be copied into.")
        if isinstance(made.path, Database):
            _fill(connection, chain)
            return
        for event in chain:
            connection.execute(f"INSERT INTO event ({COLUMNS}) VALUES {_VALUES}", _row(event))  # noqa: S608 - no outside text

    made._write(write)  # noqa: SLF001
    made.verify()
    return made


def _row(event: Event) -> tuple[Any, ...]:
    return tuple(getattr(event, name) for name in COLUMNS.split(", "))


def _fill(connection: Connection, chain: Sequence[Event]) -> None:
    """Write the events, and what the functions of the database know besides."""
    insert = f"INSERT INTO event ({COLUMNS}, id, role) VALUES {_VALUES[:-1]}, ?, ?)"  # noqa: S608 - as above
    for event in chain:
        nano, atto = event.charge
        fields = event.fields
        spender = fields.get("by") if event.kind == RESERVED else None
        connection.execute(insert, (*_row(event), fields.get("id"), spender))
        if event.kind == DECLARED:
            connection.execute(
                "INSERT INTO budget (dataset, folded, nano, atto) VALUES (?, ?, ?, ?)",
                (
                    event.dataset,
                    event.dataset.casefold(),
                    event.nano,
                    delta_budget_of(fields.get("delta", 0)),
                ),
            )
            if "limits" in fields:
                rules = canonical(fields["limits"])
                connection.execute("SELECT set_limits(?, ?)", (event.dataset, rules))
        elif event.kind == REQUESTED:
            asked = fields["epsilon"], fields.get("delta"), canonical(fields["request"])
            connection.execute(
                "INSERT INTO approval SELECT ?, digest(?, ?, ?, ?), ''",
                (event.seq, event.dataset, *asked),
            )
        elif event.kind in {APPROVED, DENIED}:
            connection.execute(_STATE, (event.kind, event.entry))
        elif nano or atto:
            connection.execute(
                "UPDATE budget SET spent_nano = spent_nano + ?, spent_atto = spent_atto + ? "
                "WHERE dataset = ?",
                (nano, atto, event.dataset),
            )
        if "grant" in fields:
            connection.execute(_STATE, ("used", fields["grant"]))
        if "at" in fields:
            connection.execute("UPDATE head SET at = greatest(at, ?)", (fields["at"],))
    if chain:
        connection.execute("UPDATE head SET seq = ?", (chain[-1].seq,))
