"""Cells in memory: lists, iterables, NumPy arrays and ready counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, repeat
from typing import Any

from dproo._check import refusal, whole
from dproo.alphabet import Alphabet
from dproo.counts import Counts
from dproo.engines.tally import Tally

_CHUNK = 1 << 16


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
    if isinstance(record, Mapping):
        return [record.get(column) for column in columns]
    is_row = isinstance(record, Sequence) and not isinstance(record, str | bytes)
    if is_row and len(record) == len(columns):  # type: ignore[arg-type]
        return record  # type: ignore[return-value]
    return [None] * len(columns)


def check_array(array: Any, *, alphabet: Alphabet) -> None:
    """Refuse an array whose shape is not that of the alphabet's columns."""
    wanted = (len(alphabet.columns),) if alphabet.columns else ()
    if array.shape[1:] != wanted or not array.ndim:
        shape = f"have shape (n, {wanted[0]})" if wanted else "have one dimension"
        raise ValueError(refusal("data", shape, f"shape {array.shape}"))


def array_cells(array: Any) -> Iterator[object]:
    """Yield the cells of a NumPy array as Python values, a part at a time."""
    is_time = array.dtype.kind in "mM" and array.dtype.str[1:] != "M8[D]"
    for start in range(0, len(array), _CHUNK):
        part = array[start : start + _CHUNK]
        # A time of nanoseconds would come out as an integer, and an integer is a letter.
        yield from [None] * len(part) if is_time else part.tolist()


def check_ready(data: Counts | Mapping[Any, int], *, alphabet: Alphabet) -> None:
    """Refuse ready counts that are not of this alphabet."""
    if isinstance(data, Counts):
        if data.k != alphabet.k:
            raise ValueError(refusal("counts", f"have {alphabet.k} letters", data.k))
        return
    for letter, count in data.items():
        is_row = isinstance(letter, Sequence) and len(letter) == len(alphabet.columns)
        if alphabet.columns and not (isinstance(letter, tuple) and is_row):
            raise ValueError("counts must have one tuple of letters per record, got another key.")
        whole("counts", count, at_least=0)


def ready_tally(data: Mapping[Any, int], *, alphabet: Alphabet) -> Tally:
    """Return the tally of a mapping of letters to their counts."""
    rows = ((*cells, n) if alphabet.columns else (cells, n) for cells, n in data.items())
    return Tally.of(rows, alphabet=alphabet)
