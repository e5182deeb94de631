"""Orders from the page, for a release or a budget: shown first, carried out once if confirmed."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dproo.core.checks import one_of, refusal
from dproo.core.numbers import (
    budget_of,
    charge_of,
    counted,
    delta_budget_of,
    delta_charge_of,
    parse_delta,
    parse_epsilon,
)
from dproo.counting.source import Source
from dproo.errors import MissingLedgerError, ReleaseError, UnknownDatasetError
from dproo.ledger import Address, Budget, Ledger, in_delta, in_epsilon
from dproo.ledger.account import taken
from dproo.ledger.location import is_default
from dproo.ledger.rules import PERSON, Basis, dataset_of
from dproo.mechanisms import ADD_REMOVE, AUTO, REPLACE
from dproo.receipt import STATED
from dproo.releases.charge import Charge, refuse_own_data, remedy, short_name
from dproo.releases.check import check
from dproo.releases.dataset import Dataset, discovery_of, nothing_found
from dproo.releases.open_value import OPEN_SAMPLER, OpenRequest
from dproo.releases.protection import Protection
from dproo.releases.request import epsilon_warnings
from dproo.releases.row import RowRequest
from dproo.releases.run import Release, execute, prepare, require_charge
from dproo.releases.table import FoundTableRequest, ModelRequest
from dproo.releases.value import SampleRequest
from dproo.report import as_options
from dproo.schema.codebook import CodeBook
from dproo.web.codebook import book_of, descriptor_of
from dproo.web.folder import FIELDS, Folder, NamedData, integer_of, texts_of

_BOOK, _TABLE_FILE, _MODEL = "codebook{}.json", "table{}.csv", "model{}.json"
_NAMED = (_BOOK, _TABLE_FILE, f"{_TABLE_FILE}-metadata.json", _MODEL)
_MOST_NAMED = 1000

_KNOWN = {REPLACE: "public", ADD_REMOVE: "private"}

_SECOND = "A second person must approve it: until then it is only requested, not charged."
_APPROVED = "A second person has approved it."
_FIELDS = (*FIELDS, "what", "sampler", "network", "person", "epsilon", "delta", *STATED)
_TABLE, _ROW, _VALUE = "table", "row", "value"
_Request = SampleRequest | OpenRequest | RowRequest | ModelRequest | FoundTableRequest


@dataclass(frozen=True, kw_only=True)
class Order:
    """A validated release: only its charge and its records are missing.

    Attributes:
        book: the code book that describes the data, unless values are found.
        texts: the fields of the form as typed.
        account: the current state of the budget to charge.
        warnings: why cells may count as ``other`` that should not.
        is_charged: whether it would be charged now; otherwise its approval is requested.
        end: what is added to the names of new files in the command that is shown.
    """

    request: _Request
    source: NamedData
    book: CodeBook | None
    texts: dict[str, str] = field(repr=False)
    account: Budget
    ledger: Ledger
    warnings: tuple[str, ...] = ()
    is_charged: bool = True
    end: str = ""

    @classmethod
    def of(cls, form: Any, *, folder: Folder, ledger: Address) -> Order:
        """Check an order as its release will before the charge: by header or schema alone.

        Guarantee: it is refused if and only if its release would be refused before the charge.

        Raises:
            ValueError: a request is wrong, or does not fit the data.
            LedgerError: there is no budget, too little of it is left, or a rule forbids it.
        """
        texts = texts_of(form, _FIELDS, besides=("codebook", "columns"))
        source = NamedData.of(texts, folder)
        one_of("what", texts["what"], (_TABLE, _ROW, _VALUE))
        descriptor = None if form.get("codebook") is None else descriptor_of(form)
        if descriptor is not None and (form.get("columns") is not None or texts["delta"]):
            raise ValueError("columns and delta must be left out with a code book.")
        book = None if descriptor is None else book_of(descriptor)
        opened, account = account_of(ledger, source.dataset)
        protection = Protection.declared(account, person=texts["person"] or None)
        if book is None:
            request = _found(form.get("columns"), texts, protection, source)
        else:
            request = _described(book, texts, protection.described_by(book))
        order = cls(
            request=request,
            source=source,
            book=book,
            texts=texts,
            account=account,
            ledger=opened,
            end=_new_end(folder),
        )
        is_charged = require_charge(request, order._charge)
        return replace(order, is_charged=is_charged, warnings=order._checked())

    def _checked(self) -> tuple[str, ...]:
        """Return what the release would warn of, or raise as it would before its charge.

        The columns of a code book, which a release scans in pairs, are checked one by one.
        """
        warnings: tuple[str, ...]
        refuse_own_data(self._records, self.ledger)
        if isinstance(self.request, RowRequest | ModelRequest):
            alphabet = self.request.codebook.alphabet
            checked = check(self._records, alphabet, **self.request.protection.where)
            if checked.refusals:
                raise ValueError("\n".join(map(as_options, checked.refusals)))
            warnings = checked.warnings
        else:
            with prepare(self.request, self._records, self._charge).scan as scan:
                warnings = scan.warnings
        return tuple(map(as_options, warnings))

    @property
    def saved_as(self) -> str:
        """The name of the file for the code book in the command that is shown, if there is one."""
        return "" if self.book is None else _BOOK.format(self.end)

    @property
    def _records(self) -> Source:
        records = self.source.records
        return records if self.book is None else records.described_by(self.book.descriptor)

    @property
    def _charge(self) -> Charge:
        stated = {name: self.texts[name] or None for name in STATED}
        return Charge(ledger=self.ledger, dataset=self.account.dataset, **stated)

    @property
    def shown(self) -> dict[str, Any]:
        """What to show before confirmation."""
        account, delta = self.account, _and_delta(delta_charge_of(self.request.delta))
        charge, protection = charge_of(self.request.cost), self.request.protection
        person = protection.person
        apart = f" Column “{person}” tells people apart." if person is not None else ""
        words = _APPROVED if self.is_charged else _SECOND
        second = [words] if account.limits.needs_approval(charge) else []
        return {
            "summary": f"{self._what} with ε = {self.texts['epsilon']}{delta}, charged to"
            f" “{short_name(account.dataset)}” ({_relation(protection.basis)}).{apart}",
            "dataset": account.dataset,
            "cost": in_epsilon(charge),
            "left": in_epsilon(account.left),
            "left_after": in_epsilon(account.left - charge),
            "budget": in_epsilon(account.budget),
            "warnings": [
                *epsilon_warnings(self.request.cost, whom=protection.whom),
                *second,
                *self.warnings,
            ],
            "command": self._command,
            "saved_as": self.saved_as,
        }

    @property
    def _what(self) -> str:
        where, names = self.source.where, f"column “{', '.join(self.request.columns)}”"
        match self.request:
            case FoundTableRequest(columns=columns):
                table = f"A private table of {_columns(columns)} of {where}"
                return f"{table}, whose values are found first,"
            case ModelRequest(codebook=book):
                return f"A private table of {_columns(book.columns)} of {where}"
            case RowRequest(codebook=book):
                return f"One row of {_columns(book.columns)} of {where}"
            case SampleRequest() as request:
                return (
                    f"One value of {names} of {where}, out of {request.alphabet.k:,} possible"
                    f" values, by {request.chosen}"
                )
            case OpenRequest():
                return f"One value of {names} of {where}, out of all that enough people share,"

    @property
    def _command(self) -> str:
        """The equivalent command; URLs of databases are withheld: they may hold passwords."""
        account, texts, source, request = self.account, self.texts, self.source, self.request
        given = {name: texts[name] for name in ("table", "delimiter", "encoding")}
        given["codebook"] = self.saved_as
        if isinstance(request, SampleRequest):
            given["sampler"] = request.chosen
        elif isinstance(request, OpenRequest):
            given |= {"alphabet": "open", "delta": texts["delta"]}
        else:
            given |= {"network": texts["network"], "delta": texts["delta"]}
        given |= {name: texts[name] for name in ("person", "epsilon", *STATED)}
        given["neighbours"] = account.neighbours if account.neighbours != REPLACE else ""
        if account.records_per_person > 1:
            given["records-per-person"] = str(account.records_per_person)
        given["dataset"] = account.dataset if account.dataset != str(source.data) else ""
        options = [f"--{name} {shlex.quote(text)}" for name, text in given.items() if text]
        if not is_default(ledger := self.ledger.path):
            place = shlex.quote(str(ledger)) if isinstance(ledger, Path) else '"$LEDGER_URL"'
            options.append(f"--ledger {place}")
        if isinstance(request, FoundTableRequest | SampleRequest | OpenRequest):
            options = [f"--column {shlex.quote(name)}" for name in request.columns] + options
        named = shlex.quote(_path(source.name)) if source.is_file else '"$DATABASE_URL"'
        verb = "dproo sample"
        if isinstance(request, ModelRequest | FoundTableRequest):
            verb = "dproo synthesize"
            out, model = _TABLE_FILE.format(self.end), _MODEL.format(self.end)
            options += [f"--rows 1000 --out {out} --model {model}"]
        return " ".join([verb, named, *options])

    def release(self, folder: Folder) -> Release:
        """Charge, read and draw, exactly as shown and from the file that was shown."""
        self.source.require_unchanged(folder)
        if require_charge(self.request, self._charge) != self.is_charged:
            raise ValueError(
                "a second person has decided since the review. Review the release again."
            )
        made = execute(self.request, self._records, self._charge)
        if isinstance(self.request, FoundTableRequest) and "model" not in made.receipt.details:
            raise ReleaseError(nothing_found(made.receipt, self.ledger.path))
        return made


def _new_end(folder: Folder) -> str:
    """Return an end for the names of a command's files, so that no file of the folder has them."""
    ends = ("", *(f"-{number}" for number in range(2, _MOST_NAMED)))

    def is_new(end: str) -> bool:
        return not any(os.path.lexists(folder.root / name.format(end)) for name in _NAMED)

    return next(filter(is_new, ends), ends[-1])


