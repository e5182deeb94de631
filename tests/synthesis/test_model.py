"""A model: rows and counts for nothing, one file, and a hash that tells a changed one apart."""

import csv
import io
import json
import re
from collections import Counter
from contextlib import suppress
from dataclasses import asdict, replace
from fractions import Fraction
from functools import cache
from itertools import permutations, product
from math import nextafter
from sys import float_info

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy.stats import binom
from support.chance import ALPHA, p_value
from support.draws import DICE, SOAK, numbers, some

from dproo import certify
from dproo.core.draw import RandomSource
from dproo.mechanisms.noise import Ratio
from dproo.schema.codebook import CodeBook
from dproo.synthesis.fit import Law
from dproo.synthesis.model import Model, ModelColumn, Rows, half_width
from dproo.synthesis.model import _hash as model_hash
from dproo.synthesis.request import Measurement, TableRequest
from dproo.synthesis.run import run

COLUMNS = (
    ModelColumn("ward", ("A", "B", None), labels=("East", None, None)),
    ModelColumn(
        "age", ("0..18", "18..65", "other"), bins=((0, 18), (18, 65), None), is_integer=True
    ),
    ModelColumn("sick", (True, False)),
)
SIZES = tuple(len(column.letters) for column in COLUMNS)
N = 1000


def true_columns():
    chance = numbers()
    ward = chance.integers(0, 3, N)
    return ward, np.minimum(2, ward + chance.integers(0, 2, N)), chance.integers(0, 2, N)


def counted(columns):
    def count(families):
        for family in families:
            shape = [SIZES[column] for column in family]
            place = np.zeros(N, dtype=int)
            for column in family:
                place = place * SIZES[column] + columns[column]
            yield np.bincount(place, minlength=int(np.prod(shape))).tolist()

    return count


def model_of(epsilon="20", columns=None, **options):
    request = TableRequest(sizes=SIZES, epsilon=Fraction(epsilon), **options)
    columns = true_columns() if columns is None else columns
    return Model.of(run(request, counted(columns), RandomSource()), COLUMNS)


@cache
def a_model():
    return model_of()


# Rows


LARGEST = float_info.max


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (-1e308, 1e308),
        (-LARGEST, LARGEST),
        (-LARGEST, -LARGEST / 2),
        (0, LARGEST),
        (5e-324, 1.5e-323),
        (0, 5e-324),
        (1, nextafter(1, 2)),
        (0, 65),
    ],
)
def test_a_number_within_a_bin_lies_anywhere_within_it(low, high):
    """In a model and in a row, also where the width of the bin is more than a double can be."""
    column = ModelColumn("x", ("bin",), bins=((low, high),))
    book = {"schema": {"fields": [{"name": "x", "type": "number", "bins": [low, high]}]}}
    (field,) = CodeBook.of(book).fields
    source = RandomSource()
    for found in (
        column.within(np.zeros(200, dtype=int), numbers()),
        [field.within(0, source) for _ in range(200)],
    ):
        assert all(low <= number < high for number in found)
        if high / 2 - low / 2 > 1:
            below = sum(number < low / 2 + high / 2 for number in found)
            assert min(binom.cdf(below, 200, 0.5), binom.sf(below - 1, 200, 0.5)) > ALPHA


def test_rows_are_rows_of_letters():
    rows = a_model().rows(50)
    assert len(rows) == 50
    assert {*rows[0]} == {"ward", "age", "sick"}
    for row in rows:
        for column in COLUMNS:
            assert row[column.name] in column.letters
    assert [row["ward"] for row in rows] == rows.columns["ward"]
    assert len(rows[:7]) == 7


def test_rows_have_the_law_of_the_model():
    law = a_model().law
    chance = numbers()
    drawn = Counter(zip(*(column.tolist() for column in law.rows(20_000, chance)), strict=True))
    expected = dict(np.ndenumerate(law.joint((0, 1, 2))))
    likely = {cell: p for cell, p in expected.items() if p > 1e-3}
    rest = 1 - sum(likely.values())
    seen = Counter({cell: drawn[cell] for cell in likely})
    if rest > 1e-3:
        likely["rest"], seen["rest"] = rest, 20_000 - seen.total()
    total = sum(likely.values())
    assert p_value(seen, {cell: p / total for cell, p in likely.items()}) > ALPHA


