"""A ledger under kill -9, torn writes and racing processes; its broken twins do not pass."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.draws import SOAK

pytestmark = pytest.mark.untraced

WORKER = Path(__file__).parents[1] / "support" / "ledger_worker.py"
KILLS = 1_000 if SOAK else 30


def run(job: str, folder: Path, *, ledger: str = "Ledger", rounds: int) -> dict[str, Any]:
    command = [sys.executable, str(WORKER), job, str(folder), ledger, str(rounds)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.one_of(3)
def test_a_process_killed_at_any_moment_never_read_or_showed_anything_uncharged(
    tmp_path: Path,
) -> None:
    report = run("kill", tmp_path, rounds=KILLS)
    assert report["kills"] == KILLS
    assert not report["broken"]
    assert report["charged"] >= report["read"] >= report["shown"] > 0
    assert report["charged"] - report["shown"] <= KILLS  # a kill wastes one charge at most


@pytest.mark.one_of(3)
def test_a_twin_that_charges_after_reading_is_caught_by_kills(tmp_path: Path) -> None:
    report = run("kill", tmp_path, ledger="ChargesLate", rounds=50)
    assert "data was read without a charge" in report["broken"]


def test_a_twin_that_records_after_showing_is_caught_by_kills(tmp_path: Path) -> None:
    report = run("kill", tmp_path, ledger="RecordsLate", rounds=50)
    assert "a value was shown that was not recorded" in report["broken"]


@pytest.mark.one_of(3)
def test_a_write_cut_off_at_any_byte_leaves_the_ledger_as_it_was(tmp_path: Path) -> None:
    report = run("torn", tmp_path, rounds=400 if SOAK else 30)
    assert not report["broken"]
    assert min(report["died"], report["refused"], report["charged"]) > 0


@pytest.mark.one_of(3)
def test_a_death_between_writing_and_commit_charges_nothing(tmp_path: Path) -> None:
    report = run("unfinished", tmp_path, rounds=5)
    assert report == {"died": 5, "journals": 5, "broken": []}


@pytest.mark.one_of(3)
def test_sixteen_racing_processes_are_granted_exactly_what_fits(tmp_path: Path) -> None:
    rounds = 20 if SOAK else 3
    report = run("race", tmp_path, rounds=rounds)
    assert report == {"granted": [33] * rounds, "charged": [33] * rounds, "failed": 0}


@pytest.mark.one_of(3)
def test_a_twin_that_looks_before_it_locks_grants_too_much(tmp_path: Path) -> None:
    def granted(folder: Path) -> int:
        folder.mkdir()
        return max(run("race", folder, ledger="LooksThenCharges", rounds=3)["granted"])

    assert any(granted(tmp_path / str(attempt)) > 33 for attempt in range(10))


@pytest.mark.one_of(3)
def test_sixteen_processes_make_one_ledger_together(tmp_path: Path) -> None:
    assert run("birth", tmp_path, rounds=5) == {"declared": [1] * 5, "failed": 0}
