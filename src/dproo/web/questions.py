"""The public questions of the page: what samplers guarantee, and do to invented data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dproo.analysis.certificate import certify
from dproo.analysis.planner import plan
from dproo.core.checks import needing, one_of, refusal, whole
from dproo.core.numbers import parse_epsilon
from dproo.mechanisms import (
    SAMPLERS,
    BalancedRevealOrObscure,
    DataSpecificRevealOrObscure,
    mechanism,
)
from dproo.report import (
    Fields,
    advised_object,
    certificate_object,
    curve,
    law_object,
)
from dproo.study.distributions import shape
from dproo.web.codebook import preview
from dproo.web.forecasts import found_plan, row_plan, table_plan, value_plan

PAINTED_LETTERS_MAX = 26
PAINTED_RECORDS_MAX = 10**6
DRAWS_MAX = 1000

_WHOLE = {"n", "k"}
_NAMES = {"n", "k", "epsilon", "alpha"}

PLAN_START = {"n": "1000", "k": "9", "epsilon": "0.1", "alpha": "0.05"}
"""What Plan begins with."""

BOUND = BalancedRevealOrObscure.name
"""The sampler whose curve Plan asks for decade by decade."""


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
    """Return what the certificate finds on DS-ROO's private and printed tables.

    Both datasets of the printed table's witness come with the probability of the letter that
    tells them apart, and with the entry of either table.
    """
    known = _parameters(fields, "n", "k", "epsilon")
    private = DataSpecificRevealOrObscure(**known)
    printed = DataSpecificRevealOrObscure(**known, as_printed=True)
    found = certify(printed)
    letters, both = found.witness.letters, (found.witness.before, found.witness.after)
    return {
        "private_certificate": certificate_object(certify(private)),
        "printed_certificate": certificate_object(found),
        "probability": [float(printed.probability(counts, letters)) for counts in both],
        "private": [float(private.q(counts.smallest)) for counts in both],
        "printed": [float(printed.q(counts.smallest)) for counts in both],
    }


def shape_answer(fields: Fields) -> dict[str, Any]:
    """Return the counts of a named shape: each letter's share of n records, rounded."""
    options = dict(fields)
    name = options.pop("name", "")
    known = _parameters(options, "n", "k")
    n = whole("n", known["n"], at_least=1, at_most=PAINTED_RECORDS_MAX)
    k = whole("k", known["k"], at_least=2, at_most=PAINTED_LETTERS_MAX)
    with needing("scipy", extra="accuracy"):
        shares = shape(name, k=k).shares
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

_CURVE = {name: text for name, text in PLAN_START.items() if name != "alpha"}
FIRST: tuple[tuple[str, Fields], ...] = (
    ("curve", _CURVE),
    ("plan", _CURVE),
    *(("curve", _CURVE | {"sampler": BOUND, "decade": str(decade)}) for decade in (-2, -1, 0)),
    *(
        ("plan", {name: text for name, text in PLAN_START.items() if name != solved})
        for solved in ("n", "epsilon")
    ),
)
"""What Plan asks first."""
