"""Files for the embedded DuckDB: CSV, TSV, Parquet, JSON, and DuckDB's own.

They are opened once; only their headers and schemas are read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING

from dproo.core.checks import one_of, refusal
from dproo.core.progress import Share
from dproo.counting.boundary import apart, attempt, required
from dproo.counting.fit import (
    LIST_THEM,
    Column,
    MissingColumnError,
    require_columns,
    tables_listed,
    united,
)
from dproo.counting.layout import (
    ARRAY,
    COMPRESSED,
    CSV,
    DELIMITERS,
    DUCKDB,
    FORMATS,
    JSON,
    PARQUET,
    ROWS,
    SQLITE,
    TEXT,
    Layout,
)
from dproo.counting.query import CountQuery
from dproo.counting.sources.descriptors import Incoming, Opened, Pipe, require_spare
from dproo.counting.sources.footer import Chunk, chunks_of
from dproo.counting.sources.rows.excel import OTHERS
from dproo.counting.sources.text.files import TextFile
from dproo.counting.sources.text.header import UTF_16
from dproo.counting.sql import statements as sql
from dproo.counting.sql.duckdb import (
    DIALECT,
    HALF,
    NULL,
    Engine,
    by_bytes,
    duckdb_kind,
    engine_for,
    in_range,
    shown_type,
)
from dproo.counting.sql.reading import literal
from dproo.schema.reading import DAYS, SHAPE

if TYPE_CHECKING:
    import duckdb

    Named = tuple[str, str, str]  # a column's name, its type, and DuckDB's name of it

SUFFIXES = tuple(
    ending + compression
    for ending, kind in FORMATS.items()
    for compression in ("", *(COMPRESSED if kind in TEXT else ()))
    if kind != SQLITE
)
"""The endings of files that are offered as data, without SQLite: such a file is often a ledger."""

FILES, LONGEST_LINE = "<files>", "<longest line>"

MILLISECONDS = "TIMESTAMP_MILLIS"
"""Moments that DuckDB converts to microseconds while reading, failing if one overflows."""

PART = 64 << 20
"""Bytes of a CSV file that DuckDB reads at once: with one more record, they fit into its buffer."""

COLUMNS_MAX = 10_000
"""Columns of a file without a header have numbers below this."""

_MOST_READ = Fraction(99, 100)
"""The largest share that is shown as read: the last bytes have yet to be counted."""

_LINE_BREAK = b"\r\n"
"""The break of a first line after which the reader accepts both LF and CR LF."""

_STORED = (
    "SELECT name, num_children, precision, concat(converted_type, ' ', logical_type)"
    " FROM parquet_schema($1)"
)
# The logical type names every unit, those that it has not as null.
_MILLIS = re.compile("TIMESTAMP_MILLIS|Timestamp.*MILLIS=(?!<null>)")
_ENCRYPTED = "SELECT count(encryption_algorithm) FROM parquet_file_metadata($1)"
_PARQUET = f"read_parquet([{FILES}], utf8_validation='replace')"
_UNREADABLE = ("LZO",)  # no library here unpacks it
_OPEN = 200  # files at a time
_MOMENTS = {sql.TIMESTAMP, sql.INSTANT}
_DIGITS = 38  # DuckDB reads longer decimals as doubles, which have 16 digits


@dataclass(frozen=True, kw_only=True)
class Files:
    """Files of one format with their columns; no record has been read.

    Attributes:
        format: one of ``csv``, ``json``, ``array``, ``parquet``, ``duckdb``.
        opened: the files.
        texts: the same files if they are text; ``pipe`` passes them on to DuckDB when converted.
        relation: the table expression that reads them, with ``<files>`` for their names and
            ``<longest line>`` for the longest line that is certain to be read.
        cells: the expression of each column to count.
        columns: those columns, as the header or schema describes them.
        header: all columns that the header or schema names.
        marks: the bytes that separate records and cells of a CSV file.
        first_line: a line put before the records of a CSV file for the reader to skip, so that
            it never treats a record as a first line.
        by_arrow: columns of Parquet files that only Arrow reads exactly.
        parts: if the types of a column differ, the cells of some files and the places of these.
        united: the columns that have several types, as ``sql.UNITED``.
        engine: what reads them; if a file has a schema, the engine has read it.
    """

    format: str
    opened: tuple[Opened | Incoming, ...]
    relation: str
    cells: tuple[str, ...]
    columns: tuple[Column, ...]
    header: tuple[str, ...] = ()
    texts: tuple[TextFile, ...] = ()
    marks: tuple[bytes, ...] = ()
    first_line: bytes = b""
    by_arrow: frozenset[str] = frozenset()
    parts: tuple[tuple[str, tuple[int, ...]], ...] = ()
    united: frozenset[str] = frozenset()
    engine: Engine = field(default_factory=Engine, compare=False, repr=False)
    pipe: Pipe | None = field(default=None, compare=False, repr=False)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kind of each column to count."""
        return tuple(
            sql.UNITED if column.name in self.united else column.kind or sql.TEXT
            for column in self.columns
        )

    def reduced(self, places: Sequence[int]) -> Files:
        """Return the same files with some of the columns to count."""
        return replace(
            self,
            cells=tuple(self.cells[place] for place in places),
            columns=tuple(self.columns[place] for place in places),
        )

    @property
    def names(self) -> list[str]:
        """The names that the engine may read: of the files and of the pipe."""
        names = [file.name for file in self.opened]
        return names if self.pipe is None else [*names, self.pipe.name]

    @property
    def is_once(self) -> bool:
        """Whether the data can be read only once."""
        return any(isinstance(file, Incoming) for file in self.opened)

    def reading(self, passes: int) -> Share:
        """Return a function for the share of the bytes that has been read from now on.

        It returns None if this process does not read the bytes, because DuckDB opens the file, or
        if their number is not known, as for standard input and ZIP archives.
        """
        files = [file for file in self.opened if isinstance(file, Opened)]
        before, whole = sum(file.passed for file in files), passes * sum(f.size for f in files)

        def share() -> Fraction | None:
            read = sum(file.passed for file in files) - before
            return min(Fraction(read, whole), _MOST_READ) if read and whole else None

        return share


