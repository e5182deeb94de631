"""Where the records are: data of any kind, its table and its layout, not yet opened."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack

from dproo.core.checks import exact, refusal
from dproo.counting.boundary import refusing
from dproo.counting.fit import Column
from dproo.counting.layout import PLAIN, Layout
from dproo.counting.prepare import open_table, prepare
from dproo.counting.query import CountQuery, Where, check_engine
from dproo.counting.scan import Scan
from dproo.counting.single_pass import STDIN, Pass, is_single_pass
from dproo.counting.sources.descriptors import OpenPath
from dproo.counting.sources.postgresql.url import is_url
from dproo.counting.sources.text.header import require_names
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
        reading: the single pass over data that can be read once; copies of the source share it.
    """

    data: Any = field(repr=False)
    table: str | tuple[str, ...] | None = None
    engine: str | None = None
    layout: Layout = PLAIN
    reading: Pass = field(default_factory=Pass, repr=False, compare=False)

    def __post_init__(self) -> None:
        named = {"table": exact(self.table), "engine": exact(self.engine)}
        if isinstance(self.data, str | Path):
            named["data"] = exact(self.data) if self.engine else _fixed(exact(self.data))
        vars(self).update(named)
        check_engine(self.engine)

    @refusing
    def opened(self) -> Source:
        """Return the source with its files open, so that all stages of a release read the same."""
        is_path = isinstance(self.data, str | os.PathLike) and not isinstance(self.data, OpenPath)
        if not is_path or self.engine is not None or self.is_read_once:
            return self
        if not are_files(os.fspath(self.data)):
            return self
        return replace(self, data=OpenPath.of(self.data))

    def described_by(self, descriptor: Mapping[str, Any]) -> Source:
        """Return the source with its layout completed by a code book's."""
        return replace(self, layout=self.layout.over(Layout.of(descriptor)))

    @property
    @refusing
    def is_read_once(self) -> bool:
        """Whether the data can be read only once, as from an iterator, a stream or a pipe."""
        return is_single_pass(self.data)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns by header or schema; no record is read."""
        return describe(self.data, table=self.table, layout=self.layout)

    def scan(
        self,
        alphabets: Sequence[Alphabet],
        columns: tuple[str, ...],
        **people: Unpack[Where],
    ) -> Scan:
        """Check the data against the letters to count it by; no record is read.

        Args:
            alphabets: one, or several that name their columns.
            columns: the columns to count, in the order of the data; empty if it has no names.
            people: whose records, and how many of each, are counted; see :class:`CountQuery`.

        Raises:
            TypeError: no engine supports this kind of data.
            ValueError: it cannot be counted so, or could be read only once and has been.
        """
        if self.is_read_once:
            self.reading.require()
        where = Where(table=self.table, engine=self.engine, layout=self.layout, **people)
        return prepare(self.data, alphabets=alphabets, columns=columns, **where)


def stated_for(data: Any, layout: Layout, engine: str | None) -> Layout:
    """Return a layout that was stated for data; only files have one, and Spark reads none."""
    is_text = isinstance(data, str | os.PathLike)
    if layout != PLAIN and (not is_text or is_url(data) or engine is not None):
        raise ValueError(
            "format and layout must be left out: the data is no file that is read here. A database,"
            " a frame, records in memory and whatever Spark reads have their own."
        )
    return layout


def are_files(data: str) -> bool:
    """Return whether a text is the path of a file or folder, or a pattern that matches one."""
    with suppress(OSError, ValueError):  # no file can have this name
        # Path raises if a name is too long.
        return os.path.exists(data) or bool(glob.glob(data, recursive=True))  # noqa: PTH110, PTH207
    return False


_ESCAPED = re.compile(r"\[([*?[])\]")  # a sign of a pattern that stands for itself


def full_path(data: str) -> str:
    """Return the full path of a file or a pattern, without the links before any sign of a pattern.

    A pattern stays one where the folders that it is in have such signs in their names.
    """
    if os.path.exists(data):  # noqa: PTH110 - Path raises if a name is too long
        return os.path.realpath(data)  # Path raises an error of its own at a loop of links
    folder, rest = os.path.split(data)
    while glob.escape(part := _ESCAPED.sub("", folder)) != part:
        folder, part = os.path.split(folder)
        rest = os.path.join(part, rest)  # noqa: PTH118 - it may end in "**/"
    folder = os.path.realpath(_ESCAPED.sub(r"\1", folder))
    return os.path.normpath(os.path.join(glob.escape(folder), rest))  # noqa: PTH118


def _fixed(data: str | Path) -> str | Path:
    """Return a path that means the same files when the working folder has changed."""
    if os.path.isabs(data) or data == STDIN or not are_files(str(data)):  # noqa: PTH117
        return data
    here = str(Path.cwd())
    if not os.path.exists(data):  # noqa: PTH110 - a pattern, of which the folder is no part
        here = glob.escape(here)
    path = Path(here) / data
    return str(path) if isinstance(data, str) else path


def describe(
    data: Any, *, table: str | tuple[str, ...] | None = None, layout: Layout = PLAIN
) -> tuple[Column, ...]:
    """Return the columns of a file, a table or a frame; no record is read.

    Columns are shown only by this function, which refuses names that may be records.

    Raises:
        TypeError: the data has neither header nor schema.
        ValueError: it cannot be read, or there is no such table.
    """
    opened = open_table(data, CountQuery(alphabets=(), table=table, layout=layout))
    if opened is None or opened.columns is None:
        if table is not None:
            raise ValueError(refusal("table", "be a table of the connection", table))
        raise TypeError(
            refusal("data", "have a header or a schema: a file, a table or a frame", type(data))
        )
    opened.close()
    require_names([column.name for column in opened.columns])
    return opened.columns
