"""Synthetic columns: many records of a column, or of several at once, under one budget.

There are three ways to release ``rows`` records for (epsilon, delta), see
:mod:`dproo.analysis.composition`. Which one is best follows from public parameters alone, and so
does the sampler's own epsilon; data is read by the same path as for one record.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from dproo.analysis.composition import JOINT, RELEASES_MAX, Way, ways_within
from dproo.core.checks import whole
from dproo.core.counts import Counts
from dproo.core.divergence import DominatingPair
from dproo.core.draw import RandomSource
from dproo.core.numbers import BITS, decimal_text, fraction_text, power_upper
from dproo.mechanisms import AUTO, PLAIN, Mechanism, RevealOrObscure
from dproo.mechanisms.registry import enough
from dproo.releases.assurance import Assurance
from dproo.releases.protection import Protection
from dproo.releases.request import FEW, Drawn
from dproo.releases.value import SampleRequest
from dproo.schema import Alphabet, Record


@dataclass(frozen=True, kw_only=True)
class SynthesisRequest:
    """The public choices of a synthetic column, checked; nothing of the data is in it.

    Attributes:
        request: those of one record, with the epsilon of all.
        rows: how many records.
        delta: the probability with which epsilon may fail; with 0 the release is pure.
    """

    request: SampleRequest
    rows: int
    delta: Fraction

    def __post_init__(self) -> None:
        whole("rows", self.rows, at_least=1, at_most=RELEASES_MAX)
        # The sampler of equal shares and the joint one refuse here what no data could make right.
        _ = replace(self.request, epsilon=self.request.epsilon / self.rows), self.joint

    @property
    def joint(self) -> SampleRequest:
        """The choices of all rows drawn jointly."""
        return replace(self.request, sampler=RevealOrObscure.name, size=self.rows)

    @property
    def alphabet(self) -> Alphabet:
        """The letters."""
        return self.request.alphabet

    @property
    def counted_alphabets(self) -> tuple[Alphabet, ...]:
        """The alphabet to count by."""
        return (self.request.alphabet,)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read; none where data has no names."""
        return self.request.columns

    @property
    def cost(self) -> Fraction:
        """The epsilon of all rows together."""
        return self.request.epsilon

    @property
    def protection(self) -> Protection:
        """Whom it protects."""
        return self.request.protection

    @property
    def records_needed(self) -> int:
        """One: rows are drawn from a distribution, not taken from the data."""
        return 1

    @property
    def is_n_public(self) -> bool:
        """Whether the number of records may be known."""
        return self.request.is_n_public

    @property
    def public_choices(self) -> dict[str, Any]:
        """The choices as they stand in the ledger."""
        return self.request.public_choices | {"size": self.rows}

    @property
    def room(self) -> int:
        """Bytes of the ledger that the receipt may need."""
        return self.request.room

    def pair(self, sampler: Mechanism) -> DominatingPair:
        """Return a pair that dominates ``sampler`` when all records of a person change.

        A sampler without an option for several records changes once for each of them: the
        ratios multiply, and the distances add up.
        """
        changes = self.protection.records // sampler.records_per_person
        if changes == 1:
            return sampler.dominating_pair
        return DominatingPair.of(
            ratio=power_upper(sampler.largest_ratio, changes, bits=4 * BITS),
            distance=changes * sampler.neighbour_distance,
        )

    @property
    def samplers(self) -> tuple[str, ...]:
        """Those to try; what BAL-ROO's rows cost together is proven only without a delta."""
        if self.request.sampler != AUTO:
            return (self.request.sampler,)
        return (PLAIN,) if self.delta else (PLAIN, "bal-roo")

    def way(self, n: int) -> Way:
        """Return the best way for ``n`` records: the least worst-case distance of a row.

        Under add-remove ``n`` is private and not looked at.
        """
        return _best(self, n if self.is_n_public else 1)

    @property
    def rehearsal(self) -> SynthesisRequest:
        """The same release of few records."""
        return replace(self, rows=min(self.rows, FEW))

    def draw(self, tables: Sequence[Counts], source: RandomSource) -> Drawn:
        """Return the rows, drawn by a certified sampler."""
        (counts,) = tables
        way = self.way(counts.n)
        if way.name == JOINT:
            letters = list(way.sampler.draw(counts, source=source))
        else:
            letters = way.sampler.draw_many(counts, self.rows, source=source)
        named = {letter: self.alphabet[letter] for letter in set(letters)}
        return Drawn.by(
            [way.sampler],
            tuple(named[letter] for letter in letters),
            self._facts(way, letters, named),
            covers=self.request.covers(
                of_a_person=way.sampler.records_per_person == self.protection.records
            )
            + ("" if way.name == JOINT else " in one row"),
            assurance=self._assurance(way),
        )

    def _assurance(self, way: Way) -> Assurance:
        scope, of_people = "for each row", self.protection.counts_people
        if self.is_n_public:
            return Assurance(alpha=way.alpha, scope=scope, is_of_people=of_people)
        records = enough(way.sampler.epsilon, way.sampler.k, draws=way.sampler.draws)
        alpha = replace(way.sampler, n=records).worst_alpha
        return Assurance(alpha=alpha, records=records, scope=scope, is_of_people=of_people)

    def _facts(self, way: Way, letters: list[int], named: dict[int, Record]) -> dict[str, Any]:
        pair = None if way.name == JOINT else self.pair(way.sampler)
        return {
            "values": [[named[letter], times] for letter, times in Counter(letters).items()],
            "rows": self.rows,
            "sampler": way.sampler.name,
            "sampler_reason": None
            if self.request.sampler != AUTO
            else "It has the smallest proven worst case of all ways to release so many rows.",
            "way": way.name,
            "delta": str(self.delta),
            "delta_decimal": decimal_text(self.delta),
            "epsilon_each": None if pair is None else str(way.sampler.epsilon),
            "dominating_pair": None
            if pair is None
            else {"high": fraction_text(pair.high), "low": fraction_text(pair.low)},
            "spent": {"epsilon": str(way.epsilon), "delta": str(way.delta)},
            "k": self.alphabet.k,
            "alphabet_sha256": self.alphabet.digest,
        }


@lru_cache(maxsize=8)
def _best(synthesis: SynthesisRequest, n: int) -> Way:
    request = synthesis.request

    def best(name: str) -> Way:
        return ways_within(
            lambda epsilon: replace(request, epsilon=epsilon, sampler=name).sampler_for(n),
            synthesis.joint.sampler_for(n),
            synthesis.pair,
            releases=synthesis.rows,
            epsilon=request.epsilon,
            delta=synthesis.delta,
        )[0]

    ways = list(map(best, synthesis.samplers))
    if synthesis.is_n_public:
        return min(ways, key=lambda way: way.alpha)
    at = enough(request.epsilon / synthesis.rows, request.alphabet.k)
    return min(ways, key=lambda way: replace(way.sampler, n=at).worst_alpha)
