"""Repeated releases: the dominating pair, exactly; their loss, against three other computations."""

import math
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta
from support.draws import SOAK, some

import dproo
from dproo.analysis.certificate import _neighbours
from dproo.analysis.composition import compose, composed_epsilon
from dproo.core.counts import every_dataset, falling_datasets
from dproo.core.divergence import DominatingPair, Losses
from dproo.core.numbers import exp_lower, exp_upper, log_upper
from dproo.integrations.dp_accounting import privacy_loss_distribution
from dproo.mechanisms import SAMPLERS, mechanism

ALPHA = 1e-6
DELTA = Fraction(1, 10**6)
PAIRS, PAIRS_IN_SOAK = 100, 20_000
RELEASES, COST = 100, 3.967209963
FEWER = Fraction(8, 10)
"""A share of the releases that is told apart from all of them."""


def divergence(law, other, level):
    return sum(p - level * q for p, q in zip(law, other, strict=True) if p > level * q)


def levels(law, other, pair):
    """Return every level from 1 on at which a profile bends; they are straight lines between.

    Below 1 the profile follows from that of the laws exchanged.
    """
    bends = {Fraction(1), pair.high / pair.low}
    return bends | {p / q for p, q in zip(law, other, strict=True) if p > q}


def neighbouring_laws(sampler):
    sizes = [sampler.n] if sampler.neighbours == "replace" else range(sampler.n + 1)
    datasets = falling_datasets if sampler.is_symmetric else every_dataset
    law_of = cache(sampler.pmf)
    for size in sizes:
        for before in datasets(size, sampler.k):
            for after in _neighbours(before, sampler) - {before}:
                yield law_of(before), law_of(after)


def excess(sampler, pair):
    """Return how many pairs of neighbours there are, and how many of them beat ``pair``."""
    bound = cache(pair.hockey_stick)
    pairs = beaten = 0
    for law, other in neighbouring_laws(sampler):
        pairs += 1
        beaten += any(
            divergence(first, second, level) > bound(level)
            for first, second in ((law, other), (other, law))
            for level in levels(first, second, pair)
        )
    return pairs, beaten


ROO = [
    {"epsilon": epsilon, "n": n, "k": k, **more}
    for epsilon in ("0.01", "0.1", "1", "3", "10")
    for n, k, more in [
        (1, 2, {}),
        (2, 3, {}),
        (60, 2, {}),
        (26, 3, {}),
        (19, 4, {}),
        (15, 5, {}),
        (11, 6, {}),
        (9, 3, {"records_per_person": 3}),
        (6, 3, {"prior": [1, 2, 5]}),
        (7, 3, {"neighbours": "add-remove"}),
        (5, 3, {"neighbours": "add-remove", "records_per_person": 2}),
    ]
]


@pytest.mark.one_of(3)
def test_the_pair_of_roo_dominates_all_pairs_of_neighbours():
    samplers = [mechanism("roo", **options) for options in some(ROO, one_of=6)]
    found = [excess(sampler, sampler.dominating_pair) for sampler in samplers]
    assert sum(pairs for pairs, _ in found) >= (PAIRS_IN_SOAK if SOAK else PAIRS)
    assert sum(beaten for _, beaten in found) == 0


def test_the_pair_of_a_person_with_two_records_dominates():
    sampler = mechanism("roo", epsilon=1, n=8, k=3, records_per_person=2)
    pairs, beaten = excess(sampler, sampler.dominating_pair)
    assert pairs
    assert not beaten


@pytest.mark.one_of(3)
@pytest.mark.parametrize("name", SAMPLERS)
def test_the_pair_of_every_sampler_dominates_its_neighbours(name):
    for relation, (n, k), epsilon in product(
        SAMPLERS[name].relations, [(1, 2), (9, 2), (7, 3), (5, 4)], ("0.1", "1", "3")
    ):
        sampler = mechanism(name, epsilon=epsilon, n=n, k=k, neighbours=relation)
        assert excess(sampler, sampler.dominating_pair)[1] == 0


