"""What both stores share: the queries of one transaction."""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, TypeVar

from dproo.core.checks import refusal
from dproo.core.numbers import rational
from dproo.errors import BusyLedgerError, UnknownDatasetError
from dproo.ledger import events
from dproo.ledger.account import BudgetTally, taken
from dproo.ledger.events import COLUMNS, NO_EVENT, Draft, Event
from dproo.ledger.witness import Memory

PATIENCE = 30
"""Seconds to wait for other processes."""

BUSY = (BusyLedgerError, "was held by other processes for too long; try again.")

_DAY = 24 * 60 * 60


def seconds(timeout: object) -> float:
    """Return how long to wait for other processes, checked before anything is charged.

    Raises:
        TypeError, ValueError: it is not a number of seconds, at most a day.
    """
    if isinstance(timeout, str):
        raise TypeError(refusal("timeout", "be a number of seconds", timeout))
    exact = rational("timeout", timeout)
    if not 0 <= exact <= _DAY:
        raise ValueError(refusal("timeout", "be from 0 to 86,400 seconds", timeout))
    return float(exact)


Result = TypeVar("Result")


class LedgerSession(ABC):
    """A ledger inside a transaction, in one state.

    Attributes:
        memory: what the witnesses had noted; never newer than the state that this session sees.
        is_again: whether the action ran before and the answer to its commit was lost, so that
            the ledger may hold its events already.
    """

    memory: Memory
    is_again: bool = False

    @abstractmethod
    def execute(self, query: str, parameters: tuple[Any, ...] = (), /) -> Any:
        """Run a query of our own whose parameters are written as question marks.

        Returns:
            The driver's cursor.
        """

    @abstractmethod
    def append(self, draft: Draft) -> Event:
        """Write the next event, if the rules allow it.

        Raises:
            LedgerError: they do not; nothing is written.
        """

    @abstractmethod
    def insert(self, events: list[Event]) -> None:
        """Write events unchanged into an empty ledger."""

    @abstractmethod
    def tally(self, dataset: str) -> BudgetTally:
        """Return the sums of a dataset.

        Raises:
            UnknownDatasetError: it has no budget.
        """

    @abstractmethod
    def now(self) -> str:
        """Return the time in the form of events; it never goes back in a ledger."""

    def clock(self) -> str:
        """Return the time of the clock that the ledger uses, whatever state it is in."""
        return events.now()

    @property
    def role(self) -> str:
        """The role of the database that would spend, or "" in a file."""
        return ""

    @abstractmethod
    def require_spender(self) -> None:
        """Raise if the role may not charge and record releases."""

    @abstractmethod
    def require_intact(self) -> None:
        """Raise if the store of the events is damaged."""

    def events(self, *, since: int = 0) -> Iterator[Event]:
        """Yield the events after a number, in order."""
        after = "WHERE seq > ?" if since else ""  # without it, a row moved before the first is seen
        rows = self.execute(
            f"SELECT {COLUMNS} FROM event {after} ORDER BY seq",  # noqa: S608 - no outside text
            (since,) if since else (),
        )
        return map(Event._make, rows)

    def event(self, seq: int) -> Event | None:
        """Return an event by its number."""
        return self.one("seq = ?", seq)

    def one(self, condition: str, *values: object) -> Event | None:
        """Return the first event that meets a condition of our own."""
        query = f"SELECT {COLUMNS} FROM event WHERE {condition} ORDER BY seq LIMIT 1"  # noqa: S608 - as above
        row = self.execute(query, values).fetchone()
        return None if row is None else Event._make(row)

    def declared(self, dataset: object) -> Event:
        """Return the declaration of a dataset.

        Raises:
            UnknownDatasetError: it has no budget.
        """
        name = dataset if isinstance(dataset, str) else ""
        event = self.one("kind = 'declared' AND dataset = ?", name) if name.isprintable() else None
        if event is None:
            near = difflib.get_close_matches(name, self.names(), n=1, cutoff=0.5)
            hint = f"Did you mean {near[0]!r}?" if near else "'dproo ledger init' declares one."
            raise UnknownDatasetError(
                f"{refusal('dataset', 'have a declared budget', dataset)} {hint}"
            )
        return event

    def require_only(self, declared: Event) -> None:
        """Raise if another budget has the same name, or one that differs only in case."""
        rows = self.execute("SELECT seq, dataset FROM event WHERE kind = 'declared'")
        name = declared.dataset.casefold()
        if any(seq != declared.seq and other.casefold() == name for seq, other in rows):
            raise taken(declared.dataset)

    def names(self) -> list[str]:
        """Return the datasets that have a budget, in the order of their declaration."""
        rows = self.execute("SELECT dataset FROM event WHERE kind = 'declared' ORDER BY seq")
        return [name for (name,) in rows]

    def head(self) -> tuple[int, str]:
        """Return number and hash of the last event."""
        row = self.execute("SELECT seq, hash FROM event ORDER BY seq DESC LIMIT 1").fetchone()
        return (0, NO_EVENT) if row is None else tuple(row)
