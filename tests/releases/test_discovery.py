"""A code book that is found privately: its cost, what it holds, and what no record can do to it."""

from __future__ import annotations

import csv
import json
import sqlite3
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sqlalchemy
from support import poison
from support.draws import DICE, SOAK, few, some

import dproo
from dproo import CodeBook, Ledger
from dproo.codebooks import found
from dproo.core.counts import Counts, NamedCounts
from dproo.core.draw import RandomSource
from dproo.core.numbers import is_at_most_exp
from dproo.counting.fit import Column
from dproo.counting.source import Source
from dproo.counting.sql import statements as sql
from dproo.errors import BudgetRefused, ReleaseError
from dproo.ledger.rules import TERMS
from dproo.mechanisms import ADD_REMOVE, REPLACE, Relation
from dproo.mechanisms.keep import KeepRule
from dproo.receipt import Receipt
from dproo.releases import discovery
from dproo.releases.dataset import Dataset
from dproo.releases.discovery import DiscoveryRequest
from dproo.releases.protection import Protection
from dproo.releases.table import FOUND, FoundTableRequest, ModelRequest
from dproo.schema import Alphabet
from dproo.schema.axis import Bins, IntegerRange, OpenText

pytestmark = pytest.mark.one_of(3)

SURE: dict[str, Any] = {"epsilon": 600, "delta": "1e-6"}
"""So much that noise changes nothing."""


def visits(n: int = 3000) -> list[dict[str, Any]]:
    """Return records with one column of each kind."""
    first = date(2021, 1, 1)
    return [
        {
            "ward": DICE.choice(["A", "B", "Zürich, 3"]),
            "code": DICE.choice([1, 2, 7]),
            "age": DICE.randrange(90),
            "cost": round(DICE.lognormvariate(6, 1), 2),
            "day": (first + timedelta(days=DICE.randrange(700))).isoformat(),
            "note": f"note {DICE.random()} of nobody else",
        }
        for _ in range(n)
    ]


def written(
    folder: Path, rows: Sequence[dict[str, Any]], delimiter: str = ",", name: str = "visits.csv"
) -> Path:
    path = folder / name
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def fields_of(book: CodeBook) -> dict[str, dict[str, Any]]:
    return {field["name"]: dict(field) for field in book.descriptor["schema"]["fields"]}


