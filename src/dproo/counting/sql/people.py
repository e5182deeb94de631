"""A few records of each person, chosen by the same rule in every engine.

A record's *rank* is a hash of a random salt, the person and the record's letters. The records
of least rank are kept, so all distinct records of a person are equally likely to be, and equal ones
count as one. The choice does not depend on other people's records: privacy needs no more.

| identifier | whose record it is |
|---|---|
| text, integer, boolean, date | the person with this canonical text, to the last character |
| number | the person whose number is printed alike: 7, 7.0 and the text ``7`` are one, 7.5 not |
| bytes, list, tuple, set, mapping or array in Python | the person with equal content |
| null, NaN, empty text, a text that is declared to mean a missing one | nobody's, unless each is
  declared to be a different person's |
| in an unreadable line; with U+FFFD in it; a list or object in JSON | nobody's |
| a date outside the years 1 to 9999 | nobody's |
| an object in Python of any other type | nobody's |

All of nobody's records together count as one person's. Their content is ignored: they are one
record outside the alphabet.

Proof: docs/proofs/people.md
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from decimal import Decimal
from hashlib import md5, sha256
from heapq import heappush, heappushpop
from typing import Any
from uuid import UUID

from dproo.counting.boundary import pass_over
from dproo.counting.query import Batch, CountQuery
from dproo.counting.sql import statements as sql
from dproo.schema.axis import LONGEST_OPEN, Axis, Bins, OpenText
from dproo.schema.cell import BEYOND, FINE, is_scalar, plain, text_of

NOBODY = ""
"""The key of all records that are nobody's."""

LONGEST_KEY = 64
"""The most bytes of an identifier that is its own key; a longer one is hashed."""

HASHED = "#"
"""The first character of a key that is a hash."""

REPLACED = "\ufffd"
"""The character that replaces bytes that are not text."""

RANK = 12
"""Hexadecimal digits of a rank; as many as DuckDB stores inline."""

SEPARATOR = 31  # the control character for this purpose

_ARGUMENTS = 99  # PostgreSQL takes 100, the separator included


def rank_of(salt: str, person: str, keys: Iterable[str]) -> str:
    """Return the rank of a record among its person's records.

    >>> rank_of("salt", "ann", ["flu"]) == rank_of("salt", "ann", ["cold"])
    False
    """
    text = chr(SEPARATOR).join([salt, person, *keys])
    # It only has to look random: nothing requires it to be hard to invert.
    return md5(text.encode(errors="replace"), usedforsecurity=False).hexdigest()[:RANK]


def kept_rows(rows: Iterable[Sequence[Any]], query: CountQuery) -> Iterator[tuple[Any, ...]]:
    """Yield the cells of the records that are kept, each followed by the number one."""
    people: dict[str, list[tuple[int, int, list[Any]]]] = {}
    nothing = [None] * len(query.axes)
    missing = {None, *map(person_of, query.missing_texts)}
    for place, (*read, cell) in enumerate(rows):
        person = person_of(cell)
        if person in missing:
            if query.is_each_missing:
                yield (*read, 1)
                continue
            person = NOBODY
        person, cells = (person, read) if person else (NOBODY, nothing)
        keys = tuple(map(_key, query.axes, cells))
        rank = rank_of(query.salt, person, keys)
        # Cells outside may be long, and are kept until the end.
        cells = [cell if key else None for cell, key in zip(cells, keys, strict=True)]
        chosen = people.setdefault(person, [])
        entry = -int(rank, 16), place, cells  # the largest rank is dropped first
        if len(chosen) < query.records_per_person:
            heappush(chosen, entry)
        else:
            heappushpop(chosen, entry)
    for chosen in people.values():
        yield from ((*cells, 1) for _, _, cells in chosen)


def person_of(cell: object) -> str | None:
    """Return the key of the person that a cell names, or None if the cell is missing.

    >>> person_of(7.0), person_of("007"), person_of(""), person_of(float("nan")), person_of(7.5)
    ('7', '007', None, None, '7.5')
    """
    try:
        if type(cell) is str and 0 < len(cell) < _PLAIN and cell.isascii() and cell[0] != HASHED:
            return cell  # the usual case
        if _is_missing(cell):
            return None
        text = _identifier(cell)
        if text is None:
            return HASHED + HASHED + _digest(_content(cell, depth=0, known={}))
    except BaseException as error:  # noqa: BLE001 - its methods may raise anything
        pass_over(error)
        return NOBODY
    if REPLACED in text:
        return NOBODY
    is_short = len(text.encode(errors="surrogatepass")) <= LONGEST_KEY
    return text if is_short and text[0] != HASHED else HASHED + _digest(text)


