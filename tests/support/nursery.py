"""Processes in which another copy of the package is tested, each begun in a moment.

They are forked off one process that has loaded pytest and the libraries of the tests, and not
the package itself.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from pathlib import Path

import pytest

LIBRARIES = [
    *("pytest", "hypothesis.strategies", "numpy", "scipy.stats", "duckdb", "click"),
    *("pandas", "polars", "pyarrow.parquet", "psycopg", "starlette.applications", "uvicorn"),
]
PATIENCE = 900
BROKEN = 70
"""The exit code where pytest itself did not come to an end."""

# Nobody reads the messages: assertions stay as they are written, which halves the time of a test.
WITHOUT = "cacheprovider", "unraisableexception", "threadexception", "faulthandler", "doctest"
BARE = "-x", "-q", "--assert=plain", "-o", "addopts=", *(f"-pno:{name}" for name in WITHOUT)

_nursery = multiprocessing.get_context("forkserver")
_nursery.set_forkserver_preload(LIBRARIES)


def outcome(package: Path, test: Path, log: Path, *options: str) -> int | None:
    """Return the exit code of pytest on a test, with the ``dproo`` of this folder.

    Args:
        package: the folder that the package is in.
        test: the file of the test, or the test itself.
        log: the file to write what pytest prints to.
        options: of pytest.
    """
    child = _nursery.Process(target=_test, args=(package, test, log, options), daemon=True)
    child.start()
    child.join(PATIENCE)
    return child.exitcode


def _test(package: Path, test: Path, log: Path, options: tuple[str, ...]) -> None:
    code = BROKEN
    try:
        assert "dproo" not in sys.modules
        sys.path.insert(0, str(package))
        sys.dont_write_bytecode = True
        os.environ |= {
            "PYTHONPATH": str(package),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "DPROO_SETTINGS": "2000",  # a mutant must be found among them
        }
        os.environ.pop("PYTEST_XDIST_TESTRUNUID", None)  # else a killer may not be drawn
        os.chdir(Path(__file__).parents[2])
        output = os.open(log, os.O_WRONLY | os.O_CREAT)
        os.dup2(output, 1)
        os.dup2(output, 2)
        code = pytest.main([*BARE, *options, str(test)])
    finally:
        os._exit(code)