def open_files(opened: Sequence[Opened | Incoming], query: CountQuery) -> Files:
    """Read the columns of files from their headers or schemas alone.

    All columns are read if the query is only for these.
    """
    table, layout = query.table, query.layout
    columns = query.read if query.alphabets else None
    suffixes = {_ending(file, layout) for file in opened}
    formats = {_format(suffix, layout) for suffix in suffixes}
    if len(formats) > 1 or len(suffixes & set(DELIMITERS)) > 1:
        raise ValueError(refusal("data", "be files of one format", sorted(suffixes)))
    if columns is not None and not columns:
        raise ValueError(f"column must be given for a file.{LIST_THEM}")
    for column in columns or ():
        if not isinstance(column, str):
            raise MissingColumnError(column)
    (file_format,) = formats
    if table is None and file_format == DUCKDB:
        names = _tables_of(opened[0])
        raise ValueError(f"table must be given for a DuckDB file. {tables_listed(names)}")
    if table is not None and file_format != DUCKDB:
        raise ValueError(refusal("table", "be given for a DuckDB file, and for no other", table))
    if any(isinstance(file, Incoming) for file in opened) and file_format not in TEXT:
        raise ValueError(refusal("data", "be text if it is standard input", suffixes.pop()))
    # DuckDB opens all Parquet files twice, and of others at most two in each thread.
    at_once = len(opened) if file_format == PARQUET else min(len(opened), os.cpu_count() or 1)
    require_spare(2 * at_once)
    if file_format == CSV:
        return _open_csv(opened, columns, DELIMITERS.get(suffixes.pop(), ","), layout)
    layout.refuse_lines()
    layout.refuse_encoding(file_format)
    if file_format in {JSON, ARRAY}:
        return _open_json(opened, columns, file_format, layout)
    return _open_typed(opened, columns, query)


def _ending(file: Opened | Incoming, layout: Layout) -> str:
    """Return the ending that a file's name has or should have; standard input is CSV by default."""
    suffix, compression = layout.ending_of(file.path)
    if isinstance(file, Incoming) and layout.format is None:
        return ".csv"
    if compression is not None and FORMATS.get(suffix, CSV) not in TEXT:
        raise ValueError(refusal("data", "be a text file if it is compressed", file.path))
    return suffix


def _format(suffix: str, layout: Layout) -> str:
    """Return the format of files with this ending; of any other text, by its delimiter."""
    if suffix in OTHERS:
        raise ValueError(
            refusal("data", "be a sheet that is read row by row, as of .xlsx", suffix)
            + " Save it as an Excel workbook (.xlsx) or as CSV."
        )
    if suffix not in FORMATS and layout.delimiter is not None:
        return CSV
    try:
        one_of("the end of the file's name", suffix, FORMATS)
    except ValueError as error:
        raise ValueError(
            f"{error} For other text files add delimiter=, for others format=."
        ) from None
    if FORMATS[suffix] in ROWS:
        raise ValueError(f"data must be named by a pattern with their ending, as in '*{suffix}'.")
    return FORMATS[suffix]


