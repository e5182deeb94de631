"""The certificate: equal to brute force where that can be done, and right where it cannot."""

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.draws import SOAK, some

import dproo
from dproo import Counts, certify, mechanism
from dproo.core.numbers import exp_lower, is_at_most_exp
from dproo.mechanisms import SAMPLERS
from dproo.mechanisms.ls_roo.calibration import ENTRIES_MAX, Envelope

EPSILONS = [
    "0.5",
    *(
        pytest.param(epsilon, marks=pytest.mark.untraced)
        for epsilon in ("0.001", "0.01", "0.1", "1", "2", "5")
    ),
]
RECORDS_MAX, LETTERS_MAX = 20, 5
REPLACED = {
    "roo": {},
    "ds-roo": {},
    "ds-roo as printed": {"as_printed": True},
    "ls-roo": {},
    "subrr": {},
}


def assert_certified(sampler):
    """Assert that the certificate equals brute force, and holds if it must."""
    fast = certify(sampler)
    brute = certify(sampler, method="enumerate")
    assert fast.ratio == brute.ratio
    assert sampler.ratio(fast.witness) == fast.ratio
    assert fast.holds or not sampler.is_for_release
    assert fast.epsilon >= math.log(fast.ratio) - 1e-12


@pytest.mark.parametrize("epsilon", some(EPSILONS, one_of=6))
@pytest.mark.parametrize("sampler", REPLACED)
def test_replacing_one_record_leaks_at_most_epsilon_and_exactly_what_is_certified(sampler, epsilon):
    name, *_ = sampler.split()
    records = range(1, RECORDS_MAX + 1) if SOAK or epsilon == "0.5" else (1, 2, 3, 5, 8, 12)
    for k, n in product(range(2, LETTERS_MAX + 1), records):
        assert_certified(mechanism(name, epsilon=epsilon, n=n, k=k, **REPLACED[sampler]))


@pytest.mark.parametrize("epsilon", some(EPSILONS, one_of=6))
@pytest.mark.parametrize("name", ["roo", "ls-roo"])
def test_adding_or_removing_one_record_leaks_at_most_epsilon(name, epsilon):
    letters = range(2, LETTERS_MAX + 1)
    many = product(letters if SOAK or epsilon == "0.5" else (2, 3), [RECORDS_MAX])
    for k, n in [*product(letters, (1, 2, 3, 7)), *many]:
        assert_certified(mechanism(name, epsilon=epsilon, n=n, k=k, neighbours="add-remove"))


@pytest.mark.parametrize("epsilon", ["0.01", "0.5", "2"])
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize(("draws", "records_per_person"), [(2, 1), (3, 1), (1, 2), (1, 3), (2, 2)])
def test_several_draws_and_several_records_are_certified(
    epsilon, neighbours, draws, records_per_person
):
    for k, n in [(2, 1), (2, 5), (3, 4)]:
        sampler = mechanism(
            "roo",
            epsilon=epsilon,
            n=n,
            k=k,
            neighbours=neighbours,
            draws=draws,
            records_per_person=records_per_person,
        )
        assert_certified(sampler)


@pytest.mark.parametrize("epsilon", ["0.01", "0.5", "2"])
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("prior", [["0.2", "0.3", "0.5"], [9, 1, 1], [1, 1, 100]])
def test_a_public_prior_is_certified(epsilon, neighbours, prior):
    for n in (1, 4):
        assert_certified(
            mechanism("roo", epsilon=epsilon, n=n, k=3, neighbours=neighbours, prior=prior)
        )


@pytest.mark.parametrize("epsilon", ["0.01", "0.5", "2"])
def test_several_answers_by_randomized_response_are_certified(epsilon):
    for k, n, draws in [(2, 2, 2), (2, 5, 2), (3, 4, 3), (3, 3, 3)]:
        assert_certified(mechanism("subrr", epsilon=epsilon, n=n, k=k, draws=draws))


@pytest.mark.one_of(3)
@given(
    name=st.sampled_from(["roo", "ds-roo", "ls-roo", "subrr"]),
    epsilon=st.fractions(min_value=Fraction(1, 10**4), max_value=20),
    n=st.integers(1, 24),
    k=st.integers(2, 5),
)
@settings(max_examples=60)
def test_any_epsilon_is_certified(name, epsilon, n, k):
    assert_certified(mechanism(name, epsilon=epsilon, n=n, k=k))


def test_brute_force_itself_agrees_with_the_definition():
    """Every ordered pair of datasets and every letter, from ``pmf`` alone."""
    for name, n, k in product(SAMPLERS, [2, 5], [2, 3]):
        sampler = mechanism(name, epsilon="0.7", n=n, k=k)
        datasets = [c for c in product(range(n + 1), repeat=k) if sum(c) == n]
        worst = max(
            after / before
            for one, other in product(datasets, repeat=2)
            if sum(abs(a - b) for a, b in zip(one, other, strict=True)) == 2
            for before, after in zip(sampler.pmf(one), sampler.pmf(other), strict=True)
        )
        assert certify(sampler, method="enumerate").ratio == worst


