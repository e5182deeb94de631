"""The gate: what a request must be before anything of the page sees it.

The page listens on this machine only, but every site in the same browser can reach it there,
and so can every other user of the machine. A request passes if its Host is ours (no name that
was rebound to this address) and if it comes from a page of ours; only the entrance may be
opened from elsewhere, in a tab of its own. What may be read behind it needs a key
(:class:`dproo.web.door.Lock`). Every answer forbids caching, framing and everything that is not
our own.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dproo.web.rendering import Refusal, refused, values

BODY_MAX = 64 << 10
CODEBOOK_MAX = 1 << 20
TARGET_MAX = 4 << 10

ENTRANCE = "/"
_WITH_CODEBOOK = {f"/api/{name}" for name in ("codebook", "row-plan", "check", "order")}

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
    """Let only requests of our own pages, and visitors at the entrance, through.

    Args:
        app: the page.
        port: the port that it listens on.

    Guarantee: the page sees a request only if every check of :meth:`refusal` passed.
    """

    def __init__(self, app: ASGIApp, *, port: int) -> None:
        self._app = app
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}

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
            refusal = _too_large(_most(scope))
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
        """Return why a request may not pass, or nothing."""
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
    """Send one answer, with the headers that every answer has."""

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
    """Return why somebody may not stand at the entrance, or nothing.

    A link is opened from anywhere, but as a page of its own. A token arrives in a form: that of
    the entrance, or that of the file that the launch handed to the browser, whose origin is null.
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
    """Return why a request that could change something may not pass, or nothing."""
    if values(scope, "origin") != [f"http://{host}"]:
        return Refusal(403, "origin must be this page.")
    if not set(values(scope, "sec-fetch-site")) <= {"same-origin"}:
        return Refusal(403, "the request must come from this page.")
    return _body_refusal(scope, _JSON)


def _body_refusal(scope: Scope, kind: str) -> Refusal | None:
    kinds = [text.partition(";")[0].strip().lower() for text in values(scope, "content-type")]
    if kinds != [kind]:
        return Refusal(415, f"the body must be {'JSON' if kind == _JSON else 'a form'}.")
    length = values(scope, "content-length")
    if length and not (
        length[0].isascii() and length[0].isdigit() and int(length[0]) <= _most(scope)
    ):
        return _too_large(_most(scope))
    return None


def _most(scope: Scope) -> int:
    """Return how long a body may be; a code book is longer than anything else."""
    return CODEBOOK_MAX if scope["path"] in _WITH_CODEBOOK else BODY_MAX


def _too_large(most: int) -> Refusal:
    return Refusal(413, f"the body must be at most {most} bytes.")


async def _body(receive: Receive, most: int) -> bytes | None:
    """Return the whole body, or nothing if it is too large."""
    body = bytearray()
    while len(body) <= most:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            return bytes(body) if len(body) <= most else None
    return None
