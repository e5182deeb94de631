"""A private table: the public choices of its release, checked before anything is charged or read.

What is released is a model (:mod:`dproo.synthesis.model`). The receipt holds all of it, so the
ledger keeps it like any other release, and :meth:`dproo.Model.of_receipt` gives it back.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any

from dproo.codebooks.draft import letters_of_type
from dproo.core.checks import refusal
from dproo.core.counts import Counts
from dproo.core.draw import RandomSource
from dproo.core.numbers import float_upper, fraction_text, percent, require_share
from dproo.counting.fit import Column
from dproo.counting.sql import statements as sql
from dproo.ledger.rules import TERMS
from dproo.mechanisms import AUTO, REPLACE
from dproo.mechanisms.network import DECLARED, INDEPENDENT, LEARNED, Wiring, settled
from dproo.releases.discovery import LETTERS_ROOM, DiscoveryRequest
from dproo.releases.request import POOR, Assurance, Drawn, Request, StagedRequest, longest_name
from dproo.releases.row import folded
from dproo.schema import Alphabet
from dproo.schema.axis import Bins, whole_numbers
from dproo.schema.codebook import CodeBook, Field
from dproo.synthesis.families import CLIQUE_MAX, Family, cells
from dproo.synthesis.model import Model, ModelColumn, half_width
from dproo.synthesis.request import GAUSSIAN, GEOMETRIC, MEASURE, Released, TableRequest
from dproo.synthesis.run import run

TABLE = "table"
"""What receipts and ledgers call the mechanism."""

CELLS_MAX = 1 << 24
"""The most cells that are counted, in all families together."""

LEAST = Fraction(1, 10**12)
"""The least epsilon for each record of a person: below it, the noise exceeds the range of the
floats that fit the table, and of a model's counts."""

_POTENTIAL = 16  # characters of a fitted number, with what separates it from the next
_STEP = 400  # characters of a step
_REST = 1 << 16  # characters of everything else


