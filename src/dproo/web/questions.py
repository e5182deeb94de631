"""The public questions of the page: what samplers guarantee, and do to invented data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, log10
from typing import Any

from dproo.analysis.certificate import certify
from dproo.analysis.planner import plan, planned
from dproo.core.checks import one_of, refusal, whole
from dproo.core.numbers import parse_epsilon
from dproo.mechanisms import SAMPLERS, DataSpecificRevealOrObscure, mechanism
from dproo.report import (
    advised_object,
    certificate_object,
    law_object,
    plan_object,
    table_object,
)
from dproo.study.distributions import shape
from dproo.web.codebook import preview
from dproo.web.forecasts import found_plan, row_plan, table_plan, value_plan

PAINTED_LETTERS_MAX = 26
PAINTED_RECORDS_MAX = 10**6
DRAWS_MAX = 1000

_TABLE_MAX = 400
_WHOLE = {"n", "k"}
_NAMES = {"n", "k", "epsilon", "alpha"}

Fields = Mapping[str, Any]


def plan_answer(fields: Fields) -> dict[str, Any]:
    """Return every sampler's answer, and which one to use."""
    known = _parameters(fields)
    answer = plan(**known)
    return advised_object(answer, known)


def curve_answer(fields: Fields) -> dict[str, Any]:
    """Return the answers over a range of epsilon."""
    options = dict(fields)
    part = {name: options.pop(name, None) for name in ("sampler", "decade")}
    return curve(**part, **_parameters(options, "epsilon"))


def certify_answer(fields: Fields) -> dict[str, Any]:
    """Return the worst ratio of a sampler, and where it is reached."""
    options = dict(fields)
    name = options.pop("sampler", "")
    as_printed = {"as_printed": True} if options.pop("as_printed", "") else {}
    known = _parameters(options, "k")
    return certificate_object(certify(mechanism(name, **known, **as_printed)))


def tables_answer(fields: Fields) -> dict[str, Any]:
    """Return DS-ROO's private and printed tables, and the printed one's effect on its witness."""
    known = _parameters(fields, "n", "k", "epsilon")
    private = DataSpecificRevealOrObscure(**known)
    printed = DataSpecificRevealOrObscure(**known, as_printed=True)
    found = certify(printed)
    witness = found.witness
    before, after = (
        float(printed.probability(counts, witness.letters))
        for counts in (witness.before, witness.after)
    )
    return {
        "private": table_object(private, most=_TABLE_MAX),
        "printed": table_object(printed, most=_TABLE_MAX),
        "private_certificate": certificate_object(certify(private)),
        "printed_certificate": certificate_object(found),
        "probability": {"before": before, "after": after},
    }


def shape_answer(fields: Fields) -> dict[str, Any]:
    """Return the counts of a named shape: each letter's share of n records, rounded."""
    options = dict(fields)
    name = options.pop("name", "")
    known = _parameters(options, "n", "k")
    n = whole("n", known["n"], at_least=1, at_most=PAINTED_RECORDS_MAX)
    k = whole("k", known["k"], at_least=2, at_most=PAINTED_LETTERS_MAX)
    try:
        shares = shape(name, k=k).shares
    except ModuleNotFoundError:
        raise ValueError(
            "scipy must be installed for this shape: pip install 'dproo[accuracy]'."
        ) from None
    return {"counts": [round(share * n) for share in shares]}


def law_answer(fields: Fields) -> dict[str, Any]:
    """Return the law of every sampler on painted counts, or why it refuses them."""
    counts, known = _painted(fields)
    laws = []
    for name, sampler in SAMPLERS.items():
        try:
            laws.append(law_object(sampler(**known), counts))
        except (TypeError, ValueError) as error:
            laws.append({"sampler": name, "error": str(error)})
    return {"n": known["n"], "laws": laws}


def draws_answer(fields: Fields) -> dict[str, Any]:
    """Return independent draws on painted counts."""
    counts, known = _painted(fields)
    size = whole("size", fields.get("size"), at_least=1, at_most=DRAWS_MAX)
    sampler = SAMPLERS[one_of("sampler", fields.get("sampler"), SAMPLERS)]
    return {"letters": sampler(**known).draw_many(counts, size)}


