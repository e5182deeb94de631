"""A user's own folders: no setting and no ledger is found in the folder one happens to be in."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.commands import dproo

from dproo.core import paths
from dproo.ledger import Ledger

PLAN = ("plan", "--k", "9", "--epsilon", "1", "--alpha", "0.1")
NAMES = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "HOME")


def run(folder: Path, *arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder, with no variable of ours but these."""
    known = {name: text for name, text in os.environ.items() if name not in NAMES}
    return dproo(*arguments, cwd=folder, env=known | changes)


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A folder with settings that no command accepts, wherever a relative path would lead."""
    for folder in (".", "config", ".config"):
        (tmp_path / folder / "dproo").mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "dproo" / "dproo.toml").write_text("[trap]\nx = 1\n")
    return tmp_path


@pytest.mark.parametrize(
    "changes",
    [
        {"XDG_CONFIG_HOME": "."},
        {"XDG_CONFIG_HOME": "config"},
        {"XDG_CONFIG_HOME": ""},
        {"XDG_CONFIG_HOME": "~/config"},
        {"HOME": "."},
        {"HOME": ""},
        {},
    ],
)
def test_no_settings_are_read_from_the_working_folder(trap: Path, changes: dict[str, str]) -> None:
    done = run(trap, *PLAN, **changes)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_trap_is_one(trap: Path) -> None:
    """The control: the same settings are refused where they are meant."""
    done = run(trap, *PLAN, XDG_CONFIG_HOME=str(trap))
    assert (done.returncode, "config must contain no table 'trap'" in done.stderr) == (2, True)


@pytest.mark.parametrize("changes", [{"HOME": "."}, {"HOME": ".", "XDG_DATA_HOME": "."}])
def test_no_ledger_is_looked_for_in_the_working_folder(
    tmp_path: Path, changes: dict[str, str]
) -> None:
    done = run(tmp_path, "ledger", "show", **changes)
    assert done.returncode == 2
    assert f"got '{Path('~').expanduser().anchor}" in done.stderr
    assert str(tmp_path) not in done.stderr


@pytest.mark.parametrize(
    "changes",
    [
        {"HOME": "."},
        {"HOME": ""},
        {"HOME": "mine"},
        {"HOME": ".", "XDG_STATE_HOME": "."},
        {"XDG_STATE_HOME": "~/mine"},
        {},
    ],
)
def test_nothing_is_remembered_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, str]
) -> None:
    """An old copy would be taken for the newest one in every other folder."""
    work, home = tmp_path / "work", tmp_path / "home"
    work.mkdir()
    home.mkdir(mode=0o700)
    monkeypatch.chdir(work)
    monkeypatch.setattr(paths, "_registered_home", lambda: str(home))
    for name in ("HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, text in changes.items():
        monkeypatch.setenv(name, text)
    ledger = Ledger.create(tmp_path / "ledger" / "ledger.sqlite3")
    ledger.declare("visits", budget="1", neighbours="replace")
    assert not list(work.iterdir())
    (kept,) = home.rglob("*.jsonl")
    assert len(kept.read_text().splitlines()) == 1


@pytest.mark.parametrize("variable", ["DPROO_LEDGER", "DPROO_CONFIG", "DPROO_WITNESS"])
@pytest.mark.parametrize("path", ["mine", "./mine", "~/mine"])
def test_a_variable_that_means_another_file_in_every_folder_is_refused(
    tmp_path: Path, variable: str, path: str
) -> None:
    Ledger.create(tmp_path / "ledger" / "dproo" / "ledger.sqlite3")
    home = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "ledger")}
    done = run(tmp_path, "ledger", "show", **home, **{variable: path})
    sentence = f"Error: {variable} must be an absolute path, got {path!r}.\n"
    assert (done.returncode, done.stderr) == (2, sentence)


def test_a_user_without_a_home_has_no_defaults_and_is_asked_for_a_ledger(tmp_path: Path) -> None:
    """Containers run programs as users that the system has never heard of."""
    code = (
        "import os, sys; sys.argv[0] = 'dproo'; from dproo.core import paths;"
        "paths._registered_home = lambda: ''; from dproo.cli import main; main()"
    )
    known = {name: text for name, text in os.environ.items() if name not in NAMES}
    command = [sys.executable, "-c", code]
    for arguments, end in ((PLAN, 0), (("ledger", "show"), 2)):
        done = subprocess.run(
            [*command, *arguments], cwd=tmp_path, env=known, capture_output=True, check=False
        )
        assert done.returncode == end, done.stderr
    assert b"ledger must be given: this user has no home folder" in done.stderr


def test_without_a_register_of_users_the_home_is_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Windows, where Python has no such module."""
    monkeypatch.setitem(sys.modules, "pwd", None)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert paths._registered_home() == str(tmp_path)


def test_a_user_whom_the_register_lacks_has_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.getuid", lambda: 2**32 - 2)
    assert paths._registered_home() == ""
