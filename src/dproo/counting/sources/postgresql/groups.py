"""Grouping equal cells first, in PostgreSQL: a group is mapped once, not each of its records.

If a table has few distinct cells, this is as fast as PostgreSQL's own counting. If they are
many, the server may have to write them to disk, so only tables whose cells take no more than a
bound are grouped first. Within it the planner's estimate decides, as for every query; a wrong
one costs only time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from dproo.counting.asked import Asked
from dproo.counting.sources.postgresql import url as postgresql_url
from dproo.counting.sql import query as sql
from dproo.counting.sql.postgresql import CELLS, KINDS
from dproo.schema.axis import Axis, Bins

BYTES_MAX = 2 << 30
"""The most bytes of a table that is grouped first, and so of what the server writes to disk."""

FEW = 10**5
"""The most groups that the planner may expect."""

Found = TypeVar("Found")

_BYTES_OF_A_CHARACTER = 4
_INSUFFICIENT_RESOURCES = "53"  # the class of disk full, out of memory and temp_file_limit
# All tables that a scan of this one reads; only a heap's size bounds its contents.
_SIZE = """
    WITH RECURSIVE parts (oid) AS (
        SELECT CAST(to_regclass(%s) AS oid)
        UNION SELECT inhrelid FROM pg_inherits JOIN parts ON inhparent = parts.oid
    )
    SELECT bool_and(relkind = 'p' OR (relkind IN ('r', 'm') AND amname = 'heap')),
        CAST(sum(coalesce(pg_relation_size(pg_class.oid), 0)) AS BIGINT)
    FROM parts JOIN pg_class USING (oid) LEFT JOIN pg_am ON pg_am.oid = relam
"""


@dataclass(frozen=True, kw_only=True)
class EqualCells:
    """The groups of equal cells of a table.

    Attributes:
        name: the full name of the table.
        relation: the table expression of the groups: the cells ``c0, c1, ...`` and ``records``.
        query: the query that counts by them.
    """

    name: str
    relation: str = field(repr=False)
    query: str = field(repr=False)

    def are_few(self, cursor: Any) -> bool:
        """Return whether to group first, by the catalog and the statistics; no record is read."""
        cursor.execute(_SIZE, [self.name])
        ((is_heap, size),) = cursor.fetchall()
        if not is_heap or size > BYTES_MAX:
            return False
        cursor.execute(f"EXPLAIN SELECT * FROM {self.relation} AS grouped")  # noqa: S608
        estimate = re.search(r" rows=([0-9]+) ", cursor.fetchall()[0][0])
        return estimate is not None and int(estimate[1]) <= FEW


def relation_of(
    name: str, columns: Sequence[str], bases: Sequence[str], asked: Asked
) -> str | None:
    """Return the table expression of groups of equal cells, or None if some may be too long.

    Equal cells are the same letter. Text longer than every letter becomes null: both are
    outside.

    Args:
        name: the full name of the table.
        columns: the columns to count.
        bases: the base type of each.
        asked: the letters.
    """
    is_one = len(asked.alphabets) == 1 and asked.person is None and asked.open_axis is None
    # A numeric has up to 10^5 digits, which may take next to nothing in the table.
    if not is_one or sql.DECIMAL in map(KINDS.get, bases):
        return None
    cells = ", ".join(
        f"{_cell(sql.quoted(column), base, axis)} AS c{i}"
        for i, (column, base, axis) in enumerate(zip(columns, bases, asked.axes, strict=True))
    )
    keys = ", ".join(f"c{i}" for i in range(len(columns)))
    return (
        f"(SELECT {keys}, count(*) AS records FROM"  # noqa: S608
        f" (SELECT {cells} FROM {name}) AS cells GROUP BY {keys})"
    )


def _cell(column: str, base: str, axis: Axis) -> str:
    cell = CELLS.get(base, "{}").replace("{}", column)
    if KINDS[base] != sql.TEXT:
        return cell
    longest = axis.room if axis.is_read or isinstance(axis, Bins) else axis.longest
    is_short = f"octet_length({cell}) <= {_BYTES_OF_A_CHARACTER * longest}"
    return f'CASE WHEN {is_short} THEN {cell} COLLATE "C" END'


def attempt(connection: Any, read: Callable[[], Found]) -> Found | None:
    """Return what is read, or None if the server lacks room for it; other errors pass."""
    try:
        with connection.transaction():
            return read()
    except postgresql_url.driver().Error as error:
        if not (error.sqlstate or "").startswith(_INSUFFICIENT_RESOURCES):
            raise
    return None
