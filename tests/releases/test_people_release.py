"""A person is protected whatever they contribute: by enumeration, and in what a release says."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from math import prod
from operator import add, sub
from pathlib import Path
from typing import Any

import pytest
from support.draws import SOAK, some
from support.releasing import sample

import dproo
from dproo import Counts, Ledger
from dproo.core.numbers import is_at_most_exp
from dproo.counting.query import CountQuery
from dproo.counting.source import Source
from dproo.counting.sql import people
from dproo.errors import OtherRelationError
from dproo.ledger import Limits
from dproo.mechanisms import ADD_REMOVE, REPLACE, SAMPLERS
from dproo.releases.protection import Groups, Protection
from dproo.releases.value import SampleRequest

LETTERS = ("x", "y", "z")
PRIVATE = Protection(person="who", neighbours=ADD_REMOVE)
PEOPLE_MAX, RECORDS_MAX = 4, 3
EPSILON = Fraction(1, 2)


ALPHABET = dproo.Alphabet.of({"a": LETTERS})

Records = tuple[str, ...]

EVERYBODY: list[Records] = [
    records
    for number in range(1, RECORDS_MAX + 1)
    for records in combinations_with_replacement(LETTERS, number)
]
"""All that one person may contribute, apart from the order."""


Kept = tuple[int, ...]


def kept_of(data: dict[int, Records], salt: str, *, kept: int = 1) -> Kept:
    """Return how often the engine keeps each letter of these people's records."""
    query = CountQuery(
        alphabets=(ALPHABET,), columns=("a",), person="who", records_per_person=kept, salt=salt
    )
    rows = [(letter, who) for who, records in data.items() for letter in records]
    found = [letter for letter, _ in people.kept_rows(rows, query)]
    return tuple(map(found.count, LETTERS))


def datasets(number: int) -> Iterator[tuple[Records, ...]]:
    """Yield all datasets of so many people; who is who matters only in the long run."""
    if SOAK:
        yield from product(EVERYBODY, repeat=number)
    else:
        yield from combinations_with_replacement(EVERYBODY, number)


Pairs = set[tuple[Kept, Kept]]


@cache
def neighbours(*, kept: int = 1) -> tuple[Pairs, Pairs]:
    """Return what is counted of all pairs of datasets in which one person differs, or is missing.

    That people choose apart from each other is checked with every dataset.
    """
    replaced: Pairs = set()
    removed: Pairs = set()
    salt = secrets.token_hex(4)
    alone = [
        {records: kept_of({who: records}, salt, kept=kept) for records in EVERYBODY}
        for who in range(PEOPLE_MAX)
    ]
    anything = [set(choices.values()) for choices in alone]
    for number in range(1, PEOPLE_MAX + 1):
        for several in datasets(number):
            parts = [alone[who][records] for who, records in enumerate(several)]
            whole = tuple(map(sum, zip(*parts, strict=True)))
            assert kept_of(dict(enumerate(several)), salt, kept=kept) == whole
            for who, part in enumerate(parts):
                rest = tuple(map(sub, whole, part))
                removed.add((rest, whole))
                replaced |= {(tuple(map(add, rest, other)), whole) for other in anything[who]}
    return replaced, removed


def assert_private(before: Kept, after: Kept, sampler: dproo.Mechanism) -> None:
    tables = [Counts.of([*kept, 0]) for kept in (before, after)]
    outcomes = combinations_with_replacement(range(4), sampler.draws)
    for letters in outcomes:
        one, two = (sampler.probability(table, letters) for table in tables)
        assert is_at_most_exp(max(one, two) / min(one, two), EPSILON), (sampler, before, after)


@pytest.mark.one_of(3)
@pytest.mark.parametrize("size", [1, 2, 3] if SOAK else [1, 2])
@pytest.mark.parametrize("name", some(SAMPLERS, one_of=4))
def test_a_person_who_changes_all_their_records_changes_no_release_by_more_than_epsilon(
    name: str, size: int
) -> None:
    choices: dict[str, Any] = {
        "alphabet": dproo.Alphabet.of(LETTERS),
        "epsilon": EPSILON,
        "sampler": name,
    }
    request = SampleRequest(**choices, size=size, protection=Protection(person="who"))
    if not request.is_joint:
        assert_blocks_private(choices, size=size)
        return
    replaced, removed = neighbours()
    for before, after in replaced:
        n = sum(after)
        assert sum(before) == n <= PEOPLE_MAX  # the number of people, which is public
        if n >= size:
            assert_private(before, after, request.sampler_for(n))
    if ADD_REMOVE in SAMPLERS[name].relations:
        request = SampleRequest(**choices, size=size, protection=PRIVATE)
        for before, after in removed:
            assert sum(before) == sum(after) - 1
            assert_private(before, after, request.sampler_for(1))


