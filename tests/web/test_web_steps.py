"""The steps to a row, over the socket: columns, code book, budget, plan, check, order, release."""

import asyncio
import errno
import io
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import zipfile
from base64 import b64decode
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

import openpyxl
import pyarrow as pa
import pytest
from pyarrow import parquet
from starlette.requests import Request
from starlette.responses import Response
from support.commands import Started
from support.serving import COMMAND, ORDER, PATIENCE, admissions, listed, served

import dproo
from dproo import Protection
from dproo.core.numbers import percent
from dproo.core.progress import follow
from dproo.ledger import Ledger, Limits
from dproo.mechanisms import mechanism
from dproo.releases.open_value import OpenRequest
from dproo.report import Verdict
from dproo.web import answering, releases
from dproo.web.answering import while_wanted
from dproo.web.application import Api
from dproo.web.folder import Folder
from dproo.web.orders import Order
from dproo.web.pool import Pool

pytestmark = pytest.mark.one_of(4)

FILE = {"source": "file", "data": "admissions.csv"}
FIELDS = [
    {"name": "diagnosis", "type": "string", "categories": ["I50", "J18"]},
    {"name": "ward", "type": "string", "categories": ["north", "south"], "parents": ["diagnosis"]},
]
BOOK = {"schema": {"fields": FIELDS}}
DAYS = {"minimum": "0001-01-01", "maximum": "9999-12-31"}
ALL_DAYS = {"schema": {"fields": [{"name": "day", "type": "date", "constraints": DAYS}]}}
ROW = {**FILE, "what": "row", "codebook": BOOK, "epsilon": "1"}
BUDGET = {**FILE, "budget": "2", "neighbours": "replace", "records_per_person": "1"}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder, ledger = admissions(tmp_path_factory.mktemp("steps"), budget="100")
    with served(folder, ledger) as page:
        yield page


@pytest.fixture
def empty(tmp_path):
    """A page of somebody who has no ledger yet."""
    folder, ledger = admissions(tmp_path, budget="1")
    ledger.unlink()
    with served(folder, tmp_path / "new" / "ledger.sqlite3") as page:
        yield page


def printed(*arguments, cwd):
    done = subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, check=True, cwd=cwd
    )
    return json.loads(done.stdout)


def unbroken(share):
    """Return a share as the page writes it: no line begins with its sign."""
    return share.replace(" %", "\u00a0%")


def refusal(answer):
    assert (answer.status, answer.json["exit_code"]) == (400, 2), answer.json
    return answer.json["error"]


def test_the_columns_of_a_file_are_those_of_its_header(page):
    found = page.post("/api/columns", FILE)
    assert found.json["from"] == "header"
    assert [column["name"] for column in found.json["columns"]] == ["diagnosis", "ward"]
    assert found.json["dataset"] == str(page.folder / "admissions.csv")
    assert b"CANARY" not in found.body
    assert b"north" not in found.body


def test_the_columns_of_a_sheet_and_of_a_packed_file_are_those_of_a_header(page):
    with zipfile.ZipFile(page.folder / "packed.csv.zip", "w") as packed:
        packed.writestr("packed.csv", "ward,age\nnorth,37\n")
    sheet = openpyxl.Workbook()
    for row in (["ward", "age"], ["north", 37]):
        sheet.active.append(row)
    sheet.save(page.folder / "sheet.xlsx")
    (page.folder / "text.txt").write_text("ward;age\nnorth;37\n")
    for name, sign in (("packed.csv.zip", ""), ("sheet.xlsx", ""), ("text.txt", ";")):
        asked = {"source": "file", "data": name, "delimiter": sign}
        found = page.post("/api/columns", asked).json
        assert (found["from"], len(found["columns"])) == ("header", 2)


def test_the_columns_of_a_schema_have_types_and_no_values(page):
    table = pa.table({"age": [37], "sex": ["CANARY-7f3a"], "weight": [61.5], "ill": [True]})
    parquet.write_table(table, page.folder / "typed.parquet")
    found = page.post("/api/columns", {"source": "file", "data": "typed.parquet"})
    types = {column["name"]: column["type"] for column in found.json["columns"]}
    assert types == {"age": "integer", "sex": "string", "weight": "number", "ill": "boolean"}
    assert (found.json["from"], b"CANARY" in found.body) == ("schema", False)


def test_a_first_line_that_looks_like_a_record_is_not_shown(page):
    (page.folder / "headless.csv").write_text("CANARY-7f3a,17\nb,18\n")
    answer = page.post("/api/columns", {"source": "file", "data": "headless.csv"})
    assert "its first line looks like a record" in refusal(answer)
    assert b"CANARY" not in answer.body


def test_a_separator_is_the_one_of_the_header_or_may_be_told(page):
    (page.folder / "semicolons.csv").write_text("a;b\n1;2\n")
    (page.folder / "both.csv").write_text("a;b,c\n1;2,3\n")
    found = page.post("/api/columns", {"source": "file", "data": "semicolons.csv"}).json
    assert [column["name"] for column in found["columns"]] == ["a", "b"]
    asked = {"source": "file", "data": "both.csv"}
    assert refusal(page.post("/api/columns", asked)).startswith("delimiter must be given")
    found = page.post("/api/columns", asked | {"delimiter": ";"}).json
    assert [column["name"] for column in found["columns"]] == ["a", "b,c"]
    assert found["codebook"]["dialect"] == {"delimiter": ";"}


@pytest.mark.parametrize("name", ["two  blanks.csv", "caf\udce9.csv"])
def test_a_file_of_any_name_is_listed_and_looked_into(page, name):
    (page.folder / name).write_text("a,b\n1,2\n" + "1,2\n" * 900)
    cards = {card["name"]: card for card in page.get("/api/files").json["data"]}
    assert cards[name] == {"name": name, "bytes": 4000, "left": None}
    assert cards["admissions.csv"]["left"] is not None
    found = page.post("/api/columns", {"source": "file", "data": name})
    assert found.json["dataset"] == str(page.folder / name)


def test_a_name_that_no_ledger_can_keep_is_refused_and_another_taken(page):
    (page.folder / "na\udcefve.csv").write_text("a,b\n1,2\n")
    asked = BUDGET | {"data": "na\udcefve.csv"}
    assert refusal(page.post("/api/budget", asked)).startswith("dataset must be printable")
    assert page.post("/api/budget", asked | {"dataset": "naive"}).json["dataset"] == "naive"


