"""Cells that are not what they look like: each the letter that its value is, in every hand."""

from __future__ import annotations

import asyncio
import datetime as dt
import enum
import random
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from decimal import Decimal, localcontext
from functools import partial
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa
from pyarrow import dataset, feather
from support.contexts import CONTEXTS
from support.draws import DICE, some

from dproo import Alphabet, ReleaseError, counting
from dproo.core.counts import Counts
from dproo.counting.sql.people import NOBODY, person_of
from dproo.schema.axis import OpenText
from dproo.schema.cell import number_of, text_of
from dproo.schema.reading import Reading

pytestmark = pytest.mark.one_of(4)

OPEN = Alphabet(axes=(OpenText(),))
DAYS = Alphabet.of(["2024-01-01", "2024-01-02"]).read_as("date")


class Sex(enum.Enum):
    F = "f"
    M = "m"


class Word(str, enum.Enum):  # noqa: UP042 - it shows itself as Word.F
    F = "f"
    M = "m"


class Loud(str):
    __slots__ = ()

    def __str__(self) -> str:
        return self.upper()


@pytest.mark.parametrize("kind", [Sex, Word])
def test_a_member_of_an_enumeration_is_its_value(kind: type[enum.Enum]) -> None:
    members = [*kind, kind["F"]]
    for letters in (kind, list(kind), iter(kind), ["f", "m"]):
        alphabet = Alphabet.of(letters)
        for data in (members, pd.Series(members, dtype=object), np.array(members, dtype=object)):
            assert list(counting.count(data, alphabet=alphabet)) == [2, 1, 0]


def test_text_is_itself_whatever_it_shows_itself_as() -> None:
    assert list(counting.count([Loud("x"), "x"], alphabet=["x", "X"])) == [2, 0, 0]
    assert Alphabet.of([Loud("x")])[0] == "x"


@pytest.mark.parametrize("name", CONTEXTS)
def test_no_context_of_a_programs_decimals_changes_what_a_cell_is(name: str) -> None:
    cells = [Decimal(text) for text in ("7", "7.5", "8.5", "-0.125", "1e5", "562949953421312.125")]
    cells += [Decimal(f"{DICE.getrandbits(64)}e{DICE.randint(-30, 30)}") for _ in range(30)]
    cells += map(Decimal, ("NaN", "sNaN", "Infinity", "1e999", "-1e-999"))
    reads: list[Callable[[Any], Any]] = [person_of, text_of, number_of]
    reads.append(lambda cell: person_of([cell, (cell,)]))
    usual = [[read(cell) for cell in cells] for read in reads]
    with localcontext(CONTEXTS[name]):
        assert [[read(cell) for cell in cells] for read in reads] == usual


@pytest.mark.parametrize("unit", ["D", "h", "s", "ms", "us", "ns"])
def test_a_moment_of_numpy_in_a_list_is_a_day_and_never_a_number(unit: str) -> None:
    cells = [*np.array(["2024-01-01", "2024-01-02", "NaT"], "M8[D]").astype(f"M8[{unit}]")]
    held: list[Any] = [cells, pd.Series(cells, dtype=object)]
    for data in held:
        assert list(counting.count(data, alphabet=DAYS)) == [1, 1, 1]
    numbers = [int(cell.astype("i8")) for cell in cells[:2]]
    assert list(counting.count(cells, alphabet=numbers)) == [0, 0, 3]
    assert list(counting.count([np.timedelta64(7, unit)], alphabet=[7])) == [0, 1]


@pytest.mark.parametrize("unit", ["as", "fs", "ps", "ns", "3us", "h"])
def test_an_array_of_moments_has_days_whatever_its_unit(unit: str) -> None:
    moments = np.array([0, 1, "NaT"], f"M8[{unit}]")
    assert list(counting.count(moments, alphabet="1970-01-01..1970-01-02")) == [2, 1]


@pytest.mark.parametrize("unit", ["Y", "M", "W", "3D"])
def test_an_array_far_off_the_calendar_has_no_day_on_it(unit: str) -> None:
    days = {"Y": 365.2425, "M": 30.436875, "W": 7, "3D": 3}[unit]
    far = np.array([int(2**64 / days) + 7000], "i8").astype(f"M8[{unit}]")
    letters = Alphabet.of([str(far.astype("M8[D]")[0])]).read_as("date")  # where it comes round
    assert list(counting.count(far, alphabet=letters)) == [0, 1]


