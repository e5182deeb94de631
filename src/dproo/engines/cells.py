"""Cells in memory: lists, iterables, NumPy arrays and ready counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, repeat
from typing import Any

from dproo.alphabet import Alphabet
from dproo.core.arguments import whole
from dproo.engines.query import refuse_type
from dproo.engines.tally import Tally

_CHUNK = 1 << 16
_DOUBLE = 8  # bytes


def count_cells(records: Iterable[object], *, alphabet: Alphabet) -> Tally:
    """Count records one by one; with several columns each is a mapping or a sequence."""
    columns = alphabet.columns
    rows: Iterable[Sequence[Any]] = _groups(records)
    if columns:
        rows = ((*_cells(record, columns), 1) for record in records)
    return Tally.of(rows, alphabet=alphabet)


def _groups(cells: Iterable[object]) -> Iterator[tuple[object, int]]:
    """Yield cells and how often each occurs, a part of the data at a time."""
    rest = iter(cells)
    while part := list(islice(rest, _CHUNK)):
        kinds = set(map(type, part)) - {type(None)}
        # Of different types some are one key and two letters, as 1 and True are.
        is_exact = len(kinds) <= 1 and kinds <= {str, int, bool}
        yield from Counter(part).items() if is_exact else zip(part, repeat(1))


def _cells(record: object, columns: Sequence[str]) -> Sequence[object]:
    """Return the cells of a record, nothing in place of those that cannot be had."""
    nothing = [None] * len(columns)
    try:
        if isinstance(record, Mapping):
            return [record.get(column) for column in columns]
        is_row = isinstance(record, Sequence) and not isinstance(record, str | bytes)
        cells = list(record) if is_row else []  # type: ignore[call-overload]
    except Exception:  # noqa: BLE001 - a record is outside, whatever its methods do
        return nothing
    return cells if len(cells) == len(columns) else nothing


def check_array(array: Any, *, alphabet: Alphabet) -> None:
    """Refuse an array by its type: its number of dimensions and of columns, its cells' type.

    Raises:
        ValueError: it is not that of the alphabet's columns, or its cells are no letters.
    """
    columns = alphabet.columns
    if array.shape[1:] != ((len(columns),) if columns else ()) or not array.ndim:
        shape = f"have shape (n, {len(columns)})" if columns else "have one dimension"
        raise ValueError(f"data must {shape}.")
    is_day = array.dtype.kind == "M" and array.dtype.str[1:] == "M8[D]"
    is_double = array.dtype.kind == "f" and array.dtype.itemsize <= _DOUBLE
    if not (is_day or is_double or array.dtype.kind in "OUTbiu"):
        refuse_type(columns[0] if columns else "data", str(array.dtype))


def array_cells(array: Any) -> Iterator[object]:
    """Yield the cells of a NumPy array as Python values, a part at a time."""
    for start in range(0, len(array), _CHUNK):
        yield from array[start : start + _CHUNK].tolist()


def ready_tally(data: Mapping[Any, int], *, alphabet: Alphabet) -> Tally:
    """Return the tally of a mapping of letters to their counts."""
    columns = alphabet.columns
    rows = (
        (*(_cells(key, columns) if columns else (key,)), whole("counts", number, at_least=0))
        for key, number in data.items()
    )
    return Tally.of(rows, alphabet=alphabet)
