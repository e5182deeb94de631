"""The code book: the public description of every column, in the Data Package standard.

It is a Data Resource descriptor, version 2. A column's letters are its ``categories``, its
``constraints.enum``, the integers from ``constraints.minimum`` to ``maximum``, the two
booleans, or the ``bins`` between public edges. Additions to the standard are ``bins``;
``parents``, the columns that a column depends on; ``other``, the name of the letter for every
cell outside; ``outside``, a value of the column that every cell outside counts as instead,
which saves the extra letter; ``as``, how text is read (``text`` or ``lower``); and ``source``,
where the letters come from. A misspelt key and a value of the wrong kind are
refused; all other keys are preserved and ignored.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from dataclasses import field as dataclasses_field
from functools import cached_property, partial
from math import nextafter
from pathlib import Path
from typing import Any

from dproo.core.checks import exact, one_of, read_integer, refusal, require_unicode
from dproo.core.draw import RandomSource
from dproo.core.paths import Origin, path_of, read_public, written
from dproo.schema.alphabet import UNIFORM, Alphabet
from dproo.schema.axis import (
    OTHER,
    Axis,
    Bins,
    IntegerRange,
    Letter,
    Letters,
    PeriodRange,
    between,
    whole_numbers,
)
from dproo.schema.lookup import described
from dproo.schema.reading import (
    DATE,
    DAYS,
    EXACT,
    INTEGER,
    ISO,
    LOWER,
    MONTH,
    NUMBER,
    TEXTS,
    YEAR,
    Reading,
    periods,
)

_STEPS = 1 << 53


@dataclass(frozen=True, kw_only=True)
class Field:
    """One column of the code book.

    Attributes:
        name: the column's name in the data.
        axis: its letters; one more, the last, is for every cell outside.
        parents: the columns it depends on, or None if the code book does not state them.
        other: the name of the letter for every cell outside.
        kind: its type in the code book, such as ``"integer"``.
        outside: the place of the letter that every cell outside counts as, or None if such
            cells have a letter of their own.
        labels: how letters are called, by their text.
    """

    name: str
    axis: Axis
    parents: tuple[str, ...] | None = None
    other: str = OTHER
    kind: str = "string"
    outside: int | None = None
    labels: Mapping[str, str] = dataclasses_field(default_factory=dict)

    @property
    def size(self) -> int:
        """The number of letters of the column."""
        return self.axis.size if self.outside is None else self.axis.listed

    @property
    def is_whole(self) -> bool:
        """Whether its numbers are whole: integers, or years."""
        return self.kind in {"integer", "year"}

    def __getitem__(self, place: int) -> Letter:
        return self.other if place == self.axis.listed else self.axis.letter(place)

    def within(self, place: int, source: RandomSource) -> Letter | float:
        """Return a uniform number from the bin at this place; any other letter unchanged.

        The edges are public, so the number reveals no more than the bin.
        """
        if not isinstance(self.axis, Bins) or place == self.axis.listed:
            return self[place]
        low, high = self.axis.edges[place : place + 2]
        if self.is_whole:
            numbers = whole_numbers(low, high)
            return numbers[source.below(len(numbers))] if numbers else self[place]
        return between(low, high, source.below(_STEPS) / _STEPS)


@dataclass(frozen=True, kw_only=True)
class FieldType:
    """A type of columns, as a code book names it.

    Attributes:
        python: the type of listed values, or None if values cannot be listed.
        reading: how cells are read.
        letters: all possible values, if the type alone determines them.
        words: what a form calls such a column.
    """

    python: type | None
    reading: str = EXACT
    letters: tuple[Letter, ...] = ()
    words: str = ""


FIELD_TYPES = {
    "string": FieldType(python=str),
    "integer": FieldType(python=int, reading=INTEGER),
    "number": FieldType(python=None, reading=NUMBER),
    "boolean": FieldType(python=bool, reading=LOWER, letters=(False, True), words="true or false"),
    "date": FieldType(python=str, reading=DATE),
    "yearmonth": FieldType(python=str, reading=MONTH),
    "year": FieldType(python=int, reading=YEAR),
}

_DOMAINS = "categories, constraints.enum, a minimum and maximum, or bins"
_FORMATS = {"%Y": "YYYY", "%m": "MM", "%d": "DD", "%y": "YY", "%b": "MMM", "%B": "MMMM"}
_ALIKE = 0.8  # the share of characters in which a misspelt key agrees with the right one
_KINDS: dict[str, tuple[type, ...]] = {
    "a text": (str,),
    "a list": (list, tuple, range),
    "a text or a list": (str, list, tuple, range),
    "an object": (Mapping,),
    "true or false": (bool,),
    "an integer": (int,),
    "a number or a text": (int, float, str),
    "anything": (object,),
}


def _keys(by_kind: Mapping[str, str]) -> dict[str, str]:
    return {key: kind for kind, keys in by_kind.items() for key in keys.split()}


_BOOK_KEYS = _keys(
    {
        "a text": "encoding compression name title description format mediatype hash homepage",
        "a list": "sources licenses",
        "a text or a list": "path",
        "an object": "schema dialect",
        "an integer": "bytes",
        "anything": "draft",
    }
)
_SCHEMA_KEYS = _keys(
    {
        "a list": "fields missingValues uniqueKeys foreignKeys",
        "a text or a list": "fieldsMatch primaryKey",
    }
)
_FIELD_KEYS = _keys(
    {
        "a text": "name type format other as source decimalChar groupChar title description"
        " rdfType",
        "a list": "categories missingValues bins parents sources trueValues falseValues",
        "an object": "constraints",
        "true or false": "categoriesOrdered bareNumber",
        "anything": "outside example",
    }
)
_CONSTRAINT_KEYS = _keys(
    {
        "a text": "pattern",
        "a list": "enum",
        "an object": "jsonSchema",
        "true or false": "required unique",
        "an integer": "minLength maxLength",
        "a number or a text": "minimum maximum exclusiveMinimum exclusiveMaximum",
    }
)
_VALUE_KEYS = _keys({"a text": "label", "anything": "value"})


def wrong(place: str, condition: str, value: object) -> ValueError:
    """Return the refusal of a part of a code book, naming its place."""
    return ValueError(refusal(place, condition, value))


def _check_keys(part: Mapping[str, Any], known: Mapping[str, str], place: str) -> None:
    """Refuse a value of the wrong kind, and a key that is probably a known one misspelt."""
    for key, value in part.items():
        if key in known:
            types = _KINDS[known[key]]
            if not isinstance(value, types) or (type(value) is bool and int in types):
                raise wrong(f"{place}{key}", f"be {known[key]}", value)
            continue
        names = {re.sub("[^a-z]", "", name.lower()): name for name in known}
        plain = re.sub("[^a-z$]", "", str(key).lower())
        if "$" in plain:
            continue
        if near := difflib.get_close_matches(plain, names, n=1, cutoff=_ALIKE):
            meant = f" Did you mean {names[near[0]]!r}?"
            raise ValueError(f"{place}{key} is not a key of a code book.{meant}")


def field_of(field: Any, place: str, missing: frozenset[str]) -> Field:
    """Return the field that a descriptor describes; refusals name its place in the code book.

    Cells with one of the ``missing`` texts are missing, unless the field has a list of its own.
    """
    if not isinstance(field, Mapping):
        raise wrong(place, "be an object", field)
    field = exact(field)
    _check_keys(field, _FIELD_KEYS, f"{place}.")
    if field.get("bareNumber", True) is not True:
        raise ValueError(f"{place}.bareNumber must be true: signs beside a number are not read.")
    name = field.get("name")
    if not name:
        raise wrong(f"{place}.name", "be a text", name)
    kind = field.get("type")
    if kind not in FIELD_TYPES:
        raise wrong(f"{place}.type", f"be one of {', '.join(FIELD_TYPES)}", kind)
    if "missingValues" in field:
        missing = missing_of(field, place)
    axis = _read_as(_axis(field, kind, place), field, kind, place, missing)
    other = field.get("other", OTHER)
    names = map(axis.letter, range(axis.listed)) if isinstance(axis, Bins) else ()
    if not other or axis.place(other) is not None or other in names:
        raise ValueError(
            refusal(f"{place}.other", "be a text that is not a letter of the column", other)
            + " It names the letter for all other cells."
        )
    parents = field.get("parents")
    if parents is not None:
        if not all(isinstance(parent, str) for parent in parents):
            raise wrong(f"{place}.parents", "be a list of columns", parents)
        parents = tuple(parents)
    outside = _outside(field, axis, place) if "outside" in field else None
    return Field(
        name=name,
        axis=axis,
        parents=parents,
        other=other,
        kind=kind,
        outside=outside,
        labels={
            str(value.get("value")): value["label"]
            for value in field.get("categories", ())
            if isinstance(value, Mapping) and "label" in value
        },
    )


@contextmanager
def _at(place: str) -> Iterator[None]:
    """Name the place in the code book in any refusal within."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise ValueError(f"{place}: {error}") from None


