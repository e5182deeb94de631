"""The planner: any three of ``n``, ``k``, ``epsilon``, ``alpha`` give the fourth.

``alpha`` is the worst-case accuracy: whatever the distribution ``P`` of the records, the
total variation distance between the law of the release and ``P`` is at most ``alpha``. Each
sampler has its own; it falls with ``n`` and ``epsilon`` and rises with ``k``, so each question is
one search for the first value that meets the target. The same question is answered for the limit
of all private samplers. With an open alphabet, the plan is the count from which a value can
appear. Nothing here reads data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any, overload

from dproo.analysis.limit import limit
from dproo.analysis.row_plan import RowPlan, plan_row
from dproo.analysis.search import LARGEST, Curve, last_digit, least, most, roughly
from dproo.core.checks import one_of, refusal, whole
from dproo.core.notebook import table
from dproo.core.numbers import (
    EPSILON_MAX,
    EPSILON_MIN,
    Number,
    exp_lower,
    log_upper,
    parse_delta,
    parse_epsilon,
    rational,
)
from dproo.mechanisms import ADD_REMOVE, PLAIN, REPLACE, SAMPLERS, choose
from dproo.mechanisms.base import RECORDS_MAX
from dproo.mechanisms.open import OpenAlphabet
from dproo.mechanisms.registry import NOTICEABLE, Choice

_FEW_DIGITS, _DIGITS, _MANY_DIGITS = 3, 6, 8
_SMALL, _EASY, _MANY = Fraction(1, 500), Fraction(1, 50), 100

_UNKNOWN = "none was found for which its proven bound is small enough"
_FUTILE = "no bound of it is better than ls-roo here"

_WorstAlpha = Callable[..., Fraction]


@dataclass(frozen=True)
class Question:
    """One parameter to solve for, given the other three."""

    missing: str
    known: Mapping[str, Any]

    def answer(self, sampler: Any) -> tuple[Any, str]:
        """Return the answer for a sampler, or why there is none."""
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
        if self.missing != "epsilon" or value is None:
            return value
        below = value - last_digit(Fraction(value), _DIGITS)  # no value up to here is enough
        return below if below >= EPSILON_MIN else None

    @cached_property
    def _plain_answer(self) -> tuple[Any, str]:
        """LS-ROO's answer, to which all others are close, or the reason why it has none."""
        return self._solve(SAMPLERS[PLAIN].worst_alpha_at)

    @property
    def _plainly(self) -> Any:
        return self._plain_answer[0]

    @property
    def _near(self) -> dict[str, Any]:
        """All four parameters at LS-ROO's answer."""
        return {**self.known, self.missing: self._plainly}

    def _is_futile(self, sampler: Any) -> bool:
        """Whether the sampler is no better than LS-ROO at LS-ROO's answer."""
        at = {"alpha": self._near["alpha"]}
        if self.missing != "alpha":
            at["epsilon"] = self._near["epsilon"] or Fraction(0)
        return bool(sampler.is_futile(**at))

    def _guess(self, sampler: Any) -> Any:
        """Return where to start: near the answer for fewer records and a larger epsilon.

        If epsilon is small, ``c`` times as many records with a ``c``-th of epsilon give nearly
        the same answer, and take ``c`` times as long.
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

    def _solve(
        self,
        worst_alpha: _WorstAlpha,
        *,
        guess: Any = None,
        is_exact: bool = True,
        low: Fraction = Fraction(0),
    ) -> tuple[Any, str]:
        """Return where the worst case meets the target, exactly or roughly, starting at a guess."""
        if self.missing == "alpha":
            return worst_alpha(**self.known), ""
        known = dict(self.known)
        alpha, missing = known.pop("alpha"), self.missing

        def at(value: Any) -> Fraction:
            return worst_alpha(**known, **{missing: value})

        if missing == "epsilon":
            if alpha >= 1 - Fraction(1, known["k"]):
                return None, "any epsilon will do: a uniform letter is as accurate as that"
            start = guess or log_upper(1 + known["k"] / (alpha * known["n"]))
            return _least_epsilon(at, alpha, start, is_exact=is_exact, low=low)
        rate = alpha * (exp_lower(known["epsilon"]) - 1)
        if missing == "n":
            curve = Curve(at, alpha, low=1, falls=True)
            n = (least if is_exact else roughly)(curve, guess or known["k"] / rate)
            return n, "" if n else f"it would take more than {LARGEST:.0e} records"
        curve = Curve(at, alpha, low=2, falls=False)
        k = (most if is_exact else roughly)(curve, guess or known["n"] * rate)
        reason = ""
        if k is None or k < 2:
            reason = "even two letters need more records, a larger epsilon or a larger alpha"
        elif k >= LARGEST:
            reason = f"any alphabet of up to {LARGEST:.0e} letters will do"
        return None if reason else k, reason


def _least_epsilon(
    worst_alpha: Callable[[Fraction], Fraction],
    alpha: Fraction,
    start: Fraction,
    *,
    is_exact: bool,
    low: Fraction,
) -> tuple[Fraction | None, str]:
    def curve(unit: Fraction) -> Curve:
        def at(steps: int) -> Fraction:
            epsilon = steps * unit
            return worst_alpha(epsilon) if epsilon <= EPSILON_MAX else Fraction(0)

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


@dataclass(frozen=True, kw_only=True)
class OpenPlan:
    """The counts from which a letter can appear, and from which it appears in proportion.

    Attributes:
        n: the number of records, or people; None under add-remove.
        epsilon: the privacy parameter.
        delta: the probability with which epsilon may fail.
        first: the fewest records with which a letter can appear at all.
        proportional: the fewest records with which it is drawn in proportion to them; more than
            ``n`` if no letter can have so many.
        obscured: the least share of all draws that ``other`` takes, and of each letter's share of
            the records; None under add-remove.
    """

    n: int | None
    epsilon: Fraction
    delta: Fraction
    first: int
    proportional: int
    obscured: Fraction | None


def plan_open(
    *, epsilon: Number, delta: Number, n: int | None = None, minimum_people: int = 2
) -> OpenPlan:
    """Return what an open alphabet shows of ``n`` records, or of any private number.

    >>> answer = plan_open(n=100_000, epsilon=1, delta="1e-9")
    >>> answer.first, answer.proportional
    (2, 14)
    """
    law = OpenAlphabet(
        epsilon=parse_epsilon(epsilon),
        delta=parse_delta(delta),
        n=n or 0,
        neighbours=ADD_REMOVE if n is None else REPLACE,
        minimum=minimum_people,
    )
    return OpenPlan(
        n=n,
        epsilon=law.epsilon,
        delta=law.delta,
        first=law.first,
        proportional=law.proportional,
        obscured=None if n is None else law.obscured(law.n),
    )


@dataclass(frozen=True, kw_only=True)
class Row:
    """What one sampler needs or achieves.

    Attributes:
        sampler: its name.
        n: the number of records.
        k: the number of letters.
        epsilon: the privacy parameter, a decimal of six digits if it was solved for.
        alpha: the worst-case accuracy.
        basis: the basis of the figure.
        reason: why there is no answer; the missing value is then None.
    """

    sampler: str
    n: int | None
    k: int | None
    epsilon: Fraction | None
    alpha: Fraction | None
    basis: str
    reason: str = ""


@dataclass(frozen=True, repr=False)
class Plan:
    """The answer of every sampler to one question.

    Attributes:
        solved_for: the name of the missing parameter.
        rows: one for each sampler.
        limit: what no private sampler can beat: the least alpha, the fewest records, the
            least epsilon or the most letters; None if there is no such value.
    """

    solved_for: str
    rows: tuple[Row, ...]
    limit: int | Fraction | None

    def __getitem__(self, sampler: str) -> int | Fraction | None:
        """Return the solved value for ``sampler``, or None if there is none."""
        values = {row.sampler: getattr(row, self.solved_for) for row in self.rows}
        return values[sampler]  # type: ignore[no-any-return]

    def times_limit(self, sampler: str) -> Fraction | None:
        """Return an upper bound on the ratio of the answer to the best of all private samplers."""
        value = self[sampler]
        if value is None or self.limit is None:
            return None
        over, under = (self.limit, value) if self.solved_for == "k" else (value, self.limit)
        return Fraction(over) / Fraction(under)

    @property
    def best(self) -> str | None:
        """The sampler with the best answer, LS-ROO unless another is noticeably better."""
        values = {row.sampler: self[row.sampler] for row in self.rows}
        known = {name: value for name, value in values.items() if value is not None}
        if not known:
            return None
        best = (max if self.solved_for == "k" else min)(known, key=lambda name: known[name])
        ends = sorted([known.get(PLAIN, 0), known[best]])
        return PLAIN if ends[1] <= ends[0] * NOTICEABLE else best

    def __repr__(self) -> str:
        shown = (f"{name} {value}" for name, value, _ in self._shown)
        return f"<Plan of {self.solved_for}: {', '.join(shown)}>"

    def _repr_html_(self) -> str:
        heads = ("sampler", self.solved_for, "basis")
        return table(f"Plan: the {self.solved_for} of each sampler", self._shown, heads=heads)

    @property
    def _shown(self) -> list[tuple[str, str, str]]:
        return [
            (row.sampler, _short(self[row.sampler]), row.reason or row.basis) for row in self.rows
        ]

    @cached_property
    def recommended(self) -> Choice | None:
        """The sampler to use there, which is the one that ``"auto"`` takes, and why."""
        row = next((row for row in self.rows if row.sampler == self.best), None)
        if row is None or row.n is None or row.k is None or row.epsilon is None:
            return None
        return choose(epsilon=row.epsilon, k=row.k, n=row.n)


def _short(value: int | Fraction | None) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{float(value):.6g}"


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
    has no closed form gets an answer that meets the target, but may be a few percent too
    cautious.

    Reference: Tasnim et al. (2025), Theorem 1 and Lemma 1.

    Args:
        n: the number of records.
        k: the number of letters.
        epsilon: the privacy parameter.
        alpha: the worst-case accuracy.
        samplers: their names; by default all.
        codebook: the public columns of a whole row; give it with ``n`` and ``epsilon`` to get
            what each column costs and how accurate the row is.
        alphabet: ``"open"``, to find out how many records a value needs to appear.
        delta: with an open alphabet, as for :meth:`dproo.Dataset.value`.

    >>> answer = plan(k=9, epsilon="0.1", alpha="0.05")
    >>> answer["roo"], answer["ls-roo"], answer["subrr"], answer.limit
    (1436, 566, 1520, 265)

    Raises:
        ValueError: not exactly three are given, or one is out of its range.
    """
    if alphabet is not None:
        one_of("alphabet", alphabet, ["open"])
        if not (k is alpha is samplers is codebook is None):
            raise ValueError("plan takes only epsilon, delta and n with alphabet='open'.")
        return plan_open(n=n, epsilon=epsilon or 0, delta=delta)
    if parse_delta(delta):
        raise ValueError("plan takes delta only with alphabet='open'.")
    if codebook is not None:
        if n is None or epsilon is None or not (k is alpha is samplers is None):
            raise ValueError("plan must be given n and epsilon, and no more, with a code book.")
        return plan_row(codebook, n=n, epsilon=epsilon)
    parsers: Mapping[str, Callable[[object], Fraction | int]] = {
        "n": lambda value: whole("n", value, at_least=1, at_most=RECORDS_MAX),
        "k": lambda value: whole("k", value, at_least=2, at_most=RECORDS_MAX),
        "epsilon": parse_epsilon,
        "alpha": _parse_alpha,
    }
    given = {"n": n, "k": k, "epsilon": epsilon, "alpha": alpha}
    missing = [name for name, value in given.items() if value is None]
    if len(missing) != 1:
        raise ValueError("plan needs exactly three of n, k, epsilon and alpha.")
    known = {name: parsers[name](value) for name, value in given.items() if value is not None}
    if not isinstance(samplers, Iterable | None):
        raise TypeError(refusal("samplers", "be a list of names", samplers))
    names = planned() if samplers is None else [one_of("sampler", s, planned()) for s in samplers]
    question, rows = Question(missing[0], known), []
    for name in names:
        value, reason = question.answer(SAMPLERS[name])
        answered = {**known, missing[0]: value}
        rows.append(Row(sampler=name, basis=SAMPLERS[name].basis, reason=reason, **answered))
    return Plan(missing[0], tuple(rows), question.limit)


def planned(*, is_closed_form: bool = False) -> list[str]:
    """Return the names of all samplers, or of those whose worst case has a closed form."""
    return [
        name for name, sampler in SAMPLERS.items() if sampler.is_closed_form or not is_closed_form
    ]


def _parse_alpha(value: object) -> Fraction:
    alpha = rational("alpha", value)
    if not 0 < alpha < 1:
        raise ValueError(refusal("alpha", "be between 0 and 1", value))
    return alpha
