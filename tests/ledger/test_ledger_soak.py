"""A shared ledger under a whole team, of which one after the other is killed.

DPROO_SOAK_SECONDS=600 DPROO_SOAK_KILLS=200 pytest tests/ledger/test_ledger_soak.py
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.draws import SOAK

pytestmark = pytest.mark.untraced

WORKER = Path(__file__).parents[1] / "support" / "ledger_worker.py"
SECONDS = os.environ.get("DPROO_SOAK_SECONDS", "6" if SOAK else "2")
KILLS = int(os.environ.get("DPROO_SOAK_KILLS", "12" if SOAK else "6"))
CLIENTS = 32


def test_a_team_that_is_killed_sees_no_false_alarm_and_loses_and_overspends_nothing(
    tmp_path: Path, ledger_database: str
) -> None:
    known = {**os.environ, "LEDGER_DATABASE": ledger_database, "XDG_STATE_HOME": str(tmp_path)}
    known |= {"RACERS": str(CLIENTS), "KILLS": str(KILLS)}
    command = [sys.executable, str(WORKER), "soak", str(tmp_path), "Ledger", SECONDS]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=known)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    sys.stdout.write(f"{report}\n")
    assert report["alarms"] == []
    assert report["lost"] == []
    assert report["twice"] == 0
    # A kill cuts off one call at most, whose charge nobody has seen; so does the end.
    assert 0 <= report["unseen"] <= KILLS + CLIENTS + report["failed"]
    assert report["charges"] <= report["tries"]
    assert report["tight"] <= 330_000_000
