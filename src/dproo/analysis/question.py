"""One question to the planner: a search for the first value that will do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from dproo.analysis.limit import limit
from dproo.analysis.search import LARGEST, Curve, last_digit, least, most, roughly
from dproo.core.exact import EPSILON_MAX, exp_lower, log_upper
from dproo.mechanisms import PLAIN, SAMPLERS

_FEW_DIGITS, _DIGITS, _MANY_DIGITS = 3, 6, 8

_UNKNOWN = "none was found for which its proven bound is small enough"
_SLOW = "too slow to search here; auto needs no more than ls-roo"
_FUTILE = "no bound of it is better than ls-roo here"

_WorstAlpha = Callable[..., Fraction]


@dataclass(frozen=True)
class Question:
    """A question, and how to answer it.

    Attributes:
        missing: the parameter to solve for.
        known: the other three.
    """

    missing: str
    known: Mapping[str, Any]

    def answer(self, sampler: Any) -> tuple[Any, str]:
        """Return what a sampler answers, or why it has no answer."""
        if not sampler.is_closed_form and sampler.is_futile(self._plain_alpha):
            return None, _FUTILE
        if self._is_slow(sampler):
            return None, _SLOW
        return self._solve(sampler.worst_alpha_at, is_exact=sampler.is_closed_form)

    @property
    def limit(self) -> int | Fraction | None:
        """What no private sampler can beat."""
        value: int | Fraction | None
        value, _ = self._solve(lambda **at: limit(**at).lower, is_exact=True)
        if self.missing == "epsilon" and value is not None:
            return value - last_digit(Fraction(value), _DIGITS)  # nothing up to here is enough
        return value

    @cached_property
    def _plainly(self) -> Any:
        """LS-ROO's answer, near which all others are."""
        return self._solve(SAMPLERS[PLAIN].worst_alpha_at, is_exact=True)[0]

    @property
    def _plain_alpha(self) -> Fraction:
        """LS-ROO's worst case where it answers."""
        alpha: Fraction = self._plainly if self.missing == "alpha" else self.known["alpha"]
        return alpha

    def _is_slow(self, sampler: Any) -> bool:
        if self.missing == "alpha" or sampler.is_closed_form:
            return False
        near = {**self.known, self.missing: self._plainly}
        if near["k"] is None or near["epsilon"] is None:
            return False
        return not sampler.is_quick(k=near["k"], epsilon=near["epsilon"])

    def _solve(self, worst_alpha: _WorstAlpha, *, is_exact: bool) -> tuple[Any, str]:
        if self.missing == "alpha":
            return worst_alpha(**self.known), ""
        guess = None if is_exact else self._plainly
        solve = _SOLVERS[self.missing]
        value, reason = solve(worst_alpha, guess=guess, is_exact=is_exact, **self.known)
        return value, (reason if is_exact or not reason else _UNKNOWN)


def _fewest_records(
    worst_alpha: _WorstAlpha,
    *,
    k: int,
    epsilon: Fraction,
    alpha: Fraction,
    guess: int | None,
    is_exact: bool,
) -> tuple[int | None, str]:
    curve = Curve(lambda n: worst_alpha(n=n, k=k, epsilon=epsilon), alpha, low=1, falls=True)
    n = (least if is_exact else roughly)(curve, guess or k / (alpha * (exp_lower(epsilon) - 1)))
    return (n, "") if n is not None else (None, f"it would take more than {LARGEST:.0e} records")


def _most_letters(
    worst_alpha: _WorstAlpha,
    *,
    n: int,
    epsilon: Fraction,
    alpha: Fraction,
    guess: int | None,
    is_exact: bool,
) -> tuple[int | None, str]:
    curve = Curve(lambda k: worst_alpha(n=n, k=k, epsilon=epsilon), alpha, low=2, falls=False)
    k = (most if is_exact else roughly)(curve, guess or alpha * n * (exp_lower(epsilon) - 1))
    if k is None or k < 2:
        return None, "even two letters need more records, a larger epsilon or a larger alpha"
    if k >= LARGEST:
        return None, f"any alphabet of up to {LARGEST:.0e} letters will do"
    return k, ""


def _least_epsilon(
    worst_alpha: _WorstAlpha,
    *,
    n: int,
    k: int,
    alpha: Fraction,
    guess: Fraction | None,
    is_exact: bool,
) -> tuple[Fraction | None, str]:
    if alpha >= 1 - Fraction(1, k):
        return None, "any epsilon will do: a uniform letter is as accurate as that"

    def curve(unit: Fraction) -> Curve:
        def at(steps: int) -> Fraction:
            epsilon = steps * unit
            return worst_alpha(n=n, k=k, epsilon=epsilon) if epsilon <= EPSILON_MAX else Fraction(0)

        return Curve(at, alpha, low=1, falls=True, high=int(EPSILON_MAX / unit))

    guess = guess or log_upper(1 + k / (alpha * n))
    if is_exact:
        finest = last_digit(guess, _MANY_DIGITS)
        guess = curve(finest).near(guess / finest) * finest
    unit = last_digit(guess, _DIGITS if is_exact else _FEW_DIGITS)
    steps = (least if is_exact else roughly)(curve(unit), guess / unit)
    if steps is None or steps * unit > EPSILON_MAX:
        return None, f"it would take an epsilon above {EPSILON_MAX}"
    return steps * unit, ""


_SOLVERS: Mapping[str, Callable[..., tuple[Any, str]]] = {
    "n": _fewest_records,
    "k": _most_letters,
    "epsilon": _least_epsilon,
}