def test_a_seed_draws_the_same_rows_again():
    model = a_model()
    assert list(model.rows(20, seed=3)) == list(model.rows(20, seed=3))
    assert list(model.rows(60, seed=3)) != list(model.rows(60, seed=4))
    assert list(model.rows(60)) != list(model.rows(60))


def test_labels_and_numbers_within_bins_are_shown_where_there_are_any():
    rows = a_model().rows(300, labels=True, within_bins=True)
    assert {row["ward"] for row in rows} <= {"East", "B", None}
    ages = {row["age"] for row in rows}
    assert ages - {"other"} <= {*range(65)}
    number = ModelColumn("x", ("bin",), bins=((0.0, 0.5),))
    found = number.within(np.zeros(100, dtype=int), numbers())
    assert all(0 <= x < 0.5 for x in found)


@pytest.mark.parametrize(("size", "seed"), [(0, None), (-1, None), (10**10, None), (5, -1)])
def test_a_wrong_size_or_seed_is_refused(size, seed):
    with pytest.raises(ValueError, match=r"(size|seed) must be at (least|most)"):
        a_model().rows(size, seed=seed)


# Frames and files say that they are synthetic


def test_frames_hold_the_rows():
    rows = a_model().rows(40, seed=1)
    frame = rows.to_pandas()
    assert frame.attrs["synthetic"] == "true"
    assert frame["age"].tolist() == rows.columns["age"]
    assert rows.to_polars()["sick"].to_list() == rows.columns["sick"]
    table = rows.to_arrow()
    assert table.schema.metadata[b"dproo_model"].decode() == a_model().sha256
    assert table["ward"].to_pylist() == rows.columns["ward"]
    mixed = a_model().rows(200, within_bins=True)
    assert {*mixed.to_arrow()["age"].to_pylist()} <= {*map(str, range(65)), "other"}


def test_files_hold_the_rows_and_say_that_they_are_synthetic(tmp_path):
    rows = a_model().rows(30)
    for name in ("t.csv", "t.jsonl", "t.parquet"):
        rows.write(tmp_path / name)
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["ward"] or None for line in lines] == rows.columns["ward"]
    assert [line["sick"] == "true" for line in lines] == rows.columns["sick"]
    text = (tmp_path / "t.jsonl").read_text(encoding="utf-8")
    assert [json.loads(line) for line in text.splitlines()] == list(rows)
    for name in ("t.csv", "t.jsonl"):
        about = json.loads((tmp_path / f"{name}-metadata.json").read_text(encoding="utf-8"))
        assert about["synthetic"] == "true"
        assert about["dproo_model"] == a_model().sha256
    found = pq.read_table(tmp_path / "t.parquet")
    assert found.schema.metadata[b"synthetic"] == b"true"
    assert found["age"].to_pylist() == rows.columns["age"]


def test_a_carriage_return_in_a_value_ends_no_row():
    for columns in ({"note": ["a\rb", "c"], "n": [1, None]}, {"no\rte": ["a", "b"], "n": [1, 2]}):
        text = Rows(columns, "").text()
        lines = list(csv.reader(io.StringIO(text, newline="")))
        assert lines == [
            [*columns],
            *([a, str(b or "")] for a, b in zip(*columns.values(), strict=True)),
        ]
    assert '"' not in Rows({"note": ["a", "c"], "n": [1, None]}, "").text()


def test_a_file_of_another_kind_is_refused(tmp_path):
    with pytest.raises(ValueError, match="path must be one of"):
        a_model().rows(1).write(tmp_path / "t.xlsx")


# Counts