def test_a_year_of_numpy_far_off_the_calendar_is_none_on_it() -> None:
    far = np.datetime64(586578 - 1970, "Y")
    day = str(far.astype("M8[us]").astype("M8[D]"))  # where its microseconds wrap around
    axis = Alphabet.of([day]).axes[0].read_as(Reading(kind="date"))
    assert list(counting.count([far], alphabet=Alphabet(axes=(axis,), columns=()))) == [0, 1]


SCALARS = [np.str_("a"), np.int64(7), np.uint8(7), np.float32(7), np.bool_(True)]  # noqa: FBT003
SCALARS += [np.datetime64("2024-01-01"), np.datetime64("2024-01-01", "ns")]
HOLDERS: list[Callable[[list[Any]], Any]] = [
    list,
    iter,
    lambda cells: [{"a": cell} for cell in cells],
    lambda cells: pd.Series(cells, dtype=object),
    lambda cells: pd.DataFrame({"a": pd.Series(cells, dtype=object)}),
    lambda cells: pl.Series("a", cells, dtype=pl.Object),
    lambda cells: np.fromiter(cells, dtype=object, count=len(cells)),
]


@pytest.mark.parametrize("hold", HOLDERS)
@pytest.mark.parametrize("scalar", SCALARS, ids=repr)
def test_an_array_of_numpy_is_no_cell_whatever_its_shape(
    hold: Callable[[list[Any]], Any], scalar: Any
) -> None:
    shapes: list[tuple[int, ...]] = [(), (1,), (1, 1), (2,), (0,)]
    arrays = [np.full(shape, scalar) for shape in shapes]
    arrays += [np.full((1,), scalar, dtype=object), np.ma.masked_array([scalar])]
    cells = [*arrays, enum.Enum("Kind", {"A": arrays[1]})["A"]]
    is_day = scalar.dtype.kind == "M"
    alphabets = [DAYS] if is_day else [Alphabet.of(["a", 7, True]), Alphabet.bins([0, 7, 8]), OPEN]
    for alphabet in alphabets:
        named = replace(alphabet, columns=("a",))
        is_rows = hold in {HOLDERS[2], HOLDERS[4]}
        counts = list(counting.count(hold(cells), alphabet=named if is_rows else alphabet))
        assert counts[-1] == len(cells)
        assert sum(counts) == len(cells)
    # A scalar is its value, as ever.
    assert list(counting.count([scalar], alphabet=alphabets[0]))[-1] == 0


def test_an_array_of_numpy_names_the_person_with_its_content_or_nobody() -> None:
    days = ["2024-01-01", "2024-01-02"]
    moments = [np.array([day], f"M8[{unit}]") for day in days for unit in ("D", "s", "ns")]
    keys = list(map(person_of, moments))
    assert [keys[0], keys[3]] == [*dict.fromkeys(keys)]  # whatever their units are
    for scalar in SCALARS:
        one = np.full((1,), scalar)
        assert person_of(one) not in {person_of(scalar), NOBODY, None}
        assert person_of(one) == person_of([scalar])
        assert person_of(np.array(scalar)) == person_of([np.array(scalar)]) == NOBODY


def during(kind: type[BaseException] | None, action: Callable[[], Counts]) -> Counts:
    """Run an action while an exception is handled that has nothing to do with it."""
    if kind is None:
        return action()
    try:
        raise kind  # noqa: TRY301 - it is the one to handle
    except kind:
        return action()


