"""Files for the embedded DuckDB: CSV, TSV, Parquet, JSON, and DuckDB's own.

They are opened once, and looked at by their headers and schemas alone.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dproo.core.checks import one_of, refusal
from dproo.engines import excel, statistics_files
from dproo.engines import query as sql
from dproo.engines.descriptors import Incoming, Opened
from dproo.engines.duckdb_dialect import by_bytes, duckdb_kind, enumerated, literal
from dproo.engines.fit import Column, MissingColumnError
from dproo.engines.layout import PLAIN, Layout
from dproo.engines.schemas import FILES, schemas_of
from dproo.engines.text_files import TextFile, refuse_column, suffix_of

if TYPE_CHECKING:
    from dproo.engines.schemas import Started

CSV, JSON, ARRAY, PARQUET, DUCKDB = "csv", "json", "array", "parquet", "duckdb"

_DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_FORMATS = {
    **dict.fromkeys(_DELIMITERS, CSV),
    ".parquet": PARQUET,
    ".pq": PARQUET,
    ".jsonl": JSON,
    ".ndjson": JSON,
    ".json": ARRAY,
    ".duckdb": DUCKDB,
    ".ddb": DUCKDB,
}
ROWS = (*excel.SUFFIXES, *statistics_files.SPSS, *statistics_files.STATA)
"""How the names of files end that are read row by row."""

SUFFIXES = (*_FORMATS, *ROWS)
"""How the names of files that can be read end."""


LONGEST_LINE = "<longest line>"


@dataclass(frozen=True, kw_only=True)
class Files:
    """Files of one format, their columns looked up; no record was read.

    Attributes:
        format: one of ``csv``, ``json``, ``array``, ``parquet``, ``duckdb``.
        opened: the files.
        relation: the table expression that reads them, ``<files>`` in place of their names
            and ``<longest line>`` in place of the longest line that surely is read.
        cells: the expression of each column to count.
        columns: those columns, as the header or the schema tells of them.
        texts: the files, where they are text.
        marks: the bytes that separate records and cells of a CSV file.
        started: the engine that looked the columns up, for the first scan to use and close:
            to start another takes as long as to count some 10^7 records.
    """

    format: str
    opened: tuple[Opened | Incoming, ...]
    relation: str
    cells: tuple[str, ...]
    columns: tuple[Column, ...]
    texts: tuple[TextFile, ...] = ()
    marks: tuple[bytes, ...] = ()
    started: list[Started] = field(default_factory=list, compare=False, repr=False)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kind of each column to count."""
        return tuple(column.kind or sql.NOTHING for column in self.columns)

    @property
    def is_once(self) -> bool:
        """Whether the data can be read only once."""
        return any(isinstance(file, Incoming) for file in self.opened)


def open_files(
    opened: Sequence[Opened | Incoming],
    *,
    columns: Sequence[str] | None,
    table: str | tuple[str, ...] | None,
    layout: Layout = PLAIN,
) -> Files:
    """Look up the columns of files by their headers or schemas alone.

    Args:
        opened: the files.
        columns: the columns to count, or nothing for all of them.
        table: the table of a DuckDB file.
        layout: how text files are laid out.

    Raises:
        ValueError: a format is not known, a file is not readable, files differ in their
            columns, or a column is not there.
    """
    suffixes = {".csv" if isinstance(file, Incoming) else suffix_of(file.path) for file in opened}
    formats = {_format(suffix, layout) for suffix in suffixes}
    if len(formats) > 1 or len(suffixes & set(_DELIMITERS)) > 1:
        raise ValueError(refusal("data", "be files of one format", sorted(suffixes)))
    if columns is not None and not columns:
        raise ValueError(
            "column must be given for a file. List the columns: dproo codebook draft DATA."
        )
    for column in columns or ():
        if not isinstance(column, str):
            raise MissingColumnError(column)
    (file_format,) = formats
    if (table is None) == (file_format == DUCKDB):
        raise ValueError(refusal("table", "be given for a DuckDB file, and for no other", table))
    if file_format == CSV:
        delimiter = layout.delimiter or _DELIMITERS.get(suffixes.pop(), ",")
        return _open_csv(opened, columns, delimiter, layout)
    if layout.delimiter is not None:
        raise ValueError(refusal("delimiter", "be given for a CSV file only", layout.delimiter))
    if file_format in {JSON, ARRAY}:
        return _open_json(opened, columns, file_format, layout)
    return _open_typed(opened, columns, table)


def _format(suffix: str, layout: Layout) -> str:
    """Return the format of files whose names end so; of any other text by its delimiter."""
    if suffix in excel.OTHERS:
        raise ValueError(
            refusal("data", "be a sheet that is read row by row, as of .xlsx", suffix)
            + " Save it as an Excel workbook (.xlsx) or as CSV."
        )
    if suffix not in _FORMATS and layout.delimiter is not None:
        return CSV
    try:
        one_of("the end of the file's name", suffix, (*_FORMATS, *ROWS))
    except ValueError as error:
        raise ValueError(f"{error} For other text files add --delimiter.") from None
    if suffix in ROWS:
        raise ValueError(refusal("data", "be named by their ending, as in '*.xlsx'", suffix))
    return _FORMATS[suffix]


