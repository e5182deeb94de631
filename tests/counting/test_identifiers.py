"""Whose record it is: one person more or less is that person's kept record more or less.

For random small tables of hostile identifiers and lines, every engine counts a table, and the
same table without one person, under one salt. The difference must be exactly one record, a
letter that this person has; for those who name nobody it is one record outside.
"""

from __future__ import annotations

import csv
import io
import json
import math
import random
import secrets
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, date, datetime
from decimal import Decimal, localcontext
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest
import sqlalchemy
from pyspark.sql import Row as SparkRow
from support.draws import DICE, SOAK, few, some

from dproo import Alphabet, counting
from dproo.counting.prepare import open_scan
from dproo.counting.query import CountQuery

pytestmark = pytest.mark.one_of(4)

MIB = 1 << 20
CODES = ["a", "bb", "ccc", "dddd"]
LONG = "é" * 20_000  # more than what is kept of a cell of CSV
NOBODY = "nobody"
_LABELS = count()

Record = tuple[Any, str, str]  # an identifier, whom it names, and a letter


def counts_of(data: Any, salt: str, kept: int, **options: Any) -> Counter[str]:
    query = CountQuery(
        alphabets=(Alphabet.of(CODES),),
        columns=("cell",),
        person="who",
        records_per_person=kept,
        salt=salt,
        **options,
    )
    scan = open_scan(data, query)
    return +Counter(dict(zip([*CODES, "other"], scan.count(), strict=True)))


def assert_a_person_is_one_record(
    records: list[Record],
    hold: Callable[[list[Record]], tuple[Any, dict[str, Any]]],
    times: Sequence[int] = (1, 2),
) -> None:
    """Expect that each person in turn is one kept record, or up to two where two are kept."""
    salt = secrets.token_hex(4)
    people = dict.fromkeys(label for _, label, _ in records)
    for kept in times:
        data, options = hold(records)
        whole = counts_of(data, salt, kept, **options)
        assert kept > 1 or whole.total() == len(people), (whole, people)
        for person in {
            *DICE.sample(list(people), min(len(people), 5 if SOAK else 2)),
            NOBODY,
        } & people.keys():
            rest = [record for record in records if record[1] != person]
            theirs = [letter for _, label, letter in records if label == person]
            data, options = hold(rest)
            without = counts_of(data, salt, kept, **options)
            assert not without - whole, person
            gone = whole - without
            assert gone.total() == min(kept, len(theirs)), (person, gone)
            own = {"other"} if person == NOBODY else {*theirs}
            assert gone.keys() <= own, (person, gone, own)


def table_of(who: list[tuple[Any, str]], *, size: int = 24) -> list[Record]:
    """Return records of all of these identifiers, most of them with several."""
    chosen = [*who, *DICE.choices(who, k=size)]
    records = [(cell, label, DICE.choice(CODES)) for cell, label in chosen]
    DICE.shuffle(records)
    return records


def apart(*cells: Any) -> list[tuple[Any, str]]:
    """Return identifiers that are all of different people."""
    return [(cell, f"{next(_LABELS)} {type(cell).__name__}") for cell in cells]


def together(*cells: Any) -> list[tuple[Any, str]]:
    """Return identifiers that are all of one person."""
    label = f"{next(_LABELS)} {type(cells[0]).__name__}"
    return [(cell, label) for cell in cells]


def nobody(*cells: Any) -> list[tuple[Any, str]]:
    """Return identifiers that name nobody."""
    return [(cell, NOBODY) for cell in cells]