def _path(name: str) -> str:
    """Return the name of a file in a form that no command takes for an option or a URL.

    >>> _path("visits.csv"), _path("-x.csv"), _path("postgresql:x.csv")
    ('visits.csv', './-x.csv', './postgresql:x.csv')
    """
    return f"./{name}" if name.startswith("-") or ":" in name else name


def _relation(basis: Basis) -> str:
    """Return whether the number of what is counted is public.

    >>> _relation(Basis(neighbours=REPLACE, unit=PERSON))
    'the number of people is public'
    """
    several = "people" if basis.counts_people else "records"
    return f"the number of {several} is {_KNOWN[basis.neighbours]}"


def _and_delta(atto: int) -> str:
    """Return a delta to follow its epsilon, without a place for a line break, or ''."""
    delta = in_delta(atto).replace("-", "-\u2060")
    return f" and δ = {delta}" if atto else ""


def _columns(names: tuple[str, ...]) -> str:
    return f"{counted(len(names), 'column')} ({', '.join(names)})"


def _described(book: CodeBook, texts: dict[str, str], protection: Protection) -> _Request:
    """Return a table, a row or a value of columns whose possible values are listed."""
    epsilon, what = parse_epsilon(texts["epsilon"]), texts["what"]
    if what == _VALUE:
        column = _only(book.columns)
        return SampleRequest(
            alphabet=book.letters(column),
            column=column,
            sampler=texts["sampler"] or AUTO,
            epsilon=epsilon,
            protection=protection,
        )
    if texts["sampler"]:
        raise ValueError("sampler must be left out, except for one value.")
    return (ModelRequest if what == _TABLE else RowRequest)(
        codebook=book,
        network=texts["network"] or "auto",  # type: ignore[arg-type] # checked by the request
        epsilon=epsilon,
        protection=protection,
    )


