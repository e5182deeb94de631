"""The objects behind the page, under ``/api``: what ``--json`` prints, and what charts need."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from dproo.analysis.certificate import certify
from dproo.analysis.distributions import shape
from dproo.analysis.planner import plan
from dproo.core.arguments import one_of, refusal, whole
from dproo.core.exact import parse_epsilon
from dproo.engines.files import SUFFIXES
from dproo.ledger import Address, Ledger
from dproo.mechanisms import SAMPLERS, DataSpecificRevealOrObscure, mechanism
from dproo.releases.budget_name import published
from dproo.report import (
    BUG,
    FAILED,
    REFUSED,
    USAGE,
    accounts_object,
    certificate_object,
    law_object,
    plan_object,
    recommended_object,
    table_object,
    verdict,
    versioned,
)
from dproo.web.curves import curve
from dproo.web.folder import Folder
from dproo.web.orders import Order, Orders

PAINTED_LETTERS_MAX = 26
PAINTED_RECORDS_MAX = 10**6
DRAWS_MAX = 1000

_TABLE_MAX = 400
_STATUS = {USAGE: 400, REFUSED: 409, FAILED: 500, BUG: 500}
_WHOLE = {"n", "k"}
_NAMES = {"n", "k", "epsilon", "alpha"}

Fields = Mapping[str, Any]


@dataclass(frozen=True)
class Api:
    """The objects, and what they need to know.

    Attributes:
        folder: the files that the page can name.
        ledger: the ledger's file.
        orders: the releases that were shown and wait for their confirmation.
    """

    folder: Folder
    ledger: Address
    orders: Orders = field(default_factory=Orders)
    _releasing: threading.Lock = field(default_factory=threading.Lock)

    @property
    def routes(self) -> list[Route]:
        """One route for each object."""
        return [
            _get("/plan", _plan),
            _get("/curve", _curve),
            _get("/certify", _certify),
            _get("/tables", _tables),
            _get("/shape", _shape),
            _post("/law", _law),
            _post("/draws", _draws),
            _get("/files", self._files),
            _get("/ledger", self._accounts),
            _get("/ledger/{entry:int}", self._receipt),
            _post("/order", self._order),
            _post("/release", self._release),
        ]

    def _files(self, fields: Fields) -> dict[str, Any]:
        del fields
        return {
            "folder": str(self.folder.root),
            "data": self.folder.list(*SUFFIXES),
            "alphabets": self.folder.list(".txt"),
        }

    def _accounts(self, fields: Fields) -> dict[str, Any]:
        del fields
        return accounts_object(Ledger(self.ledger).show())

    def _receipt(self, fields: Fields) -> dict[str, Any]:
        return published(Ledger(self.ledger).released(fields["entry"]))

    def _order(self, fields: Fields) -> dict[str, Any]:
        order = Order.of(fields, folder=self.folder, ledger=self.ledger)
        return {**order.shown, "nonce": self.orders.add(order)}

    def _release(self, fields: Fields) -> dict[str, Any]:
        if set(fields) != {"nonce"}:
            raise ValueError("request must be an object of nonce only.")
        order = self.orders.take(fields["nonce"])
        with self._releasing:  # a scan silences the logs of the whole process
            return order.release(self.folder).receipt


def _plan(fields: Fields) -> dict[str, Any]:
    known = _parameters(fields)
    answer = plan(**known)
    return plan_object(answer, known) | {"recommended": recommended_object(answer)}


def _curve(fields: Fields) -> dict[str, Any]:
    return curve(**_parameters(fields, "epsilon"))


def _certify(fields: Fields) -> dict[str, Any]:
    options = dict(fields)
    name = options.pop("sampler", "")
    as_printed = {"as_printed": True} if options.pop("as_printed", "") else {}
    known = _parameters(options, "k")
    return certificate_object(certify(mechanism(name, **known, **as_printed)))


def _tables(fields: Fields) -> dict[str, Any]:
    """Return DS-ROO's private and printed table, and what the printed one does to its witness."""
    known = _parameters(fields, "n", "k", "epsilon")
    private = DataSpecificRevealOrObscure(**known)
    printed = DataSpecificRevealOrObscure(**known, as_printed=True)
    found = certify(printed)
    witness = found.witness
    before, after = (
        float(printed.probability(counts, witness.letters))
        for counts in (witness.before, witness.after)
    )
    return {
        "private": table_object(private, most=_TABLE_MAX),
        "printed": table_object(printed, most=_TABLE_MAX),
        "private_certificate": certificate_object(certify(private)),
        "printed_certificate": certificate_object(found),
        "probability": {"before": before, "after": after},
    }


