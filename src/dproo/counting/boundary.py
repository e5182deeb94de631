"""The boundary around private data, and around code that must not be interrupted.

No exception raised inside leaves it; an interrupt does, even if a library replaced it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextvars import copy_context
from threading import Event, Thread, current_thread, main_thread
from time import monotonic
from typing import Any, TypeVar

Result = TypeVar("Result")

_INTERRUPTS = (KeyboardInterrupt, SystemExit, GeneratorExit)
_PATIENCE = 1.0  # seconds to wait for a query to stop
_AGAIN = 0.02  # seconds; a query that has not begun ignores a stop


def attempt(action: Callable[[], Result]) -> Result | None:
    """Return the result of an action, or None if it fails in any way.

    The panics of Polars and Arrow are caught too, though they are not an ``Exception``. An
    interrupt is raised anew, without its cause or message, even if a library turned it into an
    error of its own.
    """
    interrupt: type[BaseException] | None = None
    handled = sys.exception()  # set if the caller is handling an exception
    try:
        return action()
    except BaseException as raised:  # noqa: BLE001 - the caller reports what failed
        interrupt = interrupt_in(raised, but=handled)
    if interrupt is not None:
        raise interrupt(1) if interrupt is SystemExit else interrupt
    return None


def required(action: Callable[[], Result], sentence: str) -> Result:
    """Return the result of an action; if it fails in any way, refuse in our own words."""
    found = attempt(action)
    if found is None:
        raise ValueError(sentence)
    return found


def pass_over(error: BaseException) -> None:
    """Ignore what a cell raises, be it a panic, unless it is an interrupt."""
    interrupt = interrupt_in(error)
    if interrupt is not None:
        raise interrupt


def interrupt_in(
    error: BaseException | None, *, but: BaseException | None = None
) -> type[BaseException] | None:
    """Return the kind of interrupt that an error is or was caused by.

    An earlier exception, ``but``, is ignored.

    >>> try:
    ...     try:
    ...         raise KeyboardInterrupt
    ...     finally:
    ...         raise RuntimeError("Query interrupted")
    ... except RuntimeError as error:
    ...     interrupt_in(error)
    <class 'KeyboardInterrupt'>
    """
    seen: set[int] = set()
    while error is not None and error is not but and id(error) not in seen:
        seen.add(id(error))
        for kind in _INTERRUPTS:
            if isinstance(error, kind):
                return kind
        error = error.__cause__ or error.__context__
    return None


def apart(action: Callable[[], Result], *, stop: Callable[[], object] | None = None) -> Result:
    """Run an action in a thread of its own, while the main thread waits for it.

    Signals reach only the main thread, so an interrupt cannot strike inside the action: a C
    library interrupted while it loads aborts the process, and a query in C ignores interrupts.

    Args:
        action: what to run; outside the main thread it runs in the caller's thread.
        stop: makes the action end soon. Without it, an interrupt is raised once the action has
            ended; with it, within a second, whether or not the action has ended.
    """
    if current_thread() is not main_thread():
        return action()
    outcome: list[tuple[Any, BaseException | None]] = []
    is_over = Event()
    context = copy_context()

    def work() -> None:
        try:
            outcome.append((context.run(action), None))
        except BaseException as error:  # noqa: BLE001 - raised below, in the waiting thread
            outcome.append((None, error))
        finally:
            is_over.set()

    thread = Thread(target=work, name="dproo-engine", daemon=True)
    try:
        thread.start()
        is_over.wait()
    except BaseException:
        if thread.ident is not None:
            _wait_for(is_over, stop)
        raise
    ((result, error),) = outcome
    if error is not None:
        raise error
    return result  # type: ignore[no-any-return]


def _wait_for(is_over: Event, stop: Callable[[], object] | None) -> None:
    if stop is None:
        is_over.wait()
        return
    until = monotonic() + _PATIENCE
    while not is_over.is_set() and monotonic() < until:
        attempt(stop)
        is_over.wait(_AGAIN)
