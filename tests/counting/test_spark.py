from __future__ import annotations

import re
import sys
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from math import inf, nan
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.draws import few
from support.releasing import sample
from test_engines_faults import CANARY, assert_silent
from test_engines_names import NAMES, rows_of
from test_parity import assert_parity, batches, plain

import dproo
from dproo import Alphabet, ReleaseError, counting
from dproo.core.counts import NamedCounts
from dproo.schema.axis import Axis, Bins, OpenText
from dproo.schema.reading import Reading

pytestmark = pytest.mark.one_of(4)


@pytest.mark.one_of(4)
def test_spark_counts_the_same_under_any_name_and_fails_without_data(
    spark: Any,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    tmp_path: Path,
) -> None:
    """One test, so that one worker alone starts a session."""
    for nasty in batches():
        assert_parity(nasty, counting.count, spark.createDataFrame(plain(nasty.rows)))
    for part in few([NAMES[:10], NAMES[10:20]], 1):
        frame = spark.createDataFrame(rows_of(part))
        counts = counting.count(frame, alphabet={column: ["x"] for column in part})
        assert list(counts) == [2, 1], part
    faulty = spark.createDataFrame([(CANARY,)], "b string").selectExpr("CAST(b AS INT) AS a")
    assert_silent(counting.prepare(faulty, alphabets=[[1]], columns=["a"]), capfd, caplog)
    lower = spark.createDataFrame([("x",), ("X",), ("X",)], "a string")
    lower = lower.selectExpr("a COLLATE UTF8_LCASE AS a")
    assert list(counting.count(lower, alphabet=["x"], column="a")) == [1, 2]
    spark.sql("CREATE TABLE padded (a CHAR(4)) USING parquet")
    spark.sql("INSERT INTO padded VALUES ('x')")
    assert list(counting.count(spark.table("padded"), alphabet=["x"], column="a")) == [1, 0]
    years = spark.sql("SELECT DATE '0000-01-01' AS a UNION ALL SELECT DATE '0001-01-01'")
    assert list(counting.count(years, alphabet=["0000-01-01", "0001-01-01"])) == [0, 1, 1]
    maps = spark.sql("SELECT map('x', 1) AS a")
    with pytest.raises(ValueError, match=r"column 'a' must hold text.*got type map"):
        counting.prepare(maps, alphabets=[["x"]])
    many = counting.count(spark.range(50_000), alphabet=[str(i) for i in range(40_000)])
    assert many.runs == ((1, 40_000), (10_000, 1))
    assert_tables_are_counted_by_name(spark, tmp_path)


def assert_tables_are_counted_by_name(spark: Any, folder: Path) -> None:
    """Tables of the catalogue and folders of Parquet, by the session that is open."""
    frame = spark.createDataFrame([("x",), ("y",), (None,), ("x",)], "a string")
    frame.createOrReplaceTempView("visits")
    frame.repartition(3).write.parquet(str(folder / "visits.parquet"))
    for data in ("visits", folder / "visits.parquet", f"{folder}/visits.parquet/*.parquet"):
        for engine in ("spark", "spark:local[1]") if data == "visits" else ("spark",):
            scan = counting.prepare(data, alphabets=[["x"]], columns=["a"], engine=engine)
            assert list(scan.count()) == [2, 2]
    drawn = sample("visits", alphabet=["x"], column="a", epsilon=1, engine="spark")
    assert drawn.receipt.n == 4
    for data, options, message in (
        ("nobody", {}, "data must be a table of Spark, got 'nobody'."),
        ("a b; DROP TABLE visits", {}, "data must be a table of Spark, got"),
        (folder / "none.parquet", {}, "data must be a file that exists, got"),
        ("hdfs:///none.parquet", {}, "data must be a Parquet folder that Spark can read"),
        ("visits", {"column": "b"}, "column must be a column of the data, got 'b'."),
        ("visits", {"engine": "spark:local[2]"}, "engine must be the cluster of the open session"),
    ):
        known: dict[str, Any] = {"alphabet": ["x"], "column": "a", "engine": "spark"} | options
        with pytest.raises(ValueError, match=re.escape(message)):
            counting.count(data, **known)
    frame.write.parquet(str(folder / "a lake" / "y=1"))
    (folder / "a lake" / "_delta_log").mkdir()
    for data in (f"{folder}/a lake", f"file://{folder}/a lake/y=1", f"{folder}/*lake/*/*.parquet"):
        with pytest.raises(ValueError, match=r"outside the folders of Delta.*got '.*/a lake'"):
            counting.count(data, alphabet=["x"], column="a", engine="spark")
    assert spark.range(3).count() == 3, "the session of the user was stopped"


