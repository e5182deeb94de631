"""The command line, run as a user would: the result on stdout, one sentence and a code if not."""

import csv
import json
import os
import pty
import re
import resource
import shlex
import sqlite3
import subprocess
import sys
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import click
import pandas as pd
import pytest
from support.commands import COMMAND, MAIN, Started, dproo
from support.draws import few

from dproo import Alphabet, Ledger
from dproo import open as opened
from dproo.cli import MENU, commands
from dproo.cli.commands import cli, run
from dproo.core.checks import shown
from dproo.errors import LedgerError

pytestmark = pytest.mark.one_of(3)

EXAMPLES = Path(__file__).parents[2] / "examples"
RELEASE = [
    "sample",
    str(EXAMPLES / "admissions.csv"),
    "--column",
    "diagnosis",
    "--alphabet",
    str(EXAMPLES / "diagnosis_codes.txt"),
    "--epsilon",
    "1",
]
FREE = [*RELEASE, "--no-ledger"]


@pytest.fixture(autouse=True)
def _no_ledger_of_mine(tmp_path, monkeypatch):
    """Keep the tests away from the ledger and the defaults of whoever runs them."""
    monkeypatch.setenv("DPROO_LEDGER", str(tmp_path / "ledger.sqlite3"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


def codes():
    return {*(EXAMPLES / "diagnosis_codes.txt").read_text().split(), "other"}


def test_a_release_prints_the_record_alone_and_its_receipt_beside():
    result = dproo(*FREE)
    assert result.returncode == 0
    assert result.stdout.strip() in codes()
    assert "certified" in result.stderr
    assert dproo(*FREE, "--quiet").stderr == ""


def test_the_json_of_a_release_is_one_object_with_nothing_private():
    receipt = json.loads(dproo(*FREE, "--json").stdout)
    with (EXAMPLES / "admissions.csv").open(newline="") as file:
        assert receipt["n"] == len(list(csv.DictReader(file)))
    assert set(receipt) == {
        "schema_version",
        "values",
        "sampler",
        "sampler_reason",
        "accuracy",
        "warnings",
        "purpose",
        "column_names",
        "epsilon",
        "epsilon_decimal",
        "neighbours",
        "protects",
        "unit",
        "several",
        "groups",
        "n",
        "k",
        "worst_alpha",
        "alphabet_sha256",
        "certificate",
        "ledger",
        "software",
    }
    assert receipt["certificate"]["holds"] is True
    assert receipt["certificate"]["epsilon"] <= 1


def test_under_add_remove_n_appears_nowhere():
    result = dproo(*FREE, "--neighbours", "add-remove", "--json")
    assert "n" not in json.loads(result.stdout)
    assert "4000" not in result.stdout + result.stderr


def test_several_records_are_drawn_jointly():
    result = dproo(*FREE, "--sampler", "roo", "--size", "5", "--quiet")
    assert len(result.stdout.split()) == 5
    assert set(result.stdout.split()) <= codes()


def test_the_plan_is_a_table_or_an_object():
    shown = dproo("plan", "--k", "9", "--epsilon", "0.1", "--alpha", "0.05")
    assert shown.returncode == 0
    assert "1,436" in shown.stdout
    answer = json.loads(
        dproo("plan", "--n", "1000", "--k", "9", "--epsilon", "0.1", "--json").stdout
    )
    rows = {row["sampler"]: row["alpha"] for row in answer["rows"]}
    assert answer["solved_for"] == "alpha"
    assert rows["roo"] == pytest.approx(0.0700704, abs=1e-7)
    assert rows["subrr"] == pytest.approx(8 / (1000 * 0.1 + 8), abs=1e-3)
    hopeless = dproo("plan", "--n", "3", "--epsilon", "0.001", "--alpha", "0.01")
    assert "even two letters need more records" in hopeless.stdout


def test_the_certificate_shows_the_leak_of_the_printed_table():
    printed = ("certify", "--sampler", "ds-roo", "--n", "10001", "--k", "10000", "--as-printed")
    shown = dproo(*printed, "--epsilon", "0.01")
    assert shown.returncode == 5
    assert "DOES NOT HOLD" in shown.stdout
    assert "1, 2, 1 x 9998" in shown.stdout
    told = dproo(*printed, "--epsilon", "0.01", "--json")
    assert told.returncode == 5
    leak = json.loads(told.stdout)
    assert leak["holds"] is False
    assert leak["ratio"] == "2"
    assert leak["witness"]["before"] == [[1, 1], [2, 1], [1, 9998]]


def test_a_certificate_that_is_a_bound_says_so_and_what_its_two_datasets_reach():
    few = ("certify", "--sampler", "bal-roo", "--neighbours", "add-remove", "--n", "3", "--k", "3")
    lines = dproo(*few, "--epsilon", "1.0509").stdout.splitlines()
    assert lines[1] == "worst loss   1.05035964061, a proven bound"
    assert lines[3] == "found        0.452912146682, the loss between these two:"
    attained = dproo("certify", "--sampler", "roo", "--n", "3", "--k", "3", "--epsilon", "1").stdout
    assert "bound" not in attained
    assert "found" not in attained


def test_the_certificate_of_a_small_setting_can_be_enumerated():
    beyond = dproo("certify", "--sampler", "roo", "--n", "3", "--k", "3", "--epsilon", "1000")
    assert (beyond.returncode, beyond.stderr) == (0, "")
    assert "worst ratio  1.97007111402e+434\n" in beyond.stdout
    result = dproo("certify", "--n", "6", "--k", "3", "--epsilon", "0.5", "--enumerate")
    assert "epsilon = 0.5 holds for ls-roo (replace)" in result.stdout
    assert result.returncode == 0


def test_the_certificate_of_a_person_with_several_records_names_what_was_drawn():
    several = ("--draws", "3", "--records-per-person", "2", "--n", "9", "--k", "3")
    shown = dproo("certify", "--sampler", "roo", "--epsilon", "0.5", *several)
    assert shown.returncode == 0
    assert "output       letter 1 x 3" in shown.stdout
    spread = dproo("certify", "--sampler", "roo", "--epsilon", "9", *several, "--draws", "2")
    assert "output       letter 1, 2" in spread.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["certify", "--k", "3", "--epsilon", "1"], "n must be given under replace neighbours"),
        (["certify", "--n", "0", "--k", "3", "--epsilon", "1"], "n must be at least 1, got 0."),
        (["certify", "--n", "9", "--k", "1", "--epsilon", "1"], "k must be at least 2, got 1."),
        (
            ["certify", "--n", "9", "--k", "3", "--epsilon", "nan"],
            "epsilon must be a decimal number",
        ),
        (["certify", "--n", "9", "--k", "3", "--epsilon", "0"], "epsilon must be positive"),
        (
            ["certify", "--sampler", "ds-ro", "--n", "9", "--k", "3", "--epsilon", "1"],
            "Did you mean 'ds-roo'?",
        ),
        (
            ["certify", "--n", "9", "--k", "3", "--epsilon", "1", "--draws", "2"],
            "no option 'draws'",
        ),
        (["plan", "--k", "3"], "plan needs exactly three"),
        (["plan", "--k", "three"], "'three' is not a valid integer"),
        (["plan", "--seed", "1"], "No such option"),
        (["plan", "--k", "3", "--delta", "0.1"], "--delta cannot be used with three"),
        (["sample"], "Missing argument"),
        ([*RELEASE[:2], "--column", "diagnosis", "--epsilon", "1"], "--alphabet must be given"),
        (["sample", "no.csv", *FREE[2:]], "'no.csv'"),
        ([*RELEASE[:3], "nope", *FREE[4:]], "column must be"),
        ([*FREE, "--size", "0"], "size must be at least 1, got 0."),
        (RELEASE, "Declare a budget first: dproo ledger init"),
        ([*RELEASE[:4], *RELEASE[6:]], "--alphabet must be given"),
        ([*FREE, "--column", "ward"], "alphabet must be given for each column, got 1 for 2."),
        ([*FREE, *FREE[2:6]], "column must be named once"),
        ([*FREE, "--by", "ward"], "--by and --groups must be given together"),
        ([*FREE, "--outside", "drop"], "policy must be one of other, uniform"),
        ([*FREE, "--records-per-person", "0"], "records_per_person must be at least 1"),
        (["--config", "no.toml", "plan"], "config must be a readable UTF-8 text file"),
        ([*FREE, "--neighbours", "both"], "neighbours must be one of add-remove, replace"),
        ([*RELEASE[:5], "no.txt", *RELEASE[6:]], "alphabet must be a readable UTF-8 text file"),
    ],
)
def test_bad_arguments_get_one_sentence_and_exit_code_2(arguments, sentence):
    result = dproo(*arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert sentence in result.stderr
    assert "Traceback" not in result.stderr


def test_data_that_cannot_be_counted_exits_with_4_and_says_nothing_of_it(tmp_path):
    empty = tmp_path / "empty.csv"
    empty.write_text("diagnosis\n")
    result = dproo("sample", str(empty), *FREE[2:])
    assert (result.returncode, result.stdout) == (4, "")
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 canary")
    result = dproo("sample", str(broken), *FREE[2:])
    assert result.returncode in {2, 4}
    assert "canary" not in result.stderr + result.stdout


def test_a_budget_is_declared_charged_and_kept(tmp_path):
    data = RELEASE[1]
    assert dproo("ledger", "init", data, "--budget", "2.5").returncode == 0
    receipts = [json.loads(dproo(*RELEASE, "--json").stdout) for _ in range(2)]
    assert [receipt["ledger"]["charge_nano_epsilon"] for receipt in receipts] == [10**9, 10**9]
    refused = dproo(*RELEASE)
    assert (refused.returncode, refused.stdout) == (3, "")
    assert "0.5 left" in refused.stderr
    (account,) = json.loads(dproo("ledger", "show", "--json").stdout)["datasets"]
    assert (account["spent"], account["left"]) == ("2", "0.5")
    assert "0.5 left of 2.5" in dproo("ledger", "show").stdout
    entry = str(receipts[0]["ledger"]["entry"])
    assert json.loads(dproo("ledger", "print", entry).stdout) == receipts[0]
    head = receipts[1]["ledger"]["head"]
    assert head in dproo("ledger", "verify", "--head", head).stdout
    assert json.loads(dproo("ledger", "verify", "--json").stdout)["is_intact"] is True
    assert dproo("ledger", "verify", "--head", "0" * 63 + "1").returncode == 2
    events = [json.loads(line) for line in dproo("ledger", "export").stdout.splitlines()]
    assert len(events) == 5
    path = tmp_path / "ledger.sqlite3"
    edited = path.read_bytes().replace(b"reserved", b"reserwed")
    path.write_bytes(edited)
    result = dproo("ledger", "verify")
    assert (result.returncode, result.stdout) == (2, "")
    assert dproo(*RELEASE).returncode == 2


def test_a_release_under_another_relation_than_declared_is_refused():
    dproo("ledger", "init", RELEASE[1], "--budget", "2")
    result = dproo(*RELEASE, "--neighbours", "add-remove")
    assert result.returncode == 2
    assert "neighbours must be 'replace' as declared" in result.stderr


def test_a_product_of_columns_is_released_as_one_record():
    sexes = Path(os.environ["XDG_CONFIG_HOME"]) / "sexes.txt"
    sexes.write_text("female\nmale\n")
    columns = ["--column", "sex", "--alphabet", str(sexes)]
    columns += ["--column", "age", "--alphabet", "bins:0,18,65,120"]
    result = dproo("sample", RELEASE[1], *columns, "--epsilon", "1", "--no-ledger", "--json")
    receipt = json.loads(result.stdout)
    assert receipt["k"] == 2 * 3 + 1
    (value,) = receipt["values"]
    assert value == "other" or set(value) == {"sex", "age"}


def test_one_record_is_released_for_each_group():
    wards = Path(os.environ["XDG_CONFIG_HOME"]) / "wards.txt"
    wards.write_text("A\nB\n")
    result = dproo(*FREE, "--by", "ward", "--groups", str(wards), "--groups-public", "--quiet")
    assert [line.split("\t")[0] for line in result.stdout.splitlines()] == ["ward=A", "ward=B"]


def test_defaults_stand_in_the_users_own_file_and_are_checked(tmp_path):
    folder = tmp_path / "dproo"
    folder.mkdir()
    (folder / "dproo.toml").write_text('[sample]\nsampler = "roo"\n')
    assert json.loads(dproo(*FREE, "--json").stdout)["sampler"] == "roo"
    (folder / "dproo.toml").write_text("[sample]\nseed = 1\n")
    result = dproo(*FREE)
    assert result.returncode == 2
    assert "config must contain no 'seed' under [sample], got" in result.stderr


FLAG, COUNT, TEXT, NUMBER = "true or false", "an integer", "a text", "a text or a number"
TEXTS, NUMBERS = "a list of texts", "a list of texts or numbers"
TOML = {
    "true": {FLAG},
    "false": {FLAG},
    "0": {COUNT, NUMBER},
    "1": {COUNT, NUMBER},
    "2": {COUNT, NUMBER},
    "0x" + "f" * 4_000: set(),  # Python cannot write it
    "0.0": {NUMBER},
    "1.0": {NUMBER},
    "2.9": {NUMBER},
    "inf": set(),
    "-inf": set(),
    "nan": set(),
    "2026-11-18": set(),
    "10:00:00": set(),
    "2026-11-18T10:00:00Z": set(),
    '""': {TEXT, NUMBER},
    '"1/2"': {TEXT, NUMBER},
    '"3"': {COUNT, TEXT, NUMBER},
    '"secret"': {TEXT, NUMBER},
    '"one"': {TEXT, NUMBER, "one of one, each"},
    "[]": {TEXTS, NUMBERS},
    '["secret"]': {TEXTS, NUMBERS},
    "[-99, 0.5]": {NUMBERS},
    "[true]": set(),
    '[["a"]]': set(),
    "{}": set(),
}
"""Values, and the kinds of options that take them."""


def kind_of(option):
    """Return what an option of the command line takes."""
    if isinstance(option.type, click.types.BoolParamType):
        return FLAG
    if isinstance(option.type, click.types.IntParamType):
        return COUNT
    if isinstance(option.type, click.Choice):
        return f"one of {', '.join(option.type.choices)}"
    is_number = option.name in {"alpha", "confidence", "delta", "epsilon", "missing", "trials"}
    if option.multiple:
        return NUMBERS if is_number else TEXTS
    return NUMBER if is_number else TEXT


@pytest.mark.parametrize("table", sorted(set(commands._MODULES) - {"codebook", "ledger"}))
def test_a_default_has_the_kind_that_its_option_takes(table, tmp_path, capfd):
    """Whatever the command is: a float for an integer would be cut off, and protect less."""
    path = tmp_path / "c.toml"
    command = commands.cli.get_command(click.Context(commands.cli), table)
    assert command.params
    for option in command.params:
        for value, kinds in few(TOML.items(), 4):
            path.write_text(f"[{table}]\n{option.name} = {value}\n")
            kind = kind_of(option)
            for asked in (table, "plan"):
                code = run(["--config", str(path), asked, "--help"])
                err = capfd.readouterr().err
                what = (option.name, value, asked)
                if kind in kinds:
                    assert (code, err) == (0, ""), what
                else:
                    wanted = f"config must have {kind} for {option.name} under [{table}], got"
                    assert (code, err) == (2, f"Error: {wanted} {shown(str(path))}.\n"), what


@pytest.mark.parametrize(
    ("default", "code"),
    [
        ("records_per_person = 2.9", 2),
        ("size = inf", 2),
        ("no_ledger = 0", 2),
        ('no_ledger = ""', 2),
        ("purpose = true", 2),
        ("epsilon = 0.5", 0),
        ("epsilon = 1", 0),
        ("epsilon = 1e-2", 0),
        ('epsilon = "1/2"', 0),
        ('records_per_person = "2"', 0),
        ("has_header = true", 0),
        ('columns = ["diagnosis"]', 0),
    ],
)
def test_a_default_of_another_kind_is_refused_before_the_charge(default, code, tmp_path):
    path = tmp_path / "c.toml"
    path.write_text(f"[sample]\n{default}\n")
    per_person = ["--records-per-person", "2"] if "records" in default else []
    dproo("ledger", "init", RELEASE[1], "--budget", "2", *per_person)
    command = RELEASE[:-2] if default.startswith("epsilon") else RELEASE
    result = dproo("--config", str(path), *command, "--json")
    assert result.returncode == code, result.stderr
    spent = json.loads(dproo("ledger", "show", "--json").stdout)["datasets"][0]["spent"]
    assert (spent == "0") == (code == 2)
    if default.startswith("epsilon") and "/" not in default:
        assert Fraction(spent) == Fraction(default.removeprefix("epsilon = "))


@pytest.mark.parametrize(
    "default", ['delimiter = ";"', 'encoding = "latin-1"', 'format = "csv"', "has_header = false"]
)
def test_a_default_for_files_is_ignored_for_a_database(default, tmp_path, capsys):
    path = tmp_path / "c.toml"
    path.write_text(f"[check]\n{default}\n")
    (tmp_path / "codes").write_text("a\n")
    asked = ["check", "postgresql://127.0.0.1:1/d", "--table", "t", "--column", "c"]
    asked += ["--alphabet", str(tmp_path / "codes")]
    assert run(["--config", str(path), *asked]) == run(asked) != 0
    first, second = capsys.readouterr().err.splitlines()
    assert first == second
    assert "layout" not in first
    assert run([*asked, "--delimiter", ";"]) == 2
    assert "layout must be left out" in capsys.readouterr().err


@pytest.mark.parametrize(
    "default", ['delimiter = ";"', 'encoding = "latin-1"', 'comment = "#"', "skip_rows = 2"]
)
def test_a_default_for_text_files_is_ignored_for_others(default, tmp_path, capsys):
    path = tmp_path / "c.toml"
    path.write_text(f"[check]\n{default}\n")
    (tmp_path / "parts").mkdir()
    for name in ("a.parquet", "parts/a.parquet"):
        pd.DataFrame({"city": [1]}).to_parquet(tmp_path / name)
    with closing(sqlite3.connect(tmp_path / "a.db")) as database:
        database.execute("create table visits (city int)")
    files = ("a.parquet",), ("parts",), ("parts/a*",), ("a.db", "--table", "visits")
    for name, *table in files:
        asked = ["check", str(tmp_path / name), *table, *COUNTED]
        assert run(["--config", str(path), *asked]) == 0
        assert run([*asked, *typed(default)]) == 2
    capsys.readouterr()


COUNTED = ("--column", "city", "--alphabet", "bins:0,1,2")


def typed(default):
    """Return a default of a configuration as an option of the command line."""
    name, value = default.replace('"', "").replace("_", "-").split(" = ")
    return f"--{name}", value


WRONG = [
    ("[sampel]\nsize = 1", "contain no table 'sampel', {no}, got {path}. {did} 'sample'?"),
    ("[ledger]\nbudget = 1", "contain no table 'ledger', {no}, got {path}."),
    ("[ledger.init]\nbudget = 1", "contain no table 'ledger', {no}, got {path}."),
    ('sampler = "pw"', "have 'sampler' in the table of a command, got {path}."),
    ("sample = 1", "have 'sample' in the table of a command, got {path}."),
    ("[[sample]]\nsize = 1", "have 'sample' in the table of a command, got {path}."),
    ("[sample]\nzzz = 'pw'", "contain no 'zzz' under [sample], got {path}."),
    ("[sample]\nsized = 1", "contain no 'sized' under [sample], got {path}. {did} 'size'?"),
    ("[sample]\njson = true", "contain no 'json' under [sample], got {path}. {did} 'as_json'?"),
    ("[sample]\nas = []", "contain no 'as' under [sample], got {path}. {did} 'readings'?"),
    ("[sample]\nsize-a.b = 1", "contain no 'size-a' under [sample], got {path}. {did} 'size'?"),
    ("[sample]\n'db://u:pw@h' = 1", "contain no {hidden} under [sample], got {path}."),
    ("['db://u:pw@h']", "contain no table {hidden}, {no}, got {path}."),
    ("[sample]\npath = db://u:pw@h", "be TOML, got {path}. The mistake is in line 2."),
    ("[sample]\nsize = 1\nsize = 2\n", "be TOML, got {path}. The mistake is in line 3."),
    ('[sample]\n\npath = "pw\n', "be TOML, got {path}. The mistake is in line 3."),
    ('[sample]\npath = """pw\n\n', "be TOML, got {path}. The mistake is at its end."),
    (f"[sample]\nsize = {'9' * 5000}", "be TOML, got {path}."),
    (f"a = {'[' * 100_000}", "be TOML, got {path}."),
]


@pytest.mark.parametrize(("content", "sentence"), WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_with_defaults_is_named_but_no_value(content, sentence, tmp_path, capfd):
    path = tmp_path / "c.toml"
    path.write_text(content)
    assert run(["--config", str(path), "plan", "--help"]) == 2
    words = {
        "path": shown(str(path)),
        "no": "which is not a command with options",
        "did": "Did you mean",
        "hidden": "text that is withheld because it may hold a password",
    }
    assert capfd.readouterr().err == f"Error: config must {sentence.format(**words)}\n"
    assert run(["--config", str(path.rename(tmp_path / "data.csv")), "plan", "--help"]) == 2
    assert capfd.readouterr().err == (
        "Error: config must contain only tables of options, in TOML (if its name ends in .toml, "
        f"what is wrong is named), got {shown(str(tmp_path / 'data.csv'))}.\n"
    )


def test_a_default_stands_beside_options_that_leave_it_without_effect(tmp_path):
    folder = tmp_path / "dproo"
    folder.mkdir()
    (folder / "dproo.toml").write_text(
        '[sample]\nsampler = "roo"\nreadings = ["text"]\n[check]\nreadings = ["text"]\n'
        '[plan]\ndelta = "1e-9"\n[synthesize]\nreadings = ["text"]\n'
    )
    field = {"name": "diagnosis", "type": "string", "categories": ["flu", "cold"]}
    (tmp_path / "book.json").write_text(json.dumps({"schema": {"fields": [field]}}))
    book = ("--codebook", str(tmp_path / "book.json"))
    data, epsilon = FREE[1], ("--epsilon", "1")
    free = ("--neighbours", "replace", "--no-ledger")
    for words in (
        ("sample", data, *epsilon, *free, *book),
        ("check", data, *book),
        ("plan", *epsilon, "--n", "100", *book),
        ("synthesize", data, *epsilon, *free, *book, "--rows", "3"),
    ):
        assert dproo(*words).returncode == 0, words
    refused = dproo("sample", data, *epsilon, *free, *book, "--sampler", "subrr")
    assert "--sampler cannot be used with --codebook" in refused.stderr


def test_even_a_quiet_release_says_that_it_is_kept_nowhere(monkeypatch, capsys):
    def full(*_):
        raise LedgerError("the disk is full.")

    assert run(["ledger", "init", "visits", "--budget", "2"]) == 0
    monkeypatch.setattr(Ledger, "record", full)
    capsys.readouterr()
    assert run([*RELEASE, "--dataset", "visits", "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert out.strip() in codes()
    assert err.startswith("Warning: The ledger charged this release, entry 2, and could not record")


def test_defaults_in_the_working_folder_are_not_read(tmp_path):
    (tmp_path / "dproo.toml").write_text('[sample]\nsampler = "roo"\n')
    result = dproo(*FREE, "--json", cwd=tmp_path)
    assert json.loads(result.stdout)["sampler"] == "bal-roo"


@pytest.mark.one_of(3)
def test_a_hostile_working_folder_changes_nothing(tmp_path):
    for name in ("duckdb", "click", "json", "dproo", "sitecustomize", "narwhals"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('hijacked')")
    (tmp_path / ".duckdbrc").write_text("SELECT 'hijacked';")
    result = subprocess.run(
        [*COMMAND, *FREE, "--quiet"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() in codes()
    assert "hijacked" not in result.stdout + result.stderr


@pytest.mark.parametrize(
    ("command", "missing"),
    [
        (["figures"], "matplotlib"),
        (["compare", "--n", "9", "--k", "3", "--epsilon", "1", "--p", "zipf"], "numpy"),
    ],
)
def test_a_missing_extra_is_named_with_its_remedy(command, missing):
    result = dproo(*command, code=f"import sys; sys.modules[{missing!r}] = None\n{MAIN}")
    assert (result.returncode, result.stdout) == (2, "")
    assert "must be installed for this: pip install 'dproo[" in result.stderr


EXAMPLES = Path(__file__).parents[2] / "examples"


SAMPLE = "sample admissions.csv --column diagnosis --alphabet diagnosis_codes.txt --epsilon 1"


@pytest.mark.parametrize(
    "command",
    [
        f"{SAMPLE} --dataset",
        f"{SAMPLE} --dataset a --ledger",
        "ledger init b --budget 1 --ledger",
        "ledger show --ledger",
        "ledger verify --ledger",
        "ledger print 2 --ledger",
        "ledger accept-restore --ledger",
        "ledger export --to copy.sqlite3 --ledger",
        "serve --ledger",
    ],
)
def test_an_empty_text_names_no_ledger_and_no_budget(command, tmp_path, monkeypatch):
    """As by a variable that is not set: what has a default is not meant then."""
    monkeypatch.setenv("DPROO_LEDGER", str(tmp_path / "own.sqlite3"))
    ledger = Ledger.create(tmp_path / "own.sqlite3")
    for name in ("a", str(EXAMPLES / "admissions.csv")):
        ledger.declare(name, budget="9", neighbours="replace")
    result = dproo(*command.split(), "", cwd=EXAMPLES)
    assert (result.returncode, result.stdout) == (2, "")
    assert [(account.dataset, account.spent) for account in ledger.show()] == [
        ("a", 0),
        (str(EXAMPLES / "admissions.csv"), 0),
    ]


@pytest.mark.parametrize("missing", ["numpy", "duckdb"])
@pytest.mark.parametrize(
    "command",
    [
        ["synthesize", "admissions.csv", "--codebook", "codebook.json", "--rows", "3"],
        ["synthesize", "admissions.csv", "--rows", "3", "--delta", "1e-6"],
        ["codebook", "discover", "admissions.csv", "--delta", "1e-6"],
        ["sample", "admissions.csv", "--codebook", "codebook.json"],
    ],
)
def test_a_library_that_is_gone_is_no_bug(command, missing, tmp_path):
    """The package cannot be installed without it, but it can be broken or removed later."""
    ledger = Ledger.create(tmp_path / "ledger.sqlite3")
    ledger.declare("a", budget="9", neighbours="replace", delta="1e-3")
    charged = ["--epsilon", "1", "--dataset", "a", "--ledger", str(ledger.path), "--quiet"]
    code = f"import sys; sys.modules[{missing!r}] = None\n{MAIN}"
    result = dproo(*command, *charged, code=code, cwd=EXAMPLES)
    if missing == "numpy" and command[0] != "synthesize":
        assert result.returncode == 0, result.stderr
        return
    assert (result.returncode, result.stdout) == (2, "")
    assert f"{missing} cannot be loaded; install it again. Nothing was read" in result.stderr
    assert ledger.budget("a").spent == 0


def test_the_demo_plans_releases_and_is_refused():
    result = dproo("demo")
    assert result.returncode == 0
    letter, *row = result.stdout.splitlines()
    assert letter in {*(EXAMPLES / "diagnosis_codes.txt").read_text().split(), "other"}
    assert [line.split()[0] for line in row] == ["diagnosis", "sex", "age", "ward"]
    assert "refused: epsilon must be at most the 0.5 left" in result.stderr


def test_the_demo_saves_the_examples_and_overwrites_nothing(tmp_path):
    for _ in range(2):
        assert dproo("demo", "--save", str(tmp_path / "new")).returncode == 0
    for path in (tmp_path / "new").iterdir():
        assert path.read_bytes() == (EXAMPLES / path.name).read_bytes()
    (tmp_path / "codebook.json").write_text("{}")
    refused = dproo("demo", "--save", str(tmp_path))
    assert refused.returncode == 2
    assert "--save must name a folder without another codebook.json." in refused.stderr
    assert [path.name for path in tmp_path.glob("*.*")] == ["codebook.json"]


@pytest.mark.parametrize("name", ["admissions.csv", "codebook.json", "diagnosis_codes.txt"])
@pytest.mark.parametrize("kind", ["folder", "pipe", "link to nothing", "link in a circle"])
def test_whatever_stands_where_the_demo_saves_is_left_alone(name, kind, tmp_path):
    place = tmp_path / name
    if kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to(name if kind == "link in a circle" else tmp_path / "nothing")
    refused = dproo("demo", "--save", str(tmp_path))
    assert refused.returncode == 2
    assert f"--save must name a folder without another {name}." in refused.stderr
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    "command",
    [[], ["sample"], ["synthesize"], ["plan"], ["certify"], ["ledger"], ["compare"]],
)
def test_help_teaches_by_example(command):
    result = dproo(*command, "--help")
    assert result.returncode == 0
    assert "dproo " in result.stdout
    assert "--seed" not in result.stdout


@pytest.mark.parametrize("arguments", [[], ["--version"], ["plan", "--help"], ["sample"]])
def test_the_command_is_also_a_module_of_python(arguments):
    command = [sys.executable, "-m", "dproo", *arguments]
    as_module = subprocess.run(command, capture_output=True, text=True, check=False)
    as_command = dproo(*arguments)
    assert as_module.returncode == as_command.returncode
    assert as_module.stdout == as_command.stdout
    assert as_module.stderr == as_command.stderr


def test_long_work_is_seen_on_a_terminal_and_nowhere_else():
    code = "import sys, time; from dproo.cli.output import waiting\n"
    code += "with waiting('counting'): sys.stdin.read() if sys.stderr.isatty() else time.sleep(2)"
    command = [sys.executable, "-c", code]
    assert subprocess.run(command, capture_output=True, check=True).stderr == b""
    ours, terminal = pty.openpty()
    with Started(command, stdin=subprocess.PIPE, stderr=terminal) as process:
        shown = os.read(ours, 1000).decode()  # which waits for it
        process.communicate()
    shown += os.read(ours, 1000).decode()
    os.close(terminal)
    os.close(ours)
    assert shown.startswith("\rcounting, 1 s")
    assert shown.endswith("\r"), "the line was not cleared"


WORDS = [f"value-{at}" for at in range(200)]
WRITERS = {
    "rows.csv": ["rows", "model.json", "--rows", "9999", "--out"],
    "rows.jsonl": ["rows", "model.json", "--rows", "9999", "--out"],
    "rows.parquet": ["rows", "model.json", "--rows", "9999", "--out"],
    "rows.png": ["rows", "model.json", "--plot"],
    "plan.svg": ["plan", "--k", "9", "--epsilon", "1", "--alpha", "0.1", "--plot"],
    "imported.json": ["codebook", "import", "lookup.csv", "--out"],
    "drafted.json": ["codebook", "draft", "wide.csv", "--out"],
    "report.html": ["ledger", "report", "--out"],
}


@pytest.fixture
def writing(tmp_path, monkeypatch):
    """A folder with what the commands of WRITERS read."""
    monkeypatch.chdir(tmp_path)
    Path("lookup.csv").write_text("value,label\n" + "".join(f"{w},{w}\n" for w in WORDS))
    Path("wide.csv").write_text(",".join(WORDS) + "\n")
    field = {"name": "c", "type": "string", "categories": WORDS}
    data = opened([{"c": word} for word in WORDS])
    data.synthesize({"schema": {"fields": [field]}}, epsilon=100).save("model.json")
    ledger = Ledger.create(tmp_path / "ledger.sqlite3")
    for word in WORDS[:40]:
        ledger.declare(word, budget=1, neighbours="replace")
    return tmp_path


@pytest.mark.one_of(3)
@pytest.mark.parametrize("name", WRITERS)
def test_a_file_that_cannot_be_written_whole_exits_with_1_and_leaves_nothing(writing, name, capfd):
    """Exit code 4 is for what was charged."""
    before = {path.name for path in writing.iterdir()}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2048, hard))
    try:
        code = run([*WRITERS[name], name])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    said = capfd.readouterr().err
    assert code == 1, said
    assert re.fullmatch("Error: .*(could not|cannot) be written.*\\.\n", said)
    assert {path.name for path in writing.iterdir()} - before <= {"matplotlib"}  # its settings
    assert run([*WRITERS[name], name]) == 0


_FULL = "Error: the output cannot be written: No space left on device.\n"


@pytest.mark.one_of(3)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="it is Linux's.")
@pytest.mark.parametrize(
    "command", ["", "-h", "ledger", "--version", "plan -h", "plan --k 2 --n 9 --epsilon 1 --json"]
)
def test_output_that_cannot_be_written_fails_in_one_sentence(command):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*COMMAND, *command.split()],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (1, _FULL)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="it is Linux's.")
@pytest.mark.parametrize("command", ["no", "plan --no", "plan --k x", "plan --k 0", "check"])
def test_a_complaint_that_cannot_be_written_leaves_its_exit_code(command):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*COMMAND, *command.split()], stderr=full, check=False)
    assert done.returncode == 2