TEXTS = [
    *apart("7", "007", "7.0", "A", "a", "a ", " a", "é", "e\u0301", "\u00ad", "\u200b", "\u200d"),
    *apart("#", "##", "#" * 65, "x" * 64, "x" * 65, "x" * 66, "y" * 1000, "y" * 1001, "y" * 1002),
    *apart(LONG, LONG + "x", LONG + "y", "null", "None", "nan", "é" * 32, "é" * 33, "'", '"', "\\"),
    *apart("a,b", "a;b", "a\nb", "a\tb", "\n", " ", "true", "2020-01-01", "1e5", "-0", "0"),
    *nobody(None, "", "\ufffd", "x\ufffd", "y\ufffd"),
]
OBJECTS = [
    *together(7, 7.0, "7", Decimal("7.00"), np.int8(7), np.float32(7)),
    *together(2**60, float(2**60), Decimal(2**60), np.uint64(2**60), str(2**60)),
    *together(10**300, Decimal(10**300), str(10**300)),
    *together(1e300, int(1e300)),
    *together(7.5, Decimal("7.50"), np.float64(7.5), "7.5"),
    *together(0, -0.0, "0", Decimal("0E-5")),
    *together((1, "x"), [1, "x"], [1.0, "x"], (Decimal(1), "x")),
    *together({"a": 1, "b": [2]}, {"b": [2.0], "a": 1.0}),
    *together(frozenset({1, 2}), {2, 1}),
    *together(b"x", bytearray(b"x"), memoryview(b"x"), np.bytes_(b"x")),
    *together(date(2020, 1, 1), "2020-01-01", datetime(2020, 1, 1), pd.Timestamp(2020, 1, 1)),  # noqa: DTZ001
    *together(True, "true", np.True_),  # noqa: FBT003
    *together(UUID(int=7), str(UUID(int=7))),
    *together(10**5000, 10**5000),
    *together(datetime(2020, 1, 1, 5, tzinfo=UTC), pd.Timestamp("2020-01-01 06:00+01:00")),
    *together(math.inf, np.inf, Decimal("Infinity")),
    *apart(8.5, -7.5, 1, False, (1,), (1, 2), ((1,), 2), (1, (2,)), [], [None], {}, "[]", "(1,)"),  # noqa: FBT003
    *together((7, None), (7, pd.NA), (7, math.nan), (7, pd.NaT)),
    *apart([""], b"", b"y", datetime(2020, 1, 1, 5), 10**5000 + 1, Decimal("1e5001"), -(10**5000)),  # noqa: DTZ001
    *apart(Decimal("7.51"), 2**60 + 1, 1e301, 5e-324, "2", "x", b"1", (b"1",), ("2",)),
    *apart(pd.Timestamp(1), pd.Timestamp(2), np.datetime64(3, "ns"), "##", "t1:x", "\ud800"),
    *nobody(None, "", math.nan, pd.NA, pd.NaT, np.nan, Decimal("NaN"), Decimal("sNaN")),
    *nobody(np.datetime64("NaT"), object(), object(), type, Ellipsis, 1j, "\ufffd", lambda: 1),
]
NUMBERS = [
    *together(0.0, -0.0),
    *apart(7.0, 7.5, 8.5, -7.5, 1e300, 1e301, 5e-324, 2.0**60, 2.0**53 + 2, 0.1, 0.1 + 1e-17 * 2),
    *apart(math.inf, -math.inf, 1e38, 0.30000000000000004, 0.3),
    *nobody(None, math.nan),
]
INTEGERS = [*apart(0, 7, -7, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)), *nobody(None)]
DECIMALS = [*apart(*map(Decimal, ("7.00", "7.50", "7.51", "-7.5", "0", "70"))), *nobody(None)]
DATES = [*apart(date(2020, 1, 1), date(2020, 1, 2), date(1, 1, 1)), *nobody(None)]
BOOLEANS = [*apart(True, False), *nobody(None)]  # noqa: FBT003
TYPED = {
    "text": (TEXTS, pa.string(), "text"),
    "floats": (NUMBERS, pa.float64(), "double precision"),
    "integers": (INTEGERS, pa.int64(), "bigint"),
    "decimals": (DECIMALS, pa.decimal128(20, 2), "numeric"),
    "dates": (DATES, pa.date32(), "date"),
    "booleans": (BOOLEANS, pa.bool_(), "boolean"),
}


def arrow_of(records: list[Record], kind: str) -> pa.Table:
    return pa.table(
        {
            "cell": pa.array([letter for *_, letter in records], pa.string()),
            "who": pa.array([cell for cell, *_ in records], TYPED[kind][1]),
        }
    )


def test_python_tells_all_objects_apart_and_no_equals() -> None:
    records = table_of(OBJECTS, size=100)
    assert_a_person_is_one_record(
        records, lambda rows: ([{"who": who, "cell": cell} for who, _, cell in rows], {})
    )