def _read_as(
    axis: Axis, field: Mapping[str, Any], kind: str, place: str, missing: frozenset[str]
) -> Axis:
    """Return the letters, with cells read by the field's type; missing ones are in no bin."""
    with _at(place):
        axis = axis.read_as(_reading(field, kind, place, axis))
    if isinstance(axis, Bins):
        numbers = {axis.reading.number(text) for text in missing} - {None}
        return replace(axis, missing=tuple(sorted(float(number or 0) for number in numbers)))
    both = sorted(text for text in missing if axis.place(text) is not None)
    if both:
        raise wrong(f"{place}.categories", "not also be missing values", both[0])
    return axis


def _reading(field: Mapping[str, Any], kind: str, place: str, axis: Axis) -> Reading:
    if "as" in field:
        one_of(f"{place}.as", field["as"], TEXTS)
        if kind != "string":
            raise wrong(f"{place}.as", "be left out for other types than string", field["as"])
        return Reading(kind=field["as"])
    for key in ("trueValues", "falseValues"):
        if key in field:
            raise wrong(f"{place}.{key}", "be left out: list the values as categories", field[key])
    reading = FIELD_TYPES[kind].reading
    if reading in {INTEGER, NUMBER}:
        return Reading(
            kind=NUMBER if isinstance(axis, Bins) else INTEGER,
            decimal=field.get("decimalChar", "."),
            thousands=field.get("groupChar", ""),
        )
    if reading in DAYS:
        form = field.get("format", "default")
        form = ISO if form == "default" else form
        form = re.sub("%[YmdybB]", lambda part: _FORMATS[part[0]], form)
        return Reading(kind=reading, format=form)
    return Reading(kind=reading)


