"""The accounts: what the chain of events means, by replaying it under its rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from dproo.core.notebook import table
from dproo.core.numbers import budget_of, charge_of, delta_budget_of, in_epsilon
from dproo.exceptions import CorruptLedgerError, RuleRefused
from dproo.ledger.chain import (
    APPROVED,
    ASKED,
    DECLARED,
    DENIED,
    NO_EVENT,
    RECORDED,
    REQUESTED,
    RESERVED,
    RESTORED,
    Event,
)
from dproo.ledger.limits import Limits
from dproo.mechanisms import Relation


@dataclass(frozen=True, kw_only=True)
class Line:
    """One charge.

    Attributes:
        entry: its number, for :meth:`Ledger.released`.
        charge: what it cost, in nano-epsilon.
        at: when it was reserved, UTC.
        is_recorded: whether its release can be printed again. If not, the release never
            ended, and the charge stays.
        request: the public parameters of the release.
        delta: what it cost besides, in atto-delta.
        is_restored: whether it stands for charges that were lost with an old copy.
        receipt: what was recorded, without what the ledger adds to it; empty if nothing was.
        spender: the role of the database that made it; none in a file.
    """

    entry: int
    charge: int
    at: str
    is_recorded: bool
    request: dict[str, Any]
    delta: int = 0
    is_restored: bool = False
    receipt: dict[str, Any] = field(default_factory=dict)
    spender: str | None = None


@dataclass(frozen=True, kw_only=True)
class Account:
    """The budget of one declared dataset, in nano-epsilon, and its charges.

    Attributes:
        dataset: the declared name.
        neighbours: the relation for which its epsilons add up.
        records_per_person: the most records that one protected person may own.
        budget: the total.
        lines: the charges, oldest first.
        delta: the total in atto-delta; 0 for a budget of pure epsilon.
        limits: the rules that were declared with it.
    """

    dataset: str
    neighbours: Relation
    records_per_person: int
    budget: int
    lines: tuple[Line, ...] = ()
    delta: int = 0
    limits: Limits = field(default_factory=Limits)

    @property
    def spent(self) -> int:
        """The sum of all charges, recorded or not."""
        return sum(line.charge for line in self.lines)

    @property
    def left(self) -> int:
        """What may still be charged; nothing where two copies were charged beyond the budget."""
        return max(0, self.budget - self.spent)

    @property
    def delta_left(self) -> int:
        """What delta may still be charged."""
        return max(0, self.delta - sum(line.delta for line in self.lines))


def budgets(accounts: Iterable[Account]) -> str:
    """Return the accounts as a table for a notebook."""
    heads = ("dataset", "epsilon left", "of", "charges", "neighbours")
    rows = []
    for one in accounts:
        left, of = in_epsilon(one.left), in_epsilon(one.budget)
        rows.append((one.dataset, left, of, len(one.lines), one.neighbours))
    return table("Privacy budgets", rows, heads=heads)


def require_chain(events: Iterable[Event]) -> None:
    """Raise unless the events are numbered from 1 without gaps and each hash is right."""
    previous, expected = NO_EVENT, 1
    for event in events:
        try:
            is_right = event.seq == expected and event.hash == event.link(previous)
        except (TypeError, ValueError):  # a value of another type
            is_right = False
        if not is_right:
            raise CorruptLedgerError(
                f"the ledger is corrupt: the chain of hashes breaks at event {expected}."
            )
        previous, expected = event.hash, expected + 1


def accounts_of(events: Iterable[Event]) -> tuple[Account, ...]:
    """Replay the events and return the accounts, in the order of their declaration.

    Raises:
        CorruptLedgerError: an event breaks a rule that every writer keeps.
    """
    replay = _Replay()
    for event in events:
        try:
            is_allowed = event.is_canonical and replay.apply(event)
        except (KeyError, TypeError, ValueError, RecursionError):
            is_allowed = False
        if not is_allowed:
            raise CorruptLedgerError(f"the ledger is corrupt: event {event.seq} breaks the rules.")
    return tuple(
        replace(account, lines=tuple(replay.lines[name].values()))
        for name, account in replay.accounts.items()
    )


@dataclass
class _Replay:
    accounts: dict[str, Account] = field(default_factory=dict)
    lines: dict[str, dict[int, Line]] = field(default_factory=dict)
    left: dict[str, int] = field(default_factory=dict)
    delta_left: dict[str, int] = field(default_factory=dict)
    open: dict[int, Event] = field(default_factory=dict)
    granted: dict[int, Event] = field(default_factory=dict)

    def apply(self, event: Event) -> bool:
        """Take one event in and return whether it keeps the rules."""
        rules: dict[str, Callable[..., bool]] = {
            DECLARED: self._declared,
            RESERVED: self._reserved,
            RECORDED: self._recorded,
            RESTORED: self._restored,
            REQUESTED: self._requested,
            APPROVED: self._decided,
            DENIED: self._decided,
        }
        return rules[event.kind](event, **event.fields)

    def _declared(
        self,
        event: Event,
        *,
        at: str,
        budget: str,
        neighbours: Relation,
        records_per_person: int,
        delta: str = "0",
        id: str = "",  # noqa: A002 - the name of the field
        limits: dict[str, Any] | None = None,
    ) -> bool:
        del at, id
        name = event.dataset
        is_new = name not in self.accounts
        self.accounts[name] = Account(
            dataset=name,
            neighbours=neighbours,
            records_per_person=records_per_person,
            budget=event.nano,
            delta=delta_budget_of(delta),
            limits=Limits(**limits or {}),
        )
        self.lines[name] = {}
        self.left[name], self.delta_left[name] = event.nano, delta_budget_of(delta)
        return is_new and event.entry == 0 and event.nano == budget_of(budget)

    def _reserved(
        self,
        event: Event,
        *,
        at: str,
        epsilon: str,
        request: dict[str, Any],
        delta: str = "0",
        id: str = "",  # noqa: A002 - as above
        grant: int | None = None,
        by: str | None = None,
    ) -> bool:
        del id
        if not self._is_allowed(event, at=at, request=request, grant=grant, by=by):
            return False
        self._charge(event, at, request=request, spender=by)
        is_charged = event.entry == event.seq and event.nano == charge_of(epsilon)
        delta_left = self.delta_left[event.dataset] if delta != "0" else 0
        return is_charged and min(self.left[event.dataset], delta_left) >= 0

    def _is_allowed(
        self, event: Event, *, at: str, request: dict[str, Any], grant: int | None, by: str | None
    ) -> bool:
        """Return whether a charge keeps the declared rules, by the word of a second person too."""
        limits = self.accounts[event.dataset].limits
        lines = self.lines[event.dataset].values()
        theirs = (one.charge for one in lines if one.is_restored or one.spender == by)
        try:
            limits.require(
                event.dataset,
                charge=event.nano,
                request=request,
                at=at,
                spent_today=sum(one.charge for one in lines if one.at[:10] == at[:10]),
                spent_by_spender=None if by is None else sum(theirs),
            )
        except RuleRefused:
            return False
        if grant is None:
            return not limits.needs_approval(event.nano)
        asked = self.granted.pop(grant)
        same = [one.fields.get(name) for one in (asked, event) for name in ASKED]
        return asked.dataset == event.dataset and same[: len(ASKED)] == same[len(ASKED) :]

    def _requested(
        self,
        event: Event,
        *,
        at: str,
        epsilon: str,
        request: dict[str, Any],
        id: str,  # noqa: A002 - as above
        delta: str = "0",
    ) -> bool:
        del at, request, id, delta
        self.open[event.seq] = event
        is_asked = event.entry == event.seq and event.nano == charge_of(epsilon)
        return is_asked and event.dataset in self.accounts

    def _decided(self, event: Event, *, at: str, by: str) -> bool:
        del at, by
        asked = self.open.pop(event.entry)
        if event.kind == APPROVED:
            self.granted[asked.seq] = asked
        return asked.dataset == event.dataset and event.nano == 0

    def _restored(self, event: Event, *, at: str, head: str, delta: str = "0") -> bool:
        """Charge what was lost, whether or not it fits: it was released."""
        del delta
        self._charge(event, at, request={}, is_restored=True)
        return event.entry == 0 and event.nano >= 0 and len(head) == len(NO_EVENT)

    def _charge(self, event: Event, at: str, **facts: Any) -> None:
        nano, atto = event.charge
        self.lines[event.dataset][event.seq] = Line(
            entry=event.seq, charge=nano, at=at, is_recorded=False, delta=atto, **facts
        )
        self.left[event.dataset] -= nano
        self.delta_left[event.dataset] -= atto

    def _recorded(self, event: Event, *, receipt: dict[str, Any]) -> bool:
        lines = self.lines[event.dataset]
        line = lines[event.entry]
        lines[event.entry] = replace(line, is_recorded=True, receipt=receipt)
        return not line.is_recorded and not line.is_restored and event.nano == 0


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What a ledger was found to be.

    Attributes:
        events: how many it holds.
        head: the hash of the last one; keep it elsewhere to notice a shortened ledger.
        accounts: the budgets.
    """

    events: int
    head: str
    accounts: tuple[Account, ...]
