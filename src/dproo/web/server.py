"""The server: one socket on this machine, for one launch."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn

from dproo.core.checks import refusal, whole
from dproo.ledger import Address
from dproo.web.answering import forget_questions, is_changing
from dproo.web.application import application
from dproo.web.connection import Connection
from dproo.web.door import Door
from dproo.web.folder import Folder
from dproo.web.pool import Pool

HOST = "127.0.0.1"
ACCEPTED_AT_ONCE = 32
QUEUE = 1024


class _Server(uvicorn.Server):
    """A server that accepts a few connections at a time out of a long queue.

    asyncio takes one number for both. Few, since none of those accepted is looked at before the
    last of them; a long queue, since the kernel makes whoever finds it full wait for a second.
    It is announced once it hears Ctrl-C, however it was started. Ctrl-C ends it as soon as what
    was charged is recorded.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        pool: Pool,
        announce: Callable[[], None],
        tell: Callable[[str], None],
    ) -> None:
        super().__init__(config)
        self._pool = pool
        self._announce = announce
        self._tell = tell

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or []:
            listener.listen(QUEUE)
        self._pool.start()
        self._announce()

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
    announce: Callable[[Door], None],
    tell: Callable[[str], None],
) -> None:
    """Serve the page until the process is interrupted.

    Args:
        folder: the files that the page can name.
        ledger: the ledger's file; it need not be there.
        port: the port to listen on; 0 takes a free one.
        announce: called with the door, which makes links, once they can be opened.
        tell: called with a sentence if the end has to wait for a release.

    Raises:
        ValueError: the folder is not there, or the port is taken.
    """
    allowed = Folder(folder)
    whole("port", port, at_least=0, at_most=65535)
    try:
        listener = socket.create_server((HOST, port))
    except OSError:
        raise ValueError(refusal("port", "be free on this machine", port)) from None
    with listener:
        door, pool = Door(f"http://{HOST}:{listener.getsockname()[1]}"), Pool()
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