def _shape(fields: Fields) -> dict[str, Any]:
    """Return the counts of a named shape: each letter its share, rounded, of n records."""
    options = dict(fields)
    name = options.pop("name", "")
    known = _parameters(options, "n", "k")
    n = whole("n", known["n"], at_least=1, at_most=PAINTED_RECORDS_MAX)
    k = whole("k", known["k"], at_least=2, at_most=PAINTED_LETTERS_MAX)
    try:
        shares = shape(name, k=k).shares
    except ModuleNotFoundError:
        raise ValueError(
            "scipy must be installed for this shape: pip install 'dproo[accuracy]'."
        ) from None
    return {"counts": [round(share * n) for share in shares]}


def _law(fields: Fields) -> dict[str, Any]:
    """Return the law of every sampler on painted counts; one that refuses says why."""
    counts, known = _painted(fields)
    laws = []
    for name, sampler in SAMPLERS.items():
        try:
            laws.append(law_object(sampler(**known), counts))
        except (TypeError, ValueError) as error:
            laws.append({"sampler": name, "error": str(error)})
    return {"n": known["n"], "laws": laws}


def _draws(fields: Fields) -> dict[str, Any]:
    """Return independent draws on painted counts."""
    counts, known = _painted(fields)
    size = whole("size", fields.get("size"), at_least=1, at_most=DRAWS_MAX)
    sampler = SAMPLERS[one_of("sampler", fields.get("sampler"), SAMPLERS)]
    return {"letters": sampler(**known).draw_many(counts, size)}


def _painted(fields: Fields) -> tuple[list[int], dict[str, Any]]:
    """Return the counts that were painted, and the parameters that they give."""
    counts = fields.get("counts")
    if not isinstance(counts, list):
        raise TypeError(refusal("counts", "be a list", counts))
    whole("k", len(counts), at_least=2, at_most=PAINTED_LETTERS_MAX)
    counts = [whole("counts", count, at_least=0) for count in counts]
    n = whole("n", sum(counts), at_least=1, at_most=PAINTED_RECORDS_MAX)
    return counts, {"n": n, "k": len(counts), "epsilon": parse_epsilon(fields.get("epsilon"))}


def _parameters(fields: Fields, *required: str) -> dict[str, Any]:
    """Return the parameters in the query of an address."""
    for name in required:
        if name not in fields:
            raise ValueError(f"{name} must be given.")
    known: dict[str, Any] = {}
    for name, text in fields.items():
        if name not in _NAMES:
            raise ValueError(refusal("parameter", f"be one of {', '.join(sorted(_NAMES))}", name))
        if name in _WHOLE:
            try:
                known[name] = int(text)
            except ValueError:
                raise ValueError(refusal(name, "be an integer", text)) from None
        else:
            known[name] = text
    return known


def _get(path: str, action: Callable[[Fields], dict[str, Any]]) -> Route:
    async def endpoint(request: Request) -> Response:
        fields = {**request.query_params, **request.path_params}
        return await run_in_threadpool(_answer, action, fields)

    return Route(path, endpoint, methods=["GET"])


def _post(path: str, action: Callable[[Fields], dict[str, Any]]) -> Route:
    async def endpoint(request: Request) -> Response:
        return await run_in_threadpool(_answer, action, await request.body())

    return Route(path, endpoint, methods=["POST"])


def _answer(action: Callable[[Fields], dict[str, Any]], sent: Fields | bytes) -> Response:
    """Return what an action makes of a request, or the one sentence that refuses it."""
    try:
        fields = _json(sent) if isinstance(sent, bytes) else sent
        return JSONResponse(versioned(action(fields)))
    except Exception as error:  # noqa: BLE001 - as on the command line
        code, sentence = verdict(error)
        return JSONResponse({"error": sentence, "exit_code": code}, status_code=_STATUS[code])


def _json(body: bytes) -> Fields:
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        raise ValueError("the body must be JSON.") from None
    if not isinstance(fields, dict):
        raise TypeError("the body must be a JSON object.")
    return fields
