"""Every type of every engine: counted as the cells it holds, or refused before the charge.

The types are those that the library itself tells; a new one fails here until it is decided.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from support.draws import some
from support.releasing import sample

from dproo import ReleaseError, counting
from dproo.counting.source import describe
from dproo.ledger import Ledger

pytestmark = pytest.mark.one_of(3)

LETTERS = ["7", "x", "true", "2026-01-02"]
DAY = dt.date(2026, 1, 2)
EMPTY = ""  # the type of a column without any value, which is accepted like any other
REFUSED = "must hold text, numbers, booleans or dates, got type"


def assert_counted_or_refused(data: Any, letter: str | None, **options: Any) -> None:
    """Expect two records of a letter and a null, three of ``EMPTY``, or a refusal if None."""
    if letter is None:
        with pytest.raises(ValueError, match=REFUSED):
            counting.count(data, alphabet=LETTERS, **options)
        return
    expected = [2 * (known == letter) for known in LETTERS]
    outside = 3 - sum(expected)
    assert list(counting.count(data, alphabet=LETTERS, **options)) == [*expected, outside]
    if letter == "7":
        assert list(counting.count(data, alphabet=range(7, 9), **options)) == [2, 0, 1]


DUCKDB = {
    **dict.fromkeys(["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"], ("7", "7")),
    **dict.fromkeys(["UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"], ("7", "7")),
    **dict.fromkeys(["BIGNUM", "FLOAT", "DOUBLE", "DECIMAL", "VARCHAR"], ("7", "7")),
    "BOOLEAN": ("true", "true"),
    "DATE": ("'2026-01-02'", "2026-01-02"),
    "ENUM": ("'x'", "x"),
    "NULL": ("NULL", EMPTY),
    **dict.fromkeys(["BLOB", "BIT", "TIME", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS"]),
    **dict.fromkeys(["TIMESTAMP_NS", "TIMESTAMPTZ_NS", "TIME_NS", "TIMESTAMP WITH TIME ZONE"]),
    **dict.fromkeys(["TIME WITH TIME ZONE", "INTERVAL", "UUID", "LIST", "ARRAY", "STRUCT"]),
    **dict.fromkeys(["MAP", "UNION", "TUPLE", "VARIANT", "GEOMETRY", "TYPE", "JSON"]),
}
DECLARED = {
    "ENUM": "ENUM('x', 'y')",
    "LIST": "INTEGER[]",
    "ARRAY": "INTEGER[2]",
    "STRUCT": "STRUCT(a INTEGER)",
    "MAP": "MAP(INTEGER, INTEGER)",
    "UNION": "UNION(a INTEGER)",
    "TUPLE": "STRUCT(a INTEGER)",
    "DECIMAL": "DECIMAL(9, 2)",
    "NULL": '"NULL"',
}


def types_of_duckdb() -> list[str]:
    query = "SELECT DISTINCT logical_type FROM duckdb_types() ORDER BY 1"
    return [*(name for (name,) in duckdb.sql(query).fetchall()), "JSON"]


@pytest.mark.parametrize("name", some(types_of_duckdb(), one_of=8))
def test_every_type_of_duckdb(name: str, tmp_path: Path) -> None:
    cell, letter = DUCKDB[name] or ("NULL", None)
    kind = DECLARED.get(name, name)
    rows = f"SELECT CAST({cell} AS {kind}) AS a FROM range(2) UNION ALL SELECT NULL"
    connection = duckdb.connect()
    assert_counted_or_refused(connection.sql(rows), letter)
    if name in {"TYPE", "NULL"}:  # of which there are no tables
        return
    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)) as file:
        file.execute(f"CREATE TABLE t AS {rows}")
        assert_counted_or_refused(file, letter, table="t", column="a")
    assert_counted_or_refused(path, letter, table="t", column="a")


# Ibis does not know these, and converts none of them to the text that it declares.
UNKNOWN_TO_IBIS = {"BIGNUM", "UHUGEINT"}
CELLS = {
    **dict.fromkeys(["VARIANT", "JSON"], "'7'"),
    **dict.fromkeys(["TIME_NS", "TIME", "TIME WITH TIME ZONE"], "'10:00:00'"),
    "BIT": "'101'",
    "UNION": "7",
    "UUID": "uuid()",
    "INTERVAL": "'1 day'",
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the engine below Ibis
@pytest.mark.parametrize("name", some(types_of_duckdb(), one_of=4))
def test_every_type_of_duckdb_behind_ibis(name: str) -> None:
    """Some were text by the schema, and failed after every charge."""
    if name in {"TYPE", "GEOMETRY"}:  # there are no tables of the one, and Ibis loads the other
        return
    cell, letter = DUCKDB[name] or (CELLS.get(name, "NULL"), None)
    backend = pytest.importorskip("ibis").duckdb.connect()
    rows = f"SELECT CAST({cell} AS {DECLARED.get(name, name)}) AS a FROM range(2)"
    backend.con.execute(f"CREATE TABLE t AS {rows} UNION ALL SELECT NULL")
    table = backend.table("t")
    letter = None if name in UNKNOWN_TO_IBIS else letter
    assert_counted_or_refused(table, letter)
    if letter is None:
        with pytest.raises(ValueError, match="It must name a person"):
            counting.prepare(table.mutate(b=1), alphabets=[[1]], columns=["b"], person="a")


def types_of_ibis() -> list[Any]:
    types = pytest.importorskip("ibis.expr.datatypes")
    kinds = [kind for kind in vars(types).values() if isinstance(kind, type)]
    made = [types.Array(types.string), types.Interval("s"), types.Struct({"a": "int64"})]
    for kind in kinds:
        with suppress(Exception):  # it is abstract, or made of others
            made += [kind()] if issubclass(kind, types.DataType) else []
    return made


def test_every_type_of_ibis_that_may_hold_letters() -> None:
    ibis = pytest.importorskip("ibis")
    accepted = set()
    for kind in types_of_ibis():
        data = ibis.table({"a": kind, "b": "string"}, name="t")
        try:
            (column, _) = describe(data)
        except ValueError:  # Arrow lacks it
            continue
        accepted |= {type(kind).__name__} if column.kind else set()
    numbers = {f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)}
    numbers |= {"Float16", "Float32", "Float64", "Decimal"}
    assert accepted == numbers | {"String", "Boolean", "Date", "Timestamp", "Null"}


POLARS = {
    **dict.fromkeys(["Int8", "Int16", "Int32", "Int64", "Int128"], (7, "7")),
    **dict.fromkeys(["UInt8", "UInt16", "UInt32", "UInt64", "UInt128"], (7, "7")),
    **dict.fromkeys(["Float16", "Float32", "Float64"], (7.0, "7")),
    "Decimal": (Decimal(7), "7"),
    "Boolean": (True, "true"),
    "Date": (DAY, "2026-01-02"),
    **dict.fromkeys(["String", "Utf8", "Categorical", "Enum"], ("x", "x")),
    "Object": ("x", "x"),
    "Null": (None, EMPTY),
    **dict.fromkeys(["Binary", "Datetime", "Duration", "Time", "List", "Array", "Struct", "Map"]),
}
NO_TYPES_OF_POLARS = {
    *("DataType", "FloatType", "IntegerType", "TemporalType", "Unknown"),
    *("BaseExtension", "Extension"),
}


def types_of_polars() -> list[str]:
    found = vars(pl.datatypes).items()
    names = [
        name for name, kind in found if isinstance(kind, type) and issubclass(kind, pl.DataType)
    ]
    return [name for name in names if name not in NO_TYPES_OF_POLARS]


@pytest.mark.parametrize("name", some(types_of_polars(), one_of=6))
@pytest.mark.filterwarnings("error")
def test_every_type_of_polars(name: str) -> None:
    parameters: dict[str, tuple[Any, ...]] = {
        "Enum": (["x", "y"],),
        "Decimal": (9, 2),
        "List": (pl.Int8,),
        "Array": (pl.Int8, 2),
        "Struct": ({"a": pl.Int8},),
        "Map": (pl.Int8, pl.Int8),
    }
    kind = getattr(pl, name, getattr(pl.datatypes, name))(*parameters.get(name, ()))
    cell, letter = POLARS[name] or (None, None)
    series = pl.Series("a", [cell, cell, None], dtype=kind)
    for data in (series, series.to_frame(), series.to_frame().lazy()):
        assert_counted_or_refused(data, letter)


ARROW: dict[str, tuple[pa.DataType, Any, str | None]] = {
    **{
        f"{sign.upper()}INT{bits}": (getattr(pa, f"{sign}int{bits}")(), 7, "7")
        for sign in ("", "u")
        for bits in (8, 16, 32, 64)
    },
    "HALF_FLOAT": (pa.float16(), np.float16(7), "7"),
    "FLOAT": (pa.float32(), 7.0, "7"),
    "DOUBLE": (pa.float64(), 7.0, "7"),
    "DECIMAL32": (pa.decimal32(5, 2), Decimal(7), "7"),
    "DECIMAL64": (pa.decimal64(9, 2), Decimal(7), "7"),
    "DECIMAL128": (pa.decimal128(9, 2), Decimal(7), "7"),
    "DECIMAL256": (pa.decimal256(50, 2), Decimal(7), "7"),
    "BOOL": (pa.bool_(), True, "true"),
    "DATE32": (pa.date32(), DAY, "2026-01-02"),
    "DATE64": (pa.date64(), DAY, "2026-01-02"),
    "STRING": (pa.string(), "x", "x"),
    "LARGE_STRING": (pa.large_string(), "x", "x"),
    "STRING_VIEW": (pa.string_view(), "x", "x"),
    "DICTIONARY": (pa.dictionary(pa.int8(), pa.string()), "x", "x"),
    "RUN_END_ENCODED": (pa.run_end_encoded(pa.int32(), pa.string()), "x", "x"),
    "NA": (pa.null(), None, EMPTY),
    "BINARY": (pa.binary(), b"x", None),
    "LARGE_BINARY": (pa.large_binary(), b"x", None),
    "BINARY_VIEW": (pa.binary_view(), b"x", None),
    "FIXED_SIZE_BINARY": (pa.binary(1), b"x", None),
    "TIME32": (pa.time32("s"), dt.time(1), None),
    "TIME64": (pa.time64("us"), dt.time(1), None),
    "TIMESTAMP": (pa.timestamp("us"), dt.datetime(2026, 1, 2), None),  # noqa: DTZ001
    "DURATION": (pa.duration("us"), dt.timedelta(1), None),
    "INTERVAL_MONTH_DAY_NANO": (pa.month_day_nano_interval(), None, None),
    "LIST": (pa.list_(pa.int8()), [7], None),
    "LARGE_LIST": (pa.large_list(pa.int8()), [7], None),
    "LIST_VIEW": (pa.list_view(pa.int8()), [7], None),
    "LARGE_LIST_VIEW": (pa.large_list_view(pa.int8()), [7], None),
    "FIXED_SIZE_LIST": (pa.list_(pa.int8(), 1), [7], None),
    "MAP": (pa.map_(pa.int8(), pa.int8()), [], None),
    "STRUCT": (pa.struct({"a": pa.int8()}), {"a": 7}, None),
    "SPARSE_UNION": (pa.sparse_union([pa.field("a", pa.int8())]), None, None),
    "DENSE_UNION": (pa.dense_union([pa.field("a", pa.int8())]), None, None),
    "EXTENSION": (pa.uuid(), b"x" * 16, None),
}
# Polars makes times of the third, DuckDB doubles of the last.
NOT_TAKEN_OVER = {"RUN_END_ENCODED", "NA", "DATE64", "DECIMAL256"}
NOT_MADE = {"INTERVAL_MONTHS", "INTERVAL_DAY_TIME"}  # pyarrow has names for them, and no more


def types_of_arrow() -> list[str]:
    names = [name.removeprefix("Type_") for name in dir(pa.lib) if name.startswith("Type_")]
    return [name for name in names if name not in NOT_MADE]


def column_of(name: str) -> pa.Array:
    kind, cell, _ = ARROW[name]
    if "UNION" in name:
        types, offsets = pa.array([0] * 3, pa.int8()), pa.array(range(3), pa.int32())
        children = [pa.array([7, 7, None], pa.int8())]
        if "SPARSE" in name:
            return pa.UnionArray.from_sparse(types, children)
        return pa.UnionArray.from_dense(types, offsets, children)
    if name == "RUN_END_ENCODED":
        return pa.RunEndEncodedArray.from_arrays([2, 3], [cell, None])
    return pa.array([cell, cell, None], kind)


@pytest.mark.parametrize("name", some(types_of_arrow(), one_of=8))
def test_every_type_of_arrow(name: str) -> None:
    letter = ARROW[name][2]
    column = column_of(name)
    batch = pa.record_batch({"a": column})
    for data in (column, pa.chunked_array([column]), batch, pa.table({"a": column})):
        assert_counted_or_refused(data, letter)


def carriers(name: str, folder: Path) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield a column of Arrow as other libraries take it over, if they do."""
    table = pa.table({"a": column_of(name)})
    path = folder / "x.parquet"
    for carry in (
        lambda: (pl.from_arrow(table), {}),
        lambda: (duckdb.connect().from_arrow(table), {}),
        lambda: (table.to_pandas(types_mapper=pd.ArrowDtype), {}),
        lambda: (table.to_reader(), {}),
        lambda: (ds.dataset(table), {}),
        lambda: (pq.write_table(table, path), (path, {"columns": ["a"]}))[1],
    ):
        try:
            carried = carry()
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            continue
        yield carried


