"""PostgreSQL, on a real server: what a session may do, how long it waits, how it ends."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from psycopg.rows import dict_row
from support.commands import Started
from support.databases import Held, counted, role_of
from support.releasing import sample

import dproo
from dproo import Alphabet, ReleaseError, counting
from dproo.core.counts import NamedCounts
from dproo.ledger import Ledger
from dproo.schema.axis import OpenText

IDLE = psycopg.pq.TransactionStatus.IDLE
RUNNING = (
    "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE %s"
    " AND query NOT LIKE '%%LIMIT 0'"  # the check before the count
)


PATIENCE = 300
"""Seconds after which a process that was told to end has failed to."""


def eventually(is_so: Callable[[], bool]) -> None:
    """Wait for a condition; a test that hangs here has failed."""
    while not is_so():
        time.sleep(0.02)


# What a session may do


@pytest.fixture
def writing_view(server: psycopg.Connection[Any]) -> str:
    """A view that writes a row for every row it shows."""
    server.execute("CREATE TABLE written (code text)")
    server.execute(
        "CREATE FUNCTION noted(code text) RETURNS text LANGUAGE plpgsql AS"
        " 'BEGIN INSERT INTO ward.written VALUES (code); RETURN code; END'"
    )
    server.execute("CREATE VIEW writing AS SELECT noted(code) AS code FROM visits")
    return "ward.writing"


@pytest.mark.parametrize("source", ["url", "autocommit", "idle", "in a transaction"])
def test_a_view_that_writes_cannot(
    server: psycopg.Connection[Any], postgresql: str, writing_view: str, source: str
) -> None:
    with psycopg.connect(postgresql, autocommit=source == "autocommit") as connection:
        if source == "in a transaction":
            connection.execute("INSERT INTO ward.written VALUES ('mine')")
        with pytest.raises(ReleaseError):
            counted(postgresql if source == "url" else connection, writing_view)
        # The caller's own work goes on, and may write.
        connection.execute("INSERT INTO ward.written VALUES ('later')")
        connection.commit()
    rows = [row[0] for row in server.execute("SELECT code FROM ward.written").fetchall()]
    assert sorted(rows) == (["later", "mine"] if source == "in a transaction" else ["later"])


@pytest.mark.usefixtures("server")
def test_threads_that_share_a_connection_take_turns(postgresql: str) -> None:
    with psycopg.connect(postgresql) as connection:
        counts: list[Any] = []

        def count() -> None:
            counts.extend(counted(connection, "ward.visits") for _ in range(3))

        threads = [threading.Thread(target=count) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert counts == [counted(postgresql, "ward.visits")] * 12
        assert connection.info.transaction_status == IDLE


@pytest.mark.usefixtures("server")
def test_a_callers_session_is_left_as_it_was(postgresql: str) -> None:
    names = ("search_path", "lock_timeout", "transaction_read_only", "client_encoding")
    names += ("standard_conforming_strings", "client_connection_check_interval")

    def settings() -> list[Any]:
        return [connection.execute(f"SHOW {name}").fetchone() for name in names]

    with psycopg.connect(postgresql, row_factory=dict_row) as connection:
        connection.cursor_factory = psycopg.RawCursor
        connection.execute("SET search_path = ward; SET standard_conforming_strings = off")
        connection.execute("SET client_encoding = 'LATIN1'")
        connection.commit()
        before = settings()
        connection.execute("CREATE TEMP TABLE kept (code text)")
        assert counted(connection, "visits") == [7, 0, 0]
        assert counted(connection, "kept") == [0, 0, 0]
        assert settings() == before
        with pytest.raises(ValueError, match="table must be"):
            counted(connection, "nothing")
        assert settings() == before
        assert connection.execute("SELECT count(*) AS n FROM kept").fetchone() == {"n": 0}
        connection.rollback()
        assert counted(connection, "visits") == [7, 0, 0]
        assert connection.info.transaction_status == IDLE


def test_functions_operators_and_types_of_others_take_no_part(
    server: psycopg.Connection[Any], postgresql: str
) -> None:
    """They are found before those of PostgreSQL if a role's search_path says so."""
    server.execute("CREATE ROLE led LOGIN; GRANT USAGE ON SCHEMA ward TO led")
    server.execute("GRANT SELECT ON ALL TABLES IN SCHEMA ward TO led")
    for kind in ("integer", "bigint"):
        server.execute(
            f"CREATE AGGREGATE sum({kind}) (sfunc = int8pl, stype = bigint, initcond = '1000')"
            if kind == "bigint"
            else "CREATE AGGREGATE sum(integer) (sfunc = int84pl, stype = bigint, initcond = '9')"
        )
    server.execute(
        "CREATE FUNCTION never(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT false';"
        "CREATE OPERATOR = (leftarg = text, rightarg = text, function = never);"
        "CREATE DOMAIN text AS pg_catalog.text CHECK (VALUE <> 'a')"
    )
    server.execute("ALTER ROLE led SET search_path = ward, pg_catalog")
    url = role_of(postgresql, "led")
    with psycopg.connect(url) as connection:
        # The control: an open query is led astray, so the counts below could be too.
        query = "SELECT sum(1)::integer, 'a'::pg_catalog.text = 'a'::pg_catalog.text"
        assert connection.execute(query).fetchone() == (10, False)
        assert counted(connection, "visits") == [7, 0, 0]
    assert counted(url, "visits") == [7, 0, 0]
    server.execute("DROP OWNED BY led; DROP ROLE led")


