"""A server of the Model Context Protocol for AI agents, over standard input and output."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import anyio
import anyio.to_thread
import mcp.types as protocol
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from dproo import __version__
from dproo.integrations.agent import NOTICE, Desk, Refused

_TOGETHER = 0.2  # seconds; a supervisor may send SIGTERM and SIGHUP at once
_DATASET = {"type": "string", "description": "A name from describe."}
_EPSILON = {"type": ["string", "number"], "description": "The privacy parameter, such as 0.5."}
_TOOLS: dict[str, tuple[str, dict[str, Any]]] = {
    "describe": ("List the datasets, their columns and their possible values. Free.", {}),
    "plan": (
        "How close to the data a private row from n records, or people if counted, is. Free.",
        {"dataset": _DATASET, "n": {"type": "integer"}, "epsilon": _EPSILON},
    ),
    "budget": ("What is left of a dataset's privacy budget. Free.", {"dataset": _DATASET}),
    "sample": (
        "Release one private row, drawn at random and permanently charged to the budget. " + NOTICE,
        {"dataset": _DATASET, "epsilon": _EPSILON},
    ),
    "rows": (
        "Draw synthetic rows from a model that was released before, if there is one. Free. "
        + NOTICE,
        {"dataset": _DATASET, "rows": {"type": "integer", "description": "At most 1000."}},
    ),
    "schema_with_rows": (
        "The columns and three synthetic rows as text, if there is a model. Free. " + NOTICE,
        {"dataset": _DATASET},
    ),
}


class Running:
    """The calls in progress, which the program waits for before it ends."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._count = 0
        self._ending_since: float | None = None

    def answer(
        self, desk: Desk, tool: str, arguments: dict[str, Any], is_awaited: Callable[[], bool]
    ) -> dict[str, Any]:
        """Return the answer of a tool; nothing is charged once the program ends."""
        with self._changed:
            self._count += 1
        try:
            return desk.answer(
                tool, arguments, is_awaited=lambda: self._ending_since is None and is_awaited()
            )
        finally:
            with self._changed:
                self._count -= 1
                self._changed.notify_all()

    def end(self, number: int) -> None:
        """End the program on a signal, after recording what was charged; on a later one, at once.

        Signals that come together are one. The thread that reads standard input cannot be
        interrupted, so it is abandoned.
        """
        with self._changed:
            now = time.monotonic()
            if self._ending_since is None:
                self._ending_since = now
                self._changed.wait_for(lambda: self._count == 0)
            elif now - self._ending_since < _TOGETHER:
                return
        os._exit(128 + number)

    def leave_to_signal(self) -> None:
        """Wait for a signal's end of the program, if one came before the input ended."""
        if self._ending_since is not None:
            threading.Event().wait()


_RUNNING = Running()


def server_of(desk: Desk, *, is_read: Callable[[], bool] = lambda: True) -> Server[Any]:
    """Return a server with the tools of a desk.

    Plans are made one after another, since each takes a core for a second: an agent that asks for
    many at once delays only its plans. Nothing is charged for a call that was cancelled, or if
    nobody reads the answers.
    """
    plans = anyio.CapacityLimiter(1)

    async def list_tools(_: object, __: object) -> protocol.ListToolsResult:
        return protocol.ListToolsResult(
            tools=[
                protocol.Tool(
                    name=name,
                    description=description,
                    input_schema={
                        "type": "object",
                        "properties": fields,
                        "required": list(fields),
                        "additionalProperties": False,
                    },
                )
                for name, (description, fields) in _TOOLS.items()
            ]
        )

    async def call_tool(_: object, call: protocol.CallToolRequestParams) -> protocol.CallToolResult:
        limiter = plans if call.name == "plan" else None
        is_over = threading.Event()

        async def notice_the_end() -> None:
            try:
                await anyio.sleep_forever()
            finally:
                is_over.set()

        async with anyio.create_task_group() as group:
            group.start_soon(notice_the_end)
            try:
                # A release that was charged continues even if its call is cancelled.
                answer = await anyio.to_thread.run_sync(
                    _RUNNING.answer,
                    desk,
                    call.name,
                    call.arguments or {},
                    lambda: not is_over.is_set() and is_read(),
                    limiter=limiter,
                )
                result = _result(answer, is_error=False)
            except Refused as refused:
                result = _result({"refused": str(refused)}, is_error=True)
            group.cancel_scope.cancel()
        return result

    return Server(
        "dproo", version=str(__version__), on_list_tools=list_tools, on_call_tool=call_tool
    )