def test_a_record_that_cannot_be_read_names_nobody_in_python() -> None:
    class Closed(dict):  # type: ignore[type-arg]
        def get(self, *_: Any) -> Any:
            raise OSError

    odd: list[Any] = [Closed(), 7, ("a",), ("a", "b"), ("a", "b", "c"), None]
    rows: list[Any] = [{"cell": "a", "who": "ann"}, *odd]
    for is_each in (False, True):
        counts = counts_of(rows, "salt", 1, is_each_missing=is_each)
        assert counts == {"a": 1, "other": 1}


HOLDERS: dict[str, Callable[[pa.Table, Path], tuple[Any, dict[str, Any]]]] = {
    "pandas": lambda rows, _: (rows.to_pandas(types_mapper=pd.ArrowDtype), {}),
    "polars": lambda rows, _: (pl.from_arrow(rows), {}),
    "arrow": lambda rows, _: (rows, {}),
    "duckdb": lambda rows, _: (duckdb.connect().from_arrow(rows), {}),
    "parquet": lambda rows, folder: (
        (pq.write_table(rows, folder / "x.parquet"), {})
        and (
            folder / "x.parquet",
            {},
        )
    ),
}


@pytest.mark.parametrize("kind", some(TYPED, one_of=4))
@pytest.mark.parametrize("name", some(HOLDERS, one_of=4))
def test_a_person_of_a_typed_column_is_one_record(name: str, kind: str, tmp_path: Path) -> None:
    records = table_of(TYPED[kind][0])
    assert_a_person_is_one_record(
        records, lambda rows: HOLDERS[name](arrow_of(rows, kind), tmp_path)
    )


def test_pandas_tells_objects_apart() -> None:
    records = table_of(OBJECTS)

    def hold(rows: list[Record]) -> tuple[Any, dict[str, Any]]:
        who = pd.Series([None] * len(rows), dtype=object)
        for place, (cell, *_) in enumerate(rows):
            who.iat[place] = cell  # noqa: PD009 - a list is one cell
        return pd.DataFrame({"who": who, "cell": [cell for *_, cell in rows]}), {}

    assert_a_person_is_one_record(records, hold)


# Lines of CSV that the reader rejects, or that have no identifier that is text.
HOSTILE_CSV = [
    *nobody(b"x," * (9 * MIB), b"\xff", b"\xfe", b'"' + b"y\n" * (9 * MIB) + b'"', b"", b'""'),
    *apart(b"x" * (3 * MIB), b"x" * (3 * MIB) + b"1", b"x" * (3 * MIB) + b"2", b"\xc3\xa9"),
]


def test_a_person_of_a_csv_file_is_one_record_whatever_the_lines_are(tmp_path: Path) -> None:
    def written(rows: list[Record]) -> tuple[Any, dict[str, Any]]:
        with (tmp_path / "x.csv").open("wb") as file:
            file.write(b"who,cell\n")
            for cell, _, letter in rows:
                shown = cell
                if not isinstance(cell, bytes):
                    held = io.StringIO()
                    csv.writer(held, lineterminator="\n").writerow([cell])
                    shown = held.getvalue().removesuffix("\n").encode()
                file.write(shown + b"," + letter.encode() + b"\n")
        return tmp_path / "x.csv", {}

    hostile = table_of(few(HOSTILE_CSV, 5), size=3)
    assert_a_person_is_one_record([*hostile, *table_of(TEXTS[:3], size=3)], written)
    assert_a_person_is_one_record(table_of(TEXTS), written)


HOSTILE_JSON = [
    *nobody(b"{", b"[1]", b"7", b"", b'{"who": "ann", "cell": "a"} {}', b"\xff"),
    *nobody(b'{"who": "ann", "cell": "' + b"y" * (33 * MIB) + b'"}', b'{"cell": "a"}'),
    *nobody(b'{"who": null, "cell": "a"}', b'{"who": "", "cell": "a"}'),
    *nobody(b'{"who": [1], "cell": "a"}', b'{"who": {}, "cell": "a"}', b'{"who": "\xff"}'),
    *nobody(b'{"who": 1e400, "cell": "a"}', b'{"who": "\\ufffd", "cell": "a"}'),
]


def json_line(who: str) -> bytes:
    return f'{{"who": {who}, "cell": "<letter>"}}'.encode()


