"""What an open alphabet shows, from public parameters alone."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dproo.core.exact import Number, parse_delta, parse_epsilon
from dproo.mechanisms import ADD_REMOVE, REPLACE
from dproo.mechanisms.open_alphabet import OpenAlphabet


@dataclass(frozen=True, kw_only=True)
class OpenPlan:
    """From which count on a letter can appear, and from which on in proportion.

    Attributes:
        n: the number of records, or people; nothing under add-remove.
        epsilon: the privacy parameter.
        delta: the other one.
        first: the fewest records of a letter that can appear at all.
        likely: the fewest records of a letter that is revealed at half of its share or more.
        proportional: the fewest records of a letter that is revealed in proportion.
        obscured: the probability of ``other`` if every letter is revealed in proportion;
            nothing under add-remove.
    """

    n: int | None
    epsilon: Fraction
    delta: Fraction
    first: int
    likely: int
    proportional: int
    obscured: Fraction | None


def plan_open(
    *, epsilon: Number, delta: Number, n: int | None = None, minimum_people: int = 2
) -> OpenPlan:
    """Return what an open alphabet shows of ``n`` records, or of any number that is private.

    >>> answer = plan_open(n=100_000, epsilon=1, delta="1e-9")
    >>> answer.first, answer.likely, answer.proportional
    (2, 13, 14)
    """
    law = OpenAlphabet(
        epsilon=parse_epsilon(epsilon),
        delta=parse_delta(delta),
        n=n or 0,
        neighbours=ADD_REMOVE if n is None else REPLACE,
        minimum=minimum_people,
    )
    counts = range(1, law.proportional + 1)
    return OpenPlan(
        n=n,
        epsilon=law.epsilon,
        delta=law.delta,
        first=law.first,
        likely=next(count for count in counts if 2 * law.weigh(count) >= count * law.unit),
        proportional=law.proportional,
        obscured=None if n is None else Fraction(law.floor, n * law.unit + law.floor),
    )
