"""Programs under audit, and ``dproo audit`` as a user would run it."""

import json
import os
import pty
import signal
import subprocess
import sys

import pytest
from support import commands
from support.commands import Started

import dproo
from dproo.auditing.program import Command, Failure
from dproo.auditing.trials import VIOLATED

pytestmark = pytest.mark.one_of(3)

DPROO = [*commands.COMMAND, "audit"]
ROO = ["--sampler", "roo", "-n", "5", "-k", "2", "--epsilon", "1"]
CERTAIN = ["--confidence", "0.999999999"]


@pytest.fixture
def files(tmp_path):
    """Two neighbouring datasets of two records."""
    paths = tmp_path / "a.csv", tmp_path / "b.csv"
    paths[0].write_text("flu\nflu\n")
    paths[1].write_text("flu\nplague\n")
    return [str(path) for path in paths]


def run(*arguments):
    return commands.dproo("audit", *arguments)


def theirs(program, files, *options):
    pair = ["--dataset", files[0], "--neighbour", files[1]]
    return run("--command", program, *pair, "--epsilon", "1", *options)


def test_a_program_prints_letters_without_a_shell(tmp_path):
    path = tmp_path / "$(echo a) b.csv"
    path.write_text("flu\n")
    assert Command("cat {}").draw_many(str(path), 3) == ["flu"] * 3
    assert Command("echo '{} ;' x").draw_many(str(path), 1) == [f"{path} ; x"]
    assert Command(f"{sys.executable} -c 'import sys; sys.exit(7)' {{}}").draw_many("x", 1) == [
        Failure(7)
    ]


def test_a_program_that_shows_a_random_record_is_caught(files):
    result = theirs("shuf -n 1 {}", files, "--trials", "300", *CERTAIN, "--json")
    found = json.loads(result.stdout)
    assert result.returncode == 5
    assert (found["verdict"], found["event"]) == (VIOLATED, ["plague"])
    assert found["likelier_on"] == "neighbour"
    assert found["epsilon_lower"] > 1
    assert found["counts"]["dataset"] == 0
    assert found["schema_version"] == 1
    shown = theirs("shuf -n 1 {}", files, "--trials", "300", *CERTAIN)
    assert shown.returncode == 5
    assert "epsilon = 1 is VIOLATED for shuf -n 1 {}" in shown.stdout
    assert "plague" in shown.stdout
    assert shown.stderr == ""


def test_a_program_that_fails_on_one_dataset_only_is_caught(files):
    result = theirs("grep -q plague {}", files, "--trials", "100")
    assert result.returncode == 5
    assert "exit status 1" in result.stdout or "on the dataset       0 of" in result.stdout


def test_a_program_that_never_varies_gets_a_hint(files):
    result = theirs("head -n 1 {}", files, "--trials", "100")
    assert result.returncode == 0
    assert "Audit two datasets that differ in many records, with --distance." in result.stderr
    far = theirs("tail -n 1 {}", files, "--trials", "200", "--distance", "2")
    assert far.returncode == 5


@pytest.mark.parametrize("name", ["roo", "ds-roo", "ls-roo"])
def test_our_sampler_is_audited_on_its_own_witness(name):
    result = run("--sampler", name, *ROO[2:], *CERTAIN, "--json")
    found = json.loads(result.stdout)
    assert result.returncode == 0
    assert 0.95 < found["epsilon_lower"] <= 1
    assert found["event"] == ["0"]
    assert found["trials"] == 10**6


def test_a_joint_release_is_audited_as_one():
    jointly = run(*ROO, "--draws", "2", "--trials", "1e4", *CERTAIN)
    assert jointly.returncode == 0
    assert "letter 1 then letter 1" in jointly.stdout
    assert "epsilon = 1 is not refuted (which proves nothing) for roo" in jointly.stdout


def test_the_printed_table_is_caught_on_the_command_line():
    printed = ["--sampler", "ds-roo", "--as-printed"]
    assert run(*printed, "--epsilon", "0.5", "-n", "4", "-k", "3").returncode == 5
    assert run(*printed, "--epsilon", "0.2", "-n", "25", "-k", "24").returncode == 5


