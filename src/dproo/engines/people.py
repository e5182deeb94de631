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
from typing import Any

from dproo.alphabet.axis import Axis, Bins
from dproo.alphabet.cell import plain, text_of
from dproo.alphabet.open_text import LONGEST_OPEN, OpenText
from dproo.engines import open_letters
from dproo.engines import query as sql
from dproo.engines.asked import Asked

LONGEST_PERSON = 1000
"""Characters of an identifier; what follows them is not looked at."""

RANK = 12
"""Digits of a rank, in hexadecimal; as many as DuckDB keeps in place."""

SEPARATOR = 31  # a control character that is made for it


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
    """Yield the cells of the records that are kept, and behind each record's the number one.

    Args:
        rows: the cells of a record, that of the person last.
        asked: the letters, and how many records of a person are kept.
    """
    people: dict[str, list[tuple[int, int, list[Any]]]] = {}
    for place, (*cells, cell) in enumerate(rows):
        person = person_of(cell)
        if person is None:
            yield (*cells, 1)
            continue
        keys = tuple(map(_key, asked.axes, cells))
        rank = rank_of(asked.salt, person, keys)
        kept = people.setdefault(person, [])
        entry = -int(rank, 16), place, cells  # the largest rank is the first to go
        if len(kept) < asked.kept:
            heappush(kept, entry)
        else:
            heappushpop(kept, entry)
    for kept in people.values():
        yield from ((*cells, 1) for _, _, cells in kept)


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
    """Return the letter of a cell as it is hashed; every cell outside is the empty text."""
    try:
        if isinstance(axis, OpenText):
            text = text_of(cell) or ""
            return text if len(text) <= LONGEST_OPEN else ""
        place = axis.place(cell)
        if place is None:
            return ""
        return str(place) if isinstance(axis, Bins) else str(text_of(axis.letter(place)))
    except Exception:  # noqa: BLE001 - a cell is outside, whatever its methods do
        return ""


# SQL


def named(relation: str, *, kinds: Sequence[str], asked: Asked, dialect: sql.Dialect) -> str:
    """Return the relation of all records with person ``p`` and keys ``k0, k1, ...``.

    Args:
        relation: a table expression with the cells ``c0, c1, ...``, that of the person last,
            and ``records``.
        kinds: the kind of each column, that of the person last.
        asked: the letters.
        dialect: the engine's.
    """
    who = len(asked.axes)
    keyed = sql.keyed(
        relation, [f"c{who}", "records"], kinds=kinds, axes=asked.axes, dialect=dialect
    )
    keys = ", ".join(f"{_key_sql(i, axis)} AS k{i}" for i, axis in enumerate(asked.axes))
    return f"(SELECT {person_sql(who, kinds[-1], dialect)} AS p, {keys}, records FROM {keyed})"  # noqa: S608


def ranked(relation: str, asked: Asked) -> str:
    """Return a relation of :func:`named` with the rank ``h`` of each record."""
    names = ", ".join(key_names(asked))
    rank = f"left(md5(concat_ws(chr({SEPARATOR}), '{asked.salt}', p, {names})), {RANK})"
    return f"(SELECT p, {names}, {rank} AS h, records FROM {relation} AS named)"  # noqa: S608


def key_names(asked: Asked) -> list[str]:
    """Return the names of the keys."""
    return [f"k{i}" for i in range(len(asked.axes))]


def person_sql(column: int, kind: str, dialect: sql.Dialect) -> str:
    """Return whom a cell names, null if it is missing."""
    cell = f"c{column}"
    text = f"({dialect.texts[kind].replace('{}', cell)})"
    missing = dialect.missing.get(kind, "({} IS NULL)").replace("{}", cell)
    return f"CASE WHEN NOT {missing} THEN coalesce(left({text}, {LONGEST_PERSON}), '') END"


def _key_sql(column: int, axis: Axis) -> str:
    """Return a key as it is hashed: text, that of a bin its place."""
    key = f"k{column}"
    if isinstance(axis, Bins):
        places = enumerate(map(sql.double, axis.keys))
        whens = " ".join(f"WHEN {number} THEN '{place}'" for place, number in places)
        key = f"CASE {key} {whens} END"
    return f"coalesce({key}, '')"


def letters_sql(asked: Asked, *, name: str = "k") -> list[str]:
    """Return the keys as :func:`dproo.engines.query.keyed` has them, from what is hashed."""
    return [f"{_letter_sql(i, axis)} AS {name}{i}" for i, axis in enumerate(asked.axes)]


def _letter_sql(column: int, axis: Axis) -> str:
    if not isinstance(axis, Bins):
        return f"nullif(k{column}, '')"
    places = enumerate(map(sql.double, axis.keys))
    whens = " ".join(f"WHEN '{place}' THEN {number}" for place, number in places)
    return f"CASE k{column} {whens} END"


def statement(relation: str, asked: Asked) -> str:
    """Return the query that counts the records of a relation that are kept."""
    letters = ", ".join(letters_sql(asked))
    kept = f"(SELECT {letters}, records FROM {relation} AS chosen) AS kept"  # noqa: S608
    if asked.open_axis is not None:
        return open_letters.counted(kept, minimum=asked.open_axis.minimum)
    if len(asked.alphabets) == 1:
        return sql.counted(kept, axes=asked.axes)
    return sql.counted_by_sets(kept, grouped_by=asked.sets, axes=asked.axes)


def kept_by_window(relation: str, asked: Asked) -> str:
    """Return the records that are kept of a relation of :func:`ranked`, by their place."""
    names = ", ".join(key_names(asked))
    return (
        f"(SELECT {names}, records FROM"  # noqa: S608
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
    alike = names[0] if len(names) == 1 else f"[{', '.join(names)}]"  # a text is faster than a list
    return (
        f"(SELECT p, {unpacked}, records FROM (SELECT p, {kept},"  # noqa: S608
        " CASE WHEN p IS NULL THEN CAST(sum(records) AS BIGINT) ELSE 1 END AS records"
        f" FROM {relation} AS ranked"
        f" GROUP BY p, CASE WHEN p IS NULL THEN {alike} END) AS packed)"
    )
