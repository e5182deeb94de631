"""Arrow data of any library: batches of columns, which the embedded DuckDB counts like files.

Each batch is converted to a form that neither DuckDB nor Python refuses, whatever a cell holds:
text is valid UTF-8, moments are days of the calendar, dictionaries and runs are expanded. The
form depends on the types alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from decimal import Decimal
from hashlib import sha256
from itertools import chain
from typing import Any

from dproo.core.counts import Counts
from dproo.counting.boundary import Lazy, load
from dproo.counting.query import CountQuery
from dproo.counting.sources.file_scan import counted_relation
from dproo.counting.sources.text.cleaning import repaired
from dproo.counting.sql import statements as sql
from dproo.counting.sql.duckdb import ROOM, Engine, in_range
from dproo.counting.tally import Tally, tables_of
from dproo.schema.axis import Axis, Bins
from dproo.schema.cell import BEYOND

pa, pc, t = Lazy("pyarrow"), Lazy("pyarrow.compute"), Lazy("pyarrow.types")

Batches = Callable[[], Iterator[Sequence[Any]]]

ROWS = 1 << 16
"""Rows of a chunk: expanded dictionaries are in memory one chunk at a time."""

_SOURCE = "stream"
_CHARACTER = 4  # bytes
_LONGEST_NAME = 1 << 28  # bytes of an unshortened identifier; DuckDB cannot hold 2^32
_DIGITS = 38
_EPOCH = date(1970, 1, 1).toordinal()
FIRST_DAY, LAST_DAY = date.min.toordinal() - _EPOCH, date.max.toordinal() - _EPOCH
UNITS = {unit: 24 * 60 * 60 * 1000**i for i, unit in enumerate(("s", "ms", "us", "ns"))}
"""How many of each unit make a day."""


def kind_of(dtype: Any) -> str | None:
    """Return what a column of an Arrow type holds, or None if it cannot hold letters."""
    dtype = _value_type(dtype)
    if t.is_timestamp(dtype):
        return sql.TIMESTAMP if dtype.tz is None else sql.INSTANT
    kinds = {
        # A column without any value has this type, often because a writer found none.
        sql.TEXT: _is_text(dtype) or t.is_null(dtype),
        sql.INTEGER: t.is_integer(dtype),
        sql.FLOAT: t.is_floating(dtype),
        sql.DECIMAL: t.is_decimal(dtype),
        sql.BOOLEAN: t.is_boolean(dtype),
        sql.DATE: t.is_date(dtype),
    }
    return next((kind for kind, is_one in kinds.items() if is_one), None)


def is_by_cell(dtype: Any) -> bool:
    """Return whether cells of a type must be read one by one.

    DuckDB has no decimals of more than 38 digits, and prints zero as ``.00`` in a type without
    digits before the point.
    """
    dtype = _value_type(dtype)
    return t.is_decimal(dtype) and not (
        dtype.precision <= _DIGITS and 0 <= dtype.scale <= min(dtype.precision, _DIGITS - 1)
    )


def is_text(dtype: Any) -> bool:
    """Return whether a type, perhaps of categories, is one of text."""
    return _is_text(_value_type(dtype))


def _value_type(dtype: Any) -> Any:
    while t.is_dictionary(dtype) or t.is_run_end_encoded(dtype):
        dtype = dtype.value_type
    return dtype


def _is_text(dtype: Any) -> bool:
    return bool(t.is_string(dtype) or t.is_large_string(dtype) or t.is_string_view(dtype))


def day(number: int | None, per_day: int) -> object:
    """Return the day of a number of units since 1970; it may be beyond the calendar."""
    if number is None:
        return None
    if not FIRST_DAY <= number // per_day <= LAST_DAY:
        return BEYOND
    return date.fromordinal(_EPOCH + number // per_day)


def plain_type(dtype: Any) -> Any:
    """Return the type to which :func:`plain` converts a type that holds letters."""
    dtype = _value_type(dtype)
    if _is_text(dtype) or t.is_null(dtype):
        return pa.large_string()
    if t.is_date(dtype) or t.is_timestamp(dtype):
        return pa.date32()
    if t.is_float16(dtype):
        return pa.float32()
    if t.is_decimal(dtype) and not is_by_cell(dtype):
        return pa.decimal128(_DIGITS, dtype.scale)
    return dtype


def plain(cells: Any, longest: int | None = None) -> Iterator[Any]:
    """Yield an Arrow array as its plain type, chunk by chunk; no cell makes this fail.

    Texts are cut to ``longest`` bytes.
    """
    dtype = cells.type
    if t.is_dictionary(dtype):
        values = _whole(cells.dictionary, longest)
        yield from (values.take(part) for part in _parts(cells.indices))
    elif t.is_run_end_encoded(dtype):
        values = _whole(cells.values, longest)
        # Runs of indices, not of cells: Arrow refuses runs with a cell that overflows its type.
        runs = pa.RunEndEncodedArray.from_buffers(
            pa.run_end_encoded(dtype.run_end_type, pa.int64()),
            *(len(cells), [None]),
            offset=cells.offset,
            children=[cells.run_ends, pa.array(range(len(values)), pa.int64())],
        )
        yield from (values.take(pc.run_end_decode(part)) for part in _parts(runs))
    else:
        yield from (_flat(part, longest) for part in _parts(cells))


def _parts(cells: Any) -> Iterator[Any]:
    return (cells.slice(start, ROWS) for start in range(0, len(cells), ROWS))


def _whole(cells: Any, longest: int | None) -> Any:
    parts = [pa.array([], plain_type(cells.type)), *plain(cells, longest)]
    return pa.concat_arrays(parts)


def _flat(cells: Any, longest: int | None) -> Any:
    """Return an array, neither a dictionary nor runs, as its plain type."""
    dtype = cells.type
    if _is_text(dtype):
        return _text(cells, longest)
    if t.is_date32(dtype):
        return _days(cells.view(pa.int32()), 1)
    if t.is_date64(dtype):  # a number that is not of whole days is no date
        return _days(cells.view(pa.int64()), UNITS["ms"], is_whole=True)
    if t.is_timestamp(dtype):
        return _days(cells.view(pa.int64()), UNITS[dtype.unit])
    if (t.is_decimal128(dtype) or t.is_decimal256(dtype)) and not is_by_cell(dtype):
        return _decimals(cells)
    return cells.cast(plain_type(dtype))


def _text(cells: Any, longest: int | None) -> Any:
    """Return text as valid UTF-8, with U+FFFD for each invalid byte."""
    bare = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary()}
    cells = cells.view(bare.get(cells.type, pa.binary_view())).cast(pa.large_binary())
    length = pc.max(pc.binary_length(cells)).as_py() or 0
    if longest is not None and length > longest:
        cells = pc.binary_slice(cells, 0, longest)
    elif length > _LONGEST_NAME:
        cells = pa.array(map(_shortened, cells), pa.large_binary())
    try:
        return cells.cast(pa.large_string())
    except pa.ArrowInvalid:
        texts = (None if cell is None else repaired(cell) for cell in cells.to_pylist())
        return pa.array(texts, pa.large_string())


def _shortened(cell: Any) -> bytes | None:
    """Return an identifier, with a hash in place of the end of a very long one."""
    name: bytes | None = cell.as_py()
    if name is None or len(name) <= _LONGEST_NAME:
        return name
    return name[:_LONGEST_NAME] + sha256(name).hexdigest().encode()


def _decimals(cells: Any) -> Any:
    """Return decimals of the greatest precision.

    All with more digits than that become the first such number, which differs from a missing one.
    """
    dtype = plain_type(cells.type)
    wide = pa.decimal256(2 * _DIGITS, dtype.scale) if t.is_decimal256(cells.type) else dtype
    cells = cells.view(wide)  # the greatest precision, under which all bits are compared
    least, most = (
        pa.scalar(Decimal((sign, (9,) * _DIGITS, -dtype.scale)), wide) for sign in (1, 0)
    )
    is_valid = pc.and_(pc.greater_equal(cells, least), pc.less_equal(cells, most))
    valid = pc.if_else(is_valid, cells, pa.scalar(Decimal(0), wide)).cast(dtype)
    stored = pa.py_buffer((10**_DIGITS).to_bytes(dtype.byte_width, sys.byteorder))
    (beyond,) = pa.Array.from_buffers(dtype, 1, [None, stored])
    return pc.if_else(is_valid, valid, beyond)


def _days(cells: Any, per_day: int, *, is_whole: bool = False) -> Any:
    """Return the days of numbers of units since 1970.

    All days beyond the calendar become the first one after it, which differs from a missing day;
    where days must be whole, so do all others.
    """
    days = cells
    if per_day > 1:
        days = pc.divide(cells, per_day)  # towards zero
        is_less = pc.less(cells, pc.multiply(days, per_day))
        days = pc.subtract(days, is_less.cast(pa.int64()))
    is_day = pc.and_(pc.greater_equal(days, FIRST_DAY), pc.less_equal(days, LAST_DAY))
    if is_whole:
        is_day = pc.and_(is_day, pc.equal(pc.multiply(days, per_day), cells))
    beyond = pa.scalar(LAST_DAY + 1, cells.type)
    return pc.if_else(is_day, days, beyond).cast(pa.int32()).view(pa.date32())


def values(cells: Any) -> Iterator[Any]:
    """Yield the cells of an Arrow array as Python values."""
    return chain.from_iterable(map(_values, plain(cells)))


def _values(part: Any) -> Iterator[Any]:
    if t.is_date32(part.type):
        return (day(number, 1) for number in part.view(pa.int32()).to_pylist())
    if t.is_decimal(part.type) and not is_by_cell(part.type):
        most = Decimal((0, (9,) * _DIGITS, -part.type.scale))
        return (BEYOND if cell and cell > most else cell for cell in part.to_pylist())
    return iter(part.to_pylist())


def count_batches(
    batches: Batches, *, kinds: Sequence[str], query: CountQuery, is_once: bool, engine: Engine
) -> Sequence[Tally | Counts]:
    """Count the records of batches by the letters of each alphabet, within DuckDB.

    A batch is the columns to count, then the person's.
    """
    duckdb = load("duckdb", room=ROOM)
    numbers = (
        isinstance(axis, Bins) and kind == sql.FLOAT
        for axis, kind in zip(query.axes, kinds, strict=False)
    )
    is_grouped = not (is_once or any(numbers))  # such numbers are likely to be all different
    try:
        return _counted(batches(), engine, kinds=kinds, query=query, is_grouped=is_grouped)
    except duckdb.OutOfMemoryException:
        if not is_grouped or query.person is not None:
            raise
        return _counted(batches(), engine, kinds=kinds, query=query, is_grouped=False)


def rehearse(*, kinds: Sequence[str], query: CountQuery, is_once: bool, engine: Engine) -> None:
    """Load the libraries, start the engine and run the queries on no record."""
    load("pyarrow", extra="frames")
    load("pyarrow.compute", extra="frames")
    types = {
        sql.TEXT: pa.large_string(),
        sql.INTEGER: pa.int64(),
        sql.FLOAT: pa.float64(),
        sql.DECIMAL: pa.decimal128(_DIGITS, 2),
        sql.BOOLEAN: pa.bool_(),
    }
    places: Sequence[int] = range(len(kinds))
    if query.passes > 1:
        places, query = query.batches[0].columns, query.batches[0].query
    kinds = [kinds[place] for place in places]
    empty = [pa.array([], types.get(kind, pa.date32())) for kind in kinds]
    count_batches(lambda: iter([empty]), kinds=kinds, query=query, is_once=is_once, engine=engine)


def _counted(
    batches: Iterator[Sequence[Any]],
    engine: Engine,
    *,
    kinds: Sequence[str],
    query: CountQuery,
    is_grouped: bool,
) -> tuple[Tally | Counts, ...]:
    first = next(batches, None)
    if first is None:
        return tables_of([], query)
    types = [plain_type(column.type) for column in first]
    schema = pa.schema([(f"c{i}", dtype) for i, dtype in enumerate(types)])
    days = {sql.TIMESTAMP: sql.DATE, sql.INSTANT: sql.DATE}
    kinds = [days.get(kind, kind) for kind in kinds]
    longest = [*map(_longest, query.axes), None]
    made = (
        pa.record_batch(list(part), schema=schema)
        for columns in chain([first], batches)
        for part in zip(*map(plain, columns, longest), strict=True)
    )
    cells = [
        in_range(name, f"DECIMAL({_DIGITS},{dtype.scale})", is_key=i == len(query.axes))
        if t.is_decimal(dtype)
        else name
        for i, (name, dtype) in enumerate(zip(schema.names, types, strict=True))
    ]
    relation = sql.relation_of(cells, _SOURCE)
    running = engine.start(is_bounded=is_grouped and query.person is None, room=query.room)
    engine.write_letters(query)
    running.register(_SOURCE, pa.RecordBatchReader.from_batches(schema, made))
    return counted_relation(running, relation, kinds, query, is_grouped=is_grouped)


def _longest(axis: Axis) -> int:
    """Return to how many bytes a text is cut: more than any letter has."""
    return _CHARACTER * (axis.room + 1)