def _open_csv(
    opened: Sequence[Opened | Incoming],
    columns: Sequence[str] | None,
    default: str,
    layout: Layout,
) -> Files:
    separator = default if layout.has_header else None
    texts = tuple(TextFile.of(file, layout, separator=separator) for file in opened)
    headers = {(file.header.names, file.header.delimiter) for file in texts if file.header}
    if len(headers) > 1:
        raise ValueError("data must be files with the same header, got different ones.")
    named, delimiter = headers.pop() if headers else ((), layout.delimiter or default)
    header = list(named or layout.names) or _numbers(columns)
    require_columns(columns or (), among=header, is_file=True)
    columns = header if columns is None else columns
    names = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(header)))
    relation = (
        f"read_csv([{FILES}], columns={{{names}}}, auto_detect=false,"
        f" header=true, compression='none', delim={literal(delimiter)},"
        f" quote={literal(layout.quote)}, escape={literal(layout.quote)}, null_padding=true,"
        f" strict_mode=false, parallel=false, max_line_size={LONGEST_LINE},"
        f" buffer_size={2 * PART},"
        " store_rejects=true, rejects_limit=0)"
    )
    return Files(
        format=CSV,
        opened=tuple(opened),
        relation=relation,
        cells=tuple(f"c{header.index(column)}" for column in columns),
        columns=tuple(Column(name=name, kind=sql.TEXT, type_name="text") for name in columns),
        header=named,
        texts=texts,
        pipe=Pipe(),
        marks=(b"\n", delimiter.encode(), layout.quote.encode(), b"\r"),
        first_line=b"c" + delimiter.encode() * (len(header) - 1) + _LINE_BREAK,
    )


def _numbers(columns: Sequence[str] | None) -> list[str]:
    """Return the numbers of columns, up to the last one requested.

    Only a record could show how many there are.
    """
    if columns is None:
        raise ValueError(
            "data must have a header to take names from, got a file without one. Its columns are"
            " called by their numbers: column='3'."
        )
    for column in columns:
        is_number = column.isascii() and column.isdecimal() and len(column) < len(str(COLUMNS_MAX))
        if not is_number or str(int(column)) != column or column == "0":
            raise MissingColumnError(
                column,
                condition=f"be a number from 1 to {COLUMNS_MAX - 1}, as the file has no header",
            )
    return [str(number + 1) for number in range(max(map(int, columns)))]


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
    if layout.encoding == UTF_16:
        raise ValueError("encoding must not be utf-16 for JSON, which is UTF-8. Convert the file.")
    texts = tuple(TextFile.of(file, layout) for file in opened)
    for file in texts if file_format == ARRAY else ():
        if not file.begins_with(b"["):
            raise ValueError(
                refusal("data", "be an array of objects", file.opened.path)
                + " Give a file with an object on each line the ending .jsonl."
            )
    relation = (
        f"read_ndjson_objects([{FILES}], ignore_errors=true, compression='none',"
        f" maximum_object_size={LONGEST_LINE})"
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
        pipe=Pipe(),
    )


def _open_typed(
    opened: Sequence[Opened | Incoming],
    columns: Sequence[str] | None,
    query: CountQuery,
) -> Files:
    """Read the types of columns in Parquet files, or in a table of a DuckDB file."""
    table, person = query.table, query.person
    relation, readable = _PARQUET, "be a readable file"
    if table is not None:
        if len(opened) > 1:
            raise ValueError("data must be one DuckDB file, got several.")
        _check_log(opened[0].path)
        relation = f"source.{sql.table_name(table)}"
        readable = f"be a DuckDB file with table {table!r}"
    engine = Engine()
    try:
        found = _schemas_of(opened, relation, engine, is_attached=table is not None)
        schemas = _readable(opened, found, readable)
        header = _same_names(schemas)
        is_described, columns = columns is None, header if columns is None else columns
        require_columns(columns, among=header, is_file=True)
        chosen = [[schema[header.index(name)] for schema in schemas] for name in columns]
        split = _split(opened, chosen) if table is None else frozenset()
    except BaseException:
        engine.close()
        raise
    coarse = {name for several in chosen for name, kind, _ in several if kind == MILLISECONDS}
    cells = [
        by_bytes(sql.quoted(called))
        if table is not None and kind == "VARCHAR"
        else in_range(sql.quoted(called), kind, is_key=name == person)
        for (name, kind, called), *_ in chosen
    ]
    files = Files(
        format=PARQUET if table is None else DUCKDB,
        opened=tuple(opened),
        relation=relation,
        cells=tuple(cells),
        columns=tuple(
            _column_of(several, is_key=name == person)
            for name, several in zip(columns, chosen, strict=True)
        ),
        header=tuple(header),
        by_arrow=split | coarse,
        engine=engine,
    )
    is_alike = all(len({*several}) == 1 for several in chosen)
    return files if is_described or is_alike else _united(files, chosen, query)


