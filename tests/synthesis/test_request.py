"""A private table: what one change of the data can change, by brute force and by certificate."""

import math
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from support.draws import IN_FULL, numbers

from dproo import certify
from dproo.core.draw import RandomSource
from dproo.core.numbers import is_at_most_exp
from dproo.mechanisms.noise import Ratio, concentrated
from dproo.synthesis import families
from dproo.synthesis import request as requests
from dproo.synthesis import run as runs
from dproo.synthesis.families import Elimination, Noise, cells, disturbance, pairs, shares
from dproo.synthesis.fit import Law
from dproo.synthesis.request import UNIT, Released, TableRequest, transcript
from dproo.synthesis.run import run

RELATIONS = "add-remove", "replace"
SIZES = (2, 2)
ROWS = list(product(*map(range, SIZES)))
PAIR = ((), (0,))
RECORDS_MAX = 3
"""The declared network of a pair: the second column depends on the first."""


def counts_of(records, family, sizes=SIZES):
    found = [0] * cells(sizes, family)
    for record in records:
        place = 0
        for column in family:
            place = place * sizes[column] + record[column]
        found[place] += 1
    return found


def provider(records, sizes=SIZES):
    return lambda asked: [counts_of(records, family, sizes) for family in asked]


def made(relation="add-remove", *, n=3, **options):
    records = n if relation == "replace" else None
    options = {"sizes": SIZES, "epsilon": Fraction(1), **options}
    return TableRequest(neighbours=relation, records=records, **options)


def neighbours(relation, n, g):
    """Yield all pairs of datasets of up to n records that one change of g records connects."""
    if relation == "replace":
        for rest in combinations_with_replacement(ROWS, max(0, n - g)):
            for old in combinations_with_replacement(ROWS, min(n, g)):
                for new in combinations_with_replacement(ROWS, min(n, g)):
                    yield rest + old, rest + new
    else:
        for size in range(n):
            for rest in combinations_with_replacement(ROWS, size):
                for more in range(1, min(g, n - size) + 1):
                    for added in combinations_with_replacement(ROWS, more):
                        yield rest, rest + added
                        yield rest + added, rest


@cache
def chance(ratio, z):
    """Return the law of the noise, as its page states it."""
    q = ratio.value
    return (1 - q) / (1 + q) * q ** abs(z)


def worst_of_all_tables(steps, before, after):
    """Return the largest ratio over all noisy tables.

    The cells are independent, so the largest ratio of whole tables is the product of the largest
    of each cell; beyond the counts of both datasets the ratio of a cell does not change any more.
    """
    worst = Fraction(1)
    for step in steps:
        one, other = counts_of(before, step.family), counts_of(after, step.family)
        for a, b in zip(one, other, strict=True):
            values = range(min(a, b) - 1, max(a, b) + 2)
            worst *= max(chance(step.ratio, y - b) / chance(step.ratio, y - a) for y in values)
    return worst


def whole_tables(steps, before, after, span):
    """Yield the probabilities of every noisy table within a span, on both datasets, in full."""
    cells_of = [
        (step.ratio, a, b)
        for step in steps
        for a, b in zip(counts_of(before, step.family), counts_of(after, step.family), strict=True)
    ]
    for table in product(span, repeat=len(cells_of)):
        one = other = Fraction(1)
        for y, (ratio, a, b) in zip(table, cells_of, strict=True):
            one *= chance(ratio, y - a)
            other *= chance(ratio, y - b)
        yield one, other


# Brute force


@pytest.mark.parametrize("g", [1, 2])
@pytest.mark.parametrize("network", ["independent", PAIR])
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_law_of_all_noisy_tables_changes_by_exactly_what_is_certified(relation, network, g):
    for n in range(g, RECORDS_MAX + 1):
        request = made(relation, n=n, network=network, records_per_person=g)
        certificate = certify(request)
        worst = max(
            worst_of_all_tables(request.schedule, before, after)
            for before, after in neighbours(relation, n, g)
        )
        assert worst == certificate.ratio
        assert certificate.holds
        assert not certificate.is_bound
        assert is_at_most_exp(worst, request.epsilon)
        assert certificate.epsilon <= 1 <= certificate.epsilon * 1.001