def law_of_blocks(kept: Kept, request: SampleRequest) -> dict[tuple[int, ...], Fraction]:
    """Return the law of several records, each drawn from its block of the records that are kept.

    Under replace the blocks are as equal as can be, and all partitions into such blocks are
    equally likely; under add-remove every record is in each block with the same chance. That
    the code deals records so is tested in ``tests/core/test_partition_dealing.py``.
    """
    n, size = sum(kept), request.size
    records = [letter for letter, count in enumerate(kept) for _ in range(count)]
    each, more = divmod(n, size)
    sizes = [each + 1] * more + [each] * (size - more)
    ways = list(product(range(size), repeat=n))
    if request.protection.neighbours == REPLACE:
        ways = [way for way in ways if list(map(way.count, range(size))) == sizes]
        samplers = [request.sampler_for(number) for number in sizes]
    else:
        samplers = [request.sampler_for(1)] * size
    law = dict.fromkeys(product(range(4), repeat=size), Fraction(0))
    for way in ways:
        blocks = [[0] * 4 for _ in range(size)]
        for block, letter in zip(way, records, strict=True):
            blocks[block][letter] += 1
        laws = [sampler.pmf(block) for sampler, block in zip(samplers, blocks, strict=True)]
        for letters in law:
            law[letters] += prod(p[y] for p, y in zip(laws, letters, strict=True)) / len(ways)
    return law


def assert_blocks_private(choices: dict[str, Any], *, size: int) -> None:
    relations = SAMPLERS[choices["sampler"]].relations
    for relation, pairs in zip((REPLACE, ADD_REMOVE), neighbours(), strict=True):
        if relation not in relations:
            continue
        protection = Protection(person="who", neighbours=relation)
        request = SampleRequest(**choices, size=size, protection=protection)
        possible = {kept for pair in pairs for kept in pair if sum(kept) >= size}
        laws = {kept: law_of_blocks(kept, request) for kept in possible}
        assert {sum(law.values()) for law in laws.values()} == {1}
        ratios = (
            laws[before][letters] / laws[after][letters]
            for one, other in pairs
            for before, after in ((one, other), (other, one))
            if {one, other} <= possible
            for letters in laws[one]
        )
        assert all(is_at_most_exp(ratio, EPSILON) for ratio in ratios)


@pytest.mark.one_of(3)
def test_blocks_that_share_a_person_are_caught() -> None:
    """Else the enumeration of blocks would say nothing: here each block is all of the records."""
    choices = {"alphabet": dproo.Alphabet.of(LETTERS), "epsilon": EPSILON}
    choices["protection"] = Protection(person="who")
    request = SampleRequest(**choices, sampler="ls-roo", size=2)
    leaks = False
    for one, other in neighbours()[0]:
        if sum(one) == PEOPLE_MAX:
            before, after = (request.sampler_for(PEOPLE_MAX).pmf([*x, 0]) for x in (one, other))
            worst = max(p / q for p, q in zip(before, after, strict=True))
            leaks |= not is_at_most_exp(worst**2, EPSILON)
    assert leaks


@pytest.mark.one_of(3)
def test_a_person_of_whom_several_records_are_kept_is_protected_under_add_remove() -> None:
    _, removed = neighbours(kept=2)
    assert {sum(after) - sum(before) for before, after in removed} == {1, 2}
    for name in ("roo", "ls-roo", "bal-roo"):
        sampler = SampleRequest(
            alphabet=dproo.Alphabet.of(LETTERS),
            epsilon=EPSILON,
            sampler=name,
            protection=Protection(person="who", neighbours=ADD_REMOVE, records=2),
        ).sampler_for(1)
        for before, after in removed:
            assert_private(before, after, sampler)