@pytest.mark.parametrize(
    ("n", "k", "least"), [(10001, 10000, 0.69), (100000, 1000, 0.033)], ids=["last step", "big"]
)
def test_the_printed_table_leaks_and_the_private_one_does_not(n, k, least):
    printed = mechanism("ds-roo", epsilon="0.01", n=n, k=k, as_printed=True)
    leak = certify(printed)
    assert leak.epsilon >= least
    assert not leak.holds
    (letter,) = leak.witness.letters
    before, after = printed.pmf(leak.witness.before), printed.pmf(leak.witness.after)
    assert after[letter] / before[letter] == leak.ratio
    private = certify(mechanism("ds-roo", epsilon="0.01", n=n, k=k))
    assert private.holds
    assert private.epsilon <= 0.01
    assert 1 - private.epsilon / 0.01 < 1e-6


def test_the_smallest_printed_leak_is_found():
    """Two letters, three records: the ratio is above e^epsilon by a hair."""
    sampler = mechanism("ds-roo", epsilon="0.00995033085", n=3, k=2, as_printed=True)
    leak = certify(sampler)
    assert not leak.holds
    assert float(leak.ratio) == pytest.approx(1.010098, abs=1e-6)
    assert sorted(leak.witness.before) == [1, 2]


def test_ls_roo_spends_all_of_its_epsilon():
    certificate = certify(mechanism("ls-roo", epsilon="0.1", n=1000, k=9))
    assert abs(certificate.ratio - Fraction(math.exp(0.1))) < Fraction(1, 10**6)


SETTINGS = list(
    product([10**3, 10**6, 10**9, 10**12], [2, 3, 10, 10**6], ["0.001", "0.01", "1", "10"])
)


@pytest.mark.parametrize("name", SAMPLERS)
def test_large_settings_are_certified_and_their_witness_has_the_ratio(name):
    for n, k, epsilon in SETTINGS:
        certificate = certify(mechanism(name, epsilon=epsilon, n=n, k=k))
        assert certificate.holds
        assert certificate.epsilon <= float(epsilon) * (1 + 1e-15)
        witness = certificate.witness
        assert witness.before.n == witness.after.n == n
        assert witness.before.k == witness.after.k == k
        moved = list(zip_runs(witness.before, witness.after))
        assert sum(abs(a - b) * letters for a, b, letters in moved) == 2


def zip_runs(left: Counts, right: Counts):
    """Yield both counts and how many letters have them."""
    paired = left.combine(right, lambda a, b: (a << 128) | b)
    for value, letters in paired.runs:
        yield value >> 128, value & (2**128 - 1), letters


@pytest.mark.parametrize(
    "epsilon",
    some(["1e-30", "1e-18", "1e-12", "1e-6", "0.1", "20", "50", "100", "700", "1000"], one_of=8),
)
@pytest.mark.parametrize(
    ("name", "neighbours"),
    [(name, relation) for name, sampler in SAMPLERS.items() for relation in sampler.relations],
)
def test_extreme_epsilons_are_certified(name, neighbours, epsilon):
    for n, k in [(1, 2), (30, 4), (10**12, 10), (10**12, 10**9)]:
        sampler = mechanism(name, epsilon=epsilon, n=n, k=k, neighbours=neighbours)
        certificate = certify(sampler)
        assert certificate.holds
        if name in {"roo", "ls-roo"} and neighbours == "replace":
            assert certificate.epsilon > 0.999 * float(epsilon)


@pytest.mark.parametrize("is_n_public", [True, False])
@pytest.mark.parametrize("epsilon", ["1e-30", "1e-18", "1e-12", "1e-6", "1e-4"])
@pytest.mark.parametrize("n", [ENTRIES_MAX + 1, 10**12, 2**80])
def test_no_rate_makes_a_long_table(n, epsilon, is_n_public):
    """Not even the lowest; and the table of the likely rate need not be searched for another."""
    for k in (2, 10, 10**9):
        tables = Envelope(exp_lower(Fraction(epsilon)), n, k, is_n_public=is_n_public)
        for rate in (1, tables.largest_rate // 2, tables.likely_rate, tables.largest_rate):
            assert tables.end(rate)[0] <= ENTRIES_MAX
        reached = tables._likely_ratio(tables.likely_rate)
        assert tables.growth - tables.tolerance <= reached <= tables.growth


def test_the_certified_epsilon_is_rounded_up():
    """It is the least float at or above the loss, whichever way the nearest one lies."""
    for tenths in range(1, 40):
        certificate = certify(mechanism("subrr", epsilon=Fraction(tenths, 10), n=30, k=3))
        assert is_at_most_exp(certificate.ratio, Fraction(certificate.epsilon))
        below = Fraction(math.nextafter(certificate.epsilon, 0))
        assert not is_at_most_exp(certificate.ratio, below)


def test_a_sampler_whose_integers_leak_cannot_be_made(monkeypatch):
    lower = dproo.Mechanism.growth.func
    monkeypatch.setattr(dproo.Mechanism, "growth", property(lambda m: lower(m) + Fraction(1, 100)))
    for name in ("roo", "ds-roo", "ls-roo"):
        with pytest.raises(ValueError, match=f"{name} did not certify at epsilon = 1"):
            mechanism(name, epsilon=1, n=100, k=3)


def test_brute_force_refuses_what_it_cannot_finish():
    with pytest.raises(ValueError, match="method must be 'extremes' for so many datasets"):
        certify(mechanism("roo", epsilon=1, n=1000, k=9), method="enumerate")
    with pytest.raises(ValueError, match="method must be 'extremes' for so many outputs"):
        certify(mechanism("roo", epsilon=1, n=2, k=4, draws=40), method="enumerate")
    with pytest.raises(ValueError, match="method must be one of enumerate, extremes, got 'guess'"):
        certify(mechanism("roo", epsilon=1, n=10, k=2), method="guess")
