"""What a release would refuse or warn of, by header and schema alone; no record is read.

A typed cell is tried too: which value it would count as, and as which it would be read otherwise.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Unpack

from dproo.core.checks import exact, refusal
from dproo.counting.fit import Column, assumed, is_numeric
from dproo.counting.query import Where
from dproo.counting.source import Source
from dproo.releases.protection import Protection
from dproo.releases.row import RowRequest
from dproo.schema import OTHER, UNIFORM, Alphabet
from dproo.schema.axis import Axis, Letter, Letters
from dproo.schema.codebook import CodeBook
from dproo.schema.reading import ISO, TEXTS, Reading, ways

_MOST_READINGS = 3
_MOST_COMPARED = 10_000  # letters that a typed cell is compared with


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What a typed cell counts as.

    Attributes:
        column: the column, if it has a name.
        cell: what was typed.
        letter: the value that it counts as.
        is_outside: whether the cell is outside the listed values.
        others: the values that it would count as in other readings, and how to declare these.
        near: a listed value that looks like it.
    """

    column: str | None
    cell: str
    letter: Letter
    is_outside: bool = False
    others: tuple[tuple[Letter, str], ...] = ()
    near: Letter | None = None

    def __str__(self) -> str:
        where = f"{self.column}: " if self.column else ""
        parts = [f"{where}{self.cell!r} counts as {self.letter}"]
        parts += [f"with {how} as {letter}" for letter, how in self.others]
        if self.near is not None and not self.others:
            parts.append(f"the nearest value is {self.near!r}")
        return f"{'; '.join(parts)}."


@dataclass(frozen=True, kw_only=True)
class Check:
    """The result of checking a release by header and schema.

    Attributes:
        columns: the columns that would be counted, with their types.
        refusals: why a release would be refused, each with its remedy.
        warnings: why cells may count as ``other`` that should not, and which kinds of release
            would be refused, unless their other choices allow them.
        cells: what the typed cells count as.
        assumed: how the cells of each column are read, where that may surprise.
        notes: what was inferred, such as the delimiter of the header line.
    """

    columns: tuple[Column, ...]
    refusals: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    cells: tuple[Trial, ...] = ()
    assumed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether a release would begin."""
        return not self.refusals


def check(
    source: Source, letters: Alphabet, *, column: str | None = None, **people: Unpack[Where]
) -> Check:
    """Return what a release would refuse or warn of, by header and schema alone.

    Every release does the same before its charge. Letters that name no column belong to
    ``column``.
    """
    try:
        with source.scan((letters,), (column,) if column else (), **people) as scan:
            pass
    except ValueError as error:
        of_columns = _refusals_of_columns(source, letters, people) if letters.columns else ()
        return Check(columns=(), refusals=of_columns or (str(error),))
    return Check(
        columns=scan.columns,
        warnings=scan.warnings,
        assumed=tuple(map(assumed, scan.columns, letters.axes)),
        notes=scan.notes,
    )


def check_kinds(book: CodeBook, protection: Protection) -> tuple[str, ...]:
    """Return why a row, or a private table, could not be released by this code book alone.

    Another network than the default may still allow it, so these are warnings.
    """
    from dproo.releases.table import ModelRequest  # noqa: PLC0415 - loads NumPy

    warnings = []
    for name, kind in (("row", RowRequest), ("private table", ModelRequest)):
        try:
            kind(codebook=book, epsilon=Fraction(1), protection=protection)
        except ValueError as error:
            warnings.append(f"A {name} would be refused: {error}")
    return tuple(warnings)


def _refusals_of_columns(source: Source, letters: Alphabet, people: Where) -> tuple[str, ...]:
    """Return the refusals of every column by itself, each once."""
    refusals: list[str] = []
    for name, axis in zip(letters.columns, letters.axes, strict=True):
        one = Alphabet(axes=(axis,), columns=(name,), policy=UNIFORM)
        try:
            source.scan((one,), (), **people).close()
        except ValueError as error:
            refusals.append(str(error))
    return tuple(dict.fromkeys(refusals))


def try_cells(
    checked: Check,
    letters: Alphabet | CodeBook,
    cells: str | Mapping[str, str],
    *,
    column: str | None = None,
) -> Check:
    """Return a check with what typed cells count as: one for all columns, or one each for some."""
    book = letters if isinstance(letters, CodeBook) else None
    alphabet = letters if isinstance(letters, Alphabet) else letters.alphabet
    names: tuple[str | None, ...] = alphabet.columns or (column,)
    cells = exact(cells)
    for text in cells.values() if isinstance(cells, Mapping) else (cells,):
        if not isinstance(text, str):
            raise TypeError(refusal("cell", "be the text of a cell", text))
    if not isinstance(cells, Mapping):
        cells = dict.fromkeys(map(str, names), cells)
    if unknown := set(cells) - set(map(str, names)):
        raise ValueError(refusal("cell", "be of a column that has values", min(unknown)))
    kinds = {one.name: one.kind for one in checked.columns}
    trials = []
    for place, (name, axis) in enumerate(zip(names, alphabet.axes, strict=True)):
        if str(name) in cells:
            outside: Letter = OTHER if alphabet.policy == OTHER else "a random value"
            if book is not None:
                field = book.fields[place]
                outside = field.other if field.outside is None else field[field.outside]
            text = cells[str(name)]
            cell = _cell_of(text, kinds.get(str(name)))
            trials.append(_trial(name, text, cell, axis, outside, in_book=book is not None))
    return replace(checked, cells=tuple(trials))


def _cell_of(text: str, kind: str | None) -> object:
    """Return a typed cell as a column of this kind would hold it."""
    if is_numeric(kind):
        with suppress(InvalidOperation):
            return Decimal(text.strip())
    return text


def _trial(
    name: str | None, text: str, cell: object, axis: Axis, outside: Letter, *, in_book: bool
) -> Trial:
    place = axis.place(cell)
    if place is not None:
        return Trial(column=name, cell=text, letter=axis.letter(place))
    others: dict[Letter, str] = {}
    for read, reading in _read_otherwise(axis, in_book=in_book):
        place = read.place(cell)
        if place is not None and len(others) < _MOST_READINGS:
            others.setdefault(axis.letter(place), _keys(reading) if in_book else reading.spelled)
    near: Letter | None = None
    if isinstance(axis, Letters) and not axis.is_withheld and axis.listed <= _MOST_COMPARED:
        letters = {str(letter).lower(): letter for letter in axis.letters}
        for match in difflib.get_close_matches(text.strip().lower(), letters, n=1):
            near = letters[match]
    return Trial(
        column=name,
        cell=text,
        letter=outside,
        is_outside=True,
        others=tuple(others.items()),
        near=near,
    )


def _read_otherwise(axis: Axis, *, in_book: bool) -> Iterator[tuple[Axis, Reading]]:
    """Yield the same letters in all other readings; a code book keeps the type of its field."""
    for reading in ways():
        is_possible = reading.kind in {axis.reading.kind, *TEXTS} or not in_book
        if is_possible and reading != axis.reading:
            with suppress(ValueError):
                yield axis.read_as(reading), reading


def _keys(reading: Reading) -> str:
    """Return how a reading is declared in a field of a code book."""
    keys = {
        "as": reading.kind if reading.kind in TEXTS else "",
        "decimalChar": reading.decimal.replace(".", ""),
        "groupChar": reading.thousands,
        "format": reading.format.replace(ISO, ""),
    }
    return ", ".join(f'"{key}": "{value}"' for key, value in keys.items() if value)
