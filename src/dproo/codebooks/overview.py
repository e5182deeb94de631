"""A code book, or a draft of one, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from dproo.schema.codebook import CodeBook, Field, read_descriptor

_SHOWN = 5


@dataclass(frozen=True)
class ColumnLine:
    """One column of a code book.

    Attributes:
        column: its name.
        kind: its type.
        k: how many letters it has, including the one for all other cells; None in a draft if a
            person must fill them in.
        shown: the first of its values.
        source: where its letters come from, if the code book states it.
    """

    column: str
    kind: str
    k: int | None
    shown: str
    source: str = ""


@dataclass(frozen=True)
class Overview:
    """A code book as a table.

    Attributes:
        lines: one for each column.
        notes: what a person must do about a draft.
        digest: the fingerprint that receipts contain; a draft has none.
    """

    lines: tuple[ColumnLine, ...]
    notes: tuple[str, ...]
    digest: str | None

    @property
    def is_draft(self) -> bool:
        """Whether no release takes it yet."""
        return self.digest is None


def overview(book: Any) -> Overview:
    """Return the table of a code book, or of a draft, which may still lack values.

    Raises:
        ValueError: it is not a code book.
    """
    descriptor = read_descriptor(book)
    if not descriptor.get("draft"):
        codebook = CodeBook.of(descriptor)
        sources = [field.get("source", "") for field in descriptor["schema"]["fields"]]
        lines = (
            replace(line_of(field), source=str(source))
            for field, source in zip(codebook.fields, sources, strict=True)
        )
        return Overview(tuple(lines), (), codebook.digest)
    notes = descriptor["draft"]
    schema = descriptor.get("schema")
    fields = schema.get("fields") if isinstance(schema, Mapping) else None
    if not isinstance(fields, Sequence) or not all(isinstance(f, Mapping) for f in fields):
        raise ValueError("schema.fields must be a list of objects.")
    is_list = isinstance(notes, list)
    return Overview(
        tuple(_drafted(dict(field)) for field in fields),
        tuple(str(note) for note in notes) if is_list else ("It is a draft.",),
        None,
    )


def _drafted(field: dict[str, Any]) -> ColumnLine:
    field.pop("parents", None)
    try:
        (complete,) = CodeBook.of({"schema": {"fields": [field]}}).fields
    except ValueError:
        return ColumnLine(str(field.get("name")), str(field.get("type")), None, "")
    return line_of(complete)


def line_of(field: Field) -> ColumnLine:
    """Return one column as a line of the table."""
    first = [str(field[place]) for place in islice(range(field.axis.listed), _SHOWN)]
    rest = ["..."] if field.axis.listed > _SHOWN else []
    return ColumnLine(field.name, field.kind, field.size, ", ".join([*first, *rest]))
