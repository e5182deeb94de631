"""Files for the embedded DuckDB: CSV, TSV, Parquet, JSON lines, and DuckDB's own.

They are opened once, and looked at by their headers and schemas alone.
"""

from __future__ import annotations

import csv
import glob
import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dproo.core.arguments import one_of, refusal
from dproo.engines import query as sql
from dproo.engines.boundary import attempt
from dproo.engines.descriptors import Opened
from dproo.engines.duckdb_dialect import by_bytes, engine_for, kind_of, literal

if TYPE_CHECKING:
    import duckdb

    _Started = tuple[ExitStack, duckdb.DuckDBPyConnection]

CSV, JSON, PARQUET, DUCKDB = "csv", "json", "parquet", "duckdb"

_DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_FORMATS = {
    **dict.fromkeys(_DELIMITERS, CSV),
    ".parquet": PARQUET,
    ".pq": PARQUET,
    ".jsonl": JSON,
    ".ndjson": JSON,
    ".duckdb": DUCKDB,
    ".ddb": DUCKDB,
}
SUFFIXES = tuple(_FORMATS)
"""How the names of files that can be read end."""

FILES = "<files>"
LONGEST_LINE = "<longest line>"


@dataclass(frozen=True, kw_only=True)
class Files:
    """Files of one format, their columns looked up; no record was read.

    Attributes:
        format: one of ``csv``, ``json``, ``parquet``, ``duckdb``.
        opened: the files.
        relation: the table expression that reads them, ``<files>`` in place of their names
            and ``<longest line>`` in place of the longest line that surely is read.
        cells: the expression of each column to count.
        kinds: the kind of each of those columns.
        marks: the bytes that separate records and cells of a CSV file.
        started: the engine that looked the columns up, for the first scan to use and close:
            to start another takes as long as to count some 10^7 records.
    """

    format: str
    opened: tuple[Opened, ...]
    relation: str
    cells: tuple[str, ...]
    kinds: tuple[str, ...]
    marks: tuple[bytes, ...] = ()
    started: list[_Started] = field(default_factory=list, compare=False, repr=False)


def find_files(data: str | os.PathLike[str]) -> list[Opened]:
    """Open a file, or all files that a pattern matches.

    Raises:
        ValueError: there are none, or one is no local file that can be read.
    """
    path = os.fspath(data)
    if os.path.exists(path):  # noqa: PTH110 - Path raises where a name is too long
        return [Opened(str(Path(path).absolute()))]
    matches = sorted(p for p in glob.glob(path, recursive=True) if not os.path.isdir(p))  # noqa: PTH112, PTH207
    if not matches:
        raise ValueError(refusal("data", "be a file that exists", path))
    return [Opened(str(Path(match).absolute())) for match in matches]


def open_files(
    opened: Sequence[Opened], *, columns: Sequence[str], table: str | tuple[str, ...] | None
) -> Files:
    """Look up the columns of files by their headers or schemas alone.

    Raises:
        ValueError: a format is not known, a file is not readable, files differ in their
            columns, a column is not there, or its type holds no letters.
    """
    suffixes = {Path(file.path).suffix.lower() for file in opened}
    formats = {
        _FORMATS[one_of("the end of the file's name", suffix, _FORMATS)] for suffix in suffixes
    }
    if len(formats) > 1 or len(suffixes & set(_DELIMITERS)) > 1:
        raise ValueError(refusal("data", "be files of one format", sorted(suffixes)))
    if not columns:
        raise ValueError("column must be given for a file.")
    (file_format,) = formats
    if (table is None) == (file_format == DUCKDB):
        raise ValueError(refusal("table", "be given for a DuckDB file, and for no other", table))
    if file_format == CSV:
        return _open_csv(opened, columns, _DELIMITERS[suffixes.pop()])
    if file_format == JSON:
        return _open_json(opened, columns)
    return _open_typed(opened, columns, table)


def _open_csv(opened: Sequence[Opened], columns: Sequence[str], delimiter: str) -> Files:
    headers = [_header(file, delimiter) for file in opened]
    header = headers[0]
    if any(other != header for other in headers):
        raise ValueError("data must be files with the same header, got different ones.")
    _check_columns(columns, header)
    names = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(header)))
    relation = (
        f"read_csv([{FILES}], columns={{{names}}}, auto_detect=false, header=true,"
        f" delim={literal(delimiter)}, quote='\"', escape='\"', null_padding=true,"
        f" strict_mode=false, parallel=false, max_line_size={LONGEST_LINE},"
        " store_rejects=true, rejects_limit=0)"
    )
    return Files(
        format=CSV,
        opened=tuple(opened),
        relation=relation,
        cells=tuple(f"c{header.index(column)}" for column in columns),
        kinds=(sql.TEXT,) * len(columns),
        marks=(b"\n", delimiter.encode(), b'"', b"\r"),
    )


