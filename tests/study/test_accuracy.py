"""Accuracy: exact methods against enumeration and against an independent rational oracle."""

from __future__ import annotations

import sys
from fractions import Fraction
from math import comb, factorial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.draws import some

import dproo
from dproo.study.accuracy import (
    CLOSED_FORM,
    ENUMERATION,
    LIFTED_COUNTS,
    MINIMUM_COUNT,
    MONTE_CARLO,
)
from dproo.study.baselines import LaplaceSampler
from dproo.study.distributions import SHAPES, Distribution, shape

EPSILONS = ("0.01", "0.1", "0.5", "1", "3")
STRUCTURED = ("roo", "ds-roo", "ls-roo", "subrr")


@st.composite
def small_cases(draw):
    k = draw(st.integers(2, 5))
    n = draw(st.integers(1, {2: 40, 3: 24, 4: 12, 5: 9}[k]))
    shares = st.lists(st.integers(0, 12), min_size=k, max_size=k)
    parts = draw(shares.filter(lambda parts: sum(parts) > 0))
    return n, k, draw(st.sampled_from(EPSILONS)), [Fraction(part, sum(parts)) for part in parts]


@pytest.mark.one_of(3)
@settings(max_examples=60)
@given(case=small_cases(), name=st.sampled_from(STRUCTURED))
def test_every_exact_method_agrees_with_the_enumeration_of_all_datasets(case, name):
    n, k, epsilon, p = case
    sampler = dproo.mechanism(name, epsilon=epsilon, n=n, k=k)
    found = dproo.accuracy(sampler, p, method="exact")
    truth = dproo.accuracy(sampler, p, method=ENUMERATION)
    assert found.method != ENUMERATION
    assert abs(found.alpha - truth.exact) <= 1e-12
    assert all(abs(a - b) <= 1e-12 for a, b in zip(found.output, truth.output, strict=True))
    assert found.low <= truth.alpha <= found.high


@settings(max_examples=60)
@given(case=small_cases(), name=st.sampled_from(("roo", "subrr")))
def test_the_closed_form_is_the_obscuring_probability_times_the_distance_to_uniform(case, name):
    n, k, epsilon, p = case
    sampler = dproo.mechanism(name, epsilon=epsilon, n=n, k=k)
    distance = sum(abs(Fraction(1, k) - share) for share in p) / 2
    q = Fraction(k, k - 1) * sampler.worst_alpha
    found = dproo.accuracy(sampler, p)
    assert found.method == CLOSED_FORM
    assert found.exact == q * distance


def test_no_distribution_is_worse_than_the_worst_case_and_a_point_mass_is_as_bad():
    for name in STRUCTURED:
        sampler = dproo.mechanism(name, epsilon="0.3", n=50, k=6)
        alphas = {p: dproo.accuracy(sampler, shape(p, k=6)).alpha for p in SHAPES}
        assert max(alphas.values()) == alphas["point"]
        assert alphas["point"] == pytest.approx(float(sampler.worst_alpha), abs=1e-12)


def chances_of_minimum(n, p, entries, marked=None):
    """Return the chances that every count is at least 0, 1, ..., by rational polynomials.

    A marked letter has a record put aside, so it needs one less.
    """
    chances = []
    for m in range(entries):
        row = [Fraction(1)]
        for letter, share in enumerate(p):
            least = m - (letter == marked)
            factor = [share**c / factorial(c) if c >= least else 0 for c in range(n + 1)]
            row = [
                sum((row[i] * factor[s - i] for i in range(min(s + 1, len(row)))), Fraction(0))
                for s in range(n + 1)
            ]
        chances.append(row[n] * factorial(n))
    return chances


