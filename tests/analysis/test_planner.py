"""The planner: closed forms of the paper, and the first value that meets the target."""

import json
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.draws import DICE, SOAK

import dproo
from dproo import mechanism, plan
from dproo.analysis.planner import planned
from dproo.mechanisms import SAMPLERS
from dproo.mechanisms.ls_roo import calibration
from dproo.mechanisms.ls_roo.calibration import Envelope
from dproo.report import advised_object, limit_sentence
from dproo.study.baselines import LaplaceSampler

pytestmark = pytest.mark.one_of(3)

EXACT = planned(is_closed_form=True)
CLOSE = 2**50
THE_BEST = "the best that any private sampler could do"


def test_the_sampling_complexity_of_roo_is_theorem_1():
    for k, epsilon, alpha in [(9, 0.1, 0.05), (100, 1.0, 0.01), (2, 0.5, 0.1)]:
        needed = plan(k=k, epsilon=str(epsilon), alpha=str(alpha))["roo"]
        assert needed == math.ceil((k * (1 - alpha) - 1) / (alpha * (math.exp(epsilon) - 1)))


def test_the_peers_have_the_sampling_complexities_that_the_paper_quotes():
    for k, epsilon, alpha in [(9, 0.1, 0.05), (100, 1.0, 0.01)]:
        answer = plan(k=k, epsilon=str(epsilon), alpha=str(alpha))
        at = {"epsilon": Fraction(str(epsilon)), "alpha": Fraction(str(alpha))}
        needed = LaplaceSampler.records_needed(k=k, **at)
        assert needed == round(2 * k / (alpha * epsilon))
        assert LaplaceSampler.worst_alpha_at(n=needed, k=k, epsilon=at["epsilon"]) <= at["alpha"]
        assert answer["subrr"] == round((k - 1) * (1 - alpha) / (alpha * epsilon))


@given(
    k=st.integers(2, 10**4),
    epsilon=st.fractions(min_value=Fraction(1, 100), max_value=5),
    share=st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(9, 10)),
)
@settings(max_examples=20)
def test_lemma_1_roo_needs_fewer_records_than_its_peers(k, epsilon, share):
    alpha = share * (1 - Fraction(1, k))
    answer = plan(k=k, epsilon=epsilon, alpha=alpha)
    laplace = LaplaceSampler.records_needed(k=k, epsilon=epsilon, alpha=alpha)
    assert answer["roo"] <= answer["subrr"] <= laplace
    assert answer["ds-roo"] <= answer["roo"]
    assert answer["ls-roo"] <= answer["roo"]


@pytest.mark.parametrize("sampler", EXACT)
@given(
    n=st.integers(1, 10**5),
    k=st.integers(2, 300),
    epsilon=st.sampled_from(["0.02", "0.1", "0.7", "3"]),
)
@settings(max_examples=25 if SOAK else 4)
def test_each_answer_is_the_first_that_meets_the_target(sampler, n, k, epsilon):
    worst_alpha = SAMPLERS[sampler].worst_alpha_at
    alpha = plan(n=n, k=k, epsilon=epsilon)[sampler]
    assert alpha == worst_alpha(n=n, k=k, epsilon=Fraction(epsilon))
    if not alpha < 1 - Fraction(1, k):
        return
    assert plan(k=k, epsilon=epsilon, alpha=alpha)[sampler] == n
    assert plan(n=n, epsilon=epsilon, alpha=alpha)[sampler] == k
    least = plan(n=n, k=k, alpha=alpha)[sampler]
    assert worst_alpha(n=n, k=k, epsilon=least) <= alpha
    assert 0 <= least / Fraction(epsilon) - 1 < Fraction(1, 10**4)


@pytest.mark.parametrize("sampler", [name for name in planned() if name in SAMPLERS])
def test_the_planner_and_the_sampler_agree(sampler):
    """The planner's figure is never below that of the integers drawn from, and barely above."""
    fixed = [(1, 2, "1"), (50, 2, "0.1"), (1000, 9, "0.1"), (77, 200, "2"), (10**6, 2, "0.002")]
    drawn = [(10 ** DICE.uniform(0, 9), 10 ** DICE.uniform(0.31, 6)) for _ in range(8)]
    epsilons = [f"{10 ** DICE.uniform(-2.5, 1.3):.4g}" for _ in drawn]
    random_ones = [(int(n), int(k), e) for (n, k), e in zip(drawn, epsilons, strict=True)]
    for n, k, epsilon in [*fixed, *random_ones]:
        figure = plan(n=n, k=k, epsilon=epsilon, samplers=[sampler])[sampler]
        if figure is None:
            assert SAMPLERS[sampler].is_futile(alpha=plan(n=n, k=k, epsilon=epsilon)["ls-roo"])
            continue
        drawn_from = mechanism(sampler, epsilon=epsilon, n=n, k=k).worst_alpha
        assert 0 <= figure - drawn_from <= drawn_from / CLOSE, (n, k, epsilon)


