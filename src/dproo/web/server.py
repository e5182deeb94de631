"""The server: one socket on this machine for one launch, and the link that opens its page."""

from __future__ import annotations

import asyncio
import atexit
import os
import shutil
import socket
import stat
import tempfile
import webbrowser
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import ClassVar

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from dproo.core.checks import refusal, whole
from dproo.ledger import Address
from dproo.web.answering import forget_questions, is_changing
from dproo.web.application import application
from dproo.web.folder import Folder
from dproo.web.gate import Door
from dproo.web.pool import Pool
from dproo.web.questions import FIRST
from dproo.web.worker import Worker

HOST = "127.0.0.1"
ACCEPTED_AT_ONCE = 32
QUEUE = 1024

_Tell = Callable[[str], None]


class _Server(uvicorn.Server):
    """A server that accepts a few connections at a time out of a long queue.

    asyncio has one setting for both. Few at a time, because no accepted connection is served before
    the last one of its batch; a long queue, because the kernel delays clients by a second if it is
    full. It is announced once it responds to Ctrl-C, which ends it as soon as every charged release
    is recorded.
    """

    def __init__(
        self, config: uvicorn.Config, pool: Pool, announce: Callable[[], None], tell: _Tell
    ) -> None:
        super().__init__(config)
        self._pool, self._announce, self._tell = pool, announce, tell

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or []:
            listener.listen(QUEUE)
        self._announce()
        self._pool.prepare(FIRST)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        forget_questions()
        self._pool.stop()
        if is_changing():
            self._tell("A release is still running. dproo serve ends when it is recorded.")
        await super().shutdown(sockets)


def serve(
    *,
    folder: Path,
    ledger: Address,
    port: int,
    worker: Worker,
    announce: Callable[[Door], None],
    tell: _Tell,
) -> None:
    """Serve the page until the process is interrupted.

    Args:
        folder: the files that the page can name.
        ledger: the ledger's address; it need not exist.
        port: the port to listen on; 0 takes a free one.
        worker: answers the public questions.
        announce: called with the door, which makes links, once they can be opened.
        tell: called with a sentence if a running release delays the end.

    Raises:
        ValueError: the folder does not exist, or the port is taken.
    """
    allowed = Folder(folder)
    whole("port", port, at_least=0, at_most=65535)
    try:
        listener = socket.create_server((HOST, port))
    except OSError:
        raise ValueError(refusal("port", "be free on this machine", port)) from None
    with listener:
        door, pool = Door(f"http://{HOST}:{listener.getsockname()[1]}"), Pool(worker)
        server = _Server(
            uvicorn.Config(
                application(folder=allowed, ledger=ledger, door=door, pool=pool),
                http=Connection,
                backlog=ACCEPTED_AT_ONCE,
                ws="none",
                lifespan="off",
                log_config=None,
                log_level="critical",
                access_log=False,
                server_header=False,
                proxy_headers=False,
            ),
            pool,
            lambda: announce(door),
            tell,
        )
        server.run(sockets=[listener])


PATIENCE = 10
MOST_WAITING = 100


class Connection(H11Protocol):
    """Serve one connection; a client that keeps us waiting is disconnected.

    The clock stops only while a complete request is being answered. It runs while a request is
    incomplete, an answer is not read, or nothing happens, and no arriving byte resets it. If too
    many wait, the one that has waited longest is disconnected: a complete request is answered
    however many others hang.

    Guarantee: at most ``MOST_WAITING`` connections wait, each for at most ``PATIENCE`` seconds.
    """

    _clocks: ClassVar[dict[Connection, asyncio.TimerHandle]] = {}
    """The waiting connections, the one that has waited longest first."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock."""
        super().connection_made(transport)
        self._set_clock()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        super().connection_lost(exc)
        self._stop_clock()

    def data_received(self, data: bytes) -> None:
        """Stop the clock if a request is complete."""
        super().data_received(data)
        self._set_clock()

    def on_response_complete(self) -> None:
        """Wait for the next request, or for the end."""
        super().on_response_complete()
        self._set_clock()

    def pause_writing(self) -> None:
        """Wait for the client to read the answer."""
        super().pause_writing()
        self._set_clock()

    def resume_writing(self) -> None:
        """Continue answering."""
        super().resume_writing()
        self._set_clock()

    def shutdown(self) -> None:
        """End the connection: at once if the client keeps us waiting, else after the answer."""
        if self in self._clocks:
            self.transport.abort()
        else:
            super().shutdown()

    @property
    def _is_answering(self) -> bool:
        is_whole = self.conn.their_state not in {h11.IDLE, h11.SEND_BODY}
        is_open = self.cycle is not None and not self.cycle.response_complete
        return is_whole and is_open and not self.flow.write_paused

    def _set_clock(self) -> None:
        if self._is_answering:
            self._stop_clock()
        elif self not in self._clocks:
            self._clocks[self] = self.loop.call_later(PATIENCE, self.transport.abort)
            if len(self._clocks) > MOST_WAITING:
                longest = next(iter(self._clocks))
                longest._stop_clock()  # noqa: SLF001 - of this class
                longest.transport.abort()

    def _stop_clock(self) -> None:
        clock = self._clocks.pop(self, None)
        if clock is not None:
            clock.cancel()


_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<title>dproo</title>
<form method="post" action="{address}">
<input type="hidden" name="token" value="{token}">
<button>Open dproo</button>
</form>
<script>document.forms[0].submit()</script>
</html>
"""
_IN_A_TERMINAL = {"elinks", "links", "lynx", "w3m", "www-browser"}


def prepare(door: Door) -> tuple[str, Path]:
    """Return a new link, and a file that opens it; the file is deleted with the link.

    A browser is started with an address as its argument, and every user of the machine can read
    the arguments of every process. So it gets the path of a file that only its owner can read,
    which submits the token in a form. A token in a form is not in the history either.
    """
    folder = tempfile.mkdtemp(prefix="dproo-", dir=_private_folder())
    remove = partial(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(remove)
    link = door.link(gone=remove)
    address, _, token = link.partition("#")
    path = Path(folder) / "open.html"
    path.touch(mode=0o600, exist_ok=False)
    path.write_text(_PAGE.format(address=address, token=token), encoding="utf-8")
    return link, path


def show(path: Path) -> bool:
    """Show a file in the user's browser and return whether there is one.

    Some browsers return only when they are closed. A text browser does not count: it would take
    over the terminal, and the page needs scripts.
    """
    try:
        name = getattr(webbrowser.get(), "name", "")
        return Path(name).name not in _IN_A_TERMINAL and webbrowser.open(path.as_uri())
    except webbrowser.Error:
        return False


def _private_folder() -> str | None:
    """Return the user's session folder, if it exists and is owned by the user."""
    folder = os.environ.get("XDG_RUNTIME_DIR", "")
    try:
        status = Path(folder).stat()
    except OSError:
        return None
    is_own = status.st_uid == os.geteuid() and not status.st_mode & 0o077
    return folder if folder and is_own and stat.S_ISDIR(status.st_mode) else None
