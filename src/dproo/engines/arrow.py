"""Arrow in memory: equal cells are grouped as bytes, and each group is looked up here.

As bytes, because an Arrow column of text may hold bytes that are not UTF-8, which its own
functions on text refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import date
from typing import Any

from dproo.alphabet import Alphabet
from dproo.alphabet.axis import Letters
from dproo.engines.cleaning import repaired
from dproo.engines.tally import Tally

_CHUNK = 1 << 20
_NUMBER = 64  # bytes; no number is written with as many
_EPOCH = date(1970, 1, 1).toordinal()
_DAY = 24 * 60 * 60 * 1000


def is_readable(kind: Any) -> bool:
    """Tell whether a type of Arrow holds letters."""
    import pyarrow as pa  # noqa: PLC0415 - where there is a type of it

    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return is_readable(kind.value_type)
    return any(is_kind(kind) for is_kind in _kinds())


def _kinds() -> Sequence[Callable[[Any], bool]]:
    from pyarrow import types as t  # noqa: PLC0415 - as above

    texts = t.is_string, t.is_large_string, t.is_string_view
    return (*texts, t.is_integer, t.is_floating, t.is_decimal, t.is_boolean, t.is_date, t.is_null)


def count_arrow(columns: Sequence[Any], *, alphabet: Alphabet) -> Tally:
    """Count the records of chunked columns by letter."""
    return Tally.of(_groups(columns, alphabet), alphabet=alphabet)


def _groups(columns: Sequence[Any], alphabet: Alphabet) -> Iterator[Sequence[Any]]:
    import pyarrow as pa  # noqa: PLC0415 - as above

    names = [f"c{i}" for i in range(len(columns))]
    longest = [
        max((len(letter.encode()) for letter in axis.places), default=0)
        if isinstance(axis, Letters)
        else _NUMBER
        for axis in alphabet.axes
    ]
    kinds = [column.type for column in columns]
    for start in range(0, len(columns[0]), _CHUNK):
        parts = [_grouped(column.slice(start, _CHUNK)) for column in columns]
        groups = pa.table(parts, names=names).group_by(names).aggregate([([], "count_all")])
        cells = [
            _cells(groups.column(name), kind, kept + 1)
            for name, kind, kept in zip(names, kinds, longest, strict=True)
        ]
        yield from zip(*cells, groups.column("count_all").to_pylist(), strict=True)


def values(column: Any) -> list[Any]:
    """Return all cells of a chunked column as Python values."""
    return _cells(_grouped(column), column.type, None)


def _grouped(column: Any) -> Any:
    """Return a column as its equal cells are grouped: text as bytes, days as integers."""
    import pyarrow as pa  # noqa: PLC0415 - as above
    from pyarrow import compute as pc  # noqa: PLC0415 - as above

    kind, chunks = column.type, column.chunks
    if pa.types.is_dictionary(kind):
        decoded = [chunk.dictionary_decode() for chunk in chunks]
        return _grouped(pa.chunked_array(decoded, kind.value_type))
    if pa.types.is_run_end_encoded(kind):
        decoded = [pc.run_end_decode(chunk) for chunk in chunks]
        return _grouped(pa.chunked_array(decoded, kind.value_type))
    bare = {
        pa.string(): pa.binary(),
        pa.large_string(): pa.large_binary(),
        pa.string_view(): pa.binary_view(),
        pa.date32(): pa.int32(),
        pa.date64(): pa.int64(),
    }.get(kind, kind)
    viewed = pa.chunked_array([chunk.view(bare) for chunk in chunks], bare)
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
    if pa.types.is_date(kind):
        day = _DAY if pa.types.is_date64(kind) else 1
        return [None if cell is None else _date(cell // day) for cell in cells]
    return cells


def _date(day: int) -> date | None:
    try:
        return date.fromordinal(_EPOCH + day)
    except (OverflowError, ValueError):  # before the year 1, or after 9999
        return None
