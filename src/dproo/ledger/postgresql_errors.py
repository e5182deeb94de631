"""What to say of an error of PostgreSQL, whose own text is never repeated."""

from __future__ import annotations

from typing import Any

from dproo.exceptions import (
    BusyLedgerError,
    FullDiskError,
    LedgerError,
    MissingLedgerError,
    NewerFormatError,
    ReadOnlyLedgerError,
    RoleError,
    UnusableLedgerError,
)
from dproo.ledger.address import Database

FORMAT = 2
_OLDER = (
    "An earlier version of dproo made it: with that one, 'dproo ledger export --to' a file. Then "
    "drop the schema dproo, install it anew, and 'dproo ledger import' the file."
)
LOST = "lost the connection. Nothing was charged; try again."

_SENTENCES: dict[str, tuple[type[LedgerError], str]] = {
    "42501": (
        RoleError,
        "may not be used so by this role: dproo_owner declares, dproo_spender releases.",
    ),
    "53100": (FullDiskError, "cannot be written: no space is left on the server's disk."),
    "55P03": (
        BusyLedgerError,
        "was held by other processes for too long. Nothing was charged; try again.",
    ),
}
_MISSING = (MissingLedgerError, "is not there. 'dproo ledger install' makes it in the database.")
_STANDBY = (ReadOnlyLedgerError, "cannot be written: the server is a copy of another one.")
_SENTENCES |= dict.fromkeys(("0A000", "25006"), _STANDBY)
_SENTENCES |= dict.fromkeys(("3F000", "42P01", "42883"), _MISSING)
_ELSE = (UnusableLedgerError, "refused the query; details are withheld. Nothing was charged.")


class LostError(Exception):
    """The connection is gone, and with it the answer."""


def failure_of(error: Any, address: Database) -> Exception:
    """Return what to raise for an error of the driver."""
    code = error.sqlstate
    if code is None or code.startswith(("08", "57P")) or code == "25P03":
        return LostError()
    kind, sentence = _SENTENCES.get(code, _ELSE)
    return kind(f"the ledger {address} {sentence}")


def require_format(version: int, address: Database) -> None:
    """Raise unless a ledger is of the format that this software writes."""
    sentence = f"the ledger {address} must have format {FORMAT}, got {version}."
    if version > FORMAT:
        raise NewerFormatError(f"{sentence} A later version of dproo can read it.")
    if version < FORMAT:
        raise UnusableLedgerError(f"{sentence} {_OLDER}")
