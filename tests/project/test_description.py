"""What a package index shows of dproo, and who has to fill in what before it does."""

import re
import tomllib

import pytest
from metadata import description, is_placeholder
from support.pages import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)]+)\)")


def test_every_link_of_the_description_leads_to_the_tag():
    text = description(README, source="https://git.example/dproo", tag="v0.1.0")
    links = LINK.findall(text)
    assert len(links) == len(LINK.findall(README)) > 20
    for link in links:
        home, _, path = link.partition("/v0.1.0/")
        assert home in {"https://git.example/dproo/blob", "https://git.example/dproo/raw"}
        assert (ROOT / path.partition("#")[0]).exists(), path
        assert home.endswith("raw") == path.endswith(".png")


def test_without_an_address_the_description_has_no_link_and_loses_no_word():
    text = description(README, source="https://example.org/dproo", tag="v0.1.0")
    assert not LINK.search(text)
    words = LINK.sub(lambda link: re.sub(r"!\[.*|\]\(.*|^\[", "", link[0]), README)
    assert text.split() == words.split()


def test_the_first_screen_says_what_it_is_and_how_to_try_it():
    first = "\n".join(README.splitlines()[:30])
    for command in ("pip install dproo", "dproo demo", "dproo sample", "make demo", "make test"):
        assert f"$ {command}" in first, command


def test_what_only_a_maintainer_knows_stands_in_one_file():
    """An address of example.org anywhere else would be forgotten on the day of a release."""
    assert is_placeholder(PROJECT["urls"]["Source"]) == is_placeholder(str(PROJECT["authors"]))
    files = [ROOT / name for name in ("README.md", "CITATION.cff", "SECURITY.md")]
    files += [path for path in ROOT.glob(".github/**/*") if path.is_file()]
    files += [path for path in ROOT.glob("release/*") if path.is_file()]
    for path in files:
        said = path.read_text(encoding="utf-8").count("example.org")
        assert said == (path.name == "metadata.py"), path  # which knows a placeholder by it


@pytest.mark.parametrize("minor", range(11, 15))
def test_every_python_that_is_tested_is_named(minor):
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    assert f'"3.{minor}"' in workflow
    assert f"Programming Language :: Python :: 3.{minor}" in PROJECT["classifiers"]


def test_the_readme_names_every_extra():
    (named,) = re.findall(r"\(all of them: ([a-z, ]+)\)", README)
    assert sorted(named.split(", ")) == sorted(PROJECT["optional-dependencies"])
