"""Spark: a frame, a table of its catalogue or Parquet files, on this machine or a cluster.

Spark counts where the data is, by one query, and returns one row per letter that was seen. The
query is one exact aggregate that Spark materialises once. A task that is repeated, because its
machine died or by speculative execution, contributes one result, never two.
"""

from __future__ import annotations

import json
import logging
import os
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from uuid import uuid4

from dproo.core.checks import refusal
from dproo.core.counts import Counts
from dproo.counting.boundary import attempt, load, loaded, required
from dproo.counting.fit import Column
from dproo.counting.query import Batch, CountQuery
from dproo.counting.scan import Scan
from dproo.counting.sources.descriptors import paths_of, refuse_tables
from dproo.counting.sources.files import require_same_columns
from dproo.counting.sql import people
from dproo.counting.sql import statements as sql
from dproo.counting.sql.spark import SPARK, cell_of, kind_of
from dproo.counting.table import Table
from dproo.counting.tally import Tally, tables_of
from dproo.schema.axis import Bins

LOCAL = "local[*]"

_MASTER = re.compile(r"local(\[[0-9*, ]+\])?|(spark|k8s)://\S+|yarn")
_CONFIG: dict[str, Any] = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
_CHAR = "__CHAR_VARCHAR_TYPE_STRING"  # where Spark stores the type of fixed-length text
_UNREADABLE = "BROTLI", "LZO"  # Spark has no library for these
_NO_TYPE = {  # how Spark calls the lack of a type
    *("PARQUET_TYPE_ILLEGAL", "PARQUET_TYPE_NOT_SUPPORTED", "PARQUET_TYPE_NOT_RECOGNIZED"),
    *("UNSUPPORTED_TIME_TYPE", "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION"),
}
_UNTYPED = (
    "data must be Parquet files whose types Spark has, even those of columns that are not released:"
    " it has none for moments in nanoseconds, float16, times, UUIDs and decimals of more than 38"
    " digits. Write such columns as another type, or leave engine out if the files are here."
)
_DAYS = {sql.TIMESTAMP: sql.DATE, sql.INSTANT: sql.DATE}
_SOURCE = "{source}"
_OLD_DAYS = (
    *("spark.sql.parquet.datetimeRebaseModeInRead", "spark.sql.parquet.int96RebaseModeInRead"),
    "spark.sql.avro.datetimeRebaseModeInRead",
)
# Spark looks up these two operators like functions.
_FUNCTION = re.compile(r"\b[a-z_][a-z_0-9]*(?=\()|\b(?:BETWEEN|GROUPING)\b")
_OWN = "Class: org.apache.spark.sql.catalyst.expressions."
# Spark writes a parameter into the text of the query, where a setting decides what a backslash
# means; base64 has no special characters.
_LETTERS = (
    "explode(from_json(CAST(unbase64(:{}) AS STRING), 'array<string>', map('mode', 'FAILFAST')))"
)


def open_table(data: Any, query: CountQuery) -> Table | None:
    """Return a Spark frame, or a table or files for Spark to read, or None."""
    if query.engine is not None:
        return _open_by_name(data, query, query.engine)
    spark = loaded("pyspark.sql")
    if query.table is not None or spark is None or not isinstance(data, spark.DataFrame):
        return None
    _refuse_old_days(data.sparkSession)
    return _table(data, engine="frames")


def _open_by_name(data: Any, query: CountQuery, engine: str) -> Table:
    if query.table is not None or not isinstance(data, str | os.PathLike):
        raise ValueError(
            "data must be a table's name or a path with engine 'spark', and table must be left out."
        )
    with ExitStack() as stack:
        frame = named_frame(stack.enter_context(session_for(engine)), data)
        return replace(_table(frame, engine="spark"), close=stack.pop_all().close)


def _table(frame: Any, *, engine: str) -> Table:
    listed = columns_of(frame)
    if attempt(lambda: bool(frame.isStreaming)):
        raise ValueError(
            "data must be a frame of records that are all there, got a streaming one."
            " Write it to a table or to files, and release from these."
        )

    def plan(places: Sequence[int], query: CountQuery) -> Scan:
        columns = {f"c{place}": listed[place] for place in places}
        kinds = [_DAYS.get(str(column.kind), str(column.kind)) for column in columns.values()]
        # By default Spark stores the type of text of fixed length in its metadata.
        stored = [frame.schema[place].metadata.get(_CHAR) for place in places]
        cells = [
            cell_of(name, char or column.type_name)
            for (name, column), char in zip(columns.items(), stored, strict=True)
        ]
        names = [f"c{place}" for place in range(len(listed))]
        return Scan(
            engine=engine,
            _query=query,
            _read=lambda: _count(frame.toDF(*names), cells, kinds, query),
            _rehearse=lambda: _count(
                _without_records(frame, columns), cells, kinds, query, is_rehearsal=True
            ),
        )

    return Table(columns=listed, plan=plan)


