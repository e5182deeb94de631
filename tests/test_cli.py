"""The command line, run as a user would: the result on stdout, one sentence and a code if not."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
COMMAND = [str(Path(sys.executable).parent / "dproo")]
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


def dproo(*arguments):
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False)


def codes():
    return {*(EXAMPLES / "diagnosis_codes.txt").read_text().split(), "other"}


def test_a_release_prints_the_record_alone_and_its_receipt_beside():
    result = dproo(*RELEASE)
    assert result.returncode == 0
    assert result.stdout.strip() in codes()
    assert "certified" in result.stderr
    assert dproo(*RELEASE, "--quiet").stderr == ""


def test_the_json_of_a_release_is_one_object_with_nothing_private():
    receipt = json.loads(dproo(*RELEASE, "--json").stdout)
    with (EXAMPLES / "admissions.csv").open(newline="") as file:
        assert receipt["n"] == len(list(csv.DictReader(file)))
    assert set(receipt) == {
        "schema_version",
        "values",
        "sampler",
        "epsilon",
        "neighbours",
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
    result = dproo(*RELEASE, "--neighbours", "add-remove", "--json")
    assert "n" not in json.loads(result.stdout)
    assert "4000" not in result.stdout + result.stderr


def test_several_records_are_drawn_jointly():
    result = dproo(*RELEASE, "--sampler", "roo", "--size", "5", "--quiet")
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
    assert rows["laplace"] == pytest.approx(0.18)
    hopeless = dproo("plan", "--n", "3", "--epsilon", "0.001", "--alpha", "0.01")
    assert "even two letters need more records" in hopeless.stdout


def test_the_certificate_shows_the_leak_of_the_printed_table():
    printed = ("certify", "--sampler", "ds-roo", "--n", "10001", "--k", "10000", "--as-printed")
    shown = dproo(*printed, "--epsilon", "0.01")
    assert shown.returncode == 0
    assert "DOES NOT HOLD" in shown.stdout
    assert "1, 2, 1 x 9998" in shown.stdout
    leak = json.loads(dproo(*printed, "--epsilon", "0.01", "--json").stdout)
    assert leak["holds"] is False
    assert leak["ratio"] == "2"
    assert leak["witness"]["before"] == [[1, 1], [2, 1], [1, 9998]]


def test_the_certificate_of_a_small_setting_can_be_enumerated():
    result = dproo("certify", "--n", "6", "--k", "3", "--epsilon", "0.5", "--enumerate")
    assert "epsilon = 0.5 holds for ls-roo (replace)" in result.stdout


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
        (["certify", "--n", "9", "--k", "3", "--epsilon", "1", "--draws", "2"], "without draws"),
        (["plan", "--k", "3"], "plan must be given exactly three"),
        (["plan", "--k", "three"], "'three' is not a valid integer"),
        (["plan", "--seed", "1"], "No such option"),
        (["sample"], "Missing argument"),
        ([*RELEASE[:2], "--column", "diagnosis", "--epsilon", "1"], "Missing option '--alphabet'"),
        (["sample", "no.csv", *RELEASE[2:]], "data must be a file that exists, got 'no.csv'."),
        (
            [*RELEASE[:3], "nope", *RELEASE[4:]],
            "column must be in the header of the file, got 'nope'.",
        ),
        ([*RELEASE, "--size", "0"], "size must be at least 1, got 0."),
        ([*RELEASE, "--size", "3"], "ls-roo must be used without draws"),
        ([*RELEASE, "--neighbours", "both"], "neighbours must be one of add-remove, replace"),
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
    result = dproo("sample", str(empty), *RELEASE[2:])
    assert (result.returncode, result.stdout) == (4, "")
    broken = tmp_path / "broken.csv"
    broken.write_bytes(b"diagnosis\ncanary-\xff\n")
    result = dproo("sample", str(broken), *RELEASE[2:])
    assert result.returncode == 4
    assert "canary" not in result.stderr + result.stdout


@pytest.mark.parametrize("command", [[], ["sample"], ["plan"], ["certify"]])
def test_help_teaches_by_example(command):
    result = dproo(*command, "--help")
    assert result.returncode == 0
    assert "dproo " in result.stdout
    assert "--seed" not in result.stdout
