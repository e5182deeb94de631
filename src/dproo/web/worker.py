"""The process that answers public questions: it forks a child for each, which can be killed.

A question is pure arithmetic on public numbers, which may take long. A child has no data, no ledger
and no key. It ends when its question is answered, when no client waits any more, or when it has
used its share of time or memory, whichever comes first. The kernel enforces this, so no arithmetic
can delay it.
"""

from __future__ import annotations

import array
import fcntl
import gc
import json
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

SECONDS = 10
"""The most seconds that a question may take."""

MEMORY = 2 << 30
LENGTH = struct.Struct("!I")

_START = "import sys; sys.path[:] = {path!r}; from dproo.web.worker import main; main({control})"


@dataclass(frozen=True)
class Worker:
    """The process that forks, seen from the server; ``control`` takes a socket per question."""

    control: socket.socket
    process: subprocess.Popen[bytes]

    @classmethod
    def start(cls) -> Worker:
        """Start it; loading its modules takes a moment."""
        control, theirs = socket.socketpair()
        with theirs:
            code = _START.format(path=sys.path, control=theirs.fileno())
            process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [sys.executable, "-I", "-c", code],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C in the terminal is for the server
            )
        return cls(control, process)

    @property
    def is_gone(self) -> bool:
        """Whether it has ended: only then is the other end of its socket closed."""
        try:
            return not self.control.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:  # reset, or closed here
            return True

    def stop(self) -> None:
        """End it, and with it all answers in progress."""
        self.control.close()
        self.process.kill()
        self.process.wait()


def main(control: int) -> None:
    """Fork a child for every socket that arrives, until the server is gone."""
    _answered("certify", {})  # loads what every child needs, including for refusals
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps the children
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server
    with suppress(OSError):
        os.nice(5)  # releases come first
    with socket.socket(fileno=control) as server:
        gc.freeze()
        while True:
            question = _received(server)
            if question is None:
                return
            with question:
                if os.fork() == 0:
                    server.close()
                    _answer(question)


def _received(server: socket.socket) -> socket.socket | None:
    """Return the next socket, or None when the server is gone."""
    size = array.array("i").itemsize
    message, ancillary, _, _ = server.recvmsg(1, socket.CMSG_SPACE(size))
    if not message:
        return None
    return socket.socket(fileno=array.array("i", ancillary[0][2][:size])[0])


def _answer(question: socket.socket) -> None:
    """Answer one question and exit; closing the other end of its socket kills this process."""
    try:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        (length,) = LENGTH.unpack(_exactly(question, LENGTH.size))
        name, fields = json.loads(_exactly(question, length))
        _die_with(question)
        status, text = _answered(name, fields)
        _outlive(question)
        question.sendall(f"{status} {text}".encode())
    finally:
        os._exit(0)


def _die_with(question: socket.socket) -> None:
    """Let the kernel end this process as soon as the other end is closed."""
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(question, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(question, fcntl.F_SETFL, fcntl.fcntl(question, fcntl.F_GETFL) | os.O_ASYNC)
    with suppress(BlockingIOError):  # the socket is open
        question.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        os._exit(0)


def _outlive(question: socket.socket) -> None:
    """Stop the signals before sending: a writable socket would cause one too."""
    fcntl.fcntl(question, fcntl.F_SETFL, fcntl.fcntl(question, fcntl.F_GETFL) & ~os.O_ASYNC)


def _answered(name: str, fields: Any) -> tuple[int, str]:
    from dproo.report import answered  # noqa: PLC0415 - loaded before the fork
    from dproo.web.questions import ANSWERS  # noqa: PLC0415

    return answered(ANSWERS[name], fields)


def _exactly(question: socket.socket, length: int) -> bytes:
    received = bytearray()
    while len(received) < length:
        part = question.recv(min(1 << 16, length - len(received)))
        if not part:
            os._exit(0)
        received += part
    return bytes(received)