def columns_of(frame: Any) -> tuple[Column, ...]:
    """Return the columns of a frame; nothing is read."""
    listed = attempt(lambda: list(frame.dtypes)) or []
    if not listed or len(dict(listed)) < len(listed):
        raise ValueError("data must have a readable schema with columns of different names.")
    return tuple(
        Column(name=name, kind=kind_of(type_name), type_name=type_name)
        for name, type_name in listed
    )


def _without_records(frame: Any, columns: Mapping[str, Column]) -> Any:
    """Return an empty frame with these columns of a frame, but none of its plan.

    Spark's optimizer computes what is selected from records that a plan holds itself, even if
    none of them is asked for.
    """
    cells = (f"CAST(NULL AS {column.type_name}) AS {name}" for name, column in columns.items())
    return frame.sparkSession.range(0).selectExpr(*cells)


def _count(
    frame: Any,
    cells: Sequence[str],
    kinds: Sequence[str],
    query: CountQuery,
    *,
    is_rehearsal: bool = False,
) -> tuple[Tally | Counts, ...]:
    """Count the records of a frame by each alphabet, within Spark, one query for each batch."""

    def count(batch: Batch) -> tuple[Tally | Counts, ...]:
        has_bins = any(isinstance(axis, Bins) for axis in batch.query.axes)
        statement = people.windowed_query(
            cells,
            _SOURCE,
            kinds=kinds,
            query=query,
            batch=batch,
            dialect=SPARK,
            # With several sets of bins, each would be grouped by every distinct number.
            is_grouped=len(batch.query.alphabets) == 1 or not has_bins,
        )
        letters = _letters(query.letters_in(batch))
        statement = _with_letters(statement, letters)
        if is_rehearsal:
            _refuse_functions(frame.sparkSession, statement)
        # A literal is written by its bytes, so the only braces are those around the source.
        rows = frame.sparkSession.sql(statement, args=letters, source=frame).collect()
        return tables_of(rows, batch.query)

    with quiet():
        return query.in_batches(count)


def _refuse_old_days(session: Any) -> None:
    """Refuse a session that fails on a day or moment of a file if it is old enough."""
    for name in _OLD_DAYS:
        mode = attempt(lambda: session.conf.get(name))  # noqa: B023
        if str(mode).upper() == "EXCEPTION":
            raise ValueError(
                f"the session must read old days in files, but {name} makes one an error."
                " Set it to CORRECTED."
            )


def _refuse_functions(session: Any, statement: str) -> None:
    """Refuse a session in which a function of the program replaces one that the query calls.

    Since Spark 4.2 it does so only if the session says so.
    """
    order = attempt(lambda: session.conf.get("spark.sql.functionResolution.sessionOrder"))
    path = attempt(lambda: session.conf.get("spark.sql.path.enabled"))
    if order in {"second", "last"} and path != "true":
        return
    for name in sorted({found.lower() for found in _FUNCTION.findall(statement)}):
        described = attempt(lambda: session.sql(f"DESCRIBE FUNCTION {name}").collect())  # noqa: B023
        # What is not found is part of the syntax.
        if described and not any(row[0].startswith(_OWN) for row in described):
            raise ValueError(
                f"the session must have Spark's own function {name}, but the program has registered"
                " another one under this name. Drop it, or register it under another name."
            )


def _letters(lists: dict[int, list[str]]) -> dict[str, str]:
    """Return each list of letters as one text; Spark stores only valid Unicode."""
    return {
        f"letters{place}": b64encode(
            json.dumps(list(filter(_is_unicode, listed))).encode()
        ).decode()
        for place, listed in lists.items()
    }


def _with_letters(statement: str, names: Iterable[str]) -> str:
    """Return a query with lists of letters as tables; in it each would be an expression."""
    tables = ", ".join(
        f"{name} AS (SELECT {_LETTERS.replace('{}', name)} AS letter)" for name in names
    )
    return f"WITH {tables} {statement}" if tables else statement


def _is_unicode(text: str) -> bool:
    return text.encode(errors="replace").decode() == text


@contextmanager
def session_for(engine: str) -> Iterator[Any]:
    """Yield a session on this machine or cluster: the open one, or one for this scan alone."""
    cluster = engine.removeprefix("spark:")
    master = None if cluster == "spark" else engine if cluster.startswith("//") else cluster
    if master is not None and not _MASTER.fullmatch(master):
        condition = "look like spark, spark:local[2] or spark://host:7077"
        raise ValueError(refusal("engine", condition, engine))
    SparkSession = load("pyspark.sql", extra="spark").SparkSession  # noqa: N806 - a class
    name = f"dproo-{uuid4()}"

    def started() -> Any:
        builder = SparkSession.builder.master(master or LOCAL).appName(name)
        return builder.config(map=_CONFIG).getOrCreate()

    sentence = refusal("engine", "be a Spark cluster that answers", engine)
    session = SparkSession.getActiveSession() or required(started, sentence)
    is_ours = session.sparkContext.appName == name
    if master is not None and session.sparkContext.master != master:
        raise ValueError(refusal("engine", "be the cluster of the open session", engine))
    try:
        if is_ours:
            session.sparkContext.setLogLevel("OFF")  # the error of a task could quote a cell
        yield session
    finally:
        if is_ours:
            session.stop()


