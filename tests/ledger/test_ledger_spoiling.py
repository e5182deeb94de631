"""A spender with SQL by hand cannot write what the others could not read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support.databases import role_of
from support.draws import DICE
from support.stores import emptied, url_of

from dproo import errors
from dproo.cli.commands import run
from dproo.ledger import Ledger, Limits
from dproo.ledger.account import Replay
from dproo.ledger.rules import RULES, SHAPES, TERMS, fault_of
from dproo.mechanisms import RECORDS_MAX

REPLACE: dict[str, Any] = {"neighbours": "replace"}
DEEP = TERMS["depth_max"]
AMOUNTS = [name for name, rule in RULES.items() if rule.is_epsilon]

ODD = [
    '{"columns":5}',
    '{"columns":["a",5]}',
    '{"columns":null}',
    '{"columns":{}}',
    '{"by":5}',
    '{"by":[["a"]]}',
    '{"purpose":["a"]}',
    '{"operator":true}',
    '{"sampler":{}}',
    '{"codebook_sha256":7}',
    '{"a":NaN}',
    '{"a":Infinity}',
    '{"a":1e999}',
    '{"a":-1e999}',
    '{"a":1e-999}',
    f'{{"a":{"9" * 400}}}',
    f'{{"a":{"9" * 5000}}}',
    f'{{"a":{"9" * 400}.5}}',
    '{"a":01}',
    '{"a":1.}',
    '{"a":+1}',
    '{"a":"\\ud800"}',
    '{"a":"\\udc00\\ud800"}',
    '{"\\ud800":1}',
    '{"a":"\\ud83d\\ude00"}',
    '{"a":"\\u0000"}',
    '{"\\u0000":1,"\\u0001":2}',
    '{"a":"\\\\ud800"}',
    '{"a":"\\x"}',
    '{"a":"\t"}',
    '{"a":"\x1b[2J"}',
    '{"a":"\\u001b[2J\\u202e"}',
    '{"a":1,"a":2}',
    '{"purpose":5,"purpose":"a"}',
    '{"\\\\u0000":1,"\\u005cu0000":2}',
    '{"b":1,"a":2}',
    "{ }",
    "{}}",
    '{},"epsilon":"1/9"',
    "[]",
    "5",
    "null",
    '"{}"',
    "",
    "{",
    "{'a':1}",
    '{"a":1,}',
    '{"é":1}',
    '{"\\u00e9":"\\u00e9"}',
    f'{{"a":{"[" * (DEEP - 1)}{"]" * (DEEP - 1)}}}',
    f'{{"a":{"[" * DEEP}{"]" * DEEP}}}',
    f'{{"a":{"[" * 5000}{"]" * 5000}}}',
    f'{{"a":"{"x" * (TERMS["request_max"] - 8)}"}}',
    f'{{"a":"{"x" * (TERMS["request_max"] - 7)}"}}',
]


@pytest.fixture
def where(ledger_database: str) -> str:
    return emptied(ledger_database)


@pytest.fixture
def bob(ledger: Ledger, ledger_database: str) -> Iterator[Any]:
    """A spender's own connection."""
    import psycopg  # noqa: PLC0415 - not for every worker

    ledger.declare("many", budget=1000, **REPLACE)
    with psycopg.connect(role_of(ledger_database, "bob"), autocommit=True) as connection:
        yield connection


def is_taken(connection: Any, query: str, *values: object) -> bool:
    import psycopg  # noqa: PLC0415 - as above

    try:
        connection.execute(query, values)
    except psycopg.Error:
        return False
    return True


def reserve(connection: Any, request: str, epsilon: str = "1/1000") -> bool:
    query = "SELECT dproo.reserve('many', %s, NULL, %s, NULL, %s)"
    return is_taken(connection, query, epsilon, request, DICE.randbytes(16).hex())


