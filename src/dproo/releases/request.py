"""What all kinds of releases have in common, as the one path from data to output needs it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Self

from dproo.core.checks import refusal
from dproo.core.counts import Counts
from dproo.core.draw import RandomSource
from dproo.core.numbers import EPSILON_MAX, decimal_text, percent
from dproo.ledger.events import canonical
from dproo.ledger.ledger import ROOM
from dproo.mechanisms import ADD_REMOVE, REPLACE, Relation
from dproo.releases.protection import Groups, Protection
from dproo.schema import OTHER, UNIFORM, Alphabet, Record
from dproo.schema.axis import Axis, IntegerRange, Letters, PeriodRange

FEW = 4
"""The most records of a rehearsal."""


@dataclass(frozen=True)
class Drawn:
    """Records that were drawn but not yet shown.

    Attributes:
        values: the records.
        facts: the details of the receipt; public or released.
        certificate: the worst loss of their samplers, for the receipt.
        assurance: the largest distance between their law and the data, or a bound on it.
    """

    values: tuple[Record, ...]
    facts: dict[str, Any]
    certificate: dict[str, Any]
    assurance: Assurance


@dataclass(frozen=True, kw_only=True)
class Request(ABC):
    """The public choices of a release, checked; nothing of the data is in it.

    Attributes:
        epsilon: for all released records together, or for each group.
        protection: whom the release protects, and against which change of the data.
        groups: the groups, one record of each of which is released; or None.
        delta: the probability with which epsilon may fail; 0 if all letters are listed.
    """

    epsilon: Fraction
    protection: Protection = field(default_factory=Protection)
    groups: Groups | None = None
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if not isinstance(self.groups, Groups | None):
            raise TypeError(refusal("by", "be a dproo.Groups", self.groups))
        if self.protection.person and self.groups is not None and self.groups.are_public:
            raise ValueError(
                "groups cannot be public with person: a person may have records in several groups,"
                " and which one is kept is not public."
            )
        if self._is_moving and self.cost > EPSILON_MAX:
            raise ValueError(
                refusal(
                    "epsilon", f"be at most {EPSILON_MAX / 2} with private groups", self.epsilon
                )
                + f" Under replace it is spent twice, and {EPSILON_MAX} is the most."
            )

    @property
    @abstractmethod
    def counted_alphabets(self) -> tuple[Alphabet, ...]:
        """The alphabets to count by, all of the same records."""

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The columns that are read, in the order of the data's own; empty without names."""

    @property
    @abstractmethod
    def public_choices(self) -> dict[str, Any]:
        """The choices as they stand in the ledger."""

    @abstractmethod
    def draw(self, tables: Sequence[Counts], source: RandomSource) -> Drawn:
        """Return what is released, drawn by certified samplers."""

    @property
    def records_needed(self) -> int:
        """The fewest records that the data must have, if their number is public."""
        return 1

    @property
    def is_dealt(self) -> bool:
        """Whether records are assigned at random one by one, such as cells outside the letters."""
        return any(alphabet.policy == UNIFORM for alphabet in self.counted_alphabets)

    @property
    def delta_facts(self) -> dict[str, str]:
        """Its delta as it stands in a receipt: exactly, and as a decimal number."""
        return {"delta": str(self.delta), "delta_decimal": decimal_text(self.delta)}

    @property
    def rehearsal(self) -> Self:
        """The same release of at most :data:`FEW` records, which is quick to rehearse."""
        return self

    @property
    def is_n_public(self) -> bool:
        """Whether the number of records, in each group, may be known."""
        return self.protection.neighbours == REPLACE and (
            self.groups is None or self.groups.are_public
        )

    @property
    def relation(self) -> Relation:
        """The relation that the samplers must be certified for."""
        return REPLACE if self.is_n_public else ADD_REMOVE

    @property
    def room(self) -> int:
        """Bytes of the ledger that the receipt may need."""
        return ROOM

    @property
    def values_room(self) -> int:
        """Bytes of the receipt that the released values may need, or 0 if it does not list them."""
        return 0

    @property
    def cost(self) -> Fraction:
        """What the release costs; a record that moves between two groups is seen in both."""
        return self.epsilon * (2 if self._is_moving else 1)

    @property
    def protects(self) -> str:
        """Whom the release protects, and everything that is declared for that to be true."""
        public = "; which record is in which group is declared to be public"
        are_public = self.groups is not None and self.groups.are_public
        return self.protection.sentence + (public if are_public else "")

    def covers(self, *, of_a_person: bool = False) -> str:
        """Return whose worst loss is certified: a record's, or all of a person's together."""
        several, is_named = self.protection.records, self.protection.person is not None
        counted = "kept " if is_named else ""
        whom, who = ("one person", "they") if is_named else ("one record", "it")
        if several > 1:
            all_or_each = "all" if of_a_person else f"each of {several}"
            whom = f"{all_or_each} {counted}records of a person"
        if self.groups is None:
            return whom
        return f"{whom} in one group" + (
            f"; replaced, {who} may be in two" if self._is_moving else ""
        )

    @property
    def _is_moving(self) -> bool:
        return (
            self.groups is not None
            and self.protection.neighbours == REPLACE
            and not self.is_n_public
        )


def longest_name(columns: Sequence[str]) -> int:
    """Return the most bytes of the name of a column in a receipt."""
    return max(len(canonical(name)) for name in columns)


