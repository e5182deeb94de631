"""A table of an open DuckDB connection, counted as a relation, which is a frame."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dproo.core.checks import refusal
from dproo.counting.asked import Asked
from dproo.counting.boundary import attempt
from dproo.counting.scan import Scan
from dproo.counting.sources import frames
from dproo.counting.sql.query import table_name


def open_scan(data: Any, asked: Asked) -> Scan | None:
    """Return the scan of a table, or None without a table or a DuckDB connection.

    Raises:
        ValueError: the table or a column is missing, or its type holds no letters.
    """
    is_duckdb = type(data).__module__.partition(".")[0] in {"duckdb", "_duckdb"}
    if asked.table is None or not is_duckdb:
        return None
    return frames.open_scan(relation_of(data, asked.table), replace(asked, table=None))


def relation_of(connection: Any, table: str | tuple[str, ...]) -> Any:
    """Return a table of a connection as a relation.

    Raises:
        ValueError: there is no such table.
    """
    name = table_name(table)
    relation = attempt(lambda: connection.sql(f"FROM {name}"))
    if relation is None:
        raise ValueError(refusal("table", "be a table of the connection", table))
    return relation
