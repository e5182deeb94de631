"""One record of each person: the same one in every engine, each as likely as the others."""

from __future__ import annotations

import hashlib
import math
import random
import re
import secrets
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest
from scipy.stats import chisquare
from support.draws import DICE, dice_of, few, some
from support.sources import SOURCES

from dproo import Alphabet, Counts, counting
from dproo.counting.layout import Layout
from dproo.counting.prepare import open_scan
from dproo.counting.query import KEPT_MAX, CountQuery
from dproo.counting.sql import people
from dproo.schema.axis import Bins
from dproo.schema.cell import number_of, text_of
from dproo.schema.reading import Reading

pytestmark = [pytest.mark.untraced, pytest.mark.one_of(4)]

ALPHA = 1e-9
CODES, AGES = ["a", "bb", "ccc"], Bins.of([0, 18, 65, 120])
TABLES = [
    Alphabet.of({"cell": CODES}),
    Alphabet.of({"cell": CODES, "age": AGES}),
    Alphabet.of({"age": AGES, "table": range(4)}),
]
COLUMNS = ("cell", "age", "table")

PEOPLE: dict[str, tuple[list[Any], pa.DataType, str]] = {
    "text": (
        ["", "007", "7", "é" * 1100, "é" * 1000 + "x", "A", "a", "a ", "#", "é" * 32, "é" * 33],
        pa.string(),
        "text",
    ),
    "integers": ([7, -7, 2**53 + 1, 2**53 + 2], pa.int64(), "bigint"),
    "floats": (
        [
            *(7.0, 7.5, -0.0, math.nan, 2.0**53 + 2, 2.0**60, -(2.0**70)),
            *(1e20, 2e23, 9.9e37, 1e38, 1e300, 1.7976931348623157e308, 5e-324, 0.1, 0.1 + 0.2),
            *(1 / 3, 1e-4, 9e-5, -1e-7, 123456.789, 12345678.5, -(2.0**51) - 0.5, 2.0**-25),
        ],
        pa.float64(),
        "double precision",
    ),
    "infinities": ([math.inf, -math.inf, 7.5], pa.float64(), "double precision"),
    "decimals": ([Decimal("7.00"), Decimal("7.50")], pa.decimal128(20, 2), "numeric(20, 2)"),
    "dates": ([date(2020, 1, 1), date(2021, 1, 1)], pa.date32(), "date"),
}


def rows_of(kind: str, *, size: int = 240) -> pa.Table:
    chance = dice_of(kind)
    who, arrow_type, _ = PEOPLE[kind]
    if kind in {"text", "integers"}:
        who = who + [str(i) if kind == "text" else i for i in range(100, 130)]
    columns = {
        "cell": pa.array([chance.choice([*CODES, "zz", None]) for _ in range(size)], pa.string()),
        "age": pa.array(
            [chance.choice([17.9, 18.0, 64.0, -1.0, 1e9, math.nan, None]) for _ in range(size)]
        ),
        "table": pa.array([chance.randrange(5) for _ in range(size)]),
        "who": pa.array([chance.choice([*who, None]) for _ in range(size)], arrow_type),
    }
    return pa.table(columns)


def expected(rows: pa.Table, kept: int, salt: str) -> list[Counter[Any]]:
    """Choose by hand, from the definition, and count by each table."""
    found: dict[str, list[tuple[str, tuple[Any, ...]]]] = defaultdict(list)
    chosen: list[tuple[Any, ...]] = []
    for cell, age, table, who in zip(*rows.to_pydict().values(), strict=True):
        number = number_of(age)
        place = next((str(i) for i in range(3) if number is not None and _is_in(number, i)), "")
        keys = (cell if cell in CODES else "", place, str(table) if table < 4 else "")
        person = _person(who)
        if not person:  # all together are one, whatever they hold
            keys = ("", "", "")
        rank = hashlib.md5("\x1f".join([salt, person, *keys]).encode()).hexdigest()  # noqa: S324
        found[person].append((rank[:12], keys))
    for several in found.values():
        chosen += [keys for _, keys in sorted(several)[:kept]]
    return [
        Counter(keys[0] or None for keys in chosen),
        Counter((keys[0], int(keys[1])) if keys[0] and keys[1] else None for keys in chosen),
        Counter((int(keys[1]), int(keys[2])) if keys[1] and keys[2] else None for keys in chosen),
    ]


