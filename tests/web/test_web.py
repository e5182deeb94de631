"""The page's objects: the same as on the command line, and nothing read before its time."""

import contextlib
import ctypes
import itertools
import json
import os
import re
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
from pathlib import Path

import duckdb
import psycopg
import pyarrow as pa
import pytest
from pyarrow import parquet
from support.commands import Started, dproo
from support.draws import some
from support.row_files import excel
from support.serving import COMMAND, ORDER, PATIENCE, Served, admissions, listed, request, served

from dproo import Alphabet
from dproo.ledger import Ledger
from dproo.mechanisms import SAMPLERS, mechanism
from dproo.web import gate, questions
from dproo.web.answering import ROOMS
from dproo.web.folder import FIELDS, Folder, NamedData
from dproo.web.gate import Nonces

pytestmark = pytest.mark.one_of(4)

IN_OPEN = 0x20


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder, ledger = admissions(tmp_path_factory.mktemp("web"), budget="100")
    with served(folder, ledger) as page:
        yield page


def printed(*arguments):
    return json.loads(dproo(*arguments, "--json").stdout)


def order(page, **changes):
    return page.post("/api/order", ORDER | changes)


def release(page, **changes):
    answer = order(page, **changes)
    return page.post("/api/release", {"nonce": answer.json["nonce"]})


@pytest.mark.parametrize(
    "known",
    [
        {"n": "1000", "k": "9", "epsilon": "0.1"},
        {"k": "9", "epsilon": "0.1", "alpha": "0.05"},
        {"n": "1000", "k": "9", "alpha": "0.05"},
    ],
)
def test_a_plan_is_the_object_of_the_command_line(page, known):
    query = "&".join(f"{name}={value}" for name, value in known.items())
    options = [text for name, value in known.items() for text in (f"--{name}", value)]
    assert page.get(f"/api/plan?{query}").json == printed("plan", *options)


@pytest.mark.parametrize("flag", [[], ["--as-printed"]])
def test_a_certificate_is_the_object_of_the_command_line(page, flag):
    query = "sampler=ds-roo&n=10001&k=10000&epsilon=0.01" + "&as_printed=1" * len(flag)
    options = ["--sampler", "ds-roo", "--n", "10001", "--k", "10000", "--epsilon", "0.01"]
    assert page.get(f"/api/certify?{query}").json == printed("certify", *options, *flag)


def test_the_ledger_and_its_receipts_are_the_objects_of_the_command_line(page):
    receipt = release(page).json
    ledger = ["--ledger", str(page.ledger)]
    assert page.get("/api/ledger").json == printed("ledger", "show", *ledger)
    entry = receipt["ledger"]["entry"]
    shown = dproo("ledger", "print", str(entry), *ledger)
    assert page.get(f"/api/ledger/{entry}").json == json.loads(shown.stdout) == receipt


def test_a_release_has_the_fields_of_the_command_line(page):
    data = str(page.folder / "admissions.csv")
    (page.folder / "codebook.json").write_text(json.dumps(ORDER["codebook"]))
    options = ["--column", "diagnosis", "--codebook", str(page.folder / "codebook.json")]
    options += ["--sampler", "ls-roo"]
    theirs = printed("sample", data, *options, "--epsilon", "1", "--ledger", str(page.ledger))
    ours = release(page).json
    varying = {"values", "ledger"}
    assert {k: v for k, v in ours.items() if k not in varying} == {
        k: v for k, v in theirs.items() if k not in varying
    }
    assert ours["values"][0] in {"I50", "J18", "S72", "other"}


def test_the_page_leaves_the_sampler_to_auto(page):
    shown = order(page, sampler="auto")
    assert "--sampler auto" in shown.json["command"]
    assert release(page, sampler="auto").json["sampler_reason"].startswith("It has the smallest")