FOLDERS: dict[str, dict[str, Any]] = {
    "a record in a folder that looks like a value": {"0": ["a"], "1": ["b"], "x=1/2": ["a"]},
    "folders that look like numbers": {f"who={who}/0": ["a"] for who in ("7", "07", "7.0")},
    "a folder that is called as the column": {"c=a/0": ["b"]},
    "other folders": {"0": ["a"], "below/1": ["b"], "below/it/2": ["a"]},
    "signs of patterns": {"a?b": ["a"], "aXb": ["b"], "{q,r}": ["a"], "q": ["b"], "[x]": ["a"]},
    "odd names": {"p%20q #": ["a"], "ü 'e'": ["b"], "-x": ["a"], "a+b&c": ["b"]},
    "a column without a value": {"0": pa.nulls(2)},
    "another column": {"0": ["a"], "1": {"d": ["a"]}},
    "columns in another order": {"0": {"c": ["a"], "d": ["b"]}, "1": {"d": ["a"], "c": ["b"]}},
}
"""Files by their names, with their only column or all of them."""


def end_of(data: Any, column: str, engine: str | None) -> str:
    """Return the counts, or the first sentence of the refusal."""
    try:
        return str(list(counting.count(data, alphabet=["a", "7"], column=column, engine=engine)))
    except ValueError as error:
        return str(error).partition(".")[0]


def test_types_of_parquet_that_spark_lacks_are_refused_by_their_names(
    spark: Any, tmp_path: Path
) -> None:
    assert spark.range(1).count() == 1
    for name, cells in {
        "moment": pa.array([1], pa.timestamp("ns")),
        "float16": pa.array([1.0], pa.float16()),
        "decimal": pa.array([Decimal(1)], pa.decimal256(50, 2)),
    }.items():
        path = tmp_path / f"{name}.parquet"
        pq.write_table(pa.table({"c": ["a"], "x": cells}), path)
        with pytest.raises(ValueError, match=f"whose types Spark has.* {name}.* leave engine out"):
            counting.prepare(path, alphabets=[["a"]], columns=["c"], engine="spark")


@pytest.mark.one_of(4)
def test_a_path_means_the_same_files_to_spark(spark: Any, tmp_path: Path) -> None:
    """No name of a folder becomes a column or a pattern, and no file decides about the others."""
    assert spark.range(1).count() == 1
    for number, (what, files) in enumerate(FOLDERS.items()):
        folder = tmp_path / f"path {number}"
        for name, cells in files.items():
            columns = cells if isinstance(cells, dict) else {"c": cells}
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(pa.table(columns), folder / f"{name}.parquet")
        (folder / "notes.txt").write_text("no Parquet")
        (folder / "again.parquet").symlink_to(folder / f"{next(iter(files))}.parquet")
        asked = [(folder, name) for name in ("c", "who", "x")]
        asked += [(data, "c") for data in (f"{folder}/*.parquet", *folder.glob("*.parquet"))]
        for data, column in (asked[0], *few(asked[1:], 2)):
            assert end_of(data, column, "spark") == end_of(data, column, None), (what, data, column)
    for name in ("_2", ".2", "a:b"):
        pq.write_table(pa.table({"c": ["a"]}), tmp_path / f"{name}.parquet")
        assert "Spark reads" in end_of(tmp_path / f"{name}.parquet", "c", "spark")
    for name, kind in ("whole", pa.int32()), ("wide", pa.int64()):
        pq.write_table(pa.table({"c": pa.array([1], kind)}), tmp_path / f"{name}.parquet")
    assert "same columns and types for Spark" in end_of(tmp_path / "w*.parquet", "c", "spark")
    packed = tmp_path / "packed.parquet"
    pq.write_table(pa.table({"c": ["a"], "x": ["b"]}), packed, compression={"x": "brotli"})
    assert "without BROTLI or LZO compression" in end_of(packed, "c", "spark")