_PLAIN = 16  # characters
_EXACT = int(1e38)  # the limit of the engines' integers
_DIGITS = 1000
_DEEPEST = 20


def _digest(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()


def _is_missing(cell: Any) -> bool:
    if cell is None or type(cell).__name__ in {"NAType", "NaTType"}:
        return True
    cell = _plain(cell)
    if cell is None:
        return True
    if isinstance(cell, Decimal):
        return cell.is_nan()
    if isinstance(cell, str):
        return str.__len__(cell) == 0
    return isinstance(cell, float) and cell != cell  # noqa: PLR0124 - NaN


def _plain(cell: Any) -> Any:
    """Return the Python value of a NumPy scalar; a moment finer than Python's as its text."""
    is_moment = is_scalar(cell) and cell.dtype.kind in "mM"
    if is_moment and str(cell) == "NaT":
        return None
    is_fine = is_moment and cell.dtype.name.endswith(FINE)
    if is_fine and cell.astype(f"{cell.dtype.kind}8[us]") != cell:
        return str(cell)
    value = plain(cell)
    return BEYOND if is_moment and value is None else value


def _identifier(cell: object) -> str | None:
    """Return the text of an identifier that every engine could hold, or None for any other.

    Guarantee: equal numbers have equal text, whatever their types are.
    """
    cell = _plain(cell)
    if isinstance(cell, int) and not isinstance(cell, bool):
        return _integer(int(cell))
    if isinstance(cell, float):
        return _integer(int(cell)) if abs(cell) < _EXACT and cell.is_integer() else repr(cell + 0.0)
    if isinstance(cell, Decimal):
        return _decimal(cell)
    if isinstance(cell, datetime):
        is_day = cell.tzinfo is None and cell.isoformat()[10:] == "T00:00:00"
        return cell.isoformat()[:10] if is_day else None
    return str(cell) if isinstance(cell, UUID) else text_of(cell)


def _integer(number: int) -> str | None:
    if abs(number) < _EXACT:
        return str(number)
    if abs(number) < 1 << 1024 and int(float(number)) == number:
        return repr(float(number))
    return str(number) if abs(number) < 10**_DIGITS else None


def _decimal(number: Decimal) -> str | None:
    if not number.is_finite():
        return repr(float(number))
    if not -_DIGITS < number.adjusted() < _DIGITS or number.as_tuple().exponent < -2 * _DIGITS:  # type: ignore[operator]
        return None
    if number == number.to_integral_value():
        return _integer(int(number))
    as_float = repr(float(number))
    binary = Decimal.from_float(float(number))  # noqa: FURB164 - Decimal raises in a strict program
    if binary == Decimal(as_float) == number:  # else it is another decimal's text
        return as_float
    return format(number, "f").rstrip("0")


def _content(cell: Any, *, depth: int, known: dict[tuple[int, int], tuple[Any, str]]) -> str:
    """Return a text that is the same for equal cells only, or raise if it has no known type.

    Parts that occur several times are read once: otherwise a few lists, each with the one before
    in it twice, would take forever.
    """
    if depth > _DEEPEST:
        raise TypeError
    place = id(cell), depth
    if place not in known:
        known[place] = cell, _read_content(_plain(cell), depth=depth, known=known)
    return known[place][1]


def _read_content(cell: Any, *, depth: int, known: dict[tuple[int, int], tuple[Any, str]]) -> str:
    if type(cell).__module__ == "numpy" and hasattr(cell, "tolist"):
        if not (cell.ndim or is_scalar(cell)):
            raise TypeError  # an array without dimensions; other engines have no such cell
        # Moments one by one: together, NumPy turns some units into integers.
        cell = list(cell) if cell.dtype.kind in "mM" else cell.tolist()
    within: list[tuple[Any, ...]] = []
    if isinstance(cell, Mapping):
        within = list(cell.items())
    elif isinstance(cell, list | tuple | AbstractSet):
        within = [(item,) for item in cell]
    else:
        return _single(cell)
    parts = [
        "".join(_content(part, depth=depth + 1, known=known) for part in item) for item in within
    ]
    if isinstance(cell, AbstractSet | Mapping):
        parts.sort()
    kind = "l" if isinstance(cell, list | tuple) else "s" if isinstance(cell, AbstractSet) else "o"
    content = f"{kind}{len(parts)}:" + "".join(f"{len(part)}:{part}" for part in parts)
    return content if len(content) <= LONGEST_KEY else HASHED + _digest(content)


def _single(cell: Any) -> str:
    """Return the text of :func:`_content` for a cell without parts."""
    text = None if _is_missing(cell) else _identifier(cell)
    match cell:
        case str() if str.__len__(cell) == 0:  # comparing any other cell may raise
            content = "t"
        case _ if _is_missing(cell):
            content = ""
        case _ if text is not None:
            content = f"t{text}"
        case int():
            content = f"i{cell:x}"
        case Decimal():
            sign, digits, exponent = cell.as_tuple()
            shown = "".join(map(str, digits)).rstrip("0")
            content = f"d{sign}{shown.lstrip('0')}e{int(exponent) + len(digits) - len(shown)}"
        case datetime():
            content = f"m{(cell if cell.tzinfo is None else cell.astimezone(UTC)).isoformat()}"
        case bytes() | bytearray() | memoryview():
            content = f"b{bytes(cell).hex()}"
        case _:
            raise TypeError
    return f"{len(content)}:{content}"


def _key(axis: Axis, cell: object) -> str:
    """Return the letter of a cell in the form that is hashed, or '' if it is outside."""
    try:
        if isinstance(axis, OpenText):
            text = text_of(cell) or ""
            return text if len(text) <= LONGEST_OPEN else ""
        place = axis.place(cell)
        if place is None:
            return ""
        return str(place) if isinstance(axis, Bins) else str(text_of(axis.letter(place)))
    except BaseException as error:  # noqa: BLE001 - a cell that raises is outside
        pass_over(error)
        return ""


def named(relation: str, *, kinds: Sequence[str], query: CountQuery, dialect: sql.Dialect) -> str:
    """Return the relation of all records with person ``p`` and keys ``k0, k1, ...``.

    The person's cell and its kind come last.
    """
    cell = f"c{len(query.axes)}"
    keyed = sql.keyed(relation, [cell, "records"], kinds=kinds, axes=query.axes, dialect=dialect)
    keys = ", ".join(f"{_key_sql(i, axis, dialect)} AS k{i}" for i, axis in enumerate(query.axes))
    person = person_sql(cell, kinds[-1], query, dialect)
    people = f"(SELECT {person} AS p, {keys}, records FROM {keyed}) AS people"  # noqa: S608
    hidden = ", ".join(f"CASE WHEN p = '' THEN '' ELSE {k} END AS {k}" for k in key_names(query))
    return f"(SELECT p, {hidden}, records FROM {people})"  # noqa: S608


def person_sql(cell: str, kind: str, query: CountQuery, dialect: sql.Dialect) -> str:
    """Return the key of the person that a cell names.

    It is null if the cell is missing and each such record counts as a different person's.
    """
    nothing = "NULL" if query.is_each_missing else "''"
    text = f"({dialect.identifiers[kind].replace('{}', cell)})"
    is_missing = dialect.missing.get(kind, "({} IS NULL)").replace("{}", cell)
    if query.missing_texts:
        texts = ", ".join(map(dialect.reader.literal, query.missing_texts))
        is_missing += f" OR {text} IN ({texts})"
    is_short = dialect.is_short.replace("{}", text)
    return (
        f"CASE WHEN {is_missing} THEN {nothing}"
        f" WHEN {text} IS NULL OR {dialect.is_replaced.replace('{}', text)} THEN ''"
        f" WHEN {is_short} THEN {text} ELSE '{HASHED}' || {dialect.digest.replace('{}', text)} END"
    )


def nobody(number: int, query: CountQuery) -> str:
    """Return a relation as :func:`named` does, of ``number`` records that are nobody's."""
    keys = ", ".join(f"'' AS {name}" for name in key_names(query))
    return f"(SELECT '' AS p, {keys}, 1 AS records FROM range({number}))"  # noqa: S608


def ranked(relation: str, query: CountQuery) -> str:
    """Return a relation of :func:`named` with the rank ``h`` of each record."""
    names = ", ".join(key_names(query))
    text = _joined(f"'{query.salt}'", "p", *key_names(query))
    rank = f"left(md5({text}), {RANK})"
    return f"(SELECT p, {names}, {rank} AS h, records FROM {relation} AS named)"  # noqa: S608


def _joined(*texts: str) -> str:
    """Return texts joined by the separator, in several steps if there are many."""
    if len(texts) > _ARGUMENTS:
        parts = (texts[at : at + _ARGUMENTS] for at in range(0, len(texts), _ARGUMENTS))
        return _joined(*(_joined(*part) for part in parts))
    return f"concat_ws(chr({SEPARATOR}), {', '.join(texts)})"


def key_names(query: CountQuery) -> list[str]:
    """Return the names of the keys."""
    return [f"k{i}" for i in range(len(query.axes))]


def _key_sql(column: int, axis: Axis, dialect: sql.Dialect) -> str:
    """Return a key in the form that is hashed: text, or the place of a bin."""
    key = f"k{column}"
    if isinstance(axis, Bins):
        places = enumerate(map(dialect.number, axis.keys))
        whens = " ".join(f"WHEN {number} THEN '{place}'" for place, number in places)
        key = f"CASE {key} {whens} END"
    return f"coalesce({key}, '')"


def _letter_sql(column: int, axis: Axis, dialect: sql.Dialect) -> str:
    """Return a key of :func:`sql.statements.keyed` from the form that is hashed."""
    if not isinstance(axis, Bins):
        return f"nullif(k{column}, '')"
    places = enumerate(map(dialect.number, axis.keys))
    whens = " ".join(f"WHEN '{place}' THEN {number}" for place, number in places)
    return f"CASE k{column} {whens} END"


def statement(relation: str, query: CountQuery, batch: Batch, dialect: sql.Dialect) -> str:
    """Return the query that counts the kept records of a relation, by one batch."""
    letters = ", ".join(
        f"{_letter_sql(at, query.axes[at], dialect)} AS k{i}" for i, at in enumerate(batch.columns)
    )
    relation = f"(SELECT {letters}, records FROM {relation} AS chosen) AS kept"  # noqa: S608
    return sql.counted(relation, batch.query)


def windowed_query(
    cells: Sequence[str],
    source: str,
    *,
    kinds: Sequence[str],
    query: CountQuery,
    batch: Batch,
    dialect: sql.Dialect,
    is_grouped: bool = False,
) -> str:
    """Return the query that counts a table by one batch, with or without people.

    The person's cell and its kind come last. The engine must have window functions.
    """
    if query.person is not None:
        everyone = named(sql.relation_of(cells, source), kinds=kinds, query=query, dialect=dialect)
        kept = kept_by_window(ranked(everyone, query), query)
        return statement(kept, query, batch, dialect)
    return sql.counting_query(
        sql.relation_of([cells[place] for place in batch.columns], source),
        kinds=[kinds[place] for place in batch.columns],
        query=batch.query,
        dialect=dialect,
        is_grouped=is_grouped,
    )


def kept_by_window(relation: str, query: CountQuery) -> str:
    """Return the kept records of a relation of :func:`ranked`, by a window function."""
    names = ", ".join(key_names(query))
    person, is_kept = "p", f"place <= {query.records_per_person}"
    if query.is_each_missing:
        # Records without a person are partitioned by rank, so that no task gets all of them.
        person, is_kept = "p, CASE WHEN p IS NULL THEN h END", f"(p IS NULL OR {is_kept})"
    place = f"row_number() OVER (PARTITION BY {person} ORDER BY h) AS place"
    return (
        f"(SELECT {names}, records FROM (SELECT p, {names}, records, {place}"  # noqa: S608
        f" FROM {relation} AS ranked) AS placed WHERE {is_kept})"
    )


def kept_by_group(relation: str, query: CountQuery) -> str:
    """Return the kept rows of a relation of :func:`ranked`, by DuckDB's aggregates.

    It can be applied to parts of the data, and then to the rows kept of all parts.
    """
    names, most = key_names(query), query.records_per_person
    packed = "{" + ", ".join(f"'{name}': {name}" for name in (*names, "h")) + "}"
    unpacked = ", ".join(f"s.{name} AS {name}" for name in (*names, "h"))
    if most > 1:
        # Equal records without a person are grouped, and one row stands for all of them.
        rows = f"CASE WHEN p IS NULL THEN 1 ELSE {most} END"
        kept = f"unnest(list_slice(arg_min({packed}, h, {most}), 1, {rows})) AS s"
    elif len(names) > 1:
        kept = f"arg_min({packed}, h) AS s"
    else:  # a third faster
        kept, unpacked = "arg_min(k0, h) AS k0, min(h) AS h", "k0, h"
    alike = names[0] if len(names) == 1 else f"[{', '.join(names)}]"  # text is faster than a list
    return (
        f"(SELECT p, {unpacked}, records FROM (SELECT p, {kept},"  # noqa: S608
        " CASE WHEN p IS NULL THEN CAST(sum(records) AS BIGINT) ELSE 1 END AS records"
        f" FROM {relation} AS ranked"
        f" GROUP BY p, CASE WHEN p IS NULL THEN {alike} END) AS packed)"
    )
