"""The columns of a frame under plain names, and of types that narwhals knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dproo.alphabet.axis import Axis
from dproo.engines.types import by_duckdb, by_polars, by_spark, schema_of

if TYPE_CHECKING:
    import narwhals as nw

    Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]


def is_spark(frame: Frame) -> bool:
    """Tell whether Spark holds the frame."""
    return frame.implementation.is_pyspark() or frame.implementation.is_pyspark_connect()


def renamed(
    frame: Frame, columns: Sequence[str], axes: Sequence[Axis | None]
) -> tuple[Frame, list[str]]:
    """Return the columns alone, as ``c0, c1, ...`` and of types that narwhals knows.

    To some engines ``*``, ``a.b`` or ``^a$`` is a pattern.
    """
    import narwhals as nw

    names = [f"c{i}" for i in range(len(columns))]
    kind = frame.implementation
    native: Any = frame.to_native()
    if kind.is_duckdb():
        cells = (
            by_duckdb(column, native.types[native.columns.index(column)], axis)
            for column, axis in zip(columns, axes, strict=True)
        )
        parts = ", ".join(f"{cell} AS {name}" for cell, name in zip(cells, names, strict=True))
        return nw.from_native(native.project(parts)), names
    if is_spark(frame):
        # By place: narwhals itself would name the columns, and Spark would read the names.
        places = [f"c{native.columns.index(column)}" for column in columns]
        native = native.toDF(*(f"c{i}" for i in range(len(native.columns))))
        return nw.from_native(by_spark(native, places)), places
    plain = {name: f"c{i}" for i, name in enumerate(schema_of(frame))}
    frame = frame.rename(plain)
    names = [plain[column] for column in columns]
    if kind.is_polars():
        frame = nw.from_native(by_polars(frame.to_native(), names))
    halves = [name for name in names if frame.collect_schema()[name] == nw.Float16]
    return frame.with_columns(nw.col(*halves).cast(nw.Float64)) if halves else frame, names
