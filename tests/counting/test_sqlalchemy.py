"""SQLAlchemy: SQLite, MariaDB and PostgreSQL, each on a real database."""

from __future__ import annotations

import datetime as dt
import hashlib
import itertools
import logging
import math
import sqlite3
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import sqlalchemy as sa
from counting.test_parity import assert_parity, batches, plain
from pymysql.connections import Connection
from pymysql.converters import conversions
from support.draws import some
from support.releasing import check, sample

import dproo
from dproo import Alphabet, ReleaseError, counting, draft_codebook

pytestmark = pytest.mark.one_of(3)

DATABASES = "sqlite", "mariadb", "postgresql"


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[sa.Engine]:
    """Yield an engine with an empty database, or schema, of its own."""
    if request.param == "sqlite":
        yield sa.create_engine(f"sqlite:///{tmp_path / 'rows.sqlite3'}")
        return
    url = sa.make_url(request.getfixturevalue(request.param))
    if request.param == "postgresql":
        made = sa.create_engine(url.set(drivername="postgresql+psycopg"))
        options = {"connect_args": {"options": "-c search_path=alchemy"}}
        used = url.set(drivername="postgresql+psycopg")
    else:
        made, options, used = sa.create_engine(url), {}, url.set(database="alchemy")
    with made.begin() as connection:
        connection.exec_driver_sql("CREATE SCHEMA alchemy")
    engine = sa.create_engine(used, **options)
    yield engine
    engine.dispose()
    with made.begin() as connection:
        cascade = " CASCADE" if request.param == "postgresql" else ""
        connection.exec_driver_sql(f"DROP SCHEMA alchemy{cascade}")
    made.dispose()


TYPES = {
    pa.string(): sa.Text().with_variant(sa.Text(1 << 20), "mysql"),
    pa.int64(): sa.BigInteger(),
    pa.int32(): sa.Integer(),
    pa.int8(): sa.SmallInteger(),
    pa.float64(): sa.Double(),
    pa.float32(): sa.Float(),
    pa.decimal128(20, 0): sa.Numeric(20, 0),
    pa.decimal128(20, 2): sa.Numeric(20, 2),
    pa.bool_(): sa.Boolean(),
    pa.date32(): sa.Date(),
}


def stored(cell: object, engine: sa.Engine) -> object:
    """Return a cell as a database can hold it, nothing in place of one that it cannot."""
    name = engine.dialect.name
    is_odd = isinstance(cell, float) and not math.isfinite(cell)
    if is_odd and name != "postgresql":
        return None
    if isinstance(cell, bool) and name != "postgresql":
        return int(cell)
    if name == "sqlite" and isinstance(cell, dt.date | Decimal):
        return str(cell)
    return cell


@pytest.mark.untraced
def test_databases_count_the_same_on_nasty_tables(database: sa.Engine) -> None:
    """Booleans are integers to SQLite and MariaDB, whose letters are others."""
    for i, nasty in enumerate(batches()):
        rows = plain(nasty.rows)
        kind = rows["cell"].type
        name = database.dialect.name
        if name != "postgresql" and (kind == pa.bool_() or pa.types.is_decimal(kind)):
            continue
        metadata = sa.MetaData()
        declared = sa.Column("cell", TYPES[kind])
        table = sa.Table(f"rows {i} %", metadata, sa.Column("table", sa.Integer), declared)
        metadata.create_all(database)
        cells = [stored(cell, database) for cell in rows["cell"].to_pylist()]
        pairs = zip(rows["table"].to_pylist(), cells, strict=True)
        quote = database.dialect.identifier_preparer.quote_identifier
        sign = "?" if name == "sqlite" else "%s"
        with database.begin() as connection:
            insert = f"INSERT INTO {quote(table.name)} VALUES ({sign}, {sign})"
            connection.exec_driver_sql(insert, list(pairs)) if cells else None
        assert_parity(nasty, counting.count, database, table=(table.name,))


@pytest.fixture
def visits(database: sa.Engine) -> sa.Engine:
    """Codes in a collation that tells neither case nor trailing blanks, days, people."""
    collations = {"sqlite": "NOCASE", "mysql": "utf8mb4_general_ci", "postgresql": "C"}
    code = sa.String(20, collation=collations[database.dialect.name])
    metadata = sa.MetaData()
    columns = sa.Column("code", code), sa.Column("seen", sa.DateTime), sa.Column("who", sa.Text)
    table = sa.Table("visits", metadata, *columns, sa.Column("scan", sa.LargeBinary))
    metadata.create_all(database)
    seen = dt.datetime(2024, 1, 31, 23, 59)  # noqa: DTZ001
    rows = [("a", "p"), ("A", "p"), ("a ", "q"), ("ä", None), (None, None), ("a", "q" * 3000)]
    with database.begin() as connection:
        connection.execute(
            sa.insert(table), [{"code": code, "seen": seen, "who": who} for code, who in rows]
        )
    return database


