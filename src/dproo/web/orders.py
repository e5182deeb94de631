"""Orders from the page, for a release or a budget: shown first, then done once if confirmed."""

from __future__ import annotations

import shlex
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import shorten
from typing import Any

from dproo.core.checks import one_of, refusal
from dproo.core.numbers import (
    budget_of,
    charge_of,
    delta_budget_of,
    delta_charge_of,
    parse_epsilon,
)
from dproo.core.paths import guarding
from dproo.counting.sources.files import SUFFIXES
from dproo.errors import MissingLedgerError, ReleaseError, UnknownDatasetError
from dproo.ledger import Address, Budget, Ledger, default_path, in_delta, in_epsilon
from dproo.ledger.account import require_left, taken
from dproo.ledger.rules import Basis, require_name
from dproo.mechanisms import ADD_REMOVE, REPLACE
from dproo.receipt import STATED
from dproo.releases.charge import Charge, protected, refuse_data_as_letters, remedy
from dproo.releases.dataset import Dataset, discovery_of, nothing_found
from dproo.releases.protection import Protection
from dproo.releases.request import epsilon_warnings
from dproo.releases.row import RowRequest
from dproo.releases.run import Release, execute
from dproo.releases.table import FoundTableRequest, ModelRequest
from dproo.releases.value import SampleRequest
from dproo.schema import Alphabet
from dproo.web.codebook import book_of, descriptor_of
from dproo.web.folder import FIELDS, Folder, NamedData, texts_of

ALPHABET_MAX = 64 << 20
SAVED_AS = "codebook.json"
"""The file name of a code book that the page saves."""

VALUES = "values.txt"
"""The file name, in a command, of values typed into the page."""

_SHOWN = 80

RELATIONS = {
    REPLACE: "the number of records is public",
    ADD_REMOVE: "the number of records is private",
}

_FIELDS = (
    *FIELDS,
    *("what", "column", "alphabet", "sampler", "network", "person", "epsilon", "delta", *STATED),
)
_ROW, _VALUE, _TABLE = "row", "value", "table"