def test_a_preview_tells_the_values_of_every_column_or_what_is_wrong(page):
    wrong = {"name": "age", "type": "integer", "bins": [3, 2]}
    found = page.post("/api/codebook", {"codebook": {"schema": {"fields": [FIELDS[0], wrong]}}})
    first, second = found.json["columns"]
    assert (first["k"], first["values"], first["error"]) == (3, "I50, J18", "")
    assert second["k"] is None
    assert second["error"].startswith("bins:")
    assert not found.json["is_complete"]
    whole = page.post("/api/codebook", {"codebook": BOOK | {"draft": ["check it"]}}).json
    assert whole["is_complete"]
    assert "draft" not in whole["codebook"]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ([FIELDS[0], FIELDS[0]], "schema.fields must name every column once"),
        ([FIELDS[1] | {"parents": ["plague"]}, FIELDS[0]], "parents"),
    ],
)
def test_what_is_wrong_with_the_whole_code_book_is_told_apart(page, fields, sentence):
    found = page.post("/api/codebook", {"codebook": {"schema": {"fields": fields}}}).json
    assert sentence in found["error"]
    assert not found["is_complete"]


def test_a_row_is_planned_as_on_the_command_line(page, tmp_path):
    (tmp_path / "book.json").write_text(json.dumps(BOOK))
    options = ["--codebook", "book.json", "--n", "5000", "--epsilon", "0.5"]
    theirs = printed("plan", *options, "--json", cwd=tmp_path)
    ours = page.post("/api/row-plan", {"codebook": BOOK, "n": "5000", "epsilon": "0.5"}).json
    theirs.pop("parents")  # which the page does not search for
    assert {name: ours[name] for name in theirs} == theirs
    assert ours["sentence"].startswith("With 5,000 records at ε = 0.5, at most ")
    assert ours["warnings"] == []
    poor = page.post("/api/row-plan", {"codebook": BOOK, "n": "5", "epsilon": "0.5"}).json
    assert poor["warnings"] == ["Use more records, a larger ε, or fewer columns and values."]
    assert (ours["level"], poor["level"]) == ("good", "hopeless")
    high = page.post("/api/row-plan", {"codebook": BOOK, "n": "5000", "epsilon": "11"}).json
    assert high["warnings"][0].startswith("Epsilon above 10 protects little: one record may change")
    whom = {"unit": "person"}, {"records_per_person": "5", "neighbours": "add-remove"}
    for person in whom:
        asked = {"codebook": BOOK, "n": "5000", "epsilon": "11", **person}
        (high,) = page.post("/api/row-plan", asked).json["warnings"]
        assert high.startswith("Epsilon above 10 protects little: one person may change")


