"""What a run draws: which cases it takes, and the dice that choose the rest.

Each commit draws anew, and draws the same wherever it is tested, so that a red run can be repeated;
the long tests (``make soak``) take every case, and draw anew each time. ``DPROO_SEED`` repeats one.
"""

from __future__ import annotations

import os
import random
import secrets
import subprocess
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import numpy as np

SOAK = os.environ.get("DPROO_SOAK") == "1"
IN_FULL = SOAK or "PYTEST_XDIST_TESTRUNUID" not in os.environ
"""Whether every case is taken: in the long tests, and where a test is run by itself."""

Case = TypeVar("Case")
Made = TypeVar("Made")


def _commit() -> str:
    """Return the commit, or nothing outside a clone."""
    command = ["git", "rev-parse", "HEAD"]
    here = Path(__file__).parent
    try:
        done = subprocess.run(command, cwd=here, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


SEED = os.environ.setdefault("DPROO_SEED", secrets.token_hex(8) if SOAK else _commit())


def dice_of(name: str) -> random.Random:
    """Return dice that fall the same way for the same name in the same run."""
    return random.Random(f"{SEED} {name}")  # noqa: S311 - what a test tries is no secret


DICE = dice_of("")
"""The dice of the test that runs; ``conftest.py`` throws them anew for each."""


def numbers() -> np.random.Generator:
    """Return numpy's dice of the test that runs."""
    import numpy as np  # noqa: PLC0415 - a mutant's test waits for every import

    return np.random.default_rng(DICE.getrandbits(64))


def some(cases: Iterable[Case], *, one_of: int) -> list[Case]:
    """Return one of so many cases where the whole suite runs, others at each commit, or all."""
    known = list(cases)
    if IN_FULL:
        return known
    drawn = set(dice_of("some").sample(range(len(known)), -(-len(known) // one_of)))
    return [case for place, case in enumerate(known) if place in drawn]


def few(cases: Iterable[Case], number: int) -> list[Case]:
    """Return so many cases, others at each commit, or all of them in the long tests."""
    known = list(cases)
    return known if SOAK else DICE.sample(known, min(number, len(known)))


def few_made(
    cases: Iterable[Case], number: int, make: Callable[[Case], Made | None]
) -> Iterator[Made]:
    """Yield what so many cases become, or all; a case that becomes nothing does not count."""
    known = list(cases)
    found = (made for case in DICE.sample(known, len(known)) if (made := make(case)) is not None)
    yield from found if SOAK else islice(found, number)
