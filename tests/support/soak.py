"""Whether the long tests run too: ``make soak`` asks for them."""

import os
import random
from collections.abc import Iterable
from typing import TypeVar

SOAK = os.environ.get("DPROO_SOAK") == "1"

Case = TypeVar("Case")


def some(cases: Iterable[Case], *, one_of: int) -> list[Case]:
    """Return one of so many cases, drawn anew at each run, or all of them in the long tests."""
    known = list(cases)
    if SOAK:
        return known
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")  # every worker must draw the same
    drawn = set(random.Random(run).sample(range(len(known)), -(-len(known) // one_of)))  # noqa: S311
    return [case for place, case in enumerate(known) if place in drawn]