def test_enough_records_make_a_forecast_fair_and_fewer_do_not(page):
    found = {"columns": "3", "delta": "1e-9"}
    questions = {
        "row-plan": {"codebook": BOOK},
        "table-plan": {"codebook": BOOK},
        "found-plan": found,
        "value-plan": {"k": "1000", "sampler": "roo"},
    }
    for plan, own in questions.items():
        asked = {**own, "n": "1", "epsilon": "0.01"}
        sentence = page.post("/api/enough", {"plan": plan, **asked}).json["sentence"]
        enough = int(re.findall(r"From about ([\d,]+) records on", sentence)[0].replace(",", ""))
        levels = [
            page.post(f"/api/{plan}", {**asked, "n": str(n)}).json["level"]
            for n in (enough // 10, enough)
        ]
        assert levels[0] in {"poor", "hopeless"}
        assert levels[1] in {"good", "fair"}
    assert (
        page.post("/api/row-plan", {"codebook": BOOK, "n": "1", "epsilon": "1"})
        .json["sentence"]
        .startswith("With 1 record at")
    )
    unbounded = {"k": "9", "sampler": "roo", "n": "1", "epsilon": "0.00000000001"}
    never = page.post("/api/enough", {"plan": "value-plan", **unbounded}).json
    assert never["sentence"] == "Not even 1,000,000,000,000 records would make it fair."
    assert "plan must be one of" in refusal(page.post("/api/enough", {"plan": "certify"}))


def test_a_table_is_foreseen_as_on_the_command_line(page, tmp_path):
    (tmp_path / "book.json").write_text(json.dumps(BOOK))
    theirs = printed(
        *("plan", "--codebook", "book.json", "--n", "500", "--epsilon", "0.5", "--json"),
        cwd=tmp_path,
    )
    ours = page.post("/api/table-plan", {"codebook": BOOK, "n": "500", "epsilon": "0.5"}).json
    share = unbroken(percent(Fraction(theirs["table"])))
    assert f"by about {share} on average." in ours["sentence"]
    assert (ours["level"], ours["warnings"]) == ("fair", [])
    one = {"codebook": {"schema": {"fields": FIELDS[:1]}}, "n": "4", "epsilon": "0.1"}
    alone = page.post("/api/table-plan", one).json
    assert f"moves the counts of the column by about {unbroken('100 %')}" in alone["sentence"]
    assert alone["level"] == "hopeless"


def test_a_value_is_foreseen_by_the_sampler_that_is_asked_for(page):
    asked = {"k": "9", "n": "1000", "epsilon": "0.1"}
    for sampler in ("", "auto", "roo"):
        found = page.post("/api/value-plan", asked | {"sampler": sampler}).json
        alpha = mechanism(sampler or "auto", k=9, n=1000, epsilon="0.1").worst_alpha
        assert f"at most {unbroken(percent(alpha))} of draws differ" in found["sentence"]
    opened = {"delta": "1e-9", "n": "1000", "epsilon": "1"}
    found = page.post("/api/value-plan", opened).json
    assert "records share is drawn in proportion, one of fewer than" in found["sentence"]
    assert page.post("/api/value-plan", opened | {"n": "9"}).json["level"] == "hopeless"
    lost = page.post("/api/value-plan", opened | {"n": "500", "epsilon": "0.001"}).json
    assert unbroken("'other' takes at least 99 % of every value's share") in lost["sentence"]
    rare = {"delta": "0.01", "n": "50", "epsilon": "0.01"}  # three records are six in a hundred
    assert page.post("/api/value-plan", rare).json["level"] == "hopeless"


@pytest.mark.parametrize("most", [1, 5])
def test_a_forecast_is_for_as_many_records_as_a_person_may_have(page, most):
    """As the receipts state it; the records of a person share epsilon."""
    records = [{"diagnosis": "I50", "ward": "north"}, {"diagnosis": "J18", "ward": "south"}]
    data = dproo.open(records * 500, neighbours=Protection(records=most), ledger=None)
    given = {"n": "1000", "epsilon": "1", "records_per_person": str(most)}
    book = {"codebook": BOOK, "network": "declared"}
    for sampler in ("auto", "roo", "ls-roo"):
        value = data.value("diagnosis", ["I50", "J18"], epsilon=1, sampler=sampler)
        plan = page.post("/api/value-plan", given | {"k": "3", "sampler": sampler}).json
        assert unbroken(percent(Fraction(value.receipt.worst_alpha))) in plan["sentence"]
    row = data.row(BOOK, epsilon=1, network="declared")
    plan = page.post("/api/row-plan", given | book).json
    assert plan["alpha"] == pytest.approx(row.receipt.worst_alpha)
    assert sum(column["epsilon"] for column in plan["columns"]) <= 1
    alike = {"records_per_person": "1", "epsilon": str(Fraction(1, most))}
    for path, own in {
        "row-plan": book,
        "table-plan": book,
        "found-plan": {"columns": "2", "delta": "0.001"},
    }.items():
        forecasts = [
            page.post(f"/api/{path}", given | own | changes).json for changes in ({}, alike)
        ]
        said = [one["sentence"].partition(", ")[2] for one in forecasts]
        assert said[0] == said[1]
    assert f"one of fewer than {most + 1} never" in forecasts[0]["limits"]
    shares = {"epsilon": Fraction(1), "delta": Fraction(1, 1000)}
    opened = OpenRequest(**shares, protection=Protection(records=most))
    sampler = opened.sampler_for(1000)
    plan = page.post("/api/value-plan", given | {"delta": "0.001"}).json
    assert f"a value that {sampler.proportional:,} records share is drawn" in plan["sentence"]
    for wrong in ("0", "many", "1.5"):
        answer = page.post("/api/row-plan", given | book | {"records_per_person": wrong})
        assert refusal(answer).startswith("records_per_person must be")


def test_a_forecast_for_people_counts_people(page):
    """One record of each is counted, so their number decides; of several, that of the records."""
    given = {"n": "20", "epsilon": "1", "unit": "person"}
    plans = {
        "value-plan": {"k": "3", "sampler": "auto"},
        "row-plan": {"codebook": {"schema": {"fields": FIELDS[:1]}}},
        "table-plan": {"codebook": BOOK},
        "found-plan": {"columns": "2", "delta": "0.001"},
    }
    for plan, own in plans.items():
        answer = page.post(f"/api/{plan}", given | own).json
        words = " ".join([answer["sentence"], answer["limits"], *answer["warnings"]])
        assert words.startswith("With 20 people at ε = 1,")
        assert "record's" not in words
        assert "records" not in words
        several = given | own | {"records_per_person": "2", "neighbours": "add-remove"}
        assert "With 20 records at" in page.post(f"/api/{plan}", several).json["sentence"]
        enough = page.post("/api/enough", {"plan": plan, **given, **own}).json["sentence"]
        assert enough.endswith("people on it would be fair.")
    opened = page.post("/api/value-plan", given | {"delta": "0.001"}).json
    assert "people share is drawn in proportion" in opened["sentence"]
    one = page.post("/api/value-plan", given | plans["value-plan"] | {"n": "1"}).json
    assert one["sentence"].startswith("With 1 person at")
    wrong = page.post("/api/value-plan", given | plans["value-plan"] | {"unit": "people"})
    assert refusal(wrong).startswith("unit must be one of")


def test_a_row_whose_distance_has_no_bound_says_so(page):
    fields = [
        {"name": name, "type": "boolean", "parents": parents}
        for name, parents in {"a": [], "b": [], "c": ["a", "b"]}.items()
    ]
    asked = {"codebook": {"schema": {"fields": fields}}, "n": "10", "epsilon": "1"}
    assert "no bound is known" in page.post("/api/row-plan", asked).json["sentence"]


@pytest.mark.parametrize(
    ("path", "sent", "sentence"),
    [
        ("row-plan", {"n": "ten"}, "n must be an integer, got 'ten'."),
        ("row-plan", {"n": "0"}, "n must be at least 1, got 0."),
        ("row-plan", {"n": "10", "seed": "1"}, "request must be an object of codebook, network, n"),
        ("codebook", {"codebook": {"schema": []}}, "codebook must be an object with schema.fields"),
        ("row-plan", {"codebook": ALL_DAYS, "n": "9"}, "schema.fields[0].constraints: maximum"),
        (
            "codebook",
            {"codebook": {"schema": {"fields": [{}] * 1001}}},
            "codebook must have at most 1000 columns.",
        ),
    ],
)
def test_a_wrong_question_about_a_row_is_refused(page, path, sent, sentence):
    asked = {"codebook": BOOK, "epsilon": "1"} if path == "row-plan" else {}
    assert refusal(page.post(f"/api/{path}", asked | sent)).startswith(sentence)


def test_an_order_names_every_column_that_its_release_would_refuse(page):
    fields = [FIELDS[0], *({"name": name, "type": "boolean"} for name in ("plague", "war"))]
    first, second = refusal(
        page.post("/api/order", ROW | {"codebook": {"schema": {"fields": fields}}})
    ).splitlines()
    assert ("'plague'" in first, "'war'" in second) == (True, True)


def nested(path):
    parquet.write_table(pa.table({"ward": [["a"]]}), path)


UNFIT = {  # each was accepted by the review once, and refused by the release
    "a person of a budget for records": {"person": "ward"},
    "a person who is not in the data": {"person": "nobody"},
    "a table of a text file": {"table": "visits"},
    "another separator": {"delimiter": ";"},
    "a value of another column": {"what": "value", "codebook": listed("plague", "a", "b")},
    "an open value of another column": {"what": "value", "codebook": None, "columns": ["plague"]},
    "found values of another column": {"what": "table", "codebook": None, "columns": ["plague"]},
    "a text that ends in .parquet": {"data": "text.parquet", "dataset": "any"},
    "a column of lists": {
        "data": "nested.parquet",
        "what": "value",
        "codebook": listed("ward", "a", "b"),
    },
    "more than the rule of its budget": {"dataset": "ruled", "epsilon": "0.5"},
    "a column that the rule forbids": {"dataset": "ruled", "epsilon": "0.125"},
    "another unit": {"dataset": "people"},
}


@pytest.fixture(scope="module")
def strict(page):
    ledger, own = Ledger(page.ledger), {"budget": "9", "neighbours": "replace"}
    ledger.declare("any", **own, delta="1e-6")
    ledger.declare("people", **own, unit="person", delta="1e-6")
    ledger.declare("ruled", **own, limits=Limits(per_release="0.25", columns=["diagnosis"]))
    (page.folder / "text.parquet").write_text("ward\na\n")
    nested(page.folder / "nested.parquet")
    return page


@pytest.mark.parametrize("unfit", UNFIT)
def test_the_review_refuses_what_the_release_would(strict, unfit):
    sent = {**ROW, "dataset": "any", **UNFIT[unfit]}
    if sent["codebook"] is None:
        sent["delta"] = "1e-9"
    before = strict.ledger.read_bytes()
    answer = strict.post("/api/order", sent)
    assert answer.status in {400, 409}, answer.json
    assert strict.ledger.read_bytes() == before


def test_a_row_is_released_as_it_was_shown(page):
    shown = page.post("/api/order", ROW | {"purpose": "a test", "epsilon": "11"}).json
    assert (
        "One row of 2 columns (diagnosis, ward) of admissions.csv with ε = 11" in shown["summary"]
    )
    assert shown["warnings"][0].startswith("Epsilon above 10 protects little")
    receipt = page.post("/api/release", {"nonce": shown["nonce"]}).json
    assert receipt["values"][0]["diagnosis"] in {"I50", "J18", "other"}
    assert receipt["values"][0]["ward"] in {"north", "south", "other"}
    assert (receipt["network"], receipt["purpose"]) == ("declared", "a test")


def test_a_table_is_released_once_and_its_rows_are_free(page):
    shown = page.post("/api/order", ROW | {"what": "table", "epsilon": "3"}).json
    assert shown["summary"].startswith("A private table of 2 columns (diagnosis, ward)")
    receipt = page.post("/api/release", {"nonce": shown["nonce"]}).json
    assert receipt["sampler"] == "table"
    assert {*receipt["model"]} == {"sha256"}
    assert {*receipt["counts"]} == {"diagnosis", "ward"}
    spent = sum(one.spent for one in Ledger(page.ledger).show())
    kept = f"/api/ledger/{receipt['ledger']['entry']}"
    lines = page.get(f"{kept}/rows?rows=500").json["text"].splitlines()
    assert (lines[0], len(lines)) == ("diagnosis,ward", 501)
    written = b64decode(page.get(f"{kept}/rows?rows=500&format=parquet").json["base64"])
    table = parquet.read_table(pa.BufferReader(written))
    assert (table.column_names, table.num_rows) == (["diagnosis", "ward"], 500)
    assert refusal(page.get(f"{kept}/rows?rows=5&format=xls")).startswith("format must be one of")
    pair = page.get(f"{kept}/pair?first=ward&second=diagnosis").json
    assert pair["values"] == [["north", "south", "other"], ["I50", "J18", "other"]]
    assert all(low <= count <= high for count, low, high in pair["cells"])
    assert refusal(page.get(f"{kept}/pair?first=ward&second=ward")).startswith("names must name")
    assert refusal(page.get(f"{kept}/pair?first=ward")).startswith("column must be one of")
    assert (
        json.loads(page.get(f"{kept}/model").json["text"])["sha256"] == receipt["model"]["sha256"]
    )
    assert sum(one.spent for one in Ledger(page.ledger).show()) == spent
    for rows in ("", "0", "-1", "1e3", "100001", "9" * 3000, "٣"):
        assert refusal(page.get(f"{kept}/rows?rows={quote(rows)}")).startswith("rows must")
    for rows in (100_001, 10**9, 10**12):
        told = f"rows must be at most 100000, got {rows}."
        assert refusal(page.get(f"{kept}/rows?rows={rows}")) == told
    row = page.post("/api/order", ROW | {"epsilon": "0.125"}).json
    other = page.post("/api/release", {"nonce": row["nonce"]}).json["ledger"]["entry"]
    for what in ("rows?rows=5", "model"):
        sentence = "receipt must be of a private table, and contain its model."
        assert refusal(page.get(f"/api/ledger/{other}/{what}")) == sentence
        assert refusal(page.get(f"/api/ledger/999999/{what}")).startswith("entry must")


FOUND = {**FILE, "what": "table", "columns": ["diagnosis", "ward"], "epsilon": "200"}


def test_a_table_is_released_whose_values_are_found(empty):
    file = empty.folder / "admissions.csv"
    head, *rows = file.read_text().splitlines()
    notes = [f"note {'x' * i},{row}" for i, row in enumerate(rows)]  # no two share one
    file.write_text("\n".join([f"note,{head}", *notes]) + "\n")
    declared = empty.post("/api/budget", BUDGET | {"budget": "900", "delta": "1e-6"}).json
    assert "ε = 900 and δ = 1e-\u20606, and no more, ever" in declared["summary"]
    empty.post("/api/declare", {"nonce": declared["nonce"]})
    columns = ["note", "diagnosis", "ward"]
    shown = empty.post("/api/order", FOUND | {"columns": columns, "delta": "1e-9"}).json
    assert "whose values are found first, with ε = 200 and δ = 1e-\u20609" in shown["summary"]
    (account,) = Ledger(empty.ledger).show()
    assert (account.spent, account.delta_spent) == (0, 0)
    receipt = empty.post("/api/release", {"nonce": shown["nonce"]}).json
    assert {*receipt["counts"]} == {"diagnosis", "ward"}
    assert list(receipt["discovery"]["left_out"]) == ["note"]
    assert receipt["preview"]["columns"] == ["diagnosis", "ward"]
    assert {len(row) for row in receipt["preview"]["rows"]} == {2}
    (account,) = Ledger(empty.ledger).show()
    assert (account.spent, account.delta_spent) == (200 * 10**9, 10**9)
    command = shown["command"].replace("dproo", COMMAND[0], 1)
    subprocess.run(command, shell=True, cwd=empty.folder, check=True, capture_output=True)  # noqa: S602
    assert (empty.folder / "table.csv").read_text().startswith("diagnosis,ward\n")


def test_a_table_of_which_nothing_is_found_says_so_and_what_was_charged(empty):
    notes = "\n".join(f"note of the patient {'x' * i}" for i in range(40))
    (empty.folder / "notes.csv").write_text(f"note\n{notes}\n")
    asked = {"source": "file", "data": "notes.csv"}
    declared = empty.post("/api/budget", BUDGET | asked | {"budget": "900", "delta": "1e-6"}).json
    empty.post("/api/declare", {"nonce": declared["nonce"]})
    asked |= {"columns": ["note"], "delta": "1e-9"}
    nonce = empty.post("/api/order", FOUND | asked).json["nonce"]
    refused = empty.post("/api/release", {"nonce": nonce})
    assert refused.status == 500
    assert refused.json["error"].startswith("no column has values that enough people share")
    (account,) = Ledger(empty.ledger).show()
    assert account.spent == 200 * 10**9


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "delta must be"),
        ({"delta": "1e-9"}, "delta must be 0 as declared, got '1e-9'."),
        ({"delta": "1e-9", "columns": "ward"}, "columns must be a list of names"),
        ({"delta": "1e-9", "columns": []}, "columns must name at least one column"),
        ({"delta": "1e-9", "columns": ["ward", "ward"]}, "columns must be named once"),
        ({"codebook": BOOK}, "columns and delta must be left out with a code book."),
        ({"what": "row"}, "values can be found for a table or for one value"),
        ({"what": "value", "delta": "1e-9"}, "columns must be one for one value, got 2."),
    ],
)
def test_values_that_cannot_be_found_are_refused_before_anything_is_charged(
    page, changes, sentence
):
    before = page.ledger.read_bytes()
    answer = page.post("/api/order", FOUND | changes)
    assert answer.status in {400, 409}
    assert answer.json["error"].startswith(sentence)
    assert page.ledger.read_bytes() == before