@dataclass(frozen=True, kw_only=True)
class ModelRequest(Request):
    """All public choices of the release of a private table; it holds nothing of the data.

    The pairs of a learned network are chosen privately.
    """

    codebook: CodeBook
    network: Wiring = AUTO

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.groups is not None:
            raise ValueError("groups must be left out: a table has the groups as a column.")
        if self.epsilon < LEAST:
            raise ValueError(
                refusal("epsilon", "be at least 1e-12 for a table", float(self.epsilon))
            )
        whose = "each record of a person in a table"
        require_share(self.epsilon / self.protection.records, whose, least=LEAST)
        for field in self.codebook.fields:
            if field.size > CLIQUE_MAX:
                raise ValueError(
                    f"codebook must list at most {CLIQUE_MAX:,} possible values of a column for a"
                    f" table, got {field.size:,} of {field.name!r}. Use bins or fewer values."
                )
        counted = sum(self.other_cells) + sum(self.pair_cells)
        most = TERMS["receipt_max"]
        if counted > CELLS_MAX or self.room > most:
            raise ValueError(
                f"codebook must describe a table of at most {CELLS_MAX:,} counts, whose receipt has"
                f" at most {most:,} bytes, got about {counted:,} and {self.room:,}. Use fewer"
                " columns or values, name the parents of columns, or network='independent'."
            )

    @property
    def wiring(self) -> Wiring:
        """Where the network comes from."""
        return settled(self.network, self.codebook.parents, len(self.columns))

    def mechanism(self, n: int) -> TableRequest:
        """Return the certified mechanism; ``n`` is ignored if the number of records is private."""
        return TableRequest(
            sizes=self.codebook.sizes,
            epsilon=self.epsilon,
            delta=self.delta,
            neighbours=self.protection.neighbours,
            records=n if self.protection.neighbours == REPLACE else None,
            records_per_person=self.protection.records,
            network=self.codebook.parent_places
            if self.wiring == DECLARED
            else _KERNEL[self.wiring],
        )

    @cached_property
    def counted_families(self) -> tuple[Family, ...]:
        """The families to count; the number of records is the sum of any of them."""
        return tuple(family for family in self.mechanism(1).families if family) or ((0,),)

    @cached_property
    def pair_cells(self) -> list[int]:
        """The cells of each pair of columns that may be counted."""
        sizes, families = self.codebook.sizes, self.mechanism(1).families
        return [cells(sizes, family) for family in families if len(family) == 2]

    @cached_property
    def other_cells(self) -> list[int]:
        """The cells of each other family."""
        sizes, families = self.codebook.sizes, self.mechanism(1).families
        return [cells(sizes, family) for family in families if len(family) != 2]

    @property
    def counted_alphabets(self) -> tuple[Alphabet, ...]:
        """The alphabets to count by: one for each family."""
        return tuple(map(self.codebook.table, self.counted_families))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns in the order of the code book."""
        return self.codebook.columns

    @cached_property
    def room(self) -> int:
        """Bytes that the receipt may need, from public sizes."""
        mechanism, two = self.mechanism(1), self.pair_cells
        families = [family for family in mechanism.families if len(family) != 2]
        if mechanism.schedule is None:  # a forest, and at most three times as many pairs as columns
            two = sorted(two, reverse=True)[: 4 * len(self.columns)]
        number = max(13, len(str(int(10**6 * mechanism.changed / self.epsilon)))) + _POTENTIAL + 3
        numbers = number * (sum(self.other_cells) + sum(two))
        public = [[c.name, c.letters, c.labels, c.bins] for c in self.model_columns]
        letters = 2 * len(json.dumps([public, self.columns]))
        steps = len(families) + 2 * len(two)
        named = (sum(map(len, families)) + 4 * len(two)) * longest_name(self.columns)
        return numbers + letters + _STEP * steps + named + _REST

    @property
    def public_choices(self) -> dict[str, Any]:
        """The choices as they stand in the ledger."""
        return {
            "columns": list(self.columns),
            "sampler": TABLE,
            "network": self.wiring,
            "codebook_sha256": self.codebook.digest,
        }

    def draw(self, tables: Sequence[Counts], source: RandomSource) -> Drawn:
        """Return no records, but the model as a fact of the receipt."""
        n = tables[0].n
        fields = self.codebook.fields
        counts: dict[Family, Sequence[int]] = {
            family: list(folded(found, [fields[column] for column in family]))
            for family, found in zip(self.counted_families, tables, strict=True)
        }
        counts[()] = [n]

        def count(families: Sequence[Family]) -> Iterator[Sequence[int]]:
            return (counts[family] for family in families)

        released = run(self.mechanism(n), count, source)
        model = Model.of(released, self.model_columns)
        return Drawn(
            values=(),
            facts=self._facts(released) | {"model": model.in_receipt},
            certificate=self._certificate(released),
            assurance=_assurance(released),
        )

    @cached_property
    def model_columns(self) -> tuple[ModelColumn, ...]:
        """The public columns of the model."""
        return tuple(map(_column, self.codebook.fields))

    def _certificate(self, released: Released) -> dict[str, Any]:
        certified = released.certificate
        exact = {"ratio": certified.ratio, "rho": certified.rho}
        return {
            "holds": certified.holds,
            "epsilon": certified.epsilon,
            **{name: fraction_text(value) for name, value in exact.items() if value is not None},
            "covers": f"{self.covers(of_a_person=True)}, the whole model",
        }

    def _facts(self, released: Released) -> dict[str, Any]:
        shares: dict[Family, Fraction] = {}
        chosen = Fraction(0)
        for step in released.steps:
            share = step.cost / released.request.budget
            if step.kind != MEASURE:
                chosen += share
            elif step.family:
                shares[step.family] = shares.get(step.family, Fraction(0)) + share
        return {
            "sampler": TABLE,
            "sampler_reason": None,
            "noise": GAUSSIAN if released.request.is_gaussian else GEOMETRIC,
            **self.delta_facts,
            "codebook_sha256": self.codebook.digest,
            "network": self.wiring,
            "network_share": float(chosen),
            "families": [
                {"columns": [self.columns[c] for c in family], "share": round(float(share), 6)}
                for family, share in shares.items()
            ],
            "other": {
                field.name: round(float(released.law.joint([column])[-1]), 3)
                for column, field in enumerate(self.codebook.fields)
                if field.outside is None
            },
        }


FOUND = Fraction(1, 4)
"""The share of epsilon for finding the letters of a table without a code book."""

MOST = (100, 60, 40, 25, 15, 10, 5, 2)
"""The most letters of a column that are found: the first of these that leave room for the table."""


@dataclass(frozen=True, kw_only=True)
class FoundTableRequest(StagedRequest):
    """All public choices of a private table whose letters are found privately first.

    Attributes:
        discovery: the request of the letters, for :data:`FOUND` of epsilon and half of delta.
        network: as for :class:`ModelRequest`, but no parents are declared.
    """

    discovery: DiscoveryRequest
    network: Wiring = AUTO

    @classmethod
    def of(cls, discovery: DiscoveryRequest, network: Wiring) -> FoundTableRequest:
        """Return the request of a table from one of a code book, for the same epsilon and delta."""
        most = next((most for most in MOST if _is_small(discovery, network, most)), None)
        if most is None:
            _largest(discovery, network, MOST[-1])  # may refuse it with a better sentence
            raise ValueError("columns must be fewer for a private table: name some of them.")
        first = replace(
            discovery, epsilon=discovery.epsilon * FOUND, delta=discovery.delta / 2, most=most
        )
        return cls(
            epsilon=discovery.epsilon,
            delta=discovery.delta,
            protection=discovery.protection,
            discovery=first,
            network=network,
        )

    @property
    def counted_alphabets(self) -> tuple[Alphabet, ...]:
        """The alphabets to count by at first."""
        return self.discovery.counted_alphabets

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns, whose letters are not known yet."""
        return self.discovery.columns

    @property
    def room(self) -> int:
        """Bytes of the ledger that the receipt may need."""
        return _room(self.discovery, _largest(self.discovery, self.network, self.discovery.most))

    @property
    def public_choices(self) -> dict[str, Any]:
        """The choices as they stand in the ledger."""
        return self.discovery.public_choices | {"sampler": TABLE, "network": self.network}

    @property
    def rehearsal(self) -> FoundTableRequest:
        """The same release, with every stage."""
        return replace(self, discovery=self.discovery.rehearsal)

    def draw(self, tables: Sequence[Counts], source: RandomSource) -> Drawn:
        """Return the code book, and the model of the table if the code book has a column."""
        first = self.discovery.bound(self.counted).draw(tables, source)
        found = first.facts["discovery"]
        fields = found["codebook"]["schema"]["fields"]
        if self.discovery.is_rehearsed:
            fields = [_imagined(column) for column in self.discovery.known]
        if not fields:
            return replace(first, facts=first.facts | self.delta_facts)
        table = ModelRequest(
            codebook=CodeBook.of({"schema": {"fields": fields}}),
            epsilon=self.epsilon - self.discovery.epsilon,
            delta=self.delta - self.discovery.delta,
            network=self.network,
            protection=self.protection,
        )
        second = table.draw(self.counted(table.counted_alphabets, table.columns), source)
        paid = [Fraction(part.certificate["epsilon"]) for part in (first, second)]
        return replace(
            second,
            facts=second.facts | self.delta_facts | {"discovery": found},
            certificate={
                "holds": first.certificate["holds"] and second.certificate["holds"],
                "epsilon": float_upper(paid[0] + paid[1]),
                "covers": f"{self.covers(of_a_person=True)}: {float(paid[0]):.6g} for the code"
                f" book and {float(paid[1]):.6g} for the whole model",
            },
        )