@pytest.mark.parametrize("name", some(types_of_arrow(), one_of=8))
def test_every_type_of_arrow_in_other_hands(name: str, tmp_path: Path) -> None:
    """A column is counted right, or refused: never other as a whole."""
    letter = ARROW[name][2]
    for data, options in carriers(name, tmp_path):
        try:
            scan = counting.prepare(data, alphabets=[LETTERS], **options)
        except ValueError as refused:
            assert REFUSED in str(refused) or "readable" in str(refused)  # noqa: PT017
            assert letter is None or name in NOT_TAKEN_OVER, type(data)
            continue
        if isinstance(data, Path) and name == "DURATION":  # which is an integer in Parquet
            continue
        assert letter is not None, type(data)
        counts = list(scan.count())
        assert counts == [*(2 * (known == letter) for known in LETTERS), 3 if not letter else 1]


NUMPY = {
    **dict.fromkeys("bhilqpBHILQPefd", (7, "7")),
    "n": (7, "7"),
    "N": (7, "7"),
    "?": (True, "true"),
    "U": ("x", "x"),
    "T": ("x", "x"),
    "O": ("x", "x"),
    "M": None,
    **dict.fromkeys("gFDGSVmc"),
}


@pytest.mark.parametrize("code", some(sorted(np.typecodes["All"] + "T"), one_of=6))
def test_every_type_of_numpy(code: str) -> None:
    cell, letter = NUMPY[code] or (0, None)
    kind = np.dtypes.StringDType() if code == "T" else np.dtype({"M": "M8[s]"}.get(code, code))
    array = np.zeros(2, kind) if letter is None else np.array([cell, cell], kind)
    if letter is None:
        with pytest.raises(ValueError, match=REFUSED):
            counting.prepare(array, alphabets=[LETTERS])
    else:
        counts = counting.count(array, alphabet=LETTERS)
        assert list(counts) == [*(2 * (known == letter) for known in LETTERS), 0]
    if code != "T":
        try:
            series = pd.Series(array)
        except (TypeError, ValueError, NotImplementedError):
            return
        if series.dtype.kind in "MmcVSg" or letter is None:
            with pytest.raises(ValueError, match=REFUSED):
                counting.prepare(series, alphabets=[LETTERS])
        else:
            assert counting.count(series, alphabet=LETTERS) == counts


