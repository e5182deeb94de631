"""Whether the long tests run too (``make soak``), and which cases a short run takes."""

import os
import random
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TypeVar

SOAK = os.environ.get("DPROO_SOAK") == "1"

Case = TypeVar("Case")


def _commit() -> str:
    """Return the commit, or nothing outside a clone: a red run can then be repeated as it was."""
    command = ["git", "rev-parse", "HEAD"]
    here = Path(__file__).parent
    try:
        return subprocess.run(command, cwd=here, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


COMMIT = _commit()


def some(cases: Iterable[Case], *, one_of: int) -> list[Case]:
    """Return one of so many cases where the whole suite runs, others at each commit, or all.

    All of them are there in the long tests, and where a test is run by itself.
    """
    known = list(cases)
    if SOAK or "PYTEST_XDIST_TESTRUNUID" not in os.environ:
        return known
    drawn = set(random.Random(COMMIT).sample(range(len(known)), -(-len(known) // one_of)))  # noqa: S311
    return [case for place, case in enumerate(known) if place in drawn]


def few(cases: Iterable[Case], number: int) -> list[Case]:
    """Return so many cases, others at each commit, or all of them in the long tests."""
    known = list(cases)
    dice = _dice_of(os.environ.get("PYTEST_CURRENT_TEST", ""))
    return known if SOAK else dice.sample(known, min(number, len(known)))


@cache
def _dice_of(test: str) -> random.Random:
    return random.Random(f"{COMMIT}{test}")  # noqa: S311 - which cases run is no secret
