"""The audit: its bound holds at the stated confidence, is near the truth, and finds the broken."""
# ruff: noqa: S311 - broken samplers draw as broken samplers do

import math
import random
from fractions import Fraction
from itertools import pairwise
from math import comb
from types import SimpleNamespace

import pytest
from scipy.stats import beta, binom
from support.draws import SOAK, some

import dproo
from dproo.auditing.confidence import Repetition, log_odds_lower
from dproo.auditing.trials import DEPENDENT, NOT_REFUTED, VIOLATED
from dproo.mechanisms import SAMPLERS

pytestmark = pytest.mark.one_of(3)

ALPHA = 1e-6
AUDITS, LETTERS = 400, 50
CERTAIN = "0.999999999"  # hundreds of audits are right all together


def worst(name, **options):
    """Return a sampler and the pair that its certificate says is the worst."""
    sampler = dproo.mechanism(name, **options)
    witness = dproo.certify(sampler).witness
    return sampler, (witness.before, witness.after), math.log(sampler.ratio(witness))


def share_found(name):
    """Return which share of the loss a million trials surely find; of a small loss, less."""
    return 0.9 if name == "subrr" else 0.95


def letters_of(p):
    """Return a draw of one of many letters, each as likely on any dataset."""
    return SimpleNamespace(draw_many=lambda _, size: random.choices(range(len(p)), p, k=size))


# The bound.


@pytest.mark.parametrize("trials", [1, 2, 7, 40])
@pytest.mark.parametrize("alpha", [0.3, 0.05, 0.001])
def test_the_bound_on_odds_covers_them_exactly(trials, alpha):
    bounds = [log_odds_lower(x, trials, alpha=alpha) for x in range(trials + 1)]
    assert bounds == sorted(bounds)
    for log_odds in (0.0, 0.1, 0.5, 1.0, 3.0, *(bound * 0.999999 for bound in bounds)):
        chance = Fraction(1 / (1 + math.exp(-log_odds)))
        missed = sum(
            comb(trials, x) * chance**x * (1 - chance) ** (trials - x)
            for x in range(trials + 1)
            if bounds[x] > log_odds
        )
        assert missed <= alpha


@pytest.mark.parametrize("share", some([0.5001, 0.6, 0.73, 0.99, 1.0], one_of=6))
@pytest.mark.parametrize("trials", [10, 1000, 10**6, 2 * 10**8])
@pytest.mark.parametrize("alpha", some([0.05, 0.0009, 1e-9], one_of=6))
def test_the_bound_on_odds_is_that_of_clopper_and_pearson_never_rounded_up(share, trials, alpha):
    successes = math.ceil(share * trials)
    chance = beta.ppf(alpha, successes, trials - successes + 1)
    expected = max(0.0, math.log(chance / (1 - chance)))
    bound = log_odds_lower(successes, trials, alpha=alpha)
    assert bound <= expected + 1e-9
    assert bound == pytest.approx(expected, rel=1e-3, abs=1e-6)


# Right.


@pytest.mark.parametrize("name", some(SAMPLERS, one_of=4))
def test_a_million_trials_find_95_percent_of_epsilon_on_the_worst_pair(name):
    sampler, pair, loss = worst(name, epsilon=1, n=4, k=3)
    options = {"trials": 10**6, "confidence": CERTAIN, "epsilon": 1}
    found = dproo.audit(sampler, *pair, **options)
    assert share_found(name) * loss <= found.epsilon_lower <= 1
    assert found.verdict == NOT_REFUTED
    if name in {"roo", "ds-roo", "ls-roo"}:
        assert found.epsilon_lower >= 0.95


@pytest.mark.untraced
@pytest.mark.parametrize("name", some(SAMPLERS, one_of=4))
def test_many_audits_never_exceed_epsilon(name):
    sampler, pair, loss = worst(name, epsilon=1, n=5, k=2)
    trials = 10**6 if SOAK else 2_000
    options = {"trials": trials, "confidence": CERTAIN, "epsilon": 1}
    for _ in range(100 if SOAK else 30):
        found = dproo.audit(sampler, *pair, **options)
        assert found.epsilon_lower <= loss
        assert found.verdict == NOT_REFUTED
        assert not SOAK or found.epsilon_lower >= share_found(name) * loss


