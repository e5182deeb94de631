"""BAL-ROO: its bound against brute force, every step of its proof, and what balance is good for."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.draws import DICE, numbers, some

from dproo import Counts, certify, mechanism
from dproo.core.counts import falling_datasets
from dproo.core.numbers import exp_upper
from dproo.mechanisms import BalancedRevealOrObscure
from dproo.mechanisms.bal_roo import sampler
from dproo.mechanisms.bal_roo.bounds import BalancedBounds, lowest_beside
from dproo.mechanisms.bal_roo.table import Levels, balanced_weights
from dproo.study import simulation


def table_of(rate, k, surplus=1):
    """Return the table of a rate, whether or not it is worth having; none if no level moves."""
    sampler = object.__new__(BalancedRevealOrObscure)
    object.__setattr__(sampler, "k", k)
    return sampler._table_of(Fraction(rate), surplus)


def assert_bounded(sampler):
    """Assert that brute force finds no more than the certificate says, and no violation."""
    bound, brute = certify(sampler), certify(sampler, method="enumerate")
    assert brute.ratio <= bound.ratio
    assert bound.holds
    assert sampler.ratio(bound.witness) <= brute.ratio
    return brute


@pytest.fixture(autouse=True, scope="module")
def balanced_anyway():
    """Balance also where LS-ROO is better: what is proven must hold there too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BalancedRevealOrObscure, "_is_worse", lambda *_: False)
        yield


@pytest.fixture
def eager(monkeypatch):
    """Balance at any cost, however little is left of epsilon."""
    monkeypatch.setattr(sampler, "RATE", Fraction(1, 100))
    monkeypatch.setattr(sampler, "ATTEMPTS", 40)


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize(
    ("n", "k", "epsilon"),
    [(12, 3, 20), (12, 4, 20), (30, 3, 5), (24, 4, 3), (40, 3, 2), (18, 5, 2)],
)
def test_no_replacement_leaks_more_than_the_bound(n, k, epsilon):
    sampler = mechanism("bal-roo", epsilon=epsilon, n=n, k=k)
    assert not sampler.plain
    assert_bounded(sampler)


@pytest.mark.parametrize("epsilon", ["1e-6", "0.01", "0.3", "1", "3", "8", "20"])
def test_no_addition_or_removal_leaks_more_than_the_bound(epsilon):
    for k, n in [(2, 12), (3, 12), (4, 9), (5, 6)]:
        assert_bounded(mechanism("bal-roo", epsilon=epsilon, n=n, k=k, neighbours="add-remove"))


RECORDS_MAX, LETTERS_MAX = 12, 5


@given(
    epsilon=st.fractions(min_value=Fraction(1, 10**6), max_value=20),
    n=st.integers(1, RECORDS_MAX),
    k=st.integers(2, LETTERS_MAX),
    neighbours=st.sampled_from(["replace", "add-remove"]),
)
@settings(max_examples=40)
def test_any_setting_is_bounded(epsilon, n, k, neighbours):
    if n * k <= 40:
        assert_bounded(mechanism("bal-roo", epsilon=epsilon, n=n, k=k, neighbours=neighbours))


# The proof, step by step


class Proof:
    """What the proof says of the weights of neighbours, asserted for one dataset after another."""

    def __init__(self, table, k):
        self.table, self.k, self.laws = table, k, {}
        self.bounds = BalancedBounds(table, 1, k)
        assert all(self.bounds.conditions.values()), self.bounds.conditions
        rounding = Fraction(table.low + 1, table.low)
        self.drift = exp_upper(self.bounds.drift) * rounding
        self.gain = table.growth * self.drift
        self.slack = Fraction(1, 2**40)

    def weights(self, dataset):
        key = tuple(sorted(dataset))
        if key not in self.laws:
            row = balanced_weights(self.table, Counts.of(key))
            self.laws[key] = dict(zip(key, row, strict=True))
        return [self.laws[key][count] for count in dataset]

    def check(self, dataset, changes):
        """Assert it of a dataset and all its neighbours, or of the given ones."""
        unit, before = self.table.unit, self.weights(dataset)
        sizes = Counts.of(sorted(dataset)).sizes
        levels = [*map(Levels(self.table, sizes), sizes)]
        loss = self.table.starved(max(levels))[1]
        assert min(levels) + 1 >= lowest_beside(self.table, max(levels), loss)
        if n := sum(dataset):
            bounds = BalancedBounds(self.table, n, self.k)
            least = min(bounds.least_total, bounds.least_lifted)
            assert sum(before) >= (least - self.slack) * unit
            gaps = [Fraction(w, unit) - c for w, c in zip(before, dataset, strict=True)]
            distance = sum(
                abs(Fraction(w, sum(before)) - Fraction(c, n))
                for w, c in zip(before, dataset, strict=True)
            )
            assert distance / 2 <= bounds.largest_distance
            assert min(gaps) >= -Fraction(self.table.starved(self.table.low)[1], unit)
        for loser, gainer in changes:
            after = list(dataset)
            if gainer is not None:
                after[gainer] += 1
            if loser is not None:
                after[loser] -= 1
            if min(after) < 0:
                continue
            weights = self.weights(after)
            for y, (w, changed) in enumerate(zip(before, weights, strict=True)):
                assert changed <= self.gain * w, (dataset, loser, gainer, y)
                if loser is None:
                    assert w <= self.drift * changed, (dataset, gainer, y)
            if loser is not None and gainer is not None:
                fall = Fraction(sum(before) - sum(weights), unit)
                lifted = [self.table(count, self.table.high) for count in after]
                bound = self.bounds.own_fall if weights == lifted else self.bounds.fall
                assert fall <= bound + self.slack, (dataset, loser, gainer)


