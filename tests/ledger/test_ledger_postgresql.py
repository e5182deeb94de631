"""A ledger in PostgreSQL: its installation, its JSON, its edits, its copies, its sentences."""

from __future__ import annotations

import gc
import pickle
import re
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from support.stores import copy_of, emptied, future, put_back, put_rows, unguarded

from dproo import errors
from dproo.cli.commands import run
from dproo.counting.sources.postgresql import session
from dproo.ledger import Database, Ledger, Limits, accept_restore, copy, default_path, install
from dproo.ledger.events import Event
from dproo.ledger.stores import postgresql
from dproo.ledger.stores.postgresql import PostgresqlSession, PostgresqlStore
from dproo.ledger.witness import Memory, Note

REPLACE: dict[str, Any] = {"neighbours": "replace"}
SECRET = "S3CR3T"  # noqa: S105 - of nobody


@pytest.fixture
def where(ledger_database: str) -> str:
    return emptied(ledger_database)


@pytest.fixture
def book(ledger: Ledger) -> Ledger:
    """A ledger with some of everything."""
    limits = Limits(per_day="0.25", until="2099-01-31")
    ledger.declare(
        "éléments 😀", budget="1/3", neighbours="add-remove", delta="1e-6", limits=limits
    )
    for epsilon in ("0.25", "1/3"):
        entry = ledger.reserve("patients", epsilon=epsilon, request={"k": 9}, **REPLACE)
        ledger.record(entry, {"values": ["flü"], "worst_alpha": 0.25})
    ledger.reserve("éléments 😀", epsilon="0.1", delta="1e-7", neighbours="add-remove")
    return ledger


def test_installing_twice_changes_nothing(ledger_database: str, book: Ledger) -> None:
    before = copy_of(book)
    assert not install(Database(ledger_database))
    assert copy_of(book) == before


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ("user=bob", "RoleError", "the role needs CREATE on the database and CREATEROLE."),
        ("host=/nowhere", "UnusableLedgerError", "could not be made: no PostgreSQL server answers"),
        ("ascii", "UnusableLedgerError", "it needs PostgreSQL 14 or later and a database in UTF8."),
    ],
)
def test_an_installation_that_fails_is_one_sentence(
    ledger_database: str, change: str, error: str, sentence: str
) -> None:
    import psycopg  # noqa: PLC0415 - not for every worker

    url = ledger_database.replace("/ledgers?", "/postgres?")
    if change == "ascii":
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(
                "CREATE DATABASE ascii ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0"
            )
        url = ledger_database.replace("/ledgers?", "/ascii?")
    name = change.partition("=")[0]
    url = re.sub(rf"{name}=[^&]*", change, url)
    with pytest.raises(getattr(errors, error)) as refused:
        install(Database(url))
    assert sentence in str(refused.value)


def test_a_ledger_can_be_handed_to_another_process(book: Ledger) -> None:
    other = pickle.loads(pickle.dumps(book))  # noqa: S301 - our own
    assert other == book
    assert other.verify() == book.verify()


