"""The release path: refused before it costs, charged before it reads, recorded before it shows."""

import signal
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.chance import ALPHA, p_value
from support.draws import SOAK
from support.releasing import sample

import dproo
from dproo import counting
from dproo.core.draw import RandomSource
from dproo.core.numbers import is_at_most_exp
from dproo.counting import boundary
from dproo.counting.source import Source
from dproo.counting.sources import descriptors
from dproo.errors import BusyLedgerError, ChargedError, ReleaseError, Stopped, UnpreparedError
from dproo.ledger import BudgetRefused, Ledger, LedgerError
from dproo.ledger.stores import sqlite as sqlite_store
from dproo.mechanisms import mechanism
from dproo.receipt import Receipt
from dproo.releases import run as execute
from dproo.releases.charge import Charge, dataset_name, reprint
from dproo.releases.protection import Groups, Protection
from dproo.releases.value import SampleRequest

CANARY = "canary-7f3a"
LETTERS = ["a", "b", "c"]
DATA = ["a"] * 6 + ["b"] * 3 + [None]


def charged(ledger, **options):
    known = {"alphabet": LETTERS, "epsilon": "0.4", "ledger": ledger, "dataset": "patients"}
    return known | options


@pytest.mark.one_of(3)
@pytest.mark.untraced
def test_the_law_of_many_releases_from_a_file_is_the_pmf(tmp_path):
    """The file is scanned once and released from many times; each release runs all the rest."""
    path = tmp_path / "data.csv"
    path.write_text("n,c\n" + "".join(f"1,{cell or ''}\n" for cell in DATA))
    request = SampleRequest(alphabet=dproo.Alphabet.of(LETTERS), epsilon=Fraction(1))
    counts = counting.prepare(path, alphabets=[request.alphabet], columns=["c"]).count()
    assert list(counts) == [6, 3, 0, 1]
    scan = counting.prepare(counts, alphabets=[request.alphabet])
    prepared = execute.Prepared(
        request=request, scan=scan, charge=Charge(), source=Source(data=counts)
    )
    drawn = Counter(prepared.run().value for _ in range(100_000 if SOAK else 10_000))
    letters = [*LETTERS, "other"]
    law = dict(zip(letters, mechanism("ls-roo", epsilon=1, n=10, k=4).pmf(counts), strict=True))
    assert p_value(drawn, law) > ALPHA
    for epsilon in ("0.8", "1.25") if SOAK else ("0.6", "1.6"):
        off = mechanism("ls-roo", epsilon=epsilon, n=10, k=4).pmf(counts)
        assert p_value(drawn, dict(zip(letters, off, strict=True))) < ALPHA


@pytest.mark.one_of(3)
@pytest.mark.untraced
def test_the_law_of_the_records_of_whole_releases_from_a_file(tmp_path):
    """Each release is of one record for each of 2,000 groups with the same counts."""
    path = tmp_path / "data.csv"
    groups = range(2_000)
    rows = (f"{group},{cell or ''}\n" for group in groups for cell in DATA)
    path.write_text("g,c\n" + "".join(rows))
    drawn = Counter()
    releases = 50 if SOAK else 8
    for _ in range(releases):
        released = sample(
            path,
            alphabet=LETTERS,
            column="c",
            epsilon=1,
            by={"g": groups},
            neighbours="add-remove",
        )
        drawn.update(value["c"] for value in released.values)
    assert drawn.total() == releases * len(groups)
    letters = [*LETTERS, "other"]

    def law(epsilon):
        sampler = mechanism("ls-roo", epsilon=epsilon, k=4, neighbours="add-remove")
        return dict(zip(letters, sampler.pmf([6, 3, 0, 1]), strict=True))

    assert p_value(drawn, law("1")) > ALPHA
    for epsilon in ("0.8", "1.25") if SOAK else ("0.6", "1.6"):
        assert p_value(drawn, law(epsilon)) < ALPHA


