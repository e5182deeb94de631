"""The baselines: exact projections, OpenDP's noise at its cost, and no way into a release."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import exp, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare
from support.draws import numbers
from support.releasing import sample

import dproo
from dproo.study.baselines import (
    BASELINES,
    CLIP,
    EUCLIDEAN,
    ExponentialSampler,
    LaplaceSampler,
)
from dproo.study.simulation import _laws

pytestmark = pytest.mark.one_of(3)

ALPHA = 1e-6
NOISY = st.lists(st.integers(-50, 200), min_size=2, max_size=8)


def projection(noisy, n, kind):
    weights = LaplaceSampler(epsilon=1, n=n, k=len(noisy), projection=kind).projected(noisy)
    return [Fraction(n * weight, weights.total) for weight in weights]


@given(noisy=NOISY, n=st.integers(1, 300), kind=st.sampled_from([CLIP, EUCLIDEAN]))
def test_both_projections_reach_the_least_l1_distance(noisy, n, kind):
    found = projection(noisy, n, kind)
    kept = sum(max(0, value) for value in noisy)
    # Negative counts must rise to zero, and the others must change the total to n.
    least = sum(max(0, -value) for value in noisy) + abs(kept - n)
    assert sum(found) == n
    assert min(found) >= 0
    if kept or kind == EUCLIDEAN:  # with nothing left to rescale, every letter is equal
        assert sum(abs(a - b) for a, b in zip(found, noisy, strict=True)) == least


@given(noisy=NOISY, n=st.integers(1, 300))
def test_the_euclidean_projection_subtracts_one_number_and_clips(noisy, n):
    found = projection(noisy, n, EUCLIDEAN)
    shifts = {value - kept for value, kept in zip(noisy, found, strict=True) if kept > 0}
    assert len(shifts) == 1
    (shift,) = shifts
    assert all(value <= shift for value, kept in zip(noisy, found, strict=True) if kept == 0)


@given(noisy=NOISY, n=st.integers(1, 300), kind=st.sampled_from([CLIP, EUCLIDEAN]))
def test_the_analysis_projects_like_the_release(noisy, n, kind):
    class Given:
        def __init__(self):
            self.left = [np.array([noisy]), np.zeros((1, len(noisy)), dtype=int)]

        def geometric(self, *_):
            return self.left.pop(0)

    sampler = LaplaceSampler(epsilon=1, n=n, k=len(noisy), projection=kind)
    laws = _laws(sampler, np.zeros((1, len(noisy)), dtype=int), Given())
    assert laws[0] == pytest.approx([float(x) / n for x in projection(noisy, n, kind)], abs=1e-12)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "0.3", "1/3", "2.5"])
@pytest.mark.parametrize(("sampler", "moved"), [(LaplaceSampler, 2), (ExponentialSampler, 1)])
def test_opendp_states_a_cost_of_at_most_epsilon_and_hardly_less(epsilon, sampler, moved):
    cost = Fraction(sampler(epsilon=epsilon, n=10, k=3).measurement.map(moved))
    assert 1 - Fraction(1, 10**12) < cost / Fraction(epsilon) <= 1


def noise_counts(sampler, draws):
    noise = [value for _ in range(draws) for value in sampler.measurement([0] * sampler.k)]
    return [sum(min(abs(value), 9) == size for value in noise) for size in range(10)]


def laplace_law(scale):
    step = exp(-1 / scale)
    law = [(1 - step) / (1 + step) * step**size * (2 if size else 1) for size in range(9)]
    return [*law, 1 - sum(law)]


def test_the_noise_is_integer_laplace_noise_of_scale_two_over_epsilon():
    sampler = LaplaceSampler(epsilon=1, n=10, k=100)
    counts = noise_counts(sampler, 200)
    total = sum(counts)
    assert chisquare(counts, [total * p for p in laplace_law(2.0)]).pvalue > ALPHA
    assert chisquare(counts, [total * p for p in laplace_law(2.2)]).pvalue < ALPHA


def flip_law(heads):
    """Return the law of permute-and-flip, by inclusion and exclusion over all sets of letters."""
    law = []
    for y, head in enumerate(heads):
        others = [other for x, other in enumerate(heads) if x != y]
        law.append(head * sum(
            (-1) ** size * prod(chosen) / (size + 1)
            for size in range(len(others) + 1)
            for chosen in combinations(others, size)
        ))  # fmt: skip
    return law


def test_the_selector_draws_by_the_law_that_its_accuracy_is_computed_with():
    counts = [6, 4, 3, 0]
    sampler = ExponentialSampler(epsilon=1, n=13, k=4)
    law = _laws(sampler, np.array([counts]), None)[0]
    assert law == pytest.approx(flip_law([exp((c - 6) / 2) for c in counts]), abs=1e-9)
    draws = 8_000
    drawn = [sampler.draw(counts)[0] for _ in range(draws)]
    found = [drawn.count(y) for y in range(4)]
    softmax = [exp(c / 2) / sum(exp(x / 2) for x in counts) for c in counts]
    assert chisquare(found, [draws * p for p in law]).pvalue > ALPHA
    assert chisquare(found, [draws * p for p in softmax]).pvalue < ALPHA


def test_the_sampler_draws_by_the_law_that_its_accuracy_is_computed_with():
    counts = [30, 8, 2]
    for kind in (CLIP, EUCLIDEAN):
        sampler = LaplaceSampler(epsilon="0.2", n=40, k=3, projection=kind)
        generator = numbers()
        law = _laws(sampler, np.tile(counts, (400_000, 1)), generator).mean(axis=0)
        draws = 5_000
        drawn = [sampler.draw(counts)[0] for _ in range(draws)]
        found = [drawn.count(y) for y in range(3)]
        assert chisquare(found, draws * law).pvalue > ALPHA
        plain = np.array(counts) / 40
        assert chisquare(found, draws * plain).pvalue < ALPHA


@pytest.mark.parametrize("name", ["laplace", "exponential"])
def test_a_baseline_can_be_studied_but_not_certified_and_not_released(name):
    sampler = BASELINES[name](epsilon=1, n=100, k=3)
    assert sampler.name == name
    assert sampler.draw([98, 1, 1])[0] in {0, 1, 2}
    with pytest.raises(TypeError) as refused:
        dproo.certify(sampler)
    assert str(refused.value) == (
        f"mechanism must map counts to weights to be certified, got {name}."
    )

    def unread():
        pytest.fail("data was read")
        yield

    with pytest.raises(ValueError, match=f"^sampler must be one of .*, got '{name}'"):
        dproo.mechanism(name, epsilon=1, n=100, k=3)
    with pytest.raises(ValueError, match=f"^sampler must be one of .*, got '{name}'"):
        sample(unread(), alphabet=["a", "b"], epsilon=1, sampler=name)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilon": 0, "n": 1, "k": 2}, "epsilon must be positive, got 0."),
        ({"epsilon": 1, "n": 0, "k": 2}, "n must be at least 1, got 0."),
        ({"epsilon": 1, "n": 2, "k": 1}, "k must be at least 2, got 1."),
        (
            {"epsilon": 1, "n": 2, "k": 2, "neighbours": "add-remove"},
            "neighbours must be 'replace' for laplace, got 'add-remove'.",
        ),
        (
            {"epsilon": 1, "n": 2, "k": 2, "projection": "l2"},
            "projection must be one of clip, euclidean, got 'l2'.",
        ),
    ],
)
def test_a_wrong_argument_is_refused(options, message):
    with pytest.raises(ValueError, match="must") as refused:
        LaplaceSampler(**options)
    assert str(refused.value) == message


def test_counts_that_do_not_fit_are_refused():
    sampler = LaplaceSampler(epsilon=1, n=3, k=2)
    with pytest.raises(ValueError, match=r"^counts must have k = 2 entries, got 3\.$"):
        sampler.draw([1, 1, 1])
    with pytest.raises(ValueError, match=r"^counts must sum to n = 3, got 2\.$"):
        sampler.draw([1, 1])


def test_without_opendp_the_sampler_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "opendp.prelude", None)
    with pytest.raises(ValueError, match=r"^opendp must be installed for this"):
        LaplaceSampler(epsilon=1, n=3, k=2).draw([2, 1])
