"""The ledger: reserve before data is read, record before anything is shown."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Self, TypeVar

from dproo.core.checks import exact, plain_text, refusal, whole
from dproo.core.numbers import (
    Number,
    budget_of,
    charge_of,
    delta_budget_of,
    delta_charge_of,
    rational,
)
from dproo.errors import (
    ApprovalNeeded,
    BusyLedgerError,
    LedgerError,
    NotRecordedError,
    UnknownEntryError,
)
from dproo.ledger.account import (
    Account,
    ApprovalRequest,
    Budget,
    Replay,
    Verification,
    budgets,
    corrupt,
)
from dproo.ledger.events import (
    APPROVED,
    DECLARED,
    DENIED,
    NO_EVENT,
    RECORDED,
    REQUESTED,
    RESERVED,
    Draft,
    Event,
    canonical,
)
from dproo.ledger.location import Address, Database, address_of
from dproo.ledger.rules import (
    NO_LIMITS,
    RECORD,
    TERMS,
    Basis,
    Limits,
    Unit,
    dataset_of,
    delta_field,
    denied,
    digest_of,
    fault_of,
    public_text,
    written,
)
from dproo.ledger.stores import PATIENCE, LedgerSession, Store, seconds, store_of
from dproo.ledger.witness import Witness, named_witness, write_notes
from dproo.mechanisms import Relation
from dproo.receipt import Charged

MOST_EVENTS = 2**63 - 1  # the largest integer of both stores
ROOM = 1 << 16
"""Bytes of disk that a charge in a file sets aside for its record."""
_PATIENCE = 10 * PATIENCE
"""Seconds that a record waits for other processes: its release has been paid for."""
_PAUSE = 0.1  # seconds between its attempts, in which other threads may use a ledger

Result = TypeVar("Result")


def always() -> bool:
    """Return that somebody waits for the release, as ``is_awaited`` of a ledger."""
    return True


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A durable charge: the permission to read data for one release.

    Attributes:
        dataset: the declared name.
        number: its number in the ledger.
        charge: what it cost, in nano-epsilon.
        hash: its event's hash, so that it is valid for one ledger only.
    """

    dataset: str
    number: int
    charge: int
    hash: str

    def __post_init__(self) -> None:
        vars(self).update(
            dataset=plain_text("dataset", self.dataset),
            number=whole("entry", self.number, at_least=0, at_most=MOST_EVENTS),
            hash=plain_text("hash", self.hash),
        )