@pytest.mark.usefixtures("server")
def test_what_a_caller_has_taught_the_driver_changes_no_count(postgresql: str) -> None:
    class Wrong(psycopg.adapt.Loader):
        def load(self, _: object) -> float:
            return 0.5

    class WrongParameter(psycopg.adapt.Dumper):
        def dump(self, _: object) -> bytes:
            return b"wrong"

    with psycopg.connect(postgresql) as connection:
        for name in ("text", "varchar", "name", "int8", "oid", "float8", "bool", "bytea"):
            connection.adapters.register_loader(name, Wrong)
        for kind in (str, int, list):
            connection.adapters.register_dumper(kind, WrongParameter)
        connection.execute("SET idle_session_timeout = '10min'")
        connection.commit()
        assert counted(connection) == [7, 0, 0]
        letters = Alphabet(axes=(OpenText(),))
        opened = counting.count(connection, alphabet=letters, column="code", table="ward.visits")
        assert opened == NamedCounts.seen({"a": 7}, others=0)
        assert connection.execute("SELECT 1::bigint").fetchone() == (0.5,)
        limit = psycopg.Cursor[Any](connection)
        limit.adapters.register_loader("text", psycopg.types.string.TextLoader)
        assert limit.execute("SHOW idle_session_timeout").fetchone() == ("10min",)


# How long it waits


@pytest.mark.usefixtures("server")
def test_a_locked_table_is_refused_before_the_charge(postgresql: str, tmp_path: Path) -> None:
    book = Ledger.create(tmp_path / "ledger.sqlite3")
    book.declare("d", budget=9, neighbours="replace")
    url = role_of(postgresql, "dproo", lock_timeout="50ms")
    asked = {"alphabet": ["a"], "column": "code", "table": "ward.visits", "epsilon": 1}
    with psycopg.connect(postgresql) as other, psycopg.connect(url) as connection:
        other.execute("LOCK TABLE ward.visits")
        for data in (url, connection):
            with pytest.raises(ValueError, match="the table is locked by another session"):
                sample(data, **asked, ledger=book, dataset="d")
    assert book.show()[0].spent == 0
    assert sample(url, **asked, ledger=book, dataset="d").receipt.n == 7


@pytest.mark.usefixtures("server")
def test_a_limit_of_the_url_or_the_role_is_kept_and_one_is_set_where_there_is_none(
    postgresql: str,
) -> None:
    for url, limit in (
        (postgresql, "30s"),
        (role_of(postgresql, "dproo", lock_timeout="7min"), "7min"),
    ):
        scan = counting.prepare(url, alphabets=[["a"]], columns=["code"], table="ward.visits")
        found = held(scan).connection.execute("SHOW lock_timeout").fetchone()
        assert found == (limit,)


def held(scan: counting.Scan) -> Any:
    """Return the session that waits in a scan."""
    return scan._close.__self__


