"""The benchmark of rows: its text says what was measured, all of it, misses included."""

import sys
from fractions import Fraction
from importlib import import_module
from itertools import product
from pathlib import Path

import pandas as pd
import pytest

from dproo import CodeBook
from dproo.core.counts import Counts
from dproo.mechanisms import LetterSpecificRevealOrObscure
from dproo.mechanisms.rows import RowSampler
from dproo.releases.row import RowTables

ROOT = Path(__file__).parents[2]


def script(name):
    """Return a script of the benchmarks, which are not a package."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        return import_module(name)
    finally:
        sys.path.pop(0)


def test_ratios_are_floored_and_a_tie_is_no_win():
    shared = script("measuring")
    assert shared.ratio_to_best({"ls-roo": 1e-9, "roo": 1e-5}) == 1
    assert shared.ratio_to_best({"ls-roo": 0.01, "roo": 0.02, "x": 0.001}, without=["x"]) == 0.5
    assert shared.ratio_to_best({"ls-roo": 0.03, "bal-roo": 0.01, "ds-roo": 0.05}) == 0.6
    summary = shared.summarise([1.0, 0.5, 2.0])
    assert (summary.won, summary.tied, summary.geometric_mean, summary.worst) == (1, 1, 1, 2)


@pytest.fixture(scope="module")
def report():
    return script("row_report")


@pytest.fixture(scope="module")
def table():
    """A small table with a cell outside in each column; one of them keeps a letter for it."""
    fields = [
        {"name": "a", "type": "boolean", "parents": [], "outside": True},
        {"name": "b", "type": "string", "categories": ["x", "y"], "parents": ["a"]},
        {"name": "c", "type": "number", "bins": [0, 1, 2], "parents": ["b", "a"], "outside": 0},
    ]
    cells = {
        "a": [True, False, False, None, True],
        "b": ["x", "y", "z", "x", "x"],
        "c": [0.5, 1.5, 9.0, 0.0, 1.0],
    }
    book = CodeBook.of({"schema": {"fields": fields}})
    return script("row_data").Table("toy", "pandas", book, lambda: pd.DataFrame(cells))


@pytest.mark.parametrize("parents", [0, 1, 2])
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_the_marginals_are_those_of_the_sampler(table, parents, relation):
    network = table.declared(parents)
    found = script("row_laws").by_network(table, network, "0.7", relation)
    n = table.n if relation == "replace" else 0
    sampler = RowSampler(epsilon=Fraction("0.7"), network=network, neighbours=relation, n=n)
    counts = {
        family.columns: Counts.of(table.counts(*family.columns).ravel().tolist())
        for family in network.families
    }
    matching = RowTables(counts, table.sizes).matching
    assert table.sizes == (2, 3, 2)
    for columns, joint in found.items():
        law = dict.fromkeys(product(*(range(table.sizes[column]) for column in columns)), 0)
        for row in product(*map(range, table.sizes)):
            law[tuple(row[column] for column in columns)] += sampler.probability(matching, row)
        assert joint.ravel().tolist() == pytest.approx([float(p) for p in law.values()], rel=1e-12)


def test_a_row_as_one_letter_has_the_marginals_of_the_sampler(table):
    found = script("row_laws").as_one_letter(table, "0.7", "replace")
    sampler = LetterSpecificRevealOrObscure(epsilon=Fraction("0.7"), k=12, n=5)
    law = sampler.pmf(table.counts(0, 1, 2).ravel().tolist())
    assert found[0, 1, 2].ravel().tolist() == pytest.approx([float(p) for p in law], rel=1e-12)


def test_the_distance_of_the_data_from_itself_is_nothing(table):
    laws = script("row_laws")
    assert set(laws.distances(table, laws.truth(table)).values()) == {0}
    assert max(laws.distances(table, laws.as_one_letter(table, "0.7", "replace")).values()) > 0


def test_the_text_follows_from_the_results(report):
    text = (ROOT / "benchmarks" / "rows.md").read_text(encoding="utf-8")
    assert text == report.text(report.read())


def test_every_network_was_measured_on_every_table_under_both_relations(report):
    result = report.read()
    found = {report.key(case) for case in result["cases"]}
    relations = ("add-remove", "replace")
    assert len(result["tables"]) == 3
    assert found >= set(product(result["tables"], report.OURS, relations, report.EPSILONS))


def test_others_were_measured_on_every_table(report):
    result = report.read()
    assert {
        (case["table"], case["method"])
        for case in result["cases"]
        if case["method"] in report.PEERS
    } >= set(product(result["tables"], ["MST", "PrivBayes"]))


def test_no_target_but_the_named_ones_is_missed(report):
    """The declared tree of ``fair`` cannot say enough, and its second parents cost too much."""
    cases = {report.key(case): case for case in report.read()["cases"]}
    missed = {
        (table, method, epsilon)
        for table, method, epsilon, target in report.TARGETS
        if cases[table, method, "add-remove", epsilon]["pairs mean"] > target
    }
    assert missed == {
        ("fair", "declared tree", "1"),
        ("fair", "declared tree", "0.3"),
        ("fair", "declared, two parents", "0.3"),
    }


def test_the_bounds_that_the_text_names_tell_which_network_is_better(report):
    result = report.read()
    cases = {report.key(case): case for case in result["cases"]}
    for richer, poorer, bound in [
        ("declared, two parents", "declared tree", 0.9),
        ("declared tree", "independent", 1.3),
    ]:
        compared = [
            (cases[name, richer, relation, epsilon], cases[name, poorer, relation, epsilon])
            for name, relation, epsilon in product(
                result["tables"], ["add-remove", "replace"], report.EPSILONS
            )
        ]
        assert all(a["pairs mean"] < b["pairs mean"] for a, b in compared if a["bound"] < bound)
        assert any(a["pairs mean"] > b["pairs mean"] for a, b in compared)


def test_few_records_are_better_drawn_without_a_tree(report):
    cases = {report.key(case): case for case in report.read()["cases"]}
    for relation, epsilon in product(["add-remove", "replace"], ["0.1", "0.3"]):
        free = cases["anes96", "independent", relation, epsilon]["pairs mean"]
        for method in ("declared, two parents", "declared tree", "learned tree"):
            assert free < cases["anes96", method, relation, epsilon]["pairs mean"]


def test_the_picture_is_there():
    assert "svg" in (ROOT / "docs" / "images" / "rows.svg").read_text(encoding="utf-8")[:300]
