"""The scan of files by the embedded DuckDB.

It first groups equal cells, which is as fast as counting them; if there are too many distinct
ones for memory, it maps every record to its letter one by one.
"""

from __future__ import annotations

import errno
import os
import re
import reprlib
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from dproo.core.counts import Counts
from dproo.core.progress import follow
from dproo.counting.boundary import apart, load
from dproo.counting.layout import ARRAY, CSV, DELIMITERS, DUCKDB, JSON, PARQUET, TEXT, UTF_8
from dproo.counting.query import Batch, CountQuery
from dproo.counting.scan import Scan
from dproo.counting.sources.descriptors import (
    BLOCK,
    Incoming,
    Opened,
    Pipe,
    find_files,
    refuse_own_letters,
)
from dproo.counting.sources.files import (
    FILES,
    LONGEST_LINE,
    PART,
    Files,
    open_files,
)
from dproo.counting.sources.text import cleaning
from dproo.counting.sources.text.files import TextFile, unmarked
from dproo.counting.sources.text.records import Parts, Syntax
from dproo.counting.sql import people
from dproo.counting.sql import statements as sql
from dproo.counting.sql.duckdb import DIALECT, ROOM
from dproo.counting.sql.reading import literal
from dproo.counting.table import Table
from dproo.counting.tally import Tally, tables_of
from dproo.schema.axis import Bins, Letters
from dproo.schema.reading import DATE, DAYS, EXACT, INTEGER, MONTH, YEAR

if TYPE_CHECKING:
    import duckdb

Feed = tuple[Pipe, Iterable[Iterator[bytes]]]
"""A pipe, and the texts sent through it one after another."""

# Bytes of a record; a longer one is outside. The JSON reader's buffer is 32 MiB, whatever its
# limit, so a line above the limit may or may not be read; if one is not, 32 MiB are guaranteed.
_LONGEST_CSV = 16 << 20
_LONGEST_JSON = 32 << 20
_COLUMNS_AT_ONCE = 16  # their 120 pairs are one batch
_DAY = re.compile("[0-9]{4}-[0-9]{2}(-[0-9]{2})?")
_DIGITS = re.compile("-?[0-9]+")
_SHORT = 1 << 14  # bytes; shorter cells are never shortened


def open_table(data: Any, query: CountQuery) -> Table | None:
    """Return files as a table, or None if data is not a path, or Arrow reads it."""
    if not isinstance(data, str | os.PathLike):
        return None
    if query.alphabets:  # most headers can be read without it
        load("duckdb", room=ROOM)
    opened = find_files(data)
    refuse_own_letters(opened, (), query.axes)
    files = open_files(opened, query)
    try:
        refuse_own_letters(opened, files.header, query.axes)
    except BaseException:
        files.engine.close()
        raise
    if files.by_arrow & {*query.read}:
        files.engine.close()
        return None
    return Table(
        columns=files.columns,
        plan=lambda _, query: _planned(files, query),
        close=files.engine.close,
    )


def _planned(files: Files, query: CountQuery) -> Scan:
    if files.is_once and query.passes > 1:
        raise ValueError(
            "standard input is read once, and so many columns need several passes. Save it as a"
            f" file, or use at most {_COLUMNS_AT_ONCE} columns, or a declared network."
        )
    return Scan(
        engine="files",
        warnings=tuple(_warnings(files, query)),
        notes=tuple(_notes(files, query)),
        _query=query,
        _read=lambda: apart(lambda: count_files(files, query), stop=files.engine.stop),
        _rehearse=lambda: apart(lambda: rehearse_files(files, query), stop=files.engine.stop),
    )


def _notes(files: Files, query: CountQuery) -> Iterator[str]:
    """Yield what was taken from the header line, or from the lack of one."""
    chosen = query.layout.delimiter
    delimiters = {file.header.delimiter for file in files.texts if file.header is not None}
    if chosen is None and delimiters and not delimiters & {*DELIMITERS.values()}:
        yield f"Cells are separated by {delimiters.pop()!r}, as the names in the header line are."
    if files.format == CSV and not query.layout.has_header and query.layout.names:
        yield (
            "The file has no header: the code book must name all its columns, in their order:"
            f" {', '.join(query.layout.names)}."
        )


