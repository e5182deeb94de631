"""A server of the Model Context Protocol for AI agents, over standard input and output."""

from __future__ import annotations

import json
from typing import Any

import anyio
import anyio.to_thread
import mcp.types as protocol
from mcp.server import Server
from mcp.server.stdio import stdio_server

from dproo import __version__
from dproo.integrations.agent import NOTICE, Desk, Refused

_DATASET = {"type": "string", "description": "A name from describe."}
_EPSILON = {"type": ["string", "number"], "description": "The privacy parameter, as in 0.5."}
_TOOLS: dict[str, tuple[str, dict[str, Any]]] = {
    "describe": ("List the datasets, their columns and their possible values. Free.", {}),
    "plan": (
        "How close a private row of n records comes to the data, for an epsilon. Free.",
        {"dataset": _DATASET, "n": {"type": "integer"}, "epsilon": _EPSILON},
    ),
    "budget": ("What is left of a dataset's privacy budget. Free.", {"dataset": _DATASET}),
    "sample": (
        "Release one private row, drawn at random and charged to the budget for good. " + NOTICE,
        {"dataset": _DATASET, "epsilon": _EPSILON},
    ),
}


def server_of(desk: Desk) -> Server[Any]:
    """Return a server whose tools are those of a desk."""

    async def list_tools(_: object, __: object) -> protocol.ListToolsResult:
        return protocol.ListToolsResult(
            tools=[
                protocol.Tool(
                    name=name,
                    description=told,
                    input_schema={
                        "type": "object",
                        "properties": fields,
                        "required": list(fields),
                        "additionalProperties": False,
                    },
                )
                for name, (told, fields) in _TOOLS.items()
            ]
        )

    async def call_tool(
        _: object, asked: protocol.CallToolRequestParams
    ) -> protocol.CallToolResult:
        arguments = asked.arguments or {}
        try:
            # A release goes on when the call is cancelled: its charge stands.
            answer = await anyio.to_thread.run_sync(desk.answer, asked.name, arguments)
        except Refused as refused:
            return _result({"refused": str(refused)}, is_error=True)
        return _result(answer, is_error=False)

    return Server(
        "dproo", version=str(__version__), on_list_tools=list_tools, on_call_tool=call_tool
    )


def _result(answer: dict[str, Any], *, is_error: bool) -> protocol.CallToolResult:
    text = protocol.TextContent(type="text", text=json.dumps(answer))
    return protocol.CallToolResult(content=[text], structured_content=answer, is_error=is_error)


def serve(desk: Desk) -> None:
    """Answer until the other end closes."""

    async def run() -> None:
        server = server_of(desk)
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(run)
