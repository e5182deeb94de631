"""The command line: parse, call, print; no arithmetic.

Exit codes: 0 done; 1 a bug; 2 a wrong argument (nothing read, nothing charged); 3 the budget
refused (nothing read); 4 the release ended after it was charged; 5 an audit found a violation,
or a certificate does not hold.
"""

import os
import sys
from contextlib import suppress
from typing import NoReturn

# Kept as `COLUMNS=80 dproo -h` writes it; a test compares them. pathlib is slow to import.
_HELP = os.path.join(os.path.dirname(__file__), "help.txt")  # noqa: PTH118, PTH120


def main() -> NoReturn:
    """Run the command line, or print its first page, for which nothing is imported."""
    if sys.argv[1:] == ["--help"]:
        with suppress(OSError), open(_HELP, encoding="utf-8") as page:  # noqa: PTH123
            sys.stdout.write(page.read())
            sys.stdout.flush()
            sys.exit()
    _leave_no_core()
    import signal  # noqa: PLC0415 - not for the first page

    from dproo.cli.commands import run  # noqa: PLC0415 - loaded where there is a command to run

    # To be terminated is to be interrupted: what runs elsewhere, as in a database, is ended too.
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(run())


def _leave_no_core() -> None:
    """Have a crash write no image of this process's memory: it would hold the data."""
    with suppress(ImportError, OSError, ValueError):  # another system than POSIX, or its limits
        import resource  # noqa: PLC0415 - only POSIX has it

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
