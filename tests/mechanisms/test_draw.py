"""The law of the draw is the law that was certified: every branch of the source is walked."""

import os
import random
from array import array
from collections import Counter
from fractions import Fraction
from itertools import chain, product

import pytest
from support.draws import SOAK, some
from support.walk import law

import dproo
from dproo import Counts
from dproo.core import draw
from dproo.core.counts import Runs
from dproo.core.draw import RandomSource
from dproo.mechanisms import ADD_REMOVE, REPLACE, SAMPLERS, ds_roo
from dproo.mechanisms.ls_roo import calibration
from dproo.releases.value import SampleRequest


@pytest.fixture
def coarse(monkeypatch):
    """Build the same samplers from coarse integers, so that every unit can be walked."""
    monkeypatch.setattr(ds_roo, "BITS", 3)
    monkeypatch.setattr(calibration, "BITS", 2)
    monkeypatch.setattr(dproo.Mechanism, "growth", property(lambda _: Fraction(5, 2)))


SMALL = [
    counts
    for k, n in [(2, 1), (2, 4), (3, 3), *([(3, 5), (4, 4)] if SOAK else [(4, 2)])]
    for counts in product(range(n + 1), repeat=k)
    if sum(counts) == n
]


@pytest.mark.one_of(3)
@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize("name", SAMPLERS)
def test_the_law_of_the_draw_is_the_pmf(name):
    for counts in SMALL:
        sampler = dproo.mechanism(name, epsilon=1, n=sum(counts), k=len(counts))
        drawn = law(lambda source: sampler.draw(counts, source=source))  # noqa: B023 - used at once
        expected = sampler.pmf(counts)
        assert [drawn[letter,] for letter in range(sampler.k)] == expected
        assert sum(expected) == 1


@pytest.mark.parametrize("name", SAMPLERS)
def test_a_letter_of_each_dataset_is_what_each_would_draw_from_the_same_bytes(name):
    """Datasets are drawn from at once, their counts one behind the other, and maybe a rest."""
    for neighbours in SAMPLERS[name].relations:
        for seed in range(50):
            rng = random.Random(seed)  # noqa: S311 - a test's bytes
            parts = [rng.sample([0, 1, 5, 40], 4) for _ in range(7)]
            n = 46 if neighbours == REPLACE else 46 * 7 + 18  # of each, or the most of all
            sampler = dproo.mechanism(name, epsilon=1, n=n, k=4, neighbours=neighbours)
            bytes_of_one, bytes_of_all = (RandomSource(random.Random(seed).randbytes) for _ in "12")  # noqa: S311
            each = [sampler.draw(part, source=bytes_of_one)[0] for part in parts]
            row = Counts.of([*chain.from_iterable(parts), *rng.choice([[], [9, 9]])])
            assert sampler.draw_each(row, source=bytes_of_all) == each
            with pytest.raises(ValueError, match="must sum to"):
                sampler.draw_each(Counts.of([1, 2, 345, 0]))


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize(
    ("name", "draws", "calls"), [("roo", 2, 2), ("roo", 2, 3), ("roo", 3, 3), ("subrr", 2, None)]
)
@pytest.mark.parametrize("counts", [(1, 2), (0, 3), (2, 1, 0), (2, 2)])
def test_the_law_of_several_draws_is_their_joint_probability(name, draws, calls, counts):
    sampler = dproo.mechanism(name, epsilon=1, n=sum(counts), k=len(counts), draws=draws)
    drawn = law(lambda source: sampler.draw(counts, source=source), calls)
    outcomes = list(product(range(sampler.k), repeat=draws))
    expected = {letters: sampler.probability(Counts.of(counts), letters) for letters in outcomes}
    assert drawn == expected
    first = Counter()
    for letters, chance in expected.items():
        first[letters[0]] += chance
    assert [first[letter] for letter in range(sampler.k)] == sampler.pmf(counts)


