"""From an empty home to a release, in a real browser, by mouse and by keyboard alone."""

import json
import re
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pyarrow as pa
import pytest
from pyarrow import parquet
from support.browsing import LOSE, OVERFLOW, choose, faultless, seen, tab_to, visit
from support.draws import some
from support.serving import ORDER, PATIENCE, admissions, served

from dproo import CodeBook, Model
from dproo.ledger import Ledger, in_epsilon
from dproo.ledger.stores import sqlite
from dproo.releases.charge import reprint

pytestmark = pytest.mark.one_of(4)

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed.")
expect, Error = playwright.expect, playwright.Error
expect.set_options(timeout=PATIENCE * 1000)

MOST_ACTIONS = 20
ZOOMED = {"width": 640, "height": 450}
"""A window of 1280 by 900 at 200 %."""

BOOK = {
    "name": "admissions",
    "schema": {
        "fields": [
            {"name": "diagnosis", "type": "string", "categories": ["I50", "J18", "S72"]},
            {
                "name": "ward",
                "type": "string",
                "categories": [{"value": "north", "label": "Northern"}, {"value": "south"}],
                "parents": ["diagnosis"],
            },
        ]
    },
}


@pytest.fixture
def home(tmp_path):
    """A page of somebody who has data and nothing else."""
    folder, ledger = admissions(tmp_path, budget="1")
    ledger.unlink()
    with served(folder, tmp_path / "home" / "ledger.sqlite3") as page:
        yield page


class Hand:
    """What a person does, counted; by mouse or by keyboard alone."""

    def __init__(self, page, *, by_keys):
        self.page, self.by_keys, self.actions = page, by_keys, 0

    def press(self, selector):
        self.actions += 1
        if self.by_keys:
            tab_to(self.page, selector)
            is_box = self.page.evaluate("document.activeElement.matches('[type=checkbox]')")
            self.page.wait_for_selector(f"{selector}:enabled")
            self.page.keyboard.press("Space" if is_box else "Enter")
        else:
            self.page.click(selector)

    def take(self, selector):
        """Choose one of several; the keys move from the one that was chosen."""
        self.actions += 1
        if self.by_keys:
            group = self.page.get_attribute(selector, "name")
            tab_to(self.page, f"[name={group}]")
            for _ in range(12):
                if self.page.is_checked(selector):
                    return
                self.page.keyboard.press("ArrowDown")
            raise AssertionError(f"{selector} cannot be reached by arrows")
        self.page.check(selector)

    def write(self, selector, text):
        self.actions += 1
        if self.by_keys:
            tab_to(self.page, selector)
            self.page.keyboard.press("Control+a")
            self.page.keyboard.type(text)
        else:
            self.page.fill(selector, text)

    def see(self, selector):
        self.page.wait_for_selector(selector)

    def begin(self, file="admissions.csv"):
        self.take(f'[name=data][value="{file}"]')
        self.page.wait_for_selector("#columns .column")


def column(name, part):
    return f"[data-column={name}] {part}"


def strange(folder):
    """Write three files that nothing in the project knows."""
    bikes = [
        f"{station};{hour};{'sun' if hour % 3 else 'rain'};{hour / 8:.1f}".replace(".", ",")
        for station in ("Harbour", "Old Town", "Main, East")
        for hour in range(24)
    ]
    lines = "\n".join(bikes * 20)
    (folder / "bikes.csv").write_text(f"station;hour;weather;kilometres\n{lines}\n")
    diets = ["vegan", "meat", "fish"] * 300
    survey = {"diet": diets, "age": list(range(18, 68)) * 18, "smokes": [True, False, None] * 300}
    parquet.write_table(pa.table(survey), folder / "survey.parquet")
    (folder / "tickets.tsv").write_text("priority\tteam\n" + "low\tA\nhigh\tB\n" * 200)


WALKS = {
    "described": (
        ("begin", "survey.parquet"),
        ("press", "#tick-all"),
        ("write", column("diet", "textarea"), "vegan, meat, fish"),
        ("write", column("age", "[id$=range-min]"), "18"),
        ("write", column("age", "[id$=range-max]"), "99"),
        ("write", "#n", "900"),
        ("see", "#forecast:has-text('With 900 records at ε = 1, noise moves')"),
    ),
    "found": (
        ("begin", "bikes.csv"),
        ("take", "[name=how][value=found]"),
        ("see", "#ticked:has-text('4 of 4 columns')"),
        ("write", "#epsilon", "200"),
        ("write", "#n", "1440"),
        ("see", "#forecast-limits:has-text('every second time')"),
    ),
    "one value": (
        ("begin", "tickets.tsv"),
        ("take", "[name=what][value=value]"),
        ("press", column("priority", "[type=checkbox]")),
        ("write", column("priority", "textarea"), "low, high, urgent"),
        ("see", "#save-book:enabled"),
        ("write", "#n", "400"),
    ),
}
"""What a stranger does with each file until the budget is to be declared."""

ENDS = {
    "described": (12, "3 columns (diet, age, smokes) of survey.parquet"),
    "found": (
        12,
        "4 columns (station, hour, weather, kilometres) of bikes.csv, whose values are found",
    ),
    "one value": (8, "column “priority” of tickets.tsv, out of 4 possible values"),
}
"""The most actions that a walk may take, and what its summary says."""


@pytest.mark.parametrize(
    ("walk", "means"), some([(w, m) for w in WALKS for m in ("mouse", "keyboard")], one_of=4)
)
def test_a_strangers_file_is_released_in_a_few_actions(browser, home, walk, means):
    strange(home.folder)
    with visit(browser, home, "release", viewport=ZOOMED) as page:
        hand = Hand(page, by_keys=means == "keyboard")
        for action, *arguments in WALKS[walk]:
            getattr(hand, action)(*arguments)
        faultless(page)
        most, told = ENDS[walk]
        hand.write("#budget", "300")
        page.wait_for_selector("#budget-summary:has-text('together spend ε = 300')")
        assert not home.ledger.exists()
        hand.press("#declare")
        page.wait_for_selector(f"#summary:has-text('{told}')")
        assert page.text_content("#budget-summary") == ""  # nothing of it is said of other data
        page.wait_for_selector("#in-sight:has-text('ε 300 left of 300')")
        assert Ledger(home.ledger).show()[0].lines == ()
        assert page.evaluate(OVERFLOW) == 0
        hand.press("#go")
        page.wait_for_selector("#result:visible")
        assert hand.actions <= most
        assert page.evaluate(OVERFLOW) == 0
        faultless(page)
        if walk == "one value":
            assert page.inner_text("#value") in {"low", "high", "urgent", "other"}
            hand.press("#again")
            page.wait_for_selector("#left_after:has-text('298')")
            assert page.is_visible("#value")
        else:
            assert page.locator("#preview tbody tr").count() == 12


def test_a_forecast_is_for_as_many_records_as_a_person_may_have(browser, home):
    with visit(browser, home, "release") as page:
        begin(page)
        page.check("#tick-all")
        for name in ("diagnosis", "ward"):
            page.fill(column(name, "textarea"), "a, b")
        with page.expect_response("**/api/table-plan"):
            page.fill("#n", "4,000")
        page.fill("#budget", "300")

        def foreseen(change):
            with page.expect_request("**/api/table-plan") as asked:
                change()
            return {name: asked.value.post_data_json[name] for name in WHOM}

        typed = foreseen(lambda: page.fill("#records-per-person", "1,005"))
        assert typed == {"neighbours": "replace", "records_per_person": "1005"}
        chosen = foreseen(lambda: page.select_option("#neighbours", "add-remove"))
        assert chosen == {"neighbours": "add-remove", "records_per_person": "1005"}
        page.click("#declare:enabled")
        page.wait_for_selector("#summary:visible")
        assert foreseen(lambda: page.fill("#epsilon", "2")) == chosen
        page.wait_for_selector("#forecast[data-level=hopeless]")


WHOM = ("neighbours", "records_per_person")


def test_values_are_not_found_for_a_budget_without_a_delta(browser, steward):
    with visit(browser, steward, "release") as page:
        begin(page)
        page.wait_for_selector("#pure:visible")
        assert page.is_disabled("[value=found]")


@pytest.fixture(scope="module")
def steward(tmp_path_factory):
    """A page with a budget that lasts."""
    folder, ledger = admissions(tmp_path_factory.mktemp("steward"), budget="100")
    (folder / "two  blanks.csv").write_text("a,b\n1,2\n")
    (folder / "caf\udce9.csv").write_text("a,b\n1,2\n")
    with served(folder, ledger) as page:
        yield page


DROP = """([text, name = "book.json"]) => {
  const carried = new DataTransfer();
  carried.items.add(new File([text], name));
  const drop = new DragEvent("drop", { dataTransfer: carried, bubbles: true, cancelable: true });
  document.querySelector("h1").dispatchEvent(drop);
}"""


def begin(page):
    choose(page, "admissions.csv")


def drop(page, book):
    begin(page)
    page.evaluate(DROP, [json.dumps(book)])
    page.wait_for_selector("#save-book:enabled")


def test_a_code_book_is_dropped_used_saved_and_printed(browser, steward):
    with visit(browser, steward, "release") as page:
        drop(page, BOOK)
        assert (
            page.locator(column("ward", "select")).first.input_value() == "given"
        )  # it has labels
        with page.expect_download() as download:
            page.click("#save-book")
        saved = json.loads(download.value.path().read_text(encoding="utf-8"))
        assert saved["schema"]["fields"] == BOOK["schema"]["fields"]
        page.check("[name=what][value=row]")
        page.fill("#n", "50")
        expect(page.locator("#scale [aria-current]")).to_have_text("poor")
        page.wait_for_selector("#warnings:has-text('Use more records')")
        assert page.inner_text("#network-steps .node >> nth=1").endswith("given diagnosis")
        page.fill("#purpose", "the bulletin")
        page.click("#review")
        page.wait_for_selector("#confirm:visible")
        unexplained = r"\bletters?\b|ls-roo|\(replace\)"
        assert not re.search(unexplained, page.inner_text("main").lower())
        page.click("#go")
        page.wait_for_selector("#result:visible")
        page.emulate_media(media="print")
        assert page.is_visible("#value")
        assert page.is_visible("text=Receipt of a private release")
        facts = page.inner_text("#facts")
        for fact in (
            " UTC",
            "admissions.csv",
            "diagnosis, ward",
            "the bulletin",
            "dproo ",
            "declared",
        ):
            assert fact in facts
        assert "This is the worst case" in facts
        assert not any(page.is_visible(part) for part in ("nav", "#step-data", "#print", "footer"))
        page.emulate_media(media="screen")
        with page.expect_download() as download:
            page.click("#download")
        receipt = json.loads(download.value.path().read_text(encoding="utf-8"))
        assert list(receipt["values"][0].values()) == page.locator("#value dd").all_inner_texts()
        assert receipt["purpose"] == "the bulletin"


