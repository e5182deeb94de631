"""A synthetic column by us and by others: total variation distance from the data, and time.

One column, epsilon = 1, for us delta = 1e-6, and as many rows for everybody. The distance is
between the released rows and the data, averaged over rounds; the first line, rows drawn from
the data itself, is what no synthesizer that draws its rows can beat. A peer that is not
installed is left out with the reason. Run it with ``python benchmarks/synthesize.py``.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import numpy as np

import dproo

EPSILON, DELTA = 1.0, "1e-6"
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 3
CASES = ((20, 10**6, 10**5), (1000, 10**5, 10**4), (1000, 10**4, 10**3))
"""Letters, records and rows; letter i has a share in proportion to 1/i."""


@dataclass(frozen=True)
class Case:
    """A column in memory, which every peer reads, and in a file, which we read."""

    data: Sequence[str]
    path: Path
    letters: Sequence[str]
    rows: int


Synthesizer = Callable[[Case], Sequence[str]]


def column(k: int, n: int) -> list[str]:
    """Return a column of ``n`` records, the same in every run."""
    shares = 1 / np.arange(1, k + 1)
    counts = np.floor(n * shares / shares.sum()).astype(int)
    counts[0] += n - counts.sum()
    return [f"letter{i:04}" for i in np.repeat(np.arange(k), counts)]


def distance(rows: Sequence[str], data: Sequence[str]) -> float:
    """Return the total variation distance of two columns."""
    made, true = Counter(rows), Counter(data)
    letters = set(made) | set(true)
    return sum(abs(made[y] / len(rows) - true[y] / len(data)) for y in letters) / 2


def drawn_from_data(case: Case) -> Sequence[str]:
    """Draw rows from the data itself: no privacy at all."""
    return list(np.random.default_rng().choice(np.array(case.data), case.rows))


def ours(case: Case, delta: str = DELTA) -> Sequence[str]:
    """Synthesize with a delta."""
    made = dproo.open(case.path).values(
        "code",
        dproo.Alphabet.of(case.letters, policy="uniform"),
        size=case.rows,
        epsilon=EPSILON,
        delta=delta,
    )
    return [str(value) for value in made.values]


def ours_pure(case: Case) -> Sequence[str]:
    """Synthesize without a delta."""
    return ours(case, "0")


def opendp_histogram(case: Case) -> Sequence[str]:
    """Draw rows from OpenDP's Laplace counts, clipped at zero; records added or removed."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()
    counts = space >> dp.t.then_count_by_categories(
        categories=list(case.letters), null_category=False, MO=dp.L1Distance[int]
    )
    noisy = counts >> dp.m.then_laplace(scale=1 / EPSILON)
    clipped = np.maximum(np.array(noisy(list(case.data)), dtype=float), 0)
    shares = clipped / clipped.sum()
    return list(np.random.default_rng().choice(np.array(case.letters), case.rows, p=shares))


def opendp_contingency_table(case: Case) -> Sequence[str]:
    """Synthesize by OpenDP's contingency table, which fits a graphical model by mbi."""
    import mbi  # noqa: F401 - an extra of OpenDP
    import opendp.prelude as dp
    import polars as pl

    dp.enable_features("contrib")
    context = dp.Context.compositor(
        data=pl.LazyFrame({"code": case.data}),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=EPSILON),
        split_evenly_over=1,
    )
    table = context.query().contingency_table(
        keys={"code": list(case.letters)},
        algorithm=dp.mbi.Fixed(queries=[dp.mbi.Count(("code",))], oneway="unkeyed"),
    )
    made = table.release().synthesize(rows=case.rows)["code"]
    return [str(value) for value in made]


def smartnoise_mst(case: Case) -> Sequence[str]:
    """Synthesize by smartnoise-synth's MST; it takes its categories from the data."""
    import pandas as pd
    from snsynth import Synthesizer as SmartNoise

    synthesizer = SmartNoise.create("mst", epsilon=EPSILON)
    frame = pd.DataFrame({"code": pd.Categorical(case.data)})
    synthesizer.fit(frame, categorical_columns=["code"], preprocessor_eps=0.0)
    return list(synthesizer.sample(case.rows)["code"])


PEERS: dict[str, Synthesizer] = {
    "rows of the data itself": drawn_from_data,
    "dproo, delta 1e-6": ours,
    "dproo, pure": ours_pure,
    "OpenDP histogram, pure": opendp_histogram,
    "OpenDP contingency table, pure": opendp_contingency_table,
    "smartnoise-synth MST, delta": smartnoise_mst,
}


def main() -> None:
    """Print a table for each case."""
    for k, n, rows in CASES:
        print(f"{k:,} letters, {n:,} records, {rows:,} rows, epsilon {EPSILON:g}")
        with TemporaryDirectory() as folder:
            data = column(k, n)
            path = Path(folder) / "column.parquet"
            duckdb.sql("SELECT unnest($1) AS code", params=[data]).write_parquet(str(path))
            compare(Case(data, path, [f"letter{i:04}" for i in range(k)], rows))


def compare(case: Case) -> None:
    """Print a line for each peer."""
    for name, synthesize in PEERS.items():
        try:
            start = time.perf_counter()
            found = [distance(synthesize(case), case.data) for _ in range(ROUNDS)]
        except ModuleNotFoundError as missing:
            print(f"  {name:<31} left out: {missing.name} is not installed")
            continue
        seconds = (time.perf_counter() - start) / ROUNDS
        print(f"  {name:<31} distance {np.mean(found):.5f}   {seconds:7.2f} s")


if __name__ == "__main__":
    main()
