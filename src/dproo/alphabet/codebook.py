"""The code book: the public description of every column, in the Data Package standard.

It is a Data Resource descriptor, version 2. A column's letters are its ``categories``, its
``constraints.enum``, the integers from ``constraints.minimum`` to ``maximum``, the two
booleans, or the ``bins`` between public edges. ``bins`` is an addition to the standard, and so
are ``parents``, the columns that a column depends on; ``other``, the name of the letter that
stands for every cell outside; ``outside``, a value of the column that every cell outside
counts as instead, which spares the extra letter; and ``as``, how text is read (``text`` or
``lower``). Unknown keys are kept and ignored.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from dproo.alphabet.alphabet import UNIFORM, Alphabet
from dproo.alphabet.axis import Letter
from dproo.alphabet.field import Field
from dproo.alphabet.field_descriptor import field_of, missing_of, wrong
from dproo.core.checks import refusal
from dproo.core.paths import read_public

_BYTES_MAX = 16 << 20


@dataclass(frozen=True)
class CodeBook:
    """The public columns of a table and their letters; never learned from the data.

    Attributes:
        fields: the columns.
        descriptor: the whole descriptor as it was given.

    >>> book = CodeBook.of({"schema": {"fields": [
    ...     {"name": "sex", "type": "string", "categories": ["F", "M"]},
    ...     {"name": "age", "type": "integer", "bins": [0, 18, 65], "parents": ["sex"]},
    ... ]}})
    >>> book.columns, [field.axis.size for field in book.fields], book.row((0, 2))
    (('sex', 'age'), [3, 3], {'sex': 'F', 'age': 'other'})
    """

    fields: tuple[Field, ...]
    descriptor: Mapping[str, Any]

    @classmethod
    def of(cls, book: Any) -> CodeBook:
        """Return the code book of a descriptor, of the path of its JSON file, or as it is.

        Raises:
            TypeError: it is neither.
            ValueError: the file cannot be read, or a part of the descriptor is wrong; the
                message names the place.
        """
        if isinstance(book, CodeBook):
            return book
        book = read_descriptor(book)
        if book.get("draft"):
            raise ValueError(
                "codebook must be confirmed: read it, complete it and remove the key 'draft'."
                " See what is left to do: dproo codebook show FILE."
            )
        schema = _part(book, "schema", Mapping, "an object")
        missing = missing_of(schema, "schema")
        listed = _part(schema, "fields", Sequence, "a list", "schema.")
        fields = tuple(
            field_of(field, f"schema.fields[{i}]", missing) for i, field in enumerate(listed)
        )
        if not fields:
            raise ValueError("schema.fields must list at least one column, got none.")
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
        """How many letters each column has."""
        return tuple(field.size for field in self.fields)

    @property
    def alphabet(self) -> Alphabet:
        """All combinations of the letters of all columns."""
        return self.table(range(len(self.fields)))

    def table(self, columns: Iterable[int]) -> Alphabet:
        """Return the combinations of the letters of some columns, by their places."""
        fields = [self.fields[column] for column in columns]
        return Alphabet(
            axes=tuple(field.axis for field in fields),
            columns=tuple(field.name for field in fields),
            policy=UNIFORM,  # every axis is open: no cell is outside
        )

    @property
    def parents(self) -> dict[str, tuple[str, ...]] | None:
        """The parents of every column, or nothing where the code book names none at all."""
        if all(field.parents is None for field in self.fields):
            return None
        return {field.name: field.parents or () for field in self.fields}

    def row(self, places: Sequence[int]) -> dict[str, Letter]:
        """Return the row whose letters stand at these places."""
        return {field.name: field[at] for field, at in zip(self.fields, places, strict=True)}

    @cached_property
    def digest(self) -> str:
        """A fingerprint of all that a release depends on."""
        content = [
            [field.name, field.axis.read_content, field.parents, field.other, field.outside]
            for field in self.fields
        ]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def read_descriptor(book: Any) -> Mapping[str, Any]:
    """Return a descriptor, or that of a JSON file, draft or not.

    Raises:
        TypeError: it is neither.
        ValueError: the file cannot be read.
    """
    if isinstance(book, str | os.PathLike):
        book = _read(Path(book))
    if not isinstance(book, Mapping):
        raise TypeError(refusal("codebook", "be a path or a descriptor", type(book)))
    return book


def _read(path: Path) -> Any:
    text = read_public("codebook", path, at_most=_BYTES_MAX)
    try:
        return json.loads(text, object_pairs_hook=_object)
    except (json.JSONDecodeError, RecursionError):
        raise wrong("codebook", "be a readable JSON file", str(path)) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("codebook must not give a key twice in one object.")
    return found


def _part(whole: Mapping[str, Any], key: str, kind: Any, name: str, place: str = "") -> Any:
    value = whole.get(key)
    if not isinstance(value, kind) or isinstance(value, str):
        raise wrong(f"{place}{key}", f"be {name}", value)
    return value
