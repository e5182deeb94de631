"""Cells in lists and other iterables, read once; and ready counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, ValuesView
from collections.abc import Set as AbstractSet
from itertools import islice, repeat
from numbers import Integral
from typing import Any

from dproo.core.checks import whole
from dproo.core.counts import Counts
from dproo.counting.boundary import pass_over
from dproo.counting.query import CountQuery
from dproo.counting.scan import Scan
from dproo.counting.sql import people
from dproo.counting.table import Table
from dproo.counting.tally import Tally, kinds_of, named_counts
from dproo.schema import Alphabet
from dproo.schema.axis import LONGEST_OPEN
from dproo.schema.cell import library_of, text_of

_CHUNK = 1 << 12  # cells, which may be long
_NAMELESS = (str, tuple, list, int, float, type(None))  # most records: recognised fast
# Libraries whose iterators yield parts of a table, each of which would count as one record.
_FRAMES = {"pandas", "pyarrow", "polars", "dask", "duckdb", "_duckdb", "pyspark"}


def open_cells(data: Any, query: CountQuery) -> Table | None:
    """Return cells or records as a table, or None if data is not such a collection."""
    # Not any iterable: its items may not be Python values.
    is_cells = isinstance(data, Iterator | Sequence | AbstractSet | ValuesView)
    is_bytes = isinstance(data, bytes | bytearray | memoryview)
    is_of_frames = library_of(data) in _FRAMES
    if query.table is not None or is_bytes or is_of_frames or not is_cells:
        return None
    return Table(columns=None, plan=lambda _, query: _planned_cells(data, query))


def _planned_cells(data: Iterable[object], query: CountQuery) -> Scan:
    is_named = bool(query.columns) and not query.alphabets[0].columns

    def records() -> Iterable[object]:
        if query.person is not None:
            # In a plain tuple, any cell could be the person.
            return (cells_of(record, query.read, is_by_place=False) for record in data)
        if {*query.columns} < {*query.order}:
            return (cells_of(record, query.columns, order=query.order) for record in data)
        return (_cell(record, query.columns[0]) for record in data) if is_named else data

    return Scan(engine="cells", _query=query, _read=lambda: count_records(records(), query))


def count_rows(rows: Iterable[Sequence[object]], query: CountQuery) -> tuple[Tally | Counts, ...]:
    """Count rows of the columns to read."""
    # Without names an alphabet has one column, whose bare cells are counted.
    is_bare = not query.alphabets[0].columns and query.person is None
    return count_records((row[0] for row in rows) if is_bare else rows, query)


def count_records(records: Iterable[object], query: CountQuery) -> tuple[Tally | Counts, ...]:
    """Count records one by one, or cells if the only alphabet names no column."""
    axis = query.open_axis
    rows: Iterable[Sequence[Any]]
    if query.person is not None:
        # The last cell of a row names the person.
        rows = people.kept_rows((cells_of(record, query.read) for record in records), query)
    elif query.alphabets[0].columns:
        rows = ((*cells_of(record, query.columns), 1) for record in records)
    else:
        rows = zip(records, repeat(1)) if axis is not None else _groups(records)
    if axis is not None:
        return named_counts(((_text(cell), number) for cell, number in rows), axis)
    return Tally.several(rows, query=query)


def _text(cell: object) -> str | None:
    """Return the canonical text of a cell, or None if it cannot be an open letter."""
    try:
        text = text_of(cell)
    except BaseException as error:  # noqa: BLE001 - a cell that raises is not a letter
        pass_over(error)
        return None
    return text if text is not None and len(text) <= LONGEST_OPEN else None


def _groups(cells: Iterable[object]) -> Iterator[tuple[object, int]]:
    """Yield cells and how often each occurs, chunk by chunk."""
    rest = iter(cells)
    while part := list(islice(rest, _CHUNK)):
        kinds = kinds_of(part) - {id(type(None))}
        # 1 == True, so a Counter would merge two letters.
        is_exact = len(kinds) <= 1 and kinds <= {id(str), id(int), id(bool)}
        yield from Counter(part).items() if is_exact else zip(part, repeat(1))


def _cell(record: object, column: str) -> object:
    """Return the cell of a record that names its cells; anything else is a cell itself."""
    try:
        cells = _named(record, (column,))
    except BaseException as error:  # noqa: BLE001 - a record that raises is outside
        pass_over(error)
        return None
    return record if cells is None else cells[0]


def cells_of(
    record: object,
    columns: Sequence[str],
    *,
    is_by_place: bool = True,
    order: Sequence[str] = (),
) -> Sequence[object]:
    """Return the cells of a record, by their names or else by their places in ``order``.

    A record that cannot be read, or has other cells, is nobody's and outside. Without
    ``is_by_place``, so is one that does not name its cells.
    """
    # The last cell may be the person's; a bare object there names nobody.
    nothing = [*([None] * (len(columns) - 1)), object()]
    try:
        if (named := _named(record, columns)) is not None:
            return named
        is_row = isinstance(record, Sequence) and not isinstance(record, str | bytes)
        cells = list(record) if is_row and is_by_place else []  # type: ignore[call-overload]
    except BaseException as error:  # noqa: BLE001 - a record that raises is outside
        pass_over(error)
        return nothing
    if len(cells) != len(order or columns):
        return nothing
    return [cells[order.index(name)] for name in columns] if order else cells


def _named(record: Any, columns: Sequence[str]) -> list[object] | None:
    """Return the cells of a record that names them, or None if it does not.

    Raises:
        ValueError: two of its cells have one of these names, as after a join: neither is meant.
    """
    kind = type(record)
    names: Sequence[str] = ()
    cells: Mapping[str, object]
    if kind in _NAMELESS:
        return None
    if isinstance(record, Mapping):
        cells = record
        names = () if isinstance(record, dict) else [*record]  # a row of SQLAlchemy repeats a name
    else:
        if hasattr(kind, "_fields") and (isinstance(record, tuple) or hasattr(kind, "_mapping")):
            names = record._fields
        elif hasattr(record, "__fields__"):  # a row of Spark
            names = record.__fields__
        elif isinstance(record, Sequence) and hasattr(kind, "keys"):  # a row of SQLite
            names = record.keys()  # type: ignore[attr-defined]
        else:
            return None
        cells = dict(zip(names, record, strict=True))
    if len(names) > len({*names}) and any(names.count(name) > 1 for name in columns):
        raise ValueError
    return [cells.get(name) for name in columns]


READY_MAX = 1 << 80
"""The most records of ready counts: samplers take no more."""


def open_counts(data: Any, query: CountQuery) -> Table | None:
    """Return ready counts as a table, or None if data is not counts."""
    if query.table is not None or not isinstance(data, Counts | Mapping):
        return None
    return Table(columns=None, plan=lambda _, query: _planned_counts(data, query))


def _planned_counts(data: Counts | Mapping[Any, int], query: CountQuery) -> Scan:
    alphabet = query.alphabets[0]
    if query.person is not None:
        raise ValueError("person must be used with records: counts do not show whose they are.")
    if query.open_axis is not None:
        raise ValueError("alphabet must list the letters of ready counts; records can be open.")
    if isinstance(data, Counts):
        if data.k != alphabet.k:
            raise ValueError(f"counts must have {alphabet.k} letters, like the alphabet.")
        records = data.n
    elif isinstance(data, dict) and all(map(_is_count, dict.values(data))):
        records = sum(map(int, dict.values(data)))
    else:  # of another mapping, reading it may run code of its own
        raise TypeError(
            "data must be records, or a dict of letters to how often each occurs. For a"
            " mapping of columns to their cells, pass a frame: pandas.DataFrame(data)."
        )
    if records > READY_MAX:
        raise ValueError("counts must sum to at most 2^80.")

    def read() -> tuple[Tally | Counts]:
        return (data if isinstance(data, Counts) else _ready(data, alphabet),)

    return Scan(engine="counts", ready=records, _query=query, _read=read)


def _is_count(number: object) -> bool:
    return isinstance(number, Integral) and not isinstance(number, bool) and int(number) >= 0


def _ready(data: dict[Any, int], alphabet: Alphabet) -> Tally:
    columns = alphabet.columns
    rows = (
        (*(cells_of(key, columns) if columns else (key,)), whole("counts", number, at_least=0))
        for key, number in dict.items(data)
    )
    return Tally.of(rows, alphabet=alphabet)
