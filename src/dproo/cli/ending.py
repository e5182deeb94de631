"""How the process of a command ends on a signal, from its first instruction to its last.

SIGINT, SIGTERM, SIGHUP and SIGQUIT act alike. Before anything has begun, the process ends at once.
While the command works, they raise ``KeyboardInterrupt``, so that the work stops and the user
learns what was charged. While the result is printed, they are only noted, to know whether all of it
was printed. After that the process ends at once, with exit code 0. Other signals are not handled.

Only what is needed to install the handlers is imported here.
"""

import math
import os
import signal
import sys
import time
from types import FrameType

STARTING, WORKING, PRINTING, PRINTED = range(4)
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
_NOTHING_CHARGED = b"Error: stopped; nothing was charged.\n"
_USAGE = 2
_SOON = 0.002
TOGETHER = 0.2  # seconds; a supervisor may send SIGTERM and SIGHUP at once


class _State:
    """The stage of the command, in this process."""

    is_installed = False
    stage = STARTING
    is_stopped = False
    interrupted_at = -math.inf


def install() -> None:
    """Handle the signals that end a program, except ignored ones, as under ``nohup``."""
    _State.is_installed, _State.stage = True, STARTING
    _take()
    # Python prints and forgets an interrupt in a destructor: the hook repeats it a moment later.
    sys.unraisablehook = _unraisable


def enter(stage: int) -> None:
    """Begin a stage; outside the process of the command nothing changes."""
    if _State.is_installed:
        _State.stage = stage
        _take()  # again: Spark takes SIGINT for itself


def is_stopped() -> bool:
    """Return whether a signal came while the result was printed."""
    return _State.is_stopped


def ignore() -> None:
    """Ignore further signals while an ended command prints its last message."""
    if _State.is_installed:
        for end in _signals():
            signal.signal(end, signal.SIG_IGN)


def _signals() -> list[signal.Signals]:
    return [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]


def _take() -> None:
    for end in _signals():
        if signal.getsignal(end) != signal.SIG_IGN:
            signal.signal(end, _on_signal)


def _on_signal(number: int, frame: FrameType | None) -> None:
    del number, frame
    if _State.stage == STARTING:
        try:
            os.write(2, _NOTHING_CHARGED)
        finally:
            os._exit(_USAGE)
    if _State.stage == PRINTED:
        os._exit(0)
    if _State.stage == WORKING:
        now = time.monotonic()
        if now - _State.interrupted_at < TOGETHER:
            return
        _State.interrupted_at = now
        raise KeyboardInterrupt
    _State.is_stopped = True


def _unraisable(unraisable: object) -> None:
    """Say nothing, since a traceback could quote data; repeat an interrupt that was lost."""
    is_lost = issubclass(getattr(unraisable, "exc_type", None) or Exception, KeyboardInterrupt)
    if is_lost and hasattr(signal, "setitimer"):
        _State.interrupted_at = -math.inf
        signal.signal(signal.SIGALRM, _on_signal)
        signal.setitimer(signal.ITIMER_REAL, _SOON)
