"""What a browser shows: the templates, and refusals."""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import Scope

ROOMS = {
    "release": "Release",
    "plan": "Plan",
    "understand": "Understand",
    "ledger": "Ledger",
}

_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
)
_TITLES = {403: "No entry", 404: "Nothing here", 421: "Wrong address"}


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
