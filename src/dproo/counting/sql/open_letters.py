"""The letters of an open alphabet: cells that enough records have, grouped in the engine.

The result has one row for each text that enough records have, and one for all others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from dproo.core.counts import NamedCounts
from dproo.counting.boundary import pass_over
from dproo.schema.axis import LONGEST_OPEN, OpenText, is_open_letter
from dproo.schema.cell import text_of


def named_counts(rows: Iterable[Sequence[Any]], axis: OpenText) -> tuple[NamedCounts]:
    """Add up groups of records, each given by a canonical text or None, and its size."""
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
    except BaseException as error:  # noqa: BLE001 - a cell that raises is not a letter
        pass_over(error)
        return None
    return text if text is not None and len(text) <= LONGEST_OPEN else None
