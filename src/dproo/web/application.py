"""The application: the entrance, the rooms, their files, and the objects behind them.

The objects, under ``/api``, are what ``--json`` prints, and what charts need.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route, Router
from starlette.types import ASGIApp

from dproo.core.checks import flag
from dproo.core.paths import written
from dproo.counting.sources.files import SUFFIXES
from dproo.errors import LedgerError, MissingLedgerError
from dproo.ledger import Address, Database, Ledger, in_delta, in_epsilon
from dproo.mechanisms import AUTO, PLAIN, SAMPLERS
from dproo.receipt import STATED
from dproo.releases.charge import dataset_name, published
from dproo.report import Fields, accounts_object, json_text
from dproo.schema.codebook import FIELD_TYPES
from dproo.study.distributions import SHAPES
from dproo.study.invented import FIELDS, invented
from dproo.web import questions
from dproo.web.answering import ROOMS, Refusal, change, get, post, refused, render
from dproo.web.codebook import columns
from dproo.web.folder import Folder
from dproo.web.gate import ENTRANCE, Door, Gate, Lock, Nonces
from dproo.web.orders import Declaration, Order
from dproo.web.pool import Pool
from dproo.web.releases import Releases, table_model, table_pair, table_rows

_SPENT = Refusal(
    403,
    "this link was used before, or is no longer valid."
    " If somebody else has used it, end dproo serve now.",
)
_STATIC = Path(__file__).parent / "static"
_KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def application(*, folder: Folder, ledger: Address, door: Door, pool: Pool) -> ASGIApp:
    """Return the page for one launch, behind its gate.

    Everything outside ``/api`` is public and the same for everyone: it contains nothing of the
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
        content = static.get(request.path_params["name"])
        if content is None:
            raise HTTPException(404)
        return Response(content[0], media_type=content[1])

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
        samplers={
            name: str(sampler.__doc__).strip().partition("\n")[0].replace("``", "")
            for name, sampler in SAMPLERS.items()
        },
        default=AUTO,
        plain=PLAIN,
        shapes={name: words for name, (_, words) in SHAPES.items()},
        letters_max=questions.PAINTED_LETTERS_MAX,
        start=questions.PLAN_START,
        bound=questions.BOUND,
        levels=questions.LEVELS,
        stated=STATED,
        whole={name: kind.words for name, kind in FIELD_TYPES.items() if kind.letters},
    )
    return HTMLResponse(text)


SAMPLE = "sample-admissions.csv"
"""The file name of the invented sample, which is written into the folder on request."""


