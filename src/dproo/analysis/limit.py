"""The limit: a worst-case accuracy that no private sampler can beat.

For every epsilon-DP sampler there is a distribution ``P`` of its ``n`` records over ``k``
letters for which the law of its release is at least this far from ``P``:

    ``alpha >= j u / (1 + j/(k-j) (1 + u (e^epsilon - 1))^n)``,    ``1 <= j < k``, ``0 < u <= 1/j``,
    ``alpha >= (k-1) / ((k - 1 + e^(epsilon (n mod 2))) e^(epsilon floor(n/2)))``,

where ``k-j`` may be read as ``k-j+1`` if ``u = 1/j`` and ``2 <= j <= k``. The second is
larger if there are few records. If the law of the release must be near the records of *every*
dataset, not only near ``P`` on average, the limit is higher:

    ``distance >= (j c / n) / (1 + j/(k-j) e^(epsilon c))``,    ``1 <= j < k``, ``j c <= n``.

If epsilon is not small, a mean over distributions on three levels gives more. Let ``j - 1``
letters have the odds ``v``, ``i`` letters the odds ``w > v`` and one letter the odds ``z``; call
this distribution ``B_i``, and with one more letter at ``v`` ``A_i``. For all weights
``r_i > 0`` of ``B_i``, ``first <= i <= last``, with sums over ``i < last``,

    ``alpha >= sum_i (d_i u_i - (i+1) r_{i+1} U_i) / (sum_i d_i / j + sum_{i <= last} r_i)``,

where a letter at ``v`` has probability ``u_i`` in ``A_i``, a letter at ``w`` has ``U_i`` in
``B_{i+1}``, and ``d_i >= 0`` is any number such that for all ``0 <= t <= n``

    ``d_i S(u_i, t) <= (k-j-i) r_i + (i+1) r_{i+1} S(U_i, t)``,
    ``S(u, t) = sum_{c <= t} binomial(n, c) (e^epsilon u)^c (1-u)^(n-c)``.

Every choice of ``j``, ``u`` and levels gives a valid bound, so floats may choose; a bad choice
makes the limit less sharp, never false. The bound itself is evaluated in integers and rounded down.

Proof: docs/proofs/limit.md
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import accumulate, pairwise
from math import ceil, cos, exp, expm1, floor, log, log1p, pi, sqrt
from operator import attrgetter
from typing import NamedTuple

from dproo.core.checks import one_of, whole
from dproo.core.numbers import (
    BITS,
    Number,
    ceil_div,
    exp_upper,
    parse_epsilon,
    power_lower,
    power_upper,
)
from dproo.mechanisms import ADD_REMOVE, RECORDS_MAX, REPLACE, Relation, hypotheses

_LEVEL_BITS = 128
_UNIT = 1 << _LEVEL_BITS


@dataclass(frozen=True, kw_only=True)
class LimitLevels:
    """The distributions that prove a limit.

    Attributes:
        letters: ``j``.
        rest: ``z``, an integer.
        middle: ``v``.
        high: ``w``.
        first: the fewest letters at ``w``.
        weights: ``r_i`` from there on.
    """

    letters: int
    rest: int
    middle: int
    high: int
    first: int
    weights: tuple[int, ...]

    def __post_init__(self) -> None:
        """Check the assumptions of the proof."""
        if not (self.letters >= 1 and self.first >= 0 and len(self.weights) > 1):
            raise ValueError("levels must have a letter in the middle and two weights.")
        if not (self.rest > 0 and 0 < self.middle < self.high and min(self.weights) > 0):
            raise ValueError("levels must have positive weights, and odds that rise.")

    @property
    def last(self) -> int:
        """The most letters at ``w``."""
        return self.first + len(self.weights) - 1

    def bound(self, *, n: int, k: int, growth: Fraction) -> Fraction:
        """Return the bound with ``growth`` for ``e^epsilon``, rounded down.

        Raises:
            ValueError: there are too few letters.
        """
        if self.letters + self.last > k:
            raise ValueError(f"levels need {self.letters + self.last} letters, got {k}.")
        won, weight = 0, self.letters * sum(self.weights)
        for i, (here, above) in enumerate(pairwise(self.weights), start=self.first):
            others = self._others(i)
            empty, gained = (k - self.letters - i) * here, (i + 1) * above
            owed = self._owed(n, growth, others, empty, gained)
            won += owed * self.middle * _UNIT // (others + self.middle)
            won -= ceil_div(gained * self.high * _UNIT, others + self.high)
            weight += owed
        return Fraction(max(0, self.letters * won), weight * _UNIT)

    def distributions(self, k: int) -> Iterator[tuple[Fraction, ...]]:
        """Yield all ``B_i`` and ``A_i``, their probabilities in falling order."""
        for i in range(self.first, self.last + 1):
            for letters in (self.letters - 1, self.letters)[: 1 + (i < self.last)]:
                odds = [self.rest, *[self.middle] * letters, *[self.high] * i]
                shares = sorted((Fraction(value, sum(odds)) for value in odds), reverse=True)
                yield (*shares, *[Fraction(0)] * (k - len(shares)))

    def _others(self, i: int) -> int:
        """Return the odds of all letters of ``B_i`` together."""
        return self.rest + (self.letters - 1) * self.middle + i * self.high

    def _owed(self, n: int, growth: Fraction, others: int, empty: int, gained: int) -> int:
        """Return the largest ``d_i``, rounded down.

        It falls with ``t`` until a term of ``S(U, t)`` outweighs the term of ``S(u, t)``. Their
        quotient rises with ``t``, so no later term lowers it further.
        """
        low = _first_term(others, self.middle, n, is_upper=True)
        high = _first_term(others, self.high, n, is_upper=False)
        lows, highs = low, high
        owed = ((empty << _LEVEL_BITS) + gained * highs) // lows
        for count in range(n):
            over = growth.numerator * (n - count)
            under = growth.denominator * (count + 1) * others
            low = ceil_div(low * over * self.middle, under)
            high = high * over * self.high // under
            if gained * high >= owed * low:
                break
            lows, highs = lows + low, highs + high
            owed = ((empty << _LEVEL_BITS) + gained * highs) // lows
        return owed


def _first_term(others: int, odds: int, n: int, *, is_upper: bool) -> int:
    """Return ``(1-u)^n`` in units of ``2^-128``, for the odds of one letter, rounded."""
    base = 1 + Fraction(odds, others)
    if is_upper:
        power = power_lower(base, n, bits=_LEVEL_BITS)
        return ceil_div(power.denominator << _LEVEL_BITS, power.numerator)
    power = power_upper(base, n, bits=_LEVEL_BITS)
    return (power.denominator << _LEVEL_BITS) // power.numerator


_RECORDS = {
    0.25: (5.25, 2.09), 0.5: (2.40, 2.34), 0.7: (1.62, 2.50), 1.0: (1.065, 2.71),
    1.5: (0.642, 2.98), 2.0: (0.459, 3.15), 2.5: (0.324, 3.38), 3.0: (0.241, 3.40),
    4.0: (0.216, 3.35), 6.0: (0.164, 3.26), 8.0: (0.119, 3.19), 12.0: (0.0587, 3.09),
    20.0: (0.0130, 3.0), 40.0: (0.0001, 3.0),
}  # fmt: skip
"""By epsilon: the records of a letter in the middle, and how many times as many above."""

_LARGEST_SHARE = 0.9
_TERMS, _HUGE = 40, 1e60
_PAYS = 1.001
_WIDE, _HALF_WIDTH = 45, 17
_MOST, _FALL = 90, 10.0
_ODDS, _WEIGHT = 1 << 192, 1 << 96


class _Shape(NamedTuple):
    """What remains to be chosen, for one letter without probability.

    Attributes:
        middle: the probability of a letter in the middle.
        high: the probability of a letter above.
        odds: the odds of being above, for a letter that is not in the middle.
        owed: the largest ``d`` for one letter without probability and so many above.
    """

    middle: float
    high: float
    odds: float
    owed: float

    def letters(self, k: int) -> float:
        """Return the best number of letters in the middle."""
        root = sqrt(self.owed / (1 + self.odds))
        return k * root / (1 + root)

    def whole_letters(self, k: int) -> int:
        """Return the best whole number of letters in the middle."""
        near = floor(self.letters(k))
        whole = (min(max(1, letters), k - 1) for letters in (near, near + 1))
        return max(whole, key=lambda letters: self.bound(k, letters))

    def fitting(self, k: int) -> int:
        """Return the number of letters, or fewer if they would have too much probability."""
        letters = self.letters(k)
        used = letters * self.middle + self.above(k, letters) * self.high
        return k if used < _LARGEST_SHARE else max(2, int(k * _LARGEST_SHARE / used))

    def above(self, k: int, letters: float) -> float:
        """Return the mean number of letters above."""
        return (k - letters) * self.odds / (1 + self.odds)

    def bound(self, k: int, letters: float) -> float:
        """Return the limit, if every number of letters above has its weight."""
        others = (k - letters) / (1 + self.odds)
        gain = self.owed * self.middle - self.odds * self.high
        return others * gain / (1 + others * self.owed / letters)


def choose_levels(n: int, k: int, epsilon: float, *, above: float) -> LimitLevels | None:
    """Return levels whose bound should exceed ``above``, or None if there seem to be none."""
    if not min(_RECORDS) <= epsilon <= max(_RECORDS):
        return None
    records, times = _records(epsilon)
    if times * records > _LARGEST_SHARE * n:
        return None
    shapes = _shapes(n, epsilon, records / n, times * records / n)
    shape = max(shapes, key=lambda shape: shape.bound(k, shape.letters(k)))
    fitting = shape.fitting(k)
    letters = shape.whole_letters(fitting)
    if fitting == k and shape.bound(k, letters) < above * _PAYS:
        return None  # with fewer letters, those that are left out raise the bound further
    return _levels(fitting, letters, shape)


def _records(epsilon: float) -> tuple[float, ...]:
    """Return a row of the table, interpolated linearly in logarithms."""
    rows = list(_RECORDS)
    i = min(bisect(rows, epsilon), len(rows) - 1)
    share = log(epsilon / rows[i - 1]) / log(rows[i] / rows[i - 1])
    ends = zip(_RECORDS[rows[i - 1]], _RECORDS[rows[i]], strict=True)
    return tuple(low * (high / low) ** share for low, high in ends)


def _shapes(n: int, epsilon: float, middle: float, high: float) -> Iterator[_Shape]:
    """Yield the odds at which the conditions on ``d`` for some ``t`` and ``t + 1`` coincide.

    Between two of them one condition decides, and the bound hardly ever has a maximum.
    """
    lows = highs = 0.0
    terms = zip(_terms(n, epsilon, middle), _terms(n, epsilon, high), strict=False)
    for low, up in terms:
        if lows:
            slope = up * lows - low * highs
            yield _Shape(middle, high, low / slope, up / slope)
        lows, highs = lows + low, highs + up


def _terms(n: int, epsilon: float, share: float) -> Iterator[float]:
    """Yield the terms of ``S(u, t)``, not all of them."""
    ratio = exp(epsilon) * share / (1 - share)
    term = exp(n * log1p(-share))
    for count in range(min(n, _TERMS) + 1):
        yield term
        term *= ratio * (n - count) / (count + 1)
        if term > _HUGE:
            return


def _levels(k: int, letters: int, shape: _Shape) -> LimitLevels | None:
    """Return the levels, or None if they leave no probability for one more letter."""
    mean = shape.above(k, letters)
    middle, high = (share / (1 - share) for share in (shape.middle, shape.high))
    rest = 1 - (letters - 1) * middle - mean * high
    if rest <= 0:
        return None
    first, weights = _weights(k - letters, shape.odds, mean)
    return LimitLevels(
        letters=letters,
        rest=int(Fraction(rest) * _ODDS),
        middle=int(Fraction(middle) * _ODDS),
        high=int(Fraction(high) * _ODDS),
        first=first,
        weights=weights,
    )


def _weights(others: int, odds: float, mean: float) -> tuple[int, tuple[int, ...]]:
    """Return the fewest letters above, and the weights from there on: a bell about the mean."""
    if mean > _WIDE:
        angles = (i * pi / (2 * _HALF_WIDTH) for i in range(1 - _HALF_WIDTH, _HALF_WIDTH))
        return round(mean) - _HALF_WIDTH + 1, tuple(ceil(_WEIGHT * cos(x) ** 2) for x in angles)
    steps = (log(odds) + log(others - i) - log(i + 1) for i in range(min(others, _MOST)))
    heights = list(accumulate(steps, initial=0.0))
    top = max(heights)
    kept = [i for i, height in enumerate(heights) if height > top - _FALL]
    chosen = heights[kept[0] : kept[-1] + 2]
    return kept[0], tuple(ceil(_WEIGHT * exp(height - top)) for height in chosen)


_BITS = 3 * BITS
_TINY = 1e-9
_STEPS = 60
_GOLDEN = (3 - sqrt(5)) / 2


@dataclass(frozen=True, kw_only=True)
class Limit:
    """A bound on the worst-case accuracy of every private sampler, and where it comes from.

    Attributes:
        n: the number of records.
        k: the number of letters.
        epsilon: the privacy parameter.
        neighbours: ``"replace"`` or ``"add-remove"``: how neighbours differ.
        lower: the bound, rounded down. No private sampler has a smaller worst-case distance.
        pair: ``(j, u)`` of the first bound, or None if another one is larger.
        levels: the distributions behind the third bound if it is the largest, or None.
    """

    n: int
    k: int
    epsilon: Fraction
    neighbours: Relation
    lower: Fraction
    pair: tuple[int, Fraction] | None
    levels: LimitLevels | None = None

    def __post_init__(self) -> None:
        """Check the hypotheses of the theorem."""
        for condition, holds in self.conditions.items():
            if not holds:
                raise ValueError(f"the limit does not follow: {condition} does not hold.")

    @cached_property
    def datasets(self) -> Fraction:
        """The limit for datasets; no private sampler is nearer to the records of all of them.

        >>> found = limit(n=1000, k=20, epsilon=1)
        >>> round(float(found.lower), 4), round(float(found.datasets), 4)
        (0.0019, 0.0029)
        """
        if not all(self.dataset_conditions.values()):
            raise ValueError("the limit for datasets does not follow.")
        letters, count = self.crowd
        odds = Fraction(letters, self.k - letters) * exp_upper(count * self._replaced_loss)
        return max(self.lower, _rounded_down(Fraction(letters * count, self.n) / (1 + odds)))

    @property
    def _replaced_loss(self) -> Fraction:
        return _loss(self.epsilon, self.neighbours)

    @cached_property
    def crowd(self) -> tuple[int, int]:
        """``(j, c)`` of the bound for datasets, in which ``j`` letters have ``c`` records each."""
        n, k, loss = self.n, self.k, float(self._replaced_loss)
        _, letters, records = max(
            _peak(lambda c: _with_records(n, k, loss, c), 1, n),
            _peak(lambda j: _with_records(n, k, loss, n // j), 1, min(k - 1, n)),
            key=_LOG_BOUND,
        )
        return letters, int(records or 1)

    @property
    def dataset_conditions(self) -> dict[str, bool]:
        """The hypotheses of ``limit_of_datasets``, in ``proofs/``, on the numbers of the bound."""
        letters, count = self.crowd
        return {
            "growth_at_least_one": hypotheses.growth_at_least_one(exp_upper(self._replaced_loss)),
            "letters_leave_one": hypotheses.letters_leave_one(letters, self.k),
            "some_records": hypotheses.some_records(count),
            "records_fit": hypotheses.records_fit(letters, count, self.n),
        }

    @property
    def theorem(self) -> str | None:
        """The machine-checked theorem, in ``proofs/``, that gives the bound, or None."""
        if self.levels:
            return None
        if self.pair is None:
            return "limit_of_samplers_few"
        return "limit_of_samplers" + "_even" * _is_even(*self.pair)

    @property
    def conditions(self) -> dict[str, bool]:
        """Whether the numbers of the bound satisfy each hypothesis of the theorem."""
        if self.levels:
            return {}
        growth = exp_upper(self._replaced_loss)
        common = {"growth_at_least_one": hypotheses.growth_at_least_one(growth)}
        if self.pair is None:
            return common | {"some_letter": hypotheses.some_letter(self.k)}
        letters, share = self.pair
        if _is_even(letters, share):
            return common | {
                "letters_are_several": hypotheses.letters_are_several(letters, self.k),
                "share_even": hypotheses.share_even(letters, share),
            }
        return common | {
            "letters_leave_one": hypotheses.letters_leave_one(letters, self.k),
            "share_nonnegative": hypotheses.share_nonnegative(share),
            "share_fits": hypotheses.share_fits(letters, share),
        }


def limit(*, n: int, k: int, epsilon: Number, neighbours: Relation = REPLACE) -> Limit:
    """Return a worst-case accuracy that no epsilon-DP sampler can beat.

    A sampler that is private when a record is added or removed is private at twice epsilon
    when one is replaced, so under ``"add-remove"`` the bound is the one at twice epsilon.

    Guarantee: ``lower`` is at most the largest distance from ``P`` over all ``P`` of every
    sampler that is epsilon-DP on ``n`` records of ``k`` letters.
    Proof: docs/proofs/limit.md
    Reference: this project.

    >>> found = limit(n=1000, k=9, epsilon="0.1")
    >>> letters, share = found.pair
    >>> round(float(found.lower), 4), letters, round(float(share), 4)
    (0.0132, 3, 0.0139)

    Raises:
        ValueError: an argument is out of its range.
    """
    n = whole("n", n, at_least=1, at_most=RECORDS_MAX)
    k = whole("k", k, at_least=2, at_most=RECORDS_MAX)
    epsilon = parse_epsilon(epsilon)
    neighbours = one_of("neighbours", neighbours, (REPLACE, ADD_REMOVE))
    loss = _loss(epsilon, neighbours)
    hardest = _hardest(n, k, float(loss))
    bound, pair = (
        _theorem_1(n, k, loss, hardest)
        if hardest.log_bound > _log_theorem_2(n, k, float(loss))
        else (_theorem_2(n, k, loss), None)
    )
    levels = choose_levels(n, k, float(loss), above=float(bound))
    if levels:
        sharper = levels.bound(n=n, k=k, growth=exp_upper(loss))
        if sharper > bound:
            bound, pair = sharper, None
        else:
            levels = None
    lower = _rounded_down(bound)
    return Limit(
        n=n, k=k, epsilon=epsilon, neighbours=neighbours, lower=lower, pair=pair, levels=levels
    )


def _loss(epsilon: Fraction, neighbours: str) -> Fraction:
    """Return the sampler's epsilon when a record is replaced."""
    return epsilon if neighbours == REPLACE else 2 * epsilon