# Neither the name of a folder nor one file among others decides how the rest is read: no name is a
# pattern or becomes a column, and files that do not fit together are an error. An old day is the
# one that every other reader sees.
_OPTIONS = {
    "__globPaths__": "false",
    "recursiveFileLookup": "true",
    "mergeSchema": "true",
    "ignoreCorruptFiles": "false",
    "ignoreMissingFiles": "false",
    "datetimeRebaseMode": "CORRECTED",
    "int96RebaseMode": "CORRECTED",
}


def named_frame(session: Any, data: str | os.PathLike[str]) -> Any:
    """Return the frame of a table, or of Parquet files; no record is read.

    A name with a slash, or of a file here, is a path; any other is the name of a table, such as
    ``visits`` or ``clinic.visits``. On this machine, a path means the same files as without Spark.
    """
    path = os.fspath(data)
    is_path = "/" in path or os.path.exists(path)  # noqa: PTH110 - it may not be a local path
    condition = "be a Parquet folder that Spark can read" if is_path else "be a table of Spark"
    sentence = refusal("data", condition, path)
    required(lambda: session.range(1).count(), sentence)  # a silent cluster fails before the charge
    if not is_path:
        _refuse_old_days(session)
        return required(lambda: session.table(path), sentence)
    local = required(lambda: _local_path(session, path), sentence)
    paths, empty = _files_of(local) if local else ([path], [])
    frame = required(lambda: _parquet(session, paths), sentence)
    if isinstance(frame, str):
        raise ValueError(frame)  # noqa: TRY004 - a refusal
    urls = map(urlsplit, frame.inputFiles())
    read = [unquote(url.path) for url in urls if url.scheme == "file"]  # of this machine
    refuse_tables(read)
    if local and sorted(read) != sorted(paths):
        raise ValueError(sentence)
    return _without_types(frame, empty)


def _parquet(session: Any, paths: Sequence[str]) -> Any:
    """Return the frame of Parquet files, or the sentence that refuses their types."""
    try:
        return session.read.options(**_OPTIONS).parquet(*paths)
    except Exception as error:
        condition = getattr(error, "getCondition", lambda: "")()
        if condition in _NO_TYPE:
            return _UNTYPED
        raise


def _without_types(frame: Any, names: Sequence[str]) -> Any:
    """Return a frame with these columns, which have no value, as text: Spark reads integers."""
    if not names:
        return frame
    functions = load("pyspark.sql.functions", extra="spark")
    return frame.withColumns({name: functions.lit(None).cast("string") for name in names})


def _files_of(path: str) -> tuple[list[str], list[str]]:
    """Return the files that a path of this machine means, each once, if Spark can read them all.

    The columns without values follow.
    """
    names = [str(Path(name).absolute()) for name in paths_of(path)]
    refuse_tables(names)
    if any(Path(name).name.startswith(("_", ".")) or ":" in name for name in names):
        raise ValueError(
            "data must be files that Spark reads: their names begin with neither a dot nor an"
            " underline, and hold no colon. Rename them, or leave engine out."
        )
    by_identity = {(s.st_dev, s.st_ino): name for name in names for s in [os.stat(name)]}  # noqa: PTH116
    files = list(by_identity.values())
    return files, require_same_columns(files, but=_UNREADABLE)


def _local_path(session: Any, path: str) -> str:
    """Return the path if it is on this machine, or '' if it is elsewhere."""
    scheme, colon, rest = path.partition(":")
    if colon and "/" not in scheme and not os.path.exists(path):  # noqa: PTH110 - of any name
        return f"/{rest.lstrip('/')}" if scheme == "file" else ""
    default = session.sparkContext._jsc.hadoopConfiguration().get("fs.defaultFS")  # noqa: SLF001
    return path if urlsplit(default).scheme == "file" else ""


_ERRORS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
_ANSWERS = ("py4j.clientserver", "py4j.java_gateway")
_is_reading: ContextVar[bool] = ContextVar("is_reading", default=False)


def _passes(_record: object) -> bool:
    return not _is_reading.get()


@contextmanager
def quiet() -> Iterator[None]:
    """Drop what this thread logs through Spark's loggers of failed queries and of results."""
    from pyspark.logger import PySparkLogger  # noqa: PLC0415 - loaded where Spark is

    loggers = [*map(PySparkLogger.getLogger, _ERRORS), *map(logging.getLogger, _ANSWERS)]
    for logger in loggers:
        logger.addFilter(_passes)  # the same filter is added only once
    token = _is_reading.set(True)
    try:
        yield
    finally:
        _is_reading.reset(token)
