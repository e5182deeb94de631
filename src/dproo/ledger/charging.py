"""Whether a release may be charged: the budget, its rules, and a second person's word."""

from __future__ import annotations

from collections.abc import Mapping
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
    undeclared,
)
from dproo.ledger.limits import Limits
from dproo.ledger.rules import is_name, require_delta, require_unit
from dproo.ledger.store import Standing, Store

_NO_RULES = Limits()


def limits_of(declared: Event) -> Limits:
    """Return the rules of a declaration."""
    rules = declared.fields.get("limits")
    return _NO_RULES if rules is None else Limits(**rules)


def standing(store: Store, connection: Connection, dataset: str) -> Standing:
    """Return how a dataset stands, by one query.

    Raises:
        UnknownDatasetError: it has no budget.
    """
    found = store.standing(connection, dataset) if is_name(dataset) else None
    if found is None:
        raise undeclared(connection, dataset)
    return found


def require_affordable(
    connection: Connection,
    stands: Standing,
    *,
    charge: int,
    atto: int,
    request: Mapping[str, Any],
    store: Store,
    limits: Limits,
) -> None:
    """Raise unless the budget has as much left and every rule is kept.

    Args:
        connection: to the ledger.
        stands: how the dataset stands.
        charge: in nano-epsilon.
        atto: in atto-delta.
        request: the public parameters of the release.
        store: what tells the time and who spends.
        limits: rules besides those that were declared.
    """
    dataset = stands.declared.dataset
    require_unit(request, stands.first)
    charged = events(connection, where=f"{CHARGED} AND dataset = ?", of=(dataset,))
    require_delta(stands.declared, atto, charged)
    left = stands.declared.nano - stands.spent
    if charge > left:
        raise BudgetRefused(dataset, asked=charge, left=max(0, left))
    for rules in (limits_of(stands.declared), limits):
        if rules.declared:
            at, today, theirs = store.now(connection), 0, None
            if rules.per_day is not None:
                today = _spent_on(connection, dataset, at[:10])
            if rules.per_spender is not None:
                theirs = _spent_by(connection, dataset, store.spender(connection))
            rules.require(
                dataset,
                charge=charge,
                request=request,
                at=at,
                spent_today=today,
                spent_by_spender=theirs,
            )


def _spent_on(connection: Connection, dataset: str, day: str) -> int:
    """Return what was charged on a day; every body begins with the time."""
    condition = f"{CHARGED} AND dataset = ? AND substr(body, 1, 17) = ?"
    found = events(connection, where=condition, of=(dataset, f'{{"at":"{day}'))
    return sum(event.nano for event in found)


def _spent_by(connection: Connection, dataset: str, spender: str | None) -> int | None:
    """Return what one role has charged; what was lost and charged again counts for everyone."""
    if spender is None:
        return None
    condition = f"{CHARGED} AND dataset = ? AND (role = ? OR kind = 'restored')"
    return sum(event.nano for event in events(connection, where=condition, of=(dataset, spender)))


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
