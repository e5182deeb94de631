"""What the samplers do: laws, tables, closed forms, edge cases, refusals."""

import math
from fractions import Fraction
from hashlib import sha256
from itertools import pairwise, permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dproo
from dproo import Counts, RevealOrObscure, mechanism
from dproo.core.numbers import exp_lower
from dproo.mechanisms import SAMPLERS

NAMES = list(SAMPLERS)
BITS, LEAST, LARGEST = 200, "1e-18", "50"
PART = 10**6


@pytest.mark.parametrize("name", NAMES)
def test_the_contract_names_make_their_classes(name):
    sampler = mechanism(name, epsilon="0.1", n=1000, k=9)
    assert sampler.name == name
    assert sampler.epsilon == Fraction(1, 10)
    assert sampler == type(sampler)(epsilon="0.1", n=1000, k=9)
    with pytest.raises(AttributeError):
        sampler.n = 5


@pytest.mark.parametrize("name", NAMES)
@given(counts=st.lists(st.integers(0, 6), min_size=2, max_size=4).filter(any))
@settings(max_examples=40)
def test_relabelling_the_letters_relabels_the_law(name, counts):
    sampler = mechanism(name, epsilon="0.5", n=sum(counts), k=len(counts))
    for order in permutations(range(len(counts))):
        shuffled = sampler.pmf([counts[i] for i in order])
        assert shuffled == [sampler.pmf(counts)[i] for i in order]


@pytest.mark.parametrize("name", NAMES)
@given(counts=st.lists(st.integers(0, 50), min_size=2, max_size=6).filter(any))
@settings(max_examples=40)
def test_a_law_sums_to_one_is_positive_and_rises_with_the_count(name, counts):
    law = mechanism(name, epsilon="0.3", n=sum(counts), k=len(counts)).pmf(counts)
    assert sum(law) == 1
    assert min(law) > 0
    ranked = sorted(zip(counts, law, strict=True))
    assert all(p <= q for (_, p), (_, q) in pairwise(ranked))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "counts",
    [[1, 0], [0, 1], [5, 5], [5, 5, 5], [10, 0, 0], [2**63 - 1, 2**63], [2**63 - 1, 0, 2**53 + 1]],
    ids=str,
)
def test_edge_cases_have_a_law_and_a_draw(name, counts):
    sampler = mechanism(name, epsilon="0.1", n=sum(counts), k=len(counts))
    law = sampler.pmf(counts)
    assert sum(law) == 1
    assert 0 <= sampler.draw(counts)[0] < len(counts)
    if len(set(counts)) == 1:
        assert set(law) == {Fraction(1, len(counts))}


def test_neighbouring_counts_near_the_word_size_are_told_apart():
    sampler = mechanism("roo", epsilon="0.1", n=2**64, k=2)
    one, other = sampler.pmf([2**63, 2**63]), sampler.pmf([2**63 + 1, 2**63 - 1])
    assert one != other


@pytest.mark.parametrize("name", NAMES)
def test_more_epsilon_reveals_more(name):
    counts = [7, 3, 0]
    chances = [
        mechanism(name, epsilon=epsilon, n=10, k=3).pmf(counts)[0]
        for epsilon in ("0.01", "0.1", "0.5", "1", "3", "10")
    ]
    assert chances == sorted(chances)
    assert chances[0] < chances[-1]


# ROO


def test_roo_is_algorithm_1():
    """The law is q/k + (1-q) c/n with the q of Theorem 1."""
    n, k, counts = 10, 4, [4, 3, 3, 0]
    sampler = mechanism("roo", epsilon=1, n=n, k=k)
    q = 1 / (1 + Fraction(n, k) * (exp_lower(Fraction(1)) - 1))
    assert sampler.pmf(counts) == [q / k + (1 - q) * Fraction(c, n) for c in counts]
    assert sampler.worst_alpha == q * (1 - Fraction(1, k)) == dproo.alpha_of(q, k=k)


