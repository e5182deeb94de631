"""Synthetic columns: charged as one, drawn from the stated law, and at the stated cost."""

import csv
import json
import os
from collections import Counter
from fractions import Fraction

import duckdb
import pytest
from flint import arb, ctx
from support import commands
from support.chance import ALPHA, p_value
from support.releasing import synthesize

import dproo
from dproo.core.numbers import is_at_most_exp
from dproo.errors import DeltaRefused, PureBudgetError, ReleaseError
from dproo.ledger import Ledger
from dproo.releases import run as execute
from dproo.releases.many_values import SynthesisRequest
from dproo.releases.protection import Protection
from dproo.releases.value import SampleRequest

LETTERS = ["a", "b", "c"]
DATA = ["a"] * 600 + ["b"] * 300 + [None] * 100
BUDGET = {"alphabet": LETTERS, "rows": 50, "epsilon": "1", "delta": "1e-6"}


@pytest.fixture
def book(tmp_path):
    new = Ledger.create(tmp_path / "ledger.sqlite3")
    new.declare("patients", budget="3", delta="1e-6", neighbours="replace")
    return new


def binomial_delta(receipt):
    """Return the delta of a receipt's rows at its epsilon, by binomial sums of 200 bits.

    Nothing of the package is used: how many rows tell anything is binomial, and so is how
    many of those tell for one of two neighbours.
    """
    ctx.prec = 200
    high, low = (Fraction(receipt["dominating_pair"][side]) for side in ("high", "low"))
    high, low = (arb(p.numerator) / arb(p.denominator) for p in (high, low))
    epsilon = Fraction(receipt["spent"]["epsilon"])
    growth = (arb(epsilon.numerator) / arb(epsilon.denominator)).exp()
    rows, total = receipt["rows"], arb(0)
    for told in range(rows + 1):
        chance = arb(rows).bin(told) * (1 - high - low) ** (rows - told)
        if told > rows * (high + low) and chance * (high + low) ** told < 1e-20:
            break
        for ups in range(told + 1):
            gain = 1 - growth * (low / high) ** (2 * ups - told)
            if gain > 0:
                total += chance * arb(told).bin(ups) * high**ups * low ** (told - ups) * gain
    return total


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (DATA, {}),
        (DATA, {"sampler": "roo", "rows": 200, "epsilon": "2"}),
        (DATA, {"neighbours": "add-remove", "rows": 30}),
        (DATA, {"records_per_person": 3, "rows": 40}),
        (DATA, {"records_per_person": 3, "sampler": "roo", "rows": 40}),
        (DATA, {"sampler": "ds-roo", "rows": 20}),
    ],
)
def test_the_cost_on_the_receipt_is_found_by_another_computation(data, options):
    receipt = synthesize(data, **(BUDGET | options)).receipt
    assert receipt["way"] == "composed"
    spent = Fraction(receipt["spent"]["epsilon"])
    assert spent <= Fraction(receipt["epsilon"])
    assert binomial_delta(receipt) < 1.0000001e-6
    lower = receipt | {"spent": {"epsilon": str(spent - Fraction(1, 100))}}
    assert binomial_delta(lower) > 1e-6


@pytest.mark.parametrize("sampler", ["ls-roo", "roo"])
def test_the_pair_on_the_receipt_dominates_a_person_with_two_records(sampler):
    """By enumeration of every dataset of eight records that a person can turn into another."""
    request = SampleRequest(
        alphabet=dproo.Alphabet.of(["a", "b"]),
        epsilon=Fraction(1),
        sampler=sampler,
        protection=Protection(records=2),
    )
    made = SynthesisRequest(request=request, rows=5, delta=Fraction(1, 10**3))
    law = made.way(8).sampler
    pair = made.pair(law)
    datasets = [(a, b, 8 - a - b) for a in range(9) for b in range(9 - a)]
    for one in datasets:
        for other in datasets:
            if sum(abs(x - y) for x, y in zip(one, other, strict=True)) <= 4:
                p, q = law.pmf(one), law.pmf(other)
                for level in {Fraction(1), *(x / y for x, y in zip(p, q, strict=True))}:
                    found = sum(max(0, x - level * y) for x, y in zip(p, q, strict=True))
                    assert found <= pair.hockey_stick(level)


