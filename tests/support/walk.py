"""A source of randomness whose every branch a test can walk."""

from collections import defaultdict
from collections.abc import Callable, Hashable
from fractions import Fraction
from math import prod

from dproo.core.draw import RandomSource


class CutShortError(Exception):
    """A branch that asked more often than it may."""


class Walk(RandomSource):
    """Answers ``below`` from a script, and notes how many answers each call had."""

    def __init__(self, script: list[int], calls: int | None = None) -> None:
        super().__init__()
        self.script = script
        self.calls = calls
        self.bounds: list[int] = []

    def below(self, bound: int) -> int:
        if len(self.bounds) == self.calls:
            raise CutShortError
        self.bounds.append(bound)
        if len(self.bounds) > len(self.script):
            self.script.append(0)
        return self.script[len(self.bounds) - 1]


def law(
    draw: Callable[[RandomSource], Hashable], calls: int | None = None
) -> dict[Hashable, Fraction]:
    """Return the exact law of ``draw``, by walking every branch of its source.

    A draw that rejects has branches without end: those with more than ``calls`` calls are
    left out, and the law is that of all others.
    """
    chances: dict[Hashable, Fraction] = defaultdict(Fraction)
    script: list[int] = []
    while True:
        walk = Walk(script, calls)
        try:
            outcome = draw(walk)
            chances[outcome] += Fraction(1, prod(walk.bounds))
        except CutShortError:
            pass
        while script and script[-1] == walk.bounds[len(script) - 1] - 1:
            script.pop()
        if not script:
            whole = sum(chances.values())
            return {outcome: chance / whole for outcome, chance in chances.items()}
        script[-1] += 1
