"""The one query an SQL engine runs: records mapped to letters and counted, in the engine.

A record outside the alphabet has null keys, so the engine holds and returns only one row per
seen letter. Names and letters are quoted or passed as parameters, never spliced.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NoReturn

from dproo.core.checks import refusal
from dproo.counting.query import CountQuery
from dproo.counting.sql import sets
from dproo.counting.sql.reading import Reader
from dproo.schema import reading
from dproo.schema.axis import LONGEST_OPEN, Axis, Bins, IntegerRange, Letters, OpenText
from dproo.schema.cell import EXACT_FLOAT

TEXT: Final = "text"
INTEGER: Final = "integer"
DECIMAL: Final = "decimal"
FLOAT: Final = "float"
BOOLEAN: Final = "boolean"
DATE: Final = "date"
TIMESTAMP: Final = "timestamp"
INSTANT: Final = "timestamp with time zone"
JSON: Final = "json"
ANY: Final = "any"
UNITED: Final = "united"
"""What the cells of a column are; in ``json`` and ``any`` each cell has its own type.

In ``united`` it is one of several types, of which none holds the cells of all; see
:func:`united_cell`.
"""

JOINS_MAX = 32
"""The most columns whose lists of letters are joined; each join holds the cells of all columns."""

_NAME = re.compile(r'"(?:[^"]|"")+"|[^".]+')
_NAMES = re.compile(rf"(?:{_NAME.pattern})(?:\.(?:{_NAME.pattern}))*")


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """The SQL expressions of one engine; ``{}`` is the operand.

    Attributes:
        texts: the canonical text of a cell, by the kind of its column.
        numbers: the double nearest to a cell, by the kind of its column; ``fit.py`` refuses bins
            for all other kinds.
        is_letter: whether a text is one of the letters of column ``{column}``.
        is_letter_of_many: the same if more than ``JOINS_MAX`` columns list letters, where a join
            for each would take too much memory.
        is_integer: whether a text is an integer of at most 18 digits.
        reader: how text is read before it is compared.
        is_string: whether a cell is text, by the kinds of columns in which only some may be.
        missing: whether the cell of a person is missing, by the kind of its column; by default,
            whether it is null. It is never null itself.
        identifiers: a text that differs for different identifiers, or null if there is none,
            by the kind of its column.
        is_short: whether an identifier is its own key: short, and not marked as a hash.
        digest: the hash of a text, in hexadecimal.
        is_replaced: whether a text contains the character that replaces unreadable bytes.
        double: the name of the type of doubles.
    """

    texts: dict[str, str]
    numbers: dict[str, str]
    is_letter: str
    is_letter_of_many: str = ""
    is_integer: str
    reader: Reader
    is_string: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str]
    identifiers: dict[str, str]
    is_short: str
    digest: str
    is_replaced: str
    double: str = "DOUBLE PRECISION"

    def number(self, number: float) -> str:
        """Return a number as SQL."""
        return f"CAST('{number + 0.0!r}' AS {self.double})"  # -0.0 is zero


def quoted(name: str) -> str:
    """Return a name as an SQL identifier.

    >>> len(quoted('a "b"'))
    9
    """
    return '"' + name.replace('"', '""') + '"'


def is_storable(text: str) -> bool:
    """Return whether a database could hold this text: valid Unicode without NUL."""
    return "\0" not in text and text.encode(errors="replace").decode() == text


def table_parts(table: str | tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the name of a table, after its schema's if one is given.

    In text, a dot outside double quotes separates the two. A name with a dot or a quote in it
    is written in double quotes, its own quotes doubled. Nothing else is changed, neither case
    nor blanks, and a tuple is not changed at all.

    >>> table_parts("visits"), table_parts('clinic."my.visits"'), table_parts(("a.b",))
    (('visits',), ('clinic', 'my.visits'), ('a.b',))
    """
    parts: tuple[object, ...] = table if isinstance(table, tuple) else ()
    if isinstance(table, str) and _NAMES.fullmatch(table):
        parts = tuple(
            part[1:-1].replace('""', '"') if part.startswith('"') else part
            for part in _NAME.findall(table)
        )
    names = tuple(part for part in parts if isinstance(part, str) and part and is_storable(part))
    if len(names) != len(parts) or len(names) not in {1, 2}:
        sentence = refusal("table", "be the name of a table, or schema.table", table)
        raise ValueError(sentence + ' A name with a dot or a quote is written "in.quotes".')
    return names