def test_rows_have_the_law_that_the_receipt_states():
    made = synthesize(DATA, **(BUDGET | {"rows": 20_000, "sampler": "roo"}))
    law = dproo.mechanism(
        made.receipt["sampler"], epsilon=made.receipt["epsilon_each"], n=1000, k=4
    )
    drawn = Counter(made.values)

    def law_on(counts):
        return dict(zip([*LETTERS, "other"], law.pmf(counts), strict=True))

    assert p_value(drawn, law_on([600, 300, 0, 100])) > ALPHA
    assert p_value(drawn, law_on([500, 400, 0, 100])) < ALPHA
    assert dict(made.receipt["values"]) == drawn


def test_a_hundred_thousand_rows_are_made_of_a_million_records(tmp_path):
    path, out = tmp_path / "rows.parquet", tmp_path / "out.parquet"
    duckdb.sql("SET enable_progress_bar = false")
    duckdb.sql("SELECT 'l' || (i % 20) AS code FROM range(1000000) AS t(i)").write_parquet(
        str(path)
    )
    made = synthesize(
        path,
        alphabet=[f"l{i}" for i in range(20)],
        column="code",
        rows=10**5,
        epsilon=1,
        delta="1e-6",
        out=out,
    )
    assert made.receipt["worst_alpha"] < 1e-4
    assert duckdb.sql(f"SELECT count(*) FROM '{out}'").fetchall() == [(10**5,)]
    assert binomial_delta(made.receipt) < 1.0000001e-6


def test_the_best_way_is_taken_by_public_parameters():
    def way(**options):
        receipt = synthesize(DATA, **(BUDGET | options)).receipt
        return receipt["way"], receipt["sampler"]

    assert way() == ("composed", "ls-roo")
    assert way(delta=0) == ("basic", "ls-roo")
    assert way(delta=0, sampler="roo") == ("joint", "roo")
    assert way(rows=1) == ("basic", "ls-roo")


def test_no_row_alone_costs_more_than_all_may():
    """Far more delta than records: without this bound a row would be a record as it is."""
    made = synthesize(DATA, **(BUDGET | {"rows": 1, "delta": "0.5"}))
    ratio = Fraction(made.receipt["certificate"]["ratio"])
    assert is_at_most_exp(ratio, Fraction(1))


def test_epsilon_and_delta_are_charged_before_the_first_record_is_read(book):
    seen = []

    def records():
        (account,) = Ledger(book.path).show()
        seen.append((account.left, account.delta_left))
        yield from DATA

    made = synthesize(records(), **BUDGET, ledger=book, dataset="patients")
    assert seen == [(2 * 10**9, 0)]
    assert book.released(made.receipt["ledger"]["entry"]) == made.receipt
    with pytest.raises(DeltaRefused, match="delta must be at most the 0 left"):
        synthesize(records(), **BUDGET, ledger=book, dataset="patients")
    assert len(seen) == 1
    pure = synthesize(DATA, **(BUDGET | {"delta": 0}), ledger=book, dataset="patients")
    assert "charge_atto_delta" not in pure.receipt["ledger"]


def test_a_pure_budget_pays_for_no_delta(ledger):
    with pytest.raises(PureBudgetError, match="is pure epsilon"):
        synthesize(DATA, **BUDGET, ledger=ledger, dataset="patients")
    assert ledger.show()[0].spent == 0


