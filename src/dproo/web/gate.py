"""The gate: what a request must be before anything of the page sees it.

The page listens on this machine only, but every site in the same browser can reach it there,
and so can every other user of the machine. A request passes if its Host is ours (no name that
was rebound to this address), if it carries the secret of this launch, and, where it could
change something, if it comes from a page of ours. Every answer forbids caching, framing and
everything that is not our own.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie
from typing import NamedTuple
from urllib.parse import parse_qs

from starlette.types import ASGIApp, Message, Receive, Scope, Send

BODY_MAX = 64 << 10
TARGET_MAX = 4 << 10

ENTRANCE = "/"
FIRST_ROOM = "/plan"

_SAFE = {"GET", "HEAD"}
_HEADERS = {
    "content-security-policy": (
        "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none';"
        " frame-ancestors 'none'"
    ),
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


class Refusal(NamedTuple):
    """An HTTP status and the sentence that goes with it."""

    status: int
    sentence: str


class Gate:
    """Let only requests of the person who started the page through.

    Args:
        app: the page.
        port: the port that it listens on.
        token: the secret in the address that was printed at the launch.

    Guarantee: the page sees a request only if every check of :meth:`refusal` passed.
    """

    def __init__(self, app: ASGIApp, *, port: int, token: str) -> None:
        self._app = app
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        self._token = token
        self._cookie = f"dproo-{port}"
        self._session = secrets.token_urlsafe(32)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request: refuse it, open the door, or pass it on with its whole body."""
        if scope["type"] != "http":
            return
        guarded = _Guarded(send)
        refusal = self.refusal(scope)
        if refusal is not None:
            await guarded.refuse(refusal)
        elif scope["path"] == ENTRANCE:
            await guarded.redirect(FIRST_ROOM, cookie=f"{self._cookie}={self._session}")
        elif (body := await _body(receive)) is None:
            await guarded.refuse(_too_large())
        else:
            await self._pass(scope, body, receive, guarded)

    async def _pass(self, scope: Scope, body: bytes, receive: Receive, guarded: _Guarded) -> None:
        parts: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return parts.pop() if parts else await receive()

        try:
            await self._app(scope, replay, guarded)
        except Exception:  # noqa: BLE001 - a traceback in a log could quote the data
            await guarded.refuse(Refusal(500, "this is a bug in dproo; no detail is shown."))

    def refusal(self, scope: Scope) -> Refusal | None:
        """Return why a request may not pass, or nothing."""
        hosts = _values(scope, "host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return Refusal(421, "host must be the address that dproo serve printed.")
        if len(scope["raw_path"]) + len(scope["query_string"]) > TARGET_MAX:
            return Refusal(414, f"the address must be at most {TARGET_MAX} bytes.")
        if scope["method"] not in {*_SAFE, "POST"}:
            return Refusal(405, "method must be GET or POST.")
        if not self._is_known(scope):
            return Refusal(403, "open the address that dproo serve printed: it holds the token.")
        return None if scope["method"] in _SAFE else _unsafe_refusal(scope, hosts[0])

    def _is_known(self, scope: Scope) -> bool:
        """Tell whether a request holds the session, or opens one with the token."""
        if any(_is_equal(value, self._session) for value in _cookies(scope, self._cookie)):
            # Other sites get no cookie sent (SameSite); browsers say so besides.
            return set(_values(scope, "sec-fetch-site")) <= {"same-origin", "none"}
        if scope["path"] != ENTRANCE or scope["method"] not in _SAFE:
            return False
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        return len(given) == 1 and _is_equal(given[0], self._token)


class _Guarded:
    """Send one answer, with the headers that every answer has."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._is_begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._is_begun = True
            kept = [pair for pair in message["headers"] if pair[0].decode() not in _HEADERS]
            message["headers"] = kept + _encoded(_HEADERS.items())
        await self._send(message)

    async def refuse(self, refusal: Refusal) -> None:
        """Send a refusal, unless an answer is under way."""
        if not self._is_begun:
            body = json.dumps({"error": refusal.sentence}).encode()
            await self._answer(refusal.status, body, [("content-type", "application/json")])

    async def redirect(self, path: str, *, cookie: str) -> None:
        """Give the browser its cookie and send it on, so that the token leaves the address."""
        attributes = "; HttpOnly; SameSite=Strict; Path=/"
        await self._answer(303, b"", [("location", path), ("set-cookie", cookie + attributes)])

    async def _answer(self, status: int, body: bytes, headers: list[tuple[str, str]]) -> None:
        headers = [*headers, ("content-length", str(len(body)))]
        await self({"type": "http.response.start", "status": status, "headers": _encoded(headers)})
        await self({"type": "http.response.body", "body": body})


def _unsafe_refusal(scope: Scope, host: str) -> Refusal | None:
    """Return why a request that could change something may not pass, or nothing."""
    if _values(scope, "origin") != [f"http://{host}"]:
        return Refusal(403, "origin must be this page.")
    if not set(_values(scope, "sec-fetch-site")) <= {"same-origin"}:
        return Refusal(403, "the request must come from this page.")
    kinds = [kind.partition(";")[0].strip().lower() for kind in _values(scope, "content-type")]
    if kinds != ["application/json"]:
        return Refusal(415, "the body must be JSON.")
    length = _values(scope, "content-length")
    if length and not (length[0].isascii() and length[0].isdigit() and int(length[0]) <= BODY_MAX):
        return _too_large()
    return None


def _too_large() -> Refusal:
    return Refusal(413, f"the body must be at most {BODY_MAX} bytes.")


async def _body(receive: Receive) -> bytes | None:
    """Return the whole body, or nothing if it is too large."""
    body = bytearray()
    while len(body) <= BODY_MAX:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            return bytes(body) if len(body) <= BODY_MAX else None
    return None


def _values(scope: Scope, name: str) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name.encode()]


def _cookies(scope: Scope, name: str) -> list[str]:
    found: list[str] = []
    for header in _values(scope, "cookie"):
        try:
            jar = SimpleCookie(header)
        except CookieError:
            continue
        found += [morsel.value for key, morsel in jar.items() if key == name]
    return found


def _is_equal(given: str, secret: str) -> bool:
    return secrets.compare_digest(given.encode(), secret.encode())


def _encoded(headers: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers]