def test_the_command_that_is_shown_does_the_same(page):
    (page.folder / "codebook.json").write_text("of other columns")
    shown = order(page, epsilon="0.1").json
    (page.folder / shown["saved_as"]).write_text(json.dumps(ORDER["codebook"]))
    assert shown["command"].startswith("dproo sample admissions.csv --column diagnosis")
    command = shown["command"].replace("dproo", COMMAND[0], 1)
    result = subprocess.run(  # noqa: S602 - it is for a shell
        command, shell=True, cwd=page.folder, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert Ledger(page.ledger).show()[0].lines[-1].charge == 10**8


ODD_NAMES = ["-x.csv", "--help.csv", "-.csv", "postgresql:x.csv", "s3:x.csv", "a b.csv"]
ODD_NAMES += ["$(date).csv", "'.csv", "~.csv", "*.csv", "a=b.csv", "#.csv", "!x.csv", "é;x.csv"]


@pytest.mark.parametrize("name", some(ODD_NAMES, one_of=2))
def test_the_command_of_a_file_with_an_odd_name_does_the_same(page, name):
    data = page.folder / name
    data.write_bytes((page.folder / "admissions.csv").read_bytes())
    try:
        Ledger(page.ledger).declare(str(data.resolve()), budget="9", neighbours="replace")
        shown = order(page, data=name, epsilon="0.1").json
        (page.folder / shown["saved_as"]).write_text(json.dumps(ORDER["codebook"]))
        result = subprocess.run(  # noqa: S602 - it is for a shell
            shown["command"].replace("dproo", COMMAND[0], 1),
            shell=True,
            cwd=page.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, result.stderr
        assert Ledger(page.ledger).budget(str(data.resolve())).spent == 10**8
    finally:
        data.unlink()


def test_an_order_shows_every_choice_and_what_it_costs(page):
    before = Ledger(page.ledger).show()[0]
    shown = order(page, epsilon="0.3").json
    for part in (
        "diagnosis",
        "admissions.csv",
        "4 possible values",
        "ls-roo",
        "0.3",
        "the number of records is public",
    ):
        assert part in shown["summary"]
    assert shown["cost"] == "0.3"
    assert round((float(shown["left"]) - float(shown["left_after"])) * 10**9) == 3 * 10**8
    assert Ledger(page.ledger).show()[0] == before


class Openings:
    """Counts how often anybody opens a file, as the kernel sees it."""

    def __init__(self, path):
        libc = ctypes.CDLL(None, use_errno=True)
        self.descriptor = libc.inotify_init1(os.O_NONBLOCK)
        assert libc.inotify_add_watch(self.descriptor, os.fsencode(path), IN_OPEN) >= 0

    def count(self):
        try:
            return len(os.read(self.descriptor, 1 << 16)) // struct.calcsize("iIII")
        except BlockingIOError:
            return 0


@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's.")
def test_the_data_is_not_opened_for_what_its_budget_refuses(page):
    openings = Openings(page.folder / "admissions.csv")
    for path in ("/release", "/api/files", "/api/ledger"):
        page.get(path)
    order(page, epsilon="1000")
    assert openings.count() == 0
    order(page)  # which reads its header
    assert openings.count() > 0
    os.close(openings.descriptor)


def test_a_column_that_is_not_there_is_refused_and_costs_nothing(page):
    before = page.ledger.read_bytes()
    answer = order(page, codebook=listed("plague", "a"))
    assert (answer.status, answer.json["exit_code"]) == (400, 2)
    assert answer.json["error"] == (
        "column must be a column of the data, got 'plague'."
        " List the columns: dproo codebook draft DATA."
    )
    assert page.ledger.read_bytes() == before


def test_no_answer_holds_a_cell_outside_the_alphabet(page):
    answers = [release(page), order(page, codebook=listed("CANARY", "a")), order(page, data="x")]
    answers += [page.get(path) for path in ("/release", "/api/ledger", "/api/files")]
    assert all(b"CANARY-7f3a" not in answer.body for answer in answers)


def test_a_release_that_fails_after_the_charge_says_so_in_one_sentence(page):
    data = page.folder / "torn.parquet"
    rows = [f"CANARY-7f3a-{i}" for i in range(5_000)]
    parquet.write_table(pa.table({"code": rows}), data, compression="none", use_dictionary=False)
    content = bytearray(data.read_bytes())
    content[4:2_000] = bytes(1_996)
    data.write_bytes(content)
    Ledger(page.ledger).declare(str(data.resolve()), budget="1", neighbours="replace")
    answer = release(page, data="torn.parquet", codebook=listed("code", "a"))
    assert (answer.status, answer.json["exit_code"]) == (500, 4)
    assert "details are withheld" in answer.json["error"]
    assert b"CANARY" not in answer.body
    assert Ledger(page.ledger).show()[-1].left == 0


@pytest.mark.parametrize("name", ["nl\nname.csv", "\u202eevil.csv", "\x1b[2Jx.csv"])
def test_no_answer_holds_a_sign_that_does_not_print(page, name):
    data = page.folder / name
    data.write_bytes((page.folder / "admissions.csv").read_bytes())
    try:
        answer = order(page, data=name)
        assert (answer.status, answer.json["error"].isprintable()) == (400, True)
    finally:
        data.unlink()


def test_a_budget_is_missing_and_the_remedy_is_named(page):
    (page.folder / "new.csv").write_text("diagnosis\nI50\n")
    answer = order(page, data="new.csv")
    remedy = f"dproo ledger init {page.folder}/new.csv --budget EPSILON --ledger {page.ledger}."
    assert answer.json["error"].endswith(remedy)


def test_a_database_is_released_from_under_a_named_budget(page, postgresql):
    with psycopg.connect(postgresql) as connection:
        connection.execute("CREATE TABLE public.visits (code text)")
        connection.execute("INSERT INTO public.visits SELECT 'I50' FROM generate_series(1, 50)")
    Ledger(page.ledger).declare("visits", budget="1", neighbours="add-remove")
    table = 'public."visits"'
    asked = {"source": "database", "data": postgresql, "dataset": "visits", "table": table}
    shown = order(page, **asked, codebook=listed("code", "I50", "J18"))
    assert postgresql not in shown.body.decode()
    answer = page.post("/api/release", {"nonce": shown.json["nonce"]})
    assert answer.status == 200, answer.json
    assert answer.json["neighbours"] == "add-remove"
    assert "n" not in answer.json
    with psycopg.connect(postgresql) as connection:
        connection.execute("DROP TABLE public.visits")


def test_the_law_is_that_of_every_sampler_exactly(page):
    counts = [60, 30, 10, 0]
    laws = page.post("/api/law", {"counts": counts, "epsilon": "0.5"}).json["laws"]
    assert [law["sampler"] for law in laws] == list(SAMPLERS)
    for law in laws:
        exact = mechanism(law["sampler"], n=100, k=4, epsilon="0.5").pmf(counts)
        total = int(law["total"])
        assert [int(weight) for weight in law["weights"]] == [p * total for p in exact]


MOST_CALLS = 600_000


@pytest.mark.parametrize("n", ["1000000", "1000000000000"])
def test_a_plan_takes_few_steps_however_many_records_there_are(n):
    """An epsilon for a million records once took a minute."""
    calls = itertools.count(1)

    def count(_frame, event, _argument):
        assert event != "call" or next(calls) <= MOST_CALLS

    sys.setprofile(count)
    try:
        questions.plan_answer({"n": n, "k": "9", "alpha": "0.05"})
    finally:
        sys.setprofile(None)


def test_draws_come_from_the_law(page):
    asked = {"counts": [0, 50, 0], "epsilon": "50", "sampler": "roo", "size": 200}
    assert set(page.post("/api/draws", asked).json["letters"]) == {1}


def test_a_curve_is_the_sum_of_its_decades(page):
    asked = "/api/curve?n=1000&k=9&epsilon=0.1&sampler=bal-roo"
    whole = page.get(asked).json["series"]["bal-roo"]
    parts = [
        page.get(f"{asked}&decade={decade}").json["series"]["bal-roo"] for decade in (-2, -1, 0)
    ]
    assert whole == [*parts[0], *parts[1][1:], *parts[2][1:]]


def test_a_shape_gives_counts(page):
    counts = page.get("/api/shape?name=uniform-half&n=100&k=4").json["counts"]
    assert counts == [50, 50, 0, 0]


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("curve?n=1000&k=9", "epsilon must be given."),
        ("curve?n=1&k=9&epsilon=1e-9", "epsilon must be between 0.0001 and 100 for a chart, got"),
        ("curve?n=9&k=9&epsilon=1&decade=1", "decade must be one of -1, -2, 0, got '1'."),
        ("tables?n=10&k=3", "epsilon must be given."),
        ("certify?sampler=roo", "k must be given."),
        ("shape?name=zipf&k=3", "n must be given."),
        ("shape?name=zipf&n=x&k=3", "n must be an integer, got 'x'."),
        ("shape?name=zipf&n=1_0&k=3", "n must be an integer, got '1_0'."),
        ("shape?name=zipf&n=-1&k=3", "n must be at least 1, got -1."),
        ("plan?n=1&k=3&delta=1", "parameter must be one of alpha, epsilon, k, n, got 'delta'."),
    ],
)
def test_a_wrong_question_is_refused_in_one_sentence(page, target, sentence):
    answer = page.get(f"/api/{target}")
    assert (answer.status, answer.json["exit_code"]) == (400, 2)
    assert answer.json["error"].startswith(sentence)