def texts() -> Iterator[str]:
    """Yield odd texts, and for every named part of an object a value of every type."""
    yield from ODD
    values = ["5", "1.5", '"a"', "true", "null", "[]", '["a"]', "[5]", "[[]]", "{}", '{"a":1}']
    for part in ("request", "receipt"):
        for name in SHAPES[part]:
            yield from (f'{{"{name}":{value}}}' for value in values)
    for _ in range(60):  # a text that is right, with a letter of another one in it
        text = list(json.dumps({"columns": ["a"], "by": None, "k": 9, "x": [{"y": -1.5e-7}]}))
        text[DICE.randrange(len(text))] = DICE.choice('{}[]",:0e-.\\ u\x7f')
        yield "".join(text)


def test_the_database_takes_exactly_the_requests_that_python_can_read(
    ledger: Ledger, bob: Any
) -> None:
    taken = 0
    for text in texts():
        is_right = fault_of("request", text) is None
        assert reserve(bob, text) == is_right, text[:200]
        taken += is_right
    assert taken > 30
    replay = ledger.verify()
    assert len(replay.accounts[1].lines) == taken


@pytest.mark.one_of(3)
def test_the_database_takes_exactly_the_receipts_that_python_can_read(
    ledger: Ledger, bob: Any
) -> None:
    for text in texts():
        assert reserve(bob, "{}")
        number = ledger.export()[-1]["seq"]
        query = "SELECT dproo.record(%s, %s, %s)"
        is_kept = is_taken(bob, query, number, text, DICE.randbytes(16).hex())
        assert is_kept == (fault_of("receipt", text) is None), text[:200]
        if is_kept:
            ledger.released(number)
    ledger.verify()


def test_a_zero_byte_in_the_name_of_a_column_is_no_other_character(
    ledger: Ledger, bob: Any
) -> None:
    """PostgreSQL has no zero byte, and what stands for it there must not be a name of its own."""
    written = ["\\u0000", "\\ue000", "\\uE000", "\\ue000\\ue001", "\\ue000\\ue002"]
    # The letters themselves, with a backslash that is written in two ways.
    written += [before + text[1:] for before in (r"\\", r"\u005c") for text in written]
    for allowed in written:
        column = json.loads(f'"{allowed}"')
        dataset = f"only {len(ledger.datasets())}"
        ledger.declare(dataset, budget=1, limits=Limits(columns=[column]), **REPLACE)
        for asked in written:
            query = "SELECT dproo.reserve(%s, '1/1000', NULL, %s, NULL, %s)"
            request = f'{{"columns":["{asked}"]}}'
            is_charged = is_taken(bob, query, dataset, request, DICE.randbytes(16).hex())
            assert is_charged == (json.loads(f'"{asked}"') == column), (allowed, asked)
        with pytest.raises(errors.RuleRefused) as refused:
            ledger.reserve(dataset, epsilon="0.1", request={"columns": ["x"]}, **REPLACE)
        assert refused.value.condition == f"only {column} may be released"
    ledger.verify()


@pytest.mark.parametrize("digits", [99, 100, 101, 200, 2000])
def test_a_fraction_that_is_taken_can_be_read(ledger: Ledger, bob: Any, digits: int) -> None:
    exact = Fraction(10 ** (digits - 1) + 1, 10**digits + 3)
    is_short = len(str(exact)) <= TERMS["fraction_max"]
    assert reserve(bob, "{}", str(exact)) == is_short
    if is_short:
        ledger.reserve("many", epsilon=exact, **REPLACE)
    else:
        with pytest.raises(ValueError, match=r"^epsilon must (be a fraction of|have) at most"):
            ledger.reserve("many", epsilon=exact, **REPLACE)
    ledger.verify()


@pytest.mark.parametrize("name", ["budget", "delta", *AMOUNTS])
def test_the_database_declares_exactly_the_amounts_that_python_can_read(
    ledger: Ledger, ledger_database: str, name: str
) -> None:
    import psycopg  # noqa: PLC0415 - not for every worker

    bounds = [Fraction(1, 10**18), Fraction(1, 10**9), Fraction(1), Fraction(10**6)]
    amounts = [bound + side * Fraction(1, 10**40) for bound in bounds for side in (-1, 0, 1)]
    query = "SELECT dproo.declare_budget(%s, %s, %s, 'replace', 1, 'record', %s, %s)"
    with psycopg.connect(role_of(ledger_database, "ann"), autocommit=True) as ann:
        for number, amount in enumerate(amounts):
            given = {"budget": "1", name: str(amount)}
            rules = json.dumps({name: str(amount)}) if name in AMOUNTS else None
            terms = given["budget"], given.get("delta"), rules, DICE.randbytes(16).hex()
            is_declared = is_taken(ann, query, f"by hand {number}", *terms)
            delta = given.get("delta", "0")
            try:
                limits = Limits(**{name: amount}) if rules else None
                options = {"budget": given["budget"], "delta": delta, "limits": limits}
                ledger.declare(f"by Python {number}", **options, **REPLACE)
            except ValueError:
                assert not is_declared, amount
            else:
                assert is_declared, amount
    ledger.verify()