@pytest.mark.parametrize("sampler", ["bal-roo"])
def test_where_a_sampler_is_not_asked_it_is_no_better_than_ls_roo(sampler):
    for _ in range(200 if SOAK else 12):
        k, epsilon = int(10 ** DICE.uniform(0.31, 6)), Fraction(f"{10 ** DICE.uniform(-2, 1):.4g}")
        at = {"n": int(k / epsilon * 10 ** DICE.uniform(-2, 4)) + 1, "k": k, "epsilon": epsilon}
        plain = SAMPLERS["ls-roo"].worst_alpha_at(**at)
        if SAMPLERS[sampler].is_futile(alpha=plain, epsilon=epsilon):
            assert SAMPLERS[sampler].worst_alpha_at(**at) >= plain, at


@pytest.mark.one_of(3)
@given(
    n=st.integers(1, 10**12) | st.integers(1, 50),
    k=st.integers(2, 10**9) | st.integers(2, 9),
    epsilon=st.fractions(min_value=Fraction(1, 10**6), max_value=20),
    alpha=st.fractions(min_value=Fraction(1, 10**6), max_value=Fraction(9, 10)),
)
@settings(max_examples=25, deadline=None)
def test_every_question_of_the_ranges_has_an_answer_that_holds(n, k, epsilon, alpha):
    question = {"n": n, "k": k, "epsilon": epsilon, "alpha": alpha}
    for missing in ("n", "k", "epsilon"):
        known = {name: value for name, value in question.items() if name != missing}
        answer = plan(**known)
        rest = {name: value for name, value in known.items() if name != "alpha"}
        for row in answer.rows:
            value = answer[row.sampler]
            if value is None:
                assert row.reason
                continue
            worst_alpha = SAMPLERS[row.sampler].worst_alpha_at
            assert worst_alpha(**rest, **{missing: value}) <= alpha
            if row.sampler in EXACT:
                one_less = a_step_less(missing, value)
                assert one_less is None or worst_alpha(**rest, **{missing: one_less}) > alpha
            if answer.limit is not None:
                assert answer.times_limit(row.sampler) >= 1


def a_step_less(missing, value):
    """Return the next value that would ask for less, if there is one."""
    if missing == "epsilon":
        return value * (1 - Fraction(1, 10**4))  # at least ten of its steps
    step = value - 1 if missing == "n" else value + 1
    return step if step >= 1 else None


def test_no_private_sampler_meets_the_target_beyond_the_limit():
    for question, beyond in [
        ({"k": 9, "epsilon": "0.1", "alpha": "0.05"}, lambda value: {"n": value - 1}),
        ({"n": 1000, "epsilon": "0.1", "alpha": "0.05"}, lambda value: {"k": value + 1}),
        ({"n": 1000, "k": 9, "alpha": "0.05"}, lambda value: {"epsilon": value}),
    ]:
        value = plan(**question).limit
        at = {name: given for name, given in question.items() if name != "alpha"} | beyond(value)
        assert dproo.limit(**at).lower > Fraction(question["alpha"])


@pytest.mark.parametrize(
    ("n", "k", "alpha"),
    [
        (5, 2, "0.4999999"),
        (1, 2, "0.4999999995"),
        (10**9, 3, "0.66666666"),
        (10**6, 1000, "0.998999999999999999"),
    ],
)
def test_an_epsilon_is_found_where_nearly_any_will_do(n, k, alpha):
    answer = plan(n=n, k=k, alpha=alpha)
    for name in ("roo", "ds-roo", "ls-roo"):
        assert answer.times_limit(name) >= 1
        at_less = SAMPLERS[name].worst_alpha_at(
            n=n, k=k, epsilon=a_step_less("epsilon", answer[name])
        )
        assert at_less > Fraction(alpha)