@pytest.mark.parametrize("relation", RELATIONS)
def test_every_single_noisy_table_changes_by_no_more(relation):
    """Without the argument that cells are independent: every table is looked at by itself."""
    request = made(relation, n=1, network="independent")
    reached = Fraction(0)
    for before, after in neighbours(relation, 1, 1):
        for one, other in whole_tables(request.schedule, before, after, range(-1, 3)):
            reached = max(reached, other / one)
    assert reached == certify(request).ratio


@pytest.mark.parametrize("g", [1, 2])
@pytest.mark.parametrize("relation", RELATIONS)
def test_a_table_of_columns_and_pair_pays_for_every_family(relation, g):
    """Columns and their pair, measured beside each other: what auto does on two columns."""
    for n in range(g, RECORDS_MAX + 1):
        request = made(relation, n=n, records_per_person=g)
        sizes = {(0,): 2.0, (1,): 2.0, (0, 1): 4.0}
        steps = [request.measurement(f, cost) for f, cost in shares(Fraction(1), sizes).items()]
        worst = max(worst_of_all_tables(steps, *pair) for pair in neighbours(relation, n, g))
        law = Law(SIZES, {})
        assert worst == certify(Released(request, (), tuple(steps), law, 2.0)).ratio
        assert is_at_most_exp(worst, Fraction(1))
        assert not is_at_most_exp(worst, Fraction(999, 1000))
        assert certify(Released(request, (), tuple(steps[1:]), law, 2.0)).ratio < worst


# What auto does


def released(n=400, *, sizes=(2, 3, 4, 2), epsilon="3", **options):
    chance_ = numbers()
    first = chance_.integers(0, sizes[0], n)
    columns = [first, *(np.minimum(first + chance_.integers(0, 2, n), k - 1) for k in sizes[1:])]
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    replace = options.get("neighbours") == "replace"
    request = TableRequest(
        sizes=sizes, epsilon=Fraction(epsilon), records=n if replace else None, **options
    )
    return run(request, provider(rows, sizes), RandomSource())


@pytest.mark.one_of(3)
@pytest.mark.parametrize("g", [1, 3])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("epsilon", ["0.05", "3", "40"])
def test_every_path_costs_epsilon_exactly_and_its_ratios_less(relation, epsilon, g):
    table = released(epsilon=epsilon, neighbours=relation, records_per_person=g)
    assert table.cost == table.request.epsilon
    path, bound = certify(table), certify(table.request)
    assert path.holds
    assert bound.holds
    assert bound.is_bound
    assert path.ratio == math.prod(step.largest_ratio for step in table.steps)
    assert path.ratio <= bound.ratio
    assert path.epsilon > 0.999 * float(epsilon)


@pytest.mark.one_of(3)
@pytest.mark.parametrize("options", [{}, {"delta": Fraction("1e-6"), "noise": "gaussian"}])
def test_every_path_costs_all_of_it_however_little_room_the_cliques_have(options, monkeypatch):
    chance_ = numbers()
    shortest = 0
    for _ in range(15 if IN_FULL else 5):
        sizes = tuple(int(size) for size in chance_.integers(2, 6, int(chance_.integers(3, 8))))
        most = int(chance_.integers(9, 80))
        monkeypatch.setattr(families, "CLIQUE_MAX", most)
        monkeypatch.setattr(runs, "CLIQUE_MAX", most)
        table = released(n=4000, epsilon="40", sizes=sizes, **options)
        assert table.cost == table.request.budget
        assert table.law.tree.largest <= most
        chosen = {step.family for step in table.steps if step.kind == "choice"} - {None}
        shortest += 0 < len(chosen) < len(sizes)
    assert shortest > 0 or not IN_FULL


@pytest.mark.one_of(4)
def test_columns_are_not_put_in_order_anew_for_every_pair_that_waits(monkeypatch):
    """With a hundred columns that would take hours, all of them after the charge."""
    ordered = []
    monkeypatch.setattr(runs, "Elimination", lambda *to: ordered.append(to) or Elimination(*to))
    table = released(n=4000, epsilon="400", sizes=(2,) * 14)
    assert sum(step.kind == "choice" for step in table.steps) > 30
    assert len(ordered) < len(table.request.families)
    ordered.clear()
    monkeypatch.setattr(runs, "_ORDERS", 7)
    monkeypatch.setattr(families, "CLIQUE_MAX", 8)
    monkeypatch.setattr(runs, "CLIQUE_MAX", 8)
    table = released(n=4000, epsilon="400", sizes=(2,) * 14)
    chosen = sum(step.kind == "choice" for step in table.steps)
    assert table.cost == 400
    assert len(ordered) <= 7 + 1 + 2 * chosen


