"""The privacy budget: durable, append-only, in one SQLite file."""

from dproo.core.amounts import in_delta, in_epsilon
from dproo.exceptions import BudgetRefused, CorruptLedgerError, LedgerError
from dproo.ledger.accounts import Account, Line, Verification
from dproo.ledger.ledger import Entry, Ledger
from dproo.ledger.restoring import Loss, accept_restore
from dproo.ledger.sqlite import default_path

__all__ = [
    "Account",
    "BudgetRefused",
    "CorruptLedgerError",
    "Entry",
    "Ledger",
    "LedgerError",
    "Line",
    "Loss",
    "Verification",
    "accept_restore",
    "default_path",
    "in_delta",
    "in_epsilon",
]