def test_under_add_remove_the_receipt_does_not_tell_n():
    receipts = [
        synthesize(["a"] * n, **BUDGET, neighbours="add-remove").receipt for n in (10, 5000)
    ]
    for receipt in receipts:
        assert not {"n", "worst_alpha"} & set(receipt)
        receipt.pop("values")
    assert receipts[0] == receipts[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rows": 0}, "rows must be at least 1, got 0."),
        ({"rows": 10**7}, "rows must be at most 1000000"),
        ({"delta": "1"}, "delta must be at least 0 and below 1, got '1'."),
        ({"delta": "1e-6x"}, "delta must be a decimal number"),
        ({"sampler": "laplace"}, "sampler must be one of"),
        ({"out": "rows.xlsx"}, "out must end in .csv or .parquet, got 'rows.xlsx'."),
        ({"out": "/no/such/folder/rows.csv"}, "out must be a new file in a folder that exists"),
        ({"out": "README.md"}, "out must end in .csv or .parquet"),
    ],
)
def test_a_refused_synthesis_reads_nothing_and_costs_nothing(book, options, message):
    def records():
        raise AssertionError("read")
        yield

    with pytest.raises(ValueError, match=message):
        synthesize(records(), **(BUDGET | options), ledger=book, dataset="patients")
    assert book.show()[0].spent == 0


