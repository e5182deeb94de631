"""What keeps a ledger: transactions, and appending to the chain of events in one."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from dproo.ledger.address import Address
from dproo.ledger.chain import RESERVED, RESTORED, Connection, Draft, Event

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


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What a charge is held against.

    Attributes:
        declared: the declaration of the dataset.
        first: its first charge, if there is one.
        spent: the sum of its charges, in nano-epsilon.
    """

    declared: Event
    first: Event | None
    spent: int

    @classmethod
    def of(cls, rows: Iterable[Any]) -> Standing | None:
        """Return that of a declaration and a first charge, each a row that ends with the sum."""
        found = [(Event.of(row), int(spent)) for *row, spent in rows]
        if not found:
            return None
        (declared, spent), *charges = found
        return cls(declared=declared, first=charges[0][0] if charges else None, spent=spent)

    def after(self, event: Event) -> Standing:
        """Return how the dataset stands after a further event, of whichever dataset."""
        if event.dataset != self.declared.dataset or event.kind not in {RESERVED, RESTORED}:
            return self
        first = self.first or (event if event.kind == RESERVED else None)
        return Standing(declared=self.declared, first=first, spent=self.spent + event.nano)


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

    def write(self, action: Action[Result], *, likely: Draft | None = None) -> Result:
        """Run ``action`` under the lock of all writers, commit, and return what it returned.

        Args:
            action: what to do; it may run twice, of which one is rolled back.
            likely: what it will append unless it refuses, so that this can come with the lock.
        """

    def now(self, connection: Any) -> str:
        """Return the time as events keep it; of a database, the server's."""

    def spender(self, connection: Any) -> str | None:
        """Return who writes, as the database knows them; nobody knows it of a file."""

    def append(self, connection: Any, draft: Draft) -> Event:
        """Write the next event."""

    def standing(self, connection: Any, dataset: str) -> Standing | None:
        """Return how a dataset stands, if it has a budget."""

    def entry(self, connection: Any, number: int) -> Iterable[Event]:
        """Return a reservation, its record if there is one, and the declaration of its dataset."""

    def recent(self, connection: Any) -> list[Event]:
        """Return events that are known without asking, the last one included, or none."""

    def require_intact(self, connection: Any) -> None:
        """Raise if what holds the events is damaged or was changed by other means."""
