"""PostgreSQL: when equal cells are grouped first, and that it changes no count."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from support.databases import role_of

from dproo import ReleaseError, counting
from dproo.counting.sources.postgresql import scan as postgresql_scan
from dproo.counting.sources.postgresql.scan import EqualCells


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Which way every count took: whether groups came first."""
    ways: list[bool] = []
    are_few = EqualCells.are_few

    def noted(groups: EqualCells, cursor: Any) -> bool:
        ways.append(are_few(groups, cursor))
        return ways[-1]

    monkeypatch.setattr(EqualCells, "are_few", noted)
    return ways


def abc(connection: Any, table: str) -> list[int]:
    """Count a table by two letters."""
    return list(counting.count(connection, table=table, alphabet=["a", "b"], column="code"))


@pytest.fixture
def tables(server: psycopg.Connection[Any]) -> psycopg.Connection[Any]:
    """Tables of 3,000 records: of few values, of many, and of long ones that are stored short."""
    rows = "FROM generate_series(1, 3000) AS rows(i)"
    for name, cell in {
        "few": "(ARRAY['a', 'b', 'c'])[i %% 3 + 1]",
        "many": "CASE WHEN i %% 3 = 0 THEN 'a' ELSE 'a' || i END",
        "long": "CASE WHEN i %% 3 = 0 THEN 'a' ELSE repeat('a', 3000) || i END",
    }.items():
        server.execute(f"CREATE TABLE {name} AS SELECT {cell} AS code {rows}", [])
    server.execute("CREATE VIEW seen AS SELECT * FROM few")
    server.execute("CREATE TABLE parted (code text) PARTITION BY LIST (code)")
    server.execute("CREATE TABLE part PARTITION OF parted FOR VALUES IN ('a', 'b', 'c')")
    server.execute("INSERT INTO parted SELECT * FROM few")
    server.execute("CREATE TABLE parent (code text); CREATE TABLE child () INHERITS (parent)")
    server.execute("INSERT INTO child SELECT * FROM few")
    return server


@pytest.mark.parametrize("table", ["few", "parted", "parent"])
def test_few_values_are_grouped_first(
    tables: psycopg.Connection[Any], table: str, taken: list[bool]
) -> None:
    assert abc(tables, table) == [1000] * 3
    assert taken == [True]


def test_a_view_is_not_whatever_it_is_made_of(
    tables: psycopg.Connection[Any], taken: list[bool]
) -> None:
    assert abc(tables, "seen") == [1000] * 3
    assert taken == [False]


@pytest.mark.parametrize("table", ["few", "parted", "parent"])
def test_a_table_beyond_the_bound_is_not(
    tables: psycopg.Connection[Any],
    table: str,
    taken: list[bool],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The parts of a table count too, by all that they take."""
    monkeypatch.setattr(postgresql_scan, "BYTES_MAX", (1 << 13) - 1)
    assert abc(tables, table) == [1000] * 3
    assert taken == [False]


def test_many_values_are_not_if_the_planner_expects_them(
    tables: psycopg.Connection[Any], taken: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql_scan, "FEW", 1000)
    for is_known in (False, True):
        if is_known:
            tables.execute("ANALYZE many")
        assert abc(tables, "many") == [1000, 0, 2000]
    assert taken == [True, False]


@pytest.fixture
def tight(tables: psycopg.Connection[Any], postgresql: str) -> Iterator[str]:
    """The URL of a role that may write next to nothing to the server's disk."""
    tables.execute("INSERT INTO many SELECT 'a' || i FROM generate_series(1, 50000) AS rows(i)")
    tables.execute("CREATE ROLE tight LOGIN; GRANT USAGE ON SCHEMA ward TO tight")
    tables.execute("GRANT SELECT ON ALL TABLES IN SCHEMA ward TO tight")
    tables.execute("ALTER ROLE tight SET temp_file_limit = '64kB'")
    tables.execute("ALTER ROLE tight SET work_mem = '64kB'")
    yield role_of(postgresql, "tight")
    tables.execute("DROP OWNED BY tight; DROP ROLE tight")


def test_a_server_without_room_counts_the_same(tight: str, taken: list[bool]) -> None:
    bare = "SELECT code, count(*) FROM ward.many GROUP BY code"
    with psycopg.connect(tight) as connection:
        with pytest.raises(psycopg.errors.ConfigurationLimitExceeded):  # the control
            connection.execute(bare)
        connection.rollback()
        for source in (tight, connection):
            assert abc(source, "ward.many") == [1000, 0, 52000]
    assert taken == [True, True]


def test_long_cells_take_no_room(tight: str, taken: list[bool]) -> None:
    """A long text is stored in few bytes; a group of it would not be."""
    assert abc(tight, "ward.long") == [1000, 0, 2000]
    assert taken == [True]


def test_numerics_are_never_grouped_first(
    tables: psycopg.Connection[Any], taken: list[bool]
) -> None:
    tables.execute("CREATE TABLE sums AS SELECT CAST(1 AS numeric) AS sum")
    assert list(counting.count(tables, table="sums", alphabet=range(2), column="sum")) == [0, 1, 0]
    assert taken == []


def test_any_other_failure_is_one(
    tight: str, taken: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql_scan, "_INSUFFICIENT_RESOURCES", "another class")
    with pytest.raises(ReleaseError):
        abc(tight, "ward.many")
    assert taken == [True]


def test_letters_beyond_ascii_are_as_long_as_their_bytes(
    tables: psycopg.Connection[Any], taken: list[bool]
) -> None:
    alphabet = ["\U0001f600\U0001f601", "é"]
    tables.execute("CREATE TABLE signs (sign text)")
    tables.execute("INSERT INTO signs SELECT unnest(%s::text[])", [alphabet])
    assert list(counting.count(tables, table="signs", alphabet=alphabet, column="sign")) == [
        1,
        1,
        0,
    ]
    assert taken == [True]