def test_the_bound_fails_as_rarely_as_it_states_where_it_is_tight():
    sampler, pair, loss = worst("roo", epsilon=1, n=2, k=2)
    options = {"trials": 400, "confidence": "0.8"}
    found = [dproo.audit(sampler, *pair, **options) for _ in range(AUDITS)]
    misses = sum(each.epsilon_lower > loss or not each.are_independent for each in found)
    assert binom.sf(misses - 1, AUDITS, 0.2) > ALPHA
    assert misses > 0, "a bound that never fails is not tight"


def test_choosing_among_many_letters_raises_no_false_alarm():
    options = {"trials": 1_000, "confidence": "0.9"}
    found = [dproo.audit(letters_of([1] * LETTERS), 0, 1, **options) for _ in range(200)]
    alarms = sum(each.epsilon_lower > 0 or not each.are_independent for each in found)
    assert binom.sf(alarms - 1, 200, 0.1) > ALPHA


def test_the_confidence_is_shared_by_the_bound_and_the_test_of_independence():
    sampler, pair, _ = worst("roo", epsilon=1, n=2, k=2)
    found = dproo.audit(sampler, *pair, trials=10_000, confidence="0.9")
    few, many = sorted(found.counts)
    assert found.epsilon_lower == log_odds_lower(many, few + many, alpha=0.09)
    assert sum(found.measured) == 16_000
    assert found.confidence == 0.9
    assert dproo.audit(sampler, *pair, trials=100, confidence="0." + "9" * 30).confidence < 1
    assert found.verdict == (None if found.are_independent else DEPENDENT)


def test_the_event_is_found_among_letters_that_do_not_matter():
    law = {0: [3, 1, *[1] * 40], 1: [1, 3, *[1] * 40]}
    found = dproo.audit(
        SimpleNamespace(draw_many=lambda d, n: random.choices(range(42), weights=law[d], k=n)),
        *(0, 1),
        trials=100_000,
        confidence=CERTAIN,
    )
    assert found.event in ({0}, {1})
    assert found.likelier_on == ("dataset" if found.event == {0} else "neighbour")
    assert 0.5 < found.epsilon_lower < math.log(3)


def test_letters_never_seen_twice_do_not_hide_an_event():
    def draw(dataset):
        return random.random() if random.random() < 0.5 else (random.random() < 0.2 + dataset / 2)

    found = dproo.audit(draw, 0, 1, trials=5_000)
    assert found.epsilon_lower > 0.5


@pytest.mark.parametrize("fresh", [object, lambda: float("nan"), random.random])
def test_a_dataset_whose_letters_never_repeat_is_told_from_one_whose_do(fresh):
    for _ in range(20):
        found = dproo.audit(lambda seen: "flu" if seen else fresh(), 0, 1, trials=500, epsilon=1)
        assert (found.verdict, found.event) == (VIOLATED, {"flu"})


def test_an_event_known_beforehand_is_watched_alone():
    draw = letters_of([1, 1])
    assert dproo.audit(draw, 0, 1, trials=500, event={1}).event == {1}


def test_datasets_far_apart_share_the_bound():
    def draw(dataset):
        return random.random() < (0.9 if dataset else 0.1)

    options = {"trials": 20_000, "confidence": CERTAIN, "epsilon": 1}
    near = dproo.audit(draw, 0, 1, **options)
    far = dproo.audit(draw, 0, 1, **options, distance=4)
    assert near.verdict == VIOLATED
    assert far.verdict == NOT_REFUTED
    assert far.epsilon_lower == pytest.approx(near.epsilon_lower / 4, rel=0.1)


def test_it_draws_all_trials_and_no_more():
    done = []
    dproo.audit(lambda data: done.append(data) or 0, 0, 1, trials=101)
    assert len(done) == 202


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"trials": 99}, ValueError, "trials must be at least 100, got 99."),
        ({"trials": 10**9}, ValueError, "trials must be at most 100000000"),
        ({"trials": 1e6}, TypeError, "trials must be an integer"),
        ({"confidence": 1}, ValueError, "confidence must be between 0 and 1, got 1."),
        ({"confidence": float("nan")}, ValueError, "confidence must be a finite number"),
        ({"epsilon": 0}, ValueError, "epsilon must be positive, got 0."),
        ({"distance": 0}, ValueError, "distance must be at least 1, got 0."),
        ({"event": "flu"}, TypeError, "event must be a collection of letters, got 'flu'."),
    ],
)
def test_bad_arguments_are_refused_before_anything_is_drawn(options, error, sentence):
    def draw(_):
        pytest.fail("drawn")

    with pytest.raises(error, match=sentence):
        dproo.audit(draw, 0, 1, **options)


