"""One field of a code book: its letters, how its cells are read, and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dproo.alphabet.axis import OTHER, Axis, Bins, IntegerRange, Letter, Letters, PeriodRange
from dproo.alphabet.field import Field
from dproo.alphabet.periods import periods
from dproo.alphabet.reading import DATE, INTEGER, LOWER, MONTH, NUMBER, TEXT, YEAR, Reading
from dproo.core.checks import one_of, refusal

_PERIODS = {"date": DATE, "yearmonth": MONTH, "year": YEAR}
_TYPES = ("string", "integer", "number", "boolean", *_PERIODS)
_DOMAINS = "categories, constraints.enum, a minimum and maximum, or bins"
_WANTED = {
    **dict.fromkeys(("string", "date", "yearmonth"), str),
    **dict.fromkeys(("integer", "year"), int),
    "boolean": bool,
}
_FORMATS = {"%Y": "YYYY", "%m": "MM", "%d": "DD"}


def wrong(place: str, condition: str, value: object) -> ValueError:
    """Return the refusal of a part of a code book, with its place."""
    return ValueError(refusal(place, condition, value))


def field_of(field: Any, place: str, missing: frozenset[str]) -> Field:
    """Return a field by its descriptor.

    Args:
        field: the descriptor.
        place: where it stands in the code book, for refusals.
        missing: the texts that stand for a missing cell, unless the field has its own.
    """
    if not isinstance(field, Mapping):
        raise wrong(place, "be an object", field)
    name = field.get("name")
    if not isinstance(name, str) or not name:
        raise wrong(f"{place}.name", "be a text", name)
    kind = field.get("type")
    if kind not in _TYPES:
        raise wrong(f"{place}.type", f"be one of {', '.join(_TYPES)}", kind)
    if "missingValues" in field:
        missing = missing_of(field, place)
    axis = _read(_axis(field, kind, place), field, kind, place, missing)
    other = field.get("other", OTHER)
    if not isinstance(other, str) or not other or axis.place(other) is not None:
        raise ValueError(
            refusal(f"{place}.other", "be a text that is not a letter of the column", other)
            + " It names the letter for all other cells."
        )
    parents = field.get("parents")
    if parents is not None:
        is_list = isinstance(parents, Sequence) and not isinstance(parents, str)
        if not is_list or not all(isinstance(parent, str) for parent in parents):
            raise wrong(f"{place}.parents", "be a list of columns", parents)
        parents = tuple(parents)
    outside = _outside(field, axis, place) if "outside" in field else None
    return Field(name=name, axis=axis, parents=parents, other=other, kind=kind, outside=outside)


def _read(
    axis: Axis, field: Mapping[str, Any], kind: str, place: str, missing: frozenset[str]
) -> Axis:
    """Return the letters, and how cells of the type are read; missing cells are in no bin."""
    read = _declared(place, lambda: axis.read_as(_reading(field, kind, place, axis)))
    if isinstance(read, Bins):
        numbers = {read.reading.number(text) for text in missing} - {None}
        return replace(read, missing=tuple(sorted(float(number or 0) for number in numbers)))
    both = sorted(text for text in missing if read.place(text) is not None)
    if both:
        raise wrong(f"{place}.categories", "not also be missing values", both[0])
    return read


def _reading(field: Mapping[str, Any], kind: str, place: str, axis: Axis) -> Reading:
    if "as" in field:
        one_of(f"{place}.as", field["as"], (TEXT, LOWER))
        if kind != "string":
            raise wrong(f"{place}.as", "be left out for other types than string", field["as"])
        return Reading(kind=field["as"])
    for key in ("trueValues", "falseValues"):
        if key in field:
            raise wrong(f"{place}.{key}", "be left out: list the values as categories", field[key])
    if kind in {"integer", "number"}:
        return Reading(
            kind=NUMBER if isinstance(axis, Bins) else INTEGER,
            decimal=field.get("decimalChar", "."),
            thousands=field.get("groupChar", ""),
        )
    if kind in _PERIODS:
        form = field.get("format", "default")
        shown = "YYYY-MM-DD" if form == "default" else form
        if not isinstance(shown, str):
            raise wrong(f"{place}.format", "be a text", form)
        shown = re.sub("%[Ymd]", lambda part: _FORMATS[part[0]], shown)
        return Reading(kind=_PERIODS[kind], format=shown)
    return Reading(kind=LOWER) if kind == "boolean" else Reading()


def _outside(field: Mapping[str, Any], axis: Axis, place: str) -> int:
    """Return the place of the letter that every cell outside counts as."""
    found = axis.place(field["outside"])
    if found is None:
        raise ValueError(
            refusal(f"{place}.outside", "be a value of the column", field["outside"])
            + " Every cell outside counts as it."
        )
    if axis.listed < 2:
        raise wrong(place, "have two letters or more beside 'outside'", axis.listed)
    return found


def _axis(field: Mapping[str, Any], kind: str, place: str) -> Axis:
    """Return the letters that a field declares, in one way only."""
    constraints = field.get("constraints", {})
    if not isinstance(constraints, Mapping):
        raise wrong(f"{place}.constraints", "be an object", constraints)
    bounds = {"minimum", "maximum"} & set(constraints)
    ways = [way for way in ("categories", "bins") if way in field]
    ways += ["enum"] if "enum" in constraints else []
    if not ways and kind == "boolean":
        return Letters((False, True), is_open=True)
    if not ways and kind in {"integer", *_PERIODS} and len(bounds) == 2:
        low, high = constraints["minimum"], constraints["maximum"]
        if kind in {"date", "yearmonth"}:
            listed = lambda: PeriodRange(periods(low, high, kind), is_open=True)  # noqa: E731
            return _declared(f"{place}.constraints", listed)
        return _declared(f"{place}.constraints", lambda: _open_range(low, high))
    if len(ways) != 1:
        raise ValueError(
            f"{place} must declare its letters in one way, got {' and '.join(ways) or 'none'}."
            f" Ways are {_DOMAINS}; a column is never described by its data."
        )
    (way,) = ways
    if way == "bins":
        if kind not in {"integer", "number", "year"}:
            raise wrong(f"{place}.bins", "have type integer or number", kind)
        edges = field["bins"]
        return _declared(f"{place}.bins", lambda: Bins(Bins.of(edges).edges, is_open=True))
    values = field["categories"] if way == "categories" else constraints["enum"]
    where = f"{place}.{'categories' if way == 'categories' else 'constraints.enum'}"
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise wrong(where, "be a list", values)
    letters = [_value(value, kind, where) for value in values]
    return _declared(where, lambda: Letters(Letters.of(letters).letters, is_open=True))


def _open_range(low: Any, high: Any) -> IntegerRange:
    if any(isinstance(end, bool) or not isinstance(end, int) for end in (low, high)):
        raise ValueError("minimum and maximum must be integers.")
    spread = IntegerRange.of(low, high + 1)
    return IntegerRange(spread.start, spread.stop, is_open=True)


def _value(value: Any, kind: str, place: str) -> Letter:
    """Return the letter of a category, which may carry a label."""
    letter: Any = value.get("value") if isinstance(value, Mapping) else value
    wanted: Any = _WANTED.get(kind)
    if wanted is None:
        raise wrong(place, "not have type number: give bins", kind)
    if not isinstance(letter, wanted) or (wanted is int and isinstance(letter, bool)):
        raise wrong(place, f"have values of type {kind}", letter)
    found: Letter = letter
    return found


def _declared(place: str, make: Any) -> Axis:
    """Return what ``make`` makes; what it refuses is told with its place."""
    try:
        axis: Axis = make()
    except (TypeError, ValueError) as error:
        raise ValueError(f"{place}: {error}") from None
    return axis


def missing_of(schema: Mapping[str, Any], place: str) -> frozenset[str]:
    """Return the texts that stand for a missing cell."""
    values = schema.get("missingValues", [""])
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise wrong(f"{place}.missingValues", "be a list", values)
    texts: list[Any] = [
        value.get("value") if isinstance(value, Mapping) else value for value in values
    ]
    for text in texts:
        if not isinstance(text, str):
            raise wrong(f"{place}.missingValues", "be texts", text)
    return frozenset(texts)
