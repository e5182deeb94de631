"""What the commands share: options, and how a result is printed."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from dproo.mechanisms import ADD_REMOVE, DEFAULT, REPLACE, SAMPLERS
from dproo.report import versioned

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
neighbours_option = click.option(
    "--neighbours",
    default=REPLACE,
    metavar="RELATION",
    help=f"{REPLACE!r} (n is public, the default) or {ADD_REMOVE!r} (n is private).",
)
sampler_option = click.option(
    "--sampler",
    default=DEFAULT,
    show_default=True,
    help=f"One of {', '.join(SAMPLERS)}; a release also takes 'auto'.",
)


def print_json(fields: dict[str, Any]) -> None:
    """Print one object that says which version of its layout it has."""
    click.echo(json.dumps(versioned(fields), indent=2))


def print_facts(facts: dict[str, object]) -> None:
    """Print names and values beside the result, on standard error."""
    width = max(map(len, facts))
    for name, value in facts.items():
        click.echo(f"  {name:<{width}}  {value}", err=True)


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show on a terminal that something long is under way."""
    if not sys.stderr.isatty():
        yield
        return
    done = threading.Event()

    def tick() -> None:
        seconds = 0
        while not done.wait(1):
            seconds += 1
            click.echo(f"\r{what}, {seconds} s", nl=False, err=True)
        if seconds:
            click.echo("\r" + " " * 40 + "\r", nl=False, err=True)

    ticker = threading.Thread(target=tick, daemon=True)
    ticker.start()
    try:
        yield
    finally:
        done.set()
        ticker.join()
