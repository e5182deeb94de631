"""What a release would refuse or doubt, from header and schema alone; no record is read."""

from __future__ import annotations

from dataclasses import dataclass

from dproo.counting.fit import Column
from dproo.counting.source import Source
from dproo.schema import UNIFORM, Alphabet


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
    source: Source, letters: Alphabet, *, column: str | None = None, person: str | None = None
) -> Check:
    """Return what a release would refuse or warn of, by header and schema alone.

    Every release does the same before its charge.

    Args:
        source: the records, named and not opened.
        letters: the possible values of one column or of several.
        column: the column of the letters, where they name none.
        person: the column that names whom a record is about.
    """
    try:
        scan = source.scan((letters,), (column,) if column else (), person=person)
    except ValueError as error:
        found = _one_by_one(source, letters, person) if letters.columns else ()
        return Check(columns=(), refusals=found or (str(error),))
    return Check(columns=scan.columns, warnings=scan.warnings)


def _one_by_one(source: Source, letters: Alphabet, person: str | None) -> tuple[str, ...]:
    """Return every column's refusal, each once."""
    refusals: list[str] = []
    for name, axis in zip(letters.columns, letters.axes, strict=True):
        one = Alphabet(axes=(axis,), columns=(name,), policy=UNIFORM)
        try:
            source.scan((one,), (), person=person)
        except ValueError as error:
            refusals.append(str(error))
    return tuple(dict.fromkeys(refusals))