def test_the_commands_work_with_a_database(
    where: str,
    ledger_database: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def said(*arguments: str, url: str = where, code: int = 0) -> str:
        monkeypatch.setenv("DPROO_LEDGER", url)
        assert run(["ledger", *arguments]) == code
        captured = capsys.readouterr()
        return captured.err if code else captured.out

    name = str(Database(where))
    assert said("install", url=ledger_database) == f"{name}: a ledger is there already\n"
    told = said("init", "visits", "--budget", "1")
    assert told == f"visits: 1 declared, replace, in {name}\n"
    assert said("show", "--ledger", where) == "visits: 1 left of 1 (replace)\n"
    assert said("verify").startswith("intact: 1 event,")
    file = tmp_path / "moved.sqlite3"
    assert said("export", "--to", str(file)) == f"1 event in {file}\n"
    emptied(where)
    assert said("import", str(file), url=ledger_database) == f"1 event in {name}\n"
    assert said("install", url="/file.sqlite3", code=2) == (
        "Error: ledger must be a postgresql:// URL to be installed; 'dproo ledger init' makes a "
        "file.\n"
    )


def test_a_ledger_moves_to_a_file_and_back(
    book: Ledger, tmp_path: Path, where: str, ledger_database: str
) -> None:
    file = copy(book, tmp_path / "moved.sqlite3")
    assert file.export() == book.export()
    assert file.verify() == book.verify()
    with pytest.raises(errors.NotEmptyLedgerError, match="must be empty to be copied into"):
        copy(book, file.path)
    file.reserve("patients", epsilon="0.01", **REPLACE)
    with pytest.raises(errors.RolledBackError):  # one of the two is an old copy now
        book.show()
    emptied(where)
    with pytest.raises(errors.RoleError):  # a spender cannot bring a history along
        copy(file, where)
    back = copy(file, ledger_database)
    assert back.verify() == file.verify()
    entry = Ledger(where).reserve("patients", epsilon="0.01", **REPLACE)
    Ledger(where).record(entry, {"values": ["flu"]})
    back.verify()


EDITS = [
    "UPDATE event SET nano = 1 WHERE kind = 'reserved'",
    "UPDATE event SET nano = 10 * nano WHERE kind = 'declared'",
    "UPDATE event SET body = replace(body, 'k', 'j') WHERE kind = 'reserved'",
    "UPDATE event SET body = '9' WHERE seq = 3",
    "UPDATE event SET body = repeat('[', 100000) || repeat(']', 100000) WHERE seq = 3",
    "UPDATE event SET dataset = 'visits' WHERE seq = 3",
    "UPDATE event SET hash = repeat('a', 64) WHERE seq = 3",
    "UPDATE event SET seq = 99 WHERE seq = 7",
    "DELETE FROM event WHERE seq = 3",
    "DELETE FROM event WHERE seq = 7",
    "UPDATE head SET seq = 6",
    "UPDATE head SET seq = 8",
    "UPDATE event SET role = 'ann' WHERE seq = 3",
    "UPDATE event SET id = repeat('c', 32) WHERE seq = 3",
    "UPDATE event SET atto = 1 WHERE seq = 7",
    "UPDATE event SET at = '2000-01-01T00:00:00+00:00' WHERE seq = 3",
    (
        "INSERT INTO event SELECT 8, kind, dataset, 0, nano, atto, at, role, 'x', body,"
        " repeat('b', 64) FROM event WHERE seq = 3"
    ),
]


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_by_the_database_administrator_is_found(
    book: Ledger, ledger_database: str, edit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))  # nothing is remembered
    book.verify()
    with unguarded(ledger_database) as connection:
        connection.execute(edit)
    with pytest.raises(errors.CorruptLedgerError):
        book.verify()


def test_events_are_append_only_even_for_the_administrator(
    book: Ledger, ledger_database: str
) -> None:
    import psycopg  # noqa: PLC0415 - not for every worker

    before = copy_of(book)
    for statement in (
        "UPDATE dproo.event SET nano = 1",
        "DELETE FROM dproo.event",
        "TRUNCATE dproo.event",
    ):
        with (
            psycopg.connect(ledger_database) as connection,
            pytest.raises(psycopg.Error, match="events are never changed or deleted"),
        ):
            connection.execute(statement)
    assert copy_of(book) == before


def test_a_function_that_writes_another_event_is_found_before_the_commit(
    book: Ledger, ledger_database: str
) -> None:
    before = copy_of(book)
    with unguarded(ledger_database) as connection:
        (text,) = connection.execute("SELECT pg_get_functiondef('append'::regproc)").fetchone()
        assert "append.entry, append.nano," in text
        connection.execute(text.replace("append.entry, append.nano,", "append.entry, 1,"))
    try:
        with pytest.raises(errors.CorruptLedgerError, match="other events than were asked"):
            book.reserve("patients", epsilon="0.1", **REPLACE)
    finally:
        with unguarded(ledger_database) as connection:
            connection.execute(text)
    assert copy_of(book) == before


