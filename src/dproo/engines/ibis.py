"""Tables of Ibis over DuckDB, each as the relation of DuckDB that it stands for.

Ibis hides how a database compares text: by a collation, one record of ``x`` may make a letter of
all that are ``X``. Only where the relation itself can be had are bytes surely compared.
"""

from __future__ import annotations

from typing import Any

from dproo.core.checks import refusal
from dproo.engines.boundary import attempt


def is_ibis(data: object) -> bool:
    """Tell whether this is a table of Ibis; the library is not loaded for it."""
    return type(data).__module__.startswith("ibis.") and hasattr(data, "get_backend")


def relation_of(table: Any) -> Any:
    """Return the relation of DuckDB that a table of Ibis stands for; no record is read.

    Raises:
        ValueError: another database holds the table, or none does, or it is in memory.
    """
    from ibis.expr.operations import InMemoryTable  # noqa: PLC0415 - where there is a table of it

    backend: Any = attempt(table.get_backend)
    name = getattr(backend, "name", None)
    # DuckDB would have to be given a table in memory, every cell of it.
    if not attempt(lambda: not table.op().find(InMemoryTable)):
        raise ValueError(
            "data must be a table that DuckDB holds, got a table of Ibis in memory. "
            "Pass what it was made from."
        )
    is_held = name == "duckdb"
    relation = attempt(lambda: backend.con.sql(backend.compile(table))) if is_held else None
    if relation is None:
        raise ValueError(
            refusal("data", "be a table of Ibis over DuckDB", name)
            + " Read other databases by SQLAlchemy or Spark, or from files."
        )
    return relation
