"""Several draws of a person's several records: no allocation is taken for the worst unproven."""

import json
from fractions import Fraction

import pytest
from support.draws import DICE, SOAK, some
from support.releasing import sample

import dproo
from dproo import Counts, certify, compose, mechanism
from dproo.core.counts import Runs
from dproo.core.numbers import exp_lower, is_at_most_exp, log_upper
from dproo.ledger import Ledger
from dproo.mechanisms import SAMPLERS
from dproo.mechanisms.ls_roo.table import LetterTable
from dproo.mechanisms.roo_joint import (
    CELLS_MAX,
    FACTORS_MAX,
    Urn,
    bound_on_one,
    bound_on_spread,
    least_pseudo,
    risen,
    worst_allocations,
)
from dproo.releases.protection import Protection
from dproo.releases.value import SampleRequest

TWO = {"draws": 2, "records_per_person": 2}
LEAKED = {"epsilon": 8, "n": 3, "k": 3}
LEAK = 247996


def one_letter_pseudo(epsilon):
    """Return the pseudo-count that two draws and two records need if they share one letter."""
    growth = exp_lower(Fraction(epsilon))
    low, high = 0, 2**70
    while high - low > 1:
        middle = (low + high) // 2
        over, under = risen(middle, 2**64, 2, 2)
        low, high = (low, middle) if over <= growth * under else (middle, high)
    return high, 2**64


def spread_ratio(sampler):
    """Return the ratio of two letters that nobody had, each given to a record, and both drawn."""
    before, after = Counts.of([0, 0, 3]), Counts.of([1, 1, 1])
    return sampler.probability(after, (0, 1)) / sampler.probability(before, (0, 1))


def test_a_person_who_spreads_two_records_over_two_letters_is_protected():
    """Once, all was put on one letter: a ratio of 247996 passed for e^8 = 2981."""
    sampler = mechanism("roo", **LEAKED, **TWO)
    assert is_at_most_exp(spread_ratio(sampler), Fraction(8))
    certificate = certify(sampler)
    assert certificate.holds
    assert certificate.ratio == spread_ratio(sampler)
    assert sorted(certificate.witness.letters) == [0, 1]


def test_the_integers_that_leaked_are_convicted():
    base, record = one_letter_pseudo(LEAKED["epsilon"])
    old = Urn(Runs([(base, 3)]), record, 2, 3, gains=2, is_n_public=True)
    ratio, witness = old.certified
    assert round(ratio) == LEAK
    assert sorted(witness.after) == [1, 1, 1]


@pytest.mark.parametrize(("epsilon", "leaks"), [("3.03", False), ("3.04", True), ("20", True)])
def test_the_leak_began_where_epsilon_is_above_three(epsilon, leaks):
    base, record = one_letter_pseudo(epsilon)
    ratio, _ = Urn(Runs([(base, 3)]), record, 2, 3, gains=2, is_n_public=True).certified
    assert is_at_most_exp(ratio, Fraction(epsilon)) is not leaks
    assert is_at_most_exp(
        spread_ratio(mechanism("roo", epsilon=epsilon, n=3, k=3, **TWO)), Fraction(epsilon)
    )


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_every_way_to_release_several_records_protects_a_person_with_several(neighbours):
    request = SampleRequest(
        alphabet=dproo.Alphabet.of(["a", "b"]),
        epsilon=Fraction(8),
        sampler="roo",
        size=2,
        protection=Protection(neighbours=neighbours, records=2),
    )
    law = request.sampler_for(3)
    assert (law.draws, law.records_per_person) == (2, 2)
    assert is_at_most_exp(spread_ratio(law), Fraction(8))
    options = {"alphabet": ["a", "b"], "epsilon": 8, "neighbours": neighbours}
    drawn = sample(["a", "b", "c"], size=2, sampler="roo", records_per_person=2, **options)
    assert Fraction(drawn.receipt.certificate["ratio"]) >= spread_ratio(law)


def test_the_joint_way_keeps_the_person_and_the_prior():
    one = mechanism("roo", epsilon=8, n=3, k=3, records_per_person=2, prior=[1, 2, 3])
    joint = compose(one, releases=2, delta=0).joint.sampler
    assert (joint.draws, joint.records_per_person, joint.prior) == (2, 2, one.prior)
    assert is_at_most_exp(spread_ratio(joint), Fraction(8))
    basic = compose(one, releases=2, delta="1e-6").basic
    assert basic.sampler is one
    assert compose(mechanism("ls-roo", epsilon=1, n=3, k=3), releases=2, delta=0).joint.alpha > 0


def test_where_a_record_weighs_no_more_than_a_letter_one_letter_is_worst():
    """The lemma, by a search over all allocations to letters of any weight from that on."""
    for _ in range(60):
        record, gains, draws = DICE.randint(1, 50), DICE.randint(1, 6), DICE.randint(1, 6)
        bases = sorted(record + DICE.randint(0, 9) ** 3 for _ in range(4))
        worst = worst_allocations(bases, record, gains, draws)[gains][draws]
        assert Fraction(worst.over, worst.under) == Fraction(*risen(bases[0], record, gains, draws))


def test_the_search_finds_what_neither_one_letter_nor_an_even_split_has():
    """Found by trying every pair of parts, with another loop than the search."""
    kinds = set()
    for base in (1, 20, 40, 60, 80, 99, 150):
        for gains, draws in [(2, 2), (2, 4), (3, 3), (4, 4), (3, 7)]:
            worst = worst_allocations([base] * 2, 200, gains, draws)[gains][draws]
            every = max(
                Fraction(*risen(base, 200, g, s))
                * Fraction(*risen(base, 200, gains - g, draws - s))
                for g in range(gains + 1)
                for s in range(draws + 1)
            )
            assert Fraction(worst.over, worst.under) == every
            first, second = worst.parts
            kinds.add("one" if (0, 0) in worst.parts else "even" if first == second else "uneven")
    assert kinds == {"one", "even", "uneven"}


