"""Charge and record releases on a nearly full disk; print what became of each.

Arguments: the folder of the ledger, that of the witness, and cases in JSON.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

from dproo.errors import LedgerError
from dproo.ledger import Ledger


def outcome(disk: Path, state: Path, case: dict[str, int]) -> str:
    """Return what becomes of a release whose ledger's disk has so many bytes left."""
    path, filler = disk / "ledger.sqlite3", disk / "filler"
    path.unlink(missing_ok=True)
    shutil.rmtree(state / "dproo", ignore_errors=True)
    ledger = Ledger.create(path)
    ledger.declare("patients", budget=100, neighbours="replace")
    charge = {"epsilon": "0.1", "neighbours": "replace"}
    entries = [
        ledger.reserve("patients", **charge, room=case["first"]) for _ in range(case["waiting"])
    ]
    found = os.statvfs(disk)
    filler.write_bytes(bytes(max(0, found.f_bavail * found.f_frsize - case["free"])))
    try:
        request = {"sampler": "x" * case["request"]}
        entry = ledger.reserve("patients", **charge, room=case["room"], request=request)
    except LedgerError:
        return "refused"
    else:
        try:
            ledger.record(entry, {"values": ["x" * (case["room"] - 8192)]})
            for earlier in entries[:1]:
                ledger.record(earlier, {"values": ["x" * (case["first"] - 8192)]})
        except LedgerError as error:
            return f"charged: {error}"
        return "recorded"
    finally:
        filler.unlink()
        Ledger(path).verify()


if __name__ == "__main__":
    places = [Path(place) for place in sys.argv[1:3]]
    os.environ["XDG_STATE_HOME"] = sys.argv[2]
    json.dump([outcome(*places, case) for case in json.loads(sys.argv[3])], sys.stdout)
