"""Answers: made in a thread, one sentence where refused, and only while somebody waits."""

from __future__ import annotations

import json
from asyncio import CancelledError, Future, Semaphore, get_running_loop
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import Any

from anyio import CancelScope, create_task_group, to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dproo.report import BUG, FAILED, REFUSED, USAGE, verdict, versioned

_STATUS = {USAGE: 400, REFUSED: 409, FAILED: 500, BUG: 500}
_NOBODY = 499
"""The status of an answer that nobody receives."""

_LEFT = "dproo serve was ended meanwhile. What was charged stays charged: dproo ledger show."

_AT_ONCE = Semaphore(4)
_asked: set[CancelScope] = set()
_changing: set[Request] = set()

Fields = Mapping[str, Any]
Action = Callable[[Fields], dict[str, Any]]


def get(path: str, action: Action) -> Route:
    """Return the route of a question that the query of an address poses."""

    async def endpoint(request: Request) -> Response:
        fields = {**request.query_params, **request.path_params}
        return await while_wanted(request, partial(_answer, action, fields))

    return Route(path, endpoint, methods=["GET"])


def post(path: str, action: Action) -> Route:
    """Return the route of a question that an object poses."""

    async def endpoint(request: Request) -> Response:
        return await while_wanted(request, partial(_answer, action, await request.body()))

    return Route(path, endpoint, methods=["POST"])


def change(path: str, action: Action) -> Route:
    """Return the route of a change: once it has begun, it is carried out.

    The process ends after it, and after its answer unless it is interrupted twice.
    """

    async def endpoint(request: Request) -> Response:
        body = await request.body()
        _changing.add(request)
        try:
            return await to_thread.run_sync(_answer, action, body)
        except CancelledError:
            return _json({"error": _LEFT, "exit_code": FAILED}, _STATUS[FAILED])
        finally:
            _changing.discard(request)

    return Route(path, endpoint, methods=["POST"])


async def while_wanted(request: Request, answer: Callable[[], Response]) -> Response:
    """Return an answer, or stop waiting for it as soon as nobody else does.

    A question that waits for its turn is then never asked. One that is being answered cannot be
    stopped, but nothing waits for it, not even the end of the process.
    """
    found = Response(status_code=_NOBODY)
    async with create_task_group() as tasks:

        async def watch() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass
            tasks.cancel_scope.cancel()

        tasks.start_soon(watch)
        _asked.add(tasks.cancel_scope)
        try:
            found = await _aside(answer)
        finally:
            _asked.discard(tasks.cancel_scope)
        tasks.cancel_scope.cancel()
    return found


def forget_questions() -> None:
    """Stop waiting for the answer to any question; a change that has begun goes on."""
    for scope in _asked:
        scope.cancel()


def is_changing() -> bool:
    """Tell whether a change has begun and is not answered yet."""
    return bool(_changing)


async def _aside(answer: Callable[[], Response]) -> Response:
    """Return what is answered in a thread of its own, a few at once."""
    await _AT_ONCE.acquire()
    loop = get_running_loop()
    found: Future[Response] = loop.create_future()

    def end(response: Response) -> None:
        _AT_ONCE.release()
        if not found.done():  # else nobody waits for it any more
            found.set_result(response)

    def run() -> None:
        response = answer()
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(end, response)

    Thread(target=run, daemon=True).start()
    return await found


def _answer(action: Action, sent: Fields | bytes) -> Response:
    """Return what an action makes of a request, or the one sentence that refuses it."""
    try:
        fields = _object(sent) if isinstance(sent, bytes) else sent
        return _json(versioned(action(fields)), 200)
    except Exception as error:  # noqa: BLE001 - as on the command line
        code, sentence = verdict(error)
        return _json({"error": sentence, "exit_code": code}, _STATUS[code])


def _json(content: Mapping[str, Any], status: int) -> Response:
    """Return an object in ASCII: a file's name need not be Unicode, and is handed back as it is."""
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return Response(text, status_code=status, media_type="application/json")


def _object(body: bytes) -> Fields:
    try:
        fields = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise ValueError("the body must be JSON.") from None
    if not isinstance(fields, dict):
        raise TypeError("the body must be a JSON object.")
    return fields


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON.")
