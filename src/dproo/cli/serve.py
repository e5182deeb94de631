"""The command that serves the page: ``dproo serve``."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dproo.cli.options import book_of
from dproo.cli.output import echo, json_option, ledger_option, print_json
from dproo.core.checks import needing, refusal
from dproo.integrations.agent import Desk
from dproo.web.worker import Worker

if TYPE_CHECKING:
    from dproo.web.gate import Door


@click.command("serve")
@click.option("--open", "opens", is_flag=True, help="Open the page in your browser.")
@click.option("--port", default=0, help="The port to listen on. [default: a free one]")
@click.option(
    "--folder", default=".", help="The folder whose files the page may read. [default: this one]"
)
@ledger_option
@json_option
def serve_command(*, opens: bool, port: int, folder: str, path: str | None, as_json: bool) -> None:
    """Plan and release in a browser, on this machine only.

    Prints a link that works once, within ten minutes; press Enter for another. Whoever opens it
    on this machine can spend your budget. The page reads files in the folder only, needs no
    network and sends nothing anywhere, except to a database that you name. Press Ctrl-C to stop.

    \b
    Examples:
      dproo serve --open
      dproo serve --folder examples --ledger ledger.sqlite3
    """
    if not folder:
        raise ValueError(refusal("folder", "be a folder that exists", folder))
    worker = Worker.start()  # it loads while the server does
    click.get_current_context().call_on_close(worker.stop)
    with needing("starlette, uvicorn and jinja2", extra="web"):
        from dproo.web import server  # noqa: PLC0415 - Starlette and uvicorn are an extra

    def show(link: str) -> None:
        if as_json:
            print_json({"url": link, "folder": os.path.realpath(folder)})
        else:
            echo(link)

    def announce(door: Door) -> None:
        link, file = server.prepare(door) if opens else (door.link(), None)
        show(link)
        if sys.stdin and sys.stdin.isatty():
            echo("The link works once. Press Enter for another, Ctrl-C to stop.", err=True)
        _beside(_print_links, door, show)
        if file is not None:  # some browsers return only when they are closed
            _beside(_open, file, server.show)

    with contextlib.suppress(KeyboardInterrupt):  # the ordinary end
        server.serve(
            folder=Path(folder),
            ledger=book_of(path),
            port=port,
            worker=worker,
            announce=announce,
            tell=lambda sentence: echo(sentence, err=True),
        )


def _beside(action: Callable[..., None], *arguments: object) -> None:
    threading.Thread(target=action, args=arguments, daemon=True).start()


def _open(file: Path, show: Callable[[Path], bool]) -> None:
    if not show(file):
        click.echo("No browser could be opened. Open the link yourself.", err=True)


def _print_links(door: Door, show: Callable[[str], None]) -> None:
    for _ in _lines():
        show(door.link())


def _lines() -> Iterator[bytes]:
    """Yield the typed lines until the input ends.

    A process in the background is stopped when it reads from its terminal, unless the reading
    thread blocks that signal: then reading fails until the process is in the foreground again.
    The descriptor is read, because ``sys.stdin`` could not be closed meanwhile.
    """
    if hasattr(signal, "SIGTTIN"):
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTTIN])
    while True:
        try:
            line = os.read(0, 1 << 10)
        except OSError:
            line = b""
            if _is_in_background():
                time.sleep(1)
                continue
        if not line:
            return
        yield line


def _is_in_background() -> bool:
    try:
        return os.tcgetpgrp(0) != os.getpgrp()
    except OSError:  # there is no terminal any more
        return False


@click.command("mcp")
@click.argument("config")
def mcp_command(config: str) -> None:
    """Serve private rows to an AI agent.

    The agent speaks the Model Context Protocol over standard input and output. CONFIG is a TOML
    file that names the data, its code book, and the largest epsilon of a call and of a day. An
    agent can list the public columns, plan, look at the budget, and have private rows released;
    it never sees where the data is.

    \b
    Example:
      dproo mcp agents.toml
    """
    desk = Desk.of(config)
    with needing("mcp", extra="mcp"):
        from dproo.integrations.mcp import serve  # noqa: PLC0415 - the SDK is an extra
    serve(desk)