@pytest.mark.parametrize(
    "sampler",
    [
        dproo.mechanism("roo", epsilon=1, n=4, k=3, draws=3),
        dproo.mechanism("roo", epsilon=1, n=4, k=3, draws=2, records_per_person=3),
        dproo.mechanism("roo", epsilon=1, n=4, k=3, draws=3, prior=[1, 2, 3]),
        dproo.mechanism("roo", epsilon=1, n=4, k=3, draws=2, neighbours="add-remove"),
        dproo.mechanism("subrr", epsilon=1, n=4, k=3, draws=3),
        dproo.mechanism("subrr", epsilon="0.1", n=4, k=3, draws=2),
    ],
)
def test_the_ratio_of_a_transition_is_that_of_its_probabilities(sampler):
    """Whatever cancels on the way, for every pair of datasets and every outcome."""
    fixed = sampler.neighbours == "replace"
    datasets = [
        Counts.of(counts)
        for counts in product(range(5), repeat=3)
        if (sum(counts) == 4 if fixed else sum(counts) <= 4)
    ]
    for before, after in some(product(datasets, repeat=2), one_of=8):
        for letters in product(range(3), repeat=sampler.draws):
            over, under = (sampler.probability(side, letters) for side in (after, before))
            assert sampler.ratio(dproo.Transition(before, after, letters)) == over / under


def test_very_many_records_are_drawn_jointly_and_certified():
    """At once: in the time of a few seconds, where one step a pair of draws would take days."""
    draws = 10**6 if SOAK else 10**5
    counts = Counts.of([10**7 + i for i in range(1000)])
    for name in ("roo", "subrr"):
        sampler = dproo.mechanism(name, epsilon=1, n=counts.n, k=counts.k, draws=draws)
        assert dproo.certify(sampler).holds
        drawn = Counter(sampler.draw(counts))
        assert drawn.total() == draws
        assert min(drawn[letter] for letter in range(1000)) > draws // 5000


def test_an_urn_that_is_nearly_empty_is_drawn_from_to_the_end():
    """Most balls of the full urn are not yet in it when the first are drawn."""
    sampler = dproo.mechanism("roo", epsilon=20, k=3, draws=5_000, neighbours="add-remove")
    drawn = sampler.draw([0, 0, 1])
    assert len(drawn) == 5_000
    assert set(drawn) <= {0, 1, 2}


def limited(size):
    """Return a source that has only so many bytes."""
    left = [size]

    def entropy(count):
        left[0] -= count
        assert left[0] >= 0, "a draw goes on and on"
        return os.urandom(count)

    return RandomSource(entropy)


@pytest.mark.parametrize("epsilon", ["0.001", "1", "20", "1000"])
@pytest.mark.parametrize("counts", [[0, 0, 0], [0, 1, 0], [0, 0, 2]])
def test_every_release_without_records_ends_as_one_with_records(epsilon, counts):
    """Where their number is private, there may be none: one record must not decide."""
    options = {"epsilon": epsilon, "k": 3, "neighbours": "add-remove"}
    several = [{"draws": draws} for draws in (1, 2, 7)]
    several += [{"draws": 2, "records_per_person": 3}, {"draws": 2, "prior": [1, 2, 3]}]
    laws = [dproo.mechanism("roo", **options, **more) for more in several]
    laws += [
        dproo.mechanism(name, **options)
        for name, sampler in SAMPLERS.items()
        if ADD_REMOVE in sampler.relations
    ]
    for sampler in laws:
        assert len(sampler.draw(counts, source=limited(1 << 20))) == sampler.draws
    for name, size in product(("auto", "roo", "ls-roo", "bal-roo"), (1, 2, 7)):
        request = SampleRequest(
            alphabet=dproo.Alphabet.of(["a", "b"]),
            epsilon=Fraction(epsilon),
            sampler=name,
            size=size,
            protection=dproo.Protection(neighbours="add-remove"),
        )
        drawn = request.draw([Counts.of(counts)], limited(1 << 20))
        assert len(drawn.values) == size


