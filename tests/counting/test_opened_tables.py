"""What every source provides: a table is closed once it is refused, described or counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

import pytest

from dproo import counting
from dproo.counting.fit import Column, check_fit
from dproo.counting.query import CountQuery
from dproo.counting.source import describe
from dproo.counting.sql.statements import TEXT, TIMESTAMP
from dproo.counting.table import Table
from dproo.errors import ReleaseError, UnpreparedError
from dproo.schema.axis import Letters

NAMES = {"a": TEXT, "b": TEXT, "day": TIMESTAMP, "blob": None, "twice": TEXT}


class Interrupted(BaseException):
    """What ends a program, from whatever it does."""


class Toy:
    """Data that a source of its own opens; it notes what is done with it."""

    def __init__(self, *, plan: BaseException | None = None, read: Any = None) -> None:
        self.plan, self.read, self.done = plan, read, list[str]()

    def open_table(self, query: CountQuery) -> Table:
        del query
        kinds = [*NAMES.items(), ("twice", TEXT)]
        return Table(
            columns=tuple(Column(name=name, kind=kind, type_name="type") for name, kind in kinds),
            plan=self._planned,
            close=lambda: self.done.append("closed"),
        )

    def _planned(self, places: Sequence[int], query: CountQuery) -> counting.Scan:
        self.done.append("planned")
        if self.plan is not None:
            raise self.plan

        def read() -> list[counting.Tally]:
            self.done.append("read")
            if self.read is not None:
                raise self.read
            (alphabet,) = query.alphabets
            return [counting.Tally(alphabet=alphabet, seen={0: len(places)}, outside=0)]

        return counting.Scan(engine="toy", warnings=("slow",), _query=query, _read=read)


@pytest.fixture(autouse=True)
def _toys_are_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    def open_toy(data: object, query: CountQuery) -> Table | None:
        return data.open_table(query) if isinstance(data, Toy) else None

    module = import_module("dproo.counting.prepare")
    monkeypatch.setattr(module, "SOURCES", (open_toy, *module.SOURCES))


def test_one_function_is_a_source() -> None:
    toy = Toy()
    scan = counting.prepare(toy, alphabets=[["x"]], columns=["b"], person="a")
    assert [column.name for column in scan.columns] == ["b"]
    assert scan.warnings == ("slow",)
    assert toy.done == ["planned"]
    assert list(scan.count()) == [2, 0]
    assert toy.done == ["planned", "read", "closed"]


REFUSALS: list[tuple[dict[str, Any], str]] = [
    ({}, "column must be given for a table."),
    ({"columns": ["c"]}, "column must be a column of the data, got 'c'."),
    ({"columns": ["a"], "person": "c"}, "person must be a column of the data, got 'c'."),
    ({"columns": ["twice"]}, "column must be a column of the data, once, got 'twice'."),
    ({"columns": ["a"], "person": "day"}, "column 'day' must hold"),
    ({"columns": ["blob"]}, "column 'blob' must hold"),
    ({"columns": ["day"]}, "column 'day' must hold"),
]


@pytest.mark.parametrize(("options", "sentence"), REFUSALS)
def test_a_refusal_closes_the_table(options: dict[str, Any], sentence: str) -> None:
    toy = Toy()
    with pytest.raises(ValueError, match="must") as refused:
        counting.prepare(toy, alphabets=[["x"]], **options)
    assert str(refused.value).startswith(sentence)
    assert toy.done == ["closed"]


@pytest.mark.parametrize(
    ("raised", "shown"),
    [
        (ValueError("no"), ValueError),
        (Interrupted(), UnpreparedError),
        (KeyboardInterrupt(), KeyboardInterrupt),
    ],
)
def test_whatever_ends_the_plan_closes_the_table(
    raised: BaseException, shown: type[BaseException]
) -> None:
    toy = Toy(plan=raised)
    with pytest.raises(shown):
        counting.prepare(toy, alphabets=[["x"]], columns=["a"])
    assert toy.done == ["planned", "closed"]


@pytest.mark.parametrize(
    ("raised", "shown"),
    [
        (ValueError("secret"), ReleaseError),
        (Interrupted(), ReleaseError),
        (KeyboardInterrupt(), KeyboardInterrupt),
    ],
)
def test_whatever_ends_the_count_closes_the_table(
    raised: BaseException, shown: type[BaseException]
) -> None:
    toy = Toy(read=raised)
    with pytest.raises(shown) as failed:
        counting.prepare(toy, alphabets=[["x"]], columns=["a"]).count()
    assert "secret" not in str(failed.value)
    assert toy.done == ["planned", "read", "closed"]


def test_a_description_plans_nothing_and_closes_the_table() -> None:
    toy = Toy()
    assert [column.name for column in describe(toy)] == [*NAMES, "twice"]
    assert toy.done == ["closed"]


@pytest.mark.parametrize("data", [["x"], {"x": 1}, iter("x"), object(), b"x"])
def test_data_without_names_has_no_description(data: object) -> None:
    with pytest.raises(TypeError, match="data must have a header or a schema"):
        describe(data)
    with pytest.raises(ValueError, match="table must be a table of the connection, got 't'"):
        describe(data, table="t")


def test_the_values_of_a_type_are_read_once_and_not_for_each_letter() -> None:
    times = []

    class Values(tuple[str, ...]):
        __slots__ = ()

        def __iter__(self) -> Iterator[str]:
            times.append(1)
            return super().__iter__()

    letters = [str(place) for place in range(50)]
    column = Column(name="ward", kind=TEXT, type_name="enum", values=Values(letters[:20]))
    (warning,) = check_fit([column], [Letters.of(letters)])
    assert "some of the letters can never occur" in warning
    assert len(times) == 1