def test_a_private_table_is_released_shown_and_saved(browser, steward, tmp_path):
    with visit(browser, steward, "release", refusals=1) as page:
        drop(page, BOOK)
        assert page.is_checked("[name=what][value=table]")
        page.fill("#n", "1,000")
        moved = "noise moves the counts of pairs of columns by about"
        page.wait_for_selector(f"#forecast:has-text('With 1,000 records at ε = 1, {moved}')")
        page.click("#review")
        page.wait_for_selector(
            "#summary:has-text('A private table of 2 columns (diagnosis, ward)')"
        )
        assert "dproo synthesize admissions.csv" in page.text_content("#command")
        left = page.inner_text("#in-sight")
        page.click("#go")
        page.wait_for_selector("#released-table:visible")
        page.wait_for_function(
            "(left) => document.querySelector('#in-sight').innerText !== left", arg=left
        )
        assert page.locator("#preview tbody tr").count() == 12
        assert page.locator("#preview thead th").all_inner_texts() == ["diagnosis", "ward"]
        assert page.locator("#histograms figcaption").all_inner_texts() == ["diagnosis", "ward"]
        labels = page.locator("#histograms figure:nth-child(2) dt").all_inner_texts()
        assert labels == ["Northern", "south", "other"]
        assert not page.is_visible("#value")
        page.emulate_media(media="print")
        assert not page.is_visible("#released-table")
        page.emulate_media(media="screen")
        assert page.evaluate(OVERFLOW) == 0
        faultless(page)
        charged = Ledger(steward.ledger).show()[0].spent
        page.fill("#rows", "none")
        page.click("text=Download as CSV")
        page.wait_for_selector("[data-name=rows] .wrong:has-text('Rows must be')")
        page.fill("#rows", "2,000")
        with page.expect_download() as download:
            page.click("text=Download as CSV")
        header, *rows = download.value.path().read_text(encoding="utf-8").splitlines()
        assert (header, len(rows)) == ("diagnosis,ward", 2000)
        with page.expect_download() as download:
            page.click("text=as Parquet")
        assert parquet.read_table(download.value.path()).num_rows == 2000
        page.click("text=Two columns together")
        heads = page.locator("#together thead th")
        expect(heads).to_have_text(["diagnosis", "Northern", "south", "other"])
        with page.expect_download() as download:
            page.click("#model")
        download.value.save_as(tmp_path / "model.json")
        assert len(Model.load(tmp_path / "model.json").rows(5)) == 5
        assert Ledger(steward.ledger).show()[0].spent == charged
        page.check("[name=what][value=row]")  # the next release hides the table
        page.click("#review")
        page.wait_for_selector("#confirm:visible")
        page.click("#go")
        page.wait_for_selector("#value dd")
        assert not page.is_visible("#released-table")


TRIPLE = "a b,ill, two  blanks\n" + "x,yes,1\ny,no,2\n" * 20
TRIPLE_BOOK = {
    "schema": {
        "fields": [
            {"name": "a b", "type": "string", "categories": ["x", "y"]},
            {"name": "ill", "type": "string", "categories": ["yes", "no"]},
            {"name": " two  blanks", "type": "string", "categories": ["1", "2"]},
        ]
    }
}


def test_counts_of_two_columns_are_of_those_that_are_chosen(browser, steward):
    (steward.folder / "triple.csv").write_text(TRIPLE)
    name = str(steward.folder / "triple.csv")
    Ledger(steward.ledger).declare(name, budget="9", neighbours="replace")
    held = []

    def hold_the_first(route):
        held.append(route)
        if len(held) > 1:
            route.continue_()

    with visit(browser, steward, "release") as page:
        choose(page, "triple.csv")
        page.evaluate(DROP, [json.dumps(TRIPLE_BOOK)])
        page.wait_for_selector("#save-book:enabled")
        page.fill("#n", "40")
        page.click("#review")
        page.wait_for_selector("#confirm:visible")
        page.click("#go")
        page.wait_for_selector("#released-table:visible")
        page.click("text=Two columns together")
        caption, heads = page.locator("#together caption"), page.locator("#together thead th")
        expect(caption).to_have_text("a b with ill")
        page.route("**/pair?*", hold_the_first)
        with page.expect_request("**/pair?*"):
            page.select_option("#first", "ill")
            page.select_option("#second", "a b")
        assert page.inner_text("#together") == ""  # what stood there is of others
        page.select_option("#second", " two  blanks")
        expect(heads).to_have_text(["ill", "1", "2", "other"])
        with suppress(Error):  # it is cancelled
            held[0].continue_()
        page.wait_for_function("new Promise((then) => setTimeout(() => then(true), 300))")
        assert page.text_content("#together caption") == "ill with  two  blanks"
        page.select_option("#second", "ill")
        assert page.inner_text("#together") == ""


def test_what_is_no_code_book_is_said_to_be_none(browser, steward):
    with visit(browser, steward, "release") as page:
        begin(page)
        for text in ("not JSON", "[]", '{"schema": {}}'):
            page.evaluate("document.querySelector('#book-refused').textContent = ''")
            page.evaluate(DROP, [text])
            page.wait_for_selector("#book-refused:has-text('book.json is not a code book')")


LONG = 2**53 + 1
ODD = {
    "long": {"type": "integer", "categories": [LONG, -LONG, 0]},
    "range": {"type": "integer", "constraints": {"minimum": LONG, "maximum": LONG + 4}},
    "edges": {"type": "integer", "bins": [0, 2**53]},
    "far": {"type": "number", "bins": [0, 1e16, 1e300]},
    "blanks": {"type": "string", "categories": [" a", "a", "a ", "a\u00a0"]},
    "one blank": {"type": "string", "categories": [" a"]},
    "comma": {"type": "string", "categories": ["a, b"]},
    "commas": {"type": "string", "categories": ["a, b", "a,b"]},
    "break": {"type": "string", "categories": ["a\nb", "c"]},
    "no-break blank": {"type": "string", "categories": ["\u2003", "c"]},
    "escape": {"type": "string", "categories": ["a\x1b", "\u202eb", "\ufffd", "e\u0301", "é"]},
    "digits": {"type": "string", "categories": ["1", "01", "1.0"]},
    "required": {
        "type": "integer",
        "constraints": {"maximum": 5, "minimum": 1, "required": True},
    },
    "months": {"type": "yearmonth", "constraints": {"minimum": "2024-01", "maximum": "2024-12"}},
    "yes": {"type": "boolean"},
    "parts": {"type": "number", "bins": [0, 0.1, 1e300]},
}
"""Columns of a code book that a page is tempted to change."""


def test_a_code_book_is_shown_sent_and_saved_as_it_is(browser, home):
    (home.folder / "odd.csv").write_text(",".join(ODD) + "\n" + ",".join("1" * len(ODD)) + "\n")
    fields = [{"name": name, **field} for name, field in ODD.items()]
    with visit(browser, home, "release") as page:
        choose(page, "odd.csv")
        page.wait_for_selector(column("yes", "[type=checkbox]"))
        with page.expect_request("**/api/codebook") as asked:
            page.evaluate(DROP, [json.dumps({"schema": {"fields": fields}})])
        assert json.loads(asked.value.post_data)["codebook"]["schema"]["fields"] == fields
        page.wait_for_selector("#save-book:enabled")
        with page.expect_download() as download:
            page.click("#save-book")
        saved = json.loads(download.value.path().read_text(encoding="utf-8"))
        assert saved["schema"]["fields"] == fields
        assert str(LONG) in page.inner_text(column("long", ".preview"))
        assert page.input_value(column("long", "textarea")) == f"{LONG}, -{LONG}, 0"


def test_a_code_book_brings_its_own_dependencies_and_each_can_be_removed(browser, steward):
    diagnosis, ward = (field | {"parents": []} for field in BOOK["schema"]["fields"])
    turned = [diagnosis | {"parents": ["ward"]}, ward]
    with visit(browser, steward, "release") as page:
        drop(page, BOOK)
        parent = page.locator(column("ward", "[id$=-parent]"))
        expect(parent).to_have_value("diagnosis")
        parent.select_option("")
        page.wait_for_selector("#save-book:enabled")
        assert parent.input_value() == ""
        parent.select_option("diagnosis")
        page.wait_for_selector("#save-book:enabled")
        with page.expect_request("**/api/codebook") as asked:
            page.evaluate(DROP, [json.dumps({"schema": {"fields": turned}})])
        sent = asked.value.post_data_json["codebook"]["schema"]["fields"]
        assert [field.get("parents", []) for field in sent] == [["ward"], []]


def test_what_is_typed_or_listed_in_a_file_is_sent_as_it_is(browser, home, tmp_path):
    (tmp_path / "list.txt").write_text(f" a\n{LONG}\nb, c \n", encoding="utf-8")
    (tmp_path / "latin.txt").write_bytes("Göteborg\nOslo\n".encode("latin-1"))
    (home.folder / "odd.csv").write_text("a,b,c\n1,2,3\n")
    with visit(browser, home, "release") as page:
        choose(page, "odd.csv")
        for name, way in {"a": "range", "b": "bins", "c": "list"}.items():
            page.check(column(name, "[type=checkbox]"))
            page.locator(column(name, "select")).first.select_option(way)
        page.locator(column("a", "[data-way=range] input")).nth(0).fill(str(LONG))
        page.locator(column("a", "[data-way=range] input")).nth(1).fill(f"{LONG + 4:,}")
        page.locator(column("b", "[data-way=bins] input")).fill(f"0, {LONG}, 1e400")
        page.set_input_files(column("c", "[type=file]"), tmp_path / "latin.txt")
        page.wait_for_selector("#book-refused:has-text('latin.txt is not a text file in UTF-8.')")
        assert page.input_value(column("c", "textarea")) == ""
        with page.expect_request(lambda one: "b, c" in (one.post_data or "")) as asked:
            page.set_input_files(column("c", "[type=file]"), tmp_path / "list.txt")
        a, b, c = json.loads(asked.value.post_data)["codebook"]["schema"]["fields"]
        assert a["constraints"] == {"minimum": LONG, "maximum": LONG + 4}
        assert b["bins"] == [0, LONG, "1e400"]
        assert c["categories"] == [" a", str(LONG), "b, c "]


def test_data_of_the_folder_is_no_list_of_values(browser, home, tmp_path):
    (home.folder / "years").mkdir()
    (home.folder / "years" / "odd.csv").write_text("a\nSECRET\n")
    (tmp_path / "codes.csv").write_text("north\nsouth\n")
    with visit(browser, home, "release") as page:
        choose(page, "admissions.csv")
        page.check(column("ward", "[type=checkbox]"))
        for name in ("admissions.csv", "years/odd.csv"):
            page.set_input_files(column("ward", "[type=file]"), home.folder / name)
            told = f"{Path(name).name} is data: a list that is copied from data is a leak."
            page.wait_for_selector(f"#book-refused:has-text('{told}')")
            assert page.input_value(column("ward", "textarea")) == ""
        page.set_input_files(column("ward", "[type=file]"), tmp_path / "codes.csv")
        page.wait_for_selector(column("ward", ".preview:has-text('north, south')"))
        assert page.is_hidden("#book-refused")


