"""A private table, released along the one path: law, cost, receipt, and what it refuses."""

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from math import prod

import pandas as pd
import polars as pl
import pytest
from support.chance import ALPHA, p_value
from support.draws import DICE, SOAK, some

import dproo
from dproo import CodeBook, Ledger, Model
from dproo.core.draw import RandomSource
from dproo.core.numbers import fraction_text, is_at_most_exp
from dproo.counting.source import Source
from dproo.errors import BudgetRefused, LedgerError, ReleaseError
from dproo.releases import table as releases
from dproo.releases.protection import Protection
from dproo.releases.table import ModelRequest
from dproo.synthesis import run as runs

pytestmark = pytest.mark.one_of(3)


def field(name, letters, **more):
    return {"name": name, "type": "string", "categories": letters, **more}


def book(*fields):
    return {"schema": {"fields": list(fields)}}


BOOK = book(
    field("sex", [{"value": "F", "label": "female"}, {"value": "M", "label": "male"}]),
    field("ward", ["A", "B", "C"]),
    {"name": "age", "type": "integer", "bins": [0, 18, 65, 120], "outside": 70},
)
ROWS = [
    *[{"sex": "F", "ward": "A", "age": 70}] * 90,
    *[{"sex": "M", "ward": "B", "age": 7}] * 60,
    *[{"sex": "M", "ward": "C", "age": -1}] * 40,
    *[{"sex": None, "ward": "D", "age": 130}] * 10,
]
TWO = book(field("a", ["x"]), field("b", ["x", "y"], outside="y", parents=["a"]))


@pytest.fixture
def ledger(tmp_path):
    made = Ledger.create(tmp_path / "ledger.sqlite3")
    made.declare("visits", budget=3, neighbours="replace")
    made.declare("hidden", budget=3, neighbours="add-remove")
    return made


def opened(data, ledger=None, name="visits", **options):
    if ledger is not None:
        options |= {"ledger": ledger, "dataset": name}
    return dproo.open(data, **options)


def request_of(described=TWO, epsilon=1, **protected):
    network = protected.pop("network", "auto")
    return ModelRequest(
        codebook=CodeBook.of(described),
        epsilon=Fraction(epsilon),
        network=network,
        protection=Protection(**protected),
    )


def scan_of(request, rows):
    protection = request.protection
    return Source(data=rows).scan(
        request.counted_alphabets,
        request.columns,
        person=protection.person,
        records_per_person=1 if protection.person is None else protection.records,
    )


def counts_of(request, rows):
    """Return the true counts that each family of the mechanism is measured from."""
    seen = {}

    def run(mechanism, count, source):
        families = mechanism.families
        seen.update(zip(families, map(tuple, count(families)), strict=True))
        return runs.run(mechanism, count, source)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(releases, "run", run)
        request.draw(scan_of(request, rows).count_several(), RandomSource())
    return seen


# The model


@pytest.mark.parametrize(
    ("kind", "bins", "least"),
    [
        ("integer", [0, 1e17, 1e18], 0),
        ("integer", [-1e300, -1e18, 0], 1 - 10**18),
        ("year", [1990, 2000.5], 1990),
    ],
)
def test_whole_numbers_are_whole_within_every_bin(kind, bins, least):
    """Also beyond 2^53, where integers are no longer exact doubles."""
    fields = [{"name": "n", "type": kind, "bins": bins}]
    rows = [{"n": 1999}, {"n": 2 * 10**17}, {"n": -2 * 10**17}]
    model = opened(rows * 9).synthesize({"schema": {"fields": fields}}, epsilon=2)
    for number in {*model.rows(50, within_bins=True).columns["n"]} - {"other", "[-1e+300, -1e+18)"}:
        assert type(number) is int
        assert least <= number < bins[-1]


def test_one_charge_gives_rows_and_counts_for_nothing(ledger):
    model = opened(ROWS, ledger).synthesize(BOOK, epsilon=2, purpose="a course")
    charged = ledger.show()[0].spent
    assert charged == 2 * 10**9
    rows = model.rows(500)
    assert {*rows.columns} == {"sex", "ward", "age"}
    assert {*rows.columns["sex"]} <= {"F", "M", "other"}
    assert {*rows.columns["age"]} <= {"[0, 18)", "[18, 65)", "[65, 120)"}
    assert {*model.rows(50, labels=True).columns["sex"]} <= {"female", "male", "other"}
    assert all(0 <= age < 120 for age in model.rows(50, within_bins=True).columns["age"])
    assert len(model.counts("sex", "ward")) == 12
    assert ledger.show()[0].spent == charged
    assert model.receipt.purpose == "a course"


