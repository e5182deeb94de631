"""The letters of an open alphabet: cells that enough records have, grouped where the data is.

What comes back is one row for each text that enough records have, and one for all others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from dproo.core.counts import NamedCounts
from dproo.engines import query as sql
from dproo.schema.axis import LONGEST_OPEN, Axis, OpenText, is_open_letter
from dproo.schema.cell import text_of


def named_counts(rows: Iterable[Sequence[Any]], axis: OpenText) -> tuple[NamedCounts]:
    """Add up groups of records: of each a canonical text, or nothing, and their number."""
    found: Counter[str | None] = Counter()
    for text, number in rows:
        found[text] += number
    letters = {
        text: number
        for text, number in found.items()
        if text and number >= axis.minimum and is_open_letter(text)
    }
    others = found.total() - sum(letters.values())
    return (NamedCounts.seen(letters, others=others),)


def texts_of(cells: Iterable[object]) -> Iterable[tuple[str | None, int]]:
    """Return the canonical text of each cell, and the number one."""
    return ((_text(cell), 1) for cell in cells)


def _text(cell: object) -> str | None:
    try:
        text = text_of(cell)
    except Exception:  # noqa: BLE001 - a cell is no letter, whatever its methods do
        return None
    return text if text is not None and len(text) <= LONGEST_OPEN else None


def statement(relation: str, *, kind: str, axis: Axis, dialect: sql.Dialect, minimum: int) -> str:
    """Return the query; its rows are a text, or null, and a number of records.

    Args:
        relation: a table expression with the cell ``c0`` and ``records``.
        kind: the kind of the column.
        axis: the open alphabet.
        dialect: the engine's.
        minimum: the fewest records of a text that comes back by itself.
    """
    keyed = sql.keyed(relation, ["records"], kinds=[kind], axes=[axis], dialect=dialect)
    return counted(keyed, minimum=minimum)


def counted(relation: str, *, minimum: int) -> str:
    """Return the query of a relation of the key ``k0``, a short text or null, and ``records``."""
    groups = f"SELECT k0, sum(records) AS number FROM {relation} GROUP BY k0"  # noqa: S608
    letter = f"CASE WHEN number >= {minimum} THEN k0 END"
    return (
        f"SELECT {letter}, CAST(sum(number) AS BIGINT) FROM ({groups}) AS grouped"  # noqa: S608
        f" GROUP BY {letter}"
    )