def _found(
    columns: Any, texts: dict[str, str], protection: Protection, source: NamedData
) -> _Request:
    """Return a table or a value of columns whose possible values are found."""
    if not (isinstance(columns, list) and all(isinstance(name, str) for name in columns)):
        raise TypeError(refusal("columns", "be a list of names", columns))
    if texts["what"] == _ROW or texts["sampler"] not in {"", OPEN_SAMPLER, AUTO}:
        raise ValueError("values can be found for a table or for one value, by no chosen sampler.")
    epsilon = parse_epsilon(texts["epsilon"])
    if texts["what"] == _VALUE:
        return OpenRequest(
            column=_only(columns),
            epsilon=epsilon,
            delta=parse_delta(texts["delta"]),
            protection=protection,
        )
    names = [name for name in columns if name not in {"", texts["person"]}]  # as by default
    dataset = Dataset(source=source.records, protection=protection)
    discovery = discovery_of(dataset, epsilon=epsilon, delta=texts["delta"], columns=names)
    network = texts["network"] or "auto"
    return FoundTableRequest.of(discovery, network)  # type: ignore[arg-type] # checked there


def _only(columns: Sequence[str]) -> str:
    if len(columns) != 1:
        raise ValueError(refusal("columns", "be one for one value", len(columns)))
    return columns[0]