def test_text_is_compared_by_its_bytes(visits: sa.Engine) -> None:
    found = counting.count(visits, table="visits", column="code", alphabet=["a", "A", "a ", "ä"])
    assert list(found) == [2, 1, 1, 1, 1]


def test_moments_are_days_and_months(visits: sa.Engine) -> None:
    found = counting.count(visits, table="visits", column="seen", alphabet="2024-01..2024-03")
    assert list(found) == [6, 0, 0]


def test_people_rows_and_open_values(visits: sa.Engine) -> None:
    letters = ["a", "A", "a ", "ä"]
    kept = counting.count(visits, table="visits", column="code", alphabet=letters, person="who")
    assert kept.n == 4  # of p only one, and one of nobody
    both = counting.prepare(
        visits, table="visits", alphabets=[{"code": letters}, {"code": letters, "who": ["p"]}]
    )
    assert [list(counts)[-1] for counts in both.count_several()] == [1, 4]
    released = sample(
        visits, table="visits", column="code", alphabet="open", epsilon=1, delta="1e-3"
    )
    assert released.receipt.details["delta"]


def test_the_rows_of_an_answer_are_records_however_they_are_passed(visits: sa.Engine) -> None:
    asked = {"column": "code", "alphabet": ["a"]}
    query = sa.text("SELECT code, who FROM visits")
    with visits.connect() as connection:
        for rows in (iter, list, sa.CursorResult.mappings, lambda answer: answer):
            assert list(counting.count(rows(connection.execute(query)), **asked)) == [2, 4]
        answer = connection.execute(query)
        assert counting.count(answer, **asked, person="who").n == 4


def test_one_connection_is_given_back(visits: sa.Engine) -> None:
    asked = {"table": "visits", "column": "code", "alphabet": ["a"]}
    assert counting.count(visits, **asked).n == 6
    assert check(visits, **asked).holds
    with pytest.raises(ValueError, match="column must be"):
        counting.count(visits, **(asked | {"column": "none"}))
    assert visits.pool.checkedout() == 0
    with visits.connect() as connection:
        assert counting.count(connection, **asked).n == 6
        assert connection.exec_driver_sql("SELECT 1").scalar() == 1


def test_a_pool_of_one_connection_is_enough(visits: sa.Engine) -> None:
    options = {"poolclass": sa.QueuePool, "pool_size": 1, "max_overflow": 0, "pool_timeout": 0.1}
    pooled = sa.create_engine(visits.url, **options)
    asked = {"table": "visits", "column": "code", "alphabet": ["a"]}
    if visits.dialect.name != "postgresql":  # whose table is in a schema that only visits sees
        assert counting.count(pooled, **asked) == counting.count(visits, **asked)
    pooled.dispose()


def test_one_connection_is_enough_for_all_stages_of_a_release(visits: sa.Engine) -> None:
    """Each stage opens the data, as does its rehearsal: one after the other."""
    one = sa.create_engine(visits.url, poolclass=sa.StaticPool)
    pooled = sa.create_engine(
        visits.url, poolclass=sa.QueuePool, pool_size=1, max_overflow=0, pool_timeout=0.1
    )
    settings = {"mysql": "SELECT @@sql_mode, @@wait_timeout, @@idle_transaction_timeout"}
    shown = settings.get(visits.dialect.name, "SELECT 1")
    table = "alchemy.visits" if visits.dialect.name == "postgresql" else "visits"
    with visits.begin() as connection:
        connection.execute(sa.text("INSERT INTO visits (code) VALUES ('x')"), [{}] * 99)
    with one.connect() as connection:
        if visits.dialect.name == "mysql":
            connection.exec_driver_sql("SET wait_timeout = 77, idle_transaction_timeout = 77")
        before = connection.exec_driver_sql(shown).one()
        connection.commit()
        for data in (connection, pooled):
            dataset = dproo.open(data, table=table)
            dataset.codebook(columns=["code"], epsilon=9, delta="1e-3")
            dataset.synthesize(columns=["code"], epsilon=9, delta="1e-3")
        assert not connection.in_transaction()
        assert connection.exec_driver_sql(shown).one() == before
    pooled.dispose()
    one.dispose()


def test_a_connection_is_as_it_was_and_each_release_sees_new_records(visits: sa.Engine) -> None:
    with visits.connect() as connection:
        seen = counting.count(connection, table="visits", column="code", alphabet=["a"]).n
        assert not connection.in_transaction()
        with visits.begin() as another:
            another.exec_driver_sql("INSERT INTO visits (code) VALUES ('a')")
        with pytest.raises(ValueError, match="must be a column"):
            counting.count(connection, table="visits", column="none", alphabet=["a"])
        assert not connection.in_transaction()
        with connection.begin() as transaction:
            again = counting.count(connection, table="visits", column="code", alphabet=["a"]).n
            assert transaction.is_active
    assert again == seen + 1


