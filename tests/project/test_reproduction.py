"""The page on the paper: a wrong example fails, and every number in its prose is in an example."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reproduction.md"
CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)
NUMBER = re.compile(r"\d+(?:\.\d+)?")


def failures(text):
    examples = doctest.DocTestParser().get_doctest(text, {}, "reproduction", str(PAGE), 0)
    return doctest.DocTestRunner(verbose=False).run(examples, out=lambda _: None).failed


@pytest.fixture
def _at_the_root(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.mark.usefixtures("_at_the_root")
def test_a_wrong_number_on_the_page_would_be_found():
    text = PAGE.read_text(encoding="utf-8")
    setup, lemma = (block for block in CODE.findall(text) if "Path\n" in block or "1436" in block)
    assert failures(setup + lemma) == 0
    assert failures(setup + lemma.replace("1436", "1437")) == 1


def test_every_number_in_the_prose_is_in_an_example():
    text = PAGE.read_text(encoding="utf-8")
    examples = " ".join(CODE.findall(text))
    known = set(NUMBER.findall(examples.replace("_", "")))
    prose = CODE.sub("", text).split("The assumption about P", 1)[1]
    prose = re.sub(r"(Theorem|Lemma|Figures?|Equation|Section) [(\d)IV]+( and \d)?", "", prose)
    prose = re.sub(r"!\[.*?\]\(.*?\)", "", prose)
    prose = re.sub(r"\(#[^)]*\)|binomial\(8, ½\)|99 %|`[^`]*`", "", prose)
    missing = [number for number in NUMBER.findall(prose) if number not in known]
    assert missing == []