def account_of(path: Address, dataset: str) -> tuple[Ledger, Budget]:
    """Return the ledger and the budget of a dataset, or raise with how to declare one."""
    try:
        ledger = Ledger(path)
        return ledger, ledger.budget(dataset)
    except MissingLedgerError as error:
        raise MissingLedgerError(f"{error} {remedy(dataset, path)}") from None
    except UnknownDatasetError:
        raise UnknownDatasetError(
            f"{refusal('dataset', 'have a budget', dataset)} {remedy(dataset, path)}"
        ) from None


_BUDGET_FIELDS = (*FIELDS, "budget", "delta", "neighbours", "records_per_person", "unit")


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """A validated budget that is not yet declared; its epsilon and delta are as typed.

    Attributes:
        relation: the conditions under which the epsilons add up, as in :class:`Basis`.
    """

    dataset: str
    budget: str
    delta: str
    relation: dict[str, Any]
    ledger: Address

    @classmethod
    def of(cls, form: Any, *, folder: Folder, ledger: Address) -> Declaration:
        """Check a budget, for data that has none yet; the data is not opened."""
        texts = texts_of(form, _BUDGET_FIELDS)
        dataset = NamedData.of(texts, folder).dataset
        dataset_of(dataset)
        budget_of(texts["budget"])
        delta = texts["delta"] or "0"
        delta_budget_of(delta)
        relation = vars(
            Basis(
                neighbours=texts["neighbours"],  # type: ignore[arg-type] # checked there
                records_per_person=integer_of(
                    "records_per_person", texts["records_per_person"] or "1"
                ),
                unit=texts["unit"] or "record",  # type: ignore[arg-type]
            )
        )
        with suppress(MissingLedgerError):
            if dataset.casefold() in map(str.casefold, Ledger(ledger).datasets()):
                raise taken(dataset)
        return cls(
            dataset=dataset, budget=texts["budget"], delta=delta, relation=relation, ledger=ledger
        )

    @property
    def shown(self) -> dict[str, Any]:
        """What to show before confirmation."""
        most = self.relation["records_per_person"]
        person = "each person has one record" if most == 1 else f"a person has up to {most} records"
        if self.relation["unit"] == PERSON:
            person = "each release protects a person with all of their records"
        name, budget = short_name(self.dataset), in_epsilon(budget_of(self.budget))
        return {
            "dataset": self.dataset,
            "budget": budget,
            "summary": f"All releases charged to “{name}” may together spend ε = {budget}"
            f"{_and_delta(delta_budget_of(self.delta))}, and no more, ever:"
            f" {_relation(Basis(**self.relation))}, {person}.",
        }

    def declare(self) -> dict[str, Any]:
        """Declare it, in a new ledger if there is none."""
        Ledger.create(self.ledger).declare(
            self.dataset, budget=self.budget, delta=self.delta, **self.relation
        )
        return {"dataset": self.dataset}
