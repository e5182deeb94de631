"""What the commands share: options and printing."""

from __future__ import annotations

import json
import os
import select
import sys
import threading
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from dproo.cli import ending
from dproo.core.checks import needing, one_of, refusal
from dproo.core.paths import may_exist, written
from dproo.core.progress import watched
from dproo.errors import OutputError
from dproo.mechanisms import ADD_REMOVE, AUTO, REPLACE, SAMPLERS
from dproo.report import versioned


def files(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell offer files."""
    return [CompletionItem(incomplete, type="file")]


def _offering(*names: str) -> Callable[..., list[str]]:
    """Return a completion that offers the names that begin with the typed text."""
    return lambda *typed: [name for name in names if name.startswith(typed[-1])]


_SOON = 100
"""Milliseconds after which a signal is noticed while nobody reads the result."""

_LINE = 60
"""Characters of the line that shows the progress."""

_SOME = 3
"""Seconds of work before the remaining time is estimated."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
neighbours_option = click.option(
    "--neighbours",
    default=REPLACE,
    metavar="RELATION",
    shell_complete=_offering(REPLACE, ADD_REMOVE),
    help=f"{REPLACE!r} (default: n is public) or {ADD_REMOVE!r} (n is private).",
)
ledger_option = click.option(
    "--ledger",
    "path",
    help="A file or a postgresql:// URL."
    " [default: $DPROO_LEDGER, else ~/.local/share/dproo/ledger.sqlite3]",
    shell_complete=files,
)
sampler_option = click.option(
    "--sampler",
    default=AUTO,
    show_default=True,
    shell_complete=_offering(AUTO, *SAMPLERS),
    help=f"One of {', '.join(SAMPLERS)}; 'auto': the smallest proven worst case.",
)


plot_option = click.option(
    "--plot", help="Draw it too: a new .png, .svg or .pdf file. Needs the extra 'figures'."
)


_SPELLED = {
    "alphabets": "alphabet",
    "as_json": "json",
    "columns": "column",
    "path": "ledger",
    "readings": "as",
    "shares": "share",
}


def refuse_unused(
    options: Mapping[str, Any], defaults: Mapping[str, Any], used: Container[str], why: str
) -> None:
    """Raise if an option that would have no effect is given, unless by the user's own defaults."""
    source = click.get_current_context().get_parameter_source
    for name, default in defaults.items():
        is_idle = name not in used and source(name) is not ParameterSource.DEFAULT_MAP
        if is_idle and options[name] != default:
            spelled = _SPELLED.get(name, name).replace("_", "-")
            raise ValueError(f"--{spelled} cannot be used {why}.")


def figures() -> Any:
    """Return the module that draws, or refuse if matplotlib, an extra, is missing."""
    with needing("matplotlib", extra="figures"):
        return import_module("dproo.study.figures")


def picture(path: str) -> Path:
    """Return the path of a new picture whose format can be drawn."""
    one_of("the end of the picture's name", Path(path).suffix, figures().ENDINGS)
    return new_file("plot", path)


def new_file(name: str, path: str) -> Path:
    """Return the path of a file to write; raise if there is one, or no folder for it."""
    file = Path(path)
    if may_exist(file) or not os.access(file.parent, os.W_OK):
        raise ValueError(refusal(name, "be a new file in a folder that exists", path))
    return file


def write_new(path: str, text: str) -> None:
    """Write a text to the new file that ``--out`` names.

    Raises:
        ValueError: the file exists, or its folder does not.
        OutputError: it cannot be written whole.
    """
    new = new_file("out", path)
    try:
        with written(new, "x") as file:
            file.write(text)
    except (OSError, ValueError):
        raise unwritable(new) from None


def unwritable(path: str | Path) -> OutputError:
    """Return the error of a file that cannot be written."""
    return OutputError(f"{str(path)!r} could not be written.")


def visible(text: str) -> str:
    """Return a text with escapes for all characters that could control a terminal.

    >>> visible("flu\\x1b[2J"), visible("naïve \\u202eulf")
    ('flu\\\\x1b[2J', 'naïve \\\\u202eulf')
    """
    if text.isprintable():
        return text
    shown = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return "".join(shown)


def echo(line: object, *, err: bool = False) -> None:
    """Print one line.

    A letter, a name or a path in it can neither control a terminal nor begin a new line: on a
    terminal, and in every message beside the result, such characters are shown as escapes.
    A program that reads the result gets it unchanged, except what its encoding cannot write.
    """
    stream, text = sys.stderr if err else sys.stdout, str(line)
    if err or is_terminal(stream):
        text = _harmless(text)
    text = _encoded(text, stream).decode(_encoding(stream))
    click.echo(text, err=err, color=True)  # otherwise click removes some escapes from letters


def _harmless(text: str) -> str:
    return "\t".join(map(visible, text.split("\t")))


def _encoding(stream: TextIO | None) -> str:
    return getattr(stream, "encoding", None) or "utf-8"


def _encoded(text: str, stream: TextIO | None) -> bytes:
    """Return the bytes of a text, with escapes for what the stream's encoding cannot write.

    So no value decides whether a release can be printed.
    """
    return text.encode(_encoding(stream), "backslashreplace")


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether a person reads what is written to ``stream``."""
    return stream is not None and stream.isatty()


def require_printable(texts: Iterable[str] = (), *, breaks: str = "") -> None:
    """Raise unless standard output can take any of these texts, before anything is charged.

    Args:
        texts: what may be printed, except JSON, which is ASCII.
        breaks: characters that would break a cell or a line.
    """
    if sys.stdout is None or not _is_read(sys.stdout):
        raise ValueError("standard output must be open: the release is printed there.")
    if is_terminal(sys.stdout):
        return
    everything = "\0".join(texts)
    if any(character in everything for character in breaks):
        raise ValueError(
            "letters must not contain line breaks or tabs when printed as text. Use --json."
        )
    try:
        everything.encode(_encoding(sys.stdout))
    except UnicodeEncodeError:
        raise ValueError(
            f"standard output must be able to print every letter, got {sys.stdout.encoding}. "
            "Set PYTHONUTF8=1, or use --json."
        ) from None


def _is_read(stream: TextIO) -> bool:
    """Return whether anybody reads what is written to a stream, as far as the system tells."""
    try:
        import fcntl  # noqa: PLC0415 - only POSIX has it

        descriptor, ready = stream.fileno(), select.poll()
        mode = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE
    except (AttributeError, ImportError, OSError, ValueError):  # a test's own stream
        return True
    ready.register(descriptor, select.POLLOUT)
    gone = select.POLLERR | select.POLLHUP | select.POLLNVAL
    return mode != os.O_RDONLY and not any(event & gone for _, event in ready.poll(0))


def print_json(fields: dict[str, Any]) -> None:
    """Print one object, marked with the version of its layout."""
    click.echo(json_object(fields), nl=False)


def json_object(fields: dict[str, Any]) -> str:
    """Return one object, marked with the version of its layout, as lines of text."""
    return json_text(versioned(fields), indent=2) + "\n"


def json_text(value: object, *, indent: int | None = None) -> str:
    """Return JSON of printable ASCII only."""
    return json.dumps(value, indent=indent).replace("\x7f", "\\u007f")


def shown(line: object) -> str:
    """Return a line of the result as it is printed; see :func:`echo`."""
    text = str(line)
    if is_terminal(sys.stdout):
        text = _harmless(text)
    return f"{text}\n"


def write_whole(text: str) -> bool:
    """Write a text to standard output, and return whether all of it came before any signal."""
    stream = sys.stdout
    stream.flush()
    try:
        descriptor = stream.fileno()
        ready = select.poll()
    except (AttributeError, OSError, ValueError):  # a test's own stream, or another system
        stream.write(_encoded(text, stream).decode(_encoding(stream)))
        stream.flush()
        return True
    ready.register(descriptor, select.POLLOUT)
    rest = memoryview(_encoded(text, stream))
    while rest:
        # A pipe takes such a part at once, so a signal is soon noticed even if nobody reads.
        if ready.poll(_SOON):
            rest = rest[os.write(descriptor, rest[: select.PIPE_BUF]) :]
        if rest and ending.is_stopped():
            return False
    return True


def print_facts(facts: dict[str, object]) -> None:
    """Print names and values beside the result, on standard error."""
    width = max(map(len, facts))
    with suppress(OSError):  # the result counts, even if nobody reads standard error
        for name, value in facts.items():
            echo(f"  {name:<{width}}  {value}", err=True)


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show the progress of a long action on a terminal."""
    if not is_terminal(sys.stderr):
        yield
        return
    done = threading.Event()
    with watched() as share:

        def tick() -> None:
            seconds = 0
            while not done.wait(1):
                seconds += 1
                line = f"{what}, {spent(seconds, share())}"
                click.echo(f"\r{line:<{_LINE}}", nl=False, err=True)
            if seconds:
                click.echo(f"\r{'':<{_LINE}}\r", nl=False, err=True)

        ticker = threading.Thread(target=tick, daemon=True)
        ticker.start()
        try:
            yield
        finally:
            done.set()
            ticker.join()


def spent(seconds: int, share: Fraction | None) -> str:
    """Return how long something has taken and, if its share is known, how long it will take.

    >>> spent(12, None), spent(12, Fraction(3, 10)), spent(2, Fraction(1, 100))
    ('12 s', '12 s, 30 %, about 28 s left', '2 s, 1 %')
    """
    if share is None:
        return f"{seconds} s"
    text = f"{seconds} s, {round(100 * share)} %"
    left = seconds * (1 - share) / share
    return text if seconds < _SOME or left < 1 else f"{text}, about {round(left)} s left"
