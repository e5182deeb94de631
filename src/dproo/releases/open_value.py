"""One value of a column that nobody can list: the public choices, checked before the charge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from dproo.core.checks import whole
from dproo.core.counts import Counts, NamedCounts
from dproo.core.draw import RandomSource
from dproo.core.numbers import (
    exp_lower,
    exp_upper,
    float_upper,
    fraction_text,
    percent_below,
    require_share,
)
from dproo.mechanisms.open import OPEN_EPSILON_MIN, OpenAlphabet
from dproo.releases.request import Assurance, Drawn, Request
from dproo.schema import OTHER, Alphabet
from dproo.schema.axis import LONGEST_OPEN, OPEN, OpenText

OPEN_SAMPLER = "open-roo"


@dataclass(frozen=True, kw_only=True)
class OpenRequest(Request):
    """All public choices of the release of a letter that nobody has listed.

    Attributes:
        column: the column that holds it, or None if columns have no names.
        minimum_people: a letter of fewer records, or people, is never shown.
    """

    column: str | None = None
    minimum_people: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        least = whole("minimum_people", self.minimum_people, at_least=1)
        object.__setattr__(self, "minimum_people", least)
        self.sampler_for(1)  # refuses what no data could make right

    @property
    def minimum(self) -> int:
        """The fewest records that prove that so many people have a letter."""
        return (self.minimum_people - 1) * self.protection.records + 1

    @property
    def counted_alphabets(self) -> tuple[Alphabet, ...]:
        """The alphabet to count by: any text that enough records have."""
        return (Alphabet(axes=(OpenText(minimum=self.minimum),)),)

    @property
    def columns(self) -> tuple[str, ...]:
        """The column, if it has a name."""
        return (self.column,) if self.column else ()

    @property
    def public_choices(self) -> dict[str, Any]:
        """The choices as they stand in the ledger."""
        return {
            "sampler": OPEN_SAMPLER,
            "alphabet": OPEN,
            "minimum_people": self.minimum_people,
            "longest": LONGEST_OPEN,
        }

    def sampler_for(self, n: int) -> OpenAlphabet:
        """Return the certified sampler; the records of a person share epsilon and delta.

        ``g`` changes that are each (epsilon, delta)-DP are together
        (g epsilon, delta (e^(g epsilon) - 1)/(e^epsilon - 1))-DP: later ones magnify each delta.
        """
        people = self.protection.records
        delta = self.delta
        if people > 1:
            whose = "each record of a person with an open alphabet"
            require_share(self.epsilon / people, whose, least=OPEN_EPSILON_MIN)
            delta *= (exp_lower(self.epsilon / people) - 1) / (exp_upper(self.epsilon) - 1)
        return _certified(
            epsilon=self.epsilon / people,
            delta=delta,
            n=n if self.is_n_public else 0,
            neighbours=self.protection.neighbours,
            minimum=self.minimum,
        )

    def draw(self, tables: Sequence[Counts], source: RandomSource) -> Drawn:
        """Return the letter, drawn by a certified sampler."""
        (counts,) = tables
        assert isinstance(counts, NamedCounts)  # noqa: S101 - for the type checker
        sampler = self.sampler_for(counts.n)
        values = ((*counts.letters, OTHER)[sampler.draw(counts, source=source)],)
        return Drawn(
            values=values,
            facts={"values": list(values), **self._facts},
            certificate={
                "holds": sampler.largest_delta <= sampler.delta,
                "epsilon": float_upper(self.epsilon / self.protection.records),
                "delta": fraction_text(sampler.largest_delta) if sampler.largest_delta else "0",
                "covers": self.covers(),
            },
            assurance=self._assurance(sampler, counts.n),
        )

    def _assurance(self, sampler: OpenAlphabet, n: int) -> Assurance:
        """Return from which count on a letter is drawn."""
        several = "people" if self.protection.counts_people else "records"
        obscured = sampler.obscured(n) if self.is_n_public else Fraction(0)
        return Assurance(
            alpha=None,
            words=f"a value of {sampler.proportional:,} {several} or more is drawn in proportion,"
            f" one of fewer than {sampler.first:,} never",
            off=obscured,
            poor=f"at least {percent_below(obscured)} of draws are 'other', whatever the data. It"
            f" takes more {several} or a larger epsilon",
        )

    @property
    def _facts(self) -> dict[str, Any]:
        return {
            "sampler": OPEN_SAMPLER,
            "sampler_reason": None,
            "alphabet": OPEN,
            **self.delta_facts,
            "minimum_people": self.minimum_people,
            "longest": LONGEST_OPEN,
        }


_certified = lru_cache(maxsize=64)(OpenAlphabet)
