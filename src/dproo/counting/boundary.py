"""The boundary around private data, and around what must not be struck by an interrupt.

No exception that is raised inside leaves it; an interrupt does, whatever a library made of it.
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
_PATIENCE = 1.0  # seconds for which a query that was told to stop is waited for
_AGAIN = 0.02  # a query that has not begun forgets that it was told


def attempt(action: Callable[[], Result]) -> Result | None:
    """Return the result of an action, None if it fails in any way.

    The panics of Polars and Arrow are caught too, though they are not an ``Exception``. An
    interrupt is raised again as a new one, without a cause or its message, even if a library
    turned it into an error of its own.
    """
    interrupt: type[BaseException] | None = None
    handled = sys.exception()  # of a caller that releases while it handles an exception
    try:
        return action()
    except BaseException as raised:  # noqa: BLE001 - the caller says what failed, in its own words
        interrupt = interrupt_in(raised, but=handled)
    if interrupt is not None:
        raise interrupt(1) if interrupt is SystemExit else interrupt
    return None


def interrupt_in(
    error: BaseException | None, *, but: BaseException | None = None
) -> type[BaseException] | None:
    """Return the kind of interrupt that an error is, or was raised because of.

    Args:
        error: the error.
        but: an exception from before, which has nothing to do with it.

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

    Signals reach only the main thread, so an interrupt cannot strike inside the action: code in C
    that is interrupted while it is loaded aborts the process, and a query in C does not notice.

    Args:
        action: what to run. From another thread than the main one it is run there.
        stop: makes the action end soon. Without it, an interrupt is raised when the action has
            ended; with it, at most a second later, whether the action has ended or not.
    """
    if current_thread() is not main_thread():
        return action()
    outcome: list[tuple[Any, BaseException | None]] = []
    is_over = Event()
    context = copy_context()

    def work() -> None:
        try:
            outcome.append((context.run(action), None))
        except BaseException as error:  # noqa: BLE001 - raised below, in the thread that waits
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
