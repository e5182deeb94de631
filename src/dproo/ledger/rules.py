"""What may enter a ledger: the limits, names and shapes that Python and the database share.

``TERMS`` and ``SHAPES`` hold every limit; the limits of epsilon and of budgets come from
``dproo.core.numbers``. Python checks them, and the installation of a ledger in PostgreSQL passes
them to ``schema.sql``.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from fractions import Fraction
from functools import cached_property, lru_cache
from math import isfinite
from typing import Any, Literal

from dproo.core.checks import exact, may_hold_secret, one_of, plain_text, refusal, whole
from dproo.core.numbers import (
    ATTO,
    BUDGET_MAX,
    EPSILON_MAX,
    EPSILON_MIN,
    NANO,
    Number,
    budget_of,
    in_epsilon,
    parse_delta,
    rational,
)
from dproo.errors import RuleRefused
from dproo.mechanisms import ADD_REMOVE, RECORDS_MAX, REPLACE, Relation

FORMAT = 5
"""The format of files and databases; earlier ones predate the first release."""

Unit = Literal["record", "person"]
RECORD: Unit = "record"
PERSON: Unit = "person"
"""The units of protection, as budgets and receipts name them."""

TERMS: dict[str, int] = {
    "format": FORMAT,
    "name_max": 200,  # characters of a dataset's name
    "fraction_max": 200,  # characters of an amount, written as an exact fraction
    "request_max": 1 << 18,  # bytes of a request
    "receipt_max": 1 << 24,  # bytes of a receipt
    "depth_max": 50,  # nested brackets
    "open_max": 20,  # undecided requests of one role
    "records_max": RECORDS_MAX,
    "nano": NANO,
    "atto": ATTO,
    "epsilon_parts": EPSILON_MIN.denominator,  # the smallest epsilon is one part
    "charge_max": int(EPSILON_MAX) * NANO,
    "budget_max": BUDGET_MAX * NANO,
}


@dataclass(frozen=True)
class Rule:
    """How a rule that every release of a dataset must obey is described.

    Attributes:
        help: the help of its option.
        text: the rule in a few words; ``{}`` is its value.
        sums: what the sum of charges that it caps is over; empty if it caps none.
        is_epsilon: whether its value is an epsilon.
        is_for_several: whether it distinguishes people, which a file cannot.
    """

    help: str
    text: str
    sums: str = ""
    is_epsilon: bool = field(default=False, kw_only=True)
    is_for_several: bool = field(default=False, kw_only=True)


RULES = {
    "per_release": Rule(
        "The largest epsilon of one release.", "at most {} a release", "a release", is_epsilon=True
    ),
    "per_day": Rule(
        "The most epsilon to spend in a day (UTC).", "at most {} a day", "a day", is_epsilon=True
    ),
    "per_spender": Rule(
        "The most epsilon that one database role may ever spend; PostgreSQL only.",
        "at most {} a spender",
        "one spender",
        is_epsilon=True,
        is_for_several=True,
    ),
    "until": Rule("Nothing is released from this day on: 2027-01-31.", "nothing from {} on"),
    "columns": Rule("The only columns that may be released: sex,age.", "only {}"),
    "codebook": Rule(
        "The only code book that may be used, a JSON file.", "only by the code book {}"
    ),
    "approval_above": Rule(
        "The epsilon above which a second person must approve; PostgreSQL only.",
        "above {} with a second person's approval",
        is_epsilon=True,
        is_for_several=True,
    ),
}
"""The rules, by the names of the attributes of :class:`Limits`."""

_TEXT = ("string", "null")
SHAPES: dict[str, dict[str, tuple[str, ...]]] = {
    "request": {
        "columns": ("texts",),
        "by": ("string", "texts", "null"),
        **dict.fromkeys(("purpose", "operator", "sampler"), _TEXT),
        **dict.fromkeys(("codebook_sha256", "alphabet_sha256"), _TEXT),
    },
    "receipt": {
        "rows": ("number", "null"),
        **dict.fromkeys(("purpose", "sampler", "accuracy"), _TEXT),
        **dict.fromkeys(("codebook_sha256", "alphabet_sha256"), _TEXT),
    },
    "limits": {**dict.fromkeys(RULES, ("string",)), "columns": ("texts",)},
}
"""The types that named parts of an object must have; ``limits`` may have no other parts."""

ALLOWANCES = tuple(name for name, rule in RULES.items() if rule.sums)
"""The rules that cap a sum of charges."""

_AMOUNTS = tuple(name for name, rule in RULES.items() if rule.is_epsilon)
_NEVER_PUBLIC = frozenset({"counts", "m", "q", "seed"})
_REVEALS_N = frozenset({"n", "worst_alpha"})
_BY_COLUMN = {"other", "left_out"}
"""Parts of a receipt whose fields are columns, which may have any name."""
_DIGEST = re.compile("[0-9a-f]{64}")
_FRACTION = re.compile(r"[1-9][0-9]*(/[1-9][0-9]*)?", re.ASCII)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_ZERO = re.compile(r"-?[0.]+(?:[eE].*)?")
_FLAT = re.compile(r"\[\]|\{\}")
_PYTHON: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "null": (type(None),),
    "texts": (list,),
}
_TYPES = {
    part: {name: {one for kind in kinds for one in _PYTHON[kind]} for name, kinds in shapes.items()}
    for part, shapes in SHAPES.items()
}


@dataclass(frozen=True, kw_only=True)
class Basis:
    """The conditions under which the epsilons of a budget add up.

    Attributes:
        neighbours: ``"replace"`` or ``"add-remove"``.
        records_per_person: the most records that one protected person may own.
        unit: whether a release protects a record or a person; their epsilons do not add up.
    """

    neighbours: Relation
    records_per_person: int = 1
    unit: Unit = RECORD

    def __post_init__(self) -> None:
        vars(self).update(
            neighbours=one_of("neighbours", self.neighbours, (REPLACE, ADD_REMOVE)),
            records_per_person=whole(
                "records_per_person", self.records_per_person, at_least=1, at_most=RECORDS_MAX
            ),
            unit=one_of("unit", self.unit, (RECORD, PERSON)),
        )

    @property
    def counts_people(self) -> bool:
        """Whether one record of each person is counted."""
        return self.unit == PERSON and self.records_per_person == 1


def dataset_of(name: object) -> str:
    """Return a dataset's name, which must be plain, printable and public text."""
    dataset = plain_text("dataset", name)
    most = TERMS["name_max"]
    if not 0 < len(dataset) <= most or dataset != dataset.strip():
        condition = f"be 1 to {most} characters without spaces around them"
        raise ValueError(refusal("dataset", condition, dataset))
    if not dataset.isprintable() or not unicodedata.is_normalized("NFC", dataset):
        raise ValueError(refusal("dataset", "be printable text in Unicode normal form C", dataset))
    if may_hold_secret(dataset):
        raise ValueError(refusal("dataset", "be a public name", dataset))
    return dataset


