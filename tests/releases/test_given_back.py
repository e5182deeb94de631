"""However a release ends before it reads, connections, locks and engines are given back at once."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa

import dproo
from dproo.counting.sources.postgresql import session
from dproo.errors import LedgerError
from dproo.releases import run
from dproo.releases.protection import Protection

SOURCES = ["postgresql", "sqlalchemy", "parquet", "duckdb"]


@pytest.fixture(autouse=True)
def without_collector() -> Iterator[None]:
    """Let nothing be given back by chance."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()
    gc.collect()


class Opened:
    """What was opened in a test, and how much of it still is."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.connections: list[Any] = []
        self.engines: list[Any] = []
        self.pool: Any = None
        for module, kept in ((session, self.connections), (duckdb, self.engines)):
            monkeypatch.setattr(module, "connect", self._kept(module.connect, kept))  # type: ignore[attr-defined]

    @staticmethod
    def _kept(connect: Callable[..., Any], kept: list[Any]) -> Callable[..., Any]:
        def connected(*arguments: Any, **options: Any) -> Any:
            kept.append(connect(*arguments, **options))
            return kept[-1]

        return connected

    @property
    def left(self) -> int:
        out = 0 if self.pool is None else self.pool.checkedout()
        return out + sum(not one.closed for one in self.connections) + sum(map(_runs, self.engines))

    @property
    def number(self) -> int:
        return len(self.connections) + len(self.engines) + (self.pool is not None)


def _runs(engine: Any) -> bool:
    try:
        engine.execute("SELECT 1")
    except duckdb.ConnectionException:
        return False
    return True


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Opened:
    return Opened(monkeypatch)


@pytest.fixture
def data(
    request: pytest.FixtureRequest, tmp_path: Path, opened: Opened
) -> Iterator[tuple[Any, str | None]]:
    """Yield the same records in a source, and their table."""
    if request.param in {"postgresql", "sqlalchemy"}:
        server, url = request.getfixturevalue("server"), request.getfixturevalue("postgresql")
        del server
        if request.param == "postgresql":
            yield url, "ward.visits"
            for connection in opened.connections:
                connection.close()
            return
        where = url.partition("host=")[2].partition("&")[0]
        engine = sa.create_engine(f"postgresql+psycopg://dproo@/postgres?host={where}")
        opened.pool = engine.pool
        yield engine, "ward.visits"
        engine.dispose()
        return
    pq.write_table(pa.table({"code": ["a"] * 7}), tmp_path / "visits.parquet")
    if request.param == "parquet":
        yield tmp_path / "visits.parquet", None
        return
    with duckdb.connect(str(tmp_path / "visits.duckdb")) as file:
        file.execute(f"CREATE TABLE visits AS FROM '{tmp_path}/visits.parquet'")
    yield tmp_path / "visits.duckdb", "visits"


def poor(folder: Path) -> dproo.Ledger:
    ledger = dproo.Ledger.create(folder / "ledger.sqlite3")
    ledger.declare("visits", budget="1", neighbours="replace")
    return ledger


def fail(kind: type[BaseException]) -> Callable[..., Any]:
    def failing(*_: object, **__: object) -> Any:
        raise kind

    return failing


def stopped(apart: Callable[..., Any]) -> Callable[..., Any]:
    """Let an interrupt arrive as soon as the ledger has been charged."""

    def run_then_stop(*arguments: Any, **options: Any) -> Any:
        apart(*arguments, **options)
        raise KeyboardInterrupt

    return run_then_stop


ENDS: dict[str, Callable[[Any, Any], object]] = {
    "no budget": lambda one, _: one.value("code", ["a", "b"], epsilon=2),
    "no budget to find letters": lambda one, _: one.codebook(
        columns=["code"], epsilon=2, delta="1e-6"
    ),
    "no column": lambda one, _: one.value("cod", ["a", "b"], epsilon=1),
    "no person": lambda one, _: replace(one, protection=Protection(person="who")).value(
        "code", ["a", "b"], epsilon=1
    ),
    "a failure": lambda one, patch: (
        patch.setattr(run, "published", fail(KeyError)),
        one.value("code", ["a", "b"], epsilon=1),
    ),
    "an interrupt": lambda one, patch: (
        patch.setattr(run, "published", fail(KeyboardInterrupt)),
        one.value("code", ["a", "b"], epsilon=1),
    ),
    "an interrupt after the charge": lambda one, patch: (
        patch.setattr(run, "apart", stopped(run.apart)),
        one.value("code", ["a", "b"], epsilon=1),
    ),
}


@pytest.mark.one_of(4)
@pytest.mark.parametrize("data", SOURCES, indirect=True)
@pytest.mark.parametrize("end", ENDS)
def test_what_ends_before_it_reads_gives_back_what_it_opened(
    end: str,
    data: tuple[Any, str | None],
    opened: Opened,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    records, table = data
    one = dproo.open(records, table=table, ledger=poor(tmp_path), dataset="visits")
    with pytest.raises((ValueError, LedgerError, KeyboardInterrupt)) as refused:
        ENDS[end](one, monkeypatch)
    assert refused.value is not None  # the refusal keeps alive what it came from
    assert opened.number
    assert opened.left == 0


@pytest.mark.parametrize("data", SOURCES, indirect=True)
def test_a_check_gives_back_what_it_opened(data: tuple[Any, str | None], opened: Opened) -> None:
    records, table = data
    one = dproo.open(records, table=table)
    found = [one.check("code", ["a", "b"]), one.check("cod", ["a"])]
    assert [check.holds for check in found] == [True, False]
    assert opened.number
    assert opened.left == 0


def test_letters_that_a_database_cannot_show_leave_no_lock(
    server: psycopg.Connection[Any], postgresql: str, opened: Opened
) -> None:
    server.execute("CREATE DATABASE bare ENCODING SQL_ASCII LOCALE 'C' TEMPLATE template0")
    url = postgresql.replace("/postgres?", "/bare?")
    try:
        with psycopg.connect(url, autocommit=True) as own:
            own.execute("CREATE TABLE visits AS SELECT 'a'::text AS code")
            one = dproo.open(url, table="visits")
            refused = []
            for end in (
                lambda: one.value("code", "open", epsilon=1, delta="1e-6"),
                lambda: one.codebook(columns=["code"], epsilon=1, delta="1e-6"),
            ):
                with pytest.raises(ValueError, match="encoding, SQL_ASCII") as error:
                    end()
                refused.append(error)
                assert opened.number
                assert opened.left == 0
            own.execute("ALTER TABLE visits ADD COLUMN place text")
    finally:
        server.execute("DROP DATABASE bare WITH (FORCE)")