def test_roo_from_q_has_the_epsilon_of_theorem_1():
    sampler = mechanism("roo", q="0.25", n=20, k=5)
    assert sampler.pmf([20, 0, 0, 0, 0])[1] == Fraction(1, 4) / 5
    assert float(sampler.epsilon) == pytest.approx(math.log(1 + 5 * 0.75 / (20 * 0.25)), rel=1e-15)
    assert sampler.ratio(sampler.worst) == 1 + Fraction(5 * 3, 20)
    assert dproo.epsilon_of("0.25", n=20, k=5) == sampler.epsilon
    assert dproo.certify(sampler).holds


def test_roo_that_always_obscures_costs_nothing():
    sampler = mechanism("roo", q=1, n=20, k=5)
    assert sampler.epsilon == 0
    assert set(sampler.pmf([20, 0, 0, 0, 0])) == {Fraction(1, 5)}
    assert dproo.certify(sampler).holds
    assert sampler.draw([20, 0, 0, 0, 0])[0] < 5


def test_the_rounded_pseudo_count_is_never_below_the_true_one():
    """A float would be, in half of all settings; at 1e-15 by eleven per cent."""
    for epsilon in (LEAST, "1e-15", "0.1", "1", LARGEST):
        sampler = mechanism("roo", epsilon=epsilon, n=10, k=3)
        over, under = sampler._pseudo
        pseudo = Fraction(over, under)
        assert pseudo * (dproo.core.numbers.exp_upper(Fraction(epsilon), bits=BITS) - 1) >= 1
        assert pseudo * (exp_lower(Fraction(epsilon), bits=BITS) - 1) < 1 + Fraction(1, 2**60)


def test_joint_draws_need_less_smoothing_than_a_split_epsilon():
    for s in (2, 5, 100):
        joint = mechanism("roo", epsilon=1, n=1000, k=10, draws=s)
        split = mechanism("roo", epsilon=Fraction(1, s), n=1000, k=10)
        assert joint.worst_alpha < split.worst_alpha


def test_a_prior_moves_the_obscured_mass_and_keeps_the_least_pseudo_count():
    plain = mechanism("roo", epsilon=1, n=5, k=2)
    prior = mechanism("roo", epsilon=1, n=5, k=2, prior=["0.8", "0.2"])
    assert prior.pmf([0, 5])[0] > plain.pmf([0, 5])[0]
    assert mechanism("roo", epsilon=1, n=5, k=2, prior=[3, 3]).pmf([1, 4]) == plain.pmf([1, 4])
    assert prior.worst_alpha == max(
        sum(abs(a - b) for a, b in zip(prior.pmf(c), p, strict=True)) / 2
        for c, p in [([5, 0], [1, 0]), ([0, 5], [0, 1])]
    )


def test_a_person_with_more_records_than_there_are_is_covered():
    few = mechanism("roo", epsilon=1, n=3, k=2, records_per_person=100)
    assert few.pmf([3, 0]) == mechanism("roo", epsilon=1, n=3, k=2, records_per_person=3).pmf(
        [3, 0]
    )


# SubRR


def test_subrr_has_the_accuracy_of_cheu_and_nayak():
    sampler = mechanism("subrr", epsilon="0.1", n=1000, k=9)
    assert sampler.worst_alpha == Fraction(8, 8 + 100)


def test_subrr_with_too_little_data_is_uniform():
    sampler = mechanism("subrr", epsilon="0.1", n=5, k=3)
    assert sampler.pmf([5, 0, 0]) == [Fraction(1, 3)] * 3


# DS-ROO


def test_ds_roo_is_roo_when_a_letter_is_missing():
    roo, ds = (mechanism(name, epsilon="0.2", n=40, k=4) for name in ("roo", "ds-roo"))
    for p, q in zip(roo.pmf([20, 19, 1, 0]), ds.pmf([20, 19, 1, 0]), strict=True):
        assert abs(p - q) < Fraction(1, 10**15)


