"""Whole rows: the public choices of a release, and the counts that its steps draw from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import combinations
from math import prod
from typing import Any

from dproo.core.checks import exact, flag, one_of, refusal, shown, whole
from dproo.core.counts import Counts
from dproo.core.draw import RandomSource
from dproo.core.numbers import float_upper, fraction_text, is_at_most_exp, log_upper, require_share
from dproo.mechanisms import AUTO, LetterSpecificRevealOrObscure
from dproo.mechanisms.base import enough
from dproo.mechanisms.network import (
    DECLARED,
    INDEPENDENT,
    LEARNED,
    PAIR_MAX,
    SHARE,
    Family,
    Network,
    Wiring,
    grown_tree,
)
from dproo.mechanisms.rows import Row, RowSampler
from dproo.releases.request import FEW, Assurance, Drawn, Request, longest_name, room_of
from dproo.schema import OTHER, Alphabet
from dproo.schema.codebook import CodeBook, Field


@dataclass(frozen=True)
class RowTables:
    """The counts of some groups of columns, all of the same records.

    Attributes:
        counts: for each group of columns, the counts of their letters together; the letters of
            the last column run fastest.
        sizes: how many letters each column has.

    >>> tables = RowTables({(0, 1): Counts.of([3, 1, 0, 2])}, (2, 2))
    >>> list(tables.matching(Family(0), ())), list(tables.matching(Family(1, (0,)), (1,)))
    ([4, 2], [0, 2])
    >>> list(tables.matching(Family(0, (1,)), (1,)))
    [1, 2]
    """

    counts: Mapping[tuple[int, ...], Counts]
    sizes: Sequence[int]

    def pair(self, first: int, second: int) -> Counts:
        """Return the counts of two columns together."""
        return self.counts[first, second]

    def matching(self, family: Family, parents: Row) -> Counts:
        """Return the counts of a column among the records whose parents have these letters."""
        width = self.sizes[family.column]
        if family.columns in self.counts:
            place = 0
            for parent, letter in zip(family.parents, parents, strict=True):
                place = place * self.sizes[parent] + letter
            return self.counts[family.columns].part(place * width, width)
        if not family.parents:
            columns, counts = next(
                (columns, counts)
                for columns, counts in self.counts.items()
                if columns[0] == family.column
            )
            inner = counts.k // self.sizes[columns[0]]
            return Counts.of([part.n for part in counts.split(inner)])
        (parent,), (letter,) = family.parents, parents
        pair = self.counts[family.column, parent]
        return Counts.of([pair[at * self.sizes[parent] + letter] for at in range(width)])


def folded(counts: Counts, fields: Sequence[Field]) -> Counts:
    """Return the counts with the cells outside counted as the letter that their column names.

    Args:
        counts: of the letters of these columns together, each with one more for cells outside.
        fields: the columns; one that names no letter keeps its cells outside.

    >>> from dproo.schema.codebook import CodeBook
    >>> flag = {"name": "flag", "type": "boolean", "outside": False}
    >>> list(folded(Counts.of([5, 3, 2]), CodeBook.of({"schema": {"fields": [flag]}}).fields))
    [7, 3]
    """
    if all(field.outside is None for field in fields):
        return counts
    seen: Counter[int] = Counter()
    start = 0
    for count, letters in counts.runs:
        if count:
            for place in range(start, start + letters):
                seen[_folded_place(place, fields)] += count
        start += letters
    return Counts.sparse(seen, k=prod(field.size for field in fields))


def _folded_place(place: int, fields: Sequence[Field]) -> int:
    result, stride = 0, 1
    for field in reversed(fields):
        place, letter = divmod(place, field.axis.size)
        if letter == field.axis.listed and field.outside is not None:
            letter = field.outside
        result += letter * stride
        stride *= field.size
    return result


ROWS_BY = LetterSpecificRevealOrObscure.name
"""The sampler of every column: it is private under both relations, also for a private n."""

_REASON = "It is the only sampler certified for the columns of a row."
_NUMBER_ROOM = 25  # bytes of a number inside a bin

ROWS_MAX = 10_000
"""The most rows of one release: each pays its own share of epsilon."""


@dataclass(frozen=True, kw_only=True)
class RowRequest(Request):
    """All public choices of the release of whole rows, checked; it holds nothing of the data.

    Epsilon is for all rows together, the choice of the network included, or for each group.

    Attributes:
        network: the source of the network; learning it takes a fifth of epsilon.
        sampler: ``"ls-roo"``, or ``"auto"``, which is the same.
        shares: the epsilon of each column, over all rows, in the order of the code book; by
            default in proportion to the root of the number of its family's cells.
        size: how many rows.
        is_within_bins: whether a bin is shown as a number drawn inside it.
    """

    codebook: CodeBook
    network: Wiring = AUTO
    sampler: str = AUTO
    shares: tuple[Fraction, ...] = ()
    size: int = 1
    is_within_bins: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        vars(self).update(
            network=exact(self.network),
            sampler=one_of("sampler", self.sampler, (ROWS_BY, AUTO)),
            size=whole("size", self.size, at_least=1, at_most=ROWS_MAX),
            is_within_bins=flag("within_bins", self.is_within_bins),
        )
        if self.groups is not None and (self.size > 1 or self.declared is None):
            raise ValueError(
                "by must be used with one row a group, and a network that is declared or"
                " independent."
            )
        if self.groups is not None:
            self.groups.require_apart(self.codebook.columns)
        left = self.epsilon - self.network_epsilon
        if self.shares and sum(self.shares) != left:
            raise ValueError(
                refusal("shares", f"add up to {shown(left)}", sum(self.shares))
                + " That is epsilon, less what the choice of a network costs."
            )
        largest = sorted(self.codebook.sizes)[-2:]
        if self.declared is None and prod(largest) > PAIR_MAX:
            raise ValueError(
                f"network must be declared or independent where two columns have more than"
                f" {PAIR_MAX:,} cells together, got {prod(largest):,}."
            )
        # Refuse now what no data could make valid.
        self.rows_by(self.declared or Network.star(self.codebook.sizes), n=1)

    @property
    def wiring(self) -> Wiring:
        """Where the network comes from."""
        if self.declared is None:
            return LEARNED
        return INDEPENDENT if self.network == INDEPENDENT else DECLARED

    @cached_property
    def declared(self) -> Network | None:
        """The network, or None if it is learned."""
        return Network.wired(self.network, self.codebook.parents, self.codebook.sizes)

    @cached_property
    def counted_columns(self) -> tuple[tuple[int, ...], ...]:
        """The columns of every required table of counts, by their places."""
        network = self.declared
        if network is None:
            return tuple(combinations(range(len(self.codebook.sizes)), 2))
        return tuple(dict.fromkeys(family.columns for family in network.families))

    @property
    def counted_alphabets(self) -> tuple[Alphabet, ...]:
        """The alphabets to count by: one for each family, or for each pair of columns."""
        tables = map(self.codebook.table, self.counted_columns)
        if self.groups is None:
            return tuple(tables)
        by, axis = self.groups.by, self.groups.axis
        return tuple(
            Alphabet(axes=(axis, *table.axes), columns=(by, *table.columns)) for table in tables
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns in the order of the code book, after the one of the groups."""
        by = () if self.groups is None else (self.groups.by,)
        return (*by, *self.codebook.columns)

    @property
    def network_epsilon(self) -> Fraction:
        """What learning the network costs, or 0."""
        return self.epsilon * SHARE if self.declared is None else Fraction(0)

    @property
    def row_epsilon(self) -> Fraction:
        """What each row costs."""
        return (self.epsilon - self.network_epsilon) / self.size

    @property
    def public_choices(self) -> dict[str, Any]:
        """The choices as they stand in the ledger."""
        return {
            "columns": list(self.codebook.columns),
            "sampler": ROWS_BY,
            "network": self.wiring,
            "size": self.size,
            "by": None if self.groups is None else self.groups.by,
            "codebook_sha256": self.codebook.digest,
            "shares": [str(share) for share in self.shares],
            "is_within_bins": self.is_within_bins,
        }

    def rows_by(self, network: Network, *, n: int) -> RowSampler:
        """Return the certified sampler of one row; a person's records share its epsilon."""
        times = self.size * self.protection.records
        by_column = network.families if self.shares else ()
        require_share(self.row_epsilon / self.protection.records, "every record of a row")
        return _row_sampler(
            network=network,
            epsilon=self.row_epsilon / self.protection.records,
            neighbours=self.relation,
            n=n if self.is_n_public else 0,
            shares=tuple(self.shares[family.column] / times for family in by_column),
        )

    @property
    def values_room(self) -> int:
        """Bytes of the receipt that the released rows may need."""
        axes = [field.axis for field in self.codebook.fields]
        others = [field.other for field in self.codebook.fields]
        times, numbers = self.size, len(axes) * _NUMBER_ROOM * self.is_within_bins
        if self.groups is not None:
            times, axes, others = self.groups.axis.size, [self.groups.axis, *axes], [OTHER, *others]
        # Any column may be the parent of all others, whatever the rehearsal learned.
        parents = 0 if self.declared else len(axes) * longest_name(self.columns)
        return parents + times * numbers + room_of(times, self.columns, axes, others)

    @property
    def rehearsal(self) -> RowRequest:
        """The same release of few records."""
        return replace(self, size=min(self.size, FEW))

    def draw(self, tables: Sequence[Counts], source: RandomSource) -> Drawn:
        """Return the rows, drawn column by column by certified samplers."""
        if self.groups is None:
            drawn = [self._drawn(tables, source)]
            values = tuple(drawn[0][1])
        else:
            parts = zip(*map(self._by_group, tables), strict=True)
            drawn = [self._drawn(part, source) for part in parts]
            rows = (row for _, group in drawn for row in group)
            values = tuple(
                {self.groups.by: self.groups.axis[place], **row} for place, row in enumerate(rows)
            )
        worst = max((sampler for sampler, _ in drawn), key=lambda sampler: sampler.largest_ratio)
        return Drawn(
            values=values,
            facts={"values": list(values), **self._facts(worst)},
            certificate=self._certificate(worst),
            assurance=self._assurance([sampler for sampler, _ in drawn]),
        )

    def _by_group(self, counts: Counts) -> Iterator[Counts]:
        """Yield the counts of each group; the last letter is for records outside all groups."""
        assert self.groups is not None  # noqa: S101 - for the type checker
        return counts.split((counts.k - 1) // self.groups.axis.size)

    def _drawn(
        self, tables: Sequence[Counts], source: RandomSource
    ) -> tuple[RowSampler, list[dict[str, Any]]]:
        """Return the rows of one dataset, or of one group, and their sampler."""
        n, sizes, fields = tables[0].n, self.codebook.sizes, self.codebook.fields
        counts = {
            columns: folded(table, [fields[column] for column in columns])
            for columns, table in zip(self.counted_columns, tables, strict=True)
        }
        counted = RowTables(counts, sizes)
        network = self.declared or grown_tree(
            counted.pair,
            sizes,
            epsilon=self.network_epsilon / self.protection.records,
            neighbours=self.protection.neighbours,
            source=source,
        )
        if self.is_n_public and not n:  # a public group without records
            return self.rows_by(network, n=1), [dict.fromkeys(self.codebook.columns)]
        sampler = self.rows_by(network, n=n)
        rows = (sampler.draw(counted.matching, source=source) for _ in range(self.size))
        return sampler, [self._shown(row, source) for row in rows]

    def _assurance(self, samplers: Sequence[RowSampler]) -> Assurance:
        """Return the largest worst case; for a private number of records, at a public one."""
        scope = "in each group" if self.groups else "for each row" if self.size > 1 else ""
        records = None
        if not self.is_n_public:
            network = samplers[0].network
            records = enough(min(samplers[0].shares), sum(network.cells))
            samplers = [replace(samplers[0], n=records)]
        alphas = [sampler.worst_alpha for sampler in samplers]
        known = [alpha for alpha in alphas if alpha is not None]
        return Assurance(
            alpha=max(known) if len(known) == len(alphas) else None,
            records=records,
            scope=scope,
            differ="rows differ from rows drawn without privacy along the same dependencies",
            is_of_people=self.protection.counts_people,
        )

    def _certificate(self, sampler: RowSampler) -> dict[str, Any]:
        """Return the most that all rows cost, with the choice of the network."""
        ratio = sampler.largest_ratio
        steps = self.size * self.protection.records * log_upper(ratio)
        return {
            "holds": is_at_most_exp(ratio, sampler.epsilon),
            "epsilon": float_upper(self.network_epsilon + steps),
            "ratio": fraction_text(ratio),
            "covers": f"{self.covers(of_a_person=True)}, all columns together",
        }

    def _shown(self, row: Row, source: RandomSource) -> dict[str, Any]:
        fields = zip(self.codebook.fields, row, strict=True)
        if not self.is_within_bins:
            return {field.name: field[place] for field, place in fields}
        return {field.name: field.within(place, source) for field, place in fields}

    def _facts(self, sampler: RowSampler) -> dict[str, Any]:
        names = self.codebook.columns
        return {
            "sampler": ROWS_BY,
            "sampler_reason": None if self.sampler != AUTO else _REASON,
            "codebook_sha256": self.codebook.digest,
            "network": self.wiring,
            "epsilon_network": str(self.network_epsilon),
            "epsilon_row": str(self.row_epsilon),
            "groups": None if self.groups is None else self.groups.facts,
            "columns": [
                {
                    "column": names[family.column],
                    "parents": [names[parent] for parent in family.parents],
                    "epsilon": str(share * self.protection.records),
                }
                for family, share in zip(sampler.network.families, sampler.shares, strict=True)
            ],
        }


_row_sampler = lru_cache(maxsize=64)(RowSampler)
