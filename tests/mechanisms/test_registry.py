"""What ``auto`` takes: never worse than any other sampler, and the same wherever it is asked."""

import os
import time
from fractions import Fraction
from inspect import signature

import pytest
from click.testing import CliRunner
from support.draws import DICE
from support.releasing import sample

import dproo
from dproo.cli.commands import cli
from dproo.mechanisms import AUTO, SAMPLERS, choose, mechanism
from dproo.mechanisms.bal_roo.sampler import CLEARLY, ENTRIES_MAX, BalancedRevealOrObscure
from dproo.mechanisms.base import enough
from dproo.mechanisms.registry import NOTICEABLE
from dproo.report import advised_object

SETTINGS = int(os.environ.get("DPROO_SETTINGS", "25"))
ROUNDING = 1 + Fraction(1, 1000)
"""Tables of different samplers round differently; nobody could notice so little."""


def a_setting():
    k = int(2 * 10 ** DICE.uniform(0, 4))
    epsilon = Fraction(f"{10 ** DICE.uniform(-2.5, 1.3):.3g}")
    draws = DICE.choice([1, 1, 1, 2, 7, 40])
    person = DICE.choice([1, 1, 1, 2, 5])
    relation = DICE.choice(["replace", "add-remove"])
    n = int(draws * 10 ** DICE.uniform(0, 7)) if relation == "replace" else None
    return {
        "epsilon": epsilon,
        "k": k,
        "n": n,
        "neighbours": relation,
        "draws": draws,
        "records_per_person": person,
    }


def the_worst_case(name, setting):
    """The worst case of a named sampler as a release would use it, computed by itself."""
    kind = SAMPLERS[name]
    options = set(signature(kind).parameters)
    draws, person = setting["draws"], setting["records_per_person"]
    epsilon = setting["epsilon"]
    n = setting["n"] or enough(epsilon, setting["k"], draws=draws, records_per_person=person)
    made = {"k": setting["k"], "neighbours": setting["neighbours"]}
    if setting["n"]:
        made["n"] = n if "draws" in options else n // draws
    if "draws" in options:
        made["draws"] = draws
    if "records_per_person" in options:
        made["records_per_person"] = person
    else:
        epsilon /= person
    law = kind(epsilon=epsilon, **made)
    return law.worst_alpha if setting["n"] else law.worst_alpha_of_each(n, draws=draws)


@pytest.mark.one_of(3)
def test_auto_is_never_worse_than_another_sampler():
    for _ in range(SETTINGS):
        setting = a_setting()
        choice = choose(**setting)
        for name, kind in SAMPLERS.items():
            if setting["neighbours"] in kind.relations:
                assert choice.alpha <= the_worst_case(name, setting) * ROUNDING, (name, setting)
        assert choice.alpha <= the_worst_case(choice.sampler, setting) * ROUNDING
        assert choice.reason


def test_ls_roo_is_taken_where_another_is_hardly_better_and_the_reason_says_no_more():
    taken = choose(epsilon=Fraction("0.3"), k=2, n=1000)
    ds_roo = SAMPLERS["ds-roo"].worst_alpha_at(n=1000, k=2, epsilon=Fraction("0.3"))
    assert taken.sampler == "ls-roo"
    assert ds_roo < taken.alpha <= ds_roo * NOTICEABLE
    assert taken.reason == "No sampler has a noticeably smaller proven worst case here."


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_what_auto_takes_is_certified(relation):
    for _ in range(5):
        setting = a_setting()
        sampler = mechanism(
            AUTO, k=setting["k"], epsilon=setting["epsilon"], n=10**4, neighbours=relation
        )
        assert dproo.certify(sampler).holds
        assert sampler.name in SAMPLERS


def test_plan_compare_certify_and_release_name_the_same_sampler():
    for n, k, epsilon in [(1000, 9, "0.1"), (20, 15, "1"), (100, 5, "3")]:
        taken = choose(epsilon=Fraction(epsilon), k=k, n=n)
        answer = dproo.plan(n=n, k=k, epsilon=epsilon)
        assert answer.recommended == taken
        assert advised_object(answer, {})["recommended"]["sampler"] == taken.sampler
        assert dproo.mechanism("auto", n=n, k=k, epsilon=epsilon).name == taken.sampler
        released = sample([1] * n, alphabet=range(k - 1), epsilon=epsilon).receipt.as_dict()
        assert (released["sampler"], released["sampler_reason"]) == (taken.sampler, taken.reason)
        shown = CliRunner().invoke(
            cli, ["certify", "--n", str(n), "--k", str(k), "--epsilon", epsilon]
        )
        assert f"holds for {taken.sampler} (replace)" in shown.output
        assert taken.reason in shown.output


