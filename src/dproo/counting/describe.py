"""The columns of a source, from its header or schema alone: names, types, enumerations."""

from __future__ import annotations

import os
from typing import Any

from dproo.core.checks import refusal
from dproo.counting.fit import Column
from dproo.counting.layout import PLAIN, Layout
from dproo.counting.sources import duckdb_table, frames, spark, sqlalchemy
from dproo.counting.sources.descriptors import find_files
from dproo.counting.sources.files import open_files
from dproo.counting.sources.postgresql import scan as postgresql
from dproo.counting.sources.postgresql import url as postgresql_url
from dproo.counting.sources.rows import scan as row_files
from dproo.counting.sources.text.header import require_names


def describe(
    data: Any, *, table: str | tuple[str, ...] | None = None, layout: Layout = PLAIN
) -> tuple[Column, ...]:
    """Return the columns of a file, a table or a frame; no record is read.

    Everything that shows a source's columns uses this function, which refuses names that may be
    records.

    Raises:
        TypeError: the data has neither header nor schema.
        ValueError: it cannot be read, or there is no such table.
    """
    columns = _columns(data, table, layout)
    require_names([column.name for column in columns])
    return columns


def _columns(data: Any, table: str | tuple[str, ...] | None, layout: Layout) -> tuple[Column, ...]:
    if postgresql_url.is_url(data) or (table is not None and postgresql.is_connection(data)):
        return postgresql.describe_table(data, table)
    if sqlalchemy.is_sqlalchemy(data):
        return sqlalchemy.describe_table(data, table)
    if row_files.is_row_file(data, layout):
        return row_files.open_rows(find_files(data), table=table, layout=layout)[0].columns
    if isinstance(data, str | os.PathLike):
        found = open_files(find_files(data), columns=None, table=table, layout=layout)
        for held, _ in found.started:
            held.close()
        return found.columns
    data = data if table is None else duckdb_table.relation_of(data, table)
    if spark.is_frame(data):
        return tuple(spark.columns_of(data, None))
    frame = frames.frame_of(data)
    if frame is None:
        raise TypeError(
            refusal("data", "have a header or a schema: a file, a table or a frame", type(data))
        )
    return frame.columns
