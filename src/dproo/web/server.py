"""The server: one socket on this machine, for one launch."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn

from dproo._check import refusal, whole
from dproo.web.application import application
from dproo.web.connection import Connection
from dproo.web.door import Door
from dproo.web.folder import Folder

HOST = "127.0.0.1"


def serve(*, folder: Path, ledger: Path, port: int, announce: Callable[[Door], None]) -> None:
    """Serve the page until the process is interrupted.

    Args:
        folder: the files that the page can name.
        ledger: the ledger's file; it need not be there.
        port: the port to listen on; 0 takes a free one.
        announce: called with the door, which makes links, once they can be opened.

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
        door = Door(f"http://{HOST}:{listener.getsockname()[1]}")
        server = uvicorn.Server(
            uvicorn.Config(
                application(folder=allowed, ledger=ledger, door=door),
                http=Connection,
                backlog=32,  # so many are accepted at once, before any of them is looked at
                ws="none",
                lifespan="off",
                log_config=None,
                log_level="critical",
                access_log=False,
                server_header=False,
                proxy_headers=False,
            )
        )
        announce(door)
        server.run(sockets=[listener])
