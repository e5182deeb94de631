"""The door: links that work once, and the keys that they are exchanged for."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from dproo.web.rendering import Refusal, refused, values

LINK_SECONDS = 600
KEY_HEADER = "dproo-key"


def _nothing() -> None:
    pass


class Door:
    """Hand out links, and open to whoever brings one for the first time.

    A link carries a token behind its ``#``, where no server and no Referer sees it. The token
    is exchanged for a key, which a browser keeps in one tab and sends in a header of its own:
    unlike a cookie it goes to no other port of this machine.

    Guarantee: a token opens once at most, within ten minutes, and not after a newer one was made.
    """

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self._guard = threading.Lock()
        self._token: str | None = None
        self._until = 0.0
        self._gone: Callable[[], None] = _nothing
        self._keys: list[str] = []

    def link(self, *, gone: Callable[[], None] = _nothing) -> str:
        """Return a new link and void an unused one; ``gone`` is called when it is used or void."""
        token = secrets.token_urlsafe(32)
        with self._guard:
            self._token, self._until = token, time.monotonic() + LINK_SECONDS
            self._gone, last = gone, self._gone
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
            self._gone, last = _nothing, self._gone
        last()
        return key

    def fits(self, key: str) -> bool:
        """Tell whether a key was handed out by this door."""
        with self._guard:
            return any(_is_equal(key, known) for known in self._keys)


class Lock:
    """Let through to an application only what carries a key of the door.

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
