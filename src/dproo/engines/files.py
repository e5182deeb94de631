"""Files through embedded DuckDB: CSV, TSV, Parquet, JSON lines, and DuckDB's own.

A scan first groups equal cells, which is as fast as counting them; should there be too
many different ones to keep in memory, it maps every record to its letter one by one.
"""

from __future__ import annotations

import csv
import glob
import os
import re
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dproo._check import one_of, refusal
from dproo.alphabet import Alphabet
from dproo.axis import Letters
from dproo.engines import statement as sql
from dproo.engines.embedded import DIALECT, engine_for, literal
from dproo.engines.tally import Tally

if TYPE_CHECKING:
    import duckdb

    _Started = tuple[ExitStack, duckdb.DuckDBPyConnection, list[str]]

_DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_FORMATS = {
    **dict.fromkeys(_DELIMITERS, "csv"),
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "json",
    ".ndjson": "json",
    ".duckdb": "duckdb",
    ".ddb": "duckdb",
}
SUFFIXES = tuple(_FORMATS)
"""How the names of files that can be read end."""

_FILES = "<files>"
_MEMORY = "384MB"
_LONGEST_LINE = 16 << 20


@dataclass(frozen=True, kw_only=True)
class Files:
    """Files of one format, their columns looked up; no record was read.

    Attributes:
        paths: absolute paths.
        relation: the table expression that reads them, ``<files>`` in place of their names.
        is_attached: whether it is a table of a database instead.
        cells: the expression of each column to count.
        kinds: the kind of each of those columns.
        is_csv: whether lines that no cell can be read from are set aside and counted.
        started: the engine that looked the columns up, for the first scan to use and close:
            to start another takes as long as to count some 10^7 records.
    """

    paths: tuple[str, ...]
    relation: str
    cells: tuple[str, ...]
    kinds: tuple[str, ...]
    is_attached: bool = False
    is_csv: bool = False
    started: list[_Started] = field(default_factory=list, compare=False, repr=False)


def find_files(data: str | os.PathLike[str]) -> list[str]:
    """Return the absolute paths of a file, or of all files that a pattern matches.

    Raises:
        ValueError: there are none, or it is no local file.
    """
    if os.path.isfile(data):  # noqa: PTH113 - Path raises where a name is too long
        return [str(Path(data).absolute())]
    matches = sorted(p for p in glob.glob(os.fspath(data), recursive=True) if Path(p).is_file())  # noqa: PTH207
    if not matches:
        raise ValueError(refusal("data", "be a file that exists", str(data)))
    return [str(Path(match).absolute()) for match in matches]


def open_files(
    paths: Sequence[str], *, columns: Sequence[str], table: str | tuple[str, ...] | None
) -> Files:
    """Look up the columns of files by their headers or schemas alone.

    Raises:
        ValueError: a format is not known, a file is not readable, files differ in their
            columns, or a column is not there.
    """
    suffixes = {Path(path).suffix.lower() for path in paths}
    formats = {
        _FORMATS[one_of("the end of the file's name", suffix, _FORMATS)] for suffix in suffixes
    }
    if len(formats) > 1 or len(suffixes & set(_DELIMITERS)) > 1:
        raise ValueError(refusal("data", "be files of one format", sorted(suffixes)))
    if not columns:
        raise ValueError("column must be given for a file.")
    (file_format,) = formats
    if (table is None) == (file_format == "duckdb"):
        raise ValueError(refusal("table", "be given for a DuckDB file, and for no other", table))
    if file_format == "csv":
        return _open_csv(paths, columns, _DELIMITERS[suffixes.pop()])
    if file_format == "json":
        return _open_json(paths, columns)
    return _open_typed(paths, columns, table)


def _open_csv(paths: Sequence[str], columns: Sequence[str], delimiter: str) -> Files:
    headers = [_header(path, delimiter) for path in paths]
    header = headers[0]
    if any(other != header for other in headers):
        raise ValueError("data must be files with the same header, got different ones.")
    _check_columns(columns, header)
    names = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(header)))
    relation = (
        f"read_csv([{_FILES}], columns={{{names}}}, auto_detect=false, header=true,"
        f" delim={literal(delimiter)}, quote='\"', escape='\"', null_padding=true,"
        f" strict_mode=false, parallel=false, max_line_size={_LONGEST_LINE},"
        " store_rejects=true, rejects_limit=0)"
    )
    cells = tuple(f"c{header.index(column)}" for column in columns)
    kinds = (sql.TEXT,) * len(columns)
    return Files(paths=tuple(paths), relation=relation, cells=cells, kinds=kinds, is_csv=True)


def _header(path: str, delimiter: str) -> list[str]:
    try:
        with Path(path).open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            header = next(csv.reader(file, delimiter=delimiter), [])
    except (OSError, csv.Error):
        raise ValueError(refusal("data", "be a readable file", path)) from None
    if not header:
        raise ValueError(refusal("data", "be a file with a header line", path))
    return header


def _open_json(paths: Sequence[str], columns: Sequence[str]) -> Files:
    relation = (
        f"read_ndjson_objects([{_FILES}], ignore_errors=true, maximum_object_size={_LONGEST_LINE})"
    )
    pointers = ("/" + name.replace("~", "~0").replace("/", "~1") for name in columns)
    cells = tuple(
        f"CASE WHEN json_type(json) = 'OBJECT' THEN json_extract(json, {literal(pointer)}) END"
        for pointer in pointers
    )
    kinds = (sql.JSON,) * len(columns)
    return Files(paths=tuple(paths), relation=relation, cells=cells, kinds=kinds)


