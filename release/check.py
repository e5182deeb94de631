"""Everything about a release that a machine can check: ``make release-check``.

Builds both distributions, compares and lints them, and uses the wheel in environments that know
nothing of the repository. What is left for a person is printed at the end.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable
from contextlib import chdir
from functools import partial
from pathlib import Path

import openpyxl
import pandas as pd
import pyreadstat
import zstandard
from metadata import is_placeholder

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
TOOLS = ROOT / ".venv" / "release" / "bin"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
sys.path.append(str(ROOT / "tests"))

from support.pages import AGENT, FIRST, follow, serve  # noqa: E402 - beside the tests

SCHEMAS = {
    "github-workflows": ".github/workflows/*.yml",
    "github-issue-forms": ".github/ISSUE_TEMPLATE/[!c]*.yml",
    "github-issue-config": ".github/ISSUE_TEMPLATE/config.yml",
    "dependabot": ".github/dependabot.yml",
    "readthedocs": ".readthedocs.yaml",
}
"""The files that other machines act on, by the schema that they must have."""

SAMPLE = ("--column", "code", "--alphabet", "codes.txt", "--epsilon", "1", "--no-ledger")
OTHERWISE = "try: {}\nexcept ValueError as error: assert 'dproo[' not in str(error), error"
"""Demands that a source without a server is refused for that, not for a missing extra."""

USES = {
    "accounting": "from dproo.integrations.dp_accounting import privacy_loss_distribution as law\n"
    "law(dproo.mechanism('roo', epsilon=1, n=9, k=2))",
    "accuracy": ["compare", "--n", "9", "--k", "3", "--epsilon", "1", "--p", "zipf"],
    "excel": ["codebook", "import", "codes.xlsx"],
    "figures": ["figures", "--out", "figures"],
    "frames": "import duckdb\n"
    "dproo.open(duckdb.sql(\"SELECT 'a' AS code\")).value('code', ['a', 'b'], epsilon=1)",
    "mcp": AGENT,
    "opendp": "import dproo.integrations.opendp as samplers\nsamplers.enable()",
    "postgresql": OTHERWISE.format(
        "dproo.open('postgresql://nobody@127.0.0.1:1/none', table='t').check('code', ['a', 'b'])"
    ),
    "spark": OTHERWISE.format("dproo.open('t', engine='spark').check('code', ['a', 'b'])"),
    "spss": ["sample", "data.sav", *SAMPLE],
    "sqlalchemy": "import sqlalchemy\n"
    "dproo.open(sqlalchemy.create_engine('sqlite:///:memory:'), table='sqlite_schema')"
    ".check('name', ['a', 'b'])",
    "web": ["serve"],
    "zstd": ["sample", "data.csv.zst", *SAMPLE],
}
"""What each extra is for: lines of Python, a command, or a page."""


def run(*command: object, cwd: Path = ROOT, **options: object) -> str:
    """Return what a command prints, or end with it if it fails."""
    arguments = [str(part) for part in command]
    done = subprocess.run(
        arguments,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        **options,
    )
    if done.returncode:
        sys.exit(f"{done.stdout}\nThis failed: {' '.join(arguments)}")
    return done.stdout


def build(folder: Path) -> tuple[Path, Path]:
    """Build both distributions, and the wheel once more from the source distribution."""
    for old in DIST.glob("dproo-*"):
        old.unlink()
    epoch = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    run(sys.executable, "-m", "hatchling", "build", "-d", DIST, env=epoch)
    (wheel,), (archive,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    run("tar", "-xzf", archive, "-C", folder)
    source = folder / archive.name.removesuffix(".tar.gz")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", cwd=source, env=epoch)
    if (source / "dist" / wheel.name).read_bytes() != wheel.read_bytes():
        sys.exit("The source distribution builds another wheel.")
    tests = ["tests/core", "tests/project/test_structure.py", "tests/project/test_description.py"]
    python = {**epoch, "PYTHONPATH": str(source / "src")}
    run(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *tests, cwd=source, env=python)
    return wheel, archive


def lint(wheel: Path, archive: Path) -> None:
    """Ask the tools of the package index, and those of the automation."""
    run(TOOLS / "twine", "check", "--strict", wheel, archive)
    run(TOOLS / "check-wheel-contents", wheel)
    rating = run(TOOLS / "pyroma", "--min", "10", archive)
    if "10/10" not in rating:
        sys.exit(rating)
    run(TOOLS / "zizmor", "--offline", ".github")
    for schema, files in SCHEMAS.items():
        paths = sorted(ROOT.glob(files))
        run(TOOLS / "check-jsonschema", "--builtin-schema", f"vendor.{schema}", *paths)


def environment(folder: Path, wheel: Path, extra: str = "") -> Path:
    """Return the commands of a new environment with the wheel, and at most one extra."""
    run(TOOLS / "uv", "venv", "-q", "--python", sys.executable, folder)
    python = folder / "bin" / "python"
    locked = ["--constraint", ROOT / "requirements-dev.txt", "--python", python]
    name = f"dproo[{extra}]" if extra else "dproo"
    run(TOOLS / "uv", "pip", "install", "-q", *locked, f"{name} @ {wheel.as_uri()}")
    return folder / "bin"


def prepare(folder: Path) -> None:
    """Write a file in every format that needs an extra."""
    data = pd.DataFrame({"code": ["a"] * 60 + ["b"] * 40})
    (folder / "codes.txt").write_text("a\nb\nc\n", encoding="utf-8")
    (folder / "data.csv.zst").write_bytes(zstandard.compress(data.to_csv(index=False).encode()))
    pyreadstat.write_sav(data, folder / "data.sav")
    book = openpyxl.Workbook()
    for row in (["column", "value", "label"], ["ward", "a", "north"], ["ward", "b", "south"]):
        book.active.append(row)
    book.save(folder / "codes.xlsx")


def use(commands: Path, folder: Path, extra: str) -> None:
    """Use what an extra is for."""
    what = USES[extra]
    home = {**os.environ, "HOME": str(folder), "DPROO_LEDGER": str(folder / "ledger.sqlite3")}
    if isinstance(what, Path):
        read(commands, folder / what.stem, what)
    elif isinstance(what, str):
        run(commands / "python", "-I", "-c", f"import dproo\n{what}", cwd=folder, env=home)
    elif what[0] == "serve":
        serve(str(commands / "dproo") + " serve", folder, home)
    else:
        run(commands / "dproo", *what, cwd=folder, env=home)


def read(commands: Path, folder: Path, page: Path) -> None:
    """Follow the commands and the Python of a page, which finds nothing but the wheel."""
    folder.mkdir()
    follow(page, folder, programs=commands, has_examples=False)
    run(commands / "python", "-I", "-m", "doctest", page, cwd=folder)


def bill_of_materials(commands: Path) -> Path:
    """Write what an installation consists of, beside the distributions."""
    path = DIST / f"dproo-{version()}.cdx.json"
    run(
        *(TOOLS / "cyclonedx-py", "environment", "--output-reproducible", "--of", "JSON"),
        *("-o", path, "--pyproject", ROOT / "pyproject.toml", commands / "python"),
    )
    names = {part["name"] for part in json.loads(path.read_text(encoding="utf-8"))["components"]}
    if not {"click", "duckdb", "numpy"} <= names:
        sys.exit(f"The bill of materials names only {sorted(names)}.")
    return path


def version() -> str:
    """Return the version that is released."""
    return run(sys.executable, "-c", "import dproo; print(dproo.__version__)").strip()


def step(title: str, action: Callable[[], object]) -> None:
    """Do something and say so."""
    print(f"{title} ...", flush=True)
    action()


def main() -> None:
    """Check everything, and print what is left."""
    with tempfile.TemporaryDirectory(prefix="dproo-release-") as name, chdir(name):
        folder = Path(name)
        print("Build twice, and test the source distribution ...", flush=True)
        wheel, archive = build(folder)
        step("Lint both distributions", partial(lint, wheel, archive))
        plain = environment(folder / "plain", wheel)
        step("Run the demonstration from the wheel", partial(run, plain / "dproo", "demo"))
        for number, page in enumerate(FIRST):
            step(
                f"Follow {page.name} from the wheel",
                partial(read, plain, folder / str(number), page),
            )
        for runner in (("uvx", "--from"), ("pipx", "run", "--no-cache", "--spec")):
            command = (TOOLS / runner[0], *runner[1:], wheel, "dproo", "demo")
            step(f"Run the demonstration by {runner[0]}", partial(run, *command))
        step("Write the bill of materials", partial(bill_of_materials, plain))
        prepare(folder)
        for extra in sorted(PROJECT["optional-dependencies"]):
            commands = environment(folder / extra, wheel, extra)
            step(f"Use the extra {extra} by itself", partial(use, commands, folder, extra))
    print_what_is_left()


def print_what_is_left() -> None:
    """Print what needs a person."""
    tag = f"v{version()}"
    filled = not is_placeholder(json.dumps([PROJECT["urls"], PROJECT["authors"]]))
    print(
        f"\nAll of it passes; {DIST} has what would be published. What only a person can do:\n",
        *(() if filled else ("  - fill in authors and URLs in pyproject.toml\n",)),
        f"  - date {tag} in CHANGELOG.md, and set the version in CITATION.cff\n",
        "  - on the host: create the repository and the environment 'pypi', with a reviewer;\n"
        "    turn on private vulnerability reports, and protect the branch and the tags\n",
        "  - on the package index: an account with a second factor, and a pending trusted\n"
        "    publisher for this repository, release.yml and 'pypi'\n",
        "  - on Read the Docs, conda-forge and Zenodo: accounts, if these are wanted\n",
        f"  - sign and push the tag: git tag -s {tag} && git push origin {tag}\n",
        "  - approve the publication, and verify it as docs/stability.md says",
        sep="",
    )


if __name__ == "__main__":
    main()
