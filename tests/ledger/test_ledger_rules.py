"""Any sequence of calls, against a model of the accounting that fits on one page."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)
from support.draws import SOAK
from support.stores import emptied

from dproo import errors
from dproo.ledger import BudgetRefused, Entry, Ledger

NAMES = st.sampled_from(["patients", "visits", "éléments"])
RELATIONS = {"patients": "replace", "visits": "add-remove", "éléments": "replace"}
AMOUNTS = st.fractions(Fraction(1, 10**10), 2, max_denominator=10**10)


class Accounting(RuleBasedStateMachine):
    """The exact epsilons that were granted never sum to more than the exact budget."""

    entries = Bundle("entries")
    place: Callable[[], Path | str]

    def __init__(self) -> None:
        super().__init__()
        self.ledger = Ledger.create(self.place())
        self.budgets: dict[str, Fraction] = {}
        self.granted: dict[str, list[Fraction]] = {}
        self.recorded: dict[int, str] = {}
        self.heads = [self.ledger.head()]

    @rule(name=NAMES, budget=AMOUNTS.filter(lambda budget: budget * 10**9 >= 1))
    def declare(self, name: str, budget: Fraction) -> None:
        if name in self.budgets:
            with pytest.raises(errors.DatasetTakenError):
                self.ledger.declare(name, budget=budget, neighbours=RELATIONS[name])
            return
        self.ledger.declare(name, budget=budget, neighbours=RELATIONS[name])
        self.budgets[name] = budget
        self.granted[name] = []

    @rule(target=entries, name=NAMES, epsilon=AMOUNTS)
    def reserve(self, name: str, epsilon: Fraction) -> Entry | None:
        if name not in self.budgets:
            with pytest.raises(errors.UnknownDatasetError):
                self.ledger.reserve(name, epsilon=epsilon, neighbours=RELATIONS[name])
            return None
        sum_before = sum(self.granted[name])
        slack = Fraction(len(self.granted[name]) + 2, 10**9)  # what rounding can cost
        try:
            entry = self.ledger.reserve(name, epsilon=epsilon, neighbours=RELATIONS[name])
        except BudgetRefused:
            assert sum_before + epsilon + slack > self.budgets[name]
            return None
        self.granted[name].append(epsilon)
        return entry

    @rule(entry=entries, value=st.text(max_size=5))
    def record(self, entry: Entry | None, value: str) -> None:
        if entry is None:
            return
        if entry.number in self.recorded:
            with pytest.raises(errors.AlreadyRecordedError):
                self.ledger.record(entry, {"values": [value]})
            return
        self.ledger.record(entry, {"values": [value]})
        self.recorded[entry.number] = value

    @rule()
    def open_again(self) -> None:
        self.ledger = Ledger(self.ledger.path)

    @invariant()
    def nobody_is_overspent_and_nothing_is_forgotten(self) -> None:
        found = self.ledger.verify(expect_head=self.heads[-1])
        self.heads.append(found.head)
        assert {account.dataset for account in found.accounts} == set(self.budgets)
        for account in found.accounts:
            granted = self.granted[account.dataset]
            assert len(account.lines) == len(granted)
            assert sum(granted) <= Fraction(account.spent, 10**9) <= self.budgets[account.dataset]
            for line in account.lines:
                assert line.is_recorded == (line.entry in self.recorded)
        for number, value in self.recorded.items():
            assert self.ledger.released(number)["values"] == [value]


@pytest.mark.one_of(3)
def test_no_sequence_of_calls_overspends_or_forgets(where: Path | str, tmp_path: Path) -> None:
    is_file = isinstance(where, Path)

    class Stored(Accounting):
        def place(self) -> Path | str:
            return Path(tempfile.mkdtemp(dir=tmp_path)) / "ledger" if is_file else emptied(where)

    examples = 12 if is_file else 5
    run_state_machine_as_test(
        Stored, settings=settings(max_examples=200 if SOAK else examples, stateful_step_count=15)
    )
