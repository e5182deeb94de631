"""Argument checks: one place, one wording.

Every message reads ``<name> must <condition>, got <value>.``; a check tests what must hold, so
neither NaN nor a stray type slips through a comparison.
"""

from __future__ import annotations

import difflib
import operator
import re
import reprlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

WITHHELD = "text that is withheld because it may hold a password"

_HOST = r"(?:[\w.%-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]+)?"
_PLAIN_URL = re.compile(rf"[A-Za-z][A-Za-z0-9+.-]*://{_HOST}(?:,{_HOST})*(?:/[^@?#=&;:\s]*)?")
# Every character is tried once: what is refused may be long, and made to be slow.
_ASSIGNED = re.compile(r"(?<!\w)(\w++)\s*+=")
_SECRET = re.compile("(?i)pass|pwd|secret|token|credential|apikey|accountkey")
_LOGIN = re.compile(r":[^@:\s]*+@")


def may_hold_secret(text: str) -> bool:
    """Return whether a text could be a connection string with a password in it.

    A URL with only a host, a port and a path is harmless.

    >>> [may_hold_secret(text) for text in ("s3://bucket/a.csv", "db://ann:x@h/db", "a.csv")]
    [False, True, False]
    """
    if "://" in text:
        return _PLAIN_URL.fullmatch(text) is None
    is_named = any(_SECRET.search(found[1]) for found in _ASSIGNED.finditer(text))
    return is_named or _LOGIN.search(text) is not None


def refusal(name: str, condition: str, value: object) -> str:
    """Return the sentence that refuses ``value``, shortened if the value is long.

    >>> refusal("k", "be at least 2", 1)
    'k must be at least 2, got 1.'
    """
    parts = value if isinstance(value, tuple | list) else (value,)
    is_secret = any(isinstance(part, str) and may_hold_secret(part) for part in parts)
    return f"{name} must {condition}, got {WITHHELD if is_secret else reprlib.repr(value)}."


def whole(name: str, value: object, *, at_least: int, at_most: int | None = None) -> int:
    """Return ``value`` as a Python integer within its bounds.

    Raises:
        TypeError: ``value`` is not an integer; booleans and floats are not accepted.
        ValueError: it is out of bounds.
    """
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(refusal(name, "be an integer", value))
    number = operator.index(value)
    if not at_least <= number:
        raise ValueError(refusal(name, f"be at least {at_least}", number))
    if at_most is not None and not number <= at_most:
        raise ValueError(refusal(name, f"be at most {at_most}", number))
    return number


def flag(name: str, value: object) -> bool:
    """Return ``value`` as a plain boolean; NumPy's are accepted, other truthy values are not.

    Raises:
        TypeError: ``value`` is not a boolean, as the text ``"false"``, which would be true.
    """
    if isinstance(value, bool):
        return value
    if type(value).__module__ == "numpy" and type(value).__name__ in {"bool", "bool_"}:
        return bool(value)
    raise TypeError(refusal(name, "be True or False", value))


def one_of(name: str, value: object, choices: Iterable[str]) -> str:
    """Return ``value`` if it is one of ``choices``; otherwise suggest the nearest one."""
    known = sorted(choices)
    if isinstance(value, str) and value in known:
        return value
    near = difflib.get_close_matches(str(value)[:256].lower(), known, n=1, cutoff=0.5)  # float-ok
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(refusal(name, f"be one of {', '.join(known)}", value) + hint)


@contextmanager
def needing(library: str, *, extra: str) -> Iterator[None]:
    """Name what to install if an import within fails.

    >>> with needing("opendp", extra="opendp"):
    ...     raise ImportError
    Traceback (most recent call last):
    ValueError: opendp must be installed for this: pip install 'dproo[opendp]'.
    """
    try:
        yield
    except ImportError:
        raise ValueError(
            f"{library} must be installed for this: pip install 'dproo[{extra}]'."
        ) from None
