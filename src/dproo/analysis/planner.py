r"""The planner: any three of ``n``, ``k``, ``epsilon``, ``alpha`` give the fourth.

``alpha`` is the worst-case accuracy: whatever the distribution ``P`` of the records, the
total variation distance between the law of the release and ``P`` is at most ``alpha``. Each
sampler says what its own is; it falls with ``n`` and ``epsilon`` and rises with ``k``, so each
question is one search for the first value that meets the target. The limit of every private
sampler is asked the same question. Nothing here reads data.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, overload

from dproo.analysis.open_plan import OpenPlan, plan_open
from dproo.analysis.question import Question
from dproo.analysis.row_plan import RowPlan, plan_row
from dproo.core.arguments import one_of, refusal, whole
from dproo.core.exact import Number, parse_epsilon, rational
from dproo.core.notebook import table
from dproo.mechanisms import PLAIN, SAMPLERS, choose
from dproo.mechanisms.base import RECORDS_MAX
from dproo.mechanisms.choice import NOTICEABLE, Choice


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


@dataclass(frozen=True, repr=False)
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
        """The sampler with the best answer: LS-ROO unless another is noticeably better."""
        values = {row.sampler: self[row.sampler] for row in self.rows}
        known = {name: value for name, value in values.items() if value is not None}
        if not known:
            return None
        best = (max if self.solved_for == "k" else min)(known, key=lambda name: known[name])
        ends = sorted([known.get(PLAIN, 0), known[best]])
        return PLAIN if ends[1] <= ends[0] * NOTICEABLE else best

    def __repr__(self) -> str:
        told = (f"{name} {value}" for name, value, _ in self._shown)
        return f"<Plan of {self.solved_for}: {', '.join(told)}>"

    def _repr_html_(self) -> str:
        heads = ("sampler", self.solved_for, "basis")
        return table(f"Plan: the {self.solved_for} of each sampler", self._shown, heads=heads)

    @property
    def _shown(self) -> list[tuple[str, str, str]]:
        values = {row.sampler: self[row.sampler] for row in self.rows}
        return [
            (row.sampler, _short(values[row.sampler]), row.reason or row.basis) for row in self.rows
        ]

    @cached_property
    def recommended(self) -> Choice | None:
        """The sampler to use there, and why: the very one that ``"auto"`` takes."""
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
    >>> answer["roo"], answer["ls-roo"], answer["subrr"], answer.limit
    (1436, 566, 1520, 265)

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
    asked = planned() if samplers is None else [one_of("sampler", s, planned()) for s in samplers]
    question = Question(missing[0], known)
    return Plan(missing[0], tuple(_row(question, name) for name in asked), question.limit)


def _row(question: Question, name: str) -> Row:
    sampler = SAMPLERS[name]
    value, reason = question.answer(sampler)
    answered = {**question.known, question.missing: value}
    return Row(sampler=name, basis=sampler.basis, reason=reason, **answered)


def planned(*, is_closed_form: bool = False) -> list[str]:
    """Return the names of all samplers whose worst case is known, perhaps in closed form."""
    return [
        name
        for name, sampler in SAMPLERS.items()
        if sampler.is_planned and (sampler.is_closed_form or not is_closed_form)
    ]


def _parse_alpha(value: object) -> Fraction:
    alpha = rational("alpha", value)
    if not 0 < alpha < 1:
        raise ValueError(refusal("alpha", "be between 0 and 1", value))
    return alpha