def test_what_is_found_is_foreseen(page):
    asked = {"columns": "2", "delta": "1e-9", "epsilon": "2", "n": "10000"}
    many, few = (page.post("/api/found-plan", asked | {"n": n}).json for n in ("10000", "100"))
    assert many["limits"].startswith("In a column that is taken for text, ")
    assert "at most 100 of a column" in many["limits"]
    assert (many["level"], few["level"]) == ("good", "hopeless")
    for columns in ("0", "1001", "two"):
        answer = page.post("/api/found-plan", asked | {"columns": columns})
        assert refusal(answer).startswith("columns must be")


@pytest.mark.parametrize("what", ["", "column", "Table"])
def test_only_what_a_code_book_describes_can_be_asked_for_with_one(page, what):
    assert refusal(page.post("/api/order", ROW | {"what": what})).startswith("what must be")


def test_the_command_that_is_shown_releases_the_same_row(page):
    shown = page.post("/api/order", ROW | {"network": "independent", "epsilon": "0.25"}).json
    (page.folder / shown["saved_as"]).write_text(json.dumps(BOOK))
    assert f"--codebook {shown['saved_as']} --network independent" in shown["command"]
    command = shown["command"].replace("dproo", COMMAND[0], 1)
    subprocess.run(command, shell=True, cwd=page.folder, check=True, capture_output=True)  # noqa: S602
    line = Ledger(page.ledger).show()[0].lines[-1]
    assert (line.charge, line.request["network"]) == (25 * 10**7, "independent")


