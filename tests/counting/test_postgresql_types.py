"""Every type that a PostgreSQL server has: counted as everywhere else, or refused by its schema."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import psycopg
import pytest

from dproo import Alphabet, counting
from dproo.counting.sql.people import person_of

# A type, a value as SQL has it, and its canonical text.
COUNTED = {
    "smallint": ("7", 7),
    "integer": ("7", 7),
    "bigint": ("7", 7),
    "oid": ("7", 7),
    "numeric": ("7.00", 7),
    "numeric(9,2)": ("7", 7),
    "real": ("7", 7),
    "double precision": ("7", 7),
    "text": ("seven", "seven"),
    "varchar": ("seven", "seven"),
    "varchar(9)": ("seven", "seven"),
    "char(9)": ("seven", "seven"),
    "bpchar": ("seven", "seven"),
    '"char"': ("s", "s"),
    "name": ("seven", "seven"),
    "boolean": ("t", True),
    "date": ("2026-01-02", "2026-01-02"),
    "kinds.mood": ("seven", "seven"),
    "kinds.code": ("seven", "seven"),
    "kinds.code_of_code": ("seven", "seven"),
    "kinds.mood_code": ("seven", "seven"),
    "kinds.number": ("7", 7),
    "kinds.citext": ("Seven", "Seven"),
}

UNLIKE_NUMBERS = {"boolean", "date", "kinds.mood", "kinds.mood_code"}


@pytest.fixture(scope="module")
def kinds(postgresql: str) -> Iterator[psycopg.Connection[Any]]:
    """Yield a connection to a server with types of all makes in a schema of their own."""
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA kinds")
        connection.execute("CREATE TYPE kinds.mood AS ENUM ('seven', 'eight')")
        connection.execute("CREATE DOMAIN kinds.code AS text CHECK (VALUE <> '')")
        connection.execute("CREATE DOMAIN kinds.code_of_code AS kinds.code NOT NULL")
        connection.execute("CREATE DOMAIN kinds.mood_code AS kinds.mood")
        connection.execute("CREATE DOMAIN kinds.number AS numeric(9, 2)")
        connection.execute("CREATE DOMAIN kinds.codes AS text[]")
        connection.execute("CREATE TYPE kinds.text AS (a text, b text)")
        connection.execute("CREATE TYPE kinds.int8 AS RANGE (subtype = bigint)")
        connection.execute("CREATE EXTENSION citext SCHEMA kinds")
        yield connection
        connection.execute("DROP SCHEMA kinds CASCADE")


@pytest.mark.parametrize("type_name", COUNTED)
def test_a_type_that_is_understood_is_counted_as_everywhere_else(
    kinds: psycopg.Connection[Any], type_name: str
) -> None:
    text, letter = COUNTED[type_name]
    kinds.execute(f"CREATE TABLE kinds.cells (a {type_name})")
    try:
        kinds.execute(f"INSERT INTO kinds.cells SELECT '{text}' FROM generate_series(1, 5)")
        cells = [letter] * 5
        options = {"table": "kinds.cells", "column": "a"}
        for alphabet in (
            [letter, "other one"],
            range(9),
            Alphabet.bins([0, 5, 10]),
        ):
            expected = list(counting.count(cells, alphabet=alphabet))
            is_certain = type_name in UNLIKE_NUMBERS and expected[-1] == len(cells)
            if is_certain:
                with pytest.raises(ValueError, match="can never be one of the"):
                    counting.count(kinds, alphabet=alphabet, **options)
            else:
                assert list(counting.count(kinds, alphabet=alphabet, **options)) == expected
    finally:
        kinds.execute("DROP TABLE kinds.cells")


@pytest.mark.one_of(3)
def test_every_other_type_is_refused_before_the_charge(kinds: psycopg.Connection[Any]) -> None:
    """The server is asked for its types, so that a new one is not forgotten."""
    rows = kinds.execute(
        "SELECT format_type(t.oid, NULL), typname FROM pg_type AS t LEFT JOIN pg_class AS c"
        " ON c.oid = typrelid WHERE typtype NOT IN ('p', 'd') AND coalesce(relkind, 'c') = 'c'"
    ).fetchall()
    known = {kinds.execute("SELECT to_regtype(%s)::oid", [name]).fetchone() for name in COUNTED}
    refused = []
    for type_name, word in rows:
        if kinds.execute("SELECT to_regtype(%s)::oid", [type_name]).fetchone() in known:
            continue
        with kinds.transaction(force_rollback=True):
            try:
                with kinds.transaction():
                    kinds.execute(f"CREATE TABLE kinds.cells (a {type_name})")
            except psycopg.Error:
                continue  # it is no type of a column
            with pytest.raises(ValueError, match="column 'a' must hold text, numbers, bool") as no:
                counting.prepare(kinds, alphabets=[["x"]], columns=["a"], table="kinds.cells")
            assert re.search("Cast it|Add .read_as", str(no.value))
            refused.append(word)
    for word in ("json", "jsonb", "uuid", "bytea", "timestamp", "timestamptz", "_text", "interval"):
        assert word in refused
    assert {"money", "inet", "xml", "text", "int8", "_mood", "tsvector"} <= {*refused}
    assert len(refused) > 100


@pytest.mark.parametrize("type_name", ["numeric", "float8"])
def test_a_number_names_a_person_as_in_python(
    kinds: psycopg.Connection[Any], type_name: str
) -> None:
    numbers = "Infinity", "-Infinity", "7.50", "7.00", "-0.0", "1e20", "-120", "0.0009765625"
    for number in numbers:
        cells = f"SELECT 'x' AS a, {number!r}::{type_name} AS who FROM generate_series(1, 3)"
        kinds.execute(f"CREATE TABLE kinds.named AS {cells}")
        asked: dict[str, Any] = {"table": "kinds.named", "column": "a", "alphabet": ["x"]}
        text = person_of(Decimal(number))
        assert text is not None
        for missing, kept in ((text,), 3), ((), 1):
            asked |= {"person": "who", "is_each_missing": True, "missing_texts": missing}
            assert counting.count(kinds, **asked).n == kept, number
        kinds.execute("DROP TABLE kinds.named")


def test_a_domain_over_an_array_is_refused(kinds: psycopg.Connection[Any]) -> None:
    kinds.execute("CREATE TABLE kinds.x (a kinds.codes)")
    with pytest.raises(ValueError, match="column 'a' must hold text"):
        counting.prepare(kinds, alphabets=[["x"]], columns=["a"], table="kinds.x")
    kinds.execute("DROP TABLE kinds.x")
    assert kinds.info.transaction_status == psycopg.pq.TransactionStatus.IDLE


def test_letters_that_the_database_cannot_store_are_counted_as_absent(
    kinds: psycopg.Connection[Any],
) -> None:
    kinds.execute("CREATE TABLE kinds.plain AS SELECT 'a'::text AS a")
    counts = counting.count(kinds, alphabet=["a", "\0", "x\0"], column="a", table="kinds.plain")
    assert list(counts) == [1, 0, 0, 0]


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_other_encodings_are_read_and_their_limits_are_told_before_the_charge(
    postgresql: str, encoding: str
) -> None:
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute(
            f"CREATE DATABASE plain ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0"
        )
    url = postgresql.replace("/postgres?", "/plain?")
    options = {"column": "a", "table": "cells"}
    try:
        with psycopg.connect(url) as connection:
            connection.execute("SET client_encoding = 'UTF8'")
            connection.execute("CREATE TABLE cells AS SELECT 'é'::text AS a")
            if encoding == "SQL_ASCII":
                connection.execute("INSERT INTO cells VALUES (E'\\xff\\xfe')")
        expected = [1, 0] if encoding == "LATIN1" else [1, 1]
        assert list(counting.count(url, alphabet=["é"], **options)) == expected
        if encoding == "LATIN1":
            with pytest.raises(ValueError, match="alphabet must contain only letters"):
                counting.count(url, alphabet=["é", "€"], **options)
            with psycopg.connect(url) as connection:
                connection.execute("INSERT INTO cells VALUES (chr(160) || '7'), ('7' || chr(160))")
            trimmed = Alphabet.of(["7", "é"]).read_as("text")
            assert list(counting.count(url, alphabet=[7], **options)) == [2, 1]
            assert list(counting.count(url, alphabet=trimmed, **options)) == [2, 1, 0]
        # One more sign has the lower case k, which neither encoding has; its bytes are no k.
        with psycopg.connect(url) as connection:
            connection.execute("TRUNCATE cells")
            odd = r"E'\xe2'" if encoding == "SQL_ASCII" else "'É'"
            connection.execute(f"INSERT INTO cells VALUES ('K'), ('k'), ({odd})")
        lower = Alphabet.of(["k", "é"]).read_as("lower")
        expected = [2, int(encoding == "LATIN1"), int(encoding == "SQL_ASCII")]
        assert list(counting.count(url, alphabet=lower, **options)) == expected
    finally:
        with psycopg.connect(postgresql, autocommit=True) as connection:
            connection.execute("DROP DATABASE plain WITH (FORCE)")


@pytest.mark.parametrize("column", ["mood", "mood_code"])
@pytest.mark.parametrize("person", [None, "mood", "mood_code"])
def test_no_cast_that_an_owner_brings_reads_a_cell(
    kinds: psycopg.Connection[Any], column: str, person: str | None
) -> None:
    """Such a cast may look at other records, so that one of them decides every letter."""
    schema = "planted"
    kinds.execute(f"CREATE SCHEMA {schema}")
    try:
        kinds.execute(f"CREATE TYPE {schema}.mood AS ENUM ('a', 'b', 'c')")
        kinds.execute(f"CREATE DOMAIN {schema}.mood_code AS {schema}.mood")
        kinds.execute(
            f"CREATE TABLE {schema}.t (c {schema}.{column}, p {schema}.{person or column})"
        )
        kinds.execute(f"INSERT INTO {schema}.t VALUES ('a', 'a'), ('a', 'b'), ('b', 'c')")
        asked = {"table": f"{schema}.t", "column": "c", "person": None if person is None else "p"}
        before = list(counting.count(kinds, alphabet=["a", "b", "c"], **asked))
        for result in ("text", "varchar", "integer", "boolean"):
            kinds.execute(
                f"CREATE FUNCTION {schema}.evil_{result}({schema}.mood) RETURNS {result}"
                " LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RAISE EXCEPTION ''seen''; END'"
            )
            kinds.execute(
                f"CREATE CAST ({schema}.mood AS {result}) WITH FUNCTION"
                f" {schema}.evil_{result}({schema}.mood) AS IMPLICIT"
            )
        assert (
            list(counting.count(kinds, alphabet=["a", "b", "c"], **asked)) == before == [2, 1, 0, 0]
        )
    finally:
        kinds.execute(f"DROP SCHEMA {schema} CASCADE")


@pytest.mark.parametrize(
    ("source", "target", "method", "is_refused"),
    [
        ("integer", "text", "WITH FUNCTION", True),
        ("bigint", "varchar", "WITH FUNCTION", True),
        ("text", "double precision", "WITH FUNCTION", True),
        ("text", "bigint", "WITH INOUT", False),
        ("integer", "date", "WITH FUNCTION", False),
    ],
)
def test_casts_that_a_database_brings_between_text_and_other_types_are_refused(
    kinds: psycopg.Connection[Any], source: str, target: str, method: str, *, is_refused: bool
) -> None:
    """The query casts cells to text, and text to numbers, as PostgreSQL itself does."""
    kinds.execute("CREATE SCHEMA brought; CREATE TABLE brought.t (c integer)")
    try:
        kinds.execute("INSERT INTO brought.t VALUES (1), (1), (2)")
        kinds.execute(
            f"CREATE FUNCTION brought.cast({source}) RETURNS {target} LANGUAGE plpgsql IMMUTABLE"
            " AS 'BEGIN RETURN 9; END'"
        )
        by = f" brought.cast({source})" if method == "WITH FUNCTION" else ""
        kinds.execute(f"CREATE CAST ({source} AS {target}) {method}{by} AS IMPLICIT")
        asked = {"table": "brought.t", "column": "c", "alphabet": [1, 2]}
        if is_refused:
            with pytest.raises(ValueError, match="the database must not have casts of its own"):
                counting.count(kinds, **asked)
        else:
            assert list(counting.count(kinds, **asked)) == [2, 1, 0]
    finally:
        kinds.execute(f"DROP CAST IF EXISTS ({source} AS {target}); DROP SCHEMA brought CASCADE")


@pytest.mark.parametrize(
    "definition", ["AS (a text, b integer)", "AS RANGE (subtype = integer)", "AS ENUM ('x')"]
)
def test_only_a_base_type_called_citext_is_citext(
    kinds: psycopg.Connection[Any], definition: str
) -> None:
    kinds.execute("CREATE SCHEMA called")
    try:
        kinds.execute(f"CREATE TYPE called.citext {definition}")
        kinds.execute("CREATE TABLE called.t (c called.citext)")
        asked = {"table": "called.t", "column": "c", "alphabet": ["x"]}
        if "ENUM" in definition:
            assert list(counting.count(kinds, **asked)) == [0, 0]
        else:
            with pytest.raises(ValueError, match="must hold text, numbers, booleans or dates"):
                counting.count(kinds, **asked)
    finally:
        kinds.execute("DROP SCHEMA called CASCADE")
