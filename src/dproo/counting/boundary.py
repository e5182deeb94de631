"""The boundary around private data, and around libraries that must not be interrupted.

No exception raised inside leaves it; an interrupt does, even if a library replaced it. Libraries
and memory are obtained before a charge, or the release is refused: a C library that is loaded when
memory is short, or interrupted while it loads, may end the whole process. So the memory is checked
first, and the library is loaded where no interrupt arrives.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar, copy_context
from functools import wraps
from importlib import import_module
from math import inf
from mmap import mmap
from threading import Lock, Thread, current_thread, main_thread
from time import monotonic
from types import ModuleType
from typing import Any, Generic, ParamSpec, TypeVar, cast

from dproo.errors import LedgerError, ReleaseError, UnpreparedError

Given = ParamSpec("Given")
Result = TypeVar("Result")

MEBIBYTE = 1 << 20
LIBRARY = 384
"""Mebibytes of addresses that a library may take; unused addresses cost nothing."""

_INTERRUPTS = (KeyboardInterrupt, SystemExit)
_HANDLED: ContextVar[BaseException | None] = ContextVar("handled", default=None)
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
    token = _HANDLED.set(handled)
    try:
        return action()
    except BaseException as raised:  # noqa: BLE001 - the caller reports what failed
        interrupt = interrupt_in(raised, but=handled)
    finally:
        _HANDLED.reset(token)
    if interrupt is not None:
        raise interrupt(1) if interrupt is SystemExit else interrupt
    return None


def required(action: Callable[[], Result], sentence: str) -> Result:
    """Return the result of an action; if it fails in any way, refuse in our own words."""
    found = attempt(action)
    if found is None:
        raise ValueError(sentence)
    return found


def refusing(action: Callable[Given, Result]) -> Callable[Given, Result]:
    """Return an action that comes before the charge; a failure that is no refusal becomes one."""

    @wraps(action)
    def refused(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        try:
            return action(*args, **kwargs)
        except (TypeError, ValueError, LedgerError):
            raise
        except BaseException as error:
            if interrupt_in(error) is not None:
                raise
            refusal = UnpreparedError(unprepared(error))
        raise refusal

    return refused


def unprepared(error: BaseException) -> str:
    """Return why a release cannot be prepared, without a word of a library."""
    if isinstance(error, ReleaseError):
        why = str(error).rstrip(".")
    elif isinstance(error, ImportError):
        why = f"{error.name or 'a library'} cannot be loaded; install it again"
    elif isinstance(error, MemoryError):
        why = "there is too little memory; free some, or raise the limit (ulimit -v)"
    elif isinstance(error, OSError) and error.errno:
        why = f"the system refuses what it needs ({os.strerror(error.errno)})"
    else:
        why = f"something that it needs fails ({type(error).__name__})"
    return f"the release cannot be prepared: {why}. Nothing was read or charged."


def pass_over(error: BaseException) -> None:
    """Ignore what a cell raises, be it a panic, unless it is an interrupt.

    An interrupt that the cell itself raises looks like Ctrl-C, so it ends the count.
    """
    interrupt = interrupt_in(error, but=_HANDLED.get())
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
    errand = _Errand(action)
    interrupt = None
    try:
        Thread(target=errand.run, name="dproo-engine", daemon=True).start()
        errand.wait()
    except BaseException as error:
        errand.give_up(stop)
        interrupt = interrupt_in(error)
        if interrupt is None or isinstance(error, interrupt):
            raise
    if interrupt is not None:  # it became another error in whatever was waiting
        raise interrupt
    return errand.result


class _Errand(Generic[Result]):
    """An action of another thread, for which a thread waits that signals interrupt.

    It waits for a bare lock: an ``Event`` has one of its own, which a second interrupt may leave
    held, or turn into an error.
    """

    def __init__(self, action: Callable[[], Result]) -> None:
        self._action, self._context = action, copy_context()
        self._outcome: list[tuple[Any, BaseException | None]] = []
        self._claims: list[str] = []  # the first one decides whether the action runs
        self._running = Lock()
        self._running.acquire()

    def run(self) -> None:
        """Run the action, unless it was given up before."""
        self._claims.append("run")
        try:
            if self._claims[0] == "run":
                self._outcome.append((self._context.run(self._action), None))
        except BaseException as error:  # noqa: BLE001 - raised in the waiting thread
            self._outcome.append((None, error))
        finally:
            self._running.release()

    def wait(self) -> None:
        """Wait for its end; a signal that strikes just before a wait does not end that wait."""
        while not self._running.acquire(timeout=_AGAIN):
            pass

    def give_up(self, stop: Callable[[], object] | None) -> None:
        """Keep the action from running; if it runs, stop it, and wait for its end."""
        self._claims.append("give up")
        until = inf if stop is None else monotonic() + _PATIENCE
        while self._claims[0] == "run" and not self._outcome and monotonic() < until:
            if stop is not None:
                attempt(stop)
            self._running.acquire(timeout=_AGAIN)

    @property
    def result(self) -> Result:
        """What the action returned; what it raised is raised."""
        ((result, error),) = self._outcome
        if error is not None:
            raise error
        return cast("Result", result)


# Libraries


def load(name: str, *, extra: str = "", room: int = LIBRARY) -> ModuleType:
    """Return a library, loading it if necessary.

    Args:
        name: the name of the module.
        extra: this package's extra that installs it, if it is optional.
        room: the mebibytes of addresses that must be free for it.
    """
    if (ready := loaded(name)) is not None:
        return ready
    require_room(room)
    found, failure = None, ""
    try:
        found = apart(lambda: import_module(name))
    except MemoryError:
        failure = (
            "the release cannot be prepared: there is too little memory; free some, or raise the"
            " limit (ulimit -v). Nothing was read or charged."
        )
    except Exception as error:  # noqa: BLE001 - a library may fail in any way
        is_missing = isinstance(error, ModuleNotFoundError) and name.startswith(error.name or " ")
        library = name.partition(".")[0]
        if is_missing and extra:
            failure = f"{library} must be installed for this: pip install 'dproo[{extra}]'."
        else:
            failure = (
                f"the release cannot be prepared: {library} cannot be loaded; install it again."
                " Nothing was read or charged."
            )
    if found is None:
        raise UnpreparedError(failure)
    return found


class Lazy:
    """An optional library, which is imported where it is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


def loaded(name: str) -> ModuleType | None:
    """Return a library if it has been loaded, to its end: another thread may still be at it."""
    found = sys.modules.get(name)
    is_begun = getattr(getattr(found, "__spec__", None), "_initializing", False)
    return None if is_begun else found


def require_room(mebibytes: int) -> None:
    """Refuse if a limit on addresses leaves less than this; without a limit, always pass."""
    if not _is_limited():
        return
    try:
        mmap(-1, mebibytes * MEBIBYTE).close()
    except (OSError, MemoryError):
        pass
    else:
        return
    raise UnpreparedError(
        f"the release cannot be prepared: it needs {mebibytes:,} MiB of addresses, and the limit"
        " leaves less; raise it (ulimit -v). Nothing was read or charged."
    )


def _is_limited() -> bool:
    with suppress(ImportError, OSError, ValueError):  # not a POSIX system
        import resource  # noqa: PLC0415 - only POSIX has it

        return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
    return False
