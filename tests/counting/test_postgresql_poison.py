"""One cell of PostgreSQL, of any type and in any zone or encoding, is one record."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from typing import Any
from zoneinfo import available_timezones

import psycopg
import pytest
from support.draws import SOAK, few, some

from dproo import Alphabet, counting
from dproo.counting.prepare import open_scan
from dproo.counting.query import CountQuery
from dproo.schema.axis import OpenText
from dproo.schema.reading import Reading

DAYS = [date(2011, 12, 30), date(1, 1, 1), date(9999, 12, 31), date(1883, 11, 18)]
DAYS += [date(2024, 3, 31), date(1994, 12, 31), date(1995, 1, 1), date(1969, 12, 31)]


def test_no_time_zone_of_a_session_shifts_a_day(server: Any) -> None:
    """Every zone that the server knows, with days that some of them never had."""
    letters = [day.isoformat() for day in DAYS]
    server.execute("CREATE TABLE days (d date, t timestamp, z timestamptz)")
    for day in DAYS:
        row = [day, f"{day} 23:59:59.999999", f"{day} 00:00:00+00"]
        server.execute("INSERT INTO days VALUES (%s, %s, %s)", row)
    server.execute("INSERT INTO days VALUES ('infinity', '-infinity', 'infinity')")
    server.execute("INSERT INTO days VALUES ('4714-11-24 BC', '4714-11-24 BC', '294276-12-31')")
    axis = Alphabet.of(letters).axes[0]
    alphabets = {
        "d": Alphabet.of(letters),
        "t": Alphabet(axes=(axis.read_as(Reading(kind="date")),)),
        "z": Alphabet(axes=(axis.read_as(Reading(kind="date")),)),
    }
    zones = {name for (name,) in server.execute("SELECT name FROM pg_timezone_names")}
    odd = ["Pacific/Apia", "Pacific/Kwajalein", "Asia/Manila", "America/Juneau", "UTC"]
    others = sorted(zones & available_timezones() - {*odd})
    for zone in [*odd, *few(others, 5), "+14", "-14:30"]:
        server.execute("SELECT set_config('timezone', %s, false)", [zone])
        for column, alphabet in alphabets.items():
            counts = counting.count(server, alphabet=alphabet, column=column, table="ward.days")
            assert list(counts) == [*([1] * len(DAYS)), 2], (zone, column)
        people = counting.count(
            server, alphabet=alphabets["t"], column="t", person="d", table="ward.days"
        )
        assert people.n == len(DAYS) + 1, zone  # beyond the calendar, a day names nobody


LENGTH = (256 if SOAK else 16) << 20


@pytest.fixture(scope="module")
def vast(postgresql: str) -> Iterator[psycopg.Connection[Any]]:
    """Yield a connection to a table with a very long text.

    The long tests have one whose characters no array of the server holds.
    """
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA vast")
        connection.execute("CREATE TABLE vast.cells (a text, b text, who text)")
        connection.execute("ALTER TABLE vast.cells ALTER a SET STORAGE EXTENDED")
        connection.execute("INSERT INTO vast.cells VALUES ('7', 'x', 'ann'), ('8', 'x', 'bob')")
        connection.execute(f"INSERT INTO vast.cells SELECT t, t, t FROM repeat('7', {LENGTH}) AS t")
        connection.execute("CREATE VIEW vast.shown AS SELECT * FROM vast.cells")
        yield connection
        connection.execute("DROP SCHEMA vast CASCADE")


READINGS = [
    Alphabet.bins([0, 7.5, 10]),
    Alphabet(axes=(Alphabet.bins([0, 7.5, 10]).axes[0].read_as(Reading(kind="number")),)),
    Alphabet(axes=(Alphabet.bins([0, 7.5, 10]).axes[0].read_as(Reading(kind="integer")),)),
    Alphabet.of(range(7, 9)),
    Alphabet.of([7, 8]),
    Alphabet.of(["7", "8"]),
    Alphabet(axes=(Alphabet.of(["7", "8"]).axes[0].read_as(Reading(kind="lower")),)),
    Alphabet(axes=(Alphabet.of(["7", "8"]).axes[0].read_as(Reading(kind="text")),)),
]


@pytest.mark.parametrize("place", some(range(len(READINGS)), one_of=len(READINGS)))
def test_a_very_long_text_is_one_record_however_it_is_read(
    vast: psycopg.Connection[Any], place: int
) -> None:
    alphabet = READINGS[place]
    for table in ("vast.cells", "vast.shown"):
        for person in (None, "who"):
            options = {"table": table, "person": person}
            counts = counting.count(vast, alphabet=alphabet, column="a", **options)
            assert list(counts) == [1, 1, 1], (table, person)
    axis = alphabet.axes[0]
    several = [Alphabet(axes=(axis,), columns=("a",)), Alphabet.of({"b": ["x"]})]
    one, two = counting.prepare(vast, alphabets=several, table="vast.cells").count_several()
    assert list(one) == [1, 1, 1]
    assert list(two) == [2, 1]


@contextmanager
def database(postgresql: str, encoding: str) -> Iterator[str]:
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute(
            f"CREATE DATABASE odd ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0"
        )
    try:
        yield postgresql.replace("/postgres?", "/odd?")
    finally:
        with psycopg.connect(postgresql, autocommit=True) as connection:
            connection.execute("DROP DATABASE odd WITH (FORCE)")


# A database's encoding, and text in it that does not become UTF-8, or in which the bytes of U+FFFD
# are those of two or three characters, as bytes.
ODD = {
    "WIN1252": [b"\x81", b"\x8d", b"x\x90"],
    "WIN1253": [b"\xd2", b"\xff"],
    "EUC_JP": [b"\x8f\xa2\xaf", b"\xad\xa1", b"\xa9\xa1", b"\xb7\xef\xbf\xbd", b"\xef\xbf\xbd\xa8"],
    "LATIN1": [b"\x80", b"\xff", b"\xef\xbf\xbd", b"x\xef\xbf\xbd"],
    "EUC_KR": [b"\xc9\xa1", b"\xfe\xfe", b"\xb0\xef\xbf\xbd", b"\xef\xbf\xbd\xa8"],
}


@pytest.mark.parametrize("encoding", some(ODD, one_of=4))
def test_text_that_no_other_encoding_has_is_one_record_each(postgresql: str, encoding: str) -> None:
    with database(postgresql, encoding) as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE TABLE cells (a text, who text)")
            for odd in (b"x", b"x", b"x", *ODD[encoding], *ODD[encoding], b"A"):
                cell = f"convert_from('\\x{odd.hex()}'::bytea, '{encoding}')"
                connection.execute(f"INSERT INTO cells SELECT {cell}, {cell}")
        size = 4 + 2 * len(ODD[encoding])
        for person in (None, "who"):
            query = CountQuery(
                alphabets=(Alphabet(axes=(OpenText(minimum=2),)),),
                columns=("a",),
                table="cells",
                person=person,
            )
            counts: Any = open_scan(url, query).count()
            assert counts.n == (size if person is None else 2 + len(ODD[encoding]))
        listed = counting.count(url, alphabet=["x", "A"], column="a", table="cells")
        assert list(listed) == [3, 1, size - 4]


def test_an_encoding_that_python_lacks_is_refused_for_an_open_alphabet(postgresql: str) -> None:
    query = CountQuery(
        alphabets=(Alphabet(axes=(OpenText(minimum=2),)),), columns=("a",), table="cells"
    )
    for encoding in ("SQL_ASCII",):
        with database(postgresql, encoding) as url:
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("CREATE TABLE cells (a text)")
            with pytest.raises(ValueError, match="alphabet must be listed"):
                open_scan(url, query)
