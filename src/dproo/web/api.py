"""The objects behind the page, under ``/api``: what ``--json`` prints, and what charts need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from starlette.routing import Route

from dproo.counting.sources.files import SUFFIXES
from dproo.errors import MissingLedgerError
from dproo.ledger import Address, Ledger
from dproo.releases.charge import published
from dproo.report import accounts_object
from dproo.web import questions
from dproo.web.answering import change, get, post
from dproo.web.codebook import columns, fits
from dproo.web.folder import Folder
from dproo.web.gate import Nonces
from dproo.web.orders import Declaration, Order, possible_values
from dproo.web.pool import Pool
from dproo.web.releases import Releases, table_model, table_rows

Fields = Mapping[str, Any]


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
            post("/columns", partial(columns, folder=self.folder)),
            post("/alphabet", partial(possible_values, folder=self.folder)),
            post("/check", partial(fits, folder=self.folder)),
            get("/ledger", self._accounts),
            get("/ledger/{entry:int}", self._receipt),
            get("/ledger/{entry:int}/rows", self._rows),
            get("/ledger/{entry:int}/model", lambda fields: table_model(self._receipt(fields))),
            get("/running", self._running),
            post("/budget", self._budget),
            change("/declare", self._declare),
            post("/order", self._order),
            change("/release", self._release),
            post("/stop", self._stop),
        ]

    def _question(self, method: str, name: str) -> Route:
        return Route(f"/{name}", partial(self.pool.ask, name), methods=[method])

    def _files(self, fields: Fields) -> dict[str, Any]:
        del fields
        return {
            "folder": str(self.folder.root),
            "data": self.folder.list(*SUFFIXES),
            "alphabets": self.folder.list(".txt"),
        }

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
        return table_rows(self._receipt(fields), fields.get("rows"))

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

    def _stop(self, fields: Fields) -> dict[str, Any]:
        return {"is_stopped": self.releases.stop(_nonce(fields))}


def _nonce(fields: Fields) -> object:
    if set(fields) != {"nonce"}:
        raise ValueError("request must be an object of nonce only.")
    return fields["nonce"]