def _open_csv(
    opened: Sequence[Opened | Incoming],
    columns: Sequence[str] | None,
    delimiter: str,
    layout: Layout,
) -> Files:
    texts = tuple(TextFile.of(file, layout) for file in opened)
    headers = [list(layout.names) or file.header(delimiter, layout.quote) for file in texts]
    header = headers[0]
    if any(other != header for other in headers):
        raise ValueError("data must be files with the same header, got different ones.")
    for column in columns or ():
        refuse_column(column, header, delimiter=delimiter)
    columns = header if columns is None else columns
    names = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(header)))
    relation = (
        f"read_csv([{FILES}], columns={{{names}}}, auto_detect=false,"
        f" header={'false' if layout.names else 'true'}, delim={literal(delimiter)},"
        f" quote={literal(layout.quote)}, escape={literal(layout.quote)}, null_padding=true,"
        f" strict_mode=false, parallel=false, max_line_size={LONGEST_LINE},"
        " store_rejects=true, rejects_limit=0)"
    )
    return Files(
        format=CSV,
        opened=tuple(opened),
        relation=relation,
        cells=tuple(f"c{header.index(column)}" for column in columns),
        columns=tuple(Column(name=name, kind=sql.TEXT, type_name="text") for name in columns),
        texts=texts,
        marks=(b"\n", delimiter.encode(), layout.quote.encode(), b"\r"),
    )


def _open_json(
    opened: Sequence[Opened | Incoming],
    columns: Sequence[str] | None,
    file_format: str,
    layout: Layout,
) -> Files:
    if columns is None:
        raise ValueError(
            "data must have a header or a schema, got JSON."
            " Import a code book: dproo codebook import FILE."
        )
    texts = tuple(TextFile.of(file, layout) for file in opened)
    for file in texts if file_format == ARRAY else ():
        if not file.begins_with(b"["):
            raise ValueError(
                refusal("data", "be an array of objects", file.opened.path)
                + " Give a file with an object on each line the ending .jsonl."
            )
    relation = (
        f"read_ndjson_objects([{FILES}], ignore_errors=true, maximum_object_size={LONGEST_LINE})"
    )
    pointers = ("/" + name.replace("~", "~0").replace("/", "~1") for name in columns)
    cells = tuple(
        f"CASE WHEN json_type(json) = 'OBJECT' THEN json_extract(json, {literal(pointer)}) END"
        for pointer in pointers
    )
    return Files(
        format=file_format,
        opened=tuple(opened),
        relation=relation,
        cells=cells,
        columns=tuple(Column(name=name, kind=sql.JSON, type_name="JSON") for name in columns),
        texts=texts,
    )


def _open_typed(
    opened: Sequence[Opened | Incoming],
    columns: Sequence[str] | None,
    table: str | tuple[str, ...] | None,
) -> Files:
    """Look up the types of columns in Parquet files, or in a table of a DuckDB file."""
    if table is not None and len(opened) > 1:
        raise ValueError("data must be one DuckDB file, got several.")
    relation = f"read_parquet([{FILES}], utf8_validation='replace')"
    if table is not None:
        _check_log(opened[0].path)
        relation = f"source.{sql.table_name(table)}"
    schemas, started = schemas_of(opened, relation, is_attached=table is not None)
    if None in schemas:
        what = "be a readable file" if table is None else f"be a DuckDB file with table {table!r}"
        raise ValueError(refusal("data", what, opened[schemas.index(None)].path))
    if any(schema != schemas[0] for schema in schemas):
        raise ValueError("data must be files with the same columns and types, got different ones.")
    header = [name for name, _, _ in schemas[0] or ()]
    columns = header if columns is None else columns
    for column in columns:
        refuse_column(column, header, delimiter="")
    schema = {name: (kind, sql.quoted(called)) for name, kind, called in schemas[0] or ()}
    found = [(name, *schema[name]) for name in columns]
    is_listed = table is not None
    return Files(
        format=DUCKDB if is_listed else PARQUET,
        opened=tuple(opened),
        relation=relation,
        cells=tuple(
            by_bytes(cell) if is_listed and kind == "VARCHAR" else cell for _, kind, cell in found
        ),
        columns=tuple(_column(name, kind, is_listed=is_listed) for name, kind, _ in found),
        started=started,
    )


def _column(name: str, type_name: str, *, is_listed: bool) -> Column:
    """Return a column by its type; an enumeration of a database lists its values."""
    values = enumerated(type_name) if is_listed else ()
    return Column(name=name, kind=duckdb_kind(type_name), type_name=type_name, values=values)


def _check_log(path: str) -> None:
    """Refuse a database with records that are not in its file, which is all that is read."""
    if os.path.lexists(f"{path}.wal"):
        raise ValueError(
            refusal("data", "be a DuckDB file without a log of changes beside it", path)
            + " Open it in DuckDB and run CHECKPOINT."
        )
