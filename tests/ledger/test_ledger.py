"""The accounting of a ledger: what it charges, keeps and refuses, and what it says."""

from __future__ import annotations

import inspect
import json
import threading
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.stores import copy_of, url_of

import dproo.ledger.ledger
import dproo.releases.dataset
from dproo import errors
from dproo.core.numbers import EPSILON_MAX, EPSILON_MIN, NANO, budget_of, charge_of
from dproo.ledger import BudgetRefused, Entry, Ledger, accept_restore, in_epsilon
from dproo.mechanisms import RECORDS_MAX

REPLACE: dict[str, Any] = {"neighbours": "replace"}


def left(ledger: Ledger, dataset: str = "patients") -> str:
    return next(in_epsilon(one.left) for one in ledger.show() if one.dataset == dataset)


@given(st.fractions(EPSILON_MIN, EPSILON_MAX))
def test_a_charge_is_the_least_whole_nano_epsilon_that_covers_epsilon(epsilon: Fraction) -> None:
    charge = charge_of(epsilon)
    assert charge - 1 < epsilon * NANO <= charge


@given(st.fractions(Fraction(1, NANO), 10**6))
def test_a_budget_is_the_most_whole_nano_epsilon_that_it_covers(budget: Fraction) -> None:
    nano = budget_of(budget)
    assert nano <= budget * NANO < nano + 1


@pytest.mark.parametrize(
    ("epsilon", "charge"),
    [
        ("1e-9", 1),
        ("0.9999999999e-9", 1),
        ("1.0000000001e-9", 2),
        ("1e-30", 1),
        ("0.1", 100_000_000),
        (0.1, 100_000_000),  # a float is the decimal that it prints as
        (Decimal("0.1"), 100_000_000),
        (Fraction(1, 3), 333_333_334),
        ("1000", 10**12),
    ],
)
def test_charges_are_rounded_up_at_the_nano_boundary(epsilon: Any, charge: int) -> None:
    assert charge_of(epsilon) == charge


@given(st.integers(0, 10**18))
def test_amounts_are_shown_exactly(nano: int) -> None:
    assert Fraction(in_epsilon(nano)) == Fraction(nano, NANO)


def test_three_thirds_do_not_fit_into_one_because_each_is_rounded_up(ledger: Ledger) -> None:
    for _ in range(2):
        ledger.reserve("patients", epsilon="1/3", **REPLACE)
    with pytest.raises(BudgetRefused) as refused:
        ledger.reserve("patients", epsilon="1/3", **REPLACE)
    assert (refused.value.asked, refused.value.left) == (333_333_334, 333_333_332)
    ledger.reserve("patients", epsilon="0.333333332", **REPLACE)
    assert left(ledger) == "0"


def test_a_refusal_says_what_is_left_and_changes_nothing(ledger: Ledger) -> None:
    ledger.reserve("patients", epsilon="0.75", **REPLACE)
    before = copy_of(ledger)
    with pytest.raises(BudgetRefused) as refused:
        ledger.reserve("patients", epsilon="0.5", **REPLACE)
    assert str(refused.value) == (
        "epsilon must be at most the 0.25 left of the budget of 'patients', got a charge of 0.5."
    )
    assert (refused.value.dataset, refused.value.left) == ("patients", 250_000_000)
    assert copy_of(ledger) == before


def test_a_reservation_that_was_never_recorded_stays_charged_and_is_shown_so(
    ledger: Ledger,
) -> None:
    lost = ledger.reserve("patients", epsilon="0.25", request={"k": 9}, **REPLACE)
    kept = ledger.reserve("patients", epsilon="0.25", **REPLACE)
    ledger.record(kept, {"values": ["flu"]})
    (account,) = Ledger(ledger.path).show()
    assert [(line.entry, line.is_recorded) for line in account.lines] == [
        (lost.number, False),
        (kept.number, True),
    ]
    assert account.lines[0].request == {"k": 9}
    assert account.spent == account.left == NANO // 2
    with pytest.raises(errors.NotRecordedError) as refused:
        ledger.released(lost.number)
    assert str(refused.value) == (
        f"entry must be a release that was recorded, got {lost.number}. "
        "It was charged but never finished; the charge stays."
    )


