"""PostgreSQL, on a real server: what a session may do, how long it waits, how it ends."""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from dproo import ReleaseError, engines, sample
from dproo.engines.statement import table_parts
from dproo.ledger import Ledger

IDLE = psycopg.pq.TransactionStatus.IDLE
RUNNING = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE %s"


@pytest.fixture
def server(postgresql: str) -> Iterator[psycopg.Connection[Any]]:
    """Yield a connection to the server with a schema of its own, dropped at the end."""
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA ward; SET search_path = ward")
        connection.execute(
            "CREATE TABLE visits AS SELECT 'a'::text AS code FROM generate_series(1, 7)"
        )
        yield connection
        connection.execute("DROP SCHEMA ward CASCADE")


def counted(data: Any, table: Any = "ward.visits", column: str = "code") -> list[int]:
    return list(engines.count(data, alphabet=["a", "b"], column=column, table=table))


def role_of(url: str, name: str, **settings: str) -> str:
    options = "%20".join(f"-c%20{key}%3D{value}" for key, value in settings.items())
    return url.replace("user=dproo", f"user={name}") + (f"&options={options}" if options else "")


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

    with psycopg.connect(postgresql) as connection:
        for name in ("text", "varchar", "name", "int8", "oid", "float8"):
            connection.adapters.register_loader(name, Wrong)
        assert counted(connection) == [7, 0, 0]
        assert connection.execute("SELECT 1::bigint").fetchone() == (0.5,)


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
    assert sample(url, **asked, ledger=book, dataset="d").receipt["n"] == 7


@pytest.mark.usefixtures("server")
def test_a_limit_of_the_url_or_the_role_is_kept_and_one_is_set_where_there_is_none(
    postgresql: str,
) -> None:
    for url, limit in (
        (postgresql, "30s"),
        (role_of(postgresql, "dproo", lock_timeout="7min"), "7min"),
    ):
        scan = engines.prepare(url, alphabet=["a"], column="code", table="ward.visits")
        found = held(scan).connection.execute("SHOW lock_timeout").fetchone()
        assert found == (limit,)


def held(scan: engines.Scan) -> Any:
    """Return the session that waits in a scan."""
    cells = [cell.cell_contents for cell in scan._read.__closure__ or ()]
    return next(cell.session for cell in cells if hasattr(cell, "session"))


def test_what_was_checked_is_what_is_read(server: psycopg.Connection[Any], postgresql: str) -> None:
    """From the check to the count nobody can change the table: the scan holds a lock."""
    scan = engines.prepare(postgresql, alphabet=["a"], column="code", table="ward.visits")
    server.execute("SET lock_timeout = '50ms'")
    for change in ("DROP TABLE visits", "ALTER TABLE visits DROP COLUMN code", "TRUNCATE visits"):
        with pytest.raises(psycopg.errors.LockNotAvailable):
            server.execute(change)
    assert list(scan.count()) == [7, 0]
    server.execute("TRUNCATE visits")


