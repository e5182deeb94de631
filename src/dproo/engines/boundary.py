"""The boundary around private data: no exception raised inside leaves it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

_INTERRUPTS = (KeyboardInterrupt, SystemExit, GeneratorExit)


def attempt(action: Callable[[], Result]) -> Result | None:
    """Return the result of an action, nothing if it fails in any way.

    The panics of Polars and Arrow are caught too, though they are not an ``Exception``. An
    interrupt is raised again as a new one, without a cause or its message.
    """
    interrupt: type[BaseException] | None = None
    try:
        return action()
    except _INTERRUPTS as raised:
        interrupt = next(kind for kind in _INTERRUPTS if isinstance(raised, kind))
    except BaseException:  # noqa: BLE001, S110 - the caller says what failed, in its own words
        pass
    if interrupt is not None:
        raise interrupt(1) if interrupt is SystemExit else interrupt
    return None