def _imagined(column: Column) -> dict[str, Any]:
    """Return a field that a column of this type could have."""
    own: dict[str, Any] = {"type": "string", "categories": ["a", "b"]}
    if column.values:
        own = letters_of_type(column.values)
    elif column.kind in {sql.INTEGER, sql.DECIMAL, sql.FLOAT}:
        own = {"type": "number", "bins": [0, 1, 2]}
    elif column.kind in {sql.DATE, sql.TIMESTAMP, sql.INSTANT}:
        own = {"type": "year", "constraints": {"minimum": 2000, "maximum": 2001}}
    elif column.kind == sql.BOOLEAN:
        own = {"type": "boolean"}
    return {"name": column.name, **own}


@dataclass(frozen=True, kw_only=True)
class _LargestTable(ModelRequest):
    """The largest table that columns may have once the letters of some of them were found.

    Only small pairs are counted, so a pair that is too large may be counted if fewer letters are
    found.
    """

    found: tuple[int, ...]

    @cached_property
    def pair_cells(self) -> list[int]:
        if self.mechanism(1).schedule is not None:
            return super().pair_cells
        sizes, found = self.codebook.sizes, {*self.found}
        two = ((pair, cells(sizes, pair)) for pair in combinations(range(len(sizes)), 2))
        return [
            min(size, CLIQUE_MAX) for pair, size in two if size <= CLIQUE_MAX or found & {*pair}
        ]


