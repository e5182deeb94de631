"""Whom a release protects, and against which change of the data."""

from __future__ import annotations

from dataclasses import dataclass

from dproo.core.arguments import one_of, whole
from dproo.mechanisms import ADD_REMOVE, REPLACE, Relation

RECORD, PERSON = "record", "person"
"""The units of protection, as budgets and receipts name them."""


@dataclass(frozen=True, kw_only=True)
class Protection:
    """The unit of protection and the neighbouring relation.

    Attributes:
        neighbours: ``"replace"`` (the number of records is public) or ``"add-remove"`` (it is
            private, and shown nowhere).
        person: the column that names whom a record is about. Of each person only ``records``
            records are counted, and the release protects a person, whatever they contribute.
        records: the most records that one person may own; with ``person``, how many are counted.

    >>> Protection().sentence, Protection(person="patient").sentence
    ('one record', 'one person, whatever they contribute')
    >>> Protection(neighbours="add-remove", records=3).sentence
    'one person with up to 3 records'
    """

    neighbours: Relation = REPLACE
    person: str | None = None
    records: int = 1

    def __post_init__(self) -> None:
        one_of("neighbours", self.neighbours, (REPLACE, ADD_REMOVE))
        whole("records_per_person", self.records, at_least=1)
        if self.person is not None and self.neighbours == REPLACE and self.records > 1:
            raise ValueError(
                "records_per_person must be 1 with person under replace: the public number of"
                " records would tell how many each person has. Use neighbours='add-remove'."
            )

    @property
    def unit(self) -> str:
        """Whether records are protected, or people whom a column names."""
        return RECORD if self.person is None else PERSON

    @property
    def counts_people(self) -> bool:
        """Whether exactly one record of each person is counted."""
        return self.person is not None and self.records == 1

    @property
    def sentence(self) -> str:
        """Whom it protects, for the receipt."""
        if self.person is not None:
            return "one person, whatever they contribute"
        return (
            "one record" if self.records == 1 else f"one person with up to {self.records} records"
        )

    @property
    def whom(self) -> str:
        """Whose influence is bounded, in two words."""
        return "one record" if self.person is None and self.records == 1 else "one person"