def test_the_command_of_a_table_can_be_run_again_and_where_its_files_are_taken(tmp_path):
    folder, ledger = admissions(tmp_path, budget="100")
    (folder / "admissions.csv").rename(folder / "table.csv")
    Ledger(ledger).declare(str(folder / "table.csv"), budget="1", neighbours="replace")
    with served(folder, ledger) as page:
        for times in (1, 2):
            asked = ROW | {"what": "table", "data": "table.csv", "epsilon": "0.25"}
            shown = page.post("/api/order", asked).json
            (folder / shown["saved_as"]).write_text(json.dumps(BOOK))
            command = shown["command"].replace("dproo", COMMAND[0], 1)
            subprocess.run(command, shell=True, cwd=folder, check=True, capture_output=True)  # noqa: S602
            assert Ledger(ledger).budget(str(folder / "table.csv")).spent == times * 25 * 10**7


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"codebook": 7}, "codebook must be an object with schema.fields, a list of columns."),
        ({"codebook": BOOK | {"draft": ["x"]}}, "codebook must be confirmed"),
        ({"column": "ward"}, "request must be an object of source, data"),
        ({"network": "guessed"}, "network must be one of auto, declared, independent, learned"),
        ({"purpose": "x" * 300}, "purpose must be printable text of 1 to 200 characters"),
        ({"encoding": "klingon"}, "encoding must be utf-8, utf-16 or one that extends ASCII"),
    ],
)
def test_a_wrong_row_is_refused(page, changes, sentence):
    assert refusal(page.post("/api/order", ROW | changes)).startswith(sentence)


def test_people_are_told_apart_by_a_column(strict):
    one = {"codebook": {"schema": {"fields": FIELDS[:1]}}, "person": "ward", "dataset": "people"}
    shown = strict.post("/api/order", ROW | one).json
    assert "--person ward" in shown["command"]
    assert "(the number of people is public)" in shown["summary"]
    found = {"delta": "1e-9", "epsilon": "1", "person": "ward", "dataset": "people"}
    assert "of 1 column (diagnosis)" in strict.post("/api/order", FOUND | found).json["summary"]


def test_the_sample_is_invented_and_overwrites_nothing(empty):
    assert empty.get("/api/files").json["sample"] == "sample-admissions.csv"
    made = empty.post("/api/sample", {}).json
    (empty.folder / made["data"]).write_text("diagnosis\nmine\n")
    again = refusal(empty.post("/api/sample", {}))
    assert again == "sample-admissions.csv cannot be written to the folder: File exists."
    assert (empty.folder / made["data"]).read_text() == "diagnosis\nmine\n"
    assert page_fields(made["codebook"]) == ["diagnosis", "sex", "age", "ward"]
    assert refusal(empty.post("/api/sample", {"name": "../x.csv"})).startswith("request must be")