@pytest.mark.parametrize(("ratio", "distance"), [("0.99", "1"), ("1", "0.99")])
def test_a_smaller_pair_than_that_of_roo_is_beaten(ratio, distance):
    sampler = mechanism("roo", epsilon=1, n=9, k=3)
    less = DominatingPair.of(
        ratio=dproo.certify(sampler).ratio * Fraction(ratio),
        distance=sampler.neighbour_distance * Fraction(distance),
    )
    assert excess(sampler, less)[1] > 0


def test_the_pair_of_roo_is_tight_at_every_level():
    sampler = mechanism("roo", epsilon=1, n=5, k=3)
    pair = sampler.dominating_pair
    first, second = sampler.pmf([1, 0, 4]), sampler.pmf([0, 1, 4])
    for level in [Fraction(i, 10) for i in range(40)]:
        assert divergence(first, second, level) == pair.hockey_stick(level)


def exact_delta(pair, releases, growth):
    """Return the divergence of the composed pair at ``growth``, by rationals, from scratch."""
    steps = Counter({0: Fraction(1)})
    for _ in range(releases):
        following = Counter()
        for j, mass in steps.items():
            following[j + 1] += mass * pair.high
            following[j] += mass * (1 - pair.high - pair.low)
            following[j - 1] += mass * pair.low
        steps = following
    shrinking = pair.low / pair.high
    return sum(mass * max(Fraction(0), 1 - growth * shrinking**j) for j, mass in steps.items())


def assert_not_below_the_exact_delta(ratio, distance, releases, epsilon):
    pair = DominatingPair.of(ratio=ratio, distance=distance)
    found = Losses.of(pair, releases).delta(epsilon)
    upper = exact_delta(pair, releases, exp_lower(epsilon, bits=200))
    lower = exact_delta(pair, releases, exp_upper(epsilon, bits=200))
    assert lower <= found <= upper + Fraction(1, 2**60)


@pytest.mark.parametrize(
    ("ratio", "distance", "releases", "epsilon"),
    [
        ("3", "0.1", 8, "1"),
        ("1.01", "1", 12, "0.01"),
        ("20", "0.001", 12, "30"),
        ("100000000", "1", 12, "200"),
    ],
    ids=["common losses", "small losses", "a loss that is hardly ever", "large losses"],
)
def test_the_delta_of_some_releases_is_never_below_the_exact_one(
    ratio, distance, releases, epsilon
):
    assert_not_below_the_exact_delta(
        Fraction(ratio), Fraction(distance), releases, Fraction(epsilon)
    )


@settings(max_examples=40)
@given(
    st.one_of(
        st.fractions(min_value="1.001", max_value=20, max_denominator=1000),
        st.integers(min_value=20, max_value=10**40).map(Fraction),
    ),
    st.fractions(min_value="0.001", max_value=1, max_denominator=1000),
    st.integers(min_value=1, max_value=12),
    st.fractions(min_value=0, max_value="1.1", max_denominator=100),
)
def test_the_delta_of_many_releases_is_never_below_the_exact_one(ratio, distance, s, share):
    """At any share of the largest loss, which may be in the hundreds."""
    largest = s * log_upper(ratio).limit_denominator(1000)
    assert_not_below_the_exact_delta(ratio, distance, s, share * largest)


def test_what_reveals_nothing_costs_no_delta():
    pair = DominatingPair.of(ratio=Fraction(1), distance=Fraction(0))
    assert Losses.of(pair, 100).delta(Fraction(0)) < Fraction(1, 2**60)


