"""What is asked of the data, checked as far as it can be without them."""

from __future__ import annotations

from dataclasses import dataclass

from dproo.alphabet import Alphabet


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What to count, and where in the data it is.

    Attributes:
        alphabet: the letters.
        columns: the columns to count; none where data of one column need not name it.
        table: the table of a database, or of a DuckDB file.
        engine: ``"spark"`` where Spark is asked for, by default the engine that knows the data.
        master: the cluster that Spark runs on.
    """

    alphabet: Alphabet
    columns: tuple[str, ...] = ()
    table: str | tuple[str, ...] | None = None
    engine: str | None = None
    master: str | None = None
