"""A view of a database whose records can be counted only when a test says so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from support.databases import Held


@pytest.fixture
def held(server: Any) -> Iterator[Held]:
    """Yield ``ward.held``, of seven visits; whoever counts it waits."""
    from support.databases import Held  # noqa: PLC0415 - most tests of the page need no database

    view = Held(server)
    yield view
    view.let_go()