_LONG = "a" * 5_000
"""A name that no file can have: asked whether it exists, the system fails."""

_NOWHERE = [f"{_LONG}:code", f"{EXAMPLES / 'admissions.csv'}/folder"]


@pytest.mark.one_of(3)
@pytest.mark.parametrize(
    "command",
    [
        [*RELEASE[:1], _LONG, *RELEASE[2:]],
        [*RELEASE[:1], _LONG, *RELEASE[2:], "--no-ledger"],
        [*FREE[:4], "--alphabet", f"{_LONG}:code", *FREE[6:]],
        ["ledger", "init", f"/{_LONG}.csv", "--budget", "1"],
        ["audit", "--command", "cat", "--epsilon", "1", "--dataset", _LONG, "--neighbour", "b"],
        ["plan", "--k", "2", "--n", "9", "--epsilon", "1", "--plot", f"{_LONG}.png"],
        ["serve", "--folder", _LONG],
        *(["demo", "--save", name] for name in _NOWHERE),
        *(["figures", "--out", name] for name in _NOWHERE),
        ["figures", "--out", str(EXAMPLES / "admissions.csv")],
    ],
)
def test_a_name_that_no_file_can_have_is_refused_like_any_other(command):
    result = dproo(*command)
    assert (result.returncode, result.stdout) == (2, "")
    assert "bug" not in result.stderr