SETTINGS = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.ansi.enforceReservedKeywords": "true",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.caseSensitive": "true",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.legacy.consecutiveStringLiterals.enabled": "true",
    "spark.sql.legacy.exponentLiteralAsDecimal.enabled": "true",
    "spark.sql.parser.escapedStringLiterals": "true",
    "spark.sql.session.timeZone": "Pacific/Kiritimati",
}
READ: list[tuple[str, list[str], Axis]] = [
    (
        "string",
        [
            "'7'",
            "concat('it', char(39), 's')",
            "concat('7', char(10))",
            "'7.0'",
            "NULL",
            "cast(X'FF37' as string)",
        ],
        Alphabet.of(["7", "it's", "\ufffd7"]).axes[0],
    ),
    (
        "string",
        [
            "'7'",
            "concat('1', char(39), '234')",
            "concat('7', char(10))",
            "'7.'",
            "' 7 '",
            "concat('1', char(39), '2')",
        ],
        Alphabet.of([7, 1234]).axes[0].read_as(Reading(kind="integer", thousands="'")),
    ),
    ("string", ["'É'", "'é'", "'e'"], Alphabet.of(["é"]).axes[0].read_as(Reading(kind="lower"))),
    (
        "double",
        ["-0.0D", "0.0D", "1D", "double('NaN')", "double('-Infinity')", "1e300D", "NULL"],
        replace(Bins.of([-1, 0.5, 2]), missing=(-0.0, *map(float, range(20, 40)))),
    ),
    ("double", ["-0.0D", "7D", "7.5D", "1e300D", "NULL"], Alphabet.of([0, 7]).axes[0]),
    ("decimal(38,38)", ["0", "0.0000001", "0.5", "NULL"], Bins.of([0, 1e-8, 1e-6, 1])),
    ("decimal(20,9)", ["0", "7", "0.0000001", "NULL"], Alphabet.of([0, 7]).axes[0]),
    (
        "timestamp",
        [
            *("timestamp'2024-03-01 00:00:00Z'", "timestamp'2024-03-01 23:59:59.999999Z'"),
            *("timestamp_micros(-1)", "timestamp_micros(-9223372036854775808)", "NULL"),
        ],
        Alphabet.of(["2024-03-01", "1969-12-31"]).axes[0].read_as(Reading(kind="date")),
    ),
]
FOUND = [[1, 1, 1, 3], [3, 1, 2], [2, 1], [0, 1, 6], [1, 1, 3], [1, 1, 1, 1], [1, 1, 2], [2, 1, 2]]


def test_no_setting_of_a_session_changes_a_count(spark: Any) -> None:
    cases = few(zip(READ, FOUND, strict=True), 3)
    frames = [
        spark.sql(" UNION ALL ".join(f"SELECT CAST({cell} AS {kind}) AS a" for cell in cells))
        for (kind, cells, _), _ in cases
    ]
    before = {name: spark.conf.get(name, None) for name in SETTINGS}
    before = {name: value for name, value in before.items() if value is not None}  # known to it
    for settings in (before, {name: SETTINGS[name] for name in before}):
        try:
            for name, value in settings.items():
                spark.conf.set(name, value)
            for ((kind, cells, axis), found), frame in zip(cases, frames, strict=True):
                scan = counting.prepare(frame, alphabets=[Alphabet(axes=(axis,))], columns=["a"])
                assert list(scan.count()) == found, (kind, cells, settings is before)
        finally:
            for name, value in before.items():
                spark.conf.set(name, value)