def test_a_recorded_release_is_printed_again_for_free_and_unchanged(ledger: Ledger) -> None:
    entry = ledger.reserve("patients", epsilon="1", **REPLACE)
    receipt = ledger.record(entry, {"values": ("flü", 7, 2.5, True), "n": 3, "ledger": None})
    before = copy_of(ledger)
    assert Ledger(ledger.path).released(entry.number) == receipt
    assert receipt["values"] == ["flü", 7, 2.5, True]
    assert receipt["ledger"] == {
        "dataset": "patients",
        "entry": entry.number,
        "charge_nano_epsilon": NANO,
        "head": ledger.head(),
    }
    assert copy_of(ledger) == before


@pytest.mark.parametrize(
    "value",
    ["\0", "a\0b\\", "\x07\b\t\n\f\r\x1f", "\x7f\x80ü", '"', "\U0001f600", "\\u0000"],
)
def test_a_release_of_any_text_is_recorded(ledger: Ledger, value: str) -> None:
    entry = ledger.reserve("patients", epsilon="0.1", neighbours="replace")
    kept = ledger.record(entry, {"values": {"a": [value], value: ["b"]}})
    assert kept["values"] == {"a": [value], value: ["b"]}
    assert ledger.released(entry.number) == kept
    ledger.verify()


def test_one_charge_pays_for_one_release(ledger: Ledger) -> None:
    entry = ledger.reserve("patients", epsilon="0.5", **REPLACE)
    ledger.record(entry, {"values": ["flu"]})
    with pytest.raises(errors.AlreadyRecordedError) as refused:
        ledger.record(entry, {"values": ["cold"]})
    assert str(refused.value) == (
        f"entry must not be recorded yet, got {entry.number}. One charge pays for one release."
    )
    assert ledger.released(entry.number)["values"] == ["flu"]


def test_the_budgets_of_several_datasets_are_kept_apart(ledger: Ledger) -> None:
    ledger.declare("visits", budget="1/3", neighbours="add-remove", records_per_person=4)
    ledger.reserve("visits", epsilon="0.3", neighbours="add-remove", records_per_person=4)
    assert (left(ledger), left(ledger, "visits")) == ("1", "0.033333333")


def test_export_has_every_event_and_is_json(ledger: Ledger) -> None:
    entry = ledger.reserve("patients", epsilon="1/3", request={"k": 9}, **REPLACE)
    ledger.record(entry, {"values": ["flu"]})
    exported = json.loads(json.dumps(ledger.export()))
    assert [event["kind"] for event in exported] == ["declared", "reserved", "recorded"]
    assert exported[1]["body"]["epsilon"] == "1/3"
    assert exported[-1]["hash"] == ledger.head() == ledger.verify().head


def test_only_the_reservation_has_a_time_so_the_length_of_the_scan_is_not_kept(
    ledger: Ledger,
) -> None:
    entry = ledger.reserve("patients", epsilon="0.5", **REPLACE)
    ledger.record(entry, {"values": ["flu"]})
    reserved, recorded = ledger.export()[1:]
    assert reserved["at"].endswith("+00:00")
    assert recorded["at"] == ""
    assert set(recorded["body"]) == {"receipt"}


@pytest.mark.parametrize("field", ["counts", "m", "q", "seed"])
def test_private_fields_are_refused_however_deep(ledger: Ledger, field: str) -> None:
    sentence = f"must be public, got a field '{field}'."
    private = {"certificate": [{"deep": {field: 1}}]}
    with pytest.raises(ValueError, match=f"^request {sentence}$"):
        ledger.reserve("patients", epsilon=1, request=private, **REPLACE)
    entry = ledger.reserve("patients", epsilon=1, **REPLACE)
    with pytest.raises(ValueError, match=f"^receipt {sentence}$"):
        ledger.record(entry, private)


def test_a_released_group_may_be_called_like_a_private_field(ledger: Ledger) -> None:
    entry = ledger.reserve("patients", epsilon=1, **REPLACE)
    assert ledger.record(entry, {"values": {"m": "flu", "f": "cold"}})["values"]["m"] == "flu"


@pytest.mark.parametrize("field", ["n", "worst_alpha"])
def test_under_add_remove_nothing_tells_the_number_of_records(ledger: Ledger, field: str) -> None:
    ledger.declare("visits", budget=1, neighbours="add-remove")
    entry = ledger.reserve("visits", epsilon=1, neighbours="add-remove")
    with pytest.raises(ValueError, match=f"^receipt must be public, got a field '{field}'"):
        ledger.record(entry, {"values": ["flu"], field: 100})
    assert ledger.record(entry, {"values": ["flu"]})["values"] == ["flu"]