def page_fields(book):
    return [field["name"] for field in book["schema"]["fields"]]


def test_an_open_value_is_released_as_the_command_does(empty):
    declared = empty.post("/api/budget", BUDGET | {"budget": "900", "delta": "1e-6"}).json
    empty.post("/api/declare", {"nonce": declared["nonce"]})
    asked = {**FILE, "what": "value", "columns": ["ward"], "delta": "1e-9", "epsilon": "200"}
    shown = empty.post("/api/order", asked).json
    assert "One value of column “ward” of admissions.csv, out of all that" in shown["summary"]
    receipt = empty.post("/api/release", {"nonce": shown["nonce"]}).json
    assert receipt["values"][0] in {"north", "south"}
    command = shown["command"].replace("dproo", COMMAND[0], 1)
    done = subprocess.run(command, shell=True, cwd=empty.folder, check=True, capture_output=True)  # noqa: S602
    assert done.stdout.split()[0] in {b"north", b"south"}


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        (
            "postgresql://ann:old@localhost:1/x",
            "password must be given once, with a URL that names",
        ),
        (
            "postgresql://localhost:1/x",
            "password must be given once, with a URL that names a user.",
        ),
        (
            "postgresql://localhost:1/x?user=ann",
            "password must be given with a URL such as postgresql://user@host/name.",
        ),
    ],
)
def test_a_password_is_given_once_and_never_told(page, url, sentence):
    asked = {"source": "database", "data": url, "password": "S3CR#T@/", "table": "visits"}
    answer = page.post("/api/columns", asked)
    assert refusal(answer).startswith(sentence)
    assert b"S3CR" not in answer.body


@pytest.mark.usefixtures("held")
def test_the_columns_of_a_database_come_from_its_catalog(page, postgresql):
    """Also while nobody can read a record."""
    asked = {"source": "database", "data": postgresql, "table": "ward.held"}
    found = page.post("/api/columns", asked).json
    assert [column["name"] for column in found["columns"]] == ["code", "place"]
    assert found["from"] == "schema"
    nobody = "postgresql://nobody@127.0.0.1:1/none"
    told = page.post("/api/columns", asked | {"data": nobody, "password": "S3CR#T@/"})
    assert told.status == 400
    assert b"S3CR" not in told.body


def test_a_budget_is_declared_from_nothing_and_only_when_confirmed(empty):
    assert empty.get("/api/ledger").json["datasets"] == []
    shown = empty.post("/api/budget", BUDGET).json
    assert shown["summary"].endswith(
        "may together spend ε = 2, and no more, ever: the number of records is public, each"
        " person has one record."
    )
    assert not empty.ledger.exists()
    assert empty.post("/api/declare", {"nonce": shown["nonce"]}).status == 200
    (account,) = empty.get("/api/ledger").json["datasets"]
    assert (account["dataset"], account["left"]) == (str(empty.folder / "admissions.csv"), "2")
    before = empty.ledger.read_bytes()
    assert refusal(empty.post("/api/declare", {"nonce": shown["nonce"]})).startswith(
        "this review is older"
    )
    assert "not have a budget yet" in refusal(empty.post("/api/budget", BUDGET | {"budget": "9"}))
    assert empty.ledger.read_bytes() == before


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"budget": ""}, "budget must be"),
        ({"budget": "-1"}, "budget must be"),
        ({"neighbours": "none"}, "neighbours must be one of add-remove, replace"),
        ({"records_per_person": "two"}, "records_per_person must be an integer, got 'two'."),
        ({"records_per_person": "0"}, "records_per_person must be at least 1, got 0."),
        ({"records_per_person": "9" * 25}, "records_per_person must be at most"),
        ({"records_per_person": "1" + "0" * 40}, "records_per_person must be an integer, got"),
        ({"dataset": " "}, "dataset must be 1 to 200 characters"),
    ],
)
def test_a_wrong_budget_is_refused(page, changes, sentence):
    (page.folder / "fresh.csv").write_text("a,b\n1,2\n")
    assert refusal(page.post("/api/budget", BUDGET | {"data": "fresh.csv"} | changes)).startswith(
        sentence
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.csv.gz", b"\x1f\x8b"), ("b.tsv.zst", b""), ("c.jsonl.ZIP", b""), ("d.parquet.gz", b"")],
)
def test_a_file_of_compressed_text_is_listed(page, name, content):
    (page.folder / name).write_bytes(content)
    listed = {card["name"] for card in page.get("/api/files").json["data"]}
    assert (name in listed) == (name != "d.parquet.gz")


def test_a_budget_says_how_many_records_a_person_may_have(page):
    (page.folder / "fresh.csv").write_text("a,b\n1,2\n")
    asked = BUDGET | {"data": "fresh.csv", "neighbours": "add-remove", "records_per_person": "3"}
    summary = page.post("/api/budget", asked).json["summary"]
    assert "the number of records is private, a person has up to 3 records." in summary
    for most, several in {"1": "people", "3": "records"}.items():
        people = {"unit": "person", "records_per_person": most}
        summary = page.post("/api/budget", asked | people).json["summary"]
        assert f"the number of {several} is private, each release protects a person" in summary


def test_what_was_shown_is_confirmed_as_what_it_is(page):
    (page.folder / "fresh.csv").write_text("a,b\n1,2\n")
    budget = page.post("/api/budget", BUDGET | {"data": "fresh.csv"}).json["nonce"]
    order = page.post("/api/order", ORDER).json["nonce"]
    before = page.ledger.read_bytes()
    assert refusal(page.post("/api/release", {"nonce": budget})).startswith("this review is older")
    assert refusal(page.post("/api/declare", {"nonce": order})).startswith("this review is older")
    assert page.ledger.read_bytes() == before


def test_what_is_being_released_from_is_told(page):
    assert page.get("/api/running").json["running"] == {}


UNSPENT = SimpleNamespace(budget=partial(getattr, SimpleNamespace(visits=SimpleNamespace(spent=0))))
"""A ledger that knows only visits, of which nothing was spent."""