def check_visits(book: CodeBook, rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """See that each kind of column was found for what it is."""
    found = fields_of(book)
    assert found["ward"]["categories"] == ["A", "B", "Zürich, 3"]
    assert found["code"]["constraints"] == {"minimum": 1, "maximum": 7}
    for name in ("age", "cost"):
        edges, cells = found[name]["bins"], [row[name] for row in rows]
        # Noise may add an octave at each end.
        assert min(cells) / 4 <= edges[0] < edges[-1] <= 4 * max(cells)
        assert len(edges) > 5
    assert found["day"]["type"] == "yearmonth"
    assert found["day"]["constraints"] == {"minimum": "2021-01", "maximum": "2022-12"}
    assert "note" not in found
    told = book.receipt.details["discovery"]
    assert list(told["left_out"]) == ["note"]
    assert max(told["other"].values()) < 0.1
    assert all(field["source"].startswith("found privately") for field in found.values())
    return found


@pytest.mark.one_of(3)
def test_every_kind_of_column_is_found_in_a_file_that_nobody_described(tmp_path: Path) -> None:
    rows = visits()
    data = dproo.open(written(tmp_path, rows))
    book = data.codebook(**SURE)
    assert check_visits(book, rows)["cost"]["type"] == "number"
    assert data.check(book).columns
    row = data.row(book, epsilon=1).value
    assert isinstance(row, dict)
    assert set(row) == set(book.columns)
    assert len(data.synthesize(book, epsilon=1).rows(7)) == 7
    book.save(tmp_path / "book.json")
    assert CodeBook.of(tmp_path / "book.json") == book
    with pytest.raises(FileExistsError):
        book.save(tmp_path / "book.json")


@pytest.mark.one_of(3)
def test_a_decimal_comma_and_dates_with_points_are_read(tmp_path: Path) -> None:
    rows = visits()
    german = [
        row
        | {
            "cost": f"{row['cost']:,.2f}".translate(str.maketrans(",.", ".,")),
            "day": ".".join(reversed(row["day"].split("-"))),
        }
        for row in rows
    ]
    data = dproo.open(written(tmp_path, german, ";"), delimiter=";")
    found = check_visits(data.codebook(**SURE), rows)
    assert (found["cost"]["decimalChar"], found["cost"]["groupChar"]) == (",", ".")
    assert found["day"]["format"] == "%d.%m.%Y"


@pytest.mark.parametrize("form", ["{:,}", "{:,.1f}", "-{:,}", "{:.1f}"])
def test_a_comma_between_groups_of_digits_is_not_taken_for_a_decimal_sign(form: str) -> None:
    numbers = [int(DICE.lognormvariate(7, 1)) + 1 for _ in range(3000)]
    cells = [form.format(number) for number in numbers]
    if form == "{:,.1f}":  # few decimals, and so few points
        cells = [cell.removesuffix(".0") if DICE.random() < 0.99 else cell for cell in cells]
    if form == "{:.1f}":  # a decimal comma
        cells = [cell.replace(".", ",") for cell in cells]
    data = dproo.open([{"sum": cell} for cell in cells])
    book = data.codebook(columns=["sum"], **SURE)
    found = fields_of(book)["sum"]
    signs = found.get("decimalChar"), found.get("groupChar")
    assert signs == ((",", None) if form == "{:.1f}" else (None, ","))
    (axis,) = (field.axis for field in book.fields)
    sign = -1 if form.startswith("-") else 1
    assert all(axis.place(c) == axis.place(sign * n) for c, n in zip(cells, numbers, strict=True))


def test_months_are_not_guessed_where_slashes_are_between_numbers(tmp_path: Path) -> None:
    rows = [{"day": "/".join(reversed(row["day"].split("-")))} for row in visits()]
    found = fields_of(dproo.open(written(tmp_path, rows)).codebook(**SURE))["day"]
    assert (found["type"], found["format"]) == ("year", "%d/%m/%Y")
    assert found["constraints"] == {"minimum": 2021, "maximum": 2022}


@pytest.mark.one_of(3)
def test_typed_columns_lists_and_frames_are_found_alike(tmp_path: Path) -> None:
    rows = visits()
    frame = pl.DataFrame(rows).with_columns(pl.col("day").str.to_date())
    frame.write_parquet(tmp_path / "visits.parquet")
    for data in (frame, frame.to_pandas(), tmp_path / "visits.parquet"):
        check_visits(dproo.open(data).codebook(**SURE), rows)
    names = list(rows[0])
    with pytest.raises(TypeError, match="data must have a header or a schema"):
        dproo.open(rows).codebook(**SURE)
    check_visits(dproo.open(rows).codebook(columns=names, **SURE), rows)


@pytest.mark.parametrize("source", ["list", "objects", "jsonl", "excel", "sqlite"])
def test_decimals_without_a_text_are_not_lost_among_whole_numbers(
    source: str, tmp_path: Path
) -> None:
    prices = [1.5, 2.0, 2.5, 3.0] * 500
    rows = [{"price": price, "age": DICE.randrange(90)} for price in prices]
    exact = [row | {"price": Decimal(str(row["price"]))} for row in rows]
    data: Any = exact if source == "list" else pd.DataFrame(exact).astype(object)
    if source == "jsonl":
        data = tmp_path / "visits.jsonl"
        data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif source == "excel":
        data = tmp_path / "visits.xlsx"
        pd.DataFrame(rows).to_excel(data, index=False)
    elif source == "sqlite":
        data = tmp_path / "visits.sqlite"
        with closing(sqlite3.connect(data)) as connection:
            pd.DataFrame(rows).to_sql("visits", connection, index=False)
    opened = dproo.open(data, table="visits" if source == "sqlite" else None)
    book = opened.codebook(columns=["price", "age"], **SURE)
    fields = fields_of(book)
    assert (fields["price"]["type"], fields["age"]["type"]) == ("number", "integer")
    told = cast("Receipt", book.receipt).details["discovery"]["other"]
    model = opened.synthesize(book, epsilon=600)
    for name, share in told.items():
        assert model.counts(name).rows[-1]["count"] / len(rows) == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize("is_engine", [False, True])
@pytest.mark.parametrize("words", [("yes", "no"), (1, 0)])
def test_a_column_of_sqlite_holds_what_it_holds_whatever_its_type(
    words: tuple[object, object], tmp_path: Path, *, is_engine: bool
) -> None:
    path = tmp_path / "visits.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE visits (ill BOOLEAN, ward TEXT)")
        rows = [(words[i % 2], "AB"[i % 2]) for i in range(2000)]
        connection.executemany("INSERT INTO visits VALUES (?, ?)", rows)
        connection.commit()
    data = sqlalchemy.create_engine(f"sqlite:///{path}") if is_engine else path
    opened = dproo.open(data, table="visits")
    model = opened.synthesize(**SURE)
    assert sum(row["count"] for row in model.counts("ill").rows[:-1]) > 1900
    warned = opened.check("ill", [True, False]).warnings
    assert ["SQLite has none" in warning for warning in warned] == [True]
    assert opened.check("ill", [1, 0]).warnings == ()