TWO = {"schema": {"fields": [{"name": name, "type": "boolean"} for name in ("a", "b")]}}
OUTSIDE = {"schema": {"fields": [{"name": "ward", "type": "boolean", "outside": False}]}}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"what": ""}, "what must be one of row, table, value, got ''."),
        ({"codebook": None}, "columns must be a list of names, got None."),
        ({"codebook": listed("ward", "a", "a")}, "schema.fields[0].categories: letters must all"),
        ({"codebook": TWO}, "columns must be one for one value, got 2."),
        ({"codebook": OUTSIDE}, "column 'ward' must not have 'outside' in the code book for one"),
        ({"what": "row"}, "sampler must be left out, except for one value."),
        ({"epsilon": 1}, "epsilon must be text, got 1."),
        ({"size": "2"}, "request must be an object of source, data, password, table, dataset"),
        (
            {"guess": "sparse"},
            "request must be an object of source, data, password, table, dataset",
        ),
        ({"source": "database"}, "data must be a postgresql:// URL."),
        ({"source": "database", "data": "host=h password=x"}, "data must be a postgresql:// URL."),
        ({"source": "database", "data": "postgresql://a:b/c@h"}, "data must be a URL with / and @"),
        ({"source": "database", "data": "postgresql://[a"}, "data must be a URL that psycopg can"),
        ({"table": "a..b"}, "table must be the name of a table, or schema.table, got 'a..b'."),
        (
            {"source": "database", "data": "postgresql://h/x"},
            "dataset must have a budget, got 'postgresql://h/x'. Declare a budget first",
        ),
    ],
)
def test_a_wrong_order_is_refused_in_one_sentence(page, changes, sentence):
    answer = order(page, **changes)
    assert (answer.status, answer.json["exit_code"]) == (400, 2)
    assert answer.json["error"].startswith(sentence)