@pytest.mark.parametrize(
    "kind", [GeneratorExit, StopIteration, MemoryError, RecursionError, asyncio.CancelledError]
)
@pytest.mark.parametrize("handled", [None, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_a_cell_that_raises_anything_is_one_record(
    kind: type[BaseException], handled: type[BaseException] | None
) -> None:
    def fail(*_: object) -> Any:
        raise kind

    number = type("Number", (int,), dict.fromkeys(("__abs__", "__float__", "__int__"), fail))(7)
    lied = type("Lied", (), {"__class__": property(fail)})()
    row = type("Row", (dict,), {"get": fail})(a="x")
    for hold in HOLDERS:
        is_rows = hold in {HOLDERS[2], HOLDERS[4]}
        for one in (Alphabet.of(["x"]), Alphabet.bins([0, 10]), OPEN):
            alphabet = replace(one, columns=("a",)) if is_rows else one
            count = partial(counting.count, hold(["x", number, lied]), alphabet=alphabet)
            assert during(handled, count).n == 3
    assert list(counting.count([row, {"a": "x"}], alphabet={"a": ["x"]})) == [1, 1]
    people = [{"a": "x", "p": who} for who in (number, lied, "ann", "bob")]
    assert counting.count(people, alphabet={"a": ["x"]}, person="p").n == 3


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_in_a_cell_ends_the_count(kind: type[BaseException]) -> None:
    def fail(*_: object) -> Any:
        raise kind

    number = type("Number", (int,), {"__abs__": fail})(7)
    with pytest.raises(kind) as ended:
        counting.count([number], alphabet=[7])
    assert getattr(ended.value, "code", 1) == 1


def out_of_time(*_: object) -> None:
    """Handle a signal as a limit of time does."""
    raise TimeoutError


class OutOfTime:
    """The same, as an object and as a method."""

    def __call__(self, *_: object) -> None:
        raise TimeoutError

    method = __call__


HANDLERS = {
    "function": out_of_time,
    "method": OutOfTime().method,
    "object": OutOfTime(),
    "partial": partial(out_of_time, 1),
    "partial of a partial object": partial(partial(OutOfTime(), 1), 2),
}


@pytest.mark.parametrize("handler", HANDLERS.values(), ids=HANDLERS)
def test_a_limit_of_time_that_strikes_in_a_record_ends_the_count(
    handler: Callable[..., None],
) -> None:
    """The record is not to blame for what the program's own handler of a signal raises."""

    class Row(dict[str, str]):
        def get(self, name: str, default: object = None) -> Any:
            signal.raise_signal(signal.SIGALRM)
            return super().get(name, default)

    before = signal.signal(signal.SIGALRM, handler)
    try:
        for alphabet, options in (["x"], {"column": "a"}), ({"a": ["x"]}, {}):
            with pytest.raises(ReleaseError, match="could not be counted"):
                counting.count([Row(a="x")], alphabet=alphabet, **options)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_what_walks_over_an_array_is_counted_and_what_is_none_refused() -> None:
    assert list(counting.count(np.array([[1, 2], [1, 1]]).flat, alphabet=[1])) == [3, 1]
    with pytest.raises(TypeError, match="data must be a list, an array"):
        counting.prepare(np.random.default_rng(), alphabets=[[1]])
    with pytest.raises(ValueError, match="got type bytes\\."):
        counting.prepare(np.array([b"x"]), alphabets=[["x"]])


@pytest.mark.parametrize("far", ["20000-01-01", "-0044-03-15"])
@pytest.mark.parametrize(
    "zone", [None, "UTC", "America/New_York", dt.timezone(dt.timedelta(seconds=5))], ids=str
)
def test_a_moment_of_pandas_beyond_the_calendar_is_one_record(far: str, zone: Any) -> None:
    """In any zone, even one that has no name in Arrow."""
    column = pd.Series(np.array(["2024-01-01T12", far, "NaT", "0001-01-02"], "M8[s]"))
    column = column if zone is None else column.dt.tz_localize("UTC").dt.tz_convert(zone)
    for data in (column, column.to_frame("a"), column.astype("category")):
        assert list(counting.count(data, alphabet=DAYS)) == [1, 0, 3]


UNITS = ["s", "ms", "us", "ns"]
ARROW = [*map(pa.timestamp, UNITS), pa.date32(), pa.date64(), pa.decimal256(50, 2)]
PANDAS = [
    *(f"M8[{unit}{zone}]" for unit, zone in product(UNITS, ("", ", UTC"))),
    *("Int8", "UInt64", "Float32", "Float64", "float32", "float64", "boolean"),
    *("str", "string[python]", "string[pyarrow]", "category", "object"),
    *map(pd.ArrowDtype, ARROW),
]
POLARS = [
    *(pl.Date, pl.Int128, pl.Float32, pl.Boolean, pl.String, pl.Categorical, pl.Object),
    *(pl.Decimal(38, 38), pl.Enum(["x"]), *map(pl.Datetime, UNITS[1:])),
]
NULLS = [pd.NA, pd.NaT, np.datetime64("NaT", "ns"), np.timedelta64("NaT"), np.nan]
MISSING = {
    **{f"pandas {kind}": pd.Series([None], dtype=kind) for kind in PANDAS},
    **{f"pandas {cell!r}": pd.Series([cell], dtype=object) for cell in NULLS},
    "pandas days": pd.Series([pd.Timestamp(2024, 1, 1), None], dtype="category")[1:],
    **{f"polars {kind}": pl.Series([None], dtype=kind) for kind in POLARS},
}


ENDS_OF_TIME = ["0001-01-01", "1677-09-21", "1969-12-31", "2262-04-11", "9999-12-31"]
"""Days that the numbers for a missing moment, and those beside them, would be."""


@pytest.mark.parametrize("name", some(sorted(MISSING), one_of=4))
def test_a_missing_cell_is_missing_beside_a_column_of_objects_too(name: str) -> None:
    """Cells beside objects are read one by one; an integer may stand for the missing one."""
    column = MISSING[name].rename("a")
    is_polars = isinstance(column, pl.Series)
    objects = pl.Series if is_polars else partial(pd.Series, index=column.index)
    other = objects(["x"], dtype=pl.Object if is_polars else object).rename("b")
    frame = pl.DataFrame([column, other]) if is_polars else pd.concat([column, other], axis=1)
    dates = Alphabet.of([*ENDS_OF_TIME, "1970-01-01", "2024-01-01"]).read_as("date")
    numbers = Alphabet.bins([-1e300, 1e300])
    texts = Alphabet.of(["x", "nan", "NaN", "NaT", "None", "null", "<NA>", "true", "false"])
    possible = []
    for letters in (dates, numbers, texts):
        with suppress(ValueError):  # no cell of the type can be one of them
            counting.prepare(column, alphabets=[letters])
            possible.append(letters)
    assert possible
    for letters in possible:
        alone = counting.count(column, alphabet=letters)
        beside = counting.count(frame, alphabet={"a": letters, "b": ["x"]})
        assert alone[letters.size] == beside[letters.size] == 1


ITEMS: dict[str, Any] = {
    "texts": ["x", "7", None],
    "integers": [7, 8, None],
    "floats": [7.0, 0.5, None],
    "booleans": [True, False, None],
    "dates": [dt.date(2024, 1, 1), dt.date(1, 1, 1), None],
    "moments": [*np.array(["2024-01-01T12", "1970-01-01"], "M8[us]").tolist(), None],
    "decimals": [Decimal(7), Decimal("0.5"), None],
}


@pytest.mark.parametrize("make", [pa.array, pl.Series, pd.Series, pd.array, np.array])
@pytest.mark.parametrize("name", ITEMS)
def test_the_items_of_a_column_are_its_cells(make: Callable[[Any], Any], name: str) -> None:
    """All of Arrow were `other` once."""
    cells = ITEMS[name]
    letters = DAYS if name == "moments" else ["x", "7", "true", "2024-01-01"]
    items = list(make(cells))
    counts = counting.count(cells, alphabet=letters)
    assert counts.n == 3
    assert counting.count(items, alphabet=letters) == counts
    records = [{"a": "x", "b": cell} for cell in (*items, *items, *cells)]
    if name != "moments":
        assert list(counting.count(records, alphabet={"a": ["x"]}, person="b")) == [2, 1]


VIEWS = pa.array(["x", None, "7", "x"], pa.string_view())


@pytest.mark.parametrize(
    "column",
    [
        pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2, 3], pa.int8()), VIEWS),
        pa.RunEndEncodedArray.from_arrays(pa.array([1, 3, 4, 5], pa.int32()), VIEWS),
    ],
    ids=["dictionary", "runs"],
)
def test_text_of_arrow_is_found_behind_every_encoding(column: pa.Array) -> None:
    for data in (column, pa.concat_arrays([column, column]).slice(5, 5), pa.table({"a": column})):
        assert list(counting.count(data, alphabet=["x", "7"])) == [2, 1, 2]
    later = [list(counting.count(column.slice(1, 3), alphabet=["x", "7"]))]
    assert later == [[0, 1, 2]]