@pytest.mark.usefixtures("server")
def test_a_scan_that_never_counts_lets_go(postgresql: str) -> None:
    scan = engines.prepare(postgresql, alphabet=["a"], column="code", table="ward.visits")
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
    row = server.execute(RUNNING, ["SELECT g0%"]).fetchone()
    assert row is not None
    return int(row[0])


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_the_query_of_a_process_that_ends_is_ended(
    server: psycopg.Connection[Any], postgresql: str, slow_view: str, end: int, tmp_path: Path
) -> None:
    (tmp_path / "letters.txt").write_text("a\nb\n")
    command = [str(Path(sys.executable).parent / "dproo"), "sample", postgresql, "--no-ledger"]
    command += ["--table", slow_view, "--column", "code", "--epsilon", "1"]
    command += ["--alphabet", str(tmp_path / "letters.txt")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as child:
        eventually(lambda: running(server) == 1 or child.poll() is not None)
        assert child.poll() is None, child.stdout
        child.send_signal(end)
        output = child.communicate()[0]
    if end == signal.SIGKILL:  # the server finds out by itself, within a second
        eventually(lambda: running(server) == 0)
    assert running(server) == 0
    assert b"Traceback" not in output


class Ended(BaseException):
    """What a program may raise from its own handler of a signal."""


@pytest.mark.parametrize("kind", [Ended, SystemExit, KeyboardInterrupt])
def test_whatever_is_raised_ends_the_query_and_leaves_a_callers_connection_usable(
    server: psycopg.Connection[Any], postgresql: str, slow_view: str, kind: type[BaseException]
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
                with pytest.raises(kind):
                    counted(data, slow_view)
                thread.join()
                eventually(lambda: running(server) == 0)
            assert connection.execute("SELECT count(*) FROM mine").fetchone() == (0,)
    finally:
        signal.signal(signal.SIGUSR1, before)


# What is said where it cannot be read


def refused(data: Any, table: Any = "ward.visits", column: str = "code") -> str:
    with pytest.raises(ValueError, match=r"\.$") as error:
        engines.prepare(data, alphabet=["a"], column=column, table=table)
    assert error.value.__context__ is None
    return str(error.value)


def test_each_failure_has_its_own_sentence(
    server: psycopg.Connection[Any], postgresql: str
) -> None:
    server.execute("CREATE ROLE weak LOGIN")
    weak = role_of(postgresql, "weak")
    closed = psycopg.connect(postgresql)
    closed.close()
    failed = psycopg.connect(postgresql)
    with pytest.raises(psycopg.Error):
        failed.execute("nonsense")
    found = {
        "no server": refused("postgresql://127.0.0.1:1/x"),
        "no socket": refused("postgresql:///x?host=/nowhere"),
        "no database": refused(postgresql.replace("/postgres?", "/nothing?")),
        "no role": refused(role_of(postgresql, "nobody")),
        "no setting": refused(postgresql + "&sslmode=wrong"),
        "no schema": refused(postgresql, "nothing.visits"),
        "no table": refused(postgresql, "ward.nothing"),
        "off the path": refused(postgresql, "visits"),
        "no column": refused(postgresql, column="nothing"),
        "no right to the schema": refused(weak),
        "closed": refused(closed),
        "failed": refused(failed),
    }
    server.execute("GRANT USAGE ON SCHEMA ward TO weak")
    found["no right to the table"] = refused(weak)
    server.execute(
        "CREATE TABLE secret (code text, other text); GRANT SELECT (other) ON secret TO weak"
    )
    found["no right to the column"] = refused(weak, "ward.secret")
    assert counted(weak, "ward.secret", "other") == [0, 0, 0]
    starts = {
        "no server": "no PostgreSQL server answers at this host and port.",
        "no database": "the server refused the connection. Check the database's name, the role",
        "no setting": "data must be a URL with settings that psycopg knows",
        "no schema": "table must be in a schema of the database, got ('nothing', 'visits').",
        "no table": "table must be a table or view of the database, got ('ward', 'nothing').",
        "off the path": "table must be a table or view of the database, got ('visits',). Outside",
        "no column": "column must be a column of the data, got 'nothing'.",
        "no right to the table": "the role may not read the table. Grant it SELECT",
        "closed": "data must be an open connection, got a closed one.",
        "failed": "data must be a connection without a failed transaction",
    }
    starts["no socket"] = starts["no server"]
    starts["no role"] = starts["no database"]
    for place in ("schema", "column"):
        starts[f"no right to the {place}"] = starts["no right to the table"]
    assert {case: found[case][: len(start)] for case, start in starts.items()} == starts
    assert set(starts) == set(found)
    assert not [text for text in found.values() if "postgresql://" in text]
    failed.close()
    server.execute("DROP OWNED BY weak; DROP ROLE weak")


def test_a_host_that_stays_silent_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes the connection and says nothing, as behind a firewall or on a wrong port."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://127.0.0.1:{silent.getsockname()[1]}/x"
        limits = []
        connect = psycopg.connect
        monkeypatch.setattr(
            psycopg,
            "connect",
            lambda **settings: (
                limits.append(settings["connect_timeout"])
                or connect(**settings | {"connect_timeout": 2})
            ),
        )
        for given in (url, f"{url}?connect_timeout=3"):
            assert refused(given).startswith("no PostgreSQL server answers")
    assert limits == ["10", "3"]


def test_a_connection_that_is_lost_is_told_as_that(
    server: psycopg.Connection[Any], postgresql: str
) -> None:
    with psycopg.connect(postgresql) as connection:
        server.execute("SELECT pg_terminate_backend(%s, 60000)", [connection.info.backend_pid])
        select.select([connection.fileno()], [], [])
        assert refused(connection).startswith("the connection to the database was lost.")


def test_only_connections_that_can_wait_are_taken(postgresql: str) -> None:
    with psycopg.connect(postgresql) as connection, pytest.raises(TypeError, match="synchronous"):
        engines.prepare(connection.cursor(), alphabet=["a"], column="a", table="t")


# Names of tables


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize(
    ("table", "parts"),
    [
        ("visits", ("visits",)),
        ("Ward.Visits", ("Ward", "Visits")),
        ('"My Schema"."my.table"', ("My Schema", "my.table")),
        ('ward."a ""b"""', ("ward", 'a "b"')),
        ("a b.c d", ("a b", "c d")),
        (("a.b",), ("a.b",)),
        (("a.b", 'c"d'), ("a.b", 'c"d')),
    ],
)
def test_a_dot_outside_of_quotes_separates(
    postgresql: str, table: Any, parts: tuple[str, ...]
) -> None:
    assert table_parts(table) == parts
    schema, name = ("ward", *parts)[-2:]
    quoted = psycopg.sql.Identifier(schema, name)
    create = psycopg.sql.SQL("CREATE TABLE {} (code text)").format(quoted)
    with psycopg.connect(postgresql) as connection:
        connection.execute(
            psycopg.sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(psycopg.sql.Identifier(schema))
        )
        if name != "visits":
            connection.execute(create)
        connection.execute("SET search_path = ward")
        assert counted(connection, table) in ([0, 0, 0], [7, 0, 0])
        connection.rollback()


@pytest.mark.parametrize(
    "table", ["", ".", "a.", ".a", "a..b", '"', 'a"b', '"a"b', '""', "a.b.c", "a\0", "\udc80",
              (), ("a", "b", "c"), ("",), ("a", ""), (1,), ["a"], 1, None]
)  # fmt: skip
def test_what_is_no_name_of_a_table_is_refused(table: Any) -> None:
    with pytest.raises(ValueError, match="table must be the name of a table, or schema"):
        table_parts(table)