@pytest.mark.parametrize(
    ("field", "k"),
    [
        ({"type": "integer", "constraints": {"minimum": 0, "maximum": 119}}, 121),
        ({"type": "number", "bins": [0, 18, 65]}, 3),
        ({"type": "yearmonth", "constraints": {"minimum": "2024-01", "maximum": "2024-12"}}, 13),
        ({"type": "string", "categories": ["1st class", "a, b"]}, 3),
        ({"type": "boolean"}, 3),
    ],
)
def test_a_value_is_described_as_a_column_of_a_row_is(page, field, k):
    book = {"schema": {"fields": [{"name": "ward", **field}]}}
    assert f"out of {k} possible values" in order(page, codebook=book).json["summary"]


def test_a_shape_that_needs_scipy_names_the_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    with pytest.raises(ValueError, match=r"scipy must be installed .*dproo\[accuracy\]"):
        questions.shape_answer({"name": "dirichlet", "n": "10", "k": "4"})


def test_a_sampler_that_refuses_keeps_no_other_from_showing_its_law(monkeypatch):
    def refusing(**_):
        raise ValueError("n must be larger for this sampler, got 4.")

    monkeypatch.setitem(SAMPLERS, "picky", refusing)
    laws = questions.law_answer({"counts": [3, 1], "epsilon": "1"})["laws"]
    assert laws[-1] == {"sampler": "picky", "error": "n must be larger for this sampler, got 4."}
    assert all("pmf" in law for law in laws[:-1])