def _is_even(letters: int, share: Fraction) -> bool:
    """Return whether the letters have all of the probability."""
    return letters >= 2 and letters * share == 1


class _Hardest(NamedTuple):
    """The best pair at a number of letters, computed in floats.

    Attributes:
        log_bound: the logarithm of the bound.
        letters: ``j``.
        excess: ``u (e^epsilon - 1)``, or None for the largest ``u``.
    """

    log_bound: float
    letters: int
    excess: float | None


_LOG_BOUND = attrgetter("log_bound")


def _theorem_1(
    n: int, k: int, epsilon: Fraction, hardest: _Hardest
) -> tuple[Fraction, tuple[int, Fraction]]:
    """Return the first bound, not above its true value, and the pair ``(j, u)`` it belongs to."""
    letters = hardest.letters
    growth = exp_upper(epsilon) - 1
    most = growth / letters
    excess = most if hardest.excess is None else min(Fraction(hardest.excess), most)
    share = excess / growth
    spare = k - letters + _is_even(letters, share)
    odds = Fraction(letters, spare) * power_upper(1 + excess, n, bits=_BITS)
    return letters * share / (1 + odds), (letters, share)


def _theorem_2(n: int, k: int, epsilon: Fraction) -> Fraction:
    """Return the second bound, not above its true value."""
    half, odd = divmod(n, 2)
    return (k - 1) / ((k - 1 + exp_upper(odd * epsilon)) * exp_upper(half * epsilon))