def _outside(field: Mapping[str, Any], axis: Axis, place: str) -> int:
    """Return the place of the letter that every cell outside counts as."""
    outside = axis.place(field["outside"])
    if outside is None:
        raise ValueError(
            refusal(f"{place}.outside", "be a value of the column", field["outside"])
            + " Every cell outside counts as it."
        )
    if axis.listed < 2:
        raise wrong(place, "have at least two letters besides 'outside'", axis.listed)
    return outside


def _axis(field: Mapping[str, Any], kind: str, place: str) -> Axis:
    """Return the letters that a field declares, in one way only."""
    constraints = field.get("constraints", {})
    _check_keys(constraints, _CONSTRAINT_KEYS, f"{place}.constraints.")
    reading = FIELD_TYPES[kind].reading
    bounds = [key for key in ("minimum", "maximum") if key in constraints]
    if bounds and reading not in {INTEGER, NUMBER, *DAYS}:
        condition = f"be left out for type {kind}, which has no order"
        raise wrong(f"{place}.constraints.{bounds[0]}", condition, constraints[bounds[0]])
    ways = [way for way in ("categories", "bins") if way in field]
    ways += ["enum"] if "enum" in constraints else []
    if not ways and (letters := FIELD_TYPES[kind].letters):
        return Letters(letters, is_open=True)
    if not ways and reading in {INTEGER, *DAYS} and len(bounds) == 2:
        low, high = constraints["minimum"], constraints["maximum"]
        with _at(f"{place}.constraints"):
            if reading in {DATE, MONTH}:
                return PeriodRange(periods(low, high, reading), is_open=True)
            if {type(low), type(high)} != {int}:
                raise ValueError("minimum and maximum must be integers.")
            return replace(IntegerRange.of(low, high + 1), is_open=True)
    if len(ways) != 1:
        raise ValueError(
            f"{place} must declare its letters in one way, got {' and '.join(ways) or 'none'}."
            f" Ways are {_DOMAINS}; a column is never described by its data."
        )
    (way,) = ways
    if way == "bins":
        if kind not in {"integer", "number", "year"}:
            raise wrong(f"{place}.bins", "have type integer or number", kind)
        where = f"{place}.bins"
        with _at(where):
            axis: Axis = replace(Bins.of(field["bins"]), is_open=True)
    else:
        values = field["categories"] if way == "categories" else constraints["enum"]
        where = f"{place}.{'categories' if way == 'categories' else 'constraints.enum'}"
        listed = [_letter(value, kind, where) for value in _values(values, where)]
        with _at(where):
            axis = replace(Letters.of(listed), is_open=True)
    _check_bounds(axis, constraints, reading, place, where)
    return axis


