"""Spark by name: a table of its catalogue, or Parquet files, on this machine or a cluster.

What is counted, and how, is the affair of :mod:`dproo.engines.spark_frames`: one exact aggregate
that Spark materialises once. A task that is repeated, because its machine died or because
another was asked to be faster, gives one result to it, never two.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, cast
from uuid import uuid4

from dproo.core.checks import refusal
from dproo.core.counts import Counts
from dproo.engines import spark_frames
from dproo.engines.asked import Asked
from dproo.engines.fit import check_fit
from dproo.engines.loading import load
from dproo.engines.scan import Scan
from dproo.engines.tally import Tally

LOCAL = "local[*]"

_MASTER = re.compile(r"local(\[[0-9*, ]+\])?|(spark|k8s)://\S+|yarn")
_CONFIG: dict[str, Any] = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}


def open_scan(data: Any, asked: Asked) -> Scan | None:
    """Return the scan of a table or files by Spark, or nothing if it is not asked for.

    Raises:
        ValueError: Spark cannot read them, or a column is not there or holds no letters.
    """
    if asked.engine != "spark":
        return None
    if asked.table is not None or not isinstance(data, str | os.PathLike):
        raise ValueError(
            "data must be a table's name or a path with engine 'spark', and table must be left out."
        )
    with ExitStack() as stack:
        session = stack.enter_context(session_for(asked.master))
        frame = cast("spark_frames.Frame", spark_frames.to_frame(open_table(session, data)))
        found = spark_frames.check_frame(frame, asked.read)
        warnings = check_fit(found, asked.axes)
        held = stack.pop_all()

    names = [column.name for column in found]

    def read() -> tuple[Tally | Counts, ...]:
        with held:
            return spark_frames.count_frame(frame, columns=names, asked=asked)

    return Scan(
        engine="spark",
        columns=tuple(found[: len(asked.axes)]),
        warnings=warnings,
        _asked=asked,
        _read=read,
        _rehearse=lambda: spark_frames.rehearse_frame(frame, columns=names, asked=asked),
    )


@contextmanager
def session_for(master: str | None) -> Iterator[Any]:
    """Yield a session on this master: the one that is open, or one for this scan alone.

    Raises:
        ValueError: it is no master, it does not answer, or another one is open.
    """
    if master is not None and not _MASTER.fullmatch(master):
        raise ValueError(refusal("master", "look like local[2] or spark://host:7077", master))
    SparkSession = load("pyspark.sql", extra="spark").SparkSession  # noqa: N806 - a class
    name = f"dproo-{uuid4()}"
    session = SparkSession.getActiveSession() or _started(master or LOCAL, name)
    if session is None:
        raise ValueError(refusal("master", "be a Spark cluster that answers", master))
    is_ours = session.sparkContext.appName == name
    if master is not None and session.sparkContext.master != master:
        raise ValueError(refusal("master", "be the master of the open session", master))
    try:
        if is_ours:
            session.sparkContext.setLogLevel("OFF")  # the error of a task could quote a cell
        yield session
    finally:
        if is_ours:
            session.stop()


def _started(master: str, name: str) -> Any:
    from pyspark.sql import SparkSession  # noqa: PLC0415 - an extra

    try:
        return SparkSession.builder.master(master).appName(name).config(map=_CONFIG).getOrCreate()
    except Exception:  # noqa: BLE001 - the engine's own words, and pages of them
        return None


def open_table(session: Any, data: str | os.PathLike[str]) -> Any:
    """Return the frame of a table, or of Parquet files; no record is read.

    Args:
        session: an open session.
        data: with a slash in it, or of a file that is here, the path of Parquet files; else
            the name of a table, ``visits`` or ``clinic.visits``.

    Raises:
        ValueError: the session knows no such table, or can read no such files.
    """
    path = os.fspath(data)
    is_path = "/" in path or os.path.exists(path)  # noqa: PTH110 - it may be no local path at all
    frame = None
    try:
        session.range(1).count()  # a cluster that does not answer should cost nothing
        frame = session.read.parquet(path) if is_path else session.table(path)
    except Exception:  # noqa: BLE001, S110 - the message could quote what is in there
        pass
    if frame is None:
        what = "be a Parquet folder that Spark can read" if is_path else "be a table of Spark"
        raise ValueError(refusal("data", what, path))
    return frame
