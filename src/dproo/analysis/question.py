"""One question to the planner: a search for the first value that will do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any

from dproo.analysis.limit import limit
from dproo.analysis.search import LARGEST, Curve, last_digit, least, most, roughly
from dproo.core.exact import EPSILON_MAX, EPSILON_MIN, exp_lower, log_upper
from dproo.mechanisms import PLAIN, SAMPLERS

_FEW_DIGITS, _DIGITS, _MANY_DIGITS = 3, 6, 8
_SMALL, _EASY, _MANY = Fraction(1, 500), Fraction(1, 50), 100

_UNKNOWN = "none was found for which its proven bound is small enough"
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
        if sampler.is_closed_form:
            return self._solve(sampler.worst_alpha_at)
        if self._plain_answer[1].startswith("any "):
            return self._plain_answer
        if self._is_futile(sampler):
            return None, _FUTILE
        options: dict[str, Any] = {"is_exact": False}
        if self.missing == "epsilon":
            options["low"] = min(sampler.plain_below(self.known["k"]), self._plainly or 0)
        for guess in dict.fromkeys([self._guess(sampler), self._plainly]):
            value, _ = self._solve(sampler.worst_alpha_at, guess=guess, **options)
            if value is not None:
                return value, ""
        return None, _UNKNOWN

    @property
    def limit(self) -> int | Fraction | None:
        """What no private sampler can beat."""
        value: int | Fraction | None
        value, _ = self._solve(lambda **at: limit(**at).lower)
        if self.missing == "epsilon" and value is not None:
            return value - last_digit(Fraction(value), _DIGITS)  # nothing up to here is enough
        return value

    @cached_property
    def _plain_answer(self) -> tuple[Any, str]:
        """LS-ROO's answer, near which all others are, or why it has none."""
        return self._solve(SAMPLERS[PLAIN].worst_alpha_at)

    @property
    def _plainly(self) -> Any:
        return self._plain_answer[0]

    @property
    def _near(self) -> dict[str, Any]:
        """All four parameters, where LS-ROO answers."""
        return {**self.known, self.missing: self._plainly}

    def _is_futile(self, sampler: Any) -> bool:
        """Whether the sampler is no better than LS-ROO where that answers."""
        at = {"alpha": self._near["alpha"]}
        if self.missing != "alpha":
            at["epsilon"] = self._near["epsilon"] or Fraction(0)
        return bool(sampler.is_futile(**at))

    def _guess(self, sampler: Any) -> Any:
        """Return where to look first: near the answer for fewer records and a larger epsilon.

        Where epsilon is small, ``c`` times as many records with a ``c``-th of it are nearly
        the same, and take ``c`` times as long.
        """
        near = self._near
        if self.missing == "alpha" or None in near.values():
            return self._plainly
        if not sampler.plain_below(near["k"]) <= near["epsilon"] < _SMALL:
            return self._plainly
        scale = min(int(_EASY / near["epsilon"]), near["n"] // _MANY)
        if scale < 2:
            return self._plainly
        fewer = {**near, "n": near["n"] // scale, "epsilon": near["epsilon"] * scale}
        del fewer[self.missing]
        value, _ = Question(self.missing, fewer).answer(sampler)
        if value is None:
            return self._plainly
        return {"n": value * scale, "k": value, "epsilon": Fraction(value) / scale}[self.missing]

    def _solve(self, worst_alpha: _WorstAlpha, **options: Any) -> tuple[Any, str]:
        if self.missing == "alpha":
            return worst_alpha(**self.known), ""
        return _SOLVERS[self.missing](worst_alpha, **self.known, **options)


def _fewest_records(
    worst_alpha: _WorstAlpha,
    *,
    k: int,
    epsilon: Fraction,
    alpha: Fraction,
    guess: int | None = None,
    is_exact: bool = True,
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
    guess: int | None = None,
    is_exact: bool = True,
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
    guess: Fraction | None = None,
    is_exact: bool = True,
    low: Fraction = Fraction(0),
) -> tuple[Fraction | None, str]:
    if alpha >= 1 - Fraction(1, k):
        return None, "any epsilon will do: a uniform letter is as accurate as that"

    start = guess or log_upper(1 + k / (alpha * n))

    def curve(unit: Fraction) -> Curve:
        def at(steps: int) -> Fraction:
            epsilon = steps * unit
            return worst_alpha(n=n, k=k, epsilon=epsilon) if epsilon <= EPSILON_MAX else Fraction(0)

        least_steps = ceil(max(low, EPSILON_MIN) / unit)
        return Curve(at, alpha, low=least_steps, falls=True, high=int(EPSILON_MAX / unit))

    if is_exact:
        finest = last_digit(start, _MANY_DIGITS)
        start = curve(finest).near(start / finest) * finest
    digits, enough = (_DIGITS, 10 ** (_DIGITS - 1)) if is_exact else (_FEW_DIGITS, 10)
    while True:
        unit = last_digit(start, digits)
        steps = (least if is_exact else roughly)(curve(unit), start / unit)
        if steps is None or steps * unit > EPSILON_MAX:
            return None, f"it would take an epsilon above {EPSILON_MAX}"
        start = steps * unit
        if steps >= enough:
            return start, ""


_SOLVERS: Mapping[str, Callable[..., tuple[Any, str]]] = {
    "n": _fewest_records,
    "k": _most_letters,
    "epsilon": _least_epsilon,
}