def _check_bounds(
    axis: Axis, constraints: Mapping[str, Any], reading: str, place: str, where: str
) -> None:
    """Refuse a listed value, or a whole bin, outside the minimum and maximum."""
    least, most = constraints.get("minimum"), constraints.get("maximum")
    for bound in (least, most):
        if bound is not None and reading in {DATE, MONTH}:
            with _at(f"{place}.constraints"):
                periods(bound, bound, reading)
        elif isinstance(bound, str):
            raise ValueError(f"{place}.constraints: minimum and maximum must be numbers.")
    for at in range(axis.listed):
        first: Any = axis.letter(at)
        last = first
        if isinstance(axis, Bins):
            first, past = axis.edges[at : at + 2]
            last = nextafter(past, first)
        if (least is not None and last < least) or (most is not None and first > most):
            raise wrong(where, "lie within constraints.minimum and maximum", axis.letter(at))


def _values(listed: Sequence[Any], place: str) -> list[Any]:
    """Return the values of a list, each of which may carry a label."""
    for at, value in enumerate(listed):
        if isinstance(value, Mapping):
            _check_keys(value, _VALUE_KEYS, f"{place}[{at}].")
    return [value.get("value") if isinstance(value, Mapping) else value for value in listed]


def _letter(value: Any, kind: str, place: str) -> Letter:
    """Return a listed value, which must have the column's type."""
    python = FIELD_TYPES[kind].python
    if python is None:
        raise wrong(place, "not have type number: give bins", kind)
    letter: Letter = value
    if type(letter) is not python:
        raise wrong(place, f"have values of type {kind}", value)
    return letter


def missing_of(schema: Mapping[str, Any], place: str) -> frozenset[str]:
    """Return the texts that mean a missing cell."""
    texts = _values(schema.get("missingValues", [""]), f"{place}.missingValues")
    for text in texts:
        if not isinstance(text, str):
            raise wrong(f"{place}.missingValues", "be texts", text)
    return frozenset(texts)


_BYTES_MAX = 16 << 20
_TABLES = {".csv", ".tsv", ".txt"}


