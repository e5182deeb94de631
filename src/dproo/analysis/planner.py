r"""The planner: any three of ``n``, ``k``, ``epsilon``, ``alpha`` give the fourth.

``alpha`` is the worst-case accuracy: whatever the distribution ``P`` of the records, the
total variation distance between the law of the release and ``P`` is at most ``alpha``. Each
sampler says what its own is; it falls with ``n`` and ``epsilon`` and rises with ``k``, so each
question is one search for the first value that meets the target. The limit of every private
sampler is asked the same question. Nothing here reads data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, overload

from dproo.analysis.limit import limit
from dproo.analysis.open_plan import OpenPlan, plan_open
from dproo.analysis.row_plan import RowPlan, plan_row
from dproo.analysis.search import LARGEST, Curve, last_digit, least, most, roughly
from dproo.core.arguments import one_of, refusal, whole
from dproo.core.exact import EPSILON_MAX, Number, exp_lower, log_upper, parse_epsilon, rational
from dproo.mechanisms import BASELINES, DEFAULT, SAMPLERS

_FEW_DIGITS, _DIGITS, _MANY_DIGITS = 3, 6, 12

_UNKNOWN = "none was found for which its proven bound is small enough"

_WorstAlpha = Callable[..., Fraction]


@dataclass(frozen=True, kw_only=True)
class Row:
    """What one sampler needs or achieves.

    Attributes:
        sampler: its name.
        n: the number of records.
        k: the number of letters.
        epsilon: the privacy parameter, a decimal of six digits where it was solved for.
        alpha: the worst-case accuracy.
        basis: what the figure rests on.
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
        limit: what no private sampler can beat: the least alpha, the fewest records, the
            least epsilon or the most letters; None where there is no such value.
    """

    solved_for: str
    rows: tuple[Row, ...]
    limit: int | Fraction | None

    def __getitem__(self, sampler: str) -> int | Fraction | None:
        """Return the solved value for ``sampler``, or None where there is none."""
        values: dict[str, int | Fraction | None] = {
            row.sampler: getattr(row, self.solved_for) for row in self.rows
        }
        return values[sampler]

    def times_limit(self, sampler: str) -> Fraction | None:
        """Return how many times the best of all private samplers the answer is, at most."""
        value = self[sampler]
        if value is None or self.limit is None:
            return None
        over, under = (self.limit, value) if self.solved_for == "k" else (value, self.limit)
        return Fraction(over) / Fraction(under)

    @property
    def best(self) -> str | None:
        """The sampler with the best answer of those that a release can use."""
        values = {name: self[name] for name in (row.sampler for row in self.rows)}
        known = {
            name: value for name, value in values.items() if value is not None and name in SAMPLERS
        }
        choose = max if self.solved_for == "k" else min
        return choose(known, key=lambda name: known[name], default=None)


@overload
def plan(
    *,
    n: int | None = None,
    k: int | None = None,
    epsilon: Number | None = None,
    alpha: Number | None = None,
    samplers: Iterable[str] | None = None,
) -> Plan: ...
@overload
def plan(*, codebook: Any, n: int, epsilon: Number) -> RowPlan: ...
@overload
def plan(*, alphabet: str, epsilon: Number, delta: Number, n: int | None = None) -> OpenPlan: ...
def plan(
    *,
    n: int | None = None,
    k: int | None = None,
    epsilon: Number | None = None,
    alpha: Number | None = None,
    samplers: Iterable[str] | None = None,
    codebook: Any = None,
    alphabet: str | None = None,
    delta: Number = 0,
) -> Plan | RowPlan | OpenPlan:
    """Solve for the missing one of ``n``, ``k``, ``epsilon`` and ``alpha``, for every sampler.

    The answers are the fewest records, the most letters, the least epsilon (to six digits,
    rounded up) or the best accuracy that the worst case allows. A sampler whose worst case
    has no closed form gets an answer that meets the target, but may ask for a few percent
    more than it needs.

    Reference: Tasnim et al. (2025), Theorem 1 and Lemma 1.

    Args:
        n: the number of records.
        k: the number of letters.
        epsilon: the privacy parameter.
        alpha: the worst-case accuracy.
        samplers: which ones to ask; by default all.
        codebook: the public columns of a whole row; give it with ``n`` and ``epsilon`` to get
            what each column costs and how accurate the row is.
        alphabet: ``"open"``, to learn how many records a value needs to appear.
        delta: with an open alphabet, as for :func:`dproo.sample`.

    >>> answer = plan(k=9, epsilon="0.1", alpha="0.05")
    >>> answer["roo"], answer["ls-roo"], answer["subrr"], answer["laplace"], answer.limit
    (1436, 566, 1520, 3600, 265)

    Raises:
        ValueError: not exactly three are given, or one is out of its range.
    """
    if alphabet is not None:
        one_of("alphabet", alphabet, ["open"])
        return plan_open(n=n, epsilon=epsilon or 0, delta=delta)
    if codebook is not None:
        if n is None or epsilon is None or not (k is alpha is samplers is None):
            raise ValueError("plan must be given n and epsilon, and no more, with a code book.")
        return plan_row(codebook, n=n, epsilon=epsilon)
    parsers = {
        "n": lambda value: whole("n", value, at_least=1),
        "k": lambda value: whole("k", value, at_least=2),
        "epsilon": parse_epsilon,
        "alpha": _parse_alpha,
    }
    given = {"n": n, "k": k, "epsilon": epsilon, "alpha": alpha}
    missing = [name for name, value in given.items() if value is None]
    if len(missing) != 1:
        raise ValueError("plan needs exactly three of n, k, epsilon and alpha.")
    known = {name: parsers[name](value) for name, value in given.items() if value is not None}
    asked = planned() if samplers is None else [one_of("sampler", s, planned()) for s in samplers]
    question = _Question(missing[0], known)
    return Plan(missing[0], tuple(map(question.row, asked)), question.limit)


def planned(*, is_closed_form: bool = False) -> list[str]:
    """Return the names of all samplers whose worst case is known, perhaps in closed form."""
    return [
        name
        for name, sampler in _every_sampler()
        if getattr(sampler, "is_planned", False) and (sampler.is_closed_form or not is_closed_form)
    ]


def _every_sampler() -> Iterable[tuple[str, Any]]:
    return (SAMPLERS | BASELINES).items()


def _parse_alpha(value: object) -> Fraction:
    alpha = rational("alpha", value)
    if not 0 < alpha < 1:
        raise ValueError(refusal("alpha", "be between 0 and 1", value))
    return alpha


@dataclass(frozen=True)
class _Question:
    """A question, and how to answer it.

    Attributes:
        missing: the parameter to solve for.
        known: the other three.
    """

    missing: str
    known: Mapping[str, Any]

    def row(self, name: str) -> Row:
        """Return what a sampler answers."""
        sampler = dict(_every_sampler())[name]
        value, reason = self._solve(sampler.worst_alpha_at, is_exact=sampler.is_closed_form)
        return Row(
            sampler=name, basis=sampler.basis, reason=reason, **{self.missing: value}, **self.known
        )

    @property
    def limit(self) -> int | Fraction | None:
        """What no private sampler can beat."""
        value: int | Fraction | None
        value, _ = self._solve(lambda **at: limit(**at).lower, is_exact=True)
        if self.missing == "epsilon" and value is not None:
            return value - last_digit(Fraction(value), _DIGITS)  # nothing up to here is enough
        return value

    def _solve(self, worst_alpha: _WorstAlpha, *, is_exact: bool) -> tuple[Any, str]:
        if self.missing == "alpha":
            return worst_alpha(**self.known), ""
        guess = None
        if not is_exact:
            guess, _ = self._solve(SAMPLERS[DEFAULT].worst_alpha_at, is_exact=True)
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

        return Curve(at, alpha, low=1, falls=True)

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