# Days around the change of calendar, and those where a formatter goes wrong by itself.
DATES = [
    *("0001-01-01", "0001-03-01", "1000-02-28", "1500-03-01", "1582-10-04", "1582-10-05"),
    *("1582-10-10", "1582-10-14", "1582-10-15", "1900-01-01", "1969-12-31", "2024-02-29"),
    "9999-12-31",
]
DATE = Reading(kind="date")
MIXED: dict[str, tuple[str, list[Any], Axis]] = {
    "day": ("date", DATES, Alphabet.of(DATES[1:]).axes[0]),
    "moment": ("timestamp", DATES, Alphabet.of(DATES[1:]).axes[0].read_as(DATE)),
    "wall": ("timestamp_ntz", DATES, Alphabet.of(DATES[1:]).axes[0].read_as(DATE)),
    "amount": (
        "decimal(20,9)",
        [0, "1e-7", "-1e-7", "1e-9", "0.5", 7, -7, 100, 10**9, "0.1", "0.2", "0.3", "123456789.1"],
        Alphabet.of([0, 7, 100, 10**9]).axes[0],
    ),
    "size": (
        "double",
        [0.0, 0.1, 7.0, -7.0, 7.5, 1e-7, 1e7, 1e16, 1e22, 1e300, inf, -inf, 2.5e-5],
        Alphabet.of([0, 7, 10**7]).axes[0],
    ),
    "small": (
        "float",
        [0.0, 0.25, 7.0, -7.0, 7.5, 1e-7, 1e7, 1e16, 1e22, 1e38, inf, -inf, nan],
        Bins.of([-10, 0, 0.25, 1, 1e7]),
    ),
    "text": (
        "string",
        ["7", "7.0", " 7", *DATES[5:9], "05/10/1582", "É", "é", "1e3", "true", "NaN"],
        Alphabet.of(["7", "1582-10-05", "é"]).axes[0],
    ),
    "flag": ("boolean", [True, False, *[True] * 11], Alphabet.of([True]).axes[0]),
}
"""By column: type, cells and letters. No two cells are equal, but in the last."""

BY_NAME = {
    "spark.sql.legacy.timeParserPolicy": ["LEGACY", "EXCEPTION"],
    "spark.sql.session.timeZone": ["Pacific/Kiritimati", "America/Los_Angeles", "Asia/Kathmandu"],
    "spark.sql.storeAssignmentPolicy": ["LEGACY", "STRICT"],
    "spark.sql.timestampType": ["TIMESTAMP_NTZ"],
}


def mixed_frame(spark: Any) -> Any:
    """Return the columns as a frame whose cells are stored, so that no setting changes them."""

    def cell(kind: str, value: Any) -> str:
        if kind not in {"date", "timestamp", "timestamp_ntz"}:
            return f"CAST('{value}' AS {kind})"
        days = date.fromisoformat(value).toordinal() - date(1970, 1, 1).toordinal()
        if kind == "date":
            return f"date_from_unix_date({days})"
        moment = f"timestamp_micros({days * 86_400_000_000 + 1}L)"
        return moment if kind == "timestamp" else f"to_timestamp_ntz({moment})"

    rows = (
        ", ".join(f"{cell(kind, cells[i])} AS {name}" for name, (kind, cells, _) in MIXED.items())
        for i in range(len(DATES))
    )
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    try:
        query = " UNION ALL ".join(f"SELECT {row}" for row in rows)
        return spark.sql(query).coalesce(1).localCheckpoint()
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


def old_ways(spark: Any) -> list[tuple[str, str]]:
    """Return every setting that restores an older way of Spark, as a session may."""
    conf = getattr(spark._jvm.org.apache.spark.sql.internal, "SQLConf$")
    entries = getattr(conf, "MODULE$").getConfigEntries().iterator()
    found = {name: values for name, values in BY_NAME.items() if spark.conf.isModifiable(name)}
    while entries.hasNext():
        entry = entries.next()
        name, value = entry.key(), entry.defaultValueString()
        is_old = re.match(r"spark\.sql\.(legacy|ansi|decimalOperations|codegen)\.", name)
        if is_old and value in {"true", "false"} and spark.conf.isModifiable(name):
            found[name] = [{"true": "false", "false": "true"}[value]]
    del found["spark.sql.ansi.enforceReservedKeywords"]  # refused before the charge
    return [(name, value) for name, values in found.items() for value in values]


