"""The rules of a budget: refused by name, on both stores, and by the database itself."""

from __future__ import annotations

import os
import pickle
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from support.databases import role_of
from support.draws import DICE
from support.releasing import sample
from support.stores import copy_of, future, put_back

from dproo import errors
from dproo.cli.commands import run
from dproo.ledger import (
    Database,
    Ledger,
    Limits,
    accept_restore,
    copy,
)
from dproo.ledger.account import BudgetTally
from dproo.ledger.rules import TERMS, Basis

REPLACE: dict[str, Any] = {"neighbours": "replace"}
DIGEST = "ab" * 32
DATABASE = pytest.mark.parametrize("where", ["postgresql"], indirect=True)
FILE = pytest.mark.parametrize("where", ["file"], indirect=True)


def declared(ledger: Ledger, **limits: Any) -> Ledger:
    ledger.declare("visits", budget=10, limits=Limits(**limits), **REPLACE)
    return ledger


def refused(ledger: Ledger, epsilon: str = "0.25", **request: Any) -> str:
    before = copy_of(ledger)
    with pytest.raises(errors.RuleRefused) as found:
        ledger.reserve("visits", epsilon=epsilon, request=request, **REPLACE)
    assert copy_of(ledger) == before
    ledger.verify()
    assert f"the rule {found.value.rule!r} of 'visits': " in str(found.value)
    return str(found.value).partition(": ")[2]


def test_one_release_is_at_most_so_large(ledger: Ledger) -> None:
    declared(ledger, per_release="0.5")
    assert refused(ledger, "0.500000001") == (
        "at most 0.5 is charged for a release, and this makes 0.500000001."
    )
    ledger.reserve("visits", epsilon="0.5", **REPLACE)
    ledger.verify()


def test_the_releases_of_one_day_are_at_most_so_large(ledger: Ledger) -> None:
    declared(ledger, per_day="0.6")
    ledger.reserve("visits", epsilon="0.25", **REPLACE)
    ledger.reserve("patients", epsilon="0.5", **REPLACE)  # of another budget
    ledger.reserve("visits", epsilon="0.25", **REPLACE)
    assert refused(ledger) == "at most 0.6 is charged for a day, and this makes 0.75."
    ledger.reserve("visits", epsilon="0.1", **REPLACE)
    ledger.verify()