def bare_decimals(numbers: list[int], kind: pa.DataType) -> pa.Array:
    """Return decimals by their bits, also those with more digits than their type has."""
    bits = b"".join(number.to_bytes(16, "little", signed=True) for number in numbers)
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(bits)])


def test_a_part_that_an_identifier_has_many_times_is_read_once() -> None:
    """A few lists, each with the one before in it twice, took forever."""
    read = []

    class Read(list[Any]):
        def __iter__(self) -> Iterator[Any]:
            read.append(self)
            return super().__iter__()

    shared, apart = Read("a"), ["a"]
    for _ in range(12):
        shared, apart = Read([shared, shared]), [apart, [*apart]]
    assert person_of(shared) == person_of(apart) != person_of([shared, apart])
    assert len(read) < 40


def test_a_wide_decimal_of_a_narrow_type_may_have_any_bits() -> None:
    """Arrow refuses to convert one that has more digits than its type."""
    numbers = [0, 10**38, -(2**255), 2**255 - 1, 10**38 - 1]
    bits = b"".join(number.to_bytes(32, "little", signed=True) for number in numbers)
    cells = pa.Array.from_buffers(pa.decimal256(38, 0), 5, [None, pa.py_buffer(bits)])
    assert list(counting.count(cells, alphabet=[0, 10**38 - 1])) == [1, 1, 3]