RATES = "0.05", "0.3", "0.7", "1", "2", "4"
SMALL_DATASETS = [(3, 12), (4, 12), (5, 7), (6, 6)]
LETTERS_DRAWN = 400


@pytest.mark.parametrize("rate", some(RATES, one_of=4))
@pytest.mark.parametrize(("k", "n"), SMALL_DATASETS)
def test_every_step_of_the_proof_holds_for_every_small_dataset(k, n, rate):
    table = table_of(rate, k)
    if table is None:
        assert k <= 4
        return
    proof = Proof(table, k)
    changes = list(product([None, *range(k)], repeat=2))
    for size in range(n + 1):
        for dataset in falling_datasets(size, k):
            proof.check(dataset, changes)


@pytest.mark.parametrize("letters", [1, 4, 12])
def test_every_step_of_the_proof_holds_wherever_some_letters_are(letters):
    """Starved, on the plateau, on the slope, crossing, forgotten: each count of some letters."""
    k = 24
    table = table_of("0.5", k)
    proof = Proof(table, k)
    for count in range(table.forgotten(table.starved(table.low)[1]) + 3):
        dataset = [10**4, 3, *[count] * letters, *[0] * (k - 2 - letters)]
        changes = [(2, 0), (1, 0), (0, 2), (None, 2), (2, None), (1, k - 1), (2, k - 1), (1, 2)]
        proof.check(dataset, changes)


@pytest.mark.one_of(3)
@given(st.data())
@settings(max_examples=40, deadline=None)
def test_every_step_of_the_proof_holds_for_structured_datasets(data):
    """Groups of equal letters anywhere up to where nothing is counted, and one large letter."""
    k = data.draw(st.integers(5, LETTERS_DRAWN))
    rate = data.draw(st.fractions(min_value=Fraction(1, 50), max_value=4))
    table = table_of(rate, k, surplus=data.draw(st.sampled_from([1, 1, 2, 3])))
    if table is None:
        return
    proof = Proof(table, k)
    end = table.forgotten(table.starved(table.low)[1]) + 2
    crossing = table.crossing(table.low)
    somewhere = st.one_of(
        st.integers(0, 3), st.integers(0, crossing + 1), st.integers(0, end), st.just(10**6)
    )
    dataset = []
    while len(dataset) < k:
        letters = data.draw(st.one_of(st.integers(1, 3), st.integers(1, k)))
        dataset += [data.draw(somewhere)] * min(letters, k - len(dataset))
    kinds = {count: dataset.index(count) for count in dataset}
    places = [*kinds.values(), len(dataset) - 1 - dataset[::-1].index(dataset[0])]
    pairs = [(a, b) for a, b in product([None, *places], repeat=2) if a != b]
    proof.check(dataset, data.draw(st.permutations(pairs))[:12])


def test_a_letter_that_loses_a_record_loses_no_more_than_the_bound_says():
    for rate, k in [("0.05", 300), ("0.5", 24), ("2", 9)]:
        table = table_of(rate, k)
        bound = BalancedBounds(table, 1, k).own_fall * table.unit
        steps = [
            table(count + 1, level) - table(count, level)
            for level in (table.low, math.isqrt(table.low * table.high), table.high)
            for count in range(table.revealed + 2)
        ]
        assert bound * 3 / 4 < max(steps) <= bound


