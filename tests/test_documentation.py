"""The documentation: its code runs, its links lead somewhere, its tests exist."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_code_of_a_page_runs(page):
    failed, _ = doctest.testfile(str(page), module_relative=False)
    assert failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_links_of_a_page_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert target.startswith("http") or (page.parent / target).exists(), target


def test_the_tests_that_the_paper_map_names_exist():
    text = (ROOT / "docs" / "paper-map.md").read_text(encoding="utf-8")
    named = re.findall(r"`(test_\w+\.py)::(test_\w+)…?`", text)
    assert len(named) > 10
    for file, test in named:
        assert f"def {test}" in (ROOT / "tests" / file).read_text(encoding="utf-8"), test


def test_every_sampler_has_its_proof():
    for path in (ROOT / "src" / "dproo").rglob("*.py"):
        for proof in re.findall(r"Proof: (docs/\S+\.md)", path.read_text(encoding="utf-8")):
            assert (ROOT / proof).exists(), proof
