r"""LS-ROO: obscure only the letters that need it.

A letter seen ``c`` times needs a lift only while one record more or less would change its
count by more than a factor ``e^epsilon``. Every letter gets its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from dproo.core.counts import Counts, Runs
from dproo.core.draw import RandomSource, pick_each
from dproo.core.numbers import exp_lower
from dproo.mechanisms import hypotheses
from dproo.mechanisms.base import ADD_REMOVE, BOTH, REPLACE, Mechanism, Transition
from dproo.mechanisms.ls_roo.calibration import Envelope
from dproo.mechanisms.ls_roo.table import LetterTable, worst_addition

_SHORT = 8


@dataclass(frozen=True, kw_only=True)
class LetterSpecificRevealOrObscure(Mechanism):
    r"""Draw a letter in proportion to its count, lifted where it is rare: ``f(c)``.

    ``f(c) = max_j (c + j) growth^-j`` is the smallest table above the identity whose step
    ratio is at most ``growth``: ``f(c) = c`` once ``(c+1)/c <= growth``, so a letter seen
    often is never obscured. Under replacement ``growth`` is a little below ``e^epsilon``,
    the most that the certificate allows; under add-remove it is ``e^epsilon``. Under
    ``"both"`` one epsilon covers a record that is replaced, added or removed, in a dataset
    of unknown size: the case of one of several groups between which a record may move.

    Guarantee: epsilon-DP when one record is replaced, or when one is added or removed, or
    both; on every dataset of a public size the obscured mass is at most ROO's.
    Proof: docs/proofs/letter_specific.md
    Reference: this project.

    >>> ls = LetterSpecificRevealOrObscure(epsilon=1, n=100, k=4)
    >>> [round(float(p), 3) for p in ls.pmf([70, 30, 0, 0])]
    [0.695, 0.298, 0.004, 0.004]
    """

    name = "ls-roo"
    relations = (REPLACE, ADD_REMOVE, BOTH)
    basis = "exact: a point mass is worst"
    is_closed_form = True

    @property
    def table(self) -> LetterTable:
        """The lifted counts, in integers: the least table that certifies."""
        return self._found[0]

    @property
    def worst(self) -> Transition:
        """The worst transition, found by a search that skips only what cannot be worst."""
        return self._found[1]

    @cached_property
    def _found(self) -> tuple[LetterTable, Transition]:
        tables = Envelope(self.growth, self.n, self.k, is_n_public=self.neighbours == REPLACE)
        if self.neighbours == ADD_REMOVE:
            table = tables.table(tables.largest_rate)
            return table, worst_addition(table, self.n, self.k)[1]
        return tables.calibrated()

    @classmethod
    def worst_alpha_at(cls, *, n: int, k: int, epsilon: Fraction) -> Fraction:
        """Return the worst case of the sampler, by its formula where the table is long."""
        tables = Envelope(exp_lower(epsilon), n, k)
        last, _ = tables.end(tables.likely_rate)
        if last <= _SHORT:
            return super().worst_alpha_at(n=n, k=k, epsilon=epsilon)
        return tables.worst_alpha()

    @property
    def theorem(self) -> str:
        """The theorem on counts alone under add-remove, and on a search under the others."""
        names = {REPLACE: "ls_roo_search", ADD_REMOVE: "ls_roo_add_remove", BOTH: "ls_roo_both"}
        return names[self.neighbours]

    @property
    def conditions(self) -> dict[str, bool]:
        """What the theorem assumes of the table, at the growth that epsilon allows."""
        table, growth = self.table, self.growth
        holds = {
            "table_positive": hypotheses.table_positive(table),
            "table_rising": hypotheses.table_rising(table),
            "growth_at_least_one": hypotheses.growth_at_least_one(growth),
        }
        if self.neighbours != REPLACE:
            grows = hypotheses.table_grows_at_most(table, growth, n=self.n)
            holds["table_grows_at_most"] = grows
        if self.neighbours == ADD_REMOVE:
            return holds
        holds |= {
            "table_convex": hypotheses.table_convex(table),
            "table_straight": hypotheses.table_straight(table),
        }
        if self.neighbours == BOTH:
            found = hypotheses.bare_search_found_nothing(table, growth, n=self.n, k=self.k)
            return holds | {"bare_search_found_nothing": found}
        stop = hypotheses.search_stop(table, growth)
        return holds | {
            "search_ends": hypotheses.search_ends(table, stop),
            "stop_grows_at_most": hypotheses.stop_grows_at_most(table, growth, stop),
            "search_found_nothing": hypotheses.search_found_nothing(
                table, growth, stop, n=self.n, k=self.k
            ),
        }

    def weights(self, counts: Counts) -> Runs:
        """Return the lifted count of every letter."""
        return counts.map(self.table)

    def draw_each(self, counts: Counts, *, source: RandomSource | None = None) -> list[int]:
        """Return a letter of each dataset, from the weights of all of them at once.

        A letter's weight depends only on its count. Under add-remove no dataset can have too
        many records if all of them together do not.
        """
        if self.neighbours == REPLACE or counts.n > self.n:
            return super().draw_each(counts, source=source)
        return pick_each(self.weights(counts), self.k, source or RandomSource())

    @property
    def worst_alpha(self) -> Fraction:
        """``(k-1) f(0) / (f(n) + (k-1) f(0))``: a point mass is worst."""
        return self.worst_alpha_among(self.n)

    def worst_alpha_among(self, records: int) -> Fraction:
        """Return the worst case of ``records`` records."""
        missing = (self.k - 1) * self.table(0)
        return Fraction(missing, missing + self.table(records))

    @property
    def lift(self) -> Fraction:
        """``(k-1) f(0)``, in records: the most that is added to all letters but one."""
        return Fraction((self.k - 1) * self.table(0), self.table.slope)

    @property
    def neighbour_distance(self) -> Fraction:
        """One step of the table, over the least total that any dataset has."""
        step = self.table.slope
        if self.neighbours == ADD_REMOVE:
            return Fraction(step, self.k * self.table(0) + step)
        fewest = self.n if self.neighbours == REPLACE else 1
        return Fraction(step, self.table.least(fewest, self.k))