@pytest.mark.parametrize(
    ("digits", "scale"), [(5, 2), (38, 0), (38, 37), (38, 38), (5, -2), (2, 5)]
)
def test_a_decimal_is_one_record_whatever_its_type_has_room_for(digits: int, scale: int) -> None:
    """One that a type has no room for made DuckDB and Arrow fail; zero was no letter in some."""
    kind = pa.decimal128(digits, scale)
    cells = bare_decimals([0, 2**127 - 1, -(2**127), 0], kind)
    several = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3]), cells)
    frame = pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([cells])))
    for data in (cells, several, pa.table({"a": cells}), frame):
        assert list(counting.count(data, alphabet=[0])) == [2, 2]
        assert list(counting.count(data, alphabet=range(2))) == [2, 0, 2]
    if 0 <= scale <= digits:
        relation = duckdb.sql(f"SELECT 0::DECIMAL({digits},{scale}) AS a FROM range(2)")
        assert list(counting.count(relation, alphabet=[0])) == [2, 0]


NUMBERS = [
    *(0, 7, -7, 2**53, 2**53 + 1, 2**53 + 3, -(2**53) - 1, 10**18 - 1, 10**18, 2**63 + 1025),
    *(
        2**64 + 2**11 + 1,
        2**64 + 2**11,
        -(2**64) - 2**11 - 1,
        2**90 + 2**37 + 1,
        2**100 + 3 * 2**46,
    ),
]


def holders(numbers: list[int], folder: Path) -> Iterator[tuple[Any, dict[str, str]]]:
    """Yield integers of up to 128 bits in every hand that can hold them."""
    decimals = pa.array(map(Decimal, numbers), pa.decimal128(38, 0))
    yield numbers, {}
    yield decimals, {}
    series = pl.Series("a", numbers, dtype=pl.Int128)
    yield series, {}
    yield series.to_frame().lazy(), {}
    pq.write_table(pa.table({"a": decimals}), folder / "x.parquet")
    yield folder / "x.parquet", {"column": "a"}
    path = folder / f"{random.randrange(10**9)}.duckdb"  # noqa: S311 - a name
    with duckdb.connect(str(path)) as file:
        file.execute("CREATE TABLE t AS SELECT unnest($1::HUGEINT[]) AS a", [numbers])
        yield file, {"table": "t", "column": "a"}
    yield path, {"table": "t", "column": "a"}


def test_bins_of_integers_are_exact_beyond_those_of_a_double(tmp_path: Path) -> None:
    for _ in range(3):
        near = [float(number) for number in NUMBERS]
        near += [np.nextafter(number, np.inf) for number in near] + [-1e300, 1e300]
        edges = sorted({float(edge) for edge in DICE.sample(near, 9)})
        whole = [-1e18, 0.5, 2.0**53]
        for data, options in holders(NUMBERS, tmp_path):
            counts = list(counting.count(data, alphabet=Alphabet.bins(edges), **options))
            inside = [
                sum(low <= float(number) < high for number in NUMBERS)
                for low, high in pairwise(edges)
            ]
            assert counts[:-1] == inside, (type(data), edges)
            bins = Alphabet.bins(whole).read_as("integer")
            assert list(counting.count(data, alphabet=bins, **options))[:2] == [3, 1], type(data)


def test_bins_that_no_integer_of_a_double_is_in_cannot_be_read_as_integers() -> None:
    for edges in ([0, 1e16, 1e17], [-1e17, -1e16, 0]):
        with pytest.raises(ValueError, match="bins must each have an edge from -2\\^53 to 2\\^53"):
            Alphabet.bins(edges).read_as("integer")


def test_decimals_that_an_engine_would_read_as_doubles_are_refused(tmp_path: Path) -> None:
    rows = pa.table({"a": pa.array([Decimal(2) ** 64], pa.decimal256(60, 2)), "b": [1.0]})
    pq.write_table(rows, tmp_path / "x.parquet")
    for data in (tmp_path / "x.parquet", pl.scan_parquet(tmp_path / "x.parquet")):
        with pytest.raises(ValueError, match="must hold text, numbers, booleans or dates"):
            counting.prepare(data, alphabets=[[2**64]], columns=["a"])
        counting.prepare(data, alphabets=[[2**64]], columns=["b"])
    assert list(counting.count(rows, alphabet=[2**64], column="a")) == [1, 0]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # its own, of the engine below it