def test_where_any_value_will_do_every_sampler_says_so():
    for question in ({"n": 1, "k": 2, "alpha": "1/2"}, {"n": 10**19, "epsilon": 2, "alpha": "0.5"}):
        reasons = {row.sampler: row.reason for row in plan(**question).rows}
        for name in ("ls-roo", "bal-roo"):
            assert reasons[name].startswith("any "), (name, question)


def test_few_letters_and_few_records_are_found():
    """Where the answer is a small integer, the next one is tried."""
    assert plan(n=668607, epsilon="0.0062", alpha="0.0002839")["bal-roo"] == 6
    assert plan(k=24, epsilon="1.583", alpha="0.3289")["bal-roo"] == 11


@pytest.mark.one_of(3)
def test_every_answer_can_be_written_and_compares_the_sampler_to_use():
    drawn = f"{10 ** DICE.uniform(-3, 3):.3g}"
    extremes = ["1e-30", "1e-3", "1", "50", "709", "746", "1000", drawn]
    for epsilon in extremes:
        n, k = (int(10 ** DICE.uniform(0.5, 6)) for _ in range(2))
        given = {"n": n, "k": k, "epsilon": epsilon, "alpha": DICE.choice(["0.05", "0.9", "1e-9"])}
        for missing in given:
            known = {name: value for name, value in given.items() if name != missing}
            answer = plan(**known)
            assert json.dumps(advised_object(answer, known), allow_nan=False), known
            if answer.limit is None or answer.best is None:
                assert limit_sentence(answer) == "", known
                continue
            used = answer.recommended.sampler
            told = answer.best if answer[used] is None else used
            assert limit_sentence(answer).startswith(f"{told}: "), known
            if missing == "alpha":  # other answers can be equal, or nearly
                assert answer.best == told, known


def test_the_limit_of_the_accuracy_is_the_limit():
    answer = plan(n=1000, k=9, epsilon="0.1")
    assert answer.limit == dproo.limit(n=1000, k=9, epsilon="0.1").lower
    assert round(float(answer.times_limit("ls-roo")), 2) == 2.18  # docs/proofs/limit.md
    assert answer.best == answer.recommended.sampler == "bal-roo"


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        (
            {"n": 1000, "k": 9, "epsilon": "0.1"},
            f"bal-roo: at most 1.3 times {THE_BEST} (alpha 0.0132).",
        ),
        (
            {"k": 9, "epsilon": "0.1", "alpha": "0.05"},
            f"bal-roo: at most 1.4 times {THE_BEST} (265 records).",
        ),
        (
            {"n": 2000, "k": 9, "alpha": "0.1"},
            f"bal-roo: at most 1.5 times {THE_BEST} (epsilon 0.00692).",
        ),
        (
            {"n": 1000, "epsilon": "0.1", "alpha": "0.05"},
            "bal-roo: no private sampler could take more than 1.3 times as many letters (34).",
        ),
        ({"n": 3, "k": 10, "alpha": "0.95"}, ""),
    ],
)
def test_the_best_answer_is_compared_with_the_limit_in_one_sentence(question, sentence):
    assert limit_sentence(plan(**question)) == sentence


def test_where_balance_cannot_help_the_planner_says_so():
    for question in ({"n": 100, "k": 10**6, "epsilon": 1}, {"n": 10**4, "k": 50, "alpha": "0.7"}):
        (row,) = plan(**question, samplers=["bal-roo"]).rows
        assert row.reason == "no bound of it is better than ls-roo here"
        answer = plan(**question)
        assert answer.best == "ls-roo"


def test_only_those_asked_answer():
    assert [row.sampler for row in plan(n=5, k=2, epsilon=1, samplers=["roo"]).rows] == ["roo"]
    assert [row.sampler for row in plan(n=5, k=2, epsilon=1).rows] == planned()
    with pytest.raises(ValueError, match="sampler must be one of"):
        plan(n=5, k=2, epsilon=1, samplers=["gauss"])


