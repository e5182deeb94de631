"""Without what only POSIX has, what needs it is refused in one sentence, and the rest works.

No test runs on Windows: what is missing there is taken away here.
"""

import json
import sys

import pytest
from support.commands import MAIN, dproo

import dproo as package
from dproo.counting.sources import descriptors
from dproo.errors import POSIX_ONLY

_POSIX = ("fcntl", "resource", "pwd", "grp", "termios")


@pytest.fixture(autouse=True)
def _not_posix(monkeypatch):
    for name in _POSIX:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(descriptors, "_DESCRIPTORS", "/nowhere")


def test_a_list_is_released_and_a_sampler_certified():
    assert package.sample(["a"] * 9, ["a", "b"], epsilon=1).value in {"a", "b", "other"}
    assert package.certify(package.mechanism("roo", epsilon=1, n=9, k=2)).holds


def test_the_package_is_imported_without_what_only_posix_has():
    """In a process of its own: here everything has been imported already."""
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({list(_POSIX)}))\n"
        "import dproo; print(dproo.sample(['a'] * 9, ['a'], epsilon=1).value)"
    )
    done = dproo(code=code)
    assert (done.returncode, done.stdout.strip() in {"a", "other"}) == (0, True), done.stderr


def test_a_file_is_refused_in_one_sentence(tmp_path):
    (tmp_path / "x.csv").write_text("code\na\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"^ledgers and files need Linux or macOS") as refused:
        package.open(tmp_path / "x.csv").value("code", ["a", "b"], epsilon=1)
    assert str(refused.value) == POSIX_ONLY


def test_a_ledger_is_refused_in_one_sentence(tmp_path):
    with pytest.raises(package.LedgerError) as refused:
        package.Ledger.create(tmp_path / "ledger.sqlite3").declare(
            "x", budget=1, neighbours="replace"
        )
    assert str(refused.value) == POSIX_ONLY
    assert not any(tmp_path.iterdir())


def test_the_command_line_says_the_same(tmp_path):
    taken = f"import sys; sys.modules.update(dict.fromkeys({json.dumps(['fcntl', 'resource'])}))\n"
    ledger = str(tmp_path / "ledger.sqlite3")
    done = dproo("ledger", "init", "x", "--budget", "1", "--ledger", ledger, code=taken + MAIN)
    assert done.returncode == 2
    assert done.stderr.strip() == f"Error: {POSIX_ONLY}"
    plan = dproo("plan", "--k", "4", "--epsilon", "1", "--alpha", "0.05", code=taken + MAIN)
    assert plan.returncode == 0, plan.stderr
