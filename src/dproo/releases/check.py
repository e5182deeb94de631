"""What a release would refuse or doubt, from header and schema alone; no record is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dproo import engines
from dproo.alphabet import UNIFORM, Alphabet
from dproo.alphabet.codebook import CodeBook
from dproo.engines.fit import Column
from dproo.engines.layout import Layout


@dataclass(frozen=True, kw_only=True)
class Check:
    """What header and schema tell before a release.

    Attributes:
        columns: the columns that would be counted, with their types.
        refusals: why a release would be refused, each in words that name the remedy.
        warnings: what may make cells count as ``other`` that should not.
    """

    columns: tuple[Column, ...]
    refusals: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether a release would begin."""
        return not self.refusals


def check(
    data: Any,
    *,
    alphabet: Any = None,
    codebook: Any = None,
    column: str | None = None,
    table: str | tuple[str, ...] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    format: str | None = None,  # noqa: A002 - the word that everybody uses
    has_header: bool = True,
    engine: str | None = None,
    master: str | None = None,
    person: str | None = None,
) -> Check:
    """Check data against its possible values, as every release does before its charge.

    Args:
        data: as for :func:`dproo.sample`.
        alphabet: the possible values of one column or of several.
        codebook: or the code book of all columns.
        column: the column of a file, table or frame.
        table: the table of a database.
        delimiter: what separates the cells of a CSV file, by default by the file's name.
        encoding: of a text file, by default UTF-8.
        format: what a file is, such as ``csv`` or ``jsonl.gz``, by default by its name.
        has_header: whether a CSV file begins with the names of its columns; without them, they
            are called by their numbers: ``"3"``.
        engine: ``"spark"`` to have Spark read ``data``.
        master: the cluster that Spark runs on.
        person: the column that names whom a record is about.

    >>> import polars
    >>> found = check(polars.DataFrame({"age": [37]}), alphabet=["young", "old"], column="age")
    >>> found.holds, found.refusals[0].partition(".")[0]
    (False, "column 'age' holds integers, which can never be one of the letters")

    Raises:
        TypeError, ValueError: the alphabet or the code book is wrong by itself.
    """
    if (codebook is None) == (alphabet is None):
        raise ValueError("alphabet or codebook must be given, and not both.")
    book = None if codebook is None else CodeBook.of(codebook)
    letters = Alphabet.of(alphabet) if book is None else book.alphabet
    said = Layout(delimiter=delimiter, encoding=encoding, format=format, has_header=has_header)
    layout = layout_of(book, said)
    where: dict[str, Any] = {"table": table, "engine": engine, "master": master}
    where |= {"layout": layout, "person": person}
    try:
        scan = engines.prepare(data, alphabet=letters, column=column, **where)
    except ValueError as error:
        found = _one_by_one(data, letters, where) if letters.columns else ()
        return Check(columns=(), refusals=found or (str(error),))
    return Check(columns=scan.columns, warnings=scan.warnings)


def layout_of(book: CodeBook | None, said: Layout) -> Layout:
    """Return how files are laid out: as is said, else as the code book declares."""
    return said if book is None else said.over(Layout.of(book.descriptor))


def _one_by_one(data: Any, letters: Alphabet, where: dict[str, Any]) -> tuple[str, ...]:
    """Return every column's refusal, each told once."""
    refusals: list[str] = []
    for name, axis in zip(letters.columns, letters.axes, strict=True):
        one = Alphabet(axes=(axis,), columns=(name,), policy=UNIFORM)
        try:
            engines.prepare(data, alphabet=one, **where)
        except ValueError as error:
            refusals.append(str(error))
    return tuple(dict.fromkeys(refusals))