def _log_theorem_2(n: int, k: int, epsilon: float) -> float:
    half, odd = divmod(n, 2)
    return -half * epsilon - _softplus(odd * epsilon - log(k - 1))


def _softplus(x: float) -> float:
    """Return ``log(1 + e^x)``."""
    return max(x, 0.0) + log1p(exp(-abs(x)))


def _rounded_down(value: Fraction) -> Fraction:
    """Return the first bits of a positive number."""
    places = _BITS + value.denominator.bit_length() - value.numerator.bit_length()
    return Fraction((value.numerator << places) // value.denominator, 1 << places)


def _hardest(n: int, k: int, epsilon: float) -> _Hardest:
    growth = epsilon + log(-expm1(-epsilon))  # log(e^epsilon - 1), even if e^epsilon is inf
    return max(
        _peak(lambda letters: _at(n, k, growth, letters), 1, k - 1),
        _peak(lambda letters: _evenly(n, k, growth, letters), 2, k),
        key=_LOG_BOUND,
    )


def _peak(found: Callable[[int], _Hardest], low: int, high: int) -> _Hardest:
    """Return the best of all ``j``: the bound rises and then falls, so the ends are narrowed."""
    found = cache(found)
    left = right = low
    while high - low > 2:
        if not low < left < right < high:
            cut = max(1, int(_GOLDEN * (high - low)))
            left, right = low + cut, high - cut
        if found(left).log_bound < found(right).log_bound:
            low, left = left, right
            right = low + high - left
        else:
            high, right = right, left
            left = low + high - right
    return max(map(found, range(low, high + 1)), key=_LOG_BOUND)


def _with_records(n: int, k: int, epsilon: float, count: int) -> _Hardest:
    """Return the best number of letters with ``count`` records each: near ``k/(1 + e^(εc/2))``."""
    near = int(k * exp(-_softplus(count * epsilon / 2)))
    found = []
    for whole_number in (near, near + 1):
        letters = min(max(1, whole_number), k - 1, n // count)
        odds = log(letters) - log(k - letters) + count * epsilon
        bound = log(letters) + log(count) - log(n) - _softplus(odds)
        found.append(_Hardest(bound, letters, float(count)))
    return max(found, key=_LOG_BOUND)


def _evenly(n: int, k: int, growth: float, letters: int) -> _Hardest:
    """Return what ``u = 1/j`` gives, for two letters or more."""
    odds = log(letters) - log(k - letters + 1)
    return _Hardest(-_softplus(odds + n * _softplus(growth - log(letters))), letters, None)


def _at(n: int, k: int, growth: float, letters: int) -> _Hardest:
    """Return the best ``u`` for this ``j``.

    With ``t = u (e^epsilon - 1)`` and ``s = n t / (1 + t) - 1`` the bound is largest where
    ``log(j / (k-j)) + n log(1 + t) + log s = 0``: an increasing convex function of ``log s``,
    whose zero Newton's method finds from the right. If that ``u`` would be above ``1/j``,
    ``1/j`` itself is best; one letter then has all of the probability.
    """
    records = float(n)
    odds = log(letters) - log(k - letters)
    largest = growth - log(letters)
    if n > 1:
        y = log(max(1.0, -odds)) if odds < 0 else -odds
        end = log(records - 1) - _TINY
        for _ in range(_STEPS):
            y = min(y, end)
            s = exp(y)
            slope = 1 + s * records / (records - 1 - s)
            y -= (odds - records * log1p(-(1 + s) / records) + y) / slope
            if abs(y - log(s)) < _TINY:
                break
        t = (1 + s) / (records - 1 - s)
        if log(t) < largest:
            return _Hardest(log(letters) + log(t) - growth - log1p(1 / s), letters, t)
    log_power = records * _softplus(largest)
    return _Hardest(-_softplus(odds + log_power), letters, None)