def test_no_old_way_of_spark_merges_cells_or_people(spark: Any) -> None:
    """Under the policy LEGACY a cast to text follows the Julian calendar before 1582-10-15."""
    frame = mixed_frame(spark)
    alphabets = {
        name: Alphabet(axes=(axis,), columns=(name,)) for name, (*_, axis) in MIXED.items()
    }
    found = {
        name: list(counting.count(cells, alphabet=Alphabet(axes=(axis,))))
        for name, (_, cells, axis) in MIXED.items()
    }
    ways = old_ways(spark)
    assert len(ways) > 50
    for way, value in [ways[0], *few(ways[1:], 2)]:
        is_first = (way, value) == ways[0]
        names = list(MIXED)[:3] if is_first else few(MIXED, 3)
        before = spark.conf.get(way, None)
        spark.conf.set(way, value)
        try:
            with counting.prepare(frame, alphabets=[alphabets[name] for name in names]) as scan:
                counts = [list(counts) for counts in scan.count_several()]
            assert counts == [found[name] for name in names], (way, value, names)
            for person in ["day"] if is_first else few(["day", "amount", "size", "text"], 1):
                # All cells of such a column differ, so each record is another person's.
                kept = counting.count(frame, alphabet=alphabets["flag"], person=person)
                assert list(kept) == found["flag"], (way, value, person)
        finally:
            spark.conf.unset(way) if before is None else spark.conf.set(way, before)


REBASED = ["spark.sql.parquet.datetimeRebaseModeInRead", "spark.sql.parquet.int96RebaseModeInRead"]


@pytest.mark.parametrize("mode", ["EXCEPTION", "exception", "LEGACY"])
def test_an_old_day_in_a_file_neither_fails_nor_moves(
    spark: Any, mode: str, tmp_path: Path
) -> None:
    days, moments = [date(1500, 1, 1), date(2024, 1, 1)], [datetime(1500, 1, 1), None]  # noqa: DTZ001
    frame = pa.table({"day": days, "moment": pa.array(moments, pa.timestamp("us"))})
    path = tmp_path / "old.parquet"
    pq.write_table(frame, path, use_deprecated_int96_timestamps=True)
    read = Alphabet.of(["1500-01-01"]).read_as("date")
    try:
        for name in REBASED:
            spark.conf.set(name, mode)
        for column in ("day", "moment"):
            counts = counting.count(path, alphabet=read, column=column, engine="spark")
            assert list(counts) == [1, 1], column
        held = spark.read.parquet(str(path))
        held.createOrReplaceTempView("old_days")
        if mode != "LEGACY":
            for data, options in (held, {}), ("old_days", {"engine": "spark"}):
                with pytest.raises(ValueError, match="makes one an error"):
                    counting.prepare(data, alphabets=[read], columns=["day"], **options)
    finally:
        spark.catalog.dropTempView("old_days")
        for name in REBASED:
            spark.conf.unset(name)


OWN: list[tuple[str, dict[str, Any]]] = [
    ("make_valid_utf8", {}),
    ("count", {}),
    ("rtrim", {}),
    ("octet_length", {"person": "who"}),
    ("between", {"person": "size"}),
    ("grouping", {"alphabets": [{"code": ["a", "b"]}, {"who": ["p"]}], "columns": []}),
]
ORDER = "spark.sql.functionResolution.sessionOrder"


