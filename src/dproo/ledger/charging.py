"""Whether a release may be charged: the budget, its rules, and a second person's word."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dproo.exceptions import BudgetRefused, RuleRefused
from dproo.ledger.chain import (
    APPROVED,
    ASKED,
    CHARGED,
    DENIED,
    Connection,
    Event,
    events,
    spent,
)
from dproo.ledger.limits import Limits
from dproo.ledger.rules import require_delta, require_unit


def limits_of(declared: Event) -> Limits:
    """Return the rules of a declaration."""
    return Limits(**declared.fields.get("limits", {}))


def require_affordable(
    connection: Connection,
    declared: Event,
    *,
    charge: int,
    atto: int,
    request: Mapping[str, Any],
    now: Callable[[], str],
    limits: Limits,
) -> None:
    """Raise unless the budget has as much left and every rule is kept.

    Args:
        connection: to the ledger.
        declared: the declaration of the dataset.
        charge: in nano-epsilon.
        atto: in atto-delta.
        request: the public parameters of the release.
        now: what tells the time, as events keep it.
        limits: rules besides those that were declared.
    """
    dataset = declared.dataset
    first = "seq = (SELECT min(seq) FROM event WHERE kind = 'reserved' AND dataset = ?)"
    require_unit(request, events(connection, where=first, of=(dataset,)))
    charged = f"{CHARGED} AND dataset = ?"
    require_delta(declared, atto, events(connection, where=charged, of=(dataset,)))
    left = declared.nano - spent(connection, dataset)
    if charge > left:
        raise BudgetRefused(dataset, asked=charge, left=max(0, left))
    for rules in (limits_of(declared), limits):
        if rules.declared:
            at = now()
            today = events(
                connection,
                where=f"{charged} AND substr(body, 1, 17) = ?",
                of=(dataset, f'{{"at":"{at[:10]}'),
            )
            rules.require(
                dataset,
                charge=charge,
                request=request,
                at=at,
                spent_today=sum(event.nano for event in today),
            )


def request_for(connection: Connection, dataset: str, body: Mapping[str, Any]) -> Event | None:
    """Return the request of the very same release that is still open or approved and unused.

    Raises:
        RuleRefused: it was denied.
    """
    wanted = {name: body.get(name) for name in ASKED}
    decisions = decided(connection)
    found = None
    for event in events(connection, where="kind = 'requested' AND dataset = ?", of=(dataset,)):
        if {name: event.fields.get(name) for name in ASKED} != wanted:
            continue
        if decisions.get(event.seq) == DENIED:
            raise RuleRefused("approval_above", dataset, f"request {event.seq} was denied")
        if not is_used(connection, event):
            found = event
    return found


def decided(connection: Connection) -> dict[int, str]:
    """Return what became of every request that was decided."""
    found = events(connection, where="kind IN ('approved', 'denied')")
    return {event.entry: event.kind for event in found}


def is_approved(connection: Connection, request: Event) -> bool:
    """Return whether a second person has approved a request."""
    return decided(connection).get(request.seq) == APPROVED


def is_used(connection: Connection, request: Event) -> bool:
    """Return whether a charge was made under the approval of a request."""
    charged = events(
        connection,
        where="kind = 'reserved' AND dataset = ? AND nano = ? AND seq > ?",
        of=(request.dataset, request.nano, request.seq),
    )
    return any(event.fields.get("grant") == request.seq for event in charged)
