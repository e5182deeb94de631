"""Every reading of every engine: the same cells, read as the alphabet's own functions do."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import numpy as np
import psycopg
import pyarrow as pa
import pytest
from support.draws import DICE, SOAK, few, some
from support.sources import SOURCES

from dproo import Alphabet, counting
from dproo.schema.axis import Axis
from dproo.schema.reading import DAYS as WIDTHS
from dproo.schema.reading import FORMATS, Reading

pytestmark = pytest.mark.one_of(3)

CELLS = (
    *(
        "0",
        "00",
        "000.0",
        "0.",
        "-0",
        "-0.0",
        "-07",
        "+07.",
        "0-7",
        "00\n",
        "07\n",
        "0.5",
        "00x",
        "0x",
    ),
    *(
        "7",
        "007",
        " 7 ",
        "7.0",
        "7.00",
        "7.",
        "+7",
        "-7",
        "7,0",
        "1,234",
        "1.234",
        "1.234,0",
        "12,34",
    ),
    *("7.5", "7.0.0", ".0", "1e3", "7\n", "seven", "", " ", None, "x" * 300, " " * 200 + "7"),
    *("2024-03-01", "2024-03-01T10:00:00Z", " 2024-03-01 10:00", "2024-03-01x", "2024-03", "2024"),
    *("2024-02-99", "2024-13-01"),
    *("1.3.2024", "01.3.2024T10:00", "1.3.20245", "3/1/2024", "01/03/24", "1-Mar-29", "1-MAR-30"),
    *(
        "March 1, 2024",
        "MARCH 01, 2024 9:00",
        "Marc 1, 2024",
        "mar 1, 2024\n",
        "20240301T1",
        "3/2024",
    ),
    *("29 Feb 2024", "29 february 2024", "2024/3/1", "1.13.2024", "31.2.2024", "\u0661.3.2024"),
    *("01.03.2024", "01.03.2024 10:00", "2024-3-1", "20240301", "2024-03-01\n", "03/2024"),
    *("Yes", "YES ", "yes", "yEs\n", "\u212aoln", "K\u00d6LN", "k\u00f6ln", "STRASSE", "\u0130"),
    *(
        "17,5",
        "1 234,5",
        "1.234,5",
        "-0,5",
        "99",
        "99,0",
        "-99",
        "1'234",
        "0x7",
        "999999999999999999",
    ),
    *("7.0000000000000000000", "1_0", "\u0667", "a\tb", "true", "1.234.567,00"),
    *("\u00a07\u202f", "\u2007yes\u00a0", "\u00a02024-03-01", "7\u200b", "\u00c3\u00a0"),
)
NUMBERS = range(-1000, 10**7)
PERIODS = {
    "date": ["2024-03-01", "2024-02-29", "2029-03-01", "1930-03-01"],
    "month": ["2024-03", "2024-02", "2029-03", "1930-03"],
    "year": ["2024", "2023", "2029", "1930"],
}
AXES: dict[str, Axis] = {
    "integers": Alphabet.of([7, 1234, -7]).axes[0],
    "a range": Alphabet.of(NUMBERS).axes[0],
    **{
        f"integer {decimal}{thousands}": Alphabet.of(NUMBERS)
        .axes[0]
        .read_as(Reading(kind="integer", decimal=decimal, thousands=thousands))
        for decimal, thousands in [(".", ""), (",", "."), (".", ","), (",", " "), (".", "'")]
    },
    "integer letters": Alphabet.of(["7", "1234"]).axes[0].read_as(Reading(kind="integer")),
    **{
        f"number {decimal}{thousands}": Alphabet.bins([-1, 0, 7, 17.5, 18, 100, 10**6])
        .axes[0]
        .read_as(Reading(kind="number", decimal=decimal, thousands=thousands))
        for decimal, thousands in [(".", ""), (",", "."), (",", " ")]
    },
    "integer bins": Alphabet.bins([-8, 0, 7, 8]).axes[0].read_as(Reading(kind="integer")),
    "bins between integers": Alphabet.bins([-7.5, 0, 6.5, 99.5])
    .axes[0]
    .read_as(Reading(kind="integer")),
    "bins of years": Alphabet.bins([0, 2023.5, 2025]).axes[0].read_as(Reading(kind="year")),
    "missing numbers": replace(
        Alphabet.bins([-7, 0, 7, 18, 100]).axes[0], missing=(-7.0, 7.0, 17.5, 99.0)
    ),
    "text": Alphabet.of(["7", "Yes", "YES"]).axes[0].read_as(Reading(kind="text")),
    "shapes": Alphabet.of(["9", "-9", "9.9", "9,9"]).axes[0].read_as(Reading(kind="shape")),
    "lower": Alphabet.of(["yes", "k\u00f6ln", "koln", "7"]).axes[0].read_as(Reading(kind="lower")),
    **{
        f"{kind} {form}": Alphabet.of(letters).axes[0].read_as(Reading(kind=kind, format=form))
        for kind, letters in PERIODS.items()
        for form in ("YYYY-MM-DD", *FORMATS)
        if form.startswith(("Y", "D", "MM/D", "MMM D", "MM-")) or kind != "date"
    },
    "years": Alphabet.of(range(2000, 2030)).axes[0].read_as(Reading(kind="year")),
}


def expected(axis: Axis, cells: Any) -> dict[int | None, int]:
    found: dict[int | None, int] = {}
    for cell in cells:
        found[axis.index(cell)] = found.get(axis.index(cell), 0) + 1
    return found


def counted(axis: Axis, data: Any, **options: Any) -> dict[int | None, int]:
    alphabet = Alphabet(axes=(axis,), columns=("cell",))
    counts = list(_sparse(counting.count(data, alphabet=alphabet, **options)))
    return {None if place == axis.size else place: number for place, number in counts}


def _sparse(counts: Any) -> Any:
    place = 0
    for value, letters in counts.runs:
        if value:
            yield from ((place + i, value) for i in range(letters))
        place += letters


def some_axes(number):
    """Return a few, drawn anew: each takes a while where a query is slow to begin."""
    return list(AXES.items()) if SOAK else DICE.sample(list(AXES.items()), number)


@pytest.mark.parametrize("source", some(SOURCES, one_of=8))
def test_every_engine_reads_text_alike(source, tmp_path):
    # One record must have a cell, for JSON lines too, and one file one more column than a line.
    rows = pa.table({"table": list(range(len(CELLS))), "cell": pa.array(CELLS, pa.string())})
    for name, axis in some_axes(6):
        if source in {"cells", "numpy_objects"}:
            data, options = [{"cell": cell} for cell in CELLS], {}
        else:
            data, options = SOURCES[source](rows, tmp_path)
        assert counted(axis, data, **options) == expected(axis, CELLS), name


@pytest.mark.parametrize("source", some(SOURCES, one_of=8))
def test_the_records_of_people_are_read_alike(source, tmp_path):
    """Each record is a person's only one, so that all of them are kept."""
    records = [{"cell": cell, "table": i} for i, cell in enumerate(CELLS)]
    rows = pa.Table.from_pylist(records, pa.schema({"cell": pa.string(), "table": pa.int64()}))
    for name, axis in some_axes(3):
        data, options = records, {}
        if source not in {"cells", "numpy_objects"}:
            data, options = SOURCES[source](rows, tmp_path)
        found = counted(axis, data, person="table", **options)
        assert found == expected(axis, CELLS), name