def table_name(table: str | tuple[str, ...] | None) -> str:
    """Return the quoted name of a table, or of its schema and the table."""
    return ".".join(map(quoted, table_parts(table)))


def refuse_type(column: str, type_name: str, *, remedy: str = "") -> NoReturn:
    """Refuse a column whose type holds no letters, before anything is charged.

    Only the first word of the type is shown: the names of enumerations and structs contain values
    and fields.

    >>> refuse_type("scan", "STRUCT(a VARCHAR)")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: column 'scan' must hold text, numbers, booleans or dates, got type STRUCT. ...
    >>> refuse_type("empty", '"NULL"')  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: column 'empty' must hold text, numbers, booleans or dates, got type NULL. ...
    """
    word = re.match(r"[<>%]?\w*(\[\])*", type_name.strip('"'))
    raise ValueError(
        f"column {reprlib.repr(column)} must hold text, numbers, booleans or dates,"
        f" got type {word[0] if word else ''}."
        f" {remedy or 'Cast it to one of these first.'}"
    )


def united_cell(cell: str, kind: str, dialect: Dialect) -> str:
    """Return a cell as the texts and the number by which it is compared, whatever its type was.

    What a cell counts as must not depend on the other types, which other records decide.
    """
    text, number, name = (
        forms.get(kind, "NULL").replace("{}", cell)
        for forms in (dialect.texts, dialect.numbers, dialect.identifiers)
    )
    is_missing = dialect.missing.get(kind, "({} IS NULL)").replace("{}", cell)
    person = f"CASE WHEN {is_missing} THEN '' ELSE coalesce({name}, '\ufffd') END"
    return f"{{'t': {text}, 'n': {number}, 'p': {person}, 's': {kind == TEXT}}}"


def text_cell(cell: str, kind: str, dialect: Dialect) -> str:
    """Return an identifier of any kind as the text that names the person."""
    name = dialect.identifiers.get(kind, "NULL")
    is_missing = dialect.missing.get(kind, "({} IS NULL)").replace("{}", cell)
    return f"CASE WHEN NOT {is_missing} THEN coalesce({name.replace('{}', cell)}, '\ufffd') END"


def whole_float(
    double: str, *, cast: str = "CAST", floor: str = "floor", text: str = "VARCHAR"
) -> str:
    """Return the digits of an integral double of at most 2^53, else null.

    The function ``floor`` must leave only integral doubles unchanged.
    """
    return (
        f"CASE WHEN {double} BETWEEN -{EXACT_FLOAT} AND {EXACT_FLOAT} AND"
        f" {floor}({double}) = {double} THEN CAST({cast}({double} AS BIGINT) AS {text}) END"
    )


def wide_float(double: str, *, bigint: str, decimal: str, number: str) -> str:
    """Return an integral double below 10^38 as an exact number, which a cast would round.

    The double is null if it is not below; ``bigint`` truncates the double ``{}`` to an integer.
    """
    exponents = 74, 37  # the quotients, and all products, are exact doubles
    rest, parts = double, []
    for exponent in exponents:
        unit = f"CAST('{2.0**exponent!r}' AS {number})"
        part = bigint.replace("{}", f"{rest} / {unit}")
        parts.append(f"CAST({part} AS {decimal}) * CAST('{2**exponent}' AS {decimal})")
        rest = f"({rest} - {part} * {unit})"
    return " + ".join([*parts, f"CAST({bigint.replace('{}', rest)} AS {decimal})"])


def relation_of(cells: Iterable[str], source: str) -> str:
    """Return the relation of the cells ``c0, c1, ...`` and of ``records``, one to a row."""
    read = ", ".join(f"{cell} AS c{i}" for i, cell in enumerate(cells))
    return f"(SELECT {read}, 1 AS records FROM {source})"  # noqa: S608


