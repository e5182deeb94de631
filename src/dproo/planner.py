r"""The planner: any three of ``n``, ``k``, ``epsilon``, ``alpha`` give the fourth.

``alpha`` is the worst-case accuracy: whatever the distribution ``P`` of the records, the
total variation distance between the law of the release and ``P`` is at most ``alpha``. It
falls with ``n`` and ``epsilon`` and rises with ``k``, so each question is one search for the
first value that meets the target. Nothing here reads data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dproo._check import refusal, whole
from dproo.exact import EPSILON_MAX, Number, exp_lower, log_upper, parse_epsilon, rational
from dproo.mechanisms import DataSpecificRevealOrObscure, LetterSpecificRevealOrObscure

_LARGEST = 10**18
_EPSILON_DIGITS = 6
_REFINEMENTS = 2


def _roo(*, n: int, k: int, epsilon: Fraction) -> Fraction:
    return (k - 1) / (k + n * (exp_lower(epsilon) - 1))


def _ds_roo(*, n: int, k: int, epsilon: Fraction) -> Fraction:
    if k > 2:  # q_0 is ROO's, and a point mass never leaves q_0
        return _roo(n=n, k=k, epsilon=epsilon)
    return DataSpecificRevealOrObscure(epsilon=epsilon, n=n, k=k).worst_alpha


def _ls_roo(*, n: int, k: int, epsilon: Fraction) -> Fraction:
    return LetterSpecificRevealOrObscure(epsilon=epsilon, n=n, k=k).worst_alpha


def _subrr(*, n: int, k: int, epsilon: Fraction) -> Fraction:
    return min((k - 1) / (k - 1 + n * epsilon), 1 - Fraction(1, k))


def _laplace(*, n: int, k: int, epsilon: Fraction) -> Fraction:
    return min(2 * k / (n * epsilon), Fraction(1))


WORST_ALPHA: Mapping[str, tuple[Callable[..., Fraction], str]] = {
    "roo": (_roo, "exact: Theorem 1 of Tasnim et al."),
    "ds-roo": (_ds_roo, "exact: a point mass leaves a letter unseen"),
    "ls-roo": (_ls_roo, "exact: a point mass is worst"),
    "subrr": (_subrr, "exact: Theorem 12 of Cheu and Nayak"),
    "laplace": (_laplace, "proven bound of Raskhodnikova et al.; usually better in practice"),
}
"""The worst-case accuracy of each sampler as a function of n, k and epsilon."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """What one sampler needs or gives.

    Attributes:
        sampler: its name.
        n: the number of records.
        k: the number of letters.
        epsilon: the privacy parameter, a decimal of six digits where it was solved for.
        alpha: the worst-case accuracy.
        basis: what stands behind the figure.
        reason: why there is no answer; then the missing value is None.
    """

    sampler: str
    n: int | None
    k: int | None
    epsilon: Fraction | None
    alpha: Fraction | None
    basis: str
    reason: str = ""


@dataclass(frozen=True)
class Plan:
    """The answer of every sampler to one question.

    Attributes:
        solved_for: the name of the missing parameter.
        rows: one for each sampler.
    """

    solved_for: str
    rows: tuple[Row, ...]

    def __getitem__(self, sampler: str) -> int | Fraction | None:
        """Return the solved value for ``sampler``, or None where there is none."""
        values: dict[str, int | Fraction | None] = {
            row.sampler: getattr(row, self.solved_for) for row in self.rows
        }
        return values[sampler]


def plan(
    *,
    n: int | None = None,
    k: int | None = None,
    epsilon: Number | None = None,
    alpha: Number | None = None,
) -> Plan:
    """Solve for the missing one of ``n``, ``k``, ``epsilon`` and ``alpha``, for every sampler.

    The answers are the fewest records, the most letters, the least epsilon (to six digits,
    rounded up) or the best accuracy that the worst case allows.

    Reference: Tasnim et al. (2025), Theorem 1 and Lemma 1.

    >>> answer = plan(k=9, epsilon="0.1", alpha="0.05")
    >>> answer["roo"], answer["ls-roo"], answer["subrr"], answer["laplace"]
    (1436, 566, 1520, 3600)

    Raises:
        ValueError: not exactly three are given, or one is out of its range.
    """
    parsers = {
        "n": lambda value: whole("n", value, at_least=1),
        "k": lambda value: whole("k", value, at_least=2),
        "epsilon": parse_epsilon,
        "alpha": _parse_alpha,
    }
    given = {"n": n, "k": k, "epsilon": epsilon, "alpha": alpha}
    missing = [name for name, value in given.items() if value is None]
    if len(missing) != 1:
        raise ValueError("plan must be given exactly three of n, k, epsilon and alpha.")
    known = {name: parsers[name](value) for name, value in given.items() if value is not None}
    return Plan(missing[0], tuple(_row(sampler, missing[0], known) for sampler in WORST_ALPHA))


def _parse_alpha(value: object) -> Fraction:
    alpha = rational("alpha", value)
    if not 0 < alpha < 1:
        raise ValueError(refusal("alpha", "be between 0 and 1", value))
    return alpha


def _row(sampler: str, missing: str, known: Mapping[str, Any]) -> Row:
    worst_alpha, basis = WORST_ALPHA[sampler]
    if missing == "alpha":
        return Row(sampler=sampler, basis=basis, alpha=worst_alpha(**known), **known)
    target = known["alpha"]
    rest = {name: value for name, value in known.items() if name != "alpha"}
    solve = _SOLVERS[missing]
    value, reason = solve(lambda x: worst_alpha(**{missing: x}, **rest), target, **rest)
    return Row(sampler=sampler, basis=basis, reason=reason, **{missing: value}, **known)


def _fewest_records(
    curve: Callable[[int], Fraction], target: Fraction, *, k: int, epsilon: Fraction
) -> tuple[int | None, str]:
    guess = max(Fraction(1), k * (1 - target) - 1) / (target * (exp_lower(epsilon) - 1))  # Eq. (8)
    for _ in range(_REFINEMENTS):
        guess *= _odds(curve(max(1, int(guess)))) / _odds(target)
    n = _first(lambda n: curve(n) <= target, 1, guess)
    return (n, "") if n <= _LARGEST else (None, f"it would take more than {_LARGEST:.0e} records")


def _most_letters(
    curve: Callable[[int], Fraction], target: Fraction, *, n: int, epsilon: Fraction
) -> tuple[int | None, str]:
    guess = (target * n * (exp_lower(epsilon) - 1) + 1) / (1 - target)
    for _ in range(_REFINEMENTS):
        guess *= _odds(target) / _odds(curve(max(2, int(guess))))
    k = _first(lambda k: curve(k) > target, 2, guess) - 1
    if k < 2:
        return None, "even two letters need more records, a larger epsilon or a larger alpha"
    return (
        (k, "") if k < _LARGEST else (None, f"any alphabet of up to {_LARGEST:.0e} letters will do")
    )


def _least_epsilon(
    curve: Callable[[Fraction], Fraction], target: Fraction, *, n: int, k: int
) -> tuple[Fraction | None, str]:
    if target >= 1 - Fraction(1, k):
        return None, "any epsilon will do: a uniform letter is as accurate as that"
    growth = (k * (1 - target) - 1) / (target * n)
    for _ in range(_REFINEMENTS):
        growth *= _odds(curve(min(EPSILON_MAX, log_upper(1 + growth)))) / _odds(target)
    guess = log_upper(1 + growth)
    unit = Fraction(1)
    while guess / unit < 10 ** (_EPSILON_DIGITS - 1):
        unit /= 10
    steps = _first(
        lambda steps: steps * unit > EPSILON_MAX or curve(steps * unit) <= target, 1, guess / unit
    )
    if steps * unit > EPSILON_MAX:
        return None, f"it would take an epsilon above {EPSILON_MAX}"
    return steps * unit, ""


_SOLVERS: Mapping[str, Callable[..., tuple[Any, str]]] = {
    "n": _fewest_records,
    "k": _most_letters,
    "epsilon": _least_epsilon,
}


def _odds(alpha: Fraction) -> Fraction:
    """Return ``alpha / (1 - alpha)``, nearly proportional to ``k / (n (e^epsilon - 1))``."""
    return alpha / (1 - alpha) if alpha < 1 else Fraction(1)


def _first(holds: Callable[[int], bool], low: int, guess: Fraction) -> int:
    """Return the least integer from ``low`` on at which ``holds``, searching out from a guess.

    ``holds`` must stay true once it is; past the largest value looked at it counts as true.
    """

    def is_true(x: int) -> bool:
        return x > _LARGEST or holds(x)

    high = min(max(low, int(guess)), _LARGEST)
    step = 1
    while not is_true(high):
        low, high, step = high + 1, high + step, 2 * step
    floor = low
    step = 1
    while high - step >= floor and is_true(high - step):
        high, step = high - step, 2 * step
    low = max(floor, high - step + 1)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_true(middle) else (middle + 1, high)
    return high
