"""The boundary around private data, and around libraries that must not be interrupted.

No exception crosses it but an interrupt, even one that a library has replaced. Libraries and
memory are obtained before a charge, or the release is refused. A C library that is interrupted
while it loads, or lacks memory, may end the whole process: so memory is checked first, and the
library is loaded in a thread that no interrupt reaches.
"""

from __future__ import annotations

import mmap
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar, copy_context
from functools import partial, wraps
from importlib import import_module
from math import inf
from threading import Lock, Thread, current_thread, main_thread
from time import monotonic
from traceback import walk_tb
from types import CodeType, ModuleType
from typing import Any, Generic, ParamSpec, TypeVar, cast

from dproo.core.checks import uninstalled
from dproo.errors import LedgerError, ReleaseError, UnpreparedError

Given = ParamSpec("Given")
Result = TypeVar("Result")

MEBIBYTE = 1 << 20
LIBRARY = 384
"""Mebibytes of addresses that a library may take; unused addresses cost nothing."""

_INTERRUPTS = (KeyboardInterrupt, SystemExit)
_HANDLED: ContextVar[BaseException | None] = ContextVar("handled", default=None)
_PATIENCE = 1.0  # seconds to wait for a query to stop
_AGAIN = 0.02  # seconds between attempts; a query that has not started ignores a stop


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
        raise anew(interrupt)
    return None


def required(action: Callable[[], Result], sentence: str) -> Result:
    """Return the result of an action; if it fails in any way, refuse with this sentence."""
    result = attempt(action)
    if result is None:
        raise ValueError(sentence)
    return result


