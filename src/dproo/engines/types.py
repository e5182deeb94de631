"""Which types hold letters, library by library, told from the schema alone.

What is not known here is refused before the charge; a type that is not understood would
make every record ``other``, in silence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

from dproo.alphabet.axis import Axis, Bins
from dproo.engines import arrow
from dproo.engines import query as sql
from dproo.engines.duckdb_dialect import by_bytes, duckdb_kind
from dproo.engines.query import quoted

if TYPE_CHECKING:
    import narwhals as nw

    Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]

_DOUBLE = 8  # bytes
_DIGITS = 38  # Polars tells of decimals with more, and cannot read them
_DAY = 24 * 60 * 60  # seconds
_NULLABLE = re.compile("U?Int(8|16|32|64)|Float(32|64)|boolean")
_NUMPY = {
    "O": sql.ANY,
    "b": sql.BOOLEAN,
    "i": sql.INTEGER,
    "u": sql.INTEGER,
    "f": sql.FLOAT,
    "M": sql.TIMESTAMP,
}
_PLAIN = {
    **dict.fromkeys(("String", "Categorical", "Enum"), sql.TEXT),
    "Boolean": sql.BOOLEAN,
    "Date": sql.DATE,
    "Null": sql.NOTHING,
    "Object": sql.ANY,
}
_CHAR = "__CHAR_VARCHAR_TYPE_STRING"
_SPARK = {
    r"(string|char|varchar)\b.*": sql.TEXT,
    r"(tiny|small|big)?int": sql.INTEGER,
    r"float|double": sql.FLOAT,
    r"decimal\(.*\)": sql.DECIMAL,
    "boolean": sql.BOOLEAN,
    "date": sql.DATE,
    "timestamp_ntz": sql.TIMESTAMP,
    "timestamp": sql.INSTANT,
    "void": sql.NOTHING,
}


def schema_of(frame: Frame) -> dict[str, Any]:
    """Return the names of a frame's columns and the library's own types of them.

    By the library and not by narwhals, which looks at cells to tell objects from text.
    """
    native: Any = frame.to_native()
    kind = frame.implementation
    names: Sequence[str]
    types: Sequence[Any]
    if kind.is_pandas_like() or kind.is_dask():
        names, types = list(native.columns), list(native.dtypes)
    elif kind.is_pyarrow():
        names, types = native.schema.names, native.schema.types
    elif kind.is_duckdb():
        names, types = native.columns, native.types
        if len({name.lower() for name in names}) < len(names):  # it would take the first of them
            raise ValueError
    elif kind.is_pyspark() or kind.is_pyspark_connect():
        names, types = zip(*native.dtypes, strict=True)
    elif kind.is_polars():
        schema = native.collect_schema()
        names, types = schema.names(), schema.dtypes()
    else:  # narwhals knows more libraries than were tried
        raise ValueError
    if len(set(names)) < len(names):
        raise ValueError
    return dict(zip(names, types, strict=True))


def kind_in(frame: Frame, dtype: Any) -> str | None:
    """Return what a column of a frame holds, by the library's own type of it, else nothing."""
    kind = frame.implementation
    if kind.is_duckdb():
        return duckdb_kind(str(dtype))
    if kind.is_pandas_like() or kind.is_dask():
        return None if _is_of_another_order(dtype) else pandas_kind(dtype)
    if kind.is_pyarrow():
        return arrow.kind_of(dtype)
    if kind.is_pyspark() or kind.is_pyspark_connect():
        return _spark_kind(str(dtype))
    return _plain_kind(dtype)


def _is_of_another_order(dtype: Any) -> bool:
    """Tell whether numbers are in another machine's byte order, of which narwhals has no type."""
    return type(dtype).__module__.partition(".")[0] == "numpy" and not dtype.isnative


def enumerated(frame: Frame, dtype: Any) -> tuple[str, ...]:
    """Return the values that the schema itself lists: those of an enumeration of Polars.

    A category of pandas lists what occurs in the data, and is not looked at.
    """
    is_listed = frame.implementation.is_polars() and dtype.base_type().__name__ == "Enum"
    return tuple(dtype.categories) if is_listed else ()