def test_auto_measures_pairs_where_it_can_pay_for_them():
    table = released(n=4000, epsilon="40")
    assert any(step.kind == "choice" for step in table.steps)
    assert {len(found.family) for found in table.measurements} == {0, 1, 2}
    kinds = [line["kind"] for line in transcript(table.steps)]
    assert kinds.count("choice") == sum(step.kind == "choice" for step in table.steps)
    assert sum(Fraction(line["cost"]) for line in transcript(table.steps)) == 40


@pytest.mark.usefixtures("asking")
@pytest.mark.parametrize("options", [{}, {"delta": Fraction("1e-6"), "noise": "gaussian"}])
def test_everything_that_is_drawn_stands_in_the_transcript(options, monkeypatch):
    """Every choice and every measure, in order, with the ratio or the variance it was drawn by."""
    drawn = []
    for name in ("permute_and_flip", "exponential"):
        true = getattr(runs, name)

        def choice(scores, ratio, source, true=true):
            drawn.append(ratio)
            return true(scores, ratio, source)

        monkeypatch.setattr(runs, name, choice)
    noise, bell = Ratio.noise, requests.gaussian
    monkeypatch.setattr(Ratio, "noise", lambda own, *to: (drawn.append(own), noise(own, *to))[1])
    monkeypatch.setattr(requests, "gaussian", lambda v, *to: (drawn.append(v), bell(v, *to))[1])
    table = released(n=4000, epsilon="40", **options)
    asked = set() if options else {"question"}
    assert {step.kind for step in table.steps} == {"measure", "choice"} | asked
    assert drawn == [step.ratio or step.variance for step in table.steps]


def test_auto_measures_columns_only_where_it_cannot():
    table = released(n=20, epsilon="0.1", neighbours="replace")
    assert not any(step.kind == "choice" for step in table.steps)
    assert {len(found.family) for found in table.measurements} == {1}


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("g", [1, 2])
def test_a_score_changes_by_no_more_than_a_choice_pays_for(relation, g):
    """Over all small datasets and several public guesses; and the most is reached."""
    chance_ = numbers()
    extreme = np.array([[-1.0, 3.0], [-1.0, 3.0]])  # to move a record brings both cells nearer
    guesses = [extreme, *(chance_.uniform(-1, 3, (2, 2)) for _ in range(2))]
    most = 0
    for before, after in neighbours(relation, 3, g):
        for guess in guesses:
            scores = []
            for records in (before, after):
                run = runs._Run(made(relation), provider(records), RandomSource())
                run.true([(0, 1)])
                scores.append(run.score((0, 1), guess))
            most = max(most, abs(scores[0] - scores[1]))
    request = made(relation, records_per_person=g)
    assert request.choice(None, Fraction(1)).changes == 2 * UNIT * request.changed
    assert most == UNIT * request.changed


def test_a_choice_costs_what_its_ratio_says():
    for relation, g in product(RELATIONS, (1, 3)):
        step = made(relation, records_per_person=g).choice(None, Fraction(1, 7))
        assert is_at_most_exp(step.largest_ratio, Fraction(1, 7))
        assert not is_at_most_exp(step.largest_ratio, Fraction(1, 7) * Fraction(99, 100))


def test_a_run_never_spends_more_than_is_left():
    run = runs._Run(made(), provider([]), RandomSource())
    run.measure(run.request.measurement((0,), Fraction(2, 3)))
    assert run.left == Fraction(1, 3)
    with pytest.raises(AssertionError):
        run.measure(run.request.measurement((1,), Fraction(2, 3)))
    with pytest.raises(AssertionError):
        run.choose([(0, 1)], [1], Fraction(1, 2))
    with pytest.raises(AssertionError):
        run.ask(run.request.question(Fraction(1, 2)))


