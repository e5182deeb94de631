"""ALS-ROO: its bound against brute force, its table, and what adapting is good for."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.releasing import sample
from support.soak import SOAK, some

import dproo
from dproo import Counts, certify, mechanism
from dproo.analysis import simulation
from dproo.mechanisms import adaptive
from dproo.mechanisms.adaptive_table import _ONE as ONE
from dproo.mechanisms.adaptive_table import LEVEL_STEP

EPSILONS = ["0.001", "0.01", "0.1", "0.5", "1", "2", "5"]
GUESSES = ["any", "sparse", "heavy tail", "dense"]


@pytest.fixture
def eager(monkeypatch):
    """Adapt at any cost, however few the records: what small datasets would else never do."""
    monkeypatch.setattr(adaptive, "ADAPTS_FROM", 0)
    monkeypatch.setattr(adaptive, "STARTS", (Fraction(0),))


def assert_bounded(sampler):
    """Assert that brute force finds no more than the certificate says, and no violation."""
    bound, brute = certify(sampler), certify(sampler, method="enumerate")
    assert brute.ratio <= bound.ratio
    assert bound.holds
    assert sampler.ratio(bound.witness) <= brute.ratio
    return brute


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("epsilon", some(EPSILONS, one_of=2))
def test_no_replacement_leaks_more_than_the_bound(epsilon):
    for k, n in product(range(2, 6), range(1, 21, 1 if SOAK else 3)):
        assert_bounded(mechanism("als-roo", epsilon=epsilon, n=n, k=k))


@pytest.mark.parametrize("epsilon", ["2", "5"])
def test_no_replacement_leaks_more_than_the_bound_as_shipped(epsilon):
    for k, n in product(range(2, 6), (11, 15, 20)):
        assert_bounded(mechanism("als-roo", epsilon=epsilon, n=n, k=k))


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("epsilon", some(EPSILONS, one_of=2))
def test_no_addition_or_removal_leaks_more_than_the_bound(epsilon):
    for k, n in [*product(range(2, 6), (1, 2, 3, 7)), (2, 20), (3, 20), (4, 12)]:
        assert_bounded(mechanism("als-roo", epsilon=epsilon, n=n, k=k, neighbours="add-remove"))


@given(
    epsilon=st.fractions(min_value=Fraction(1, 10**3), max_value=20),
    n=st.integers(1, 24),
    k=st.integers(2, 5),
    guess=st.sampled_from(GUESSES),
)
@settings(max_examples=60)
def test_any_epsilon_and_guess_is_bounded(epsilon, n, k, guess):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adaptive, "ADAPTS_FROM", 0)
        patch.setattr(adaptive, "STARTS", (Fraction(0),))
        assert_bounded(mechanism("als-roo", epsilon=epsilon, n=n, k=k, guess=guess))


@pytest.mark.parametrize(("n", "k", "epsilon"), [(80, 2, 2), (40, 3, 2), (30, 3, 5), (24, 4, 2)])
def test_the_bound_is_close_to_what_leaks(n, k, epsilon):
    """The loss that brute force finds comes within seven percent of epsilon."""
    brute = assert_bounded(mechanism("als-roo", epsilon=epsilon, n=n, k=k))
    assert brute.epsilon > 0.93 * epsilon


@pytest.mark.parametrize("epsilon", ["0.05", "0.3", "1", "4"])
@pytest.mark.parametrize("n", [10**3, 10**5, 10**9])
@pytest.mark.parametrize("k", [10, 300, 10**6])
def test_the_certificate_spends_nearly_all_of_epsilon(n, k, epsilon):
    certificate = certify(mechanism("als-roo", epsilon=epsilon, n=n, k=k))
    assert certificate.holds
    assert certificate.epsilon >= 0.98 * float(epsilon)
    seen = certificate.mechanism.ratio(certificate.witness)
    assert math.log(seen) >= 0.8 * float(epsilon)


SETTINGS = [
    (100, 10, "1", "replace"),
    (1000, 100, "0.1", "replace"),
    (3000, 1458, "0.05", "replace"),
    (30, 2, "3", "replace"),
    (10**9, 10**6, "0.01", "replace"),
    (2**80, 50, "0.2", "add-remove"),
    (2**80, 3, "30", "add-remove"),
]


@pytest.mark.parametrize(("n", "k", "epsilon", "neighbours"), SETTINGS)
def test_the_table_is_what_the_proof_relies_on(n, k, epsilon, neighbours):
    sampler = mechanism("als-roo", epsilon=epsilon, n=n, k=k, neighbours=neighbours)
    table, powers = sampler.table, sampler.table.powers
    growth, last = table.growth, len(powers) - 1
    assert table.is_as_proven(n)
    steps = [after - before for before, after in pairwise(powers)]
    assert steps == sorted(steps)
    assert all(before < after <= growth * before for before, after in pairwise(powers))
    assert growth >= 1 + Fraction(1, table.knee)
    assert table.offset > LEVEL_STEP / (growth - 1)
    assert powers[min(table.knee, last)] * table.high < table.knee * table.unit
    low = Fraction(table.offset + LEVEL_STEP, table.offset)
    assert all(after >= low * before for before, after in pairwise(powers))
    for at_risk in (0, 1, table.knee, k * table.knee // 3, k * table.knee):
        crossing = table.crossing(table.level(at_risk))
        assert table.knee < crossing <= len(powers)
        for count in (*range(crossing - 3, crossing + 4), 2 * crossing, len(powers)):
            if count >= 0:
                is_revealed = table(count, at_risk) == max(count, table.knee) * table.unit
                assert is_revealed == (count >= crossing) or count >= len(powers)


BROKEN = {
    "a power of zero": lambda t: {"powers": (0, *t.powers[1:])},
    "a dent": lambda t: {"powers": (*t.powers[:5], t.powers[5] - 1, *t.powers[6:])},
    "a growth below its powers": lambda t: {"growth": t.growth - Fraction(1, 2**20)},
    "a knee too small": lambda t: {"knee": t.knee - 1},
    "a knee too large": lambda t: {"knee": t.knee + 1},
    "a level too high": lambda t: {"high": t.high * 2},
    "an offset too small": lambda t: {"offset": int(LEVEL_STEP / (t.growth - 1))},
    "an end too early": lambda t: {"powers": t.powers[: t.knee + 2]},
}


@pytest.mark.parametrize("broken", BROKEN)
def test_integers_that_the_proof_does_not_cover_are_refused(broken, monkeypatch):
    made = adaptive.AdaptiveRevealOrObscure._table_of
    table = made(mechanism("als-roo", epsilon="0.1", n=1000, k=9), Fraction(1, 10), Fraction(0))
    assert table.is_as_proven(1000)
    other = replace(table, **BROKEN[broken](table))
    assert not other.is_as_proven(1000)
    monkeypatch.setattr(adaptive.AdaptiveRevealOrObscure, "_table_of", lambda *_: other)
    with pytest.raises(ValueError, match="als-roo did not certify at epsilon"):
        mechanism("als-roo", epsilon="0.1", n=1000, k=9, neighbours="add-remove")


def test_letters_between_two_crossings_lose_no_more_than_one_at_the_crossing():
    """They were revealed and are no longer: the step of the proof with its own condition, (f)."""
    seen = 0
    for n, k, epsilon, neighbours in SETTINGS:
        table = mechanism("als-roo", epsilon=epsilon, n=n, k=k, neighbours=neighbours).table
        for at_risk in range(1, 400):
            level, lower = table.level(at_risk), table.level(at_risk - 1)
            crossing = table.crossing(level)
            for count in range(crossing, min(table.crossing(lower), len(table.powers))):
                lost = table(count, at_risk) - table(count, at_risk - 1)
                assert lost * level <= (level - lower) * crossing * table.unit
                seen += 1
    assert seen > 0


@given(
    counts=st.lists(st.sampled_from([0, 0, 0, 1, 2, 5, 9, 10, 11, 30, 40, 55, 60, 300]), min_size=4)
    .filter(sum)
    .map(tuple),
    epsilon=st.sampled_from(["0.1", "0.5", "2"]),
    guess=st.sampled_from(GUESSES),
)
@settings(max_examples=200)
def test_every_dataset_is_within_the_bounds_of_its_span(counts, epsilon, guess):
    """The least total, what is hidden, lifted and lost: each against the dataset itself."""
    n, k = sum(counts), len(counts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adaptive, "ADAPTS_FROM", 0)
        patch.setattr(adaptive, "STARTS", (Fraction(0),))
        sampler = mechanism("als-roo", epsilon=epsilon, n=n, k=k, guess=guess)
        weights = [Fraction(w, sampler.table.unit) for w in sampler.weights(Counts.of(counts))]
    table = sampler.table
    at_risk = sum(min(count, table.knee) for count in counts)
    span = next(s for s in table._spans(n, k) if at_risk <= s.last + table.knee)
    fall, level = span.fall
    assert sum(weights) >= Fraction(span.least_total, ONE)
    for count in counts:
        others = at_risk - min(count, table.knee)
        fallen = table.level(max(0, others - 1))
        assert fallen * level >= (level - fall) * table.level(others)
    gaps = [(w - c) * ONE for w, c in zip(weights, counts, strict=True)]
    assert sum(gap for gap in gaps if gap > 0) <= span.most_lifted
    assert sum(-gap for gap in gaps if gap < 0) <= span.most_lost
    hidden = [w for w, c in zip(weights, counts, strict=True) if w != max(c, table.knee)]
    if max(counts) >= table.knee:  # the one that is revealed is not among the hidden
        assert sum(hidden) <= Fraction(span.most_hidden, ONE * table.knee) + max(weights)
    law = [float(w / sum(weights)) for w in weights]
    distance = sum(abs(p - c / n) for p, c in zip(law, counts, strict=True)) / 2
    assert distance <= float(sampler.worst_alpha) + 1e-12


@pytest.mark.parametrize(("n", "epsilon"), [(200, "1"), (20, "0.5")])
def test_a_simulation_takes_the_law_from_the_same_integers(n, epsilon):
    sampler = mechanism("als-roo", epsilon=epsilon, n=n, k=6)
    counts = np.random.default_rng(1).multinomial(n, [0.5, 0.3, 0.1, 0.05, 0.05, 0], size=50)
    laws = simulation._laws(sampler, counts, None)
    for law, row in zip(laws, counts.tolist(), strict=True):
        assert law.tolist() == pytest.approx([float(p) for p in sampler.pmf(row)], rel=1e-12)


def test_a_letter_seen_often_is_revealed_as_it_is():
    sampler = mechanism("als-roo", epsilon="0.5", n=1000, k=8)
    weights = sampler.weights(Counts.of([500, 300, 150, 50, 0, 0, 0, 0]))
    unit = sampler.table.unit
    assert [weights[y] for y in range(4)] == [500 * unit, 300 * unit, 150 * unit, 50 * unit]
    assert 0 < weights[7] < unit


def test_missing_letters_weigh_less_where_few_letters_have_records():
    sampler = mechanism("als-roo", epsilon="0.1", n=10_000, k=100)
    few = sampler.pmf([10_000] + [0] * 99)[-1]
    some = sampler.pmf([1000] * 10 + [0] * 90)[-1]
    many = sampler.pmf([125] * 80 + [0] * 20)[-1]
    assert 3 * few < some < many / 3
    fixed = mechanism("ls-roo", epsilon="0.1", n=10_000, k=100)
    assert 30 * few < fixed.pmf([10_000] + [0] * 99)[-1]
    assert many < fixed.pmf([125] * 80 + [0] * 20)[-1]


def test_a_guess_that_is_right_helps_and_one_that_is_wrong_costs():
    sparse, dense = [1] + [0] * 29, [1] * 30
    dense[0] = 30
    mass = Fraction(sum(dense))

    def alpha(guess, p):
        sampler = mechanism("als-roo", epsilon="0.3", n=1000, k=30, guess=guess)
        return dproo.accuracy(sampler, p, trials=2000, seed=3).alpha

    assert alpha("sparse", sparse) < 0.7 * alpha("any", sparse)
    dense = [share / mass for share in dense]
    assert alpha("any", dense) < 0.7 * alpha("sparse", dense)
    with pytest.raises(ValueError, match="guess must be one of any, dense, heavy tail, sparse"):
        mechanism("als-roo", epsilon=1, n=100, k=3, guess="thin")


@pytest.mark.parametrize(("n", "epsilon"), [(20, "1"), (10**12, "1e-6"), (1, "50")])
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_it_is_ls_roo_where_it_cannot_adapt(n, epsilon, neighbours):
    if neighbours == "add-remove" and epsilon != "1e-6":
        return
    adaptive_, plain = (
        mechanism(name, epsilon=epsilon, n=n, k=4, neighbours=neighbours)
        for name in ("als-roo", "ls-roo")
    )
    counts = Counts.of([n, 0, 0, 0])
    if epsilon == "50":
        assert adaptive_.weights(counts) != plain.weights(counts)
        return
    assert adaptive_.weights(counts) == plain.weights(counts)
    assert certify(adaptive_).ratio == certify(plain).ratio
    assert certify(adaptive_).witness == certify(plain).witness
    assert adaptive_.worst_alpha == plain.worst_alpha
    assert adaptive_.theorem == plain.theorem is not None


def test_a_release_can_choose_it_by_public_parameters():
    records = ["a"] * 70 + ["b"] * 30
    released = sample(records, alphabet=["a", "b"], epsilon=1, sampler="auto", guess="sparse")
    assert released.receipt["sampler"] == "als-roo"
    assert released.receipt["guess"] == "sparse"
    assert released.receipt["certificate"]["holds"]
    with pytest.raises(ValueError, match=r"guess must be used with als-roo, got ls-roo\."):
        sample(records, alphabet=["a", "b"], epsilon=1, sampler="ls-roo", guess="sparse")
