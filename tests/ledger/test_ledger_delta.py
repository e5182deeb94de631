"""Budgets with a delta: declared or refused, both sums kept, and checked by a replay."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dproo.core.numbers import ATTO, delta_budget_of, delta_charge_of
from dproo.errors import CorruptLedgerError, DeltaRefused, PureBudgetError
from dproo.ledger import BudgetRefused, Ledger, in_delta
from dproo.ledger.account import BudgetTally

FILE = pytest.mark.parametrize("where", ["file"], indirect=True)
DELTAS = st.fractions(0, Fraction(99, 100), max_denominator=10**25)


@pytest.fixture
def book(where: Path | str) -> Ledger:
    new = Ledger.create(where)
    new.declare("patients", budget="3", delta="1e-6", neighbours="replace")
    return new


def reserve(book: Ledger, delta: object, epsilon: object = "0.5") -> int:
    return book.reserve("patients", epsilon=epsilon, delta=delta, neighbours="replace").number


@given(DELTAS)
def test_a_charge_covers_delta_and_a_budget_is_covered_by_it(delta: Fraction) -> None:
    assert 0 <= Fraction(delta_charge_of(delta), ATTO) - delta < Fraction(1, ATTO)
    if delta == 0 or delta * ATTO >= 1:
        assert 0 <= delta - Fraction(delta_budget_of(delta), ATTO) < Fraction(1, ATTO)
    assert Fraction(in_delta(delta_charge_of(delta))) * ATTO == delta_charge_of(delta)


def test_both_sums_stay_within_the_budget(book: Ledger) -> None:
    reserve(book, "6e-7")
    reserve(book, 0)  # pure epsilon costs no delta
    with pytest.raises(DeltaRefused) as refused:
        reserve(book, "5e-7")
    assert (refused.value.asked, refused.value.left) == (5 * 10**11, 4 * 10**11)
    assert str(refused.value) == (
        "delta must be at most the 4e-7 left of the budget of 'patients', got a charge of 5e-7."
    )
    reserve(book, "4e-7")
    with pytest.raises(BudgetRefused, match=r"epsilon must be at most the 1\.5 left"):
        reserve(book, 0, epsilon="1.6")
    (account,) = book.show()
    assert (account.spent, account.delta_left) == (1_500_000_000, 0)
    assert [line.delta for line in account.lines] == [6 * 10**11, 0, 4 * 10**11]
    assert book.verify().events == 4


def test_a_pure_budget_refuses_every_delta_and_is_not_charged(ledger: Ledger) -> None:
    with pytest.raises(PureBudgetError) as refused:
        reserve(ledger, "1e-30")
    assert str(refused.value) == (
        "delta must be 0 as declared, got '1e-18'. The budget of 'patients' is pure epsilon."
    )
    assert ledger.show()[0].spent == 0


def test_the_receipt_says_what_delta_it_cost(book: Ledger) -> None:
    entry = book.reserve("patients", epsilon="1", delta="1e-7", neighbours="replace")
    receipt = book.record(entry, {"values": ["flu"]})
    assert receipt["ledger"]["charge_atto_delta"] == 10**11
    assert book.released(entry.number) == receipt


@pytest.mark.parametrize("delta", ["-1e-9", "1", "nan", "half"])
def test_a_delta_that_is_none_is_refused(book: Ledger, delta: str) -> None:
    with pytest.raises(ValueError, match="delta must be"):
        reserve(book, delta)
    with pytest.raises(ValueError, match="delta must be"):
        book.declare("visits", budget=1, delta=delta, neighbours="replace")
    assert book.show()[0].spent == 0


def test_a_total_too_small_to_be_counted_is_refused(book: Ledger) -> None:
    with pytest.raises(ValueError, match="delta must be 0 or at least 1e-18, got '1e-20'"):
        book.declare("visits", budget=1, delta="1e-20", neighbours="replace")


@FILE
def test_deltas_that_exceed_the_budget_are_found_in_a_chain_written_anew(
    book: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(BudgetTally, "require", lambda *_: None)
        reserve(book, "1/100")
    with pytest.raises(CorruptLedgerError, match="event 2 breaks the rules: delta must be at most"):
        book.verify()