def test_a_draw_that_returns_no_letters_is_refused():
    with pytest.raises(TypeError, match=r"draw must return letters that are hashable, got \[\[\]"):
        dproo.audit(lambda _: [], 0, 1)
    with pytest.raises(ValueError, match=r"draw must return \d+ letters, got 1\."):
        dproo.audit(SimpleNamespace(draw_many=lambda _, size: [size]), 0, 1)


# The broken samplers.


def test_the_printed_ds_roo_is_caught():
    for epsilon, n, k in (("0.5", 4, 3), ("0.2", 25, 24)):
        sampler, pair, _ = worst("ds-roo", epsilon=epsilon, n=n, k=k, as_printed=True)
        options = {"trials": 300_000, "confidence": CERTAIN, "epsilon": epsilon}
        assert dproo.audit(sampler, *pair, **options).verdict == VIOLATED
        sampler, pair, _ = worst("ds-roo", epsilon=epsilon, n=n, k=k)
        assert dproo.audit(sampler, *pair, **options).verdict == NOT_REFUTED


def test_a_sampler_that_obscures_a_tenth_too_rarely_is_caught():
    n, k = 10, 3
    q = 1 / (1 + Fraction(n, k) * (Fraction(math.e) - 1))
    leaking = dproo.mechanism("roo", q=q * 9 / 10, n=n, k=k)
    _, pair, _ = worst("roo", epsilon=1, n=n, k=k)
    options = {"trials": 2_000_000, "confidence": CERTAIN, "epsilon": 1}
    found = dproo.audit(leaking, *pair, **options)
    assert found.verdict == VIOLATED
    assert found.epsilon_lower < leaking.epsilon


def drop_nulls(records):
    """ROO at epsilon = 1 as if all of 20 records had one of three letters."""
    if random.random() < 1 / (1 + 20 / 3 * (math.e - 1)):
        return random.choice(["flu", "cold", "plague"])
    return random.choice([record for record in records if record is not None] or ["flu"])


def test_a_sampler_that_drops_nulls_is_caught():
    records = ["flu"] * 3 + [None] * 17
    options = {"trials": 20_000, "confidence": CERTAIN, "epsilon": 1}
    found = dproo.audit(drop_nulls, records, [*records[:-1], "plague"], **options)
    assert found.verdict == VIOLATED
    assert found.event == {"plague"}


def seeded(records):
    """ROO at epsilon = 1 with the same generator in every run."""
    generator = random.Random(20_251_115)
    if generator.random() < 1 / (1 + len(records) / 3 * (math.e - 1)):
        return generator.choice(["flu", "cold", "plague"])
    return generator.choice(records)


def test_a_seeded_sampler_is_caught_where_one_record_decides():
    path = [["plague"] * i + ["flu"] * (20 - i) for i in range(21)]
    audits = [dproo.audit(seeded, d, e, trials=200, epsilon=1) for d, e in pairwise(path)]
    assert [found.verdict for found in audits].count(VIOLATED) == 1
    assert all(found.letters == (1, 1) for found in audits)


def test_a_sampler_seeded_by_the_clock_is_caught():
    """A generator that is seeded anew every thousand draws, as by the second."""
    ticks = iter(range(10**9))

    def draw(records):
        return random.Random(next(ticks) // 1000).choice(records)

    records = ["flu", "cold"] * 10
    found = dproo.audit(draw, records, [*records[:-1], "flu"], trials=10_000, epsilon=1)
    assert found.verdict == DEPENDENT


def test_a_sampler_that_deals_letters_in_turn_is_caught():
    turn = iter(range(10**9))
    found = dproo.audit(lambda _: next(turn) % 2, 0, 1, trials=1_000, epsilon=1)
    assert found.verdict == DEPENDENT


def test_independent_letters_are_denied_independence_as_rarely_as_stated():
    rejected = 0
    for _ in range(400):
        watched = Repetition()
        for _ in range(10):
            watched.watch(random.choices(range(3), k=60))
        rejected += not watched.is_by_chance(alpha=0.1)
    assert binom.sf(rejected - 1, 400, 0.1) > ALPHA
