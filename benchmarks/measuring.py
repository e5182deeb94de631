"""What the benchmarks share: two sides measured in turns, the machine's facts, files, curves."""

from __future__ import annotations

import json
import os
import platform
import resource
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from math import exp, log
from pathlib import Path
from typing import Any

from dproo.mechanisms import PLAIN

FOLDER = Path(__file__).parent
LIBRARIES = ("dproo", "duckdb", "numpy", "polars", "pyspark", "opendp", "psycopg")
OURS = ("ls-roo", "bal-roo")
"""The samplers of this project; all others are peers."""

FLOOR = 0.002
"""Accuracies below this count as equal: no user could notice the difference."""

EPSILONS = ("0.1", "0.3", "1", "3")
PEERS = ("MST", "AIM", "PrivBayes")
PEER_LINES = {
    name: (colour, ":", marker, f"{name}, δ = 10⁻⁹")
    for name, colour, marker in zip(PEERS, ("#D55E00", "#CC79A7", "#E69F00"), "^vP", strict=True)
}
"""Colour, line, marker and label of each peer."""


def seconds(run: Callable[[], object]) -> float:
    """Return how long ``run`` takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def measured(run: Callable[[], object]) -> tuple[float, float]:
    """Return how long ``run`` takes, and how much time of the processor, children included."""
    start = _processor()
    taken = seconds(run)
    return taken, _processor() - start


def _processor() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def compared(
    figure: str,
    ours: Callable[[], object],
    reference: Callable[[], object],
    *,
    to: str,
    rounds: int = 5,
    target: float | None = None,
    is_here: bool = True,
) -> dict[str, Any]:
    """Return the median over rounds of our time to the reference's, taken in turns.

    Each side runs once before, so that imports and caches are paid for by neither. On a busy
    machine the processor's time says more than the clock; where another process does the
    work, as Spark and PostgreSQL do, it says nothing, and is left out.
    """
    ours(), reference()
    pairs = [(measured(ours), measured(reference)) for _ in range(rounds)]
    ratios = sorted(a / b for (a, _), (b, _) in pairs)
    processor = statistics.median(a / b for (_, a), (_, b) in pairs)
    mine, theirs = (
        statistics.median(side[0] for side in sides) for sides in zip(*pairs, strict=True)
    )
    row = {
        "figure": figure,
        "reference": to,
        "ratio": round(statistics.median(ratios), 3),
        "processor_ratio": round(processor, 3) if is_here else None,
        "least": round(ratios[0], 3),
        "most": round(ratios[-1], 3),
        "target": target,
        "seconds": round(mine, 4),
        "processor_seconds": (
            round(statistics.median(used for (_, used), _ in pairs), 4) if is_here else None
        ),
        "reference_seconds": round(theirs, 4),
        "rounds": rounds,
        "load_average": round(os.getloadavg()[0], 1),
    }
    print(
        f"{figure}: {row['ratio']:.2f} x {to} ({mine:.3f} s against {theirs:.3f} s),"
        f" processor {row['processor_ratio']}",
        flush=True,
    )
    return row


@dataclass(frozen=True)
class Summary:
    """How one sampler compares with the best of the others, case by case.

    Attributes:
        cases: the number of cases.
        geometric_mean: the mean ratio of its accuracy to the best other sampler's.
        won: how many ratios are below 1.
        tied: how many are 1, with both accuracies at the floor.
        worst: the largest ratio.
    """

    cases: int
    geometric_mean: float
    won: int
    tied: int
    worst: float


def ratio_to_best(
    alphas: Mapping[str, float], sampler: str = PLAIN, *, without: Iterable[str] = ()
) -> float:
    """Return the accuracy of ``sampler`` over the accuracy of the best peer, both floored.

    >>> ratio_to_best({"ls-roo": 0.03, "roo": 0.06, "ds-roo": 0.05})
    0.6
    """
    left_out = {*OURS, sampler, *without}
    best = min(alpha for name, alpha in alphas.items() if name not in left_out)
    return max(alphas[sampler], FLOOR) / max(best, FLOOR)


def summarise(ratios: Iterable[float]) -> Summary:
    """Return the summary of the ratios of all cases.

    >>> summarise([0.5, 2.0, 1.0]).geometric_mean
    1.0
    """
    ratios = list(ratios)
    return Summary(
        cases=len(ratios),
        geometric_mean=mean(ratios),
        won=sum(ratio < 1 for ratio in ratios),
        tied=sum(ratio == 1 for ratio in ratios),
        worst=max(ratios),
    )


def mean(ratios: Sequence[float]) -> float:
    """Return the geometric mean.

    >>> mean([0.5, 2.0])
    1.0
    """
    return exp(sum(map(log, ratios)) / len(ratios))


def peak_memory() -> int:
    """Return the most memory this process has had, in MB (Linux).

    ``ru_maxrss`` would also hold what the process had before it became this program.
    """
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmHWM"].split()[0]) // 1024


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
        "versions": found,
    }


def write(name: str, title: str, rows: Sequence[dict[str, Any]], *, about: str = "") -> None:
    """Write rows and machine as JSON and as a Markdown table; rows of other figures stay."""
    path = FOLDER / f"{name}.json"
    kept = json.loads(path.read_text(encoding="utf-8"))["rows"] if path.exists() else []
    # The first two columns say what a row is about.
    table = {tuple(list(row.values())[:2]): row for row in [*kept, *rows]}
    content = {"machine": machine(), "rows": list(table.values())}
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    path.with_suffix(".md").write_text(page(title, about, content), encoding="utf-8")


def write_by_row(script: str, content: Any) -> None:
    """Write lists of rows beside the script that measured them, as JSON with a line for each."""
    text = by_row(content) + "\n"
    Path(script).with_suffix(".json").write_text(text, encoding="utf-8")


def by_row(content: Any, indent: str = "") -> str:
    """Return a list of rows, or an object of such lists, as JSON with a line for each row."""
    if isinstance(content, dict):
        parts = (f' "{name}": {by_row(part, " ")}' for name, part in content.items())
        return "{\n" + ",\n".join(parts) + "\n}"
    if not isinstance(content, list):
        return json.dumps(content)
    return "[\n" + ",\n".join(f"{indent} {json.dumps(row)}" for row in content) + f"\n{indent}]"


def draw_curves(
    axes: Any,
    lines: dict[str, tuple[str, str, str, str]],
    points: Mapping[str, Iterable[tuple[float, float]]],
) -> None:
    """Draw the points of each method, a value against epsilon, on logarithmic axes."""
    for method, (colour, line, marker, label) in lines.items():
        found = sorted(points.get(method, ()))
        style = {"color": colour, "linestyle": line, "marker": marker, "label": label}
        axes.plot([x for x, _ in found], [y for _, y in found], **style)
    axes.set(xscale="log", yscale="log")
    axes.set_xticks([float(epsilon) for epsilon in EPSILONS], EPSILONS)
    axes.minorticks_off()


def page(title: str, about: str, content: dict[str, Any]) -> str:
    """Return rows and machine as a page of Markdown."""
    facts, rows = content["machine"], content["rows"]
    versions = [f"Python {facts['python']}"]
    versions += [
        f"{library} {number}"
        for library, number in facts["versions"].items()
        if number != "not installed"
    ]
    where = f"{facts['cores']} cores ({facts['architecture']}, {facts['system']})"
    head = list(dict.fromkeys(key for row in rows for key in row))
    lines = [
        f"# {title}",
        "",
        *([about] if about else []),
        f"{where}, {', '.join(versions)}.",
        "",
        "| " + " | ".join(key.replace("_", " ") for key in head) + " |",
        "|" + "---|" * len(head),
        *("| " + " | ".join(_shown(row.get(key)) for key in head) + " |" for row in rows),
    ]
    return "\n".join(lines) + "\n"


def _shown(value: object) -> str:
    return "" if value is None else str(value)
