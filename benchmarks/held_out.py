"""The second accuracy suite: other sizes, other shapes and real frequency tables.

It was fixed before the constants of any sampler were chosen, and no constant was chosen by
it: what a sampler gains on the first suite should be found here, too. Run it with
``python benchmarks/held_out.py``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from math import exp
from pathlib import Path
from statistics import NormalDist

from accuracy import Case, run

TABLES = json.loads(Path(__file__).with_name("frequencies.json").read_text(encoding="utf-8"))

TABLE_SETTINGS = ((200, "2"), (600, "0.5"), (3000, "0.5"), (3000, "0.05"), (30000, "0.05"))
SHAPE_SETTINGS = ((25, 250, "0.7"), (60, 2000, "0.2"), (400, 5000, "0.5"))


def shapes(k: int) -> Iterator[tuple[str, list[float]]]:
    """Yield shapes that are not in the first suite, as weights."""
    yield "zipf-1.5", [rank**-1.5 for rank in range(1, k + 1)]
    normal = NormalDist()
    yield "log-normal", [exp(1.5 * normal.inv_cdf((i + 0.5) / k)) for i in range(k)]
    yield "uniform on three", [1.0] * 3 + [0.0] * (k - 3)
    yield "uniform-quarter", [1.0] * (k // 4) + [0.0] * (k - k // 4)
    yield "seven tenths on ten", [0.07] * 10 + [0.3 / (k - 10)] * (k - 10)


def cases() -> Iterator[Case]:
    """Yield all 45 cases."""
    for name, table in TABLES.items():
        for n, epsilon in TABLE_SETTINGS:
            yield Case(len(table["counts"]), n, epsilon, name, tuple(table["counts"]))
    for k, n, epsilon in SHAPE_SETTINGS:
        for name, weights in shapes(k):
            yield Case(k, n, epsilon, name, tuple(map(Fraction, weights)))


if __name__ == "__main__":
    run(list(cases()), Path(__file__).with_suffix(".json"))
