"""What PostgreSQL cannot be asked for: each failure has its own sentence, before any charge."""

from __future__ import annotations

import select
import socket
import subprocess
import sys
from typing import Any

import psycopg
import pytest
from support.commands import Started
from support.databases import counted, role_of

from dproo import counting
from dproo.counting.sources.postgresql import scan
from dproo.counting.sql.statements import table_parts


def refused(data: Any, table: Any = "ward.visits", column: str = "code") -> str:
    with pytest.raises(ValueError, match=r"\.$") as error:
        counting.prepare(data, alphabets=[["a"]], columns=[column], table=table)
    assert error.value.__context__ is None
    return str(error.value)


def test_each_failure_has_its_own_sentence(
    server: psycopg.Connection[Any], postgresql: str
) -> None:
    server.execute("CREATE ROLE weak LOGIN")
    server.execute(f"CREATE TABLE {'x' * 63} (code text)")  # what a longer name is cut to
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
        "a longer name": refused(postgresql, f"ward.{'x' * 64}"),
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
    server.execute("ALTER TABLE secret ENABLE ROW LEVEL SECURITY")
    found["rows that it may not see"] = refused(
        weak + "&options=-c%20row_security%3Doff", "ward.secret", column="other"
    )
    starts = {
        "no server": "no PostgreSQL server answers at this host and port.",
        "no database": "the server refused the connection. Check the database's name, the role",
        "no setting": "data must be a URL with settings that psycopg knows",
        "no schema": "table must be in a schema of the database, got ('nothing', 'visits').",
        "no table": "table must be a table or view of the database, got ('ward', 'nothing').",
        "a longer name": "table must be a table or view of the database, got ('ward', 'xxx",
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
    starts["rows that it may not see"] = found["no right to the table"]
    assert "With row_security = off it may not" in found["no right to the table"]
    assert {case: found[case][: len(start)] for case, start in starts.items()} == starts
    assert set(starts) == set(found)
    assert not [text for text in found.values() if "postgresql://" in text]
    failed.close()
    server.execute("DROP OWNED BY weak; DROP ROLE weak")


FOREIGN = """
    CREATE EXTENSION IF NOT EXISTS postgres_fdw SCHEMA public;
    CREATE SERVER itself FOREIGN DATA WRAPPER postgres_fdw OPTIONS (dbname 'postgres');
    CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    CREATE TABLE own (code text COLLATE folded);
    CREATE FOREIGN TABLE far (code text COLLATE "C") SERVER itself OPTIONS (table_name 'own');
    CREATE VIEW seen AS SELECT code FROM visits UNION ALL SELECT code FROM far;
    CREATE TABLE whole (code text) PARTITION BY LIST (code);
    CREATE FOREIGN TABLE part PARTITION OF whole FOR VALUES IN ('a') SERVER itself;
    CREATE TABLE parent (code text);
    CREATE FOREIGN TABLE child () INHERITS (parent) SERVER itself;
    CREATE TABLE "Foreign Scan" (code text)
"""


def test_what_another_server_would_compare_is_refused(
    server: psycopg.Connection[Any], postgresql: str
) -> None:
    """Its collation could make one group, and one letter, of the cells of several people."""
    server.execute(FOREIGN)
    for table in ("far", "seen", "whole", "part", "parent", "child"):
        assert "must not be a foreign table" in refused(postgresql, f"ward.{table}")
    assert counted(postgresql, 'ward."Foreign Scan"') == [0, 0, 0]


def test_people_need_a_hash_that_a_server_in_fips_mode_lacks(
    server: psycopg.Connection[Any], postgresql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.execute("CREATE TABLE stays (code text, who text)")
    monkeypatch.setattr(scan, "_HASH", "SELECT 1 / 0")
    asked: dict[str, Any] = {"alphabets": [["a"]], "columns": ["code"], "table": "ward.stays"}
    for data in (postgresql, server):
        counting.prepare(data, **asked).close()
        with pytest.raises(ValueError, match="with a server that computes MD5"):
            counting.prepare(data, **asked, person="who")
    assert server.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.usefixtures("server")
def test_a_check_that_the_database_ends_is_told_as_that(postgresql: str) -> None:
    with psycopg.connect(postgresql) as other:
        other.execute("LOCK TABLE ward.visits")
        sentence = refused(role_of(postgresql, "dproo", statement_timeout="50ms"))
    assert sentence.startswith(
        "the database cancelled the check of the table, because of statement_t"
    )


def test_what_a_view_says_while_it_is_planned_is_withheld(
    server: psycopg.Connection[Any], postgresql: str
) -> None:
    """A function that promises to be immutable is run by the planner."""
    server.execute(
        "CREATE FUNCTION quoting() RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS"
        " 'BEGIN RAISE EXCEPTION ''canary %'', (SELECT max(code) FROM ward.visits); END'"
    )
    server.execute("CREATE VIEW quoted AS SELECT code FROM visits WHERE quoting()")
    sentence = "the database refused the query; details are withheld because they could reveal"
    assert refused(postgresql, "ward.quoted").startswith(sentence)


STARTING = """
import socket
fields = b"SFATAL\\0VFATAL\\0C57P03\\0Mthe database system is starting up\\0\\0"
with socket.create_server(("127.0.0.1", 0)) as server:
    print(server.getsockname()[1], flush=True)
    for _ in range(2):  # the connection, and the ping behind it
        with server.accept()[0] as client:
            client.recv(4096)
            client.sendall(b"E" + (len(fields) + 4).to_bytes(4, "big") + fields)
"""


def test_a_server_that_starts_up_is_told_as_that() -> None:
    """In a process of its own: psycopg waits for the answer to a ping with Python at rest."""
    with Started([sys.executable, "-c", STARTING], stdout=subprocess.PIPE) as starting:
        assert starting.stdout is not None
        port = int(starting.stdout.readline())
        sentence = refused(f"postgresql://127.0.0.1:{port}/x?sslmode=disable&gssencmode=disable")
    assert sentence == "the server accepts no connections at the moment. Try again later."


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("postgresql://a:b/c", "data must be a URL with a number as its port."),
        ("postgresql://a:b/c@h/d", "data must be a URL with / and @ written as %2F and %40"),
        ("postgresql://a:b@c@h/d", "data must be a URL with / and @ written as %2F and %40"),
        ("postgresql://h/d?nothing=1", "data must be a URL that psycopg can read:"),
        ("postgresql+psycopg://h/d", "data must be a URL that starts with postgresql://"),
    ],
)
def test_a_url_that_would_be_misread_is_refused(url: str, sentence: str) -> None:
    assert refused(url).startswith(sentence)


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
        counting.prepare(connection.cursor(), alphabets=[["a"]], columns=["a"], table="t")


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


