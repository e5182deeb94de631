"""The default name of a dataset's budget, and how to declare one."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Any

from dproo.core.checks import may_hold_secret, refusal
from dproo.engines import postgresql_url
from dproo.engines.descriptors import STDIN
from dproo.ledger import Address, default_path


def dataset_name(data: str) -> str:
    """Return the name that a budget has by default: a file's full path, else the text itself.

    Names appear in ledgers and receipts. A database is named by host, port and name only.

    Raises:
        ValueError: it may hold a password, and what it names cannot be told without it.

    >>> dataset_name("postgresql://ann:secret@db.example/clinic?password=secret&sslmode=require")
    'postgresql://db.example/clinic'
    """
    if postgresql_url.is_url(data):
        return postgresql_url.public_name(data)
    if data == STDIN:
        raise ValueError(
            "dataset must be given for data from standard input: it names the budget."
            " Add --dataset NAME, or --no-ledger."
        )
    # Path raises where a name is too long.
    if os.path.exists(data):  # noqa: PTH110
        return str(Path(data).resolve())
    if may_hold_secret(data):
        raise ValueError(refusal("dataset", "be a public name", data))
    return data


def published(receipt: dict[str, Any]) -> dict[str, Any]:
    """Return a receipt that names a file without the folders it is in, which are nobody's business.

    >>> published({"ledger": {"dataset": "/home/ann/visits.csv", "entry": 2}})
    {'ledger': {'dataset': 'visits.csv', 'entry': 2}}
    """
    charged = receipt["ledger"]
    if charged is None or not Path(charged["dataset"]).is_absolute():
        return receipt
    return receipt | {"ledger": charged | {"dataset": Path(charged["dataset"]).name}}


def remedy(dataset: str, ledger: Address) -> str:
    """Return the sentence that says how to declare a missing budget."""
    name = _argument(dataset, "NAME")
    return f"Declare a budget first: dproo ledger init {name} --budget EPSILON{_elsewhere(ledger)}."


def reprint(receipt: dict[str, Any], ledger: Address) -> str:
    """Return the sentence that says where to find a release that could not be shown."""
    charged = receipt["ledger"]
    if charged is None:
        return "It was charged to no ledger, so it is lost."
    return (
        f"The charge stays, and the release is kept: dproo ledger print {charged['entry']}"
        f"{_elsewhere(ledger)} prints it again, for free."
    )


def _elsewhere(ledger: Address) -> str:
    is_default = ledger == default_path()
    return "" if is_default else f" --ledger {_argument(str(ledger), 'FILE')}"


def _argument(text: str, placeholder: str) -> str:
    return placeholder if may_hold_secret(text) else shlex.quote(text)