def test_texts_that_a_code_book_states_for_people_name_nobody(browser, home):
    (home.folder / "visits.csv").write_text("patient,ward\n" + "NA,A\n,A\n7,B\n-,B\n" * 9)
    fields = [
        {"name": "patient", "type": "string", "categories": ["7"], "missingValues": ["", "NA"]},
        {"name": "ward", "type": "string", "categories": ["A", "B"]},
    ]
    book = {"schema": {"missingValues": ["", "-"], "fields": fields}}
    with visit(browser, home, "release") as page:
        choose(page, "visits.csv")
        page.wait_for_selector(column("ward", "[type=checkbox]"))
        page.evaluate(DROP, [json.dumps(book)])
        page.uncheck(column("patient", "[type=checkbox]"))
        page.click("#step-privacy summary")
        page.select_option("#person", "patient")
        page.fill("#budget", "9")
        page.click("#declare:enabled")
        page.wait_for_selector("#confirm:visible")
        page.reload()
        page.click("#review")
        page.wait_for_selector("#confirm:visible")
        page.click("#go")
        page.wait_for_selector("#result:visible")
        with page.expect_download() as download:
            page.click("#download")
        receipt = json.loads(download.value.path().read_text(encoding="utf-8"))
        assert receipt["n"] == 3  # 7, - and nobody
        assert receipt["protects"].endswith("no identifiers: 'NA'")
        with page.expect_download() as download:
            page.click("#save-book")
        schema = json.loads(download.value.path().read_text(encoding="utf-8"))["schema"]
        assert schema["missingValues"] == ["", "NA"]
        assert schema["fields"] == [fields[1] | {"missingValues": ["", "-"]}]


@pytest.mark.parametrize("then", ["reload", "encoding"])
def test_texts_that_a_code_book_states_for_people_are_of_no_other_column(then, browser, home):
    """Also once its columns have been read again."""
    (home.folder / "visits.csv").write_text("patient,family,ward\n" + "1,2,A\n" * 9)
    fields = [
        {"name": "patient", "type": "string", "categories": ["7"], "missingValues": ["", "NA"]},
        {"name": "ward", "type": "string", "categories": ["A", "B"]},
    ]
    book = {"schema": {"missingValues": ["", "-"], "fields": fields}}
    with visit(browser, home, "release") as page:
        choose(page, "visits.csv")
        page.evaluate(DROP, [json.dumps(book)])
        page.click("#step-privacy summary")
        page.select_option("#person", "patient")
        page.wait_for_url("**person=patient**")
        if then == "reload":
            page.reload()
        else:
            page.click("#layout summary")
            page.fill("#encoding", "latin-1")
            with page.expect_response("**/api/columns"):
                page.press("#encoding", "Tab")
        expect(page.locator(column("ward", "select")).first).to_have_value("list")
        for way, person, missing in (
            ("given", "family", ("-",)),
            ("given", "patient", ("NA",)),
            ("list", "patient", ("NA",)),
        ):
            page.select_option(f"{column('patient', 'select')} >> nth=0", way)
            page.select_option("#person", person)
            with page.expect_download() as download:
                page.click("#save-book:enabled")
            saved = CodeBook.of(json.loads(download.value.path().read_text(encoding="utf-8")))
            assert saved.missing_texts(person) == missing


def test_a_long_number_is_released_shown_and_saved_as_it_is(browser, home):
    (home.folder / "long.csv").write_text("a,b\n" + f"{LONG},x\n" * 90)
    fields = [
        {"name": "a", "type": "integer", "constraints": {"minimum": LONG, "maximum": LONG + 1}},
        {"name": "b", "type": "string", "categories": ["x"]},
    ]
    Ledger.create(home.ledger).declare(
        str(home.folder / "long.csv"), budget="100", neighbours="replace"
    )
    with visit(browser, home, "release") as page:
        choose(page, "long.csv")
        page.wait_for_selector(column("b", "[type=checkbox]"))
        page.evaluate(DROP, [json.dumps({"schema": {"fields": fields}})])
        page.wait_for_selector("#save-book:enabled")
        page.check("[name=what][value=row]")
        page.fill("#epsilon", "50")
        page.click("#review")
        page.wait_for_selector("#confirm:visible")
        page.click("#go")
        page.wait_for_selector("#result:visible")
        assert page.locator("#value dd").first.inner_text() == str(LONG)
        with page.expect_download() as download:
            page.click("#download")
        receipt = json.loads(download.value.path().read_text(encoding="utf-8"))
        assert receipt["values"][0]["a"] == LONG
        page.goto(page.url.replace("/release", "/ledger").partition("?")[0])
        page.wait_for_selector(f".account:has-text('{LONG}')")


MALFORMED = [
    {"fields": [None]},
    {"fields": [[]]},
    {"fields": {"diagnosis": 1}},
    {"fields": [{"type": "string"}, {"type": "string"}]},
    {"fields": [{"name": "diagnosis", "type": "string", "categories": ["X"]}, None]},
    {"fields": [{"name": "diagnosis", "type": "integer", "constraints": None}]},
    {"fields": [{"name": "diagnosis", "type": "integer", "constraints": 3}]},
    {"fields": [{"name": "diagnosis", "type": "number", "bins": 3}]},
    {"fields": [{"name": "diagnosis", "type": 3}]},
    {"fields": [{"name": "diagnosis", "type": "string", "categories": [None, {}]}]},
    {"fields": [{"name": "diagnosis", "type": "string", "categories": ["X"], "parents": 3}]},
    {"fields": [{"name": "diagnosis", "type": "string", "categories": ["X"]}] * 2},
]


@pytest.mark.parametrize("schema", some(MALFORMED, one_of=4))
def test_a_malformed_code_book_is_refused_or_leaves_what_is_shown(browser, steward, schema):
    with visit(browser, steward, "release") as page:
        drop(page, BOOK)
        before = page.input_value(column("diagnosis", "textarea"))
        page.evaluate(DROP, [json.dumps({"schema": schema})])
        page.wait_for_selector("#book-refused:visible, .preview.wrong:visible, #save-book:disabled")
        page.wait_for_timeout(500)
        if "is not a code book" in page.inner_text("#book-refused"):
            assert page.input_value(column("diagnosis", "textarea")) == before
        else:
            assert page.is_disabled("#save-book")
            assert not page.is_visible("#review")


def test_a_code_book_that_is_dropped_where_values_are_found_lists_them_instead(browser, home):
    with visit(browser, home, "release") as page:
        begin(page)
        page.check("[value=found]")
        page.evaluate(DROP, [json.dumps(BOOK)])
        page.wait_for_selector("#save-book:enabled")
        assert page.is_checked("[value=known]")
        assert not page.is_visible("#book-refused")


def test_a_layout_that_the_page_can_be_told_is_asked_for_there(browser, home):
    (home.folder / "two.csv").write_text("a;b,c;d\n1;2,3;4\n")
    (home.folder / "latin.csv").write_bytes("größe,b\n1,2\n".encode("latin-1"))
    with visit(browser, home, "release", refusals=2) as page:
        for name in ("two.csv", "latin.csv"):
            page.check(f"[name=data][value='{name}']")
            page.wait_for_selector("#step-data :is(.notice, .wrong):visible")
            told = page.inner_text("#step-data :is(.notice, .wrong):visible")
            assert "under “If the columns look wrong”" in told.replace("Under", "under")
            assert "--" not in told


def test_a_file_is_dropped_anywhere_and_a_sample_is_invented(browser, home):
    with visit(browser, home, "release") as page:
        page.wait_for_selector("[name=data][value='admissions.csv']")
        for name, told in {
            "book.json": "Choose the data first, then drop its code book.",
            "elsewhere.csv": "elsewhere.csv is not among the files above. Copy it into this",
        }.items():
            page.evaluate(DROP, ["", name])
            page.wait_for_selector(f"#data-refused:has-text('{told}')")
        page.evaluate(DROP, ["", "admissions.csv"])
        page.wait_for_selector(column("diagnosis", "[type=checkbox]"))
        assert not page.is_visible("#data-refused")
        page.click("#sample")
        page.wait_for_selector("#save-book:enabled")
        expect(page.locator("#columns [type=checkbox]:checked")).to_have_count(4)
        assert page.is_checked("[name=data][value='sample-admissions.csv']")
        assert not page.is_visible("#sample")


def test_a_sample_is_described_whatever_an_address_says(browser, home):
    with visit(browser, home, "release") as page:
        page.goto(f"{home.origin}/release?how=found")
        page.click("#sample")
        page.wait_for_selector("#save-book:enabled")


def test_cards_that_are_read_late_leave_the_chosen_one_chosen(browser, home):
    """Else the records of one file would be charged to the budget of another."""
    for name in ("june.csv", "july.csv"):
        (home.folder / name).write_text("a,b\n1,2\n")
    with visit(browser, home, "release", refusals=1) as page:
        choose(page, "june.csv")
        (home.folder / "sample-admissions.csv").write_text("a,b\n1,2\n")  # now it cannot be written
        held = []
        page.route("**/api/files", lambda route: held.append(route))  # noqa: PLW0108 - as it is asked for
        with page.expect_request("**/api/files"):
            page.click("#sample")
        choose(page, "july.csv")
        expect(page.locator("#dataset")).to_have_value(re.compile("july.csv$"))
        held[0].continue_()
        expect(page.locator("#sample")).to_be_hidden()
        assert page.is_checked("[name=data][value='july.csv']")


def test_choices_survive_leaving_the_room_and_coming_back(browser, steward):
    with visit(browser, steward, "release") as page:
        drop(page, BOOK)
        page.fill("#epsilon", "0.25")
        page.click("nav >> text=Plan")
        page.wait_for_selector("#accuracy .curve")
        page.go_back()
        page.wait_for_selector("#save-book:enabled")
        assert page.input_value("#epsilon") == "0.25"
        assert page.is_checked("[name=data][value='admissions.csv']")
        assert page.is_checked(column("ward", "[type=checkbox]"))
        assert page.input_value("#network") == "declared"


@pytest.mark.parametrize("what", ["table", "value"])
def test_what_is_to_be_found_survives_a_reload(browser, home, what):
    ticked = (
        "() => [...document.querySelectorAll('#columns [type=checkbox]')].map((b) => b.checked)"
    )
    with visit(browser, home, "release") as page:
        begin(page)
        page.check(f"[name=what][value={what}]")
        page.check("[name=how][value=found]")
        (page.check if what == "value" else page.uncheck)(column("ward", "[type=checkbox]"))
        page.fill("#delta", "1e-8")
        page.fill("#purpose", "the bulletin")
        before = page.evaluate(ticked)
        assert len(set(before)) == 2
        page.reload()
        page.wait_for_selector("#step-privacy:visible")
        assert page.evaluate(ticked) == before
        assert page.input_value("#delta") == "1e-8"
        assert page.input_value("#purpose") == "the bulletin"
        assert page.is_checked(f"[name=what][value={what}]")