def test_with_much_epsilon_the_model_is_the_data():
    model = opened(ROWS).synthesize(BOOK, epsilon=400)
    counts = {(row["sex"], row["age"]): row["count"] for row in model.counts("sex", "age")}
    assert counts["F", "[65, 120)"] == pytest.approx(90, abs=3)
    assert counts["M", "[0, 18)"] == pytest.approx(60, abs=3)
    assert counts["M", "[65, 120)"] == pytest.approx(40, abs=3)  # folded: -1 counts as 70
    assert counts["other", "[65, 120)"] == pytest.approx(10, abs=3)


@pytest.mark.parametrize("hold", [list, iter, pd.DataFrame, pl.DataFrame])
def test_any_engine_counts_the_families_of_a_table(hold):
    request = request_of(BOOK, network="learned")
    rows = [{**row, "age": str(row["age"])} for row in ROWS]
    assert counts_of(request, hold(rows)) == counts_of(request, ROWS)
    assert opened(hold(rows)).synthesize(BOOK, epsilon=1).receipt.n == 200


# Privacy: what is measured of neighbours, along the whole path


def datasets(most):
    records = [{"a": a, "b": b} for a, b in product("x?", "xy?")]
    for size in range(1, most + 1):
        for places in product(range(len(records)), repeat=size):
            if list(places) == sorted(places):
                yield [records[place] for place in places]


@cache
def changes(neighbours, network):
    """Return, for all neighbours of few records, how each family's counts differ."""
    request = request_of(neighbours=neighbours, network=network)
    known = [counts_of(request, rows) for rows in datasets(3)]
    lists = list(datasets(3))
    found = set()
    for i, j in product(range(len(lists)), repeat=2):
        kept = Counter(map(str, lists[i])) & Counter(map(str, lists[j]))
        lost, gained = len(lists[i]) - kept.total(), len(lists[j]) - kept.total()
        wanted = {(1, 1)} if neighbours == "replace" else {(0, 1), (1, 0)}
        if (lost, gained) in wanted:
            found.add(
                tuple(
                    (family, sum(abs(x - y) for x, y in zip(before, known[j][family], strict=True)))
                    for family, before in known[i].items()
                )
            )
    return found


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("network", ["independent", "declared"])
def test_one_record_changes_what_is_released_by_exactly_what_is_certified(neighbours, network):
    request = request_of(neighbours=neighbours, network=network)
    steps = request.mechanism(3).schedule
    paid = {step.family: step.ratio for step in steps}
    worst = max(
        prod((paid[family].power(moved) for family, moved in change), start=Fraction(1))
        for change in changes(neighbours, network)
    )
    certificate = dproo.certify(request.mechanism(3))
    assert worst == certificate.ratio
    assert is_at_most_exp(worst, Fraction(1))
    drawn = request.draw(scan_of(request, ROWS_OF_TWO).count_several(), RandomSource())
    assert drawn.certificate["ratio"] == fraction_text(worst)
    assert drawn.certificate["holds"]


ROWS_OF_TWO = [{"a": "x", "b": "y"}] * 3


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_what_is_released_has_the_law_of_the_certified_noise(neighbours):
    request = request_of(neighbours=neighbours, network="independent", epsilon=2)
    tables = scan_of(request, ROWS_OF_TWO).count_several()
    source = RandomSource()
    truth = {(0,): (3, 0), (1,): (0, 3)}
    seen = {}
    for _ in range(1500 if SOAK else 500):
        kept = request.draw(tables, source).facts["model"]["values"]
        for found in kept["measurements"]:
            family = tuple(found["columns"])
            noise = [y - n for y, n in zip(found["counts"], truth[family], strict=True)]
            seen.setdefault(family, Counter()).update(min(4, abs(z)) for z in noise)
    for step in request.mechanism(3).schedule:
        q = step.ratio.value
        law = {z: (1 - q) / (1 + q) * q**z * (2 if z else 1) for z in range(4)}
        law[4] = 1 - sum(law.values())
        assert p_value(seen[step.family], law) > ALPHA


@pytest.mark.parametrize("kept", [1, 2])
def test_a_person_changes_a_family_by_what_is_kept_of_them(kept):
    people = [{"who": f"p{i}", "a": "x", "b": "x"} for i in range(5)]
    one = [{"who": "many", "a": "x", "b": "y"}] * 9
    request = request_of(neighbours="add-remove", person="who", records=kept, network="independent")
    before = counts_of(request, pd.DataFrame(people))
    after = counts_of(request, pd.DataFrame([*people, *one]))
    for step in request.mechanism(1).schedule:
        moved = sum(
            abs(x - y) for x, y in zip(before[step.family], after[step.family], strict=True)
        )
        assert moved == kept == step.changes
    assert is_at_most_exp(dproo.certify(request.mechanism(1)).ratio, Fraction(1))