def test_counts_are_those_of_the_law():
    model = a_model()
    table = model.counts("age", "ward")
    assert len(table) == 9
    assert sum(row["count"] for row in table) == pytest.approx(model.records, abs=1)
    assert [row["ward"] for row in table][:3] == ["A", "B", None]
    assert model.counts("ward", labels=True)[0]["ward"] == "East"
    for row in table:
        if table.is_measured:
            assert row["low"] <= row["count"] + 1
            assert row["count"] - 1 <= row["high"]
    assert "count" in repr(table)
    assert "<table>" in table._repr_html_()
    assert len(table.to_pandas()) == 9


def test_what_was_not_measured_has_no_interval():
    model = model_of(network="independent")
    assert not model.counts("ward", "age").is_measured
    assert "not measured" in repr(model.counts("ward", "age"))
    assert model.counts("ward").is_measured
    assert model.counts()[0]["count"] == pytest.approx(model.records, abs=1)


@pytest.mark.one_of(3)
@pytest.mark.parametrize("network", some(["independent", ((), (0,), (0,))], one_of=4))
def test_intervals_cover_the_truth_as_often_as_they_say(network):
    inside = total = 0
    for _ in range(150 if SOAK else 40):
        columns = true_columns()
        model = model_of("1", columns, network=network)
        true = np.bincount(columns[0], minlength=3)  # one column: of the pair, a sum of cells
        for count, row in zip(true, model.counts("ward"), strict=True):
            inside += row["low"] <= count <= row["high"]
            total += 1
    # Cells of a model are measured independently, and an interval covers at least 95 %.
    assert binom.cdf(inside, total, 0.95) > ALPHA
    assert not SOAK or inside < total  # an interval that always covers would say nothing


@pytest.mark.parametrize("loss", ["2", "0.5", "0.05", "0.0004"])
@pytest.mark.parametrize("summed", [1, 4, 30])
def test_half_of_an_interval_is_what_noise_exceeds_one_time_in_twenty(loss, summed):
    ratio = Ratio.of(Fraction(loss))
    half = half_width(Measurement((0,), (), ratio=ratio), summed)
    drawn = np.array(ratio.noise(summed * 4000, RandomSource())).reshape(4000, summed).sum(1)
    beyond = int((abs(drawn) > half).sum())
    assert binom.sf(beyond - 1, 4000, 0.05) > ALPHA
    assert binom.cdf(int((abs(drawn) >= half).sum()), 4000, 0.05 * 0.98) > ALPHA
    if summed == 1:  # the closed form: Pr[|Z| > t] = 2 q^(t+1) / (1 + q)
        q = ratio.value
        slack = 1 if half < 300 else Fraction(102, 100)
        assert 2 * q ** (half + 1) / (1 + q) <= Fraction(1, 20)
        shorter = int(half / slack) - (half < 300)
        if shorter >= 0 and half:
            assert 2 * q ** (shorter + 1) / (1 + q) > Fraction(1, 20)


def test_an_interval_is_as_wide_as_noise_however_large():
    for exponent in (10, 16, 25, 40):
        measured = Measurement((0,), (), ratio=Ratio.of(Fraction(1, 10**exponent)))
        assert half_width(measured, 1) == pytest.approx(2.996 * 10**exponent, rel=0.01)


def test_counts_of_unknown_columns_are_refused():
    with pytest.raises(ValueError, match="column must be one of age, sick, ward"):
        a_model().counts("wards")
    with pytest.raises(ValueError, match="names must name every column once"):
        a_model().counts("ward", "ward")


# The file


def test_a_saved_model_is_the_same_model(tmp_path):
    model = a_model()
    model.save(tmp_path / "model.json")
    loaded = Model.load(tmp_path / "model.json")
    assert loaded.sha256 == model.sha256
    assert loaded.columns == model.columns
    assert list(loaded.rows(50, seed=9)) == list(model.rows(50, seed=9))
    assert loaded.counts("ward", "age").rows == model.counts("ward", "age").rows
    assert repr(loaded) == repr(model)
    assert "epsilon 20" in repr(model)
    assert "ward" in model._repr_html_()


