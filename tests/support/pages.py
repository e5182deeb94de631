"""The pages of the documentation, and how a reader follows the commands on them."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

from support.commands import Started

ROOT = Path(__file__).parents[2]
BUILT = ROOT / "docs" / "_build"
PAGES = [
    *ROOT.glob("*.md"),
    *(page for page in ROOT.glob("docs/**/*.md") if BUILT not in page.parents),
]
FIRST = [
    ROOT / "README.md",
    *(ROOT / "docs" / "tutorial" / f"{name}.md" for name in ("value", "row", "table", "team")),
]
"""The pages that a reader follows first, in order; they need no extra."""
AGENT = ROOT / "docs" / "tutorial" / "agent.md"
"""The page after them, which needs the extra ``mcp``."""

# Commands that are not run, by how they begin: why, or what they would need.
NOT_RUN = {
    "make demo": "it sets up an environment; tests/cli/test_cli.py runs the demonstration",
    "make note": "it writes to the repository; test_stated_numbers.py builds the note",
    "make test": "it runs these very tests",
    "pip install": "the tests run in an environment already; test_packaging.py installs a wheel",
    "dproo sample clinic.visits --engine spark": "a cluster; test_spark_cluster.py has one",
    "dproo sample /lake/visits.parquet": "a lake of Parquet files; test_spark.py has one",
}
EXIT_CODES = {
    "Error: epsilon must be at most": 3,
    "Error: the rule": 3,
    "is VIOLATED": 5,
    "cannot hold: the draws": 5,
    "DOES NOT HOLD": 5,
}
AS_SHOWN = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks_of(page: Path) -> list[tuple[str, str]]:
    """Return the language and the text of each block of code of a page."""
    fenced = r"^ *```([^\n]*)\n(.*?)^ *```$"
    return re.findall(fenced, page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def commands_of(page: Path) -> list[tuple[str, str]]:
    """Return each command of a page's console blocks, and the output that is shown below it."""
    blocks = [text for language, text in blocks_of(page) if language == "console"]
    step = re.compile(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
    return [found for text in blocks for found in step.findall(text)]


def follow(
    page: Path,
    folder: Path,
    *,
    programs: Path,
    only: tuple[str, ...] = (),
    has_examples: bool = True,
    **known: str,
) -> None:
    """Run the commands of a page in one shell, and demand the output and exit codes it shows.

    Args:
        page: the page.
        folder: a folder, the reader's home.
        programs: where the command ``dproo`` is installed.
        only: if given, the beginnings of the commands to run.
        has_examples: whether the folder gets a copy of the examples first.
        known: further variables of the environment.
    """
    if has_examples:
        shutil.copytree(ROOT / "examples", folder / "examples", dirs_exist_ok=True)
    environment = {
        **{name: value for name, value in os.environ.items() if name != "DPROO_LEDGER"},
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "BROWSER": "true",
        **known,
    }
    steps = []
    for command, shown in commands_of(page):
        if command.startswith(tuple(NOT_RUN)) or (only and not command.startswith(only)):
            continue
        if command.startswith("dproo serve"):
            serve(command, folder, environment)
        else:
            steps.append((command, shown))
    outputs = _run([command for command, _ in steps], folder, environment)
    for (command, shown), (output, code) in zip(steps, outputs, strict=True):
        codes = [code for words, code in EXIT_CODES.items() if words in output]
        assert code == sum(codes), (command, output)
        if shown:
            found = _any_letter(output)
            assert doctest.OutputChecker().check_output(_any_letter(shown), found, AS_SHOWN), found


def _run(commands: list[str], folder: Path, environment: dict[str, str]) -> list[tuple[str, int]]:
    """Return the output and the exit code of each command, run one after the other in one shell."""
    mark = "end of command with code "
    script = "".join(f"{command}\nprintf '\\n{mark}%s\\n' $?\n" for command in commands)
    done = subprocess.run(
        ["bash", "-c", script],  # noqa: S607 - the reader's own shell
        cwd=folder,
        env=environment,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    found = re.findall(rf"(.*?)\n{mark}(\d+)\n", done.stdout, re.DOTALL)
    return [(output, int(code)) for output, code in found]


def serve(command: str, folder: Path, environment: dict[str, str]) -> None:
    """Start a page, and end it by Ctrl-C once it has printed its address."""
    line = command.partition("#")[0].split()
    with Started(line, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline().startswith("http://127.0.0.1:"), command
        child.send_signal(signal.SIGINT)
    assert child.returncode == 0, command


def _any_letter(text: str) -> str:
    """Return a text in which every released diagnosis looks the same."""
    letters = (ROOT / "examples" / "diagnosis_codes.txt").read_text(encoding="utf-8").split()
    return re.sub(rf"^({'|'.join([*letters, 'other'])})$", "(a letter)", text, flags=re.MULTILINE)