def test_losses_are_closed_under_composition_and_rise_with_the_releases():
    pair = mechanism("roo", epsilon=1, n=50, k=4).dominating_pair
    parts = Losses.of(pair, 5).followed_by(Losses.of(pair, 7))
    grid = [Fraction(i, 4) for i in range(20)]
    for epsilon in grid:
        assert abs(parts.delta(epsilon) - Losses.of(pair, 12).delta(epsilon)) < Fraction(1, 2**60)
    for releases in (1, 2, 10, 100):
        deltas = [Losses.of(pair, releases).delta(epsilon) for epsilon in grid]
        assert deltas == sorted(deltas, reverse=True)
        more = Losses.of(pair, releases + 1)
        assert all(d <= more.delta(e) for d, e in zip(deltas, grid, strict=True))


def by_binomials(pair, releases, epsilon):
    """Return the divergence by sums of binomials, in interval arithmetic of 300 bits."""
    ctx.prec = 300
    high, low = (arb(p.numerator) / arb(p.denominator) for p in (pair.high, pair.low))
    share, growth = high / (high + low), arb(epsilon.numerator) / arb(epsilon.denominator)
    total = arb(0)
    for told in range(releases + 1):
        chance = arb(releases).bin(told) * (high + low) ** told
        chance *= (1 - high - low) ** (releases - told)
        inner = arb(0)
        for ups in range(told + 1):
            gain = 1 - growth.exp() * (low / high) ** (2 * ups - told)
            if gain > 0:
                inner += arb(told).bin(ups) * share**ups * (1 - share) ** (told - ups) * gain
        total += chance * inner
    return float(total)


def test_a_hundred_releases_cost_four_and_not_a_hundred():
    roo = mechanism("roo", epsilon=1, n=1000, k=20)
    cost = compose(roo, releases=RELEASES, delta=DELTA)
    assert cost.basic.epsilon == RELEASES
    assert float(cost.composed.epsilon) == pytest.approx(COST, abs=2e-9)
    assert cost.composed.delta == DELTA
    assert (cost.joint.epsilon, cost.joint.sampler.draws) == (1, RELEASES)
    assert cost.joint.alpha > 20 * cost.composed.alpha
    assert by_binomials(roo.dominating_pair, RELEASES, cost.composed.epsilon) <= 1e-6
    below = cost.composed.epsilon - Fraction(2, 10**9)
    assert by_binomials(roo.dominating_pair, RELEASES, below) > 1e-6
    library = privacy_loss_distribution(roo, releases=RELEASES)
    assert library.get_epsilon_for_delta(1e-6) == pytest.approx(COST, abs=1e-3)


def test_the_default_sampler_composes_as_well_as_roo():
    cost = compose(mechanism("ls-roo", epsilon=1, n=1000, k=20), releases=100, delta="1e-6")
    assert 3.96 < cost.composed.epsilon < 3.98


@pytest.mark.parametrize("name", SAMPLERS)
def test_the_library_agrees_on_the_loss_of_every_sampler(name):
    sampler = mechanism(name, epsilon="0.5", n=100, k=4)
    ours = compose(sampler, releases=30, delta="1e-5").composed.epsilon
    library = privacy_loss_distribution(sampler, releases=30).get_epsilon_for_delta(1e-5)
    assert ours - Fraction(1, 10**6) <= library <= ours + Fraction(30, 10**4)


@pytest.mark.parametrize("epsilon", ["1e-30", "1e-17", "1e-9", "0.0001", "1", "745", "1000"])
@pytest.mark.parametrize("name", SAMPLERS)
def test_the_library_never_understates_a_loss(name, epsilon):
    sampler = mechanism(name, epsilon=epsilon, n=10, k=3)
    losses = privacy_loss_distribution(sampler, releases=1)
    loss = log_upper(sampler.largest_ratio)
    found = losses.get_epsilon_for_delta(0)
    assert loss * (1 - Fraction(1, 10**12)) <= found <= loss + Fraction(2, 10**4)
    for level in (0, loss / 2, loss * Fraction(999, 1000)):
        stated = sampler.dominating_pair.hockey_stick(exp_upper(Fraction(level)))
        assert losses.get_delta_for_epsilon(float(level)) >= float(stated) * (1 - 1e-9) - 1e-15


