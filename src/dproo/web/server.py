"""The server: one socket on this machine, for one launch."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn

from dproo._check import refusal, whole
from dproo.web.application import application
from dproo.web.folder import Folder

HOST = "127.0.0.1"


def serve(*, folder: Path, ledger: Path, port: int, announce: Callable[[str], None]) -> None:
    """Serve the page until the process is interrupted.

    Args:
        folder: the files that the page can name.
        ledger: the ledger's file; it need not be there.
        port: the port to listen on; 0 takes a free one.
        announce: called with the address, which holds the token, once it can be opened.

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
        port = listener.getsockname()[1]
        token = secrets.token_urlsafe(32)
        page = application(folder=allowed, ledger=ledger, port=port, token=token)
        server = uvicorn.Server(
            uvicorn.Config(
                page,
                http="h11",
                ws="none",
                lifespan="off",
                log_config=None,
                log_level="critical",  # a log of requests would hold the token
                access_log=False,
                server_header=False,
                proxy_headers=False,
                limit_concurrency=256,
            )
        )
        announce(f"http://{HOST}:{port}/?token={token}")
        server.run(sockets=[listener])