PEOPLE_OF_JSON = [
    *together(*map(json_line, ("7", "7.0", "7.00", '"7"', "70e-1", '"\\u0037"'))),
    *together(*map(json_line, ("7.5", "7.50", "75e-1", '"7.5"'))),
    *together(*map(json_line, ("1152921504606846976", "1152921504606846976.0"))),
    *together(*map(json_line, ("0", "-0", "-0.0", "0e5"))),
    *apart(*map(json_line, ("1", "8.5", "12345678901234567890123", "12345678901234567890124"))),
    *apart(*map(json_line, ('"ann"', '"Ann"', "true", '"[1]"', '"{}"', '"null"', "1e300"))),
    *apart(*map(json_line, (f'"{"y" * 2000}"', f'"{"y" * 2001}"', '"#"', '" "', '"\\u0000"'))),
]


@pytest.mark.parametrize("is_array", some([False, True], one_of=2))
def test_a_person_of_json_is_one_record_whatever_the_lines_are(
    is_array: bool,  # noqa: FBT001
    tmp_path: Path,
) -> None:
    def written(rows: list[Record]) -> tuple[Any, dict[str, Any]]:
        lines = [line.replace(b"<letter>", letter.encode()) for line, _, letter in rows]
        text = b"[" + b",\n".join(lines) + b"]" if is_array else b"\n".join(lines)
        path = tmp_path / ("x.json" if is_array else "x.jsonl")
        path.write_bytes(text)
        return path, {}

    hostile = HOSTILE_JSON
    if is_array:  # brackets and commas decide where an item ends
        hostile = [found for found in hostile if found[0][:1] == b"{" and len(found[0]) > 9]
        hostile = [found for found in hostile if b"} {" not in found[0]]
    short = [found for found in hostile if len(found[0]) < MIB]
    assert_a_person_is_one_record([*table_of(short), *table_of(PEOPLE_OF_JSON)], written)
    assert_a_person_is_one_record(table_of([*hostile, *PEOPLE_OF_JSON[:1]], size=2), written)


def test_a_person_of_a_postgresql_table_is_one_record(server: Any, postgresql: str) -> None:
    for kind, (who, _, sql_type) in TYPED.items():
        server.execute(f'CREATE TABLE "{kind}" (cell text, who {sql_type})')

        def hold(rows: list[Record], name: str = kind) -> tuple[Any, dict[str, Any]]:
            server.execute(f'TRUNCATE "{name}"')
            with server.cursor() as cursor, cursor.copy(f'COPY "{name}" FROM STDIN') as copy:
                for cell, _, letter in rows:
                    copy.write_row((letter, cell))
            return postgresql, {"table": ("ward", name)}

        assert_a_person_is_one_record(table_of(who), hold)


NONDETERMINISTIC = [*apart("\u00ad", "\u200b", "\u0000"[:0] + "\u2060", "A", "a", "é", "e\u0301")]


def test_no_collation_of_postgresql_makes_two_people_one_or_one_person_two(
    server: Any, postgresql: str
) -> None:
    server.execute(
        "CREATE COLLATION folding (provider = icu, locale = 'und-u-ks-level1',"
        " deterministic = false)"
    )
    server.execute("CREATE TABLE folded (cell text COLLATE folding, who text COLLATE folding)")

    def hold(rows: list[Record]) -> tuple[Any, dict[str, Any]]:
        server.execute("TRUNCATE folded")
        with server.cursor() as cursor, cursor.copy("COPY folded FROM STDIN") as copy:
            for cell, _, letter in rows:
                copy.write_row((letter, cell))
        return postgresql, {"table": "ward.folded"}

    assert_a_person_is_one_record(table_of([*NONDETERMINISTIC, *nobody(None, "")]), hold)
    hold([("x", "x", letter) for letter in ("a", "A", "\u00ada", "Bb")])
    where = {"column": "cell", "table": "ward.folded"}
    assert list(counting.count(postgresql, alphabet=["a", "bb"], **where)) == [1, 0, 3]


def test_a_person_of_a_spark_frame_is_one_record(spark: Any) -> None:
    kind = DICE.choice(["text", "floats", "decimals", "integers"])
    who = TYPED[kind][0]
    if len(who) > 20:
        who = [*DICE.sample(who, 12), *nobody(None)]
    records = table_of(who, size=6)
    assert_a_person_is_one_record(
        records, lambda rows: (spark.createDataFrame(arrow_of(rows, kind)), {}), few((1, 2), 1)
    )