@pytest.mark.one_of(3)
def test_progress_is_shown_on_a_terminal_only():
    assert run(*ROO, "--trials", "1e4").stderr == ""
    ours, terminal = pty.openpty()
    command = [*DPROO, *ROO, "--trials", "1e5", *CERTAIN]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=terminal, check=True)
    os.close(terminal)
    assert b"drawing" in os.read(ours, 10_000)
    assert b"drawing" not in result.stdout
    os.close(ours)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "Missing option '--epsilon'"),
        (["--epsilon", "1"], "audit needs either --sampler or --command."),
        ([*ROO, "--command", "x {}"], "audit needs either --sampler or --command."),
        ([*ROO, "--dataset", "x"], "--sampler cannot be used with --dataset"),
        ([*ROO, "--distance", "2"], "--sampler cannot be used with --dataset"),
        (["--sampler", "roo", "-n", "5", "--epsilon", "1"], "--sampler requires --n and --k"),
        (["--sampler", "roo", "-k", "5", "--epsilon", "1"], "--sampler requires --n and --k"),
        (["--sampler", "laplace", *ROO[2:]], "sampler must be one of"),
        (["--sampler", "rooo", *ROO[2:]], "Did you mean 'roo'?"),
        ([*ROO, "--trials", "1.5"], "trials must be a whole number, got '1.5'."),
        ([*ROO, "--trials", "few"], "trials must be a decimal number, got 'few'."),
        ([*ROO, "--trials", "5"], "trials must be at least 100, got 5."),
        ([*ROO, "--trials", "1e99"], "trials must be at most 100000000"),
        ([*ROO, "--confidence", "1"], "confidence must be between 0 and 1, got '1'."),
        (["--command", "x {}", "--epsilon", "1"], "--command requires --dataset"),
        (["--command", "x {}", *ROO[2:]], "--command requires --dataset"),
    ],
)
def test_bad_arguments_get_one_sentence_and_exit_code_2(arguments, sentence):
    result = run(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert sentence in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("program", "sentence"),
    [
        ("shuf -n 1", "command must contain {} where the dataset's path goes"),
        ("", "command must contain {} where the dataset's path goes"),
        ("no-such-program {}", "command must start with a program that exists"),
        ("echo '{}", "command must have balanced quotes"),
    ],
)
def test_a_program_that_cannot_be_run_is_refused(program, sentence, files):
    result = theirs(program, files)
    assert (result.returncode, result.stdout) == (2, "")
    assert sentence in result.stderr
    with pytest.raises(ValueError, match=sentence.split(" {}")[0]):
        Command(program)


def test_files_and_programs_that_are_none_are_refused(files, tmp_path):
    missing = theirs("cat {}", ["no.csv", files[1]])
    assert (missing.returncode, missing.stdout) == (2, "")
    assert "dataset must be a file that exists, got 'no.csv'." in missing.stderr
    script = tmp_path / "script"
    script.write_bytes(b"\x00\x01")
    script.chmod(0o755)
    result = theirs(f"{script} {{}}", files)
    assert (result.returncode, result.stdout) == (2, "")
    assert "command must be a program that starts" in result.stderr


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_audit_of_a_program_that_hangs_can_be_stopped(stop, files, tmp_path):
    started = tmp_path / "started"
    os.mkfifo(started)
    script = tmp_path / "hangs"
    script.write_text(f"#!/bin/sh\necho > '{started}'\ntail -f /dev/null\n")  # a child of its own
    script.chmod(0o755)
    pair = ["--dataset", files[0], "--neighbour", files[1]]
    command = [*DPROO, "--command", f"'{script}' {{}}", *pair, "--epsilon", "1"]
    with Started(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            started.read_text()
            process.send_signal(stop)
            assert "stopped; nothing was charged." in process.communicate(timeout=60)[1]
        finally:
            process.kill()  # a failure must not wait for it
    assert process.returncode == 2


def test_help_teaches_by_example():
    shown = run("--help").stdout
    assert "dproo audit --sampler" in shown
    assert "Use invented data only" in shown


@pytest.mark.one_of(3)
def test_a_program_is_audited_from_python(files):
    options = {"trials": 300, "confidence": CERTAIN[1], "epsilon": 1}
    found = dproo.audit(Command("shuf -n 1 {}"), *files, **options)
    assert found.verdict == VIOLATED
