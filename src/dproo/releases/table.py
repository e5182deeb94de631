"""A private table: the public choices of its release, checked before anything is charged or read.

What is released is a model (:mod:`dproo.synthesis.model`). The receipt holds all of it, so the
ledger keeps it like any other release, and :meth:`dproo.Model.of_receipt` gives it back.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import ceil
from typing import Any

from dproo.core.checks import one_of
from dproo.core.counts import Counts
from dproo.core.draw import RandomSource
from dproo.core.numbers import decimal_text, fraction_text
from dproo.ledger.rules import TERMS
from dproo.mechanisms import AUTO, REPLACE
from dproo.mechanisms.network import DECLARED, INDEPENDENT, LEARNED, Wiring
from dproo.releases.assurance import Assurance
from dproo.releases.request import Drawn, PureRequest
from dproo.releases.row import folded
from dproo.schema import Alphabet
from dproo.schema.axis import Bins
from dproo.schema.codebook import CodeBook, Field
from dproo.synthesis.families import CLIQUE_MAX, Family, cells
from dproo.synthesis.model import Column, Model, half_width
from dproo.synthesis.request import GAUSSIAN, GEOMETRIC, Released, TableRequest

TABLE = "table"
"""What receipts and ledgers call the mechanism."""

CELLS_MAX = 1 << 24
"""The most cells that are counted, in all families together."""

_POTENTIAL = 16  # characters of a fitted number, with what separates it from the next
_STEP = 400  # characters of a step
_REST = 1 << 16  # characters of everything else


@dataclass(frozen=True, kw_only=True)
class ModelRequest(PureRequest):
    """All public choices of the release of a private table; nothing of the data is in it.

    Attributes:
        codebook: the public columns and their letters.
        network: ``"declared"``, the parents that the code book names; ``"learned"``, pairs that
            are chosen privately; ``"independent"``; or ``"auto"``, declared where the code book
            names parents and learned where it does not.
    """

    codebook: CodeBook
    network: Wiring = AUTO

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.groups is not None:
            raise ValueError("groups must be left out: a table has the groups as a column.")
        for field in self.codebook.fields:
            if field.size > CLIQUE_MAX:
                raise ValueError(
                    f"codebook must list at most {CLIQUE_MAX:,} possible values of a column for a"
                    f" table, got {field.size:,} of {field.name!r}. Use bins or fewer values."
                )
        counted = sum(cells(self.codebook.sizes, family) for family in self.mechanism(1).families)
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
        parents = self.codebook.parents
        one_of("network", self.network, (AUTO, DECLARED, LEARNED, INDEPENDENT))
        if self.network == DECLARED and parents is None:
            raise ValueError(
                "network must not be 'declared' where the code book names no parents. Name the"
                " 'parents' of its columns, or let the network be learned."
            )
        if self.network == AUTO:
            return LEARNED if parents is None else DECLARED
        return self.network

    def mechanism(self, n: int) -> TableRequest:
        """Return the certified mechanism; ``n`` is looked at only where it is public."""
        return TableRequest(
            sizes=self.codebook.sizes,
            epsilon=self.epsilon,
            delta=self.delta,
            neighbours=self.protection.neighbours,
            records=n if self.protection.neighbours == REPLACE else None,
            records_per_person=self.protection.records,
            network=self._parents if self.wiring == DECLARED else _KERNEL[self.wiring],
        )

    @property
    def _parents(self) -> tuple[tuple[int, ...], ...]:
        named = self.codebook.parents or {}
        for column, parents in named.items():
            for parent in parents:
                one_of(f"parents of {column!r}", parent, self.codebook.columns)
        place = self.codebook.columns.index
        return tuple(tuple(map(place, named[column])) for column in self.codebook.columns)

    @cached_property
    def counted_families(self) -> tuple[Family, ...]:
        """The families to count; the number of records is the sum of any of them."""
        return tuple(family for family in self.mechanism(1).families if family) or ((0,),)

    @property
    def counted_alphabets(self) -> tuple[Alphabet, ...]:
        """The alphabets to count by: one for each family."""
        return tuple(map(self.codebook.table, self.counted_families))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns in the order of the code book."""
        return self.codebook.columns

    @property
    def records_needed(self) -> int:
        """One."""
        return 1

    @cached_property
    def room(self) -> int:
        """Bytes that the receipt may need, from public sizes."""
        sizes, mechanism = self.codebook.sizes, self.mechanism(1)
        families = [family for family in mechanism.families if len(family) != 2]
        two = [family for family in mechanism.families if len(family) == 2]
        if mechanism.schedule is None:  # a forest, and at most three times as many pairs as columns
            two.sort(key=lambda pair: -cells(sizes, pair))
            two = two[: 4 * len(sizes)]
        number = max(13, len(str(int(10**6 * mechanism.changed / self.epsilon)))) + _POTENTIAL + 3
        numbers = number * sum(cells(sizes, family) for family in (*families, *two))
        letters = 2 * len(json.dumps(self._public_columns))
        return numbers + letters + _STEP * (len(families) + 2 * len(two)) + _REST

    @property
    def public_choices(self) -> dict[str, Any]:
        """The choices as they stand in the ledger."""
        return {
            "columns": list(self.columns),
            "sampler": TABLE,
            "network": self.wiring,
            "codebook_sha256": self.codebook.digest,
        }

    @property
    def rehearsal(self) -> ModelRequest:
        """The same release: of the one record of a rehearsal, it takes no longer."""
        return self

    def draw(self, tables: Sequence[Counts], source: RandomSource) -> Drawn:
        """Return the model, which is the record that is released, as an object of JSON."""
        n = tables[0].n
        fields = self.codebook.fields
        counts: dict[Family, Sequence[int]] = {
            family: list(folded(found, [fields[column] for column in family]))
            for family, found in zip(self.counted_families, tables, strict=True)
        }
        counts[()] = [n]

        def count(families: Sequence[Family]) -> Iterator[Sequence[int]]:
            return (counts[family] for family in families)

        released = self.mechanism(n).run(count, source)
        model = Model.of(released, self.model_columns)
        return Drawn(
            values=(),
            facts=self._facts(released) | {"model": model.kept},
            certificate=self._certificate(released),
            assurance=Assurance(alpha=None, told=_accuracy(released)),
        )

    @cached_property
    def model_columns(self) -> tuple[Column, ...]:
        """The public columns of the model."""
        described = self.codebook.descriptor["schema"]["fields"]
        return tuple(map(_column, self.codebook.fields, described))

    @property
    def _public_columns(self) -> list[Any]:
        return [[c.name, c.letters, c.labels, c.bins] for c in self.model_columns]

    def _certificate(self, released: Released) -> dict[str, Any]:
        found = released.certificate
        return {
            "holds": found.holds,
            "epsilon": found.epsilon,
            **({} if found.ratio is None else {"ratio": fraction_text(found.ratio)}),
            **({} if found.rho is None else {"rho": fraction_text(found.rho)}),
            "covers": f"{self.covers(of_a_person=True)}, the whole model",
        }

    def _facts(self, released: Released) -> dict[str, Any]:
        shares: dict[Family, Fraction] = {}
        chosen = Fraction(0)
        for step in released.steps:
            if step.is_choice:
                chosen += step.cost / released.request.budget
            elif step.family:
                shares[step.family] = (
                    shares.get(step.family, Fraction(0)) + step.cost / released.request.budget
                )
        return {
            "sampler": TABLE,
            "sampler_reason": None,
            "noise": GAUSSIAN if released.request.is_gaussian else GEOMETRIC,
            "delta": str(self.delta),
            "delta_decimal": decimal_text(self.delta),
            "codebook_sha256": self.codebook.digest,
            "network": self.wiring,
            "network_share": float(chosen),
            "families": [
                {"columns": [self.columns[c] for c in family], "share": round(float(share), 6)}
                for family, share in shares.items()
            ],
        }