@dataclass(frozen=True, kw_only=True)
class Order:
    """A validated release; the data has not been opened.

    Attributes:
        request: the public choices.
        source: the data.
        texts: the fields of the form as typed.
        account: the current state of the budget to charge.
        ledger: the ledger that holds it.
        values: the possible values, if they were listed.
    """

    request: SampleRequest | RowRequest | ModelRequest | FoundTableRequest
    source: NamedData
    texts: dict[str, str] = field(repr=False)
    account: Budget
    ledger: Ledger
    values: tuple[str, ...] = ()

    @classmethod
    def of(cls, form: Any, *, folder: Folder, ledger: Address) -> Order:
        """Check an order; only the public alphabet is read.

        Raises:
            ValueError: a request is wrong.
            LedgerError: there is no budget, or too little of it is left.
        """
        texts = texts_of(form, _FIELDS, besides=("codebook", "columns"))
        source = NamedData.of(texts, folder)
        descriptor = None if form.get("codebook") is None else descriptor_of(form)
        is_found = descriptor is None and texts["what"] == _TABLE
        if not is_found and (form.get("columns") is not None or texts["delta"]):
            raise ValueError("columns and delta must be of a private table without a code book.")
        if descriptor is None and not is_found and not texts["column"]:
            raise ValueError("column must be given.")
        Charge(**_stated(texts))
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
            request: SampleRequest | RowRequest | ModelRequest | FoundTableRequest
            if descriptor is not None:
                request = _described(descriptor, texts, common)
            elif is_found:
                request = _found(form.get("columns"), texts, common, source)
            else:
                request = _value(texts, common, folder=folder, data=source.data)
        order = cls(
            request=request,
            source=source,
            texts=texts,
            account=account,
            ledger=book,
            values=tuple(values_of(texts["alphabet"], folder)),
        )
        refuse_data_as_letters(order.request.counted_alphabets, book)
        require_left(
            account.dataset,
            (order.charge, delta_charge_of(request.delta)),
            total=(account.budget, account.delta),
            spent=(account.spent, account.delta_spent),
        )
        return order

    @property
    def charge(self) -> int:
        """Its cost, in nano-epsilon."""
        return charge_of(self.request.cost)

    @property
    def shown(self) -> dict[str, Any]:
        """What to show before confirmation."""
        account = self.account
        return {
            "summary": f"{self._what} with ε = {self._price}, charged to"
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
    def _price(self) -> str:
        delta = self.request.delta
        more = f" and δ = {in_delta(delta_charge_of(delta))}" if delta else ""
        return f"{self.texts['epsilon']}{more}"

    @property
    def _what(self) -> str:
        match self.request:
            case FoundTableRequest(columns=found):
                return (
                    f"A private table of {_columns(found)} of {self.source.where}, whose values"
                    " are found first,"
                )
            case RowRequest(codebook=book) | ModelRequest(codebook=book):
                one = "A private table" if isinstance(self.request, ModelRequest) else "One row"
                return f"{one} of {_columns(book.columns)} of {self.source.where}"
            case SampleRequest() as request:
                return (
                    f"One value of column “{self.texts['column']}” of {self.source.where}, out of"
                    f" {request.alphabet.k:,} possible values"
                    f" ({shorten(self.texts['alphabet'], _SHOWN, placeholder=' …')}), by"
                    f" {request.chosen}"
                )

    @property
    def _command(self) -> str:
        """The equivalent command, in the allowed folder.

        The URL of a database is not repeated: it may hold a password.
        """
        account, texts, source = self.account, self.texts, self.source
        given = {name: texts[name] for name in ("table", "delimiter", "encoding")}
        if isinstance(self.request, FoundTableRequest):
            given |= {"network": texts["network"], "delta": texts["delta"]}
        elif not isinstance(self.request, SampleRequest):
            given |= {"codebook": SAVED_AS, "network": texts["network"]}
        else:
            given["column"] = texts["column"]
            given["alphabet"] = VALUES if self.values else texts["alphabet"]
            given["sampler"] = self.request.chosen
        given |= {name: texts[name] for name in ("person", "epsilon", *STATED)}
        given["neighbours"] = account.neighbours if account.neighbours != REPLACE else ""
        if account.records_per_person > 1:
            given["records-per-person"] = str(account.records_per_person)
        given["dataset"] = account.dataset if account.dataset != str(source.data) else ""
        given["ledger"] = str(self.ledger.path) if self.ledger.path != default_path() else ""
        options = [f"--{name} {shlex.quote(text)}" for name, text in given.items() if text]
        if isinstance(self.request, FoundTableRequest):
            options = [f"--column {shlex.quote(name)}" for name in self.request.columns] + options
        named = shlex.quote(source.name) if source.is_file else '"$DATABASE_URL"'
        verb = "dproo sample"
        if isinstance(self.request, ModelRequest | FoundTableRequest):
            verb = "dproo synthesize"
            options += ["--rows 1000 --out table.csv --model model.json"]
        command = " ".join([verb, named, *options])
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
        if isinstance(request, RowRequest | ModelRequest):
            opened = opened.described_by(request.codebook.descriptor)
        charge = Charge(ledger=self.ledger, dataset=self.account.dataset, **_stated(self.texts))
        made = execute(request, opened, charge)
        if isinstance(request, FoundTableRequest) and "model" not in made.receipt.details:
            raise ReleaseError(nothing_found(made.receipt, self.ledger.path))
        return made


def _stated(texts: dict[str, str]) -> dict[str, Any]:
    return {name: texts[name] or None for name in STATED}


def _columns(names: tuple[str, ...]) -> str:
    return f"{len(names)} column{'' if len(names) == 1 else 's'} ({', '.join(names)})"


def _described(
    descriptor: dict[str, Any], texts: dict[str, str], common: dict[str, Any]
) -> RowRequest | ModelRequest:
    for name in ("column", "alphabet"):
        if texts[name]:
            raise ValueError(f"{name} must be left out with a code book, which names every column.")
    what = one_of("what", texts["what"] or _ROW, (_ROW, _TABLE))
    return (ModelRequest if what == _TABLE else RowRequest)(
        codebook=book_of(descriptor),
        network=texts["network"] or "auto",  # type: ignore[arg-type] # checked by the request
        **common,
    )


def _found(
    columns: Any, texts: dict[str, str], common: dict[str, Any], source: NamedData
) -> FoundTableRequest:
    """Return a table of columns by header or schema, whose values are found first."""
    if not (isinstance(columns, list) and all(isinstance(name, str) for name in columns)):
        raise TypeError(refusal("columns", "be a list of names", columns))
    names = [name for name in columns if name != texts["person"]]
    dataset = Dataset(source=source.records, protection=common["protection"])
    discovery = discovery_of(
        dataset, epsilon=common["epsilon"], delta=texts["delta"], columns=names
    )
    network = texts["network"] or "auto"
    return FoundTableRequest.of(discovery, network)  # type: ignore[arg-type] # checked there


def _value(
    texts: dict[str, str], common: dict[str, Any], *, folder: Folder, data: Path | str
) -> SampleRequest:
    one_of("what", texts["what"] or _VALUE, (_VALUE,))
    if texts["network"]:
        raise ValueError("codebook must be given with network.")
    return SampleRequest(
        alphabet=_alphabet(texts["alphabet"], folder=folder, data=data),
        column=texts["column"],
        sampler=texts["sampler"],
        **common,
    )


def account_of(path: Address, dataset: str) -> tuple[Ledger, Budget]:
    """Return the ledger and the budget of a dataset, or raise with how to declare one."""
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
    """Return the values in a text, separated by commas; none if it names a file, or bins."""
    if "," not in text or Alphabet.spelled(text) or _file_of(text, folder):
        return []
    return [value for part in text.split(",") if (value := part.strip())]


def _file_of(text: str, folder: Folder) -> tuple[Path, str | None] | None:
    """Return the file of possible values that a text names, and its column, if any."""
    name, _, column = text.rpartition(":")
    for file, part in ((text, None), (name, column)):
        with suppress(ValueError):
            return folder.find("alphabet", file), part
    return None


def _alphabet(text: str, *, folder: Folder, data: Path | str) -> Alphabet:
    """Return the public letters; a file of them must be in the folder and must not be the data."""
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


def possible_values(form: Any, *, folder: Folder) -> dict[str, Any]:
    """Return how many values are possible; the data is not opened."""
    texts = texts_of(form, (*FIELDS, "alphabet"))
    source = NamedData.of(texts, folder)
    return {"k": _alphabet(texts["alphabet"], folder=folder, data=source.data).k}


_BUDGET_FIELDS = (*FIELDS, "budget", "delta", "neighbours", "records_per_person", "unit")


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """A validated budget that is not yet declared.

    Attributes:
        dataset: the name of the data.
        budget: the total epsilon, as typed.
        delta: the total delta, as typed; 0 where values are never found.
        relation: for what the epsilons add up, and how many records one person may have.
        ledger: where it will be declared.
    """

    dataset: str
    budget: str
    delta: str
    relation: dict[str, Any]
    ledger: Address

    @classmethod
    def of(cls, form: Any, *, folder: Folder, ledger: Address) -> Declaration:
        """Check a budget; the data is not opened.

        Raises:
            ValueError: the name or the budget is wrong.
            DatasetTakenError: the data already has a budget.
        """
        texts = texts_of(form, _BUDGET_FIELDS)
        dataset = NamedData.of(texts, folder).dataset
        require_name(dataset)
        budget_of(texts["budget"])
        delta = texts["delta"] or "0"
        delta_budget_of(delta)
        records = texts["records_per_person"] or "1"
        if not (records.isascii() and records.isdigit()):
            raise ValueError(refusal("records_per_person", "be an integer", records))
        relation = vars(
            Basis(
                neighbours=texts["neighbours"],  # type: ignore[arg-type] # checked there
                records_per_person=int(records[:_LONGEST]),
                unit=texts["unit"] or "record",  # type: ignore[arg-type]
            )
        )
        _require_free(ledger, dataset)
        return cls(
            dataset=dataset, budget=texts["budget"], delta=delta, relation=relation, ledger=ledger
        )

    @property
    def shown(self) -> dict[str, Any]:
        """What to show before confirmation."""
        most = self.relation["records_per_person"]
        person = "each person has one record" if most == 1 else f"a person has up to {most} records"
        if self.relation["unit"] == "person":
            person = "each release protects a person with all of their records"
        return {
            "dataset": self.dataset,
            "budget": in_epsilon(budget_of(self.budget)),
            "summary": f"All releases that are charged to “{self.dataset}” may together spend ε ="
            f" {in_epsilon(budget_of(self.budget))}{self._delta}, and no more, ever:"
            f" {RELATIONS[self.relation['neighbours']]}, {person}.",
        }

    @property
    def _delta(self) -> str:
        atto = delta_budget_of(self.delta)
        return f" and δ = {in_delta(atto)}" if atto else ""

    def declare(self) -> dict[str, Any]:
        """Declare it, in a new ledger if there is none."""
        Ledger.create(self.ledger).declare(
            self.dataset, budget=self.budget, delta=self.delta, **self.relation
        )
        return {"dataset": self.dataset}


_LONGEST = 20


def _require_free(ledger: Address, dataset: str) -> None:
    try:
        names = Ledger(ledger).datasets()
    except MissingLedgerError:
        return
    if dataset.casefold() in {name.casefold() for name in names}:
        raise taken(dataset)