def test_a_plan_is_handed_over(browser, steward):
    with visit(browser, steward, "plan") as page:
        page.fill("#epsilon", "0.125")
        page.fill("#n", "2,000")
        page.click("#hand-over")
        page.wait_for_url("**/release?*")
        assert (page.input_value("#epsilon"), page.input_value("#n")) == ("0.125", "2,000")


def test_ranges_bins_months_and_files_describe_columns(browser, steward, tmp_path):
    (steward.folder / "people.csv").write_text("age,weight,month,ill,city\n1,2,2024-01,true,Rome\n")
    (tmp_path / "cities.txt").write_text("Rome\nOslo, the\n")
    with visit(browser, steward, "release") as page:
        choose(page, "people.csv")
        page.wait_for_selector(column("weight", "[type=checkbox]"))  # no other file has that
        ways = {
            "age": "range",
            "weight": "bins",
            "month": "months",
            "ill": "boolean",
            "city": "list",
        }
        for name, way in ways.items():
            page.check(column(name, "[type=checkbox]"))
            page.locator(column(name, "select")).first.select_option(way)
        page.locator(column("age", "[data-way=range] input")).nth(0).fill("0")
        page.locator(column("age", "[data-way=range] input")).nth(1).fill("120")
        page.locator(column("weight", "[data-way=bins] input")).fill("0, 50.5, 100")
        page.locator(column("month", "[data-way=months] input")).nth(0).fill("2024-01")
        page.locator(column("month", "[data-way=months] input")).nth(1).fill("2024-12")
        page.locator(column("city", "[type=file]")).set_input_files(tmp_path / "cities.txt")
        page.wait_for_selector("#save-book:enabled")
        told = {name: page.inner_text(column(name, ".preview")).split(":")[0] for name in ways}
        expected = {"age": 122, "weight": 3, "month": 13, "ill": 3, "city": 3}
        assert told == {name: f"k = {k} possible values" for name, k in expected.items()}
        page.locator(column("weight", "[data-way=bins] input")).fill("9, 1")
        page.wait_for_selector(column("weight", ".wrong:visible"))
        assert page.is_disabled("#save-book")


def test_a_refusal_stands_at_its_field_and_has_the_focus(browser, steward):
    with visit(browser, steward, "release", refusals=2) as page:
        drop(page, BOOK)
        page.fill("#epsilon", "much")
        page.click("#review")
        page.wait_for_selector("[data-name=epsilon] .wrong:has-text('Privacy ε must be')")
        assert page.evaluate("document.activeElement.id") == "epsilon"
        page.fill("#epsilon", "1000")
        page.click("#review")
        page.wait_for_selector("[data-name=epsilon] .wrong:has-text('left of the budget')")


def test_a_column_that_cannot_hold_its_values_is_refused_where_it_stands(browser, steward):
    book = {
        "schema": {"fields": [{"name": "plague", "type": "boolean"}, *BOOK["schema"]["fields"]]}
    }
    with visit(browser, steward, "release") as page:
        drop(page, book)
        page.wait_for_selector("#columns-left:has-text('the data has no such columns: plague')")


@pytest.mark.parametrize("way", ["found", "boolean", "list"])
def test_a_refusal_is_seen_each_time_whatever_describes_the_column_it_names(browser, home, way):
    data = home.folder / "admissions.csv"
    text = data.read_text()
    budget = {"budget": "8", "delta": "1e-6", "neighbours": "replace"}
    Ledger.create(home.ledger).declare(str(data), **budget)
    with visit(browser, home, "release", refusals=3) as page:
        begin(page)
        page.check(column("ward", "[type=checkbox]"))
        if way == "found":
            page.check("[name=how][value=found]")
        else:
            page.locator(column("ward", "select")).first.select_option(way)
        if way == "list":
            page.fill(column("ward", "textarea"), "north, south")
        page.click("#review")
        page.wait_for_selector("#confirm:visible")
        data.write_text(text.replace("ward", "room", 1))
        place = column("ward", ".preview.wrong") if way == "list" else "#refused"
        told = page.locator(f"{place}:visible").filter(has_text="'ward'")
        for button in ("#go", "#review", "#review"):
            with page.expect_response(re.compile("/api/(order|release)")):
                page.click(button)
            expect(told).to_have_count(1)
            expect(page.locator("#confirm")).to_be_hidden()
        data.write_text(text)
        page.click("#review")
        page.wait_for_selector("#confirm:visible")
        expect(told).to_have_count(0)


@pytest.mark.parametrize("person", [" patient", "person id", "person  id"])
def test_the_column_that_tells_people_apart_is_the_chosen_one_to_the_last_blank(
    browser, home, person
):
    (home.folder / "people.csv").write_text("ward, patient,person id,person  id\nnorth,1,2,3\n")
    with visit(browser, home, "release") as page:
        choose(page, "people.csv")
        page.check(column("ward", "[type=checkbox]"))
        page.fill(column("ward", "textarea"), "north, south")
        page.click("#step-privacy summary")
        expect(page.locator("#person option")).to_have_count(5)
        shown = page.locator("#person option").all_inner_texts()
        assert shown[2:] == ["␣patient", "person id", "person␣␣id"]
        page.select_option(
            "#person", index=shown.index(re.sub("^ |  ", lambda m: "␣" * len(m[0]), person))
        )
        page.fill("#budget", "1")
        page.click("#declare")
        page.wait_for_selector("#confirm:visible")
        assert f"Column “{person}” tells people apart." in page.inner_text("#summary")
        assert f"--person '{person}'" in page.text_content("#command")
        page.reload()
        page.wait_for_selector("#review:visible")
        assert page.input_value("#person") == person


def test_the_name_of_a_budget_survives_a_reload_and_an_old_forecast_is_marked(browser, steward):
    held = []
    with visit(browser, steward, "release") as page:
        drop(page, BOOK)
        page.fill("#n", "900")
        page.wait_for_selector("#forecast:has-text('ε = 1,')")
        page.route("**/api/table-plan", lambda route: held.append(route))  # noqa: PLW0108 - as it is asked for
        page.fill("#epsilon", "0.5")
        page.wait_for_selector("#forecast[aria-busy]")
        held[-1].continue_()
        page.wait_for_selector("#forecast:not([aria-busy]):has-text('ε = 0.5,')")
        page.evaluate("document.querySelector('#dataset').value = 'patients'")
        page.dispatch_event("#dataset", "change")
        page.wait_for_selector("#step-budget:visible")
        page.reload()
        page.wait_for_selector("#step-budget:visible")
        assert page.input_value("#dataset") == "patients"


CHOOSE_WHAT_IS_NOT_UNICODE = """() => {
  const cards = [...document.querySelectorAll("[name=data]")];
  cards.find(({ value }) => !value.isWellFormed()).click();
}"""


def test_files_of_any_name_are_chosen(browser, steward):
    with visit(browser, steward, "release", refusals=1) as page:
        choose(page, "two  blanks.csv")
        page.wait_for_selector("[data-column=a]")
        page.evaluate(CHOOSE_WHAT_IS_NOT_UNICODE)
        page.check(column("a", "[type=checkbox]"))
        page.fill(column("a", "textarea"), "1, 2")
        page.fill("#budget", "1")
        page.wait_for_selector("[data-name=dataset] .wrong:has-text('Name of the budget must be')")


def test_one_value_is_released_with_a_sampler_of_choice(browser, steward):
    with visit(browser, steward, "release") as page:
        begin(page)
        page.check("#tick-all")
        page.check("[value=value]")
        expect(page.locator("#ticked")).to_have_text("1 of 2 columns")
        page.check(column("ward", "[type=checkbox]"))
        page.check(column("diagnosis", "[type=checkbox]"))
        assert not page.is_checked(column("ward", "[type=checkbox]"))  # a value is of one column
        page.fill(column("diagnosis", "textarea"), "I50, J18, S72")
        page.fill("#cell", "i50")
        page.wait_for_selector(column("diagnosis", ".preview:has-text('“i50” counts as “other”')"))
        page.click("text=Choose a sampler")
        page.select_option("#sampler", "ls-roo")
        page.fill("#epsilon", "0.25")
        page.click("#review")
        page.wait_for_selector("#confirm:visible")
        assert "by ls-roo" in page.inner_text("#summary")
        assert "--sampler ls-roo" in page.text_content("#command")
        page.fill("#epsilon", "0.5")  # which withdraws what was shown
        assert not page.is_visible("#go")
        page.click("#review")
        page.click("#go")
        page.wait_for_selector("#result:visible")
        assert page.inner_text("#value") in {"I50", "J18", "S72", "other"}
        assert page.is_visible("#again")
        page.evaluate(DROP, [json.dumps(BOOK)])  # it would not be another one of the same
        expect(page.locator("#again")).to_be_hidden()


def test_a_review_that_answers_late_is_of_the_choices_that_stand(browser, steward):
    held = []

    def hold_the_first(route):
        held.append(route)
        if len(held) > 1:
            route.continue_()

    with visit(browser, steward, "release") as page:
        drop(page, BOOK)
        page.fill("#epsilon", "0.5")
        page.route("**/api/order", hold_the_first)
        with page.expect_request("**/api/order"):
            page.click("#review")
        assert page.get_attribute("#review", "aria-busy") == "true"
        page.fill("#epsilon", "0.25")  # the answer is still under way
        page.click("#review")
        page.wait_for_selector("#confirm:visible")
        with page.expect_response("**/api/order"):
            held[0].continue_()
        page.wait_for_function("new Promise((then) => setTimeout(() => then(true)))")
        assert "0.25" in page.inner_text("#cost")
        assert page.get_attribute("#review", "aria-busy") is None


def test_nothing_is_chosen_while_a_release_is_running(browser, steward):
    held = []
    with visit(browser, steward, "release") as page:
        drop(page, BOOK)
        page.click("#review")
        page.route("**/api/release", lambda route: held.append(route))  # noqa: PLW0108 - as it is asked for
        with page.expect_request("**/api/release"):
            page.click("#go")
        page.evaluate(DROP, [json.dumps(BOOK), "two  blanks.csv"])
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        page.wait_for_selector("#in-sight:visible")
        for part in ("step-data", "step-columns", "step-privacy", "doubt", "result"):
            assert page.locator(f"#{part}").get_attribute("inert") is not None
        assert page.is_visible("#stop")
        held[0].continue_()
        page.wait_for_selector("#result:visible")
        assert "admissions.csv" in page.inner_text("#facts")
        assert page.locator("[inert]").count() == 0