@pytest.mark.parametrize("source", ["polars", "polars_lazy", "duckdb_relation", "csv_file"])
def test_several_alphabets_are_read_alike(source, tmp_path):
    rows = pa.table({"table": list(range(len(CELLS))), "cell": pa.array(CELLS, pa.string())})
    axes = [AXES["integer ."], AXES["lower"], AXES["number ,."]]
    for axis in axes:
        data, options = SOURCES[source](rows, tmp_path)
        alphabet = Alphabet(axes=(axis,), columns=("cell",))
        both = Alphabet(
            axes=(axis, Alphabet.of(range(len(CELLS))).axes[0]), columns=("cell", "table")
        )
        scan = counting.prepare(data, alphabets=[alphabet, both], **options)
        one, two = scan.count_several()
        assert dict(_sparse(one)) == {
            axis.size if place is None else place: number
            for place, number in expected(axis, CELLS).items()
        }
        assert two.n == len(CELLS)


def test_postgresql_reads_text_alike(postgresql):
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute(
            "DROP TABLE IF EXISTS readings; CREATE TABLE readings (who int, cell text)"
        )
        connection.cursor().executemany("INSERT INTO readings VALUES (%s, %s)", enumerate(CELLS))
        for name, axis in AXES.items():
            for person in (None, "who"):
                found = counted(axis, connection, table="readings", person=person)
                assert found == expected(axis, CELLS), name


def test_spark_reads_text_alike(spark):
    frame = spark.createDataFrame(list(enumerate(CELLS)), "who int, cell string").cache()
    for name, axis in some_axes(1):
        person = DICE.choice(["who", None])
        assert counted(axis, frame, person=person) == expected(axis, CELLS), (name, person)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # its own, of the engine below it
def test_ibis_reads_text_alike():
    ibis = pytest.importorskip("ibis")
    backend = ibis.duckdb.connect()
    backend.con.from_arrow(pa.table({"cell": pa.array(CELLS, pa.string())})).create("t")
    table = backend.table("t")
    for name, axis in some_axes(8):
        assert counted(axis, table) == expected(axis, CELLS), name


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # its own, of the engine below it
def test_ibis_reads_timestamps_alike():
    ibis = pytest.importorskip("ibis")
    backend = ibis.duckdb.connect()
    for held, moments, zone in (("t", MOMENTS, None), ("zoned", ZONED, "UTC")):
        cells = pa.array(moments, pa.timestamp("us", zone))
        backend.con.from_arrow(pa.table({"cell": cells})).create(held)
    table, zoned = backend.table("t"), backend.table("zoned")
    for name, width in WIDTHS.items():
        letters = dict.fromkeys(text[:width] for text in DAYS.places)
        axis = Alphabet.of(list(letters)).axes[0].read_as(Reading(kind=name))
        assert counted(axis, table) == expected(axis, MOMENTS), name
        assert counted(axis, zoned) == expected(axis, ZONED), name


