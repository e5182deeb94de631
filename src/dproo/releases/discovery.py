"""The letters themselves, found privately: the public choices of a code book's release.

A code book is found in stages. Only what a stage releases decides what the next one counts: noisy
counts show whether a column holds categories, numbers, dates or free text.

Proof: docs/proofs/discovery.md
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from dproo.codebooks import found
from dproo.codebooks.draft import PROFILE, letters_of_type
from dproo.codebooks.found import DATES, NUMERIC, Guess
from dproo.core.counts import Counts, NamedCounts
from dproo.core.draw import RandomSource
from dproo.core.numbers import decimal_text, float_upper, is_at_most_exp, log_upper
from dproo.counting.fit import Column
from dproo.counting.sql import statements as sql
from dproo.ledger.events import canonical
from dproo.mechanisms import ADD_REMOVE, REPLACE
from dproo.mechanisms.keep import KEEP_EPSILON_MIN, KeepRule
from dproo.mechanisms.noise import RESERVE, Ratio
from dproo.releases.request import Assurance, Drawn, StagedRequest
from dproo.schema import Alphabet
from dproo.schema.axis import LONGEST_OPEN, Axis, Letters, OpenText
from dproo.schema.codebook import CodeBook

DISCOVERY = "discovery"
"""What receipts and ledgers call the mechanism."""

LETTERS_MAX = 500
LETTERS_ROOM = 1 << 21
"""The most values of one column, and the most bytes of the values of all columns."""

ROWS = Fraction(1, 50)
"""The share of epsilon for the number of records, if it is private."""

SHAPES = Fraction(1, 10)
RANGE = Fraction(1, 4)
VALUES = Fraction(1, 3)
"""What each stage takes of a column's remaining epsilon: how text is written, where numbers are,
and which values are shared, if the column may hold numbers. The last stage takes all of it."""

NOTHING = "nothing in it is shared by enough people: free text, unique, or too noisy"
_ENOUGH = 0.8  # the share of numbers that shared values must cover to be letters, or to give bins
_NAMED = 4  # how often a receipt names a column
_REST = 1 << 12  # bytes of everything else of a column

_NUMBERS = {sql.INTEGER, sql.DECIMAL, sql.FLOAT}
_MIXED = {sql.JSON, sql.ANY}
_DAYS = {sql.DATE, sql.TIMESTAMP, sql.INSTANT}


@dataclass(frozen=True)
class Part:
    """What one stage of one column cost, by the integers that it was drawn with.

    Attributes:
        column: the column, or "" for the number of records.
        ratio: the largest factor by which what is protected changes a probability.
        delta: the probability with which it may change one by more.
    """

    column: str
    ratio: Fraction
    delta: Fraction = Fraction(0)


@dataclass(frozen=True, kw_only=True)
class DiscoveryRequest(StagedRequest):
    """All public choices of the release of a code book; it holds nothing of the data.

    Attributes:
        known: the columns, as header or schema describes them.
        most: the most values of one column.
        resource: what the code book states about the data besides its columns.
        is_rehearsed: whether every stage is run, whatever the others find.
    """

    known: tuple[Column, ...]
    most: int = LETTERS_MAX
    resource: Mapping[str, Any] = field(default_factory=dict)
    is_rehearsed: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.known:
            raise ValueError("columns must name at least one column, got none.")
        for column in self.known:
            if column.kind is None:
                sql.refuse_type(column.name, column.type_name, remedy="Leave it out.")
        if self.paying:
            least = self.epsilon_of_each * (1 - SHAPES) * (1 - RANGE) ** 2 * VALUES
            if least < KEEP_EPSILON_MIN * self.protection.changes:
                raise ValueError(
                    "epsilon must be larger to find the values of so many columns, or records of a"
                    f" person: {float(least / self.protection.changes):.1g} would be left for each"
                    f" step of a count, and {float(KEEP_EPSILON_MIN):g} is needed."
                )
            self.rule(least)  # refuse now what no data could make valid

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.known)

    @property
    def paying(self) -> tuple[Column, ...]:
        """The columns whose letters their types do not list."""
        return tuple(c for c in self.known if c.kind != sql.BOOLEAN and not c.values)

    @property
    def epsilon_of_each(self) -> Fraction:
        """The epsilon of each paying column."""
        rows = ROWS if self.protection.neighbours == ADD_REMOVE else 0
        return self.epsilon * (1 - rows) / len(self.paying)

    def rule(self, epsilon: Fraction) -> KeepRule:
        """Return the certified rule that decides which values of a column are shown."""
        return _rule(
            epsilon=epsilon,
            delta=self.delta / len(self.paying),
            neighbours=self.protection.neighbours,
            records=self.protection.records,
        )

    @property
    def text_rule(self) -> KeepRule:
        """The rule for a column of text, if at least one column pays.

        If each cell has its own type, a part of epsilon goes to the search for numbers.
        """
        is_mixed = any(column.kind in _MIXED for column in self.paying)
        return self.rule(self.epsilon_of_each * (1 - SHAPES) * (1 - (RANGE if is_mixed else 0)))

    def first_axis(self, column: Column) -> Axis:
        """Return the letters that a column is first counted by."""
        if column.kind == sql.BOOLEAN:
            return Letters.of(["true", "false"])
        if column.values:
            return Letters.of(letters_of_type(column.values)["categories"])
        if column.kind in _NUMBERS:
            return Guess(NUMERIC).octaves()
        return Guess(DATES).years() if column.kind in _DAYS else found.shapes()

    @cached_property
    def counted_alphabets(self) -> tuple[Alphabet, ...]:
        """The alphabets of the first count, one for each column."""
        return tuple(_named(column.name, self.first_axis(column)) for column in self.known)

    @property
    def room(self) -> int:
        """Bytes of the ledger that the receipt may need."""
        listed = sum(len(canonical([c.values, *[c.name] * _NAMED])) for c in self.known)
        return super().room + LETTERS_ROOM + len(self.known) * _REST + listed

    @property
    def public_choices(self) -> dict[str, Any]:
        """The choices as they stand in the ledger."""
        return {"sampler": DISCOVERY, "longest": LONGEST_OPEN, "most": self.most}

    @property
    def rehearsal(self) -> DiscoveryRequest:
        """The same release, with every stage."""
        return replace(self, is_rehearsed=True)

    def draw(self, tables: Sequence[Counts], source: RandomSource) -> Drawn:
        """Return no records, but the code book as a fact of the receipt."""
        run = _Discovery(self, source)
        run.find(tables)
        ratio = math.prod((part.ratio for part in run.parts), start=Fraction(1))
        delta = sum((part.delta for part in run.parts), Fraction(0))
        is_within = is_at_most_exp(ratio, self.epsilon) and delta <= self.delta
        return Drawn(
            values=(),
            facts={
                "sampler": DISCOVERY,
                "sampler_reason": None,
                **self.delta_facts,
                "discovery": self._found(run),
            },
            certificate={
                "holds": is_within,
                "epsilon": float_upper(log_upper(ratio)) if ratio > 1 else 0.0,
                "delta": float_upper(delta),
                "covers": f"{self.covers(of_a_person=True)}, the whole code book",
            },
            assurance=Assurance(alpha=None, words=self.words_of(run.rules)),
        )

    def _found(self, run: _Discovery) -> dict[str, Any]:
        descriptor = {
            "$schema": PROFILE,
            **self.resource,
            "schema": {"fieldsMatch": "subset", "missingValues": [""], "fields": run.fields},
        }
        return {
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "codebook": descriptor,
            "codebook_sha256": CodeBook.of(descriptor).digest if run.fields else None,
            "other": run.others,
            "left_out": run.left_out,
        }

    @property
    def accuracy(self) -> str:
        """How many records must share a text for it to be found."""
        return self.words_of(())

    def words_of(self, rules: Sequence[KeepRule]) -> str:
        """Return the same if these rules were used; columns with numbers take more records."""
        if not self.paying:
            return "every value is listed by the schema"
        rule = max((self.text_rule, *rules), key=lambda used: used.certain)
        several = "people" if self.protection.counts_people else "records"
        return (
            f"in a column that is taken for text, and kept, a value that {rule.certain:,}"
            f" {several} share is found, one of {rule.half:,} every second time, one of fewer than"
            f" {rule.minimum:,} never; at most {self.most:,} of a column"
        )


_rule = lru_cache(maxsize=64)(KeepRule)


def _named(column: str, axis: Axis) -> Alphabet:
    return Alphabet(axes=(axis,), columns=(column,))


@dataclass
class _ColumnState:
    """What a column has left to spend, and what was released of it so far.

    Attributes:
        left: its unspent epsilon.
        guess: how its cells are written.
        shaped: the noisy counts of the shapes of its texts, and the scale of their noise.
        noisy: the noisy counts of octaves, or of years, and the scale of their noise.
        letters: the values that enough people share, with their noisy counts.
        rule: the rule by which they were kept.
    """

    column: Column
    left: Fraction
    guess: Guess = field(default_factory=Guess)
    shaped: tuple[Sequence[int], float] = (), 0.0
    noisy: tuple[Sequence[int], float] | None = None
    letters: dict[str, int] = field(default_factory=dict)
    rule: KeepRule | None = None

    def spend(self, share: Fraction | int) -> Fraction:
        """Spend a share of what is left, and return it."""
        cost = self.left * share
        self.left -= cost
        return cost


@dataclass
class _Discovery:
    """One run of a request, what it has released so far, and the rules of columns of text."""

    request: DiscoveryRequest
    source: RandomSource
    parts: list[Part] = field(default_factory=list)
    fields: list[dict[str, Any]] = field(default_factory=list)
    others: dict[str, float] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    records: float = 1.0
    rehearsed: set[str | None] = field(default_factory=set)
    rules: list[KeepRule] = field(default_factory=list)

    def noisy(
        self, column: str, counts: Sequence[int], epsilon: Fraction
    ) -> tuple[list[int], float]:
        """Release counts with noise; return them, and the scale of the noise."""
        changes = self.request.protection.changes
        ratio = Ratio.of(epsilon * RESERVE / changes)
        noise = ratio.noise(len(counts), self.source)
        self.parts.append(Part(column, ratio.power(changes)))
        noisy = [count + more for count, more in zip(counts, noise, strict=True)]
        return noisy, changes / float(epsilon)

    def find(self, tables: Sequence[Counts]) -> None:
        """Run all stages."""
        request, n = self.request, tables[0].n
        if request.protection.neighbours == REPLACE:
            self.records = float(max(n, 1))
        else:
            (rows,), _ = self.noisy("", [n], request.epsilon * ROWS)
            self.records = float(max(rows, 1))
        paying = {column.name for column in request.paying}
        states = {
            column.name: self._begun(column, counts)
            for column, counts in zip(request.known, tables, strict=True)
            if column.name in paying
        }
        self._find_ranges(states)
        for state in states.values():
            if state.guess.kind != DATES and not self._is_narrow(state):
                self._find_letters(state)
        edges = {name: self._edges(state) for name, state in states.items()}
        grids = self._counted({n: states[n].guess.bins(e) for n, e in edges.items() if e})
        for column in request.known:
            name = column.name
            if name not in states:
                kind = letters_of_type(column.values) if column.values else {"type": "boolean"}
                self.fields.append({"name": name, **kind, "source": "its type lists them"})
            elif name in grids:
                self._cut(states[name], edges[name], grids[name])
            else:
                self._settle(states[name])

    def _counted(self, axes: Mapping[str, Axis]) -> dict[str, Counts]:
        """Count columns, each by the letters of its axis, in one pass."""
        if not axes:
            return {}
        alphabets = [_named(name, axis) for name, axis in axes.items()]
        return dict(zip(axes, self.request.counted(alphabets, tuple(axes)), strict=True))

    def _begun(self, column: Column, counts: Counts) -> _ColumnState:
        """Release the first count of a column."""
        state = _ColumnState(column, self.request.epsilon_of_each)
        if column.kind in _NUMBERS:
            state.guess = Guess(NUMERIC, is_whole=column.kind == sql.INTEGER)
            state.noisy = self.noisy(column.name, list(counts), state.spend(RANGE))
        elif column.kind in _DAYS:
            state.guess = Guess(DATES)
            state.noisy = self.noisy(column.name, list(counts), state.spend(1))
        else:
            noisy, scale = state.shaped = self.noisy(column.name, list(counts), state.spend(SHAPES))
            state.guess = found.guessed(noisy, records=self.records, scale=scale)
            is_mixed = column.kind in _MIXED and state.guess.kind != DATES  # decimals have no text
            if is_mixed or self.request.is_rehearsed:
                state.guess = replace(state.guess, kind=NUMERIC)
        return state

    def _find_ranges(self, states: Mapping[str, _ColumnState]) -> None:
        """Release where the numbers and dates of texts are; without any, a column is text."""
        waiting = {name: state for name, state in states.items() if state.noisy is None}
        if self.request.is_rehearsed:
            self._counted({name: state.guess.years() for name, state in waiting.items()})
        self._find_groups(waiting)
        waiting = {name: state for name, state in waiting.items() if state.noisy is None}
        axes = {
            name: state.guess.years() if state.guess.kind == DATES else state.guess.octaves()
            for name, state in waiting.items()
            if state.guess.kind in {DATES, NUMERIC}
        }
        for name, counts in self._counted(axes).items():
            state = waiting[name]
            cost = state.spend(1 if state.guess.kind == DATES else RANGE)
            state.noisy = self.noisy(name, list(counts), cost)
            (*_, outside), scale = state.noisy
            if state.guess.is_whole and state.column.kind in _MIXED:
                is_whole = found.are_whole(state.shaped, numbers=self.records - outside)
                state.guess = replace(state.guess, is_whole=is_whole)
            least = max(found.SPARSE * self.records, found.level(1, scale))
            is_seen = self.records - outside >= least
            if state.guess.kind == NUMERIC and not is_seen and not self.request.is_rehearsed:
                state.guess, state.noisy = Guess(), None

    def _find_groups(self, states: Mapping[str, _ColumnState]) -> None:
        """Release the range of numbers whose comma may be between groups of digits, as if it were.

        If it is not, the range is released once more, with a decimal comma.
        """
        axes = {n: s.guess.grouped.octaves() for n, s in states.items() if s.guess.may_group}
        for name, counts in self._counted(axes).items():
            state = states[name]
            noisy = self.noisy(name, list(counts), state.spend(RANGE))
            numbers = self.records - noisy[0][-1]
            guess = found.regrouped(state.guess, state.shaped, numbers=numbers)
            if guess is not None:
                state.guess, state.noisy = guess, noisy

    def _find_letters(self, state: _ColumnState) -> None:
        """Release the values of a column that enough people share."""
        name = state.column.name
        if self.request.is_rehearsed and state.column.kind in self.rehearsed:
            return
        self.rehearsed.add(state.column.kind)
        rule = self.request.rule(state.spend(VALUES if state.guess.kind == NUMERIC else 1))
        axis = OpenText(minimum=rule.minimum)
        (counts,) = self.request.counted([_named(name, axis)], (name,))
        assert isinstance(counts, NamedCounts)  # noqa: S101 - for the type checker
        state.rule, state.letters = rule, rule.release(counts, self.source)
        self.parts.append(Part(name, rule.largest_ratio, rule.largest_delta))

    def _is_narrow(self, state: _ColumnState) -> bool:
        """Return whether a column has few possible integers, which need not be found."""
        if state.noisy is None or not state.guess.is_whole or self.request.is_rehearsed:
            return False
        edges = found.grid(*state.noisy, is_whole=True)
        return bool(edges) and edges[-1] - edges[0] <= min(found.NARROW, self.request.most)

    def _edges(self, state: _ColumnState) -> tuple[float, ...]:
        """Return the grid that counts the numbers of a column; empty if it needs none."""
        if state.guess.kind != NUMERIC or state.noisy is None:
            return ()
        if self.request.is_rehearsed:
            return tuple(map(float, range(found.CELLS)))
        noisy, scale = state.noisy
        numbers = self.records - noisy[-1]
        if state.letters and sum(state.letters.values()) >= _ENOUGH * numbers:
            return ()
        return found.grid(noisy, scale, is_whole=state.guess.is_whole)

    def _cut(self, state: _ColumnState, edges: Sequence[float], counts: Counts) -> None:
        """Release the counts of a grid, and make bins of about equally many records."""
        name = state.column.name
        noisy, scale = self.noisy(name, list(counts), state.spend(1))
        if self._is_narrow(state):
            self._keep(name, *(found.integers_field(name, edges, noisy, scale) or ({}, 0)))
            return
        covered = self.records - noisy[-1]
        if sum(state.letters.values()) > covered:
            self._settle(state)
            return
        deviation = math.sqrt(2 * len(edges)) * scale
        cut = found.quantiles(edges, noisy, deviation, most=self.request.most)
        self._keep(name, found.bins_field(name, cut, state.guess), covered)

    def _settle(self, state: _ColumnState) -> None:
        """Add a field from what was released of a column."""
        name, letters = state.column.name, state.letters
        if state.guess.kind == DATES and state.noisy is not None:
            dates = found.dates_field(name, *state.noisy, state.guess, most=self.request.most)
            self._keep(name, *(dates or ({}, 0)))
            return
        if state.guess.kind == NUMERIC and found.have_bins(letters):
            edges = found.bins_of_letters(letters, most=self.request.most)
            guess = replace(state.guess, is_whole=True)
            self._keep(name, found.bins_field(name, edges, guess), sum(letters.values()))
            return
        room = LETTERS_ROOM // len(self.request.known)
        described = found.category_field(name, letters, most=self.request.most, room=room)
        kept = [letters[str(letter)] for letter in described["categories"]]
        self._keep(name, described, sum(kept))
        if state.rule and described["type"] == "string" and name not in self.left_out:
            self.rules.append(state.rule)

    def _keep(self, name: str, described: dict[str, Any], covered: float) -> None:
        """Add a field, unless it covers too few records."""
        if not described or covered < found.RARE * self.records:
            self.left_out[name] = NOTHING
            return
        request = self.request
        paid = f"epsilon {decimal_text(request.epsilon)}, delta {decimal_text(request.delta)}"
        source = f"found privately, for {paid} with all other columns"
        self.fields.append({**described, "source": source})
        self.others[name] = round(min(1.0, max(0.0, 1 - covered / self.records)), 3)