def _plain_kind(dtype: Any) -> str | None:
    """Tell it of a type of Polars."""
    if dtype.is_integer():
        return sql.INTEGER
    if dtype.is_float():
        return sql.FLOAT
    if dtype.is_decimal():
        return sql.DECIMAL if (dtype.precision or 0) <= _DIGITS else None
    name = dtype.base_type().__name__
    if name == "Datetime":
        return sql.INSTANT if dtype.time_zone else sql.TIMESTAMP
    return _PLAIN.get(name)


def pandas_kind(dtype: Any) -> str | None:
    """Tell it of a type of pandas, or of NumPy."""
    name = type(dtype).__name__
    if name == "ArrowDtype":
        return arrow.kind_of(dtype.pyarrow_dtype)
    if name == "CategoricalDtype":
        # Without a value its categories have a type that says nothing of the column.
        is_empty = dtype.categories is None or not len(dtype.categories)
        return sql.ANY if is_empty else pandas_kind(dtype.categories.dtype)
    if name == "DatetimeTZDtype":
        return sql.INSTANT
    if type(dtype).__module__.partition(".")[0] == "numpy":
        is_wide = dtype.kind == "f" and dtype.itemsize > _DOUBLE
        return None if is_wide else _NUMPY.get(dtype.kind)
    if name == "StringDtype":
        return sql.TEXT
    return _NUMPY.get(dtype.kind) if _NULLABLE.fullmatch(dtype.name) else None


def _spark_kind(name: str) -> str | None:
    return next((kind for words, kind in _SPARK.items() if re.fullmatch(words, name)), None)


def by_spark(frame: Any, names: Sequence[str]) -> Any:
    """Return a frame of Spark with the days of moments, and fixed text without its padding.

    The days are in UTC, whatever zone the session is in.
    """
    from pyspark.sql import functions as spark  # noqa: PLC0415 - where there is a frame of it

    kinds = dict(frame.dtypes)
    micros = f"{_DAY}000000L"
    days = {
        "timestamp_ntz": "CAST({} AS DATE)",
        "timestamp": f"date_from_unix_date(CAST((unix_micros({{}}) - pmod(unix_micros({{}}),"
        f" {micros})) DIV {micros} AS INT))",
    }
    # Unless it is told to keep the type of such a column, Spark tells of it beside the type.
    padded = {
        field.name: "rtrim({})"
        for field in frame.schema
        if field.metadata.get(_CHAR, kinds[field.name]).startswith("char(")
    }
    found = {name: days.get(kinds[name], padded.get(name)) for name in names}
    cells = {name: cell.replace("{}", name) for name, cell in found.items() if cell}
    return frame.withColumns({name: spark.expr(cell) for name, cell in cells.items()})


def by_duckdb(column: str, type_name: object, axis: Axis | None) -> str:
    """Return a column as narwhals knows it: an enumeration as text, a long integer too."""
    cell = quoted(column)
    if duckdb_kind(str(type_name)) == sql.INSTANT:
        return f"TRY_CAST(TRY(make_timestamp(epoch_us({cell}))) AS DATE)"
    if duckdb_kind(str(type_name)) == sql.TIMESTAMP:
        return f"TRY_CAST({cell} AS DATE)"
    if str(type_name) == "BIGNUM" and isinstance(axis, Bins):
        return f"TRY_CAST(CAST({cell} AS VARCHAR) AS DOUBLE)"
    is_plain = not re.match('ENUM|BIGNUM|VARCHAR|"NULL"', str(type_name))
    return cell if is_plain else by_bytes(cell)


def by_polars(frame: Any, names: Sequence[str]) -> Any:
    """Return a frame of Polars with categories as text, and no date beyond the calendar."""
    import polars as pl  # noqa: PLC0415 - where there is a frame of it

    schema = frame.collect_schema()
    texts = pl.Categorical, pl.Enum, pl.Null
    kinds = {name: pl.String for name in names if schema[name].base_type() in texts}
    moments = [name for name in names if schema[name].base_type() == pl.Datetime]
    zoned = [name for name in moments if schema[name].time_zone]
    frame = frame.with_columns(pl.col(*zoned).dt.convert_time_zone("UTC")) if zoned else frame
    frame = frame.with_columns(pl.col(*moments).dt.date()) if moments else frame
    dates = pl.col(name for name in names if schema[name] == pl.Date or name in moments)
    # It panics where a date beyond the calendar becomes text.
    is_date = dates.is_between(date.min, date.max)
    return frame.cast(kinds).with_columns(pl.when(is_date).then(dates))
