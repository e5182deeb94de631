"""Which types hold letters, library by library, told from the schema alone.

What is not known here is refused before the charge; a type that is not understood would
make every record ``other``, in silence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

from dproo.alphabet.axis import Axis, Bins
from dproo.engines import arrow
from dproo.engines.duckdb_dialect import by_bytes, kind_of
from dproo.engines.query import quoted, refuse_type

if TYPE_CHECKING:
    import narwhals as nw

    Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]

_DOUBLE = 8  # bytes
_NULLABLE = re.compile("U?Int(8|16|32|64)|Float(32|64)|boolean")
_SPARK = re.compile(
    r"(string|char|varchar)\b.*|(tiny|small|big)?int|float|double|boolean|date|decimal\(.*\)|void"
)


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
    elif kind.is_pyspark() or kind.is_pyspark_connect():
        names, types = zip(*native.dtypes, strict=True)
    elif kind.is_ibis():
        names, types = native.schema().names, native.schema().types
    elif kind.is_polars():
        schema = native.collect_schema()
        names, types = schema.names(), schema.dtypes()
    else:
        schema = frame.collect_schema()
        names, types = schema.names(), schema.dtypes()
    if len(set(names)) < len(names):
        raise ValueError
    return dict(zip(names, types, strict=True))


def check_types(frame: Frame, schema: dict[str, Any], columns: Sequence[str]) -> None:
    """Refuse columns whose type holds no letters.

    Raises:
        ValueError: there is one.
    """
    kind = frame.implementation
    is_readable: Callable[[Any], bool] = _is_plain
    if kind.is_pandas_like() or kind.is_dask():
        is_readable = _is_readable_by_pandas
    elif kind.is_pyarrow():
        is_readable = arrow.is_readable
    elif kind.is_pyspark() or kind.is_pyspark_connect():
        is_readable = _is_readable_by_spark
    elif kind.is_ibis():
        is_readable = _is_readable_by_ibis
    for column in columns:
        if kind.is_duckdb():
            kind_of(column, str(schema[column]))
        elif not is_readable(schema[column]):
            refuse_type(column, str(schema[column]))


def _is_plain(dtype: Any) -> bool:
    """Tell it of a type of Polars, or of narwhals, which has the same names."""
    names = {"String", "Categorical", "Enum", "Boolean", "Date", "Null", "Object"}
    is_number = dtype.is_integer() or dtype.is_float() or dtype.is_decimal()
    return bool(is_number or dtype.base_type().__name__ in names)


def _is_readable_by_pandas(dtype: Any) -> bool:
    name = type(dtype).__name__
    if name == "ArrowDtype":
        return arrow.is_readable(dtype.pyarrow_dtype)
    if name == "CategoricalDtype":
        return dtype.categories is None or _is_readable_by_pandas(dtype.categories.dtype)
    if type(dtype).__module__.partition(".")[0] == "numpy":
        return dtype.kind in "Obiu" or (dtype.kind == "f" and dtype.itemsize <= _DOUBLE)
    return name == "StringDtype" or bool(_NULLABLE.fullmatch(dtype.name))


def _is_readable_by_spark(name: str) -> bool:
    return bool(_SPARK.fullmatch(name))


def _is_readable_by_ibis(dtype: Any) -> bool:
    is_number = dtype.is_integer() or dtype.is_floating() or dtype.is_decimal()
    is_word = dtype.is_string() or dtype.is_boolean() or dtype.is_date() or dtype.is_null()
    return bool(is_number or is_word)


def by_duckdb(column: str, type_name: object, axis: Axis | None) -> str:
    """Return a column as narwhals knows it: an enumeration as text, a long integer too."""
    cell = quoted(column)
    if str(type_name) == "BIGNUM" and isinstance(axis, Bins):
        return f"CAST({cell} AS DOUBLE)"
    is_plain = not re.match('ENUM|BIGNUM|VARCHAR|"NULL"', str(type_name))
    return cell if is_plain else by_bytes(cell)


def by_polars(frame: Any, names: Sequence[str]) -> Any:
    """Return a frame of Polars with categories as text, and no date beyond the calendar."""
    import polars as pl  # noqa: PLC0415 - where there is a frame of it

    schema = frame.collect_schema()
    texts = pl.Categorical, pl.Enum, pl.Null
    kinds = {name: pl.String for name in names if schema[name].base_type() in texts}
    dates = pl.col(name for name in names if schema[name] == pl.Date)
    # It panics where a date beyond the calendar becomes text.
    is_date = dates.is_between(date.min, date.max)
    return frame.cast(kinds).with_columns(pl.when(is_date).then(dates))
