"""Arrow in memory: equal cells are grouped as bytes, and each group is looked up here.

As bytes, because an Arrow column of text may hold bytes that are not UTF-8, which its own
functions on text refuse.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

from dproo.alphabet import Alphabet
from dproo.alphabet.axis import Axis, Letters
from dproo.engines import query as sql
from dproo.engines.cleaning import repaired
from dproo.engines.tally import Tally

_CHUNK = 1 << 20
_CHARACTER = 4  # bytes
_NUMBER = 64  # bytes; no number is written with as many
_EPOCH = date(1970, 1, 1).toordinal()
_DAYS = {unit: 24 * 60 * 60 * 1000**i for i, unit in enumerate(("s", "ms", "us", "ns"))}


def kind_of(dtype: Any) -> str | None:
    """Return what a column of a type of Arrow holds, nothing if no letters."""
    from pyarrow import types as t  # noqa: PLC0415 - where there is a type of it

    if t.is_dictionary(dtype) or t.is_run_end_encoded(dtype):
        return kind_of(dtype.value_type)
    if t.is_timestamp(dtype):
        return sql.TIMESTAMP if dtype.tz is None else sql.INSTANT
    kinds = {
        sql.TEXT: t.is_string(dtype) or t.is_large_string(dtype) or t.is_string_view(dtype),
        sql.INTEGER: t.is_integer(dtype),
        sql.FLOAT: t.is_floating(dtype),
        sql.DECIMAL: t.is_decimal(dtype),
        sql.BOOLEAN: t.is_boolean(dtype),
        sql.DATE: t.is_date(dtype),
        sql.NOTHING: t.is_null(dtype),
    }
    return next((kind for kind, is_one in kinds.items() if is_one), None)


def count_arrow(columns: Sequence[Any], *, alphabet: Alphabet) -> Tally:
    """Count the records of chunked columns by letter."""
    return Tally.of(_groups(columns, alphabet), alphabet=alphabet)


def _groups(columns: Sequence[Any], alphabet: Alphabet) -> Iterator[Sequence[Any]]:
    import pyarrow as pa  # noqa: PLC0415 - as above

    names = [f"c{i}" for i in range(len(columns))]
    longest = [_longest(axis) for axis in alphabet.axes]
    kinds = [column.type for column in columns]
    for start in range(0, len(columns[0]), _CHUNK):
        parts = [_grouped(column.slice(start, _CHUNK)) for column in columns]
        groups = pa.table(parts, names=names).group_by(names).aggregate([([], "count_all")])
        cells = [
            _cells(groups.column(name), kind, kept + 1)
            for name, kind, kept in zip(names, kinds, longest, strict=True)
        ]
        yield from zip(*cells, groups.column("count_all").to_pylist(), strict=True)


def _longest(axis: Axis) -> int:
    """Return how many bytes of text can make a letter; one more is kept."""
    if axis.is_read:
        return _CHARACTER * (axis.room + 1)
    if not isinstance(axis, Letters):
        return _NUMBER
    return max(len(letter.encode()) for letter in axis.places)


def values(column: Any) -> list[Any]:
    """Return all cells of a chunked column as Python values."""
    return _cells(_grouped(column), column.type, None) if len(column) else []


def _grouped(column: Any) -> Any:
    """Return a column as its equal cells are grouped."""
    import pyarrow as pa  # noqa: PLC0415 - as above

    return pa.chunked_array([_bare(chunk) for chunk in column.chunks])


def _bare(chunk: Any) -> Any:
    """Return cells one by one: text as bytes, days as integers, others as they are."""
    import pyarrow as pa  # noqa: PLC0415 - as above
    from pyarrow import compute as pc  # noqa: PLC0415 - as above

    kind = chunk.type
    if pa.types.is_dictionary(kind):
        return _bare(chunk.dictionary).take(chunk.indices)
    if pa.types.is_run_end_encoded(kind):
        cells = _bare(chunk.values)
        runs = pa.run_end_encoded(kind.run_end_type, cells.type)
        children = [chunk.run_ends, cells]
        return pc.run_end_decode(
            pa.RunEndEncodedArray.from_buffers(
                runs, len(chunk), [None], offset=chunk.offset, children=children
            )
        )
    bare = {
        pa.string(): pa.binary(),
        pa.large_string(): pa.large_binary(),
        pa.string_view(): pa.binary_view(),
        pa.date32(): pa.int32(),
        pa.date64(): pa.int64(),
    }.get(kind, pa.int64() if pa.types.is_timestamp(kind) else kind)
    viewed = chunk.view(bare)
    return viewed.cast(pa.large_binary()) if bare == pa.binary_view() else viewed


def _cells(grouped: Any, kind: Any, kept: int | None) -> list[Any]:
    import pyarrow as pa  # noqa: PLC0415 - as above
    from pyarrow import compute as pc  # noqa: PLC0415 - as above

    while pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        kind = kind.value_type
    if kind in {pa.string(), pa.large_string(), pa.string_view()}:
        texts = (grouped if kept is None else pc.binary_slice(grouped, 0, kept)).to_pylist()
        return [None if text is None else repaired(text) for text in texts]
    cells: list[Any] = grouped.to_pylist()
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        day = 1 if pa.types.is_date32(kind) else _DAYS[getattr(kind, "unit", "ms")]
        return [None if cell is None else _date(cell // day) for cell in cells]
    return cells


def _date(day: int) -> date | None:
    try:
        return date.fromordinal(_EPOCH + day)
    except (OverflowError, ValueError):  # before the year 1, or after 9999
        return None