@dataclass(frozen=True)
class CodeBook:
    """The public columns of a table and their letters; never learned from the data.

    Attributes:
        fields: the columns.
        descriptor: the whole descriptor, unchanged; empty if made from an alphabet.
        receipt: what was paid for it, if it was found privately just now.

    >>> book = CodeBook.of({"schema": {"fields": [
    ...     {"name": "sex", "type": "string", "categories": ["F", "M"]},
    ...     {"name": "age", "type": "integer", "bins": [0, 18, 65], "parents": ["sex"]},
    ... ]}})
    >>> book.columns, [field.axis.size for field in book.fields], book.row((0, 2))
    (('sex', 'age'), [3, 3], {'sex': 'F', 'age': 'other'})
    """

    fields: tuple[Field, ...]
    descriptor: Mapping[str, Any]
    receipt: Any = dataclasses_field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, book: Any) -> CodeBook:
        """Return the code book of a descriptor, of a file, of an alphabet of columns, or as it is.

        A file is JSON, or a CSV table of column, value and label.

        >>> CodeBook.of(Alphabet.of({"sex": ["f", "m"], "age": range(120)})).sizes
        (3, 121)

        Raises:
            TypeError: it is none of these.
            ValueError: the file cannot be read, or a part of the descriptor is wrong; the
                message names the place.
        """
        if isinstance(book, CodeBook):
            return book
        if isinstance(book, Alphabet):
            if not book.columns:
                raise ValueError("codebook must name its columns: {column: letters}.")
            return cls(tuple(map(_of_axis, book.columns, book.axes)), {})
        origin = Origin.found(book)  # a ledger may know it as data
        book = read_descriptor(book)
        if book.get("draft"):
            raise ValueError(
                "codebook must be confirmed: read it, complete it and remove the key 'draft'."
                " See what is left to do: dproo codebook preview FILE."
            )
        _check_keys(book, _BOOK_KEYS, "")
        if "schema" not in book:
            raise wrong("schema", "be an object", None)
        schema = book["schema"]
        _check_keys(schema, _SCHEMA_KEYS, "schema.")
        if "fields" not in schema:
            raise wrong("schema.fields", "be a list", None)
        missing = missing_of(schema, "schema")
        fields = tuple(
            field_of(field, f"schema.fields[{i}]", missing)
            for i, field in enumerate(schema["fields"])
        )
        if not fields:
            raise ValueError("schema.fields must list at least one column, got none.")
        if origin is not None:
            origin = replace(origin, is_described=True)
            fields = tuple(
                replace(field, axis=replace(field.axis, origin=origin)) for field in fields
            )
        names = [field.name for field in fields]
        if repeated := {name for name in names if names.count(name) > 1}:
            raise wrong("schema.fields", "name every column once", min(repeated))
        return cls(fields, dict(book))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(field.name for field in self.fields)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of letters of each column."""
        return tuple(field.size for field in self.fields)

    @property
    def alphabet(self) -> Alphabet:
        """All combinations of the letters of all columns."""
        return self.table(range(len(self.fields)))

    def letters(self, name: str) -> Alphabet:
        """Return the letters of one column, for one value of it: any other cell is ``other``.

        Raises:
            ValueError: the code book does not describe it, or counts other cells as a letter.
        """
        name = exact(name)
        field = next((field for field in self.fields if field.name == name), None)
        if field is None:
            raise ValueError(refusal("column", "be described by the code book", name))
        if field.outside is not None:
            raise ValueError(
                f"column {name!r} must not have 'outside' in the code book for one value of it."
                " Release a row of the column instead."
            )
        return Alphabet(axes=(replace(field.axis, is_open=False),))

    def table(self, columns: Iterable[int]) -> Alphabet:
        """Return the combinations of the letters of some columns, given by their places."""
        fields = [self.fields[column] for column in columns]
        return Alphabet(
            axes=tuple(field.axis for field in fields),
            columns=tuple(field.name for field in fields),
            policy=UNIFORM,  # no cell is outside, because every axis is open
        )

    def missing_texts(self, person: str) -> tuple[str, ...]:
        """Return the texts that mean a missing cell, such as ``NA``, in the person's column."""
        schema = self.descriptor.get("schema", {})
        own = (field for field in schema.get("fields", ()) if field["name"] == person)
        stated = next((field for field in own if "missingValues" in field), schema)
        return tuple(sorted(filter(can_be_missing, missing_of(stated, "schema"))))

    @property
    def parents(self) -> dict[str, tuple[str, ...]] | None:
        """The parents of every column, or None if the code book names none at all."""
        if all(field.parents is None for field in self.fields):
            return None
        return {field.name: field.parents or () for field in self.fields}

    @property
    def parent_places(self) -> tuple[tuple[int, ...], ...]:
        """The places of the parents of every column."""
        check_parents({field.name: field.parents or () for field in self.fields})
        place = self.columns.index
        return tuple(tuple(map(place, field.parents or ())) for field in self.fields)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the descriptor to a new JSON file.

        Raises:
            ValueError: it was made from an alphabet, or has a part that JSON cannot hold.
            FileExistsError: the file exists.
        """
        if not self.descriptor:
            raise ValueError("codebook must have a descriptor to be saved: an alphabet has none.")
        text = json.dumps(self.descriptor, indent=2, ensure_ascii=False, default=_in_json)
        with written(path, "x") as file:
            file.write(text + "\n")

    def row(self, places: Sequence[int]) -> dict[str, Letter]:
        """Return the row with the letters at these places."""
        return {field.name: field[at] for field, at in zip(self.fields, places, strict=True)}

    @cached_property
    def digest(self) -> str:
        """A fingerprint of everything a release depends on."""
        content = [
            [field.name, field.axis.read_content, field.parents, field.other, field.outside]
            for field in self.fields
        ]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _in_json(part: object) -> list[int]:
    """Return a range as a list; nothing else that a descriptor needs is foreign to JSON."""
    if isinstance(part, range):
        return list(part)
    raise wrong("codebook", "hold only what JSON can, to be saved", type(part))


def can_be_missing(text: str) -> bool:
    """Return whether a text can stand for a missing identifier; empty text always does.

    Unreadable identifiers have U+FFFD in them: they are one person's, not each somebody else's.

    >>> [can_be_missing(text) for text in ("NA", "", "\ufffd")]
    [True, False, False]
    """
    return text != "" and not {"\0", "\ufffd"} & {*text}


def check_parents(parents: Mapping[str, Sequence[str]]) -> None:
    """Refuse a parent that is not another column, or is repeated."""
    for name, found in parents.items():
        for parent in found:
            if parent not in parents or parent == name:
                raise ValueError(refusal(f"parents of {name!r}", "be other columns", parent))
        if len(set(found)) < len(found):
            raise ValueError(refusal(f"parents of {name!r}", "all differ", list(found)))


def _of_axis(name: str, axis: Axis) -> Field:
    """Return the column whose letters an alphabet lists."""
    require_unicode("column", name)
    if axis.place(OTHER) is not None:
        raise ValueError(f"letter must not be {OTHER!r}: it stands for every other cell.")
    kind = {IntegerRange: "integer", Bins: "number"}.get(type(axis), "string")
    return Field(name=name, axis=replace(axis, is_open=True), kind=kind)


def read_descriptor(book: Any) -> Mapping[str, Any]:
    """Return a descriptor, read from its file if it is a path, draft or not."""
    if isinstance(book, str | os.PathLike):
        book = _read(path_of("codebook", book))
    if not isinstance(book, Mapping):
        raise TypeError(refusal("codebook", "be a path or a descriptor", type(book)))
    descriptor: dict[str, Any] = exact(book, name="codebook")
    require_unicode("", descriptor)
    return descriptor


def _read(path: Path) -> Any:
    text = read_public("codebook", path, at_most=_BYTES_MAX)
    if path.suffix.lower() in _TABLES:
        book = described(text)
        if book is None:
            raise ValueError(
                refusal("codebook", "be a table of column, value and label", str(path))
                + " Its first line names these three."
            )
        return book
    try:
        return json.loads(
            text, object_pairs_hook=_unrepeated, parse_int=partial(read_integer, "codebook")
        )
    except json.JSONDecodeError as error:
        at = f" Line {error.lineno}, column {error.colno}: {error.msg}."
        raise ValueError(refusal("codebook", "be a readable JSON file", str(path)) + at) from None
    except RecursionError:
        raise wrong("codebook", "be a readable JSON file", str(path)) from None


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("codebook must not give a key twice in one object.")
    return values
