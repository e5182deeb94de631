"""Requests that a second person approves or denies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from dproo.core.checks import refusal, whole
from dproo.exceptions import UnknownEntryError
from dproo.ledger.chain import APPROVED, DENIED, Connection, Draft, events
from dproo.ledger.charging import decided, is_used
from dproo.ledger.ledger import MOST_EVENTS, Ledger

State = Literal["open", "approved", "denied", "used"]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A release that needs the word of a second person.

    Attributes:
        number: of the request, for :func:`approve` and :func:`deny`.
        dataset: the declared name.
        charge: what it would cost, in nano-epsilon.
        at: when it was asked for, UTC.
        request: the public parameters of the release, as its receipt will have them.
        state: what became of it.
    """

    number: int
    dataset: str
    charge: int
    at: str
    request: dict[str, Any]
    state: State


def requests(ledger: Ledger) -> tuple[Asked, ...]:
    """Return every request, oldest first."""
    with ledger._reading() as connection:  # noqa: SLF001 - a part of the same package
        decisions = decided(connection)
        return tuple(
            Asked(
                number=event.seq,
                dataset=event.dataset,
                charge=event.nano,
                at=event.fields["at"],
                request=event.fields["request"],
                state="used" if is_used(connection, event) else decisions.get(event.seq, "open"),  # type: ignore[arg-type]
            )
            for event in events(connection, where="kind = 'requested'")
        )


def approve(ledger: Ledger, number: int) -> None:
    """Let a release be charged, once; the database refuses whoever has asked for it.

    Raises:
        UnknownEntryError: there is no open request of this number.
        RoleError: the role is not an owner, or has asked for it.
    """
    _decide(ledger, number, APPROVED)


def deny(ledger: Ledger, number: int) -> None:
    """Refuse a release for good; raises as :func:`approve` does."""
    _decide(ledger, number, DENIED)


def _decide(ledger: Ledger, number: int, kind: str) -> None:
    number = whole("request", number, at_least=1, at_most=MOST_EVENTS)

    def append(connection: Connection, *, is_again: bool) -> None:
        decision = decided(connection).get(number)
        if is_again and decision == kind:
            return
        found = list(events(connection, where="kind = 'requested' AND seq = ?", of=(number,)))
        if not found or decision is not None:
            raise UnknownEntryError(refusal("request", "be the number of an open one", number))
        draft = Draft(kind=kind, dataset=found[0].dataset, nano=0, body={}, entry=number)
        ledger._store.append(connection, draft)  # noqa: SLF001 - as above

    ledger._write(append)  # noqa: SLF001 - as above
