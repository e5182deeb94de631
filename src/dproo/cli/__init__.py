"""The command line: parse, call, print; no arithmetic.

Exit codes: 0 done; 1 a bug; 2 a wrong argument (nothing read, nothing charged); 3 the budget
refused (nothing read); 4 the release ended after it was charged; 5 an audit found a violation,
or a certificate does not hold.
"""

import signal
import sys
from contextlib import suppress
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line."""
    _leave_no_core()
    from dproo.cli.commands import run  # noqa: PLC0415 - after the limit is set

    # To be terminated is to be interrupted: what runs elsewhere, as in a database, is ended too.
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(run())


def _leave_no_core() -> None:
    """Have a crash write no image of this process's memory: it would hold the data."""
    with suppress(ImportError, OSError, ValueError):  # another system than POSIX, or its limits
        import resource  # noqa: PLC0415 - only POSIX has it

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
