"""The note: every number in its text is computed again, and it compiles."""

import json
import math
import re
import sys
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

from dproo import certify, limit, mechanism
from dproo.analysis.limit import _hardest
from dproo.study.average import worst_mean_alpha

ROOT = Path(__file__).parents[2]
NOTE = ROOT / "docs" / "note" / "note.typ"
SAID = re.compile(r'#said\("([^"]+)",\s+"([^"]+)"\)')
GIVEN = {"0.002", "0.01", "0.05", "0.1", "0.3", "0.5"}
"""Decimals that are settings of an example, or that another test asserts."""


@cache
def results(name):
    return json.loads((ROOT / "benchmarks" / f"{name}.json").read_text(encoding="utf-8"))


def loss(n, k, epsilon):
    """Return the true loss of the printed table."""
    printed = mechanism("ds-roo", epsilon=epsilon, n=int(n), k=int(k), as_printed=True)
    return certify(printed).epsilon


def agree():
    """Return the least epsilon, in steps of 0.0001, at which the printed table is private."""

    def is_private(epsilon):
        return certify(mechanism("ds-roo", epsilon=epsilon, n=1000, k=9, as_printed=True)).holds

    assert not is_private("0.0089")
    assert is_private("0.009")
    return 0.009


def smallest():
    """Return the ratio of the smallest counterexample, by the formulas of the note."""
    growth, r = Fraction(101, 100), Fraction(3, 2)
    q = 1 / (1 + r * (growth - 1))
    assert q == Fraction(200, 203)
    q = ((r - 2) * q - (growth - 2)) / (growth * (r - 1))
    assert q == Fraction(20194, 20503)
    ratio = (2 + q * (r - 2)) / (1 + q * (r - 1))
    assert ratio > growth
    return float(ratio)


def peak():
    """Return where ``t / (1 + e^(t/2))^2`` is largest, and its value."""
    return max((t / (1 + math.exp(t / 2)) ** 2, t) for t in (i / 10_000 for i in range(1, 50_000)))


def balance():
    """Return the largest ``a d / (a + d)``, ``a = e^(-1-d)``."""
    levels = ((math.exp(-1 - i / 10_000), i / 10_000) for i in range(1, 50_000))
    return max(a * d / (a + d) for a, d in levels)


def over(which, n, k, epsilon):
    """Return a limit over the one for distributions."""
    found = limit(n=int(n), k=int(k), epsilon=epsilon)
    return float(getattr(found, which) / found.lower)


def sharper(n, k, epsilon):
    """Return the limit over what two levels give."""
    two = math.exp(_hardest(int(n), int(k), float(epsilon)).log_bound)
    return float(limit(n=int(n), k=int(k), epsilon=epsilon).lower) / two


def sharp(which, n, k, epsilon):
    """Return one side of the best of all private samplers, over the limit."""
    asked = int(n), int(k), epsilon
    [row] = [
        row
        for row in results("minimax")["settings"]
        if (row["n"], row["k"], row["epsilon"]) == asked
    ]
    return row[which]


def times(name, which, n, k, epsilon):
    """Return the worst case of a sampler over a limit."""
    sampler = mechanism(name, n=int(n), k=int(k), epsilon=epsilon)
    return float(sampler.worst_alpha / getattr(limit(n=int(n), k=int(k), epsilon=epsilon), which))


def in_table(column, n, k, epsilon):
    """Return what the table of worst cases has over the limit."""
    asked = int(n), int(k), epsilon
    [row] = [
        row
        for row in results("worst_case")["settings"]
        if (row["n"], row["k"], row["epsilon"]) == asked
    ]
    return row[column] / row["limit"]


def ratios(suite, name):
    return [case["ratios"][f"{name}, all but exponential"] for case in results(suite)["cases"]]


def suite(which, name):
    return math.exp(sum(map(math.log, ratios(which, name))) / len(ratios(which, name)))


def random(which):
    found = [case["ratio"] for case in results("random_shapes")["cases"]]
    return {
        "cases": len(found),
        "lost": sum(ratio > 1.05 for ratio in found),
        "worst": 100 * (max(found) - 1),
    }[which]


