"""The command line: parse, call, print; no arithmetic.

Exit codes: 0 done; 1 a bug; 2 a wrong argument, or stopped before the charge (nothing read or
charged); 3 the budget is too small (nothing read or charged); 4 the release failed or was stopped
after its charge; 5 an audit found a violation, or a certificate does not hold.
"""

import os
import sys

from dproo.cli import ending
from dproo.cli.menu import MENU

TYPE_CHECKING = False  # as of typing, which takes as long to import as all the rest here
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> "NoReturn":
    """Run the command line."""
    ending.install()
    _leave_no_core()
    asks_for_help = sys.argv[1:] in ([], ["-h"], ["--help"])
    code = 0 if asks_for_help and _prints(MENU) else _run()
    ending.ignore()
    _drop_unwritable_output()
    _leave_no_thread(code)
    sys.exit(code)


def _prints(text: str) -> bool:
    """Print a text, and return whether it could be printed."""
    try:
        print(text, end="", flush=True)  # noqa: T201 - click takes longer to import than Python
    except OSError:
        return False
    return sys.stdout is not None


def _run() -> int:
    """Run a command, or say why it cannot be run."""
    from dproo.cli.commands import run  # noqa: PLC0415 - after the limit is set

    return run()


def _drop_unwritable_output() -> None:
    """Keep the exit code: Python writes what is left at its end, and may fail with 120."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            try:
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream.fileno())
                os.close(nowhere)
            except (OSError, ValueError):
                pass


def _leave_no_thread(code: int) -> None:
    """End at once where a query that was stopped still runs: Python would wait for it, or crash."""
    threading = sys.modules.get("threading")
    if threading and any(thread.name == "dproo-engine" for thread in threading.enumerate()):
        os._exit(code)


def _leave_no_core() -> None:
    """Forbid core files: a crash would write the data to disk."""
    try:
        import resource  # noqa: PLC0415 - only POSIX has it

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, OSError, ValueError):  # another system than POSIX, or its limits
        pass