def _warnings(files: Files, query: CountQuery) -> Iterator[str]:
    """Yield warnings: what a header cannot show, and why letters may count as outside."""
    if files.format in {JSON, ARRAY}:
        yield (
            "JSON has no header: a column that no record has counts as 'other'."
            " Compare its name with the file."
        )
        if query.person is not None:
            yield (
                "JSON has no header: if no record has the column of the person, all records"
                " together are one person. Compare its name with the file."
            )
    if files.format == CSV:
        yield from _warnings_of_text(files, query)
    if files.format in TEXT and not query.layout.is_utf_8:
        yield from _warnings_of_encoding(files, query)
    is_marked = all(file.header is not None and file.header.is_marked for file in files.texts)
    is_known = query.layout.encoding is not None or is_marked
    letters = chain.from_iterable(query.letters.values())
    if files.format == CSV and not is_known and not "".join(letters).isascii():
        yield (
            "letters beyond ASCII are found only if the file is UTF-8."
            " Confirm it: encoding='utf-8'; or name another: encoding='latin-1'."
        )


def _warnings_of_encoding(files: Files, query: CountQuery) -> Iterator[str]:
    """Yield a warning for each column with letters that the encoding cannot write.

    Raises:
        ValueError: it can write none of a column's letters.
    """
    encoding = query.layout.encoding or UTF_8
    for place, letters in query.letters.items():
        written = [text for text in letters if _is_written(text, encoding)]
        name = reprlib.repr(files.columns[place].name)
        if not written:
            raise ValueError(
                f"encoding must be able to write the letters of column {name}, got {encoding!r}."
                " Name the one that the file has."
            )
        if len(written) < len(letters):
            yield (
                f"some letters of column {name} can never occur: {encoding} cannot write them."
                " Name the encoding that the file has."
            )