PANDAS: dict[str, tuple[Any, Any, str | None]] = {
    **{
        f"{sign}Int{bits}Dtype": (f"{sign}Int{bits}", 7, "7")
        for sign in ("", "U")
        for bits in (8, 16, 32, 64)
    },
    "Float32Dtype": ("Float32", 7.0, "7"),
    "Float64Dtype": ("Float64", 7.0, "7"),
    "BooleanDtype": ("boolean", True, "true"),
    "StringDtype": ("string", "x", "x"),
    "CategoricalDtype": ("category", "x", "x"),
    "ArrowDtype": (pd.ArrowDtype(pa.string()), "x", "x"),
    "DatetimeTZDtype": ("datetime64[ns, UTC]", None, None),
    "PeriodDtype": ("period[D]", None, None),
    "IntervalDtype": ("interval", None, None),
    "SparseDtype": (pd.SparseDtype(float), 7.0, None),
}


def extensions_of_pandas(kind: type = pd.api.extensions.ExtensionDtype) -> set[str]:
    """Return the names of the types of pandas that nothing is derived from."""
    derived = [sub for sub in kind.__subclasses__() if sub.__module__.partition(".")[0] == "pandas"]
    if not derived:
        return {kind.__name__}
    return set().union(*map(extensions_of_pandas, derived))


