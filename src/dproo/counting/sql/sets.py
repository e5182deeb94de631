"""Grouping sets: one statement groups the same records by several sets of columns.

A row has a cell for each column, null for those it is not grouped by. Null may also be a cell;
the marks distinguish the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_WIDTH = 31  # the most columns that PostgreSQL marks in one number


def marks(names: Sequence[str]) -> list[str]:
    """Return the expressions that show which of these columns a row is grouped by.

    >>> marks(["c0", "c1"])
    ['CAST(GROUPING(c0) AS BIGINT) * 2 + CAST(GROUPING(c1) AS BIGINT) * 1']
    """
    return [
        " + ".join(
            f"CAST(GROUPING({name}) AS BIGINT) * {1 << place}"
            for name, place in zip(part, reversed(range(len(part))), strict=True)
        )
        for part in parts(names)
    ]


def marked(places: Iterable[int], columns: int) -> tuple[int, ...]:
    """Return the marks of rows that are grouped by the columns at these places.

    A bit is set for each column that is left out; the last column has the lowest bit.

    >>> marked([0, 2], 3)
    (2,)
    """
    bits = ["0" if place in set(places) else "1" for place in range(columns)]
    return tuple(int("".join(part), 2) for part in parts(bits))


def clause(names: Sequence[str], sets: Iterable[Sequence[int]]) -> str:
    """Return what follows ``GROUP BY``; each set is the places of its columns.

    >>> clause(["c0", "c1", "c2"], [(0, 1), (2,)])
    'GROUPING SETS ((c0, c1), (c2))'
    """
    grouped = (f"({', '.join(names[place] for place in places)})" for places in sets)
    return f"GROUPING SETS ({', '.join(grouped)})"


def parts(items: Sequence[str]) -> list[Sequence[str]]:
    """Return the items in parts that one mark can cover."""
    return [items[start : start + _WIDTH] for start in range(0, len(items), _WIDTH)]