@pytest.mark.one_of(3)
def test_ds_roo_agrees_with_a_rational_law_of_the_smallest_count():
    n, p = 40, [Fraction(part, 20) for part in (7, 6, 4, 3)]
    sampler = dproo.mechanism("ds-roo", epsilon="0.3", n=n, k=4)
    entries = n // 4 + 2

    def expected_q(chances):
        return sum(
            sampler.q(m) * (chances[m] - chances[m + 1]) for m in range(entries - 1)
        )  # fmt: skip

    obscured = expected_q(chances_of_minimum(n, p, entries))
    output = [
        obscured / 4 + share * (1 - expected_q(chances_of_minimum(n - 1, p, entries, y)))
        for y, share in enumerate(p)
    ]
    alpha = sum(abs(q - share) for q, share in zip(output, p, strict=True)) / 2
    assert sum(output) == 1
    assert 0.001 < alpha < float(sampler.worst_alpha)
    assert dproo.accuracy(sampler, p).alpha == pytest.approx(float(alpha), abs=1e-12)


@pytest.mark.one_of(3)
@pytest.mark.parametrize("name", ["ds-roo", "ls-roo"])
@pytest.mark.parametrize("p", some(["uniform", "zipf", "dirichlet"], one_of=6))
def test_a_hundred_thousand_records_and_a_thousand_letters_are_exact(name, p):
    sampler = dproo.mechanism(name, epsilon="0.1", n=100_000, k=1000)
    distribution = shape(p, k=1000)
    found = dproo.accuracy(sampler, distribution)
    assert found.method == {"ds-roo": MINIMUM_COUNT, "ls-roo": LIFTED_COUNTS}[name]
    assert found.high - found.low < 2.1e-9
    assert abs(sum(found.output) - 1) < 1e-10


@pytest.mark.parametrize("name", ["ds-roo", "ls-roo"])
def test_splitting_a_group_of_equal_letters_changes_nothing(name):
    n, k = 2000, 40
    sampler = dproo.mechanism(name, epsilon="0.1", n=n, k=k)
    even = dproo.accuracy(sampler, shape("half", k=k)).alpha
    shares = list(shape("half", k=k).shares)
    for i in range(1, k - 1, 2):  # distinct to the program, equal to the eye
        shares[i] += Fraction(i, 10**15)
        shares[i + 1] -= Fraction(i, 10**15)
    assert dproo.accuracy(sampler, shares).alpha == pytest.approx(even, abs=1e-11)


def test_a_prior_moves_the_law_to_the_prior():
    sampler = dproo.mechanism("roo", epsilon=1, n=10, k=3, prior=[2, 1, 1])
    found = dproo.accuracy(sampler, [0, 0, 1])
    assert found.exact == dproo.accuracy(sampler, [0, 0, 1], method=ENUMERATION).exact
    assert found.output[0] > found.output[1] > 0


@pytest.mark.parametrize("name", ["roo", "ls-roo"])
def test_under_add_remove_the_number_of_records_is_an_argument(name):
    sampler = dproo.mechanism(name, epsilon="0.5", k=3, neighbours="add-remove")
    p = [Fraction(1, 2), Fraction(1, 2), Fraction(0)]
    found = dproo.accuracy(sampler, p, n=20)
    assert found.alpha == pytest.approx(
        dproo.accuracy(sampler, p, n=20, method=ENUMERATION).alpha, abs=1e-12
    )
    with pytest.raises(TypeError, match=r"^n must be given under add-remove"):
        dproo.accuracy(sampler, p)


def test_the_printed_table_can_be_studied_too():
    options = {"epsilon": "0.01", "n": 11, "k": 3}
    p = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]
    printed = dproo.mechanism("ds-roo", as_printed=True, **options)
    private = dproo.mechanism("ds-roo", **options)
    assert dproo.accuracy(printed, p).alpha < dproo.accuracy(private, p).alpha


def test_an_unstructured_sampler_is_enumerated_if_small_and_simulated_if_it_adds_noise():
    from dproo.study.minimax import minimax  # noqa: PLC0415 - a sampler given by its whole table

    best = minimax(n=6, k=3, epsilon=1, grid=3).sampler
    assert dproo.accuracy(best, [1, 0, 0]).method == ENUMERATION
    laplace = LaplaceSampler(epsilon=1, n=6, k=3)
    assert dproo.accuracy(laplace, [1, 0, 0]).method == MONTE_CARLO