def digest_of(name: str, value: object) -> str:
    """Return a SHA-256 as ledgers and receipts write it."""
    condition = "be 64 lower-case hexadecimal digits"
    digest = plain_text(name, value, condition)
    if not _DIGEST.fullmatch(digest):
        raise ValueError(refusal(name, condition, digest))
    return digest


def written(name: str, amount: Fraction) -> str:
    """Return an amount as the exact fraction that a ledger stores.

    >>> written("epsilon", Fraction(1, 3))
    '1/3'
    """
    text = str(amount)
    if len(text) > TERMS["fraction_max"]:
        most = TERMS["fraction_max"]
        raise ValueError(f"{name} must be a fraction of at most {most} characters, got more.")
    return text


@lru_cache(maxsize=4096)
def read(text: str) -> Fraction:
    """Return the amount that :func:`written` wrote."""
    if len(text) > TERMS["fraction_max"] or not _FRACTION.fullmatch(text):
        raise ValueError(refusal("amount", "be a fraction", text))
    amount = Fraction(text)
    if str(amount) != text:
        raise ValueError(refusal("amount", "be in lowest terms", text))
    return amount


def delta_field(delta: object) -> dict[str, str]:
    """Return the field of a body that holds delta; a pure budget or release has none."""
    exact = parse_delta(delta)
    return {"delta": written("delta", exact)} if exact else {}


def denied(dataset: str, number: int) -> RuleRefused:
    """Return the refusal of a release whose request was denied."""
    return RuleRefused("approval_above", dataset, f"request {number} was denied")