EACH = [("ann", "a"), ("ann", "a"), (None, "a"), ("", "bb"), (None, "a")]


def test_each_missing_identifier_may_be_declared_to_be_somebody_else(
    tmp_path: Path, server: Any, postgresql: str
) -> None:
    rows = pa.table({"who": [who for who, _ in EACH], "cell": [cell for _, cell in EACH]})
    pq.write_table(rows, tmp_path / "x.parquet")
    (tmp_path / "x.csv").write_text("who,cell\n" + "".join(f"{w or ''},{c}\n" for w, c in EACH))
    lines = [json.dumps({"who": who, "cell": cell}) for who, cell in EACH]
    (tmp_path / "x.jsonl").write_text("\n".join(lines))
    (tmp_path / "y.jsonl").write_text("\n".join([*lines, "{", "[1]", "x", '{"who": [7]}']))
    server.execute("CREATE TABLE five (who text, cell text)")
    for row in EACH:
        server.execute("INSERT INTO five VALUES (%s, %s)", row)
    for data, options in (
        (rows, {}),
        (rows.to_pylist(), {}),
        (rows.to_pandas(), {}),
        (duckdb.connect().from_arrow(rows), {}),
        *((tmp_path / f"x.{kind}", {}) for kind in ("parquet", "csv", "jsonl")),
        (postgresql, {"table": "ward.five"}),
    ):
        each = counts_of(data, "salt", 1, is_each_missing=True, **options)
        assert each == {"a": 3, "bb": 1}, data
        assert counts_of(data, "salt", 1, **options) == {"a": 1, "other": 1}, data
    unread = counts_of(tmp_path / "y.jsonl", "salt", 1, is_each_missing=True)
    assert unread == {"a": 3, "bb": 1, "other": 1}


ODD = ("NA", "-99", "50%", "it's", "\\N", "{}", "é\u2013", "x" * 100, "#" + "0" * 64)


def test_declared_texts_are_missing_identifiers_in_every_engine(
    tmp_path: Path, server: Any, postgresql: str, spark: Any
) -> None:
    who = [*ODD, *ODD, "ann", "na", None, ""]
    rows = pa.table({"who": who, "cell": ["a"] * len(who)})
    pq.write_table(rows, tmp_path / "x.parquet")
    rows.to_pandas().to_csv(tmp_path / "x.csv", index=False)
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, rows.to_pylist())))
    server.execute("CREATE TABLE declared (who text, cell text)")
    for name in who:
        server.execute("INSERT INTO declared VALUES (%s, 'a')", [name])
    lite = sqlalchemy.create_engine(f"sqlite:///{tmp_path / 'x.db'}")
    rows.to_pandas().to_sql("declared", lite, index=False)
    for data, options in (
        (rows, {}),
        (rows.to_pylist(), {}),
        (rows.to_pandas(), {}),
        (pl.from_arrow(rows), {}),
        (duckdb.connect().from_arrow(rows), {}),
        *((tmp_path / f"x.{kind}", {}) for kind in ("parquet", "csv", "jsonl")),
        (postgresql, {"table": "ward.declared"}),
        (lite, {"table": "declared"}),
        (tmp_path / "x.db", {"table": "declared"}),
        (spark.createDataFrame(arrow_of([(name, str(name), "a") for name in who], "text")), {}),
    ):
        for kept in (1, 2):
            options |= {"missing_texts": ODD}
            each = counts_of(data, "salt", kept, is_each_missing=True, **options)
            assert each == {"a": len(who)}, data
            assert counts_of(data, "salt", kept, **options) == {"a": 2, "other": kept}, data


@pytest.mark.parametrize("kind", ["integers", "floats", "decimals"])
def test_numbers_are_declared_missing_by_their_text(kind: str, tmp_path: Path) -> None:
    typed = {"integers": pa.int64(), "floats": pa.float64(), "decimals": pa.decimal128(22, 2)}
    who = pa.array([-99, -99, 7, None], pa.int64()).cast(typed[kind])
    rows = pa.table({"who": who, "cell": ["a"] * 4})
    pq.write_table(rows, tmp_path / "x.parquet")
    for data in (rows, tmp_path / "x.parquet", rows.to_pylist()):
        asked: dict[str, Any] = {"is_each_missing": True, "missing_texts": ("-99",)}
        assert counts_of(data, "salt", 1, **asked) == {"a": 4}