@pytest.mark.parametrize("is_frame", [False, True])
def test_moments_without_a_type_of_their_column_are_found_like_days(*, is_frame: bool) -> None:
    first = datetime(2020, 1, 1, 9, tzinfo=UTC)
    rows = [{"seen": first + timedelta(days=DICE.randrange(700))} for _ in range(1000)]
    data = dproo.open(pd.DataFrame(rows).astype(object) if is_frame else rows)
    found = fields_of(data.codebook(columns=["seen"], **SURE))["seen"]
    assert found["type"] == "yearmonth"
    assert found["constraints"] == {"minimum": "2020-01", "maximum": "2021-12"}


def test_what_a_type_lists_costs_nothing() -> None:
    kind = pd.CategoricalDtype(["x", "y", "z"])
    frame = pl.DataFrame(
        {"is_ill": [True] * 50, "kind": pl.Series(["x"] * 50, dtype=pl.Enum(["x", "y", "z"]))}
    )
    assert list(kind.categories) == ["x", "y", "z"]
    book = dproo.open(frame).codebook(epsilon="0.001", delta="1e-9")
    assert [field["source"] for field in fields_of(book).values()] == ["its type lists them"] * 2
    assert book.sizes == (3, 4)
    assert book.receipt.certificate["epsilon"] == 0


def test_a_type_may_list_other_and_an_empty_text() -> None:
    kind = pl.Enum(["", "f", "m", "other"])
    data = dproo.open(pl.DataFrame({"sex": pl.Series(["f", "other"] * 500, dtype=kind)}))
    (field,) = fields_of(data.codebook(**SURE)).values()
    assert (field["categories"], field["other"]) == (["f", "m", "other"], "any other")
    drafted = dproo.draft_codebook(pl.DataFrame({"sex": pl.Series([], dtype=kind)}))
    assert drafted["schema"]["fields"] == [
        {key: field[key] for key in ("name", "type", "categories", "other")}
    ]
    model = data.synthesize(**SURE)
    assert [round(row["count"], -1) for row in model.counts("sex")] == [500, 0, 500, 0]


def test_a_column_without_a_name_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text("ward,\n" + "A,x\n" * 2000, encoding="utf-8")
    assert dproo.open(path).codebook(**SURE).columns == ("ward",)


def test_a_person_counts_once_for_every_column(tmp_path: Path) -> None:
    """Ten thousand records of one person make no value that people share."""
    many = [{"who": f"p{i}", "ward": "A"} for i in range(2000)]
    one = [{"who": "z", "ward": "only one person's"} for _ in range(10_000)]
    data = dproo.open(written(tmp_path, many + one), person="who")
    book = data.codebook(**SURE)
    assert fields_of(book)["ward"]["categories"] == ["A"]
    assert book.receipt.n == 2001
    assert book.receipt.unit == "person"
    assert book.columns == ("ward",)


def test_under_add_remove_the_number_of_records_is_nowhere(tmp_path: Path) -> None:
    rows = [{"ward": "A"}] * 34_567
    data = dproo.open(written(tmp_path, rows), neighbours=ADD_REMOVE)
    book = data.codebook(**SURE)
    assert "n" not in book.receipt.as_dict()
    assert book.columns == ("ward",)


