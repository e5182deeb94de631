"""The account: one fold over the events, which decides charges, replays, verifies and shows.

A :class:`Tally` holds the running sums of one dataset. It alone decides whether a charge is
allowed, before the charge is written and whenever it is replayed. A :class:`Replay` processes
all events in order, and notes what is wrong with any of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal

from dproo.core.checks import refusal
from dproo.core.notebook import table
from dproo.core.numbers import (
    EPSILON_MAX,
    EPSILON_MIN,
    budget_of,
    charge_of,
    delta_budget_of,
    delta_charge_of,
    in_delta,
    in_epsilon,
)
from dproo.errors import (
    AlreadyRecordedError,
    BudgetRefused,
    CorruptLedgerError,
    DatasetTakenError,
    DeltaRefused,
    LedgerError,
    OtherRelationError,
    PureBudgetError,
)
from dproo.ledger.events import (
    APPROVED,
    CHARGES,
    DECLARED,
    DENIED,
    NO_EVENT,
    RECORDED,
    REQUESTED,
    RESERVED,
    RESTORED,
    Event,
)
from dproo.ledger.rules import (
    NO_LIMITS,
    PERSON,
    Basis,
    Limits,
    Unit,
    read,
    shape_fault,
)
from dproo.mechanisms import Relation

_TYPES = (int, str, str, int, int, int, str, str, str, str, str)

State = Literal["open", "approved", "denied", "used"]


@dataclass(frozen=True, kw_only=True)
class Line:
    """One charge.

    Attributes:
        entry: its number, for :meth:`Ledger.released`.
        charge: what it cost, in nano-epsilon.
        at: when it was reserved, UTC.
        is_recorded: whether its release can be printed again. If not, the release never
            finished, and the charge stays.
        request: the public parameters of the release.
        delta: what it cost in atto-delta.
        is_restored: whether it stands for charges that were lost with an old copy.
        receipt: the recorded receipt, without what the ledger adds to it; empty before.
        spender: the role of the database that made it; None in a file.
        problem: what is wrong with its events, if anything is.
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
    problem: str | None = None


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The state of one declared dataset's budget, in nano-epsilon.

    Attributes:
        dataset: the declared name.
        neighbours: the relation for which its epsilons add up.
        records_per_person: the most records that one protected person may own.
        unit: whether its releases protect records or people.
        budget: the total.
        spent: the sum of all charges, recorded or not.
        spent_today: the sum of today's charges, by the ledger's clock.
        delta: the total in atto-delta; 0 for a budget of pure epsilon.
        delta_spent: the sum of all charges in atto-delta.
        limits: the rules declared with it.
    """

    dataset: str
    neighbours: Relation
    records_per_person: int
    unit: Unit
    budget: int
    spent: int = 0
    spent_today: int = 0
    delta: int = 0
    delta_spent: int = 0
    limits: Limits = NO_LIMITS

    @property
    def left(self) -> int:
        """What may still be charged; zero if two copies together exceeded the budget."""
        return max(0, self.budget - self.spent)

    @property
    def delta_left(self) -> int:
        """What delta may still be charged."""
        return max(0, self.delta - self.delta_spent)

    @property
    def protects(self) -> str:
        """Whom a release of it protects."""
        if self.unit == PERSON:
            return "one person"
        count = self.records_per_person
        return "one record" if count == 1 else f"{count} records"


@dataclass(frozen=True, kw_only=True)
class Account(Budget):
    """A budget and its charges, oldest first.

    Attributes:
        lines: the charges.
        problem: what is wrong with the events of the ledger, if anything is; charges may then be
            missing here.
    """

    lines: tuple[Line, ...] = ()
    problem: str | None = None


@dataclass(frozen=True, kw_only=True)
class ApprovalRequest:
    """A release that needs a second person's approval.

    Attributes:
        number: the request's number, for :meth:`Ledger.approve` and :meth:`Ledger.deny`.
        dataset: the declared name.
        charge: what it would cost, in nano-epsilon.
        delta: the same in atto-delta.
        at: when it was requested, UTC.
        by: the role that requested it.
        request: the public parameters of the release, as its receipt will have them.
        state: whether it waits, was decided, or was used up by a charge.
    """

    number: int
    dataset: str
    charge: int
    delta: int
    at: str
    by: str
    request: dict[str, Any]
    state: State


@dataclass(frozen=True, kw_only=True)
class Verification:
    """The result of verifying a ledger.

    Attributes:
        events: the number of its events.
        head: the hash of the last one; keep it elsewhere to notice a shortened ledger.
        accounts: the budgets.
    """

    events: int
    head: str
    accounts: tuple[Account, ...]


@dataclass(kw_only=True)
class BudgetTally:
    """The terms of a budget, and the running sums of its charges."""

    declared: Event
    basis: Basis
    limits: Limits = NO_LIMITS
    nano: int = 0
    atto: int = 0
    restored: int = 0
    days: Counter[str] = field(default_factory=Counter)
    roles: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, declared: Event) -> BudgetTally:
        """Return the tally of a newly declared budget."""
        fields = declared.fields
        names = ("neighbours", "records_per_person", "unit")
        basis = Basis(**{name: fields[name] for name in names})
        return cls(declared=declared, basis=basis, limits=Limits(**fields.get("limits", {})))

    def add(self, event: Event) -> None:
        """Add a charge."""
        self.nano += event.nano
        self.atto += event.atto
        self.days[event.at[:10]] += event.nano
        if event.kind == RESTORED:
            self.restored += event.nano
        else:
            self.roles[event.role] += event.nano

    def require_basis(self, basis: Basis) -> None:
        """Raise unless a release has the declared neighbours and unit."""
        name = self.declared.dataset
        if basis.unit != self.basis.unit:
            is_person = self.basis.unit == PERSON
            raise OtherRelationError(
                f"person must be {'given' if is_person else 'left out'}: the budget of {name!r} was"
                f" declared for the unit {self.basis.unit!r}, and the epsilons of people and of"
                f" records do not add up. Declare another budget with unit={basis.unit!r}, and name"
                " it with dataset=."
            )
        for part in ("neighbours", "records_per_person"):
            declared, given = getattr(self.basis, part), getattr(basis, part)
            if given != declared:
                raise OtherRelationError(
                    refusal(part, f"be {declared!r} as declared", given)
                    + f" The epsilons of {name!r} add up for that relation only."
                )

    def require(self, charge: Event, request: Mapping[str, Any], limits: Limits) -> None:
        """Raise unless a charge fits into the budget and obeys every rule.

        Args:
            charge: the event, not yet added.
            request: the public parameters of the release.
            limits: rules in addition to the declared ones.

        Raises:
            BudgetRefused: too little is left.
            PureBudgetError: the budget has no delta.
            RuleRefused: a rule forbids it.
        """
        name, total = self.declared.dataset, (self.declared.nano, self.declared.atto)
        require_left(name, (charge.nano, charge.atto), total=total, spent=(self.nano, self.atto))
        if not (self.limits.declared or limits.declared):
            return
        by_role = self.roles[charge.role] + self.restored + charge.nano
        sums = {
            "per_release": charge.nano,
            "per_day": self.days[charge.at[:10]] + charge.nano,
            "per_spender": by_role if charge.role else None,
        }
        for rules in (self.limits, limits):
            rules.require(name, request, at=charge.at, sums=sums)

    def budget(self, day: str) -> Budget:
        """Return the state of the budget on a day."""
        return Budget(
            dataset=self.declared.dataset,
            **vars(self.basis),
            budget=self.declared.nano,
            spent=self.nano,
            spent_today=self.days[day],
            delta=self.declared.atto,
            delta_spent=self.atto,
            limits=self.limits,
        )


BROKEN_CHAIN = "the chain of hashes breaks"


class BrokenRule(Exception):  # noqa: N818 - it never leaves the check of a chain
    """What is wrong with an event."""


@dataclass
class Replay:
    """All events, processed in order.

    Attributes:
        tallies: the running sums, by dataset.
        lines: the charges, by number.
        requests: the requests, by number.
        problems: what is wrong with an event, by its number.
        count: the number of events processed.
        head: the hash of the last one.
        hashes: the hashes of all events.
    """

    tallies: dict[str, BudgetTally] = field(default_factory=dict)
    lines: dict[int, Line] = field(default_factory=dict)
    requests: dict[int, ApprovalRequest] = field(default_factory=dict)
    problems: dict[int, str] = field(default_factory=dict)
    count: int = 0
    head: str = NO_EVENT
    hashes: set[str] = field(default_factory=set)
    _at: str = ""
    _names: dict[int, str] = field(default_factory=dict)
    _requested_keys: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    _ids: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, events: Iterable[Event]) -> Replay:
        """Return the replay of events."""
        replay = cls()
        for event in events:
            replay.take(event)
        return replay

    def take(self, event: Event) -> None:
        """Process one event; problems are noted, and a charge counts nevertheless."""
        self.count += 1
        if tuple(map(type, event)) != _TYPES:  # a file may hold anything
            self.problems[self.count] = BROKEN_CHAIN
            return
        if event.seq != self.count or event.hash != event.link(self.head):
            self.problems[self.count] = BROKEN_CHAIN
            self.count = event.seq
        self.head = event.hash
        self.hashes.add(event.hash)
        try:
            self._apply(event)
        except (BrokenRule, LedgerError) as broken:
            self._mark(event, str(broken))
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
            self._mark(event, "its text cannot be read")

    def _mark(self, event: Event, problem: str) -> None:
        self.problems.setdefault(event.seq, problem)
        if event.kind in CHARGES and event.seq not in self.lines:
            self._charge(event, request={}, problem=problem)
        elif event.kind == RECORDED and event.entry in self.lines:
            line = self.lines[event.entry]
            self.lines[event.entry] = replace(line, problem=line.problem or problem)

    def _apply(self, event: Event) -> None:
        if event.kind != RECORDED:
            if not event.at >= self._at:
                raise BrokenRule("its time goes back")
            self._at = event.at
        if event.id in self._ids:
            raise BrokenRule("its id was used before")
        self._ids.add(event.id)
        _KINDS[event.kind](self, event, **event.fields)

    def _declared(
        self,
        event: Event,
        *,
        budget: str,
        neighbours: str,
        records_per_person: int,
        unit: str,
        delta: str | None = None,
        limits: dict[str, Any] | None = None,
    ) -> None:
        del neighbours, records_per_person, unit, limits
        _require(event.dataset not in self.tallies, "the name has a budget already")
        self.tallies[event.dataset] = BudgetTally.of(event)
        total = 0 if delta is None else delta_budget_of(read(delta))
        _require(
            (event.entry, event.nano, event.atto) == (0, budget_of(read(budget)), total),
            "its numbers do not match its text",
        )

    def _reserved(
        self, event: Event, *, epsilon: str, request: dict[str, Any], delta: str | None = None
    ) -> None:
        tally, fault = self.tallies[event.dataset], shape_fault("request", request)
        self._charge(event, request={} if fault else request, add=False)
        try:
            _require_cost(event, epsilon, delta)
            _require(fault is None, f"in its request, {fault}")
            tally.require(event, request, NO_LIMITS)
            if event.entry:
                self._use(event, (event.dataset, epsilon, delta, request, event.role))
            else:
                _require(not tally.limits.needs_approval(event.nano), "nobody has approved it")
        finally:
            tally.add(event)

    def _use(self, event: Event, key: tuple[Any, ...]) -> None:
        """Use up an approval; it covers exactly the release and the role that requested it."""
        request = self.requests[event.entry]
        is_same = self._requested_keys[event.entry] == key
        _require(is_same and request.state == APPROVED, "its approval is for another release")
        self.requests[event.entry] = replace(request, state="used")

    def _requested(
        self, event: Event, *, epsilon: str, request: dict[str, Any], delta: str | None = None
    ) -> None:
        _require(event.dataset in self.tallies and event.entry == 0, "it belongs to no budget")
        fault = shape_fault("request", request)
        self.requests[event.seq] = ApprovalRequest(
            number=event.seq,
            dataset=event.dataset,
            charge=event.nano,
            delta=event.atto,
            at=event.at,
            by=event.role,
            request={} if fault else request,
            state="open",
        )
        self._requested_keys[event.seq] = (event.dataset, epsilon, delta, request, event.role)
        _require_cost(event, epsilon, delta)
        _require(fault is None, f"in its request, {fault}")

    def standing(self, dataset: str, body: Mapping[str, Any], role: str) -> ApprovalRequest | None:
        """Return this role's newest unused request for exactly this release, or None."""
        key = dataset, body["epsilon"], body.get("delta"), body["request"], role
        same = [self.requests[n] for n, known in self._requested_keys.items() if known == key]
        return next((request for request in reversed(same) if request.state != "used"), None)

    def _decided(self, event: Event) -> None:
        request = self.requests[event.entry]
        is_open = request.state == "open" and request.dataset == event.dataset
        _require(
            is_open and request.by != event.role,
            "it decides no open request, or one of the same role",
        )
        _require(event.nano == event.atto == 0, "it charges something")
        decision: State = "approved" if event.kind == APPROVED else "denied"
        self.requests[event.entry] = replace(request, state=decision)

    def _restored(self, event: Event, *, head: str) -> None:
        """Charge what was lost, even beyond the budget, since it was released."""
        self._charge(event, request={})
        _require(event.entry == 0 and min(event.nano, event.atto) >= 0, "its numbers are wrong")
        _require(len(head) == len(NO_EVENT), "it names no event")

    def _recorded(self, event: Event, *, receipt: dict[str, Any]) -> None:
        line = self.lines[event.entry]
        _require(not (line.is_recorded or line.is_restored), "its charge is recorded already")
        fault = shape_fault("receipt", receipt)
        shown = {} if fault else receipt
        self.lines[event.entry] = replace(line, is_recorded=True, receipt=shown)
        parts = event.dataset, event.nano, event.atto, event.at
        _require(parts == (self._names[event.entry], 0, 0, ""), "it does not match its charge")
        _require(fault is None, f"in its receipt, {fault}")

    def _charge(
        self,
        event: Event,
        *,
        request: dict[str, Any],
        problem: str | None = None,
        add: bool = True,
    ) -> None:
        """Note a charge, even if something is wrong with it."""
        self._names[event.seq] = event.dataset
        self.lines[event.seq] = Line(
            entry=event.seq,
            charge=event.nano,
            at=event.at,
            is_recorded=False,
            request=request,
            delta=event.atto,
            is_restored=event.kind == RESTORED,
            spender=event.role or None,
            problem=problem,
        )
        if add and event.dataset in self.tallies:
            self.tallies[event.dataset].add(event)

    def accounts(self, now: str) -> tuple[Account, ...]:
        """Return the accounts at a time, in the order of their declaration."""
        day = max(self._at, now)[:10]
        lines: dict[str, list[Line]] = {name: [] for name in self.tallies}
        for number, line in self.lines.items():
            problem = line.problem or self.problems.get(number)
            lines.setdefault(self._names[number], []).append(replace(line, problem=problem))
        return tuple(
            Account(**vars(tally.budget(day)), lines=tuple(lines[name]), problem=self.problem)
            for name, tally in self.tallies.items()
        )

    @property
    def problem(self) -> str | None:
        """What is wrong with the events, if anything is."""
        if not self.problems:
            return None
        seq, problem = min(self.problems.items())
        more = len(self.problems) - 1
        also = {0: "", 1: " So does another one."}.get(more, f" So do {more} others.")
        what = f"event {seq} breaks the rules: {problem.removesuffix('.')}"
        if problem == BROKEN_CHAIN:
            what = f"{problem} at event {seq}"
        return f"{what}.{also}"

    def require_intact(self, ledger: object) -> None:
        """Raise if anything is wrong with any event."""
        if self.problem:
            raise corrupt(ledger, self.problem)


