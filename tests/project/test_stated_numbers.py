"""Every number of the note and of the proofs that is a claim has a source, and the note compiles.

What a claim is, ``support.stated`` says, and ``support.claims`` has the sources: code, the results
of benchmarks, and values with which tests run. What can be computed again in time is.
"""

import re
import sys

import pytest
from support.claims import CLAIMS, PROOFS, ROOT, module, results, tables
from support.stated import claims, is_said, numbers, paragraphs, value_of

from dproo import certify, limit, mechanism
from dproo.study.average import worst_mean_alpha

NOTE = ROOT / "docs" / "note" / "note.typ"
SAID = re.compile(r'#said\("([^"]+)",\s+"([^"]+)"\)')
PAGES = sorted((ROOT / "docs" / "proofs").glob("*.md"))


def given(claim):
    """Return the numbers that a claim takes as given."""
    found = set()
    for word in claim.split()[1:]:
        try:
            found.add(value_of(word))
        except ValueError:
            continue
    return found


def assert_said(said, claim):
    """Assert that numbers are what a claim says, in its order, but for what it takes as given."""
    name, *setting = claim.split()
    found = CLAIMS[name](*setting)
    values = found if isinstance(found, list) else [found]
    for others in (set(), given(claim), given(claim) | {0, 1}):
        left = [number for number in said if value_of(number) not in others]
        if len(left) == len(values):
            break
    assert len(left) == len(values), (left, values)
    assert all(map(is_said, left, values)), (left, values)


def unsourced(part, sources, *, reports):
    """Return the claims of a paragraph that no source is named for, and the sources it has."""
    used = [source for source in sources if source[0] in part]
    for fragment, _ in used:
        part = part.replace(fragment, "`" * fragment.count("`"), 1)
    known = set().union(*(given(claim) for _, claim in used))
    return [n for n in claims(part, reports=reports) if value_of(n) not in known], used


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_claim_of_a_proof_has_a_source(page):
    text = page.read_text(encoding="utf-8")
    for line in tables().get(page.name, []):
        assert line in text, line
        text = text.replace(line, "", 1)
    sources, left = [*PROOFS.get(page.name, {}).items()], []
    unused = [*sources]
    for part, reports in paragraphs(text, title="#+ .*"):
        found, used = unsourced(part, sources, reports=reports)
        left += found
        unused = [source for source in unused if source not in used]
    assert (left, unused) == ([], [])


@pytest.mark.parametrize(
    ("fragment", "claim"),
    [case for cases in PROOFS.values() for case in cases.items()],
)
def test_a_number_of_a_proof_is_what_it_claims(fragment, claim):
    assert_said(numbers(fragment), claim)


@pytest.mark.parametrize("said", sorted(set(SAID.findall(NOTE.read_text(encoding="utf-8")))))
def test_a_number_of_the_note_is_what_it_claims(said):
    value, claim = said
    assert_said([value], claim)


def test_every_claim_of_the_note_has_a_source():
    text = NOTE.read_text(encoding="utf-8").partition("abstract: [")[2].replace(" slash ", "/")
    text = re.sub(r"  table\(.*?^  \),", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^ *\$ .*?\$$|width: \d+%|size: \d+pt", "", text, flags=re.DOTALL | re.MULTILINE)
    left = []
    for part, reports in paragraphs(text, title="=+ .*"):
        known = set().union(*(given(claim) for _, claim in SAID.findall(part)))
        found = claims(SAID.sub("", part), reports=reports)
        left += [number for number in found if value_of(number) not in known]
    assert left == []


def test_a_claim_without_a_source_would_be_found():
    text = (
        "the loss is 1.25 at ε = 0.3, or 7 % more, `q = 0.5`, `2q`, in 1,200 of 10⁶ cases (2020),"
        " by Theorem 4 in five settings, on both of two sides, at one in a thousand, `16g`, `ε/32`"
    )
    found = ["1.25", "0.3", "7", "0.5", "1,200", "10⁶", "five", "thousand", "16", "32"]
    assert claims(text) == found
    assert sorted({*claims(text, reports=True)} - {*found}) == ["two"]


def test_no_side_of_the_linear_program_is_above_what_the_note_says():
    rows = results("minimax")["settings"]
    assert len(rows) == 10
    assert all(1 - 1e-6 <= row["grid_bound"] <= row["bound"] + 1e-6 for row in rows)
    assert all(row["bound"] <= row["reached"] < 1.145 for row in rows)


def test_under_add_remove_the_corollary_is_met_from_both_sides():
    for row in results("minimax")["add_remove"]:
        found = limit(n=row["n"], k=row["k"], epsilon=row["epsilon"], neighbours="add-remove").lower
        assert row["limit"] == pytest.approx(float(found))
        assert 1 <= row["bound"] <= row["reached"] <= 1.0005 * row["bound"]


@pytest.mark.one_of(3)
def test_a_fixed_table_is_found_again_and_private():
    optimised = module("benchmarks", "fixed_tables").Optimised
    row = results("fixed_tables")[0]
    setting = {name: row[name] for name in ("n", "k", "epsilon")}
    sampler, reached = optimised(**setting).found()
    assert certify(sampler, method="enumerate").holds
    assert reached == pytest.approx(row["table"] * float(limit(**setting).lower), rel=1e-3)


def test_bal_roo_loses_one_random_shape_by_a_little():
    assert sum(case["ratio"] > 1 for case in results("random_shapes")["cases"]) == 1


@pytest.mark.one_of(3)
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


@pytest.mark.one_of(3)
def test_the_note_compiles_without_a_warning_to_a_short_paper(monkeypatch):
    monkeypatch.syspath_prepend(NOTE.parent)
    monkeypatch.delitem(sys.modules, "build", raising=False)
    from build import build  # noqa: PLC0415

    pages = build(format="png", ppi=20.0)
    assert 4 <= len(pages) <= 9, "eight pages at most, and an appendix"