def test_a_head_kept_elsewhere_finds_a_shortened_ledger(
    book: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    old = copy_of(book)
    book.reserve("patients", epsilon="0.01", **REPLACE)
    head = book.head()
    put_back(book, old)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "elsewhere"))
    book.verify()
    with pytest.raises(errors.CorruptLedgerError, match="lacks the event of the expected head"):
        book.verify(expect_head=head)


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ("/ledgers?", "MissingLedgerError", "is not there. 'dproo ledger install' makes it"),
        ("user=team", "UnreachableLedgerError", "could not be reached: the server refused"),
        ("host=", "UnreachableLedgerError", "could not be reached: no PostgreSQL server answers"),
    ],
)
def test_a_database_that_holds_no_ledger_is_one_sentence(
    where: str, change: str, error: str, sentence: str
) -> None:
    other = {"/ledgers?": "/postgres?", "user=team": "user=nobody", "host=": "host=/nowhere"}
    url = where.replace(change, other[change]) + f"&password={SECRET}"
    with pytest.raises(getattr(errors, error)) as refused:
        Ledger(url)
    assert sentence in str(refused.value)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("database", ["/postgres?", "/ledgers?"])
def test_a_refusal_holds_no_connection(where: str, database: str) -> None:
    """Nothing that is raised refers to itself, so connections close without a collection."""
    gc.disable()
    try:
        store = PostgresqlStore(Database(where.replace("/ledgers?", database)), timeout=1)
        with pytest.raises(errors.LedgerError), store.reading():
            raise psycopg.OperationalError("the disk is full")  # where there is a ledger
        held = weakref.ref(store)
        del store
        assert held() is None
    finally:
        gc.enable()


