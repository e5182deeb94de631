"""The command line: parse, call, print; no arithmetic.

Exit codes: 0 done; 1 a bug, or the output cannot be written; 2 a wrong argument, or stopped before
the charge (nothing read or charged); 3 the budget is too small (nothing read or charged); 4 the
release failed or was stopped after its charge, or a command that writes a ledger was stopped; 5 an
audit found a violation, or a certificate does not hold.
"""

import os
import sys

from dproo.cli import ending

TYPE_CHECKING = False  # like typing's, which takes as long to import as everything here
if TYPE_CHECKING:
    from typing import NoReturn


MENU = """\
Usage: dproo [OPTIONS] COMMAND [ARGS]...

  Release private rows of a sensitive dataset: a table, a row or a value.

  See it work:                  dproo demo
  How many records do I need?   dproo plan --k 9 --epsilon 0.1 --alpha 0.05
  Declare a budget:             dproo ledger init data.csv --budget 8 --delta 1e-6
  Release a table:              dproo synthesize data.csv --epsilon 4 --delta 1e-9
                                  --rows 1000 --out safe.csv
  Describe the columns:         dproo codebook draft data.csv
  Release a value:              dproo sample data.csv --column diagnosis
                                  --alphabet codes.txt --epsilon 1
  Release a whole row:          dproo sample data.csv --codebook codebook.json
                                  --epsilon 1
  Prove a sampler's epsilon:    dproo certify --n 1000 --k 9 --epsilon 0.1
  Test another sampler:         dproo audit --command 'theirs {}' --epsilon 1
                                  --dataset a.csv --neighbour b.csv

  Set defaults in a TOML file with a table for each command, such as
  sampler = "roo" under [sample]. The working folder is never searched for one.

Options:
  --version      Show the version and exit.
  --config TEXT  A TOML file of defaults. [default: $DPROO_CONFIG, else
                 ~/.config/dproo/dproo.toml]
  -h, --help     Show this message and exit.

Commands:
  audit       Test a claimed epsilon by drawing from any sampler.
  certify     Certify a sampler's epsilon from its integer weights.
  check       Check DATA against its possible values before a release.
  codebook    Draft, find, import and preview code books.
  compare     Compare the error of all samplers on one distribution.
  demo        See a plan, a release and a refusal, on invented data.
  figures     Plot the paper's figures and ours, as PDF, PNG, SVG and CSV.
  ledger      Declare, show and verify privacy budgets.
  mcp         Serve private rows to an AI agent.
  plan        Solve for one of n, k, epsilon and alpha, for every sampler.
  rows        Draw more rows from the model of a private table, for free.
  sample      Release a representative value or row of DATA.
  serve       Plan and release in a browser, on this machine only.
  synthesize  Release a private table of DATA, for one epsilon, and rows of it.
"""
"""What ``dproo --help`` prints: whole, so that it takes no longer than starting Python."""

_FILES = 10_240
"""The most files to open at a time, as in a folder of data; macOS allows no more."""

_COMPLETE = "_DPROO_COMPLETE"
"""The variable by which a shell asks for its completion, with no arguments."""


def main() -> "NoReturn":
    """Run the command line."""
    ending.install()
    _set_limits()
    asks_for_help = sys.argv[1:] in ([], ["-h"], ["--help"]) and _COMPLETE not in os.environ
    code = 0
    if not (asks_for_help and _prints(MENU)):
        from dproo.cli.commands import run  # noqa: PLC0415 - after the limit is set

        code = run()
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


def _drop_unwritable_output() -> None:
    """Drop what cannot be written: otherwise Python tries at its end, and exits with code 120."""
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
    """Exit at once if a stopped query still runs: Python would wait for it, or crash."""
    threading = sys.modules.get("threading")
    if threading and any(thread.name == "dproo-engine" for thread in threading.enumerate()):
        os._exit(code)


def _set_limits() -> None:
    """Forbid core files, since a crash would write the data to disk, and allow many open files."""
    try:
        import resource  # noqa: PLC0415 - only POSIX has it

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = _FILES if most == resource.RLIM_INFINITY else min(_FILES, most)
        if files != resource.RLIM_INFINITY and files < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
    except (ImportError, OSError, ValueError):  # not POSIX, or the limit cannot be set
        pass