@pytest.mark.parametrize(
    "protected",
    [
        {"neighbours": "replace"},
        {"neighbours": "add-remove"},
        {"neighbours": "replace", "person": "who"},
        {"neighbours": "add-remove", "person": "who", "records": 3},
        {"neighbours": "replace", "records": 2},
    ],
)
@pytest.mark.parametrize("delta", [0, "1e-9"])
def test_the_certificate_of_the_receipt_is_that_of_the_kernel(protected, delta):
    rows = [{**row, "who": str(place // 2)} for place, row in enumerate(ROWS)]
    data = dproo.open(pd.DataFrame(rows), neighbours=Protection(**protected))
    model = data.synthesize(BOOK, epsilon="0.7", delta=delta, network="learned")
    found, told = dproo.certify(model), model.receipt.certificate
    assert found.holds
    assert told["holds"]
    assert told["epsilon"] == found.epsilon <= 0.7
    if found.ratio is not None:
        assert told["ratio"] == fraction_text(found.ratio)
    records = protected.get("records", 1)
    assert model.released["records_per_person"] == records
    times = records * (2 if protected["neighbours"] == "replace" else 1)
    if found.ratio is not None:
        measured = [step for step in model.released["steps"] if step["kind"] == "measure"]
        assert {step["changes"] for step in measured} == {times}
    costs = sum(Fraction(step["cost"]) for step in model.released["steps"])
    assert costs <= found.request.budget


# The receipt and the ledger


def test_the_charge_of_a_table_is_durable_before_a_record_is_read(ledger):
    seen = []

    def records():
        seen.append(Ledger(ledger.path).show()[0].left)
        yield from ROWS

    model = opened(records(), ledger).synthesize(BOOK, epsilon=1)
    assert seen == [2 * 10**9]
    assert model.receipt.ledger.charge_nano_epsilon == 10**9


@pytest.mark.parametrize("network", ["learned", "independent"])
def test_the_ledger_gives_the_model_back(ledger, network, tmp_path):
    model = opened(ROWS, ledger).synthesize(BOOK, epsilon=1, network=network)
    kept = Ledger(ledger.path).released(model.receipt.ledger.entry)
    again = Model.of_receipt(kept)
    assert again.sha256 == model.sha256 == kept["model"]["sha256"]
    assert again.rows(20, seed=1).columns == model.rows(20, seed=1).columns
    assert again.receipt == model.receipt
    printed = tmp_path / "receipt.json"
    printed.write_text(json.dumps(kept))
    assert Model.load(printed).sha256 == model.sha256
    model.save(tmp_path / "model.json")
    assert Model.load(tmp_path / "model.json").sha256 == kept["model"]["sha256"]


def test_a_receipt_whose_model_was_changed_is_refused(ledger):
    model = opened(ROWS, ledger).synthesize(BOOK, epsilon=1)
    kept = ledger.released(model.receipt.ledger.entry)
    kept["model"]["values"]["measurements"][0]["counts"][0] += 1
    with pytest.raises(ValueError, match="was changed after it was saved"):
        Model.of_receipt(kept)
    with pytest.raises(ValueError, match="receipt must be of a private table"):
        Model.of_receipt(model.receipt.as_dict())


def test_the_receipt_tells_what_was_learned_and_paid(ledger):
    receipt = opened(ROWS, ledger).synthesize(BOOK, epsilon=3).receipt.as_dict()
    assert receipt["network"] == "learned"
    assert receipt["sampler"] == "table"
    assert receipt["n"] == 200
    assert {*receipt["families"][0]} == {"columns", "share"}
    shares = sum(family["share"] for family in receipt["families"])
    assert 0.8 < shares + receipt["network_share"] <= 1 + 1e-5
    assert receipt["codebook_sha256"] == CodeBook.of(BOOK).digest
    assert "95 % of the counts" in receipt["accuracy"]
    (line,) = ledger.show()[0].lines
    assert line.request["network"] == "learned"
    json.dumps(receipt)


def fields_of(value):
    if isinstance(value, dict):
        for name, part in value.items():
            yield name, part
            yield from fields_of(part)
    elif isinstance(value, list):
        for part in value:
            yield from fields_of(part)


def test_under_add_remove_nothing_tells_n(ledger):
    many = [*ROWS, *[ROWS[0]] * (123_457 - len(ROWS))]
    data = opened(many, ledger, "hidden", neighbours="add-remove")
    model = data.synthesize(BOOK, epsilon="0.001")
    kept = ledger.released(model.receipt.ledger.entry)
    assert "n" not in {name for name, _ in fields_of(kept)}
    assert "worst_alpha" not in {name for name, _ in fields_of(kept)}
    assert "123457" not in json.dumps(kept)


def test_what_is_refused_reads_and_charges_nothing(ledger):
    def records():
        raise AssertionError("read")
        yield

    wide = [field(f"c{i}", [str(j) for j in range(130)]) for i in range(60)]
    for described, options in (
        (BOOK, {"epsilon": 0}),
        (BOOK, {"epsilon": 4}),
        (BOOK, {"epsilon": 1, "delta": "1e-9"}),
        (BOOK, {"epsilon": 1, "delta": 2}),
        (BOOK, {"epsilon": 1, "network": "declared"}),
        (BOOK, {"epsilon": 1, "network": "star"}),
        (book(field("a", ["x"], parents=["b"])), {"epsilon": 1}),
        (book(*wide), {"epsilon": 1}),
        (
            book(
                {
                    "name": "a",
                    "type": "integer",
                    "constraints": {"minimum": 0, "maximum": 10**9},
                }
            ),
            {"epsilon": 1},
        ),
        ({"schema": {"fields": []}}, {"epsilon": 1}),
    ):
        with pytest.raises((TypeError, ValueError, LedgerError)):
            opened(records(), ledger).synthesize(described, **options)
    with pytest.raises(BudgetRefused):
        opened(records(), ledger).synthesize(BOOK, epsilon=4)
    with pytest.raises(LedgerError):
        opened(records(), ledger, neighbours="add-remove").synthesize(BOOK, epsilon=1)
    assert [account.spent for account in ledger.show()] == [0, 0]


def test_data_that_fails_after_the_charge_is_one_sentence(ledger):
    def records():
        yield ROWS[0]
        raise ValueError("secret")

    with pytest.raises(ReleaseError, match="The charge stays") as failed:
        opened(records(), ledger).synthesize(BOOK, epsilon=1)
    assert "secret" not in str(failed.value)
    assert ledger.show()[0].spent == 10**9


def test_a_table_of_constant_columns_is_a_model_of_one_row():
    constant = book(field("a", ["x", "y"], outside="x"))
    model = opened([{"a": "x"}] * 50).synthesize(constant, epsilon=1)
    assert len(model.rows(3)) == 3


@pytest.mark.parametrize(
    ("sizes", "epsilon"),
    some(
        product([(1,), (1, 5), (2, 300), (9, 9, 9, 9, 9, 9)], ["1e-6", "1", "100"]),
        one_of=2,
    ),
)
def test_the_room_that_is_set_aside_is_enough(sizes, epsilon):
    fields = [field(f"c{i}", [f"v{j}" for j in range(size)]) for i, size in enumerate(sizes)]
    request = request_of(book(*fields), epsilon=epsilon, neighbours="add-remove")
    rows = [{f"c{i}": f"v{k % size}" for i, size in enumerate(sizes)} for k in range(2000)]
    drawn = request.draw(scan_of(request, rows).count_several(), RandomSource())
    assert len(json.dumps(drawn.facts)) < request.room


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("epsilon", ["1e-12", "1e-10", "1e-8", "1e-7", "300", "745", "1000"])
def test_no_epsilon_and_no_data_make_a_model_that_is_refused(neighbours, epsilon):
    """Potentials of counts that noise drowns, or of cells that are surely empty, go far."""
    kinds = [{"type": "boolean"}, {"type": "integer", "bins": [12, 28, 41, 48, 67]}]
    fields = [{"name": f"c{i}", **DICE.choice(kinds)} for i in range(DICE.randrange(4) + 1)]
    values = {"boolean": [True, False], "integer": [5, 30, 50, 90]}
    rows = [
        {field["name"]: DICE.choice(values[field["type"]]) for field in fields}
        for _ in range(DICE.choice([0, 1, 2, 60]))
    ]
    rows = rows or [{field["name"]: None for field in fields}]
    model = dproo.open(rows, neighbours=neighbours).synthesize(
        {"schema": {"fields": fields}}, epsilon=epsilon
    )
    assert len(model.rows(3)) == 3
    assert len(model.counts("c0").rows) >= 2


@pytest.mark.parametrize("epsilon", ["1e-30", "0.9e-12"])
def test_an_epsilon_that_no_float_can_follow_is_refused(epsilon):
    with pytest.raises(ValueError, match="epsilon must be at least 1e-12 for a table"):
        dproo.open(ROWS).synthesize(BOOK, epsilon=epsilon)


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_any_number_of_records_of_a_person_is_certified(neighbours):
    """The exact power of a ratio once took as many bits as there were steps."""
    opened = dproo.open(ROWS, neighbours=neighbours)
    for records in (10**4, 10**9):
        protection = replace(opened.protection, records=records)
        model = replace(opened, protection=protection).synthesize(BOOK, epsilon=1)
        assert model.certificate.holds
        assert 0.99 < model.certificate.epsilon <= 1