def test_the_tables_show_the_leak_and_the_remedy(page):
    tables = page.get("/api/tables?n=10001&k=10000&epsilon=0.01").json
    assert tables["printed"] == [0, 0] < tables["private"]
    assert not tables["printed_certificate"]["holds"]
    assert tables["private_certificate"]["holds"]
    before, after = tables["probability"]
    assert after / before == pytest.approx(2)


def test_every_answer_forbids_caching_framing_and_foreign_content(page):
    for raw in (
        request("GET", "/plan", page.headers),
        request("GET", "/static/page.css", page.headers),
        request("GET", "/nowhere", page.headers),
        request("GET", "/plan", {"Host": page.host}),
        request("GET", "/api/ledger", page.headers),
        request("GET", "/api/ledger", {"Host": page.host}),
        request("GET", "/", {"Host": "evil.example"}),
    ):
        headers = page.send(raw).headers
        assert headers["cache-control"] == "no-store"
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'self';")
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert "access-control-allow-origin" not in headers


def test_the_pages_name_no_other_address(page):
    texts = [page.get(f"/{room}").body.decode() for room in ROOMS]
    static = Path(gate.__file__).parent / "static"
    texts += [path.read_text(encoding="utf-8") for path in static.iterdir()]
    for text in texts:
        found = set(re.findall(r"https?://[a-z0-9.-]+|[\"'(]//[a-z0-9.-]+", text))
        assert found <= {"http://www.w3.org"}


def test_it_listens_on_this_machine_only(page):
    listening = [
        line.split()[1]
        for line in Path("/proc/net/tcp").read_text().splitlines()[1:]
        if line.split()[3] == "0A" and line.split()[1].endswith(f":{page.port:04X}")
    ]
    assert listening == [f"0100007F:{page.port:04X}"]


def test_an_order_waits_a_while_and_not_for_ever(monkeypatch):
    waiting = Nonces()
    first = waiting.add("first")
    later = [waiting.add(i) for i in range(32)]
    with pytest.raises(ValueError, match="this review is older"):
        waiting.take(first)
    assert waiting.take(later[0]) == 0
    monkeypatch.setattr(gate.time, "monotonic", lambda: 10**9)
    with pytest.raises(ValueError, match="this review is older"):
        waiting.take(later[1])


def test_a_file_that_was_changed_to_a_link_is_not_read(page):
    data = page.folder / "moving.csv"
    data.write_text("diagnosis\nI50\n")
    Ledger(page.ledger).declare(str(data.resolve()), budget="1", neighbours="replace")
    nonce = order(page, data="moving.csv").json["nonce"]
    data.unlink()
    data.symlink_to(page.folder / "admissions.csv")
    before = page.ledger.read_bytes()
    answer = page.post("/api/release", {"nonce": nonce})
    assert answer.json["error"].startswith("data must be the file that was shown")
    assert page.ledger.read_bytes() == before


def _written(folder, kind):
    """Write a table of one column, in a folder within the folder, as a file of this kind."""
    folder.mkdir(parents=True)
    path = folder / f"a.{kind}"
    if kind == "csv":
        path.write_text("diagnosis\nI50\n")
    elif kind == "jsonl":
        path.write_text('{"diagnosis": "I50"}\n')
    elif kind == "parquet":
        parquet.write_table(pa.table({"diagnosis": ["I50"]}), path)
    elif kind == "xlsx":
        excel(folder, ["diagnosis"], ["I50"])
    elif kind == "sqlite":
        with contextlib.closing(sqlite3.connect(path)) as base, base:
            base.execute("CREATE TABLE t AS SELECT 'I50' AS diagnosis")
    else:
        with duckdb.connect(path) as base:
            base.execute("CREATE TABLE t AS SELECT 'I50' AS diagnosis")