def counting_query(
    relation: str,
    *,
    kinds: Sequence[str],
    query: CountQuery,
    dialect: Dialect,
    is_grouped: bool = False,
    is_part: bool = False,
) -> str:
    """Return the statement that counts a relation by all alphabets, reading it once.

    Its rows are the marks of :mod:`dproo.counting.sql.sets` if there are several alphabets, a key
    per column and a number of records. A key is one of the cells that it stands for, all of which
    are the same letter.

    Args:
        relation: a table expression with the cells ``c0, c1, ...`` and ``records``, how many
            records have them.
        kinds: the kind of each column.
        query: the alphabets.
        dialect: the engine's dialect.
        is_grouped: whether equal cells are grouped before they are mapped to letters; each row
            of the relation is then one record.
        is_part: whether there are other parts of the data, so that rare letters matter.
    """
    marks: list[str] = []
    if is_grouped and query.open_axis is None:
        columns = [f"c{i}" for i in range(len(query.axes))]
        shown, groups = columns, ", ".join(columns)
        if len(query.alphabets) > 1:
            marked = sets.marks(columns)
            marks = [f"m{i}" for i in range(len(marked))]
            named = (f"{mark} AS {name}" for mark, name in zip(marked, marks, strict=True))
            shown, groups = [*named, *columns], sets.clause(columns, query.sets)
        relation = (
            f"(SELECT {', '.join(shown)}, count(*) AS records"  # noqa: S608
            f" FROM {relation} AS cells GROUP BY {groups})"
        )
    carried = [*marks, "records"]
    relation = keyed(relation, carried, kinds=kinds, axes=query.axes, dialect=dialect)
    return counted(relation, query, marks=marks, is_part=is_part)


def counted(
    relation: str, query: CountQuery, *, marks: Sequence[str] = (), is_part: bool = False
) -> str:
    """Return the statement that counts a relation of :func:`keyed`.

    If it is already grouped by sets, it has marks of its own.
    """
    if query.open_axis is not None:
        minimum = 1 if is_part else query.open_axis.minimum
        return counted_open(relation, minimum=minimum)
    names = [f"k{i}" for i in range(len(query.axes))]
    if len(query.alphabets) > 1:
        groups = ", ".join([*marks, *names]) if marks else sets.clause(names, query.sets)
        selected = ", ".join([*(marks or sets.marks(names)), *names])
    elif len(names) == 1:  # cells outside are already null
        groups = selected = "k0"
    else:
        closed = [f"k{i} IS NOT NULL" for i, axis in enumerate(query.axes) if not axis.is_open]
        is_inside = " AND ".join(closed) or "TRUE"
        inside = (f"CASE WHEN {is_inside} THEN k{i} END AS g{i}" for i in range(len(names)))
        relation = f"(SELECT {', '.join(inside)}, records FROM {relation}) AS grouped"  # noqa: S608
        groups = selected = ", ".join(f"g{i}" for i in range(len(names)))
    return f"SELECT {selected}, CAST(sum(records) AS BIGINT) FROM {relation} GROUP BY {groups}"  # noqa: S608


def counted_open(relation: str, *, minimum: int) -> str:
    """Return the statement for open letters ``k0``; its rows are a letter and a number.

    All texts with fewer records than the minimum share one row.
    """
    groups = f"SELECT k0, sum(records) AS number FROM {relation} GROUP BY k0"  # noqa: S608
    letter = f"CASE WHEN number >= {minimum} THEN k0 END"
    return (
        f"SELECT {letter}, CAST(sum(number) AS BIGINT) FROM ({groups}) AS grouped"  # noqa: S608
        f" GROUP BY {letter}"
    )