@pytest.mark.parametrize("dtype", [">i4", ">u2", ">f4", ">f8", "<i4", "<f8"])
def test_numbers_in_another_byte_order_are_counted_or_refused(dtype: str) -> None:
    """They were all `other` once, in frames; arrays count them."""
    cells = np.array([7, 7, 8]).astype(dtype)
    frame = pd.DataFrame({"a": cells})
    assert list(counting.count(cells, alphabet=["7"])) == [2, 1]
    if frame["a"].dtype.isnative:
        assert list(counting.count(frame, alphabet=["7"])) == [2, 1]
        return
    for data in (frame, frame["a"]):
        with pytest.raises(ValueError, match=f"{REFUSED} {dtype}. Cast it"):
            counting.prepare(data, alphabets=[["7"]])


@pytest.mark.parametrize("dtype", some(sorted(extensions_of_pandas()), one_of=6))
def test_every_extension_of_pandas(dtype: str) -> None:
    if dtype == "NumpyEADtype":  # which is NumPy's own wherever it is in a series
        return
    kind, cell, letter = PANDAS[dtype]
    series = pd.Series([cell, cell, None], dtype=kind)
    assert_counted_or_refused(series, letter)


@pytest.mark.parametrize(
    ("cells", "letter"),
    [
        (["x", "x", None], "x"),
        ([7, 7, None], "7"),
        ([7.0, 7.0, None], "7"),
        ([True, True, None], "true"),
        ([DAY, DAY, None], "2026-01-02"),
        (pd.to_datetime(["2026-01-02", "2026-01-02", None]), None),
        (pd.cut([1, 1, 9], [0, 2]), None),
    ],
)
def test_categories_of_pandas_are_what_they_stand_for(cells: Any, letter: str | None) -> None:
    series = pd.Series(pd.Categorical(cells), name="a")
    assert_counted_or_refused(series, letter)
    if letter in {"x", "7"}:
        relation = duckdb.connect().from_df(series.to_frame())
        assert_counted_or_refused(relation, letter)


