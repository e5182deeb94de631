"""Dataframes of every make through narwhals: pandas, Polars, Arrow, DuckDB, Dask, Ibis, Spark.

The frame itself maps each cell to its canonical text, sets every record outside the alphabet
to one and the same key, and groups by that; what comes back is one row per seen letter.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any, cast

from dproo.alphabet import Alphabet
from dproo.alphabet.axis import Letters
from dproo.alphabet.open_text import OpenText
from dproo.core.counts import Counts
from dproo.engines import ibis, spark_groups
from dproo.engines.arrow import count_arrow
from dproo.engines.asked import Asked
from dproo.engines.boundary import attempt
from dproo.engines.cells import count_cells, count_people
from dproo.engines.duckdb_dialect import refuse_macros
from dproo.engines.fit import Column, MissingColumnError, check_fit
from dproo.engines.frame_cells import key_of, read_text
from dproo.engines.frame_columns import is_spark, renamed
from dproo.engines.frame_sets import count_lazy
from dproo.engines.grouping import count_groups
from dproo.engines.loading import load
from dproo.engines.open_letters import named_counts, texts_of
from dproo.engines.pandas import count_pandas
from dproo.engines.people_frames import (
    check_people,
    groups_of,
    is_kept_there,
    kept_frame,
    rows_of,
)
from dproo.engines.scan import Scan
from dproo.engines.spark_quiet import quiet
from dproo.engines.tally import Tally
from dproo.engines.types import enumerated, kind_in, schema_of

if TYPE_CHECKING:
    import narwhals as nw

    Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]

_CELL = "cell"
_KNOWN = {"bool", "int64", "float64"}


def open_scan(data: Any, asked: Asked) -> Scan | None:
    """Return the scan of a frame or series, or nothing if the data are none.

    Raises:
        ValueError: a column is not there, or its type holds no letters.
    """
    is_plain = type(data).__module__.partition(".")[0] in {"builtins", "collections"}
    frame = None if asked.table is not None or is_plain else to_frame(data)
    if frame is None:
        return None
    found = check_frame(frame, asked.read)
    if frame.implementation.is_duckdb():
        refuse_macros(frame.to_native())
    if asked.person is not None or asked.open_axis is not None:
        check_people(frame)
    names = [column.name for column in found]
    return Scan(
        engine="frames",
        columns=tuple(found[: len(asked.axes)]),
        warnings=check_fit(found, asked.axes),
        _asked=asked,
        _read=lambda: count_frame(frame, columns=names, asked=asked),
        _rehearse=lambda: rehearse_frame(frame, columns=names, asked=asked),
    )


def to_frame(data: object) -> Frame | None:
    """Return the data as a frame of narwhals, a series as its only column, else nothing.

    Raises:
        ValueError: they are a table of Ibis that is not in DuckDB.
    """
    load("narwhals")
    import narwhals as nw

    data = ibis.relation_of(data) if ibis.is_ibis(data) else data
    native: Any = attempt(lambda: nw.from_native(_whole(data), allow_series=True))
    return native.alias(_CELL).to_frame() if isinstance(native, nw.Series) else native


def rehearse_frame(frame: Frame, *, columns: Sequence[str], asked: Asked) -> None:
    """Count a frame of the same kind that has no records."""
    if "pyarrow" in sys.modules:
        load("pyarrow.acero")  # which groups records, and is loaded with the first of them
    count_frame(emptied(frame), columns=columns, asked=asked)


def emptied(frame: Frame) -> Frame:
    """Return a frame of the same kind and schema without records; none is read for it."""
    import narwhals as nw

    native: Any = frame.to_native()
    if frame.implementation.is_dask():
        return cast("Frame", nw.from_native(native._meta))  # noqa: SLF001 - a frame of no record
    if frame.implementation.is_polars() and isinstance(frame, nw.LazyFrame):
        return cast("Frame", nw.from_native(type(native)(schema=native.collect_schema())))
    return frame.head(0)


def _whole(data: Any) -> Any:
    """Return a single piece of Arrow as the one-piece table or column that narwhals knows."""
    if type(data).__module__ != "pyarrow.lib":
        return data
    import pyarrow as pa  # noqa: PLC0415

    if isinstance(data, pa.Array):
        return pa.chunked_array([data])
    return pa.Table.from_batches([data]) if isinstance(data, pa.RecordBatch) else data


def check_frame(frame: Frame, columns: Sequence[str] | None) -> list[Column]:
    """Return the columns to count, an only one by itself; nothing is read.

    Args:
        frame: the frame.
        columns: their names, or nothing for all of them.

    Raises:
        ValueError: a column is not there.
    """
    schema = attempt(lambda: schema_of(frame))
    if not schema:
        raise ValueError("data must have a readable schema with columns of different names.")
    if columns is not None and not columns and len(schema) > 1:
        raise ValueError("column must be given for a table.")
    for column in columns or ():
        if column not in schema:
            raise MissingColumnError(column)
    return [
        Column(
            name=column,
            kind=kind_in(frame, schema[column]),
            type_name=str(schema[column]),
            values=enumerated(frame, schema[column]),
        )
        for column in columns or schema
    ]


def count_frame(
    frame: Frame, *, columns: Sequence[str], asked: Asked
) -> tuple[Tally | Counts, ...]:
    """Count the records of a frame by each alphabet, within the library that holds it.

    One query of a lazy frame counts by all of them: each would read its source anew.

    Args:
        frame: the frame.
        columns: the columns to count, and that of the person where there is one.
        asked: the alphabets.
    """
    with quiet() if is_spark(frame) else nullcontext():
        if asked.person is not None:
            if not is_kept_there(frame):
                return count_people(rows_of(frame, columns), asked)
            frame, columns = kept_frame(frame, columns, asked)
        if asked.open_axis is not None:
            return named_counts(_texts(frame, columns, asked.open_axis), asked.open_axis)
        return asked.in_batches(
            lambda batch: _listed(frame, [columns[at] for at in batch.columns], batch.asked)
        )


def _texts(frame: Frame, columns: Sequence[str], axis: OpenText) -> Iterable[Sequence[Any]]:
    if is_kept_there(frame):
        return groups_of(frame, columns[0], axis)
    return texts_of(cell for (cell,) in rows_of(frame, columns))


def _listed(frame: Frame, columns: Sequence[str], asked: Asked) -> tuple[Tally, ...]:
    """Count by alphabets that are listed."""
    import narwhals as nw

    if len(asked.alphabets) == 1:
        return (_counted(frame, columns, asked.alphabets[0]),)
    if frame.implementation.is_polars():
        frame = frame.lazy()  # which maps every column once, not once for each table
    if isinstance(frame, nw.LazyFrame):
        if frame.implementation.is_dask() and not _is_known(frame, columns):
            return _counted_in_parts(frame, columns, asked)
        plain, names = renamed(frame, columns, asked.axes)
        schema = plain.collect_schema()
        if not any(schema[name] == nw.Object for name in names):
            return count_lazy(plain, columns=names, asked=asked)
        selected: Any = plain.select(*names)
        frame, columns = selected.collect(), names
    return tuple(
        _counted(frame, [columns[place] for place in places], alphabet)
        for alphabet, places in zip(asked.alphabets, asked.places, strict=True)
    )


def _counted_in_parts(frame: Frame, columns: Sequence[str], asked: Asked) -> tuple[Tally, ...]:
    """Count the partitions of a frame of Dask, each computed once, and add them up."""
    import narwhals as nw

    native: Any = frame.to_native()
    parts = (nw.from_native(part.compute()) for part in native[list(columns)].partitions)
    total = Tally.several([], asked=asked)
    for part in parts:
        found = _listed(part, columns, asked)
        total = tuple(
            Tally.merged(both, alphabet=both[0].alphabet) for both in zip(total, found, strict=True)
        )
    return total


def _counted(frame: Frame, columns: Sequence[str], alphabet: Alphabet) -> Tally:
    import narwhals as nw

    native: Any = frame.to_native()
    if frame.implementation.is_pyarrow():
        return count_arrow([native.column(column) for column in columns], alphabet=alphabet)
    if frame.implementation.is_pandas_like():
        tally = count_pandas([native[column] for column in columns], alphabet=alphabet)
        if tally is not None:
            return tally
    if frame.implementation.is_dask() and not _is_known(frame, columns):
        (tally,) = _counted_in_parts(
            frame, columns, Asked(alphabets=(alphabet,), columns=alphabet.columns)
        )
        return tally
    frame, columns = renamed(frame, columns, alphabet.axes)
    schema = frame.collect_schema()
    if any(schema[column] == nw.Object for column in columns):
        return _count_objects(frame, columns, alphabet)
    tally = count_groups(frame, columns=columns, alphabet=alphabet)
    return _count_mapped(frame, columns, alphabet) if tally is None else tally


def _count_mapped(frame: Frame, columns: Sequence[str], alphabet: Alphabet) -> Tally:
    """Have the frame map every cell to its letter, and group by that."""
    import narwhals as nw

    schema = frame.collect_schema()
    by_spark = is_spark(frame)
    if by_spark:
        frame = spark_groups.grouped(frame, columns)
    keys = []
    for column, axis in zip(columns, alphabet.axes, strict=True):
        cell, is_known = nw.col(column), None
        if by_spark and isinstance(axis, Letters):
            frame, is_known = spark_groups.joined(
                frame, read_text(cell, schema[column], axis), axis
            )
        keys.append(key_of(cell, schema[column], axis, is_known))
    names = [f"key{i}" for i in range(len(keys))]
    closed = [
        is_letter
        for (_, is_letter, _), axis in zip(keys, alphabet.axes, strict=True)
        if not axis.is_open
    ]
    inside = reduce(and_, closed) if closed else nw.lit(value=True)
    cells: dict[str, Any] = {
        name: nw.when(inside & is_letter).then(key).otherwise(nw.lit(outside))
        for name, (key, is_letter, outside) in zip(names, keys, strict=True)
    }
    records = ["records"] if by_spark else []
    groups: Any = frame.select(*records, inside=inside, **cells).group_by("inside", *names)
    number = nw.col("records").sum() if by_spark else nw.len()
    groups = groups.agg(number.alias("records"))
    if isinstance(groups, nw.LazyFrame):
        groups = groups.collect()
    nothing = [None] * len(keys)
    return Tally.of(
        (
            (*(key if is_inside else nothing), records)
            for is_inside, *key, records in groups.iter_rows()
        ),
        alphabet=alphabet,
    )


def _is_known(frame: Frame, columns: Sequence[str]) -> bool:
    """Tell whether Dask itself can count columns.

    Of other types narwhals would have to ask cells, or a function of Dask refuses some: those
    of text refuse bytes that are not UTF-8.
    """
    native = schema_of(frame)
    return all(str(native[column]) in _KNOWN for column in columns)


def _count_objects(frame: Frame, columns: Sequence[str], alphabet: Alphabet) -> Tally:
    import narwhals as nw

    selected = frame.select(*columns)
    if isinstance(selected, nw.LazyFrame):
        selected = selected.collect()
    cells = [selected[column].to_list() for column in columns]
    rows = zip(*cells, strict=True) if alphabet.columns else cells[0]
    return count_cells(rows, alphabet=alphabet)
