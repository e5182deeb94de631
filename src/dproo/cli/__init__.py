"""The command line: parse, call, print; no arithmetic.

Exit codes: 0 done; 1 a bug; 2 a wrong argument (nothing read or charged); 3 the budget is too
small (nothing read or charged); 4 the release ended after its charge; 5 an audit found a
violation, or a certificate does not hold.
"""

import os
import signal
import sys
from contextlib import suppress
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line."""
    _leave_no_core()
    from dproo.cli.commands import run  # noqa: PLC0415 - after the limit is set

    # SIGTERM acts like Ctrl-C, so that a query running elsewhere, as in a database, ends too.
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    code = run()
    _drop_unwritable_output()
    sys.exit(code)


def _drop_unwritable_output() -> None:
    """Keep the exit code: Python writes what is left at its end, and may fail with 120."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream.fileno())
                os.close(nowhere)


def _leave_no_core() -> None:
    """Forbid core files: a crash would write the data to disk."""
    with suppress(ImportError, OSError, ValueError):  # another system than POSIX, or its limits
        import resource  # noqa: PLC0415 - only POSIX has it

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
