"""Advice: which sampler to use, from public parameters and perhaps a public guess of the shape.

Without a guess the worst case decides, by the planner's closed forms. With a guess the
samplers' exact accuracies on it decide. Either way the answer says why, and what it would
cost if the guess were wrong. Nothing here reads data: a guess taken from the data would be a
leak.
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
from dproo.mechanisms import DEFAULT, SAMPLERS, LaplaceSampler

_TRIALS = 2_000
_WORST_SHAPE = "all records having the same letter"


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
    """Return the sampler to use for ``n`` records of ``k`` letters at ``epsilon``.

    Args:
        n: the public number of records.
        k: the number of letters.
        epsilon: the privacy parameter.
        p: a public guess of how the letters are distributed: the name of a shape such as
            ``"zipf"``, or a probability for every letter. It must not come from the data.

    >>> advice = recommend(n=1000, k=100, epsilon="0.1", p="zipf-2")
    >>> advice.sampler
    'als-roo'
    >>> advice.reasons[1]
    'If the guess is wrong, its accuracy is 0.3 at worst.'
    """
    if p is None:
        asked = [name for name in planned() if name in SAMPLERS]
        return _in_the_worst_case(plan(n=n, k=k, epsilon=epsilon, samplers=asked))
    guess = shape(p, k=k) if isinstance(p, str) else Distribution.of(p)
    exact = parse_epsilon(epsilon)
    laws = {name: sampler(n=n, k=k, epsilon=exact) for name, sampler in SAMPLERS.items()}
    chosen, alphas = _best({name: accuracy(law, guess).alpha for name, law in laws.items()})
    reasons = [
        _verdict(f"On {_words(p)}", chosen, alphas),
        f"If the guess is wrong, its accuracy is {float(laws[chosen].worst_alpha):.2g} at worst.",
    ]
    laplace = LaplaceSampler(n=n, k=k, epsilon=epsilon)  # type: ignore[arg-type]
    peer = accuracy(laplace, guess, trials=_TRIALS, seed=0)
    if peer.high < alphas[chosen]:
        reasons.append(
            f"The Laplace sampler with the Euclidean projection would reach about "
            f"{peer.alpha:.2g}, but it has no weights to certify, so no release uses it."
        )
    return Advice(chosen, alphas[chosen], alphas, tuple(reasons))


def _in_the_worst_case(answer: Plan) -> Advice:
    chosen, worst = _best({row.sampler: float(row.alpha or 0) for row in answer.rows})
    times = ceil((answer.times_limit(chosen) or 1) * 10) / 10
    reasons = (
        _verdict("In the worst case over all shapes", chosen, worst),
        f"That is at most {times} times the best that any private sampler could do.",
        f"The worst case is {_WORST_SHAPE}. Guess a shape to see how much better it gets.",
    )
    return Advice(chosen, worst[chosen], worst, reasons)


def _best(alphas: dict[str, float]) -> tuple[str, dict[str, float]]:
    """Return the best sampler, or the default if the difference is too small to notice."""
    alphas = dict(sorted(alphas.items(), key=lambda item: item[1]))
    best = next(iter(alphas))
    is_equal = DEFAULT in alphas and alphas[DEFAULT] <= max(alphas[best], FLOOR)
    return (DEFAULT if is_equal else best), alphas


def _verdict(where: str, chosen: str, alphas: dict[str, float]) -> str:
    if alphas[chosen] <= FLOOR:
        return f"{where}, {chosen} has accuracy {alphas[chosen]:.2g}: as good as exact."
    other = next(name for name in alphas if name != chosen)
    return (
        f"{where}, {chosen} has accuracy {alphas[chosen]:.2g}; "
        f"the next best, {other}, has {alphas[other]:.2g}."
    )


def _words(p: object) -> str:
    return f"the shape {p!r} ({SHAPES[p][1]})" if isinstance(p, str) else "the shape you guess"