def test_an_answer_of_before_brings_no_spent_budget_back(browser, steward):
    held = []

    def hold_the_first(route):
        if held:
            route.continue_()
        else:
            held.append((route, route.fetch()))

    with visit(browser, steward, "release") as page:
        begin(page)
        page.wait_for_selector("#in-sight:visible")
        page.route("**/api/ledger", hold_the_first)
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        while not held:
            page.wait_for_timeout(20)
        left = page.inner_text("#in-sight")
        Ledger(steward.ledger).reserve(
            str(steward.folder / "admissions.csv"), epsilon="0.5", neighbours="replace"
        )
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        page.wait_for_function(
            "(left) => document.querySelector('#in-sight').innerText !== left", arg=left
        )
        spent = page.inner_text("#in-sight")
        ((route, answer),) = held
        with suppress(Error):  # it is cancelled
            route.fulfill(response=answer)
        page.wait_for_timeout(300)
        assert page.inner_text("#in-sight") == spent


RETURN = "document.dispatchEvent(new Event('visibilitychange'))"
"""What a tab hears when one comes back to it; it then looks at the ledger."""


@pytest.mark.parametrize("is_answered", [True, False])
def test_a_review_outlives_a_look_at_the_ledger_and_is_renewed_where_it_is_old(
    browser, steward, is_answered
):
    held = []
    with visit(browser, steward, "release") as page:
        drop(page, BOOK)
        page.wait_for_selector("#in-sight:visible")
        if not is_answered:
            page.route(
                "**/api/order",
                lambda route: held.append(route) or (len(held) > 1 and route.continue_()),
            )
            with page.expect_request("**/api/order"):
                page.click("#review")
        else:
            page.click("#review")
            page.wait_for_selector("#confirm:visible")
            with page.expect_response("**/api/ledger"):
                page.evaluate(RETURN)
            page.wait_for_timeout(100)
            assert page.is_visible("#confirm")
        Ledger(steward.ledger).reserve(
            str(steward.folder / "admissions.csv"), epsilon="0.5", neighbours="replace"
        )
        page.evaluate(RETURN)
        if is_answered:
            page.wait_for_selector("#refused:has-text('Review the release again')")
            assert not page.is_visible("#confirm")
            page.click("#review")
        page.wait_for_selector("#confirm:visible")
        assert len(held) in {0, 2}
        assert not page.is_visible("#refused")
        assert page.inner_text("#left") == in_epsilon(Ledger(steward.ledger).show()[0].left)


def test_a_ledger_that_cannot_be_read_is_not_one_without_a_budget(browser, steward):
    sentence = "The ledger is away."
    with visit(browser, steward, "release", refusals=1) as page:
        page.route(
            "**/api/ledger", lambda route: route.fulfill(status=400, json={"error": sentence})
        )
        drop(page, BOOK)
        page.wait_for_selector(f"#in-sight:has-text('{sentence}')")
        assert not page.is_visible("#step-budget")
        assert page.locator(".file:has(:checked):has-text('no budget yet')").count() == 0
        page.unroute("**/api/ledger")
        page.wait_for_selector("#review:visible")  # it is looked at again without being told to
        assert page.locator(f":has-text('{sentence}')").count() == 0


def test_a_lost_answer_of_a_release_leads_to_the_ledger(browser, steward):
    before = len(Ledger(steward.ledger).show()[0].lines)
    with visit(browser, steward, "release") as page:
        drop(page, BOOK)
        page.click("#review")
        page.evaluate(LOSE, "release")
        page.click("#go")
        page.wait_for_selector("#refused:has-text('Look at the Ledger before you try again')")
    made = Ledger(steward.ledger).show()[0].lines[before:]
    assert [line.is_recorded for line in made] == [True]


UNFORESEEN = """() => {
  const real = window.fetch;
  const isForecast = (address) => address === "/api/table-plan";
  window.fetch = (address, ...rest) =>
    isForecast(address) ? Promise.reject(new TypeError("lost")) : real(address, ...rest);
}"""
"""Let no forecast be answered."""


def test_what_became_of_a_charge_outlives_a_forecast_that_fails(browser, steward):
    with visit(browser, steward, "release") as page:
        drop(page, BOOK)
        page.fill("#n", "900")
        page.click("#review")
        page.wait_for_selector("#confirm:visible")
        page.evaluate(UNFORESEEN)
        page.evaluate(LOSE, "release")
        page.click("#go")
        page.wait_for_selector("#unforeseen:has-text('The server does not answer')")
        assert "Look at the Ledger before you try again" in page.inner_text("#refused")


def test_a_budget_whose_declaration_was_lost_is_seen(browser, home):
    with visit(browser, home, "release") as page:
        drop(page, BOOK)
        page.fill("#budget", "9")
        page.wait_for_selector("#declare:enabled")
        page.evaluate(LOSE, "declare")
        page.click("#declare")
        page.wait_for_selector("#in-sight:has-text('ε 9 left of 9')")
        page.wait_for_selector("#review:visible")
        assert not page.is_visible("#step-budget")


def test_a_budget_that_somebody_else_has_declared_meanwhile_is_seen(browser, home):
    with visit(browser, home, "release", refusals=1) as page:
        drop(page, BOOK)
        Ledger.create(home.ledger).declare(
            str(home.folder / "admissions.csv"), budget="4", neighbours="replace"
        )
        page.fill("#budget", "9")
        page.wait_for_selector("#in-sight:has-text('ε 4 left of 4')")
        assert not page.is_visible("#step-budget")


def test_a_lost_preview_leaves_none_of_other_values_and_is_asked_for_again(browser, steward):
    with visit(browser, steward, "release") as page:
        begin(page)
        page.check(column("ward", "[type=checkbox]"))
        page.fill(column("ward", "textarea"), "A, B")
        page.wait_for_selector(column("ward", ".preview:has-text('A, B')"))
        page.evaluate(LOSE, "codebook")
        page.fill(column("ward", "textarea"), "X, Y")
        page.wait_for_selector("#book-refused:visible")
        assert "A, B" not in page.inner_text(column("ward", ".preview"))
        page.wait_for_selector(column("ward", ".preview:has-text('X, Y')"))


def test_an_address_keeps_the_column_that_tells_people_apart_or_says_that_it_is_gone(
    browser, steward
):
    with visit(browser, steward, "release") as page:
        begin(page)
        page.evaluate("document.querySelector('#person').closest('details').open = true")
        drop(page, BOOK)
        page.select_option("#person", "ward")
        page.wait_for_url("**person=ward**")
        address = page.url
        other = page.context.new_page()
        other.goto(address)
        other.wait_for_selector("#columns .column")
        assert other.input_value("#person") == "ward"
        other.goto(address.replace("person=ward", "person=gone"))
        other.wait_for_selector("#data-refused:has-text('“gone”, which told people apart')")


@pytest.mark.parametrize("is_loaded_again", [False, True])
def test_a_described_column_is_read_in_the_encoding_that_is_chosen_last(
    browser, home, *, is_loaded_again
):
    (home.folder / "towns.csv").write_text("town\n" + "Köln\nBonn\n" * 50)
    with visit(browser, home, "release") as page:
        choose(page, "towns.csv")
        page.click("#layout summary")
        page.fill("#encoding", "latin-1")
        page.press("#encoding", "Tab")
        page.check(column("town", "[type=checkbox]"))
        page.fill(column("town", "textarea"), "Köln, Bonn")
        page.wait_for_selector("#save-book:enabled")
        page.wait_for_url("**encoding=latin-1**")
        if is_loaded_again:
            page.reload()
            page.wait_for_selector("#save-book:enabled")
            page.click("#layout summary")
        with page.expect_request("**/api/codebook") as asked:
            page.fill("#encoding", "")
            page.press("#encoding", "Tab")
        book = asked.value.post_data_json["codebook"]
        assert "Köln" in str(book["schema"])
        assert "encoding" not in book


def test_what_was_stated_about_data_stays_when_its_columns_are_read_again(browser, home):
    (home.folder / "people.csv").write_text("patient;ward\n" + "1;north\n2;south\n" * 50)
    with visit(browser, home, "release", refusals=1) as page:
        choose(page, "people.csv")
        page.check(column("ward", "[type=checkbox]"))
        page.fill(column("ward", "textarea"), "north, south")
        page.click("#step-privacy summary")
        page.select_option("#person", "patient")
        page.fill("#dataset", "mine")
        page.press("#dataset", "Tab")
        page.click("#layout summary")
        for encoding, end in (("nonsense", ".wrong"), ("latin-1", "#columns .column")):
            page.fill("#encoding", encoding)
            page.press("#encoding", "Tab")
            page.wait_for_selector(f"{end}:visible")
        page.wait_for_selector(column("ward", ".preview:has-text('north, south')"))
        assert page.input_value("#person") == "patient"
        assert page.input_value("#dataset") == "mine"
        page.wait_for_url("**person=patient**")
        page.fill("#encoding", "")
        page.fill("#delimiter", ",")
        page.press("#delimiter", "Tab")
        page.wait_for_selector("#data-refused:has-text('“patient”, which told people apart')")
        choose(page, "admissions.csv")
        page.wait_for_url("**data=admissions.csv**")
        assert "person" not in page.url
        assert not page.is_checked(column("ward", "[type=checkbox]"))
        assert page.input_value("#dataset").endswith("admissions.csv")


@pytest.mark.parametrize(
    ("field", "written", "meaning"),
    [
        ("#epsilon", "1,000", "epsilon"),
        ("#epsilon", "1 000", "epsilon"),
        ("#budget", "1,000", "budget"),
        ("#budget", "0,500", "budget"),
    ],
)
def test_a_comma_in_a_number_that_may_be_a_fraction_is_no_group_of_thousands(
    browser, home, field, written, meaning
):
    """In half of the world it is the sign of decimals, and a budget is for good."""
    with visit(browser, home, "release", refusals=1) as page:
        drop(page, BOOK)
        page.fill("#n", "4,000")
        page.fill(field, written)
        label = {"epsilon": "Privacy", "budget": "Budget"}[meaning]
        page.wait_for_selector(f".wrong:has-text('{label}'), #refused:has-text('{label}')")


@pytest.mark.parametrize("meanwhile", ["another file", "typed"])
@pytest.mark.parametrize("kind", ["book", "list"])
def test_a_file_that_is_read_late_takes_nothing_back(browser, steward, meanwhile, kind, tmp_path):
    (steward.folder / "other.csv").write_text("diagnosis,ward\nI50,north\n")
    (tmp_path / "list.txt").write_text("from\na\nfile\n")
    (tmp_path / "book.json").write_text(json.dumps(BOOK))
    with visit(browser, steward, "release") as page:
        begin(page)
        page.check(column("ward", "[type=checkbox]"))
        page.fill(column("ward", "textarea"), "A, B")
        page.evaluate(
            "() => { const read = Blob.prototype.arrayBuffer; window.late = new Promise((then) =>"
            " (window.read = then)); Blob.prototype.arrayBuffer = async function () {"
            " await window.late; return read.call(this); }; }"
        )
        picker = "#open-book" if kind == "book" else column("ward", "[type=file]")
        name = "book.json" if kind == "book" else "list.txt"
        page.set_input_files(picker, str(tmp_path / name))
        if meanwhile == "typed":
            page.fill(column("ward", "textarea"), "C, D")
        else:
            choose(page, "other.csv")
            page.wait_for_selector("#ticked:has-text('0 of 2 columns')")
        page.evaluate("window.read()")
        page.wait_for_timeout(300)
        if meanwhile == "typed":
            assert page.input_value(column("ward", "textarea")) == "C, D"
            page.wait_for_selector("#ticked:has-text('1 of')")
        else:
            assert page.inner_text("#ticked") == "0 of 2 columns"


