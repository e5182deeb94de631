"""The directive ``{command-pages}``: the help text of every command, as the command prints it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from dproo.cli.commands import cli

WIDTH = 88


def help_pages(command: click.Command, name: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the help text of a command and of all commands below it."""
    context = click.Context(command, info_name=name, terminal_width=WIDTH)
    yield name, command.get_help(context)
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            if found is not None:
                yield from help_pages(found, f"{name} {inner}")


class CommandPages(SphinxDirective):
    """A section for each command."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        sections: list[nodes.Node] = []
        for name, text in help_pages(cli, "dproo"):
            section = nodes.section(ids=[nodes.make_id(name)], names=[name])
            section += nodes.title(text=name)
            section += nodes.literal_block(text, text, language="none")
            sections.append(section)
        return sections


def setup(app: Sphinx) -> dict[str, Any]:
    """Make the directive known."""
    app.add_directive("command-pages", CommandPages)
    return {"parallel_read_safe": True}
