r"""Whole rows: every column is drawn from its counts among the records that match its parents.

A row needs, and pays for, only the conditional draws on its own path:

    x_1 ~ sampler(counts of column 1; epsilon_1),
    x_j ~ sampler(counts of column j among the records whose parents are as drawn; epsilon_j).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod

from dproo.core.checks import refusal, shown
from dproo.core.counts import Counts
from dproo.core.draw import RandomSource
from dproo.core.numbers import is_at_most_exp, parse_epsilon, rational, require_share
from dproo.mechanisms import hypotheses
from dproo.mechanisms.base import ADD_REMOVE, BOTH, REPLACE, Relation
from dproo.mechanisms.ls_roo.sampler import LetterSpecificRevealOrObscure
from dproo.mechanisms.network import Family, Network

Row = tuple[int, ...]

Matching = Callable[[Family, Row], Counts]
"""The counts of a family's column among the records whose parents have these letters."""


@dataclass(frozen=True, kw_only=True)
class RowSampler:
    r"""Draw one row, column by column.

    Guarantee: epsilon-DP when one record is replaced, or when one is added or removed.
    Proof: docs/proofs/rows.md

    Attributes:
        epsilon: for the whole row.
        network: the columns, their parents and the order of drawing.
        neighbours: ``"replace"`` or ``"add-remove"``.
        n: the public number of records under ``"replace"``.
        sampler: makes the sampler of one step, certified.
        shares: the epsilon of each step, in the order of drawing; by default in proportion to
            the root of the number of its family's cells.
    """

    epsilon: Fraction
    network: Network
    neighbours: Relation = REPLACE
    n: int = 0
    sampler: type[LetterSpecificRevealOrObscure] = LetterSpecificRevealOrObscure
    shares: tuple[Fraction, ...] = ()

    def __post_init__(self) -> None:
        """Check the arguments, make every step's sampler, and certify them together."""
        object.__setattr__(self, "epsilon", parse_epsilon(self.epsilon))
        total = sum(self.network.shares)
        shares = self.shares or [self.epsilon * part / total for part in self.network.shares]
        shares = tuple(rational("shares", share) for share in shares)
        if len(shares) != len(self.network.families) or sum(shares) != self.epsilon:
            raise ValueError(
                refusal("shares", f"add up to epsilon = {shown(self.epsilon)}", sum(shares))
            )
        require_share(min(shares), "every column")
        object.__setattr__(self, "shares", shares)
        if not is_at_most_exp(self.largest_ratio, self.epsilon):
            raise ValueError(f"the row did not certify at epsilon = {self.epsilon}.")
        for condition, holds in self.conditions.items():
            if not holds:
                raise ValueError(f"the row did not certify: {condition} does not hold.")

    @cached_property
    def steps(self) -> tuple[LetterSpecificRevealOrObscure, ...]:
        """The sampler of each step.

        Under replace the number of records is public only for columns without parents. In every
        other step one record can be replaced, added or removed.
        """
        made: dict[tuple[int, bool, Fraction], LetterSpecificRevealOrObscure] = {}
        steps = []
        for family, epsilon in zip(self.network.families, self.shares, strict=True):
            # Steps of the same size and share use one sampler, because certifying it takes long.
            key = (self.network.sizes[family.column], not family.parents, epsilon)
            if key not in made:
                made[key] = self._step(family, epsilon)
            steps.append(made[key])
        return tuple(steps)

    def _step(self, family: Family, epsilon: Fraction) -> LetterSpecificRevealOrObscure:
        k = self.network.sizes[family.column]
        if self.neighbours == REPLACE and not family.parents:
            return self.sampler(epsilon=epsilon, k=k, n=self.n)
        relation: Relation = ADD_REMOVE if self.neighbours == ADD_REMOVE else BOTH
        return self.sampler(epsilon=epsilon, k=k, n=self.n, neighbours=relation)

    @property
    def theorem(self) -> str:
        """The machine-checked theorem, in ``proofs/``, that the row rests on."""
        return "rows_add_remove" if self.neighbours == ADD_REMOVE else "rows_replace"

    @property
    def conditions(self) -> dict[str, bool]:
        """The hypotheses of the theorem; each step is private by its own theorem.

        A step that failed one of its own conditions could not have been made.
        """
        known = dict(zip(self.network.families, self.steps, strict=True))
        holds = {
            "samplers_nonnegative": all(
                hypotheses.table_positive(step.table) for step in self.steps
            ),
            "growths_at_least_one": all(
                hypotheses.growth_at_least_one(step.growth) for step in self.steps
            ),
        }
        if self.neighbours == ADD_REMOVE:
            added = {step.theorem for step in self.steps} == {"ls_roo_add_remove"}
            return holds | {"steps_private_add_remove": added}
        roots = [step for family, step in known.items() if not family.parents]
        return holds | {
            "roots_match_all": all(step.n == self.n for step in self.steps),
            "roots_private": all(step.theorem == "ls_roo_search" for step in roots),
            "steps_private_both": all(
                step.theorem == "ls_roo_both" for family, step in known.items() if family.parents
            ),
        }

    @cached_property
    def largest_ratio(self) -> Fraction:
        """A bound on the factor by which one record changes the probability of a row.

        It is the product of the steps' ratios, each the largest that its sampler allows.
        """
        return prod((step.largest_ratio for step in self.steps), start=Fraction(1))

    @property
    def worst_alphas(self) -> tuple[Fraction, ...]:
        """How far each step can move the row from rows drawn without privacy along the network.

        Each value of the parents adds at most what its sampler adds to the counts, its lift.
        """
        return tuple(
            min(Fraction(1), step.lift * cells / self.network.sizes[family.column] / self.n)
            for family, step, cells in zip(
                self.network.families, self.steps, self.network.cells, strict=True
            )
        )

    @property
    def worst_alpha(self) -> Fraction | None:
        """The same for the whole row, or None if the network allows no bound."""
        if not self.network.is_covered or not self.n:
            return None
        return min(Fraction(1), sum(self.worst_alphas, Fraction(0)))

    def draw(self, matching: Matching, *, source: RandomSource | None = None) -> Row:
        """Return one row, as the place of a letter in every column."""
        source = source or RandomSource()
        row = [0] * len(self.network.sizes)
        for family, step in zip(self.network.families, self.steps, strict=True):
            parents = tuple(row[parent] for parent in family.parents)
            (row[family.column],) = step.draw(matching(family, parents), source=source)
        return tuple(row)

    def probability(self, matching: Matching, row: Row) -> Fraction:
        """Return the probability that the drawn row is this one."""
        result = Fraction(1)
        for family, step in zip(self.network.families, self.steps, strict=True):
            parents = tuple(row[parent] for parent in family.parents)
            result *= step.probability(matching(family, parents), (row[family.column],))
        return result