_KERNEL = {LEARNED: AUTO, INDEPENDENT: INDEPENDENT}


def _accuracy(released: Released) -> str:
    """Return how far noise moves the counts that were measured, and sums of them."""
    sizes = released.request.sizes
    alone: dict[int, int] = {}
    together = 0
    for found in released.measurements:
        for column in found.family:
            width = half_width(found, cells(sizes, found.family) // sizes[column])
            alone[column] = min(width, alone.get(column, width))
        if len(found.family) > 1:
            together = max(together, half_width(found, 1))
    if not alone:
        return "no column has two possible values"
    more = f", of columns counted together by at most {together:,}" if together else ""
    most = max(alone.values())
    return f"95 % of the counts of a column are off by at most {most:,}{more}; the rest is fitted"


def _column(field: Field, described: Mapping[str, Any]) -> Column:
    """Return a public column of a model, with the labels that its code book has."""
    letters = tuple(field[place] for place in range(field.size))
    named: dict[Any, str] = {}
    listed = described.get("categories")
    for value in listed if isinstance(listed, Sequence) else ():
        if isinstance(value, Mapping) and isinstance(value.get("label"), str):
            named[str(value.get("value"))] = value["label"]
    labels = tuple(named.get(str(letter)) for letter in letters) if named else ()
    bins: tuple[tuple[float, float] | None, ...] = ()
    is_integer = field.kind == "integer"
    if isinstance(field.axis, Bins):
        edges = [
            None if is_integer and ceil(a) >= ceil(b) else (a, b)
            for a, b in pairwise(field.axis.edges)
        ]
        bins = tuple([*edges, None][: field.size])
    return Column(field.name, letters, labels, bins, is_integer)
