"""The page as a user starts it: a process of its own, spoken to over its socket."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from support.commands import Started

from dproo.ledger import Ledger

COMMAND = [str(Path(sys.executable).parent / "dproo")]
PATIENCE = 120
"""Seconds after which a test gives a process up; no test passes or fails by being slower."""


@dataclass(frozen=True)
class Answer:
    """What came back: a status, lower-case headers, and the body. No answer has status 0."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The object in the body."""
        return json.loads(self.body)


@dataclass(frozen=True)
class Served:
    """A page that is being served.

    Attributes:
        url: the link that was printed first.
        folder: the allowed folder.
        ledger: the ledger's file.
        process: the server.
    """

    url: str
    folder: Path
    ledger: Path
    process: subprocess.Popen[str]
    _keys: list[str] = field(default_factory=list)

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(urlsplit(self.url).port or 0)

    @property
    def origin(self) -> str:
        """The page's own origin."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def key(self) -> str:
        """The key of a tab that opened a link."""
        if not self._keys:
            opened = self.open(self.link())
            self._keys.append(re.findall(r'data-key="([\w-]+)"', opened.body.decode())[0])
        return self._keys[0]

    def link(self) -> str:
        """Press Enter where the server runs, and return the link that it prints."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def open(self, link: str, **changes: str | None) -> Answer:
        """Send the token of a link as a browser does, with some headers changed or left out."""
        headers = {
            "Host": self.host,
            "Origin": "null",
            "Sec-Fetch-Site": "cross-site",
            "Sec-Fetch-Mode": "navigate",
            "Sec-Fetch-Dest": "document",
            "Accept": "text/html",
            "Content-Type": "application/x-www-form-urlencoded",
            **{name.replace("_", "-"): value for name, value in changes.items()},
        }
        kept = {name: value for name, value in headers.items() if value is not None}
        return self.send(request("POST", "/", kept, f"token={token_of(link)}".encode()))

    @property
    def host(self) -> str:
        """The Host that a browser sends."""
        return f"127.0.0.1:{self.port}"

    @property
    def headers(self) -> dict[str, str]:
        """What a request of the page itself carries."""
        return {
            "Host": self.host,
            "Dproo-Key": self.key,
            "Origin": self.origin,
            "Sec-Fetch-Site": "same-origin",
            "Content-Type": "application/json",
        }

    def send(self, raw: bytes, *, patience: float = PATIENCE) -> Answer:
        """Send bytes as they are and return what comes back within so many seconds."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=patience) as connection:
            with suppress(OSError):  # it may be refused before its end
                connection.sendall(raw)
            response = HTTPResponse(connection)
            try:
                response.begin()
                body = response.read()
            except (OSError, ValueError, EOFError):
                return Answer(0, {}, b"")
            except Exception as error:  # noqa: BLE001 - http.client has many
                return Answer(0, {}, repr(error).encode())
        return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, body)

    def get(self, path: str) -> Answer:
        """Ask as the page does."""
        return self.send(request("GET", path, self.headers))

    def post(self, path: str, body: Any) -> Answer:
        """Send an object as the page does."""
        return self.send(request("POST", path, self.headers, json.dumps(body).encode()))


def token_of(link: str) -> str:
    """Return the secret of a link."""
    return link.partition("#")[2]


def request(method: str, path: str, headers: Mapping[str, str], body: bytes = b"") -> bytes:
    """Return a request as it goes over the wire."""
    sent = {**headers, "Connection": "close"}
    if body or method == "POST":
        sent.setdefault("Content-Length", str(len(body)))
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items())]
    return "\r\n".join([*lines, "", ""]).encode() + body


@contextmanager
def served(
    folder: Path, ledger: Path, *options: str, environment: Mapping[str, str] | None = None
) -> Iterator[Served]:
    """Serve a folder for as long as the block lasts, then interrupt the server as Ctrl-C does."""
    command = [*COMMAND, "serve", "--folder", str(folder), "--ledger", str(ledger), *options]
    known = {**os.environ, **(environment or {})}
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with Started(command, env=known, **pipes, text=True) as process:
        try:
            url = process.stdout.readline().strip() if process.stdout else ""
            yield Served(url, folder, ledger, process)
        finally:
            process.send_signal(signal.SIGINT)
            try:
                _, errors = process.communicate(timeout=PATIENCE)
            finally:
                process.kill()  # else a test would wait for it for ever
    assert (process.returncode, errors) == (0, "")


def admissions(folder: Path, *, budget: str) -> tuple[Path, Path]:
    """Write invented records, their public codes and a ledger; return folder and ledger."""
    inside = folder / "data"
    inside.mkdir()
    rows = ["I50,north"] * 60 + ["J18,south"] * 30 + ["CANARY-7f3a,south"] * 10
    (inside / "admissions.csv").write_text("\n".join(["diagnosis,ward", *rows]) + "\n")
    (inside / "codes.txt").write_text("I50\nJ18\nS72\n")
    ledger = folder / "ledger.sqlite3"
    Ledger.create(ledger).declare(
        str((inside / "admissions.csv").resolve()), budget=budget, neighbours="replace"
    )
    return inside, ledger


def listed(column: str, *values: str) -> dict[str, Any]:
    """Return a code book of one column."""
    field = {"name": column, "type": "string", "categories": list(values)}
    return {"schema": {"fields": [field]}}


ORDER = {
    "source": "file",
    "data": "admissions.csv",
    "what": "value",
    "codebook": listed("diagnosis", "I50", "J18", "S72"),
    "sampler": "ls-roo",
    "epsilon": "1",
}