def test_ds_roo_reveals_when_every_letter_is_common():
    ds = mechanism("ds-roo", epsilon="0.1", n=1000, k=9)
    assert ds.q(30) == 0
    assert ds.pmf([200] + [100] * 8) == [Fraction(200, 1000)] + [Fraction(100, 1000)] * 8


def test_the_printed_table_is_algorithm_2():
    """The recursion of Eq. (9) to (13), in floats, beside the integers."""
    n, k, epsilon = 1000, 9, 0.1
    sampler = mechanism("ds-roo", epsilon="0.1", n=n, k=k, as_printed=True)
    growth = math.exp(epsilon)
    q = 1 / (1 + n / k * (growth - 1))
    assert float(sampler.q(0)) == pytest.approx(q, rel=1e-12)
    for m in range(1, n // k + 1):
        u = -m / n + 1 / k - 1 / n
        v = growth * (1 / k - m / n)
        w = -1 / n - m / n + m / n * growth
        q = max(0, u / v * q - w / v)
        assert float(sampler.q(m)) == pytest.approx(q, abs=1e-12)


def test_the_private_table_is_never_below_the_printed_one_and_never_rises():
    for n, k, epsilon in [(100000, 1000, "0.01"), (10001, 10000, "0.01"), (53, 7, "0.1")]:
        private = mechanism("ds-roo", epsilon=epsilon, n=n, k=k)
        printed = mechanism("ds-roo", epsilon=epsilon, n=n, k=k, as_printed=True)
        table = [private.q(m) for m in range(n // k + 1)]
        assert all(q >= printed.q(m) - Fraction(1, 2**60) for m, q in enumerate(table))
        assert all(p >= q for p, q in pairwise(table))


@pytest.mark.parametrize("epsilon", ["0.05", "0.3", "1"])
def test_no_entry_of_the_private_table_can_be_lowered(epsilon, monkeypatch):
    """Each entry, lowered alone by a millionth, breaks the certificate."""
    for n, k in [(20, 2), (21, 2), (20, 3), (23, 4), (50, 5)]:
        sampler = mechanism("ds-roo", epsilon=epsilon, n=n, k=k)
        for m, q in enumerate(sampler.table):
            if q == 0 or m * k == n:
                continue
            lowered = mechanism("ds-roo", epsilon=epsilon, n=n, k=k)
            table = list(sampler.table)
            table[m] -= sampler._unit // PART
            monkeypatch.setitem(lowered.__dict__, "table", tuple(table))
            monkeypatch.delitem(lowered.__dict__, "worst")
            assert not dproo.certify(lowered).holds, (n, k, m)


def test_two_letters_have_the_tight_table():
    assert float(mechanism("ds-roo", epsilon="0.3", n=10, k=2).q(0)) == pytest.approx(
        0.24394, abs=1e-5
    )


def test_only_useful_entries_are_computed():
    assert len(mechanism("ds-roo", epsilon="0.01", n=10**12, k=10).table) < 300
    assert len(mechanism("ds-roo", epsilon="0.01", n=10**12, k=2).table) < 300


def test_a_printed_table_that_is_too_long_is_refused():
    with pytest.raises(ValueError, match="as_printed needs more than 16384 table entries"):
        mechanism("ds-roo", epsilon="1e-9", n=10**12, k=10, as_printed=True)


# LS-ROO


def test_a_letter_seen_often_is_never_obscured():
    sampler = mechanism("ls-roo", epsilon="0.1", n=1000, k=9)
    table = sampler.table
    assert all(table(c) == c * table.slope for c in range(12, 1001))
    assert all(table(c) > c * table.slope for c in range(10))


@pytest.mark.one_of(3)
@given(
    counts=st.lists(st.integers(0, 400), min_size=2, max_size=30).filter(any),
    epsilon=st.sampled_from(["0.001", "0.01", "0.1", "1", "5"]),
    neighbours=st.sampled_from(["replace", "add-remove"]),
)
@settings(max_examples=150)
def test_ls_roo_never_obscures_more_than_roo(counts, epsilon, neighbours):
    counts = Counts.of(counts)
    n = counts.n if neighbours == "replace" else 2**80
    ls = mechanism("ls-roo", epsilon=epsilon, n=n, k=counts.k, neighbours=neighbours)
    roo = mechanism("roo", epsilon=epsilon, n=n, k=counts.k, neighbours=neighbours)
    over, under = roo._pseudo
    assert ls.table(0) * under <= over * ls.table.slope  # no letter's lift is above ROO's
    obscured = 1 - Fraction(counts.n * ls.table.slope, ls.weights(counts).total)
    assert obscured <= 1 - Fraction(counts.n * under, roo.weights(counts).total)


def test_roo_can_be_nearer_to_a_few_records_than_ls_roo():
    counts = [1, 1, 0]
    shares = [Fraction(count, 2) for count in counts]
    laws = [mechanism(name, epsilon=1, n=2, k=3).pmf(counts) for name in ("roo", "ls-roo")]
    roo, ls = (sum(max(p - q, 0) for p, q in zip(law, shares, strict=True)) for law in laws)
    assert Fraction(ls) > Fraction("1.14") * roo


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("epsilon", ["1e-6", "0.001", "0.1", "1", "10"])
def test_the_letter_table_is_what_its_search_relies_on(epsilon, neighbours):
    """Positive, rising, convex, with no step above the slope."""
    for n, k in [(1, 2), (3, 3), (30, 2), (1000, 10), (10**9, 10**6)]:
        table = mechanism("ls-roo", epsilon=epsilon, n=n, k=k, neighbours=neighbours).table
        steps = [table.step(c) for c in range(min(n, table.last + 2))]
        assert min(table.values) > 0
        assert all(0 < a <= b for a, b in pairwise(steps))
        assert max(steps) <= table.slope


@pytest.mark.parametrize("name", NAMES)
def test_the_stated_worst_case_is_that_of_the_empirical_law_or_a_bound_on_it(name):
    """The stated worst alpha is the largest distance to the empirical law, or a bound on it."""
    for n, k, epsilon in product([1, 4, 7], [2, 3], ["0.1", "1", "3"]):
        sampler = mechanism(name, epsilon=epsilon, n=n, k=k)
        worst = max(
            sum(abs(p - Fraction(c, n)) for p, c in zip(sampler.pmf(counts), counts, strict=True))
            / 2
            for counts in product(range(n + 1), repeat=k)
            if sum(counts) == n
        )
        if sampler.basis.startswith("exact"):
            assert sampler.worst_alpha == worst
        assert sampler.worst_alpha >= worst


# Refusals


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n": 0}, ValueError, "n must be at least 1, got 0."),
        ({"n": -3}, ValueError, "n must be at least 1, got -3."),
        ({"n": 1.5}, TypeError, "n must be an integer, got 1.5."),
        ({"n": True}, TypeError, "n must be an integer, got True."),
        ({"k": 1}, ValueError, "k must be at least 2, got 1."),
        ({"k": "9"}, TypeError, "k must be an integer, got '9'."),
        ({"epsilon": 0}, ValueError, "epsilon must be positive, got 0."),
        ({"epsilon": None}, TypeError, "epsilon must be a number or a decimal string, got None."),
        (
            {"neighbours": "x"},
            ValueError,
            "neighbours must be one of add-remove, both, replace, got 'x'.",
        ),
        ({"draws": 0}, ValueError, "draws must be at least 1, got 0."),
        ({"records_per_person": 0}, ValueError, "records_per_person must be at least 1, got 0."),
        ({"prior": [1, 2]}, ValueError, "prior must have k = 3 entries, got 2."),
        ({"prior": [1, 2, "x"]}, ValueError, "prior must be a decimal number, got 'x'."),
        ({"prior": [1, 2, 0]}, ValueError, "prior must be positive, got '0'."),
        ({"epsilon": 0, "q": 0}, ValueError, "q must be above 0 and at most 1, got 0."),
        ({"epsilon": 0, "q": 1.5}, ValueError, "q must be above 0 and at most 1, got 1.5."),
        ({"epsilon": 0, "q": math.nan}, ValueError, "q must be a finite number, got nan."),
        (
            {"q": "0.5"},
            ValueError,
            "q must be given alone: it fixes epsilon for one draw under replace neighbours.",
        ),
    ],
)
def test_wrong_arguments_are_refused_in_one_sentence(arguments, error, message):
    with pytest.raises(error) as refused:
        RevealOrObscure(**{"epsilon": 1, "n": 10, "k": 3} | arguments)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("name", "options", "error", "message"),
    [
        ("lsroo", {}, ValueError, "Did you mean 'ls-roo'?"),
        (
            "gauss",
            {},
            ValueError,
            ("sampler must be one of bal-roo, ds-roo, ls-roo, roo, subrr, got 'gauss'."),
        ),
        (
            "ls-roo",
            {"draws": 2},
            TypeError,
            "ls-roo has no option 'draws'.",
        ),
        (
            "ds-roo",
            {"neighbours": "add-remove"},
            ValueError,
            "neighbours must be 'replace' for ds-roo, got 'add-remove'.",
        ),
        (
            "subrr",
            {"neighbours": "add-remove"},
            ValueError,
            "neighbours must be 'replace' for subrr, got 'add-remove'.",
        ),
        ("subrr", {"draws": 11}, ValueError, "draws must be at most 10, got 11."),
        ("roo", {"draws": 10**9}, ValueError, "draws must be at most 10000000, got 1000000000."),
    ],
)
def test_wrong_samplers_are_refused_in_one_sentence(name, options, error, message):
    with pytest.raises(error) as refused:
        mechanism(name, **{"epsilon": 1, "n": 10, "k": 3} | options)
    assert str(refused.value).endswith(message)