def test_no_source_of_randomness_can_be_handed_to_a_ledger_or_a_release() -> None:
    ways_in = [method for _, method in inspect.getmembers(Ledger, inspect.isfunction)]
    for function in [*ways_in, Ledger.create, dproo.releases.dataset.sample]:
        names = set(inspect.signature(function).parameters)
        assert not names & {"seed", "source", "entropy", "rng", "random", "random_state"}
    assert "dproo.core.draw" not in {
        getattr(value, "__module__", None) for value in vars(dproo.ledger.ledger).values()
    }


@pytest.mark.parametrize(
    ("budget", "sentence"),
    [
        (0, "budget must be positive, got 0."),
        ("-1", "budget must be positive, got '-1'."),
        ("1e-10", "budget must be between 1e-9 and 1000000, got '1e-10'."),
        (10**7, "budget must be between 1e-9 and 1000000, got 10000000."),
        (float("nan"), "budget must be a finite number, got nan."),
        ("much", "budget must be a decimal number, got 'much'."),
    ],
)
def test_a_budget_that_is_none_is_refused(ledger: Ledger, budget: Any, sentence: str) -> None:
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the whole sentence is compared
        ledger.declare("visits", budget=budget, **REPLACE)
    assert str(refused.value) == sentence


@pytest.mark.parametrize("epsilon", [0, -1, "1001", float("inf"), "1e-31"])
def test_an_epsilon_that_is_none_is_refused_and_nothing_charged(
    ledger: Ledger, epsilon: Any
) -> None:
    with pytest.raises(ValueError, match=r"^epsilon must be"):
        ledger.reserve("patients", epsilon=epsilon, **REPLACE)
    assert left(ledger) == "1"


@pytest.mark.parametrize(
    ("dataset", "sentence"),
    [
        ("", "dataset must be 1 to 200 characters without spaces around them, got ''."),
        (" a", "dataset must be 1 to 200 characters without spaces around them, got ' a'."),
        ("a\nb", "dataset must be printable text in Unicode normal form C, got 'a\\nb'."),
        ("e\u0301", "dataset must be printable text in Unicode normal form C, got 'e\u0301'."),
        ("\ud800", "dataset must be printable text in Unicode normal form C, got '\\ud800'."),
    ],
)
def test_a_name_that_could_be_mistaken_is_refused(
    ledger: Ledger, dataset: str, sentence: str
) -> None:
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the whole sentence is compared
        ledger.declare(dataset, budget=1, **REPLACE)
    assert str(refused.value) == sentence


def test_a_name_must_be_text(ledger: Ledger) -> None:
    with pytest.raises(TypeError, match=r"^dataset must be text, got 7\.$"):
        ledger.declare(7, budget=1, **REPLACE)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["patients", "Patients"])
def test_a_name_has_one_budget_for_good(ledger: Ledger, name: str) -> None:
    with pytest.raises(errors.DatasetTakenError) as refused:
        ledger.declare(name, budget=5, **REPLACE)
    assert str(refused.value) == f"dataset must not have a budget yet, got '{name}'."
    assert left(ledger) == "1"


@pytest.mark.parametrize(
    ("dataset", "hint"),
    [
        ("patient", "Did you mean 'patients'?"),
        ("xyz", "'dproo ledger init' declares one."),
        (7, "'dproo ledger init' declares one."),
        ("a\0b", "'dproo ledger init' declares one."),
        ("\\'; --%s?", "'dproo ledger init' declares one."),
        ("\ud800", "'dproo ledger init' declares one."),
    ],
)
def test_an_unknown_dataset_is_refused_with_a_suggestion(
    ledger: Ledger, dataset: Any, hint: str
) -> None:
    with pytest.raises(errors.UnknownDatasetError) as refused:
        ledger.reserve(dataset, epsilon=1, **REPLACE)
    assert str(refused.value) == (f"dataset must have a declared budget, got {dataset!r}. {hint}")