def _painted(fields: Fields) -> tuple[list[int], dict[str, Any]]:
    """Return the painted counts, and the parameters that follow from them."""
    counts = fields.get("counts")
    if not isinstance(counts, list):
        raise TypeError(refusal("counts", "be a list", counts))
    whole("k", len(counts), at_least=2, at_most=PAINTED_LETTERS_MAX)
    counts = [whole("counts", count, at_least=0) for count in counts]
    n = whole("n", sum(counts), at_least=1, at_most=PAINTED_RECORDS_MAX)
    return counts, {"n": n, "k": len(counts), "epsilon": parse_epsilon(fields.get("epsilon"))}


def _parameters(fields: Fields, *required: str) -> dict[str, Any]:
    """Return the parameters in the query of an address."""
    for name in required:
        if name not in fields:
            raise ValueError(f"{name} must be given.")
    known: dict[str, Any] = {}
    for name, text in fields.items():
        if name not in _NAMES:
            raise ValueError(refusal("parameter", f"be one of {', '.join(sorted(_NAMES))}", name))
        if name in _WHOLE:
            try:
                known[name] = int(text)
            except ValueError:
                raise ValueError(refusal(name, "be an integer", text)) from None
        else:
            known[name] = text
    return known


BY_ADDRESS: dict[str, Callable[[Fields], dict[str, Any]]] = {
    "plan": plan_answer,
    "curve": curve_answer,
    "certify": certify_answer,
    "tables": tables_answer,
    "shape": shape_answer,
}
BY_OBJECT: dict[str, Callable[[Fields], dict[str, Any]]] = {
    "law": law_answer,
    "draws": draws_answer,
    "codebook": preview,
    "row-plan": row_plan,
    "table-plan": table_plan,
    "found-plan": found_plan,
    "value-plan": value_plan,
}
ANSWERS = BY_ADDRESS | BY_OBJECT
"""Every public question, by name."""


_PER_DECADE = 8
_LOW, _HIGH = -2, 1
_LOWEST, _HIGHEST = -4, 2


def curve(
    *, epsilon: str, sampler: str | None = None, decade: str | None = None, **known: Any
) -> dict[str, Any]:
    """Return every sampler's answer for epsilons around the given one, evenly on a log scale.

    Args:
        epsilon: an epsilon that the range must include.
        sampler: the sampler; by default all that have a closed form, as a curve has many
            points.
        decade: the power of ten at which the part to compute begins; by default the whole
            range. A sampler without a closed form takes a while for each point.
        known: two of n, k and alpha; the other one is solved for.

    >>> found = curve(epsilon="0.1", n=1000, k=9)
    >>> found["solved_for"], found["epsilon"][0], found["epsilon"][-1]
    ('alpha', 0.01, 10.0)
    """
    decades = log10(parse_epsilon(epsilon))
    if not _LOWEST <= decades <= _HIGHEST:
        raise ValueError(refusal("epsilon", "be between 0.0001 and 100 for a chart", epsilon))
    low, high = min(_LOW, floor(decades)), max(_HIGH, ceil(decades))
    if decade is not None:
        low = int(one_of("decade", decade, map(str, range(low, high))))
        high = low + 1
    asked = () if sampler is None else (one_of("sampler", sampler, planned()),)
    return _curve(low, high, asked, tuple(sorted(known.items())))


@lru_cache(maxsize=64)
def _curve(
    low: int, high: int, asked: tuple[str, ...], known: tuple[tuple[str, Any], ...]
) -> dict[str, Any]:
    steps = range(low * _PER_DECADE, high * _PER_DECADE + 1)
    epsilons = [Fraction(f"{10 ** (step / _PER_DECADE):.3g}") for step in steps]
    given = dict(known)
    samplers = asked or planned(is_closed_form=True)
    answers = [
        plan_object(plan(epsilon=epsilon, samplers=samplers, **given), given)
        for epsilon in epsilons
    ]
    solved_for = answers[0]["solved_for"]
    shown = [row["sampler"] for row in answers[0]["rows"]]
    return {
        "solved_for": solved_for,
        "given": answers[0]["given"],
        "epsilon": [float(epsilon) for epsilon in epsilons],
        "series": {
            sampler: [answer["rows"][i][solved_for] for answer in answers]
            for i, sampler in enumerate(shown)
        },
        "limit": [answer["limit"] for answer in answers],
    }