def keyed(
    relation: str,
    carried: Sequence[str],
    *,
    kinds: Sequence[str],
    axes: Sequence[Axis],
    dialect: Dialect,
) -> str:
    """Return the relation of the keys ``k0, k1, ...``, null for a cell outside."""
    columns = range(len(axes))
    if dialect.is_letter_of_many and sum(isinstance(axis, Letters) for axis in axes) > JOINS_MAX:
        dialect = replace(dialect, is_letter=dialect.is_letter_of_many)
    texts = ", ".join(f"{_text(i, kinds[i], axes[i], dialect)} AS t{i}" for i in columns)
    values = ", ".join(f"{_value(i, kinds[i], axes[i], dialect)} AS v{i}" for i in columns)
    keys = ", ".join(f"{_key(i, axes[i], dialect)} AS k{i}" for i in columns)
    others = ", ".join(carried)
    return (
        f"(SELECT {keys}, {others} FROM (SELECT {values}, {others}"  # noqa: S608
        f" FROM (SELECT {texts}, {others} FROM {relation} AS cells) AS texts) AS valued) AS keyed"
    )


def _is_text(kind: str, axis: Axis) -> bool:
    """Return whether a cell is compared by its text rather than its number."""
    if not isinstance(axis, Bins):
        return True
    return axis.reading.kind in {reading.INTEGER, reading.YEAR} or (
        axis.reading.kind == reading.NUMBER and kind == TEXT
    )


def _text(column: int, kind: str, axis: Axis, dialect: Dialect) -> str:
    """Return the canonical text of a cell, or its number for bins."""
    cell = f"c{column}"
    if _is_text(kind, axis):
        return dialect.texts[kind].replace("{}", cell)
    number = dialect.numbers[kind].replace("{}", cell)
    if kind in dialect.is_string and axis.reading.kind == reading.NUMBER:
        is_string = dialect.is_string[kind].replace("{}", cell)
        text = dialect.reader.number(f"({dialect.texts[kind].replace('{}', cell)})", axis)
        return f"CASE WHEN {is_string} THEN {text} ELSE {number} END"
    return number


def _value(column: int, kind: str, axis: Axis, dialect: Dialect) -> str:
    """Return what a cell is compared by: the text that is read, or its number for bins."""
    text = f"t{column}"
    if isinstance(axis, Bins):
        number = dialect.reader.number(text, axis) if _is_text(kind, axis) else text
        missing = ", ".join(map(dialect.number, axis.missing))
        return f"CASE WHEN {number} NOT IN ({missing}) THEN {number} END" if missing else number
    is_written = kind in {TEXT, *dialect.is_string} or axis.reading.kind != reading.EXACT
    return dialect.reader.text(text, axis) if axis.is_read and is_written else text


def _key(column: int, axis: Axis, dialect: Dialect) -> str:
    value = f"v{column}"
    if isinstance(axis, Bins):
        edges = list(map(dialect.number, axis.edges))
        inside = _halved(value, edges[1:-1], [*map(dialect.number, axis.keys)])
        is_inside = f"{value} >= {edges[0]} AND {value} < {edges[-1]}"
        return f"CASE WHEN {is_inside} THEN {inside} END"
    if isinstance(axis, IntegerRange):
        bigint = dialect.reader.bigint.replace("{}", value)
        is_letter = f"{bigint} >= {axis.start} AND {bigint} < {axis.stop}"
        is_integer = dialect.is_integer.replace("{}", value)
        return f"CASE WHEN {is_integer} THEN CASE WHEN {is_letter} THEN {value} END END"
    is_letter = dialect.is_letter.replace("{}", value).replace("{column}", str(column))
    if isinstance(axis, OpenText):
        is_letter = f"length({value}) <= {LONGEST_OPEN}"
    return f"CASE WHEN {is_letter} THEN {value} END"


def _halved(value: str, edges: Sequence[str], keys: Sequence[str]) -> str:
    """Return the key of the bin that a number is in, by bisection."""
    if not edges:
        return keys[0]
    half = len(edges) // 2
    low = _halved(value, edges[:half], keys[: half + 1])
    high = _halved(value, edges[half + 1 :], keys[half + 1 :])
    return f"CASE WHEN {value} < {edges[half]} THEN {low} ELSE {high} END"