def test_what_a_program_sets_for_each_transaction_holds(server: Any, postgresql: str) -> None:
    """Such as a tenant, by which the policies of a table, or its view, choose the records."""
    server.execute(
        "CREATE VIEW own AS SELECT code FROM visits WHERE code = current_setting('ward.own', true)"
    )
    engine = sa.create_engine(sa.make_url(postgresql).set(drivername="postgresql+psycopg"))

    @sa.event.listens_for(engine, "begin")
    def begun(connection: sa.Connection) -> None:
        connection.exec_driver_sql("SET LOCAL ward.own = 'a'")

    own = {"table": "ward.own", "column": "code", "alphabet": ["a"]}
    assert list(counting.count(engine, **own)) == [7, 0]
    with engine.connect() as connection:
        assert list(counting.count(connection, **own)) == [7, 0]
        assert not connection.in_transaction()
    engine.dispose()


def test_a_draft_knows_names_and_types(visits: sa.Engine) -> None:
    fields = draft_codebook(visits, table="visits")["schema"]["fields"]
    assert {field["name"] for field in fields} >= {"code", "seen", "who"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"table": "none"}, "table must be a table or view of the database"),
        ({"column": "none"}, "column must be a column of the data"),
        ({"column": None}, "column must be given for a table"),
        ({"table": None}, "table must be"),
    ],
)
def test_what_is_not_there_is_refused(
    visits: sa.Engine, options: dict[str, Any], words: str
) -> None:
    asked = {"table": "visits", "column": "code", "alphabet": ["a"], **options}
    with pytest.raises(ValueError, match=words):
        counting.count(visits, **asked)


def test_what_fails_later_says_nothing(visits: sa.Engine) -> None:
    scan = counting.prepare(visits, table="visits", columns=["code"], alphabets=[["a"]])
    if visits.dialect.name != "sqlite":  # whose schema is locked meanwhile, as it should be
        return
    with visits.begin() as connection:
        connection.exec_driver_sql("DROP TABLE visits")
    with pytest.raises(ReleaseError, match="details are withheld"):
        scan.count()


def test_no_part_of_a_view_is_computed_before_the_charge(database: sa.Engine) -> None:
    """A database may compute a part even of a query for no row, and fail on a record in it."""
    failing = "(SELECT n FROM visits AS other WHERE code = 'rare')"  # two rows for one cell
    if database.dialect.name == "sqlite":
        failing = "(SELECT min(abs(-9223372036854775807 - n)) FROM visits AS other)"
    least, rows = f"SELECT {failing} AS least", "SELECT code, n FROM visits"
    views = [
        f"SELECT code, {failing} AS n FROM visits",
        f"{rows} WHERE n <= {failing}",
        f"{rows} UNION {rows} WHERE n <= {failing}",
        f"SELECT code, sum(n) AS n FROM visits GROUP BY code HAVING sum(n) <= {failing}",
        f"{rows} ORDER BY {failing} LIMIT 9",
        f"{rows}, ({least} LIMIT 1) AS part WHERE n <= least",
        f"{rows}, (SELECT DISTINCT least FROM ({least}) AS part) AS parts WHERE n <= least",
        f"WITH part AS ({least}) {rows}, part WHERE n <= least",
        f"WITH part AS ({least}) {rows}, part, part AS again WHERE n <= part.least",
    ]
    if database.dialect.name != "mysql":
        views.append(f"WITH part AS MATERIALIZED ({least}) {rows}, part WHERE n <= least")
    with database.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE visits (code VARCHAR(9), n BIGINT)")
        connection.exec_driver_sql("INSERT INTO visits VALUES ('a', 1), ('rare', 1), ('rare', 1)")
        for i, view in enumerate(views):
            connection.exec_driver_sql(f"CREATE VIEW view{i} AS {view}")
    for i in range(len(views)):
        for column in ("code", "n"):
            asked = {"alphabets": [["a"] if column == "code" else [1]], "columns": [column]}
            with counting.prepare(database, table=f"view{i}", **asked) as scan:
                scan.rehearse()
                if column == "n":  # a part that the query does not need may never be computed
                    with pytest.raises(ReleaseError):
                        scan.count()


