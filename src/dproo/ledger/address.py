"""Where a ledger is: a file, or a database of PostgreSQL."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from dproo.core.paths import named_file, user_folder
from dproo.engines import postgresql_url

VARIABLE = "DPROO_LEDGER"


@dataclass(frozen=True)
class Database:
    """A database of PostgreSQL that holds a ledger.

    Its text is host, port and name only: the URL may hold a password, and is for the driver.

    >>> print(Database("postgresql://ann:secret@db.example/clinic"))
    postgresql://db.example/clinic
    """

    url: str = field(repr=False)

    def __str__(self) -> str:
        """Return what may be shown."""
        try:
            return postgresql_url.public_name(self.url)
        except ValueError:  # a service, whose file names the database
            return "in PostgreSQL"


Address = Path | Database


def address_of(ledger: str | os.PathLike[str] | Database) -> Address:
    """Return where a ledger is, from a path or a URL.

    Raises:
        ValueError: it is meant to be a URL of PostgreSQL, and cannot be read as one.
    """
    if isinstance(ledger, Database):
        return ledger
    if isinstance(ledger, str) and postgresql_url.is_url(ledger):
        postgresql_url.parsed(ledger, name="ledger")
        return Database(ledger)
    return Path(ledger).absolute()


def default_path() -> Address:
    """Return where the user's ledger is: ``DPROO_LEDGER``, or in the user's data folder.

    Raises:
        ValueError: the variable is relative, or there is neither it nor a home.
    """
    if postgresql_url.is_url(os.environ.get(VARIABLE)):
        return address_of(os.environ[VARIABLE])
    if chosen := named_file(VARIABLE):
        return chosen
    folder = user_folder("XDG_DATA_HOME", ".local", "share")
    if folder is None:
        raise ValueError("ledger must be given: this user has no home folder to keep one in.")
    return folder / "dproo" / "ledger.sqlite3"