def _is_written(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeError:
        return False
    return True


def _warnings_of_text(files: Files, query: CountQuery) -> Iterator[str]:
    for column, axis in zip(files.columns, query.axes, strict=False):
        if axis.reading.kind != EXACT:
            continue
        name = reprlib.repr(column.name)
        texts = axis.letters if isinstance(axis, Letters) else ()
        if texts and all(isinstance(text, str) and _DIGITS.fullmatch(text) for text in texts):
            kind = YEAR if all(len(str(text)) == DAYS[YEAR] for text in texts) else INTEGER
            shown = "2024-03-01" if kind == YEAR else "007, 7.0 and 1,234"
            yield (
                f"values of column {name} are found only if they are written as the letters are:"
                f" {shown} would be 'other'. Add .read_as({kind!r}) for such cells, or"
                " .read_as('text') if there are none."
            )
        if isinstance(axis, Letters) and all(_DAY.fullmatch(text) for text in axis.places):
            kind = DATE if all(len(text) == DAYS[DATE] for text in axis.places) else MONTH
            yield (
                f"dates in column {name} are found only if they are written as the letters are."
                f" Add .read_as({kind!r}), or .read_as({kind!r}, format='DD.MM.YYYY') for dates in"
                " another form."
            )
        if isinstance(axis, Bins) and b";" in files.marks:
            yield (
                f"numbers with a decimal comma in column {name} are in no bin."
                " Add .read_as('number', decimal=',') for them, or .read_as('number') if there are"
                " none."
            )


def count_files(files: Files, query: CountQuery) -> tuple[Tally | Counts, ...]:
    """Count the records of files by the letters of each alphabet, within DuckDB.

    With people, records are selected once and then counted batch by batch; without them, the
    files are read for each batch.
    """
    follow(files.reading(query.passes))
    if query.passes == 1:
        return _count(files, query)
    opened = [file for file in files.opened if isinstance(file, Opened)]
    before = [file.state for file in opened]
    tables = query.in_batches(
        lambda batch: _count(files.reduced(batch.columns), batch.query, is_grouped=False)
    )
    if [file.state for file in opened] != before:
        raise OSError(errno.EBUSY, "a file has changed between two passes")
    return tables


def _count(
    files: Files, query: CountQuery, *, is_grouped: bool = True
) -> tuple[Tally | Counts, ...]:
    duckdb = load("duckdb", room=ROOM)
    is_grouped = is_grouped and not files.is_once
    is_piped = (
        files.format in {CSV, ARRAY}
        or files.is_once
        or not all(map(_is_read_by_duckdb, files.texts))
    )
    while True:
        try:
            return _counted(files, query, is_grouped=is_grouped, is_piped=is_piped)
        except duckdb.OutOfMemoryException:
            if not is_grouped or query.person is not None:
                raise
            is_grouped = False
        except duckdb.InvalidInputException:
            # A line does not fit into the reader's buffer. All others are read alike in both
            # ways, so this line does not affect them.
            if is_piped or files.format != JSON:  # possible only for an unconverted file
                raise
            is_piped = True
        finally:
            files.engine.close()  # else another scan would see what this one has rejected


def _is_read_by_duckdb(file: TextFile) -> bool:
    """Return whether DuckDB reads JSON lines itself: it finds none in a single byte or a mark."""
    start = file.opened.start()
    return file.is_plain and len(start) != 1 and not start.startswith(BOM_UTF8)


def rehearse_files(files: Files, query: CountQuery) -> None:
    """Start the engine, write the letters and run the queries, all on no record.

    The engine is reused for the count, or for its first batch. Text is read through an empty
    pipe.
    """
    is_grouped = not files.is_once
    if query.passes > 1:
        batch = query.batches[0]
        files, query, is_grouped = files.reduced(batch.columns), batch.query, False
    _counted(files, query, is_grouped=is_grouped, is_piped=bool(files.pipe), is_real=False)


def _counted(
    files: Files, query: CountQuery, *, is_grouped: bool, is_piped: bool, is_real: bool = True
) -> tuple[Tally | Counts, ...]:
    """Count the records, or no record in a rehearsal."""
    # A sandboxed engine may read only the paths that the files had when it started.
    if any(file.is_moved for file in files.opened):
        files.engine.close()
    # People cannot be counted in bounded memory. Groups can: else cells are counted one by one.
    is_bounded = is_grouped and query.person is None
    is_attached = files.format == DUCKDB
    engine = files.engine.start(
        files.names, is_attached=is_attached, is_bounded=is_bounded, room=query.room
    )
    files.engine.write_letters(query)
    pipe = files.pipe if is_piped else None
    names = [pipe.name] if pipe else [file.name for file in files.opened]
    relation = _relation(files, names, query, is_piped=is_piped)
    if not (is_real or is_piped):
        relation = f"(FROM {relation} WHERE false)"
    texts: Iterable[Iterator[bytes]] = [iter([b"\n"])]
    if is_real:
        texts = chain.from_iterable(_cleaned(file, files, query) for file in files.texts)
    if pipe is None:
        return counted_relation(engine, relation, files.kinds, query, is_grouped=is_grouped)
    feed = pipe, texts
    if query.person is not None:
        return _count_people(engine, relation, files, query, feed)
    statement = sql.counting_query(
        relation,
        kinds=files.kinds,
        query=query,
        dialect=DIALECT,
        is_grouped=is_grouped,
        is_part=True,  # a letter may be rarer in a part than in all
    )
    rows = _sorted_rows(engine, _summed(engine, statement, query, feed))
    if files.format == CSV:
        nothing = [None] * len(query.axes)
        rows += [(*marks, *nothing, _rejected(engine)) for marks in set(query.marks)]
    return tables_of(rows, query)


def _rejected(engine: duckdb.DuckDBPyConnection) -> int:
    """Return how many records of the same scan were too long for the CSV reader."""
    unread = "SELECT DISTINCT scan_id, file_id, line_byte_position FROM reject_errors"
    ((records,),) = engine.execute(f"SELECT count(*) FROM ({unread})").fetchall()  # noqa: S608
    return int(records)


def _summed(
    engine: duckdb.DuckDBPyConnection, statement: str, query: CountQuery, feed: Feed
) -> str:
    """Run a query on each text sent through a pipe, and return the one that adds up its rows."""
    keys = ", ".join(f"k{i}" for i in range(len(query.marks[0]) + len(query.axes)))
    parts = f"FROM ({statement}) AS part({keys}, records)"
    engine.execute(f"CREATE OR REPLACE TEMP TABLE parts AS {parts} LIMIT 0")
    _insert(engine, f"INSERT INTO parts {parts}", feed)
    if query.open_axis is not None:
        return sql.counted_open("parts", minimum=query.open_axis.minimum)
    return f"SELECT {keys}, CAST(sum(records) AS BIGINT) FROM parts GROUP BY {keys}"  # noqa: S608


def _insert(engine: duckdb.DuckDBPyConnection, statement: str, feed: Feed) -> None:
    """Run a statement on each text sent through a pipe in turn."""
    pipe, texts = feed
    for text in texts:
        with pipe.filled(text):
            engine.execute(statement)


def _count_people(
    engine: duckdb.DuckDBPyConnection,
    relation: str,
    files: Files,
    query: CountQuery,
    feed: Feed,
) -> tuple[Tally | Counts, ...]:
    """Count the selected records of each person.

    A person may have records in several files, so the records kept of each file are stored.
    """
    named = people.named(relation, kinds=files.kinds, query=query, dialect=DIALECT)
    kept = people.kept_by_group(people.ranked(named, query), query)
    engine.execute(f"CREATE OR REPLACE TEMP TABLE people AS FROM {kept} LIMIT 0")
    _insert(engine, f"INSERT INTO people FROM {kept}", feed)
    if files.format == CSV:
        unread = people.nobody(min(_rejected(engine), query.records_per_person), query)
        engine.execute(f"INSERT INTO people FROM {people.ranked(unread, query)}")
    return counted_people(engine, "people", query)


def counted_relation(
    engine: duckdb.DuckDBPyConnection,
    relation: str,
    kinds: Sequence[str],
    query: CountQuery,
    *,
    is_grouped: bool,
) -> tuple[Tally | Counts, ...]:
    """Count a relation by one query, or by one for each batch if there are people."""
    if query.person is not None:
        named = people.named(relation, kinds=kinds, query=query, dialect=DIALECT)
        return counted_people(engine, people.ranked(named, query), query)
    statement = sql.counting_query(
        relation, kinds=kinds, query=query, dialect=DIALECT, is_grouped=is_grouped
    )
    return tables_of(_sorted_rows(engine, statement), query)


def counted_people(
    engine: duckdb.DuckDBPyConnection, ranked: str, query: CountQuery
) -> tuple[Tally | Counts, ...]:
    """Count the selected records of a relation of :func:`dproo.counting.sql.people.ranked`."""
    kept = people.kept_by_group(ranked, query)
    if len(query.batches) > 1:
        engine.execute(f"CREATE OR REPLACE TEMP TABLE kept AS FROM {kept}")
        kept = "kept"

    def count(batch: Batch) -> tuple[Tally | Counts, ...]:
        rows = engine.execute(people.statement(kept, query, batch, DIALECT)).fetchall()
        return tables_of(rows, batch.query)

    return query.in_batches(count)


def _sorted_rows(engine: duckdb.DuckDBPyConnection, statement: str) -> list[Any]:
    """Return the rows in the order of their keys, in which Python looks them up faster."""
    return engine.execute(f"{statement} ORDER BY 1").fetchall()


def _relation(files: Files, names: list[str], query: CountQuery, *, is_piped: bool) -> str:
    read = list(files.cells)
    if query.person is not None and files.format in {JSON, ARRAY}:
        # In a readable line, a missing identifier is JSON's null; in any other it is SQL's.
        missing = "CASE WHEN json_type(json) = 'OBJECT' THEN CAST('null' AS JSON) END"
        read[-1] = f"coalesce({read[-1]}, {missing})"
    if query.person is not None and files.format == PARQUET and files.kinds[-1] == sql.TEXT:
        # DuckDB reads bytes that are not text as "?".
        read[-1] = f"replace({read[-1]}, '?', '{people.REPLACED}')"
    longest = _LONGEST_CSV
    if files.format in {JSON, ARRAY}:
        longest = _LONGEST_JSON + BLOCK if is_piped else _LONGEST_JSON // 2
    source = files.relation
    if files.format != DUCKDB:
        source = source.replace(LONGEST_LINE, str(longest))
        parts = [
            f"SELECT {cells} FROM {_named(source, [names[place] for place in places])}"  # noqa: S608
            for cells, places in files.parts
        ]
        source = f"({' UNION ALL '.join(parts)})" if parts else _named(source, names)
    return sql.relation_of(read, source)


def _named(source: str, names: Sequence[str]) -> str:
    return source.replace(FILES, ", ".join(map(literal, names)))


def _cleaned(file: TextFile, files: Files, query: CountQuery) -> Iterable[Iterator[bytes]]:
    """Yield the texts that the records of a file are read from."""
    if isinstance(file.opened, Incoming):
        file.opened.let_go()
    if files.format in {JSON, ARRAY}:
        blocks = unmarked(file.blocks())
        if files.format == ARRAY:
            blocks = cleaning.array_lines(blocks)
        # With a final line break, because the reader finds no line in a single byte.
        return [chain(cleaning.short_lines(_parts(blocks), longest=_LONGEST_JSON), [b"\n"])]
    letters = chain.from_iterable(query.letters.values())
    longest = max((len(letter.encode()) for letter in letters), default=0) + _SHORT
    is_old = file.header is not None and file.header.line_break == b"\r"
    text = cleaning.valid_text(cleaning.own_breaks(file.blocks(), is_old=is_old))
    # Repaired first, so that the shortened form of a long run depends on the text alone.
    runs = cleaning.short_runs(_parts(text), marks=files.marks, longest=longest)
    _, delimiter, quote, _ = files.marks
    syntax = Syntax(delimiter=delimiter, quote=quote, longest_run=longest)
    parts = Parts(runs, syntax, length=PART, longest=_LONGEST_CSV)
    return (chain([files.first_line], part) for part in parts)


def _parts(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the same bytes in blocks no longer than the blocks of a file."""
    for block in blocks:
        for start in range(0, len(block), BLOCK):
            yield block[start : start + BLOCK]