def types_of_spark() -> list[Any]:
    types = pytest.importorskip("pyspark.sql.types")
    return sorted(
        (kind for kind in vars(types).values() if isinstance(kind, type)),
        key=lambda kind: kind.__name__,
    )


SPARK = {
    **dict.fromkeys(["ByteType", "ShortType", "IntegerType", "LongType"], (7, "7")),
    **dict.fromkeys(["FloatType", "DoubleType"], (7.0, "7")),
    "DecimalType": (Decimal(7), "7"),
    "BooleanType": (True, "true"),
    "DateType": (DAY, "2026-01-02"),
    "StringType": ("x", "x"),
    "NullType": (None, EMPTY),
}


def test_every_type_of_spark(spark: Any) -> None:
    from pyspark.sql import types  # noqa: PLC0415 - slow, and not for every worker

    arguments: dict[str, tuple[Any, ...]] = {
        "ArrayType": (types.IntegerType(),),
        "MapType": (types.IntegerType(), types.IntegerType()),
        "StructType": ([types.StructField("a", types.IntegerType())],),
        "CharType": (1,),
        "VarcharType": (1,),
        "GeographyType": (4326,),
        "GeometryType": (0,),
    }
    seen = set()
    kinds = some(types_of_spark(), one_of=6)
    for kind in kinds:
        name = kind.__name__
        if not issubclass(kind, types.DataType) or name.startswith("_"):
            continue
        if name not in SPARK and kind.__subclasses__():
            continue
        if name in {"DataType", "UserDefinedType", "FractionalType", "IntegralType", "StructField"}:
            continue
        cell, letter = SPARK.get(name, (None, None))
        schema = types.StructType([types.StructField("a", kind(*arguments.get(name, ())))])
        try:
            frame = spark.createDataFrame([(cell,), (cell,), (None,)], schema)
        except Exception:  # noqa: BLE001 - no column can be of it
            assert letter is None, name
            continue
        assert_counted_or_refused(frame, letter)
        seen.add(name)
    assert set(SPARK) & {kind.__name__ for kind in kinds} <= seen, "a type that was not tried"


def test_a_refused_type_costs_nothing_and_is_named(ledger: Ledger) -> None:
    frame = pl.DataFrame({"scan": [b"secret"]})
    with pytest.raises(ValueError, match=f"column 'scan' {REFUSED} Binary. Cast it") as refused:
        sample(frame, alphabet=["x"], column="scan", epsilon=1, ledger=ledger, dataset="patients")
    assert "secret" not in str(refused.value)
    assert ledger.show()[0].spent == 0
    with pytest.raises(ReleaseError):  # the control: what is touched is charged
        sample(iter(lambda: 1 / 0, 1), alphabet=["x"], epsilon=1, ledger=ledger, dataset="patients")
    assert ledger.show()[0].spent > 0


def test_the_values_of_an_enumeration_are_not_told() -> None:
    relation = duckdb.sql("SELECT [CAST('secret' AS ENUM('secret'))] AS a")
    with pytest.raises(ValueError, match=REFUSED) as refused:
        counting.prepare(relation, alphabets=[["x"]])
    assert "secret" not in str(refused.value)


def test_a_collation_of_duckdb_folds_nothing(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "x.duckdb")) as file:
        file.execute("CREATE TABLE t (a VARCHAR COLLATE NOCASE)")
        file.execute("INSERT INTO t VALUES ('x'), ('X'), ('X')")
        assert list(counting.count(file, alphabet=["x", "X"], table="t", column="a")) == [1, 2, 0]
    path = tmp_path / "x.duckdb"
    assert list(counting.count(path, alphabet=["x", "X"], table="t", column="a")) == [1, 2, 0]