def refusing(action: Callable[Given, Result]) -> Callable[Given, Result]:
    """Decorate an action before the charge: any failure of it becomes a refusal."""

    @wraps(action)
    def refused(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        try:
            return action(*args, **kwargs)
        except (TypeError, ValueError, LedgerError):
            raise
        except BaseException as error:
            if interrupt_in(error) is not None:
                raise
            refusal = unprepared(error)
        raise refusal

    return refused


def unprepared(error: BaseException) -> UnpreparedError:
    """Return the refusal of a release that cannot be prepared."""
    return _refusal(_reason(error))


def _refusal(reason: str) -> UnpreparedError:
    return UnpreparedError(
        f"the release cannot be prepared: {reason}. Nothing was read or charged."
    )


def _reason(error: BaseException) -> str:
    """Return why a release cannot be prepared, without quoting a library."""
    if isinstance(error, ReleaseError):
        return str(error).rstrip(".")
    if isinstance(error, ImportError):
        return f"{error.name or 'a library'} cannot be loaded; install it again"
    if isinstance(error, MemoryError):
        return "there is too little memory; free some, or raise the limit (ulimit -v)"
    if isinstance(error, OSError) and error.errno:
        return f"the system refuses what it needs ({os.strerror(error.errno)})"
    return f"something that it needs fails ({type(error).__name__})"


def pass_over(error: BaseException) -> None:
    """Ignore any error that a cell raises, even a panic, but not an interrupt.

    An interrupt that the cell itself raises cannot be told from Ctrl-C, so it ends the count. So
    does what the program's own handler of a signal raises while the cell is read.
    """
    interrupt = interrupt_in(error, but=_HANDLED.get())
    if interrupt is not None:
        raise anew(interrupt)
    if _is_of_a_handler(error):
        raise error


def _is_of_a_handler(error: BaseException) -> bool:
    own = {_code(signal.getsignal(number)) for number in signal.valid_signals()} - {None}
    return any(frame.f_code in own for frame, _ in walk_tb(error.__traceback__))


def _code(handler: Any) -> CodeType | None:
    """Return the code of a handler: a function, a method, a partial one, or a callable object."""
    while isinstance(handler, partial):
        handler = handler.func
    for one in (handler, type(handler).__call__ if callable(handler) else None):
        if code := getattr(getattr(one, "__func__", one), "__code__", None):
            return cast("CodeType", code)
    return None


def interrupt_in(
    error: BaseException | None, *, but: BaseException | None = None
) -> type[BaseException] | None:
    """Return the type of the interrupt that an error is, or was caused by; ignore ``but``.

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


def anew(interrupt: type[BaseException]) -> BaseException:
    """Return an interrupt without a message; an exit is never taken for success."""
    return interrupt(1) if interrupt is SystemExit else interrupt()


def apart(
    action: Callable[[], Result],
    *,
    stop: Callable[[], object] | None = None,
    is_due: bool = False,
) -> Result:
    """Run an action in a thread of its own, while the main thread waits for it.

    Signals reach only the main thread, so an interrupt cannot strike inside the action: a C
    library interrupted while it loads aborts the process, and a query in C ignores interrupts.

    Args:
        action: what to run; if the caller is not the main thread, it runs there.
        stop: makes the action end soon. Without it, an interrupt is raised once the action has
            ended; with it, after at most a second.
        is_due: whether it runs here if the system has no thread for it.
    """
    if current_thread() is not main_thread():
        return action()
    errand = _Errand(action)
    interrupt = None
    try:
        _start(errand, is_due=is_due)
        errand.wait()
    except BaseException as error:
        errand.give_up(stop)
        interrupt = interrupt_in(error)
        if interrupt is None or isinstance(error, interrupt):
            raise
    if interrupt is not None:  # it became another error in whatever was waiting
        raise anew(interrupt)
    return errand.result


def interruptible(action: Callable[[], Result]) -> Result:
    """Run an action here; an interrupt in it is raised, whatever a library has made of it.

    C code that calls Python, as Arrow and DuckDB do to read a stream, replaces its exceptions.
    """
    handlers: dict[signal.Signals, tuple[Any, Any]] = {}
    interrupts: list[BaseException] = []

    def noting(handler: Callable[..., object]) -> Callable[..., None]:
        def handle(*signalled: Any) -> None:
            try:
                handler(*signalled)
            except _INTERRUPTS as interrupt:
                interrupts.append(interrupt)
                raise

        return handle

    try:
        if current_thread() is main_thread():  # no other receives signals
            for number in signal.valid_signals():
                if callable(own := signal.getsignal(number)):
                    handlers[number] = own, noting(own)
                    signal.signal(number, handlers[number][1])
        return action()
    finally:
        for number, (own, noted) in handlers.items():
            if signal.getsignal(number) is noted:  # the action may have set another
                signal.signal(number, own)
        if interrupts:
            raise interrupts[0]


def _start(errand: _Errand[Any], *, is_due: bool) -> None:
    try:
        Thread(target=errand.run, name="dproo-engine", daemon=True).start()
    except RuntimeError:  # there are too many threads
        if not is_due:
            raise
        errand.run()


class _Errand(Generic[Result]):
    """An action in another thread, and a wait for it that signals may interrupt.

    It waits for a bare lock: an ``Event`` has a lock of its own, which a second interrupt may
    leave held, or turn into an error.
    """

    def __init__(self, action: Callable[[], Result]) -> None:
        self._action, self._context = action, copy_context()
        self._outcome: list[tuple[Any, BaseException | None]] = []
        self._claims: list[str] = []  # the first one decides whether the action runs
        self._running = Lock()
        self._running.acquire()

    def run(self) -> None:
        """Run the action, unless it has been given up."""
        self._claims.append("run")
        try:
            if self._claims[0] == "run":
                self._outcome.append((self._context.run(self._action), None))
        except BaseException as error:  # noqa: BLE001 - raised in the waiting thread
            self._outcome.append((None, error))
        finally:
            self._running.release()

    def wait(self) -> None:
        """Wait for its end, again and again: a signal just before a wait does not end that wait."""
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
        """The result of the action; an exception of it is raised."""
        ((result, error),) = self._outcome
        if error is not None:
            raise error
        return cast("Result", result)


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
    library = name.partition(".")[0]
    try:
        return apart(lambda: import_module(name))
    except MemoryError as error:
        failure = _refusal(_reason(error))
    except Exception as error:  # noqa: BLE001 - a library may fail in any way
        failure = _refusal(f"{library} cannot be loaded; install it again")
        is_missing = isinstance(error, ModuleNotFoundError) and name.startswith(error.name or " ")
        if is_missing and extra:
            failure = UnpreparedError(uninstalled(library, extra=extra))
    raise failure


class Lazy:
    """An optional library, which is imported where it is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


def loaded(name: str) -> ModuleType | None:
    """Return a library if it is completely loaded; another thread may still be loading it."""
    module = sys.modules.get(name)
    is_loading = getattr(getattr(module, "__spec__", None), "_initializing", False)
    return None if is_loading else module


def require_room(mebibytes: int) -> None:
    """Refuse if a limit on addresses leaves less than this; without a limit, always pass."""
    if not _is_limited():
        return
    with suppress(OSError, MemoryError):
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        mmap.mmap(-1, mebibytes * MEBIBYTE, flags=flags).close()
        return
    raise _refusal(
        f"it needs {mebibytes:,} MiB of addresses, and a limit leaves less;"
        " raise it (ulimit -v, -d)"
    )


def _is_limited() -> bool:
    with suppress(ImportError, OSError, ValueError):  # not a POSIX system
        import resource  # noqa: PLC0415 - only POSIX has it

        limits = resource.RLIMIT_AS, resource.RLIMIT_DATA  # both count private memory
        return any(resource.getrlimit(one)[0] != resource.RLIM_INFINITY for one in limits)
    return False
