"""Monte Carlo accuracy: its interval covers the exact value and rejects a planted error.

Seeds are fixed: nothing private is drawn, and a failure can be looked at again.
"""

from __future__ import annotations

import random
from fractions import Fraction
from math import log

import numpy as np
import pytest
from support.draws import SOAK

import dproo
from dproo.study.baselines import LaplaceSampler
from dproo.study.distributions import shape
from dproo.study.simulation import interval

ALPHA = 1e-3
SETTINGS = 120 if SOAK else 40
PLANTED = 0.05
TRIALS = 1_000


def random_settings():
    generator = random.Random(20)  # noqa: S311 - nothing secret
    for _ in range(SETTINGS):
        k, n = generator.randint(2, 12), generator.randint(20, 300)
        epsilon = generator.choice(["0.05", "0.1", "0.3", "1"])
        gammas = [generator.gammavariate(generator.choice([0.3, 1, 5]), 1) for _ in range(k)]
        raw = [round(100 * gamma) for gamma in gammas]  # a rare letter is one that never occurs
        name = generator.choice(["roo", "subrr", "ds-roo", "ls-roo"])
        sampler = dproo.mechanism(name, epsilon=epsilon, n=n, k=k)
        yield sampler, [Fraction(share, sum(raw)) for share in raw]


@pytest.mark.one_of(3)
@pytest.mark.untraced
def test_exact_and_monte_carlo_agree_in_every_setting_and_a_planted_error_is_rejected():
    rejected = {1 + PLANTED: 0, 1 - PLANTED: 0}
    for i, (sampler, p) in enumerate(random_settings()):
        exact = dproo.accuracy(sampler, p, method="exact").alpha
        found = dproo.accuracy(
            sampler, p, method="monte carlo", trials=TRIALS, confidence=1 - ALPHA / SETTINGS, seed=i
        )
        assert found.low - 1e-9 <= exact <= found.high + 1e-9, (i, sampler, exact, found)
        for factor in rejected:
            rejected[factor] += not found.low - 1e-9 <= factor * exact <= found.high + 1e-9
    # One rejection would fail the agreement above; we ask for a third of all settings.
    assert min(rejected.values()) >= SETTINGS / 3, rejected


def test_an_interval_allows_for_what_is_too_rare_to_show_also_where_n_is_private():
    sampler = dproo.mechanism("ls-roo", epsilon=1, k=4, neighbours="add-remove")
    found = dproo.accuracy(
        sampler, [1, 0, 0, 0], n=20, method="monte carlo", trials=40, confidence=0.99, seed=1
    )
    rare = float(sampler.worst_alpha_among(20)) * log(200) / 120
    assert found.high - found.alpha == pytest.approx(rare)


@pytest.mark.parametrize("name", ["roo", "ds-roo", "ls-roo"])
def test_a_law_that_is_five_percent_off_is_rejected(name):
    p = shape("binomial", k=9)
    right, wrong = (
        dproo.mechanism(name, epsilon=epsilon, n=1000, k=9) for epsilon in ("0.1", "0.095")
    )
    assert dproo.accuracy(wrong, p).alpha > 1.04 * dproo.accuracy(right, p).alpha
    options = {"method": "monte carlo", "trials": 8000, "confidence": 1 - ALPHA, "seed": 3}
    simulated = dproo.accuracy(right, p, **options)
    assert simulated.low <= dproo.accuracy(right, p).alpha <= simulated.high
    assert not simulated.low <= dproo.accuracy(wrong, p).alpha <= simulated.high


def test_the_interval_covers_a_small_distance_that_a_plug_in_estimate_cannot_see():
    generator = np.random.default_rng(5)
    letters, batches, repeats, alpha = 200, 40, 400, 0.01
    truth = np.zeros(letters)
    truth[:2] = alpha, -alpha
    covered = naive = 0
    for _ in range(repeats):
        gaps = truth + generator.normal(0, 0.002, (batches, letters))
        _, low, high = interval(gaps, np.ones(letters), 0.99)
        covered += low <= alpha <= high
        signed = gaps @ np.sign(gaps.mean(axis=0)) / 2
        naive += abs(signed.mean() - alpha) <= 2.7 * signed.std(ddof=1) / batches**0.5
    assert covered >= 0.98 * repeats
    assert naive == 0  # with the same error bar, the plug-in estimate is always too large


def test_a_sampler_that_changes_nothing_has_an_interval_from_zero():
    generator = np.random.default_rng(6)
    alpha, low, high = interval(generator.normal(0, 1e-3, (40, 50)), np.ones(50), 0.99)
    assert low == 0
    assert 0 < alpha < high


def test_more_trials_make_the_interval_narrower():
    sampler = LaplaceSampler(epsilon="0.1", n=1000, k=9)
    p = shape("binomial", k=9)
    wide, narrow = (dproo.accuracy(sampler, p, trials=trials, seed=1) for trials in (1_000, 64_000))
    assert (narrow.high - narrow.low) * 4 < wide.high - wide.low
    assert max(wide.low, narrow.low) <= min(wide.high, narrow.high)
