"""The public questions of the page: what samplers guarantee, and what they do to invented data.

Some are forecasts: how far a release may be from the data, before anything is charged.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dproo.analysis.certificate import certify
from dproo.analysis.planner import plan
from dproo.analysis.row_plan import HOPELESS, RowPlan, plan_row, table_noise
from dproo.core.checks import needing, one_of, refusal, whole
from dproo.core.numbers import parse_delta, parse_epsilon, percent, percent_below
from dproo.counting.fit import Column
from dproo.counting.sql.statements import TEXT
from dproo.ledger.rules import PERSON, RECORD
from dproo.mechanisms import (
    ADD_REMOVE,
    AUTO,
    REPLACE,
    SAMPLERS,
    BalancedRevealOrObscure,
    DataSpecificRevealOrObscure,
    choose,
    mechanism,
)
from dproo.mechanisms.registry import certified
from dproo.releases.discovery import DiscoveryRequest
from dproo.releases.open_value import OpenRequest
from dproo.releases.protection import Protection
from dproo.releases.request import A_RECORD, POOR, epsilon_warnings
from dproo.releases.table import FOUND, MOST
from dproo.report import (
    Fields,
    advised_object,
    certificate_object,
    curve,
    law_object,
    row_plan_object,
)
from dproo.study.distributions import shape
from dproo.synthesis.families import expected
from dproo.web.codebook import book_of, confirmed, preview
from dproo.web.folder import integer_of

PAINTED_LETTERS_MAX = 26
PAINTED_RECORDS_MAX = 10**6
DRAWS_MAX = 1000

_WHOLE = {"n", "k"}
_NAMES = {"n", "k", "epsilon", "alpha"}

PLAN_START = {"n": "1000", "k": "9", "epsilon": "0.1", "alpha": "0.05"}
"""The first parameters of Plan."""

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
    is_printed = one_of("as_printed", options.pop("as_printed", "0"), ("0", "1")) == "1"
    as_printed = {"as_printed": True} if is_printed else {}
    known = _parameters(options, "k")
    return certificate_object(certify(mechanism(name, **known, **as_printed)))


def tables_answer(fields: Fields) -> dict[str, Any]:
    """Return the certificates of DS-ROO's private and printed tables.

    Both datasets of the printed table's witness come with the probability of the letter that
    tells them apart, and with the entries of both tables.
    """
    known = _parameters(fields, "n", "k", "epsilon")
    private = DataSpecificRevealOrObscure(**known)
    printed = DataSpecificRevealOrObscure(**known, as_printed=True)
    certificate = certify(printed)
    witness = certificate.witness
    letters, both = witness.letters, (witness.before, witness.after)
    return {
        "private_certificate": certificate_object(certify(private)),
        "printed_certificate": certificate_object(certificate),
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
        known[name] = integer_of(name, text) if name in _WHOLE else text
    return known


LEVELS = {"good": POOR / 2, "fair": POOR, "poor": HOPELESS, "hopeless": Fraction(2)}
"""Words for how far a release may be from the data, each for shares below this one."""

_VALUES = 10
"""The assumed number of values of a column before they are found."""

_MOST_COLUMNS = 1000
_ALL = ("n", "epsilon", "neighbours", "records_per_person", "unit")


def row_plan(form: Fields) -> dict[str, Any]:
    """Return what a row costs, column by column, and how far it can be from the data."""
    known = _numbers(form, "codebook", "network")
    answer = plan_row(book_of(confirmed(form)), **known, is_searched=False)
    shown = row_plan_object(answer)
    del shown["parents"]  # not searched for
    return shown | _forecast(form, answer.alpha, _row_sentence(form, answer), _row_limits(answer))


def table_plan(form: Fields) -> dict[str, Any]:
    """Return about how far noise moves the counts of a private table."""
    known = _numbers(form, "codebook", "network")
    book = book_of(confirmed(form))
    return _table(form, table_noise(book, **known), columns=len(book.columns))


def found_plan(form: Fields) -> dict[str, Any]:
    """Return the same of a table whose values are found first, and which of them are."""
    known = _numbers(form, "columns", "delta")
    columns = whole(
        "columns", integer_of("columns", form.get("columns")), at_least=1, at_most=_MOST_COLUMNS
    )
    epsilon = parse_epsilon(known["epsilon"])
    discovery = DiscoveryRequest(
        known=tuple(Column(name=str(i), kind=TEXT, type_name="") for i in range(columns)),
        epsilon=epsilon * FOUND,
        delta=parse_delta(form.get("delta")) / 2,
        protection=_protection(form, known),
        most=MOST[0],
    )
    share = expected(
        [_VALUES] * columns,
        epsilon=float(epsilon * (1 - FOUND)),
        records=known["n"],
        changed=discovery.protection.changes,
    )
    accuracy = discovery.accuracy
    table = _table(form, share, columns=columns, given=f", if each has about {_VALUES} values")
    lost = Fraction(min(discovery.text_rule.half, known["n"]), known["n"])
    return _forecast(form, max(Fraction(share), lost), "") | {
        "sentence": table["sentence"],
        "limits": f"{accuracy[0].upper()}{accuracy[1:]}. {table['limits']}".strip(),
    }


def value_plan(form: Fields) -> dict[str, Any]:
    """Return how far one value can be from a random record's."""
    known = _numbers(form, "k", "sampler", "delta")
    if form.get("delta"):
        return _open_plan(form, known)
    k = whole("k", integer_of("k", form.get("k")), at_least=2)
    name = one_of("sampler", form.get("sampler") or AUTO, (AUTO, *SAMPLERS))
    epsilon, people = parse_epsilon(known.pop("epsilon")), known.pop("records_per_person")
    if name == AUTO:
        public = known | ({} if known["neighbours"] == REPLACE else {"n": None})
        name = choose(epsilon=epsilon, k=k, records_per_person=people, **public).sampler
    alpha = certified(SAMPLERS[name], epsilon, people, k=k, **known).worst_alpha
    sentence = f"at most {percent(alpha)} of draws differ from a random {_one(form)}'s."
    return _forecast(form, alpha, sentence)


