"""Advice: which sampler to use, from public parameters and perhaps a public guess of the shape.

It is the one that ``"auto"`` takes: the smallest proven worst case. A guess tells how accurate it
is there, and which sampler would be better if the guess were right. Nothing here reads data: a
guess taken from the data would be a leak.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil

from dproo.analysis.accuracy import accuracy
from dproo.analysis.comparison import FLOOR
from dproo.analysis.distributions import SHAPES, Distribution, shape
from dproo.analysis.planner import Plan, plan, planned
from dproo.core.exact import Number, parse_epsilon
from dproo.core.percent import percent
from dproo.mechanisms import SAMPLERS, LaplaceSampler, choose
from dproo.mechanisms.choice import Choice

_TRIALS = 2_000


@dataclass(frozen=True)
class Advice:
    """A sampler, and the reasons for it.

    Attributes:
        sampler: its name.
        alpha: its accuracy on the guess, or in the worst case if there is none.
        alphas: the same for every sampler that a release can use, the best first.
        reasons: why, in sentences.
    """

    sampler: str
    alpha: float
    alphas: dict[str, float]
    reasons: tuple[str, ...]


def recommend(
    *, n: int, k: int, epsilon: Number, p: str | Iterable[object] | Distribution | None = None
) -> Advice:
    """Return the sampler to use, which is what ``"auto"`` takes, and how good it is.

    Args:
        n: the public number of records.
        k: the number of letters.
        epsilon: the privacy parameter.
        p: a public guess of how the letters are distributed: the name of a shape such as
            ``"zipf"``, or a probability for every letter. It must not come from the data.

    >>> advice = recommend(n=1000, k=100, epsilon="0.1", p="zipf-2")
    >>> advice.sampler
    'bal-roo'
    >>> advice.reasons[1]
    "Whatever the data, at most 18 % of draws differ from a random record's."
    """
    choice = choose(epsilon=parse_epsilon(epsilon), k=k, n=n)
    if p is None:
        asked = [name for name in planned() if name in SAMPLERS]
        return _in_the_worst_case(choice, plan(n=n, k=k, epsilon=epsilon, samplers=asked))
    guess = shape(p, k=k) if isinstance(p, str) else Distribution.of(p)
    exact = parse_epsilon(epsilon)
    laws = {name: sampler(n=n, k=k, epsilon=exact) for name, sampler in SAMPLERS.items()}
    alphas = _sorted({name: accuracy(law, guess).alpha for name, law in laws.items()})
    at_worst = f"at most {percent(choice.alpha)} of draws differ from a random record's."
    reasons = [
        _verdict(f"On {_words(p)}", choice.sampler, alphas),
        f"Whatever the data, {at_worst}",
    ]
    laplace = LaplaceSampler(n=n, k=k, epsilon=epsilon)  # type: ignore[arg-type]
    peer = accuracy(laplace, guess, trials=_TRIALS, seed=0)
    if peer.high < alphas[choice.sampler]:
        reasons.append(
            f"The Laplace sampler with the Euclidean projection would reach about "
            f"{peer.alpha:.2g}, but it has no weights to certify, so no release uses it."
        )
    return Advice(choice.sampler, alphas[choice.sampler], alphas, tuple(reasons))


def _in_the_worst_case(choice: Choice, answer: Plan) -> Advice:
    worst = _sorted({row.sampler: float(row.alpha) for row in answer.rows if row.alpha is not None})
    times = ceil((answer.times_limit(choice.sampler) or 1) * 10) / 10
    reasons = (
        choice.reason,
        f"That is at most {times} times the best that any private sampler could do.",
    )
    return Advice(choice.sampler, float(choice.alpha), worst, reasons)


def _sorted(alphas: dict[str, float]) -> dict[str, float]:
    return dict(sorted(alphas.items(), key=lambda item: item[1]))


def _verdict(where: str, chosen: str, alphas: dict[str, float]) -> str:
    """Return how accurate the sampler is on a guess, and which one is noticeably better there."""
    best = next(iter(alphas))
    first = f"{where}, {chosen} has accuracy {alphas[chosen]:.2g}"
    if alphas[chosen] <= FLOOR:
        return f"{first}: as good as exact."
    if max(alphas[best], FLOOR) < alphas[chosen]:
        return f"{first}; {best} would have {alphas[best]:.2g} if the guess is right."
    return f"{first}: none is better."


def _words(p: object) -> str:
    return f"the shape {p!r} ({SHAPES[p][1]})" if isinstance(p, str) else "the shape you guess"