@dataclass(frozen=True, init=False, repr=False)
class Ledger:
    """The budgets of several datasets, durable, in one file or database.

    Args:
        path: a file that :meth:`create` made, or the URL of a PostgreSQL database in which
            ``dproo ledger install`` has made a ledger.
        timeout: seconds to wait for other processes before a charge.
        witness: a file, best on another disk, that notes every event in addition to the user's
            own witness; by default ``DPROO_WITNESS``.

    Guarantee: for each dataset the exact epsilons of all releases whose data was read never
    add up to more than the declared budget, even after a crash and with many processes. An old
    copy put in its place is refused.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     ledger = Ledger.create(folder + "/ledger.sqlite3")
    ...     ledger.declare("patients", budget="1", neighbours="replace")
    ...     entry = ledger.reserve("patients", epsilon="0.4", neighbours="replace")
    ...     receipt = ledger.record(entry, {"values": ["flu"]})
    ...     ledger.released(entry.number) == receipt, ledger.budget("patients").left
    (True, 600000000)
    """

    path: Address
    timeout: float = field(default=PATIENCE, kw_only=True)
    witness: Path | None = field(default=None, kw_only=True)
    limits: Limits = field(default=NO_LIMITS, kw_only=True, repr=False)
    is_awaited: Callable[[], bool] = field(default=always, kw_only=True, repr=False)

    def __init__(
        self,
        path: str | os.PathLike[str] | Database,
        *,
        timeout: float = PATIENCE,
        witness: str | os.PathLike[str] | None = None,
    ) -> None:
        vars(self).update(
            path=address_of(path),
            witness=named_witness(witness),
            timeout=seconds(timeout),
            limits=NO_LIMITS,
            is_awaited=always,
        )
        with self._reading(is_checked=False):
            pass

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str] | Database,
        *,
        timeout: float = PATIENCE,
        witness: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Create an empty ledger in a file, or open an existing one."""
        address, patience, chosen = address_of(path), seconds(timeout), named_witness(witness)
        if chosen is not None:
            Witness(chosen).require_notes()
        store_of(address, timeout=patience).create()
        return cls(path, timeout=timeout, witness=witness)

    def __repr__(self) -> str:
        return f"<Ledger {str(self.path)!r}>"

    def _repr_html_(self) -> str:
        return budgets(self.show())

    def __getstate__(self) -> dict[str, object]:
        """Leave out connections, which no other process can use."""
        return {name: value for name, value in self.__dict__.items() if name != "_store"}

    def limited(self, limits: Limits, *, is_awaited: Callable[[], bool] = always) -> Self:
        """Return the same ledger, with further rules for releases through it.

        Args:
            limits: the rules, in addition to those that the ledger has from an earlier call; the
                need for an approval can only be declared with a budget.
            is_awaited: returns whether anybody still waits for a release; if nobody does,
                nothing is charged.

        Raises:
            ValueError: no release could obey both these rules and the earlier ones.
        """
        if not isinstance(limits, Limits):
            raise TypeError(refusal("limits", "be dproo.ledger.Limits", limits))
        if limits.approval_above is not None:
            raise ValueError("approval_above must be declared with a budget, for all who release.")
        if self.is_awaited is not always:
            is_awaited = partial(_both, self.is_awaited, is_awaited)
        other = copy(self)
        limits = self.limits.both(limits)
        vars(other).update(limits=limits, is_awaited=is_awaited, _store=self._store)
        return other

    def declare(
        self,
        dataset: str,
        *,
        budget: Number,
        neighbours: Relation,
        records_per_person: int = 1,
        unit: Unit = RECORD,
        delta: Number = 0,
        limits: Limits | None = None,
    ) -> None:
        """Declare the budget of a dataset; it cannot be changed later.

        Args:
            dataset: a public name.
            budget: the total epsilon, rounded down to nano-epsilon.
            neighbours: ``"replace"`` or ``"add-remove"``.
            records_per_person: the most records that one protected person may own.
            unit: ``"record"``, or ``"person"`` for releases that count people.
            delta: the total delta, rounded down to atto-delta; 0 keeps the budget pure.
            limits: further rules that every release must obey.

        Raises:
            DatasetTakenError: the name, or one that differs only in case, already has a budget.
        """
        dataset = dataset_of(dataset)
        nano, atto = budget_of(budget), delta_budget_of(delta)
        basis = Basis(neighbours=neighbours, records_per_person=records_per_person, unit=unit)
        exact = written("budget", rational("budget", budget))
        body = {"budget": exact, **delta_field(delta), **vars(basis)}
        if not isinstance(limits, Limits | None):
            raise TypeError(refusal("limits", "be dproo.ledger.Limits", limits))
        if limits is not None and limits.declared:
            if isinstance(self.path, Path):
                limits.require_one_owner()
            if fault := fault_of("limits", canonical(limits.declared)):
                raise ValueError(f"limits must be ones that can be read back: {fault}.")
            body["limits"] = limits.declared
        draft = Draft(kind=DECLARED, dataset=dataset, nano=nano, atto=atto, body=body)
        self._write(lambda session: session.append(draft))

    def reserve(
        self,
        dataset: str,
        *,
        epsilon: Number,
        neighbours: Relation,
        records_per_person: int = 1,
        unit: Unit = RECORD,
        request: Mapping[str, Any] | None = None,
        delta: Number = 0,
        room: int = ROOM,
    ) -> Entry:
        """Charge a release, durably, before any data is read.

        Guarantee: when this returns, the charge is on disk, and in a file so is the space for its
        record; when it raises, do not read.

        Args:
            dataset: the declared name.
            epsilon: the cost of everything the release will show.
            neighbours: must be as declared, and so must ``records_per_person`` and ``unit``.
            records_per_person: see ``neighbours``.
            unit: see ``neighbours``.
            request: public parameters to store with the charge.
            delta: the delta of the release; the sums of both stay within the budget.
            room: bytes that the receipt may need, at most 16 MiB.

        Raises:
            BudgetRefused: too little is left; nothing is charged.
            RuleRefused: a rule declared with the budget forbids it, or a second person must
                approve it first.
            PureBudgetError: the release needs a delta, and the budget has none.
        """
        dataset = exact(dataset)
        room = whole("room", room, at_least=0, at_most=TERMS["receipt_max"])
        basis = Basis(neighbours=neighbours, records_per_person=records_per_person, unit=unit)
        draft = _reservation(dataset, epsilon, delta, request, basis)
        limited = replace(draft, limits=self.limits, room=room)

        def append(session: LedgerSession) -> Event:
            session.tally(dataset).require_basis(basis)
            if not self.is_awaited():
                raise LedgerError("nobody waits for the answer any more. Nothing was charged.")
            return session.append(limited)

        event = self._write(append)
        if event.kind == REQUESTED:
            raise ApprovalNeeded(dataset, event.seq)
        return Entry(dataset=dataset, number=event.seq, charge=draft.nano, hash=event.hash)

    def require(
        self,
        dataset: str,
        *,
        epsilon: Number,
        delta: Number,
        basis: Basis,
        request: Mapping[str, Any],
    ) -> bool:
        """Raise as :meth:`reserve` would now, and return whether it would charge.

        Otherwise, a second person has yet to approve the release. Nothing is charged.
        """
        dataset = exact(dataset)
        draft = _reservation(dataset, epsilon, delta, request, basis)
        with self._reading() as session:
            tally = session.tally(dataset)
            tally.require_basis(basis)
            session.require_spender()
            charge = draft.event(after=None, at=session.now())._replace(role=session.role)
            tally.require(charge, request, self.limits)
            if not tally.limits.needs_approval(draft.nano):
                return True
            known = Replay.of(session.events()).standing(dataset, draft.body, session.role)
        if known is not None and known.state == DENIED:
            raise denied(dataset, known.number)
        return known is not None and known.state == APPROVED

    def record(self, entry: Entry, receipt: Mapping[str, Any]) -> dict[str, Any]:
        """Store a release, durably, before any of it is shown; return its receipt to show.

        Guarantee: from now on :meth:`released` returns the same receipt.

        Args:
            entry: what :meth:`reserve` returned.
            receipt: only public and released values, which JSON can hold. Its field ``ledger``
                is added here: dataset, entry, charge, and the head of the chain.

        Raises:
            AlreadyRecordedError: the entry has already been used.
            LedgerError: nothing was recorded, and the charge stays; if others held the ledger,
                they did so for minutes, whatever the ``timeout``.
        """
        if not isinstance(entry, Entry):
            raise TypeError(refusal("entry", "be what reserve returned", entry))
        parts = _parts("receipt", receipt)
        parts.pop("ledger", None)
        draft = Draft(kind=RECORDED, dataset=entry.dataset, body={}, entry=entry.number)

        def append(session: LedgerSession) -> dict[str, Any]:
            reserved = _charge(session, entry.number)
            held = reserved.dataset, reserved.nano, reserved.hash
            if held != (entry.dataset, entry.charge, entry.hash):
                raise _unknown(entry.number)
            basis = session.declared(entry.dataset).fields
            public = public_text("receipt", parts, basis["neighbours"])
            return _receipt(reserved, session.append(replace(draft, body={"receipt": public})))

        return self._write(append, is_due=True)

    def released(self, number: int) -> dict[str, Any]:
        """Return the receipt of a recorded release, again and for free."""
        known = whole("entry", number, at_least=1, at_most=MOST_EVENTS)
        with self._reading() as session:
            reserved = _charge(session, known)
            recorded = session.one("kind = 'recorded' AND entry = ?", known)
        if recorded is None:
            raise NotRecordedError(
                f"entry must be a release that was recorded, got {number}. "
                "It was charged but never finished; the charge stays."
            )
        return _receipt(reserved, recorded)

    def budget(self, dataset: str) -> Budget:
        """Return the state of a dataset's budget, without its charges."""
        with self._reading() as session:
            return session.tally(exact(dataset)).budget(session.now()[:10])

    def datasets(self) -> list[str]:
        """Return the names that have a budget, in the order of their declaration."""
        with self._reading() as session:
            return session.names()

    def show(self) -> tuple[Account, ...]:
        """Return every budget with its charges, noting what is wrong with any of them.

        Raises:
            CorruptLedgerError: no budget is left that could say what is wrong.
        """
        with self._reading(is_checked=False) as session:
            replay = Replay.of(session.events())
            if not replay.tallies:
                replay.require_intact(self.path)
            return replay.accounts(session.clock())

    def requests(self) -> tuple[ApprovalRequest, ...]:
        """Return every request for a second person's approval, oldest first."""
        with self._reading() as session:
            return tuple(Replay.of(session.events()).requests.values())

    def approve(self, number: int) -> None:
        """Let a release be charged, once; the database refuses the role that requested it.

        Raises:
            UnknownEntryError: there is no open request with this number.
            RoleError: the role is not an owner, or has requested it itself.
        """
        self._decide(number, APPROVED)

    def deny(self, number: int) -> None:
        """Refuse a release permanently; raises as :meth:`approve` does."""
        self._decide(number, DENIED)

    def _decide(self, number: int, kind: str) -> None:
        number = whole("request", number, at_least=1, at_most=MOST_EVENTS)
        draft = Draft(kind=kind, dataset="", entry=number, body={})

        def append(session: LedgerSession) -> None:
            request = session.event(number)
            if request is None or request.kind != REQUESTED or isinstance(self.path, Path):
                raise UnknownEntryError(refusal("request", "be the number of an open one", number))
            session.append(replace(draft, dataset=request.dataset))

        self._write(append)

    def export(self) -> list[dict[str, Any]]:
        """Return all events, oldest first, as objects that JSON can hold."""
        with self._reading(is_checked=False) as session:
            return [event.shown() for event in session.events()]

    def head(self) -> str:
        """Return the hash of the last event, which covers the whole chain."""
        with self._reading() as session:
            return session.head()[1]

    def verify(self, *, expect_head: str | None = None) -> Verification:
        """Check every hash and every rule.

        Args:
            expect_head: a hash noted earlier, from a receipt or another machine; it must be
                in the chain, which exposes a ledger that was truncated or rewritten.

        Raises:
            LedgerError: the ledger is not what this software wrote.
        """
        expected = None if expect_head is None else digest_of("head", expect_head)
        with self._reading(is_checked=False) as session:
            session.require_intact()
            replay, now = Replay.of(session.events()), session.clock()
        replay.require_intact(self.path)
        if expected not in {None, NO_EVENT} and expected not in replay.hashes:
            what = "it lacks the event of the expected head."
            raise corrupt(self.path, f"{what} It was truncated, replaced or rewritten.")
        return Verification(events=replay.count, head=replay.head, accounts=replay.accounts(now))

    def files(self) -> list[Path]:
        """Return the files that a charge is written to: the ledger, if it is one, and witnesses."""
        with self._reading(is_checked=False) as session:
            kept = [witness.path for witness in session.memory.witnesses]
        return [self.path, *kept] if isinstance(self.path, Path) else kept

    @cached_property
    def _store(self) -> Store:
        return store_of(self.path, timeout=self.timeout, witness=self.witness)

    @contextmanager
    def _reading(self, *, is_checked: bool = True) -> Iterator[LedgerSession]:
        with self._store.reading(is_checked=is_checked) as session:
            session.memory.require_all(session, self.path)
            yield session

    def _write(self, action: Callable[[LedgerSession], Result], *, is_due: bool = False) -> Result:
        """Run ``action`` as the store's ``write`` does, then let witnesses note what it wrote.

        Args:
            action: what to write.
            is_due: whether it has been paid for: then it waits longer, and needs no spare space.
        """

        def remembered(session: LedgerSession) -> tuple[Result, Any]:
            session.memory.needs_room = not is_due
            session.memory.require_all(session, self.path)
            session.memory.require_writable()
            return action(session), session.memory.news(session)

        end = time.monotonic() + (_PATIENCE if is_due else 0)
        while True:
            try:
                result, news = self._store.write(remembered, is_patient=is_due)
            except BusyLedgerError:
                if time.monotonic() >= end:
                    raise
                time.sleep(_PAUSE)
            else:
                write_notes(news)
                return result


