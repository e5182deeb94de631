"""Answers, pages and objects: one sentence if refused, and only while a client waits."""

from __future__ import annotations

from asyncio import (
    FIRST_COMPLETED,
    CancelledError,
    Future,
    Semaphore,
    ensure_future,
    get_running_loop,
    wait,
)
from collections.abc import Awaitable
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from anyio import to_thread
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import Scope

from dproo.report import FAILED, STATUS, USAGE, Action, Fields, answered, json_text

ROOMS = {"release": "Release", "plan": "Plan", "understand": "Understand", "ledger": "Ledger"}

_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
)
_TITLES = {403: "No entry", 404: "Nothing here", 421: "Wrong address"}

_NOBODY = 499
"""The status of an answer that no client receives."""

_LEFT = "dproo serve was ended meanwhile. What was charged stays charged: dproo ledger show."
_NO_THREAD = "the system allows no more threads at the moment. Try again later."
_AT_ONCE = 2
"""How many requests to one address are answered at once; addresses do not wait for each other."""

_pending: set[Future[Response]] = set()
_changing: set[Request] = set()


def _question(method: str, path: str, action: Action) -> Route:
    """Return the route of an action on the query of an address, or on a JSON object."""
    turns = Semaphore(_AT_ONCE)

    async def endpoint(request: Request) -> Response:
        query = {**request.query_params, **request.path_params}
        sent = query if method == "GET" else await request.body()
        return await while_wanted(request, _aside(turns, action, sent))

    return Route(path, endpoint, methods=[method])


get, post = partial(_question, "GET"), partial(_question, "POST")


def change(path: str, action: Action) -> Route:
    """Return the route of a change, which is completed once it has begun.

    The process does not end before it, nor before its answer unless it is interrupted twice.
    """

    async def endpoint(request: Request) -> Response:
        body = await request.body()
        _changing.add(request)
        try:
            return response(*await to_thread.run_sync(answered, action, body))
        except CancelledError:
            return refusing(_LEFT, code=FAILED)
        finally:
            _changing.discard(request)

    return Route(path, endpoint, methods=["POST"])


async def while_wanted(
    request: Request, answer: Awaitable[Response], *others: Future[Response]
) -> Response:
    """Return an answer, or another one that comes first, or stop once no client waits for it.

    A queued answer is then never begun, and nothing waits for a begun one, not even the end of
    the process.
    """
    wanted = ensure_future(answer)
    gone = ensure_future(_gone(request))
    _pending.add(wanted)
    try:
        done, _ = await wait({wanted, gone, *others}, return_when=FIRST_COMPLETED)
        first = wanted if wanted in done else next(iter(done))
        return Response(status_code=_NOBODY) if first.cancelled() else first.result()
    finally:
        _pending.discard(wanted)
        wanted.cancel()
        gone.cancel()


def forget_questions() -> None:
    """Stop waiting for any answer; a change that has begun continues."""
    for answer in _pending:
        answer.cancel()


def is_changing() -> bool:
    """Return whether a change has begun but is not yet answered."""
    return bool(_changing)


async def _gone(request: Request) -> Response:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    return Response(status_code=_NOBODY)


async def _aside(turns: Semaphore, action: Action, sent: Fields | bytes) -> Response:
    """Return the answer of an action, run in its own thread, a few at once."""
    await turns.acquire()
    loop = get_running_loop()
    result: Future[Response] = loop.create_future()

    def end(answer: tuple[int, str]) -> None:
        turns.release()
        if not result.done():  # otherwise nobody waits for it any more
            result.set_result(response(*answer))

    def run() -> None:
        answer = answered(action, sent)
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(end, answer)

    try:
        Thread(target=run, daemon=True).start()
    except RuntimeError:  # there are too many threads
        turns.release()
        return refusing(_NO_THREAD, status=503)
    return await result


def response(status: int, text: str) -> Response:
    """Return the JSON of an object as an answer."""
    return Response(text, status_code=status, media_type="application/json")


def refusing(sentence: str, *, code: int = USAGE, status: int | None = None) -> Response:
    """Return a refusal as the object that a program gets."""
    return response(status or STATUS[code], json_text({"error": sentence, "exit_code": code}))


class Refusal(NamedTuple):
    """An HTTP status and its sentence."""

    status: int
    sentence: str


def render(name: str, **known: Any) -> str:
    """Return the page of a template."""
    return _TEMPLATES.get_template(f"{name}.html").render(name=name, rooms=ROOMS, **known)


def refused(refusal: Refusal, scope: Scope) -> Response:
    """Return a refusal: a page for a visitor, JSON for a program."""
    status, sentence = refusal
    if not any("text/html" in kinds for kinds in values(scope, "accept")):
        return JSONResponse({"error": sentence}, status_code=status)
    title = _TITLES.get(status, HTTPStatus(status).phrase)
    shown = sentence[0].upper() + sentence[1:]
    return HTMLResponse(
        render("refused", title=title, sentence=shown, status=status), status_code=status
    )


def values(scope: Scope, name: str) -> list[str]:
    """Return all values of one header of a request."""
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name.encode()]
