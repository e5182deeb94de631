"""What may enter a ledger: names, relations, and public values only."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dproo.core.checks import may_hold_secret, one_of, refusal, whole
from dproo.core.numbers import (
    charge_of,
    delta_budget_of,
    delta_charge_of,
    in_delta,
    parse_delta,
    parse_epsilon,
)
from dproo.exceptions import DeltaRefused, OtherRelationError, PureBudgetError
from dproo.ledger.chain import Event, canonical
from dproo.mechanisms import ADD_REMOVE, RECORDS_MAX, REPLACE

_LONGEST_NAME = 200
_NEVER_PUBLIC = {"counts", "m", "q", "seed"}
_TELLS_N = {"n", "worst_alpha"}


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a release costs.

    Attributes:
        nano: in nano-epsilon.
        atto: in atto-delta.
        fields: what a body says of it.
    """

    nano: int
    atto: int
    fields: dict[str, str]


def is_name(dataset: object) -> bool:
    """Return whether a dataset could be called so; else no database need be asked for it."""
    return isinstance(dataset, str) and dataset.isprintable()


def require_name(dataset: object) -> None:
    """Raise unless a dataset's name is plain, printable and public text."""
    if not isinstance(dataset, str):
        raise TypeError(refusal("dataset", "be text", dataset))
    if not 0 < len(dataset) <= _LONGEST_NAME or dataset != dataset.strip():
        condition = f"be 1 to {_LONGEST_NAME} characters without spaces around them"
        raise ValueError(refusal("dataset", condition, dataset))
    if not dataset.isprintable() or not unicodedata.is_normalized("NFC", dataset):
        raise ValueError(refusal("dataset", "be printable text in Unicode normal form C", dataset))
    if may_hold_secret(dataset):
        raise ValueError(refusal("dataset", "be a public name", dataset))


def relation_of(neighbours: object, records_per_person: object) -> dict[str, Any]:
    """Return the relation for which epsilons add up, checked."""
    return {
        "neighbours": one_of("neighbours", neighbours, (REPLACE, ADD_REMOVE)),
        "records_per_person": whole(
            "records_per_person", records_per_person, at_least=1, at_most=RECORDS_MAX
        ),
    }


def require_relation(declared: Event, relation: Mapping[str, Any]) -> None:
    """Raise unless a release is under the relation that was declared."""
    for name, asked in relation.items():
        if asked != declared.fields[name]:
            raise OtherRelationError(
                refusal(name, f"be {declared.fields[name]!r} as declared", asked)
                + f" The epsilons of {declared.dataset!r} add up for that relation only."
            )


def require_unit(request: Mapping[str, Any], first: Event | None) -> None:
    """Raise unless a release counts people or records as the first charge of its budget did.

    Args:
        request: its public parameters.
        first: the first charge, if there is one.
    """
    if first is None:
        return
    unit = first.fields["request"].get("unit")
    if request.get("unit") != unit:
        raise OtherRelationError(
            f"person must be {'given' if unit else 'left out'} as in the first release of"
            f" {first.dataset!r}: the epsilons of people and of records do not add up."
            " Declare another budget, and name it with --dataset."
        )


def delta_field(delta: object) -> dict[str, str]:
    """Return what a body says of delta: nothing where it is pure, as before there was one."""
    exact = parse_delta(delta)
    return {"delta": str(exact)} if exact else {}


def cost_of(epsilon: object, delta: object) -> Cost:
    """Return what a release costs; the numbers are parsed once, since most are the same again."""
    try:
        return _cost(epsilon, delta)
    except TypeError:  # it has no hash, or is no number
        return _cost.__wrapped__(epsilon, delta)


@lru_cache(typed=True)
def _cost(epsilon: object, delta: object) -> Cost:
    exact = parse_epsilon(epsilon)
    return Cost(
        nano=charge_of(exact),
        atto=delta_charge_of(delta),
        fields={"epsilon": str(exact), **delta_field(delta)},
    )


def require_delta(declared: Event, asked: int, charged: Iterable[Event]) -> None:
    """Raise unless a charge of delta, in atto-delta, fits into what was declared.

    Args:
        declared: the declaration of the dataset.
        asked: the charge.
        charged: the charges before it.
    """
    if not asked:
        return
    budget = delta_budget_of(declared.fields.get("delta", 0))
    if not budget:
        raise PureBudgetError(
            f"{refusal('delta', 'be 0 as declared', in_delta(asked))} "
            f"The budget of {declared.dataset!r} is pure epsilon."
        )
    left = budget - sum(event.charge[1] for event in charged)
    if asked > left:
        raise DeltaRefused(declared.dataset, asked=asked, left=max(0, left))


def require_public(name: str, value: object, neighbours: str) -> None:
    """Raise if a field name tells that a value is private; it would stay in the file for good.

    What is released, under ``values``, may be named by anything, such as a group called ``m``.
    """
    try:
        canonical(value)
    except (TypeError, ValueError, RecursionError):
        raise ValueError(f"{name} must be made of JSON values.") from None
    if found := private_field(value, neighbours):
        raise ValueError(f"{name} must be public, got a field {found!r}.")


def private_field(value: object, neighbours: str) -> str | None:
    """Return the name of a field that tells that its value is private, if there is one."""
    private = _NEVER_PUBLIC | (_TELLS_N if neighbours == ADD_REMOVE else set())
    remaining = [value]
    while remaining:
        item = remaining.pop()
        if isinstance(item, Mapping):
            if not private.isdisjoint(item):
                return min(private & set(item))
            remaining += [part for field, part in item.items() if field != "values"]
        elif isinstance(item, list | tuple):
            remaining += item
    return None
