"""What keeps a ledger: transactions, and appending to the chain of events in one."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from dproo.ledger.address import Address
from dproo.ledger.chain import Connection, Event

Result = TypeVar("Result")
Made_co = TypeVar("Made_co", covariant=True)


class Action(Protocol[Made_co]):
    """What a transaction is for."""

    def __call__(self, connection: Any, /, *, is_again: bool) -> Made_co:
        """Run inside the transaction.

        Args:
            connection: to the ledger, which nobody else writes meanwhile.
            is_again: whether it ran before and the answer to its commit was lost; what it wrote
                may be there.
        """


class Store(Protocol):
    """A file or a database.

    Guarantee: writers exclude each other, what :meth:`write` has returned from is durable, and
    an action that raises leaves the ledger as it was.
    """

    @property
    def address(self) -> Address:
        """Where it is; its text may be shown."""

    def create(self) -> None:
        """Make the ledger where it is missing, if that is for this software to do."""

    def reading(self) -> AbstractContextManager[Connection]:
        """Begin a transaction that sees one state of the ledger."""

    def write(
        self, action: Action[Result], *, dataset: str | None = None, entry: int | None = None
    ) -> Result:
        """Run ``action`` under the lock of all writers, commit, and return what it returned.

        Args:
            action: what to do.
            dataset: whose :meth:`standing` it will ask for, so that it can come with the lock.
            entry: the same, for :meth:`entry`.
        """

    def now(self, connection: Any) -> str:
        """Return the time as events keep it; of a database, the server's."""

    def spender(self, connection: Any) -> str | None:
        """Return who writes, as the database knows them; nobody knows it of a file."""

    def append(
        self,
        connection: Any,
        kind: str,
        *,
        dataset: str,
        nano: int,
        body: dict[str, Any],
        entry: int | None = None,
    ) -> Event:
        """Write the next event; without an ``entry`` it starts its own."""

    def standing(self, connection: Any, dataset: str) -> Iterable[Any]:
        """Return the declaration of a dataset with the sum of its charges, and its first charge.

        Each row is an event and a number, in the order of the events; there is none without a
        budget.
        """

    def entry(self, connection: Any, number: int) -> Iterable[Event]:
        """Return a reservation, its record if there is one, and the declaration of its dataset."""

    def recent(self, connection: Any) -> list[Event]:
        """Return events that are known without asking, the last one included, or none."""

    def require_intact(self, connection: Any) -> None:
        """Raise if what holds the events is damaged or was changed by other means."""