# With a delta


def test_without_a_delta_no_noise_is_gaussian():
    assert not released().request.is_gaussian
    with pytest.raises(ValueError, match="noise must be geometric without a delta"):
        made(noise="gaussian")


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("g", [1, 2])
def test_gaussian_noise_spends_the_rho_of_epsilon_and_delta(relation, g):
    table = released(
        n=200, delta=Fraction("1e-6"), noise="gaussian", neighbours=relation, records_per_person=g
    )
    rho = concentrated(Fraction(3), Fraction("1e-6"))
    certificate = certify(table)
    assert table.request.budget == rho == table.cost
    assert certificate.holds
    assert certificate.ratio is None
    assert rho * Fraction(99, 100) < certificate.rho <= rho


def test_the_epsilon_of_gaussian_noise_is_never_rounded_down():
    for tenths in range(1, 10):
        request = made(epsilon=Fraction(tenths, 10), delta=Fraction("1e-6"), noise="gaussian")
        assert Fraction(request.certificate.epsilon) >= request.epsilon


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("g", [1, 2])
def test_the_squares_of_changes_add_up_to_no_more_than_gaussian_noise_pays_for(relation, g):
    request = made(relation, records_per_person=g)
    most = 0
    for before, after in neighbours(relation, 3, g):
        for family in ((0,), (1,), (0, 1)):
            one, other = counts_of(before, family), counts_of(after, family)
            most = max(most, sum((a - b) ** 2 for a, b in zip(one, other, strict=True)))
    assert most == request.changed_squared


def test_gaussian_noise_is_taken_for_wide_tables_only():
    delta = Fraction("1e-9")
    narrow = TableRequest(sizes=(5,) * 5, epsilon=Fraction(1), delta=delta)
    wide = TableRequest(sizes=(5,) * 40, epsilon=Fraction(1), delta=delta)
    assert not narrow.is_gaussian
    assert wide.is_gaussian
    assert certify(wide).holds


# Choices that are refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sizes": ()}, "sizes must name at least one column"),
        ({"sizes": (2, 0)}, "sizes must be at least 1, got 0"),
        ({"epsilon": 0}, "epsilon must be positive"),
        ({"delta": 1}, "delta must be at least 0 and below 1"),
        ({"network": "tree"}, "network must be one of auto, independent"),
        ({"network": ((),)}, "network must give the parents of every column"),
        ({"network": ((), (1,))}, "network must name other columns as parents"),
        ({"network": ((), (0, 0))}, "network must name other columns as parents"),
        ({"neighbours": "both"}, "neighbours must be one of add-remove, replace"),
        ({"neighbours": "replace"}, "records must be public under replace"),
        ({"records": 3}, "records must be public under replace, and None under add-remove"),
        ({"records_per_person": 0}, "records_per_person must be at least 1"),
        ({"sizes": (199, 199), "network": PAIR}, "network must keep at most 20,000 cells together"),
    ],
)
def test_a_wrong_choice_is_refused_before_anything_is_counted(options, message):
    with pytest.raises(ValueError, match=message):
        TableRequest(**{"sizes": SIZES, "epsilon": Fraction(1), **options})


def test_columns_of_one_letter_cost_nothing():
    request = TableRequest(sizes=(1, 3, 1), epsilon=Fraction(1))
    assert request.families == ((1,),)
    table = run(request, provider([(0, 2, 0)] * 9, (1, 3, 1)), RandomSource())
    assert [step.cost for step in table.steps] == [1]
    alone = TableRequest(sizes=(1,), epsilon=Fraction(1))
    assert run(alone, provider([(0,)] * 9, (1,)), RandomSource()).request.families == ((),)


def test_counts_of_another_size_are_not_taken():
    with pytest.raises(ValueError, match="one number for every cell"):
        run(made(network="independent"), lambda asked: [[1, 2, 3] for _ in asked], RandomSource())


def test_a_certificate_shows_its_verdict():
    certificate = certify(made(network="independent"))
    assert "epsilon = 1 holds for a table (add-remove)" in repr(certificate)
    assert "worst loss" in certificate._repr_html_()
    loose = requests.TableCertificate(made(), Fraction(3))
    assert not loose.holds
    assert "DOES NOT HOLD" in repr(loose)