def test_a_configuration_that_cannot_be_looked_for_is_refused(tmp_path, monkeypatch):
    """As below a folder that the user may not search, such as another user's home."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / _LONG))
    result = dproo("plan", "--k", "2", "--n", "9", "--epsilon", "1")
    assert (result.returncode, result.stdout) == (2, "")
    assert "config must be a readable UTF-8 text file" in result.stderr


@pytest.mark.parametrize("name", ["e\u0301.csv", "n" * 201 + ".csv", "a\tb.csv"])
def test_a_path_that_cannot_name_a_budget_gets_a_remedy_that_works(name, tmp_path):
    """macOS writes accents as characters of their own, and a path may be long."""
    data = tmp_path / name
    data.write_text((EXAMPLES / "admissions.csv").read_text(encoding="utf-8"), encoding="utf-8")
    Ledger.create(tmp_path / "ledger.sqlite3")
    charged = ["--ledger", str(tmp_path / "ledger.sqlite3")]
    for command in (
        [*RELEASE[:1], str(data), *RELEASE[2:]],
        ["ledger", "init", str(data), "--budget", "1"],
    ):
        refused = dproo(*command, *charged)
        assert refused.returncode == 2
        assert "--dataset NAME" in refused.stderr
        assert f"ledger init {tmp_path}" not in refused.stderr


def test_the_menu_has_every_option_and_the_first_sentence_of_every_command():
    context = click.Context(cli, **cli.context_settings)
    options, commands = MENU.partition("\nOptions:\n")[2].split("\nCommands:\n")
    assert re.findall(r"^  (-.*?)(?:  | TEXT)", options, re.MULTILINE) == [
        ", ".join(option.opts) for option in cli.get_params(context)
    ]
    listed = dict(line.split(maxsplit=1) for line in commands.splitlines())
    assert list(listed) == cli.list_commands(context)
    for name, line in listed.items():
        command = cli.get_command(context, name)
        assert command.get_short_help_str(limit=200).rstrip(".") == line.rstrip(".")


@pytest.mark.parametrize("arguments", [[], ["-h"], ["--help"], ["--help", "--help"]])
def test_the_menu_is_the_same_with_and_without_click(arguments):
    done = dproo(*arguments)
    assert (done.returncode, done.stdout, done.stderr) == (0, MENU, "")


@pytest.mark.parametrize("name", ["visits", "-x", "--help", "a b", "-a b"])
def test_the_command_that_declares_a_missing_budget_can_be_copied(name):
    missing = dproo(*RELEASE, "--dataset", name).stderr
    found = re.search(r"Declare a budget first: dproo (ledger init .*?)\. To release", missing)
    assert found, missing
    declared = dproo(*shlex.split(found[1].replace("EPSILON", "3")))
    assert declared.returncode == 0, declared.stderr
    assert dproo(*RELEASE, "--dataset", name).returncode == 0


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("demo --save", "save"),
        ("figures --out", "out"),
        ("serve --folder", "folder"),
        ("ledger export --to", "to"),
        ("--config", "config"),
    ],
)
def test_an_empty_place_is_refused_not_taken_for_the_default(words, name, tmp_path):
    env = {**os.environ, "DPROO_LEDGER": str(tmp_path / "ledger.sqlite3")}
    Ledger.create(tmp_path / "ledger.sqlite3")
    here = tmp_path / "here"
    here.mkdir()
    more = ["plan", "--n", "9", "--k", "3", "--epsilon", "1"] if name == "config" else []
    result = dproo(*words.split(), "", *more, cwd=here, env=env)
    assert result.returncode == 2, result.stdout
    assert result.stderr.startswith(f"Error: {name} must be")
    assert not list(here.iterdir())


LAYOUT = {"table", "format", "delimiter", "encoding", "skip_rows", "comment", "has_header"}
CELLS = {"readings", "missing", "decimal", "thousands"}
CHARGED = {"engine", "neighbours", "records_per_person", "person", "missing_person", "path"}
CHARGED |= {"dataset", "no_ledger", "purpose", "operator", "quiet", "verbose", "as_json"}
RELEASED = {"epsilon"} | LAYOUT | CHARGED
SIZES = {"n", "k", "epsilon", "alpha", "as_json"}
BOOK = str(EXAMPLES / "codebook.json")
KINDS = {
    f"plan --codebook {BOOK}": SIZES,
    "plan --releases 3": SIZES | {"delta"},
    "plan --alphabet open": SIZES | {"delta", "minimum_people"},
    "plan": SIZES | {"plot", "codebook", "releases", "alphabet"},
    f"check data --codebook {BOOK}": LAYOUT | {"cells", "person", "as_json"},
    "check data --column a --alphabet A,B": LAYOUT | CELLS | {"cells", "person", "as_json"},
    f"sample data --codebook {BOOK}": RELEASED
    | {"network", "shares", "within_bins", "size", "by", "groups", "columns"},
    f"sample data --codebook {BOOK} --column ward": RELEASED | {"size", "sampler", "by", "groups"},
    "sample data --column a --alphabet A,B": RELEASED
    | CELLS
    | {"codebook", "sampler", "size", "by", "groups", "outside"},
    "sample data --column a --alphabet A,B --no-ledger": RELEASED - {"path", "dataset"}
    | CELLS
    | {"codebook", "sampler", "size", "by", "groups", "outside"},
    "sample data --column a --alphabet open": RELEASED | {"delta", "minimum_people"},
    f"synthesize data --codebook {BOOK}": RELEASED
    | {"delta", "network", "model", "rows", "out", "probe"},
    "synthesize data": RELEASED
    | {"columns", "alphabets", "codebook", "delta", "network", "model", "rows", "out", "probe"},
    "rows model --plot a.png": {"rows", "out", "labels"},
}
"""Commands, and the options that have an effect in them."""


@pytest.mark.parametrize("kind", KINDS)
def test_an_option_without_effect_is_refused(kind, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("data").write_text("a\nA\n")
    command = kind.split()
    if command[0] == "rows":
        data = opened([{"a": "x"}] * 9)
        data.synthesize(Alphabet.product({"a": Alphabet.of(["x", "y"])}), epsilon=1).save("model")
    for option in cli.get_command(click.Context(cli), command[0]).params:
        if option.param_type_name == "argument" or option.name in KINDS[kind]:
            continue
        if option.name == "has_header" or {*option.opts} & {*command}:
            continue
        value = "7" if isinstance(option.type, click.types.IntParamType) else "x"
        given = [option.opts[0]] if option.is_flag else [option.opts[0], value]
        needed = ["--epsilon", "1"] if command[0] in {"sample", "synthesize"} else []
        code = run([*command, *needed, *given])
        told = capsys.readouterr().err
        assert (code, option.opts[0] in told) == (2, True), (given, told)
        assert "cannot be used" in told or "must be" in told


def test_letters_beside_a_code_book_are_what_is_refused():
    book = str(EXAMPLES / "codebook.json")
    result = dproo(*FREE, "--codebook", book)
    assert result.stderr.startswith("Error: --alphabet cannot be used with --codebook")