def _result(answer: dict[str, Any], *, is_error: bool) -> protocol.CallToolResult:
    text = protocol.TextContent(type="text", text=json.dumps(answer))
    return protocol.CallToolResult(content=[text], structured_content=answer, is_error=is_error)


def _unread(message: SessionMessage | Exception) -> SessionMessage | None:
    """Return the answer to a line that the SDK cannot read and would leave unanswered."""
    asked: Any = None
    if isinstance(message, ValidationError):
        faults = message.errors(include_url=False)
        # What lacks a field of a request or of an answer is the whole object, or else the line.
        whole = (one for one in faults if one["type"] == "missing" and len(one["loc"]) == 2)
        asked = next(whole, faults[0])["input"]
    elif not _lacks_id(message):
        return None
    if isinstance(asked, str):
        if not asked.strip():
            return None
        try:
            # A longer integer is read as a float, which cannot be an id.
            asked = json.loads(
                asked,
                parse_int=lambda digits: int(digits) if len(digits) < 20 else float(digits),
            )
        except (ValueError, RecursionError):
            asked = None
    sentence = (
        "A request must be JSON-RPC with an id, not deeply nested, its text valid Unicode, and no"
        " number too long. Nothing was charged."
    )
    error = protocol.ErrorData(code=protocol.INVALID_REQUEST, message=sentence)
    number = asked.get("id") if isinstance(asked, dict) else None
    try:
        answer = protocol.JSONRPCError(jsonrpc="2.0", id=number, error=error)
        answer.model_dump_json()
    except ValueError:  # it cannot be an id, or cannot be written
        answer = protocol.JSONRPCError(jsonrpc="2.0", id=None, error=error)
    return SessionMessage(answer)


def _lacks_id(message: SessionMessage | Exception) -> bool:
    """Return whether the SDK takes a request for a notification, as its id is none."""
    sent = message.message if isinstance(message, SessionMessage) else None
    if not isinstance(sent, protocol.JSONRPCNotification):
        return False
    return not sent.method.startswith("notifications/")


async def _relay(incoming: Any, send: Any, outgoing: Any) -> None:
    """Pass on what the SDK has read, and answer what it could not read."""
    async with send:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async for message in incoming:
                refused = _unread(message)
                await (send.send(message) if refused is None else outgoing.send(refused))


def serve(desk: Desk) -> None:
    """Answer until the other end closes, or a signal ends the program.

    Raises:
        ValueError: standard input or output is closed.
    """
    if sys.stdin is None or sys.stdout is None:
        raise ValueError("standard input and output must be open: an agent speaks over them.")
    answers = os.dup(1)  # the SDK takes the descriptor itself

    def is_read() -> bool:
        gone = select.poll()  # one for each thread
        gone.register(answers, 0)
        return not gone.poll(0)

    ends = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)

    async def watch() -> None:
        # The loop's own receiver: any other handler may wait until the loop has something to do.
        with anyio.open_signal_receiver(*ends) as received:
            async for number in received:
                threading.Thread(target=_RUNNING.end, args=[number], daemon=True).start()

    async def run() -> None:
        server = server_of(desk, is_read=is_read)
        async with anyio.create_task_group() as group:
            group.start_soon(watch)
            async with stdio_server() as (incoming, outgoing):
                send, readable = anyio.create_memory_object_stream[SessionMessage | Exception](0)

                group.start_soon(_relay, incoming, send, outgoing)
                await server.run(readable, outgoing, server.create_initialization_options())
            group.cancel_scope.cancel()

    before = {end: signal.getsignal(end) for end in ends}
    try:
        anyio.run(run)
        _RUNNING.leave_to_signal()
    except* BrokenPipeError:
        pass  # the other end closed
    finally:
        os.close(answers)
        for end, handler in before.items():
            signal.signal(end, handler)