def test_what_is_missing_is_named():
    with pytest.raises(TypeError, match="n must be given under replace neighbours"):
        mechanism("roo", epsilon=1, k=3)
    with pytest.raises(TypeError, match="epsilon must be given"):
        mechanism("ls-roo", n=10, k=3)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([5, 5], "counts must have k = 3 entries, got 2."),
        ([5, 5, 1], "counts must sum to n = 10, got 11."),
        ([5, 4, 0], "counts must sum to n = 10, got 9."),
        ([5, 6, -1], "counts must be at least 0, got -1."),
    ],
)
def test_counts_that_do_not_fit_are_refused(counts, message):
    sampler = mechanism("ls-roo", epsilon=1, n=10, k=3)
    for use in (sampler.pmf, sampler.draw):
        with pytest.raises(ValueError) as refused:  # noqa: PT011 - the sentence is compared whole
            use(counts)
        assert str(refused.value) == message


def test_under_add_remove_any_number_of_records_will_do_and_none_is_named():
    sampler = mechanism("ls-roo", epsilon=1, k=3, neighbours="add-remove")
    assert sampler.pmf([0, 0, 0]) == [Fraction(1, 3)] * 3
    assert sampler.pmf([10**20, 0, 0])[0] > Fraction(999, 1000)
    with pytest.raises(ValueError, match=r"counts must sum to at most n = \d+\.$"):
        sampler.pmf([2**81, 0, 0])


@pytest.mark.parametrize(
    ("name", "n", "k", "epsilon", "digest"),
    [
        ("bal-roo", 10**4, 50, "0.1", "eddd465a6cb697e4"),
        ("bal-roo", 300, 9, "1", "7df39ebf9f40032d"),
        ("bal-roo", 10**6, 1000, "0.02", "db88013e0c29b55c"),
    ],
)
def test_a_law_is_the_same_integers_however_they_are_found(name, n, k, epsilon, digest):
    """Digests of the weights before they were found faster: who changes a law must mean to."""
    counts, rest = [], n
    for _ in range(k - 1):
        counts.append(rest // 3)
        rest -= counts[-1]
    weights = mechanism(name, n=n, k=k, epsilon=epsilon).weights(Counts.of([*counts, rest]))
    assert sha256(repr(weights.runs).encode()).hexdigest()[:16] == digest