@pytest.mark.usefixtures("coarse")
def test_the_law_with_a_prior_is_walked_too():
    sampler = dproo.mechanism("roo", epsilon=1, n=3, k=3, prior=["0.5", "0.3", "0.2"])
    drawn = law(lambda source: sampler.draw([0, 1, 2], source=source))
    assert [drawn[letter,] for letter in range(3)] == sampler.pmf([0, 1, 2])


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 6, 7, 8, 100, 255, 256])
def test_an_integer_below_a_bound_is_uniform_over_all_bytes(bound):
    outcomes = Counter()
    for byte in range(256):
        supply = iter([bytes([byte])])

        def entropy(length, supply=supply):
            return next(supply) if length else b""

        try:
            outcomes[RandomSource(entropy).below(bound)] += 1
        except StopIteration:  # rejected: another byte was asked for
            outcomes["rejected"] += 1
    accepted = [outcomes[value] for value in range(bound)]
    assert set(outcomes) <= {*range(bound), "rejected"}
    assert len(set(accepted)) == 1
    assert sum(outcomes.values()) == 256


@pytest.mark.parametrize("count", [1, 7, 8, 9, 16, 20])
def test_bits_drawn_together_are_the_bits_drawn_one_by_one(count):
    supply = bytes(range(1, 61))
    together = RandomSource(lambda length: supply[:length]).bits_of_each(count, 20)
    rest = iter(supply)
    alone = RandomSource(lambda length: bytes(next(rest) for _ in range(length)))
    assert together == [alone.bits(count) for _ in range(20)]
    assert max(together).bit_length() <= count


@pytest.mark.one_of(3)
@pytest.mark.parametrize(
    "weights", [Runs([(3, 1), (1, 2), (7, 1)]), Runs([(1, 11)]), Runs([(1, 1), (60, 1)])]
)
def test_many_draws_have_the_law_of_one(weights, monkeypatch):
    """Walk all first 16 bits at once, against every value of the bits behind them."""
    monkeypatch.setattr(draw, "pick", lambda *_: "rejected")
    cells = array("H", range(1 << 16))
    behind = weights.total.bit_length()
    drawn = Counter()
    for rest in range(1 << behind):
        source = RandomSource(lambda _: cells.tobytes())
        source.bits_of_each = lambda _, size, rest=rest: [rest] * size
        drawn.update(draw.pick_many(weights, len(cells), source))
    copies = (1 << 16 + behind) // weights.total
    assert [drawn[letter] for letter in range(weights.k)] == [w * copies for w in weights]
    assert drawn["rejected"] < drawn.total() >> 16


def test_many_draws_over_a_huge_sparse_alphabet_stay_inside_it():
    weights = Runs([(1, 10**12), (2**70, 1), (1, 10**12)])
    letters = draw.pick_many(weights, 10_000, RandomSource())
    assert len(letters) == 10_000
    assert all(0 <= letter < weights.k for letter in letters)
    assert letters.count(10**12) > 9_900


def test_a_letter_without_weight_is_never_drawn():
    weights = Runs([(0, 5), (1, 1), (0, 5)])
    assert {draw.pick(weights, RandomSource()) for _ in range(100)} == {5}
    assert set(draw.pick_many(weights, 5_000, RandomSource())) == {5}


def test_a_fork_does_not_repeat_the_parents_draws():
    reader, writer = os.pipe()
    source = RandomSource()
    child = os.fork()
    drawn = source.bits(256).to_bytes(32, "big")
    if child == 0:
        os.write(writer, drawn)
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 32) != drawn
    os.close(reader)
    os.close(writer)


def test_a_million_letters_and_huge_counts_draw_at_once():
    counts = Counts.sparse({7: 2**63 - 1, 10**12 - 1: 2**62}, k=10**12)
    for name in SAMPLERS:
        sampler = dproo.mechanism(name, epsilon="0.1", n=counts.n, k=counts.k)
        assert sampler.draw(counts)[0] < 10**12
        assert len(sampler.draw_many(counts, 5_000)) == 5_000
