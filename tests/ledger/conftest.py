"""A ledger in a file and one in PostgreSQL: what holds for one holds for the other."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.stores import emptied, installed

from dproo.ledger import Ledger


@pytest.fixture(scope="session")
def ledger_database(postgresql: str) -> str:
    """The URL of a database with a ledger, for its superuser."""
    return installed(postgresql)


@pytest.fixture(params=["file", "postgresql"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """Where a ledger can be made."""
    if request.param == "file":
        return tmp_path / "ledger.sqlite3"
    return emptied(request.getfixturevalue("ledger_database"))


@pytest.fixture
def ledger(where: Path | str) -> Ledger:
    """A ledger with a budget of 1 for patients."""
    new = Ledger.create(where)
    new.declare("patients", budget="1", neighbours="replace")
    return new