@dataclass(frozen=True)
class Api:
    """The routes of the objects, and what they need.

    Orders and declarations were shown and await confirmation; releases are running.
    """

    folder: Folder
    ledger: Address
    pool: Pool
    orders: Nonces[Order] = field(default_factory=Nonces)
    declarations: Nonces[Declaration] = field(default_factory=Nonces)
    releases: Releases = field(default_factory=Releases)

    @property
    def routes(self) -> list[Route]:
        """One route for each object."""
        return [
            *(self._question("GET", name) for name in questions.BY_ADDRESS),
            *(self._question("POST", name) for name in questions.BY_OBJECT),
            get("/files", self._files),
            change("/sample", self._sample),
            post("/columns", partial(columns, folder=self.folder)),
            get("/ledger", self._accounts),
            get("/ledger/{entry:int}", self._receipt),
            get("/ledger/{entry:int}/rows", self._rows),
            get("/ledger/{entry:int}/pair", self._pair),
            get("/ledger/{entry:int}/model", lambda fields: table_model(self._receipt(fields))),
            get("/requests", self._requests),
            change("/decide", self._decide),
            get("/running", lambda _: {"running": self.releases.datasets}),
            post("/budget", self._budget),
            change("/declare", lambda fields: self.declarations.take(_nonce(fields)).declare()),
            post("/order", self._order),
            change("/release", self._release),
            post("/progress", lambda fields: {"share": self.releases.share(_nonce(fields))}),
            post("/stop", lambda fields: {"is_stopped": self.releases.stop(_nonce(fields))}),
        ]

    def _question(self, method: str, name: str) -> Route:
        return Route(f"/{name}", partial(self.pool.ask, name), methods=[method])

    def _files(self, _: Fields) -> dict[str, Any]:
        """Return the data files as cards: name, size, and what is left of the budget."""
        try:
            left = {one.dataset: in_epsilon(one.left) for one in Ledger(self.ledger).show()}
        except LedgerError:  # the room of the ledger shows what is wrong with it
            left = {}
        cards = []
        for name in self.folder.list(*SUFFIXES):
            with suppress(OSError, ValueError):  # it has just been deleted or replaced
                path = self.folder.find("data", name)
                size = float(f"{path.stat().st_size:.0e}")  # one digit: records decide the others
                known = left.get(dataset_name(str(path)))
                cards.append({"name": name, "bytes": int(size), "left": known})
        return {"folder": str(self.folder.root), "data": cards, "sample": SAMPLE}

    def _sample(self, fields: Fields) -> dict[str, Any]:
        """Write the invented sample into the folder; nothing is overwritten."""
        if fields:
            raise ValueError("request must be an empty object.")
        try:
            with written(self.folder.root / SAMPLE, "x") as file:
                file.write(invented())
        except OSError as error:
            why = os.strerror(error.errno or 0)
            raise ValueError(f"{SAMPLE} cannot be written to the folder: {why}.") from None
        return {"data": SAMPLE, "codebook": {"schema": {"fields": list(FIELDS)}}}

    def _accounts(self, _: Fields) -> dict[str, Any]:
        """Return every budget, or none if there is no ledger yet."""
        try:
            return accounts_object(Ledger(self.ledger).show())
        except MissingLedgerError:
            return accounts_object(())

    def _receipt(self, fields: Fields) -> dict[str, Any]:
        return published(Ledger(self.ledger).released(fields["entry"]))

    def _rows(self, fields: Fields) -> dict[str, Any]:
        return table_rows(self._receipt(fields), fields.get("rows"), fields.get("format", "csv"))

    def _pair(self, fields: Fields) -> dict[str, Any]:
        return table_pair(self._receipt(fields), fields.get("first"), fields.get("second"))

    def _requests(self, _: Fields) -> dict[str, Any]:
        """Return the releases that wait for a second person; a file has none."""
        if not isinstance(self.ledger, Database):
            return {"requests": []}
        return {
            "requests": [
                {
                    "number": one.number,
                    "dataset": one.dataset,
                    "charge": in_epsilon(one.charge),
                    "delta": in_delta(one.delta),
                    "at": one.at,
                    "by": one.by,
                    "request": json_text(one.request),
                    "columns": one.request.get("columns", []),
                    "purpose": one.request.get("purpose"),
                }
                for one in Ledger(self.ledger).requests()
                if one.state == "open"
            ]
        }

    def _decide(self, fields: Fields) -> dict[str, Any]:
        """Approve or deny a request; the database refuses the role that made it."""
        if set(fields) != {"number", "is_approved"}:
            raise ValueError("request must be an object of number and is_approved only.")
        is_approved = flag("is_approved", fields["is_approved"])
        ledger = Ledger(self.ledger)
        (ledger.approve if is_approved else ledger.deny)(fields["number"])
        return {"number": fields["number"]}

    def _budget(self, fields: Fields) -> dict[str, Any]:
        budget = Declaration.of(fields, folder=self.folder, ledger=self.ledger)
        return {**budget.shown, "nonce": self.declarations.add(budget)}

    def _order(self, fields: Fields) -> dict[str, Any]:
        order = Order.of(fields, folder=self.folder, ledger=self.ledger)
        return {**order.shown, "nonce": self.orders.add(order)}

    def _release(self, fields: Fields) -> dict[str, Any]:
        nonce = _nonce(fields)
        order = self.orders.take(nonce)
        return dict(self.releases.run(str(nonce), order, self.folder))


def _nonce(fields: Fields) -> object:
    if set(fields) != {"nonce"}:
        raise ValueError("request must be an object of nonce only.")
    return fields["nonce"]