def room_of(
    times: int, names: Sequence[str], axes: Sequence[Axis], others: Sequence[str] = ()
) -> int:
    """Return the most bytes that this many records take in a receipt, with a letter of each axis.

    Blanks count, as in the check of a receipt before it is recorded. ``others`` are the names of
    the letters for all other cells, by default ``other``.

    >>> room_of(1, ["age"], [IntegerRange.of(100_000, 200_000)]) >= len('{"age": 199999}, ')
    True
    """
    named = sum(len(canonical(name)) for name in names) + 4 * len(axes) + 2
    others = others or [OTHER] * len(axes)
    rough = times * (named + sum(map(_roughly, axes, others)))
    return rough if rough <= ROOM else times * (named + sum(map(_longest, axes, others)))


def _roughly(axis: Axis, other: str) -> int:
    """Return a bound on the bytes of a letter, which is found at once."""
    if not isinstance(axis, Letters):
        return _longest(axis, other)
    most = max(axis.longest, len(other))
    return 2 + most * len(canonical("\N{DESERET SMALL LETTER EW}"))


def _longest(axis: Axis, other: str) -> int:
    """Return the most bytes of a letter."""
    is_range = isinstance(axis, IntegerRange | PeriodRange)  # the first or last is the longest
    places = (0, axis.listed - 1) if is_range else range(axis.listed)
    return max(len(canonical(letter)) for letter in (other, *map(axis.letter, places)))


Count = Callable[[Sequence[Alphabet], tuple[str, ...]], tuple[Counts, ...]]
"""Reads the data once more, and returns the counts of columns by alphabets."""


@dataclass(frozen=True, kw_only=True)
class StagedRequest(Request):
    """A release in several stages: what one stage releases decides what the next one counts.

    ``count`` counts the data, or imagines counts for a rehearsal.
    """

    count: Count | None = field(default=None, repr=False, compare=False)

    def bound(self, count: Count) -> Self:
        """Return the same release, which counts by ``count``."""
        return replace(self, count=count)

    def counted(
        self, alphabets: Sequence[Alphabet], columns: tuple[str, ...]
    ) -> tuple[Counts, ...]:
        """Count the data by these alphabets."""
        if self.count is None:
            raise AssertionError("A staged release must be bound to data.")
        return self.count(alphabets, columns)


POOR = Fraction(1, 10)
"""The accuracy is called poor if more than this share of draws, or of the records, may be off."""

A_RECORD = "one record"
EPSILON_HIGH = 10
"""Above this epsilon, a release warns that it protects little."""


@dataclass(frozen=True, kw_only=True)
class Assurance:
    """The proven accuracy, for any data.

    Attributes:
        alpha: the largest share of draws that differ, or None if no bound is known.
        records: the number of records that this holds for, or None if their number is public.
        scope: where it holds, such as "in each group", before a comma.
        differ: what differs from what, by default draws from a record.
        is_of_people: whether each record is a person's only one.
        words: the accuracy in words, if no share of draws expresses it.
        off: with such words, the share that is off, by public or released numbers.
        poor: with such words, what is poor if that share is large, and what would help.

    >>> Assurance(alpha=Fraction("0.0288")).sentence
    "at most 2.9 % of draws differ from a random record's"
    >>> Assurance(alpha=Fraction("0.016"), records=310).sentence
    "at 310 records, at most 1.6 % of draws differ from a random record's; with more, fewer do"
    """

    alpha: Fraction | None
    records: int | None = None
    scope: str = ""
    differ: str = ""
    is_of_people: bool = False
    words: str = ""
    off: Fraction = Fraction(0)
    poor: str = ""

    @property
    def sentence(self) -> str:
        """The accuracy in words."""
        if self.words:
            return self.words
        if self.alpha is None:
            return "no bound is known: a column's parents are not all in one earlier family"
        whose, several = ("person", "people") if self.is_of_people else ("record", "records")
        differ = self.differ or f"draws differ from a random {whose}'s"
        where = "" if self.records is None else f"at {self.records:,} {several}"
        before = "".join(f"{part}, " for part in (self.scope, where) if part)
        after = "" if self.records is None else "; with more, fewer do"
        return f"{before}at most {percent(self.alpha)} of {differ}{after}"

    def warnings(self, epsilon: Fraction, *, whom: str = A_RECORD) -> list[str]:
        """Return what users of the release should know first."""
        off, poor = self.off, self.poor
        if not self.words and self.records is None:
            off = Fraction(1) if self.alpha is None else self.alpha
            share = "an unknown share" if self.alpha is None else f"up to {percent(self.alpha)}"
            poor = (
                f"{share} of draws may say nothing about the data. It takes more records, a larger"
                " epsilon or fewer possible values"
            )
        warnings = [f"The accuracy is poor: {poor}; see dproo plan."] if off > POOR else []
        return warnings + epsilon_warnings(epsilon, whom=whom)


def epsilon_warnings(epsilon: Fraction, *, whom: str = A_RECORD) -> list[str]:
    """Return the warning of an epsilon that protects little, if it does."""
    if epsilon <= EPSILON_HIGH:
        return []
    odds = f"{whom} may change the odds of a conclusion by a factor of more than 22,000."
    return [f"Epsilon above {EPSILON_HIGH} protects little: {odds}"]
