"""Claims of (epsilon, delta), seen from outside: the open alphabet, and what is not as private."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb, log
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scipy.stats import beta

import dproo
from dproo import Counts
from dproo.auditing import trials
from dproo.auditing.confidence import chance_lower
from dproo.auditing.trials import NOT_REFUTED, VIOLATED, Audit
from dproo.cli.commands import run
from dproo.mechanisms.open import OpenAlphabet

pytestmark = pytest.mark.one_of(3)

CERTAIN = "0.999999999"
EPSILON, DELTA, N = Fraction(1), Fraction(1, 20), 12
LAW = OpenAlphabet(epsilon=EPSILON, delta=DELTA, n=N)
CLAIM: dict[str, Any] = {"epsilon": EPSILON, "delta": DELTA, "confidence": CERTAIN}


@pytest.mark.parametrize("trials", [1, 2, 7, 40])
@pytest.mark.parametrize("alpha", [0.3, 0.05, 0.001])
def test_the_bound_on_a_chance_covers_it_exactly(trials: int, alpha: float) -> None:
    bounds = [chance_lower(x, trials, alpha=alpha) for x in range(trials + 1)]
    assert bounds == sorted(bounds)
    for theta in (0.001, 0.1, 0.5, 0.9, *(bound * 0.999999 for bound in bounds)):
        chance = Fraction(theta)
        missed = sum(
            comb(trials, x) * chance**x * (1 - chance) ** (trials - x)
            for x in range(trials + 1)
            if bounds[x] > theta
        )
        assert missed <= alpha


@pytest.mark.parametrize("successes", [1, 3, 500, 999_999, 10**6])
@pytest.mark.parametrize("alpha", [0.05, 1e-9])
def test_the_bound_on_a_chance_is_never_rounded_up(successes: int, alpha: float) -> None:
    expected = beta.ppf(alpha, successes, 10**6 - successes + 1)
    bound = chance_lower(successes, 10**6, alpha=alpha)
    assert bound <= expected * (1 + 1e-12)
    assert bound == pytest.approx(expected, rel=1e-3, abs=1e-15)


def drawing(law: Any) -> Callable[[list[int], int], list[int]]:
    """Return what draws from a law by its exact weights."""

    def draw_many(counts: list[int], size: int) -> list[int]:
        known = Counts.of(counts)
        return [law.draw(known) for _ in range(size)]

    return draw_many


GAINS = [2, N - 2, 0], [3, N - 3, 0]
"""Neighbours between which a letter gains by epsilon and delta both."""

APPEARS = [1, N - 1, 0], [2, N - 2, 0]
"""Neighbours between which a letter appears, by delta alone."""


def audited(law: Any, pair: Any, **claim: Any) -> Audit:
    return dproo.audit(
        SimpleNamespace(draw_many=drawing(law)), *pair, trials=20_000, **CLAIM | claim
    )


def test_delta_is_taken_from_the_likelier_side() -> None:
    """Of 1000 trials 900 on one side and 100 on the other, about as many as 400 to 100."""
    bound = {
        delta: trials._loss_lower((900, 1000), (100, 1000), delta=Fraction(delta), alpha=0.01)
        for delta in ("0", "0.5", "0.9")
    }
    least, most = chance_lower(900, 1000, alpha=0.005), 1 - chance_lower(900, 1000, alpha=0.005)
    assert bound["0"] == pytest.approx(log(least / most))
    assert bound["0.5"] == pytest.approx(log((least - 0.5) / most))
    assert bound["0.9"] == 0


def test_an_honest_claim_is_not_refuted() -> None:
    found = audited(LAW, GAINS)
    assert found.verdict == NOT_REFUTED
    assert found.delta == DELTA
    assert 0.3 < found.epsilon_lower <= EPSILON  # the truth is 0.988
    assert audited(LAW, APPEARS, event=[0]).verdict == NOT_REFUTED


@pytest.mark.parametrize("delta", [0, "0.03"])
def test_a_smaller_delta_is_refuted(delta: Any) -> None:
    """Else the test above would say nothing about delta."""
    found = audited(LAW, APPEARS, delta=delta)
    assert found.verdict == VIOLATED
    assert (found.event, found.likelier_on) == (frozenset([0]), "neighbour")


class NoFloor(OpenAlphabet):
    """Let ``other`` have nothing of its own."""

    @property
    def floor(self) -> int:  # type: ignore[override]
        return 0


def without_floor() -> NoFloor:
    law = object.__new__(NoFloor)
    for name, value in vars(LAW).items():
        if name in {"epsilon", "delta", "n", "neighbours", "minimum"}:
            object.__setattr__(law, name, value)
    return law


def test_an_open_alphabet_without_the_floor_of_other_is_caught() -> None:
    pair = [N, 0, 0], [N - 1, 1, 0]
    found = audited(without_floor(), pair)
    assert found.verdict == VIOLATED
    assert (found.event, found.likelier_on) == (frozenset([2]), "neighbour")
    assert audited(LAW, pair).verdict == NOT_REFUTED


def test_a_delta_goes_with_neighbours_only() -> None:
    with pytest.raises(ValueError, match=r"^distance must be 1 with delta, got 2\.$"):
        dproo.audit(len, [1], [2], delta="0.1", distance=2)
    with pytest.raises(ValueError, match="delta must be at least 0 and below 1"):
        dproo.audit(len, [1], [2], delta=1)


def test_the_command_states_delta_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(f"{name}\n")
    files = ["--dataset", str(tmp_path / "a"), "--neighbour", str(tmp_path / "b")]
    claim = ["--epsilon", "1", "--delta", "0.25", "--trials", "100"]
    assert run(["audit", "--command", "cat {}", *files, *claim]) == 5
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first == "epsilon = 1, delta = 0.25 is VIOLATED for cat {}"
    assert second.startswith("epsilon is at least  ")
    assert ", delta = 0.25, with confidence" in second
