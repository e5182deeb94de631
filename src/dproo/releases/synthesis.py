"""Synthetic columns: many records of a column, or of several at once, under one budget.

There are three ways to release ``rows`` records for (epsilon, delta), see
:mod:`dproo.analysis.composition`. Which one is best follows from public parameters alone, and so
does the sampler's own epsilon; data is read by the same path as for one record.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

from dproo.alphabet import Alphabet, Record
from dproo.analysis.composition import JOINT, RELEASES_MAX, Way, ways_within
from dproo.core.arguments import whole
from dproo.core.counts import Counts
from dproo.core.dominating_pair import DominatingPair
from dproo.core.exact import (
    BITS,
    Number,
    decimal_text,
    fraction_text,
    parse_delta,
    parse_epsilon,
    power_upper,
)
from dproo.core.randomness import RandomSource
from dproo.ledger import Ledger
from dproo.mechanisms import AUTO, DEFAULT, REPLACE, Mechanism, Relation, RevealOrObscure
from dproo.releases.budget_name import reprint
from dproo.releases.execute import Release, execute, guarded
from dproo.releases.request import Drawn
from dproo.releases.sample_request import SampleRequest
from dproo.releases.tables import require_new, write


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
        """The columns that the alphabet names, if it does."""
        return self.alphabet.columns

    @property
    def cost(self) -> Fraction:
        """The epsilon of all rows together."""
        return self.request.epsilon

    @property
    def neighbours(self) -> Relation:
        """The relation it protects under."""
        return self.request.neighbours

    @property
    def records_per_person(self) -> int:
        """The most records that one protected person may own."""
        return self.request.records_per_person

    @property
    def person(self) -> str | None:
        """The column that names whom a record is about, where that is known."""
        return self.request.person

    @property
    def protects(self) -> str:
        """Whom it protects, for the receipt."""
        return self.request.protects

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

    def pair(self, sampler: Mechanism) -> DominatingPair:
        """Return a pair that dominates ``sampler`` when all records of a person change.

        A sampler without an option for several records changes once for each of them: the
        ratios multiply, and the distances add up.
        """
        changes = self.records_per_person // sampler.records_per_person
        if changes == 1:
            return sampler.dominating_pair
        return DominatingPair.of(
            ratio=power_upper(sampler.largest_ratio, changes, bits=4 * BITS),
            distance=changes * sampler.neighbour_distance,
        )

    def way(self, n: int) -> Way:
        """Return the best way for ``n`` records: the least worst-case distance of a row.

        Under add-remove ``n`` is private and not looked at.
        """
        return _best(self, n if self.is_n_public else 1)

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
            is_n_public=self.is_n_public,
        )

    def _facts(self, way: Way, letters: list[int], named: dict[int, Record]) -> dict[str, Any]:
        pair = None if way.name == JOINT else self.pair(way.sampler)
        return {
            "values": [[named[letter], times] for letter, times in Counter(letters).items()],
            "rows": self.rows,
            "sampler": way.sampler.name,
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
    request, rows = synthesis.request, synthesis.rows
    return ways_within(
        lambda epsilon: replace(request, epsilon=epsilon).sampler_for(n),
        synthesis.joint.sampler_for(n),
        synthesis.pair,
        releases=rows,
        epsilon=request.epsilon,
        delta=synthesis.delta,
    )[0]


def synthesize(
    data: Any,
    *,
    alphabet: Any,
    rows: int,
    epsilon: Number,
    delta: Number = 0,
    sampler: str = DEFAULT,
    column: str | None = None,
    table: str | tuple[str, ...] | None = None,
    neighbours: Relation = REPLACE,
    records_per_person: int = 1,
    person: str | None = None,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    dataset: str | None = None,
    out: str | os.PathLike[str] | None = None,
    engine: str | None = None,
    master: str | None = None,
) -> Release:
    """Release ``rows`` synthetic records of ``data`` under (epsilon, delta)-DP for all together.

    Guarantee: whatever way is chosen, all rows together are (epsilon, delta)-DP, and no single
    row costs more than epsilon.
    Proof: docs/proofs/dominating_pair.md

    Args:
        data: any source that :func:`dproo.sample` takes.
        alphabet: the public letters of a column, or of several at once.
        rows: how many records.
        epsilon: the privacy parameter, for all rows together.
        delta: the probability that epsilon may fail; it should be far below one over the
            number of records. With 0 the release is pure, and less accurate.
        sampler: draws independent rows; ``"auto"`` is the default one. Rows drawn jointly
            always come from ROO.
        column: the column of a file, table or frame.
        table: the table of a database, as in ``"table"`` or ``"schema.table"``.
        neighbours: ``"replace"`` (n is public) or ``"add-remove"`` (n is private).
        records_per_person: the most records that one protected person may own.
        person: the column that names whom a record is about. One record of each person is
            counted, or up to ``records_per_person`` under add-remove, and the release protects
            a person, whatever they contribute.
        ledger: the ledger to charge; with a delta, the budget must have been declared with one.
        dataset: the name under which the ledger keeps the budget of this data.
        out: a new file to write the rows to, ``.csv`` or ``.parquet``.
        engine: ``"spark"`` to have Spark read ``data``, a table's name or Parquet files.
        master: the cluster that Spark runs on, by default this machine.

    >>> rows = synthesize(["a"] * 600 + ["b"] * 400, alphabet=["a", "b"], rows=50, epsilon=1,
    ...     delta="1e-6")
    >>> len(rows.values), rows.receipt["way"]
    (50, 'composed')

    Raises:
        TypeError, ValueError: an argument is wrong; nothing was charged, no data was read.
        LedgerError: the ledger refused; no data was read.
        ReleaseError: it failed after data was touched; the charge stays.
    """
    synthesis = SynthesisRequest(
        request=SampleRequest(
            alphabet=Alphabet.of(alphabet),
            epsilon=parse_epsilon(epsilon),
            sampler=DEFAULT if sampler == AUTO else sampler,
            neighbours=neighbours,
            records_per_person=records_per_person,
            person=person,
        ),
        rows=rows,
        delta=parse_delta(delta),
    )
    columns = synthesis.alphabet.columns or (column or "value",)
    path = None if out is None else require_new(out, columns)
    made = execute(
        synthesis,
        data,
        column=column,
        table=table,
        engine=engine,
        master=master,
        ledger=ledger,
        dataset=dataset,
    )
    if path is not None:
        book = ledger.path if isinstance(ledger, Ledger) else Path(ledger or "")
        kept = reprint(made.receipt, book)
        guarded(lambda: write(made.values, columns, path), kept=kept)
    return made