def test_a_plan_recommends_what_auto_takes_at_the_answer():
    for question in (
        {"k": 9, "epsilon": "0.1", "alpha": "0.05"},
        {"n": 1000, "epsilon": "0.1", "alpha": "0.05"},
        {"n": 1000, "k": 9, "alpha": "0.05"},
    ):
        answer = dproo.plan(**question)
        best = next(row for row in answer.rows if row.sampler == answer.best)
        assert answer.recommended == choose(epsilon=best.epsilon, k=best.k, n=best.n)
        assert answer.recommended.alpha <= Fraction(question["alpha"]) * ROUNDING
    assert dproo.plan(n=3, k=10, alpha="0.95").recommended is None


@pytest.mark.parametrize("missing", ["n", "k", "epsilon"])
def test_a_plan_finds_what_auto_takes_where_tables_are_long(missing):
    question = {"n": 8_000_000, "k": 1000, "epsilon": "0.0005", "alpha": "0.05"}
    del question[missing]
    answer = dproo.plan(**question)
    balanced, plain = answer["bal-roo"], answer["ls-roo"]
    assert answer.best == answer.recommended.sampler == "bal-roo"
    assert (balanced > 1.5 * plain) if missing == "k" else (balanced < plain / 1.5)


def test_bal_roo_is_ls_roo_wherever_that_is_clearly_better():
    """Up to 161 times better, at 14 records, 3 letters and epsilon 8."""
    drawn = [
        (int(10 ** DICE.uniform(0, 5)), int(10 ** DICE.uniform(0.31, 3)), DICE.uniform(0.05, 12))
        for _ in range(20)
    ]
    for n, k, epsilon in [(14, 3, 8), (1000, 100, 4), (1000, 9, 3), *drawn]:
        at = {"n": n, "k": k, "epsilon": Fraction(f"{epsilon:.3f}")}
        balanced, lifted = (mechanism(name, **at) for name in ("bal-roo", "ls-roo"))
        for worst in (balanced.worst_alpha, BalancedRevealOrObscure.worst_alpha_at(**at)):
            assert worst * CLEARLY <= lifted.worst_alpha, at
    few = {"n": 14, "k": 3, "epsilon": 8}
    assert mechanism("bal-roo", **few).pmf([9, 5, 0]) == mechanism("ls-roo", **few).pmf([9, 5, 0])


@pytest.mark.parametrize(("k", "epsilon"), [(3, "8"), (9, "3"), (9, "0.1"), (100, "1")])
def test_under_add_remove_the_law_of_bal_roo_does_not_depend_on_the_most_records(k, epsilon):
    records = enough(Fraction(epsilon), k)
    laws = [
        mechanism("bal-roo", k=k, epsilon=epsilon, neighbours="add-remove", **options)
        for options in ({"n": 20}, {"n": records}, {})
    ]
    counts = [12, 8, *[0] * (k - 2)]
    assert laws[0].pmf(counts) == laws[1].pmf(counts) == laws[2].pmf(counts)
    lifted = mechanism("ls-roo", n=records, k=k, epsilon=epsilon, neighbours="add-remove")
    assert laws[1].worst_alpha * CLEARLY <= lifted.worst_alpha


def test_a_plan_is_that_of_ls_roo_where_tables_are_too_long():
    epsilon = BalancedRevealOrObscure.plain_below(1000) * Fraction(99, 100)
    answer = dproo.plan(n=10**9, k=1000, epsilon=epsilon)
    assert answer["bal-roo"] == answer["ls-roo"]
    longest = BalancedRevealOrObscure(n=10**9, k=1000, epsilon=epsilon * Fraction(102, 100))
    assert longest.plain is None
    assert len(longest.table.powers) <= ENTRIES_MAX


def test_auto_has_no_options_of_a_single_sampler():
    for option in ("draws", "as_printed"):
        with pytest.raises(TypeError, match=f"auto has no option '{option}'"):
            mechanism("auto", n=10, k=3, epsilon=1, **{option: 2})


@pytest.mark.skipif("DPROO_SOAK" not in os.environ, reason="long: set DPROO_SOAK")
def test_auto_is_quick():
    taken = []
    for _ in range(200):
        n, k = int(10 ** DICE.uniform(0, 12)), max(2, int(10 ** DICE.uniform(0.4, 9)))
        epsilon = Fraction(f"{10 ** DICE.uniform(-6, 1.3):.3g}")
        start = time.process_time()
        choose(epsilon=epsilon, k=k, n=n)
        taken.append(time.process_time() - start)
    assert sorted(taken)[190] < 0.2
