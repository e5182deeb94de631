"""The ledger: reserve before data is read, record before anything is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dproo.core.checks import refusal, whole
from dproo.core.numbers import Number, budget_of, delta_budget_of, rational
from dproo.exceptions import (
    AlreadyRecordedError,
    ApprovalNeeded,
    CorruptLedgerError,
    DatasetTakenError,
    NotRecordedError,
)
from dproo.ledger import charging
from dproo.ledger.accounts import Account, Verification, accounts_of, budgets, require_chain
from dproo.ledger.chain import (
    DECLARED,
    NO_EVENT,
    RECORDED,
    REQUESTED,
    RESERVED,
    Connection,
    Draft,
    Event,
    canonical,
    declared_in,
    events,
    fresh_id,
    head,
    now,
    pair,
    receipt_of,
    sent_before,
)
from dproo.ledger.limits import OF_HISTORY, Limits
from dproo.ledger.opening import Book
from dproo.ledger.rules import (
    cost_of,
    delta_field,
    relation_of,
    require_name,
    require_public,
    require_relation,
)
from dproo.mechanisms import Relation

MOST_EVENTS = 2**63 - 1  # SQLite's largest integer


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A charge that was made durable: the permission to read data for one release.

    Attributes:
        dataset: the declared name.
        number: its number in the ledger.
        charge: what it cost, in nano-epsilon.
        hash: of its event, so that it is good for one ledger only.
    """

    dataset: str
    number: int
    charge: int
    hash: str


