"""Where a user's settings and data are: never in the working folder."""

from __future__ import annotations

import os
from pathlib import Path

from dproo.core.arguments import refusal


def user_folder(variable: str, *default: str) -> Path | None:
    """Return a user's folder by the XDG standard, which ignores a relative one.

    Args:
        variable: the variable that may name it.
        default: where it is in the user's home otherwise.

    Returns:
        The folder, or nothing where the user has no home.
    """
    named = os.environ.get(variable, "")
    if os.path.isabs(named):  # noqa: PTH117 - an empty Path is a dot
        return Path(named)
    home = os.environ.get("HOME", "")
    if not os.path.isabs(home):  # noqa: PTH117
        home = _registered_home()
    return Path(home, *default) if home else None


def named_file(variable: str) -> Path | None:
    """Return the file that a variable names.

    Raises:
        ValueError: it is relative, and would depend on the working folder.
    """
    named = os.environ.get(variable)
    if named and not os.path.isabs(named):  # noqa: PTH117
        raise ValueError(refusal(variable, "be an absolute path", named))
    return Path(named) if named else None


def _registered_home() -> str:
    """Return the home that the system knows the user by, if it does."""
    try:
        import pwd  # noqa: PLC0415 - rarely needed, and not on every system

        home = pwd.getpwuid(os.getuid()).pw_dir
    except ImportError:
        home = os.path.expanduser("~")  # noqa: PTH111 - Path.home raises where there is none
    except KeyError:
        return ""
    return home if os.path.isabs(home) else ""  # noqa: PTH117