def test_a_collation_below_ibis_folds_nothing(tmp_path: Path) -> None:
    ibis = pytest.importorskip("ibis")
    backend = ibis.duckdb.connect()
    backend.con.execute("CREATE TABLE t (a VARCHAR COLLATE NOCASE, b TIMESTAMPTZ)")
    backend.con.execute("INSERT INTO t VALUES ('x', '2024-01-01'), ('X', NULL), ('X', NULL)")
    table = backend.table("t")
    for data in (table, table.filter(table.a != "y"), table.select("a")):
        assert list(counting.count(data, alphabet=["x", "X"], column="a")) == [1, 2, 0]
    other = ibis.sqlite.connect(tmp_path / "x.sqlite3")
    other.con.execute("CREATE TABLE t (a TEXT COLLATE NOCASE)")
    other.con.execute("INSERT INTO t VALUES ('x'), ('X'), ('X')")
    assert list(counting.count(other.table("t"), alphabet=["x", "X"], column="a")) == [1, 2, 0]


def test_a_moment_of_sqlite_is_read_by_its_day_or_refused() -> None:
    connection = sa.create_engine("sqlite://").connect()
    connection.exec_driver_sql("CREATE TABLE t (a DATETIME)")
    for cell in ("2024-03-01 10:00:00.000000", "2024-03-01 23:59:59", None):
        connection.exec_driver_sql("INSERT INTO t VALUES (?)", (cell,))
    days = Alphabet.of(["2024-03-01"])
    options = {"table": "t", "column": "a"}
    with pytest.raises(ValueError, match=r"Add .read_as\('date'\)"):
        counting.count(connection, alphabet=days, **options)
    read = replace(days, axes=(days.axes[0].read_as(Reading(kind="date")),))
    assert list(counting.count(connection, alphabet=read, **options)) == [2, 1]


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl"])
def test_a_column_of_a_file_that_is_no_text_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text('{"a": "x"}\n')
    with pytest.raises(ValueError, match="column must be a column of the data, got 5"):
        counting.prepare(tmp_path / name, alphabets=[["x"]], columns=[5])  # type: ignore[arg-type]


def test_sqlite_tells_an_integer_from_its_real() -> None:
    """One record must not decide what the others with an equal number are."""
    connection = sa.create_engine("sqlite://").connect()
    connection.exec_driver_sql("CREATE TABLE t (a, b BOOLEAN)")
    cells = [float(2**60), *[2**60] * 5, 7, 7.0]
    for cell in cells:
        connection.exec_driver_sql("INSERT INTO t VALUES (?, TRUE)", (cell,))
    options = {"table": "t", "column": "a"}
    assert list(counting.count(connection, alphabet=[2**60, 7], **options)) == [5, 2, 1]
    options["column"] = "b"
    assert list(counting.count(connection, alphabet=[0, 1], **options)) == [0, 8, 0]
    scan = counting.prepare(connection, alphabets=[[False, True]], columns=["b"], table="t")
    assert ["SQLite has none" in warning for warning in scan.warnings] == [True]
    assert list(scan.count()) == [0, 0, 8]


def test_a_numeric_that_no_double_is_near_is_one_record(server: psycopg.Connection[Any]) -> None:
    texts = ["1e-400", "-1e-16000", "3e-324", "7", "1e305", "-1e308", "1e400", "NaN", "-Infinity"]
    server.execute("CREATE TABLE numbers AS SELECT unnest(%s::numeric[]) AS a", [texts])
    bins = Alphabet.bins([-1.7976931348623157e308, -1, 0, 5e-324, 8, 1e306])
    expected = list(counting.count(list(map(Decimal, texts)), alphabet=bins))
    assert expected == [1, 0, 2, 2, 1, 3]
    assert list(counting.count(server, alphabet=bins, table="numbers", column="a")) == expected


def test_open_text_of_a_database_without_an_encoding_is_refused(
    server: psycopg.Connection[Any], postgresql: str
) -> None:
    server.execute("CREATE DATABASE bytes ENCODING SQL_ASCII LOCALE 'C' TEMPLATE template0")
    try:
        with psycopg.connect(postgresql, dbname="bytes", autocommit=True) as connection:
            connection.execute(rb"CREATE TABLE t AS SELECT unnest(ARRAY['x', 'x', E'\xff']) AS a")
            options = {"table": "t", "column": "a"}
            assert list(counting.count(connection, alphabet=["x"], **options)) == [2, 1]
            with pytest.raises(
                ValueError, match="encoding, SQL_ASCII, is not one that Python can read"
            ):
                counting.count(connection, alphabet=OPEN, **options)
    finally:
        server.execute("DROP DATABASE bytes")


