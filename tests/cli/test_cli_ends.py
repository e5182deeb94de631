"""How a release ends on the command line: after its charge with exit code 4, whatever ends it."""

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from support.commands import COMMAND, Started, dproo
from support.draws import DICE, SOAK, some

from dproo.ledger import Ledger

pytestmark = pytest.mark.one_of(4)


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    """Work in a folder with data, letters and a budget."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPROO_LEDGER", str(tmp_path / "ledger.sqlite3"))
    Path("data.csv").write_text("code\n" + "a\n" * 60 + "b\n" * 40)
    Path("codes.txt").write_text("a\nb\n")
    book = Ledger.create(tmp_path / "ledger.sqlite3")
    book.declare("data", budget="999", delta="1e-6", neighbours="replace")


SAMPLE = ["sample", "data.csv", "--dataset", "data", "--column", "code"]
SAMPLE += ["--alphabet", "codes.txt", "--epsilon", "1"]
SYNTHESIZE = ["synthesize", *SAMPLE[1:], "--rows", "5", "--delta", "1e-7"]
FOUND = ["data.csv", "--dataset", "data", "--epsilon", "1", "--delta", "1e-7"]
PRINTED = {
    "sample": SAMPLE,
    "sample, as JSON": [*SAMPLE, "--json"],
    "synthesize": SYNTHESIZE,
    "synthesize, with a file": [*SYNTHESIZE, "--out", "rows.csv", "--json"],
    "synthesize, without a code book": ["synthesize", *FOUND, "--rows", "5"],
    "discover": ["codebook", "discover", *FOUND],
    "discover, with a file": ["codebook", "discover", *FOUND, "--out", "book.json", "--json"],
}
"""Every release that prints something."""


def charges():
    return [line.is_recorded for line in Ledger(os.environ["DPROO_LEDGER"]).show()[0].lines]


def started(*arguments, **options):
    """Run the command with other pipes or another encoding than it is begun with elsewhere."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return subprocess.run([*COMMAND, *arguments], text=True, check=False, **options)


@pytest.mark.parametrize("default", [{"DPROO_LEDGER": "relative.sqlite3"}, {"HOME": "relative"}])
@pytest.mark.parametrize("is_charged", [True, False])
@pytest.mark.parametrize("name", ["sample", "synthesize, with a file", "discover, with a file"])
def test_a_release_needs_no_default_ledger_where_another_or_none_is_named(
    name, is_charged, default
):
    """What is wrong with the default is found before the charge, or does not matter."""
    cleared = {"DPROO_LEDGER", "HOME", "XDG_DATA_HOME"}
    environment = {key: text for key, text in os.environ.items() if key not in cleared} | default
    command = [part for part in PRINTED[name] if part not in {"--dataset", "data"}]
    ledger = ["--ledger", os.environ["DPROO_LEDGER"], "--dataset", "data"]
    done = started(*command, *(ledger if is_charged else ["--no-ledger"]), env=environment)
    assert (done.returncode, bool(done.stdout)) == (0, True), done.stderr
    assert charges() == [True] * is_charged