def test_whole_releases_from_a_file_stay_within_the_alphabet(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("n,c\n" + "".join(f"1,{cell or ''}\n" for cell in DATA))
    drawn = {
        sample(path, alphabet=LETTERS, column="c", epsilon=1).value
        for _ in range(30 if SOAK else 9)
    }
    assert drawn <= {*LETTERS, "other"}


def test_the_charge_is_durable_before_the_first_record_is_read(ledger):
    seen = []

    def records():
        seen.append(Ledger(ledger.path).show()[0].left)
        yield from DATA

    drawn = sample(records(), **charged(ledger))
    assert seen == [600_000_000]
    assert drawn.receipt.ledger.charge_nano_epsilon == 400_000_000
    assert ledger.released(drawn.receipt.ledger.entry) == drawn.receipt.as_dict()


def test_a_refused_release_reads_nothing_and_costs_nothing(ledger):
    def records():
        raise AssertionError("read")
        yield

    for options in (
        {"epsilon": "1.1"},
        {"epsilon": "0"},
        {"sampler": "gauss"},
        {"size": 0},
        {"size": 10**6 + 1},
        {"alphabet": None},
        {"alphabet": []},
        {"neighbours": "add-remove"},
        {"records_per_person": 2},
        {"dataset": "nurses"},
        {"dataset": None},
        {"sampler": "ds-roo", "neighbours": "add-remove"},
    ):
        with pytest.raises((ValueError, TypeError, LedgerError)):
            sample(records(), **charged(ledger, **options))
    with pytest.raises(BudgetRefused, match="at most the 1 left of the budget"):
        sample(records(), **charged(ledger, epsilon="1.1"))
    assert ledger.show()[0].spent == 0


def assert_failed_privately(ledger, failed):
    """Assert one fixed sentence without a cause, the charge kept, and nothing recorded."""
    error = failed.value
    sentence, _, kept = str(error).partition(" The charge stays: entry 2 of 'patients'.")
    assert sentence in {execute.RELEASE_FAILED, counting.COUNT_FAILED}
    assert kept in {"", " 'dproo ledger print 2' prints the release if it was recorded."}
    assert "The charge stays" in str(error)
    assert error.__cause__ is None
    assert error.__context__ is None
    assert ledger.show()[0].spent == 400_000_000
    assert [line.is_recorded for line in ledger.show()[0].lines] == [False]


def test_a_source_that_breaks_says_nothing_of_its_data_and_stays_charged(ledger):
    def records():
        yield CANARY
        raise ValueError(CANARY)

    with pytest.raises(ReleaseError) as failed:
        sample(records(), **charged(ledger))
    assert_failed_privately(ledger, failed)


def test_an_entropy_failure_says_nothing_and_shows_nothing(ledger, monkeypatch):
    def broken(_):
        raise OSError(CANARY)

    sources = iter([RandomSource(), RandomSource(broken)])  # the first is for the rehearsal
    monkeypatch.setattr(execute, "RandomSource", lambda: next(sources))
    with pytest.raises(ReleaseError) as failed:
        sample(DATA, **charged(ledger))
    assert_failed_privately(ledger, failed)


@pytest.mark.parametrize("kind", [OSError, MemoryError, ValueError])
def test_a_record_that_fails_in_any_way_does_not_cost_the_release(ledger, monkeypatch, kind):
    def failed(*_):
        raise kind(CANARY)

    monkeypatch.setattr(Ledger, "record", failed)
    release = sample(DATA, **charged(ledger))
    assert release.receipt.ledger.head is None
    assert "and could not record it" in release.receipt.warnings[-1]
    assert CANARY not in str(release.receipt)
    assert ledger.show()[0].spent == 400_000_000


def obstructed(ledger, monkeypatch, where, obstacle):
    """Put an obstacle in the way once the release is drawn, and take it away after it."""
    run = execute.Prepared.run

    def late(self):
        drawn = run(self)
        if obstacle == "a full disk":
            monkeypatch.setattr(sqlite_store, "_commit", full)
        elif obstacle == "a ledger that is only read":
            pragmas = (*sqlite_store._PRAGMAS, "query_only = ON")
            monkeypatch.setattr(sqlite_store, "_PRAGMAS", pragmas)
        elif obstacle == "a writer that never ends":
            monkeypatch.setattr("dproo.ledger.ledger._PATIENCE", 0.5)
            where.enter_context(closing(sqlite3.connect(ledger.path))).execute("BEGIN IMMEDIATE")
        elif obstacle == "a witness that is gone":
            monkeypatch.setenv("XDG_STATE_HOME", "/dev/null")
        elif obstacle == "a ledger that was moved":
            where.callback(ledger.path.rename(ledger.path.with_name("moved")).rename, ledger.path)
        elif obstacle == "a sync that fails":
            monkeypatch.setattr("dproo.ledger.ledger.write_notes", unsynced)
        return drawn

    def full(_, path):
        sqlite_store._fail(path, sqlite3.SQLITE_FULL)

    def unsynced(_):
        raise ChargedError("the ledger could not be synced.")

    monkeypatch.setattr(execute.Prepared, "run", late)


@pytest.mark.parametrize(
    "obstacle",
    [
        "a full disk",
        "a ledger that is only read",
        "a writer that never ends",
        "a witness that is gone",
        "a ledger that was moved",
        "a sync that fails",
    ],
)
def test_a_release_that_was_charged_and_cannot_be_recorded_is_shown_and_says_so(
    ledger, monkeypatch, obstacle
):
    impatient = Ledger(ledger.path, timeout=0.01)
    with ExitStack() as where, monkeypatch.context() as patch:
        obstructed(ledger, patch, where, obstacle)
        shown = dproo.open(DATA, ledger=impatient, dataset="patients").value(
            None, LETTERS, epsilon="0.4"
        )
    assert shown.value in {*LETTERS, "other"}
    assert shown.receipt.warnings[-1].startswith("The ledger charged this release, entry 2, and")
    assert shown.receipt.as_dict()["ledger"] == {
        "dataset": "patients",
        "entry": 2,
        "charge_nano_epsilon": 400_000_000,
    }
    assert Receipt.of(shown.receipt.as_dict()) == shown.receipt
    again = reprint(shown.receipt, ledger.path)
    assert "If the release was recorded after all, dproo ledger print 2" in again
    (line,) = ledger.show()[0].lines
    assert line.is_recorded == (obstacle == "a sync that fails")


def test_a_record_waits_longer_than_the_charge_would_have(ledger):
    impatient = Ledger(ledger.path, timeout=0.01)
    entry = impatient.reserve("patients", epsilon="0.4", neighbours="replace")
    with ThreadPoolExecutor() as pool, closing(sqlite3.connect(ledger.path)) as other:
        other.execute("BEGIN IMMEDIATE")
        recorded = pool.submit(impatient.record, entry, {"values": ["flu"]})
        with pytest.raises(TimeoutError):
            recorded.result(timeout=0.3)
        other.rollback()
        assert recorded.result() == ledger.released(2)


class PanicException(BaseException):
    """As a library in Rust raises it: no Exception, and it quotes what it was working on."""


def ends(kind):
    """Return records that end so, while something else that quotes them is handled."""

    def records():
        yield CANARY
        try:
            int(CANARY)
        except ValueError:
            raise kind(CANARY)  # noqa: B904 - as a signal comes

    return records()


@pytest.mark.parametrize("kind", [MemoryError, RecursionError, PanicException, GeneratorExit])
def test_whatever_ends_a_release_is_one_sentence_that_says_the_charge_stays(ledger, kind):
    with pytest.raises(ReleaseError) as failed:
        sample(ends(kind), **charged(ledger))
    assert_failed_privately(ledger, failed)


def test_an_interrupt_stays_one_and_says_that_the_charge_stays(ledger):
    with pytest.raises(KeyboardInterrupt) as failed:
        sample(ends(KeyboardInterrupt), **charged(ledger))
    assert str(failed.value) == (
        "the release was stopped. The charge stays: entry 2 of 'patients'."
    )
    assert failed.value.__context__ is None
    assert ledger.show()[0].spent == 400_000_000


def test_an_exit_stays_one_with_its_own_code_and_says_that_the_charge_stays(ledger):
    with pytest.raises(SystemExit) as failed:
        sample(ends(SystemExit), **charged(ledger))
    assert failed.value.code == 4
    assert failed.value.__notes__ == [
        "the release was stopped. The charge stays: entry 2 of 'patients'."
    ]
    assert failed.value.__context__ is None


def test_an_interrupt_while_charging_does_not_say_that_nothing_was_charged(ledger, monkeypatch):
    reserve = Ledger.reserve

    def stopped(*arguments, **options):
        reserve(*arguments, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(Ledger, "reserve", stopped)
    with pytest.raises(KeyboardInterrupt, match="The charge may stand; see 'dproo ledger show'"):
        sample(DATA, **charged(ledger))


@pytest.mark.parametrize("is_timed", [False, True])
def test_a_failure_while_charging_does_not_say_that_data_was_read(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, *, is_timed: bool
) -> None:
    """Such as a lack of memory, or a limit on time of the program's own."""

    def failed(*_: object, **__: object) -> None:
        if is_timed:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGALRM)
            time.sleep(0.2)
        raise MemoryError

    def late(*_: object) -> None:
        raise TimeoutError

    monkeypatch.setattr(Ledger, "reserve", failed)
    before = signal.signal(signal.SIGALRM, late)
    try:
        with pytest.raises(ChargedError, match=r"^the release failed before data was read\. The"):
            sample(DATA, **charged(ledger))
    finally:
        signal.signal(signal.SIGALRM, before)


def test_an_interrupt_while_recording_says_how_to_print_the_release(ledger, monkeypatch):
    record = Ledger.record

    def stopped(*arguments):
        record(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(Ledger, "record", stopped)
    with pytest.raises(KeyboardInterrupt, match="'dproo ledger print 2' prints the release if it"):
        sample(DATA, **charged(ledger))
    assert ledger.released(2)["values"][0] in {*LETTERS, "other"}


def test_an_interrupt_before_the_charge_is_none_of_ours(ledger, monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(counting.Source, "scan", stopped)
    with pytest.raises(KeyboardInterrupt) as failed:
        sample(DATA, **charged(ledger))
    assert str(failed.value) == ""
    assert ledger.show()[0].spent == 0


def test_no_release_accepts_the_printed_table_or_a_seed():
    for option in ("as_printed", "seed", "source"):
        with pytest.raises(TypeError, match=option):
            sample(DATA, alphabet=LETTERS, epsilon=1, **{option: 1})
    with pytest.raises(ValueError, match="sampler must be one of"):
        sample(DATA, alphabet=LETTERS, epsilon=1, sampler="laplace")


def test_an_argument_of_another_kind_is_refused_by_its_name():
    for option in ("records_per_person", "missing_person", "column"):
        with pytest.raises(TypeError, match=f"dproo.open has no argument '{option}'"):
            dproo.open(DATA, **{option: 1})
    rows = dproo.open([{"ward": "A", "code": "a"}] * 10)
    with pytest.raises(TypeError, match=r"by must be a dproo.Groups, got \{'ward'"):
        rows.values("code", ["a", "b"], epsilon=1, by={"ward": ["A"]})
    book = {"schema": {"fields": [{"name": "code", "type": "string", "categories": ["a", "b"]}]}}
    with pytest.raises(TypeError, match=r"by must be a dproo.Groups, got \{'ward'"):
        rows.rows(book, epsilon=1, by={"ward": ["A"]})


def test_an_unknown_relation_is_refused():
    with pytest.raises(ValueError, match="neighbours must be one of add-remove, replace"):
        sample(DATA, alphabet=LETTERS, epsilon=1, neighbours="both")


def test_under_add_remove_the_receipt_does_not_tell_n():
    receipt = sample(DATA, alphabet=LETTERS, epsilon=1, neighbours="add-remove").receipt.as_dict()
    assert not {"n", "worst_alpha"} & set(receipt)
    assert receipt["certificate"]["holds"]


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("sampler", ["roo", "ls-roo"])
def test_several_records_are_released_for_one_epsilon(sampler, neighbours):
    data = ["a"] * 600 + ["b"] * 300 + ["z"] * 100
    drawn = sample(
        data, alphabet=LETTERS, epsilon=1, size=7, sampler=sampler, neighbours=neighbours
    )
    assert len(drawn.values) == 7
    assert set(drawn.values) <= {*LETTERS, "other"}
    assert drawn.receipt.certificate["epsilon"] <= 1
    joint = {"roo": "drawn jointly", "ls-roo": "one from each of as many disjoint blocks"}
    assert drawn.receipt.details["several"] == joint[sampler]


def test_more_records_than_there_are_cannot_be_released():
    with pytest.raises(ReleaseError, match="the data has fewer than 11 records"):
        sample(DATA, alphabet=LETTERS, epsilon=1, size=11, sampler="roo")
    with pytest.raises(ReleaseError, match=r"^the data has no records\."):
        sample([], alphabet=LETTERS, epsilon=1)


def test_a_person_with_several_records_is_protected_by_every_sampler():
    for sampler in ("roo", "ls-roo", "ds-roo"):
        drawn = sample(DATA, alphabet=LETTERS, epsilon=1, sampler=sampler, records_per_person=4)
        assert drawn.receipt.protects == "one person with up to 4 records"
    one = SampleRequest(
        alphabet=dproo.Alphabet.of(LETTERS),
        epsilon=Fraction(1),
        sampler="ls-roo",
        protection=Protection(records=4),
    )
    assert one.sampler_for(10).epsilon == Fraction(1, 4)


def test_a_person_with_records_in_several_groups_is_protected():
    """Two records in two groups: the product of both ratios is what a person can change."""
    groups = Groups("ward", ["A", "B"])
    for sampler, neighbours in [("roo", "add-remove"), ("ls-roo", "add-remove")]:
        request = SampleRequest(
            alphabet=dproo.Alphabet.of(LETTERS),
            epsilon=Fraction(1),
            sampler=sampler,
            groups=groups,
            column="c",
            protection=Protection(neighbours=neighbours, records=2),
        )
        law = request.sampler_for(1)
        empty, one = dproo.Counts.of([0] * 4), dproo.Counts.of([1, 0, 0, 0])
        ratio = law.pmf(one)[0] / law.pmf(empty)[0]
        assert is_at_most_exp(ratio * ratio, request.cost)
        assert is_at_most_exp(dproo.certify(law).ratio ** 2, request.cost)


def test_auto_is_the_default_and_says_what_it_took_and_why():
    few = sample(DATA, alphabet=LETTERS, epsilon=1).receipt.as_dict()
    assert few["sampler"] == "ls-roo"
    assert few["sampler_reason"].startswith("It has the smallest proven worst case: 11 % of draws")
    one = sample(DATA[:1], alphabet=LETTERS, epsilon=1).receipt.as_dict()
    assert one["sampler_reason"] == "No sampler has a noticeably smaller proven worst case here."
    many = sample(DATA * 100, alphabet=[*LETTERS, *range(9)], epsilon=1).receipt.as_dict()
    assert many["sampler"] == "bal-roo"
    assert many["sampler_reason"].endswith("; ls-roo has 0.44 %.")
    assert many["worst_alpha"] <= 0.0024
    named = sample(DATA, alphabet=LETTERS, epsilon=1, sampler="roo").receipt.as_dict()
    assert named["sampler_reason"] is None


def test_auto_looks_at_no_number_that_is_private():
    """Two datasets of different sizes, the same choice and the same sentence."""
    few, many = (
        sample(data, alphabet=range(30), epsilon=1, neighbours="add-remove").receipt.as_dict()
        for data in ([1], [1] * 10**6)
    )
    assert few["sampler"] == many["sampler"] == "bal-roo"
    assert few["sampler_reason"] == many["sampler_reason"]
    assert "at 310 records, since their number is private" in few["sampler_reason"]


def test_auto_draws_jointly_where_that_is_better():
    asked = {"alphabet": LETTERS, "epsilon": 10, "records_per_person": 10}
    assert sample(DATA * 100, **asked).receipt.sampler == "roo"
    several = sample(DATA * 100, alphabet=range(30), epsilon=1, size=3).receipt.as_dict()
    assert several["sampler"] == "bal-roo"
    assert several["several"] == "one from each of as many disjoint blocks"


def test_the_uniform_policy_has_no_extra_letter():
    alphabet = dproo.Alphabet.of(LETTERS, policy="uniform")
    receipt = sample(DATA, alphabet=alphabet, epsilon=1).receipt.as_dict()
    assert (receipt["k"], receipt["n"]) == (3, 10)
    with pytest.raises(ValueError, match="alphabet must have at least 2 letters, got 1"):
        sample(DATA, alphabet=dproo.Alphabet.of(["a"], policy="uniform"), epsilon=1)


def test_a_trillion_letters_are_released_from():
    alphabet = {"x": range(10**6), "y": range(10**6)}
    drawn = sample([(1, 2), (3, 4)] * 50, alphabet=alphabet, epsilon=10)
    assert drawn.receipt.details["k"] == 10**12 + 1
    assert drawn.value == "other" or set(drawn.value) == {"x", "y"}


def wards(path):
    rows = [("A", "a")] * 30 + [("A", "zzz")] * 5 + [("B", "b")] * 20 + [("?", "a")] * 3
    path.write_text("ward,c\n" + "".join(f"{ward},{cell}\n" for ward, cell in rows))
    return path


@pytest.mark.parametrize(
    ("options", "cost"),
    [
        ({"neighbours": "add-remove"}, "1"),
        ({"neighbours": "replace"}, "2"),
        ({"neighbours": "replace", "are_groups_public": True}, "1"),
    ],
)
def test_one_record_is_released_for_each_public_group(tmp_path, options, cost):
    path = wards(tmp_path / "data.csv")
    book = Ledger.create(tmp_path / "ledger.sqlite3")
    book.declare("wards", budget="2", neighbours=options["neighbours"])
    drawn = sample(
        path,
        alphabet=LETTERS,
        column="c",
        epsilon=1,
        by={"ward": ["A", "B", "C"]},
        ledger=book,
        dataset="wards",
        **options,
    )
    assert [value["ward"] for value in drawn.values] == ["A", "B", "C"]
    assert {value["c"] for value in drawn.values} <= {*LETTERS, "other", None}
    assert str(drawn.receipt.epsilon) == cost
    assert book.show()[0].spent == int(cost) * 10**9
    is_empty_shown = drawn.values[2]["c"] is None
    assert is_empty_shown == options.get("are_groups_public", False)


def test_the_counts_of_a_group_hold_every_cell_of_it(tmp_path):
    path = wards(tmp_path / "data.csv")
    groups = Groups("ward", ["A", "B", "C"])
    alphabet = dproo.Alphabet.of(LETTERS)
    request = SampleRequest(alphabet=alphabet, column="c", epsilon=Fraction(1), groups=groups)
    frame = pd.read_csv(path)
    for data in (path, frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        counts = counting.prepare(data, alphabets=[request.counted_alphabets[0]]).count()
        assert counts.n == 58
        assert [list(part) for part in counts.split(alphabet.k)] == [
            [30, 0, 0, 5],
            [0, 20, 0, 0],
            [0, 0, 0, 0],
        ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": {"": ["A"]}}, "by must be the name of a column"),
        ({"by": {"ward": {"x": ["A"]}}}, "groups must be values of one column"),
        ({"by": {"c": ["A"]}}, "by must be a column that is not released"),
        ({"by": {"ward": ["A"]}, "column": None}, "column must be given with groups"),
        ({"by": {"ward": ["A"]}, "size": 2}, "by must be used with one record per group"),
    ],
)
def test_wrong_groups_are_refused(tmp_path, options, message):
    known = {"alphabet": LETTERS, "column": "c", "epsilon": 1} | options
    with pytest.raises(ValueError, match=message):
        sample(wards(tmp_path / "data.csv"), **known)


def test_a_value_is_of_a_column_that_a_code_book_describes():
    field = {"name": "age", "type": "integer", "bins": [0, 18, 65], "parents": ["sex"]}
    sex = {"name": "sex", "type": "string", "categories": [{"value": "f", "label": "female"}]}
    book = dproo.CodeBook.of({"schema": {"fields": [field, sex]}})
    data = dproo.open([{"age": " 20", "sex": "f"}] * 50)
    assert data.value("age", book, epsilon=1000).value == "[18, 65)"  # read as a number, as in rows
    assert data.value("sex", book, epsilon=1000).value == "f"
    with pytest.raises(ValueError, match=r"column must be described by the code book, got 'ward'"):
        data.value("ward", book, epsilon=1)
    strict = dproo.CodeBook.of({"schema": {"fields": [field | {"outside": 3}]}})
    with pytest.raises(ValueError, match="must not have 'outside' in the code book for one value"):
        data.value("age", strict, epsilon=1)


@pytest.fixture
def two_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    """The ledger of two files of one name, in two folders; each has a budget of its own."""
    for name, cells in (("one", "flu\n" * 50), ("two", "cold\n" * 77)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.csv").write_text(f"c\n{cells}")
    monkeypatch.chdir(tmp_path / "one")
    ledger = Ledger.create(tmp_path / "one" / "ledger.sqlite3")
    for name, pattern in (("one", "x.csv"), ("two", "x.csv"), ("one", "?.csv"), ("two", "?.csv")):
        ledger.declare(str(tmp_path / name / pattern), budget="9", neighbours="replace")
    return ledger


def spent(ledger: Ledger) -> set[str]:
    """Return the budgets that were charged, as folder and name."""
    return {"/".join(Path(one.dataset).parts[-2:]) for one in ledger.show() if one.spent}


@pytest.mark.parametrize("name", ["x.csv", Path("x.csv"), "./x.csv", "../one/x.csv", "?.csv"])
def test_a_dataset_stays_the_same_when_the_process_moves(
    two_files: Ledger, name: str | Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its name, its records, and its ledger."""
    data = dproo.open(name, ledger="ledger.sqlite3")
    monkeypatch.chdir(tmp_path / "two")
    made = data.value("c", ["flu", "cold"], epsilon="1")
    assert made.receipt.n == 50
    assert spent(two_files) == {f"one/{Path(name).name}"}
    assert data.budget.spent == 10**9
    dproo.open(name, ledger=two_files).value("c", ["flu", "cold"], epsilon="1")
    folder = "one" if str(name).startswith("../") else "two"
    assert spent(two_files) == {f"one/{Path(name).name}", f"{folder}/{Path(name).name}"}


def test_a_pattern_finds_its_own_folder_whatever_that_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read as a pattern itself, the name of the folder is that of another one."""
    for name, cells in (("_one[1]", "flu\n" * 50), ("_one1", "cold\n" * 77)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.csv").write_text(f"c\n{cells}")
    monkeypatch.chdir(tmp_path / "_one[1]")
    ledger = Ledger.create(tmp_path / "ledger.sqlite3")
    ledger.declare(dataset_name("?.csv"), budget="9", neighbours="replace")
    data = dproo.open("?.csv", ledger=ledger)
    monkeypatch.chdir(tmp_path)
    assert data.value("c", ["flu", "cold"], epsilon="1").receipt.n == 50
    assert data.budget.spent == 10**9
    (tmp_path / "link").symlink_to(tmp_path / "_one[1]")
    linked = dproo.open("link/?.csv", ledger=ledger)
    assert linked.value("c", ["flu", "cold"], epsilon="1").receipt.n == 50
    assert linked.budget.spent == 2 * 10**9
    (tmp_path / "other[2]").mkdir()
    monkeypatch.chdir(tmp_path / "other[2]")
    beside = dproo.open("../link/?.csv", ledger=ledger)
    assert beside.value("c", ["flu", "cold"], epsilon="1").receipt.n == 50


def test_the_file_that_a_link_means_at_the_release_is_charged(
    two_files: Ledger, tmp_path: Path
) -> None:
    link = tmp_path / "latest.csv"
    link.symlink_to(tmp_path / "one" / "x.csv")
    data = dproo.open(link, ledger=two_files)
    for name, n in (("one", 50), ("two", 77)):
        link.unlink()
        link.symlink_to(tmp_path / name / "x.csv")
        assert data.value("c", ["flu", "cold"], epsilon="1").receipt.n == n
        assert data.budget.spent == 10**9
    assert spent(two_files) == {"one/x.csv", "two/x.csv"}


@pytest.fixture
def linked(two_files: Ledger, tmp_path: Path) -> Callable[[str], None]:
    """What makes the folder ``now`` mean another one; it is one at first."""
    del two_files

    def point(name: str) -> None:
        (tmp_path / "now").unlink(missing_ok=True)
        (tmp_path / "now").symlink_to(tmp_path / name)

    point("one")
    return point


@pytest.mark.parametrize("name", ["x.csv", "?.csv"])
def test_all_stages_read_the_files_that_were_charged(
    linked: Callable[[str], None], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = execute.Prepared.run

    def elsewhere(prepared: execute.Prepared) -> execute.Release:
        linked("two")
        (tmp_path / "one" / "x.csv").unlink()  # what is open stays
        return run(prepared)

    (tmp_path / "one" / "x.csv").write_text("c\n" + "flu\n" * 5000)
    (tmp_path / "two" / "x.csv").write_text("c\n" + "cold\n" * 5000)
    path = str(tmp_path / "one" / name)
    ledger = Ledger.create(tmp_path / "stages.sqlite3")
    ledger.declare(path, budget="9", delta="1e-3", neighbours="replace")
    monkeypatch.setattr(execute.Prepared, "run", elsewhere)
    data = dproo.open(tmp_path / "now" / name, ledger=ledger)
    book = data.codebook(epsilon="8", delta="1e-6")
    assert book.letters("c").axes[0][0] == "flu"


@pytest.mark.parametrize("name", ["x.csv", "?.csv"])
@pytest.mark.parametrize("at", ["before", "after"])
def test_a_link_that_changes_while_files_are_opened_refuses_the_release(
    two_files: Ledger,
    linked: Callable[[str], None],
    name: str,
    at: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Just before they are opened, the right ones are charged; just after, none."""
    opened = descriptors.OpenPath.of

    def swapped(path: Path) -> descriptors.OpenPath:
        linked("two" if at == "before" else "one")
        found = opened(path)
        linked("two")
        return found

    data = dproo.open(tmp_path / "now" / name, ledger=two_files)
    monkeypatch.setattr(descriptors.OpenPath, "of", swapped)
    if at == "before":
        assert data.value("c", ["flu", "cold"], epsilon="1").receipt.n == 77
        assert spent(two_files) == {f"two/{name}"}
    else:
        with pytest.raises(ValueError, match="data must mean the same files while"):
            data.value("c", ["flu", "cold"], epsilon="1")
        assert spent(two_files) == set()


@pytest.mark.parametrize("failing", ["reserve", "record"])
def test_a_drawn_release_is_recorded_even_if_the_system_has_no_thread_left(
    failing: str, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has been charged; before the charge, the release is refused instead."""

    class Refused(threading.Thread):
        def start(self) -> None:
            raise RuntimeError("can't start new thread")

    make = execute.Prepared.run if failing == "record" else execute.Prepared.rehearse

    def late(self: execute.Prepared) -> object:
        made = make(self)
        monkeypatch.setattr(boundary, "Thread", Refused)
        return made

    monkeypatch.setattr(execute.Prepared, make.__name__, late)
    data = dproo.open(["flu"] * 9, ledger=ledger, dataset="patients")
    if failing == "reserve":
        with pytest.raises(UnpreparedError, match="something that it needs fails"):
            data.value("c", ["flu", "cold"], epsilon="0.1")
        assert ledger.budget("patients").spent == 0
    else:
        receipt = data.value("c", ["flu", "cold"], epsilon="0.1").receipt
        assert ledger.released(receipt.ledger.entry)["values"] == receipt.as_dict()["values"]


@pytest.mark.parametrize("spent", [0, None])
def test_an_interrupt_between_steps_says_that_nothing_was_charged_only_if_it_is_known(
    spent: int | None, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable(_: Ledger, dataset: str) -> Any:
        raise BusyLedgerError(f"the ledger was held by other processes for {dataset!r}.")

    if spent is None:
        monkeypatch.setattr(Ledger, "budget", unreadable)
    for dataset in ("patients", "another"):
        end = KeyboardInterrupt if spent == 0 else Stopped
        with pytest.raises(KeyboardInterrupt) as raised, execute.between_steps(ledger, dataset):
            raise KeyboardInterrupt
        assert type(raised.value) is end
        assert ("may stand" in str(raised.value)) == (spent is None)