def _largest(discovery: DiscoveryRequest, network: Wiring, most: int) -> ModelRequest:
    """Return the table of the largest code book that may be found."""
    any_letters = {"type": "integer", "categories": list(range(most))}
    fields = [
        {"name": column.name, **(letters_of_type(column.values) if column.values else any_letters)}
        for column in discovery.known
    ]
    return _LargestTable(
        codebook=CodeBook.of({"schema": {"fields": fields}}),
        found=tuple(place for place, column in enumerate(discovery.known) if not column.values),
        epsilon=discovery.epsilon * (1 - FOUND),
        delta=discovery.delta / 2,
        network=network,
        protection=discovery.protection,
    )


def _room(discovery: DiscoveryRequest, table: ModelRequest) -> int:
    return discovery.room + table.room + 2 * LETTERS_ROOM


def _is_small(discovery: DiscoveryRequest, network: Wiring, most: int) -> bool:
    """Return whether every table with so many letters in each column can be released."""
    try:
        return _room(discovery, _largest(discovery, network, most)) <= TERMS["receipt_max"]
    except ValueError:
        return False


_KERNEL = {LEARNED: AUTO, INDEPENDENT: INDEPENDENT}


def _assurance(released: Released) -> Assurance:
    """Return how far noise moves the measured counts, and sums of them."""
    sizes = released.request.sizes
    alone: dict[int, int] = {}
    together = 0
    for measured in released.measurements:
        for column in measured.family:
            width = half_width(measured, cells(sizes, measured.family) // sizes[column])
            alone[column] = min(width, alone.get(column, width))
        if len(measured.family) > 1:
            together = max(together, half_width(measured, 1))
    if not alone:
        return Assurance(alpha=None, words="no column has two possible values")
    more = f", of columns counted together by at most {together:,}" if together else ""
    most = max(alone.values())
    return Assurance(
        alpha=None,
        words=f"noise moves 95 % of the counts of a column by at most {most:,}{more}; the rest is"
        " fitted",
        off=most / Fraction(released.records),
        poor=f"noise may move counts of a column by more than {percent(POOR)} of all records. It"
        " takes more records, a larger epsilon, or fewer columns and possible values",
    )


def _column(field: Field) -> ModelColumn:
    """Return a public column of a model, with the labels of its code book."""
    letters = tuple(field[place] for place in range(field.size))
    labels = tuple(field.labels.get(str(letter)) for letter in letters) if field.labels else ()
    bins: tuple[tuple[float, float] | None, ...] = ()
    if isinstance(field.axis, Bins):
        edges = [
            None if field.is_whole and not whole_numbers(a, b) else (a, b)
            for a, b in pairwise(field.axis.edges)
        ]
        bins = tuple([*edges, None][: field.size])
    return ModelColumn(field.name, letters, labels, bins, field.is_whole)
