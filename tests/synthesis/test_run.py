"""A run of a private table: what may decide its steps, and what a question reveals."""

from collections import deque
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product

import numpy as np
import pytest
from support.draws import numbers, some

import dproo
from dproo import certify
from dproo.core.draw import RandomSource
from dproo.core.numbers import is_at_most_exp
from dproo.mechanisms.noise import Ratio
from dproo.synthesis import run as runs
from dproo.synthesis.families import DEPENDENCE, STRONG, PairPlan, cells, expected, planned
from dproo.synthesis.model import Model, ModelColumn
from dproo.synthesis.request import QUESTION, UNIT, Measurement, Step, TableRequest
from dproo.synthesis.run import run

RELATIONS = "add-remove", "replace"


def counts_of(rows, family, sizes):
    place = np.zeros(len(rows), dtype=int)
    for column in family:
        place = place * sizes[column] + rows[:, column]
    return np.bincount(place, minlength=cells(sizes, family)).tolist()


def made(sizes, relation="add-remove", *, n=0, **options):
    records = n if relation == "replace" else None
    options = {"epsilon": Fraction(1), **options}
    return TableRequest(sizes=sizes, neighbours=relation, records=records, **options)


def strongest_dependence(rows, sizes):
    """Return the sixteenths of a record that the strongest pairs are from independent, exactly."""
    n = len(rows)
    found = []
    for a, b in combinations(range(len(sizes)), 2):
        both = counts_of(rows, (a, b), sizes)
        one, other = counts_of(rows, (a,), sizes), counts_of(rows, (b,), sizes)
        cells = zip(both, product(one, other), strict=True)
        found.append(
            sum(abs(Fraction(cell) - Fraction(x * y, n or 1)) / 2 for cell, (x, y) in cells)
        )
    most = max(1, len(sizes) // 3)
    return UNIT * sum(sorted(found)[-most:]) / most // 1


class Transcribed:
    """Runs that release what they are told to release, whatever the data is.

    The first run writes down every released number and every choice. A later run on other data
    gets the noise that makes it release the same numbers, and is led to the same choices. What it
    measures, asks and offers to choose from, at which cost, then follows from what was released
    alone, or it differs.
    """

    def __init__(self, monkeypatch, sizes):
        self.sizes, self.rows, self.script = sizes, None, None
        self.written, self.seen, self.scores = [], [], {}
        noise, choose, score = Step.noise, runs._Run.choose, runs._Run.score
        monkeypatch.setattr(Step, "noise", lambda own, *to: self.noise(own, noise, *to))
        monkeypatch.setattr(runs._Run, "choose", lambda own, *to: self.choose(own, choose, *to))
        monkeypatch.setattr(runs._Run, "score", lambda own, *to: self.score(own, score, *to))
        for name in ("permute_and_flip", "exponential"):
            monkeypatch.setattr(runs, name, self.pick(getattr(runs, name)))

    def run(self, request, rows, script=None):
        self.rows, self.script = rows, None if script is None else deque(script)
        self.written, self.seen, self.scores = [], [], {}

        def count(families):
            self.seen.append(("count", tuple(families)))
            return [counts_of(rows, family, self.sizes) for family in families]

        released = run(request, count, RandomSource())
        assert not self.script
        return released, self.written, self.seen

    def true(self, step):
        if step.kind == QUESTION:
            return [strongest_dependence(self.rows, self.sizes)]
        return counts_of(self.rows, step.family, self.sizes)

    def noise(self, step, true_noise, size, source):
        counts = self.true(step)
        self.seen.append((step.kind, step.family, step.cost, step.ratio, step.variance))
        if self.script is None:
            drawn = true_noise(step, size, source)
            self.written.append([n + z for n, z in zip(counts, drawn, strict=True)])
            return drawn
        return [y - n for y, n in zip(self.script.popleft(), counts, strict=True)]

    def score(self, own, true_score, pair, centre):
        self.seen.append(("score", pair, centre.tobytes()))
        self.scores[pair] = true_score(own, pair, centre)
        return self.scores[pair]

    def choose(self, own, true_choose, candidates, scores, cost):
        public = [s - self.scores.get(f, 0) for f, s in zip(candidates, scores, strict=True)]
        self.seen.append(("choice", tuple(candidates), public, cost))
        return true_choose(own, candidates, scores, cost)

    def pick(self, true_pick):
        def picked(scores, ratio, source):
            self.seen.append(("pick", len(scores), ratio))
            if self.script is not None:
                return self.script.popleft()
            self.written.append(true_pick(scores, ratio, source))
            return self.written[-1]

        return picked


@pytest.mark.one_of(3)
@pytest.mark.usefixtures("asking")
@pytest.mark.parametrize(
    ("relation", "options"),
    some(product(RELATIONS, [{}, {"delta": Fraction("1e-6"), "noise": "gaussian"}]), one_of=2),
)
def test_nothing_but_released_values_decides_what_comes_next(relation, options, monkeypatch):
    """Two datasets that release the same take the same steps, however different they are."""
    chance = numbers()
    sizes = tuple(int(size) for size in chance.integers(2, 6, 5))
    n = 3000
    first = chance.integers(0, 2, n)
    alike = np.stack([np.minimum(first + chance.integers(0, 2, n), k - 1) for k in sizes], 1)
    size = n if relation == "replace" else int(chance.integers(0, 50))
    other = np.stack([np.minimum(chance.integers(0, 9, size), k - 1) for k in sizes], 1)
    watched = Transcribed(monkeypatch, sizes)
    epsilon = Fraction(int(chance.integers(10, 60)))
    request = made(sizes, relation, n=n, epsilon=epsilon, **options)
    released, script, seen = watched.run(request, alike)
    asked = set() if options else {"question"}
    assert {kind for kind, *_ in seen} == {"count", "measure", "score", "choice", "pick"} | asked
    again, _, seen_again = watched.run(request, other, script)
    assert seen_again == seen
    assert again.measurements == released.measurements
    assert again.steps == released.steps
    assert again.records == released.records
    for family, table in released.law.potentials.items():
        assert np.array_equal(again.law.potentials[family], table)


# The question


def answer(records, sizes):
    """Return what a question is answered without noise, in sixteenths of a record."""
    rows = np.array(records, dtype=int).reshape(-1, len(sizes))
    own = runs._Run(
        made(sizes, n=len(records)),
        lambda asked: [counts_of(rows, family, sizes) for family in asked],
        RandomSource(),
    )
    own.true(list(combinations(range(len(sizes)), 2)))
    found = own.ask(own.request.question(Fraction(1))) * UNIT
    assert found == strongest_dependence(rows, sizes)
    return found


@pytest.mark.one_of(3)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("g", [1, 2])
def test_an_answer_changes_by_no_more_than_its_question_pays_for(relation, g, monkeypatch):
    """Over all small datasets."""
    monkeypatch.setattr(Step, "noise", lambda _own, size, _source: [0] * size)
    sizes = (2, 2)
    letters = list(product(*map(range, sizes)))
    step = made(sizes, relation, n=4, records_per_person=g).question(Fraction(1))
    most = 0
    for rest in combinations_with_replacement(letters, 3):
        befores = [[]] if relation == "add-remove" else combinations_with_replacement(letters, g)
        for before in map(list, befores):
            for after in combinations_with_replacement(letters, g):
                change = abs(answer([*rest, *before], sizes) - answer([*rest, *after], sizes))
                most = max(most, change)
    assert UNIT // 4 < most <= step.changes
    assert is_at_most_exp(step.largest_ratio, Fraction(1))
    assert not is_at_most_exp(step.largest_ratio, Fraction(99, 100))


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_strongest_of_many_pairs_change_no_more_than_one(relation, monkeypatch):
    """Over tables drawn at random, whose strongest pairs one record may exchange."""
    monkeypatch.setattr(Step, "noise", lambda _own, size, _source: [0] * size)
    chance = numbers()
    most = 0
    for _ in range(60):
        sizes = tuple(int(size) for size in chance.integers(2, 4, int(chance.integers(3, 8))))
        rows = chance.integers(0, sizes, (int(chance.integers(1, 9)), len(sizes))).tolist()
        old, new = chance.integers(0, sizes, (2, len(sizes))).tolist()
        before = [*rows, old] if relation == "replace" else rows
        most = max(most, abs(answer(before, sizes) - answer([*rows, new], sizes)))
    assert UNIT // 8 < most <= made(sizes, relation, n=4).question(Fraction(1)).changes


@pytest.mark.usefixtures("asking")
def test_a_question_is_charged_and_kept_in_the_model():
    sizes = (2, 3, 2)
    rows = numbers().integers(0, 2, (4000, 3))
    counted = lambda asked: [counts_of(rows, family, sizes) for family in asked]  # noqa: E731
    released = run(made(sizes, epsilon=Fraction(5)), counted, RandomSource())
    (asked,) = (step for step in released.steps if step.kind == QUESTION)
    assert asked.cost == 5 * DEPENDENCE
    columns = [ModelColumn(f"c{size}{at}", tuple(range(size))) for at, size in enumerate(sizes)]
    model = Model.of(released, columns)
    assert model.certificate.ratio == certify(released).ratio
    (kept,) = (step for step in model.released["steps"] if step["kind"] == QUESTION)
    assert kept["answer"] == asked.answer


def test_pairs_are_planned_only_where_they_promise_a_gain(monkeypatch):
    """An answer decides: dependent pairs are measured, independent ones are not."""
    chance = numbers()
    sizes = (5,) * 19
    n = 4500
    own = runs._Run(made(sizes), lambda _: [], RandomSource())
    own.measurements.append(Measurement((), (n,), Ratio(1, 1)))
    noise = own.request._noise(is_gaussian=False)
    for dependence, is_worth in ((0.0, False), (0.3, True)):
        monkeypatch.setattr(own, "ask", lambda _, found=dependence: found * n)
        assert (own.plan(noise, sizes) != PairPlan(0, 0)) == is_worth
    few = {"sizes": sizes, "noise": noise, "cost": 0.01, "records": float(chance.integers(1, 900))}
    assert planned(**few, dependence=STRONG) == PairPlan(0, 0)


# Known before it is paid for


def test_the_expected_distance_is_that_of_the_noise_alone():
    """Independent uniform columns: what a table misses is noise, within a third of the forecast."""
    chance = numbers()
    sizes, n = (4,) * 6, 4000
    rows = chance.integers(0, 4, (n, 6))
    counted = lambda asked: [counts_of(rows, family, sizes) for family in asked]  # noqa: E731
    for options, declared in (
        ({"network": "independent"}, [(column,) for column in range(6)]),
        ({"network": ((), *((column,) for column in range(5)))}, [(c, c + 1) for c in range(5)]),
    ):
        found = []
        for _ in range(12):
            law = run(made(sizes, epsilon=Fraction("0.2"), **options), counted, RandomSource()).law
            found += [abs(pair - 1 / 16).sum() / 2 for pair in law.pairs().values()]
        told = expected(sizes, declared, epsilon=0.2, records=n, changed=1)
        assert 0.6 < np.mean(found) / told < 1.6


def test_a_plan_says_from_how_many_rows_on_a_table_is_the_better_buy():
    fields = [
        {"name": f"c{at}", "type": "integer", "categories": list(range(4))} for at in range(6)
    ]
    book = {"schema": {"fields": fields}}
    tables = [dproo.plan(codebook=book, n=n, epsilon=1).table for n in (500, 5000, 50_000)]
    assert sorted(tables, reverse=True) == tables
    assert dproo.plan(codebook=book, n=5000, epsilon=1).table_from >= 2
    exact = {"schema": {"fields": [{"name": "c", "type": "boolean"}]}}
    assert dproo.plan(codebook=exact, n=9, epsilon=1000).table_from is None
