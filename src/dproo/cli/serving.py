"""The command that serves the page: ``dproo serve``."""

from __future__ import annotations

import contextlib
import webbrowser
from pathlib import Path

import click

from dproo.cli.output import echo, json_option, print_json
from dproo.ledger import default_path


@click.command("serve")
@click.option("--open", "opens", is_flag=True, help="Open the page in your browser.")
@click.option("--port", default=0, help="The port to listen on; by default a free one.")
@click.option(
    "--folder", default=".", help="The only files the page can name; by default those from here on."
)
@click.option("--ledger", "path", help="The ledger to charge; else DPROO_LEDGER, else your own.")
@json_option
def serve_command(*, opens: bool, port: int, folder: str, path: str | None, as_json: bool) -> None:
    """Plan, understand and release in a browser, on this machine only.

    Prints one address. It holds a secret of this launch: whoever has it, and is on this
    machine, can spend your budget. The page reads files of the folder only, needs no network
    and sends nothing anywhere. Ctrl-C ends it.

    \b
    Examples:
      dproo serve --open
      dproo serve --folder examples --ledger ledger.sqlite3
    """
    try:
        from dproo.web.server import serve  # noqa: PLC0415 - Starlette and uvicorn are an extra
    except ModuleNotFoundError:
        raise ValueError(
            "starlette, uvicorn and jinja2 must be installed for this: pip install 'dproo[web]'."
        ) from None

    def announce(url: str) -> None:
        if as_json:
            print_json({"url": url, "folder": str(Path(folder).resolve())})
        else:
            echo(url)
        if opens:
            webbrowser.open(url)

    with contextlib.suppress(KeyboardInterrupt):  # the ordinary end
        ledger = Path(path) if path else default_path()
        serve(folder=Path(folder), ledger=ledger, port=port, announce=announce)
