"""Argument checks: one place, one wording.

Every message reads ``<name> must <condition>, got <value>.``; a check tests what must hold, so
neither NaN nor a stray type slips through a comparison.
"""

from __future__ import annotations

import difflib
import operator
import re
import reprlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, Inexact, localcontext
from fractions import Fraction
from typing import Any, TypeVar

Choice = TypeVar("Choice", bound=str)
Item = TypeVar("Item")

WITHHELD = "text that is withheld because it may hold a password"

_LONG = 14_000  # bits of the longest integer that is printed, of 4,215 digits
_INTEGER = 4000  # digits; Python reads none of more than 4,300, with a refusal of its own
_DIGITS = 12  # of a fraction that is printed as a decimal number

_HOST = r"(?:[\w.%-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]+)?"
_PLAIN_URL = re.compile(rf"[A-Za-z][A-Za-z0-9+.-]*://{_HOST}(?:,{_HOST})*(?:/[^@?#=&;:\s]*)?")
# Possessive, so that a long text made to be slow is still read only once.
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
    is_named = any(_SECRET.search(match[1]) for match in _ASSIGNED.finditer(text))
    return is_named or _LOGIN.search(text) is not None


def refusal(name: str, condition: str, value: object) -> str:
    """Return the sentence that refuses ``value``, shortened if the value is long.

    >>> refusal("k", "be at least 2", 1)
    'k must be at least 2, got 1.'
    """
    parts = value if isinstance(value, tuple | list) else (value,)
    texts = (_scalar(part) for part in parts)
    is_secret = any(isinstance(part, str) and may_hold_secret(part) for part in texts)
    return f"{name} must {condition}, got {WITHHELD if is_secret else shown(value)}."


class _Shown(reprlib.Repr):
    """Short texts of any values; numbers as one would write them."""

    def repr1(self, x: object, level: int) -> str:
        return super().repr1(_scalar(x), level)

    def repr_int(self, x: int, _level: int) -> str:
        if x.bit_length() > _LONG:  # Python prints no integer of more than 4,300 digits
            digits = x.bit_length() * 30_103 // 100_000 + 1
            return f"an integer of about {digits:,} digits"
        return super().repr_int(x, _level)

    def repr_Fraction(self, x: Fraction, _level: int) -> str:  # noqa: N802 - by the type's name
        with localcontext(Context(prec=_DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN)) as context:
            text = str((Decimal(x.numerator) / Decimal(x.denominator)).normalize())
            is_exact = not context.flags[Inexact]
        mantissa, e, exponent = text.partition("E")
        if e and is_exact and 0 < int(exponent) < _DIGITS:
            return f"{x.numerator}"
        return f"{'' if is_exact else 'about '}{mantissa}{e.lower()}{exponent.removeprefix('+')}"

    def repr_Decimal(self, x: Decimal, _level: int) -> str:  # noqa: N802 - as above
        text = str(x)
        return text if len(text) <= self.maxother else f"{text[: self.maxother]}..."

    def repr_instance(self, x: object, level: int) -> str:
        try:
            return super().repr_instance(x, level)
        except Exception:  # noqa: BLE001 - its type may be anyone's
            return f"a value of type {type(x).__name__}"


_SHORT = _Shown()


def shown(value: object) -> str:
    """Return a short text of any value, even one that Python or its own type refuses to print.

    >>> from fractions import Fraction
    >>> shown(Fraction(1200)), shown(Fraction(1, 8)), shown([10**5000])
    ('1200', '0.125', '[an integer of about 5,001 digits]')
    """
    try:
        return _SHORT.repr(value)
    except Exception:  # noqa: BLE001 - as above
        return f"a value of type {type(value).__name__}"


def exact(value: Any, *, name: str = "an argument") -> Any:
    """Return a text or number of a subclass as Python's own type; anything else unchanged.

    A member of ``class Name(str, Enum)`` is a text, but Python prints it as ``Name.X``. So every
    text is replaced by its own characters as soon as it is accepted, also within lists and
    mappings. Then it no longer matters how a subclass defines ``str()``, ``==`` or ``len()``.

    >>> from enum import Enum
    >>> exact(Enum("Name", {"X": "patients"}, type=str).X)
    'patients'

    Raises:
        ValueError: it is nested too deeply, or holds itself.
    """
    try:
        return _exact(value)
    except RecursionError:
        raise ValueError(f"{name} must not be nested so deeply.") from None