def test_a_column_may_be_called_like_a_count():
    names = DICE.sample(["count", "low", "high", "count_", "ward"], len(COLUMNS))
    columns = [replace(column, name=name) for column, name in zip(COLUMNS, names, strict=True)]
    model = replace(a_model(), columns=tuple(columns))
    for one in permutations(range(len(names)), DICE.randrange(1, len(names) + 1)):
        table = model.counts(*(names[place] for place in one))
        expected = [*product(*(columns[place].letters for place in one))]
        assert [tuple(row.values())[: len(one)] for row in table] == expected
        assert all(len(row) == len(one) + 3 for row in table)
        usual = a_model().counts(*(COLUMNS[place].name for place in one))
        assert [row["count"] for row in table] == [row["count"] for row in usual]
        assert [row[len(one) :] for row in table._cells()] == [
            row[len(one) :] for row in usual._cells()
        ]


def test_a_gaussian_model_is_saved_too(tmp_path):
    model = model_of(delta=Fraction("1e-6"), noise="gaussian")
    model.save(tmp_path / "model.json")
    assert Model.load(tmp_path / "model.json").counts("ward").rows == model.counts("ward").rows
    assert "delta 1/1000000" in repr(model)


def test_a_changed_file_is_refused(tmp_path):
    path = tmp_path / "model.json"
    a_model().save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    for key in content.keys() - {"sha256", "dproo_model"}:
        changed = dict(content)
        changed[key] = [*content[key], 1] if isinstance(content[key], list) else "7"
        path.write_text(json.dumps(changed), encoding="utf-8")
        with pytest.raises(ValueError, match="was changed after it was saved"):
            Model.load(path)


def test_a_file_that_was_changed_with_its_hash_differs_from_the_receipt(tmp_path):
    path = tmp_path / "model.json"
    a_model().save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    counts = content["measurements"][-1]["counts"]
    counts[0], counts[-1] = counts[0] + 1, counts[-1] - 1
    del content["sha256"]
    content["sha256"] = model_hash(content)
    path.write_text(json.dumps(content), encoding="utf-8")
    assert Model.load(path).sha256 != a_model().sha256


def odd_columns(**odd):
    """Return the columns as a file has them, the first with an odd part."""
    first, *others = json.loads(json.dumps([asdict(column) for column in COLUMNS]))
    return [first | odd, *others]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("columns", [{}]),
        ("columns", []),
        ("measurements", [{"columns": [9], "counts": []}]),
        ("measurements", [{"columns": [1, 0], "counts": [0] * 9, "ratio": [1, 1]}]),
        ("measurements", [{"columns": [0], "counts": [1], "ratio": [1, 1]}]),
        ("measurements", [{"columns": [0], "counts": [1, 2, 3.5], "ratio": [1, 1]}]),
        ("measurements", [{"columns": [0], "counts": [1, 2, 3], "ratio": [3, 1]}]),
        ("measurements", [{"columns": [0], "counts": [1, 2, 3], "ratio": [1, 10**15]}]),
        ("measurements", [{"columns": [0], "counts": [1, 2, 3], "ratio": [0.5, 1]}]),
        ("columns", odd_columns(name=7)),
        ("columns", odd_columns(name="sick")),
        ("columns", odd_columns(letters=["A", "B", ["C"]])),
        ("columns", odd_columns(labels=[1, None, None])),
        ("columns", odd_columns(bins=[["0", "1"], None, None])),
        ("columns", odd_columns(bins=[[0, 10**400], None, None])),
        ("columns", odd_columns(bins=[[1, 0], None, None])),
        ("columns", odd_columns(bins=[[], None, None])),
        ("columns", odd_columns(labels=[0, None, None])),
        ("columns", odd_columns(labels=[False, [], {}])),
        ("columns", odd_columns(letters="ABC")),
        ("columns", odd_columns(letters=["A", "B", 1e999])),
        ("columns", odd_columns(letters={"A": 1, "B": 2, "C": 3})),
        ("columns", odd_columns(source="beds.csv")),
        ("synthetic", "rows of records"),
        ("dproo_model", True),
        ("records_per_person", 1.0),
        ("potentials", [{"columns": [0], "values": [1]}]),
        ("potentials", [{"columns": [0], "values": ["x", 1, 2]}]),
        ("records", 0),
        ("epsilon", "0"),
    ],
)
def test_a_file_whose_tables_do_not_fit_is_refused_in_one_sentence(tmp_path, key, value):
    path = tmp_path / "model.json"
    a_model().save(path)
    content = json.loads(path.read_text(encoding="utf-8")) | {key: value}
    del content["sha256"]
    content["sha256"] = model_hash(content)
    text = json.dumps(content).replace("Infinity", "1e999")  # which a reader takes for a number
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="model must hold tables that fit each other"):
        Model.load(path)