def twins(chance: random.Random) -> list[Decimal]:
    """Return a decimal that is a double, and the one that Python prints that double as."""
    parts = 2 ** chance.randrange(1, 12)
    number = Decimal(chance.randrange(10 ** chance.randrange(1, 20))) + Decimal(
        chance.randrange(parts)
    ) / Decimal(parts)
    return [number, Decimal(repr(float(number))), Decimal(float(number))]


@pytest.mark.parametrize("dtype", [None, pa.decimal128(38, 15), pa.decimal256(70, 30)])
def test_different_decimals_are_different_people(dtype: pa.DataType | None) -> None:
    scale = Decimal(1).scaleb(-15 if dtype is None else -dtype.scale)
    with localcontext(prec=76):
        numbers = [each.quantize(scale) for _ in range(200) for each in twins(DICE)]
    who = numbers if dtype is None else pa.array(numbers, dtype)
    data = (
        [{"who": number, "cell": "a"} for number in numbers]
        if dtype is None
        else pa.table({"who": who, "cell": ["a"] * len(numbers)})
    )
    found = counting.count(data, column="cell", alphabet=["a"], person="who")
    assert list(found) == [len(set(numbers)), 0]


Named = NamedTuple("Named", [("who", str), ("letter", str)])  # noqa: UP014 - as a library makes it


SPSS_DAY = (date(2024, 1, 1) - date(1582, 10, 14)).days
STATA_DAY = (date(2024, 1, 1) - date(1960, 1, 1)).days
TIMES = [0, 1 / 86400, 0.25, 1 - 2**-30, 1]  # in days


@pytest.mark.parametrize(
    ("ending", "form"),
    [
        *(("sav", form) for form in ("DATE11", "ADATE10", "EDATE10", "SDATE10", "JDATE7")),
        *(("dta", form) for form in ("%td", "%tdCCYY-NN-DD")),
    ],
)
def test_a_time_that_a_format_does_not_show_names_another_person(
    ending: str, form: str, tmp_path: Path
) -> None:
    stored = [(SPSS_DAY + time) * 86400 if ending == "sav" else STATA_DAY + time for time in TIMES]
    cells = pd.DataFrame({"who": stored * 3, "cell": CODES[:3] * 5})
    path = tmp_path / f"a.{ending}"
    write = {"sav": pyreadstat.write_sav, "dta": pyreadstat.write_dta}[ending]
    write(cells, path, variable_format={"who": form})
    assert counts_of(str(path), "salt", 1).total() == len(TIMES)
    found = counting.count(str(path), alphabet={"who": ["2024-01-01", "2024-01-02"]})
    assert list(found) == [3 * (len(TIMES) - 1), 3, 0]  # each is a letter by its day


@pytest.mark.parametrize("is_pandas", [True, False])
def test_a_number_within_a_day_is_no_date_of_arrow(*, is_pandas: bool) -> None:
    day = 86_400_000
    stored = [0, day, day, 1, day - 1, -1, None, 1 - 2**63, -day]
    who = pa.array(stored, pa.int64()).view(pa.date64())
    table = pa.table({"who": who, "cell": ["a"] * len(stored)})
    data = table.to_pandas(types_mapper=pd.ArrowDtype) if is_pandas else table
    # Three days, and nobody, whose record is outside.
    assert counts_of(data, "salt", 1) == Counter({"a": 3, "other": 1})
    days = ["1969-12-31", "1970-01-01", "1970-01-02"]
    assert list(counting.count(data, alphabet={"who": days})) == [1, 1, 2, 5]