def test_a_function_of_a_program_never_takes_the_place_of_one_of_spark(spark: Any) -> None:
    """Until Spark 4.2 one does by default, later where the session says so."""
    rows = "('a', 'p', 1D), ('a', 'q', 2D), ('b', 'r', 3D), (NULL, NULL, NULL)"
    frame = spark.sql(f"SELECT * FROM VALUES {rows} AS t (code, who, size)")
    frame = frame.withMetadata("code", {"__CHAR_VARCHAR_TYPE_STRING": "char(1)"})  # as of a table
    asked: dict[str, Any] = {"alphabets": [["a", "b"]], "columns": ["code"]}

    def counted(options: dict[str, Any]) -> list[int]:
        with counting.prepare(frame, **asked | options) as scan:
            scan.rehearse()
            return list(scan.count_several()[0])

    order = spark.conf.get(ORDER) if spark.conf.isModifiable(ORDER) else None
    try:
        for name, options in OWN:
            spark.udf.register(name, lambda *_: "a", "string")
            if order is not None:
                assert counted(options) == [2, 1, 1]
                spark.conf.set(ORDER, "first")
            with pytest.raises(ValueError, match=f"must have Spark's own function {name}, but"):
                counted(options)
            spark.sql(f"DROP TEMPORARY FUNCTION {name}")
            assert counted(options) == [2, 1, 1]
            if order is not None:
                spark.conf.set(ORDER, order)
    finally:
        for name, _ in OWN:
            spark.sql(f"DROP TEMPORARY FUNCTION IF EXISTS {name}")
        if order is not None:
            spark.conf.set(ORDER, order)


FAILING = [
    "SELECT code, IF(code = 'rare', raise_error('x'), n) AS n FROM {visits}",
    "SELECT code, CAST(code AS INT) AS n FROM {visits}",
    "SELECT code, n FROM {visits} WHERE n <= (SELECT n FROM {visits} WHERE code = 'rare')",
    "SELECT code, sum(IF(code = 'rare', raise_error('x'), n)) AS n FROM {visits} GROUP BY code",
    "SELECT code, explode(IF(code = 'rare', raise_error('x'), array(n))) AS n FROM {visits}",
    "SELECT code, n FROM {visits} WHERE IF(code = 'rare', raise_error('x'), true)",
]


def test_no_computation_of_a_frame_is_run_before_the_charge(spark: Any) -> None:
    """Spark's optimizer runs some on records that the plan holds, whatever is asked of them."""
    local = spark.sql("SELECT * FROM VALUES ('1', 1L), ('rare', 1L), ('rare', 1L) AS t (code, n)")
    for visits in (local, spark.createDataFrame(local.collect(), local.schema)):
        for query in FAILING:
            frame = spark.sql(query, visits=visits)
            with counting.prepare(frame, alphabets=[[1]], columns=["n"]) as scan:
                scan.rehearse()
                with pytest.raises(ReleaseError):
                    scan.count()


def test_a_stream_is_refused_before_the_charge_however_it_is_named(spark: Any) -> None:
    rates = spark.readStream.format("rate").load()
    rates.createOrReplaceTempView("rates")
    for data, engine in ((rates, None), (rates.select("value"), None), ("rates", "spark")):
        with pytest.raises(ValueError, match="all there, got a streaming one"):
            counting.prepare(data, alphabets=[[1]], columns=["value"], engine=engine)
    checked = dproo.open(rates).check("value", [1])
    assert [refused for refused in checked.refusals if "streaming" in refused]


def test_bytes_that_are_not_text_are_one_open_letter_and_name_nobody(spark: Any) -> None:
    """Different ones come back as the same text, so they must be counted as the same."""
    bad = ["FF", "FE", "FE", "C0"]
    frame = spark.sql(
        " UNION ALL ".join(f"SELECT CAST(X'{byte}' AS STRING) AS a, 'x' AS b" for byte in bad)
    )
    counts = counting.count(frame, alphabet=Alphabet(axes=(OpenText(minimum=3),)), column="a")
    assert isinstance(counts, NamedCounts)
    assert (counts.letters, list(counts)) == (("\ufffd",), [4, 0])
    assert list(counting.count(frame, alphabet=["x"], column="b", person="a")) == [0, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "sparc"}, "engine must be 'spark', or a cluster such as spark://host:7077"),
        (
            {"engine": "spark:http://host"},
            "engine must look like spark, spark:local[2] or spark://host:7077, got",
        ),
        ({"engine": "spark", "table": "x"}, "data must be a table's name or a path with engine"),
    ],
)
def test_what_spark_cannot_read_is_refused_before_it_is_started(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        counting.prepare("visits", alphabets=[["x"]], columns=["a"], **options)


def test_a_missing_extra_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(ValueError, match=re.escape("pip install 'dproo[spark]'")):
        counting.prepare("visits", alphabets=[["x"]], columns=["a"], engine="spark")
