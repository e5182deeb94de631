"""What the benchmarks share: two sides measured in turns, the machine's facts, two files."""

from __future__ import annotations

import json
import os
import platform
import resource
import statistics
import time
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
LIBRARIES = ("dproo", "duckdb", "numpy", "narwhals", "polars", "pyspark", "opendp", "psycopg")


def seconds(run: Callable[[], object]) -> float:
    """Return how long ``run`` takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def compared(
    figure: str,
    ours: Callable[[], object],
    reference: Callable[[], object],
    *,
    to: str,
    rounds: int = 5,
    target: float | None = None,
) -> dict[str, Any]:
    """Return the median over rounds of our time to the reference's, taken in turns.

    Each side runs once before, so that imports and caches are paid for by neither.
    """
    ours(), reference()
    pairs = [(seconds(ours), seconds(reference)) for _ in range(rounds)]
    ratios = sorted(mine / theirs for mine, theirs in pairs)
    mine, theirs = (statistics.median(side) for side in zip(*pairs, strict=True))
    row = {
        "figure": figure,
        "reference": to,
        "ratio": round(statistics.median(ratios), 3),
        "least": round(ratios[0], 3),
        "most": round(ratios[-1], 3),
        "target": target,
        "seconds": round(mine, 4),
        "reference_seconds": round(theirs, 4),
        "rounds": rounds,
    }
    print(f"{figure}: {row['ratio']:.2f} x {to} ({mine:.3f} s against {theirs:.3f} s)", flush=True)
    return row


def peak_memory() -> int:
    """Return the most memory this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def machine() -> dict[str, Any]:
    """Return the facts without which a figure means nothing."""
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return {
        "cores": os.cpu_count(),
        "architecture": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "load_average": round(os.getloadavg()[0], 1),
        "versions": found,
    }


def write(name: str, title: str, rows: Sequence[dict[str, Any]]) -> None:
    """Write the rows and the machine as JSON and as a Markdown table."""
    path = FOLDER / f"{name}.json"
    content = {"machine": machine(), "rows": list(rows)}
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    facts = content["machine"]
    versions = ", ".join(f"{library} {number}" for library, number in facts["versions"].items())
    about = (
        f"{facts['cores']} cores ({facts['architecture']}, {facts['system']}), Python"
        f" {facts['python']}, load average {facts['load_average']} at the end"
    )
    head = list(rows[0])
    lines = [
        f"# {title}",
        "",
        f"{about}; {versions}.",
        "",
        "| " + " | ".join(key.replace("_", " ") for key in head) + " |",
        "|" + "---|" * len(head),
        *("| " + " | ".join(_shown(row.get(key)) for key in head) + " |" for row in rows),
    ]
    path.with_suffix(".md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _shown(value: object) -> str:
    return "" if value is None else str(value)