def _header(file: Opened, delimiter: str) -> list[str]:
    try:
        with Path(file.name).open(encoding="utf-8-sig", errors="replace", newline="") as text:
            header = next(csv.reader(text, delimiter=delimiter), [])
    except (OSError, csv.Error):
        raise ValueError(refusal("data", "be a readable file", file.path)) from None
    if not header:
        raise ValueError(refusal("data", "be a file with a header line", file.path))
    return header


def _open_json(opened: Sequence[Opened], columns: Sequence[str]) -> Files:
    relation = (
        f"read_ndjson_objects([{FILES}], ignore_errors=true, maximum_object_size={LONGEST_LINE})"
    )
    pointers = ("/" + name.replace("~", "~0").replace("/", "~1") for name in columns)
    cells = tuple(
        f"CASE WHEN json_type(json) = 'OBJECT' THEN json_extract(json, {literal(pointer)}) END"
        for pointer in pointers
    )
    kinds = (sql.JSON,) * len(columns)
    return Files(format=JSON, opened=tuple(opened), relation=relation, cells=cells, kinds=kinds)


def _open_typed(
    opened: Sequence[Opened], columns: Sequence[str], table: str | tuple[str, ...] | None
) -> Files:
    """Look up the types of columns in Parquet files, or in a table of a DuckDB file."""
    if table is not None and len(opened) > 1:
        raise ValueError("data must be one DuckDB file, got several.")
    relation = f"read_parquet([{FILES}], utf8_validation='replace')"
    if table is not None:
        _check_log(opened[0].path)
        relation = f"source.{sql.table_name(table)}"
    schemas, started = _schemas(opened, relation, is_attached=table is not None)
    if None in schemas:
        what = "be a readable file" if table is None else f"be a DuckDB file with table {table!r}"
        raise ValueError(refusal("data", what, opened[schemas.index(None)].path))
    if any(schema != schemas[0] for schema in schemas):
        raise ValueError("data must be files with the same columns and types, got different ones.")
    schema = dict(schemas[0] or ())
    _check_columns(columns, list(schema))
    is_text = [schema[column] == "VARCHAR" and table is not None for column in columns]
    return Files(
        format=PARQUET if table is None else DUCKDB,
        opened=tuple(opened),
        relation=relation,
        cells=tuple(
            by_bytes(sql.quoted(column)) if text else sql.quoted(column)
            for column, text in zip(columns, is_text, strict=True)
        ),
        kinds=tuple(kind_of(column, schema[column]) for column in columns),
        started=started,
    )


def _check_log(path: str) -> None:
    """Refuse a database with records that are not in its file, which is all that is read."""
    if os.path.lexists(f"{path}.wal"):
        raise ValueError(
            refusal("data", "be a DuckDB file without a log of changes beside it", path)
            + " Open it in DuckDB and run CHECKPOINT."
        )


def _schemas(
    opened: Sequence[Opened], relation: str, *, is_attached: bool
) -> tuple[list[list[tuple[str, str]] | None], list[_Started]]:
    """Return the names and types of each file's columns, nothing for one that is unreadable.

    The engine that looked them up comes with them, still open and locked in.
    """
    names = [file.name for file in opened]

    def look() -> _Started:
        with ExitStack() as stack:
            engine = stack.enter_context(engine_for(names, is_attached=is_attached))
            for name in names:
                source = relation if is_attached else relation.replace(FILES, literal(name))
                rows = engine.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()  # noqa: S608
                schemas.append([(column, kind) for column, kind, *_ in rows])
            return stack.pop_all(), engine

    schemas: list[list[tuple[str, str]] | None] = []
    started = attempt(look)
    if started is None:
        return [*schemas, None], []
    return schemas, [started]


def _check_columns(columns: Sequence[str], names: Sequence[str]) -> None:
    for column in columns:
        if names.count(column) != 1:
            raise ValueError(refusal("column", "be a column of the data, once", column))
