"""A socket between a client and PostgreSQL that cuts the line around a commit."""

from __future__ import annotations

import selectors
import socket
import threading
from pathlib import Path
from typing import Literal

COMMIT = b"COMMIT\x00"
Moment = Literal["before", "during", "after"]


class Cutter:
    """Listens like a server and passes everything on; cuts the line at the chosen commits.

    ``before``: the server never hears of the commit. ``during``: it does, and nobody waits for
    it. ``after``: it has answered, and the answer is lost.
    """

    def __init__(self, folder: Path, server: Path) -> None:
        self.server = str(server / ".s.PGSQL.5432")
        self.moments: list[Moment | None] = []
        self.commits = 0
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(folder / ".s.PGSQL.5432"))
        self.listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self, *moments: Moment | None) -> None:
        """Cut the line at the next commits; a None lets one pass."""
        self.moments[:] = moments

    def close(self) -> None:
        self.listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._pass_on, args=(client,), daemon=True).start()

    def _pass_on(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server, selectors.DefaultSelector() as ready:
            server.connect(self.server)
            ends = {client: server, server: client}
            for end in ends:
                ready.register(end, selectors.EVENT_READ)
            while True:
                for key, _ in ready.select():
                    source = key.fileobj
                    data = source.recv(1 << 16)  # type: ignore[union-attr]
                    if not data:
                        return
                    moment = self._moment(data) if source is client else None
                    if moment != "before":
                        ends[source].sendall(data)  # type: ignore[index]
                    if moment == "after":
                        server.recv(1 << 16)
                    if moment is not None:
                        return

    def _moment(self, data: bytes) -> Moment | None:
        if COMMIT not in data:
            return None
        self.commits += 1
        return self.moments.pop(0) if self.moments else None
