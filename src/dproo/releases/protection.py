"""Whom a release protects, and the public groups, one record of each of which is released."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from dproo.core.checks import exact, flag, one_of, refusal, whole
from dproo.counting.query import Where
from dproo.ledger import Budget
from dproo.ledger.rules import PERSON, RECORD, Basis, Unit
from dproo.mechanisms import ADD_REMOVE, REPLACE, Relation
from dproo.schema import UNIFORM, Alphabet
from dproo.schema.axis import Axis
from dproo.schema.codebook import CodeBook, can_be_missing

ONE, EACH = "one", "each"
"""How records without an identifier count: as one person's, or each as a different person's."""


@dataclass(frozen=True, kw_only=True)
class Protection:
    """The unit of protection and the neighbouring relation.

    Attributes:
        neighbours: ``"replace"`` (the number of records is public) or ``"add-remove"`` (it is
            private, and shown nowhere).
        person: the column that identifies people. Only ``records`` of each person's records are
            counted, and the release protects a person, whatever they contribute.
        records: the most records that one person may own; with ``person``, how many are counted.
        missing: ``"one"`` if all records without an identifier count as one person's, ``"each"``
            if the steward declares that each is a different person's.
        missing_texts: identifiers that stand for a missing one; a code book's ``missingValues``
            are added.

    >>> Protection().sentence, Protection(person="patient").sentence
    ('one record', 'one person, whatever they contribute')
    >>> Protection(neighbours="add-remove", records=3).sentence
    'one person with up to 3 records'
    """

    neighbours: Relation = REPLACE
    person: str | None = None
    records: int = 1
    missing: str = ONE
    missing_texts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        vars(self).update(
            neighbours=one_of("neighbours", self.neighbours, (REPLACE, ADD_REMOVE)),
            records=whole("records_per_person", self.records, at_least=1),
            missing=one_of("missing_person", self.missing, (ONE, EACH)),
            person=exact(self.person),
            missing_texts=_texts(self.missing_texts),
        )
        if self.person is not None and not isinstance(self.person, str):
            raise TypeError(refusal("person", "be the name of a column", type(self.person)))
        if self.person is None and (self.missing != ONE or self.missing_texts):
            raise ValueError("person must be given with missing_person: it names the column.")
        if self.person is not None and self.neighbours == REPLACE and self.records > 1:
            raise ValueError(
                "records_per_person must be 1 with person under replace: the public number of"
                " records would tell how many each person has. Use neighbours='add-remove'."
            )

    @classmethod
    def declared(cls, budget: Budget, *, person: str | None) -> Protection:
        """Return the protection that a budget was declared for."""
        return cls(neighbours=budget.neighbours, person=person, records=budget.records_per_person)

    def described_by(self, book: CodeBook) -> Protection:
        """Return the same with the further texts that stand for a missing identifier."""
        if self.person is None:
            return self
        texts = tuple(sorted({*self.missing_texts, *book.missing_texts(self.person)}))
        return replace(self, missing_texts=texts)

    @property
    def where(self) -> Where:
        """Whose records are counted, and how many of each."""
        return {
            "person": self.person,
            "records_per_person": 1 if self.person is None else self.records,
            "is_each_missing": self.missing == EACH,
            "missing_texts": self.missing_texts,
        }

    @property
    def unit(self) -> Unit:
        """Whether records are protected, or people whom a column names."""
        return RECORD if self.person is None else PERSON

    @property
    def basis(self) -> Basis:
        """What the budget must have been declared for."""
        return Basis(neighbours=self.neighbours, records_per_person=self.records, unit=self.unit)

    @property
    def counts_people(self) -> bool:
        """Whether exactly one record of each person is counted."""
        return self.person is not None and self.records == 1

    @property
    def changes(self) -> int:
        """The largest sum of differences between the counts of two neighbours."""
        return self.records * (2 if self.neighbours == REPLACE else 1)

    @property
    def sentence(self) -> str:
        """Whom it protects, for the receipt."""
        if self.person is not None:
            texts = ", ".join(map(repr, self.missing_texts))
            missing = f"; no identifiers: {texts}" if texts else ""
            each = "; each record without an identifier is declared to be somebody else's"
            return "one person, whatever they contribute" + (
                missing + (each if self.missing == EACH else "")
            )
        return (
            "one record" if self.records == 1 else f"one person with up to {self.records} records"
        )

    @property
    def whom(self) -> str:
        """Whose influence is bounded, in two words."""
        return "one record" if self.person is None and self.records == 1 else "one person"


def _texts(given: object) -> tuple[str, ...]:
    texts = exact(given)
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise TypeError(refusal("missing_texts", "be a list of texts", given))
    if not all(map(can_be_missing, texts)):
        raise ValueError(refusal("missing_texts", "be texts without U+0000 and U+FFFD", texts))
    return tuple(texts)


@dataclass(frozen=True)
class Groups:
    """One record is released for each public group.

    Attributes:
        by: the column with each record's group.
        groups: the public list of groups, in any form that :meth:`dproo.Alphabet.of` takes.
        are_public: whether everybody may know which record is in which group. If not, a release
            under replace costs epsilon twice, since a record can leave one group and enter
            another.

    >>> Groups("ward", ["A", "B"]).axis.size
    2
    """

    by: str
    groups: Any
    are_public: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", exact(self.by))
        if not isinstance(self.by, str) or not self.by:
            raise ValueError(refusal("by", "be the name of a column", self.by))
        object.__setattr__(self, "are_public", flag("are_public", self.are_public))
        alphabet = Alphabet.of(self.groups, policy=UNIFORM)
        if alphabet.columns:
            raise ValueError("groups must be values of one column.")
        object.__setattr__(self, "groups", alphabet)

    @property
    def axis(self) -> Axis:
        """The groups as the letters of their column."""
        axis: Axis = self.groups.axes[0]
        return axis

    def require_apart(self, columns: Iterable[str]) -> None:
        """Raise if the column of the groups is itself released."""
        if self.by in columns:
            raise ValueError(refusal("by", "be a column that is not released", self.by))

    @property
    def facts(self) -> dict[str, Any]:
        """The part of a receipt about the groups."""
        return {"by": self.by, "number": self.axis.size, "are_public": self.are_public}
