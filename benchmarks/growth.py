"""How the processor time of a release grows with records, letters, draws and 1/epsilon.

python benchmarks/growth.py
DPROO_ROWS=1e8 python benchmarks/growth.py      with as many records at most
"""

from __future__ import annotations

import math
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from measuring import measured, peak_memory, write
from ratios import CODE, LETTERS, ROWS, written

import dproo
from dproo.mechanisms import registry

ROUNDS = 3
LARGEST = 2  # points that the exponent is fitted to: below them fixed costs are all there is

Point = tuple[float, Callable[[], object]]


def records(folder: Path) -> Iterator[Point]:
    """``n``: records of a Parquet file over 1,000 letters."""
    for power in range(5, round(math.log10(ROWS)) + 1):
        path = written(folder, CODE, 10**power)
        yield 10**power, lambda p=path: dproo.open(p).values("code", LETTERS, epsilon=1)


def letters(folder: Path) -> Iterator[Point]:
    """``k``: letters that all occur, in 10^7 records."""
    for power in range(1, 7):
        k = 10**power
        path = written(folder, f"(hash(i) % {k})::INTEGER AS code", 10**7)
        yield k, lambda p=path, k=k: dproo.open(p).values("code", range(k), epsilon=1)


def draws(_: Path) -> Iterator[Point]:
    """``s``: records drawn jointly from ready counts of 1,000 letters."""
    counts = dict.fromkeys(LETTERS, 10**6)
    for power in range(7):
        size = 10**power
        yield (
            size,
            lambda s=size: dproo.open(counts).values(
                None, LETTERS, epsilon=1, size=s, sampler="roo"
            ),
        )


def privacy(_: Path) -> Iterator[Point]:
    """``1/epsilon``: a release of the default sampler from ready counts of 1,000 letters."""
    counts = dict.fromkeys(LETTERS, 10**6)
    for epsilon in ("10", "1", "0.1", "0.01", "0.001"):
        yield (
            1 / float(epsilon),
            lambda e=epsilon: dproo.open(counts).values(None, LETTERS, epsilon=e),
        )


def exponent(points: list[tuple[float, float]]) -> float:
    """Return the slope of log time over log size, by least squares."""
    logs = [(math.log(size), math.log(taken)) for size, taken in points]
    return statistics.linear_regression(*zip(*logs, strict=True)).slope


def main() -> None:
    """Measure, fit, and write the table."""
    rows: list[dict[str, Any]] = []
    for measure in (records, letters, draws, privacy):
        points = []
        with tempfile.TemporaryDirectory() as folder:
            for size, release in measure(Path(folder)):
                release()
                taken = []
                for _ in range(ROUNDS):
                    for kept in (registry.choose, registry.certified):  # the first release
                        kept.cache_clear()
                    taken.append(measured(release)[1])
                points.append((size, statistics.median(taken)))
                rows.append(
                    {
                        "growing": str(measure.__doc__).replace("`", "").rstrip("."),
                        "size": f"{size:g}",
                        "processor_seconds": round(points[-1][1], 3),
                        "exponent": None,
                        "peak_memory_mb": peak_memory(),
                    }
                )
                sys.stdout.write(f"{measure.__name__} {size:g}: {points[-1][1]:.4f} s\n")
                sys.stdout.flush()
        rows[-1]["exponent"] = round(exponent(points[-LARGEST:]), 2)
    write("growth", "How the processor time of a release grows", rows)


if __name__ == "__main__":
    main()
