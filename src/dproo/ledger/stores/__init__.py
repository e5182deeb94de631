"""What keeps a ledger: a file of SQLite, or a database of PostgreSQL."""

from dproo.ledger.location import Address, Database
from dproo.ledger.stores.base import PATIENCE, Session, Store
from dproo.ledger.stores.postgresql import PostgresqlStore, install
from dproo.ledger.stores.sqlite import SqliteStore

__all__ = ["PATIENCE", "Session", "Store", "install", "store_of"]


def store_of(address: Address, *, timeout: float) -> Store:
    """Return what keeps the ledger at an address; nothing is opened yet."""
    if isinstance(address, Database):
        return PostgresqlStore(address, timeout=timeout)
    return SqliteStore(address, timeout=timeout)