def test_a_connection_that_is_in_use_is_refused_at_once_and_stays_usable(postgresql: str) -> None:
    with psycopg.connect(postgresql) as connection:
        connection.execute("CREATE TEMP TABLE here (a text)")
        busy = "data must be a connection that runs no command, such as COPY or a streamed query."
        with connection.cursor().copy("COPY here FROM STDIN") as copy:
            copy.write_row(["a"])
            assert refused(connection).startswith(busy)
        with connection.cursor().copy("COPY (SELECT generate_series(1, 9)) TO STDOUT") as copy:
            assert refused(connection).startswith(busy)
            assert len(list(copy.rows())) == 9
        numbers = connection.cursor().stream("SELECT generate_series(1, 9)")
        next(numbers)
        assert refused(connection).startswith(busy)
        assert len(list(numbers)) == 8
        with connection.pipeline():
            assert "must be a connection outside pipeline mode" in refused(connection)
        assert counted(connection, "here", "a") == [1, 0, 0]
        with connection.cursor("declared") as cursor:
            cursor.itersize = 2
            cursor.execute("SELECT generate_series(1, 9)")
            assert cursor.fetchone() == (1,)
            assert counted(connection, "here", "a") == [1, 0, 0]
            assert len(cursor.fetchall()) == 8
        with pytest.raises(psycopg.Error):
            connection.execute("nonsense")
        assert "without a failed transaction; roll it back first" in refused(connection)
    with psycopg.connect(postgresql, autocommit=True) as connection, connection.pipeline():
        assert "must be a connection outside pipeline mode" in refused(connection)