@pytest.mark.parametrize("name", ["sqlite", "mariadb"])
def test_an_open_letter_of_a_database_may_be_long(
    name: str, request: pytest.FixtureRequest
) -> None:
    url = "sqlite://" if name == "sqlite" else request.getfixturevalue(name)
    with sa.create_engine(url).connect() as connection:
        if name == "mariadb":
            connection.exec_driver_sql("CREATE DATABASE odd")
            connection.exec_driver_sql("USE odd")
        connection.exec_driver_sql("CREATE TABLE t (a TEXT, b CHAR(9))")
        for text in ("é" * 200, "é" * 200, "x" * 201):
            connection.exec_driver_sql(f"INSERT INTO t VALUES ('{text}', 'x')")
        counts = counting.count(connection, alphabet=OPEN, table="t", column="a")
        assert sorted(counts) == [1, 2]
        if name == "mariadb":  # it shows the padding of a CHAR
            connection.exec_driver_sql("SET sql_mode = 'PAD_CHAR_TO_FULL_LENGTH'")
            options = {"table": "t", "column": "b"}
            assert list(counting.count(connection, alphabet=["x"], **options)) == [3, 0]
            kept = counting.count(connection, alphabet=["é"], table="t", column="a", person="b")
            assert list(kept) == [0, 1]
            connection.exec_driver_sql("DROP DATABASE odd")


@pytest.mark.parametrize("ending", ["parquet", "duckdb"])
def test_zero_is_a_letter_and_a_person_also_where_no_digit_stands_before_the_point(
    tmp_path: Path, ending: str
) -> None:
    rows = "SELECT x::DECIMAL(3, 3) AS x, p::DECIMAL(2, 2) AS p FROM (VALUES (0, 0), (0, 0.5))"
    path = tmp_path / f"rows.{ending}"
    if ending == "parquet":
        duckdb.sql(f"{rows} AS rows(x, p)").write_parquet(str(path))
    else:
        with duckdb.connect(str(path)) as connection:
            connection.execute(f"CREATE TABLE rows AS {rows} AS rows(x, p)")
    for person in (None, "p"):
        table = "rows" if ending == "duckdb" else None
        counts = counting.count(path, alphabet=[0, 1], column="x", table=table, person=person)
        assert list(counts) == [2, 0, 0]


