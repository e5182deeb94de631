r"""ALS-ROO: obscure the letters that need it, by as much as the other letters call for.

LS-ROO pays for every letter that is not there, whatever the data. Where few letters have
records at all, there is little to protect among the others, and far less will do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from dproo.core.arguments import one_of
from dproo.core.counts import Counts, Runs
from dproo.core.exact import BITS, ceil_div, exp_lower, exp_upper, log_upper
from dproo.mechanisms import conditions
from dproo.mechanisms.adaptive_table import LEVEL_STEP, AdaptiveTable
from dproo.mechanisms.base import ADD_REMOVE, REPLACE, Mechanism, Transition
from dproo.mechanisms.letter_specific import LetterSpecificRevealOrObscure
from dproo.mechanisms.letter_table import even
from dproo.mechanisms.power_table import extend_to_crossing

SPREADS = {
    "any": Fraction(3, 2),
    "sparse": Fraction(1, 2),
    "heavy tail": Fraction(3, 2),
    "dense": Fraction(3, 2),
}
"""By guess: the level reaches its height at ``k knee / spread`` records at risk."""

TOP = Fraction(19, 20)
"""The height of the level, as a share of what would lift every letter above its count."""

RATE = Fraction(4, 5)
"""What is left of epsilon for the growth when the level has adapted as far as it may."""

STARTS = (Fraction(0), *(Fraction(1, 2**halvings) for halvings in range(12, -1, -1)))
"""Where the level may start, in parts of its height; the first that leaves ``RATE`` is taken."""

ADAPTS_FROM = 20
"""Where ``n epsilon`` is not above this, there is too little to adapt to: it is LS-ROO."""

FUTILE = Fraction(1, 2)
"""From this worst case of LS-ROO on, none smaller was ever found here, and none is looked for."""

LARGE = 2
"""From this epsilon on, likewise."""

ATTEMPTS = 6
ENTRIES_MAX = 1 << 17


@dataclass(frozen=True, kw_only=True)
class AdaptiveRevealOrObscure(Mechanism):
    r"""Draw a letter in proportion to its count, lifted by a level that adapts: ``W(c, d)``.

    ``d`` is how many records the *other* letters have at risk, ``min(count, knee)`` each,
    where ``knee = 1 / (growth - 1)`` rounded up is the count from which one record more or
    less changes little. ``W = min(max(c, knee), level(d) growth^c)``, and the level rises
    with ``d`` in proportion until nearly every letter has records. The constants were chosen
    once, on a public family of shapes, by ``benchmarks/constants.py``.

    Guarantee: epsilon-DP when one record is replaced, or when one is added or removed.
    Proof: docs/proofs/adaptive.md
    Reference: this project.

    Attributes:
        guess: what the public knows of the shape of the data: ``"any"``, ``"sparse"``,
            ``"heavy tail"`` or ``"dense"``. It must not come from the data. A wrong guess
            costs accuracy, never privacy.

    >>> als = AdaptiveRevealOrObscure(epsilon=1, n=100, k=4)
    >>> [round(float(p), 4) for p in als.pmf([70, 30, 0, 0])]
    [0.6956, 0.2981, 0.0031, 0.0031]
    """

    name = "als-roo"
    relations = (REPLACE, ADD_REMOVE)
    basis = "proven bound; usually far better"

    guess: str = "any"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        one_of("guess", self.guess, SPREADS)

    @cached_property
    def plain(self) -> LetterSpecificRevealOrObscure | None:
        """LS-ROO, where records are too few to adapt to or the table would be too long."""
        is_short_of_records = self.neighbours == REPLACE and self.n * self.epsilon <= ADAPTS_FROM
        if not _is_long(self.n, self.k, self.growth) and not is_short_of_records:
            return None
        return LetterSpecificRevealOrObscure(
            epsilon=self.epsilon, n=self.n, k=self.k, neighbours=self.neighbours
        )

    @property
    def theorem(self) -> str | None:
        """LS-ROO's where it is that; under replace a level that moves is proven on paper."""
        if self.plain:
            return self.plain.theorem
        return "als_roo_add_remove" if self.neighbours == ADD_REMOVE else None

    @property
    def conditions(self) -> dict[str, bool]:
        """What the theorem assumes of the table."""
        if self.plain:
            return self.plain.conditions
        if self.theorem is None:
            return {}
        table = self.table
        return {
            "growth_at_least_one": conditions.growth_at_least_one(table.growth),
            "unit_positive": conditions.unit_positive(table.unit),
            "knee_positive": conditions.knee_positive(table),
            "knee_grows_at_most": conditions.knee_grows_at_most(table),
            "high_positive": conditions.high_positive(table),
            "rise_nonnegative": conditions.rise_nonnegative(),
            "offset_positive": conditions.offset_positive(table),
            "level_grows_at_most": conditions.level_grows_at_most(table),
            "powers_positive": conditions.powers_positive(table),
            "powers_rising": conditions.powers_rising(table),
            "powers_grow_at_most": conditions.powers_grow_at_most(table, n=self.n),
        }

    def weights(self, counts: Counts) -> Runs:
        """Return the lifted count of every letter."""
        return (self.plain or self.table).weights(counts)

    @property
    def table(self) -> AdaptiveTable:
        """The integers: those of the largest rate, nearly, that certifies."""
        return self._certified[0]

    @property
    def largest_ratio(self) -> Fraction:
        """A bound on the largest probability ratio: under add-remove the growth itself."""
        return self.plain.largest_ratio if self.plain else self._certified[1]

    @cached_property
    def _certified(self) -> tuple[AdaptiveTable, Fraction]:
        """The table, whose integers are as the proof wants them, and the bound on its ratio."""
        table, ratio = self._found()
        if not table.is_as_proven(self.n):
            raise ValueError(f"{self.name} did not certify at epsilon = {self.epsilon}.")
        return table, ratio

    def _found(self) -> tuple[AdaptiveTable, Fraction]:
        if self.neighbours == ADD_REMOVE:
            table = self._table_of(self.epsilon, STARTS[0])
            return table, table.growth
        return next(found for start in STARTS if (found := self._calibrated(start)))

    def _calibrated(self, start: Fraction) -> tuple[AdaptiveTable, Fraction] | None:
        """Return the table that certifies with nearly all of epsilon spent.

        What the total may add to the loss, about ``steepest / n``, hardly depends on the
        rate, so the rate is lowered by what is too much, or raised by what is left. If it
        would fall below ``RATE``, there is none, but for the last start, which takes any.
        """
        least = RATE * self.epsilon if start < STARTS[-1] else Fraction(0)
        steepest = 2 + Fraction(3 * self.k.bit_length(), 4)
        rate = self._rounded(max(self.epsilon - steepest / self.n, RATE * self.epsilon))
        found, attempts = None, 0
        while rate >= least and (found is None or attempts < ATTEMPTS):
            attempts += 1
            table = self._table_of(rate, start)
            useless = exp_upper(self.epsilon + rate - least) if least else None
            ratio = table.largest_ratio(self.n, self.k, beyond=useless)
            excess = self.epsilon if ratio is None else log_upper(ratio) - self.epsilon
            if ratio is not None and excess <= 0:
                found = table, ratio
                if -excess <= self.epsilon / 500:
                    break
            rate = self._rounded(max(rate - excess * Fraction(129, 128), rate / 2))
        return found

    def _rounded(self, rate: Fraction) -> Fraction:
        return self.epsilon * Fraction(int(rate / self.epsilon * 2**24), 2**24)

    def _table_of(self, rate: Fraction, start: Fraction) -> AdaptiveTable:
        """Return the table with ``growth = e^rate``, rounded down."""
        growth = exp_lower(rate)
        real_knee = 1 / (growth - 1)
        knee = ceil_div(real_knee.numerator, real_knee.denominator)
        high = int(self.k * knee * LEVEL_STEP / SPREADS[self.guess])
        offset = max(int(start * high), int(real_knee * LEVEL_STEP) + 2)
        powers = [1 << (2 * BITS + 2 * knee.bit_length())]
        tallest = TOP * real_knee / exp_upper(rate * real_knee)  # of an unseen letter
        unit = ceil_div(powers[0] * high * tallest.denominator, tallest.numerator)
        low = min(high, offset)
        extend_to_crossing(powers, growth, knee=knee, unit=unit, level=low, most=self.n)
        return AdaptiveTable(tuple(powers), growth, knee, unit, offset, high)

    @property
    def worst_alpha(self) -> Fraction:
        """A bound on the distance from any dataset."""
        if self.plain:
            return self.plain.worst_alpha
        return self.table.largest_distance(self.n, self.k)

    @classmethod
    def worst_alpha_at(cls, *, n: int, k: int, epsilon: Fraction) -> Fraction:
        """Return the bound of the sampler; LS-ROO finds its own."""
        if n * epsilon <= ADAPTS_FROM or _is_long(n, k, exp_lower(epsilon)):
            return LetterSpecificRevealOrObscure.worst_alpha_at(n=n, k=k, epsilon=epsilon)
        sampler = cls.__new__(cls)  # only to be asked for its table
        sampler._set(n=n, k=k, epsilon=epsilon, neighbours=REPLACE, guess=cls.guess)  # noqa: SLF001
        table, _ = sampler._found()  # noqa: SLF001
        return table.largest_distance(n, k)

    @classmethod
    def is_futile(cls, *, alpha: Fraction, epsilon: Fraction = Fraction(0)) -> bool:
        """Whether LS-ROO is too far from the records for adapting to help, or close enough."""
        return alpha >= FUTILE or epsilon >= LARGE

    @property
    def neighbour_distance(self) -> Fraction:
        """LS-ROO's where it is that; none is proven for levels that move."""
        return self.plain.neighbour_distance if self.plain else super().neighbour_distance

    @cached_property
    def worst(self) -> Transition:
        """The transition with the largest ratio of those that the proof singles out."""
        if self.plain:
            return self.plain.worst
        return max(self._candidates(), key=self.ratio)

    def _candidates(self) -> Iterator[Transition]:
        """Yield transitions in which one letter gains and another falls from its crossing."""
        n, k, knee = self.n, self.k, self.table.knee
        if self.neighbours == ADD_REMOVE:
            others = [(n - 1, 1), (0, k - 2)]
            yield Transition(Counts([(0, 1), *others]), Counts([(1, 1), *others]))
            return
        for letters in {min(1 << power, k - 2) for power in range((k - 2).bit_length() + 1)}:
            for gains in (0, knee - 1, knee):
                crossing = self.table.crossing(self.table.level(letters * knee + min(gains, knee)))
                loses = min(crossing, n - gains) if letters else n - gains
                if loses < 1:
                    continue
                others = [*even(n - gains - loses, letters), (0, k - 2 - letters)]
                yield Transition(
                    Counts([(gains, 1), (loses, 1), *others]),
                    Counts([(gains + 1, 1), (loses - 1, 1), *others]),
                )


def _is_long(n: int, k: int, growth: Fraction) -> bool:
    """Whether the table might have too many entries."""
    longest = int(1 / (growth - 1) + 1) * (6 + k.bit_length())
    return min(n, longest) > ENTRIES_MAX
