"""Which function of the database writes an event, and with which arguments."""

from __future__ import annotations

from typing import Any

from dproo.ledger.chain import (
    APPROVED,
    DECLARED,
    DENIED,
    RECORDED,
    REQUESTED,
    RESERVED,
    RESTORED,
    Draft,
    canonical,
)

_FUNCTIONS = {
    DECLARED: "declare_budget",
    RESERVED: "reserve",
    RECORDED: "record",
    RESTORED: "restore",
    REQUESTED: "ask",
    APPROVED: "approve",
    DENIED: "deny",
}


def call_of(draft: Draft) -> tuple[str, tuple[Any, ...]]:
    """Return the function and its arguments; the function adds the time itself.

    >>> body = {"receipt": {"k": 9}}
    >>> call_of(Draft(kind="recorded", dataset="patients", nano=0, body=body, entry=2))
    ('record', (2, '{"k":9}'))
    """
    return _FUNCTIONS[draft.kind], _arguments(draft)


def _arguments(draft: Draft) -> tuple[Any, ...]:
    kind, dataset, body = draft.kind, draft.dataset, draft.body
    delta = body.get("delta")
    if kind == DECLARED:
        rules = canonical(body["limits"]) if "limits" in body else None
        relation = body["neighbours"], body["records_per_person"]
        return dataset, dataset.casefold(), body["budget"], delta, *relation, body["id"], rules
    if kind in {RESERVED, REQUESTED}:
        return dataset, body["epsilon"], delta, body["id"], canonical(body["request"])
    if kind == RECORDED:
        return draft.entry, canonical(body["receipt"])
    if kind == RESTORED:
        return dataset, draft.nano, delta, body["head"]
    return (draft.entry,)
