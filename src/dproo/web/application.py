"""The application: three rooms, their files, and the objects behind them."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from dproo.choice import ADAPTIVE
from dproo.distributions import SHAPES
from dproo.mechanisms import DEFAULT, SAMPLERS
from dproo.mechanisms.adaptive import SPREADS
from dproo.web.api import PAINTED_LETTERS_MAX, Api
from dproo.web.folder import Folder
from dproo.web.gate import Gate

ROOMS = {"plan": "Plan", "understand": "Understand", "release": "Release"}

_HERE = Path(__file__).parent
_KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def application(*, folder: Folder, ledger: Path, port: int, token: str) -> ASGIApp:
    """Return the page for one launch, behind its gate."""
    templates = Environment(
        loader=FileSystemLoader(_HERE / "templates"), autoescape=True, undefined=StrictUndefined
    )
    # Kept by name: no path of a request ever reaches the file system.
    static = {
        path.name: (path.read_bytes(), _KINDS[path.suffix]) for path in _HERE.glob("static/*")
    }

    def room(request: Request) -> Response:
        name = request.url.path.strip("/")
        text = templates.get_template(f"{name}.html").render(
            room=name,
            rooms=ROOMS,
            folder=str(folder.root),
            samplers={name: _first_line(sampler.__doc__) for name, sampler in SAMPLERS.items()},
            default=DEFAULT,
            adaptive=ADAPTIVE,
            guesses=list(SPREADS),
            shapes={name: words for name, (_, words) in SHAPES.items()},
            letters_max=PAINTED_LETTERS_MAX,
        )
        return HTMLResponse(text)

    def file(request: Request) -> Response:
        found = static.get(request.path_params["name"])
        if found is None:
            raise HTTPException(404, "there is no such file.")
        return Response(found[0], media_type=found[1])

    def missing(request: Request, error: Exception) -> Response:
        del request
        status = error.status_code if isinstance(error, HTTPException) else 500
        return JSONResponse({"error": "there is nothing at this address."}, status_code=status)

    routes = [
        *(Route(f"/{name}", room, methods=["GET"]) for name in ROOMS),
        Route("/static/{name}", file, methods=["GET"]),
        Mount("/api", routes=Api(folder, ledger).routes),
    ]
    page = Starlette(routes=routes, exception_handlers={HTTPException: missing})
    return Gate(page, port=port, token=token)


def _first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0].replace("``", "")
