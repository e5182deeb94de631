"""The privacy budget: durable, append-only, in a SQLite file or in PostgreSQL."""

from dproo.core.numbers import in_delta, in_epsilon
from dproo.errors import BudgetRefused, CorruptLedgerError, LedgerError
from dproo.ledger.account import Account, ApprovalRequest, Budget, Line, Verification
from dproo.ledger.ledger import Entry, Ledger
from dproo.ledger.location import Address, Database, address_of, default_path
from dproo.ledger.restore import Loss, accept_restore, copy
from dproo.ledger.rules import Limits
from dproo.ledger.stores import install

__all__ = [
    "Account",
    "Address",
    "ApprovalRequest",
    "Budget",
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
    "copy",
    "default_path",
    "in_delta",
    "in_epsilon",
    "install",
]