def public_text(part: str, value: Mapping[str, Any], neighbours: str) -> dict[str, Any]:
    """Return a request or receipt as it will be read back; raise if it cannot be, or is private.

    Released ``values`` may contain any name, such as a group called ``m``, and so may the parts
    whose fields are columns.
    """
    try:
        json_text = json.dumps(exact(value), allow_nan=False, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        raise ValueError(f"{part} must be made of JSON values.") from None
    if fault := fault_of(part, json_text.replace("\x7f", "\\u007f")):
        raise ValueError(f"{part} must be one that can be read back: {fault}.")
    plain: dict[str, Any] = json.loads(json_text)
    if name := _private_field(plain, neighbours):
        raise ValueError(f"{part} must be public, got a field {name!r}.")
    return plain


def private_names(neighbours: str) -> frozenset[str]:
    """Return the names that no field of a request or receipt may have."""
    return _NEVER_PUBLIC | (_REVEALS_N if neighbours == ADD_REMOVE else frozenset())


def _private_field(value: object, neighbours: str) -> str | None:
    private = private_names(neighbours)
    remaining = [value]
    while remaining:
        item = remaining.pop()
        if isinstance(item, Mapping):
            if not private.isdisjoint(item):
                return min(private & set(item))
            for name, part in item.items():
                if name in _BY_COLUMN and isinstance(part, Mapping):
                    remaining += part.values()
                elif name != "values":
                    remaining.append(part)
        elif isinstance(item, list | tuple):
            remaining += item
    return None


def fault_of(part: str, text: str) -> str | None:
    """Return why a text cannot be stored as a request, receipt or limits, or None if it can.

    ``schema.sql`` refuses the same texts by the same terms.

    >>> fault_of("request", '{"columns": ["sex"]}'), fault_of("request", '{"columns": 5}')
    (None, 'columns has another type')
    """
    if len(text) > TERMS.get(f"{part}_max", TERMS["request_max"]):
        return "it is too long"
    if not text.isascii() or not text.isprintable():
        return "it is not printable ASCII"
    brackets = re.sub(r"[^][{}]+", "", _STRING.sub("", text))
    for _ in range(TERMS["depth_max"]):
        brackets = _FLAT.sub("", brackets)
    if brackets:
        return "it is nested too deeply or unbalanced"
    try:
        value = json.loads(
            text,
            parse_int=_number,
            parse_float=_number,
            parse_constant=_number,
            object_pairs_hook=_named_once,
        )
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return "it is not JSON that can be read back"
    return shape_fault(part, value)


def shape_fault(part: str, value: object) -> str | None:
    """Return how the types of a value differ from ``SHAPES``, or None if they do not."""
    if type(value) is not dict:
        return "it is not an object"
    shapes = _TYPES[part]
    if part == "limits" and not value.keys() <= shapes.keys():
        return "it has unknown parts"
    for name, types in shapes.items():
        if name in value:
            content = value[name]
            are_texts = type(content) is not list or all(type(text) is str for text in content)
            if type(content) not in types or not are_texts:
                return f"{name} has another type"
    return None


def _number(text: str) -> float:
    """Return a number within the range of floats; the database refuses all others too."""
    value = float(text)
    is_too_small = value == 0 and _ZERO.fullmatch(text) is None
    if not isfinite(value) or is_too_small:
        raise ValueError(refusal("number", "be within the range of floats", text))
    return value


def _named_once(parts: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(named := dict(parts)) < len(parts):
        raise ValueError("a name occurs twice")
    return named


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The rules that every release of a dataset must obey.

    Attributes:
        per_release: the largest epsilon of one release.
        per_day: the largest epsilon of all releases of one day, in UTC.
        per_spender: the largest epsilon of all releases of one role of the database.
        until: the day, such as ``2027-01-31``, from which nothing is released.
        columns: the only columns that may be released or grouped by.
        codebook: the only code book or alphabet, by its SHA-256 as receipts name it.
        approval_above: the epsilon above which a second person must approve a release.

    >>> Limits(per_day="0.5", until="2027-01-31").declared
    {'per_day': '1/2', 'until': '2027-01-31'}
    """

    per_release: Number | None = None
    per_day: Number | None = None
    per_spender: Number | None = None
    until: str | None = None
    columns: Iterable[str] | None = None
    codebook: str | None = None
    approval_above: Number | None = None

    def __post_init__(self) -> None:
        for name in _AMOUNTS:
            amount = getattr(self, name)
            if amount is not None:
                vars(self)[name] = written(name, rational(name, amount))
                _nano(name, getattr(self, name))
        if self.until is not None:
            condition = "be a day such as 2027-01-31"
            day = plain_text("until", self.until, condition)
            try:
                is_day = date.fromisoformat(day).isoformat() == day
            except ValueError:
                is_day = False
            if not is_day:
                raise ValueError(refusal("until", condition, day))
            vars(self)["until"] = day
        if self.columns is not None:
            vars(self)["columns"] = tuple(sorted(set(_names(self.columns))))
        if self.codebook is not None:
            vars(self)["codebook"] = digest_of("codebook", self.codebook)

    @cached_property
    def declared(self) -> dict[str, Any]:
        """The rules as stored in the ledger."""
        rules = {rule.name: getattr(self, rule.name) for rule in fields(self)}
        if self.columns is not None:
            rules["columns"] = list(self.columns)
        return {name: value for name, value in rules.items() if value is not None}

    @cached_property
    def most(self) -> dict[str, int]:
        """The rules that are an epsilon, in nano-epsilon."""
        declared = self.declared
        return {name: _nano(name, declared[name]) for name in _AMOUNTS if name in declared}

    @property
    def text(self) -> str:
        """The rules in one line for people.

        >>> Limits(per_day=2, per_spender="1.5", until="2099-12-31", columns=["sex"]).text
        'at most 2 a day, at most 1.5 a spender, nothing from 2099-12-31 on, only sex'
        """
        shown = self.declared | {name: in_epsilon(most) for name, most in self.most.items()}
        shown |= {"columns": ", ".join(self.columns)} if self.columns is not None else {}
        return ", ".join(
            rule.text.format(shown[name]) for name, rule in RULES.items() if name in shown
        )

    def both(self, other: Limits) -> Limits:
        """Return the rules of two together, of which the stricter ones hold.

        >>> Limits(per_day=2, columns=["age", "sex"]).both(Limits(per_day=1, columns="sex")).text
        'at most 1 a day, only sex'

        Raises:
            ValueError: no release could obey both.
        """
        rules = self.declared | other.declared
        for name in self.declared.keys() & other.declared.keys():
            one, two = self.declared[name], other.declared[name]
            if name == "columns":
                rules[name] = [column for column in two if column in one]
                if not rules[name]:
                    raise ValueError(refusal(name, f"have one of {', '.join(one)}", two))
            elif name == "codebook" and one != two:
                raise ValueError(refusal(name, f"be {one!r}, as before", two))
            else:
                rules[name] = min(one, two, key=read if name in _AMOUNTS else str)
        return Limits(**rules)

    def require_one_owner(self) -> None:
        """Raise if a rule distinguishes people, which a file cannot."""
        for name, rule in RULES.items():
            if rule.is_for_several and getattr(self, name) is not None:
                raise ValueError(f"{name} needs a ledger in PostgreSQL: a file has one owner.")

    def require(
        self, dataset: str, request: Mapping[str, Any], *, at: str, sums: Mapping[str, int | None]
    ) -> None:
        """Raise unless a release obeys every rule, except for the need for an approval.

        Args:
            dataset: the declared name.
            request: its public parameters.
            at: the time, in the form of events.
            sums: the charges that each rule in ``ALLOWANCES`` covers, including this one; None
                if the spender is unknown.

        Raises:
            RuleRefused: it breaks one; the message names it.
        """
        if not self.declared:
            return
        if self.until is not None and at[:10] >= self.until:
            raise RuleRefused("until", dataset, f"nothing is released from {self.until} on")
        for rule in ALLOWANCES:
            if rule in self.most:
                amount = sums[rule]
                if amount is None:
                    raise RuleRefused(rule, dataset, "a file does not know who spends")
                if amount > self.most[rule]:
                    raise exceeded(rule, dataset, amount=amount, most=self.most[rule])
        by = request.get("by")
        shown = {*request.get("columns", ()), *([by] if isinstance(by, str) else by or [])}
        if self.columns is not None and not (shown and shown <= set(self.columns)):
            allowed = ", ".join(self.columns)
            raise RuleRefused("columns", dataset, f"only {allowed} may be released")
        digests = {request.get("codebook_sha256"), request.get("alphabet_sha256")}
        if self.codebook is not None and self.codebook not in digests:
            raise RuleRefused("codebook", dataset, f"the code book is {self.codebook}")

    def needs_approval(self, charge: int) -> bool:
        """Return whether a charge, in nano-epsilon, needs a second person's approval."""
        return charge > self.most.get("approval_above", charge)


def _names(columns: object) -> list[str]:
    if isinstance(columns, str):
        columns = [columns]
    if not isinstance(columns, Iterable):
        raise TypeError(refusal("columns", "be names", columns))
    names = [exact(name) for name in columns]
    if not names or not all(isinstance(name, str) and name for name in names):
        raise ValueError(refusal("columns", "be names", names))
    return names


NO_LIMITS = Limits()


def exceeded(rule: str, dataset: str, *, amount: int, most: int) -> RuleRefused:
    """Return the refusal of a charge that makes a sum, in nano-epsilon, too large."""
    condition = f"at most {in_epsilon(most)} is charged for {RULES[rule].sums}"
    return RuleRefused(rule, dataset, f"{condition}, and this makes {in_epsilon(amount)}")


def _nano(name: str, amount: Number) -> int:
    try:
        return budget_of(amount)
    except ValueError:
        raise ValueError(refusal(name, f"be between 1e-9 and {BUDGET_MAX}", amount)) from None
