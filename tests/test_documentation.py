"""The documentation: its code runs, its links lead somewhere, its tests exist."""

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BUILT = ROOT / "docs" / "_build"
PAGES = [
    *ROOT.glob("*.md"),
    *(page for page in ROOT.glob("docs/**/*.md") if BUILT not in page.parents),
]
WALKS = [ROOT / "docs" / "tutorial.md", *ROOT.glob("docs/how-to/*.md")]
AS_SHOWN = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_code_of_a_page_runs(page, request):
    given = {"spark": request.getfixturevalue("spark")} if page.name == "spark.md" else {}
    failed, _ = doctest.testfile(str(page), module_relative=False, globs=given)
    assert failed == 0


def commands_of(page):
    """Yield each command of a page's console blocks, and the output that is shown below it."""
    for block in re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = step.partition("\n")
            yield command, shown


@pytest.mark.parametrize("page", WALKS, ids=lambda page: page.stem)
def test_the_commands_of_a_page_print_what_it_shows(page, request, tmp_path):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "DPROO_LEDGER": str(tmp_path / "ledger.sqlite3"),
    }
    if page.stem == "postgresql":
        environment["DATABASE"] = request.getfixturevalue("postgresql")
    for command, shown in commands_of(page):
        done = subprocess.run(
            ["bash", "-c", command],  # noqa: S607 - the reader's own shell
            cwd=tmp_path,
            env=environment,
            text=True,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if shown else None,
        )
        assert done.returncode == (3 if shown.startswith("Error: epsilon") else 0), command
        if shown:
            assert doctest.OutputChecker().check_output(shown, done.stdout, AS_SHOWN), done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_links_of_a_page_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert target.startswith("http") or (page.parent / target).exists(), target


def test_the_tests_that_the_paper_map_names_exist():
    text = (ROOT / "docs" / "paper-map.md").read_text(encoding="utf-8")
    named = re.findall(r"`(test_\w+\.py)::(test_\w+)…?`", text)
    assert len(named) > 10
    for file, test in named:
        assert f"def {test}" in (ROOT / "tests" / file).read_text(encoding="utf-8"), test


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_files_that_a_page_names_exist(page):
    text = page.read_text(encoding="utf-8")
    for path in re.findall(r"`((?:tests|benchmarks|src|examples)/[\w/]+\.\w+)`", text):
        assert (ROOT / path).exists(), path


def test_every_sampler_has_its_proof():
    for path in (ROOT / "src" / "dproo").rglob("*.py"):
        for proof in re.findall(r"Proof: (docs/\S+\.md)", path.read_text(encoding="utf-8")):
            assert (ROOT / proof).exists(), proof