def test_theorem_1_goes_both_ways():
    q = Fraction(1, 10)
    epsilon = dproo.epsilon_of(q, n=500, k=8)
    assert float(epsilon) == pytest.approx(math.log(1 + 8 * 0.9 / (500 * 0.1)), rel=1e-14)
    assert dproo.alpha_of(q, k=8) == Fraction(7, 80)
    assert float(plan(n=500, k=8, epsilon=epsilon)["roo"]) == pytest.approx(7 / 80, rel=1e-12)


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ({"n": 3, "epsilon": "0.001", "alpha": "0.01"}, "even two letters need more records"),
        ({"n": 3, "k": 10, "alpha": "0.95"}, "any epsilon will do"),
        ({"n": 1, "k": 10, "alpha": "1e-900"[:6]}, "it would take an epsilon above 1000"),
        ({"k": 1000, "epsilon": "1e-20", "alpha": "0.2"}, "it would take more than 1e+18 records"),
        ({"n": 10**9, "epsilon": "1000", "alpha": "0.2"}, "any alphabet of up to 1e+18 letters"),
    ],
)
def test_an_unattainable_target_says_why(question, reason):
    answer = plan(**question)
    roo = answer.rows[0]
    assert answer["roo"] is None
    assert roo.reason.startswith(reason)


def test_no_limit_is_stated_below_the_least_epsilon():
    half = Fraction(1, 2) - Fraction(1, 10**35)
    answer = plan(n=1000, k=2, alpha=half, samplers=["roo"])
    assert answer["roo"] == Fraction(1, 10**30)
    assert (answer.limit, answer.times_limit("roo")) == (None, None)


OPEN = {"alphabet": "open", "epsilon": 1, "delta": "1e-9", "n": 1000}


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({}, "plan needs exactly three of n, k, epsilon and alpha."),
        *(
            ({**OPEN, name: value}, "plan takes only epsilon, delta and n with alphabet='open'.")
            for name, value in {"k": 9, "alpha": 1, "samplers": [], "codebook": {}}.items()
        ),
        (
            {"n": 9, "k": 9, "epsilon": 1, "delta": "1e-9"},
            "plan takes delta only with alphabet='open'.",
        ),
        (
            {"n": 9, "epsilon": 1, "codebook": {}, "delta": "1e-9"},
            "plan takes delta only with alphabet='open'.",
        ),
        ({"n": 1, "k": 2}, "plan needs exactly three of n, k, epsilon and alpha."),
        (
            {"n": 1, "k": 2, "epsilon": 1, "alpha": "0.1"},
            "plan needs exactly three of n, k, epsilon and alpha.",
        ),
        ({"n": 0, "k": 2, "epsilon": 1}, "n must be at least 1, got 0."),
        ({"n": 5, "k": 1, "epsilon": 1}, "k must be at least 2, got 1."),
        ({"n": 5, "k": 2, "epsilon": "-1"}, "epsilon must be positive, got '-1'."),
        ({"n": 5, "k": 2, "alpha": "1"}, "alpha must be between 0 and 1, got '1'."),
        ({"n": 5, "k": 2, "alpha": "0"}, "alpha must be between 0 and 1, got '0'."),
        ({"n": 5, "k": 2, "alpha": math.nan}, "alpha must be a finite number, got nan."),
    ],
)
def test_wrong_questions_are_refused(question, message):
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the sentence is compared whole
        plan(**question)
    assert str(refused.value) == message


def test_an_unknown_sampler_has_no_answer():
    with pytest.raises(KeyError, match="gauss"):
        plan(n=5, k=2, epsilon=1)["gauss"]


LIKELY = mechanism("ls-roo", n=400, k=7, epsilon="0.1").worst_alpha


def assert_put_right():
    sampler = mechanism("ls-roo", n=400, k=7, epsilon="0.1")
    certificate = dproo.certify(sampler)
    assert certificate.holds
    assert certificate.epsilon == pytest.approx(0.1, abs=1e-12)
    assert float(sampler.worst_alpha) == pytest.approx(float(LIKELY), rel=1e-10)


@pytest.mark.parametrize("share", [Fraction(1), Fraction(1, 2), Fraction(99, 100)])
def test_a_wrong_rate_is_put_right_by_searches(monkeypatch, share):
    """LS-ROO's table certifies, and spends what it may, wherever the search for it starts."""
    rate = property(lambda tables: int(tables.largest_rate * share))
    monkeypatch.setattr(Envelope, "likely_rate", rate)
    assert_put_right()


def test_a_rate_that_few_secants_find_is_put_right_by_searches(monkeypatch):
    monkeypatch.setattr(calibration, "_SECANTS", 1)
    assert_put_right()
