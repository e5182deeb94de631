r"""The limit: a worst-case accuracy that no private sampler can beat, in closed form.

However an epsilon-DP sampler works, there is a distribution ``P`` of its ``n`` records over
``k`` letters for which the law of its release is at least this far from ``P``:

    ``alpha >= j u / (1 + j/(k-j) (1 + u (e^epsilon - 1))^n)``,    ``1 <= j < k``, ``0 < u <= 1/j``,
    ``alpha >= (k-1) / ((k - 1 + e^(epsilon (n mod 2))) e^(epsilon floor(n/2)))``,

where ``k-j`` may be read as ``k-j+1`` if ``u = 1/j`` and ``2 <= j <= k``. The second is the
larger one where there are few records; where epsilon is not small, a third one is, that of
:mod:`dproo.analysis.levels`. Every ``j`` and ``u`` give a true bound, so floats may
choose among all of these, at the cost of sharpness only; the bound is then evaluated in
integers and rounded down. If the law of the release is to be near the records of *every* dataset,
not only near ``P`` on average, the limit is higher, and as simple:

    ``distance >= (j c / n) / (1 + j/(k-j) e^(epsilon c))``,    ``1 <= j < k``, ``j c <= n``.

Proof: docs/proofs/limit.md
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from math import exp, expm1, log, log1p, sqrt
from typing import NamedTuple

from dproo.analysis.level_choice import choose_levels
from dproo.analysis.levels import Levels
from dproo.core.arguments import one_of, whole
from dproo.core.exact import BITS, Number, exp_upper, parse_epsilon, power_upper
from dproo.mechanisms import ADD_REMOVE, RECORDS_MAX, REPLACE, Relation, conditions

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
        neighbours: ``"replace"`` or ``"add-remove"``: what one record may do.
        lower: the bound, rounded down. No private sampler has a smaller worst-case distance.
        pair: ``(j, u)`` of the first bound, or None where another one is larger.
        levels: the distributions behind the third bound where it is the largest, or None.
    """

    n: int
    k: int
    epsilon: Fraction
    neighbours: Relation
    lower: Fraction
    pair: tuple[int, Fraction] | None
    levels: Levels | None = None

    def __post_init__(self) -> None:
        """Check what the theorem assumes."""
        for condition, holds in self.conditions.items():
            if not holds:
                raise ValueError(f"the limit does not follow: {condition} does not hold.")

    @cached_property
    def datasets(self) -> Fraction:
        """The same for datasets: no private sampler is nearer to the records of all of them.

        >>> found = limit(n=1000, k=20, epsilon=1)
        >>> round(float(found.lower), 4), round(float(found.datasets), 4)
        (0.0019, 0.0029)
        """
        loss = _loss(self.epsilon, self.neighbours)
        n, k = self.n, self.k
        _, letters, records = max(
            _peak(lambda c: _with_records(n, k, float(loss), c), 1, n),
            _peak(lambda j: _with_records(n, k, float(loss), n // j), 1, min(k - 1, n)),
            key=_log_bound,
        )
        count = int(records or 1)
        odds = Fraction(letters, k - letters) * exp_upper(count * loss)
        return max(self.lower, _rounded_down(Fraction(letters * count, n) / (1 + odds)))

    @property
    def theorem(self) -> str | None:
        """The machine-checked theorem, in ``proofs/``, that the bound is, if a machine has."""
        if self.levels:
            return None
        if self.pair is None:
            return "limit_of_samplers_few"
        return "limit_of_samplers" + "_even" * _is_even(*self.pair)

    @property
    def conditions(self) -> dict[str, bool]:
        """The hypotheses of the theorem, and whether the numbers of the bound satisfy them."""
        if self.levels:
            return {}
        growth = exp_upper(_loss(self.epsilon, self.neighbours))
        common = {"growth_at_least_one": conditions.growth_at_least_one(growth)}
        if self.pair is None:
            return common | {"some_letter": conditions.some_letter(self.k)}
        letters, share = self.pair
        if _is_even(letters, share):
            return common | {
                "letters_are_several": conditions.letters_are_several(letters, self.k),
                "share_even": conditions.share_even(letters, share),
            }
        return common | {
            "letters_leave_one": conditions.letters_leave_one(letters, self.k),
            "share_nonnegative": conditions.share_nonnegative(share),
            "share_fits": conditions.share_fits(letters, share),
        }


def limit(*, n: int, k: int, epsilon: Number, neighbours: Relation = REPLACE) -> Limit:
    """Return a worst-case accuracy that no epsilon-DP sampler can beat.

    A sampler that is private when a record is added or removed is private at twice epsilon
    when one is replaced, so under ``"add-remove"`` the bound is that of twice epsilon.

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
    one_of("neighbours", neighbours, (REPLACE, ADD_REMOVE))
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
    """Return what the sampler is private at when a record is replaced."""
    return epsilon if neighbours == REPLACE else 2 * epsilon


def _is_even(letters: int, share: Fraction) -> bool:
    """Return whether no letter is needed for the rest of the probability."""
    return letters >= 2 and letters * share == 1


class _Hardest(NamedTuple):
    """The best pair at a number of letters, as floats find it.

    Attributes:
        log_bound: the logarithm of the bound.
        letters: ``j``.
        excess: ``u (e^epsilon - 1)``, or None for the largest ``u``.
    """

    log_bound: float
    letters: int
    excess: float | None


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
    """Return the best pair."""
    growth = epsilon + log(-expm1(-epsilon))  # log(e^epsilon - 1), also where e^epsilon is inf
    return max(
        _peak(lambda letters: _at(n, k, growth, letters), 1, k - 1),
        _peak(lambda letters: _evenly(n, k, growth, letters), 2, k),
        key=_log_bound,
    )


def _peak(found: Callable[[int], _Hardest], low: int, high: int) -> _Hardest:
    """Return the best of all ``j``: the bound rises and then falls, so ends are cut off."""
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
    return max(map(found, range(low, high + 1)), key=_log_bound)


def _with_records(n: int, k: int, epsilon: float, count: int) -> _Hardest:
    """Return the best number of letters with ``count`` records each: near ``k/(1 + e^(εc/2))``."""
    near = int(k * exp(-_softplus(count * epsilon / 2)))
    found = []
    for whole_number in (near, near + 1):
        letters = min(max(1, whole_number), k - 1, n // count)
        odds = log(letters) - log(k - letters) + count * epsilon
        bound = log(letters) + log(count) - log(n) - _softplus(odds)
        found.append(_Hardest(bound, letters, float(count)))
    return max(found, key=_log_bound)


def _log_bound(found: _Hardest) -> float:
    return found.log_bound


def _evenly(n: int, k: int, growth: float, letters: int) -> _Hardest:
    """Return what ``u = 1/j`` gives, for two letters or more."""
    odds = log(letters) - log(k - letters + 1)
    return _Hardest(-_softplus(odds + n * _softplus(growth - log(letters))), letters, None)


def _at(n: int, k: int, growth: float, letters: int) -> _Hardest:
    """Return the best ``u`` for this ``j``.

    With ``t = u (e^epsilon - 1)`` and ``s = n t / (1 + t) - 1`` the bound is largest where
    ``log(j / (k-j)) + n log(1 + t) + log s = 0``: an increasing convex function of ``log s``,
    whose zero Newton's method finds from the right. Where that ``u`` would be above ``1/j``,
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
