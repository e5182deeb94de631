"""The documentation: its code runs, its links lead somewhere, its tests exist."""

import doctest
import inspect
import json
import re
import sys
from pathlib import Path

import pytest
from support.databases import role_of
from support.draws import SOAK, some
from support.pages import FIRST, NOT_RUN, PAGES, ROOT, blocks_of, commands_of, follow

import dproo
import dproo.ledger
from dproo.mechanisms import SAMPLERS


@pytest.mark.one_of(4)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_code_of_a_page_runs(page, request, tmp_path, monkeypatch):
    for folder in ("examples", "benchmarks"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    monkeypatch.chdir(tmp_path)
    given = {"spark": request.getfixturevalue("spark")} if page.name == "spark.md" else {}
    failed, _ = doctest.testfile(str(page), module_relative=False, globs=given)
    assert failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_of_a_page_is_run_or_included(page):
    for language, text in blocks_of(page):
        assert language[:1] == "{" or text.startswith({"python": ">>> ", "console": "$ "}[language])


HOW_TO = [page for page in sorted(ROOT.glob("docs/how-to/*.md")) if commands_of(page)]
LEFT_BEHIND = ("export ", "printf ", "psql ", "dproo ledger ", "dproo sample ")
"""How commands begin that leave something behind."""


@pytest.mark.one_of(4)
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if commands_of(page) and page not in {*FIRST, *HOW_TO}],
    ids=lambda page: page.stem,
)
def test_the_commands_of_a_page_print_what_it_shows(page, tmp_path):
    follow(page, tmp_path, programs=Path(sys.executable).parent)


@pytest.mark.one_of(3)
def test_the_first_pages_and_the_how_to_pages_run_one_after_the_other(request, tmp_path):
    """On one machine, in one home; a sixth of the how-to pages, others at each commit.

    The long tests run all of them twice; the second time what leaves nothing behind is left out,
    and so are pages that make a table or install a ledger for a team, which works once.
    """
    programs = Path(sys.executable).parent
    for time in (1, 2) if SOAK else (1,):
        for page in [FIRST[0], *some(FIRST[1:], one_of=4), *some(HOW_TO, one_of=12)]:
            text = page.read_text(encoding="utf-8")
            is_once = any(words in text for words in ("dproo ledger install", "dproo synthesize"))
            if time == 2 and (is_once or "DPROO_LEDGER" not in text):
                continue
            only = LEFT_BEHIND if time == 2 or page == FIRST[0] else ()
            follow(page, tmp_path, programs=programs, only=only, **databases(page, request))


def databases(page, request):
    """Return the databases that a page speaks of, by the names of their variables."""
    if "$DATABASE" not in page.read_text(encoding="utf-8"):
        return {}
    url = request.getfixturevalue("postgresql")
    people = {"OWNER": role_of(url, "olga"), "SPENDER": role_of(url, "sam")}
    return {"DATABASE": url, **people}


@pytest.mark.parametrize("beginning", NOT_RUN)
def test_a_command_that_is_not_run_stands_on_a_page(beginning):
    commands = [command for page in PAGES for command, _ in commands_of(page)]
    assert any(command.startswith(beginning) for command in commands)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_links_of_a_page_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert target.startswith("http") or (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_tests_that_a_page_names_exist(page):
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"`(test_\w+\.py)::(test_\w+)(…?)`", text)
    assert len(named) == text.count(".py::")
    for file, test, shortened in named:
        end = "" if shortened else "("
        (path,) = (ROOT / "tests").glob(f"*/{file}")
        assert f"def {test}{end}" in path.read_text(encoding="utf-8"), test


def arguments_of(part):
    """Return the names of the arguments of a function, or of a class and its methods."""
    methods = inspect.getmembers(part, callable) if inspect.isclass(part) else []
    names = {
        name for member, method in methods if member[0] != "_" for name in arguments_of(method)
    }
    try:
        return names | set(inspect.signature(part).parameters)
    except ValueError:  # what is written in C
        return names


PUBLIC = [dproo, dproo.counting, dproo.ledger]
OURS = {
    argument
    for module in PUBLIC
    for name in module.__all__
    if callable(part := getattr(module, name))
    for argument in arguments_of(part)
}
THEIRS = {"frozen", "kw_only", "charset", "connect_timeout"}
"""What dataclasses and the URLs of databases take."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_arguments_that_a_page_names_exist(page):
    text = re.sub(r"(?s)```.*?```", "", page.read_text(encoding="utf-8"))
    spans = [
        span for span in re.findall(r"`([^`\n]+)`", text) if not re.search(r"^-|\$|[A-Z]=", span)
    ]
    argument = r"(?<![\w.-])([a-z_]+)=(?=[\w\"({\[]|$)"
    named = {name for span in spans for name in re.findall(argument, span)}
    assert named <= OURS | THEIRS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_files_that_a_page_names_exist(page):
    text = page.read_text(encoding="utf-8")
    for path in re.findall(r"`((?:tests|benchmarks|src|examples)/[\w/]+\.\w+)`", text):
        assert (ROOT / path).exists(), path


def test_the_table_of_samplers_has_their_accuracies():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = dict(re.findall(r"^\| `([a-z-]+)` \|.*\| (0\.\d+)[^|]*\|$", text, re.MULTILINE))
    assert shown == {
        name: f"{float(sampler(epsilon='0.1', n=1000, k=9).worst_alpha):.3f}"
        for name, sampler in SAMPLERS.items()
    }


def test_the_exponents_that_are_explained_were_measured():
    text = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    rows = json.loads((ROOT / "benchmarks" / "growth.json").read_text(encoding="utf-8"))["rows"]
    measured = [f"{row['exponent']:.2f}" for row in rows if row["exponent"] is not None]
    assert re.findall(r"^\*\*\w+ \((\d\.\d\d) ", text, re.MULTILINE) == measured


def test_every_sampler_has_its_proof():
    for path in (ROOT / "src" / "dproo").rglob("*.py"):
        for proof in re.findall(r"Proof: (docs/\S+\.md)", path.read_text(encoding="utf-8")):
            assert (ROOT / proof).exists(), proof