def test_another_day_begins_anew(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    declared(ledger, per_day="0.3")
    ledger.reserve("visits", epsilon="0.25", **REPLACE)
    refused(ledger)
    if isinstance(ledger.path, Path):
        monkeypatch.setattr("dproo.ledger.events.now", lambda: "2100-01-01T00:00:00+00:00")
    else:
        future(ledger)
    ledger.reserve("visits", epsilon="0.25", **REPLACE)
    refused(ledger)


@FILE
def test_a_clock_that_is_set_back_renews_no_allowance(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared(ledger, per_day="0.3")
    monkeypatch.setattr("dproo.ledger.events.now", lambda: "2100-01-02T00:00:00+00:00")
    ledger.reserve("visits", epsilon="0.25", **REPLACE)
    for clock in ("2100-01-01T23:59:59+00:00", "1970-01-01T00:00:00+00:00"):
        monkeypatch.setattr("dproo.ledger.events.now", lambda clock=clock: clock)
        refused(ledger)
        ledger.reserve("visits", epsilon="0.01", **REPLACE)
    assert [line.at[:10] for line in ledger.show()[1].lines] == ["2100-01-02"] * 3
    ledger.verify()


@FILE
def test_a_clock_that_was_set_forward_dates_every_charge_until_a_copy_from_before_is_back(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared(ledger, per_day="0.5")
    ledger.declare("wards", budget=1, limits=Limits(until="2100-01-01"), **REPLACE)
    before = copy_of(ledger)
    with monkeypatch.context() as patch:
        patch.setattr("dproo.ledger.events.now", lambda: "2100-01-02T00:00:00+00:00")
        ledger.reserve("patients", epsilon="0.25", **REPLACE)
    ledger.reserve("visits", epsilon="0.4", **REPLACE)
    assert refused(ledger) == "at most 0.5 is charged for a day, and this makes 0.65."
    with pytest.raises(errors.RuleRefused, match="nothing is released from 2100-01-01 on"):
        ledger.reserve("wards", epsilon="0.1", **REPLACE)
    put_back(ledger, before)
    accept_restore(ledger.path)
    ledger.reserve("wards", epsilon="0.1", **REPLACE)
    assert [account.spent for account in ledger.verify().accounts] == [
        250_000_000,
        400_000_000,
        100_000_000,
    ]
    assert all(line.at < "2100" for account in ledger.show() for line in account.lines)


def test_nothing_is_released_from_a_day_on(ledger: Ledger) -> None:
    declared(ledger, until="2020-01-31")
    assert refused(ledger) == "nothing is released from 2020-01-31 on."


def test_only_some_columns_may_be_released(ledger: Ledger) -> None:
    declared(ledger, columns=["sex", "age"])
    sentence = "only age, sex may be released."
    assert refused(ledger) == sentence
    assert refused(ledger, columns=["sex", "name"]) == sentence
    assert refused(ledger, columns=["sex"], by="ward") == sentence
    ledger.reserve("visits", epsilon="0.25", request={"columns": ["sex"], "by": "age"}, **REPLACE)
    ledger.verify()


def test_the_columns_of_a_rule_are_named_as_declared(ledger: Ledger) -> None:
    declared(ledger, columns=["blood  pressure"])
    assert refused(ledger, columns=["sex"]) == "only blood  pressure may be released."


@pytest.mark.parametrize("column", ["a\udcff", "a" * TERMS["request_max"]])
def test_rules_that_cannot_be_read_back_are_refused(ledger: Ledger, column: str) -> None:
    with pytest.raises(ValueError, match=r"^limits must be ones that can be read back: it is "):
        declared(ledger, columns=["ward", column])
    assert ledger.datasets() == ["patients"]


def test_a_release_names_its_columns_to_the_rule(ledger: Ledger, tmp_path: Path) -> None:
    declared(ledger, columns=["sex"])
    data = tmp_path / "visits.csv"
    data.write_text("sex,ward\nF,A\nM,B\nF,A\n")
    given: dict[str, Any] = {"alphabet": ["F", "M"], "epsilon": 1, "ledger": ledger}
    sample(data, column="sex", dataset="visits", **given)
    with pytest.raises(errors.RuleRefused, match="only sex may be released"):
        sample(data, column="ward", dataset="visits", **given)
    with pytest.raises(errors.RuleRefused, match="only sex may be released"):
        sample(data, column="sex", by={"ward": ["A", "B"]}, dataset="visits", **given)


def test_only_one_code_book_may_be_used(ledger: Ledger) -> None:
    declared(ledger, codebook=DIGEST)
    assert refused(ledger, codebook_sha256="cd" * 32) == f"the code book is {DIGEST}."
    ledger.reserve("visits", epsilon="0.25", request={"codebook_sha256": DIGEST}, **REPLACE)
    ledger.reserve("visits", epsilon="0.25", request={"alphabet_sha256": DIGEST}, **REPLACE)


def test_people_and_records_never_share_a_budget(ledger: Ledger) -> None:
    ledger.declare("records", budget=10, **REPLACE)
    ledger.declare("people", budget=10, unit="person", **REPLACE)
    visits = [{"who": i // 2, "sex": "FM"[i % 2]} for i in range(40)]
    given: dict[str, Any] = {"alphabet": ["F", "M"], "column": "sex", "epsilon": 1}
    given |= {"ledger": ledger}
    sample(visits, dataset="records", **given)
    sample(visits, dataset="people", person="who", **given)
    before = copy_of(ledger)
    with pytest.raises(errors.OtherRelationError, match="person must be left out: the budget"):
        sample(visits, dataset="records", person="who", **given)
    with pytest.raises(errors.OtherRelationError, match="person must be given: the budget of"):
        sample(visits, dataset="people", **given)
    assert copy_of(ledger) == before
    sample(visits, dataset="people", person="who", **given)
    ledger.verify()


def test_rules_of_ones_own_hold_besides(ledger: Ledger) -> None:
    declared(ledger, per_release="2")
    strict = ledger.limited(Limits(per_release="0.5", per_day="0.75"))
    strict.reserve("visits", epsilon="0.5", **REPLACE)
    assert refused(strict, "1").startswith("at most 0.5 is charged for a release")
    assert refused(strict, "0.5").startswith("at most 0.75 is charged for a day")
    assert refused(ledger, "3").startswith("at most 2 is charged for a release")
    ledger.reserve("visits", epsilon="2", **REPLACE)


def test_rules_of_ones_own_add_up(ledger: Ledger) -> None:
    declared(ledger)
    answers: list[bool] = []
    first = {"per_release": "0.5", "until": "2099-12-31", "columns": ["sex", "ward"]}
    strict = ledger.limited(Limits(**first), is_awaited=lambda: not answers)
    later = {
        "per_release": "2",
        "per_day": "0.75",
        "until": "9999-12-31",
        "columns": ["age", "sex"],
    }
    both = strict.limited(Limits(**later, codebook=DIGEST)).limited(Limits(codebook=DIGEST))
    assert both.limits == Limits(**first | {"columns": ["sex"]}, per_day="0.75", codebook=DIGEST)
    allowed = {"columns": ["sex"], "codebook_sha256": DIGEST}
    assert refused(both, "1", **allowed).startswith("at most 0.5 is charged for a release")
    assert refused(both, **allowed | {"columns": ["ward"]}) == "only sex may be released."
    both.reserve("visits", epsilon="0.5", request=allowed, **REPLACE)
    assert refused(both, "0.5", **allowed).startswith("at most 0.75 is charged for a day")
    answers.append(True)
    with pytest.raises(errors.LedgerError, match="nobody waits for the answer any more"):
        both.limited(Limits()).reserve("visits", epsilon="0.1", request=allowed, **REPLACE)
    assert pickle.loads(pickle.dumps(ledger.limited(Limits()))).limits == Limits()  # noqa: S301


@pytest.mark.parametrize(
    ("first", "second", "sentence"),
    [
        ({"columns": ["sex"]}, {"columns": "age"}, "columns must have one of sex, got ['age']."),
        ({"codebook": DIGEST}, {"codebook": "0" * 64}, f"codebook must be '{DIGEST[:6]}"),
    ],
)
def test_rules_of_ones_own_that_exclude_each_other_are_refused(
    ledger: Ledger, first: dict[str, Any], second: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ValueError) as found:  # noqa: PT011 - the sentence is compared
        ledger.limited(Limits(**first)).limited(Limits(**second))
    assert str(found.value).startswith(sentence)


def test_an_approval_is_needed_by_all_or_none(ledger: Ledger) -> None:
    with pytest.raises(ValueError, match="approval_above must be declared with a budget"):
        ledger.limited(Limits(approval_above="0.5"))


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        ({"per_release": 0}, "per_release must be between 1e-9 and 1000000, got '0'."),
        ({"per_day": "much"}, "per_day must be a decimal number, got 'much'."),
        ({"until": "tomorrow"}, "until must be a day such as 2027-01-31, got 'tomorrow'."),
        ({"until": "20270131"}, "until must be a day such as 2027-01-31, got '20270131'."),
        ({"columns": []}, "columns must be names, got []."),
        ({"codebook": "abc"}, "codebook must be 64 lower-case hexadecimal digits, got 'abc'."),
    ],
)
def test_a_rule_that_is_none_is_refused(limits: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError) as found:  # noqa: PT011 - the whole sentence is compared
        Limits(**limits)
    assert str(found.value) == sentence


@FILE
@pytest.mark.parametrize("rule", ["approval_above", "per_spender"])
def test_a_file_has_no_second_person(ledger: Ledger, rule: str) -> None:
    with pytest.raises(ValueError, match=f"{rule} needs a ledger in PostgreSQL: a file has one ow"):
        declared(ledger, **{rule: "1"})


@FILE
def test_a_file_does_not_know_who_spends(ledger: Ledger) -> None:
    declared(ledger)
    strict = ledger.limited(Limits(per_spender="1"))
    assert refused(strict) == "a file does not know who spends."


@DATABASE
def test_the_releases_of_one_spender_are_at_most_so_large(
    ledger: Ledger, ledger_database: str, tmp_path: Path
) -> None:
    declared(ledger, per_spender="0.6")
    bob, eve = (Ledger(role_of(ledger_database, name)) for name in ("bob", "eve"))
    for _ in range(2):
        bob.reserve("visits", epsilon="0.25", **REPLACE)
    bob.reserve("patients", epsilon="0.5", **REPLACE)  # of another budget
    assert refused(bob) == "at most 0.6 is charged for one spender, and this makes 0.75."
    eve.reserve("visits", epsilon="0.6", **REPLACE)
    bob.reserve("visits", epsilon="0.1", **REPLACE)
    lines = ledger.verify().accounts[1].lines
    assert [line.spender for line in lines] == ["bob", "bob", "eve", "bob"]
    file = copy(ledger, tmp_path / "copied.sqlite3")
    with pytest.raises(errors.RuleRefused, match="a file does not know who spends"):
        file.reserve("visits", epsilon="0.1", **REPLACE)
    copy_back(ledger)
    copy(file, ledger_database)
    refused(eve, "0.000000001")  # who has spent what goes with a ledger


@DATABASE
def test_what_was_charged_again_counts_for_every_spender(
    ledger: Ledger, ledger_database: str
) -> None:
    declared(ledger, per_spender="1")
    old = copy_of(ledger)
    ledger.reserve("visits", epsilon="0.75", **REPLACE)
    put_back(ledger, old)
    accept_restore(ledger.path)
    eve = Ledger(role_of(ledger_database, "eve"))
    assert refused(eve, "0.5") == "at most 1 is charged for one spender, and this makes 1.25."
    eve.reserve("visits", epsilon="0.25", **REPLACE)
    eve.verify()


def test_rules_go_with_a_ledger(ledger: Ledger, tmp_path: Path) -> None:
    declared(ledger, per_release="0.5", columns=["sex"])
    file = copy(ledger, tmp_path / "copied.sqlite3")
    assert (
        file.show()[1].limits
        == ledger.show()[1].limits
        == Limits(per_release="0.5", columns=["sex"])
    )


@FILE
def test_a_charge_that_broke_a_rule_is_found(ledger: Ledger, monkeypatch: Any) -> None:
    declared(ledger, per_release="0.5")
    with monkeypatch.context() as patch:
        patch.setattr(BudgetTally, "require", lambda *_: None)
        ledger.reserve("visits", epsilon=1, **REPLACE)
    (line,) = ledger.show()[1].lines
    assert "the rule 'per_release' of 'visits'" in str(line.problem)
    with pytest.raises(errors.CorruptLedgerError, match="event 3 breaks the rules"):
        ledger.verify()


@DATABASE
@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        ({"per_release": "0.1"}, "the rule per_release"),
        ({"per_day": "0.1"}, "the rule per_day"),
        ({"per_spender": "0.1"}, "the rule per_spender"),
        ({"until": "2020-01-31"}, "the rule until"),
        ({"columns": ["sex"]}, "the rule columns"),
        ({"codebook": DIGEST}, "the rule codebook"),
    ],
)
def test_the_database_holds_spenders_to_the_rules_by_itself(
    ledger: Ledger, ledger_database: str, limits: dict[str, Any], sentence: str
) -> None:
    import psycopg  # noqa: PLC0415 - not for every worker

    declared(ledger, **limits)
    before = copy_of(ledger)
    with (
        psycopg.connect(role_of(ledger_database, "bob")) as connection,
        pytest.raises(psycopg.Error, match=sentence),
    ):
        connection.execute(
            "SELECT dproo.reserve('visits', '1/4', NULL, '{}', NULL, repeat('ab', 16))"
        )
    assert copy_of(ledger) == before


@pytest.fixture
def two(ledger: Ledger, ledger_database: str) -> tuple[Ledger, Ledger]:
    """A spender and an owner of a ledger whose larger releases need both."""
    declared(ledger, approval_above="0.5")
    bob, ann = (Ledger(role_of(ledger_database, name)) for name in ("bob", "ann"))
    return bob, ann


def asked(ledger: Ledger, epsilon: str = "1", **request: Any) -> int:
    with pytest.raises(errors.ApprovalNeeded) as needed:
        ledger.reserve("visits", epsilon=epsilon, request=request, **REPLACE)
    return needed.value.number


@DATABASE
def test_a_larger_release_needs_a_second_person_once(two: tuple[Ledger, Ledger]) -> None:
    bob, ann = two
    bob.reserve("visits", epsilon="0.5", **REPLACE)  # not above
    number = asked(bob, k=9)
    assert asked(bob, k=9) == number  # asking again writes nothing
    assert [(one.number, one.charge, one.request, one.state) for one in ann.requests()] == [
        (number, 10**9, {"k": 9}, "open")
    ]
    ann.approve(number)
    assert asked(bob, k=8) != number  # another release is another request
    entry = bob.reserve("visits", epsilon="1", request={"k": 9}, **REPLACE)
    bob.record(entry, {"values": ["flu"]})
    assert ann.requests()[0].state == "used"
    assert asked(bob, k=9) != number  # one word is good for one release
    with pytest.raises(errors.UnknownEntryError):
        bob.released(number)
    for call in (ann.approve, ann.deny):
        with pytest.raises(errors.UnknownEntryError) as found:
            call(number)
        assert str(found.value) == f"request must be the number of an open one, got {number}."
    assert ann.verify().accounts[1].spent == 15 * 10**8


@DATABASE
def test_a_release_that_was_denied_stays_so(two: tuple[Ledger, Ledger]) -> None:
    bob, ann = two
    number = asked(bob)
    ann.deny(number)
    assert refused(bob, "1") == f"request {number} was denied."
    assert [one.state for one in bob.requests()] == ["denied"]


@DATABASE
def test_nobody_approves_what_they_have_asked_for(
    two: tuple[Ledger, Ledger], ledger: Ledger
) -> None:
    bob, _ = two
    number = asked(ledger)  # of somebody who is an owner as well
    before = copy_of(ledger)
    for one in (ledger, bob):
        with pytest.raises(errors.RoleError):
            one.approve(number)
    assert copy_of(ledger) == before


@DATABASE
def test_requests_go_with_a_ledger(
    two: tuple[Ledger, Ledger], ledger: Ledger, tmp_path: Path, ledger_database: str
) -> None:
    bob, ann = two
    ann.approve(asked(bob, k=1))
    bob.reserve("visits", epsilon="1", request={"k": 1}, **REPLACE)
    ann.approve(asked(bob, k=2))
    ann.deny(asked(bob, k=3))
    asked(bob, k=4)
    states = ["used", "approved", "denied", "open"]
    file = copy(ledger, tmp_path / "copied.sqlite3")
    assert [one.state for one in file.requests()] == states
    copy_back(ledger)
    back = copy(file, ledger_database)
    assert [one.state for one in back.requests()] == states
    bob.reserve("visits", epsilon="1", request={"k": 2}, **REPLACE)
    assert asked(bob, k=1)
    ann.approve(ann.requests()[3].number)
    bob.reserve("visits", epsilon="1", request={"k": 4}, **REPLACE)
    ledger.verify()


def copy_back(ledger: Ledger) -> None:
    """Empty a ledger in a database, to be copied into."""
    _, head = copy_of(ledger)
    put_back(ledger, [[], [(*head[0][:2], 0)]])


@DATABASE
def test_the_commands_of_two_people(
    two: tuple[Ledger, Ledger], monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    bob, ann = two
    numbers = asked(bob, k=9), asked(bob, k=8)
    assert isinstance(ann.path, Database)
    monkeypatch.setenv("DPROO_LEDGER", ann.path.url)
    assert run(["ledger", "requests"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in lines] == [f"request {one}" for one in numbers]
    assert lines[0].endswith('visits  1  open  {"k": 9}')
    assert run(["ledger", "approve", str(numbers[0])]) == 0
    assert run(["ledger", "deny", str(numbers[1])]) == 0
    assert (
        capsys.readouterr().out == f"request {numbers[0]} approved\nrequest {numbers[1]} denied\n"
    )
    assert run(["ledger", "approve", "1"]) == 2


def test_rules_are_declared_on_the_command_line(
    where: Path | str, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setenv("DPROO_LEDGER", str(where))
    words = [
        "--per-release",
        "0.5",
        "--per-day",
        "1",
        "--until",
        "2099-01-31",
        "--columns",
        "sex,age",
    ]
    assert run(["ledger", "init", "visits", "--budget", "3", *words]) == 0
    assert ledger.show()[1].limits == Limits(
        per_release="0.5", per_day=1, until="2099-01-31", columns=["age", "sex"]
    )
    capsys.readouterr()
    assert run(["ledger", "show"]) == 0
    assert capsys.readouterr().out.endswith(
        "visits: 3 left of 3 (replace)\n"
        "  rules: at most 0.5 a release, at most 1 a day, nothing from 2099-01-31 on, "
        "only age, sex\n"
    )
    data = Path(os.environ["XDG_DATA_HOME"]) / "visits.csv"
    data.write_text("sex\nF\nM\n")
    asking = ["sample", str(data), "--column", "sex", "--dataset", "visits", "--epsilon", "1"]
    letters = Path(os.environ["XDG_DATA_HOME"]) / "letters.txt"
    letters.write_text("F\nM\n")
    assert run([*asking, "--alphabet", str(letters)]) == 3
    assert capsys.readouterr().err == (
        "Error: the rule 'per_release' of 'visits': at most 0.5 is charged for a release, and this "
        "makes 1. Nothing was read or charged.\n"
    )


def test_a_charge_is_foreseen_exactly(ledger: Ledger) -> None:
    """What would be refused is refused in the same words, and nothing is written."""
    limits = Limits(per_release="0.5", per_day="1.5", columns=["ward", "sex"])
    ledger.declare("ruled", budget="2", neighbours="replace", delta="1e-6", limits=limits)
    outcomes = set()
    for choose in (itemgetter(0), *[DICE.choice] * 24):  # the first of all is allowed
        dataset = choose(["patients", "ruled", "nobody's"])
        cost = {
            "epsilon": choose(["0.125", "0.5", "0.75", "3"]),
            "delta": choose(["0", "0", "1e-7", "1e-3"]),
        }
        basis = {
            "neighbours": choose(["replace", "replace", "replace", "add-remove"]),
            "records_per_person": choose([1, 1, 1, 2]),
            "unit": choose(["record", "record", "record", "person"]),
        }
        request = {"columns": choose([["ward"], ["sex", "ward"], ["note"], []])}
        before = ledger.export()
        foreseen = told(
            lambda: ledger.require(dataset, basis=Basis(**basis), request=request, **cost)  # noqa: B023
        )
        assert ledger.export() == before
        assert foreseen == told(
            lambda: ledger.reserve(dataset, request=request, **basis, **cost)  # noqa: B023
        )
        outcomes.add(foreseen)
    assert "" in outcomes
    assert len(outcomes) > 3


def told(action: Any) -> str:
    try:
        action()
    except errors.LedgerError as refused:
        return str(refused)
    return ""
