"""The documentation: its code runs, its links lead somewhere, its tests exist."""

import doctest
import os
import re
import shutil
import signal
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
AS_SHOWN = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

# Commands of the pages that are not run, by how they begin: why, or what they would need.
NOT_RUN = {
    "make demo": "it sets up an environment; tests/test_cli.py runs the demonstration",
    "make test": "it runs these very tests",
    ". .venv/bin/activate": "the tests run in an environment already",
    "dproo sample clinic.visits --engine spark": "a cluster; test_spark_cluster.py has one",
    "dproo sample /lake/visits.parquet": "a lake of Parquet files; test_spark.py has one",
}
EXIT_CODES = {"Error: epsilon must be at most": 3, "is VIOLATED": 5}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_code_of_a_page_runs(page, request):
    given = {"spark": request.getfixturevalue("spark")} if page.name == "spark.md" else {}
    failed, _ = doctest.testfile(str(page), module_relative=False, globs=given)
    assert failed == 0


def blocks_of(page):
    """Return the language and the text of each block of code of a page."""
    fenced = r"^ *```([^\n]*)\n(.*?)^ *```$"
    return re.findall(fenced, page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def commands_of(page):
    """Return each command of a page's console blocks, and the output that is shown below it."""
    blocks = [text for language, text in blocks_of(page) if language == "console"]
    step = re.compile(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
    return [found for text in blocks for found in step.findall(text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_of_a_page_is_run_or_included(page):
    for language, text in blocks_of(page):
        assert language[:1] == "{" or text.startswith({"python": ">>> ", "console": "$ "}[language])


def run(command, folder, environment, *, is_output_shown):
    return subprocess.run(
        ["bash", "-c", command],  # noqa: S607 - the reader's own shell
        cwd=folder,
        env=environment,
        text=True,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if is_output_shown else None,
    )


def serve(command, folder, environment):
    """Start a page, and end it by Ctrl-C once it has printed its address."""
    line = command.partition("#")[0].split()
    with subprocess.Popen(
        line, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE
    ) as child:
        address = child.stdout.readline()
        child.send_signal(signal.SIGINT)
    return address, child.returncode


def any_letter(text):
    """Return a text in which every released diagnosis looks the same."""
    letters = (ROOT / "examples" / "diagnosis_codes.txt").read_text(encoding="utf-8").split()
    return re.sub(rf"^({'|'.join([*letters, 'other'])})$", "(a letter)", text, flags=re.MULTILINE)


@pytest.mark.parametrize("page", [*filter(commands_of, PAGES)], ids=lambda page: page.stem)
def test_the_commands_of_a_page_print_what_it_shows(page, request, tmp_path):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "DPROO_LEDGER": str(tmp_path / "ledger.sqlite3"),
        "BROWSER": "true",
    }
    if page.stem == "postgresql":
        environment["DATABASE"] = request.getfixturevalue("postgresql")
    for command, shown in commands_of(page):
        if command.startswith(tuple(NOT_RUN)):
            continue
        if command.startswith("dproo serve"):
            address, code = serve(command, tmp_path, environment)
            assert (address[:17], code) == ("http://127.0.0.1:", 0), command
            continue
        done = run(command, tmp_path, environment, is_output_shown=bool(shown))
        codes = [code for words, code in EXIT_CODES.items() if words in done.stdout]
        assert done.returncode == sum(codes), command
        if shown:
            found = any_letter(done.stdout)
            assert doctest.OutputChecker().check_output(any_letter(shown), found, AS_SHOWN), found


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
        assert f"def {test}{end}" in (ROOT / "tests" / file).read_text(encoding="utf-8"), test


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_files_that_a_page_names_exist(page):
    text = page.read_text(encoding="utf-8")
    for path in re.findall(r"`((?:tests|benchmarks|src|examples)/[\w/]+\.\w+)`", text):
        assert (ROOT / path).exists(), path


def test_every_sampler_has_its_proof():
    for path in (ROOT / "src" / "dproo").rglob("*.py"):
        for proof in re.findall(r"Proof: (docs/\S+\.md)", path.read_text(encoding="utf-8")):
            assert (ROOT / proof).exists(), proof