@pytest.mark.parametrize("text", ["", "[]", "{}", "[" * 100_000, '{"dproo_model": NaN}', "\x00"])
def test_a_file_that_is_not_a_model_is_refused(tmp_path, text):
    path = tmp_path / "model.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="model must be a"):
        Model.load(path)


def places_of(content, path=()):
    """Yield the way to every part of an object of JSON."""
    parts = content.items() if isinstance(content, dict) else enumerate(content)
    for key, part in parts:
        yield (*path, key)
        if isinstance(part, dict | list):
            yield from places_of(part, (*path, key))


def changed(text, way, change):
    """Return the text of a model with a change at a place, and with its hash."""
    content = json.loads(text)
    del content["sha256"]
    *before, last = way
    part = content
    for key in before:
        part = part[key]
    part[last] = change
    content["sha256"] = model_hash(content)
    return json.dumps(content)


def written_everywhere(rows, folder):
    """Make of rows every frame and file that can be made of them."""
    for name in ("rows.csv", "rows.jsonl", "rows.parquet"):
        rows.write(folder / name)
    for frame in (rows.to_pandas(), rows.to_polars(), rows.to_arrow()):
        assert len(frame) == len(rows)


@pytest.mark.parametrize(
    ("way", "change", "refused"),
    [
        (("columns", 1, "bins", 1, 1), 10**30, "model must hold tables that fit each other"),
        (("columns", 1, "bins", 1, 1), 2**53 + 1, "model must hold tables that fit each other"),
        (("columns", 1, "bins", 1), [1e20, 1e30], None),
        (("columns", 1, "bins", 1), [-1e30, 1e30], None),
        (("columns", 1, "bins", 1, 1), 1e30, None),
        (("columns", 1, "bins", 0, 0), -1e30, None),
        (("columns", 0, "letters", 0), 10**30, None),
        (("columns", 0, "letters"), [1, -(10**30), 2.5], None),
        (("columns", 0, "name"), "\ud800", "model.columns[0].name must be valid Unicode text"),
        (("columns", 0, "labels", 0), "a\udfff", "model.columns[0].labels[0] must be valid"),
        (("columns", 0, "letters", 1), "\ud800", "model.columns[0].letters[1] must be valid"),
        (("steps", 0, "kind"), "\ud800", "model.steps[0].kind must be valid Unicode text"),
        (("steps", 0, "\ud800"), 1, "model.steps[0]: a key must be valid Unicode text"),
        (("delta",), "\ud800", "model.delta must be valid Unicode text, got '\\ud800'."),
    ],
)
def test_rows_can_be_made_of_whatever_is_loaded(tmp_path, way, change, refused):
    path = tmp_path / "model.json"
    a_model().save(path)
    path.write_text(changed(path.read_text(encoding="utf-8"), way, change), encoding="utf-8")
    if refused is not None:
        with pytest.raises(ValueError, match=re.escape(refused)) as error:
            Model.load(path)
        assert len(str(error.value)) < 300
        return
    model = Model.load(path)
    for rows in (model.rows(500, labels=True), model.rows(500, within_bins=True)):
        written_everywhere(rows, tmp_path)
        assert list(map(str, rows.to_polars()["ward"])) == [str(row["ward"]) for row in rows]
    model.save(path)