def test_losses_within_one_step_of_the_grid_lose_no_mass():
    sampler = mechanism("roo", epsilon="1e-9", n=10, k=3)
    losses = privacy_loss_distribution(sampler, releases=20, grid="0.01")
    assert losses.get_delta_for_epsilon(-30) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("grid", [0, -1e-4, math.nan, math.inf, "1e-13", 2, "fine"])
def test_a_wrong_grid_is_refused(grid):
    with pytest.raises(ValueError, match=r"^grid must be (between 1e-12 and 1|a )"):
        privacy_loss_distribution(mechanism("roo", epsilon=1, n=9, k=3), grid=grid)


def lower_bound(hits, others, trials, epsilon):
    """Return a lower bound on ``P - e^epsilon P'``, wrong with probability ``ALPHA`` at most."""
    low = beta.ppf(ALPHA / 2, hits, trials - hits + 1) if hits else 0
    high = beta.isf(ALPHA / 2, others + 1, trials - others)
    return low - math.exp(epsilon) * high


@pytest.mark.one_of(3)
def test_real_releases_of_a_hundred_records_are_not_told_apart_better_than_stated():
    """On the worst neighbours, by the best events: letter a drawn more often than letter b."""
    roo = mechanism("roo", epsilon=1, n=100, k=5)
    releases, trials = RELEASES, 40_000
    pair = roo.dominating_pair

    def leads(counts):
        drawn = np.array(roo.draw_many(counts, releases * trials)).reshape(trials, releases)
        return (drawn == 0).sum(axis=1) - (drawn == 1).sum(axis=1)

    with_a, with_b = leads([1, 0, 99, 0, 0]), leads([0, 1, 99, 0, 0])
    stated, understated = Losses.of(pair, releases), Losses.of(pair, int(releases * FEWER))
    whole = composed_epsilon(pair, releases, DELTA)
    is_caught = False
    for epsilon in (Fraction(0), Fraction(1), Fraction(2), Fraction(4), whole):
        for lead in range(1, 12):
            hits, others = int((with_a >= lead).sum()), int((with_b >= lead).sum())
            found = lower_bound(hits, others, trials, epsilon)
            assert found <= stated.delta(epsilon)
            is_caught |= found > understated.delta(epsilon)
    assert is_caught, "the audit has no power"


def test_without_delta_releases_cost_their_sum():
    sampler = mechanism("roo", epsilon="0.25", n=50, k=3)
    assert compose(sampler, releases=7, delta=0).composed.epsilon == Fraction(7, 4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"releases": 0}, "releases must be at least 1, got 0."),
        ({"releases": 10**7}, "releases must be at most 1000000, got 10000000."),
        ({"delta": "1"}, "delta must be at least 0 and below 1, got '1'."),
        ({"delta": "-1e-9"}, "delta must be at least 0 and below 1"),
        ({"delta": math.nan}, "delta must be a finite number"),
    ],
)
def test_wrong_arguments_of_a_composition_are_refused(options, message):
    sampler = mechanism("roo", epsilon=1, n=9, k=3)
    with pytest.raises(ValueError, match=message):
        compose(sampler, **({"releases": 5, "delta": "1e-6"} | options))


def test_a_sampler_for_both_relations_is_refused_as_no_joint_draw_is_for_both():
    both = mechanism("ls-roo", epsilon=1, n=9, k=3, neighbours="both")
    message = r"^mechanism must be for neighbours 'replace' or 'add-remove', got 'both'\. No joint"
    with pytest.raises(ValueError, match=message):
        compose(both, releases=5, delta="1e-6")


def test_what_no_release_accepts_is_not_composed():
    printed = mechanism("ds-roo", epsilon=1, n=9, k=3, as_printed=True)
    for account in (
        lambda law: compose(law, releases=2, delta=0),
        privacy_loss_distribution,
    ):
        with pytest.raises(TypeError, match="mechanism must be a certified sampler"):
            account(printed)