@pytest.mark.parametrize("relation", [REPLACE, ADD_REMOVE])
def test_a_person_who_changes_their_groups_is_protected_for_the_cost_of_the_release(
    relation: dproo.mechanisms.Relation,
) -> None:
    """The letters x, y, z are now: x in group A, y in group A, x in group B."""
    request = SampleRequest(
        alphabet=dproo.Alphabet.of(["x", "y"]),
        epsilon=EPSILON,
        column="a",
        groups=Groups("ward", ["A", "B"]),
        protection=Protection(person="who", neighbours=relation),
    )
    sampler = request.sampler_for(1)
    replaced, removed = neighbours()
    for pair in replaced if relation == REPLACE else removed:
        laws = [[sampler.pmf([x, y, 0]), sampler.pmf([z, 0, 0])] for x, y, z in pair]
        worst = Fraction(1)
        for group in range(2):
            worst *= max(
                max(a / b, b / a) for a, b in zip(laws[0][group], laws[1][group], strict=True)
            )
        assert is_at_most_exp(worst, request.cost)


# What a release says

VISITS = [
    {"patient_id": f"canary-{i % 20}", "ward": "AB"[i % 2], "code": "xyz"[i % 3]} for i in range(90)
]


def test_a_receipt_says_that_a_person_is_protected_and_tells_nobody(
    tmp_path: Path,
) -> None:
    book = Ledger.create(tmp_path / "ledger.sqlite3")
    book.declare("visits", budget="9", neighbours="replace", unit="person")
    charged: dict[str, Any] = {"ledger": book, "dataset": "visits", "epsilon": 1}
    codes = {"code": LETTERS}
    letters = {"code": list(LETTERS), "ward": ["A", "B"]}
    fields = [
        {"name": name, "type": "string", "categories": some} for name, some in letters.items()
    ]
    releases = [
        sample(VISITS, alphabet=codes, person="patient_id", size=2, **charged),
        sample(
            VISITS,
            codebook={"schema": {"fields": fields}},
            person="patient_id",
            network="independent",
            **charged,
        ),
    ]
    for release in releases:
        assert release.receipt.protects == "one person, whatever they contribute"
        assert release.receipt.n == 20
        assert "canary" not in str(release) + str(release.receipt)
        assert "patient_id" not in str(release.receipt)
    stored = (tmp_path / "ledger.sqlite3").read_bytes()
    assert b"canary" not in stored
    assert b"patient_id" not in stored


def test_one_record_of_a_person_is_in_one_group() -> None:
    release = sample(
        VISITS * 50,
        alphabet=LETTERS,
        column="code",
        by={"ward": ["A", "B"]},
        person="patient_id",
        epsilon=1,
    )
    assert [set(value) for value in release.values] == [{"ward", "code"}] * 2
    assert str(release.receipt.epsilon) == "2"


def test_several_records_of_a_person_under_replace_are_refused() -> None:
    """A person with one record, replaced by one with two, would change the public number."""
    with pytest.raises(ValueError, match="records_per_person must be 1 with person under replace"):
        sample(
            VISITS, alphabet={"code": LETTERS}, epsilon=1, person="patient_id", records_per_person=2
        )


def test_public_groups_of_people_are_refused() -> None:
    with pytest.raises(ValueError, match="groups cannot be public with person"):
        sample(
            VISITS,
            alphabet=LETTERS,
            column="code",
            by={"ward": ["A", "B"]},
            are_groups_public=True,
            person="patient_id",
            epsilon=1,
        )


@pytest.mark.parametrize(
    ("options", "covers", "accuracy"),
    [
        ({}, "one person", "of draws differ from a random person's"),
        (
            {"neighbours": "add-remove"},
            "one person",
            "2.5 % of draws differ from a random person's; with more, fewer do",
        ),
        (
            {"neighbours": "add-remove", "records_per_person": 2, "sampler": "ls-roo"},
            "each of 2 kept records of a person",
            "of draws differ from a random record's; with more, fewer do",
        ),
        (
            {"by": {"ward": ["A", "B"]}},
            "one person in one group; replaced, they may be in two",
            "of draws differ from a random person's; with more, fewer do",
        ),
        ({"alphabet": "open", "delta": "1e-6"}, "one person", "one of fewer than 2 never"),
    ],
)
def test_certificate_and_accuracy_are_those_of_people(
    options: dict[str, Any], covers: str, accuracy: str
) -> None:
    chosen = {"alphabet": LETTERS, "column": "code", "person": "patient_id", "epsilon": 1} | options
    receipt = sample(VISITS, **chosen).receipt.as_dict()
    assert receipt["certificate"]["covers"] == covers
    assert receipt["accuracy"].endswith(accuracy)
    assert receipt["accuracy"].startswith("at 40 people, ") == (
        options == {"neighbours": ADD_REMOVE}
    )
    assert receipt["sampler"] in {"open-roo", "ls-roo", "bal-roo", "roo"}


