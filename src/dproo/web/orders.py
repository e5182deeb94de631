"""Orders: a release as the page asks for it, shown first, and carried out once if confirmed."""

from __future__ import annotations

import shlex
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import shorten
from typing import Any

from dproo.core.checks import refusal
from dproo.core.numbers import charge_of, parse_epsilon
from dproo.core.paths import guarding
from dproo.counting.sources.files import SUFFIXES
from dproo.errors import MissingLedgerError, UnknownDatasetError
from dproo.ledger import Address, Budget, BudgetRefused, Ledger, default_path, in_epsilon
from dproo.mechanisms import ADD_REMOVE, REPLACE
from dproo.releases.assurance import epsilon_warnings
from dproo.releases.charge import Charge, protected, refuse_data_as_letters, remedy
from dproo.releases.protection import Protection
from dproo.releases.row import RowRequest
from dproo.releases.run import Release, execute
from dproo.releases.value import SampleRequest
from dproo.schema import Alphabet
from dproo.web.codebook import book_of, descriptor_of
from dproo.web.folder import Folder
from dproo.web.source import FIELDS, Source, texts_of

ALPHABET_MAX = 64 << 20
SAVED_AS = "codebook.json"
"""What the page calls a code book that it saves."""

VALUES = "values.txt"
"""What a command calls the values that were written into the page."""

_SHOWN = 80

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
        values: the possible values, where they were written out.
    """

    request: SampleRequest | RowRequest
    source: Source
    texts: dict[str, str] = field(repr=False)
    account: Budget
    ledger: Ledger
    values: tuple[str, ...] = ()

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
        Charge(purpose=texts["purpose"] or None)
        book, account = account_of(ledger, source.dataset)
        common: dict[str, Any] = {
            "epsilon": parse_epsilon(texts["epsilon"]),
            "protection": Protection(
                neighbours=account.neighbours,
                person=texts["person"] or None,
                records=account.records_per_person,
            ),
        }
        with guarding(protected(lambda: book)):
            request = (
                _row(descriptor, texts, common)
                if descriptor is not None
                else _value(texts, common, folder=folder, data=source.data)
            )
        order = cls(
            request=request,
            source=source,
            texts=texts,
            account=account,
            ledger=book,
            values=tuple(values_of(texts["alphabet"], folder)),
        )
        refuse_data_as_letters(order.request.counted_alphabets, book)
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
                columns = "1 column" if len(book.columns) == 1 else f"{len(book.columns)} columns"
                return f"One row of {columns} ({names}) of {self.source.where}"
            case SampleRequest() as request:
                return (
                    f"One value of column “{self.texts['column']}” of {self.source.where}, out of"
                    f" {request.alphabet.k:,} possible values"
                    f" ({shorten(self.texts['alphabet'], _SHOWN, placeholder=' …')}), by"
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
            given["column"] = texts["column"]
            given["alphabet"] = VALUES if self.values else texts["alphabet"]
            given["sampler"] = self.request.chosen
        given |= {name: texts[name] for name in ("person", "epsilon", "purpose")}
        given["neighbours"] = account.neighbours if account.neighbours != REPLACE else ""
        if account.records_per_person > 1:
            given["records-per-person"] = str(account.records_per_person)
        given["dataset"] = account.dataset if account.dataset != str(source.data) else ""
        given["ledger"] = str(self.ledger.path) if self.ledger.path != default_path() else ""
        options = [f"--{name} {shlex.quote(text)}" for name, text in given.items() if text]
        named = shlex.quote(source.name) if source.is_file else '"$DATABASE_URL"'
        command = " ".join(["dproo sample", named, *options])
        if not self.values:
            return command
        lines = " ".join(map(shlex.quote, self.values))
        return f"printf '%s\\n' {lines} > {VALUES}\n{command}"

    def release(self, folder: Folder) -> Release:
        """Charge, read and draw, for exactly the request that was shown.

        Raises:
            ValueError: the file is no longer the one that was shown.
        """
        source, request = self.source, self.request
        source.require_unchanged(folder)
        opened = source.records
        if isinstance(request, RowRequest):
            opened = opened.described_by(request.codebook.descriptor)
        charge = Charge(
            ledger=self.ledger,
            dataset=self.account.dataset,
            purpose=self.texts["purpose"] or None,
        )
        return execute(request, opened, charge)


def _row(descriptor: dict[str, Any], texts: dict[str, str], common: dict[str, Any]) -> RowRequest:
    for name in ("column", "alphabet"):
        if texts[name]:
            raise ValueError(f"{name} must be left out with a code book, which names every column.")
    return RowRequest(
        codebook=book_of(descriptor),
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
        column=texts["column"],
        sampler=texts["sampler"],
        **common,
    )


def account_of(path: Address, dataset: str) -> tuple[Ledger, Budget]:
    """Return the ledger and the budget of a dataset, or say how to declare one."""
    try:
        ledger = Ledger(path)
    except MissingLedgerError as error:
        raise MissingLedgerError(f"{error} {remedy(dataset, path)}") from None
    try:
        return ledger, ledger.budget(dataset)
    except UnknownDatasetError:
        raise UnknownDatasetError(
            f"{refusal('dataset', 'have a budget', dataset)} {remedy(dataset, path)}"
        ) from None


def values_of(text: str, folder: Folder) -> list[str]:
    """Return the values that a text lists between commas; none if it names a file, or bins."""
    if "," not in text or Alphabet.spelled(text) or _file_of(text, folder):
        return []
    return [value for part in text.split(",") if (value := part.strip())]


def _file_of(text: str, folder: Folder) -> tuple[Path, str | None] | None:
    """Return the file of possible values that a text names, and its column if it names one."""
    name, _, column = text.rpartition(":")
    for file, part in ((text, None), (name, column)):
        with suppress(ValueError):
            return folder.find("alphabet", file), part
    return None


def _alphabet(text: str, *, folder: Folder, data: Path | str) -> Alphabet:
    """Return the public letters; a file of them must be in the folder and not be the data."""
    if not text:
        raise ValueError("alphabet must be given: values, a file of them, a range or bins.")
    spelled = Alphabet.spelled(text)
    if spelled is not None:
        return spelled
    if values := values_of(text, folder):
        return Alphabet.of(values)
    found = _file_of(text, folder)
    if found is None:
        raise ValueError(
            refusal("alphabet", "be a file in the allowed folder", text)
            + " Or list the possible values, separated by commas."
        )
    path, column = found
    protected = [folder.find("data", listed) for listed in folder.list(*SUFFIXES, most=None)]
    protected += [data] if isinstance(data, Path) else []
    if any(path.samefile(file) for file in protected):
        raise ValueError(
            "alphabet must be public and a file of its own, got one that is listed as data. Use a"
            " text file (.txt) with one possible value per line."
        )
    if path.stat().st_size > ALPHABET_MAX:
        raise ValueError(f"alphabet must be a file of at most {ALPHABET_MAX} bytes.")
    return Alphabet.read(path, column=column)
