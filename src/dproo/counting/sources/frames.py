"""Frames of any library, each as a stream of Arrow: pandas, Polars, Arrow, DuckDB, and others.

A library provides the names and types of its columns before the charge, and the requested
columns, batch by batch, after it. Cells that are Python objects are read one by one, as from a
list; a column's type decides this, never its cells.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from itertools import chain
from threading import RLock
from typing import Any

from dproo.core.checks import refusal, uninstalled
from dproo.core.counts import Counts
from dproo.counting.boundary import Lazy, apart, attempt, interruptible, load, loaded, required
from dproo.counting.cells import count_rows
from dproo.counting.fit import Column
from dproo.counting.query import CountQuery
from dproo.counting.scan import Scan
from dproo.counting.single_pass import is_single_pass, must_be_reread
from dproo.counting.sources import arrow
from dproo.counting.sources.descriptors import find_files
from dproo.counting.sql import statements as sql
from dproo.counting.sql.duckdb import NULL, Engine, duckdb_kind, shown_type
from dproo.counting.table import Table
from dproo.counting.tally import Tally
from dproo.schema.cell import library_of

pa, pc, pl = Lazy("pyarrow"), Lazy("pyarrow.compute"), Lazy("polars")
ibis, operations = Lazy("ibis"), Lazy("ibis.expr.operations")

Rows = Callable[[Sequence[int]], Iterator[Sequence[Any]]]

_CELL = "cell"
_DOUBLE = 8  # bytes
_DIGITS = 38  # Polars declares longer decimals, but cannot read them
_NULLABLE = re.compile("U?Int(8|16|32|64)|Float(32|64)|boolean")
_NUMPY = {
    "O": sql.ANY,
    "b": sql.BOOLEAN,
    "i": sql.INTEGER,
    "u": sql.INTEGER,
    "f": sql.FLOAT,
    "M": sql.TIMESTAMP,
}
_POLARS = {
    **dict.fromkeys(("String", "Categorical", "Enum", "Null"), sql.TEXT),
    "Boolean": sql.BOOLEAN,
    "Date": sql.DATE,
    "Object": sql.ANY,
}
_WIDTHS = {sql.DATE: 1, sql.TIMESTAMP: 2, sql.INSTANT: 3}
"""Kinds of a column that may differ between files, by what a writer found there."""
_SLOW = (
    "pyarrow is not installed: the cells are read one by one, which takes many times as long."
    " Install it: pip install 'dproo[frames]'."
)
_FOREIGN = (
    "the library that holds the data turns cells into Arrow: if one of them makes it fail,"
    " the release fails. Let it return nulls for cells that it cannot read."
)
_LACKING = (
    "data must have a backend of Ibis that accepts every column of its tables in memory, even"
    " columns that are not named. Cast others, such as float16 in DuckDB, before ibis.memtable."
)
_UNREADY = (
    "data must have a backend of Ibis that answers. Open it again, and install whatever package it"
    " needs to answer with a table of Arrow, such as pandas."
)
_OCCUPIED = (
    "data must be of a connection of DuckDB that is free: without a failed transaction, and without"
    " a result that is not fetched to its end. Fetch or close it, or use connection.cursor()."
)
_TURN = RLock()
"""Held by whoever reads from DuckDB: a connection answers one query at a time, no relation names
its own, and whatever belongs to the module shares one."""
_QUERIED = f"{_FOREIGN} Or give dproo the table, frame or file that the relation reads."


@dataclass(frozen=True, kw_only=True)
class Frame:
    """A frame with its schema; no record has been read.

    Attributes:
        columns: the columns.
        batches: yields the columns at these places as Arrow arrays, batch by batch.
        rows: yields the cells at these places as Python values, row by row; by default, from the
            batches.
        by_cell: the places of columns whose cells must be read one by one; a count of one of them
            reads all its columns like that.
        is_once: whether it can be read only once.
        is_foreign: whether its library is supported only through the protocol.
        rehearse: opens what the frame reads, without reading a record.
        warnings: why a release of it may be slow, or fail.
    """

    columns: tuple[Column, ...]
    batches: Rows = field(repr=False)
    rows: Rows | None = field(default=None, repr=False)
    by_cell: frozenset[int] = frozenset()
    is_once: bool = False
    is_foreign: bool = False
    rehearse: Callable[[], object] | None = field(default=None, repr=False)
    warnings: tuple[str, ...] = ()


def open_table(data: Any, query: CountQuery) -> Table | None:
    """Return a frame, a series or a table of a DuckDB connection, or None if data is neither."""
    is_duckdb = library_of(data) in {"duckdb", "_duckdb"}
    if query.table is not None and not is_duckdb:
        return None
    turn = _TURN if is_duckdb else nullcontext()
    with turn:
        if query.table is not None:
            connection, name = data, sql.table_name(query.table)
            sentence = refusal("table", "be a table of the connection", query.table)
            data = required(lambda: connection.table(name), sentence)
        frame = frame_of(data)
    if frame is None:
        return None
    engine = Engine()
    return Table(
        columns=frame.columns,
        plan=lambda places, query: _planned(frame, places, query, engine, turn),
        close=engine.close,
    )


def _planned(
    frame: Frame,
    places: Sequence[int],
    query: CountQuery,
    engine: Engine,
    turn: AbstractContextManager[object],
) -> Scan:
    if frame.is_once and query.passes > 1:
        raise ValueError(
            must_be_reread(
                "for so many columns: it is a stream, and they need several passes. Read it into"
                " a table first, or declare a network."
            )
        )

    def run(action: Callable[[], Any]) -> Any:
        def in_turn() -> Any:
            with turn:
                return action()

        # An unknown library may read its data only in the thread that opened it.
        return interruptible(in_turn) if frame.is_foreign else apart(in_turn, stop=engine.stop)

    return Scan(
        engine="frames",
        warnings=frame.warnings,
        _query=query,
        _read=lambda: run(lambda: _count(frame, places, query, engine)),
        _rehearse=lambda: run(lambda: _rehearse(frame, places, query, engine)),
    )


def frame_of(data: Any) -> Frame | None:
    """Return data as a frame, a series as its only column, or None if it is neither."""
    is_plain = library_of(data) in {"builtins", "collections", "numpy"}
    opened: Callable[[], Frame] | None = None
    if isinstance(data, str | os.PathLike):
        opened = _opening_parquet(data)
    elif not is_plain:
        opened = _opening(data)
    if opened is None:
        return None
    frame = attempt(opened)
    names = [column.name for column in frame.columns] if frame else []
    if frame is None or not names or len(set(names)) < len(names):
        raise ValueError("data must have a readable schema with columns of different names.")
    if not _has_arrow():
        return replace(frame, by_cell=frozenset(range(len(names))), warnings=(_SLOW,))
    return frame


def _opening(data: Any) -> Callable[[], Frame] | None:
    """Return the function that reads the schema of data, by its library."""
    pandas, polars, pyarrow = map(loaded, ("pandas", "polars", "pyarrow"))
    if pandas is not None and isinstance(data, pandas.DataFrame | pandas.Series):
        return lambda: _of_pandas(data)
    if polars is not None and isinstance(data, polars.DataFrame | polars.LazyFrame | polars.Series):
        return lambda: _of_polars(data)
    is_relation = type(data).__name__ == "DuckDBPyRelation"
    # The type decides: a frame may answer an attribute with a column, or with one of its labels.
    is_stream = hasattr(type(data), "__arrow_c_stream__")
    if (is_relation or is_stream) and not _has_arrow():
        raise ValueError(uninstalled("pyarrow", extra="frames"))
    if is_relation:
        return lambda: _of_duckdb(data)
    if pyarrow is not None and library_of(data) == "pyarrow":
        return _of_arrow(data)
    return (lambda: _of_stream(data)) if is_stream else None


def _has_arrow() -> bool:
    return find_spec("pyarrow") is not None


def _count(
    frame: Frame, places: Sequence[int], query: CountQuery, engine: Engine
) -> Sequence[Tally | Counts]:
    if frame.by_cell.isdisjoint(places):

        def counted(places: Sequence[int], query: CountQuery) -> Sequence[Tally | Counts]:
            return arrow.count_batches(
                lambda: frame.batches(places),
                kinds=_kinds(frame, places),
                query=query,
                is_once=frame.is_once,
                engine=engine,
            )

        if query.passes == 1:
            return counted(places, query)
        return query.in_batches(
            lambda batch: counted([places[at] for at in batch.columns], batch.query)
        )
    rows = frame.rows(places) if frame.rows else _rows(frame.batches(places))
    return count_rows(rows, query)


def _rehearse(frame: Frame, places: Sequence[int], query: CountQuery, engine: Engine) -> None:
    """Load the libraries, open the files, and run the queries on no record."""
    if frame.rehearse is not None:
        frame.rehearse()
    if frame.by_cell.isdisjoint(places):
        kinds = _kinds(frame, places)
        arrow.rehearse(kinds=kinds, query=query, is_once=frame.is_once, engine=engine)


def _kinds(frame: Frame, places: Sequence[int]) -> list[str]:
    return [frame.columns[place].kind or sql.TEXT for place in places]


def _rows(batches: Iterator[Sequence[Any]]) -> Iterator[Sequence[Any]]:
    return (row for columns in batches for row in zip(*map(arrow.values, columns), strict=True))


def _of_arrow(data: Any) -> Callable[[], Frame] | None:
    """Return the function that opens an array, table, batch, dataset or reader of pyarrow."""
    if isinstance(data, pa.Array | pa.ChunkedArray):
        chunks = [data] if isinstance(data, pa.Array) else data.chunks
        schema = pa.schema([(_CELL, data.type)])
        return lambda: _of_schema(schema, lambda _: ([chunk] for chunk in chunks))
    if isinstance(data, pa.Table | pa.RecordBatch):
        return lambda: _of_schema(data.schema, lambda places: _batches(data.select(places)))
    if isinstance(data, pa.RecordBatchReader):
        return lambda: _of_stream(data)
    if type(data).__module__ == "pyarrow._dataset" and hasattr(data, "scanner"):
        return lambda: _of_dataset(data)
    return None


def _opening_parquet(data: str | os.PathLike[str]) -> Callable[[], Frame]:
    """Return the function that opens Parquet files that DuckDB cannot read exactly."""
    library, files = load("pyarrow.dataset", extra="frames"), find_files(data)

    def parts() -> list[Any]:
        # The names mean these files as long as they are open.
        return [library.dataset(file.name, format="parquet") for file in files]

    def scanned(places: Sequence[int]) -> Iterator[Sequence[Any]]:
        opened = parts()
        schema = _merged(opened)
        return chain.from_iterable(_scanned(_filled(part, schema), places) for part in opened)

    return lambda: _of_schema(_merged(parts()), scanned)


def _merged(parts: Sequence[Any]) -> Any:
    """Return the schema of files: of a column without values, or of days, the widest type."""
    schema = parts[0].schema
    for part in parts[1:]:
        for place, column in enumerate(part.schema):
            if _width(schema.field(place).type) < _width(column.type):
                schema = schema.set(place, column)
    return schema


def _width(dtype: Any) -> int:
    return 0 if dtype == pa.null() else _WIDTHS.get(arrow.kind_of(dtype) or "", len(_WIDTHS) + 1)


def _filled(part: Any, schema: Any) -> Any:
    """Return one of several files, with the types of all in columns in which it has no value.

    Other columns retain their own type: they are converted to plain types, which no cell makes
    fail, while Arrow fails on a moment that does not fit into another type.
    """
    pairs = zip(part.schema, schema, strict=True)
    return part.replace_schema(
        pa.schema([of_all if own.type == pa.null() else own for own, of_all in pairs])
    )


def _shown(dtype: Any) -> str:
    """Return the name of a type, without the cell that fills a sparse one."""
    is_sparse = type(dtype).__name__ == "SparseDtype"
    return f"Sparse[{dtype.subtype}]" if is_sparse else str(dtype)


def _columns(
    names: Iterable[str], types: Sequence[Any], kind_of: Callable[[Any], str | None]
) -> tuple[Column, ...]:
    return tuple(
        Column(name=name, kind=kind_of(dtype), type_name=_shown(dtype))
        for name, dtype in zip(names, types, strict=True)
    )


def _of_schema(
    schema: Any, batches: Callable[[Sequence[int]], Iterator[Sequence[Any]]], **options: Any
) -> Frame:
    return Frame(
        columns=_columns(schema.names, schema.types, arrow.kind_of),
        batches=batches,
        by_cell=frozenset(i for i, dtype in enumerate(schema.types) if arrow.is_by_cell(dtype)),
        **options,
    )


def _batches(table: Any) -> Iterator[Sequence[Any]]:
    parts = table.to_batches() if hasattr(table, "to_batches") else [table]
    return (batch.columns for batch in parts)


def _scanned(dataset: Any, places: Sequence[int]) -> Iterator[Sequence[Any]]:
    names = dataset.schema.names
    columns = {
        # By place, Arrow fails on a partition whose folder names a null.
        f"c{i}": pc.field(names[place] if names.count(names[place]) == 1 else place)
        for i, place in enumerate(places)
    }
    if any(_is_category(dataset.schema.field(place)) for place in places):
        dataset = attempt(lambda: _with_categories(dataset)) or dataset
    return (batch.columns for batch in dataset.scanner(columns=columns).to_batches())


def _of_dataset(data: Any) -> Frame:
    return _of_schema(
        data.schema,
        lambda places: _scanned(data, places),
        rehearse=lambda: _open_files(data),
        warnings=(_FOREIGN,) if _may_fail(data) else (),
    )


def _open_files(dataset: Any) -> None:
    """Open each file of a dataset, to notice if one is gone; no record is read.

    Arrow does not show the files of a filtered dataset.
    """
    for part in attempt(lambda: list(dataset.get_fragments())) or ():
        # Fragments in memory have no file system.
        if (system := getattr(part, "filesystem", None)) is not None:
            system.open_input_file(part.path).close()


def _is_category(column: Any) -> bool:
    is_dictionary = pa.types.is_dictionary(column.type)
    return is_dictionary and arrow.is_text(column.type)


def _may_fail(dataset: Any) -> bool:
    """Return whether a cell may make Arrow fail: it parses text files, and checks categories.

    :func:`_with_categories` reads the categories of Parquet files unchecked, unless the dataset is
    filtered or part of a union.
    """
    if hasattr(dataset, "children"):
        return any(map(_is_category, dataset.schema)) or any(map(_may_fail, dataset.children))
    if type(dataset).__name__ == "InMemoryDataset":
        return False
    kind = dataset.format.default_extname
    if kind == "parquet" and any(map(_is_category, dataset.schema)):
        return attempt(dataset.get_fragments) is None
    return kind not in {"parquet", "arrow", "feather"}


def _with_categories(dataset: Any) -> Any:
    """Return a dataset of Parquet files whose categories are read unchecked, or None for others.

    In memory, Arrow's dictionaries have 32-bit indices. When it converts these to the indices that
    the file declares, it would check the text, and fail if it is not UTF-8.
    """
    library = load("pyarrow.dataset", extra="frames")
    if getattr(dataset, "format", None) is None or dataset.format.default_extname != "parquet":
        return None
    wide = pa.dictionary(pa.int32(), pa.string())
    schema = pa.schema(
        [field.with_type(wide) if _is_category(field) else field for field in dataset.schema]
    )
    options = library.ParquetReadOptions(
        dictionary_columns=[field.name for field in dataset.schema if _is_category(field)],
        coerce_int96_timestamp_unit=dataset.format.read_options.coerce_int96_timestamp_unit,
    )
    kind = library.ParquetFileFormat(
        read_options=options,
        default_fragment_scan_options=dataset.format.default_fragment_scan_options,
    )
    parts = [
        kind.make_fragment(
            part.path,
            part.filesystem,
            partition_expression=part.partition_expression,
            row_groups=[group.id for group in part.row_groups],
        )
        for part in dataset.get_fragments()
    ]
    return library.FileSystemDataset(parts, schema, kind, dataset.filesystem)


def _of_stream(data: Any) -> Frame:
    """Return the frame of an object that supports the Arrow stream protocol.

    A table can be read again, a stream of batches cannot.
    """
    own, is_once = _schema_of(data), is_single_pass(data)
    schema = pa.schema(own)

    def batches(places: Sequence[int]) -> Iterator[Sequence[Any]]:
        selected = None if is_once else _selected(data, schema, places)
        reader = pa.RecordBatchReader.from_stream(data if selected is None else selected)
        at = list(places if selected is None else range(len(places)))
        return ([batch.column(place) for place in at] for batch in reader)

    frame = _of_schema(schema, batches, is_once=is_once, is_foreign=True, warnings=(_FOREIGN,))
    types = getattr(own, "types", ())
    is_ibis = [library_of(dtype) == "ibis" for dtype in types]
    if len(types) != len(frame.columns) or not all(is_ibis):
        return frame
    columns = tuple(map(_checked_by_ibis, frame.columns, types))
    return replace(frame, columns=columns, rehearse=lambda: _rehearse_ibis(data))


def _rehearse_ibis(table: Any) -> None:
    """Let the backend load what turns its answers into Arrow, and accept the tables in memory.

    It may lack their types, so it is given empty copies of them. The table itself is not run, even
    with a limit of 0: Ibis would convert the tables in memory.
    """

    def offered() -> list[Any]:
        held = table.op().find(operations.InMemoryTable)
        empty = [ibis.memtable(t.schema.to_pyarrow().empty_table(), schema=t.schema) for t in held]
        return [ibis.get_backend(table).to_pyarrow(each.count()) for each in empty]

    required(lambda: ibis.get_backend(table).to_pyarrow(ibis.literal(1)), _UNREADY)
    required(offered, _LACKING)


def _schema_of(data: Any) -> Any:
    return data.schema() if callable(data.schema) else data.schema


def _checked_by_ibis(column: Column, dtype: Any) -> Column:
    """Return a column, without a kind if it is text in Arrow but not in Ibis.

    Ibis declares JSON, UUID and every type that it does not know as text to Arrow, but then cannot
    convert the cells. The type is named by its class, since the name of a raw type may list values.
    """
    name = type(dtype).__name__
    is_empty = name == "Null" or str(getattr(dtype, "raw_type", "")).strip('"') == "NULL"
    if column.kind == sql.TEXT and name != "String" and not is_empty:
        return replace(column, kind=None, type_name=name.lower())
    return column


def _selected(data: Any, schema: Any, places: Sequence[int]) -> Any:
    """Return a table with only these columns, or None if its library cannot select them.

    Otherwise the library would convert other cells, too, and the release may fail because of one.
    It may take a name for a pattern or an expression, so the schemas are compared.
    """
    columns = [(schema.field(place).name, schema.field(place).type) for place in places]

    def select() -> Any:
        selected = data.select(*(name for name, _ in columns))
        found = [(column.name, column.type) for column in pa.schema(_schema_of(selected))]
        return selected if found == columns else None

    return attempt(select)


def _of_duckdb(relation: Any) -> Frame:
    """Return the frame of a DuckDB relation, which only selects columns; our engine counts.

    The cells of a table are valid; any other relation computes its cells or reads them elsewhere.
    """
    names, types = relation.columns, list(map(str, relation.types))
    if len({name.lower() for name in names}) < len(names):  # the first would be read twice
        raise ValueError

    def cell(place: int) -> str:
        name = sql.quoted(names[place])
        # Arrow has no integers this long.
        is_cast = types[place] == NULL or re.fullmatch("U?HUGEINT|BIGNUM", types[place])
        return f"CAST({name} AS VARCHAR) AS c{place}" if is_cast else f"{name} AS c{place}"

    def batches(places: Sequence[int]) -> Iterator[Sequence[Any]]:
        selected = relation.project(", ".join(map(cell, places)))
        return (batch.columns for batch in pa.RecordBatchReader.from_stream(selected))

    return Frame(
        columns=tuple(
            Column(name=name, kind=duckdb_kind(dtype), type_name=shown_type(dtype))
            for name, dtype in zip(names, types, strict=True)
        ),
        batches=batches,
        by_cell=frozenset(i for i, t in enumerate(types) if t == f"DECIMAL({_DIGITS},{_DIGITS})"),
        # The query is of the connection; it does not read the relation.
        rehearse=lambda: required(
            lambda: relation.query("unread", "SELECT 1").fetchall(), _OCCUPIED
        ),
        warnings=() if relation.type == "TABLE_RELATION" else (_QUERIED,),
    )


def _of_polars(data: Any) -> Frame:
    frame = data.alias(_CELL).to_frame() if isinstance(data, pl.Series) else data
    schema = frame.collect_schema()
    names, types = schema.names(), schema.dtypes()

    def parts(places: Sequence[int]) -> Iterator[Any]:
        # By place, because Polars may read a name as a pattern.
        cells = [pl.nth(place).alias(f"c{i}") for i, place in enumerate(places)]
        selected: Any = frame.select(cells)
        # Not collected in batches, which would silently end early if one of its threads panics.
        selected = selected.collect() if isinstance(selected, pl.LazyFrame) else selected
        return iter(selected.iter_slices(arrow.ROWS))

    def batches(places: Sequence[int]) -> Iterator[Sequence[Any]]:
        return ([_polars_array(series) for series in part] for part in parts(places))

    def rows(places: Sequence[int]) -> Iterator[Sequence[Any]]:
        return chain.from_iterable(
            zip(*map(_polars_cells, part), strict=True) for part in parts(places)
        )

    return Frame(
        columns=tuple(
            Column(
                name=name,
                kind=_polars_kind(dtype),
                type_name=str(dtype),
                # A Categorical lists what occurs in the data.
                values=tuple(dtype.categories) if dtype.base_type() == pl.Enum else (),
            )
            for name, dtype in zip(names, types, strict=True)
        ),
        batches=batches,
        rows=rows,
        by_cell=frozenset(
            i
            for i, dtype in enumerate(types)
            if dtype == pl.Object or getattr(dtype, "scale", 0) == _DIGITS
        ),
        # The program may have chosen an engine that is not installed.
        rehearse=pl.LazyFrame().collect if isinstance(frame, pl.LazyFrame) else None,
    )


def _polars_kind(dtype: Any) -> str | None:
    if dtype.is_integer():
        return sql.INTEGER
    if dtype.is_float():
        return sql.FLOAT
    if dtype.is_decimal():
        return sql.DECIMAL if (dtype.precision or 0) <= _DIGITS else None
    name = dtype.base_type().__name__
    if name == "Datetime":
        return sql.INSTANT if dtype.time_zone else sql.TIMESTAMP
    return _POLARS.get(name)


def _polars_array(series: Any) -> Any:
    """Return a series as an Arrow array; Arrow has no wide integers."""
    name = series.dtype.base_type().__name__
    # Every chunk of a Categorical would have all categories.
    if name in {"Int128", "UInt128", "Categorical", "Enum"}:
        series = series.cast(pl.String)
    return (series.cast(pl.Float32) if name == "Float16" else series).to_arrow()


def _polars_cells(series: Any) -> Iterator[Any]:
    name = series.dtype.base_type().__name__
    if name not in {"Date", "Datetime"}:
        return iter(series.to_list())
    per_day = 1 if name == "Date" else arrow.UNITS[series.dtype.time_unit]
    return (arrow.day(cell, per_day) for cell in series.to_physical().to_list())


def _of_pandas(data: Any) -> Frame:
    frame = data if hasattr(type(data), "columns") else data.to_frame(_CELL)
    types = list(frame.dtypes)

    def batches(places: Sequence[int]) -> Iterator[Sequence[Any]]:
        columns = [_pandas_array(frame.iloc[:, place]) for place in places]
        return _batches(pa.table(columns, names=list(map(str, places))))

    def rows(places: Sequence[int]) -> Iterator[Sequence[Any]]:
        return zip(*(_pandas_cells(frame.iloc[:, place]) for place in places), strict=True)

    return Frame(
        columns=_columns(frame.columns, types, _frame_kind),
        batches=batches,
        rows=rows,
        by_cell=frozenset(i for i, dtype in enumerate(types) if _has_objects(dtype)),
    )


def pandas_kind(dtype: Any) -> str | None:
    """Return what a column of a pandas or NumPy type holds, or None if no letters."""
    name = type(dtype).__name__
    if name == "ArrowDtype":
        return arrow.kind_of(dtype.pyarrow_dtype)
    if name == "CategoricalDtype":
        return sql.ANY if _is_bare(dtype) else pandas_kind(dtype.categories.dtype)
    if name == "DatetimeTZDtype":
        return sql.INSTANT
    if library_of(dtype) == "numpy":
        is_wide = dtype.kind == "f" and dtype.itemsize > _DOUBLE
        return None if is_wide else _NUMPY.get(dtype.kind)
    if name == "StringDtype":
        return sql.TEXT
    return _NUMPY.get(dtype.kind) if _NULLABLE.fullmatch(dtype.name) else None


def _is_bare(dtype: Any) -> bool:
    """Return whether a categorical type has no categories, and so says nothing about the column."""
    return dtype.categories is None or not len(dtype.categories)


def _frame_kind(dtype: Any) -> str | None:
    """Return :func:`pandas_kind`, or None for a foreign byte order, which Arrow lacks."""
    is_numpy = library_of(dtype) == "numpy"
    return None if is_numpy and not dtype.isnative else pandas_kind(dtype)


def _is_arrow(dtype: Any) -> bool:
    return type(dtype).__name__ == "ArrowDtype" or getattr(dtype, "storage", "") == "pyarrow"


def _has_objects(dtype: Any) -> bool:
    """Return whether cells are Python objects, including text, or categories of objects."""
    name = type(dtype).__name__
    if name == "ArrowDtype":
        return arrow.is_by_cell(dtype.pyarrow_dtype)
    if name == "CategoricalDtype":
        return _is_bare(dtype) or _has_objects(dtype.categories.dtype)
    return dtype.kind == "O" and not _is_arrow(dtype)


def _pandas_array(cells: Any) -> Any:
    """Return a series or an index, of a type without objects, as an Arrow array."""
    if cells.dtype.kind == "M" and not _is_arrow(cells.dtype):
        moments = cells.array  # without their zone, for which Arrow may have no name
        return pa.array(moments.asi8, pa.timestamp(moments.unit), mask=moments.isna())
    if type(cells.dtype).__name__ != "CategoricalDtype":
        return pa.array(cells, from_pandas=True)
    codes = cells.array.codes
    categories = _pandas_array(cells.array.categories)
    if isinstance(categories, pa.ChunkedArray):
        categories = categories.combine_chunks()
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), categories)


def _pandas_cells(cells: Any) -> Iterator[Any]:
    """Yield the cells of a series or an index as Python values."""
    if type(cells.dtype).__name__ == "CategoricalDtype":
        categories = [*_pandas_cells(cells.array.categories), None]
        return (categories[code] for code in cells.array.codes)  # the last, -1, is None
    if _is_arrow(cells.dtype):
        array = _pandas_array(cells)
        return chain.from_iterable(map(arrow.values, getattr(array, "chunks", [array])))
    if cells.dtype.kind == "M":
        per_day = arrow.UNITS[cells.array.unit]
        moments = zip(cells.array.asi8, cells.array.isna(), strict=True)
        # NaT is stored as an integer too: in nanoseconds, a day in 1677.
        return (arrow.day(None if is_nat else int(cell), per_day) for cell, is_nat in moments)
    starts = range(0, len(cells), arrow.ROWS)
    parts = (cells.array[start : start + arrow.ROWS] for start in starts)
    return chain.from_iterable(part.tolist() for part in parts)
