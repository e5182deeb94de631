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


def call_of(
    kind: str, *, dataset: str, nano: int, entry: int | None, body: dict[str, Any]
) -> tuple[str, tuple[Any, ...]]:
    """Return the function and its arguments; the function adds the time itself.

    >>> call_of("recorded", dataset="patients", nano=0, entry=2, body={"receipt": {"k": 9}})
    ('record', (2, '{"k":9}'))
    """
    return _FUNCTIONS[kind], _arguments(kind, dataset, nano, entry, body)


def _arguments(
    kind: str, dataset: str, nano: int, entry: int | None, body: dict[str, Any]
) -> tuple[Any, ...]:
    delta = body.get("delta")
    if kind == DECLARED:
        rules = canonical(body["limits"]) if "limits" in body else None
        relation = body["neighbours"], body["records_per_person"]
        return dataset, dataset.casefold(), body["budget"], delta, *relation, body["id"], rules
    if kind in {RESERVED, REQUESTED}:
        return dataset, body["epsilon"], delta, body["id"], canonical(body["request"])
    if kind == RECORDED:
        return entry, canonical(body["receipt"])
    if kind == RESTORED:
        return dataset, nano, delta, body["head"]
    return (entry,)
