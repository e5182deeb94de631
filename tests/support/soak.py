"""Whether the long tests run too: ``make soak`` asks for them."""

import os
import random
from collections.abc import Iterable
from typing import TypeVar

SOAK = os.environ.get("DPROO_SOAK") == "1"

Case = TypeVar("Case")


def some(cases: Iterable[Case], *, one_of: int) -> list[Case]:
    """Return one of so many cases where the whole suite runs, drawn anew each time, or all.

    All of them are there in the long tests, and where a test is run by itself.
    """
    known = list(cases)
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")  # every worker must draw the same
    if SOAK or run is None:
        return known
    drawn = set(random.Random(run).sample(range(len(known)), -(-len(known) // one_of)))  # noqa: S311
    return [case for place, case in enumerate(known) if place in drawn]


def few(cases: Iterable[Case], number: int) -> list[Case]:
    """Return so many cases, drawn anew each time, or all of them in the long tests."""
    known = list(cases)
    return known if SOAK else random.sample(known, min(number, len(known)))