def test_a_file_that_was_changed_anywhere_is_a_model_or_refused(tmp_path):
    """Whoever changes its hash with it gets rows, or a sentence."""
    path = tmp_path / "model.json"
    a_model().save(path)
    text = path.read_text(encoding="utf-8")
    changes = (
        None,
        "x",
        "",
        [],
        {},
        [None],
        [[1]],
        -1,
        0,
        10**400,
        1e308,
        True,
        "1e999999999",
        "9" * 5000,
        10**30,
        10**15,
        {"kind": "choice"},
        "\ud800",
        {"\ud800": 1},
    )
    for way in DICE.sample([*places_of(json.loads(text))], 60):
        if way == ("sha256",):
            continue
        change = DICE.choice(changes)
        path.write_text(changed(text, way, change), encoding="utf-8")
        with suppress(ValueError):  # and nothing else
            model = Model.load(path)
            assert len(model.rows(3)) == 3, (way, change)
            for rows in (model.rows(9, labels=True), model.rows(9, within_bins=True)):
                written_everywhere(rows, tmp_path)
            model.save(tmp_path / "again.json")
            assert model.counts(model.names[-1]).rows
            certify(model)


LESS = {
    "ratio": lambda found: [found[0] - 1, found[1]] if isinstance(found, list) else "1/2",
    "variance": lambda found: str(Fraction(found) / 2),
    "changes": lambda found: found - 1,
    "kind": lambda found: "choice" if found == "measure" else "measure",
    "family": lambda found: [2] if found == [0, 1, 2] else [0, 1, 2],
    "columns": lambda found: [*found, 2] if 2 not in found else [],
    "cost": lambda found: str(Fraction(found) * Fraction(99, 100)),
    "epsilon": lambda found: str(Fraction(found) / 2),
    "neighbours": {"add-remove": "replace", "replace": "add-remove"}.get,
    "records_per_person": lambda found: found + 1,
    "records": lambda found: found + 0.5,
}


@pytest.mark.parametrize(
    "options",
    [{}, {"delta": Fraction("1e-6"), "noise": "gaussian"}, {"neighbours": "replace", "records": N}],
)
def test_noise_records_and_certificate_of_a_model_must_follow_from_its_costs(tmp_path, options):
    path = tmp_path / "model.json"
    model = model_of(**options)
    model.save(path)
    text = path.read_text(encoding="utf-8")
    found = set()
    for way in places_of(json.loads(text)):
        part = json.loads(text)
        for key in way:
            part = part[key]
        if way[-1] in LESS and way[0] not in {"columns", "potentials"}:
            found.add(way[-1])
            path.write_text(changed(text, way, LESS[way[-1]](part)), encoding="utf-8")
            with pytest.raises(ValueError, match="model must hold tables that fit each other"):
                Model.load(path)
    assert found >= LESS.keys() - {"variance"}
    path.write_text(text, encoding="utf-8")
    assert certify(Model.load(path)).holds


@pytest.mark.parametrize("cost", ["0", "-1", "41", "9" * 5000, "1/0", "1e3", " 1", ""])
def test_no_step_costs_more_than_all_of_them(tmp_path, cost):
    path = tmp_path / "model.json"
    a_model().save(path)
    text = path.read_text(encoding="utf-8")
    ways = [way for way in places_of(json.loads(text)) if way[-1] == "cost"]
    assert ways
    for way in ways:
        path.write_text(changed(text, way, cost), encoding="utf-8")
        with pytest.raises(ValueError, match="model"):
            certify(Model.load(path))


def test_columns_must_have_the_letters_of_the_request():
    request = TableRequest(sizes=(2,), epsilon=Fraction(1))
    released = run(request, lambda asked: [[1, 2] for _ in asked], RandomSource())
    with pytest.raises(ValueError, match="columns must have"):
        Model.of(released, COLUMNS)
    with pytest.raises(ValueError, match="letters must have at least one letter"):
        ModelColumn("x", ())
    with pytest.raises(ValueError, match="labels must be as many as the letters"):
        ModelColumn("x", (1, 2), labels=("one",))


def test_a_law_of_one_column_has_no_pairs():
    law = Law((3,), {(0,): np.zeros(3)})
    assert law.pairs() == {}
    assert law.joint((0,)).tolist() == pytest.approx([1 / 3] * 3)