def test_spark_reads_timestamps_alike(spark):
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        for kind, moments in (("timestamp_ntz", MOMENTS), ("timestamp", ZONED)):
            texts = [str(moment) for moment in moments if moment]
            cells = ", ".join(f"(CAST('{text}' AS {kind}))" for text in texts)
            frame = spark.sql(f"SELECT * FROM VALUES {cells}, (NULL) AS rows(cell)")
            for name, width in few(WIDTHS.items(), 1):
                letters = dict.fromkeys(text[:width] for text in DAYS.places)
                axis = Alphabet.of(list(letters)).axes[0].read_as(Reading(kind=name))
                assert counted(axis, frame) == expected(axis, moments), (kind, name)
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


MOMENTS = (
    dt.datetime(2024, 3, 1, 23, 59, 59),  # noqa: DTZ001 - a timestamp without a zone
    dt.datetime(2024, 2, 29),  # noqa: DTZ001
    dt.datetime(1969, 12, 31, 23, 59, 59),  # noqa: DTZ001
    None,
)
EAST = dt.timezone(dt.timedelta(hours=5))
ZONED = [
    moment and moment.replace(tzinfo=EAST) for moment in MOMENTS
]  # 2024-02-29 00:00 there is the day before in UTC
DAYS = Alphabet.of(["2024-03-01", "2024-02-29", "2024-02-28", "1969-12-31"]).axes[0]


UNITS = ["s", "ms", "us", "ns"]


@pytest.mark.parametrize("zone", [None, "Asia/Karachi"])
@pytest.mark.parametrize(
    "source",
    some(sorted(set(SOURCES) - {"csv_file_all_quoted", "parquet_glob", "tsv_file"}), one_of=8),
)
def test_every_engine_reads_timestamps_alike(source, zone, tmp_path):
    for unit in UNITS if SOAK else [DICE.choice(UNITS)]:
        check_timestamps(source, zone, unit, tmp_path)


def check_timestamps(source, zone, unit, tmp_path):
    moments = ZONED if zone else MOMENTS
    kind = pa.timestamp(unit, zone)
    cells = pa.array(moments, pa.timestamp("us", zone)).cast(kind, safe=False)
    rows = pa.table({"table": list(range(len(moments))), "cell": cells})
    for name in WIDTHS:
        letters = dict.fromkeys(text[: WIDTHS[name]] for text in DAYS.places)
        axis = Alphabet.of(list(letters)).axes[0].read_as(Reading(kind=name))
        data, options = SOURCES[source](rows, tmp_path)
        if source == "cells":
            data = [{"cell": cell} for cell in moments]
        found = counted_cell(axis, data, source, **options)
        # Text of a moment with a zone is taken by its day as written.
        is_text = source in {"csv_file", "json_lines", "sqlite_file"}
        written = [moment and str(moment) for moment in moments] if is_text else moments
        assert found == expected(axis, written), name
        if unit == "us" and source not in {"cells", "numpy_objects"}:
            data, options = SOURCES[source](rows, tmp_path)
            assert counted(axis, data, person="table", **options) == found


def counted_cell(axis, data, source, **options):
    if source == "numpy_objects":
        alphabet = Alphabet(axes=(axis,))
        data = data[:, 1]
        counts = dict(_sparse(counting.count(data, alphabet=alphabet)))
        return {None if place == axis.size else place: number for place, number in counts.items()}
    return counted(axis, data, **options)


def test_postgresql_reads_timestamps_alike(postgresql):
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute("SET TimeZone = 'Asia/Karachi'")
        for kind, moments in (("timestamp", MOMENTS), ("timestamptz", ZONED)):
            connection.execute(f"DROP TABLE IF EXISTS moments; CREATE TABLE moments (cell {kind})")
            connection.cursor().executemany(
                "INSERT INTO moments VALUES (%s)", [(moment,) for moment in moments]
            )
            connection.execute(
                "INSERT INTO moments VALUES ('infinity'), ('-infinity'), ('0044-03-15 BC')"
            )
            axis = DAYS.read_as(Reading(kind="date"))
            found = counted(axis, connection, table="moments")
            assert found == expected(axis, [*moments, None, None, None])


@pytest.mark.parametrize("unit", ["D", "s", "ns"])
def test_arrays_of_moments_are_read_by_their_days(unit):
    array = np.array(["2024-03-01T10:00", "2024-02-29", "NaT"], dtype=f"M8[{unit}]")
    axis = DAYS.read_as(Reading(kind="date"))
    assert list(counting.count(array, alphabet=Alphabet(axes=(axis,)))) == [1, 1, 0, 0, 1]