# Families


def test_shares_add_up_exactly_whatever_the_sizes():
    for total in (Fraction(1), Fraction(1, 3), Fraction(7, 10**9)):
        sizes = {(c,): float(c + 1) ** 1.7 for c in range(50)}
        for power in (0.5, 2 / 3):
            found = shares(total, sizes, power=power)
            assert sum(found.values()) == total
            assert min(found.values()) > 0
    with pytest.raises(ValueError, match="total must be positive"):
        shares(Fraction(0), {(0,): 1.0})


def test_shares_are_those_of_least_noise():
    """Moving a little of epsilon from one family to another makes the total noise larger."""
    q = {(0,): 9.0, (1,): 100.0, (2,): 4.0}
    for noise, spread in (
        (Noise(1), lambda c: 1 / c),
        (Noise(1, is_gaussian=True), lambda c: (2 * c) ** -0.5),
    ):
        found = shares(Fraction(1), q, power=noise.power)
        total = sum(q[f] * spread(float(cost)) for f, cost in found.items())
        for one, other in product(q, repeat=2):
            if one != other:
                moved = {f: float(c) + 0.01 * ((f == one) - (f == other)) for f, c in found.items()}
                assert sum(q[f] * spread(cost) for f, cost in moved.items()) > total
        factor = 0.798 if noise.is_gaussian else 1
        summed = sum(value**noise.power for value in q.values())
        assert noise.total(summed, 1.0) == pytest.approx(factor * total)


def test_every_family_lies_in_the_clique_of_its_last_column():
    chance_ = numbers()
    for _ in range(30):
        d = int(chance_.integers(2, 9))
        sizes = [int(k) for k in chance_.integers(2, 5, d)]
        found = [
            tuple(sorted(int(c) for c in chance_.choice(d, min(d, 1 + i % 3), replace=False)))
            for i in range(6)
        ]
        tree = Elimination(sizes, found)
        assert sorted(tree.order) == list(range(d))
        for family in found:
            assert {*family} <= {*tree.clique(tree.home(family))}
        for column in tree.order:
            parents = tree.parents[column]
            assert all(tree.place[parent] < tree.place[column] for parent in parents)
            if parents:
                assert {*parents} <= {*tree.clique(tree.home(parents))}


def test_a_pair_has_room_if_the_cliques_of_the_same_order_stay_small(monkeypatch):
    """By brute force: columns are taken out in this order, and those near one become a clique."""
    chance_ = numbers()
    monkeypatch.setattr(families, "CLIQUE_MAX", 60)
    verdicts = set()
    for _ in range(40):
        d = int(chance_.integers(3, 9))
        sizes = [int(k) for k in chance_.integers(2, 6, d)]
        every = pairs(sizes)
        found = [every[int(at)] for at in chance_.integers(0, len(every), d)]
        tree = Elimination(sizes, found)
        for pair in every:
            near = {column: {column} for column in range(d)}
            for a, b in [*found, pair]:
                near[a].add(b)
                near[b].add(a)
            widest = []
            for column in reversed(tree.order):
                clique = near.pop(column)
                if clique != {*tree.clique(column)}:
                    widest.append(cells(sizes, tuple(clique)))
                for other in clique - {column}:
                    near[other] |= clique
                    near[other].discard(column)
            assert tree.has_room(pair) == (max(widest, default=0) <= 60)
            verdicts.add(tree.has_room(pair))
    assert verdicts == {True, False}


def test_a_pair_of_too_many_cells_is_not_counted():
    assert pairs((2, 1, 3)) == [(0, 2)]
    assert pairs((families.CLIQUE_MAX, 2, 3)) == [(1, 2)]


def test_the_noise_of_a_pair_reaches_more_cells_than_its_own():
    assert disturbance((3, 5, 2), (0, 1)) == 15 + 3 * 5**0.5 + 5 * 3**0.5
    assert disturbance((3,), (0,)) == 3


def test_the_noise_of_a_family_is_the_noise_of_its_ratio():
    found = requests.Measurement((0,), (1, 2), ratio=Ratio(1, 1))
    assert found.deviation_squared == pytest.approx(4.0)  # 2q/(1-q)^2
