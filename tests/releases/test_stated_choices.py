"""What the ledger stores with a charge names every choice: an approval is for exactly these."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest

import dproo
from dproo.counting.fit import Column
from dproo.mechanisms import ADD_REMOVE
from dproo.releases.charge import Charge
from dproo.releases.discovery import DiscoveryRequest
from dproo.releases.open_value import OpenRequest
from dproo.releases.protection import Groups, Protection
from dproo.releases.request import Request
from dproo.releases.row import RowRequest
from dproo.releases.run import stated
from dproo.releases.table import FoundTableRequest, ModelRequest
from dproo.releases.value import SampleRequest

TWO, FOUR = Fraction(2), Fraction(4)
DELTA = Fraction(1, 1000)
ELSEWHERE = {"count", "is_rehearsed", "resource"}
"""What changes neither the release nor whom it protects."""


def book(*letters: str) -> dproo.CodeBook:
    """Return the code book of two columns, of which the first has these letters."""
    columns = {"a": letters, "b": ("u", "v")}
    described = [
        {"name": name, "type": "string", "categories": list(values)}
        for name, values in columns.items()
    ]
    return dproo.CodeBook.of({"schema": {"fields": described}})


def found(*names: str, **choices: Any) -> DiscoveryRequest:
    """Return the request of a code book of these columns of text."""
    known = tuple(Column(name=name, kind="text", type_name="string") for name in names)
    return DiscoveryRequest(**({"known": known, "epsilon": TWO, "delta": DELTA} | choices))


PEOPLE = Protection(person="who")
WHOM = [
    Protection(),
    Protection(records=2),
    PEOPLE,
    replace(PEOPLE, missing="each"),
    replace(PEOPLE, missing_texts=("NA",)),
    replace(PEOPLE, missing="each", missing_texts=("NA",)),
]
WARDS = Groups("ward", ["A", "B"])
BY = [None, WARDS, Groups("ward", ["A", "C"]), Groups("unit", ["A", "B"])]
EPSILONS = [TWO, FOUR]


@dataclass(frozen=True)
class Kind:
    """A kind of release, and for each of its choices some that differ."""

    base: Request
    choices: dict[str, list[Any]]

    @property
    def requests(self) -> list[Request]:
        """The release as it is, and with one choice made otherwise."""
        return [
            replace(self.base, **{name: value})
            for name, values in self.choices.items()
            for value in values
            if value != getattr(self.base, name)
        ] + [self.base]


ALPHABET = dproo.Alphabet.of(["x", "y"])
ANY = {"epsilon": EPSILONS, "protection": WHOM}
NO_GROUPS: dict[str, list[Any]] = {"groups": [None]}
PURE: dict[str, list[Any]] = {"delta": [Fraction(0)]}
WITH_DELTA = {"delta": [DELTA, DELTA / 2]}
KINDS = [
    Kind(
        SampleRequest(alphabet=ALPHABET, column="a", epsilon=TWO),
        ANY
        | PURE
        | {
            "alphabet": [
                dproo.Alphabet.of(["x", "z"]),
                dproo.Alphabet.of(["x", "y"], policy="uniform"),
                ALPHABET.read_as("text"),
            ],
            "column": ["a", "b"],
            "sampler": ["auto", "roo", "ls-roo"],
            "size": [1, 2],
            "groups": BY,
        },
    ),
    Kind(
        OpenRequest(column="a", epsilon=TWO, delta=DELTA),
        ANY | NO_GROUPS | WITH_DELTA | {"column": ["a", "b"], "minimum_people": [2, 3]},
    ),
    Kind(
        RowRequest(codebook=book("x", "y"), epsilon=TWO, network="independent"),
        ANY
        | PURE
        | {
            "codebook": [book("x", "z")],
            "network": ["independent", "learned"],
            "sampler": ["auto"],
            "shares": [(), (Fraction(1), Fraction(1)), (Fraction(1, 2), Fraction(3, 2))],
            "size": [1, 2],
            "is_within_bins": [False, True],
            "groups": BY,
        },
    ),
    Kind(
        ModelRequest(codebook=book("x", "y"), epsilon=TWO),
        ANY
        | NO_GROUPS
        | {
            "delta": [Fraction(0), DELTA],
            "codebook": [book("x", "z")],
            "network": ["auto", "independent"],
        },
    ),
    Kind(
        found("a", "b"),
        ANY | NO_GROUPS | WITH_DELTA | {"known": [found("a").known], "most": [5, 500]},
    ),
    Kind(
        FoundTableRequest.of(found("a", "b"), "auto"),
        ANY
        | NO_GROUPS
        | WITH_DELTA
        | {"discovery": [found("a")], "network": ["auto", "independent"]},
    ),
]


def approved(request: Request) -> tuple[Any, ...]:
    """Return what a second person approves: the charge, and what is stated with it."""
    people = request.protection
    basis = people.neighbours, people.records, people.unit
    return (*basis, request.cost, request.delta, stated(request, Charge()))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind.base).__name__)
def test_no_two_releases_are_one_request(kind: Kind) -> None:
    known = {field.name for field in fields(kind.base)} - ELSEWHERE
    assert known == set(kind.choices)
    for one, other in combinations(kind.requests, 2):
        assert approved(one) != approved(other), (one, other)


ROWS = [{"ward": ward, "a": "x", "b": "u"} for ward in "AABB"]


@pytest.mark.parametrize("what", ["value", "row"])
def test_groups_that_are_public_are_another_request_at_the_same_price(what: str) -> None:
    base = KINDS[0].base if what == "value" else KINDS[2].base
    twice = replace(base, groups=WARDS)
    once = replace(base, groups=replace(WARDS, are_public=True), epsilon=FOUR)
    assert twice.cost == once.cost
    assert approved(twice) != approved(once)


@pytest.mark.parametrize(("are_public", "neighbours"), [(True, "replace"), (False, ADD_REMOVE)])
def test_a_receipt_states_that_groups_are_taken_for_public(
    *, are_public: bool, neighbours: Any
) -> None:
    wards = Groups("ward", ["A", "B"], are_public=are_public)
    data = dproo.open(ROWS, neighbours=neighbours)
    for release in (
        data.values("a", ["x", "y"], by=wards, epsilon=1),
        data.rows(book("x", "y"), by=wards, epsilon=1, network="independent"),
    ):
        assert ("declared to be public" in release.receipt.protects) == are_public
