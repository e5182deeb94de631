"""Where the records are: data of any kind, its table and its layout, not yet opened."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from dproo.counting.asked import Where, check_engine
from dproo.counting.describe import describe
from dproo.counting.fit import Column
from dproo.counting.layout import PLAIN, Layout
from dproo.counting.prepare import prepare, prepare_several
from dproo.counting.scan import Scan
from dproo.counting.sources.descriptors import STDIN
from dproo.schema import Alphabet


@dataclass(frozen=True, kw_only=True)
class Source:
    """Records that are named but not yet opened.

    Attributes:
        data: anything that :func:`dproo.counting.prepare` accepts.
        table: the table of a database or DuckDB file, the sheet of an Excel file.
        engine: ``"spark"`` to let Spark read the data on this machine, or the address of a
            cluster such as ``"spark://host:7077"``; by default the engine for the source.
        layout: how text files are laid out.
    """

    data: Any = field(repr=False)
    table: str | tuple[str, ...] | None = None
    engine: str | None = None
    layout: Layout = PLAIN

    def __post_init__(self) -> None:
        check_engine(self.engine)

    def described_by(self, descriptor: Mapping[str, Any]) -> Source:
        """Return the source with its layout completed by a code book's."""
        return replace(self, layout=self.layout.over(Layout.of(descriptor)))

    @property
    def is_read_once(self) -> bool:
        """Whether the data can be read only once, as from an iterator, a stream or a pipe."""
        if isinstance(self.data, str | os.PathLike):
            with suppress(OSError, ValueError):
                mode = os.stat(self.data).st_mode  # noqa: PTH116 - a text may be no path
                return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
            return self.data == STDIN
        return isinstance(self.data, Iterator)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns by header or schema; no record is read."""
        return describe(self.data, table=self.table, layout=self.layout)

    def scan(
        self,
        alphabets: Sequence[Alphabet],
        columns: tuple[str, ...],
        *,
        person: str | None = None,
        kept: int = 1,
        is_each_missing: bool = False,
    ) -> Scan:
        """Check the data against the letters to count it by; no record is read.

        Args:
            alphabets: one, or several that name their columns.
            columns: the columns to count, in the order of the data; empty if it has no names.
            person: the column that identifies the person of a record.
            kept: the most records counted per person.
            is_each_missing: whether every record without an identifier is a different person's.
        """
        where = Where(
            table=self.table,
            engine=self.engine,
            layout=self.layout,
            person=person,
            kept=kept,
            is_each_missing=is_each_missing,
        )
        if len(alphabets) > 1:
            return prepare_several(self.data, alphabets=alphabets, columns=columns, **where)
        column = None if alphabets[0].columns or not columns else columns[0]
        return prepare(self.data, alphabet=alphabets[0], column=column, **where)