def test_an_existing_file_is_not_written_over(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("mine")
    with pytest.raises(ValueError, match="out must be a new file"):
        synthesize(DATA, **BUDGET, out=path)
    assert path.read_text() == "mine"


def test_rows_that_cannot_be_written_fail_in_one_sentence_and_stay_charged(
    book, tmp_path, monkeypatch
):
    def full(values, *_):
        if values:
            raise OSError("canary-7f3a")

    out = tmp_path / "rows.csv"
    monkeypatch.setattr("dproo.releases.output.write_csv", full)
    with pytest.raises(ReleaseError) as failed:
        synthesize(DATA, **BUDGET, ledger=book, dataset="patients", out=out)
    assert str(failed.value) == (
        f"the rows could not be written to '{out}'. The charge stays, and the release is kept: "
        f"dproo ledger print 2 --ledger {book.path} prints it again, for free."
    )
    assert failed.value.__context__ is None
    assert not out.exists()
    assert [line.is_recorded for line in book.show()[0].lines] == [True]


def test_rows_stopped_in_the_writing_leave_no_file_and_say_where_they_are(
    book, tmp_path, monkeypatch
):
    def stop(values, *_):
        if values:
            raise KeyboardInterrupt

    monkeypatch.setattr("dproo.releases.output.write_csv", stop)
    with pytest.raises(KeyboardInterrupt, match=r"stopped\. The charge stays, .* ledger print 2"):
        synthesize(DATA, **BUDGET, ledger=book, dataset="patients", out=tmp_path / "rows.csv")
    assert not (tmp_path / "rows.csv").exists()


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_columns_that_a_file_cannot_hold_are_refused_before_the_charge(book, tmp_path, name):
    alphabet = {"a\udcff": ["f", "m"], "b": ["x"]}
    with pytest.raises(ValueError, match="out must be a file that can hold these columns"):
        synthesize(
            [("f", "x")] * 9,
            **(BUDGET | {"alphabet": alphabet}),
            ledger=book,
            dataset="patients",
            out=tmp_path / name,
        )
    assert book.show()[0].spent == 0
    assert [path.name for path in tmp_path.iterdir()] == [book.path.name]


def test_a_product_of_columns_is_written_with_its_columns(tmp_path):
    data = [("f", 1), ("m", 2), ("x", 9)] * 100
    alphabet = {"sex": ["f", "m"], 'a "b"': range(3)}
    for name in ("rows.csv", "rows.parquet"):
        made = synthesize(
            data, **(BUDGET | {"alphabet": alphabet, "rows": 300}), out=tmp_path / name
        )
        rows = duckdb.sql(f"SELECT * FROM '{tmp_path / name}'")
        assert rows.columns == ["sex", 'a "b"']
        expected = [
            ("other", "other") if value == "other" else (value["sex"], str(value['a "b"']))
            for value in made.values
        ]
        found = [tuple(map(str, row)) for row in rows.fetchall()]
        assert found == expected


def dproo_command(*arguments, folder):
    environment = os.environ | {"DPROO_LEDGER": str(folder / "l.sqlite3")}
    return commands.dproo(*arguments, env=environment | {"XDG_CONFIG_HOME": str(folder)})


def test_the_command_declares_synthesizes_and_is_refused(tmp_path):
    data, codes = tmp_path / "data.csv", tmp_path / "codes.txt"
    data.write_text("code\n" + "a\n" * 800 + "b\n" * 200)
    codes.write_text("a\nb\n")
    made = ["synthesize", str(data), "--column", "code", "--alphabet", str(codes), "--rows", "40"]
    made += ["--epsilon", "1", "--delta", "1e-6"]
    missing = dproo_command(*made, folder=tmp_path)
    assert (missing.returncode, missing.stdout) == (2, "")
    assert "Declare a budget first" in missing.stderr
    terms = ["--budget", "3", "--delta", "1.5e-6"]
    assert dproo_command("ledger", "init", str(data), *terms, folder=tmp_path).returncode == 0
    result = dproo_command(*made, folder=tmp_path)
    assert result.returncode == 0
    header, *rows = list(csv.reader(result.stdout.splitlines()))
    assert header == ["code"]
    assert len(rows) == 40
    assert {cell for (cell,) in rows} <= {"a", "b", "other"}
    assert "delta" in result.stderr
    refused = dproo_command(*made, folder=tmp_path)
    assert (refused.returncode, refused.stdout) == (3, "")
    assert "delta must be at most the 5E-7 left" in refused.stderr
    shown = dproo_command("ledger", "show", folder=tmp_path).stdout
    assert "2 left of 3, delta 5E-7 left of 0.0000015" in shown
    (account,) = json.loads(dproo_command("ledger", "show", "--json", folder=tmp_path).stdout)[
        "datasets"
    ]
    assert (account["delta"], account["delta_left"]) == ("0.0000015", "5E-7")
    out = tmp_path / "rows.parquet"
    free = [*made, "--no-ledger", "--out", str(out)]
    receipt = json.loads(dproo_command(*free, "--json", folder=tmp_path).stdout)
    assert receipt["rows"] == 40
    assert out.exists()
    again = dproo_command(*free, folder=tmp_path)
    assert again.returncode == 2
    assert "out must be a new file" in again.stderr


def test_the_plan_shows_all_ways_side_by_side(tmp_path):
    plan = ["plan", "--n", "1000", "--k", "20", "--epsilon", "1", "--releases", "100"]
    result = dproo_command(*plan, "--delta", "1e-6", "--json", folder=tmp_path)
    found = json.loads(result.stdout)
    cost = {(row["sampler"], row["way"]): row["epsilon"] for row in found["each"]}
    assert cost["roo", "basic"] == 100
    assert cost["roo", "composed"] == pytest.approx(3.967, abs=1e-3)
    together = {row["way"]: row["alpha"] for row in found["together"]}
    assert together["composed"] < together["basic"] < together["joint"]
    printed = dproo_command(*plan, "--delta", "1e-6", folder=tmp_path)
    assert "3.9672" in printed.stdout
    assert printed.stderr == ""
    much = dproo_command(*plan, "--delta", "0.001", folder=tmp_path)
    assert much.stderr == "Note: a delta of 1/n or more allows someone's record to be shown.\n"
    wrong = dproo_command(*plan, "--alpha", "0.1", folder=tmp_path)
    assert wrong.returncode == 2
    assert "--releases requires --n, --k and --epsilon, and no --alpha." in wrong.stderr


def test_an_entropy_failure_shows_nothing(book, monkeypatch):
    def broken(_):
        raise OSError("canary-7f3a")

    kind = dproo.core.draw.RandomSource
    sources = iter([kind(), kind(broken)])  # the first is for the rehearsal
    monkeypatch.setattr(execute, "RandomSource", lambda: next(sources))
    with pytest.raises(ReleaseError) as failed:
        synthesize(DATA, **BUDGET, ledger=book, dataset="patients")
    assert str(failed.value) == f"{execute.RELEASE_FAILED} The charge stays: entry 2 of 'patients'."
    assert [line.is_recorded for line in book.show()[0].lines] == [False]
