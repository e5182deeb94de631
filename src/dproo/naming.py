"""The budget of a dataset: what it is called where nobody named it, and how to declare one."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from dproo.engines.sql import URLS
from dproo.ledger import default_path


def dataset_name(data: str) -> str:
    """Return the name that a budget has by default: a file's full path, else the text itself.

    Names stand in ledgers and receipts, so the password of a database is left out.

    >>> dataset_name("postgresql://ann:secret@db.example/clinic?password=secret&sslmode=require")
    'postgresql://ann@db.example/clinic?sslmode=require'
    """
    if data.startswith(URLS):
        url = urlsplit(data)
        user, at, host = url.netloc.rpartition("@")
        kept = [pair for pair in url.query.split("&") if "password" not in pair.partition("=")[0]]
        return urlunsplit(
            url._replace(netloc=user.partition(":")[0] + at + host, query="&".join(kept))
        )
    # Path raises where a name is too long.
    return str(Path(data).resolve()) if os.path.exists(data) else data  # noqa: PTH110


def remedy(dataset: str, ledger: Path) -> str:
    """Return the sentence that tells how a missing budget is declared."""
    return (
        f"Declare a budget first: dproo ledger init {shlex.quote(dataset)}"
        f" --budget EPSILON{_elsewhere(ledger)}."
    )


def reprint(receipt: dict[str, Any], ledger: Path) -> str:
    """Return the sentence that tells where a release is that could not be shown."""
    charged = receipt["ledger"]
    if charged is None:
        return "It was charged to no ledger, so it is lost."
    return (
        f"The charge stays, and the release is kept: dproo ledger print {charged['entry']}"
        f"{_elsewhere(ledger)} prints it again, for free."
    )


def _elsewhere(ledger: Path) -> str:
    is_default = ledger.absolute() == default_path().absolute()
    return "" if is_default else f" --ledger {shlex.quote(str(ledger))}"
