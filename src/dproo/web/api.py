"""The objects behind the page, under ``/api``: what ``--json`` prints, and what charts need."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from starlette.routing import Route

from dproo.counting.sources.files import SUFFIXES
from dproo.errors import LedgerError, MissingLedgerError
from dproo.ledger import Address, Database, Ledger, in_delta, in_epsilon
from dproo.releases.charge import dataset_name, published
from dproo.report import Fields, accounts_object, json_text
from dproo.study.invented import FIELDS, invented
from dproo.web import questions
from dproo.web.answering import change, get, post
from dproo.web.codebook import columns
from dproo.web.folder import Folder
from dproo.web.gate import Nonces
from dproo.web.orders import Declaration, Order
from dproo.web.pool import Pool
from dproo.web.releases import Releases, table_model, table_pair, table_rows

SAMPLE = "sample-admissions.csv"
"""The file name of the invented sample, which is written into the folder when it is asked for."""


@dataclass(frozen=True)
class Api:
    """The routes of the objects, and what they need.

    Attributes:
        folder: the files that the page can name.
        ledger: the ledger's address.
        pool: answers the public questions.
        orders: the releases that were shown and await confirmation.
        declarations: the budgets that were shown and await confirmation.
        releases: the running releases.
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
            get("/running", self._running),
            post("/budget", self._budget),
            change("/declare", self._declare),
            post("/order", self._order),
            change("/release", self._release),
            post("/progress", self._progress),
            post("/stop", self._stop),
        ]

    def _question(self, method: str, name: str) -> Route:
        return Route(f"/{name}", partial(self.pool.ask, name), methods=[method])

    def _files(self, fields: Fields) -> dict[str, Any]:
        """Return the data files as cards: name, size, and what is left of the budget."""
        del fields
        try:
            left = {one.dataset: in_epsilon(one.left) for one in Ledger(self.ledger).show()}
        except LedgerError:  # the room of the ledger says what is the matter with it
            left = {}
        cards = []
        for name in self.folder.list(*SUFFIXES):
            path = self.folder.find("data", name)
            size = int(float(f"{path.stat().st_size:.0e}"))  # to a digit: records decide the rest
            cards.append({"name": name, "bytes": size, "left": left.get(dataset_name(str(path)))})
        return {"folder": str(self.folder.root), "data": cards, "sample": SAMPLE}

    def _sample(self, fields: Fields) -> dict[str, Any]:
        """Write the invented sample into the folder; nothing is overwritten."""
        if fields:
            raise ValueError("request must be an empty object.")
        try:
            with (self.folder.root / SAMPLE).open("x", encoding="utf-8") as file:
                file.write(invented())
        except OSError as error:
            why = os.strerror(error.errno or 0)
            raise ValueError(f"{SAMPLE} cannot be written to the folder: {why}.") from None
        return {"data": SAMPLE, "codebook": {"schema": {"fields": list(FIELDS)}}}

    def _accounts(self, fields: Fields) -> dict[str, Any]:
        """Return every budget; before the first is declared, there is no ledger."""
        del fields
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

    def _requests(self, fields: Fields) -> dict[str, Any]:
        """Return the releases that wait for a second person; only a team's ledger has any."""
        del fields
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
        ledger = Ledger(self.ledger)
        (ledger.approve if fields["is_approved"] is True else ledger.deny)(fields["number"])
        return {"number": fields["number"]}

    def _running(self, fields: Fields) -> dict[str, Any]:
        del fields
        return {"running": self.releases.datasets}

    def _budget(self, fields: Fields) -> dict[str, Any]:
        budget = Declaration.of(fields, folder=self.folder, ledger=self.ledger)
        return {**budget.shown, "nonce": self.declarations.add(budget)}

    def _declare(self, fields: Fields) -> dict[str, Any]:
        return self.declarations.take(_nonce(fields)).declare()

    def _order(self, fields: Fields) -> dict[str, Any]:
        order = Order.of(fields, folder=self.folder, ledger=self.ledger)
        return {**order.shown, "nonce": self.orders.add(order)}

    def _release(self, fields: Fields) -> dict[str, Any]:
        nonce = _nonce(fields)
        order = self.orders.take(nonce)
        return dict(self.releases.run(str(nonce), order, self.folder))

    def _progress(self, fields: Fields) -> dict[str, Any]:
        return {"share": self.releases.share(_nonce(fields))}

    def _stop(self, fields: Fields) -> dict[str, Any]:
        return {"is_stopped": self.releases.stop(_nonce(fields))}


def _nonce(fields: Fields) -> object:
    if set(fields) != {"nonce"}:
        raise ValueError("request must be an object of nonce only.")
    return fields["nonce"]