class Slow:
    """An order that waits until it has been told how much of its data was read."""

    ledger, account = UNSPENT, SimpleNamespace(dataset="visits")

    def release(self, told):
        begun = told.getvalue()
        follow(lambda: Fraction(1, 4))
        while told.getvalue() == begun:
            pass
        raise ValueError("enough was read.")


def echoed(sent):
    """Return what the server takes from a release that sends these bytes, and the last share."""
    with Started(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as cat:
        running = releases._Running("visits", "", cat)
        return running.answer(sent), running.share


def test_before_its_answer_a_release_tells_how_much_it_has_read(monkeypatch):
    told = io.BytesIO()
    monkeypatch.setattr(releases.pickle, "load", lambda _: (Slow(), told))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=told))
    before = signal.getsignal(signal.SIGINT)
    try:
        releases.main()
    finally:
        signal.signal(signal.SIGINT, before)
    monkeypatch.undo()
    sent = told.getvalue()
    assert echoed(sent) == ((2, "enough was read."), Fraction(1, 4))
    for end in range(0, len(sent), 5):  # killed, at whatever moment
        assert echoed(sent[:end])[0] is None


SLEEPER = SimpleNamespace(account=Slow.account, ledger=UNSPENT, release=time.sleep)
"""An order that waits for as long as its folder says."""

BEGINNINGS = {
    "at once": releases._START,
    "before the first line": "import signal; signal.pause()",
    "while it is deaf": f"import signal; signal.signal(2, signal.SIG_IGN); {releases._START}",
    "while it is deaf for ever": "import signal, time; signal.signal(2, signal.SIG_IGN)",
}


@pytest.mark.parametrize("times", [1, 5])
@pytest.mark.parametrize("moment", BEGINNINGS)
def test_a_release_that_is_stopped_before_it_begins_has_charged_nothing(monkeypatch, moment, times):
    monkeypatch.setattr(releases, "_START", BEGINNINGS[moment])
    running = releases.Releases()
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(running.run, "nonce", SLEEPER, PATIENCE)
        while not running.stop("nonce") and not answer.done():
            pass
        for _ in range(1, times):
            running.stop("nonce")
        assert answer.exception().args == (2, "stopped; nothing was charged.")


def test_two_releases_of_a_dataset_have_run_since_the_first_began():
    """Else the charge of the first would be shown as one that was never released."""
    running = releases.Releases()
    for since in ("2027-01-01T10:00:00", "2027-01-01T11:00:00"):
        running._running[since] = releases._Running("visits", since, None)
    assert running.datasets == {"visits": "2027-01-01T10:00:00"}


def test_a_stop_that_overtakes_its_release_stops_it():
    """They come by different connections, so that either may be first."""
    running = releases.Releases()
    assert running.stop("nonce") is False
    with pytest.raises(Verdict) as stopped:
        running.run("nonce", SLEEPER, PATIENCE)
    assert stopped.value.args == (2, "stopped; nothing was charged.")


def test_a_release_that_was_stopped_on_the_page_first_is_not_charged(tmp_path):
    folder, ledger = admissions(tmp_path, budget="1")
    with served(folder, ledger) as page:
        nonce = page.post("/api/order", ORDER).json["nonce"]
        page.post("/api/stop", {"nonce": nonce})
        stopped = page.post("/api/release", {"nonce": nonce})
        assert stopped.json["error"] == "stopped; nothing was charged."
        page.post("/api/stop", {"nonce": "another"})
        nonce = page.post("/api/order", ORDER).json["nonce"]
        assert page.post("/api/release", {"nonce": nonce}).status == 200
    assert Ledger(ledger).show()[0].spent == 10**9  # of the second alone


ENDS = {
    "pass": (2, "the release could not begin. Nothing was read or charged."),
    "import os; os.kill(os.getpid(), 9)": (
        2,
        "the release could not begin. Nothing was read or charged.",
    ),
    "from dproo.web import releases; releases._send(releases._BEGUN)": (
        4,
        "the release ended without an answer. See the ledger for what was charged.",
    ),
}


@pytest.mark.parametrize("code", ENDS)
def test_a_release_that_dies_charged_nothing_unless_it_had_begun(monkeypatch, code):
    monkeypatch.setattr(releases, "_START", f"import sys; sys.path[:] = {{path!r}}; {code}")
    with pytest.raises(Verdict) as ended:
        releases.Releases().run("nonce", SLEEPER, PATIENCE)
    assert ended.value.args == ENDS[code]


def test_a_release_for_which_there_is_no_process_has_charged_nothing(monkeypatch):
    def refuse(*_, **__):
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(releases.subprocess, "Popen", refuse)
    with pytest.raises(Verdict) as ended:
        releases.Releases().run("nonce", SLEEPER, PATIENCE)
    assert ended.value.args == ENDS["pass"]


PATCHED = (
    "import os, sys; sys.path[:] = {path!r}; from dproo.web import orders, releases\n"
    "def then_stopped(action): return lambda *given: (action(*given), os.kill(os.getpid(), 2))[0]\n"
    "PATCH\n"
    "releases.main()"
)


@pytest.mark.parametrize(
    ("moment", "answer"),
    [
        ("releases.shown = then_stopped(releases.shown)", None),
        ("orders.Order.release = then_stopped(orders.Order.release)", "The charge may stand"),
    ],
)
def test_a_stop_after_the_record_never_says_that_nothing_was_charged(
    tmp_path, monkeypatch, moment, answer
):
    inside, path = admissions(tmp_path, budget="1")
    folder = Folder(inside)
    order = Order.of({**ROW, "what": "table"}, folder=folder, ledger=path)
    monkeypatch.setattr(releases, "_START", PATCHED.replace("PATCH", moment))
    if answer is None:
        receipt = releases.Releases().run("nonce", order, folder)
        assert "preview" in receipt
    else:
        with pytest.raises(Verdict, match=answer) as stopped:
            releases.Releases().run("nonce", order, folder)
        assert stopped.value.args[0] == 4
    (line,) = Ledger(path).show()[0].lines
    assert line.is_recorded