def _open_typed(
    paths: Sequence[str], columns: Sequence[str], table: str | tuple[str, ...] | None
) -> Files:
    """Look up the types of columns in Parquet files, or in a table of a DuckDB file."""
    if table is not None and len(paths) > 1:
        raise ValueError("data must be one DuckDB file, got several.")
    relation = f"read_parquet([{_FILES}])" if table is None else f"source.{sql.table_name(table)}"
    schemas, started = _schemas(paths, relation, is_attached=table is not None)
    if None in schemas:
        what = "be a readable file" if table is None else f"be a DuckDB file with table {table!r}"
        raise ValueError(refusal("data", what, paths[schemas.index(None)]))
    if any(schema != schemas[0] for schema in schemas):
        raise ValueError("data must be files with the same columns and types, got different ones.")
    schema = dict(schemas[0] or ())
    _check_columns(columns, list(schema))
    return Files(
        paths=tuple(paths),
        relation=relation,
        is_attached=table is not None,
        cells=tuple(sql.quoted(column) for column in columns),
        kinds=tuple(_kind(schema[column]) for column in columns),
        started=started,
    )


def _schemas(
    paths: Sequence[str], relation: str, *, is_attached: bool
) -> tuple[list[list[tuple[str, str]] | None], list[_Started]]:
    """Return the names and types of each file's columns, nothing for one that is unreadable.

    The engine that looked them up comes with them, still open and locked in.
    """
    started: list[_Started] = []
    schemas: list[list[tuple[str, str]] | None] = []
    try:
        with ExitStack() as stack:
            engine, links = stack.enter_context(
                engine_for(paths, is_attached=is_attached, memory=_MEMORY)
            )
            for source in (
                [relation] if is_attached else [relation.replace(_FILES, f) for f in links]
            ):
                rows = engine.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()  # noqa: S608
                schemas.append([(name, kind) for name, kind, *_ in rows])
            started.append((stack.pop_all(), engine, links))
    except Exception:  # noqa: BLE001 - the engine's message could quote the file
        schemas.append(None)
    return schemas, started


def _check_columns(columns: Sequence[str], names: Sequence[str]) -> None:
    for column in columns:
        if names.count(column) != 1:
            raise ValueError(refusal("column", "be a column of the data, once", column))


def _kind(name: str) -> str:
    if re.fullmatch("U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|BIGNUM", name):
        return sql.INTEGER
    if name == "VARCHAR" or (name.startswith("ENUM(") and name.endswith(")")):
        return sql.TEXT
    if re.fullmatch("DECIMAL\\([0-9]+,[0-9]+\\)", name):
        return sql.DECIMAL
    kinds = {"FLOAT": sql.FLOAT, "DOUBLE": sql.FLOAT, "BOOLEAN": sql.BOOLEAN, "DATE": sql.DATE}
    return kinds.get(name, sql.NOTHING)


def count_files(files: Files, *, alphabet: Alphabet) -> Tally:
    """Count the records of files by letter, within DuckDB."""
    import duckdb

    try:
        return _scan(files, alphabet, is_grouped=True, memory=_MEMORY)
    except duckdb.OutOfMemoryException:
        return _scan(files, alphabet, is_grouped=False, memory=None)


def _scan(files: Files, alphabet: Alphabet, *, is_grouped: bool, memory: str | None) -> Tally:
    cells = ", ".join(f"{cell} AS c{i}" for i, cell in enumerate(files.cells))
    names = ", ".join(f"c{i}" for i in range(len(files.cells)))
    with ExitStack() as stack:
        if files.started:
            held, engine, links = files.started.pop()
            stack.push(held)
        else:
            engine, links = stack.enter_context(
                engine_for(files.paths, is_attached=files.is_attached, memory=memory)
            )
        source = files.relation
        if not files.is_attached:
            source = source.replace(_FILES, ", ".join(links))
        relation = f"(SELECT {cells}, 1 AS records FROM {source})"  # noqa: S608
        if is_grouped:
            relation = f"(SELECT {names}, count(*) AS records FROM {relation} GROUP BY {names})"  # noqa: S608
        for i, axis in enumerate(alphabet.axes):
            if isinstance(axis, Letters):
                letters = f"CREATE TEMP TABLE letters{i} AS SELECT unnest($1::VARCHAR[]) AS letter"
                engine.execute(letters, [list(axis.places)])
        query = sql.statement(relation, kinds=files.kinds, axes=alphabet.axes, dialect=DIALECT)
        # In order, so that what is looked up together here stands together in memory.
        rows = engine.execute(f"{query} ORDER BY 1").fetchall()
        if files.is_csv:
            # Lines that are too long or no UTF-8, of the same scan: each is one record.
            unread = "SELECT DISTINCT file_id, line_byte_position FROM reject_errors"
            ((records,),) = engine.execute(f"SELECT count(*) FROM ({unread})").fetchall()  # noqa: S608
            rows.append((*[None] * len(alphabet.axes), records))
    return Tally.of(rows, alphabet=alphabet)
