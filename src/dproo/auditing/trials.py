r"""The audit: a lower bound on the epsilon of any sampler, treated as a black box.

A trial tosses a fair coin for one of two neighbouring datasets and draws a letter on it. If
the sampler is epsilon-DP, then for any event ``S`` fixed beforehand, among the trials whose
letter is in ``S`` the likelier dataset has at most the share

    ``p / (p + p') <= e^epsilon / (1 + e^epsilon)``,

and the number of its trials is binomial. So one Clopper-Pearson bound on that share bounds
epsilon from below. The first trials order the letters by their likelihood ratio, the next
choose a threshold and a direction, and only the others are measured.

With a delta, ``p <= e^epsilon p' + delta``: one bound on ``p`` from below and one on ``p'`` from
above bound ``log((p - delta)/p')``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import accumulate
from math import asin, log, nextafter, sin, sqrt
from operator import itemgetter
from typing import Any

from dproo.auditing.confidence import TRIALS_MAX, Repetition, chance_lower, log_odds_lower
from dproo.core.checks import flag, refusal, whole
from dproo.core.draw import RandomSource
from dproo.core.numbers import Number, parse_delta, parse_epsilon, rational
from dproo.mechanisms.base import Mechanism

VIOLATED = "violated"
DEPENDENT = "dependent"
NOT_REFUTED = "not refuted"

SIDES = ("dataset", "neighbour")

_ROUNDS, _ORDERING, _CHOOSING = 40, 4, 4
_INDEPENDENCE = Fraction(1, 10)

_Tallies = tuple[Counter[Hashable], Counter[Hashable]]


@dataclass(frozen=True, kw_only=True)
class Audit:
    """The result of the trials.

    Attributes:
        epsilon_lower: the sampler's epsilon is at least this, with the stated confidence.
        event: the letters watched.
        likelier_on: ``"dataset"`` or ``"neighbour"``: where the event was expected more often.
        counts: the measured trials with the event, on each of the two.
        measured: the measured trials, on each of the two.
        letters: the number of distinct letters seen, on each of the two.
        are_independent: whether the trials pass the test of independence.
        trials: the mean number of trials per dataset, with the ones that chose the event.
        confidence: the confidence of all statements here together.
        distance: the number of records in which the two datasets differ.
        epsilon: the claimed epsilon, exact, if any.
        delta: the claimed delta; the bound is on epsilon at this delta.
    """

    epsilon_lower: float
    event: frozenset[Hashable]
    likelier_on: str
    counts: tuple[int, int]
    measured: tuple[int, int]
    letters: tuple[int, int]
    are_independent: bool
    trials: int
    confidence: float
    distance: int
    epsilon: Fraction | None
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        is_passed = flag("are_independent", self.are_independent)
        object.__setattr__(self, "are_independent", is_passed)

    @property
    def verdict(self) -> str | None:
        """``"violated"``, ``"not refuted"``, or ``"dependent"`` if a bound would be void.

        None if no epsilon was claimed. An audit never proves privacy.
        """
        if not self.are_independent:
            return DEPENDENT
        if self.epsilon is None:
            return None
        return VIOLATED if Fraction(self.epsilon_lower) > self.epsilon else NOT_REFUTED


def audit(
    draw: Any,
    dataset: Any,
    neighbour: Any,
    *,
    trials: int = 100_000,
    confidence: Number = "0.999",
    epsilon: Number | None = None,
    delta: Number = 0,
    distance: int = 1,
    event: Collection[Hashable] | None = None,
) -> Audit:
    """Bound the epsilon of a sampler from below, by drawing on two neighbouring datasets.

    Guarantee: if the trials are independent, ``epsilon_lower`` exceeds the sampler's true
    epsilon, or independence is denied, with probability at most ``1 - confidence``.
    Proof: docs/proofs/audit.md

    Args:
        draw: maps a dataset to a letter, anything hashable; or an object whose
            ``draw_many(dataset, size)`` returns so many letters in the order drawn, as a sampler.
        dataset: anything that ``draw`` accepts.
        neighbour: the same with one record changed.
        trials: how often to draw on each of the two, on average.
        confidence: between 0 and 1.
        epsilon: the claimed epsilon, for the verdict.
        delta: the claimed probability with which epsilon may fail.
        distance: the number of records in which the two differ; the bound is divided by it.
        event: the letters to watch, if they are fixed beforehand.

    >>> from dproo import mechanism
    >>> roo = mechanism("roo", epsilon=1, n=10, k=3)
    >>> pair = [0, 10, 0], [1, 9, 0]
    >>> found = audit(roo, *pair, epsilon=1, confidence="0.999999")
    >>> found.verdict, found.event, found.likelier_on, found.epsilon_lower > 0.8
    ('not refuted', frozenset({0}), 'neighbour', True)

    Raises:
        TypeError: an argument or a letter is of a type that cannot be used.
        ValueError: an argument is out of its range, or a batch has the wrong size.
    """
    trials = whole("trials", trials, at_least=100, at_most=TRIALS_MAX // 2)
    distance = whole("distance", distance, at_least=1, at_most=10**18)
    claimed = None if epsilon is None else parse_epsilon(epsilon)
    beyond = parse_delta(delta)
    if beyond and distance > 1:
        raise ValueError(refusal("distance", "be 1 with delta", distance))
    risk = 1 - rational("confidence", confidence)
    if not 0 < risk < 1:
        raise ValueError(refusal("confidence", "be between 0 and 1", confidence))
    if isinstance(event, str):
        raise TypeError(refusal("event", "be a collection of letters", event))
    fixed = None if event is None else frozenset(event)
    phases: tuple[_Tallies, ...] = tuple((Counter(), Counter()) for _ in range(3))
    repetition = Repetition(), Repetition()
    draw_many = many(draw)
    for phase, sizes in _rounds(trials):
        for side, data in enumerate((dataset, neighbour)):
            letters = _letters(draw_many, data, sizes[side])
            phases[phase][side].update(letters)
            repetition[side].watch(letters)
    ordering, choosing, measuring = phases
    chosen, side = _choose(ordering, choosing, fixed, float(beyond))
    counts = [_count(tally, chosen) for tally in measuring]
    alpha = float(risk * (1 - _INDEPENDENCE))
    if beyond:
        shown = [(count, tally.total()) for count, tally in zip(counts, measuring, strict=True)]
        bound = _loss_lower(shown[side], shown[1 - side], delta=beyond, alpha=alpha)
    else:
        bound = log_odds_lower(counts[side], sum(counts), alpha=alpha)
    alpha = float(risk * _INDEPENDENCE / 2)
    return Audit(
        epsilon_lower=bound / distance,
        event=chosen,
        likelier_on=SIDES[side],
        counts=(counts[0], counts[1]),
        measured=(measuring[0].total(), measuring[1].total()),
        letters=(
            len({letter for tallies in phases for letter in tallies[0]}),
            len({letter for tallies in phases for letter in tallies[1]}),
        ),
        are_independent=all(watched.is_by_chance(alpha=alpha) for watched in repetition),
        trials=trials,
        confidence=min(float(1 - risk), nextafter(1, 0)),
        distance=distance,
        epsilon=claimed,
        delta=beyond,
    )


def _loss_lower(
    likely: tuple[int, int], unlikely: tuple[int, int], *, delta: Fraction, alpha: float
) -> float:
    """Return a lower bound on ``log((p - delta)/p')``, and at least 0.

    Each side is the number of trials with the event and of all trials; they share ``alpha``.
    """
    least = chance_lower(*likely, alpha=alpha / 2)
    count, size = unlikely
    most = 1 - chance_lower(size - count, size, alpha=alpha / 2)
    excess = Fraction(least) - delta
    return max(0.0, log(excess / Fraction(most))) if excess > 0 else 0.0


def many(draw: Any) -> Callable[[Any, int], Any]:
    """Return a function that draws a number of letters at once."""
    if isinstance(draw, Mechanism) and draw.draws > 1:
        draw = draw.draw  # several records are one letter
    draw_many: Callable[[Any, int], Any] | None = getattr(draw, "draw_many", None)
    return draw_many or (lambda data, size: [draw(data) for _ in range(size)])


def _rounds(trials: int) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield the phase of each round and how many of its trials fall to each dataset.

    The coins come from the operating system, so that no sampler can predict them.
    """
    for i in range(_ROUNDS):
        size = 2 * trials * (i + 1) // _ROUNDS - 2 * trials * i // _ROUNDS
        heads = RandomSource().bits(size).bit_count()
        yield (i >= _ORDERING) + (i >= _ORDERING + _CHOOSING), (heads, size - heads)


def _letters(draw_many: Callable[[Any, int], Any], data: Any, size: int) -> list[Hashable]:
    letters = list(draw_many(data, size)) if size else []
    if len(letters) != size:
        raise ValueError(refusal("draw", f"return {size} letters", len(letters)))
    try:
        hash(tuple(letters))
    except TypeError:
        raise TypeError(refusal("draw", "return letters that are hashable", letters)) from None
    return letters


def _choose(
    ordering: _Tallies, choosing: _Tallies, event: frozenset[Hashable] | None, delta: float
) -> tuple[frozenset[Hashable], int]:
    """Return the event that promises the largest bound, and the side it is likelier on.

    Candidates are the letters above each threshold of the likelihood ratio in ``ordering``,
    in both directions, judged by ``choosing``; or only the given event.
    """
    found = []
    for side in (0, 1):
        likely, unlikely = choosing[side], choosing[1 - side]
        if event is None:
            ratio = _ratio(ordering[side], ordering[1 - side])
            # A letter that is first seen in ``choosing`` would be judged by what chose it.
            falling = sorted({*ordering[0], *ordering[1]}, key=ratio, reverse=True)
            groups = [frozenset([letter]) for letter in falling]
        else:
            groups = [event]
        sums = zip(
            accumulate(_count(likely, letters) for letters in groups),
            accumulate(_count(unlikely, letters) for letters in groups),
            strict=True,
        )
        sizes = likely.total(), unlikely.total()
        judge = partial(_promise_beyond, sizes=sizes, delta=delta) if delta else _promise
        promise, shorter = max((judge(*counts), -i) for i, counts in enumerate(sums, 1))
        found.append((promise, side, groups[:-shorter]))
    _, side, groups = max(found, key=itemgetter(0))
    return frozenset().union(*groups), side


def _count(tally: Counter[Hashable], letters: frozenset[Hashable]) -> int:
    return sum(tally[letter] for letter in letters)


def _ratio(likely: Counter[Hashable], unlikely: Counter[Hashable]) -> Callable[[Hashable], float]:
    return lambda letter: (likely[letter] + 0.5) / (unlikely[letter] + 0.5)


def _promise(likely: int, unlikely: int) -> float:
    """Return the likelier side's share, less a standard error: a guess, not a bound.

    Adding one on each side keeps rarely seen letters from promising much. The error is taken of
    the arcsine of the root, where it is the same for every share.
    """
    events = likely + unlikely + 2
    angle = asin(sqrt((likely + 1) / events)) - 0.5 / sqrt(events)
    return sin(max(0.0, angle)) ** 2


def _promise_beyond(likely: int, unlikely: int, *, sizes: tuple[int, int], delta: float) -> float:
    """Return the likelier side's probability beyond delta over the other's, cautiously."""
    p, q = (likely + 1) / (sizes[0] + 2), (unlikely + 1) / (sizes[1] + 2)
    most = q + sqrt(q / (sizes[1] + 2))
    return (p - sqrt(p / (sizes[0] + 2)) - delta) / most