ROO = dproo.mechanism("roo", epsilon=1, n=4, k=2)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"p": [1, 0, 0]}, ValueError, "p must have k = 2 entries, got 3."),
        ({"p": [1]}, ValueError, "p must have at least two entries, got 1."),
        ({"p": [2, -1]}, ValueError, "p must be non-negative for every letter, got -1."),
        ({"p": [0.5, 0.4]}, ValueError, "p must sum to 1, got 0.9."),
        ({"p": [float("nan"), 1]}, ValueError, "p must be a finite number, got nan."),
        ({"p": "0.5"}, TypeError, "p must be a sequence of probabilities, got '0.5'."),
        ({"p": [1, 0], "n": 5}, ValueError, "n must be the sampler's own, 4, got 5."),
        (
            {"p": [1, 0], "method": "guess"},
            ValueError,
            "method must be one of auto, enumeration, exact, monte carlo, got 'guess'.",
        ),
        (
            {"p": [1, 0], "method": "monte carlo", "trials": 3},
            ValueError,
            "trials must be at least 40, got 3.",
        ),
        (
            {"p": [1, 0], "method": "monte carlo", "confidence": float("nan")},
            ValueError,
            "confidence must be between 0 and 1, got nan.",
        ),
    ],
)
def test_a_wrong_argument_is_refused_in_one_sentence(arguments, error, message):
    with pytest.raises(error) as refused:
        dproo.accuracy(ROO, **arguments)
    assert str(refused.value) == message


def test_a_method_that_cannot_be_used_is_refused():
    laplace = LaplaceSampler(epsilon=1, n=4, k=2)
    with pytest.raises(ValueError, match=r"^method must not be 'exact' for laplace"):
        dproo.accuracy(laplace, [1, 0], method="exact")
    with pytest.raises(ValueError, match=r"^method must not be 'enumeration' for laplace"):
        dproo.accuracy(laplace, [1, 0], method=ENUMERATION)
    large = dproo.mechanism("roo", epsilon=1, n=10**4, k=9)
    with pytest.raises(ValueError, match=r"^method must not be 'enumeration' for roo"):
        dproo.accuracy(large, shape("zipf", k=9), method=ENUMERATION)


def test_without_numpy_the_closed_form_works_and_the_rest_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "dproo.study.expectation", None)
    assert dproo.accuracy(ROO, [1, 0]).exact is not None
    with pytest.raises(ValueError, match=r"^scipy must be installed for this"):
        dproo.accuracy(dproo.mechanism("ds-roo", epsilon=1, n=4, k=2), [1, 0])


def test_lost_precision_is_an_error_and_not_an_answer(monkeypatch):
    sampler = dproo.mechanism("ls-roo", epsilon="0.5", n=20, k=3)
    p = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]
    alpha = dproo.accuracy(sampler, p).alpha
    monkeypatch.setattr("dproo.study.expectation._CELLS", 3)  # portions of one root change nothing
    assert dproo.accuracy(sampler, p).alpha == pytest.approx(alpha, abs=1e-12)
    monkeypatch.setattr("dproo.study.expectation.isqrt", lambda _: -6)  # far too few roots
    with pytest.raises(ArithmeticError, match="does not sum to 1"):
        dproo.accuracy(sampler, p)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("k", [2, 3, 10, 101])
def test_a_named_shape_is_a_distribution(name, k):
    p = shape(name, k=k)
    assert p.k == k
    assert sum(p.shares) == 1
    assert min(p.shares) >= 0
    assert sum(p.groups.values()) == k
    assert Distribution.of(p.shares) == p


def test_the_named_shapes_are_what_they_say():
    binomial = shape("binomial", k=9).shares
    assert [share * 2**8 for share in binomial] == [comb(8, i) for i in range(9)]
    half = shape("half", k=11).shares
    assert (half[0], half[1]) == (Fraction(1, 2), Fraction(1, 20))
    zipf = shape("zipf", k=100).shares
    assert float(zipf[0] / zipf[9]) == pytest.approx(10, abs=1e-8)
    geometric = shape("geometric", k=10).shares
    assert float(geometric[5] / geometric[4]) == pytest.approx(0.9, abs=1e-8)
    assert shape("uniform-tenth", k=10).groups == {Fraction(1, 2): 2, Fraction(0): 8}
    with pytest.raises(ValueError, match=r"^p must be one of .* Did you mean 'zipf'\?"):
        shape("zip", k=4)
