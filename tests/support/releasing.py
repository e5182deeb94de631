"""Releases and checks with all their choices at once, as a table of cases names them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import dproo
from dproo.releases.charge import Charge
from dproo.releases.protection import Groups, Protection

_OPENED = {"table", "engine", "delimiter", "encoding", "format", "has_header", "layout"}


def dataset(data: Any, choices: dict[str, Any]) -> dproo.Dataset:
    """Return the dataset that some of the choices describe, and take these out."""
    opened = {name: choices.pop(name) for name in _OPENED & set(choices)}
    protection = Protection(
        neighbours=choices.pop("neighbours", "replace"),
        person=choices.pop("person", None),
        records=choices.pop("records_per_person", 1),
        missing=choices.pop("missing_person", "one"),
    )
    stated = {"purpose", "operator", "ledger", "dataset"} & set(choices)
    charge = Charge(**{name: choices.pop(name) for name in stated})
    return replace(dproo.open(data, **opened), protection=protection, charge=charge)


def sample(
    data: Any,
    *,
    alphabet: Any = None,
    codebook: Any = None,
    column: str | None = None,
    **choices: Any,
) -> dproo.Release:
    """Release by a code book, by open values or by listed ones, with any choices."""
    opened = dataset(data, choices)
    by, are_public = choices.pop("by", None), choices.pop("are_groups_public", False)
    if isinstance(by, Mapping):
        ((name, groups),) = by.items()
        choices["by"] = Groups(name, groups, are_public=are_public)
    if codebook is not None:
        return opened.rows(codebook, **choices)
    is_open = isinstance(alphabet, str) and alphabet == "open"
    return (opened.value if is_open else opened.values)(column, alphabet, **choices)


def check(
    data: Any,
    *,
    alphabet: Any = None,
    codebook: Any = None,
    column: str | None = None,
    **choices: Any,
) -> dproo.Check:
    """Check by a code book or by listed values."""
    opened = dataset(data, choices)
    return opened.check(codebook) if codebook is not None else opened.check(column, alphabet)
