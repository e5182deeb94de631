"""The budget of a dataset: what it is called where nobody named it, and how to declare one."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from dproo._check import may_hold_secret, refusal
from dproo.engines import conninfo
from dproo.ledger import default_path


def dataset_name(data: str) -> str:
    """Return the name that a budget has by default: a file's full path, else the text itself.

    Names stand in ledgers and receipts. A database is named by host, port and name alone.

    Raises:
        ValueError: it may hold a password, and what it names cannot be told without it.

    >>> dataset_name("postgresql://ann:secret@db.example/clinic?password=secret&sslmode=require")
    'postgresql://db.example/clinic'
    """
    if conninfo.is_url(data):
        return conninfo.public_name(data)
    # Path raises where a name is too long.
    if os.path.exists(data):  # noqa: PTH110
        return str(Path(data).resolve())
    if may_hold_secret(data):
        raise ValueError(refusal("dataset", "be a public name", data))
    return data


def remedy(dataset: str, ledger: Path) -> str:
    """Return the sentence that tells how a missing budget is declared."""
    elsewhere = f" --ledger {shlex.quote(str(ledger))}" if ledger != default_path() else ""
    name = "NAME" if may_hold_secret(dataset) else shlex.quote(dataset)
    return f"Declare a budget first: dproo ledger init {name} --budget EPSILON{elsewhere}."