def _person(who: Any) -> str:
    if who is None or who == "" or who != who:  # noqa: PLR0124 - NaN
        return ""
    if isinstance(who, float | Decimal) and (math.isinf(who) or who != int(who)):
        return repr(float(who))
    if isinstance(who, float):
        return repr(who) if abs(who) >= 1e38 else str(int(who))
    text = str(text_of(who))
    is_long = len(text.encode()) > 64 or text[0] == "#"
    return "#" + hashlib.sha256(text.encode()).hexdigest() if is_long else text


def _is_in(number: float, place: int) -> bool:
    return AGES.edges[place] <= number < AGES.edges[place + 1]


def named(counts: tuple[Counts, ...]) -> list[Counter[Any]]:
    one, two, three = counts
    sizes = (3, 12)
    found: list[Counter[Any]] = [
        Counter({CODES[i]: number for i, number in enumerate(list(one)[:3])}),
        Counter({(CODES[i // 3], i % 3): number for i, number in enumerate(list(two)[:9])}),
        Counter({divmod(i, 4): number for i, number in enumerate(list(three)[: sizes[1]])}),
    ]
    for counter, table in zip(found, counts, strict=True):
        counter[None] = list(table)[-1]
    return [+counter for counter in found]


def assert_same_choice(data: Any, rows: pa.Table, *, kept: int, **options: Any) -> None:
    salt = secrets.token_hex(4)
    query = CountQuery(
        alphabets=tuple(TABLES),
        columns=COLUMNS,
        person="who",
        records_per_person=kept,
        salt=salt,
        **options,
    )
    found = named(open_scan(data, query).count_several())
    assert found == [+counter for counter in expected(rows, kept, salt)], kept


NAMELESS = {"cells", "numpy_objects"}  # whose records do not say which cell is the person


@pytest.mark.parametrize("name", some([name for name in SOURCES if name not in NAMELESS], one_of=4))
def test_every_engine_keeps_the_same_records(name: str, tmp_path: Path) -> None:
    for i, kind in enumerate(PEOPLE):
        rows = rows_of(kind)
        if (name, kind) == ("pandas_default", "integers"):
            continue  # pandas itself rounds them
        if (name, kind) == ("json_lines", "infinities"):
            continue  # which JSON has not
        if name.startswith(("csv", "tsv")) and kind in {"floats", "infinities", "decimals"}:
            continue  # written out, each is a text of its own
        if (name, kind) == ("sqlite_file", "decimals"):
            continue  # which SQLite has not: they are text there
        data, options = SOURCES[name](rows, tmp_path)
        assert_same_choice(data, rows, kept=1 + i % 2 * 2, **options)


def test_postgresql_keeps_the_same_records(server: Any, postgresql: str) -> None:
    for i, (kind, (_, _, sql_type)) in enumerate(PEOPLE.items()):
        rows = rows_of(kind)
        server.execute(
            f'CREATE TABLE "{kind}" (cell text, age double precision, "table" int, who {sql_type})'
        )
        with server.cursor() as cursor, cursor.copy(f'COPY "{kind}" FROM STDIN') as copy:
            for row in zip(*rows.to_pydict().values(), strict=True):
                copy.write_row(row)
        data = server if i % 2 else postgresql
        assert_same_choice(data, rows, kept=1 + i % 2, table=("ward", kind))


def test_spark_keeps_the_same_records(spark: Any) -> None:
    for i, kind in enumerate(few(PEOPLE, 2)):
        rows = rows_of(kind)
        assert_same_choice(spark.createDataFrame(rows), rows, kept=1 + i % 2)


FAR = ["-4800-01-01", "-0044-03-15", "0000-12-31", "10000-01-01", "20000-01-01", "200000-01-01"]
NEAR = ["0001-01-01", "0044-03-15", "1969-12-31", "1970-01-01", "2020-02-29", "9999-12-31"]
DAYS_IN = "polars|arrow(?!_reader)|duckdb|parquet|pandas_arrow|another"  # a reader is read once
HOLDING_DAYS = [name for name in SOURCES if re.match(DAYS_IN, name)]


def days_of(texts: list[str | None]) -> pa.Array:
    """Return days of any year as Arrow holds them."""
    days = np.array([text or "NaT" for text in texts], "M8[D]").astype("i8")
    numbers = [int(day) if text else None for day, text in zip(days, texts, strict=True)]
    return pa.array(numbers, pa.int32()).view(pa.date32())


def far_rows(chance: random.Random, size: int = 80) -> tuple[pa.Table, list[str | None]]:
    all_of_them = [*FAR, *NEAR, None]
    texts = all_of_them + [chance.choice(all_of_them) for _ in range(size)]
    chance.shuffle(texts)
    cells = pa.array([chance.choice([*CODES, "zz", None]) for _ in texts], pa.string())
    return pa.table({"cell": cells, "who": days_of(texts)}), texts


def records_of(cells: list[Any], people: list[Any]) -> list[dict[str, Any]]:
    return [{"cell": cell, "who": who} for cell, who in zip(cells, people, strict=True)]


def assert_far_days_are_nobody(data: Any, cells: list[Any], texts: list[Any], **where: Any) -> None:
    """Expect the counts of a list in which an object that names nobody stands for far days."""
    people = [object() if text in FAR else text for text in texts]
    for kept in (1, 2):
        for is_each in (False, True):
            query = CountQuery(
                alphabets=(Alphabet.of(CODES),),
                columns=("cell",),
                person="who",
                records_per_person=kept,
                is_each_missing=is_each,
                salt=secrets.token_hex(4),
                **where,
            )
            by_hand = open_scan(records_of(cells, people), replace(query, table=None))
            wanted = list(by_hand.count())
            assert list(open_scan(data, query).count()) == wanted, (kept, is_each)


@pytest.mark.parametrize("name", HOLDING_DAYS)
def test_a_date_outside_the_calendar_names_nobody(name: str, tmp_path: Path) -> None:
    rows, texts = far_rows(dice_of(name))
    data, options = SOURCES[name](rows, tmp_path)
    assert_far_days_are_nobody(data, rows["cell"].to_pylist(), texts, **options)


def test_a_date_outside_the_calendar_names_nobody_cell_by_cell(tmp_path: Path) -> None:
    rows, texts = far_rows(dice_of("cells"))
    cells = rows["cell"].to_pylist()
    moments = [np.datetime64(text) if text else None for text in texts]
    polars = pl.DataFrame([pl.Series("cell", cells, dtype=pl.Object), pl.from_arrow(rows)["who"]])
    pandas = rows.to_pandas(types_mapper=pd.ArrowDtype).assign(cell=np.array(cells, object))
    for data in (records_of(cells, moments), polars, pandas):
        assert_far_days_are_nobody(data, cells, texts)
    spss = tmp_path / "days.sav"
    seconds = [(days_of([text]).cast(pa.int32())[0].as_py() or 0) * 86400 for text in texts]
    frame = pd.DataFrame(
        {
            "cell": [cell or "" for cell in cells],
            "who": [
                math.nan if text is None else second + 141428.0 * 86400
                for text, second in zip(texts, seconds, strict=True)
            ],
        }
    )
    pyreadstat.write_sav(frame, str(spss), variable_format={"who": "DATE11"})
    assert_far_days_are_nobody(spss, cells, texts)


def test_a_date_outside_the_calendar_names_nobody_in_postgresql(server: Any) -> None:
    rows, texts = far_rows(dice_of("postgresql"))
    cells = rows["cell"].to_pylist()
    far = {
        "-4800-01-01": "-infinity",
        "-0044-03-15": "0045-03-15 BC",
        "0000-12-31": "0001-12-31 BC",
    }
    shown = [far.get(text or "", text) for text in texts]
    server.execute("CREATE TABLE far (cell text, who date)")
    with server.cursor() as cursor, cursor.copy("COPY far FROM STDIN") as copy:
        for row in zip(cells, shown, strict=True):
            copy.write_row(row)
    assert_far_days_are_nobody(server, cells, texts, table="ward.far")


def test_a_date_outside_the_calendar_names_nobody_in_spark(spark: Any) -> None:
    rows, texts = far_rows(dice_of("spark"))
    days = rows.set_column(1, "day", rows["who"].cast(pa.int32()))
    frame = spark.createDataFrame(days).selectExpr("cell", "date_from_unix_date(day) AS who")
    assert_far_days_are_nobody(frame, rows["cell"].to_pylist(), texts)


def test_a_person_is_one_however_many_files_hold_the_records(tmp_path: Path) -> None:
    rows = rows_of("text")
    for i in range(3):
        part = rows.slice(80 * i, 80)
        SOURCES["csv_file"](part, tmp_path)
        (tmp_path / "rows.csv").rename(tmp_path / f"part-{i}.csv")
        pq.write_table(part, tmp_path / f"part-{i}.parquet")
    for kept in (1, 2):
        assert_same_choice(str(tmp_path / "part-*.csv"), rows, kept=kept)
        assert_same_choice(str(tmp_path / "part-*.parquet"), rows, kept=kept)


class _Odd:
    def __eq__(self, other: object) -> bool:
        raise OSError

    __hash__ = None  # type: ignore[assignment]


def choices(records: list[str], trials: int) -> Iterator[str]:
    """Yield what is kept of one person, under fresh salts."""
    data = [{"who": "ann", "cell": cell} for cell in records]
    for _ in range(trials):
        counts = counting.count(data, alphabet={"cell": CODES}, person="who")
        yield CODES[next(i for i, count in enumerate(counts) if count)]


def is_uniform(kept: Iterator[str]) -> bool:
    seen = Counter(kept)
    return bool(chisquare([seen[code] for code in CODES]).pvalue > ALPHA)


def test_every_record_of_a_person_is_as_likely_as_the_others() -> None:
    """Equal ones are one; and the first, or the least letter, is not likelier than the rest."""
    assert is_uniform(choices(["ccc", "a", "bb", "bb", "bb", "a"], 3000))


def test_a_choice_that_is_not_uniform_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        people, "rank_of", lambda salt, _, keys: f"{int(salt, 16) % 4 * ord(keys[0][0]):012x}"
    )
    assert not is_uniform(choices(["ccc", "a", "bb"], 3000))


def test_two_people_choose_apart() -> None:
    data = [{"who": who, "cell": cell} for who in range(2000) for cell in CODES]
    *counts, other = counting.count(data, alphabet={"cell": CODES}, person="who")
    assert other == 0
    assert sum(counts) == 2000
    assert chisquare(counts).pvalue > ALPHA


@pytest.mark.parametrize(
    ("data", "options", "sentence"),
    [
        ({"a": 3}, {"column": "cell"}, "person must be used with records"),
        (Counts.of([1, 0]), {"column": "cell"}, "person must be used with records"),
        (["a"], {}, "column must be given with person"),
        ([("a", 1)], {"column": "who"}, "person must be a column that is neither released nor"),
    ],
)
def test_data_that_names_nobody_is_refused(
    data: Any, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        counting.count(data, alphabet=["a"], person="who", **options)


def test_a_person_column_that_is_missing_is_refused_by_its_own_name(
    tmp_path: Path, server: Any, postgresql: str
) -> None:
    del server
    (tmp_path / "visits.csv").write_text("code,Who\na,1\n")
    table = pa.table({"code": ["a"], "Who": [1]})
    pq.write_table(table, tmp_path / "visits.parquet")
    sentence = "person must be a column of the data"
    for data, hint in (
        (tmp_path / "visits.csv", ", got 'who'. Did you mean 'Who'?"),
        (tmp_path / "visits.parquet", ", got 'who'. Did you mean 'Who'?"),
        (table, ", got 'who'."),
        (postgresql, ", got 'who'."),
    ):
        where = {"table": "ward.visits"} if data == postgresql else {}
        with pytest.raises(ValueError, match=f"^{sentence}{re.escape(hint)}"):
            counting.prepare(data, alphabets=[["a"]], columns=["code"], person="who", **where)
        with pytest.raises(ValueError, match=r"^column must be a column of the data"):
            counting.prepare(data, alphabets=[["a"]], columns=["cell"], person="who", **where)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_so_many_records_of_a_person_that_an_engine_fails_are_refused(
    suffix: str, tmp_path: Path
) -> None:
    rows, path = pl.DataFrame({"who": [1, 1, 2], "cell": ["a", "bb", "a"]}), tmp_path / f"a{suffix}"
    {".csv": rows.write_csv, ".jsonl": rows.write_ndjson, ".parquet": rows.write_parquet}[suffix](
        path
    )
    for data in (str(path), rows, rows.to_dicts()):
        found = counting.count(
            data, column="cell", alphabet=CODES, person="who", records_per_person=KEPT_MAX
        )
        assert list(found) == [2, 1, 0, 0]
        with pytest.raises(ValueError, match="records_per_person must be at most 999999, got"):
            counting.count(
                data, column="cell", alphabet=CODES, person="who", records_per_person=KEPT_MAX + 1
            )


def test_a_person_that_is_no_name_is_refused() -> None:
    with pytest.raises(TypeError, match="person must be the name of a column"):
        counting.prepare([("a", 1)], alphabets=[["a"]], columns=["cell"], person=["who"])  # type: ignore[arg-type]


def test_a_column_that_is_not_there_is_refused_before_anything_is_read(
    tmp_path: Path, postgresql: str
) -> None:
    rows = rows_of("text").drop_columns("who")
    pq.write_table(rows, tmp_path / "rows.parquet")
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute("CREATE TEMP TABLE rows (cell text)")
        for data, table in (rows, None), (tmp_path / "rows.parquet", None), (connection, "rows"):
            with pytest.raises(ValueError, match="be a column of the data"):
                counting.prepare(
                    data, alphabets=[CODES], columns=["cell"], table=table, person="who"
                )


def test_a_column_that_names_nobody_by_its_type_is_refused(tmp_path: Path) -> None:
    """It is asked for no letters: integers may name people where codes are text."""
    at = pa.array([0, 1], pa.timestamp("us"))
    rows = pa.table({"cell": ["a", "b"], "at": at, "who": [1, 2]})
    pq.write_table(rows, tmp_path / "rows.parquet")
    for data in (rows, tmp_path / "rows.parquet"):
        with pytest.raises(ValueError, match=r"column 'at'.*It must name a person"):
            counting.prepare(data, alphabets=[CODES], columns=["cell"], person="at")
        scan = counting.prepare(data, alphabets=[CODES], columns=["cell"], person="who")
        assert [column.name for column in scan.columns] == ["cell"]
        assert scan.warnings == ()


def test_records_of_json_that_may_name_nobody_are_warned_of(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"who": 1, "cell": "a"}')
    scan = counting.prepare(
        tmp_path / "rows.jsonl", alphabets=[CODES], columns=["cell"], person="hwo"
    )
    assert "all records together are one person" in scan.warnings[-1]


def test_people_are_found_however_a_file_is_laid_out(tmp_path: Path) -> None:
    text = "who;cell\n1; A\n1;a\n2;\u00c4\n;a\n"
    (tmp_path / "rows.txt").write_text(text, encoding="latin-1")
    axis = Alphabet.of(["a", "\u00e4"]).axes[0].read_as(Reading(kind="lower"))
    layout = Layout(delimiter=";", encoding="latin-1")
    counts = counting.count(
        tmp_path / "rows.txt",
        alphabet=Alphabet(axes=(axis,)),
        column="cell",
        person="who",
        layout=layout,
    )
    assert list(counts) == [1, 1, 1]  # the last names nobody


WIDE = 200  # more than PostgreSQL passes to a function


def assert_same_choice_of_many(data: Any, records: list[dict[str, str]], **options: Any) -> None:
    columns = tuple(records[0])[1:]
    query = CountQuery(
        alphabets=tuple(Alphabet.of({column: ["a", "b"]}) for column in columns),
        columns=columns,
        person="who",
        salt=secrets.token_hex(4),
    )
    found, expected = (
        [list(counts) for counts in open_scan(source, chosen).count_several()]
        for source, chosen in ((data, replace(query, **options)), (records, query))
    )
    assert found == expected


@pytest.fixture
def wide() -> list[dict[str, str]]:
    """Three records of each person, of many columns."""
    names = [f"c{i}" for i in range(WIDE)]
    return [
        {"who": who, **{name: DICE.choice("abc") for name in names}} for who in "xyz" for _ in "123"
    ]


def test_duckdb_chooses_among_records_of_many_columns(
    wide: list[dict[str, str]], tmp_path: Path
) -> None:
    pq.write_table(pa.Table.from_pylist(wide), tmp_path / "wide.parquet")
    assert_same_choice_of_many(tmp_path / "wide.parquet", wide)
    assert_same_choice_of_many(pl.DataFrame(wide), wide)


def test_postgresql_chooses_among_records_of_many_columns(
    wide: list[dict[str, str]], server: Any, postgresql: str
) -> None:
    server.execute(f"CREATE TABLE wide ({', '.join(f'{name} text' for name in wide[0])})")
    with server.cursor() as cursor, cursor.copy("COPY wide FROM STDIN") as copy:
        for record in wide:
            copy.write_row(list(record.values()))
    assert_same_choice_of_many(postgresql, wide, table=("ward", "wide"))