@pytest.mark.one_of(3)
def test_it_is_one_charge_of_epsilon_and_delta(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger.sqlite3")
    ledger.declare("visits", budget=685, delta="1e-5", neighbours=REPLACE)
    data = dproo.open(written(tmp_path, visits()), ledger=ledger, dataset="visits")
    data.codebook(**SURE)
    (account,) = ledger.show()
    (line,) = account.lines
    assert (line.charge, len(account.lines)) == (600 * 10**9, 1)
    with pytest.raises(BudgetRefused):
        data.codebook(**SURE)
    model = data.synthesize(epsilon=80, delta="1e-6")
    (account,) = ledger.show()
    assert [line.charge for line in account.lines] == [600 * 10**9, 80 * 10**9]
    assert model.receipt is not None
    receipt = model.receipt.as_dict()
    assert receipt["delta"] == str(Fraction(1, 10**6))
    found = receipt["discovery"]
    assert Fraction(found["epsilon"]) == 20
    assert Fraction(model.released["epsilon"]) == 60
    assert Fraction(found["delta"]) + Fraction(model.released["delta"]) == Fraction(1, 10**6)
    assert receipt["certificate"]["holds"]
    assert receipt["certificate"]["epsilon"] <= 80
    assert set(receipt["other"]) == set(model.names) >= {"ward", "code"}
    assert len(model.rows(12)) == 12


@pytest.mark.parametrize("is_table", [False, True])
def test_where_nothing_is_shared_the_charge_stays_and_the_sentence_says_so(
    tmp_path: Path,
    is_table: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    ledger = Ledger.create(tmp_path / "ledger.sqlite3")
    ledger.declare("notes", budget=685, delta="1e-5", neighbours=REPLACE)
    rows = [{"note": f"x{DICE.random()}"} for _ in range(50)]
    data = dproo.open(written(tmp_path, rows), ledger=ledger, dataset="notes")
    with pytest.raises(ReleaseError, match="no column has values that enough people share"):
        data.synthesize(**SURE) if is_table else data.codebook(**SURE)
    (account,) = ledger.show()
    assert account.lines[0].is_recorded


@pytest.mark.parametrize("end", [KeyboardInterrupt, MemoryError])
def test_whatever_ends_the_reading_of_a_code_book_that_was_found_says_that_the_charge_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: type[BaseException]
) -> None:
    class Ending:
        @staticmethod
        def of(_: object) -> None:
            raise end

    ledger = Ledger.create(tmp_path / "ledger.sqlite3")
    ledger.declare("wards", budget=600, delta="1e-5", neighbours=REPLACE)
    data = dproo.open([{"ward": "A"}] * 90, ledger=ledger, dataset="wards")
    monkeypatch.setattr("dproo.releases.dataset.CodeBook", Ending)
    with pytest.raises((KeyboardInterrupt, ReleaseError), match=r"stays.* dproo ledger print 2 "):
        data.codebook(columns=["ward"], **SURE)


def imagined_counts(alphabet: Alphabet, n: int) -> Counts:
    """Return counts of ``n`` records that fall anywhere."""
    if isinstance(alphabet.axes[0], OpenText):
        many = DICE.choice([0, 1, 5, 50])
        seen = {f"{i}{DICE.choice(['', 'x', ',5'])}": n // many for i in range(many)}
        return NamedCounts.seen(seen, others=n - sum(seen.values()))
    places = DICE.choices(range(alphabet.k), k=DICE.choice([1, 2, 20]))
    return Counts.sparse({place: n // len(places) + 1 for place in places}, k=alphabet.k)


KINDS = [sql.TEXT, sql.INTEGER, sql.FLOAT, sql.DECIMAL, sql.DATE, sql.INSTANT, sql.JSON, sql.ANY]


def test_on_every_path_the_parts_cost_no_more_than_epsilon_and_delta() -> None:
    """Whatever is found, and whatever that makes the next stage count."""
    kinds_seen = set()
    for _ in range(400 if SOAK else 40):
        known = tuple(
            Column(name=f"c{place}", kind=DICE.choice(KINDS), type_name="")
            for place in range(DICE.randint(1, 4))
        )
        neighbours: Relation = DICE.choice([ADD_REMOVE, REPLACE])
        request = DiscoveryRequest(
            known=known,
            epsilon=Fraction(f"{DICE.uniform(0.1, 20):.3f}"),
            delta=Fraction(f"{10 ** DICE.uniform(-9, -1):.3e}"),
            protection=Protection(neighbours=neighbours, records=DICE.choice([1, 1, 3])),
        )
        n = int(10 ** DICE.uniform(1, 6))

        def count(
            alphabets: Sequence[Alphabet], columns: tuple[str, ...], n: int = n
        ) -> tuple[Counts, ...]:
            assert [alphabet.columns for alphabet in alphabets] == [(name,) for name in columns]
            return tuple(imagined_counts(alphabet, n) for alphabet in alphabets)

        run = discovery._Discovery(request.bound(count), RandomSource())
        run.find(count(request.counted_alphabets, request.columns))
        ratio, delta = Fraction(1), Fraction(0)
        for part in run.parts:
            ratio, delta = ratio * part.ratio, delta + part.delta
        assert is_at_most_exp(ratio, request.epsilon)
        assert delta <= request.delta
        # Nearly all of it is spent where a column takes every stage.
        assert {field["name"] for field in run.fields} | {*run.left_out} == {*request.columns}
        drawn = request.bound(count).draw(
            count(request.counted_alphabets, request.columns), RandomSource()
        )
        assert drawn.certificate["holds"]
        kinds_seen |= {field["type"] for field in run.fields}
    assert len(kinds_seen) > 2


def test_a_stage_costs_what_it_takes_of_a_column_and_all_of_them_are_added_up() -> None:
    request = DiscoveryRequest(
        known=tuple(Column(name=name, kind=sql.TEXT, type_name="") for name in "ab"),
        epsilon=Fraction(2),
        delta=Fraction(1, 10**6),
    )
    n = 10**6
    text = NamedCounts.seen({"x": n}, others=0)
    shapes = request.counted_alphabets[0].k
    plain = Counts.sparse({shapes - 1: n}, k=shapes)  # no shape of a number or a date
    run = discovery._Discovery(request.bound(lambda _, __: (text,)), RandomSource())
    run.find([plain, plain])
    assert [part.column for part in run.parts] == ["a", "b", "a", "b"]
    rule = request.rule(Fraction(9, 10))
    assert [part.delta for part in run.parts] == [0, 0, rule.largest_delta, rule.largest_delta]
    assert rule.delta == Fraction(1, 2 * 10**6)
    assert run.parts[2].ratio == rule.growth**2
    assert is_at_most_exp(run.parts[0].ratio, Fraction(1, 10))
    assert not is_at_most_exp(run.parts[0].ratio, Fraction(999, 10_000))


def test_the_order_of_the_data_decides_nothing() -> None:
    rows = [{"ward": ward} for ward in "cab" for _ in range(1000)]
    for _ in range(3):
        DICE.shuffle(rows)
        book = dproo.open(rows).codebook(columns=["ward"], **SURE)
        assert fields_of(book)["ward"]["categories"] == ["a", "b", "c"]


NASTY = [
    "x" * 250,
    "tab\there",
    "line\nbreak",
    "other",
    "\u202eevil",
    "password=hunter2",
    "9" * 40,
    "1e999",
    "-",
    "9007199254740993",
    "\U0001f600" * 200,
]


def test_odd_values_that_many_share_never_make_it_fail(tmp_path: Path) -> None:
    """They are letters that every part of a release can hold, or ``other``."""
    rows = [{"a": value, "b": str(place % 3)} for value in NASTY for place in range(400)]
    path = written(tmp_path, rows)
    ledger = Ledger.create(tmp_path / "ledger.sqlite3")
    ledger.declare("odd", budget=1300, delta="1e-4", neighbours=REPLACE)
    data = dproo.open(path, ledger=ledger, dataset="odd")
    book = data.codebook(**SURE)
    kept = fields_of(book)["a"]["categories"]
    assert {"password=hunter2", "\U0001f600" * 200} <= set(kept)
    assert not set(kept) & {"x" * 250, "other", "tab\there", "line\nbreak", "\u202eevil"}
    assert len(data.synthesize(**SURE).rows(5)) == 5


def test_large_integers_that_are_shared_are_letters_and_no_bins() -> None:
    rows = [{"a": 10**17 + place % 50} for place in range(50_000)]
    (field,) = fields_of(dproo.open(rows).codebook(columns=["a"], **SURE)).values()
    assert len(field["categories"]) == 50


def poisoned(data: Any, options: dict[str, Any]) -> Dataset:
    layout = options.pop("layout", None)
    return Dataset(source=Source(data=data, **options, **({"layout": layout} if layout else {})))


def check_poison(column: poison.Poisoned) -> bool:
    """See that one poison cell changes neither whether a code book is found, nor what it holds."""
    rest = [column.good] * 60
    cell = DICE.choice([column.good, *column.cells])

    def columns_of(cells: list[Any]) -> set[str] | None:
        data = poisoned(*column.build(cells))
        try:
            return {*data.codebook(columns=["a", "b"], **SURE).columns}
        except ValueError:  # a type that holds no letters
            return None

    before, after = columns_of(rest), columns_of([*rest[:50], cell, *rest[50:]])
    if before is None or after is None:
        assert before == after
        return False
    assert before == after or "b" in before & after
    return True


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "source",
    some(["csv", "tsv", "json lines", "parquet", "pandas", "polars", "list"], one_of=3),
)
def test_a_poison_cell_makes_no_discovery_fail(source: str, tmp_path: Path) -> None:
    columns = {name.replace("_", " "): made for name, made in poison.HERE.items()}
    assert [check_poison(column) for column in few(columns[source](tmp_path), 1)]


def test_a_poison_cell_of_postgresql_makes_no_discovery_fail(server: Any) -> None:
    assert [check_poison(column) for column in few(poison.postgresql(server), 1)]


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"delta": 0}, "delta must be above 0"),
        ({"columns": []}, "columns must name at least one column"),
        ({"columns": ["ward", "ward"]}, "columns must be named once"),
        ({"columns": ["Ward"]}, "'Ward'"),
        ({"epsilon": "0.0001"}, "epsilon must be larger"),
    ],
)
def test_what_cannot_be_is_refused_before_a_record_is_read(
    choices: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    data = dproo.open(written(tmp_path, visits(3)))
    with pytest.raises(ValueError, match=sentence):
        data.codebook(**(SURE | choices))


def test_columns_are_a_list_of_names(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="columns must be a list of names"):
        dproo.open(written(tmp_path, visits(3))).codebook(columns="ward", **SURE)


def test_data_that_is_gone_once_it_was_read_is_refused() -> None:
    for data in (iter([{"a": 1}]), "-", pl.DataFrame({"a": [1]}).to_arrow().to_reader()):
        with pytest.raises(ValueError, match="data must be readable more than once"):
            dproo.open(data).codebook(columns=["a"], **SURE)


def test_the_largest_table_that_may_be_found_can_always_be_recorded() -> None:
    before = 10**9
    for size in (1, 10, 60):
        known = tuple(Column(name=f"c{i}", kind=sql.TEXT, type_name="") for i in range(size))
        whole = DiscoveryRequest(known=known, epsilon=Fraction(9), delta=Fraction(1, 10**6))
        request = FoundTableRequest.of(whole, "auto")
        assert request.room <= TERMS["receipt_max"]
        assert request.discovery.most <= before
        before = request.discovery.most
    assert before < 100


def crowded_counts(alphabet: Alphabet, n: int) -> Counts:
    """Return counts that are even over the integers below 32, or over 135 years."""
    (axis,) = alphabet.axes
    if isinstance(axis, OpenText):
        return NamedCounts.seen({str(place): n // 99 for place in range(99)}, others=0)
    places = range(1)  # of the shapes of texts, integers
    if isinstance(axis, Bins):
        places = range(bisect_left(axis.edges, 0), bisect_left(axis.edges, 32))
    elif isinstance(axis, IntegerRange):
        places = range(1890 - found.YEARS.start, 2025 - found.YEARS.start)
    return Counts.sparse({place: n // len(places) for place in places}, k=alphabet.k)


@pytest.mark.parametrize("kind", [sql.TEXT, sql.INTEGER, sql.FLOAT, sql.DATE, sql.ANY])
def test_no_column_is_found_with_more_values_than_the_most(kind: str) -> None:
    """A table is charged before they are found, and must have room for them."""

    def count(alphabets: Sequence[Alphabet], _: tuple[str, ...]) -> tuple[Counts, ...]:
        return tuple(crowded_counts(alphabet, 10**6) for alphabet in alphabets)

    for most in (2, 5, 10, 20, 40, 100, 500):
        request = DiscoveryRequest(
            known=(Column(name="c", kind=kind, type_name=""),),
            epsilon=Fraction(20),
            delta=Fraction(1, 10**6),
            most=most,
        )
        run = discovery._Discovery(request.bound(count), RandomSource())
        run.find(count(request.counted_alphabets, request.columns))
        assert run.fields or most < 20
        for field in run.fields:
            assert max(CodeBook.of({"schema": {"fields": [field]}}).sizes) <= most + 1


def test_a_receipt_has_room_for_the_values_that_types_list() -> None:
    listed = tuple(f"{value:0999}" for value in range(5000))
    request = DiscoveryRequest(
        known=(Column(name="c", kind=sql.TEXT, type_name="enum", values=listed),),
        epsilon=Fraction(9),
        delta=Fraction(1, 10**6),
    )
    assert request.room > len(json.dumps(listed)) > discovery.LETTERS_ROOM


@pytest.mark.parametrize("many", [130, 700, 1500, 3000])
def test_values_that_types_list_leave_less_room_for_those_to_be_found(many: int) -> None:
    """Pairs are counted only if they are small, so fewer values may make a larger table."""
    listed = tuple(str(value) for value in range(many))
    columns = [("text", ())] * 5 + [("enum", listed)] * 5
    known = tuple(
        Column(name=f"c{i}", kind=sql.TEXT, type_name=name, values=values)
        for i, (name, values) in enumerate(columns)
    )
    whole = DiscoveryRequest(known=known, epsilon=Fraction(9), delta=Fraction(1, 10**6))
    request = FoundTableRequest.of(whole, "auto")
    assert request.room <= TERMS["receipt_max"]
    most = request.discovery.most
    for size in {most, *range(1, most, 7), *range(1, min(most, 20_000 // (many + 1)))}:
        letters = [str(value) for value in range(size)]
        fields = [
            {"name": column.name, "type": "string", "categories": list(column.values or letters)}
            for column in known
        ]
        book = CodeBook.of({"schema": {"fields": fields}})
        table = ModelRequest(codebook=book, epsilon=request.epsilon * (1 - FOUND))
        assert table.room <= request.room


@pytest.mark.parametrize("shape", ["9", "-9", "9.9", "9,9", "9.9e-9"])
def test_decimals_are_not_taken_for_integers_where_noise_is_large(shape: str) -> None:
    noisy = [0] * (len(found.SHAPES) + 1)
    noisy[found.SHAPES.index(shape)] = records = 30_000
    for part in range(1, 100):
        scale = records / found.level(len(noisy), 1) * part / 100  # all are told for numbers
        guess = found.guessed(noisy, records=records, scale=scale)
        assert (guess.kind, guess.is_whole) == (found.NUMERIC, shape in {"9", "-9"})


def test_noise_hardly_ever_makes_text_look_like_numbers_or_dates() -> None:
    """A column taken for dates has no values; in a thousand columns, noise may do that to one."""
    columns, taken = 4000, 0
    for _ in range(columns):
        records, scale = 1000, DICE.uniform(1, 50)
        cells = (*found.SHAPES, "others")
        noisy = [round(scale * (DICE.expovariate(1) - DICE.expovariate(1))) for _ in cells]
        noisy[-1] += records
        taken += found.guessed(noisy, records=records, scale=scale).kind != found.Guess().kind
    assert taken <= 25  # of four at most in the mean


AMONG: dict[str, list[str | None]] = {
    "nothing": [],
    "rare texts": [f"z{place}" for place in range(200)],
    "numbers": [str(place) for place in range(200)],
    "dates": [f"2024-01-{1 + place % 28:02}" for place in range(200)],
    "missing cells": [None] * 400,
    "a common text": ["w"] * 400,
    "common texts": [f"w{place % 20}" for place in range(400)],
    "too many texts": [f"w{place % 600}" for place in range(600 * 40)],
}


def asked_of_a_text(kind: str) -> DiscoveryRequest:
    return DiscoveryRequest(
        known=(Column(name="t", kind=kind, type_name="string"),),
        epsilon=Fraction(8),
        delta=Fraction(1, 100),
        protection=Protection(neighbours=ADD_REMOVE),
    )


@pytest.mark.one_of(4)
@pytest.mark.parametrize("kind", [sql.TEXT, sql.ANY])
@pytest.mark.parametrize("others", AMONG)
def test_what_a_code_book_says_of_a_shared_text_is_true_of_every_column(
    others: str, kind: str
) -> None:
    """It is found wherever the column is one of text, with room; elsewhere nothing is said."""
    request = asked_of_a_text(kind)
    certain, most = request.text_rule.certain, request.most
    assert request.accuracy.startswith(
        f"in a column that is taken for text, and kept, a value that {certain} records"
    )
    assert request.accuracy.endswith(f"; at most {most} of a column")
    frame = pl.DataFrame({"t": ["v"] * certain + AMONG[others]})
    data = dproo.open(frame if kind == sql.TEXT else frame.to_dicts(), neighbours=ADD_REMOVE)
    for _ in range(20 if SOAK else 2):
        with suppress(ReleaseError):  # no column is kept
            book = data.codebook(epsilon=8, delta=request.delta, columns=["t"])
            (column,) = book.descriptor["schema"]["fields"]
            letters = column.get("categories", [])
            assert "v" in letters or column["type"] != "string" or len(letters) == most


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> list[KeepRule]:
    """The rules by which values were kept, in turn."""
    rules: list[KeepRule] = []
    release = KeepRule.release

    def noted(rule: KeepRule, *given: Any) -> dict[str, int]:
        rules.append(rule)
        return release(rule, *given)

    monkeypatch.setattr(KeepRule, "release", noted)
    return rules


@pytest.mark.parametrize("kind", [sql.TEXT, sql.ANY])
def test_the_rule_that_a_code_book_states_is_the_one_that_finds_texts(
    kind: str, used: list[KeepRule]
) -> None:
    request = asked_of_a_text(kind)
    cells = ["v"] * 1000
    data = dproo.open(
        pl.DataFrame({"t": cells}) if kind == sql.TEXT else [{"t": cell} for cell in cells],
        neighbours=ADD_REMOVE,
    )
    data.codebook(epsilon=8, delta=request.delta, columns=["t"])
    assert used[-1] == request.text_rule


@pytest.mark.parametrize("number", ["4.5", "1" * 20])
def test_the_rule_that_is_stated_is_the_one_used_where_numbers_were_sought_among_texts(
    number: str, used: list[KeepRule]
) -> None:
    """A part of epsilon was spent on where they are, even if they are beyond all ranges."""
    request = replace(asked_of_a_text(sql.TEXT), epsilon=Fraction(2), delta=Fraction(1, 10**6))
    frame = pl.DataFrame({"t": [number] * 400 + ["w"] * 800})
    data = dproo.open(frame, neighbours=ADD_REMOVE)
    book = data.codebook(epsilon=request.epsilon, delta=request.delta, columns=["t"])
    rule = used[-1]
    assert book.descriptor["schema"]["fields"][0]["type"] == "string"
    assert rule.certain > request.text_rule.certain
    assert f"a value that {rule.certain} records share is found" in book.receipt.accuracy
    assert f"one of {rule.half} every second time" in book.receipt.accuracy


@pytest.mark.parametrize("hold", [tuple, list, np.array])
def test_letters_of_records_without_names_are_found_by_their_places(hold):
    records = [(("a", "b")[i % 2], f"free {i}", i % 3) for i in range(3000)]
    records = np.array(records, object) if hold is np.array else list(map(hold, records))
    options = {"epsilon": 50, "delta": "0.01", "columns": ["c", "t", "n"]}
    book = dproo.open(records).codebook(**options)
    assert {field.name: field.axis.listed for field in book.fields} == {"c": 2, "n": 3}
    model = dproo.open(records).synthesize(**options)
    counted = model.counts("c").rows
    assert [round(row["count"], -2) for row in counted[:2]] == [1500, 1500]