def test_no_password_is_in_what_a_ledger_shows(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"{where}&password={SECRET}"
    monkeypatch.setenv("DPROO_LEDGER", url)
    ledger = Ledger(default_path())
    ledger.declare("patients", budget=1, **REPLACE)
    entry = ledger.reserve("patients", epsilon=1, **REPLACE)
    receipt = ledger.record(entry, {"values": ["flu"]})
    shown = [ledger, ledger.path, str(ledger.path), receipt, ledger.export(), copy_of(ledger)]
    assert SECRET not in repr(shown)
    with pytest.raises(ValueError, match=r"^ledger must be a URL that starts") as refused:
        Ledger(f"postgresql+psycopg://ann:{SECRET}@host/db")
    assert SECRET not in str(refused.value)


def test_a_newer_format_is_refused_by_name(ledger: Ledger, ledger_database: str) -> None:
    with unguarded(ledger_database) as connection:
        connection.execute("UPDATE head SET format = 6")
    try:
        with pytest.raises(errors.NewerFormatError, match=r"must have format 5, got 6\."):
            ledger.show()
    finally:
        with unguarded(ledger_database) as connection:
            connection.execute("UPDATE head SET format = 5")


OLDER = """
    CREATE SCHEMA dproo;
    CREATE TABLE dproo.event (seq bigint, kind text, dataset text, entry bigint, nano bigint,
        body text, hash text, id text, role text);
    CREATE TABLE dproo.head (one boolean, format integer, seq bigint, hash text, at timestamptz);
    INSERT INTO dproo.head VALUES (true, 1, 0, repeat('0', 64), '-infinity');
"""
SINCE_THEN = """
    CREATE FUNCTION dproo.ends() RETURNS SETOF dproo.event LANGUAGE sql
        AS 'SELECT * FROM dproo.event';
"""


@pytest.mark.parametrize("schema", [OLDER, OLDER + SINCE_THEN])
def test_a_ledger_of_an_earlier_version_is_refused_with_the_remedy(
    ledger_database: str, schema: str
) -> None:
    import psycopg  # noqa: PLC0415 - not for every worker

    with psycopg.connect(ledger_database, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS older")
        connection.execute("CREATE DATABASE older")
    url = ledger_database.replace("/ledgers?", "/older?")
    with psycopg.connect(url) as connection:
        connection.execute(schema)
    for call in (lambda: Ledger(url), lambda: install(Database(url))):
        with pytest.raises(errors.UnusableLedgerError) as refused:
            call()
        assert str(refused.value) == (
            f"the ledger {Database(url)} must have format 5, got 1. A development version of dproo "
            "made it: 'dproo ledger show' of that version shows what is left of each budget. "
            "Declare that in a new ledger."
        )
    with psycopg.connect(url) as connection:
        connection.execute("DROP SCHEMA dproo CASCADE; CREATE SCHEMA dproo")
    with pytest.raises(errors.UnusableLedgerError, match="there, with something else in it"):
        install(Database(url))


def test_a_ledger_that_others_hold_says_so_in_time(ledger: Ledger, ledger_database: str) -> None:
    impatient = Ledger(ledger.path, timeout=0.01)
    with unguarded(ledger_database) as connection:
        connection.execute("SELECT dproo.lock()")
        with pytest.raises(errors.BusyLedgerError, match="held by other processes for too"):
            impatient.reserve("patients", epsilon=1, **REPLACE)
    assert impatient.show()[0].left == 10**9


def test_time_is_the_servers_and_never_goes_back(ledger: Ledger) -> None:
    future(ledger)
    ledger.reserve("patients", epsilon="0.1", **REPLACE)
    assert ledger.export()[-1]["at"] == "2100-01-01T00:00:00+00:00"
    assert ledger.budget("patients").spent_today == 101 * 10**6
    assert ledger.show()[0].spent_today == 101 * 10**6
    ledger.verify()


@pytest.mark.parametrize(
    ("code", "error", "sentence"),
    [
        ("25006", "ReadOnlyLedgerError", "cannot be written: the server is a copy of another one."),
        ("53100", "FullDiskError", "cannot be written: no space is left on the server's disk."),
        ("XX000", "UnusableLedgerError", "refused the query; details are withheld."),
    ],
)
def test_a_failing_server_is_one_sentence(
    ledger: Ledger, ledger_database: str, code: str, error: str, sentence: str
) -> None:
    """The server's own words are not repeated, whatever they are."""
    with unguarded(ledger_database) as connection:
        (text,) = connection.execute("SELECT pg_get_functiondef('reserve'::regproc)").fetchone()
        spoilt = f"BEGIN RAISE EXCEPTION '{SECRET}' USING ERRCODE = '{code}'; "
        connection.execute(text.replace("BEGIN", spoilt, 1))
    try:
        with pytest.raises(getattr(errors, error)) as refused:
            ledger.reserve("patients", epsilon="0.1", **REPLACE)
    finally:
        with unguarded(ledger_database) as connection:
            connection.execute(text)
    assert str(refused.value).startswith(f"the ledger {ledger.path} {sentence}")
    assert SECRET not in str(refused.value)
    assert refused.value.__cause__ is None
    assert ledger.verify().events == 1


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_is_not_lost_with_the_connection(
    book: Ledger, kind: type[BaseException]
) -> None:
    """A driver that is interrupted may find its connection gone, and say only that."""

    class Losing:
        def execute(self, _: str) -> None:
            try:
                raise kind
            finally:
                raise psycopg.OperationalError("the connection is lost")

        def close(self) -> None:
            pass

    before = len(book.export())
    (kept,) = book._store._idle.values()
    for connection in kept:
        connection.close()
    kept[:] = [Losing()]
    with pytest.raises(kind):
        book.reserve("patients", epsilon="0.1", **REPLACE)
    assert len(book.export()) == before


def test_a_record_waits_for_a_server_that_is_away(
    book: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The charge is made and the release drawn: a server that restarts must not cost them."""
    entry = book.reserve("patients", epsilon="0.1", **REPLACE)
    (kept,) = book._store._idle.values()
    for connection in kept:
        connection.close()
    refusals = iter([True] * 3)

    def connect(*arguments: Any, **options: Any) -> Any:
        if next(refusals, False):
            raise ValueError("nobody answers.")
        return session.connect(*arguments, **options)

    monkeypatch.setattr(postgresql, "connect", connect)
    assert book.record(entry, {"values": ["a"]})["values"] == ["a"]
    assert next(refusals, None) is None
    impatient = Ledger(book.path, timeout=0)
    other = impatient.reserve("patients", epsilon="0.1", **REPLACE)
    monkeypatch.setattr(PostgresqlStore, "_connection", _unreachable)
    with pytest.raises(errors.UnreachableLedgerError):
        impatient.record(other, {})


WAITING = (
    "SELECT pg_cancel_backend(pid) FROM pg_stat_activity"
    " WHERE wait_event_type = 'Lock' AND query LIKE '%dproo.%'"
)


def test_neither_a_timeout_of_its_role_nor_a_cancelled_query_costs_a_record(
    book: Ledger, ledger_database: str
) -> None:
    timeouts = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
    with unguarded(ledger_database) as connection:
        for name in timeouts:
            connection.execute(f"ALTER ROLE team SET {name} = '100ms'")
    hurried = Ledger(book.path)
    try:
        entry = hurried.reserve("patients", epsilon="0.1", **REPLACE)
        with (
            ThreadPoolExecutor(1) as apart,
            psycopg.connect(ledger_database, autocommit=True) as watching,
            unguarded(ledger_database) as connection,
        ):
            connection.execute("SELECT dproo.lock()")
            recorded = apart.submit(hurried.record, entry, {"values": ["a"]})
            while not (recorded.done() or watching.execute(WAITING).fetchall()):
                time.sleep(0.01)
            time.sleep(0.3)  # longer than any timeout of the role
            connection.commit()
        assert recorded.result()["values"] == ["a"]
    finally:
        with unguarded(ledger_database) as connection:
            for name in timeouts:
                connection.execute(f"ALTER ROLE team RESET {name}")
    assert hurried.verify() == book.verify()


def _unreachable(_: PostgresqlStore) -> None:
    raise errors.UnreachableLedgerError("nobody answers.")


NAMESAKES = [
    ("Patients", "patients"),
    ("Ärzte", "ärzte"),
    ("ΣΊΣΥΦΟΣ", "σίσυφος"),
    ("Straße", "STRASSE"),
]
WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"


@contextmanager
def held(url: str) -> Iterator[tuple[Any, Callable[..., Future[Any]]]]:
    """Yield a transaction, and what starts a call in a thread and returns once it waits for it."""
    with (
        ThreadPoolExecutor() as threads,
        psycopg.connect(url) as connection,
        psycopg.connect(url, autocommit=True) as other,
    ):

        def started(call: Callable[..., Any], *given: Any, **named: Any) -> Future[Any]:
            (before,) = other.execute(WAITING).fetchone() or (0,)
            result = threads.submit(call, *given, **named)
            while other.execute(WAITING).fetchone() == (before,) and not result.done():
                time.sleep(0.01)
            return result

        yield connection, started


@pytest.mark.parametrize(("first", "second"), NAMESAKES)
def test_of_two_who_declare_at_once_one_gets_a_name_whatever_its_case(
    where: str, ledger_database: str, first: str, second: str
) -> None:
    """The second asks while the first has not committed: no name is like its own by then."""
    call = "SELECT dproo.declare_budget(%s, '1', NULL, 'replace', 1, 'record', NULL, %s)"
    with held(ledger_database) as (connection, started):
        connection.execute(call, [first, "0" * 32])
        declared = started(Ledger(where).declare, second, budget="1", **REPLACE)
        connection.commit()
        with pytest.raises(errors.LedgerError, match="must not have a budget yet"):
            declared.result()
    assert [account.dataset for account in Ledger(where).show()] == [first]


def test_a_loss_is_charged_once_however_many_accept_the_restore_at_once(
    ledger: Ledger, ledger_database: str
) -> None:
    ledger.declare("visits", budget="1", **REPLACE)
    old = copy_of(ledger)
    for dataset in ("patients", "visits"):
        ledger.reserve(dataset, epsilon="0.25", **REPLACE)
    put_back(ledger, old)
    with held(ledger_database) as (connection, started):
        connection.execute("SELECT dproo.lock()")
        calls = [started(accept_restore, ledger.path) for _ in range(3)]
        connection.commit()
        for call in calls:
            assert [loss.charge for loss in call.result()] == [250_000_000] * 2
    assert [account.spent for account in ledger.verify().accounts] == [250_000_000] * 2


def test_whoever_waited_while_a_restore_was_accepted_and_noted_writes_nothing(
    ledger: Ledger, ledger_database: str
) -> None:
    old = copy_of(ledger)
    lost = ledger.reserve("patients", epsilon="0.25", **REPLACE)
    ledger.record(lost, {"values": ["flu"]})
    put_back(ledger, old)
    call = "SELECT * FROM dproo.restore('patients', 250000000, 0, %s, %s)"
    with held(ledger_database) as (connection, started):
        connection.execute("SELECT dproo.lock()")
        accepted = started(accept_restore, ledger.path)
        event = Event._make(connection.execute(call, [lost.hash, "0" * 32]).fetchone() or ())
        (first,) = connection.execute("SELECT hash FROM dproo.event WHERE seq = 1").fetchone() or ()
        ((witness, newest),) = Memory(ledger=first, chosen=None).newest.items()
        witness.append([Note.of(first, event)], after=newest)
        connection.commit()
        assert [loss.charge for loss in accepted.result()] == [250_000_000]
    assert ledger.verify().events == event.seq


def test_an_import_finds_what_was_declared_while_it_waited(
    book: Ledger, tmp_path: Path, where: str, ledger_database: str
) -> None:
    file = copy(book, tmp_path / "moved.sqlite3")
    emptied(where)
    call = "SELECT dproo.declare_budget('visits', '1', NULL, 'replace', 1, 'record', NULL, %s)"
    with held(ledger_database) as (connection, started):
        connection.execute(call, ["0" * 32])
        copied = started(copy, file, ledger_database)
        connection.commit()
        with pytest.raises(errors.NotEmptyLedgerError, match="must be empty to be copied into"):
            copied.result()
    assert Ledger(where).datasets() == ["visits"]


def test_whoever_writes_during_an_import_waits_for_its_end(
    book: Ledger,
    tmp_path: Path,
    where: str,
    ledger_database: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The other import and the declaration begin while half of the first is written."""
    file = copy(book, tmp_path / "moved.sqlite3")
    before = file.verify()
    emptied(where)
    execute, waiting = PostgresqlSession.execute, list[Future[Any]]()

    def during(session: PostgresqlSession, query: str, *given: Any) -> Any:
        if query.startswith("UPDATE head") and not waiting:
            waiting.append(started(copy, file, ledger_database))
            waiting.append(started(Ledger(where).declare, "Patients", budget="1", **REPLACE))
        return execute(session, query, *given)

    monkeypatch.setattr(PostgresqlSession, "execute", during)
    with held(ledger_database) as (_, started):
        assert copy(file, ledger_database).verify() == before
        for call, refusal in zip(
            waiting, (errors.NotEmptyLedgerError, errors.DatasetTakenError), strict=True
        ):
            with pytest.raises(refusal):
                call.result()
    assert Ledger(where).verify() == before


def test_an_old_copy_imported_while_a_writer_waits_is_refused(
    ledger: Ledger, where: str, ledger_database: str
) -> None:
    """The ledger was empty when the writer asked its witness."""
    old = copy_of(ledger)
    ledger.reserve("patients", epsilon="0.25", **REPLACE)
    emptied(where)
    with held(ledger_database) as (connection, started):
        connection.execute("SET search_path = dproo; SET session_replication_role = replica")
        connection.execute("SELECT dproo.lock()")
        put_rows(connection, old)
        declared = started(Ledger(where).declare, "visits", budget="1", **REPLACE)
        connection.commit()
        with pytest.raises(errors.RolledBackError, match="lacks 1 of its events"):
            declared.result()


@pytest.mark.parametrize("isolation", ["read committed", "serializable"])
def test_of_two_who_install_at_once_one_makes_the_ledger(
    ledger_database: str, isolation: str
) -> None:
    name = f"twice_{isolation[0]}"
    url = ledger_database.replace("/ledgers?", f"/{name}?")
    with psycopg.connect(ledger_database, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        connection.execute(
            f"ALTER DATABASE {name} SET default_transaction_isolation = '{isolation}'"
        )
    with held(url) as (connection, started):
        connection.execute("SELECT pg_advisory_xact_lock(hashtext('dproo ledger install'))")
        calls = [started(install, Database(url)) for _ in range(2)]
        connection.commit()
        assert sorted(call.result() for call in calls) == [False, True]
