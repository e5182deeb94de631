"""The gate: the checks that a request must pass before any part of the page sees it.

The page listens only on this machine, but every site in the same browser can reach it, and so
can every other user of the machine. A request passes if its Host is ours (not a rebound name) and
if it comes from one of our pages; only the entrance may be opened from elsewhere, in its own
tab. Everything behind it needs a key (:class:`dproo.web.gate.Lock`). Every answer forbids
caching, framing and content from other sites.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dproo.web.answering import Refusal, refused, values

HTTP = 80
BODY_MAX = 64 << 10
CODEBOOK_MAX = 1 << 20
TARGET_MAX = 4 << 10

ENTRANCE = "/"
_WITH_CODEBOOK = {
    f"/api/{name}" for name in ("codebook", "row-plan", "table-plan", "enough", "order")
}

_SAFE = {"GET", "HEAD"}
_FORM, _JSON = "application/x-www-form-urlencoded", "application/json"
_POLICY = (
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action {forms};"
    " frame-ancestors 'none'"
)
_HEADERS = {
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


class Gate:
    """Let through only requests from our own pages, and visitors at the entrance.

    Guarantee: the page sees a request only if every check of :meth:`refusal` passed.
    """

    def __init__(self, app: ASGIApp, *, port: int) -> None:
        self._app = app
        end = "" if port == HTTP else f":{port}"  # browsers leave it out
        self._hosts = {f"{name}{end}" for name in ("127.0.0.1", "localhost")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request: refuse it, or pass it on with its whole body."""
        if scope["type"] != "http":
            return
        guarded = _Guarded(send, is_entrance=scope["path"] == ENTRANCE)
        refusal = self.refusal(scope)
        if refusal is None:
            body = await _body(receive, _most(scope))
            if body is not None:
                await self._pass(scope, body, receive, guarded)
                return
            refusal = _too_large(scope)
        await refused(refusal, scope)(scope, receive, guarded)

    async def _pass(self, scope: Scope, body: bytes, receive: Receive, guarded: _Guarded) -> None:
        parts: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return parts.pop() if parts else await receive()

        try:
            await self._app(scope, replay, guarded)
        except Exception:  # noqa: BLE001 - a traceback in a log could quote the data
            if not guarded.is_begun:
                bug = Refusal(500, "this is a bug in dproo; no detail is shown.")
                await refused(bug, scope)(scope, receive, guarded)

    def refusal(self, scope: Scope) -> Refusal | None:
        """Return why a request may not pass, or None."""
        hosts = values(scope, "host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return Refusal(421, "the page answers only at the address that dproo serve printed.")
        if len(scope["raw_path"]) + len(scope["query_string"]) > TARGET_MAX:
            return Refusal(414, f"the address must be at most {TARGET_MAX} bytes.")
        if scope["method"] not in {*_SAFE, "POST"}:
            return Refusal(405, "method must be GET or POST.")
        if scope["path"] == ENTRANCE:
            return _entrance_refusal(scope, hosts[0])
        if not set(values(scope, "sec-fetch-site")) <= {"same-origin", "none"}:
            return Refusal(403, "the request must come from this page.")
        return None if scope["method"] in _SAFE else _unsafe_refusal(scope, hosts[0])


class _Guarded:
    """Send one answer, with the headers that all answers have."""

    def __init__(self, send: Send, *, is_entrance: bool) -> None:
        self._send = send
        policy = _POLICY.format(forms="'self'" if is_entrance else "'none'")
        self._headers = [
            (name.encode(), value.encode())
            for name, value in {"content-security-policy": policy, **_HEADERS}.items()
        ]
        self.is_begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.is_begun = True
            message["headers"] = [*message["headers"], *self._headers]
        await self._send(message)


def _entrance_refusal(scope: Scope, host: str) -> Refusal | None:
    """Return why a visitor may not use the entrance, or None.

    A link may be opened from anywhere, but as a top-level page. A token arrives in a form: the
    entrance's, or the one in the file that a browser is launched with, whose origin is null.
    """
    if not set(values(scope, "sec-fetch-dest")) <= {"document"}:
        return Refusal(403, "the entrance must be opened in a tab of its own.")
    if scope["method"] in _SAFE:
        return None
    origins = set(values(scope, "origin"))
    sites = set(values(scope, "sec-fetch-site"))
    if not (origins <= {f"http://{host}", "null"} and sites <= {"same-origin", "cross-site"}):
        return Refusal(403, "the request must come from the link that dproo serve printed.")
    return _body_refusal(scope, _FORM)


def _unsafe_refusal(scope: Scope, host: str) -> Refusal | None:
    """Return why a request that may change something may not pass, or None."""
    if values(scope, "origin") != [f"http://{host}"]:
        return Refusal(403, "origin must be this page.")
    if not set(values(scope, "sec-fetch-site")) <= {"same-origin"}:
        return Refusal(403, "the request must come from this page.")
    return _body_refusal(scope, _JSON)


_LONGEST = 19  # digits of a length


def _body_refusal(scope: Scope, kind: str) -> Refusal | None:
    kinds = [text.partition(";")[0].strip().lower() for text in values(scope, "content-type")]
    if kinds != [kind]:
        return Refusal(415, f"the body must be {'JSON' if kind == _JSON else 'a form'}.")
    length = values(scope, "content-length")
    is_number = length and length[0].isascii() and length[0].isdigit() and len(length[0]) < _LONGEST
    if length and not (is_number and int(length[0]) <= _most(scope)):
        return _too_large(scope)
    return None


def _most(scope: Scope) -> int:
    """Return the most bytes of a body; a code book may be longer than anything else."""
    return CODEBOOK_MAX if scope["path"] in _WITH_CODEBOOK else BODY_MAX


def _too_large(scope: Scope) -> Refusal:
    return Refusal(413, f"the body must be at most {_most(scope)} bytes.")


async def _body(receive: Receive, most: int) -> bytes | None:
    """Return the whole body, or None if it is too large, or was cut by the end of its client."""
    body = bytearray()
    while len(body) <= most:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if not message.get("more_body"):
            return bytes(body) if len(body) <= most else None
    return None


LINK_SECONDS = 600
KEY_HEADER = "dproo-key"


class Door:
    """Hand out links, and open for the first use of one.

    A link carries a token after its ``#``, where no server and no Referer sees it. The token is
    exchanged for a key, which the browser keeps in one tab and sends in its own header: unlike a
    cookie, it is not sent to other ports of this machine.

    Guarantee: a token opens at most once, within ten minutes, and not after a newer one was made.
    """

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self._guard = threading.Lock()
        self._token: str | None = None
        self._until = 0.0
        self._gone: Callable[[], None] | None = None
        self._keys: list[str] = []

    def link(self, *, gone: Callable[[], None] | None = None) -> str:
        """Return a new link and void an unused one; ``gone`` is called once it is used or void."""
        token = secrets.token_urlsafe(32)
        with self._guard:
            self._token, self._until = token, time.monotonic() + LINK_SECONDS
            self._gone, last = gone, self._gone
        if last is not None:
            last()
        return f"{self.origin}/#{token}"

    def open(self, token: str) -> str | None:
        """Return a new key for the token of the newest link, once."""
        key = secrets.token_urlsafe(32)
        with self._guard:
            if self._token is None or not _is_equal(token, self._token):
                return None
            self._token = None
            if time.monotonic() > self._until:
                return None
            self._keys.append(key)
            self._gone, last = None, self._gone
        if last is not None:
            last()
        return key

    def fits(self, key: str) -> bool:
        """Return whether this door handed out a key."""
        with self._guard:
            return any(_is_equal(key, known) for known in self._keys)


class Lock:
    """Let through to an application only requests with a key of the door.

    Guarantee: the application sees no request without one.
    """

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self._app = app
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        given = values(scope, KEY_HEADER)
        if len(given) == 1 and self._door.fits(given[0]):
            await self._app(scope, receive, send)
        else:
            refusal = Refusal(403, "this tab has no key: open the link that dproo serve printed.")
            await refused(refusal, scope)(scope, receive, send)


def _is_equal(given: str, secret: str) -> bool:
    return secrets.compare_digest(given.encode(), secret.encode())


PATIENCE = 600
"""Seconds for which something can be confirmed."""

_MOST = 32

Shown = TypeVar("Shown")


class Nonces(Generic[Shown]):
    """Hold what was shown until it is confirmed by its nonce.

    Guarantee: everything is returned at most once, for the nonce that it was shown with.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, tuple[float, Shown]] = {}

    def add(self, shown: Shown) -> str:
        """Hold what was shown and return its nonce; if there are too many, drop the oldest."""
        nonce = secrets.token_urlsafe(32)
        with self._lock:
            self._waiting[nonce] = time.monotonic() + PATIENCE, shown
            while len(self._waiting) > _MOST:
                del self._waiting[next(iter(self._waiting))]
        return nonce

    def take(self, nonce: object) -> Shown:
        """Return what was shown with a nonce, once; refuse one that was used or is too old."""
        with self._lock:
            held = self._waiting.pop(nonce, None) if isinstance(nonce, str) else None
        if held is None or held[0] < time.monotonic():
            raise ValueError(
                "this review is older than ten minutes, or was already confirmed. Review it again."
            )
        return held[1]