_KINDS: dict[str, Callable[..., None]] = {
    DECLARED: Replay._declared,  # noqa: SLF001 - in this module
    RESERVED: Replay._reserved,  # noqa: SLF001
    RECORDED: Replay._recorded,  # noqa: SLF001
    RESTORED: Replay._restored,  # noqa: SLF001
    REQUESTED: Replay._requested,  # noqa: SLF001
    APPROVED: Replay._decided,  # noqa: SLF001
    DENIED: Replay._decided,  # noqa: SLF001
}


def _require(condition: bool, problem: str) -> None:  # noqa: FBT001 - the condition that must hold
    if not condition:
        raise BrokenRule(problem)


def _require_cost(event: Event, epsilon: str, delta: str | None) -> None:
    problem = "its charge does not match its epsilon and delta"
    _require((event.nano, event.atto) == _cost(epsilon, delta), problem)


@lru_cache(maxsize=4096)
def _cost(epsilon: str, delta: str | None) -> tuple[int, int]:
    """Return the cost of an epsilon and a delta, written as in a ledger."""
    exact, small = read(epsilon), 0 if delta is None else read(delta)
    _require(EPSILON_MIN <= exact <= EPSILON_MAX and small < 1, "its epsilon is out of bounds")
    return charge_of(exact), delta_charge_of(small)