@pytest.mark.parametrize(
    ("relation", "sentence"),
    [
        (
            {"neighbours": "add-remove"},
            "neighbours must be 'replace' as declared, got 'add-remove'.",
        ),
        (
            {"neighbours": "replace", "records_per_person": 2},
            "records_per_person must be 1 as declared, got 2.",
        ),
    ],
)
def test_relations_are_never_mixed(ledger: Ledger, relation: dict[str, Any], sentence: str) -> None:
    with pytest.raises(errors.OtherRelationError) as refused:
        ledger.reserve("patients", epsilon="0.1", **relation)
    assert str(refused.value) == (
        f"{sentence} The epsilons of 'patients' add up for that relation only."
    )
    assert left(ledger) == "1"


def test_a_relation_that_does_not_exist_is_refused(ledger: Ledger) -> None:
    with pytest.raises(ValueError, match=r"^neighbours must be one of add-remove, replace, got"):
        ledger.declare("visits", budget=1, neighbours="removal")
    with pytest.raises(ValueError, match=r"^records_per_person must be at least 1, got 0\.$"):
        ledger.declare("visits", budget=1, records_per_person=0, **REPLACE)


@pytest.mark.parametrize("records", [2**31, RECORDS_MAX])
def test_a_budget_may_be_for_as_many_records_of_a_person_as_a_release(
    ledger: Ledger, records: int
) -> None:
    ledger.declare("visits", budget=1, records_per_person=records, **REPLACE)
    ledger.reserve("visits", epsilon="0.1", records_per_person=records, **REPLACE)
    assert ledger.verify().accounts[1].records_per_person == records


@pytest.mark.parametrize("number", [1, 3, 2**63 - 1])
def test_an_entry_that_is_no_charge_is_refused(ledger: Ledger, number: int) -> None:
    ledger.reserve("patients", epsilon="0.1", **REPLACE)
    sentence = f"entry must be the number of a charge in this ledger, got {number}."
    with pytest.raises(errors.UnknownEntryError) as refused:
        ledger.released(number)
    assert str(refused.value) == sentence


def test_an_entry_is_good_for_its_own_ledger_only(ledger: Ledger, tmp_path: Path) -> None:
    other = Ledger.create(tmp_path / "other.sqlite3")
    other.declare("patients", budget="2", **REPLACE)
    entry = other.reserve("patients", epsilon="0.1", **REPLACE)
    ledger.reserve("patients", epsilon="0.2", **REPLACE)
    with pytest.raises(errors.UnknownEntryError):
        ledger.record(entry, {"values": ["flu"]})


@pytest.mark.parametrize(
    "forged", [{"dataset": "others"}, {"number": 1}, {"charge": 1}, {"hash": "0" * 64}]
)
def test_an_entry_with_any_part_changed_records_nothing(
    ledger: Ledger, forged: dict[str, Any]
) -> None:
    ledger.declare("others", budget="1", **REPLACE)
    entry = ledger.reserve("patients", epsilon="0.1", **REPLACE)
    with pytest.raises(errors.UnknownEntryError):
        ledger.record(replace(entry, **forged), {"values": ["flu"]})
    assert ledger.verify().events == 3


def test_an_empty_path_is_no_witness(ledger: Ledger, tmp_path: Path) -> None:
    """A variable of a script that is not set would otherwise choose the default."""
    for use in (
        lambda: Ledger(url_of(ledger), witness=""),
        lambda: Ledger.create(tmp_path / "new.sqlite3", witness=""),
        lambda: accept_restore(url_of(ledger), witness=""),
    ):
        with pytest.raises(ValueError, match="witness must be the path of a file, got ''"):
            use()


@pytest.mark.parametrize("receipt", [{"a": {1, 2}}, {"a": float("nan")}, {"a": b"flu"}])
def test_a_receipt_that_is_no_json_is_refused_without_being_quoted(
    ledger: Ledger, receipt: dict[str, Any]
) -> None:
    entry = ledger.reserve("patients", epsilon="0.1", **REPLACE)
    with pytest.raises(ValueError, match=r"^receipt must be made of JSON values\.$") as refused:
        ledger.record(entry, receipt)
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__


def test_threads_share_a_ledger(ledger: Ledger) -> None:
    entries: list[Entry] = []

    def charge() -> None:
        entries.append(ledger.reserve("patients", epsilon="0.125", **REPLACE))

    threads = [threading.Thread(target=charge) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({entry.number for entry in entries}) == 8
    assert left(ledger) == "0"
    assert ledger.verify().events == 9
