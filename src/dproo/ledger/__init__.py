"""The privacy budget: durable, append-only, in one SQLite file."""

from dproo.ledger.accounts import Account, Line
from dproo.ledger.amounts import in_delta, in_epsilon
from dproo.ledger.book import Entry, Ledger, Verification
from dproo.ledger.errors import BudgetRefused, CorruptLedgerError, LedgerError
from dproo.ledger.store import default_path

__all__ = [
    "Account",
    "BudgetRefused",
    "CorruptLedgerError",
    "Entry",
    "Ledger",
    "LedgerError",
    "Line",
    "Verification",
    "default_path",
    "in_delta",
    "in_epsilon",
]
