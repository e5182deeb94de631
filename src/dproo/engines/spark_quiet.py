"""What Spark says of a query that failed, kept back while we read: it quotes cells.

Only records of the thread that reads are dropped; those of others pass as they would.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_ERRORS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
_ANSWERS = ("py4j.clientserver", "py4j.java_gateway")
_is_reading: ContextVar[bool] = ContextVar("is_reading", default=False)


def _passes(_record: object) -> bool:
    return not _is_reading.get()


@contextmanager
def quiet() -> Iterator[None]:
    """Drop what Spark's loggers of failed queries and of answers are told by this thread."""
    from pyspark.logger import PySparkLogger  # noqa: PLC0415 - loaded where Spark is

    loggers = [*map(PySparkLogger.getLogger, _ERRORS), *map(logging.getLogger, _ANSWERS)]
    for logger in loggers:
        logger.addFilter(_passes)  # once, however often it is asked for
    token = _is_reading.set(True)
    try:
        yield
    finally:
        _is_reading.reset(token)
