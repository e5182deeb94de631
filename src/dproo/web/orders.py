"""Orders: a release as the page asks for it, shown first, and carried out once if confirmed."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dproo.alphabet import Alphabet
from dproo.alphabet.codebook import CodeBook
from dproo.core.checks import refusal
from dproo.core.numbers import charge_of, parse_epsilon
from dproo.exceptions import MissingLedgerError, UnknownDatasetError
from dproo.ledger import Account, Address, BudgetRefused, Ledger, default_path, in_epsilon
from dproo.mechanisms import ADD_REMOVE, REPLACE
from dproo.releases.assurance import epsilon_warnings
from dproo.releases.budget_name import remedy
from dproo.releases.check import layout_of
from dproo.releases.execute import Release, execute
from dproo.releases.row_request import RowRequest
from dproo.releases.sample_request import SampleRequest
from dproo.releases.statement import Statement
from dproo.web.codebook import descriptor_of
from dproo.web.folder import Folder
from dproo.web.source import FIELDS, Source, texts_of

ALPHABET_MAX = 64 << 20
SAVED_AS = "codebook.json"
"""What the page calls a code book that it saves."""

RELATIONS = {
    REPLACE: "the number of records is public",
    ADD_REMOVE: "the number of records is private",
}

_FIELDS = (
    *FIELDS,
    *("column", "alphabet", "sampler", "network", "person", "epsilon", "purpose"),
)


@dataclass(frozen=True, kw_only=True)
class Order:
    """A release that was checked; the data was not opened.

    Attributes:
        request: the public choices.
        source: the data.
        texts: the fields of the form as they were written.
        account: the budget to charge, as it stands.
        ledger: the ledger that holds it.
    """

    request: SampleRequest | RowRequest
    source: Source
    texts: dict[str, str] = field(repr=False)
    account: Account
    ledger: Ledger

    @classmethod
    def of(cls, form: Any, *, folder: Folder, ledger: Address) -> Order:
        """Check what the page asks for; only the public alphabet is read.

        Raises:
            ValueError: a request is wrong.
            LedgerError: there is no budget, or too little of it is left.
        """
        texts = texts_of(form, _FIELDS, besides=("codebook",))
        source = Source.of(texts, folder)
        descriptor = None if form.get("codebook") is None else descriptor_of(form)
        if descriptor is None and not texts["column"]:
            raise ValueError("column must be given.")
        Statement(purpose=texts["purpose"] or None)
        book, account = account_of(ledger, source.dataset)
        common: dict[str, Any] = {
            "epsilon": parse_epsilon(texts["epsilon"]),
            "neighbours": account.neighbours,
            "records_per_person": account.records_per_person,
            "person": texts["person"] or None,
        }
        order = cls(
            request=_row(descriptor, texts, common)
            if descriptor is not None
            else _value(texts, common, folder=folder, data=source.data),
            source=source,
            texts=texts,
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
        account = self.account
        return {
            "summary": f"{self._what} with ε = {self.texts['epsilon']}, charged to"
            f" “{account.dataset}” ({RELATIONS[account.neighbours]}).",
            "dataset": account.dataset,
            "cost": in_epsilon(self.charge),
            "left": in_epsilon(account.left),
            "left_after": in_epsilon(account.left - self.charge),
            "budget": in_epsilon(account.budget),
            "warnings": epsilon_warnings(self.request.cost),
            "command": self._command,
        }

    @property
    def _what(self) -> str:
        match self.request:
            case RowRequest(codebook=book):
                names = ", ".join(book.columns)
                return f"One row of {len(book.columns)} columns ({names}) of {self.source.where}"
            case SampleRequest() as request:
                return (
                    f"One value of column “{self.texts['column']}” of {self.source.where}, out of"
                    f" {request.alphabet.k:,} possible values ({self.texts['alphabet']}), by"
                    f" {request.chosen}"
                )

    @property
    def _command(self) -> str:
        """The command that does the same, in the allowed folder.

        The URL of a database is not repeated: it may hold a password.
        """
        account, texts, source = self.account, self.texts, self.source
        given = {name: texts[name] for name in ("table", "delimiter", "encoding")}
        if isinstance(self.request, RowRequest):
            given |= {"codebook": SAVED_AS, "network": texts["network"]}
        else:
            given |= {name: texts[name] for name in ("column", "alphabet")}
            given["sampler"] = self.request.chosen
        given |= {name: texts[name] for name in ("person", "epsilon", "purpose")}
        given["neighbours"] = account.neighbours if account.neighbours != REPLACE else ""
        if account.records_per_person > 1:
            given["records-per-person"] = str(account.records_per_person)
        given["dataset"] = account.dataset if account.dataset != str(source.data) else ""
        given["ledger"] = str(self.ledger.path) if self.ledger.path != default_path() else ""
        options = [f"--{name} {shlex.quote(text)}" for name, text in given.items() if text]
        named = shlex.quote(source.name) if source.is_file else '"$DATABASE_URL"'
        return " ".join(["dproo sample", named, *options])

    def release(self, folder: Folder) -> Release:
        """Charge, read and draw, for exactly the request that was shown.

        Raises:
            ValueError: the file is no longer the one that was shown.
        """
        source, request = self.source, self.request
        source.require_unchanged(folder)
        book = request.codebook if isinstance(request, RowRequest) else None
        said = source.layout
        return execute(
            request,
            source.data,
            column=self.texts["column"] or None if book is None else None,
            table=source.table,
            layout=layout_of(book, delimiter=said.delimiter, encoding=said.encoding),
            ledger=self.ledger,
            dataset=self.account.dataset,
            purpose=self.texts["purpose"] or None,
        )


def _row(descriptor: dict[str, Any], texts: dict[str, str], common: dict[str, Any]) -> RowRequest:
    for name in ("column", "alphabet"):
        if texts[name]:
            raise ValueError(f"{name} must be left out with a code book, which names every column.")
    return RowRequest(
        codebook=CodeBook.of(descriptor),
        network=texts["network"] or "auto",  # type: ignore[arg-type] # checked by the request
        **common,
    )


def _value(
    texts: dict[str, str], common: dict[str, Any], *, folder: Folder, data: Path | str
) -> SampleRequest:
    if texts["network"]:
        raise ValueError("codebook must be given with network.")
    return SampleRequest(
        alphabet=_alphabet(texts["alphabet"], folder=folder, data=data),
        sampler=texts["sampler"],
        **common,
    )


def account_of(path: Address, dataset: str) -> tuple[Ledger, Account]:
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
        raise ValueError("alphabet must be given: a file of possible values, a range or bins.")
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