def rows(method):
    """Return the mean distance of pairs of columns on ``fair``, add-remove, epsilon 1."""
    asked = ("fair", method.replace("_", " "), "add-remove", "1")
    [case] = [
        case
        for case in results("rows")["cases"]
        if (case["table"], case["method"], case["relation"], case["epsilon"]) == asked
    ]
    return case["pairs mean"]


CLAIMS = {
    "agree": agree,
    "balance": balance,
    "constant": lambda: peak()[0],
    "found": lambda *setting: in_table("found", *setting),
    "mean": lambda *setting: in_table("mean", *setting),
    "excess": lambda *setting: 100 * (times(*setting) - 1),
    "leak": lambda n, k, epsilon: loss(n, k, epsilon) / float(epsilon),
    "loss": loss,
    "lost": lambda which, name: sum(ratio > 1 for ratio in ratios(which, name)),
    "over": over,
    "random": random,
    "reciprocal_e": lambda: math.exp(-1),
    "rows": rows,
    "sharp": sharp,
    "sharper": sharper,
    "share": lambda: 1 / (1 + math.exp(peak()[1] / 2)),
    "smallest": smallest,
    "suite": suite,
    "times": times,
}


@pytest.mark.parametrize("said", sorted(set(SAID.findall(NOTE.read_text(encoding="utf-8")))))
def test_a_number_of_the_note_is_what_it_claims(said):
    value, (claim, *setting) = said[0], said[1].split()
    places = len(value.partition(".")[2])
    assert f"{CLAIMS[claim](*setting):.{places}f}" == value


def test_every_decimal_of_the_note_is_claimed_or_given():
    text = SAID.sub("", NOTE.read_text(encoding="utf-8"))
    body = text.partition("= The problem")[2]
    prose = re.sub(r"  table\(.*?^  \),", "", body, flags=re.DOTALL | re.MULTILINE)
    assert set(re.findall(r"\d+\.\d+", prose)) <= GIVEN


def test_no_side_of_the_linear_program_is_above_what_the_note_says():
    rows = results("minimax")["settings"]
    assert len(rows) == 10
    assert all(1 - 1e-6 <= row["grid_bound"] <= row["bound"] + 1e-6 for row in rows)
    assert all(row["bound"] <= row["reached"] < 1.145 for row in rows)
    page = (ROOT / "docs" / "proofs" / "limit.md").read_text(encoding="utf-8")
    for row in rows:
        both = f"{row['bound']:.3f} to {row['reached']:.3f}"
        alone = f"{row['grid_bound']:.3f} | {row['grid_reached']:.3f}"
        assert f"| {row['n']}, {row['k']}, {row['epsilon']} | {alone} | {both} |" in page


def test_bal_roo_loses_one_random_shape_by_a_little():
    assert sum(case["ratio"] > 1 for case in results("random_shapes")["cases"]) == 1


def test_the_table_of_worst_cases_is_what_the_samplers_have():
    for row in results("worst_case")["settings"]:
        n, k, epsilon = row["n"], row["k"], row["epsilon"]
        found = limit(n=n, k=k, epsilon=epsilon)
        assert row["limit"] == pytest.approx(float(found.lower))
        assert row["datasets"] == pytest.approx(float(found.datasets))
        for name in ("roo", "ls-roo", "bal-roo"):
            worst = mechanism(name, n=n, k=k, epsilon=epsilon).worst_alpha
            assert row[name] == pytest.approx(float(worst), rel=1e-6)
        assert row["limit"] <= row["found"] <= row["mean"] <= row["bal-roo"]
        if k == 20:  # a second each
            worst = worst_mean_alpha(mechanism("bal-roo", n=n, k=k, epsilon=epsilon))
            assert row["mean"] == pytest.approx(float(worst), rel=1e-6)


def test_the_note_compiles_without_a_warning_to_a_short_paper(monkeypatch):
    monkeypatch.syspath_prepend(NOTE.parent)
    monkeypatch.delitem(sys.modules, "build", raising=False)
    from build import build  # noqa: PLC0415

    pages = build(format="png", ppi=20.0)
    assert 4 <= len(pages) <= 8
