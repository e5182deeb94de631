"""Orders: a release as the page asks for it, shown first, and carried out once if confirmed."""

from __future__ import annotations

import secrets
import shlex
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dproo.alphabet import Alphabet
from dproo.core.amounts import charge_of
from dproo.core.arguments import one_of, refusal
from dproo.core.exact import parse_epsilon
from dproo.engines import postgresql_url
from dproo.engines.query import table_parts
from dproo.exceptions import MissingLedgerError, UnknownDatasetError
from dproo.ledger import Account, Address, BudgetRefused, Ledger, default_path, in_epsilon
from dproo.mechanisms import REPLACE
from dproo.releases.budget_name import dataset_name, remedy
from dproo.releases.execute import Release, execute
from dproo.releases.sample_request import SampleRequest
from dproo.web.folder import Folder

FILE, DATABASE = "file", "database"

ALPHABET_MAX = 64 << 20
PATIENCE = 600
"""Seconds for which an order can be confirmed."""

_MOST_ORDERS = 32
_FIELDS = (
    *("source", "data", "table", "dataset"),
    *("column", "alphabet", "sampler", "guess", "epsilon"),
)


@dataclass(frozen=True, kw_only=True)
class Order:
    """A release that was checked; the data was not opened.

    Attributes:
        request: the public choices.
        data: a file, or the URL of a database.
        name: the file as it was named.
        alphabet: how the letters were named.
        epsilon: the privacy parameter as it was written.
        column: the column of the letters.
        table: the table of a database or DuckDB file.
        account: the budget to charge, as it stands.
        ledger: the ledger that holds it.
    """

    request: SampleRequest
    data: Path | str = field(repr=False)
    name: str = field(repr=False)
    alphabet: str
    epsilon: str
    column: str
    table: str | None
    account: Account
    ledger: Ledger

    @classmethod
    def of(cls, form: object, *, folder: Folder, ledger: Address) -> Order:
        """Check what the page asks for; only the public alphabet is read.

        Raises:
            ValueError: a request is wrong.
            LedgerError: there is no budget, or too little of it is left.
        """
        texts = _texts(form)
        is_file = one_of("source", texts["source"], (FILE, DATABASE)) == FILE
        data = folder.find("data", texts["data"]) if is_file else _url(texts["data"])
        if not texts["column"]:
            raise ValueError("column must be given.")
        if texts["table"]:
            table_parts(texts["table"])
        if not is_file and not texts["dataset"]:
            raise ValueError("dataset must be given for a database: it names the budget.")
        book, account = _account(ledger, texts["dataset"] or dataset_name(str(data)))
        request = SampleRequest(
            alphabet=_alphabet(texts["alphabet"], folder=folder, data=data),
            epsilon=parse_epsilon(texts["epsilon"]),
            sampler=texts["sampler"],
            guess=texts["guess"] or None,
            neighbours=account.neighbours,
            records_per_person=account.records_per_person,
        )
        order = cls(
            request=request,
            data=data,
            name=texts["data"],
            alphabet=texts["alphabet"],
            epsilon=texts["epsilon"],
            column=texts["column"],
            table=texts["table"] or None,
            account=account,
            ledger=book,
        )
        if order.charge > account.left:
            raise BudgetRefused(account.dataset, asked=order.charge, left=account.left)
        return order

    @property
    def charge(self) -> int:
        """What it will cost, in nano-epsilon."""
        return charge_of(self.request.cost)

    @property
    def shown(self) -> dict[str, Any]:
        """What a person should see before confirming."""
        account, where = self.account, self._where
        guess = f" (guess: {self.request.guess})" if self.request.guess else ""
        return {
            "summary": f"One record of column “{self.column}” of {where}, out of"
            f" {self.request.alphabet.k} public letters ({self.alphabet}), by"
            f" {self.request.chosen}{guess} with ε = {self.epsilon}, charged to “{account.dataset}”"
            f" ({account.neighbours}).",
            "dataset": account.dataset,
            "cost": in_epsilon(self.charge),
            "left": in_epsilon(account.left),
            "left_after": in_epsilon(account.left - self.charge),
            "budget": in_epsilon(account.budget),
            "command": self._command,
        }

    @property
    def _where(self) -> str:
        source = self.name if isinstance(self.data, Path) else "the database"
        return source if self.table is None else f"table “{self.table}” of {source}"

    @property
    def _command(self) -> str:
        """The command that does the same, in the allowed folder.

        The URL of a database is not repeated: it may hold a password.
        """
        account = self.account
        options = {
            "table": self.table,
            "column": self.column,
            "alphabet": self.alphabet,
            "sampler": self.request.chosen,
            "guess": self.request.guess,
            "epsilon": self.epsilon,
            "neighbours": account.neighbours if account.neighbours != REPLACE else None,
            "records-per-person": str(account.records_per_person)
            if account.records_per_person > 1
            else None,
            "dataset": account.dataset if account.dataset != str(self.data) else None,
            "ledger": str(self.ledger.path) if self.ledger.path != default_path() else None,
        }
        given = [f"--{name} {shlex.quote(text)}" for name, text in options.items() if text]
        source = shlex.quote(self.name) if isinstance(self.data, Path) else '"$DATABASE_URL"'
        return " ".join(["dproo sample", source, *given])

    def release(self, folder: Folder) -> Release:
        """Charge, read and draw, for exactly the request that was shown.

        Raises:
            ValueError: the file is no longer the one that was shown.
        """
        if isinstance(self.data, Path) and folder.find("data", str(self.data)) != self.data:
            raise ValueError(refusal("data", "be the file that was shown", str(self.data)))
        return execute(
            self.request,
            self.data,
            column=self.column,
            table=self.table,
            ledger=self.ledger,
            dataset=self.account.dataset,
        )