@pytest.mark.usefixtures("server")
def test_a_session_waits_for_the_charge_however_long_it_takes(postgresql: str) -> None:
    """A server that ends idle transactions would end one that waits for a ledger."""
    names = ["idle_in_transaction_session_timeout", "transaction_timeout"]
    with psycopg.connect(postgresql) as server:
        known = {name for (name,) in server.execute("SELECT name FROM pg_settings")}
    limits = {name: "10min" for name in names if name in known}
    assert limits
    url = role_of(postgresql, "dproo", **limits)
    scan = counting.prepare(url, alphabets=[["a"]], columns=["code"], table="ward.visits")
    for name in limits:
        assert held(scan).connection.execute(f"SHOW {name}").fetchone() == ("0",)


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("source", ["autocommit", "idle", "in a transaction"])
def test_a_callers_session_waits_too_and_then_has_its_own_limits(
    postgresql: str, source: str
) -> None:
    with psycopg.connect(postgresql, autocommit=True) as connection:
        found = connection.execute("SELECT name FROM pg_settings WHERE name ~ '^idle.*session'")
        names = [name for (name,) in found.fetchall()]
        for name in names:
            connection.execute(f"SET {name} = '10min'")
        connection.autocommit = source != "idle"

        def limits() -> list[Any]:
            with connection.transaction():
                return [connection.execute(f"SHOW {name}").fetchone() for name in names]

        with connection.transaction() if source == "in a transaction" else nullcontext():
            scan = counting.prepare(
                connection, alphabets=[["a"]], columns=["code"], table="ward.visits"
            )
            assert limits() == [("0",)] * len(names)
            assert scan.count().n == 7
            assert limits() == [("10min",)] * len(names)
        assert limits() == [("10min",)] * len(names)


@pytest.mark.usefixtures("server")
def test_releases_of_one_connection_wait_together_and_leave_it_its_own_limits(
    postgresql: str,
) -> None:
    """Threads may share a connection: the first to end must not set a limit for the others."""
    name = "idle_in_transaction_session_timeout"
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute(f"SET {name} = '10min'")
        scans = [
            counting.prepare(connection, alphabets=[["a"]], columns=["code"], table="ward.visits")
            for _ in range(3)
        ]
        for scan in scans:
            assert connection.execute(f"SHOW {name}").fetchone() == ("0",)
            scan.close()
        assert connection.execute(f"SHOW {name}").fetchone() == ("10min",)


def test_what_was_checked_is_what_is_read(server: psycopg.Connection[Any], postgresql: str) -> None:
    """From the check to the count nobody can change the table: the scan holds a lock."""
    scan = counting.prepare(postgresql, alphabets=[["a"]], columns=["code"], table="ward.visits")
    server.execute("SET lock_timeout = '50ms'")
    for change in ("DROP TABLE visits", "ALTER TABLE visits DROP COLUMN code", "TRUNCATE visits"):
        with pytest.raises(psycopg.errors.LockNotAvailable):
            server.execute(change)
    assert list(scan.count()) == [7, 0]
    server.execute("RESET lock_timeout")  # the connection has just been closed
    server.execute("TRUNCATE visits")


def test_what_others_write_meanwhile_ends_no_count(
    server: psycopg.Connection[Any], postgresql: str
) -> None:
    """A serializable reader may be ended if one writer has read what another one changed."""
    server.execute("CREATE TABLE days (today int); INSERT INTO days VALUES (1)")
    view, strict = Held(server), "-c default_transaction_isolation=serializable"
    with ExitStack() as stack:
        mine, reader, writer = (
            stack.enter_context(psycopg.connect(postgresql, options=strict)) for _ in range(3)
        )
        reader.execute("INSERT INTO ward.visits SELECT 'b' FROM ward.days")
        writer.execute("UPDATE ward.days SET today = 2")
        writer.commit()
        with ThreadPoolExecutor() as pool:
            count = pool.submit(counted, mine, "ward.held")
            view.await_count(count.done)
            reader.commit()
            view.let_go()
        assert count.result() == [7, 0, 0]
        mine.execute("SELECT 1")
        with pytest.raises(ValueError, match="in one below SERIALIZABLE"):
            counted(mine)


@pytest.mark.usefixtures("server")
def test_a_scan_that_never_counts_lets_go(postgresql: str) -> None:
    scan = counting.prepare(postgresql, alphabets=[["a"]], columns=["code"], table="ward.visits")
    connection = held(scan).connection
    child = os.fork()
    if not child:
        del scan
        gc.collect()
        os._exit(0)  # a child must not end what its parent holds
    os.waitpid(child, 0)
    assert connection.execute("SELECT 1").fetchone() == (1,)
    del scan
    gc.collect()
    assert connection.closed


# How it ends


@pytest.fixture
def slow_view(server: psycopg.Connection[Any]) -> str:
    """A view that takes an hour."""
    server.execute("CREATE VIEW slow AS SELECT 'a' || pg_sleep(3600)::text AS code")
    return "ward.slow"


