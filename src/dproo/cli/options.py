"""How data is read: the options of every command that looks at it, and the alphabet they give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any

import click

from dproo.schema import UNIFORM, Alphabet, Policy
from dproo.schema.axis import Bins
from dproo.schema.reading import EXACT, INTEGER, NUMBER, READINGS

LAYOUT_OPTIONS = (
    click.option(
        "--format",
        help="What a file is, such as csv, jsonl or csv.gz. [default: how its name ends]",
    ),
    click.option("--delimiter", help="What separates the cells of a CSV file, such as ';' or tab."),
    click.option(
        "--encoding", help="The encoding of a text file, such as latin-1. [default: utf-8]"
    ),
)
_READINGS = ", ".join(reading for reading in READINGS if reading != EXACT)
READING_OPTIONS = (
    *LAYOUT_OPTIONS,
    click.option(
        "--no-header",
        "has_header",
        flag_value=False,
        type=bool,
        default=True,
        help="A CSV file has no header line: columns are called by number, --column 3.",
    ),
    click.option(
        "--as",
        "readings",
        multiple=True,
        metavar="KIND",
        help=f"Read cells as {_READINGS}; dates in another form as date:DD.MM.YYYY. Give it once"
        " for all columns, or once for each.",
    ),
    click.option("--decimal", default=".", help="The decimal sign of numbers in text: . or ,"),
    click.option("--thousands", default="", help="The sign between groups of three digits."),
    click.option("--missing", multiple=True, help="A number that means missing, such as -99."),
)


def with_options(options: Sequence[Callable[..., Any]]) -> Callable[..., Any]:
    """Give a command these options."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def reading_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return how cells are read, out of all options of a command."""
    return {name: options[name] for name in ("readings", "decimal", "thousands", "missing")}


def letters(
    columns: tuple[str, ...],
    alphabets: tuple[str, ...],
    outside: Policy,
    *,
    readings: tuple[str, ...] = (),
    decimal: str = ".",
    thousands: str = "",
    missing: tuple[str, ...] = (),
) -> tuple[Alphabet, str | None]:
    """Return the alphabet that the options name, and the column where there is one only."""
    if not alphabets:
        raise ValueError(
            "--alphabet must be given: it lists every value that could occur."
            " For all columns of a file: dproo codebook draft DATA."
        )
    if len(readings) not in {0, 1, len(alphabets)}:
        raise ValueError(f"--as must be given once, or for each column, got {len(readings)} times.")
    signs = {"decimal": decimal, "thousands": thousands}
    each = readings if len(readings) == len(alphabets) else repeat(readings[0] if readings else "")
    parts = [
        _read(Alphabet.parse(text, policy=UNIFORM), reading, signs, missing)
        for text, reading in zip(alphabets, each, strict=False)
    ]
    if len(parts) == 1 and len(columns) < 2:
        return replace(parts[0], policy=outside), columns[0] if columns else None
    if len(columns) != len(parts):
        raise ValueError(
            f"alphabet must be given for each column, got {len(alphabets)} for {len(columns)}."
        )
    return Alphabet.product(dict(zip(columns, parts, strict=True)), policy=outside), None


def _read(
    alphabet: Alphabet, reading: str, signs: dict[str, str], missing: tuple[str, ...]
) -> Alphabet:
    """Return an alphabet with how its cells are read; signs alone mean numbers."""
    axis = alphabet.axes[0]
    kind, _, form = reading.partition(":")
    is_signed = signs != {"decimal": ".", "thousands": ""}
    if not kind and is_signed:
        kind = NUMBER if isinstance(axis, Bins) else INTEGER
    if kind:
        options = signs if kind in {INTEGER, NUMBER} or is_signed else {}
        alphabet = alphabet.read_as(kind, **options, **({"format": form} if form else {}))
    if not missing:
        return alphabet
    axis = alphabet.axes[0]
    if not isinstance(axis, Bins):
        raise ValueError(  # noqa: TRY004 - an option, not a type
            "--missing must be used with bins: of a list, what is not in it is missing."
        )
    try:
        numbers = tuple(sorted(map(float, missing)))
    except ValueError:
        raise ValueError("--missing must be a number, such as -99.") from None
    return replace(alphabet, axes=(replace(axis, missing=numbers),))
