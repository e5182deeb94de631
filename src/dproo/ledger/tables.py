"""What the other tables of a database must hold, from the events alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dproo.core.numbers import budget_of, delta_budget_of
from dproo.ledger.chain import (
    APPROVED,
    DECLARED,
    DENIED,
    REQUESTED,
    RESERVED,
    Connection,
    Event,
)
from dproo.ledger.limits import AMOUNTS

BUDGET = (
    "SELECT dataset, nano, atto, spent_nano, spent_atto, release_nano, day_nano, spender_nano, "
    "approval_nano, until FROM budget"
)
MARKS = "SELECT seq, id, CASE WHEN kind = 'reserved' THEN role END FROM event"
APPROVAL = "SELECT seq, state FROM approval"


def are_right(connection: Connection, events: Iterable[Event]) -> bool:
    """Return whether sums, rules, requests, ids and spenders are those of the events."""
    budgets: dict[str, list[Any]] = {}
    approvals: dict[int, str] = {}
    marks: dict[int, tuple[Any, Any]] = {}
    for event in events:
        fields = event.fields
        spender = fields.get("by") if event.kind == RESERVED else None
        marks[event.seq] = fields.get("id"), spender
        if event.kind == DECLARED:
            rules = fields.get("limits", {})
            amounts = [rules.get(name) for name in AMOUNTS]
            budgets[event.dataset] = [
                event.nano,
                delta_budget_of(fields.get("delta", 0)),
                0,
                0,
                *(None if amount is None else budget_of(amount) for amount in amounts),
                rules.get("until"),
            ]
        elif event.kind == REQUESTED:
            approvals[event.seq] = "open"
        elif event.kind in {APPROVED, DENIED}:
            approvals[event.entry] = event.kind
        nano, atto = event.charge
        if nano or atto:
            budgets[event.dataset][2] += nano
            budgets[event.dataset][3] += atto
        if "grant" in fields:
            approvals[fields["grant"]] = "used"
    kept = {row[0]: list(row[1:]) for row in connection.execute(BUDGET)}
    marked = {seq: (id_, role) for seq, id_, role in connection.execute(MARKS)}
    asked = dict(connection.execute(APPROVAL))
    return (kept, asked, marked) == (budgets, approvals, marks)
