"""The application: the entrance, the rooms, their files, and the objects behind them."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route, Router
from starlette.types import ASGIApp

from dproo.ledger import Address
from dproo.mechanisms import AUTO, PLAIN, SAMPLERS
from dproo.receipt import STATED
from dproo.schema.codebook import FIELD_TYPES
from dproo.study.distributions import SHAPES
from dproo.web.answering import ROOMS, Refusal, refused, render
from dproo.web.api import Api
from dproo.web.folder import Folder
from dproo.web.forecasts import LEVELS
from dproo.web.gate import ENTRANCE, Door, Gate, Lock
from dproo.web.pool import Pool
from dproo.web.questions import BOUND, PAINTED_LETTERS_MAX, PLAN_START

_SPENT = Refusal(
    403,
    "this link was used before, or is no longer valid."
    " If somebody else has used it, end dproo serve now.",
)
_STATIC = Path(__file__).parent / "static"
_KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def application(*, folder: Folder, ledger: Address, door: Door, pool: Pool) -> ASGIApp:
    """Return the page for one launch, behind its gate.

    Everything outside ``/api`` is the same for everyone: it is open, and contains nothing of the
    folder or the ledger. All of ``/api`` is behind the lock.
    """
    # Loaded by name: no path of a request ever reaches the file system.
    static = {path.name: (path.read_bytes(), _KINDS[path.suffix]) for path in _STATIC.iterdir()}

    async def entrance(request: Request) -> Response:
        if request.method != "POST":
            return HTMLResponse(render("door", key=""))
        given = parse_qs((await request.body()).decode("latin-1")).get("token", [])
        key = door.open(given[0]) if len(given) == 1 else None
        if key is None:
            return refused(_SPENT, request.scope)
        return HTMLResponse(render("door", key=key))

    def file(request: Request) -> Response:
        found = static.get(request.path_params["name"])
        if found is None:
            raise HTTPException(404)
        return Response(found[0], media_type=found[1])

    def missing(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        return refused(Refusal(status, "there is nothing at this address."), request.scope)

    api = Api(folder, ledger, pool)
    routes = [
        Route(ENTRANCE, entrance, methods=["GET", "POST"]),
        *(Route(f"/{name}", _room, methods=["GET"]) for name in ROOMS),
        Route("/static/{name}", file, methods=["GET"]),
        Mount("/api", app=Lock(Router(api.routes, redirect_slashes=False), door)),
    ]
    page = Starlette(routes=routes, exception_handlers={HTTPException: missing})
    page.router.redirect_slashes = False
    return Gate(page, port=urlsplit(door.origin).port or 0)


def _room(request: Request) -> Response:
    text = render(
        request.url.path.strip("/"),
        samplers={name: _first_line(sampler.__doc__) for name, sampler in SAMPLERS.items()},
        default=AUTO,
        plain=PLAIN,
        shapes={name: words for name, (_, words) in SHAPES.items()},
        letters_max=PAINTED_LETTERS_MAX,
        start=PLAN_START,
        bound=BOUND,
        levels=LEVELS,
        stated=STATED,
        whole={name: kind.words for name, kind in FIELD_TYPES.items() if kind.letters},
    )
    return HTMLResponse(text)


def _first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0].replace("``", "")