@dataclass(frozen=True, init=False, repr=False)
class Ledger(Book):
    """The budgets of several datasets, durable, in one file or database.

    Args:
        path: a file that :meth:`create` made, or the URL of a PostgreSQL database in which
            ``dproo ledger install`` has made a ledger.
        timeout: seconds to wait for other processes.
        witness: a file, best on another disk, that notes every event besides the user's own
            memory; by default ``DPROO_WITNESS``.

    Guarantee: for each dataset the exact epsilons of all releases whose data was read never
    sum to more than the declared budget, also after a crash and with many processes. An old
    copy put in its place is refused.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     ledger = Ledger.create(folder + "/ledger.sqlite3")
    ...     ledger.declare("patients", budget="1", neighbours="replace")
    ...     entry = ledger.reserve("patients", epsilon="0.4", neighbours="replace")
    ...     receipt = ledger.record(entry, {"values": ["flu"]})
    ...     ledger.released(entry.number) == receipt, ledger.show()[0].left
    (True, 600000000)
    """

    def _repr_html_(self) -> str:
        return budgets(self.show())

    def declare(
        self,
        dataset: str,
        *,
        budget: Number,
        neighbours: Relation,
        records_per_person: int = 1,
        delta: Number = 0,
        limits: Limits | None = None,
    ) -> None:
        """Declare the budget of a dataset; it cannot be changed later.

        Args:
            dataset: a public name.
            budget: the total epsilon, rounded down to nano-epsilon.
            neighbours: ``"replace"`` or ``"add-remove"``.
            records_per_person: the most records that one protected person may own.
            delta: the total delta, rounded down to atto-delta; 0 keeps the budget pure.
            limits: rules that every release must keep besides.

        Raises:
            DatasetTakenError: the name, or one that differs only in case, already has a budget.
        """
        require_name(dataset)
        nano, _ = budget_of(budget), delta_budget_of(delta)
        relation = relation_of(neighbours, records_per_person)
        fresh = fresh_id()
        body = {"at": now(), "budget": str(rational("budget", budget)), "id": fresh, **relation}
        body |= delta_field(delta)
        if limits is not None and limits.declared:
            if isinstance(self.path, Path):
                limits.require_one_owner()
            body["limits"] = limits.declared
        draft = Draft(kind=DECLARED, dataset=dataset, nano=nano, body=body, entry=0)

        def append(connection: Connection, *, is_again: bool) -> None:
            if is_again and sent_before(connection, fresh):
                return
            taken = [event.dataset for event in events(connection, where="kind = 'declared'")]
            if dataset.casefold() in {name.casefold() for name in taken}:
                raise DatasetTakenError(refusal("dataset", "not have a budget yet", dataset))
            self._store.append(connection, draft)

        self._write(append)

    def reserve(
        self,
        dataset: str,
        *,
        epsilon: Number,
        neighbours: Relation,
        records_per_person: int = 1,
        request: Mapping[str, Any] | None = None,
        delta: Number = 0,
    ) -> Entry:
        """Charge a release, durably, before any data is read.

        Guarantee: when this returns, the charge is on the disk; when it raises, do not read.

        Args:
            dataset: the declared name.
            epsilon: the cost of everything the release will show.
            neighbours: must be the declared relation, and so must ``records_per_person``.
            records_per_person: see ``neighbours``.
            request: public parameters to keep with the charge.
            delta: the other part of the cost; the sums of both stay within the budget.

        Raises:
            BudgetRefused: too little is left; nothing is charged.
            RuleRefused: a rule that was declared with the budget forbids it, or wants the word of
                a second person.
            PureBudgetError: a delta is asked of a budget that was declared without one.
        """
        cost = cost_of(epsilon, delta)
        relation = relation_of(neighbours, records_per_person)
        request = dict(request or {})
        require_public("request", request, neighbours)
        fresh = fresh_id()
        body = {"at": now(), "id": fresh, "request": request, **cost.fields}
        draft = Draft(kind=RESERVED, dataset=dataset, nano=cost.nano, body=body)

        def append(connection: Connection, *, is_again: bool) -> Event:
            if is_again and (sent := sent_before(connection, fresh)):
                return sent
            stands = charging.standing(self._store, connection, dataset)
            require_relation(stands.declared, relation)
            charging.require_affordable(
                connection,
                stands,
                charge=cost.nano,
                atto=cost.atto,
                request=request,
                store=self._store,
                limits=self.limits,
            )
            if not charging.limits_of(stands.declared).needs_approval(cost.nano):
                return self._store.append(connection, draft)
            asked = charging.request_for(connection, dataset, body)
            if asked is None:
                return self._store.append(connection, replace(draft, kind=REQUESTED))
            if not charging.is_approved(connection, asked):
                return asked
            granted = replace(draft, body=body | {"grant": asked.seq})
            return self._store.append(connection, granted)

        is_known = OF_HISTORY.isdisjoint(self.limits.declared)
        event = self._write(append, likely=draft if is_known else None)
        if event.kind == REQUESTED:
            raise ApprovalNeeded(dataset, event.seq)
        return Entry(dataset=dataset, number=event.seq, charge=cost.nano, hash=event.hash)

    def record(self, entry: Entry, receipt: Mapping[str, Any]) -> dict[str, Any]:
        """Keep a release, durably, before any of it is shown; return its receipt to show.

        Guarantee: :meth:`released` returns the same receipt ever after.

        Args:
            entry: what :meth:`reserve` returned.
            receipt: JSON-able, public and released values only. Its field ``ledger`` is
                filled in here: dataset, entry, charge, and the head of the chain.

        Raises:
            AlreadyRecordedError: the entry was used before.
        """
        kept = {name: value for name, value in receipt.items() if name != "ledger"}
        body = {"receipt": kept}
        draft = Draft(kind=RECORDED, dataset=entry.dataset, nano=0, body=body, entry=entry.number)

        def append(connection: Connection, *, is_again: bool) -> dict[str, Any]:
            found = list(self._store.entry(connection, entry.number))
            reserved, recorded = pair(found, entry.number, reservation=entry.hash)
            require_public("receipt", kept, declared_in(found).fields["neighbours"])
            if recorded is None:
                recorded = self._store.append(connection, draft)
            elif not (is_again and recorded.body == canonical(body)):
                raise AlreadyRecordedError(
                    f"entry must not be recorded yet, got {entry.number}. "
                    "One charge pays for one release."
                )
            return receipt_of(reserved, recorded)

        return self._write(append, likely=draft)

    def released(self, number: int) -> dict[str, Any]:
        """Return the receipt of a recorded release, again and for free."""
        with self._reading() as connection:
            known = whole("entry", number, at_least=1, at_most=MOST_EVENTS)
            reserved, recorded = pair(self._store.entry(connection, known), known)
        if recorded is None:
            raise NotRecordedError(
                f"entry must be a release that was recorded, got {number}. "
                "It was charged but never finished; the charge stays."
            )
        return receipt_of(reserved, recorded)

    def show(self) -> tuple[Account, ...]:
        """Return every budget with its charges."""
        with self._reading() as connection:
            return accounts_of(events(connection))

    def export(self) -> list[dict[str, Any]]:
        """Return all events, oldest first, as JSON-able objects."""
        with self._reading() as connection:
            return [event.shown() for event in events(connection)]

    def head(self) -> str:
        """Return the hash of the last event, which stands for the whole chain."""
        with self._reading() as connection:
            return head(connection)[1]

    def verify(self, *, expect_head: str | None = None) -> Verification:
        """Check every byte, every hash and every rule.

        Args:
            expect_head: a hash noted earlier, from a receipt or another machine; it must be
                in the chain, which exposes a ledger that was truncated or rewritten.

        Raises:
            LedgerError: the file is not what this software wrote.
        """
        with self._reading() as connection:
            self._store.require_intact(connection)
            chain = list(events(connection))
        require_chain(chain)
        if expect_head not in {None, NO_EVENT, *(event.hash for event in chain)}:
            raise CorruptLedgerError(
                f"the ledger {self.path} is corrupt: it lacks the event of the expected head. "
                "It was truncated, replaced or rewritten."
            )
        last = chain[-1].hash if chain else NO_EVENT
        return Verification(events=len(chain), head=last, accounts=accounts_of(chain))
