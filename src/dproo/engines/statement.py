"""The one query an SQL engine runs: records mapped to letters and counted, in the engine.

A record outside the alphabet has null keys, so that what comes back, and what the engine must
keep, is one row per seen letter. Names and letters are quoted or parameters, never spliced.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NoReturn

from dproo._check import refusal
from dproo.axis import Axis, Bins, IntegerRange
from dproo.cell import EXACT_FLOAT

TEXT, INTEGER, DECIMAL, FLOAT, BOOLEAN, DATE, JSON, NOTHING = (
    "text",
    "integer",
    "decimal",
    "float",
    "boolean",
    "date",
    "json",
    "nothing",
)


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How one engine says what all of them mean; ``{}`` is the operand.

    Attributes:
        texts: the canonical text of a cell, by the kind of its column.
        numbers: the double nearest to a cell, by the kind of its column.
        is_letter: whether a text is one of the letters of column ``{column}``.
        is_integer: whether a text is an integer of at most 18 digits.
        bigint: such a text as an integer.
    """

    texts: dict[str, str]
    numbers: dict[str, str]
    is_letter: str
    is_integer: str
    bigint: str


def quoted(name: str) -> str:
    """Return a name as an SQL identifier.

    >>> len(quoted('a "b"'))
    9
    """
    return '"' + name.replace('"', '""') + '"'


def table_name(table: str | tuple[str, str] | None) -> str:
    """Return the quoted name of a table, or of its schema and the table.

    Raises:
        ValueError: it is no name.
    """
    parts = (table,) if isinstance(table, str) else table
    if not parts or not all(isinstance(part, str) and part for part in parts):
        raise ValueError(refusal("table", "be the name of a table", table))
    return ".".join(map(quoted, parts))


def refuse_type(column: str, type_name: str) -> NoReturn:
    """Refuse a column whose type holds no letters, before anything is charged.

    Args:
        column: its name, as the caller gave it.
        type_name: what the engine calls its type. Only the first word is told: an engine's
            name of an enumeration, or of a struct, goes on with what is in it.

    >>> refuse_type("scan", "STRUCT(a VARCHAR)")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: column 'scan' must hold text, numbers, booleans or dates, got type STRUCT. ...
    """
    word = re.match(r"\w*", type_name)
    raise ValueError(
        f"column {reprlib.repr(column)} must hold text, numbers, booleans or dates,"
        f" got type {word[0] if word else ''}. Cast it to one of these first."
    )


def whole_float(double: str, *, cast: str = "CAST") -> str:
    """Return the digits of an integral double of at most 2^53, else null."""
    return (
        f"CASE WHEN {double} BETWEEN -{EXACT_FLOAT} AND {EXACT_FLOAT} AND"
        f" floor({double}) = {double} THEN CAST({cast}({double} AS BIGINT) AS VARCHAR) END"
    )


def statement(
    relation: str, *, kinds: Sequence[str], axes: Sequence[Axis], dialect: Dialect
) -> str:
    """Return the query; its rows are a key per column and a number of records.

    A key is a cell that is the same letter as the cells it stands for.

    Args:
        relation: a table expression with the cells ``c0, c1, ...`` and ``records``, how many
            records have them.
        kinds: the kind of each column.
        axes: the letters of each column.
        dialect: the engine's.
    """
    columns = range(len(axes))
    values = ", ".join(f"{_value(i, kinds[i], axes[i], dialect)} AS v{i}" for i in columns)
    keys = ", ".join(f"{_key(i, axes[i], dialect)} AS k{i}" for i in columns)
    closed = [f"k{i} IS NOT NULL" for i in columns if not axes[i].is_open]
    is_inside = " AND ".join(closed) or "TRUE"
    groups = ", ".join(f"CASE WHEN {is_inside} THEN k{i} END AS g{i}" for i in columns)
    names = ", ".join(f"g{i}" for i in columns)
    return (
        f"SELECT {names}, CAST(sum(records) AS BIGINT) FROM (SELECT {groups}, records FROM ("  # noqa: S608
        f"SELECT {keys}, records FROM (SELECT {values}, records FROM {relation} AS cells)"
        f" AS valued) AS keyed) AS grouped GROUP BY {names}"
    )


def _value(column: int, kind: str, axis: Axis, dialect: Dialect) -> str:
    """Return what a cell is compared by: its canonical text, or its number for bins."""
    templates = dialect.numbers if isinstance(axis, Bins) else dialect.texts
    return templates[kind].replace("{}", f"c{column}")


def _key(column: int, axis: Axis, dialect: Dialect) -> str:
    value = f"v{column}"
    if isinstance(axis, Bins):
        edges = [f"CAST('{edge!r}' AS DOUBLE PRECISION)" for edge in axis.edges]
        bins = pairwise(edges)
        whens = " ".join(f"WHEN {value} < {high} THEN {low}" for low, high in bins)
        return f"CASE WHEN {value} < {edges[0]} THEN NULL {whens} END"
    if isinstance(axis, IntegerRange):
        bigint = dialect.bigint.replace("{}", value)
        is_letter = f"{bigint} >= {axis.start} AND {bigint} < {axis.stop}"
        is_integer = dialect.is_integer.replace("{}", value)
        return f"CASE WHEN {is_integer} THEN CASE WHEN {is_letter} THEN {value} END END"
    is_letter = dialect.is_letter.replace("{}", value).replace("{column}", str(column))
    return f"CASE WHEN {is_letter} THEN {value} END"
