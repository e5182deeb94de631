"""What the database itself forbids: attempts of spenders and auditors, with SQL by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from support.databases import role_of
from support.draws import DICE, some
from support.stores import copy_of, emptied, unguarded

from dproo import errors
from dproo.ledger import Ledger
from dproo.ledger.rules import Basis

REPLACE: dict[str, Any] = {"neighbours": "replace"}
ID = "'" + "ab" * 16 + "'"
LONG = "repeat('9', 3000)"


@pytest.fixture
def where(ledger_database: str) -> str:
    return emptied(ledger_database)


@pytest.fixture
def book(ledger: Ledger) -> Ledger:
    """A ledger with 0.5 left, of which bob has recorded a release and left one open."""
    entry = ledger.reserve("patients", epsilon="0.25", **REPLACE)
    ledger.record(entry, {"values": ["flu"]})
    ledger.reserve("patients", epsilon="0.25", **REPLACE)
    return ledger


@pytest.fixture
def people(ledger_database: str) -> Iterator[Any]:
    """Connect as somebody."""
    import psycopg  # noqa: PLC0415 - not for every worker

    opened = []

    def connect(name: str) -> Any:
        opened.append(psycopg.connect(role_of(ledger_database, name)))
        return opened[-1]

    yield connect
    for connection in opened:
        connection.close()


def reserve(
    *,
    dataset: str = "'patients'",
    epsilon: str = "'1/4'",
    delta: str = "NULL",
    id: str = ID,  # noqa: A002 - the name of the argument
    request: str = "'{}'",
    limits: str = "NULL",
) -> str:
    return f"SELECT dproo.reserve({dataset}, {epsilon}, {delta}, {request}, {limits}, {id})"


BY_HAND = [
    "UPDATE dproo.event SET nano = 0",
    "UPDATE dproo.event SET body = replace(body, '2026', '2020')",
    "UPDATE dproo.head SET seq = 0",
    "DELETE FROM dproo.event",
    "DELETE FROM dproo.shape",
    "TRUNCATE dproo.event",
    "INSERT INTO dproo.event SELECT * FROM dproo.event",
    "INSERT INTO dproo.shape VALUES ('request', 'columns', '{number}')",
    "ALTER TABLE dproo.event DISABLE TRIGGER ALL",
    "DROP SCHEMA dproo CASCADE",
    "CREATE TABLE dproo.mine (x int)",
    "CREATE FUNCTION dproo.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE TRIGGER mine BEFORE INSERT ON dproo.event EXECUTE FUNCTION dproo.refuse_change()",
    "CREATE RULE mine AS ON INSERT TO dproo.event DO INSTEAD NOTHING",
    "ALTER FUNCTION dproo.reserve SECURITY INVOKER",
    "ALTER FUNCTION dproo.reserve SET search_path = pg_temp",
    f"SELECT dproo.append('declared', 'mine', 0, 9, 0, '', {ID}, '{{}}')",
    f"SELECT dproo.declare_budget('mine', '9', NULL, 'replace', 1, 'record', NULL, {ID})",
    f"SELECT dproo.restore('patients', 0, 0, repeat('a', 64), {ID})",
    f"SELECT dproo.decide(2, 'approved', {ID})",
    "SET ROLE dproo_owner",
    "SET ROLE dproo",
    "SET SESSION AUTHORIZATION ann",
    "SET session_replication_role = replica",
    "GRANT dproo_owner TO CURRENT_USER",
    "ALTER ROLE bob SUPERUSER",
    "COPY dproo.event TO PROGRAM 'true'",
    "SELECT * FROM dproo.event FOR UPDATE",
    "LOCK TABLE dproo.event IN ACCESS EXCLUSIVE MODE",
]

HOSTILE = {
    "more than is left": reserve(epsilon="'3/4'"),
    "a little more than is left": reserve(epsilon="'5000000001/10000000000'"),
    "a negative epsilon": reserve(epsilon="'-1/4'"),
    "zero": reserve(epsilon="'0'"),
    "no number": reserve(epsilon="'NaN'"),
    "infinity": reserve(epsilon="'Infinity'"),
    "a division by zero": reserve(epsilon="'1/0'"),
    "a fraction that is not in lowest terms": reserve(epsilon="'2/8'"),
    "an exponent": reserve(epsilon="'1e-3'"),
    "digits of another script": reserve(epsilon="'\u0661/\u0664'"),
    "a line after the number": reserve(epsilon="E'1/4\\n'"),
    "a number without an end": reserve(epsilon=LONG),
    "an epsilon below all bounds": reserve(epsilon="'1/' || repeat('9', 40)"),
    "no epsilon at all": reserve(epsilon="NULL"),
    "a delta that the budget lacks": reserve(delta="'1/1000000'"),
    "a delta of one": reserve(delta="'1'"),
    "a dataset without a budget": reserve(dataset="'others'"),
    "no dataset": reserve(dataset="NULL"),
    "a field of the event in the request": reserve(request='\'{},"epsilon":"0"\''),
    "a time in the request's place": reserve(request="'{}}'"),
    "a request that is a list": reserve(request="'[]'"),
    "a request that is no JSON": reserve(request="'{'"),
    "a request without an end": reserve(request="repeat('[', 100000)"),
    "a number that Python cannot read": reserve(request="'{\"a\":' || repeat('9', 5000) || '}'"),
    "a request with half a character": reserve(request='E\'{"a":"\\\\ud800"}\''),
    "no request": reserve(request="NULL"),
    "an id that breaks out": reserve(id='\'","epsilon":"0\''),
    "no id": reserve(id="NULL"),
    "the record of another's charge": "SELECT dproo.record(4, '{\"values\":[]}', repeat('cd', 16))",
    "a second record": "SELECT dproo.record(2, '{\"values\":[]}', repeat('cd', 16))",
    "the record of a declaration": "SELECT dproo.record(1, '{}', repeat('cd', 16))",
    "the record of nothing": "SELECT dproo.record(NULL, '{}', repeat('cd', 16))",
    "a record that is no JSON": "SELECT dproo.record(4, 'flu', repeat('cd', 16))",
}


@pytest.mark.parametrize("statement", some(BY_HAND, one_of=6))
def test_nothing_is_written_by_hand(book: Ledger, people: Any, statement: str) -> None:
    before = copy_of(book)
    for name in ("bob", "kim"):
        connection = people(name)
        with pytest.raises(Exception, match=r"permission denied|must be|must have|superuser"):
            connection.execute(statement)
        connection.rollback()
    assert copy_of(book) == before


@pytest.mark.parametrize("attempt", some(HOSTILE, one_of=6))
def test_no_argument_gets_more_out_of_a_function(book: Ledger, people: Any, attempt: str) -> None:
    import psycopg  # noqa: PLC0415 - not for every worker

    before = copy_of(book)
    connection = people("bob")
    with pytest.raises(psycopg.Error):
        connection.execute(HOSTILE[attempt])
    connection.rollback()
    assert copy_of(book) == before
    book.verify()


CHECKS = [
    ("reserve", "sums.nano + charge > declared.nano", "more than is left"),
    ("reserve", "small > 0 AND declared.atto = 0", "a delta that the budget lacks"),
    ("record", "(charged.role = session_user) IS NOT TRUE", "the record of another's charge"),
    ("check_object", "json_typeof(found) <> 'object'", "a request that is a list"),
    ("append", "append.id ~ '^[0-9a-f]{32}$'", "an id that breaks out"),
]


@pytest.mark.parametrize(("function", "check", "attempt"), CHECKS)
def test_without_its_check_a_function_would_give_in(
    book: Ledger, ledger_database: str, function: str, check: str, attempt: str
) -> None:
    """Else the attempts above would say nothing about the checks."""
    import psycopg  # noqa: PLC0415 - not for every worker

    with psycopg.connect(ledger_database) as connection:
        query = "SELECT pg_get_functiondef(%s::regproc)"
        (text,) = connection.execute(query, (f"dproo.{function}",)).fetchone()
        if attempt == "a delta that the budget lacks":
            text = text.replace("small > 0 AND sums.atto + small > declared.atto", "false")
        if attempt == "a request that is a list":
            text = text.replace("json_each(found)", "json_each('{}')")
        assert check in text
        given_in = "true" if function == "append" else "false"
        connection.execute(text.replace(check, given_in))
        connection.execute("SET SESSION AUTHORIZATION bob")
        connection.execute(HOSTILE[attempt])
        connection.rollback()
    book.verify()


SETTINGS = {
    "a table in the way": "CREATE TEMP TABLE event AS SELECT * FROM dproo.event",
    "a head in the way": "CREATE TEMP TABLE head AS SELECT * FROM dproo.head",
    "a search path with a function of one's own": (
        "CREATE FUNCTION pg_temp.clock_timestamp() RETURNS timestamptz LANGUAGE sql"
        " AS $$SELECT '2000-01-01'::timestamptz$$;"
        "CREATE FUNCTION pg_temp.greatest(a timestamptz, b timestamptz) RETURNS timestamptz"
        " LANGUAGE sql AS $$SELECT '2000-01-01'::timestamptz$$;"
        "SET search_path = pg_temp, pg_catalog, dproo"
    ),
    "an operator of one's own": (
        "CREATE FUNCTION pg_temp.yes(numeric, numeric) RETURNS boolean LANGUAGE sql"
        " AS 'SELECT true';"
        "CREATE OPERATOR pg_temp.<= (LEFTARG = numeric, RIGHTARG = numeric,"
        " FUNCTION = pg_temp.yes); SET search_path = pg_temp, pg_catalog"
    ),
    "a cast of one's own": "CREATE DOMAIN pg_temp.text AS int4; SET search_path = pg_temp",
    "strings with escapes": "SET standard_conforming_strings = off",
    "another time zone": "SET TimeZone = 'Pacific/Kiritimati'",
    "another style of dates": "SET DateStyle = 'SQL, DMY'",
    "fewer digits": "SET extra_float_digits = -15",
    "nulls that are equal": "SET transform_null_equals = on",
    "a snapshot from before": "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
}


@pytest.mark.parametrize("setting", some(SETTINGS, one_of=4))
def test_no_setting_of_the_session_changes_what_a_function_does(
    book: Ledger, people: Any, setting: str
) -> None:
    import psycopg  # noqa: PLC0415 - not for every worker

    connection = people("bob")
    connection.execute(SETTINGS[setting])
    with pytest.raises(psycopg.Error, match="at most what is left"), connection.transaction():
        connection.execute(reserve(epsilon="'3/4'"))
    connection.execute(reserve(request='E\'{"a":"\\\\\\\\"}\''))
    connection.commit()
    (account,) = book.verify().accounts
    assert account.left == 250_000_000
    assert account.lines[-1].at[:2] == account.lines[0].at[:2] == "20"
    assert account.lines[-1].at >= account.lines[0].at
    assert account.lines[-1].request == {"a": "\\"}


def test_a_snapshot_from_before_does_not_see_an_old_sum(book: Ledger, people: Any) -> None:
    import psycopg  # noqa: PLC0415 - not for every worker

    late = people("bob")
    late.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    late.execute("SELECT * FROM dproo.event")
    book.reserve("patients", epsilon="0.5", **REPLACE)
    with pytest.raises(psycopg.errors.SerializationFailure):
        late.execute(reserve())
    late.rollback()
    assert book.verify().accounts[0].left == 0


def test_an_id_that_was_used_charges_nothing(book: Ledger, people: Any) -> None:
    import psycopg  # noqa: PLC0415 - not for every worker

    first, second = people("bob"), people("eve")
    first.execute(reserve())
    first.commit()
    with pytest.raises(psycopg.errors.UniqueViolation):
        second.execute(reserve())
    second.rollback()
    assert book.verify().accounts[0].left == 250_000_000


def test_each_role_can_do_its_own_work_and_no_other(book: Ledger, ledger_database: str) -> None:
    ann, bob, kim = (Ledger(role_of(ledger_database, name)) for name in ("ann", "bob", "kim"))
    ann.declare("visits", budget=1, **REPLACE)
    with pytest.raises(errors.RoleError) as refused:
        ann.reserve("visits", epsilon="0.1", **REPLACE)
    assert str(refused.value) == (
        f"the ledger {ann.path} may not be used so by this role: dproo_owner declares, "
        "dproo_spender releases, and nobody decides on a request of their own."
    )
    release: dict[str, Any] = {"epsilon": "0.1", "delta": 0, "request": {}}
    for book_of in (ann, kim):
        with pytest.raises(errors.RoleError):
            book_of.require("visits", basis=Basis(**REPLACE), **release)
    assert bob.require("visits", basis=Basis(**REPLACE), **release)
    entry = bob.reserve("visits", epsilon="0.1", **REPLACE)
    bob.record(entry, {"values": ["flu"]})
    with pytest.raises(errors.RoleError):
        bob.declare("more", budget=1, **REPLACE)
    for call in (
        lambda: kim.declare("more", budget=1, **REPLACE),
        lambda: kim.reserve("visits", epsilon="0.1", **REPLACE),
        lambda: kim.record(entry, {"values": ["flu"]}),
    ):
        with pytest.raises(errors.LedgerError):
            call()
    assert kim.verify() == book.verify()
    assert kim.released(entry.number)["values"] == ["flu"]


def test_no_operator_of_a_spender_acts_for_whom_they_share_a_path_with(
    book: Ledger, ledger_database: str
) -> None:
    """The first query of a session runs before its search_path is pinned."""
    with unguarded(ledger_database) as connection:
        connection.execute(
            "CREATE FUNCTION public.eq(bigint, int) RETURNS bool LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE EXCEPTION 'called'; END $$;"
            "CREATE OPERATOR public.= (leftarg = bigint, rightarg = int, function = public.eq);"
            "ALTER ROLE team SET search_path = public, pg_catalog"
        )
    try:
        misled = Ledger(book.path)
        assert misled.verify() == book.verify()
        misled.record(misled.reserve("patients", epsilon="0.25", **REPLACE), {"values": ["flu"]})
    finally:
        with unguarded(ledger_database) as connection:
            connection.execute("DROP FUNCTION public.eq CASCADE; ALTER ROLE team RESET search_path")


def test_who_may_record_nothing_is_charged_nothing(book: Ledger, people: Any) -> None:
    before = book.budget("patients")
    change = "{} EXECUTE ON FUNCTION dproo.record {} dproo_spender"
    owner = people("dproo")
    owner.execute(change.format("REVOKE", "FROM"))
    owner.commit()
    try:
        with pytest.raises(errors.RoleError):
            book.reserve("patients", epsilon="0.25", **REPLACE)
    finally:
        owner.execute(change.format("GRANT", "TO"))
        owner.commit()
    assert book.budget("patients") == before


def test_any_numbers_are_charged_as_python_would(ledger: Ledger, people: Any) -> None:
    """The arithmetic of the function, by hand-made fractions of every size."""
    from fractions import Fraction  # noqa: PLC0415 - here only

    from dproo.core.numbers import charge_of  # noqa: PLC0415

    ledger.declare("many", budget=10**6, **REPLACE)
    connection = people("bob")
    for _ in range(60):
        size = 10 ** DICE.randrange(1, 60)
        epsilon = Fraction(DICE.randint(1, size), DICE.randint(1, size))
        if not Fraction(1, 10**30) <= epsilon <= 1000:
            continue
        text = reserve(dataset="'many'", epsilon=f"'{epsilon}'", id=f"'{DICE.randbytes(16).hex()}'")
        (nano,) = connection.execute(text.replace("SELECT", "SELECT nano FROM")).fetchone()
        assert nano == charge_of(epsilon)
    connection.commit()
    ledger.verify()