def _column_of(several: Sequence[Named], *, is_key: bool) -> Column:
    """Return a column that files may have with different types; one without values has none.

    The values of an enumeration are not public: a category of pandas, or a SELECT, made them.
    """
    typed = [(name, kind) for name, kind, _ in several if kind != NULL] or [several[0][:2]]
    column = united(
        Column(name=name, kind=duckdb_kind(kind), type_name=shown_type(kind))
        for name, kind in dict.fromkeys(typed)
    )
    is_text = is_key and column.kind == sql.ANY
    return replace(column, kind=sql.TEXT, type_name="text of several types") if is_text else column


def _united(files: Files, chosen: Sequence[Sequence[Named]], query: CountQuery) -> Files:
    """Return files that have some of the chosen columns with different types.

    DuckDB would convert the cells of a column to one type, which may round or fail.
    """
    axes = zip(query.columns, query.axes, strict=True)
    undated = {name for name, axis in axes if axis.reading.kind not in {*DAYS, SHAPE}}
    several = [{kind for _, kind, _ in schemas} - {NULL} for schemas in chosen]
    for column, kinds in zip(files.columns, several, strict=True):
        # Arrow would read all the columns, and convert the cells of each to one type, too: only
        # days and moments have one for every type.
        is_refused = bool(files.by_arrow) and column.kind not in _MOMENTS
        if len(kinds) > 1 and is_refused:
            files.engine.close()
            raise ValueError(
                f"data must be files whose types of column {column.name!r} fit together, got"
                " different ones. Cast them to one."
            )

    def cell(place: int, named: Named) -> str:
        name, kind, called = named
        cell, is_mixed = sql.quoted(called), len(several[place]) > 1
        # A moment is a letter only where it is read as a day, as in every other source.
        if is_mixed and name in undated and duckdb_kind(kind) in _MOMENTS:
            kind = NULL
        plain = "NULL" if kind == NULL else in_range(cell, kind, is_key=name == query.person)
        if is_mixed:
            kind = duckdb_kind(kind) or sql.TEXT
            plain = (
                sql.text_cell(plain, kind, DIALECT)
                if files.columns[place].kind == sql.TEXT
                else sql.united_cell(plain, kind, DIALECT)
            )
        return f"{plain} AS c{place}"

    alike: dict[tuple[Named, ...], list[int]] = {}
    for at, types in enumerate(zip(*chosen, strict=True)):
        alike.setdefault(types, []).append(at)
    return replace(
        files,
        parts=tuple(
            (", ".join(cell(place, named) for place, named in enumerate(types)), tuple(places))
            for types, places in alike.items()
        ),
        cells=tuple(f"c{place}" for place in range(len(chosen))),
        united=frozenset(
            column.name
            for column, kinds in zip(files.columns, several, strict=True)
            if len(kinds) > 1 and column.kind != sql.TEXT
        ),
    )


def require_same_columns(paths: Sequence[str], *, but: Sequence[str]) -> list[str]:
    """Return the columns without values of Parquet files; few files are open at a time.

    Raises unless they have the same columns and types.

    Args:
        paths: the files.
        but: ways of compression that no column may have.
    """
    first: list[list[Named]] = []
    for begin in range(0, len(paths), _OPEN):
        opened = [Opened(path) for path in paths[begin : begin + _OPEN]]
        engine = Engine()
        try:
            schemas = _schemas_of(opened, _PARQUET, engine, is_attached=False)
            _same_names([*_readable(opened, schemas, "be a readable file"), *first])
            for file in opened:
                _chunks(file, but)
        finally:
            engine.close()
        first = first or [schema for schema in schemas[:1] if schema is not None]
        if any(schema != first[0] for schema in schemas):
            raise ValueError(
                "data must be files with the same columns and types for Spark, got different ones."
                " Leave engine out, or cast the columns."
            )
    return [name for name, kind, _ in first[0] if kind == NULL]


def _readable(
    opened: Sequence[Opened | Incoming], schemas: Sequence[list[Named] | None], readable: str
) -> list[list[Named]]:
    """Return the columns of the files, which must all be readable."""
    if None in schemas:
        raise ValueError(refusal("data", readable, opened[schemas.index(None)].path))
    return [schema for schema in schemas if schema is not None]