@pytest.mark.parametrize(
    "kind", [pa.decimal128(38, 0), pa.decimal128(38, 38), pa.decimal64(18, 18)], ids=str
)
@pytest.mark.parametrize("last", [0x7F, 0x80])
def test_bits_that_are_no_decimal_of_the_type_are_other(
    kind: pa.DataType, last: int, tmp_path: Path
) -> None:
    """Arrow writes any bits to Parquet, and one such record stopped the whole count."""
    bits = bytes([0xFF if last == 0x7F else 0] * (kind.bit_width // 8 - 1) + [last])
    odd = pa.Array.from_buffers(kind, 1, [None, pa.py_buffer(bits)])
    cells = pa.concat_arrays([pa.array([0], kind), odd])
    pq.write_table(pa.table({"a": cells, "who": ["p", "q"]}), tmp_path / "a.parquet")
    rows = pa.table({"a": cells, "who": ["p", "q"]})
    for data in (tmp_path / "a.parquet", rows, pl.from_arrow(rows)):
        for alphabet in (Alphabet.of([0, 1]), Alphabet.bins([0, 0.5, 1])):
            for options in ({}, {"person": "who"}):
                found = counting.count(data, alphabet=alphabet, column="a", **options)
                assert list(found) == [1, 0, 1]
        assert counting.count(data, alphabet=["p"], column="who", person="a").n == 2
    asked: dict[str, Any] = {"alphabet": ["p"], "column": "who", "person": "a"}
    pq.write_table(
        pa.table({"a": pa.concat_arrays([odd, odd]), "who": ["p"] * 2}), tmp_path / "b.pq"
    )
    # Bits are not missing: both records are one person's.
    assert list(counting.count(tmp_path / "b.pq", **asked, is_each_missing=True)) == [0, 1]


@pytest.mark.parametrize(
    ("unit", "zone"), some(product(["s", "ms", "us", "ns"], [None, "Pacific/Apia"]), one_of=4)
)
def test_a_moment_without_room_in_microseconds_is_other(
    unit: str, zone: str | None, tmp_path: Path
) -> None:
    """One such record in a Parquet file ended the count of all."""
    day = DAYS_OF[unit] * 19723  # 2024-01-01
    far = () if unit == "s" else (2**63 - 1, -(2**63) + 1, 2**62)  # which Arrow does not write
    for odd in (*far, 10**15, -(10**15)):
        cells = pa.array([day, odd, day], pa.int64()).view(pa.timestamp(unit, zone))
        pq.write_table(pa.table({"a": cells, "who": ["p", "q", "r"]}), tmp_path / "a.parquet")
        for person in (None, "who"):
            options = {"alphabet": DAYS, "column": "a", "person": person}
            found = counting.count(tmp_path / "a.parquet", **options)
            assert (found[0], found.n) == (2, 3)


DAYS_OF = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


class PanicOfACell(BaseException):
    """What a library of Rust raises."""


class Raising(type):
    """A type of which nothing can be asked."""

    def __hash__(cls) -> int:
        raise PanicOfACell

    def __eq__(cls, other: object) -> bool:
        raise PanicOfACell

    def __getattr__(cls, name: str) -> Any:
        raise PanicOfACell


def fails(*_: object) -> Any:
    raise PanicOfACell


METHODS = ("__hash__", "__eq__", "__str__", "__abs__", "__len__", "__iter__", "__getitem__", "get")


@pytest.mark.parametrize("base", [object, str, int, float, list, dict, tuple, Decimal])
@pytest.mark.parametrize("kind", [type, Raising])
@pytest.mark.parametrize("alphabet", [Alphabet.of(["x"]), Alphabet.bins([0, 1]), DAYS, OPEN])
def test_a_cell_that_panics_is_one_record(base: type, kind: type, alphabet: Alphabet) -> None:
    odd = kind("Odd", (base,), dict.fromkeys(METHODS, fails))
    cell = object.__new__(odd) if base is object else base.__new__(odd)
    for cells in ([cell], ["y", cell], [cell, "y", 7]):
        array = np.empty(len(cells), object)
        for i, one in enumerate(cells):
            array[i] = one
        held: list[Any] = [cells, array, pd.Series(array)]
        for data in held:
            assert counting.count(data, alphabet=alphabet).n == len(cells)
        rows = [{"a": one, "who": one} for one in cells]
        assert counting.count(rows, alphabet=alphabet, column="a").n == len(cells)
        assert counting.count([*rows, cell], alphabet=alphabet, column="a").n == len(cells) + 1
        scan = counting.prepare(rows, alphabets=[alphabet], columns=["a"], person="who")
        assert 1 <= scan.count().n <= len(cells)


def columns_without_values(folder: Path) -> Iterator[tuple[Any, str | None]]:
    """Yield three records whose ``x`` is missing, by every source that has such a column."""
    rows = pa.table({"x": pa.nulls(3), "w": ["a", "b", "a"]})
    pq.write_table(rows, folder / "x.parquet")
    feather.write_feather(rows, folder / "x.feather")
    categories = pa.DictionaryArray.from_arrays(pa.array([None] * 3, pa.int8()), pa.nulls(0))
    yield folder / "x.parquet", None
    yield dataset.dataset(folder / "x.parquet"), None
    yield dataset.dataset(folder / "x.feather", format="feather"), None
    yield rows, None
    yield rows.set_column(0, "x", categories), None
    yield rows.to_pandas(), None
    yield rows.to_pandas().astype({"x": "category"}), None
    yield rows.to_pandas(types_mapper=pd.ArrowDtype), None
    yield pl.from_arrow(rows), None
    yield pl.from_arrow(rows).lazy(), None
    connection = duckdb.connect()
    yield connection.sql("SELECT NULL AS x, unnest(['a', 'b', 'a']) AS w"), None
    yield ibis.memtable({"w": ["a", "b", "a"]}).mutate(x=ibis.null()), None
    (folder / "x.jsonl").write_text("".join(f'{{"x": null, "w": "{w}"}}\n' for w in "aba"))
    yield folder / "x.jsonl", None
    with closing(sqlite3.connect(folder / "x.sqlite")) as file, file:
        file.execute("CREATE TABLE t (x, w)")
        file.executemany("INSERT INTO t VALUES (NULL, ?)", "aba")
    yield folder / "x.sqlite", "t"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the engine below Ibis
def test_a_column_without_any_value_is_accepted_whatever_its_type(tmp_path: Path) -> None:
    """Its type follows from its cells, so it must not decide whether there is a release."""
    for data, table in columns_without_values(tmp_path):
        for alphabet in (["a", "b"], range(2), Alphabet.bins([0, 1, 2]), DAYS):
            counts = counting.count(data, alphabet=alphabet, column="x", table=table)
            assert list(counts) == [0, 0, 3], type(data)
        for is_each_missing, expected in (False, [0, 0, 1]), (True, [2, 1, 0]):
            counts = counting.count(
                data,
                alphabet=["a", "b"],
                column="w",
                table=table,
                person="x",
                is_each_missing=is_each_missing,
            )
            assert list(counts) == expected, type(data)
