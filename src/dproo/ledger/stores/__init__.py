"""The stores of a ledger: an SQLite file, or a PostgreSQL database."""

from importlib.util import find_spec
from pathlib import Path

from dproo.errors import POSIX_ONLY, LedgerError
from dproo.ledger.location import Address, Database
from dproo.ledger.stores.base import PATIENCE, LedgerSession, seconds
from dproo.ledger.stores.postgresql import PostgresqlStore, install
from dproo.ledger.stores.sqlite import SqliteStore

__all__ = ["PATIENCE", "LedgerSession", "Store", "install", "seconds", "store_of"]

Store = SqliteStore | PostgresqlStore
"""A file or a database.

Guarantee: writers exclude each other, the events of a ``write`` that has returned are durable, and
an action that raises leaves the ledger as it was. It may run twice, but counts once. The witnesses,
with the one that the user chose, are read first: their notes are never newer than what a session
sees.
"""


def store_of(address: Address, *, timeout: float, witness: Path | None = None) -> Store:
    """Return the store of the ledger at an address; nothing is opened yet.

    Raises:
        LedgerError: the system has no locks of files, which every charge takes.
    """
    if find_spec("fcntl") is None:
        raise LedgerError(POSIX_ONLY)
    if isinstance(address, Database):
        return PostgresqlStore(address, timeout=timeout, witness=witness)
    return SqliteStore(address, timeout=timeout, witness=witness)