@pytest.mark.parametrize("command", some([SAMPLE, SYNTHESIZE], one_of=4))
@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize(
    "end",
    [
        signal.SIGINT,
        pytest.param(signal.SIGTERM, marks=pytest.mark.untraced),
        signal.SIGHUP,
        signal.SIGQUIT,
    ],
)
def test_a_signal_after_the_charge_exits_with_4_and_says_that_the_charge_stays(command, twice, end):
    """The second signal comes after those that a supervisor may send together with the first."""
    code = (
        "import os, time; from dproo import counting; from dproo.cli import ending, main\n"
        "def wait(told):\n"
        "    print(told, flush=True); time.sleep(60); os._exit(9)\n"
        "def count(*_):\n"
        "    try: wait('counting')\n"
        f"    finally: {twice} and (time.sleep(2 * ending.TOGETHER), wait('again'))\n"
        "counting.Scan.count_several = count\n"
        "main()"
    )
    with Started(
        [sys.executable, "-c", code, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "counting\n"
        process.send_signal(end)
        if twice:
            assert process.stdout.readline() == "again\n"
            process.send_signal(end)
        shown, told = process.communicate()
    assert (process.returncode, shown) == (4, "")
    assert told.strip() == ("Error: the release was stopped. The charge stays: entry 2 of 'data'.")
    assert charges() == [False]


def test_signals_that_come_together_are_one_and_what_stops_is_not_disturbed():
    code = (
        "import os, signal; from dproo import counting; from dproo.cli import ending, main\n"
        "ending.TOGETHER = 60\n"
        "def count(*_):\n"
        "    try: os.kill(os.getpid(), signal.SIGTERM); os._exit(9)\n"
        "    finally: os.kill(os.getpid(), signal.SIGHUP); print('put away', flush=True)\n"
        "counting.Scan.count_several = count\n"
        "main()"
    )
    done = dproo(*SAMPLE, code=code)
    assert (done.returncode, done.stdout) == (4, "put away\n")
    assert "The charge stays: entry 2 of 'data'." in done.stderr


@pytest.mark.parametrize("kind", ["MemoryError", "SystemExit", "RecursionError", "Panic"])
def test_whatever_a_library_ends_with_after_the_charge_is_exit_code_4(kind):
    code = (
        "from dproo import counting; from dproo.cli import main\n"
        "class Panic(BaseException): pass\n"
        f"def end(*_): raise {kind}('canary-7f3a')\n"
        "counting.Scan.count_several = end\n"
        "main()"
    )
    done = dproo(*SAMPLE, code=code)
    assert (done.returncode, done.stdout) == (4, "")
    assert "The charge stays: entry 2 of 'data'." in done.stderr
    assert "canary" not in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_interrupt_before_the_charge_exits_with_2():
    code = (
        "from dproo import counting; from dproo.cli import main\n"
        "def end(*_, **__): raise KeyboardInterrupt\n"
        "counting.Source.scan = end\n"
        "main()"
    )
    done = dproo(*SAMPLE, code=code)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.strip() == "Error: stopped; nothing was charged."
    assert charges() == []


def test_an_interrupt_while_others_use_the_ledger_exits_with_2():
    code = (
        "from dproo import counting; from dproo.cli import main; from dproo.ledger import *\n"
        "def end(*_, **__):\n"
        "    Ledger(default_path()).declare('theirs', budget=1, neighbours='replace')\n"
        "    raise KeyboardInterrupt\n"
        "counting.Source.scan = end\n"
        "main()"
    )
    done = dproo(*SAMPLE, code=code)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.strip() == "Error: stopped; nothing was charged."


def test_an_interrupt_while_the_ledger_is_opened_exits_with_2():
    code = (
        "from dproo.cli import options, main\n"
        "def end(*_, **__): raise KeyboardInterrupt\n"
        "options.Ledger = end\n"
        "main()"
    )
    done = dproo(*SAMPLE, code=code)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.strip() == "Error: stopped; nothing was charged."


def test_an_interrupt_between_the_steps_of_a_release_exits_with_4():
    """After the release has returned and before it is printed."""
    code = (
        "import contextlib; from dproo.cli import main, options\n"
        "@contextlib.contextmanager\n"
        "def waiting(*_):\n"
        "    yield\n"
        "    raise KeyboardInterrupt\n"
        "options.waiting = waiting\n"
        "main()"
    )
    done = dproo(*SAMPLE, code=code)
    assert done.returncode == 4
    assert "The charge may stand" in done.stderr
    assert charges() == [True]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="it is Linux's.")
@pytest.mark.parametrize("option", range(3 if SOAK else 1))
@pytest.mark.parametrize("command", [SAMPLE, SYNTHESIZE])
def test_output_that_cannot_be_written_names_the_command_that_prints_it(command, option):
    told = ["--json"] if command == SAMPLE else ["--json", "--out", "rows.csv"]
    options = [[], told, ["--quiet"]]
    option = options[option] if SOAK else DICE.choice(options)
    with Path("/dev/full").open("w") as out:
        done = started(*command, *option, stdout=out)
    assert done.returncode == 4
    assert done.stderr.strip() == (
        "Error: the release could not be printed. The charge stays, and the release is kept: "
        "dproo ledger print 2 prints it again, for free."
    )
    printed = json.loads(dproo("ledger", "print", "2").stdout)
    assert "values" in printed or printed["model"]["values"]


@pytest.mark.parametrize("broken", ["pipe", "reading"])
@pytest.mark.parametrize("command", some(PRINTED, one_of=4))
def test_output_that_nobody_gets_is_refused_before_the_charge(command, broken):
    """As a pipe whose reader has gone is, and a file that was opened to be read."""
    reading, out = os.pipe()
    os.close(reading)
    with Path("codes.txt").open() as file:
        done = started(*PRINTED[command], stdout=out if broken == "pipe" else file)
    os.close(out)
    assert done.returncode == 2
    assert "standard output must be open" in done.stderr
    assert charges() == []


READY = (
    "import os, sys; from dproo.cli import ending, main; ending.install()\n"
    "os.write(2, b'.'); main()"
)
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]


