"""The command that serves AI agents: ``dproo mcp``."""

from __future__ import annotations

import click

from dproo.integrations.agent import Desk


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
    try:
        from dproo.integrations.mcp import serve  # noqa: PLC0415 - the SDK is an extra
    except ModuleNotFoundError:
        raise ValueError("mcp must be installed for this: pip install 'dproo[mcp]'.") from None
    serve(desk)
