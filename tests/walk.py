"""A source of randomness whose every branch a test can walk."""

from collections import defaultdict
from collections.abc import Callable, Hashable
from fractions import Fraction

from dproo.randomness import Source


class Walk(Source):
    """Answers ``below`` from a script, and notes how many answers each call had."""

    def __init__(self, script: list[int]) -> None:
        super().__init__()
        self.script = script
        self.bounds: list[int] = []

    def below(self, bound: int) -> int:
        self.bounds.append(bound)
        if len(self.bounds) > len(self.script):
            self.script.append(0)
        return self.script[len(self.bounds) - 1]


def law(draw: Callable[[Source], Hashable]) -> dict[Hashable, Fraction]:
    """Return the exact law of ``draw``, by walking every branch of its source."""
    chances: dict[Hashable, Fraction] = defaultdict(Fraction)
    script: list[int] = []
    while True:
        walk = Walk(script)
        outcome = draw(walk)
        chance = Fraction(1)
        for bound in walk.bounds:
            chance /= bound
        chances[outcome] += chance
        while script and script[-1] == walk.bounds[len(script) - 1] - 1:
            script.pop()
        if not script:
            return dict(chances)
        script[-1] += 1
