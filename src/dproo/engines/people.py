"""One record of each person: which of a person's records are kept, alike in every engine.

A record's *rank* is a hash of a fresh salt, the person and the record's letters. Of each person
the records of least rank are kept, so that all different ones have the same chance and equal
ones are one. Which are kept depends on nobody else's records: that is all that privacy needs.

A missing identifier (null, NaN, empty) is a person of its own. One that is there and has no
canonical text, such as 7.5 or a list, is the same person as all others of that kind, and long
ones are cut: people may be taken for one, but never one person for two.

Proof: docs/proofs/people.md
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import md5
from heapq import heappush, heappushpop
from itertools import pairwise
from typing import Any

from dproo.alphabet.axis import LONGEST, Axis, Bins, Letters
from dproo.alphabet.cell import plain, text_of
from dproo.alphabet.open_text import LONGEST_OPEN, OpenText
from dproo.engines import query as sql
from dproo.engines.asked import Asked

LONGEST_PERSON = 1000
"""Characters of an identifier; what follows them is not looked at."""

RANK = 12
"""Digits of a rank, in hexadecimal; as many as DuckDB keeps in place."""

SEPARATOR = 31  # a control character that is made for it

Kept = tuple[str, tuple[str, ...]]


def longest(axis: Axis) -> int:
    """Return how many characters of a cell decide which letter it is."""
    if isinstance(axis, OpenText):
        return LONGEST_OPEN + 1
    return max(map(len, axis.places)) + 1 if isinstance(axis, Letters) else LONGEST + 1


def rank_of(salt: str, person: str, keys: Iterable[str]) -> str:
    """Return the rank of a record among those of its person.

    >>> rank_of("salt", "ann", ["flu"]) == rank_of("salt", "ann", ["cold"])
    False
    """
    text = chr(SEPARATOR).join([salt, person, *keys])
    # Chance alone is asked of it, never that it cannot be undone.
    return md5(text.encode(errors="replace"), usedforsecurity=False).hexdigest()[:RANK]


# Rows of Python


def kept_rows(rows: Iterable[Sequence[Any]], asked: Asked) -> Iterator[tuple[Any, ...]]:
    """Yield the records that are kept, and behind each the number one.

    Args:
        rows: the cells of a record, that of the person last.
        asked: the letters, and how many records of a person are kept.
    """
    people: dict[str, list[tuple[int, Kept]]] = {}
    for *cells, cell in rows:
        keys = tuple(map(_key, asked.axes, cells))
        person = person_of(cell)
        if person is None:
            yield (*map(_cell, asked.axes, keys), 1)
            continue
        rank = rank_of(asked.salt, person, keys)
        kept = people.setdefault(person, [])
        entry = -int(rank, 16), (rank, keys)  # the largest rank is the first to go
        if len(kept) < asked.kept:
            heappush(kept, entry)
        else:
            heappushpop(kept, entry)
    for kept in people.values():
        yield from ((*map(_cell, asked.axes, keys), 1) for _, (_, keys) in kept)


def person_of(cell: object) -> str | None:
    """Return whom a cell names, or nothing if it is missing.

    >>> person_of(7.0), person_of("007"), person_of(""), person_of(float("nan")), person_of(7.5)
    ('7', '007', None, None, '')
    """
    try:
        cell = plain(cell)
        if cell is None or type(cell).__name__ in {"NAType", "NaTType"}:
            return None
        if cell == "" or (isinstance(cell, float) and cell != cell):  # noqa: PLR0124 - NaN
            return None
        return (text_of(cell) or "")[:LONGEST_PERSON]
    except Exception:  # noqa: BLE001 - whatever its methods do
        return ""


def _key(axis: Axis, cell: object) -> str:
    try:
        if isinstance(axis, Bins):
            place = axis.place(cell)
            return "" if place is None else str(place)
        return (text_of(cell) or "")[: longest(axis)]
    except Exception:  # noqa: BLE001 - a cell is outside, whatever its methods do
        return ""


def _cell(axis: Axis, key: str) -> object:
    """Return a cell that is the letter of a key."""
    if key and isinstance(axis, Bins):
        return axis.edges[int(key)]
    return key or None


# SQL


def ranked(relation: str, *, kinds: Sequence[str], asked: Asked, dialect: sql.Dialect) -> str:
    """Return the relation of all records with person ``p``, keys ``k0, k1, ...`` and rank ``h``.

    Args:
        relation: a table expression with the cells ``c0, c1, ...``, that of the person last,
            and ``records``.
        kinds: the kind of each column, that of the person last.
        asked: the letters.
        dialect: the engine's.
    """
    columns = range(len(asked.axes))
    keys = ", ".join(f"{_key_sql(i, kinds[i], asked.axes[i], dialect)} AS k{i}" for i in columns)
    names = ", ".join(key_names(asked))
    person = person_sql(len(asked.axes), kinds[-1], dialect)
    rank = f"left(md5(concat_ws(chr({SEPARATOR}), '{asked.salt}', p, {names})), {RANK})"
    return (
        f"(SELECT p, {names}, {rank} AS h, records FROM"  # noqa: S608
        f" (SELECT {person} AS p, {keys}, records FROM {relation} AS cells) AS named)"
    )


def key_names(asked: Asked) -> list[str]:
    """Return the names of the keys."""
    return [f"k{i}" for i in range(len(asked.axes))]


def person_sql(column: int, kind: str, dialect: sql.Dialect) -> str:
    """Return whom a cell names, null if it is missing."""
    cell = f"c{column}"
    text = f"({dialect.texts[kind].replace('{}', cell)})"
    missing = dialect.missing.get(kind, "({} IS NULL)").replace("{}", cell)
    return f"CASE WHEN NOT {missing} THEN coalesce(left({text}, {LONGEST_PERSON}), '') END"


def _key_sql(column: int, kind: str, axis: Axis, dialect: sql.Dialect) -> str:
    value = sql.value_of(column, kind, axis, dialect)
    if not isinstance(axis, Bins):
        return f"coalesce(left({value}, {longest(axis)}), '')"
    edges = [sql.edge(edge) for edge in axis.edges]
    places = enumerate(pairwise(edges))
    whens = " ".join(f"WHEN ({value}) < {high} THEN '{place}'" for place, (_, high) in places)
    return f"coalesce(CASE WHEN ({value}) < {edges[0]} THEN '' {whens} END, '')"


def cells_sql(asked: Asked) -> list[str]:
    """Return the cells that are the letters of the keys."""
    return [f"{_cell_sql(i, axis)} AS c{i}" for i, axis in enumerate(asked.axes)]


def _cell_sql(column: int, axis: Axis) -> str:
    if not isinstance(axis, Bins):
        return f"k{column}"
    whens = " ".join(
        f"WHEN '{place}' THEN {sql.edge(low)}" for place, low in enumerate(axis.edges[:-1])
    )
    return f"CASE k{column} {whens} END"


def kept_kinds(asked: Asked) -> list[str]:
    """Return the kinds of those cells."""
    return [sql.FLOAT if isinstance(axis, Bins) else sql.TEXT for axis in asked.axes]


def kept_by_window(relation: str, asked: Asked) -> str:
    """Return the records that are kept of a relation of :func:`ranked`, by their place."""
    names = ", ".join(key_names(asked))
    return (
        f"(SELECT {', '.join(cells_sql(asked))}, records FROM"  # noqa: S608
        f" (SELECT p, {names}, records, row_number() OVER (PARTITION BY p ORDER BY h) AS place"
        f" FROM {relation} AS ranked) AS placed WHERE p IS NULL OR place <= {asked.kept})"
    )


def kept_by_group(relation: str, asked: Asked) -> str:
    """Return the same rows as :func:`ranked`, only of those that are kept, by DuckDB.

    What is kept of the parts of the data, kept together once more, is what is kept of all.
    """
    names = key_names(asked)
    packed = "{" + ", ".join(f"'{name}': {name}" for name in (*names, "h")) + "}"
    unpacked = ", ".join(f"s.{name} AS {name}" for name in (*names, "h"))
    if asked.kept > 1:
        # Records without a person are grouped with their equals, and stand for all of them.
        least = f"CASE WHEN p IS NULL THEN 1 ELSE {asked.kept} END"
        kept = f"unnest(list_slice(arg_min({packed}, h, {asked.kept}), 1, {least})) AS s"
    elif len(names) > 1:
        kept = f"arg_min({packed}, h) AS s"
    else:  # a third faster
        kept, unpacked = "arg_min(k0, h) AS k0, min(h) AS h", "k0, h"
    return (
        f"(SELECT p, {unpacked}, records FROM (SELECT p, {kept},"  # noqa: S608
        " CASE WHEN p IS NULL THEN CAST(sum(records) AS BIGINT) ELSE 1 END AS records"
        f" FROM {relation} AS ranked"
        f" GROUP BY p, CASE WHEN p IS NULL THEN [{', '.join(names)}] END) AS packed)"
    )