def _same_names(schemas: Sequence[list[Named]]) -> list[str]:
    """Return the names of the columns of all files, which must be the same."""
    names = [[name for name, _, _ in schema] for schema in schemas]
    if any(some != names[0] for some in names):
        raise ValueError("data must be files with the same columns, got different ones.")
    return names[0]


def _split(
    opened: Sequence[Opened | Incoming], chosen: Sequence[Sequence[Named]]
) -> frozenset[str]:
    """Return the columns in an encoding that only Arrow reads; most types never have it.

    Nothing here can unpack some ways of compression: files that begin with one are refused.
    """
    columns = {
        (name,)
        for several in chosen
        for name, kind, _ in several
        if kind == HALF or kind.startswith("DECIMAL")
    }
    files = [file for file in opened if isinstance(file, Opened)]
    groups = None if columns else 1  # a footer of many groups takes seconds
    chunks = chain.from_iterable(_chunks(file, _UNREADABLE, groups) for file in files)
    return frozenset(chunk.path[0] for chunk in chunks if chunk.is_split and chunk.path in columns)


def _chunks(file: Opened, but: Sequence[str], groups: int | None = None) -> list[Chunk]:
    """Return the chunks of a Parquet file, which must not be compressed in one of these ways."""
    unreadable = refusal("data", "be a readable file", file.path)
    chunks = required(lambda: list(chunks_of(file, groups=groups)), unreadable)
    if any(chunk.compression in but for chunk in chunks):
        raise ValueError(f"data must be Parquet files without {' or '.join(but)} compression.")
    return chunks


def _check_log(path: str) -> None:
    """Refuse a database that has records outside its file: only the file is read."""
    if any(os.path.lexists(f"{name}.wal") for name in (path, os.path.realpath(path))):
        raise ValueError(
            refusal("data", "be a DuckDB file without a log of changes beside it", path)
            + " Open it in DuckDB and run CHECKPOINT."
        )


def _schemas_of(
    opened: Sequence[Opened | Incoming], relation: str, engine: Engine, *, is_attached: bool
) -> list[list[Named] | None]:
    """Return the columns of each file, ending with None for the first unreadable one."""
    names = [file.name for file in opened]
    schemas: list[list[Named] | None] = []

    def read() -> bool:
        running = engine.start(names, is_attached=is_attached)
        for name in names:
            source = relation if is_attached else relation.replace(FILES, literal(name))
            rows = running.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()  # noqa: S608
            columns = [(column, kind, column) for column, kind, *_ in rows]
            schemas.append(columns if is_attached else _stored(running, name, columns))
        return True

    # The engine turns an interrupt into an error.
    return schemas if attempt(lambda: apart(read)) else [*schemas, None]


def _stored(engine: duckdb.DuckDBPyConnection, file: str, columns: list[Named]) -> list[Named]:
    """Return the columns of a Parquet file by the names that it stores.

    If names are equal, or differ only in case, DuckDB renames all but the first. A file with
    encrypted columns is refused, even if its footer is plain text.
    """
    if engine.execute(_ENCRYPTED, [file]).fetchall() != [(0,)]:
        raise ValueError
    _, *parts = engine.execute(_STORED, [file]).fetchall()
    names, left = [], 0
    for name, children, digits, stored in parts:
        if not left:
            is_wide = (digits or 0) > _DIGITS
            is_coarse, is_half = _MILLIS.search(stored), "Float16" in stored
            odd = MILLISECONDS if is_coarse else HALF if is_half else None
            names.append((name, "DECIMAL256" if is_wide else odd))
        left += (children or 0) - (left > 0)
    return [
        (name, odd or kind, called)
        for (name, odd), (_, kind, called) in zip(names, columns, strict=True)
    ]


def _tables_of(file: Opened | Incoming) -> list[str]:
    """Return the names of the tables of a DuckDB file, or [] if it is unreadable."""

    def read() -> list[str]:
        with engine_for([file.name], is_attached=True) as engine:
            listed = (
                "SELECT CASE schema_name WHEN 'main' THEN name ELSE schema_name || '.' || name END"
                " FROM (SELECT schema_name, table_name AS name, database_name FROM duckdb_tables()"
                " UNION ALL SELECT schema_name, view_name, database_name FROM duckdb_views()"
                " WHERE NOT internal) WHERE database_name = 'source' ORDER BY 1"
            )
            return [name for (name,) in engine.execute(listed).fetchall()]

    return attempt(lambda: apart(read)) or []