def _open_plan(form: Fields, known: dict[str, Any]) -> dict[str, Any]:
    """Return from which count on an open value is drawn."""
    sampler = OpenRequest(
        epsilon=parse_epsilon(known["epsilon"]),
        delta=parse_delta(form.get("delta")),
        protection=_protection(form, known),
    ).sampler_for(known["n"])
    n = known["n"]
    rare, obscured = Fraction(min(sampler.proportional, n), n), sampler.obscured(n)
    sentence = (
        f"a value that {sampler.proportional:,} {_several(form)} share is drawn in proportion, one"
        f" of fewer than {sampler.first:,} never; 'other' takes at least"
        f" {percent_below(obscured)} of every value's share."
    )
    return _forecast(form, max(rare, obscured), sentence)


def _numbers(form: Fields, *own: str) -> dict[str, Any]:
    """Return the parameters of a forecast, with a network if that is among its own fields."""
    names = (*own, *_ALL)
    if set(form) - set(names):
        raise ValueError(f"request must be an object of {', '.join(names)}.")
    known = {
        "n": whole("n", integer_of("n", form.get("n")), at_least=1),
        "epsilon": form.get("epsilon", ""),
        "neighbours": one_of(
            "neighbours", form.get("neighbours") or REPLACE, (REPLACE, ADD_REMOVE)
        ),
        "records_per_person": whole(
            "records_per_person",
            integer_of("records_per_person", form.get("records_per_person") or "1"),
            at_least=1,
        ),
    }
    return known | ({"network": form.get("network") or "auto"} if "network" in own else {})