def struck(end, after):
    """Run a release and end it some seconds after its first instruction; return how it ended."""
    with Started(
        [sys.executable, "-c", READY, *SAMPLE, "--quiet"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(end, signal.default_int_handler),
    ) as process:
        assert process.stderr.read(1) == b"."
        with suppress(subprocess.TimeoutExpired):
            process.wait(after)
        process.send_signal(end)
        shown, told = process.communicate()
    return process.returncode, shown.decode(), told.decode()


@pytest.mark.untraced
def test_a_signal_at_any_moment_ends_in_one_of_three_ways():
    """Stopped before the charge, stopped after it and told so, or the value printed in full."""
    released = stopped = 0
    for _ in range(300 if SOAK else 9):  # which the budget allows
        end, after = DICE.choice(SIGNALS), DICE.choice([0.05, 0.5, 1]) * DICE.random()
        code, shown, told = struck(end, after)
        assert (code, shown, told) != (0, "", ""), after
        if code == 0:
            assert shown in {"a\n", "b\n", "other\n"}
            released += 1
        elif code == 2:
            assert (shown, told) == ("", "Error: stopped; nothing was charged.\n")
        else:
            assert (code, shown) == (4, "")
            assert told.startswith("Error: the release was stopped. The charge stays")
            assert told.count("\n") == 1
            stopped += 1
    assert len(charges()) == released + stopped
    assert sum(charges()) >= released


@pytest.mark.untraced
@pytest.mark.parametrize("end", SIGNALS)
def test_a_signal_between_the_printing_and_the_end_leaves_the_exit_code_0(end):
    code = (
        "import os, signal, sys; from dproo.cli import main, options\n"
        f"signal.signal({end:d}, signal.default_int_handler)\n"
        f"def facts(*_): os.kill(os.getpid(), {end:d})\n"
        "options.facts = facts\n"
        "main()"
    )
    done = dproo(*SAMPLE, code=code)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout in {"a\n", "b\n", "other\n"}


@pytest.mark.untraced
@pytest.mark.parametrize("end", SIGNALS)
def test_a_signal_while_nobody_reads_the_result_says_that_it_is_kept(end):
    code = (
        "import signal; from dproo.cli import main\n"
        f"signal.signal({end:d}, signal.default_int_handler); main()"
    )
    Path("codes.txt").write_text(f"{'a' * 1000}\n{'b' * 1000}\n")
    Path("data.csv").write_text("code\n" + f"{'a' * 1000}\n" * 10_000)
    reading, writing = os.pipe()
    with Started(
        [sys.executable, "-c", code, *SYNTHESIZE[:-3], "300", *SYNTHESIZE[-2:]],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        os.close(writing)
        assert os.read(reading, 1)  # it is being printed, and the pipe is soon full
        process.send_signal(end)
        _, told = process.communicate()
    os.close(reading)
    assert process.returncode == 4
    assert told.startswith("Error: the release was stopped. The charge stays, and the release is")
    assert charges() == [True]


@pytest.mark.untraced
@pytest.mark.parametrize("end", SIGNALS)
@pytest.mark.parametrize("options", some([[], ["--person", "id"]], one_of=4))
def test_a_signal_stops_a_count_that_never_ends_and_says_that_the_charge_stays(options, end):
    """The data comes through a pipe that stays open, so that only the signal can end the count."""
    code = (
        "import os, signal; from dproo.ledger import Ledger; from dproo.cli import main\n"
        f"signal.signal({end:d}, signal.default_int_handler)\n"
        "record, reserve = Ledger.record, Ledger.reserve\n"
        "def reserved(*a, **o): entry = reserve(*a, **o); os.write(2, b'.'); return entry\n"
        "Ledger.reserve = reserved\n"
        "main()"
    )
    command = [SAMPLE[0], "-", *SAMPLE[2:], *options]
    entry = "entry 2 of 'data'"
    if options:
        book = Ledger(os.environ["DPROO_LEDGER"])
        book.declare("people", budget="9", neighbours="replace", unit="person")
        command[command.index("data")] = "people"
        entry = "entry 3 of 'people'"
    reading, writing = os.pipe()
    with Started(
        [sys.executable, "-c", code, *command],
        stdin=reading,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        os.write(writing, b"id,code\n" + b"1,a\n2,b\n" * 1000)
        assert process.stderr.read(1) == "."
        process.send_signal(end)
        shown, told = process.communicate()
    os.close(reading)
    os.close(writing)
    assert (process.returncode, shown) == (4, "")
    assert told == f"Error: the release was stopped. The charge stays: {entry}.\n"


def test_a_receipt_that_cannot_be_shown_takes_nothing_from_the_release():
    with Path("/dev/full").open("w") as nowhere:
        done = started(*SAMPLE, stderr=nowhere)
        assert (done.returncode, done.stdout.strip() in {"a", "b", "other"}) == (0, True)
        assert started(*SAMPLE, "--size", "0", stderr=nowhere).returncode == 2


def test_without_a_ledger_the_sentence_promises_nothing():
    with Path("/dev/full").open("w") as out:
        done = started(*SAMPLE[:2], *SAMPLE[4:], "--no-ledger", stdout=out)
    assert done.returncode == 4
    assert "charged to no ledger, so it is lost." in done.stderr


WRITTEN = {
    "init": ["init", "another", "--budget", "1"],
    "accept-restore": ["accept-restore", "--ledger", "old/ledger.sqlite3"],
    "export": ["export", "--to", "copy.sqlite3"],
    "import": ["import", "ledger.sqlite3", "--ledger", "new.sqlite3"],
}
"""Every command that writes a ledger in a file."""


@pytest.mark.parametrize("end", some(SIGNALS, one_of=4))
@pytest.mark.parametrize("moment", ["write", "echo", "end"])
@pytest.mark.parametrize("name", WRITTEN)
def test_a_signal_after_a_ledger_was_written_does_not_say_that_nothing_was(name, moment, end):
    old = Path("old")
    old.mkdir(mode=0o700)
    shutil.copy("ledger.sqlite3", old)
    Ledger("ledger.sqlite3").reserve("data", epsilon=1, neighbours="replace")
    code = (
        "import os; from dproo.cli import ledger, main; from dproo.ledger.stores import sqlite\n"
        "write, echo, command = sqlite.SqliteStore.write, ledger.echo, ledger.ledger_command\n"
        f"def end(): os.kill(os.getpid(), {end:d})\n"
        "def written(*given, **named): write(*given, **named); end()\n"
        "def echoed(*given, **named): echo(*given, **named); end()\n"
        f"if {moment!r} == 'write': sqlite.SqliteStore.write = written\n"
        f"elif {moment!r} == 'echo': ledger.echo = echoed\n"
        "else:\n"
        "    invoke = command.invoke\n"
        "    command.invoke = lambda *given: (invoke(*given), end())\n"
        "main()"
    )
    done = dproo("ledger", *WRITTEN[name], code=code)
    assert "nothing was charged" not in done.stderr
    if moment == "end":
        assert (done.returncode, done.stderr) == (0, "")
    else:
        assert done.returncode == 4
        assert "the ledger may have been written: see 'dproo ledger show'" in done.stderr


@pytest.mark.parametrize("command", some(PRINTED, one_of=4))
def test_a_closed_standard_output_is_refused_before_the_charge(command):
    line = " ".join([*COMMAND, *PRINTED[command], ">&-"])
    done = subprocess.run(["/bin/sh", "-c", line], stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert "standard output must be open" in done.stderr
    assert charges() == []


@pytest.mark.parametrize("command", [SAMPLE, SYNTHESIZE])
def test_letters_that_cannot_be_printed_are_refused_before_the_charge(command):
    Path("codes.txt").write_text("a\nb\nñandú\n", encoding="utf-8")
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = started(*command, env=ascii_only)
    assert (done.returncode, done.stdout) == (2, "")
    assert "standard output must be able to print every letter, got ascii." in done.stderr
    assert charges() == []
    told = ["--json"] if command == SAMPLE else ["--json", "--out", "rows.csv"]
    assert started(*command, *told, env=ascii_only).returncode == 0


OPEN = [*SAMPLE[:6], "--alphabet", "open", "--epsilon", "9", "--delta", "1e-7"]
UNLISTED = [OPEN, PRINTED["synthesize, without a code book"], PRINTED["discover"]]


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize("command", UNLISTED)
def test_no_cell_decides_whether_a_release_is_printed(command, encoding):
    Path("data.csv").write_text("code\n" + "Łąż\n" * 9_000, encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    done = started(*command, "--verbose", env=environment)
    assert (done.returncode, done.stderr[-300:] * done.returncode) == (0, "")
    assert done.stdout
    assert charges() == [True]
    show = started("ledger", "show", env=environment)
    assert (show.returncode, show.stderr) == (0, "")


@pytest.mark.parametrize("label", ["Łódź", "ñ"])
def test_labels_that_cannot_be_printed_are_refused_like_letters(label):
    fields = [{"name": "code", "type": "string", "categories": [{"value": "a", "label": label}]}]
    Path("book.json").write_text(json.dumps({"schema": {"fields": fields}}))
    synthesize = [*SYNTHESIZE[:4], "--codebook", "book.json", "--epsilon", "1"]
    assert dproo(*synthesize, "--model", "model.json").returncode == 0
    rows = ["rows", "model.json", "--rows", "3"]
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    assert started(*rows, env=ascii_only).returncode == 0
    done = started(*rows, "--labels", env=ascii_only)
    assert (done.returncode, done.stdout) == (2, "")
    assert "standard output must be able to print every letter, got ascii." in done.stderr


@pytest.mark.parametrize("break_", ["\n", "\r", "\t"])
def test_a_letter_that_would_be_two_lines_is_refused_before_the_charge(break_):
    Path("codes.csv").write_text(f'code\na\n"b{break_}c"\n', newline="")
    command = [*SAMPLE[:7], "codes.csv:code", *SAMPLE[8:]]
    done = dproo(*command)
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        "letters must not contain line breaks or tabs when printed as text. Use --json."
        in done.stderr
    )
    assert charges() == []
    assert dproo(*command, "--json").returncode == 0


@pytest.mark.parametrize(
    "arguments",
    [
        [*SAMPLE[:7], "/dev/zero", *SAMPLE[8:]],
        [*SAMPLE, "--by", "ward", "--groups", "/dev/zero"],
        ["--config", "/dev/zero", "plan"],
    ],
)
def test_a_public_file_that_never_ends_is_refused(arguments):
    done = dproo(*arguments)
    assert done.returncode == 2
    assert "must be a file or a pipe, got '/dev/zero'." in done.stderr
    assert charges() == []


LOOPED = [
    ["sample", "loop.csv", *SAMPLE[4:]],
    ["sample", "loop.csv", *SAMPLE[2:]],
    ["sample", "loop.csv/data.csv", *SAMPLE[4:]],
    ["synthesize", "loop.csv", *SYNTHESIZE[4:]],
    ["codebook", "draft", "loop.csv"],
    ["codebook", "discover", "loop.csv", *FOUND[3:]],
    [*SAMPLE, "--ledger", "loop.csv"],
    [*SAMPLE, "--ledger", "loop.csv/ledger.sqlite3"],
    [*SAMPLE, "--codebook", "loop.csv"],
    [*SYNTHESIZE, "--out", "loop.csv"],
    [*SYNTHESIZE, "--out", "rows.csv", "--model", "loop.csv/model.json"],
    ["ledger", "init", "loop.csv", "--budget", "1"],
    ["ledger", "show", "--ledger", "loop.csv"],
    ["ledger", "report", "--out", "loop.csv"],
    ["ledger", "import", "loop.csv"],
    ["serve", "--folder", "loop.csv"],
]


@pytest.mark.parametrize("arguments", some(LOOPED, one_of=2))
def test_a_loop_of_links_is_refused_by_a_sentence(arguments):
    Path("loop.csv").symlink_to("loop.csv")
    done = dproo(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "bug" not in done.stderr
    assert charges() == []


HOSTILE = "x\x1b[2J\x9b1m\u202egpj.exe\x07"


def on_a_terminal(*arguments):
    """Return what a command shows on a terminal."""
    ours, terminal = pty.openpty()
    process = subprocess.Popen([*COMMAND, *arguments], stdout=terminal, stderr=terminal)
    os.close(terminal)
    shown = b""
    while True:
        try:
            more = os.read(ours, 65536)
        except OSError:  # it has ended
            break
        if not more:
            break
        shown += more
    os.close(ours)
    return process.wait(), shown.decode()


@pytest.mark.parametrize("command", [SAMPLE, SYNTHESIZE])
def test_a_letter_cannot_steer_a_terminal_but_a_program_gets_it_as_it_is(command):
    Path("data.csv").write_text("code\n" + f"{HOSTILE}\n" * 9_000, encoding="utf-8")
    Path("codes.txt").write_text(f"{HOSTILE}\nb\n", encoding="utf-8")
    code, shown = on_a_terminal(*command, "--quiet")
    assert code == 0
    assert r"x\x1b[2J\x9b1m\u202egpj.exe\x07" in shown
    assert not {"\x1b", "\x9b", "\u202e", "\x07"} & set(shown)
    assert HOSTILE in dproo(*command, "--quiet").stdout


def test_names_and_arguments_in_messages_cannot_steer_a_terminal():
    hostile = f"no{HOSTILE}\n"
    for arguments in (
        ["sample", hostile, *SAMPLE[2:]],
        [*SAMPLE, f"--{hostile}"],
        [hostile],
        [*SAMPLE[:3], hostile, *SAMPLE[4:]],
        [*SAMPLE[:5], hostile, *SAMPLE[6:]],
        [*SAMPLE[:7], hostile, *SAMPLE[8:]],
        [*SAMPLE, "--ledger", hostile],
        [*SAMPLE, "--sampler", hostile],
        ["ledger", "show", "--ledger", hostile],
        ["ledger", "init", hostile, "--budget", "1"],
        ["plan", "--k", hostile],
        ["--config", hostile, "plan"],
    ):
        done = dproo(*arguments)
        assert done.returncode == 2, arguments
        assert not {"\x1b", "\x9b", "\u202e", "\x07"} & set(done.stdout + done.stderr)
        assert "\nError: " in "\n" + done.stderr
        assert done.stderr.rpartition("Error: ")[2].count("\n") == 1
