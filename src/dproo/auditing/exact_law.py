r"""The audit of a law: what a sampler leaks by its own arithmetic, exactly and without trials.

Detecting a loss of epsilon takes about ``1/epsilon^2`` trials, so no feasible number of draws
distinguishes a loss of 1.1e-15 from 1e-15. But a sampler that takes its generator as an argument
can be walked: every comparison of a random float, and every random index, forks, and the letters
at the leaves have exact probabilities, including the sampler's rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from dproo.core.checks import refusal, whole
from dproo.core.numbers import Number, is_at_most_exp, log_lower, parse_epsilon, rational

_Law = dict[Hashable, Fraction]

_UNIT = 1 << 53
_MOST_BRANCHES = 1_000_000
_SLACK = Fraction(1, 10**9)
_OTHER_SOURCE = "draw must take its randomness from its generator only."


@dataclass(frozen=True, kw_only=True)
class LawAudit:
    """The letter that best distinguishes two datasets.

    Attributes:
        letter: the letter with the largest ratio.
        chances: its probabilities on the two datasets, exact.
        epsilon: the claimed epsilon, exact.
    """

    letter: Hashable
    chances: tuple[Fraction, Fraction]
    epsilon: Fraction

    @property
    def ratio(self) -> Fraction | float:
        """The larger probability over the smaller; infinite if only one is zero."""
        return _ratio(*self.chances)

    @property
    def holds(self) -> bool:
        """Whether the claim holds on this pair of datasets; decided exactly."""
        return isinstance(self.ratio, Fraction) and is_at_most_exp(self.ratio, self.epsilon)

    @property
    def epsilon_lower(self) -> float:
        """The loss ``log(ratio)``, rounded down."""
        if not isinstance(self.ratio, Fraction):
            return math.inf
        loss = log_lower(self.ratio)
        shown = float(loss)
        return shown if Fraction(shown) <= loss else math.nextafter(shown, 0)


def audit_law(
    law: Callable[[Any], Mapping[Hashable, Number] | Sequence[Number]],
    dataset: Any,
    neighbour: Any,
    *,
    epsilon: Number,
) -> LawAudit:
    """Return the worst letter of a stated law on two neighbouring datasets.

    Args:
        law: maps a dataset to the probability of each letter, as a mapping or in order;
            floats have their exact binary value. :func:`exact_law` makes one.
        dataset: anything that ``law`` accepts.
        neighbour: the same with one record changed.
        epsilon: what the sampler claims.

    >>> audit_law(lambda heads: [heads, 1 - heads], 0.25, 0.5, epsilon="0.7").holds
    True
    >>> audit_law(lambda heads: [heads, 1 - heads], 0.25, 0.5, epsilon="0.69").ratio
    Fraction(2, 1)
    """
    claimed = parse_epsilon(epsilon)
    first, second = _checked(law(dataset)), _checked(law(neighbour))
    pairs = {y: (first.get(y, Fraction(0)), second.get(y, Fraction(0))) for y in first | second}
    worst = max(pairs, key=lambda letter: _ratio(*pairs[letter]))
    return LawAudit(letter=worst, chances=pairs[worst], epsilon=claimed)


def exact_law(draw: Callable[[Any, Any], Hashable]) -> Callable[[Any], _Law]:
    """Return the law of a sampler, by walking every branch of its generator.

    Args:
        draw: ``draw(dataset, generator)`` returns a letter, and uses ``random()`` (only to
            compare it with numbers), ``randrange``, ``randint`` and ``choice`` of a generator
            that acts as a :class:`random.Random`.

    >>> exact_law(lambda share, generator: generator.random() < share)(0.5)
    {True: Fraction(1, 2), False: Fraction(1, 2)}

    Raises:
        TypeError: the sampler uses anything else of its generator.
        ValueError: it has more than a million branches, or branches differently when run again.
    """

    def law(dataset: Any) -> _Law:
        chances: _Law = {}
        path: list[tuple[int, int]] = []
        for _ in range(_MOST_BRANCHES):
            branch = _Branch(path)
            letter = draw(dataset, branch)
            branch.end()
            chances[letter] = chances.get(letter, Fraction(0)) + branch.chance
            while path and path[-1][0] == path[-1][1] - 1:
                path.pop()
            if not path:
                return chances
            path[-1] = path[-1][0] + 1, path[-1][1]
        raise ValueError(f"draw must have at most {_MOST_BRANCHES} branches.")

    return law


class _Branch:
    """One walk through a sampler: answers from a path, and extends it where it ends."""

    def __init__(self, path: list[tuple[int, int]]) -> None:
        self._path = path
        self._steps = 0
        self.chance = Fraction(1)

    def fork(self, options: int) -> int:
        """Return the option that this walk takes."""
        if self._steps == len(self._path):
            self._path.append((0, options))
        taken, known = self._path[self._steps]
        if known != options:
            raise ValueError(_OTHER_SOURCE)
        self._steps += 1
        return taken

    def end(self) -> None:
        """Raise if the sampler ended before its path."""
        if self._steps < len(self._path):
            raise ValueError(_OTHER_SOURCE)

    def random(self) -> _Uniform:
        return _Uniform(self)

    def randrange(self, start: int, stop: int | None = None) -> int:
        first, end = (0, start) if stop is None else (start, stop)
        options = whole("the range of randrange", end - first, at_least=1)
        self.chance /= options
        return first + self.fork(options)

    def randint(self, a: int, b: int) -> int:
        return self.randrange(a, b + 1)

    def choice(self, letters: Sequence[Any]) -> Any:
        return letters[self.randrange(len(letters))]

    def __getattr__(self, name: str) -> Any:
        condition = "use random, randrange, randint and choice of its generator only"
        raise TypeError(refusal("draw", condition, name))


class _Uniform:
    """A float from ``random()``, a multiple of 2^-53, of which only comparisons are known."""

    def __init__(self, branch: _Branch) -> None:
        self._branch = branch
        self._low, self._high = 0, _UNIT

    def _is_below(self, bound: int) -> bool:
        """Compare the multiple with an integer: fork if both answers are still possible."""
        if bound <= self._low or bound >= self._high:
            return bound >= self._high
        width = self._high - self._low
        if self._branch.fork(2) == 0:
            self._high = bound
        else:
            self._low = bound
        self._branch.chance *= Fraction(self._high - self._low, width)
        return self._high == bound

    def __lt__(self, number: Number) -> bool:
        return self._is_below(math.ceil(_binary("a random float's bound", number) * _UNIT))

    def __le__(self, number: Number) -> bool:
        return self._is_below(math.floor(_binary("a random float's bound", number) * _UNIT) + 1)

    def __gt__(self, number: Number) -> bool:
        return not self <= number

    def __ge__(self, number: Number) -> bool:
        return not self < number

    def __eq__(self, number: object) -> bool:
        return bool(self >= number and self <= number)  # type: ignore[operator]

    def __bool__(self) -> bool:
        return self != 0

    __hash__ = None  # type: ignore[assignment]


def _ratio(p: Fraction, q: Fraction) -> Fraction | float:
    few, many = min(p, q), max(p, q)
    if few == 0:
        return math.inf if many else Fraction(1)
    return many / few


def _checked(law: Mapping[Hashable, Number] | Sequence[Number]) -> _Law:
    """Return the exact probabilities; if floats were rounded, their sum may miss 1 by 1e-9."""
    items = law.items() if isinstance(law, Mapping) else enumerate(law)
    chances: _Law = {letter: _binary("probability", p) for letter, p in items}
    if not all(chance >= 0 for chance in chances.values()):
        raise ValueError(refusal("probability", "be at least 0", float(min(chances.values()))))
    total = sum(chances.values(), Fraction(0))
    if not abs(total - 1) <= _SLACK:
        raise ValueError(refusal("probabilities", "sum to 1", float(total)))
    return chances


_binary = partial(rational, is_binary=True)  # a program's float has its exact binary value
