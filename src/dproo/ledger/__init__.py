"""The privacy budget: durable, append-only, in a SQLite file or in PostgreSQL."""

from dproo.core.numbers import in_delta, in_epsilon
from dproo.exceptions import BudgetRefused, CorruptLedgerError, LedgerError
from dproo.ledger.accounts import Account, Line, Verification
from dproo.ledger.address import Address, Database, address_of, default_path
from dproo.ledger.approvals import approve, deny, requests
from dproo.ledger.copying import copy
from dproo.ledger.installing import install
from dproo.ledger.ledger import Entry, Ledger
from dproo.ledger.limits import Limits
from dproo.ledger.restoring import Loss, accept_restore

__all__ = [
    "Account",
    "Address",
    "BudgetRefused",
    "CorruptLedgerError",
    "Database",
    "Entry",
    "Ledger",
    "LedgerError",
    "Limits",
    "Line",
    "Loss",
    "Verification",
    "accept_restore",
    "address_of",
    "approve",
    "copy",
    "default_path",
    "deny",
    "in_delta",
    "in_epsilon",
    "install",
    "requests",
]
