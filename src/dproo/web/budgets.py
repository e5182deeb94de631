"""Budgets that the page declares: shown first, and declared once if confirmed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dproo.core.checks import refusal
from dproo.core.numbers import budget_of
from dproo.errors import DatasetTakenError, MissingLedgerError
from dproo.ledger import Address, Ledger, in_epsilon
from dproo.ledger.rules import Basis, require_name
from dproo.web.folder import Folder
from dproo.web.orders import RELATIONS
from dproo.web.source import FIELDS, Source, texts_of

_FIELDS = (*FIELDS, "budget", "neighbours", "records_per_person", "unit")


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """A budget that was checked and is not declared yet.

    Attributes:
        dataset: the name of the data.
        budget: the total epsilon, as it was written.
        relation: for which epsilons add up, and how many records one person may have.
        ledger: where it will be declared.
    """

    dataset: str
    budget: str
    relation: dict[str, Any]
    ledger: Address

    @classmethod
    def of(cls, form: Any, *, folder: Folder, ledger: Address) -> Declaration:
        """Check a budget; the data is not opened.

        Raises:
            ValueError: the name or the budget is wrong.
            DatasetTakenError: the data already has a budget.
        """
        texts = texts_of(form, _FIELDS)
        dataset = Source.of(texts, folder).dataset
        require_name(dataset)
        budget_of(texts["budget"])
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
        return cls(dataset=dataset, budget=texts["budget"], relation=relation, ledger=ledger)

    @property
    def shown(self) -> dict[str, Any]:
        """What a person should see before confirming."""
        most = self.relation["records_per_person"]
        person = "each person has one record" if most == 1 else f"a person has up to {most} records"
        if self.relation["unit"] == "person":
            person = "each release protects a person with all of their records"
        return {
            "dataset": self.dataset,
            "budget": in_epsilon(budget_of(self.budget)),
            "summary": f"All releases that are charged to “{self.dataset}” may together spend ε ="
            f" {in_epsilon(budget_of(self.budget))}, and no more, ever:"
            f" {RELATIONS[self.relation['neighbours']]}, {person}.",
        }

    def declare(self) -> dict[str, Any]:
        """Declare it, in a new ledger if there is none."""
        Ledger.create(self.ledger).declare(self.dataset, budget=self.budget, **self.relation)
        return {"dataset": self.dataset}


_LONGEST = 20


def _require_free(ledger: Address, dataset: str) -> None:
    try:
        taken = Ledger(ledger).datasets()
    except MissingLedgerError:
        return
    if dataset.casefold() in {name.casefold() for name in taken}:
        raise DatasetTakenError(refusal("dataset", "not have a budget yet", dataset))
