"""The results of the benchmark of rows: one file of cases, each replaced when measured again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULT = Path(__file__).with_name("rows.json")
DIGITS = 5

Case = dict[str, Any]


def key(case: Case) -> tuple[str, str, str, str]:
    """Return what a case is about."""
    return case["table"], case["method"], case["relation"], case["epsilon"]


def read() -> dict[str, Any]:
    """Return the results, empty where there are none yet."""
    if not RESULT.exists():
        return {"schema_version": 1, "tables": {}, "cases": []}
    found: dict[str, Any] = json.loads(RESULT.read_text(encoding="utf-8"))
    return found


def keep(*cases: Case, **more: Any) -> None:
    """Write these cases, and more facts, beside what other runs have measured."""
    result = read() | more
    rounded = [{name: _rounded(value) for name, value in case.items()} for case in cases]
    kept = {key(case): case for case in [*result.pop("cases"), *rounded]}
    lines = ",\n".join(f"  {json.dumps(case)}" for case in kept.values())
    head = json.dumps(result, indent=1).removesuffix("\n}")
    RESULT.write_text(f'{head},\n "cases": [\n{lines}\n ]\n}}\n', encoding="utf-8")


def _rounded(value: Any) -> Any:
    return round(value, DIGITS) if isinstance(value, float) else value