def running(server: psycopg.Connection[Any]) -> int:
    row = server.execute(RUNNING, ["SELECT k0%"]).fetchone()
    assert row is not None
    return int(row[0])


def hear() -> None:
    """Be told to end, also where a shell or a program above ignores it."""
    for end in (signal.SIGTERM, signal.SIGINT):
        signal.signal(end, signal.SIG_DFL)


@pytest.mark.one_of(3)
@pytest.mark.parametrize(
    "end",
    [pytest.param(signal.SIGTERM, marks=pytest.mark.untraced), signal.SIGINT, signal.SIGKILL],
)
def test_the_query_of_a_process_that_ends_is_ended(
    server: psycopg.Connection[Any], postgresql: str, slow_view: str, end: int, tmp_path: Path
) -> None:
    (tmp_path / "letters.txt").write_text("a\nb\n")
    command = [str(Path(sys.executable).parent / "dproo"), "sample", postgresql, "--no-ledger"]
    command += ["--table", slow_view, "--column", "code", "--epsilon", "1"]
    command += ["--alphabet", str(tmp_path / "letters.txt")]
    with Started(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        preexec_fn=hear,
    ) as child:
        eventually(lambda: running(server) == 1 or child.poll() is not None)
        assert child.poll() is None, child.stdout
        child.send_signal(end)
        try:
            output = child.communicate(timeout=PATIENCE)[0]
        finally:
            child.kill()
    if end == signal.SIGKILL:  # the server finds out by itself, within a second
        eventually(lambda: running(server) == 0)
    assert running(server) == 0
    assert b"Traceback" not in output


class Ended(BaseException):
    """What a program may raise from its own handler of a signal."""


def test_an_interrupt_of_the_check_lets_go_of_the_table(
    server: psycopg.Connection[Any], postgresql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(**_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dproo.counting.sources.postgresql.scan.Scan", interrupted)
    with pytest.raises(KeyboardInterrupt) as kept:  # and with it all that its frames hold
        counted(postgresql)
    server.execute("SET lock_timeout = '1s'")
    server.execute("DROP TABLE visits")
    assert kept.value.__traceback__ is not None


@pytest.mark.parametrize(
    ("kind", "shown"),
    [(Ended, ReleaseError), (SystemExit, SystemExit), (KeyboardInterrupt, KeyboardInterrupt)],
)
def test_whatever_is_raised_ends_the_query_and_leaves_a_callers_connection_usable(
    server: psycopg.Connection[Any],
    postgresql: str,
    slow_view: str,
    kind: type[BaseException],
    shown: type[BaseException],
) -> None:
    def interrupt() -> None:
        eventually(lambda: running(server) == 1)
        os.kill(os.getpid(), signal.SIGUSR1)

    def raise_it(*_: object) -> None:
        raise kind

    before = signal.signal(signal.SIGUSR1, raise_it)
    try:
        with psycopg.connect(postgresql) as connection:
            connection.execute("CREATE TEMP TABLE mine (a int)")
            for data in (connection, postgresql):
                thread = threading.Thread(target=interrupt)
                thread.start()
                with pytest.raises(shown):
                    counted(data, slow_view)
                thread.join()
                eventually(lambda: running(server) == 0)
            assert connection.execute("SELECT count(*) FROM mine").fetchone() == (0,)
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_a_role_with_one_connection_is_enough_for_all_stages(
    server: psycopg.Connection[Any], postgresql: str
) -> None:
    """A server ends a session a moment after it was closed."""
    server.execute("DROP ROLE IF EXISTS single")
    server.execute(
        "CREATE ROLE single LOGIN CONNECTION LIMIT 1; GRANT USAGE ON SCHEMA ward TO single"
    )
    server.execute("CREATE VIEW stages AS SELECT code FROM visits, generate_series(1, 50)")
    server.execute("GRANT SELECT ON stages TO single")
    url = role_of(postgresql, "single")
    unpooled = sa.create_engine(url.replace(":", "+psycopg:", 1), poolclass=sa.NullPool)
    try:
        for data in [url] * 10 + [unpooled] * 10:
            visits = dproo.open(data, table="ward.stages")
            model = visits.synthesize(epsilon=50, delta="1e-3", columns=["code"])
            assert model.receipt.n == 350
    finally:
        server.execute("DROP OWNED BY single; DROP ROLE single")
