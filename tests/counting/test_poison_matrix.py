"""One poison cell in any type of any source, however it is read, changes no other record's count.

The count succeeds, and the record is one. Each run draws some types and cells anew; the long
tests walk all of them.
"""

from __future__ import annotations

import reprlib
from pathlib import Path
from typing import Any

import pytest
from support import poison
from support.draws import DICE, SOAK, few, some
from support.poison import Poisoned

from dproo import Alphabet, counting
from dproo.schema.axis import OpenText
from dproo.schema.reading import Reading


def read(alphabet: Alphabet, kind: str, **options: str) -> Alphabet:
    (axis,) = alphabet.axes
    return Alphabet(axes=(axis.read_as(Reading(kind=kind, **options)),))


LETTERS = Alphabet.of(["7", "x", "true", "2024-01-01"])
BINS = Alphabet.bins([-1.5, 0, 7, 8, 2024, 2025, 1e300])
DAYS = Alphabet.of(["2024-01-01", "9999-12-31", "0001-01-01"])
ALPHABETS = {
    "letters": LETTERS,
    "integers": Alphabet.of([7, 8, 0]),
    "range": Alphabet.of(range(-3, 9)),
    "far range": Alphabet.of(range(10**18 - 5, 10**18)),
    "bins": BINS,
    "as text": read(LETTERS, "text"),
    "as lower": read(LETTERS, "lower"),
    "as integer": read(Alphabet.of([7, 8]), "integer"),
    "range as integer": read(Alphabet.of(range(7, 9)), "integer", thousands=","),
    "bins as integer": read(BINS, "integer"),
    "bins as number": read(BINS, "number"),
    "bins with a comma": read(BINS, "number", decimal=",", thousands="."),
    "as date": read(DAYS, "date"),
    "as date in another form": read(DAYS, "date", format="DD.MM.YYYY"),
    "as month": read(Alphabet.of(["2024-01", "9999-12"]), "month"),
    "as year": read(Alphabet.of(["2024", "0001"]), "year"),
    "bins as year": read(Alphabet.bins([0, 2024, 2025]), "year"),
    "as shapes": read(Alphabet.of(["9", "-9", "9.9", "9,9", "9-9-9"]), "shape"),
    "open": Alphabet(axes=(OpenText(minimum=2),)),
}
WAYS = ["alone", "of a person", "several", "as a person"]
OPTIONS = [
    (name, way)
    for name in ALPHABETS
    for way in WAYS
    if not (name == "open" and way == "several") and (way != "as a person" or name == "letters")
]


def counted(data: Any, options: dict[str, Any], name: str, way: str) -> list[list[int]]:
    """Return the counts by each alphabet."""
    alphabet = ALPHABETS[name]
    if way == "as a person":
        found = counting.count(data, alphabet=["x"], column="b", person="a", **options)
        return [list(found)]
    if way == "several":
        named = Alphabet(axes=alphabet.axes, columns=("a",))
        both = Alphabet(axes=(*alphabet.axes, *Alphabet.of(["x"]).axes), columns=("a", "b"))
        several = [named, Alphabet.of({"b": ["x"]}), both]
        scan = counting.prepare(data, alphabets=several, **options)
        return [list(found) for found in scan.count_several()]
    person = "who" if way == "of a person" else None
    found = counting.count(data, alphabet=alphabet, column="a", person=person, **options)
    return [[found.n]] if name == "open" else [list(found)]


Seen = list[list[int]] | str


def seen(source: poison.Source, name: str, way: str) -> Seen:
    """Return the counts, or the sentence that refuses the column before a record is read."""
    try:
        return counted(*source, name, way)
    except ValueError as refused:
        return str(refused)


def check(
    column: Poisoned, options: list[tuple[str, str]], tries: int, *, is_slow: bool = False
) -> int:
    """See what poison cells do, all together and one by one; return how many counts were made.

    Args:
        column: the column.
        options: how to count it.
        tries: how many cells are tried one by one; in the long tests all, unless it is slow.
        is_slow: whether a count takes about a second.
    """
    rest = [column.good] * 4
    source = column.build(rest)
    expected = {option: seen(source, *option) for option in options}
    counts = len(options)
    single = [[cell] for cell in column.cells]
    drawn = DICE.sample(single, min(tries, len(single))) if is_slow else few(single, tries)
    for cells in (list(column.cells), *drawn):
        place = DICE.randrange(len(rest) + 1)
        source = column.build([*rest[:place], *cells, *rest[place:]])
        # One alone can hardly do what all together do not.
        asked = options if len(cells) > 1 else DICE.sample(options, min(3, len(options)))
        for option in asked:
            shown = (column.kind, *option, reprlib.repr(cells))
            try:
                found = seen(source, *option)
            except Exception as failed:
                raise AssertionError(shown) from failed
            compare(column, option, (expected[option], found), (len(cells), shown))
        counts += len(asked)
    return counts


def compare(
    column: Poisoned, option: tuple[str, str], both: tuple[Seen, Seen], more: tuple[int, object]
) -> None:
    """See that poison records are records, and that no other record's count has changed."""
    (_, way), (before, after), (number, shown) = option, both, more
    if isinstance(before, str) or isinstance(after, str):  # refused by its type alone
        assert before == after, shown
        return
    is_merged = way == "as a person" or (column.is_torn and way == "of a person")
    for old, new in zip(before, after, strict=True):
        changes = [count - earlier for earlier, count in zip(old, new, strict=True)]
        assert min(changes) >= 0, shown
        least = 0 if way == "as a person" else 1 if is_merged else number
        assert least <= sum(changes) <= number, shown
    if way == "several" and not column.is_torn:  # what another column holds is read
        assert after[1] == [before[1][0] + number, 0], shown


@pytest.mark.one_of(3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("source", some(poison.HERE, one_of=4))
def test_a_poison_cell_is_one_record(source: str, tmp_path: Path) -> None:
    for column in few(poison.HERE[source](tmp_path), 1):
        assert check(column, few(OPTIONS, 4), 2)


@pytest.mark.one_of(3)
def test_a_poison_cell_of_postgresql_is_one_record(server: Any) -> None:
    for column in poison.postgresql(server):
        assert check(column, few(OPTIONS, 4), 2)


@pytest.mark.skipif(not SOAK, reason="Spark takes minutes for it: make soak.")
@pytest.mark.parametrize("is_strict", [True, False])
def test_a_poison_cell_of_spark_is_one_record(
    spark: Any,
    tmp_path: Path,
    is_strict: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """With casts that fail, which is what Spark does by itself, and with those that do not.

    Every type and every cell; of the ways to count a third, drawn anew for each type.
    """
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", str(is_strict).lower())
    try:
        for column in poison.spark(spark, tmp_path):
            assert check(column, DICE.sample(OPTIONS, len(OPTIONS) // 3), 2, is_slow=True)
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)