def test_names_that_differ_by_a_blank_look_different(browser, steward):
    for name in ("t 1.csv", "t  1.csv"):
        (steward.folder / name).write_text("person id,person  id\na,b\n")
    with visit(browser, steward, "release") as page:
        choose(page, "t  1.csv")
        page.wait_for_selector("#columns .column")
        for selector in (".file b", "#columns b"):
            found = page.locator(selector)
            widths = {
                box["width"]
                for box in (found.nth(i).bounding_box() for i in range(found.count()))
                if box
            }
            names = {text for text in found.all_inner_texts() if re.search("1.csv|person", text)}
            assert len(names) == 2
            assert len(widths) > 1


def test_a_cell_that_is_tried_and_a_filter_withdraw_no_review(browser, steward):
    with visit(browser, steward, "release") as page:
        drop(page, BOOK)
        page.click("#review")
        page.wait_for_selector("#confirm:visible")
        page.fill("#cell", "north")
        page.wait_for_selector(column("ward", ".preview:has-text('“north” counts as')"))
        page.fill("#filter", "diag")
        expect(page.locator("#columns .column:visible")).to_have_count(1)
        assert page.is_visible("#confirm")
        assert page.is_enabled("#save-book")


def test_a_budget_for_records_leads_to_one_for_people_and_back(browser, home):
    (home.folder / "people.csv").write_text("patient,ward\n" + "1,north\n2,south\n" * 50)
    Ledger.create(home.ledger).declare(
        str((home.folder / "people.csv").resolve()), budget="1", neighbours="replace"
    )
    with visit(browser, home, "release") as page:
        choose(page, "people.csv")
        page.check(column("ward", "[type=checkbox]"))
        page.fill(column("ward", "textarea"), "north, south")
        page.wait_for_selector("#review:visible")
        assert not page.is_visible("#step-budget")
        page.click("#step-privacy summary")
        page.select_option("#person", "patient")
        page.wait_for_selector("#other-unit:visible:has-text('Releases that protect people need')")
        assert not page.is_visible("#review")
        page.fill("#n", "100")
        with page.expect_request("**/api/table-plan") as asked:
            page.select_option("#neighbours", "add-remove")
        assert asked.value.post_data_json["neighbours"] == "add-remove"  # of what is to be declared
        page.fill("#dataset", "people")
        page.press("#dataset", "Tab")
        expect(page.locator("#other-unit")).to_be_hidden()
        page.fill("#budget", "2")
        page.click("#declare")
        page.wait_for_selector("#confirm:visible")
        assert "charged to “people”" in page.inner_text("#summary")
        page.select_option("#person", "")
        page.wait_for_selector("#other-unit:visible:has-text('choose the column')")
        page.select_option("#person", "patient")
        expect(page.locator("#step-budget")).to_be_hidden()
        assert page.is_visible("#review")


def test_where_people_are_counted_the_page_says_people(browser, home):
    """The forecast is for as many people as the receipt names, not for their records."""
    records = "".join(f"{i // 30},north\n" for i in range(600))
    (home.folder / "people.csv").write_text("patient,ward\n" + records)
    with visit(browser, home, "release") as page:
        choose(page, "people.csv")
        page.check("[name=what][value=value]")
        page.check(column("ward", "[type=checkbox]"))
        page.fill(column("ward", "textarea"), "north, south")
        page.wait_for_selector("#step-budget:visible")
        labels = page.locator("label[for=n], label[for=neighbours]")
        expect(labels).to_have_text(["Records, about", "The number of records is"])
        page.click("#step-privacy summary")
        page.select_option("#person", "patient")
        expect(labels).to_have_text(["People, about", "The number of people is"])
        page.fill("#n", "20")
        page.fill("#budget", "1")
        page.wait_for_selector("#budget-summary:has-text('the number of people is public')")
        page.click("#declare")
        page.wait_for_selector("#confirm:visible:has-text('the number of people is public')")
        forecast = page.inner_text("#forecast")
        assert forecast.startswith("With 20 people at ε = 1, at most")
        page.click("#go")
        page.wait_for_selector("#result:visible")
        accuracy = page.locator("#facts dt:text-is('Accuracy') + dd").inner_text()
        assert forecast == f"With 20 people at ε = 1, {accuracy}."
        assert page.locator("#facts dt:text-is('People') + dd").inner_text() == "20"
        assert "the number of people is public" in page.inner_text("#facts")
        assert "a random one of the counted records" in page.inner_text("#means")
        page.goto(f"{home.origin}/ledger")
        page.wait_for_selector(".account:has-text('the number of people is public')")


def test_where_nothing_is_found_the_page_points_to_its_ledger(browser, home):
    notes = home.folder / "notes.csv"
    notes.write_text("note\n" + "".join(f"note {'x' * i}\n" for i in range(40)))
    Ledger.create(home.ledger).declare(str(notes), budget="9", delta="1e-6", neighbours="replace")
    unrecorded = reprint(SimpleNamespace(ledger=SimpleNamespace(entry=2, head=None)), home.ledger)
    with visit(browser, home, "release", refusals=2) as page:
        choose(page, "notes.csv")
        page.check("[name=how][value=found]")
        page.fill("#delta", "1e-9")
        page.click("#review")
        page.click("#go")
        page.wait_for_selector("#refused:has-text('the release is kept: see Ledger.')")
        answer = {"status": 500, "json": {"error": unrecorded}}
        page.route("**/api/release", lambda route: route.fulfill(**answer))
        page.click("#review")
        page.click("#go")
        page.wait_for_selector("#refused:has-text('was recorded after all, see Ledger.')")


def test_the_column_that_tells_people_apart_is_none_of_the_table_that_is_foreseen(browser, home):
    (home.folder / "people.csv").write_text("patient,ward\n" + "1,north\n2,south\n" * 50)
    with visit(browser, home, "release") as page:
        choose(page, "people.csv")
        page.check("[name=how][value=found]")
        page.click("#step-privacy summary")
        page.select_option("#person", "patient")
        with page.expect_request("**/api/found-plan") as asked:
            page.fill("#n", "20")
        assert asked.value.post_data_json["columns"] == "1"


def test_enter_in_a_budget_leads_to_its_declaration_and_no_further(browser, home):
    with visit(browser, home, "release") as page:
        drop(page, BOOK)
        page.focus("#budget")
        page.keyboard.type("2")
        page.keyboard.press("Enter")
        page.wait_for_selector("#declare:focus")
        assert not home.ledger.exists()
        page.keyboard.press("Enter")
        page.wait_for_selector("#confirm-title:focus")


def test_the_focus_is_never_lost_while_a_release_runs_or_is_refused(browser, home):
    held = []
    with visit(browser, home, "release", refusals=1) as page:
        drop(page, BOOK)
        page.fill("#budget", "2")
        page.click("#declare")
        page.wait_for_selector("#confirm-title:focus")
        page.route("**/api/release", lambda route: held.append(route))  # noqa: PLW0108 - as it is asked for
        page.focus("#go")
        page.keyboard.press("Enter")
        page.wait_for_selector("#working:focus")
        held.pop().continue_()
        page.wait_for_selector("#result-title:focus")
        page.focus("#review")
        page.keyboard.press("Enter")
        page.wait_for_selector("#confirm-title:focus")
        page.focus("#go")
        page.keyboard.press("Enter")
        page.wait_for_selector("#working:focus")
        held.pop().fulfill(json={"error": "it could not be released."}, status=400)
        page.wait_for_selector("#refused:focus:has-text('It could not be released.')")


def test_no_click_decides_a_request_that_has_just_moved_under_it(browser, steward):
    numbers = [7, 8]

    def answer(route):
        one = {"dataset": "visits", "by": "ann", "columns": ["ward"], "charge": "1", "delta": "0"}
        one |= {"at": "2026-01-01T00:00:00Z", "request": "{}", "purpose": None}
        route.fulfill(json={"requests": [{"number": number, **one} for number in numbers]})

    with visit(browser, steward, "release") as page:
        page.route("**/api/requests", answer)
        page.goto(f"{steward.origin}/ledger")
        page.wait_for_selector("#requests button[aria-label='Approve request 7']:enabled")
        page.locator("#requests summary").nth(1).click()
        numbers.remove(7)
        with seen(page, "document.querySelectorAll('#requests button:disabled').length === 2"):
            page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        page.wait_for_selector("#requests button[aria-label='Approve request 8']:enabled")
        assert page.locator("#requests details").evaluate("(one) => one.open")


def test_a_refreshed_ledger_leaves_the_focus_on_its_button(browser, home):
    ledger = Ledger.create(home.ledger)
    ledger.declare(str(home.folder / "admissions.csv"), budget="4", neighbours="replace")
    nonce = home.post("/api/order", ORDER).json["nonce"]
    home.post("/api/release", {"nonce": nonce})
    with visit(browser, home, "ledger") as page:
        page.focus("#accounts button")
        label = page.get_attribute("#accounts button", "aria-label")
        with page.expect_response("**/api/requests"):
            page.evaluate("""() => {
              document.querySelector("#accounts").firstChild.id = "before";
              document.dispatchEvent(new Event("visibilitychange"));
            }""")
        page.wait_for_selector("#before", state="detached")
        assert page.get_attribute("*:focus", "aria-label") == label


BEYOND = """() => {
  const right = (one) => one.getBoundingClientRect().right;
  const edge = right(document.querySelector("#facts")) + 1;
  return [...document.querySelectorAll("#result *")].filter(
    (one) => one.checkVisibility() && !one.closest(".scroll") && right(one) > edge).length;
}"""


def test_a_long_name_leaves_its_box_and_its_counts_in_place_at_400_percent(browser, home):
    long = "name_without_blanks_" * 12
    (home.folder / "long.csv").write_text(f"{long},b\n" + "1,2\n" * 50)
    with visit(browser, home, "release", viewport={"width": 320, "height": 225}) as page:
        choose(page, "long.csv")
        boxes = page.locator("#columns [type=checkbox]")
        widths = {boxes.nth(i).bounding_box()["width"] for i in range(2)}
        assert len(widths) == 1
        boxes.first.check()
        page.fill("#columns textarea", "1, 2")
        page.fill("#budget", "1")
        page.click("#declare")
        page.click("#go")
        page.wait_for_selector("#histograms figure:visible")
        assert page.evaluate(BEYOND) == 0
        assert page.evaluate(OVERFLOW) <= 0