def test_the_bounds_are_bounds_and_close():
    for _ in range(60):
        few = DICE.randint(2, 12)
        many = DICE.randint(few, 40)
        pseudo = Fraction(DICE.randint(1000, 10**6), 1000)
        exact = Fraction(*risen(pseudo.numerator, pseudo.denominator, few, many))
        assert exact <= bound_on_one(pseudo, few, many)
    for gains, draws in [(2, 2), (2, 9), (3, 3), (4, 6), (8, 8)]:
        for base in (1, 10, 300, 999):
            worst = worst_allocations([base] * min(gains, draws), 1000, gains, draws)[-1][-1]
            bound = bound_on_spread(Fraction(base, 1000), gains, draws)
            assert Fraction(worst.over, worst.under) <= bound
    for few in (65, 66, 1000, 1001):
        exact = Fraction(*risen(5000, 1, few, 2000))
        bound = bound_on_one(Fraction(5000), few, 2000)
        assert exact <= bound
        assert log_upper(bound) < log_upper(exact) * Fraction(101, 100)


@pytest.mark.parametrize("epsilon", ["1e-6", "0.5", "3", "8", "20"])
@pytest.mark.parametrize(("gains", "draws"), [(2, 2), (3, 2), (4, 4), (8, 8), (64, 70)])
def test_no_smaller_pseudo_count_would_do(epsilon, gains, draws):
    """Where the search is exact, as it is for every epsilon up to 6."""
    epsilon = Fraction(epsilon)
    growth = exp_lower(epsilon)
    pseudo = least_pseudo(epsilon, growth, [1] * 9, gains, draws)
    assert pseudo >= 1 or gains * draws <= CELLS_MAX
    less = pseudo * (1 - Fraction(1, 2**60))
    over, under = less.as_integer_ratio()
    few = min(gains, draws)
    if pseudo >= 1:
        ratio = Fraction(*risen(over, under, gains, draws))
    else:
        worst = worst_allocations([over] * few, under, gains, draws)[-1][-1]
        ratio = Fraction(worst.over, worst.under)
    assert ratio > growth


@pytest.mark.one_of(3)
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("epsilon", some(["1e-6", "1", "20", "50", "1000"], one_of=5))
def test_many_draws_and_many_records_are_certified_by_a_bound(epsilon, neighbours):
    for gains, draws in [(10**6, 10**6), (2, 10**6), (65, 65), (64, 10**6), (9, 9), (10**6, 2)]:
        for n, k in [(10**12, 10**6), (3, 2)]:
            sampler = mechanism(
                "roo",
                epsilon=epsilon,
                n=n,
                k=k,
                draws=draws,
                records_per_person=gains,
                neighbours=neighbours,
            )
            certificate = certify(sampler)
            assert certificate.holds
            assert len(certificate.witness.letters) == draws
            if min(gains, n, draws) <= FACTORS_MAX:
                assert sampler.ratio(certificate.witness) <= certificate.ratio


def test_with_two_letters_and_public_n_only_one_can_gain():
    for gains, draws in [(2, 2), (9, 9), (70, 70)]:
        sampler = mechanism("roo", epsilon=60, n=99, k=2, draws=draws, records_per_person=gains)
        certificate = certify(sampler)
        assert certificate.holds
        assert set(certificate.witness.letters) == {0}
        assert sampler.ratio(certificate.witness) <= certificate.ratio
        assert certificate.epsilon > 59.999 or gains == 70


def test_the_pseudo_count_of_one_draw_or_one_record_is_what_it_was():
    for epsilon, many in [("1e-6", 1), ("0.1", 3), ("8", 100), ("20", 2)]:
        growth = exp_lower(Fraction(epsilon))
        expected = many / (growth - 1)
        assert least_pseudo(Fraction(epsilon), growth, [1, 1], 1, many) == expected
        assert least_pseudo(Fraction(epsilon), growth, [1, 1], many, 1) == expected


@pytest.mark.parametrize("values", [(0, 1, 3), (3, 2, 3), (1, 3, 4), (1, 2, 9)])
def test_a_table_that_the_search_cannot_judge_is_refused(values):
    with pytest.raises(ValueError, match="values must be positive, rising and convex"):
        LetterTable(values, 5)


SIZES = [1, 3, 300] if SOAK else [1, 300]
PEOPLE = [1, 2, 999] if SOAK else [999]


@pytest.mark.parametrize("epsilon", some(["1e-6", "0.1", "8", "50", "1000"], one_of=6))
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_no_receipt_fails_for_what_is_public(epsilon, neighbours, tmp_path):
    """A ratio of more digits than Python writes was refused after the charge, once."""
    ledger = Ledger.create(tmp_path / "ledger.sqlite3")
    data = ["a", "b", "c", "d"] * 75
    for person in PEOPLE:
        name = f"of {person}"
        ledger.declare(
            name, budget=10**6, delta="0.1", neighbours=neighbours, records_per_person=person
        )
        known = {
            "alphabet": ["a", "b", "c"],
            "epsilon": epsilon,
            "neighbours": neighbours,
            "records_per_person": person,
            "ledger": ledger,
            "dataset": name,
        }
        for sampler in some(SAMPLERS, one_of=4):
            if neighbours not in SAMPLERS[sampler].relations:
                continue
            for size in SIZES:
                release = sample(data, sampler=sampler, size=size, **known)
                json.dumps(release.receipt.as_dict())
                assert len(release.receipt.certificate["ratio"]) < 1400