def rows_of_sqlite(
    records: list[tuple[str, str]], *, factory: Any = None, columns: str = "who, letter"
) -> list[Any]:
    """Return the records as rows of a query."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE t (who, letter)")
        database.executemany("INSERT INTO t VALUES (?, ?)", records)
        database.row_factory = factory
        return database.execute(f"SELECT {columns} FROM t").fetchall()


def rows_of_sqlalchemy(
    records: list[tuple[str, str]], *, is_mapped: bool = False, columns: str = "who, letter"
) -> list[Any]:
    """Return the records as rows of a query."""
    with sqlalchemy.create_engine("sqlite://").connect() as connection:
        connection.exec_driver_sql("CREATE TABLE t (who, letter)")
        connection.exec_driver_sql("INSERT INTO t VALUES (?, ?)", records)
        found = connection.exec_driver_sql(f"SELECT {columns} FROM t")
        return list(found.mappings() if is_mapped else found)


RECORDS_OF: dict[str, Callable[[list[tuple[str, str]]], Any]] = {
    "dict": lambda records: [{"who": who, "letter": letter} for who, letter in records],
    "namedtuple": lambda records: [Named(*record) for record in records],
    "row of pandas": lambda records: list(
        pd.DataFrame(records, columns=["who", "letter"]).itertuples()
    ),
    "row of Polars": lambda records: pl.DataFrame(
        records, schema=["who", "letter"], orient="row"
    ).rows(named=True),
    "row of Spark": lambda records: [SparkRow(who=who, letter=letter) for who, letter in records],
    "row of SQLite": lambda records: rows_of_sqlite(records, factory=sqlite3.Row),
    "row of SQLAlchemy": rows_of_sqlalchemy,
    "mapping of SQLAlchemy": lambda records: rows_of_sqlalchemy(records, is_mapped=True),
    "tuple": list,
    "list": lambda records: [[*record] for record in records],
    "tuple of SQLite": rows_of_sqlite,
    "array of one record": lambda records: [np.array(record) for record in records],
    "text": lambda records: ["".join(record) for record in records],
}
NAMELESS = {"tuple", "list", "tuple of SQLite", "array of one record", "text"}


@pytest.mark.parametrize("kind", RECORDS_OF)
@pytest.mark.parametrize("alphabet", [["a", "b"], {"letter": ["a", "b"]}])
def test_a_person_is_told_by_a_name_never_by_a_place(kind: str, alphabet: Any) -> None:
    """What one person's records hold changes no number of people, whatever a record is."""
    column = "letter" if isinstance(alphabet, list) else None
    for theirs in ("aaa", "bcd", "abz", "vwx"):
        records = [*(("u", letter) for letter in theirs), *((who, "a") for who in "vwxyz")]
        DICE.shuffle(records)
        data = RECORDS_OF[kind](records)
        if kind in NAMELESS:
            for rows in (data, [record[::-1] for record in data]):
                counts = counting.count(rows, alphabet=alphabet, column=column, person="who")
                assert list(counts) == [0, 0, 1]
        else:
            counts = counting.count(data, alphabet=alphabet, column=column, person="who")
            assert counts.n == 6
            assert next(iter(counts)) >= 5


TWICE = "who, letter, rowid AS who, 1 AS one, 2 AS one"
JOINED: dict[str, Callable[[list[tuple[str, str]]], Any]] = {
    "row of Spark": lambda records: [
        SparkRow("who", "letter", "who", "one", "one")(*record, place, 1, 2)
        for place, record in enumerate(records)
    ],
    "row of SQLite": lambda records: rows_of_sqlite(records, factory=sqlite3.Row, columns=TWICE),
    "row of SQLAlchemy": lambda records: rows_of_sqlalchemy(records, columns=TWICE),
    "mapping of SQLAlchemy": lambda records: rows_of_sqlalchemy(
        records, is_mapped=True, columns=TWICE
    ),
}


@pytest.mark.parametrize("kind", JOINED)
@pytest.mark.parametrize("alphabet", [["a", "b"], {"letter": ["a", "b"]}])
def test_a_name_that_a_record_has_twice_names_nobody(kind: str, alphabet: Any) -> None:
    """After a join, the keys of people and of their visits may have one name."""
    column = "letter" if isinstance(alphabet, list) else None
    data = JOINED[kind]([("u", "a"), ("u", "b"), ("v", "a")])
    assert list(counting.count(data, alphabet=alphabet, column=column)) == [2, 1, 0]
    assert list(counting.count(data, alphabet=alphabet, column=column, person="who")) == [0, 0, 1]
    assert list(counting.count(data, alphabet=["u", "v"], column="who")) == [0, 0, 3]


def test_an_array_has_no_column_that_names_a_person() -> None:
    with pytest.raises(ValueError, match="columns of an array have no names"):
        counting.count(np.array([["u", "a"]]), alphabet={"letter": ["a"]}, person="who")