def test_values_that_were_listed_are_not_shown_where_they_are_found(browser, home):
    with visit(browser, home, "release") as page:
        drop(page, BOOK)
        page.wait_for_selector(column("ward", ".preview:has-text('k = ')"))
        page.check("[name=how][value=found]")
        assert not page.is_visible(column("ward", ".preview"))


def test_a_budget_that_is_declared_late_reviews_nothing_of_another_file(browser, home):
    (home.folder / "other.csv").write_text("diagnosis,ward\nI50,north\n")
    Ledger.create(home.ledger).declare(
        str(home.folder / "other.csv"), budget="4", neighbours="replace"
    )
    held, asked = [], []
    with visit(browser, home, "release") as page:
        page.on("request", lambda request: asked.append(request.url))
        drop(page, BOOK)
        page.fill("#budget", "9")
        page.route("**/api/declare", lambda route: held.append(route))  # noqa: PLW0108 - as it is asked for
        with page.expect_request("**/api/declare"):
            page.click("#declare")
        choose(page, "other.csv")
        page.evaluate(DROP, [json.dumps(BOOK)])
        page.wait_for_selector("#review:visible")
        with page.expect_response("**/api/ledger"):
            held[0].continue_()
        page.wait_for_timeout(300)
        assert "ε 4 left of 4" in page.inner_text("#in-sight")
        assert f"{home.origin}/api/order" not in asked


def test_a_review_is_of_the_data_whose_columns_are_shown(browser, home):
    """By an encoding that is still being written, no columns have been read."""
    held = []
    with visit(browser, home, "release") as page:
        drop(page, BOOK)
        page.fill("#budget", "9")
        page.click("#layout summary")
        page.route("**/api/declare", lambda route: held.append(route))  # noqa: PLW0108 - as it is asked for
        with page.expect_request("**/api/declare"):
            page.click("#declare")
        page.fill("#encoding", "latin-1")
        with page.expect_request("**/api/order") as asked:
            held[0].continue_()
        sent = asked.value.post_data_json
        assert (sent["data"], sent["encoding"]) == ("admissions.csv", "")
        page.wait_for_url("**encoding=latin-1**")


def test_the_ledger_shows_each_budget_once_when_answers_cross(browser, steward):
    held = []

    def hold(route):
        held.append(route)
        if len(held) > 2:
            route.continue_()

    with visit(browser, steward, "ledger") as page:
        page.wait_for_selector("#accounts .card")
        count = page.locator("#accounts .card").count()
        page.route("**/api/requests", hold)
        for _ in range(3):
            with page.expect_request("**/api/requests"):
                page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        for route in held[:2]:
            with suppress(Error):  # it is cancelled
                route.continue_()
        page.wait_for_timeout(300)
        assert page.locator("#accounts .card").count() == count


def test_only_the_release_that_runs_can_be_stopped(browser, steward):
    held, asked = [], []
    with visit(browser, steward, "release") as page:
        drop(page, BOOK)
        page.check("[value=row]")
        page.click("#review")
        page.click("#go")
        page.click("#again")  # the result of the last release stays while the next one is made
        page.wait_for_selector("#confirm:visible")
        page.route("**/api/release", lambda route: held.append(route))  # noqa: PLW0108 - as it is asked for
        with page.expect_request("**/api/release"):
            page.click("#go")
        page.on("request", lambda request: asked.append(urlsplit(request.url).path))
        box = page.locator("#again").bounding_box()
        page.mouse.click(box["x"] + 9, box["y"] + 9)
        page.evaluate("document.querySelector('#again').click()")  # as no person could
        page.wait_for_selector("#progress:has-text('1 s')")
        assert page.is_disabled("#go")
        assert "/api/order" not in asked
        held[0].continue_()
        page.wait_for_selector("#confirm", state="hidden")
        page.wait_for_function("document.activeElement.id === 'result-title'")
        page.click("#again")
        page.wait_for_selector("#confirm:visible")


def test_a_budget_is_looked_at_again_when_a_release_of_before_is_over(browser, steward):
    name = str(steward.folder / "admissions.csv")
    running = {"running": {name: "2026-01-01T00:00:00Z"}}
    with visit(browser, steward, "release") as page:
        page.route("**/api/running", lambda route: route.fulfill(json=running))
        with page.expect_response("**/api/ledger"):
            begin(page)
        page.wait_for_selector("#in-sight:visible")
        left = page.inner_text("#in-sight")
        Ledger(steward.ledger).reserve(name, epsilon="0.5", neighbours="replace")
        page.unroute("**/api/running")
        page.wait_for_function(
            "(left) => document.querySelector('#in-sight').innerText !== left", arg=left
        )


def test_the_ledger_shows_that_a_release_has_ended(browser, home):
    ledger, name = Ledger.create(home.ledger), str(home.folder / "admissions.csv")
    ledger.declare(name, budget="4", neighbours="replace")
    ledger.reserve(name, epsilon="0.5", neighbours="replace")
    running = {"running": {name: "2026-01-01T00:00:00Z"}}
    with visit(browser, home, "release") as page:
        page.route("**/api/running", lambda route: route.fulfill(json=running))
        page.click("nav a[href='/ledger']")
        page.wait_for_selector("text=charged, still running")
        page.unroute("**/api/running")
        page.wait_for_selector("text=charged, never released")


def changed(ledger, statement):
    """Change the events of a ledger, as somebody does who knows its triggers."""
    with closing(sqlite3.connect(ledger)) as connection, connection:
        for name in ("event_is_next", "event_is_final", "event_stays"):
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute(statement)
        for trigger in sqlite.SCHEMA[3:]:
            connection.execute(trigger)


def test_a_ledger_that_was_changed_is_shown_with_a_warning_and_a_mark(browser, home):
    ledger, name = Ledger.create(home.ledger), str(home.folder / "admissions.csv")
    ledger.declare(name, budget="4", neighbours="replace")
    for sampler in ("discovery", "table", "table"):
        entry = ledger.reserve(name, epsilon="0.5", neighbours="replace")
        ledger.record(entry, {"sampler": sampler})
    with visit(browser, home, "ledger") as page:
        page.wait_for_selector("td:has-text('a code book of')")
        assert page.locator("td:has-text('a private table of')").count() == 2
        changed(home.ledger, "DELETE FROM event WHERE seq IN (2, 3)")
        page.reload()
        page.wait_for_selector(
            ".account:has-text('chain of hashes breaks at event 2. Charges may')"
        )
        page.click("nav a[href='/release']")
        begin(page)
        page.wait_for_selector("#in-sight:has-text('Charges may be missing')")
        changed(home.ledger, "UPDATE event SET body = '{}' WHERE seq = 4")
        page.click("nav a[href='/ledger']")
        page.wait_for_selector("td:has-text('marked: ')")


def test_a_database_has_its_own_fields_and_its_password_is_hidden(browser, steward):
    with visit(browser, steward, "release", refusals=1) as page:
        page.check("[data-source=database]")
        assert page.get_attribute("#password", "type") == "password"
        assert not page.is_visible("#layout")
        page.fill("#url", "postgresql://ann@127.0.0.1:1/none")
        page.fill("#password", "S3CRET")
        page.fill("#table", "visits")
        page.click("#look")
        page.wait_for_selector("#data-refused:visible, #step-data .wrong")
        assert "S3CRET" not in page.url + page.inner_text("main")
        assert "S3CRET" not in page.evaluate("JSON.stringify(history.state)")
        assert "except to a database that you name" in page.inner_text("footer")


def test_a_row_is_released_from_a_database(browser, home, held, postgresql):
    folder = parse_qs(urlsplit(postgresql).query)["host"][0]
    with visit(browser, home, "release", refusals=1) as page:
        hand = Hand(page, by_keys=False)
        hand.press("[data-source=database]")
        hand.write("#url", "postgresql://dproo@127.0.0.1:1/postgres")
        hand.write("#password", "S3CR#T")
        hand.write("#table", "ward.held")
        hand.press("#look")
        page.wait_for_selector("#step-data .wrong, #data-refused:visible")
        hand.write("#url", f"postgresql://dproo@/postgres?host={folder}")
        hand.press("#look")
        page.wait_for_selector("text=2 columns, from its schema; no record was read.")
        for name, values in {"code": "a, b, c", "place": "north, south"}.items():
            hand.press(column(name, "[type=checkbox]"))
            hand.write(column(name, "textarea"), values)
        page.wait_for_selector("#save-book:enabled")
        hand.take("#step-columns [value=row]")
        hand.write("#n", "1,000")
        page.wait_for_selector("#forecast:has-text('With 1,000 records at ε = 1, at most')")
        hand.write("#dataset", "visits")
        hand.write("#budget", "2")
        hand.press("#declare")
        page.wait_for_selector("#confirm:visible")
        hand.press("#go")
        page.wait_for_selector("#progress:has-text('reading the records…')")
        beside = page.context.new_page()
        beside.goto(f"{home.origin}/ledger")
        held.await_count(lambda: page.is_visible("#result"))
        beside.reload()
        beside.wait_for_selector("td:has-text('charged, still running')")
        held.let_go()
        page.wait_for_selector("#result:visible")
        beside.wait_for_selector("td:has-text('place ')")  # the row that was released
        assert hand.actions <= MOST_ACTIONS
        shown = page.locator("#value dd").all_inner_texts()
        assert shown[0] in {"a", "b", "c", "other"}
        assert shown[1] in {"north", "south", "other"}
        assert "S3CR" not in page.url + page.inner_text("main") + page.text_content("#command")
    assert b"S3CR" not in home.ledger.read_bytes()


def test_a_scan_is_stopped_from_the_page(browser, home, held, postgresql):
    folder = parse_qs(urlsplit(postgresql).query)["host"][0]
    Ledger.create(home.ledger).declare("visits", budget="1", neighbours="replace")
    with visit(browser, home, "release", refusals=1) as page:
        page.check("[data-source=database]")
        page.fill("#url", f"postgresql://dproo@/postgres?host={folder}")
        page.fill("#table", "ward.held")
        page.click("#look")
        page.check(column("code", "[type=checkbox]"))
        page.fill(column("code", "textarea"), "a, b, c")
        page.wait_for_selector("#save-book:enabled")
        page.fill("#dataset", "visits")
        page.press("#dataset", "Tab")
        page.click("#review")
        page.click("#go")
        held.await_count(lambda: page.is_visible("#result"))
        assert page.is_visible("#working progress")
        page.click("#stop")
        page.wait_for_selector("#refused:has-text('The release was stopped. The charge stays')")
        assert not page.is_visible("#working")
        held.let_go()
    (account,) = Ledger(home.ledger).show()
    assert not account.lines[0].is_recorded


