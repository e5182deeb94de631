"""The columns of a frame of Spark under plain names, and of types that narwhals knows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dproo.engines import query as sql

if TYPE_CHECKING:
    import narwhals as nw

    Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]

_DAY = 24 * 60 * 60  # seconds
_CHAR = "__CHAR_VARCHAR_TYPE_STRING"
_KINDS = {
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


def kind_of(name: str) -> str | None:
    """Return what a column of a type of Spark holds, or None if no letters."""
    return next((kind for words, kind in _KINDS.items() if re.fullmatch(words, name)), None)


def renamed(frame: Frame, columns: Sequence[str]) -> tuple[Frame, list[str]]:
    """Return the frame with columns ``c0, c1, ...`` by place, and the names of these columns.

    Narwhals itself would name the columns, and Spark would read the names.
    """
    import narwhals as nw

    native: Any = frame.to_native()
    places = [f"c{native.columns.index(column)}" for column in columns]
    native = native.toDF(*(f"c{i}" for i in range(len(native.columns))))
    return nw.from_native(_with_days(native, places)), places


def _with_days(frame: Any, names: Sequence[str]) -> Any:
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