def _exact(value: Any) -> Any:
    kind = type(value)
    if kind is str or kind is int:  # nearly always, and asking for a mapping takes longer
        return value
    if kind is dict or isinstance(value, Mapping):
        return {_exact(name): _exact(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return tuple(map(_exact, value)) if isinstance(value, tuple) else list(map(_exact, value))
    return _scalar(value)


def _scalar(value: Any) -> Any:
    kind = type(value)  # isinstance would ask the value
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, int) and kind is not bool:
        return int.__index__(value)
    if issubclass(kind, float):  # float-ok: nothing is computed
        return float.__float__(value)  # float-ok: as above
    return value


def plain_text(name: str, value: object, condition: str = "be text") -> str:
    """Return ``value`` as a plain text.

    Raises:
        TypeError: it is not a text.
    """
    if not issubclass(type(value), str):
        raise TypeError(refusal(name, condition, value))
    return str.__str__(value)


def read_integer(name: str, text: str) -> int:
    """Return the integer that a text of digits spells, unless it is too long for Python to read."""
    if len(text.lstrip("-")) > _INTEGER:
        raise ValueError(refusal(name, f"have integers of at most {_INTEGER} digits", text))
    return int(text)


def require_unicode(place: str, value: object) -> None:
    """Raise if a text in an object of JSON cannot be written to a file; the message names it.

    JSON can spell half of a surrogate pair, ``"\\ud800"``, which UTF-8 has no bytes for.

    Args:
        place: what a refusal calls the object; empty if its keys are known by themselves.
        value: the object, of Python's own types.

    Raises:
        ValueError: a key or a value in it is such a text.

    >>> require_unicode("", {"schema": {"fields": [{"name": "\\ud800"}]}})
    Traceback (most recent call last):
    ValueError: schema.fields[0].name must be valid Unicode text, got '\\ud800'.
    """
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ValueError(refusal(place, "be valid Unicode text", value)) from None
    elif isinstance(value, Mapping):
        for key, part in value.items():
            require_unicode(f"{place or 'the object'}: a key", key)
            require_unicode(f"{place}.{key}" if place else str(key), part)
    elif isinstance(value, list | tuple):
        for at, part in enumerate(value):
            require_unicode(f"{place}[{at}]", part)


def whole(name: str, value: object, *, at_least: int, at_most: int | None = None) -> int:
    """Return ``value`` as a Python integer within its bounds.

    Raises:
        TypeError: ``value`` is not an integer; booleans and floats are not accepted.
        ValueError: it is out of bounds.
    """
    try:
        if isinstance(value, bool):
            raise TypeError  # noqa: TRY301 - it has an index
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(refusal(name, "be an integer", value)) from None
    if not at_least <= number:
        raise ValueError(refusal(name, f"be at least {at_least}", number))
    if at_most is not None and not number <= at_most:
        raise ValueError(refusal(name, f"be at most {at_most}", number))
    return number


LISTED_MAX = 10**7
"""The most letters, edges or counts that are taken one by one."""


def bounded(name: str, values: Iterable[Item]) -> Iterator[Item]:
    """Yield values that are listed one by one.

    Raises:
        ValueError: there are too many, as in a range of 10^18.
    """
    for at, value in enumerate(values):
        if at == LISTED_MAX:
            raise ValueError(f"{name} must be at most {LISTED_MAX:,}, got more.")
        yield value


def flag(name: str, value: object) -> bool:
    """Return ``value`` as a plain boolean; NumPy's are accepted, other truthy values are not.

    Raises:
        TypeError: it is not a boolean; the text ``"false"``, for instance, would count as true.
    """
    if isinstance(value, bool):
        return value
    if type(value).__module__ == "numpy" and type(value).__name__ in {"bool", "bool_"}:
        return bool(value)
    raise TypeError(refusal(name, "be True or False", value))


def one_of(name: str, value: object, choices: Iterable[Choice]) -> Choice:
    """Return ``value`` if it is one of ``choices``; otherwise suggest the nearest one."""
    known, value = sorted(choices), _scalar(value)
    if isinstance(value, str) and value in known:
        return known[known.index(value)]
    start = value[:256].lower() if isinstance(value, str) else ""
    near = difflib.get_close_matches(start, known, n=1, cutoff=0.5)  # float-ok
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(refusal(name, f"be one of {', '.join(known)}", value) + hint)


def uninstalled(library: str, *, extra: str) -> str:
    """Return the sentence that says how to install a library."""
    return f"{library} must be installed for this: pip install 'dproo[{extra}]'."


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
        raise ValueError(uninstalled(library, extra=extra)) from None