class Orders:
    """The orders that wait for their confirmation.

    Guarantee: each is handed out once at most, for the nonce that it was shown with.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, tuple[float, Order]] = {}

    def add(self, order: Order) -> str:
        """Keep an order and return the nonce that confirms it; too many drop the oldest."""
        nonce = secrets.token_urlsafe(32)
        with self._lock:
            self._waiting[nonce] = time.monotonic() + PATIENCE, order
            while len(self._waiting) > _MOST_ORDERS:
                del self._waiting[next(iter(self._waiting))]
        return nonce

    def take(self, nonce: object) -> Order:
        """Return the order of a nonce, once.

        Raises:
            ValueError: there is none, it was used, or it is too old.
        """
        with self._lock:
            held = self._waiting.pop(nonce, None) if isinstance(nonce, str) else None
        if held is None or held[0] < time.monotonic():
            raise ValueError("nonce must be of a release that was shown and not yet confirmed.")
        return held[1]


def _texts(form: object) -> dict[str, str]:
    if not isinstance(form, Mapping) or set(form) - set(_FIELDS):
        raise ValueError(f"request must be an object of {', '.join(_FIELDS)} only.")
    texts = {name: form.get(name) or "" for name in _FIELDS}
    for name, text in texts.items():
        if not isinstance(text, str):
            raise TypeError(refusal(name, "be text", text))
    return texts


def _url(text: str) -> str:
    if not postgresql_url.is_url(text):
        raise ValueError("data must be a postgresql:// URL.")  # withheld: it may hold a password
    postgresql_url.parsed(text)
    return text


def _account(path: Address, dataset: str) -> tuple[Ledger, Account]:
    """Return the ledger and the budget of a dataset, or say how to declare one."""
    try:
        ledger = Ledger(path)
    except MissingLedgerError as error:
        raise MissingLedgerError(f"{error} {remedy(dataset, path)}") from None
    for account in ledger.show():
        if account.dataset == dataset:
            return ledger, account
    raise UnknownDatasetError(
        f"{refusal('dataset', 'have a budget', dataset)} {remedy(dataset, path)}"
    )


def _alphabet(text: str, *, folder: Folder, data: Path | str) -> Alphabet:
    """Return the public letters; a file of them must be in the folder and not be the data."""
    if not text:
        raise ValueError("alphabet must be given: a file of letters, a range or bins.")
    spelled = Alphabet.spelled(text)
    if spelled is not None:
        return spelled
    name, colon, column = text.rpartition(":")
    try:
        path, column = folder.find("alphabet", text), ""
    except ValueError:
        if not colon:
            raise
        path = folder.find("alphabet", name)
    if isinstance(data, Path) and path.samefile(data):
        raise ValueError("alphabet must be public and a file of its own, got the data.")
    if path.stat().st_size > ALPHABET_MAX:
        raise ValueError(f"alphabet must be a file of at most {ALPHABET_MAX} bytes.")
    return Alphabet.read(path, column=column or None)