def test_people_and_records_never_share_a_budget(tmp_path: Path) -> None:
    book = Ledger.create(tmp_path / "ledger.sqlite3")
    for name, first, sentence in (
        ("people", {"person": "patient_id"}, "person must be given: the budget of 'people' was"),
        ("records", {}, "person must be left out: the budget of 'records' was declared for the"),
    ):
        unit, limits = "person" if first else "record", Limits(columns=["code"])
        book.declare(name, budget="9", neighbours="replace", unit=unit, limits=limits)
        chosen: dict[str, Any] = {"alphabet": {"code": LETTERS}, "epsilon": 1, "ledger": book}
        sample(VISITS, dataset=name, **chosen, **first)
        other = {} if first else {"person": "patient_id"}
        with pytest.raises(OtherRelationError, match=sentence) as refused:
            sample(VISITS, dataset=name, **chosen, **other)
        assert "patient_id" not in str(refused.value)
        sample(VISITS, dataset=name, **chosen, **first)
    assert [len(account.lines) for account in book.show()] == [2, 2]


def test_a_large_epsilon_is_said_to_protect_a_person_little() -> None:
    chosen: dict[str, Any] = {"alphabet": LETTERS, "column": "code", "epsilon": 11}
    for options, whom in (
        ({}, "one record"),
        ({"person": "patient_id"}, "one person"),
        ({"records_per_person": 2}, "one person"),
    ):
        (warning,) = sample(VISITS, **chosen, **options).receipt.warnings
        assert warning.startswith(f"Epsilon above 10 protects little: {whom} may change the odds")


def test_a_receipt_says_that_each_missing_identifier_is_somebody_else() -> None:
    rows = [("a", "ann"), ("a", "ann"), ("b", None), ("b", "")]
    options: dict[str, Any] = {"alphabet": ["a", "b"], "column": "code", "epsilon": 1}
    records = [{"code": code, "who": who} for code, who in rows]
    together = sample(records, person="who", **options)
    assert together.receipt.n == 2
    assert together.receipt.protects == "one person, whatever they contribute"
    each = sample(records, person="who", missing_person="each", **options)
    assert each.receipt.n == 3
    assert "declared to be somebody else's" in each.receipt.protects
    with pytest.raises(ValueError, match="person must be given with missing_person"):
        sample(records, missing_person="each", **options)
    with pytest.raises(ValueError, match="missing_person must be"):
        sample(records, person="who", missing_person="none", **options)


def test_missing_values_of_a_code_book_are_missing_identifiers() -> None:
    records = [{"code": "a", "who": who} for who in ("NA", "NA", "-99", "ann", "ann", None)]
    book = dproo.CodeBook.of(
        {
            "schema": {
                "missingValues": ["", "NA", "-99"],
                "fields": [{"name": "code", "type": "string", "categories": ["a", "b"]}],
            }
        }
    )
    for missing, n in (("one", 2), ("each", 5)):
        visits = dproo.open(records, neighbours=dproo.Protection(person="who", missing=missing))
        for receipt in (
            visits.value("code", book, epsilon=1).receipt,
            visits.row(book, epsilon=1).receipt,
            visits.rows(book, size=9, epsilon=1).receipt,
            visits.synthesize(book, epsilon=1).receipt,
        ):
            assert receipt.n == n
            assert "no identifiers: '-99', 'NA'" in receipt.protects
    with pytest.raises(ValueError, match="person must be given with missing_person"):
        dproo.Protection(missing_texts=("NA",))
    with pytest.raises(TypeError, match="missing_texts must be a list of texts"):
        dproo.Protection(person="who", missing_texts="NA")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="missing_texts must be texts without U"):
        dproo.Protection(person="who", missing_texts=("NA", "\ufffd"))