def _both(one: Callable[[], bool], two: Callable[[], bool]) -> bool:
    return one() and two()


def _reservation(
    dataset: str, epsilon: Number, delta: Number, request: Mapping[str, Any] | None, basis: Basis
) -> Draft:
    """Return the charge for a release: its cost, rounded up, and its public parameters."""
    public = public_text("request", _parts("request", request), basis.neighbours)
    nano, atto = charge_of(epsilon), delta_charge_of(delta)
    exact = written("epsilon", rational("epsilon", epsilon))
    return Draft(
        kind=RESERVED,
        dataset=dataset,
        nano=nano,
        atto=atto,
        body={"request": public, "epsilon": exact, **delta_field(delta)},
    )


def _parts(name: str, value: object) -> dict[str, Any]:
    """Return the parts of a request or a receipt, by plain names."""
    if not isinstance(value, Mapping | None):
        raise TypeError(refusal(name, "be a mapping", value))
    return {exact(key): part for key, part in (value or {}).items()}


def _charge(session: LedgerSession, number: int) -> Event:
    event = session.event(number)
    if event is None or event.kind != RESERVED:
        raise _unknown(number)
    return event


def _unknown(number: int) -> UnknownEntryError:
    return UnknownEntryError(refusal("entry", "be the number of a charge in this ledger", number))


def _receipt(reserved: Event, recorded: Event) -> dict[str, Any]:
    """Return the receipt of a release, with its field ``ledger``."""
    charged = Charged(
        dataset=reserved.dataset,
        entry=reserved.seq,
        charge_nano_epsilon=reserved.nano,
        charge_atto_delta=reserved.atto,
        head=recorded.hash,
    )
    return {**recorded.fields["receipt"], "ledger": charged.as_dict()}
