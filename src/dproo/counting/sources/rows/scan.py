"""Files that are read row by row in this process: Excel sheets, SPSS, Stata and SQLite files."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from dproo.core.checks import refusal
from dproo.core.counts import Counts
from dproo.counting.boundary import interruptible
from dproo.counting.cells import count_rows
from dproo.counting.fit import LIST_THEM, Column, require_columns, united
from dproo.counting.layout import EXCEL, FORMATS, ROWS, SQLITE
from dproo.counting.query import CountQuery
from dproo.counting.scan import Scan
from dproo.counting.sources.descriptors import (
    Incoming,
    Opened,
    find_files,
    refuse_own_letters,
    require_spare,
)
from dproo.counting.sources.rows import excel
from dproo.counting.sources.rows import sqlite as sqlite_files
from dproo.counting.sources.rows import statistics as statistics_files
from dproo.counting.table import Table
from dproo.counting.tally import Tally
from dproo.schema.axis import Bins

Rows = Iterator[Sequence[Any]]


@dataclass(frozen=True, kw_only=True)
class RowFile:
    """A file with its header; ``rows`` reads the cells at some places, row by row.

    ``try_rows`` refuses places that cannot be read, whatever the rows are.
    """

    columns: tuple[Column, ...]
    rows: Callable[[Sequence[int]], Rows] = field(repr=False)
    try_rows: Callable[[Sequence[int]], None] = field(default=lambda _: None, repr=False)


def open_table(data: Any, query: CountQuery) -> Table | None:
    """Return such files as a table, or None if data is not one.

    The table is the sheet of an Excel file, optional if there is only one, or the table of an
    SQLite file.
    """
    if not isinstance(data, str | os.PathLike):
        return None
    layout = query.layout
    suffix, compression = layout.ending_of(str(os.fspath(data)))
    is_folder = os.path.isdir(data)  # noqa: PTH112 - a text need not be a path
    if compression is not None or FORMATS.get(suffix) not in ROWS or is_folder:
        return None
    query.require_column("file", remedy=LIST_THEM)
    opened = find_files(data)
    require_spare(len(opened))
    refuse_own_letters(opened, (), query.axes)
    layout.refuse_lines(is_sheet=FORMATS[suffix] == EXCEL)
    files = [_opened(file, query, is_alone=len(opened) == 1) for file in opened]
    headers = {tuple(column.name for column in file.columns) for file in files}
    if len(headers) > 1:
        raise ValueError("data must be files with the same columns, got different ones.")
    columns = tuple(map(united, zip(*(file.columns for file in files), strict=True)))
    header = [column.name for column in columns]
    refuse_own_letters(opened, header, query.axes)
    require_columns(query.read, among=header, is_file=True)

    def plan(places: Sequence[int], query: CountQuery) -> Scan:
        for file in files:
            file.try_rows(places)

        def count() -> Sequence[Tally | Counts]:
            return count_rows((row for file in files for row in file.rows(places)), query)

        return Scan(engine="files", _query=query, _read=lambda: interruptible(count))

    return Table(columns=columns, plan=plan)


def _numeric(query: CountQuery) -> set[str]:
    """Return the columns to read as numbers despite their labels: their letters are numbers."""
    numbers = (isinstance(axis, Bins) or axis.is_of_integers for axis in query.axes)
    named = {name for name, is_number in zip(query.columns, numbers, strict=True) if is_number}
    return named if query.person is None else {*named, query.person}


def _opened(file: Opened | Incoming, query: CountQuery, *, is_alone: bool) -> RowFile:
    """Read the columns of a file, but no rows.

    Raises:
        ValueError: the file is one of several, and the person's numbers have labels. Programs
            number the labels of each file anew, so one number would name different people.
    """
    table, layout, numeric = query.table, query.layout, _numeric(query)
    if isinstance(file, Incoming):
        raise ValueError("data must be text if it is standard input.")  # noqa: TRY004 - about a name
    suffix, _ = layout.ending_of(file.path)
    layout.refuse_encoding(FORMATS[suffix])
    if FORMATS[suffix] == EXCEL:
        sheet = excel.sheet_of(file.name, file.path, table, skip=layout.skip_rows)
        return RowFile(columns=excel.columns_of(sheet), rows=lambda at: excel.rows_of(sheet, at))
    if FORMATS[suffix] == SQLITE:
        before = file.state
        connection = sqlite_files.connected(file)
        columns = sqlite_files.columns_of(connection, table)

        def names(at: Sequence[int]) -> list[str]:
            return [columns[place].name for place in at]

        def rows(at: Sequence[int]) -> Rows:
            yield from sqlite_files.rows_of(connection, table, names(at))
            if sqlite_files.is_logged(file) and file.state != before:
                raise OSError(errno.EBUSY, "the file has changed since it was opened")

        return RowFile(
            columns=columns,
            rows=rows,
            try_rows=lambda at: sqlite_files.try_rows(connection, table, names(at)),
        )
    if table is not None:
        raise ValueError(refusal("table", "be left out for an SPSS or Stata file", table))
    named = layout.encoding
    header = statistics_files.header_of(
        file.name, suffix, path=file.path, name="data", encoding=named
    )
    encodings = (named, named) if named else statistics_files.encodings_of(header)
    person = query.person
    if not is_alone and person is not None and statistics_files.is_labelled(header, person):
        raise ValueError(
            refusal("person", "be a column without value labels if there are several files", person)
            + " A number may stand for another person in each: save the labels as text."
        )
    return RowFile(
        columns=statistics_files.columns_of(header, numeric),
        # The file stays open as long as its rows can be read.
        rows=lambda at: statistics_files.rows_of(
            *(file.name, suffix, header, at),
            encodings=encodings,
            numeric=numeric,
            person=person,
        ),
    )