def test_the_database_declares_only_whole_numbers_of_records(
    ledger: Ledger, ledger_database: str
) -> None:
    import psycopg  # noqa: PLC0415 - as above

    query = "SELECT dproo.declare_budget(%s, '1', NULL, 'replace', {}, 'record', NULL, %s)"
    with psycopg.connect(role_of(ledger_database, "ann"), autocommit=True) as ann:
        for records in ("0", "1.0", "1.5", "'NaN'", "NULL", f"{RECORDS_MAX + 1}", f"{RECORDS_MAX}"):
            terms = f"by hand {records}", DICE.randbytes(16).hex()
            is_right = records == f"{RECORDS_MAX}"
            assert is_taken(ann, query.format(records), *terms) == is_right, records
    ledger.verify()


def test_what_a_spender_writes_steers_no_terminal_and_no_table(
    ledger: Ledger, bob: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    escape = "\\u001b]0;owned\\u0007\\u001b[2J\\u009b31m\\u202e\\u2028\\r\\n=1+1"
    stated = ",".join(f'"{name}":"{escape}"' for name in ("purpose", "operator", "sampler"))
    request = f'{{"columns":["{escape}"],{stated}}}'
    receipt = f'{{"accuracy":"{escape}","values":["{escape}",{{"{escape}":"{escape}"}}]}}'
    assert reserve(bob, request)
    number = ledger.export()[-1]["seq"]
    query = "SELECT dproo.record(%s, %s, %s)"
    assert is_taken(bob, query, number, receipt, DICE.randbytes(16).hex())
    monkeypatch.setenv("DPROO_LEDGER", url_of(ledger))
    commands = [
        ["show"],
        ["show", "--json"],
        ["export"],
        ["print", str(number)],
        ["requests"],
        ["verify"],
        *(["report", "--out", str(tmp_path / f"out.{kind}")] for kind in ("csv", "html")),
    ]
    for command in commands:
        assert run(["ledger", *command]) == 0
    captured = capsys.readouterr()
    written = [(tmp_path / f"out.{kind}").read_text() for kind in ("csv", "html")]
    for text in (captured.out, captured.err, *written):
        assert "owned" in text or text is captured.err
        assert all(letter.isprintable() or letter == "\n" for letter in text.replace("\r\n", "\n"))
    assert "\n'=1" not in written[0]


def test_a_bad_event_is_marked_and_the_others_are_shown(
    ledger: Ledger, bob: Any, monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path
) -> None:
    """Should the database ever take what it must not, nobody else is locked out by it."""
    assert reserve(bob, "{}")
    assert reserve(bob, "{}")
    make = Replay._apply

    def broken(self: Replay, event: Any) -> None:
        make(self, event._replace(body='{"columns":') if event.seq == 3 else event)

    monkeypatch.setattr(Replay, "_apply", broken)
    account = ledger.show()[1]
    assert [line.problem for line in account.lines] == ["its text cannot be read", None]
    assert account.spent == ledger.budget("many").spent == 2 * 10**6
    monkeypatch.setenv("DPROO_LEDGER", url_of(ledger))
    assert run(["ledger", "show"]) == 0
    captured = capsys.readouterr()
    assert "problem   its text cannot be read" in captured.out
    assert "something is wrong with entry 3; they are marked" in captured.err
    assert run(["ledger", "report", "--out", str(tmp_path / "out.csv")]) == 0
    assert "marked: its text cannot be read" in (tmp_path / "out.csv").read_text()
    with pytest.raises(errors.CorruptLedgerError, match="event 3 breaks the rules: its text"):
        ledger.verify()


def test_no_more_than_some_requests_wait_at_a_time(ledger: Ledger, ledger_database: str) -> None:
    ledger.declare("visits", budget=10, limits=Limits(approval_above="0.5"), **REPLACE)
    bob, eve, ann = (Ledger(role_of(ledger_database, name)) for name in ("bob", "eve", "ann"))
    for i in range(TERMS["open_max"]):
        with pytest.raises(errors.ApprovalNeeded):
            bob.reserve("visits", epsilon=1, request={"k": i}, **REPLACE)
    with pytest.raises(errors.RuleRefused, match="20 requests of yours wait for a decision"):
        bob.reserve("visits", epsilon=1, request={"k": "more"}, **REPLACE)
    with pytest.raises(errors.ApprovalNeeded):
        eve.reserve("visits", epsilon=1, **REPLACE)
    ann.deny(ann.requests()[0].number)
    with pytest.raises(errors.ApprovalNeeded):
        bob.reserve("visits", epsilon=1, request={"k": "more"}, **REPLACE)
    ledger.verify()


def test_whoever_approves_sees_the_delta_and_who_asked(
    ledger: Ledger, ledger_database: str, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    limits = Limits(approval_above="0.5")
    ledger.declare("visits", budget=10, delta="1e-6", limits=limits, **REPLACE)
    bob = Ledger(role_of(ledger_database, "bob"))
    with pytest.raises(errors.ApprovalNeeded):
        bob.reserve("visits", epsilon=1, delta="1e-7", **REPLACE)
    (asked,) = ledger.requests()
    assert (asked.by, asked.charge, asked.delta) == ("bob", 10**9, 10**11)
    monkeypatch.setenv("DPROO_LEDGER", url_of(ledger))
    assert run(["ledger", "requests"]) == 0
    assert "  by bob  visits  1 and 1e-7  open  {}" in capsys.readouterr().out


@pytest.mark.parametrize("when", ["before", "after"])
def test_the_database_itself_makes_a_charge_durable(
    ledger: Ledger, ledger_database: str, when: str
) -> None:
    """What the trigger sets at the commit is the last word, whatever was set after the call."""
    import psycopg  # noqa: PLC0415 - not for every worker

    del ledger
    url = role_of(ledger_database, "bob", synchronous_commit="off" if when == "before" else "on")
    with psycopg.connect(url) as connection:
        query = "SELECT dproo.reserve('patients', '1/4', NULL, '{}', NULL, repeat('ab', 16))"
        connection.execute(query)
        if when == "after":
            connection.execute("SET synchronous_commit = off")
        connection.execute("SET CONSTRAINTS ALL IMMEDIATE")  # as the commit does
        assert connection.execute("SHOW synchronous_commit").fetchone() == ("on",)


def test_a_client_without_an_encoding_reads_the_same_ledger(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.declare("éléments 😀", budget=1, **REPLACE)
    monkeypatch.setenv("PGCLIENTENCODING", "SQL_ASCII")
    other = Ledger(url_of(ledger))
    other.reserve("éléments 😀", epsilon="0.5", **REPLACE)
    assert other.verify() == ledger.verify()


def test_what_others_commit_between_note_and_snapshot_is_no_alarm(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader is overtaken by a charge, and by its note, at every step of its opening."""
    other = Ledger(ledger.path)
    import psycopg  # noqa: PLC0415 - not for every worker

    execute = psycopg.Connection.execute
    ledger.head()  # has a connection
    for step in range(12):
        seen = []

        def overtaken(
            self: Any, *query: Any, step: int = step, seen: list[Any] = seen, **options: Any
        ) -> Any:
            seen.append(query)
            if len(seen) == step + 1:
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr(psycopg.Connection, "execute", execute)
                    other.reserve("patients", epsilon="0.01", **REPLACE)
            return execute(self, *query, **options)

        with monkeypatch.context() as patch:
            patch.setattr(psycopg.Connection, "execute", overtaken)
            ledger.show()
    assert len(ledger.show()[0].lines) >= 8
