"""How good a release is, in one sentence, and what to say where it is not good."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dproo.core.numbers import percent

POOR = Fraction(1, 10)
"""From this share of draws on, a release is called poor."""

A_RECORD = "one record"
EPSILON_HIGH = 10
"""Above this epsilon, a release is said to protect little."""


@dataclass(frozen=True, kw_only=True)
class Assurance:
    """What is proven of the accuracy, for any data.

    Attributes:
        alpha: the largest share of draws that differ; nothing where no bound is known.
        records: the number of records that this holds for, where their number is private.
        scope: what it is said of, such as "in each group", before a comma.
        differ: what differs from what, by default draws from a record.
        is_of_people: whether each record is a person's only one.
        told: the accuracy in words, where no share of draws tells it.

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
    told: str = ""

    @property
    def sentence(self) -> str:
        """The accuracy in words."""
        if self.told:
            return self.told
        if self.alpha is None:
            return "no bound is known: a column's parents are not all in one earlier family"
        whose, several = ("person", "people") if self.is_of_people else ("record", "records")
        differ = self.differ or f"draws differ from a random {whose}'s"
        where = "" if self.records is None else f"at {self.records:,} {several}"
        before = "".join(f"{part}, " for part in (self.scope, where) if part)
        after = "" if self.records is None else "; with more, fewer do"
        return f"{before}at most {percent(self.alpha)} of {differ}{after}"

    def warnings(self, epsilon: Fraction, *, whom: str = A_RECORD) -> list[str]:
        """Return what whoever uses the release should know first."""
        found = []
        if not self.told and self.records is None and (self.alpha is None or self.alpha > POOR):
            share = "an unknown share" if self.alpha is None else f"up to {percent(self.alpha)}"
            found.append(
                f"The accuracy is poor: {share} of draws may say nothing about the data. It takes"
                " more records, a larger epsilon or fewer possible values; see dproo plan."
            )
        return found + epsilon_warnings(epsilon, whom=whom)


def epsilon_warnings(epsilon: Fraction, *, whom: str = A_RECORD) -> list[str]:
    """Return what to say before an epsilon is charged that protects little, and whom."""
    if epsilon <= EPSILON_HIGH:
        return []
    odds = f"{whom} may change the odds of a conclusion by a factor of more than 22,000."
    return [f"Epsilon above {EPSILON_HIGH} protects little: {odds}"]