def test_nothing_is_logged(visits: sa.Engine, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        counting.count(visits, table="visits", column="code", alphabet=["a"])
    assert "ä" not in caplog.text


def test_sqlite_has_cells_of_any_type_in_any_column(tmp_path: Path) -> None:
    engine = sa.create_engine(f"sqlite:///{tmp_path / 'a.sqlite3'}")
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE t (c, who)")
        cells = ["1", "1.0", "'1'", "x'31'", "1.5", "CAST(x'ff61' AS TEXT)", "NULL", "2e300"]
        for cell in cells:
            connection.exec_driver_sql(f"INSERT INTO t VALUES ({cell}, {cell})")
    assert list(counting.count(engine, table="t", column="c", alphabet=["1", "?a"])) == [3, 0, 5]
    assert list(counting.count(engine, table="t", column="c", alphabet="bins:0,1.2,2")) == [3, 1, 4]
    # 1, 1.0 and the text 1 are one person; broken text and null name nobody.
    people = counting.count(engine, table="t", column="c", alphabet=["x"], person="who")
    assert people.n == 5


def test_text_in_utf_16_is_text(tmp_path: Path) -> None:
    engine = sa.create_engine(f"sqlite:///{tmp_path / 'a.sqlite3'}")
    with engine.begin() as connection:
        connection.exec_driver_sql("PRAGMA encoding = 'UTF-16le'")
        connection.exec_driver_sql("CREATE TABLE t (c TEXT)")
        connection.exec_driver_sql("INSERT INTO t VALUES ('ä'), ('b')")
    assert list(counting.count(engine, table="t", column="c", alphabet=["ä", "b"])) == [1, 1, 0]


def test_types_without_letters_are_refused_by_mariadb(mariadb: str) -> None:
    with sa.create_engine(mariadb).begin() as connection:
        connection.exec_driver_sql("CREATE DATABASE typed")
        types = (
            "b BLOB, t TIME, f FLOAT, s TIMESTAMP NULL, y YEAR, e ENUM('x', 'y'), d DECIMAL(9,2)"
        )
        connection.exec_driver_sql(f"CREATE TABLE typed.t ({types})")
        connection.exec_driver_sql("SET time_zone = '+05:00'")
        connection.exec_driver_sql(
            "INSERT INTO typed.t VALUES ('x', '1:00', 0.1, '2024-01-01 02:00', 2024, 'y', 7.00)"
        )

        def count(column: str, alphabet: Any) -> list[int]:
            return list(
                counting.count(connection, table="typed.t", column=column, alphabet=alphabet)
            )

        for column in ("b", "t"):
            with pytest.raises(ValueError, match="must hold text, numbers, booleans or dates"):
                count(column, ["x"])
        assert count("f", "bins:0,0.1,0.1000000001,1") == [0, 0, 1, 0]  # of 24 bits
        assert count("s", "2023-12..2024-02") == [1, 0, 0]  # in UTC
        assert count("y", range(2020, 2030)).index(1) == 4
        assert count("e", ["x", "y"]) == [0, 1, 0]
        assert count("d", [7]) == [1, 0]
        connection.exec_driver_sql("SET sql_mode = ''")
        connection.exec_driver_sql("UPDATE typed.t SET s = '0000-00-00'")  # which is no moment
        assert count("s", "1970-01..1970-02") == [0, 1]
        connection.exec_driver_sql("DROP DATABASE typed")


SCRIPTS = ("a", "é", "Ж", "Я", "漢", "字", "€", "😀", "😁", "?")
CLIENTS = ("utf8mb4", "utf8mb3", "latin1", "cp1251", "gbk", "sjis", "big5", "ascii")


@pytest.fixture(scope="module")
def scripts(mariadb: str) -> Iterator[str]:
    """Yield a server with a table of texts of many scripts, one person for each."""
    with sa.create_engine(mariadb).begin() as connection:
        connection.exec_driver_sql("CREATE DATABASE scripts")
        types = "c TEXT, p VARCHAR(20), w VARCHAR(20) CHARACTER SET utf16, f CHAR(9)"
        connection.exec_driver_sql(f"CREATE TABLE scripts.t ({types})")
        for text in SCRIPTS:
            connection.exec_driver_sql("INSERT INTO scripts.t VALUES (%s, %s, %s, %s)", (text,) * 4)
    yield mariadb
    with sa.create_engine(mariadb).begin() as connection:
        connection.exec_driver_sql("DROP DATABASE scripts")


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("is_set", [False, True], ids=["by the URL", "by SET NAMES"])
def test_no_character_set_of_a_connection_changes_a_cell(
    scripts: str, client: str, *, is_set: bool
) -> None:
    """The server sends "?" for what the set lacks: several people would be one."""
    charset = "utf8mb4" if is_set else client
    engine = sa.create_engine(f"{scripts}&charset={charset}")
    with engine.connect() as connection:
        if is_set:
            connection.exec_driver_sql(f"SET NAMES {client}")
        for column, person in itertools.product("cwf", (None, "p", "w", "f")):
            if column == person:
                continue
            asked = {"column": column, "table": "scripts.t", "person": person}
            found = counting.count(connection, alphabet=SCRIPTS, **asked)
            assert list(found) == [1] * len(SCRIPTS) + [0], (column, person)


# Texts whose bytes end in those of a blank, or that are longer than what is sent as it is.
TRAPS = ("a", "a\u2020", "\u2020", "a\u2020\u2020", "a\u2020 \u2020", "\u0120", "a\u0120", "b", "#")
SETS = ("utf8mb4", "ucs2", "utf16", "utf16le", "utf32")
LENGTHS = (64, 65, 66, 1000, 3 << 20)


@pytest.fixture
def own(mariadb: str) -> Iterator[sa.Engine]:
    """Yield an engine with a database of its own."""
    engine = sa.create_engine(mariadb)
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE DATABASE own")
    yield sa.create_engine(sa.make_url(mariadb).set(database="own"))
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP DATABASE own")


@pytest.mark.parametrize("mode", some(["", "PAD_CHAR_TO_FULL_LENGTH"], one_of=2))
@pytest.mark.parametrize("kind", ["CHAR(6)", "VARCHAR(6)", "TEXT"])
@pytest.mark.parametrize("stored_in", SETS)
def test_every_identifier_is_a_person_of_its_own_in_every_character_set(
    own: sa.Engine, stored_in: str, kind: str, mode: str
) -> None:
    with own.begin() as connection:
        connection.exec_driver_sql(f"SET sql_mode = '{mode}'")
        connection.exec_driver_sql(
            f"CREATE TABLE t (who {kind}, c {kind}) CHARACTER SET {stored_in}"
        )
        for text in TRAPS:
            for _ in range(2):
                connection.exec_driver_sql("INSERT INTO t VALUES (%s, %s)", (text, text))
        found = counting.count(connection, table="t", column="c", alphabet=TRAPS, person="who")
        assert list(found) == [1] * len(TRAPS) + [0]


@pytest.mark.parametrize("is_each", [False, True])
def test_a_person_with_a_long_identifier_is_one_and_their_own(
    own: sa.Engine, *, is_each: bool
) -> None:
    people = [end * length for length in LENGTHS for end in "xy"]
    people.append("#" + hashlib.sha256(people[-1].encode()).hexdigest())
    with own.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE t (who LONGTEXT, c TEXT)")
        for who in people * 2:
            connection.exec_driver_sql("INSERT INTO t VALUES (%s, 'a')", (who,))
        connection.exec_driver_sql("SET GLOBAL max_allowed_packet = 1 << 20")
    own.dispose()
    asked = {"table": "t", "column": "c", "alphabet": ["a"], "person": "who"}
    try:
        found = counting.count(own, **asked, is_each_missing=is_each)
        assert list(found) == [len(people), 0]
    finally:
        with own.begin() as connection:
            connection.exec_driver_sql("SET GLOBAL max_allowed_packet = 1 << 24")


@pytest.mark.parametrize("stored_in", SETS)
@pytest.mark.parametrize("kind", ["CHAR(99)", "VARCHAR(99)", "LONGTEXT"])
def test_a_declared_text_is_a_missing_identifier(own: sa.Engine, stored_in: str, kind: str) -> None:
    missing = ("NA", "50%", "it's", "\\N", "é", "x" * 80, "ä".encode().decode("latin-1"))
    with own.begin() as connection:
        connection.exec_driver_sql(f"CREATE TABLE t (who {kind} CHARACTER SET {stored_in}, c TEXT)")
        for who in (*missing, *missing, "na", "NAN", "ä", "ä"):
            connection.exec_driver_sql("INSERT INTO t VALUES (%s, 'a')", (who,))
    asked: dict[str, Any] = {"table": "t", "column": "c", "alphabet": ["a"], "person": "who"}
    asked["missing_texts"] = missing
    assert list(counting.count(own, **asked)) == [3, 1]
    assert list(counting.count(own, **asked, is_each_missing=True)) == [3 + 2 * len(missing), 0]


def test_an_identifier_is_not_missing_for_its_stored_bytes(own: sa.Engine) -> None:
    with own.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE t (who TEXT CHARACTER SET cp1250, c TEXT)")
        for who in ("ř", "ř", "ann"):  # stored as Latin-1 stores ø
            connection.exec_driver_sql("INSERT INTO t VALUES (%s, 'a')", (who,))
    asked: dict[str, Any] = {"table": "t", "column": "c", "alphabet": ["a"], "person": "who"}
    asked |= {"missing_texts": ("ø",), "is_each_missing": True}
    assert list(counting.count(own, **asked)) == [2, 0]


@pytest.mark.parametrize("stored_in", SETS)
@pytest.mark.parametrize("kind", ["CHAR(9)", "VARCHAR(9)", "LONGTEXT"])
def test_damaged_texts_and_impossible_days_name_nobody(
    own: sa.Engine, kind: str, stored_in: str
) -> None:
    damaged = ["J\ufffdrg", "\ufffd", "a\ufffd" * 3, "\ufffd" + "x" * 8]
    days = ["0000-00-00", "2024-00-00", "2024-01-00", "0000-01-01", "2024-01-31"]
    with own.begin() as connection:
        connection.exec_driver_sql("SET sql_mode = 'ALLOW_INVALID_DATES'")
        connection.exec_driver_sql(
            f"CREATE TABLE t (who {kind}, day DATE, c TEXT) CHARACTER SET {stored_in}"
        )
        rows = [(who, day, letter) for who in (*damaged, "Ann") for day in days for letter in "ab"]
        for row in rows:
            connection.exec_driver_sql("INSERT INTO t VALUES (%s, %s, %s)", row)
        asked = {"table": "t", "column": "c", "alphabet": ["a", "b"]}
        for person in ("who", "day"):
            found = counting.count(connection, **asked, person=person)
            assert (found.n, found[2]) == (2, 1), person  # nobody's, and one of a person


MODES = [
    *("ORACLE", "MSSQL", "DB2", "ANSI", "ANSI_QUOTES", "PIPES_AS_CONCAT", "NO_BACKSLASH_ESCAPES"),
    *("EMPTY_STRING_IS_NULL", "PAD_CHAR_TO_FULL_LENGTH", "HIGH_NOT_PRECEDENCE", "IGNORE_SPACE"),
    *("TIME_ROUND_FRACTIONAL", "SIMULTANEOUS_ASSIGNMENT", "TRADITIONAL"),
]


def test_no_mode_of_a_session_changes_a_count(own: sa.Engine) -> None:
    """In some, double quotes are names, in others texts; some show a schema differently."""
    cells = ["a", "back\\slash", "a\\\\", "it's", 'a"b', "a||b", "", None]
    with own.begin() as connection:
        connection.exec_driver_sql(
            "CREATE TABLE t (code CHAR(12), who VARCHAR(99), n DECIMAL(9,2), m TIMESTAMP NULL)"
        )
        for cell in cells:
            row = (cell, cell, 7, "2026-01-02 03:04:05")
            connection.exec_driver_sql("INSERT INTO t VALUES (%s, %s, %s, %s)", row)
    letters = [cell for cell in cells if cell]
    asked: list[dict[str, Any]] = [
        {"column": "code", "alphabet": letters},
        {"column": "n", "alphabet": range(8)},
        {"column": "n", "alphabet": [7], "person": "who"},
        {"column": "m", "alphabet": Alphabet.of(["2026-01-02"]).read_as("date")},
    ]
    expected = [list(counting.count(own, table="t", **each)) for each in asked]
    assert expected[0] == [1] * len(letters) + [2]
    for first, then in itertools.product(["", "ANSI_QUOTES"], some(MODES, one_of=2)):
        settings = {"init_command": f"SET sql_mode = '{first}'"}
        engine = sa.create_engine(own.url, connect_args=settings)
        with engine.connect() as connection:
            connection.exec_driver_sql(f"SET sql_mode = '{then}', sql_quote_show_create = 0")
            mode = connection.exec_driver_sql("SELECT @@sql_mode").scalar()
            found = [list(counting.count(connection, table="t", **each)) for each in asked]
            assert found == expected, (first, then)
            assert connection.exec_driver_sql("SELECT @@sql_mode").scalar() == mode
        engine.dispose()
        engine = sa.create_engine(own.url, connect_args={"init_command": f"SET sql_mode='{then}'"})
        assert list(counting.count(engine, table="t", **asked[0])) == expected[0], then
        engine.dispose()


@pytest.mark.parametrize("name", ["character_set_client", "character_set_connection"])
def test_names_mean_the_same_in_every_character_set_of_a_session(own: sa.Engine, name: str) -> None:
    with own.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE t (`größe` VARCHAR(9), who VARCHAR(9))")
        connection.exec_driver_sql("INSERT INTO t VALUES ('a', 'p'), ('a', 'q'), ('b', 'q')")
    for charset in ("latin1", "utf8mb3", "utf8mb4"):
        with own.connect() as connection:
            connection.exec_driver_sql(f"SET {name} = {charset}")
            asked = {"table": "t", "column": "größe", "alphabet": ["a"]}
            assert list(counting.count(connection, **asked)) == [2, 1]
            assert counting.count(connection, **asked, person="who").n == 2
            connection.invalidate()


def test_no_limit_of_a_session_leaves_a_record_out(own: sa.Engine) -> None:
    asked = {"table": "t", "column": "c", "alphabet": ["a"]}
    with own.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE t (c TEXT)")
        for _ in range(9):
            connection.exec_driver_sql("INSERT INTO t VALUES ('a')")
        connection.exec_driver_sql("SET sql_select_limit = 3")
        assert list(counting.count(connection, **asked)) == [9, 0]
        connection.exec_driver_sql("SET max_join_size = 3")
        with pytest.raises(ValueError, match="must not limit the rows that a query examines"):
            counting.count(connection, **asked)
        connection.exec_driver_sql("SET sql_big_selects = 1")
        assert list(counting.count(connection, **asked)) == [9, 0]


def test_a_count_waits_for_nobodys_lock(own: sa.Engine) -> None:
    asked: dict[str, Any] = {"table": "t", "column": "c", "alphabet": ["a"]}
    with own.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE t (c TEXT)")
        connection.exec_driver_sql("INSERT INTO t VALUES ('a')")
    strict = "SET innodb_lock_wait_timeout = 1, @@session.tx_isolation = 'SERIALIZABLE'"
    engine = sa.create_engine(own.url, connect_args={"init_command": strict})
    with own.connect() as writer, engine.connect() as connection:
        writer.exec_driver_sql("UPDATE t SET c = 'b'")
        assert list(counting.count(engine, **asked)) == [1, 0]
        assert list(counting.count(connection, **asked)) == [1, 0]
        level = connection.exec_driver_sql("SELECT @@tx_isolation").scalar()
        assert level == "SERIALIZABLE"
        with pytest.raises(ValueError, match="in one below SERIALIZABLE"):
            counting.count(connection, **asked)
    engine.dispose()


@pytest.mark.parametrize("step", ["a setting", "the count"])
def test_an_interrupt_before_an_answer_leaves_the_pool_no_answer(
    own: sa.Engine, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with own.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE t (c TEXT)")
        connection.exec_driver_sql("INSERT INTO t VALUES ('a'), ('a'), ('b')")

    def interrupted(*_: object) -> None:
        monkeypatch.undo()  # what comes next reads this answer, unless the connection is abandoned
        raise KeyboardInterrupt

    asked: dict[str, Any] = {"table": "t", "columns": ["c"], "alphabets": [["a"]]}
    scan = counting.prepare(own, **asked) if step == "the count" else None
    monkeypatch.setattr(Connection, "_read_bytes", interrupted)
    with pytest.raises(KeyboardInterrupt):
        counting.prepare(own, **asked) if scan is None else scan.count()
    assert own.pool.checkedout() == 0  # type: ignore[attr-defined]
    with own.connect() as connection:
        assert connection.exec_driver_sql("SELECT 42").scalar() == 42
    assert list(counting.count(own, table="t", column="c", alphabet=["a"])) == [2, 1]


def test_no_limit_of_an_idle_session_ends_it_while_the_ledger_is_charged(own: sa.Engine) -> None:
    limits = "wait_timeout", "idle_transaction_timeout", "idle_readonly_transaction_timeout"
    shown = "SELECT " + ", ".join(f"@@{limit}" for limit in limits)
    with own.connect() as connection:
        connection.exec_driver_sql("CREATE TABLE t (c INT)")
        connection.exec_driver_sql("SET " + ", ".join(f"{limit} = 77" for limit in limits))
        scan = counting.prepare(connection, table="t", columns=["c"], alphabets=[[1]])
        assert tuple(connection.exec_driver_sql(shown).one()) == (28_800, 0, 0)
        assert scan.count().n == 0
        assert tuple(connection.exec_driver_sql(shown).one()) == (77, 77, 77)


def _failing(_: object) -> None:
    raise ZeroDivisionError


NUMBERS_AND_DAYS = (
    0,
    1,
    2,
    4,
    5,
    7,
    9,
    10,
    12,
    13,
    14,
    246,
)  # of the protocol; not what SQLAlchemy asks for
DRIVERS: dict[str, dict[str, Any]] = {
    "bytes": {"use_unicode": False},
    "floats": {"conv": conversions | dict.fromkeys((0, 1, 2, 3, 8, 9, 246), float)},
    "failing": {"conv": conversions | dict.fromkeys(NUMBERS_AND_DAYS, _failing)},
    "none": {"conv": {kind: act for kind, act in conversions.items() if not isinstance(kind, int)}},
}
CELLS: dict[str, tuple[str, Any]] = {
    "INT": ("7", [7]),
    "BIGINT UNSIGNED": ("18446744073709551615", [18446744073709551615]),
    "INT ZEROFILL": ("7", [7]),
    "DECIMAL(30, 2)": ("9007199254740993.00", [9007199254740993]),
    "DOUBLE": ("0.1", "bins:0.1,0.10000000000000002"),
    "DATE": ("'2024-01-31'", ["2024-01-31"]),
    "DATETIME(6)": ("'2024-01-31 23:59:59.5'", "2024-01..2024-02"),
    "TIMESTAMP": ("'2024-01-31 12:00'", "2024-01..2024-02"),
    "YEAR": ("2024", [2024]),
    "ENUM('x')": ("'x'", ["x"]),
    "CHAR(3)": ("'x'", ["x"]),
}


@pytest.mark.parametrize("options", DRIVERS)
def test_no_converter_of_a_connection_is_asked(own: sa.Engine, options: str) -> None:
    with own.begin() as connection:
        columns = ", ".join(f"c{i} {kind}" for i, kind in enumerate(CELLS))
        connection.exec_driver_sql(f"CREATE TABLE t (who DECIMAL(30, 2), {columns})")
        for who in range(9007199254740992, 9007199254740995):
            shown = ", ".join(cell for cell, _ in CELLS.values())
            connection.exec_driver_sql(f"INSERT INTO t VALUES ({who}, {shown})")
    engine = sa.create_engine(own.url, connect_args=DRIVERS[options])
    for i, (kind, (_, letters)) in enumerate(CELLS.items()):
        asked = {"table": "t", "column": f"c{i}", "alphabet": letters}
        assert list(counting.count(engine, **asked)) == [3, 0], kind
        assert list(counting.count(engine, **asked, person="who")) == [3, 0], kind
    engine.dispose()


def test_converters_and_factories_of_a_program_are_not_asked(tmp_path: Path) -> None:
    """A converter that fails on one cell would stop the count."""
    path = tmp_path / "a.sqlite3"
    detected = sqlite3.PARSE_DECLTYPES | sqlite3.PARSE_COLNAMES
    engine = sa.create_engine(f"sqlite:///{path}", connect_args={"detect_types": detected})
    with engine.begin() as connection:
        columns = 'c TIMESTAMP, "d [date]" DATE, e DECIMAL(9, 2)'
        connection.exec_driver_sql(f"CREATE TABLE t ({columns})")
        cells = ("2024-01-31 10:00", "2024-01-31", "1.00"), ("neither", "secret", "secret")
        for row in cells:
            connection.exec_driver_sql("INSERT INTO t VALUES (?, ?, ?)", row)
    with engine.connect() as connection:
        driver = connection.connection.driver_connection
        driver.row_factory = sqlite3.Row
        asked = {"table": "t", "column": "c", "alphabet": "2024-01..2024-02"}
        assert list(counting.count(connection, **asked)) == [1, 1]
        asked = {"table": "t", "column": "d [date]", "alphabet": ["2024-01-31"]}
        assert list(counting.count(connection, **asked)) == [1, 1]
        asked = {"table": "t", "column": "e", "alphabet": "bins:0,2"}
        assert list(counting.count(connection, **asked)) == [1, 1]
        assert driver.text_factory is str


def test_no_limit_of_a_session_of_sqlite_makes_a_long_cell_an_error() -> None:
    engine = sa.create_engine("sqlite://")
    with engine.connect() as connection:
        connection.exec_driver_sql("CREATE TABLE t (who TEXT, cell TEXT)")
        rows = [("ann", "a"), ("b" * 200, "a"), ("cid", "x" * 200)]
        for row in rows:
            connection.exec_driver_sql("INSERT INTO t VALUES (?, ?)", row)
        driver = connection.connection.driver_connection
        driver.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 100)
        for person in (None, "who"):
            asked = {"table": "t", "column": "cell", "alphabet": ["a"], "person": person}
            assert list(counting.count(connection, **asked)) == [2, 1]
        assert driver.getlimit(sqlite3.SQLITE_LIMIT_LENGTH) == 100
    engine.dispose()


def test_other_drivers_are_refused() -> None:
    class Dialect:
        name, driver, is_async = "oracle", "oracledb_async", True

    class Engine:
        __module__ = "sqlalchemy.engine.base"
        dialect = Dialect()

    asked = {"table": "t", "column": "c", "alphabet": ["a"]}
    with pytest.raises(TypeError, match="must be a synchronous engine or connection"):
        counting.count(Engine(), **asked)
    Dialect.name, Dialect.driver, Dialect.is_async = "postgresql", "psycopg2", False
    with pytest.raises(TypeError, match="must be an engine of postgresql"):
        counting.count(Engine(), **asked)
    unreachable = sa.create_engine("sqlite:////no/such/folder/a.sqlite3")
    with pytest.raises(ValueError, match="the database cannot be reached with this engine"):
        counting.count(unreachable, **asked)
