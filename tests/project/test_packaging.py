"""The package: built, installed where nothing else is, and used."""

import json
import re
import subprocess
import sys
import tarfile
import zipfile

import pytest
from support.draws import some
from support.pages import FIRST, ROOT, follow

pytestmark = pytest.mark.one_of(4)

PARQUET = "import duckdb; duckdb.sql(\"COPY (FROM 'data.csv') TO 'data.parquet'\")"


def run(*command, cwd, **options):
    arguments = [str(part) for part in command]
    return subprocess.run(
        arguments, cwd=cwd, capture_output=True, text=True, check=False, **options
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return the folder of a wheel and a source distribution, built from this checkout."""
    folder = tmp_path_factory.mktemp("built")
    done = run(sys.executable, "-m", "hatchling", "build", "-d", folder, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return folder


def only(folder, pattern):
    (found,) = folder.glob(pattern)
    return found


def test_the_wheel_holds_the_package_and_nothing_else(built):
    names = zipfile.ZipFile(only(built, "*.whl")).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"dproo"}
    assert {"dproo/py.typed", "dproo/cli/__init__.py"} <= set(names)


def test_the_source_distribution_builds_the_same_wheel(built, tmp_path):
    with tarfile.open(only(built, "*.tar.gz")) as archive:
        safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # from 3.11.4 on
        archive.extractall(tmp_path, **safely)  # noqa: S202 - made by this test
    source = only(tmp_path, "dproo-*")
    for name in ("Makefile", ".ci/run", "release/metadata.py", "benchmarks/accuracy.json"):
        assert (source / name).exists(), name
    assert not (source / "docs" / "_build").exists()
    done = run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", cwd=source)
    assert done.returncode == 0, done.stderr
    again, wheel = only(source / "dist", "*.whl"), only(built, "*.whl")
    assert again.read_bytes() == wheel.read_bytes()


def pip(environment, *arguments, cwd):
    """Run pip, of which a new environment needs no copy, for the environment of these commands."""
    of_it = [sys.executable, "-m", "pip", "--python", environment / "python"]
    return run(*of_it, *arguments, cwd=cwd)


@pytest.fixture(scope="module")
def clean(built, tmp_path_factory):
    """Return the commands of an environment with the wheel, its dependencies and no extra."""
    folder = tmp_path_factory.mktemp("clean")
    assert run(sys.executable, "-m", "venv", "--without-pip", "venv", cwd=folder).returncode == 0
    commands = folder / "venv" / "bin"
    done = pip(commands, "install", "-q", "--no-compile", only(built, "*.whl"), cwd=folder)
    if done.returncode:
        assert "No matching distribution" in done.stderr, done.stderr
        pytest.skip("The dependencies cannot be fetched: there is no network.")
    return commands


def test_a_clean_environment_has_only_what_the_package_names(clean, tmp_path):
    listed = pip(clean, "list", "--format", "json", cwd=tmp_path).stdout
    names = {package["name"] for package in json.loads(listed)}
    assert names == {"click", "dproo", "duckdb", "numpy"}


def test_without_extras_one_can_plan_certify_and_sample(clean, tmp_path):
    (tmp_path / "data.csv").write_text("code\n" + "a\n" * 60 + "b\n" * 40, encoding="utf-8")
    (tmp_path / "codes.txt").write_text("a\nb\nc\n", encoding="utf-8")
    assert run(clean / "python", "-c", PARQUET, cwd=tmp_path).returncode == 0
    ledger = {"DPROO_LEDGER": str(tmp_path / "ledger.sqlite3"), "HOME": str(tmp_path)}

    def dproo(*arguments):
        done = run(clean / "dproo", *arguments, cwd=tmp_path, env=ledger)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "ls-roo" in dproo("plan", "--k", "4", "--epsilon", "1", "--alpha", "0.05")
    assert "holds" in dproo("certify", "--n", "100", "--k", "4", "--epsilon", "1")
    for file in ("data.csv", "data.parquet"):
        dproo("ledger", "init", file, "--budget", "1")
        asked = ("--column", "code", "--alphabet", "codes.txt", "--epsilon", "1")
        receipt = json.loads(dproo("sample", file, *asked, "--json"))
        assert receipt["n"] == 100
        assert receipt["values"][0] in {"a", "b", "c", "other"}
    assert dproo("demo").strip()


LOCKS = sorted(ROOT.glob("requirements*.txt"))


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_requirement_has_hashes_and_no_file_names_where_it_is_from(lock):
    text = lock.read_text(encoding="utf-8").replace("\\\n", "")
    assert "://" not in text
    for line in text.splitlines():
        requirement, *hashes = line.split("--hash=sha256:")
        assert "==" in requirement
        assert hashes, requirement
        assert all(re.fullmatch("[0-9a-f]{64}", one.strip()) for one in hashes), requirement


def test_the_makefile_installs_nothing_without_a_hash():
    lines = (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
    installs = [
        line for line in lines if re.search(r"pip install|\$\(INSTALL\)|\$\(LOCKED\)", line)
    ]
    assert [line.strip() for line in installs] == [
        "INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check",
        "LOCKED := $(INSTALL) --require-hashes",
        "$(LOCKED) -r requirements.txt -r requirements-build.txt",
        "$(INSTALL) --no-deps --no-build-isolation -e .",
        "$(LOCKED) --no-compile -r requirements-dev.txt",
        ".venv/release/bin/pip install --quiet --disable-pip-version-check --require-hashes \\",
        ".venv/lowest/bin/pip install --quiet --disable-pip-version-check --require-hashes \\",
        ".venv/lowest/bin/pip install --quiet --no-deps --no-build-isolation -e .",
        "$(BIN)/pip install --quiet uv",
    ]


def test_a_file_with_another_hash_is_not_installed(clean, tmp_path):
    locks = re.split(r"^(?=\S)", (ROOT / "requirements.txt").read_text(), flags=re.MULTILINE)
    (lock,) = [lock for lock in locks if lock.startswith("click==")]  # the smallest of them
    forged = re.sub("sha256:[0-9a-f]{64}", "sha256:" + "0" * 64, lock)
    for name, text in (("right.txt", lock), ("forged.txt", forged)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    install = ["install", "-q", "--no-deps", "--require-hashes", "--dry-run"]
    install += ["--ignore-installed", "-r"]
    assert pip(clean, *install, "right.txt", cwd=tmp_path).returncode == 0
    refused = pip(clean, *install, "forged.txt", cwd=tmp_path)
    assert refused.returncode != 0
    assert "DO NOT MATCH THE HASHES" in refused.stderr


@pytest.mark.parametrize("page", some(FIRST, one_of=8), ids=lambda page: page.stem)
def test_the_commands_of_the_first_pages_need_no_extra(clean, tmp_path, page):
    follow(page, tmp_path, programs=clean)
