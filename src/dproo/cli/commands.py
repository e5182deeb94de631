"""All commands, each imported on demand, their defaults, and the messages of failures."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from importlib import import_module
from math import inf
from pathlib import Path
from typing import Any

import click

from dproo import __version__
from dproo.cli import MENU, ending
from dproo.core.checks import WITHHELD, may_hold_secret, refusal, shown
from dproo.core.paths import Origin, guarding, may_exist, named_file, read_public, user_folder

_USAGE = click.UsageError.exit_code
_CONFIG_MAX = 1 << 20
_CONFIG = "contain only tables of options, in TOML"
_MORE = " (if its name ends in .toml, what is wrong is named)"
_PLACE = re.compile(r"\(at (?:line (\d+), column \d+|end of document)\)$")
_NUMBERS = {"alpha", "confidence", "delta", "epsilon", "missing", "trials"}
"""The options of text that hold numbers, and may be numbers in TOML."""

# The module of each command; ``MENU`` has its line in the help.
_MODULES = {
    **{name: name for name in ("audit", "check", "codebook", "demo", "ledger", "plan", "sample")},
    **dict.fromkeys(("certify", "compare", "figures"), "plan"),
    **dict.fromkeys(("mcp", "serve"), "serve"),
    **dict.fromkeys(("rows", "synthesize"), "synthesize"),
}


class _Interrupted(BaseException):
    """Carries an interrupt past click."""


class _Commands(click.Group):
    """Commands that are imported on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return sorted(_MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in _MODULES:
            return None
        module = import_module(f"dproo.cli.{_MODULES[cmd_name]}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command to run, or suggest the nearest one, as click 8.4 does."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            if hint := _nearest(args[0], {name: name for name in _MODULES}):
                ctx.fail(f"No such command {args[0]!r}.{hint}")
            raise

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; click would print an empty line for an interrupt."""
        try:
            with guarding(_is_protected):
                return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            raise _Interrupted from interrupt

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        formatter.write(MENU)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, package_name="dproo")
@click.option("--config")
@click.pass_context
def cli(ctx: click.Context, config: str | None) -> None:
    """Read the defaults; the help of all commands is ``MENU``."""
    ctx.default_map = defaults(config)
    ending.enter(ending.WORKING)  # what the command needs is loaded


def _is_protected(origin: Origin) -> bool:
    """Return whether a public file that a command reads is its data, or has a budget.

    The ledger is opened even if nothing is charged: the files in it stay protected. The user's own
    defaults are exempt, since every command would have to open the ledger for them.
    """
    context = click.get_current_context(silent=True)
    if context is None:  # a thread of a server, which protects its own data and ledger
        return False
    options = context.params
    if options.get("config", "") is None:
        return False
    from dproo.cli.options import is_protected  # noqa: PLC0415 - where a file is read

    return is_protected(origin, options)


def defaults(config: str | None) -> dict[str, Any]:
    """Return the user's defaults: only options that a command has, and values that they take.

    A file whose name does not end in .toml may be data that a ledger protects, and which ledger is
    not known yet, so nothing in it decides the message.
    """
    named = named_file("DPROO_CONFIG") if config is None else Path(config)
    folder = user_folder("XDG_CONFIG_HOME", ".config")
    path = named or (folder / "dproo" / "dproo.toml" if folder else None)
    if path is None or not (named or may_exist(path)):
        return {}
    is_toml = path.suffix == ".toml"
    condition = _CONFIG if is_toml else _CONFIG + _MORE
    text = read_public("config", path, at_most=_CONFIG_MAX, condition=condition)
    try:
        return _parsed(text, str(path))
    except ValueError:
        if is_toml:
            raise
        raise ValueError(refusal("config", condition, str(path))) from None


def _parsed(text: str, path: str) -> dict[str, Any]:
    """Return the tables of a file; a refusal names a key or a line, never a value."""
    import tomllib  # noqa: PLC0415 - loaded where there is a file to read

    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        place = _PLACE.search(str(error))
        where = f"in line {place[1]}" if place and place[1] else "at its end"
        hint = f" The mistake is {where}." if place else ""
        raise ValueError(refusal("config", "be TOML", path) + hint) from None
    for table, given in tables.items():
        if not isinstance(given, dict):
            condition = f"have {_key(table)} in the table of a command"
            raise ValueError(refusal("config", condition, path))  # noqa: TRY004 - not an argument
        command = cli.get_command(click.Context(cli), table)
        if command is None or not command.params:
            condition = f"contain no table {_key(table)}, which is not a command with options"
            near = _nearest(table, {name: name for name in _MODULES if name != table})
            raise ValueError(refusal("config", condition, path) + near)
        options = {str(option.name): option for option in command.params}
        for name, value in given.items():
            if name not in options:
                typed = {text.strip("-"): o for o in options for text in options[o].opts}
                condition = f"contain no {_key(name)} under [{table}]"
                near = _nearest(name.replace("_", "-"), typed | {o: o for o in options})
                raise ValueError(refusal("config", condition, path) + near)
            if not _fits(options[name], value):
                condition = f"have {_kind(options[name])} for {name} under [{table}]"
                raise ValueError(refusal("config", condition, path))
    return tables


def _key(name: str) -> str:
    return WITHHELD if may_hold_secret(name) else shown(name)


def _kind(option: click.Parameter) -> str:
    """Return what the value of an option must be in TOML."""
    is_number = option.name in _NUMBERS
    match option.type:
        case click.types.BoolParamType():
            return "true or false"
        case click.types.IntParamType():
            return "an integer"
        case click.Choice(choices=choices):
            return f"one of {', '.join(choices)}"
    if getattr(option, "multiple", False):
        return "a list of texts or numbers" if is_number else "a list of texts"
    return "a text or a number" if is_number else "a text"


def _fits(option: click.Parameter, value: object) -> bool:
    """Return whether a value of TOML is one that the command line could give to an option."""
    if getattr(option, "multiple", False):
        return isinstance(value, list) and all(_is_taken(option, part) for part in value)
    return _is_taken(option, value)


def _is_taken(option: click.Parameter, value: object) -> bool:
    kind = option.type
    if isinstance(kind, click.types.BoolParamType):
        return isinstance(value, bool)
    is_number = type(value) in {int, float} and -inf < value < inf  # type: ignore[operator]
    if not (isinstance(value, str) or is_number):
        return False
    try:
        text = str(value)  # Python refuses to write an integer of more than 4,300 digits
        if not isinstance(kind, click.types.StringParamType | click.Path):
            kind.convert(text, option, None)
            return True
    except (ValueError, click.BadParameter):
        return False
    return isinstance(value, str) or option.name in _NUMBERS


def _nearest(name: str, known: dict[str, str]) -> str:
    """Return a hint with the value of the nearest known name, or ''."""
    from difflib import get_close_matches  # noqa: PLC0415 - loaded when something is wrong

    near = get_close_matches(name, known, n=1)
    return f" Did you mean {known[near[0]]!r}?" if near else ""


def run(arguments: list[str] | None = None) -> int:
    """Run the command line; every refusal is a sentence and an exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        return _run(arguments)
    except click.ClickException as error:
        with suppress(OSError):  # the exit code still tells
            _complain(error, given)
        return _USAGE
    except BaseException as error:
        if isinstance(error, SystemExit) and not hasattr(error, "__notes__"):
            raise  # click's, for a pipe that nobody reads
        ending.ignore()
        from dproo.cli.output import echo  # noqa: PLC0415 - loaded when something went wrong
        from dproo.report import verdict  # noqa: PLC0415

        cause = error.__cause__ if isinstance(error, click.Abort | _Interrupted) else None
        code, sentence = verdict(cause or error)
        with suppress(OSError):
            echo(f"Error: {_withholding(sentence, given)}", err=True)
        return code


def _run(arguments: list[str] | None) -> int:
    """Run a command; a group without a command prints its help."""
    try:
        return cli.main(arguments, prog_name="dproo", standalone_mode=False) or 0
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help())
        return 0


def _complain(error: click.ClickException, given: list[str]) -> None:
    """Print what click would, without anything that controls a terminal or is a password."""
    from dproo.cli.output import echo  # noqa: PLC0415 - loaded when something went wrong

    context = getattr(error, "ctx", None)
    if context is not None:
        click.echo(context.get_usage(), err=True)
        click.echo(f"Try '{context.command_path} --help' for help.\n", err=True)
    echo(f"Error: {_withholding(error.format_message(), given)}", err=True)


def _withholding(sentence: str, given: list[str]) -> str:
    """Return a sentence without the arguments that may hold a password, in any spelling."""
    for argument in given:
        option, _, value = argument.partition("=") if argument.startswith("-") else ("", "", "")
        for part in (argument, option, value):
            if may_hold_secret(part.lstrip("-")):
                for text in (part, repr(part)[1:-1], str(Path(part))):
                    sentence = sentence.replace(text, "...")
    return sentence