def require_left(
    dataset: str, charge: tuple[int, int], *, total: tuple[int, int], spent: tuple[int, int]
) -> None:
    """Raise unless a budget has as much left, of nano-epsilon and of atto-delta."""
    nano, atto = charge
    left, delta_left = max(0, total[0] - spent[0]), max(0, total[1] - spent[1])
    if atto and not total[1]:
        raise pure(dataset, atto)
    if atto > delta_left:
        raise DeltaRefused(dataset, asked=atto, left=delta_left)
    if nano > left:
        raise BudgetRefused(dataset, asked=nano, left=left)


def corrupt(ledger: object, what: str) -> CorruptLedgerError:
    """Return the error for a ledger that differs from what this software wrote."""
    return CorruptLedgerError(f"the ledger {ledger} is corrupt: {what}")


def pure(dataset: str, atto: int) -> PureBudgetError:
    """Return the refusal of a delta for a budget without one."""
    return PureBudgetError(
        f"{refusal('delta', 'be 0 as declared', in_delta(atto))} "
        f"The budget of {dataset!r} is pure epsilon."
    )


def taken(dataset: str) -> DatasetTakenError:
    """Return the refusal of a name that already has a budget."""
    return DatasetTakenError(refusal("dataset", "not have a budget yet", dataset))


def used(entry: int) -> AlreadyRecordedError:
    """Return the refusal of a charge that has already paid for a release."""
    return AlreadyRecordedError(
        f"entry must not be recorded yet, got {entry}. One charge pays for one release."
    )


def budgets(accounts: Iterable[Account]) -> str:
    """Return the accounts as a table for a notebook."""
    heads = ("dataset", "epsilon left", "of", "charges", "neighbours")
    rows = []
    for account in accounts:
        left, total = in_epsilon(account.left), in_epsilon(account.budget)
        rows.append((account.dataset, left, total, len(account.lines), account.neighbours))
    return table("Privacy budgets", rows, heads=heads)