def test_a_table_that_cannot_be_shown_is_charged_and_can_be_printed(tmp_path, monkeypatch):
    inside, path = admissions(tmp_path, budget="1")
    folder = Folder(inside)
    order = Order.of({**ROW, "what": "table"}, folder=folder, ledger=path)
    monkeypatch.setattr(releases, "_START", PATCHED.replace("PATCH", "releases.Model = None"))
    with pytest.raises(Verdict, match=r"The charge stays.* dproo ledger print 2") as failed:
        releases.Releases().run("nonce", order, folder)
    assert failed.value.args[0] == 4


def test_two_who_race_for_the_last_epsilon_do_not_both_get_it(empty):
    nonce = empty.post("/api/budget", BUDGET | {"budget": "1"}).json["nonce"]
    empty.post("/api/declare", {"nonce": nonce})
    nonces = [empty.post("/api/order", ROW).json["nonce"] for _ in range(4)]
    answers = []
    racers = [
        threading.Thread(
            target=lambda n=n: answers.append(empty.post("/api/release", {"nonce": n}))
        )
        for n in nonces
    ]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    assert sorted(answer.status for answer in answers) == [200, 409, 409, 409]
    assert empty.get("/api/ledger").json["datasets"][0]["left"] == "0"


@pytest.mark.parametrize("interrupts", [1, 2])
def test_an_interrupt_while_records_are_counted_loses_no_release(
    tmp_path, held, postgresql, interrupts
):
    """The first waits for the release and its answer, the second for the release alone."""
    folder, ledger = admissions(tmp_path, budget="1")
    Ledger(ledger).declare("visits", budget="1", neighbours="replace")
    source = {"source": "database", "data": postgresql, "dataset": "visits", "table": "ward.held"}
    with ThreadPoolExecutor(1) as pool, served(folder, ledger) as page:
        shown = page.post(
            "/api/order", ORDER | source | {"codebook": listed("code", "a", "b")}
        ).json
        answer = pool.submit(page.post, "/api/release", {"nonce": shown["nonce"]})
        held.await_count(answer.done)
        assert not answer.done()
        assert not Ledger(ledger).show()[1].lines[0].is_recorded
        page.process.send_signal(signal.SIGINT)
        with suppress(ConnectionError):  # until nobody listens
            while True:
                socket.create_connection(("127.0.0.1", page.port)).close()
        if interrupts == 2:
            page.process.send_signal(signal.SIGINT)
            assert "What was charged stays charged" in answer.result().json["error"]
        assert page.process.poll() is None
        assert page.process.stderr.readline().startswith("A release is still running.")
        held.let_go()
        page.process.wait(PATIENCE)
    (line,) = Ledger(ledger).show()[1].lines
    assert line.is_recorded
    if interrupts == 1:
        assert answer.result().json["ledger"]["entry"] == line.entry


def test_a_release_is_stopped_as_by_ctrl_c_and_says_what_became_of_the_charge(
    tmp_path, held, postgresql
):
    folder, ledger = admissions(tmp_path, budget="1")
    Ledger(ledger).declare("visits", budget="1", neighbours="replace")
    source = {"source": "database", "data": postgresql, "dataset": "visits", "table": "ward.held"}
    with ThreadPoolExecutor(1) as pool, served(folder, ledger) as page:
        nonce = page.post(
            "/api/order", ORDER | source | {"codebook": listed("code", "a", "b")}
        ).json["nonce"]
        answer = pool.submit(page.post, "/api/release", {"nonce": nonce})
        held.await_count(answer.done)
        assert list(page.get("/api/running").json["running"]) == ["visits"]
        assert page.post("/api/progress", {"nonce": nonce}).json["share"] is None  # not known
        assert page.post("/api/stop", {"nonce": "another"}).json["is_stopped"] is False
        assert page.post("/api/stop", {"nonce": nonce}).json["is_stopped"] is True
        stopped = answer.result()
        assert stopped.status == 500
        assert stopped.json["error"].startswith("the release was stopped. The charge stays: entry")
        assert page.get("/api/running").json["running"] == {}
        held.let_go()
    (line,) = Ledger(ledger).show()[1].lines
    assert not line.is_recorded


def test_a_question_that_nobody_waits_for_is_not_waited_for():
    async def answer():
        await asyncio.Event().wait()
        return Response("late")

    async def gone():
        return {"type": "http.disconnect"}

    async def asked():
        found = while_wanted(Request({"type": "http"}, gone), answer())
        return await asyncio.wait_for(found, PATIENCE)

    with ThreadPoolExecutor(1) as apart:  # a browser of other tests has a loop in this thread
        assert apart.submit(asyncio.run, asked()).result().status_code == 499


@pytest.mark.parametrize("is_found", [False, True])
def test_a_file_that_is_deleted_meanwhile_hides_no_other(is_found, tmp_path, monkeypatch):
    folder, ledger = admissions(tmp_path, budget="1")
    gone = folder / "a.csv"
    gone.write_text("x\n")
    listed_, find = Folder.list, Folder.find

    def listing(self, *suffixes):
        names = listed_(self, *suffixes)
        gone.unlink(missing_ok=True)
        return names

    def finding(self, name, text):
        found = find(self, name, text)
        gone.unlink(missing_ok=True)  # the first one
        return found

    method, late = ("find", finding) if is_found else ("list", listing)
    monkeypatch.setattr(Folder, method, late)
    cards = Api(Folder(folder), ledger, Pool(None))._files({})["data"]
    assert [card["name"] for card in cards] == ["admissions.csv"]


def test_a_question_without_a_thread_takes_no_turn_from_later_ones(monkeypatch):
    class Refused(threading.Thread):
        def start(self):
            raise RuntimeError("can't start new thread")

    async def asked():
        turns, statuses = asyncio.Semaphore(1), []
        for kind in (Refused, Refused, threading.Thread):
            monkeypatch.setattr(answering, "Thread", kind)
            waiting = answering._aside(turns, lambda _: {}, {})
            statuses.append((await asyncio.wait_for(waiting, PATIENCE)).status_code)
        return statuses

    with ThreadPoolExecutor(1) as apart:  # a browser of other tests has a loop in this thread
        assert apart.submit(asyncio.run, asked()).result() == [503, 503, 200]


def test_the_static_files_are_of_a_readable_length():
    static = Path(while_wanted.__code__.co_filename).parent / "static"
    for path in static.iterdir():
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 300, path.name