def test_the_least_total_is_that_of_a_dataset_nearly():
    """Where most letters are starved, and the level is near the highest but not there."""
    for epsilon, n, k in [("0.1", 10**4, 100), ("0.3", 3334, 100), ("1", 1000, 40)]:
        sampler = mechanism("bal-roo", epsilon=epsilon, n=n, k=k)
        table, totals = sampler.table, []
        for seen, count in product(range(k * 3 // 4, k - 1), range(1, 2 * table.knee)):
            counts = Counts([(n - seen * count, 1), (count, seen), (0, k - 1 - seen)])
            if min(map(Levels(table, counts.sizes), counts.sizes)) < table.high:
                totals.append(Fraction(sampler.weights(counts).total, table.unit))
        lacks = n - sampler.bounds.least_total
        assert lacks * 19 / 20 < n - min(totals) <= lacks


GAP = Counts([(17, 1), (58, 1), (72, 900), (73, 3)])
STEEP, LOSS, STATED = Fraction(1, 4), 1.29, 1.12
"""A slope, and the loss that it has and that the theorem would state, as multiples of the rate."""


def loss_on(table, before, after):
    """Return the largest logarithm of a ratio of probabilities."""
    old, new = balanced_weights(table, before), balanced_weights(table, after)
    pairs = old.combine(new, lambda a, b: (a << 4096) | b).sizes
    ratios = [
        Fraction((pair & ((1 << 4096) - 1)) * old.total, (pair >> 4096) * new.total)
        for pair in pairs
    ]
    return max(abs(math.log(ratio)) for ratio in ratios)


def test_hidden_letters_that_are_counted_nowhere_leak_and_are_refused():
    """Without condition (C): slope 1/4, hardly a plateau, hardly a cap, and the bound is wrong."""
    rate, k = Fraction(1, 50), 905
    sound = table_of(rate, k)
    short = Fraction(51, 50) / (sound.growth - 1) * sound.unit
    high = int(sound.high / sampler.TOP) - (sound.high >> 20)
    broken = replace(
        sound, slope=STEEP, plateau=int(short), fading=sound.surplus // high, high=high
    )
    assert not BalancedBounds(broken, GAP.n, k).conditions["counted"]
    assert BalancedBounds(sound, GAP.n, k).conditions["counted"]
    claimed = math.log(BalancedBounds(broken, GAP.n, k).replaced)
    assert round(loss_on(broken, *moved(GAP, 17, 58)) / float(rate), 2) == LOSS
    assert round(claimed / float(rate), 2) == STATED
    assert loss_on(sound, *moved(GAP, 17, 58)) < 1.01 * float(rate)


def moved(counts, loser, gainer):
    """Return the counts, and those after a record went from ``loser`` to ``gainer``."""
    sizes = dict(counts.sizes)
    sizes[loser] -= 1
    sizes[gainer] -= 1
    others = [(count, letters) for count, letters in sizes.items() if letters > 0]
    return (
        Counts([(loser, 1), (gainer, 1), *others]),
        Counts([(loser - 1, 1), (gainer + 1, 1), *others]),
    )


SMALL, MORE_THAN = Fraction(1, 2), 1.5


def test_too_small_a_surplus_leaks_and_is_refused():
    rate, k, n = Fraction(1, 10), 50, 10**4
    sound = table_of(rate, k)
    half = int(sound.surplus * SMALL)
    longer = table_of(rate, 2 * k).powers
    broken = replace(
        sound, powers=longer, surplus=half, fading=sound.fading // 2, low=sound.low // 2
    )
    assert not BalancedBounds(broken, n, k).conditions["surplus"]
    one = Counts([(n, 1), (0, k - 1)]), Counts([(n - 1, 1), (1, 1), (0, k - 2)])
    assert loss_on(broken, *one) > MORE_THAN * float(rate)
    assert loss_on(sound, *one) < 1.1 * float(rate)


CONDITIONS = {
    "powers": lambda t: {"powers": (*t.powers[:-1], t.powers[-1] * 2)},
    "knee": lambda t: {"knee": t.knee - 1},
    "cap": lambda t: {"high": t.high * 2},
    "levels": lambda t: {"low": t.low + 1},
    "fading": lambda _: {"fading": -1},
    "reach": lambda t: {"powers": t.powers[:-1]},
    "surplus": lambda t: {"surplus": int(t.unit / (t.growth - 1))},
    "plateau": lambda t: {"plateau": t.unit},
    "counted": lambda t: {"slope": 4 * t.slope},
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_table_that_is_not_proven_is_not_taken(condition, monkeypatch):
    sound = mechanism("bal-roo", epsilon="0.5", n=1000, k=40)
    broken = replace(sound.table, **CONDITIONS[condition](sound.table))
    assert not BalancedBounds(broken, 1000, 40).conditions[condition]
    build = BalancedRevealOrObscure._table_of

    def wrong(self, rate, surplus):
        table = build(self, rate, surplus)
        return table and replace(table, **CONDITIONS[condition](table))

    monkeypatch.setattr(BalancedRevealOrObscure, "_table_of", wrong)
    plain = mechanism("bal-roo", epsilon="0.5", n=1000, k=40)
    assert plain.plain
    with pytest.raises(AttributeError, match="bal-roo is ls-roo here"):
        _ = plain.table


@pytest.mark.parametrize(("rate", "k"), [("0.5", 40), ("0.02", 7), ("0.1", 300), ("3", 25)])
def test_the_level_is_the_highest_that_fits(rate, k):
    """One more would not fit, on random datasets with letters of every part of the gift."""
    table = table_of(rate, k)
    for share in (1, 3, 10, 1000):
        level = table.low + (table.high - table.low) // share
        starved, loss = table.starved(level)
        ends = [0, starved, (table.plateau + loss) // table.unit, table.forgotten(loss) + 2]
        counts = [low + DICE.randrange(high - low + 1) for low, high in pairwise(ends)]
        counts += [DICE.randrange(ends[DICE.randrange(4)] + 1) for _ in range(k // 5)]
        sizes = Counts.of(counts + [0] * (k - len(counts))).sizes
        found = Levels(table, sizes)
        for own in sizes:

            def fits(level, own=own, sizes=sizes):
                gifts = sum(table.gift(count, level) * size for count, size in sizes.items())
                return gifts - table.gift(own, level) <= table.left(level) * table.slope.denominator

            assert fits(found(own))
            assert found(own) == table.high or not fits(found(own) + 1)


@pytest.mark.parametrize("epsilon", ["0.05", "0.3", "1", "4"])
@pytest.mark.parametrize("n", [10**4, 10**6, 10**12])
@pytest.mark.parametrize("k", [10, 300, 10**6])
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_the_certificate_spends_nearly_all_of_epsilon(n, k, epsilon, neighbours):
    certificate = certify(mechanism("bal-roo", epsilon=epsilon, n=n, k=k, neighbours=neighbours))
    assert certificate.holds
    assert certificate.epsilon >= 0.99 * float(epsilon)
    seen = certificate.mechanism.ratio(certificate.witness)
    assert math.log(seen) >= 0.8 * float(epsilon)


def test_it_is_ls_roo_where_levels_cannot_move_or_nothing_is_proven():
    for n, k, epsilon in [(9, 2, "1"), (10, 9, "0.1"), (10**12, 4, "1e-6"), (50, 9, "60")]:
        sampler, plain = (mechanism(s, n=n, k=k, epsilon=epsilon) for s in ("bal-roo", "ls-roo"))
        counts = Counts([(n, 1), (0, k - 1)])
        assert sampler.weights(counts) == plain.weights(counts)
        assert certify(sampler).ratio == certify(plain).ratio
        assert certify(sampler).witness == certify(plain).witness
        assert sampler.worst_alpha == plain.worst_alpha
        assert sampler.neighbour_distance == plain.neighbour_distance


def test_unseen_letters_get_what_seen_letters_give():
    """Within a part of the surplus."""
    sampler = mechanism("bal-roo", epsilon="0.1", n=10_000, k=100)
    knee = 1 / (sampler.table.growth - 1)
    for seen, count in [(30, 15), (50, 12), (10, 20)]:
        counts = Counts([(10_000 - seen * count, 1), (count, seen), (0, 99 - seen)])
        weights = sampler.weights(counts)
        total = Fraction(weights.total, sampler.table.unit)
        assert abs(total - 10_000) < 2 * knee


def test_a_letter_seen_often_is_revealed_as_it_is():
    sampler = mechanism("bal-roo", epsilon="0.5", n=1000, k=8)
    weights = sampler.weights(Counts.of([500, 300, 150, 50, 0, 0, 0, 0]))
    unit = sampler.table.unit
    assert [weights[y] for y in range(4)] == [500 * unit, 300 * unit, 150 * unit, 50 * unit]
    assert 0 < weights[7] < unit


@pytest.mark.parametrize(("n", "k", "epsilon"), [(4, 3, 1), (200, 6, 1), (2000, 40, "0.2")])
def test_a_simulation_takes_the_law_from_the_same_integers(n, k, epsilon):
    sampler = mechanism("bal-roo", epsilon=epsilon, n=n, k=k)
    generator = numbers()
    for concentration in (0.05, 0.5, 5):
        p = generator.dirichlet(np.full(k, concentration))
        counts = generator.multinomial(n, p, size=20)
        laws = simulation._laws(sampler, counts, None)
        for law, row in zip(laws, counts.tolist(), strict=True):
            assert law.tolist() == pytest.approx([float(p) for p in sampler.pmf(row)], rel=1e-9)


def test_fewer_records_than_a_hidden_letter_may_have_are_certified():
    sampler = mechanism("bal-roo", n=4, k=10_000, epsilon=4)
    assert sampler.table.crossing(sampler.table.low) > sampler.n
    assert 1 < sampler.ratio(sampler.worst) <= certify(sampler).ratio
    assert certify(sampler).holds


def test_no_level_starves_a_count_outside_its_table():
    table = mechanism("bal-roo", n=1000, k=20, epsilon=1).table
    for outside in (0, len(table.steps)):
        first, last = table.levels_of(outside)
        assert first > last
