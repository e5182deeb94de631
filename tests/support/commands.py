"""The command ``dproo``, in a process of its own that begins in a moment.

It is forked off a process that has imported the command line, and has run nothing of it.
"""

from __future__ import annotations

import atexit
import functools
import gc
import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

COMMAND = [str(Path(sys.executable).parent / "dproo")]
MAIN = "from dproo.cli import main; main()"
_LONGEST = 100_000  # bytes of an order


class Started(subprocess.Popen[Any]):
    """A process that does not outlive a failure of its test, which would wait for its end."""

    def __exit__(self, kind: type[BaseException] | None, *raised: object) -> None:
        if kind is not None:
            self.kill()
        super().__exit__(kind, *raised)


def dproo(
    *arguments: str,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    code: str = MAIN,
) -> subprocess.CompletedProcess[str]:
    """Run the command as a user would, and return what it printed.

    Args:
        arguments: of the command.
        cwd: the folder it runs in; this process's own by default.
        env: its variables; this process's own by default.
        code: what runs instead of the installed command, to break something first.
    """
    command = [*COMMAND, *arguments]
    if "COVERAGE_PROCESS_CONFIG" in os.environ:  # which sees no process that was forked
        line = command if code is MAIN else [sys.executable, "-c", code, *arguments]
        return subprocess.run(line, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    order = json.dumps([code, command, str(cwd or Path.cwd()), dict(env or os.environ)]).encode()
    with TemporaryFile() as output, TemporaryFile() as errors:
        nursery = _nursery()
        socket.send_fds(nursery, [order], [output.fileno(), errors.fileno()])
        code = int(nursery.recv(_LONGEST))
        texts = []
        for file in (output, errors):
            file.seek(0)
            texts.append(file.read().decode().replace("\r\n", "\n"))
    return subprocess.CompletedProcess(command, code, *texts)


@functools.cache
def _nursery() -> socket.socket:
    """Start the process, and return the end of a socket that takes orders."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        number = theirs.fileno()
        begun = subprocess.Popen(
            [sys.executable, __file__, str(number)], pass_fds=[number], stdin=subprocess.DEVNULL
        )
    atexit.register(begun.wait)
    atexit.register(ours.close)  # which comes first, and ends it
    return ours


def _born(connection: socket.socket) -> str:
    """Return, in a new process for each order, the code to run."""
    while True:
        order, files, *_ = socket.recv_fds(connection, _LONGEST, 2)
        if not order:
            os._exit(0)
        child = os.fork()
        if child == 0:
            connection.close()
            for file, place in zip(files, (1, 2), strict=True):
                os.dup2(file, place)
        for file in files:
            os.close(file)
        if child == 0:
            code, sys.argv, folder, environment = json.loads(order)
            os.chdir(folder)
            os.environ.clear()
            os.environ.update(environment)
            return str(code)
        _, status = os.waitpid(child, 0)
        connection.send(str(os.waitstatus_to_exitcode(status)).encode())


if __name__ == "__main__":
    from click import Context

    from dproo.cli.commands import cli

    for name in cli.list_commands(Context(cli)):
        cli.get_command(Context(cli), name)
    gc.freeze()  # a child looks at nothing that was there before

    import duckdb  # noqa: F401 - which counts what is left of it at the end

    exec(_born(socket.socket(fileno=int(sys.argv[1]))))  # noqa: S102 - of our own tests