def test_two_tabs_race_for_the_last_epsilon_and_one_gets_it(browser, home):
    Ledger.create(home.ledger).declare(
        str(home.folder / "admissions.csv"), budget="1", neighbours="replace"
    )
    with visit(browser, home, "release", refusals=1) as page:
        other = page.context.new_page()
        other.goto(f"{home.origin}/release")
        for tab in (page, other):
            drop(tab, BOOK)
            tab.click("#review")
            tab.wait_for_selector("#confirm:visible")
        for tab in (page, other):
            tab.evaluate("document.querySelector('#go').click()")
        for tab in (page, other):
            tab.wait_for_selector("#result:visible, .wrong, #refused:visible")
            tab.wait_for_selector("#in-sight:has-text('ε 0 left of 1')")  # live in both
        assert (
            page.locator("#result:visible").count() + other.locator("#result:visible").count() == 1
        )
    assert Ledger(home.ledger).show()[0].left == 0


def test_the_ledger_tells_purposes_and_what_became_of_each_charge(browser, home):
    ledger, name = Ledger.create(home.ledger), str(home.folder / "admissions.csv")
    ledger.declare(name, budget="14", delta="1e-6", neighbours="replace")
    for purpose in ("a paper", "the <b>bulletin</b>"):
        nonce = home.post("/api/order", ORDER | {"purpose": purpose}).json["nonce"]
        home.post("/api/release", {"nonce": nonce})
    ledger.reserve(name, epsilon="10.123456789", neighbours="replace")
    with visit(browser, home, "ledger") as page:
        page.wait_for_selector(".left:has-text('ε 1.876543211 left of 14, δ 1e-6 of 1e-6;')")
        assert page.locator(".history i").count() == 3
        assert page.locator(".purposes dt").all_inner_texts() == [
            "no stated purpose",
            "a paper",
            "the <b>bulletin</b>",
        ]
        assert page.inner_text(".purposes .number >> nth=0") == "ε 10.123456789"
        assert page.locator("tbody tr").first.inner_text().count("charged, never released") == 1
        assert page.locator("main b").count() == 0


def test_no_text_from_outside_becomes_markup(browser, home):
    evil = "<img src=x onerror=alert(1)>"
    (home.folder / f"{evil}.csv").write_text(f"{evil},b\n1,2\n")
    with visit(browser, home, "release", refusals=1) as page:
        page.goto(f"{home.origin}/release?epsilon={evil}&data={evil}.csv")
        page.check(".column [type=checkbox] >> nth=0")
        page.fill(".column textarea >> nth=0", f"{evil}, 1")
        page.wait_for_selector("#save-book:enabled")
        page.wait_for_selector("#budget:visible")
        page.fill("#n", evil)
        page.wait_for_selector("[data-name=n] .wrong")  # the forecast of so many records is refused
        page.fill("#n", "")
        page.fill("#dataset", evil)
        page.fill("#epsilon", "1")
        page.fill("#purpose", evil)
        page.fill("#budget", "9")
        page.click("#declare")
        page.click("#go")
        page.wait_for_selector("#result:visible")
        for _ in range(2):
            assert evil in page.inner_text("main")
            assert page.locator("img[src=x]").count() == 0
            page.goto(f"{home.origin}/ledger")
            page.wait_for_selector("tbody tr")


def test_an_empty_ledger_leads_to_a_release(browser, home):
    with visit(browser, home, "ledger") as page:
        page.click("text=Choose data and declare one")
        page.wait_for_url("**/release")
    assert not Path(home.ledger).exists()


def test_two_hundred_columns_are_ticked_at_once(browser, steward):
    names = [f"c{i}" for i in range(200)]
    (steward.folder / "wide.csv").write_text(",".join(names) + "\n")
    with visit(browser, steward, "release") as page:
        choose(page, "wide.csv")
        page.wait_for_selector(column("c199", "[type=checkbox]"))
        assert page.locator("#columns select").count() == 0  # made when they are needed
        page.check("#tick-all")
        page.wait_for_selector(column("c199", "textarea"))
        assert page.locator("#columns [type=checkbox]:checked").count() == len(names)
        # Each column once offered every other column as what it depends on: 40,000 options.
        assert page.locator("#columns option").count() < 10 * len(names)
        page.uncheck(column("c7", "[type=checkbox]"))
        assert page.evaluate("document.querySelector('#tick-all').indeterminate")
        page.click("#tick-all")
        page.click("#tick-all")
        assert page.locator("#columns [type=checkbox]:checked").count() == 0
        page.fill("#filter", "C19")  # c19, and c190 to c199
        expect(page.locator("#columns .column:visible")).to_have_count(11)
        page.check("#tick-all")
        page.fill("#filter", "")
        expect(page.locator("#columns .column:visible")).to_have_count(200)
        expect(page.locator("#columns [type=checkbox]:checked")).to_have_count(11)
        expect(page.locator("#ticked")).to_have_text("11 of 200 columns")
        page.uncheck(column("c197", "[type=checkbox]"))
        page.select_option("#network", "declared")
        offered = page.locator(column("c19", "[id$=-parent] option")).all_inner_texts()
        assert offered == ["nothing", *(f"c19{i}" for i in range(10) if i != 7)]
        page.check("#tick-all")
        assert page.locator("#columns [id$=-parent] option").count() < 500
        parent = column("c19", "[id$=-parent]")
        page.focus(parent)
        page.select_option(parent, "c42")
        page.focus(column("c42", "[id$=-parent]"))
        expect(page.locator(f"{parent} option")).to_have_count(200)
        page.uncheck(column("c3", "[type=checkbox]"))
        assert page.locator(f"{parent} option").all_inner_texts() == ["nothing", "c42"]
        assert page.input_value(parent) == "c42"


def test_a_hopeless_release_is_asked_about_twice(browser, steward):
    with visit(browser, steward, "release") as page:
        drop(page, BOOK)
        page.fill("#n", "2")
        for what in ("table", "row"):
            page.check(f"[name=what][value={what}]")
            page.click("#review")
            page.wait_for_selector("#doubt:visible:has-text('This looks hopeless. With 2 records')")
            doubt = page.inner_text("#doubt-words")
            enough = int(
                re.findall(r"From about ([\d,]+) records on it would be fair", doubt)[0].replace(
                    ",", ""
                )
            )
            page.fill("#n", str(enough))
            page.wait_for_selector(
                "#scale [data-level=fair][aria-current], #scale [data-level=good][aria-current]"
            )
            page.fill("#n", "2")
            page.click("#review")
            page.wait_for_selector("#doubt:visible")
            expect(page.locator("#scale [aria-current]")).to_have_text("hopeless")
            assert page.is_disabled("#go")
            page.check("#doubted")
            assert page.is_enabled("#go")
        page.fill("#n", "100,000")
        page.click("#review")
        page.wait_for_selector("#confirm:visible")
        assert not page.is_visible("#doubt")
        assert page.is_enabled("#go")


PLACES = """() => [...document.querySelectorAll("main button, main input, main select, main h2")]
  .filter((one) => one.checkVisibility())
  .map((one) => [one.id, one.getBoundingClientRect().top + scrollY])"""


def test_an_error_moves_nothing_and_is_gone_when_it_is_mended(browser, steward):
    with visit(browser, steward, "release", refusals=2) as page:
        drop(page, BOOK)
        page.fill("#n", "1000")
        page.press("#n", "Tab")
        page.wait_for_selector("#forecast:has-text('With 1,000 records at ε = 1,')")
        before = page.evaluate(PLACES)
        page.fill("#epsilon", "much")
        page.click("#review")
        page.wait_for_selector("[data-name=epsilon] .wrong:visible")
        page.wait_for_selector(".unforeseen")
        assert page.evaluate(PLACES) == before
        page.fill("#epsilon", "0.5")
        assert page.locator(".wrong").count() == 0
        assert page.locator("[aria-invalid]").count() == 0
        page.wait_for_selector("#forecast:has-text('ε = 0.5,')")
        assert page.locator(".unforeseen").count() == 0
        assert page.evaluate(PLACES) == before


def test_nothing_that_was_said_of_one_file_is_said_of_the_next(browser, steward):
    (steward.folder / "other.csv").write_text("diagnosis,ward\n1,2\n")
    with visit(browser, steward, "release") as page:
        drop(page, BOOK)
        for name, text in {"n": "77", "epsilon": "0.25", "purpose": "the bulletin"}.items():
            page.fill(f"#{name}", text)
        page.check("[value=value]")
        page.fill("#cell", "north")
        page.check("[name=data][value='other.csv']")
        page.wait_for_selector("#step-privacy", state="hidden")
        page.wait_for_selector("#columns .column")
        page.check("[value=found]")  # which ticks what has no editor yet
        expect(page.locator("#columns [type=checkbox]:checked")).to_have_count(2)
        page.check("[value=known]")
        page.wait_for_selector(column("ward", "textarea"))
        page.check("[value=found]")
        page.check("[name=data][value='two  blanks.csv']")
        page.wait_for_selector(column("a", "[type=checkbox]"))
        page.wait_for_selector("#columns .column")
        assert page.is_checked("[value=table]")
        assert page.locator("#columns [type=checkbox]:checked").count() == 0
        fields = ("n", "epsilon", "purpose", "cell", "person", "budget")
        assert [page.input_value(f"#{name}") for name in fields] == ["", "1", "", "", "", ""]
        assert page.input_value("#network") == "learned"
        page.reload()
        page.wait_for_selector("#columns .column")
        assert page.locator("#columns [type=checkbox]:checked").count() == 0


UNREACHABLE = """() => {
  window.real = fetch;
  window.fetch = () => Promise.reject(new TypeError());
}"""


def test_a_server_that_is_gone_is_seen(browser, steward):
    with visit(browser, steward, "release") as page:
        begin(page)
        page.evaluate(UNREACHABLE)
        page.check(column("ward", "[type=checkbox]"))
        page.wait_for_selector("#lost:visible")
        box = page.locator("#lost").bounding_box()
        assert box["y"] + box["height"] == page.viewport_size["height"]  # wherever one has scrolled
        page.evaluate("() => void (window.fetch = window.real)")
        page.fill(column("ward", "textarea"), "north, south")
        page.wait_for_selector("#lost", state="hidden")


EDGES = """() => [...document.querySelectorAll(".mark, h1, .card, .account-bar")]
  .filter((one) => one.checkVisibility())
  .map((one) => Math.round(one.getBoundingClientRect().left + one.matches(".account-bar")))"""


def test_everything_begins_at_one_left_edge(browser, steward):
    edges = set()
    with visit(browser, steward, "release") as page:
        drop(page, BOOK)
        page.wait_for_selector("#in-sight:visible")
        edges |= set(page.evaluate(EDGES))
        page.goto(f"{steward.origin}/ledger")
        page.wait_for_selector("#accounts .card")
        edges |= set(page.evaluate(EDGES))
    assert len(edges) == 1