@pytest.mark.parametrize("listed", [None, [], ["NA"]])
@pytest.mark.parametrize("own", [None, [], ["-9"]])
def test_a_field_of_the_person_has_missing_texts_of_its_own(
    listed: list[str] | None, own: list[str] | None
) -> None:
    who = {"name": "who", "type": "string", "categories": ["1"]}
    who |= {} if own is None else {"missingValues": own}
    code = {"name": "code", "type": "string", "categories": ["a", "b"], "missingValues": ["1"]}
    schema = {"fields": [code, who]} | ({} if listed is None else {"missingValues": listed})
    cells = ["1", "-9", "-9", "NA", "NA", "NA", None]
    each = dproo.Protection(person="who", missing="each")
    visits = dproo.open([{"who": cell, "code": "a"} for cell in cells], neighbours=each)
    missing = listed if own is None else own
    people = {*cells} - {None, *(missing or [])}
    n = len(people) + sum(cell not in people for cell in cells)
    assert visits.value("code", dproo.CodeBook.of({"schema": schema}), epsilon=1).receipt.n == n


def test_no_code_book_makes_unreadable_identifiers_several_people(tmp_path: Path) -> None:
    """They are read as U+FFFD, so a book that calls that missing must not split a person."""
    fields = [{"name": "c", "type": "string", "constraints": {"enum": ["a", "b"]}}]
    book = dproo.CodeBook.of({"schema": {"fields": fields, "missingValues": ["NA", "\ufffd"]}})
    assert book.missing_texts("who") == ("NA",)
    (tmp_path / "x.csv").write_bytes(b"who,c\n" + b"\xff,a\n" * 9 + b"ann,b\n")
    each = dproo.Protection(person="who", missing="each")
    visits = dproo.open(str(tmp_path / "x.csv"), neighbours=each)
    assert visits.row(book, epsilon=3).receipt.n == 2


@pytest.mark.parametrize("part", dataclasses.fields(dproo.Protection), ids=lambda part: part.name)
@pytest.mark.parametrize("texts", [[], ["-99"]])
def test_no_part_of_a_protection_is_lost_where_a_code_book_describes_the_data(
    part: dataclasses.Field[Any], texts: list[str]
) -> None:
    stated = dproo.Protection(
        neighbours="add-remove", person="who", records=2, missing="each", missing_texts=("NA",)
    )
    plain, kept = getattr(dproo.Protection(), part.name), getattr(stated, part.name)
    assert kept != plain
    fields = [{"name": "c", "type": "boolean"}]
    book = dproo.CodeBook.of({"schema": {"fields": fields, "missingValues": texts}})
    more = tuple(texts) if part.name == "missing_texts" else ()
    described = getattr(stated.described_by(book), part.name)
    assert described == (tuple(sorted({*kept, *more})) if more else kept)


def test_a_check_reads_the_data_as_a_release_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text("who;'code'\n" + "".join(f"{i};x\n" for i in range(99)))
    described = {"name": "code", "type": "string", "categories": ["x", "y"]}
    dialect = {"delimiter": ";", "quoteChar": "'"}
    schema = {"fields": [described], "missingValues": ["NA"]}
    book = dproo.CodeBook.of({"schema": schema, "dialect": dialect})
    people = dproo.Protection(neighbours="add-remove", person="who", records=2, missing="each")
    data, scan, seen = dproo.open(tmp_path / "a.txt", neighbours=people), Source.scan, []

    def scanned(self: Source, *letters: Any, **where: Any) -> Any:
        where_of_check = where | {"order": ()}  # of the cells of records, of which it reads none
        seen.append((self.layout, where_of_check))
        return scan(self, *letters, **where)

    monkeypatch.setattr(Source, "scan", scanned)
    for check, release in (
        (lambda: data.check(book), lambda: data.row(book, epsilon=1)),
        (lambda: data.check("code", book), lambda: data.value("code", book, epsilon=1)),
    ):
        release()
        assert check().holds
        *_, released, checked = seen
        assert released == checked


def test_a_person_beside_a_protection_is_refused() -> None:
    """The protection need not have one of its own, as the refusal said."""
    for protection in (dproo.Protection(), dproo.Protection(person="a")):
        with pytest.raises(ValueError, match="person must be part of the protection"):
            dproo.open([{"a": 1}], person="a", neighbours=protection)


def test_cells_in_place_of_a_name_are_not_quoted() -> None:
    cells = ["CANARY", "b"]
    for wrong in (
        lambda: dproo.open(cells, person=cells),
        lambda: dproo.open(cells).value(cells, ["b"], epsilon=1),
        lambda: dproo.open(cells).check(cells, ["b"]),
    ):
        with pytest.raises(TypeError, match="be the name of a column, got <class 'list'>"):
            wrong()
