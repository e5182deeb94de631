"""Public questions, each answered in its own process, and only while a client waits.

Questions can take long, but never hold up the page: they share no process with it, only a few run
at once, and only some of these for one tab. One that is no longer wanted is killed: when its client
has disconnected, or when the same place of the same tab asks the next one.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from dproo.report import object_of
from dproo.web.answering import refusing, response, while_wanted
from dproo.web.worker import LENGTH, SECONDS, Worker

PLACE_HEADER: Final = "dproo-place"
"""Names the asking tab, and the place in it that waits: ``TAB.PLACE``."""

AT_ONCE = 4
AT_ONCE_FOR_A_TAB = 2
WAITING_FOR_A_TAB = 16
REMEMBERED = 256

_FOUND = 200
_TOO_LONG = f"this question takes longer than {SECONDS} s to answer. Ask for less of it."
_TOO_MANY = "a tab can wait for 16 answers at once; this is one more. Ask again later."
_REPLACED = "the same place of the page has asked another question since."


class Pool:
    """Answer public questions in processes that can be killed.

    The worker, which forks them, is replaced if it is killed.

    Guarantee: at most ``AT_ONCE`` run, for at most ``SECONDS``, at most half of them for one tab.
    """

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._running = asyncio.Semaphore(AT_ONCE)
        self._tabs: defaultdict[str, asyncio.Semaphore] = defaultdict(
            lambda: asyncio.Semaphore(AT_ONCE_FOR_A_TAB)
        )
        self._waiting: Counter[str] = Counter()
        self._places: dict[str, asyncio.Future[Response]] = {}
        self._known: OrderedDict[tuple[str, str], asyncio.Future[Response]] = OrderedDict()

    def prepare(self, questions: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
        """Answer public questions before anybody asks them."""
        for name, fields in questions:
            key = _key(name, fields)
            self._known[key] = asyncio.ensure_future(self._answer("nobody", name, fields))
            self._known[key].add_done_callback(partial(self._keep_found, key))

    def _keep_found(self, key: tuple[str, str], answer: asyncio.Future[Response]) -> None:
        """Forget a question without an answer, so that it is answered when it is asked."""
        has_failed = answer.cancelled() or answer.exception()
        if has_failed or answer.result().status_code != _FOUND:
            self._known.pop(key, None)

    def stop(self) -> None:
        """End all answers in progress."""
        for answer in self._known.values():
            answer.cancel()
        self._worker.stop()

    async def ask(self, name: str, request: Request) -> Response:
        """Return the answer to the question in an address or an object."""
        if request.method == "GET":
            fields: Mapping[str, Any] = dict(request.query_params)
        else:
            try:
                fields = object_of(await request.body())
            except (TypeError, ValueError) as error:
                return refusing(str(error))
        # Except draws, which are posted, the same question has the same answer.
        key = _key(name, fields)
        if request.method == "GET" and key in self._known:
            self._known.move_to_end(key)
            return await while_wanted(request, asyncio.shield(self._known[key]))
        place = request.headers.get(PLACE_HEADER, "")
        place = place if re.fullmatch(r"[\w-]{1,64}\.[\w-]{1,64}", place, re.ASCII) else ""
        answer = await self._wanted(request, place, name, fields)
        if request.method == "GET" and answer.status_code == _FOUND:
            self._known[key] = asyncio.get_running_loop().create_future()
            self._known[key].set_result(answer)
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return answer

    async def _wanted(
        self, request: Request, place: str, name: str, fields: Mapping[str, Any]
    ) -> Response:
        """Return the answer, unless the same place asks another question first."""
        tab = place.partition(".")[0]
        if self._waiting[tab] >= WAITING_FOR_A_TAB and place not in self._places:
            return refusing(_TOO_MANY, status=429)
        replaced: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        if place:
            if (before := self._places.get(place)) and not before.done():
                before.set_result(refusing(_REPLACED, status=409))
            self._places[place] = replaced
        self._waiting[tab] += 1
        try:
            return await while_wanted(request, self._answer(tab, name, fields), replaced)
        finally:
            self._waiting -= Counter({tab: 1})
            if self._places.get(place) is replaced:
                del self._places[place]
            if not self._waiting[tab]:
                self._tabs.pop(tab, None)

    async def _answer(self, tab: str, name: str, fields: Mapping[str, Any]) -> Response:
        async with self._tabs[tab], self._running:
            for _ in range(2):
                worker = self._worker
                with suppress(BrokenPipeError, ConnectionResetError):
                    if (answer := await self._forked(worker, name, fields)) is not None:
                        return answer
                if not worker.is_gone:
                    break
                if self._worker is worker:  # no other question has replaced it yet
                    worker.stop()
                    self._worker = Worker.start()
        return refusing(_TOO_LONG)

    async def _forked(
        self, worker: Worker, name: str, fields: Mapping[str, Any]
    ) -> Response | None:
        """Return the answer, or None if its process was ended first."""
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(worker.control, [b"?"], [theirs.fileno()])
        ours.setblocking(False)  # noqa: FBT003 - its own name
        reader, writer = await asyncio.open_connection(sock=ours)
        try:
            sent = json.dumps([name, fields]).encode()
            writer.write(LENGTH.pack(len(sent)) + sent)
            answer = await reader.read()
        finally:
            writer.transport.abort()  # which kills a process that still answers
        status, _, text = answer.decode().partition(" ")
        return response(int(status), text) if status else None


def _key(name: str, fields: Mapping[str, Any]) -> tuple[str, str]:
    return name, json.dumps(fields, sort_keys=True)