@pytest.mark.parametrize("place", ["deep/er/a.{}", "deep/er", "deep"])
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "xlsx", "sqlite", "duckdb"])
def test_a_link_that_is_put_in_the_way_after_the_check_is_not_followed(tmp_path, kind, place):
    inside, outside = tmp_path / "in", tmp_path / "out"
    for folder in (inside, outside):
        _written(folder / "deep" / "er", kind)
    texts = dict.fromkeys(FIELDS, "") | {"source": "file", "data": f"deep/er/a.{kind}"}
    if kind in {"sqlite", "duckdb"}:
        texts["table"] = "t"
    data = NamedData.of(texts, Folder(inside)).records
    letters = [Alphabet.of(["I50", "J18"])]
    assert data.scan(letters, ("diagnosis",)).count_several()
    swapped = inside / place.format(kind)
    swapped.rename(tmp_path / "moved")
    swapped.symlink_to(outside / place.format(kind))
    for look in (lambda: data.columns, lambda: data.scan(letters, ("diagnosis",))):
        with pytest.raises(ValueError, match=r"^data must be a readable file"):
            look()


def test_a_folder_lists_what_can_be_read_and_nothing_outside(tmp_path):
    inside = tmp_path / "in"
    (inside / "deep").mkdir(parents=True)
    (tmp_path / "out.csv").touch()
    for name in ("b.parquet", "a.CSV", "deep/c.tsv", ".hidden.csv", "notes.pdf"):
        (inside / name).touch()
    (inside / "link.csv").symlink_to(tmp_path / "out.csv")
    assert Folder(inside).list(".csv", ".tsv", ".parquet") == ["a.CSV", "b.parquet", "deep/c.tsv"]


def test_a_folder_must_be_there(tmp_path):
    result = dproo("serve", "--folder", str(tmp_path / "nowhere"))
    assert result.returncode == 2
    assert "folder must be a folder that exists" in result.stderr


def test_a_port_must_be_free(page):
    result = dproo("serve", "--port", str(page.port))
    assert (result.returncode, result.stdout) == (2, "")
    assert f"port must be free on this machine, got {page.port}." in result.stderr
    assert dproo("serve", "--port", "70000").returncode == 2


def test_a_missing_extra_is_named_with_its_remedy():
    code = "import sys; sys.modules['uvicorn'] = None; from dproo.cli import main; main()"
    result = subprocess.run(
        [sys.executable, "-c", code, "serve"], capture_output=True, text=True, check=False
    )
    assert result.returncode == 2
    assert result.stderr.strip().endswith("pip install 'dproo[web]'.")


def test_an_interrupt_ends_it_quietly(tmp_path):
    with Started(
        [*COMMAND, "serve", "--json", "--folder", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        first = "".join(process.stdout.readline() for _ in range(5))
        assert json.loads(first)["url"].startswith("http://127.0.0.1:")
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=PATIENCE) == ("", "")
    assert process.returncode == 0


def test_an_interrupt_ends_it_though_questions_are_never_answered(tmp_path):
    code = (
        "import time; from dproo.cli import main; from dproo.web import application as api\n"
        "def never(*_, **__): print('asked', flush=True); time.sleep(10**6)\n"
        "api.columns = api.accounts_object = never\n"
        "main()"
    )
    folder, ledger = admissions(tmp_path, budget="1")
    command = [sys.executable, "-c", code, "serve", "--folder", folder, "--ledger", ledger]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with Started(command, **pipes, text=True) as process:
        page = Served(process.stdout.readline().strip(), folder, ledger, process)
        questions = [("POST", "/api/columns", b"{}"), ("GET", "/api/ledger", b"")]
        with contextlib.ExitStack() as stack:
            for method, path, body in questions:
                asking = socket.create_connection(("127.0.0.1", page.port))
                stack.enter_context(asking).sendall(request(method, path, page.headers, body))
                assert process.stdout.readline() == "asked\n"
            process.send_signal(signal.SIGINT)
            try:
                assert process.communicate(timeout=PATIENCE) == ("", "")
            finally:
                process.kill()  # else the test would wait for it too
    assert process.returncode == 0


def test_the_help_teaches():
    shown = dproo("serve", "--help").stdout
    for word in ("--open", "--port", "--folder", "--ledger", "Examples", "Enter", "Ctrl-C"):
        assert word in shown
