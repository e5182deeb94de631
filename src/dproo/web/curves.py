"""Curves for the charts: the planner's answers over a range of epsilon."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, log10
from typing import Any

from dproo.analysis.planner import plan, planned
from dproo.core.checks import one_of, refusal
from dproo.core.numbers import parse_epsilon
from dproo.report import plan_object

_PER_DECADE = 8
_LOW, _HIGH = -2, 1
_LOWEST, _HIGHEST = -4, 2


def curve(
    *, epsilon: str, sampler: str | None = None, decade: str | None = None, **known: Any
) -> dict[str, Any]:
    """Return every sampler's answer for epsilons around the given one, evenly on a log scale.

    Args:
        epsilon: what the range of epsilons must hold.
        sampler: the one to answer for, by default all that have a closed form: a curve has
            many points.
        decade: the power of ten that the part to answer for begins with, by default the whole
            range: a sampler without a closed form takes a while for each point.
        known: two of n, k and alpha; the other one is solved for.

    >>> found = curve(epsilon="0.1", n=1000, k=9)
    >>> found["solved_for"], found["epsilon"][0], found["epsilon"][-1]
    ('alpha', 0.01, 10.0)
    """
    decades = log10(parse_epsilon(epsilon))
    if not _LOWEST <= decades <= _HIGHEST:
        raise ValueError(refusal("epsilon", "be between 0.0001 and 100 for a chart", epsilon))
    low, high = min(_LOW, floor(decades)), max(_HIGH, ceil(decades))
    if decade is not None:
        low = int(one_of("decade", decade, map(str, range(low, high))))
        high = low + 1
    asked = () if sampler is None else (one_of("sampler", sampler, planned()),)
    return _curve(low, high, asked, tuple(sorted(known.items())))


@lru_cache(maxsize=64)
def _curve(
    low: int, high: int, asked: tuple[str, ...], known: tuple[tuple[str, Any], ...]
) -> dict[str, Any]:
    steps = range(low * _PER_DECADE, high * _PER_DECADE + 1)
    epsilons = [Fraction(f"{10 ** (step / _PER_DECADE):.3g}") for step in steps]
    given = dict(known)
    samplers = asked or planned(is_closed_form=True)
    answers = [
        plan_object(plan(epsilon=epsilon, samplers=samplers, **given), given)
        for epsilon in epsilons
    ]
    solved_for = answers[0]["solved_for"]
    shown = [row["sampler"] for row in answers[0]["rows"]]
    return {
        "solved_for": solved_for,
        "given": answers[0]["given"],
        "epsilon": [float(epsilon) for epsilon in epsilons],
        "series": {
            sampler: [answer["rows"][i][solved_for] for answer in answers]
            for i, sampler in enumerate(shown)
        },
        "limit": [answer["limit"] for answer in answers],
    }