def _protection(form: Fields, known: dict[str, Any]) -> Protection:
    return Protection(
        neighbours=known["neighbours"],
        records=known["records_per_person"],
        person=PERSON if _counts_people(form) else None,
    )


def _counts_people(form: Fields) -> bool:
    """Return whether ``n`` is a number of people, of each of whom one record is counted."""
    unit = one_of("unit", form.get("unit") or RECORD, (RECORD, PERSON))
    return unit == PERSON and int(form.get("records_per_person") or "1") == 1


def _one(form: Fields) -> str:
    return "person" if _counts_people(form) else "record"


def _several(form: Fields) -> str:
    return "people" if _counts_people(form) else "records"


def _forecast(
    form: Fields, share: Fraction | None, sentence: str, limits: str = ""
) -> dict[str, Any]:
    """Return a share as a level from good to hopeless, with its sentence and warnings."""
    off = 1 if share is None else share
    level = next(level for level, most in LEVELS.items() if off < most)
    n = int(form["n"])
    counted = _one(form) if n == 1 else _several(form)
    given = f"With {n:,} {counted} at ε = {form['epsilon']},"
    is_of_a_person = form.get("unit") == PERSON or int(form.get("records_per_person") or "1") > 1
    whom = "one person" if is_of_a_person else A_RECORD
    warnings = epsilon_warnings(parse_epsilon(form["epsilon"]), whom=whom)
    if level in {"poor", "hopeless"}:
        warnings.append(f"Use more {_several(form)}, a larger ε, or fewer columns and values.")
    return {
        "level": level,
        "sentence": f"{given} {sentence}".replace(" %", "\u00a0%"),
        "limits": limits,
        "warnings": warnings,
    }


def _table(form: Fields, share: float, *, columns: int, given: str = "") -> dict[str, Any]:
    moved = "pairs of columns" if columns > 1 else "the column"
    off = percent(Fraction(share))
    sentence = f"noise moves the counts of {moved} by about {off} on average{given}."
    limits = "Dependencies that the model leaves out come on top." if columns > 1 else ""
    return _forecast(form, Fraction(share), sentence, limits)


def _row_sentence(form: Fields, answer: RowPlan) -> str:
    """Return how far a row can be from one drawn without privacy along the same network."""
    if answer.alpha is None:
        return (
            "no bound is known: a column depends on several columns that do not depend on each"
            " other."
        )
    exact = "rows drawn without privacy, with the same dependencies"
    if len(answer.columns) == 1:
        exact = f"a random {_one(form)}'s"
    return f"at most {percent(answer.alpha)} of rows differ from {exact}."


def _row_limits(answer: RowPlan) -> str:
    """Return that the bound omits how far the network itself is from the data."""
    if len(answer.columns) == 1:
        return ""
    source = "learned" if answer.network_epsilon else "declared"
    return f"Dependencies that are not {source} are lost; that is not counted here."


_PLANS: dict[str, Callable[[Fields], dict[str, Any]]] = {
    "row-plan": row_plan,
    "table-plan": table_plan,
    "found-plan": found_plan,
    "value-plan": value_plan,
}
_MOST_RECORDS = 10**12


def enough(form: Fields) -> dict[str, Any]:
    """Return from about how many records on a forecast would be fair, all else being equal."""
    options = dict(form)
    plan = _PLANS[one_of("plan", options.pop("plan", None), _PLANS)]

    def is_fair(n: int) -> bool:
        return plan(options | {"n": str(n)})["level"] in {"good", "fair"}

    power = 10
    while power < _MOST_RECORDS and not is_fair(power):
        power *= 10
    if not is_fair(power):
        return {"sentence": f"Not even {power:,} {_several(form)} would make it fair."}
    n = next((n for n in (power // 5, power // 2) if is_fair(n)), power)
    return {"sentence": f"From about {n:,} {_several(form)} on it would be fair."}


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
    **_PLANS,
    "enough": enough,
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
"""The first questions of Plan."""
