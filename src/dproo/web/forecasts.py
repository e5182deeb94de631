"""Forecasts on the page: how far a release may be from the data, before anything is charged."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dproo.analysis.row_plan import HOPELESS, RowPlan, plan_row, table_noise
from dproo.core.checks import one_of, refusal, whole
from dproo.core.numbers import parse_delta, parse_epsilon, percent
from dproo.counting.fit import Column
from dproo.counting.sql.query import TEXT
from dproo.mechanisms import ADD_REMOVE, AUTO, REPLACE, mechanism
from dproo.releases.discovery import DiscoveryRequest
from dproo.releases.open_value import OpenRequest
from dproo.releases.protection import Protection
from dproo.releases.request import POOR, epsilon_warnings
from dproo.releases.table import FOUND
from dproo.report import Fields, row_plan_object
from dproo.synthesis.families import expected
from dproo.web.codebook import book_of, confirmed

LEVELS = {"good": POOR / 2, "fair": POOR, "poor": HOPELESS, "hopeless": Fraction(2)}
"""Words for how far a release may be from the data, each below this share."""

_VALUES = 10
"""How many values a column is taken to have before they are found."""

_MOST_COLUMNS = 1000
_LONGEST = 15
_ALL = ("n", "epsilon", "neighbours")


def row_plan(form: Fields) -> dict[str, Any]:
    """Return what a row costs, column by column, and how far it can be from the data."""
    known = _numbers(form, "codebook", "network")
    answer = plan_row(book_of(confirmed(form)), **known, is_searched=False)
    shown = row_plan_object(answer)
    del shown["parents"]  # not searched for
    return shown | _forecast(form, answer.alpha, _row_sentence(answer), _row_limits(answer))


def table_plan(form: Fields) -> dict[str, Any]:
    """Return about how far noise moves the counts of a private table."""
    known = _numbers(form, "codebook", "network")
    book = book_of(confirmed(form))
    return _table(form, table_noise(book, **known), columns=len(book.columns))


def found_plan(form: Fields) -> dict[str, Any]:
    """Return the same of a table whose values are found first, and which of them are."""
    known = _numbers(form, "columns", "delta")
    columns = whole("columns", _whole("columns", form), at_least=1, at_most=_MOST_COLUMNS)
    epsilon = parse_epsilon(known["epsilon"])
    discovery = DiscoveryRequest(
        known=tuple(Column(name=str(i), kind=TEXT, type_name="") for i in range(columns)),
        epsilon=epsilon * FOUND,
        delta=parse_delta(form.get("delta")) / 2,
        protection=Protection(neighbours=known["neighbours"]),
    )
    share = expected(
        [_VALUES] * columns,
        epsilon=float(epsilon * (1 - FOUND)),
        records=known["n"],
        changed=2 if known["neighbours"] == REPLACE else 1,
    )
    found = discovery.accuracy
    shown = _table(form, share, columns=columns, given=f", if each has about {_VALUES} values")
    lost = Fraction(min(discovery.text_rule.half, known["n"]), known["n"])
    return _forecast(form, max(Fraction(share), lost), "") | {
        "sentence": shown["sentence"],
        "limits": f"{found[0].upper()}{found[1:]}. {shown['limits']}".strip(),
    }


def value_plan(form: Fields) -> dict[str, Any]:
    """Return how far one value can be from a random record's."""
    known = _numbers(form, "k", "sampler", "delta")
    if form.get("delta"):
        return _open_plan(form, known)
    alpha = mechanism(form.get("sampler") or AUTO, k=_whole("k", form), **known).worst_alpha
    sentence = f"at most {percent(alpha)} of draws differ from a random record's."
    return _forecast(form, alpha, sentence)


def _open_plan(form: Fields, known: dict[str, Any]) -> dict[str, Any]:
    """Return from which count on a value is found, where nobody lists them."""
    sampler = OpenRequest(
        epsilon=parse_epsilon(known["epsilon"]),
        delta=parse_delta(form.get("delta")),
        protection=Protection(neighbours=known["neighbours"]),
    ).sampler_for(known["n"])
    lost = Fraction(min(sampler.proportional, known["n"]), known["n"])
    sentence = (
        f"a value that {sampler.proportional:,} records share is drawn in proportion, one of fewer"
        f" than {sampler.first:,} never."
    )
    return _forecast(form, lost, sentence)


def _numbers(form: Fields, *own: str) -> dict[str, Any]:
    """Return what every forecast takes, as numbers; a network only where one is asked for."""
    names = (*own, *_ALL)
    if set(form) - set(names):
        raise ValueError(f"request must be an object of {', '.join(names)}.")
    known = {
        "n": whole("n", _whole("n", form), at_least=1),
        "epsilon": form.get("epsilon", ""),
        "neighbours": one_of(
            "neighbours", form.get("neighbours") or REPLACE, (REPLACE, ADD_REMOVE)
        ),
    }
    return known | ({"network": form.get("network") or "auto"} if "network" in own else {})


def _whole(name: str, form: Fields) -> int:
    text = form.get(name)
    if not (isinstance(text, str) and text.isascii() and text.isdigit() and len(text) <= _LONGEST):
        raise ValueError(refusal(name, "be an integer", text))
    return int(text)


def _forecast(
    form: Fields, share: Fraction | None, sentence: str, limits: str = ""
) -> dict[str, Any]:
    """Return a share in words, from good to hopeless, with what there is to say of it."""
    off = 1 if share is None else share
    level = next(level for level, most in LEVELS.items() if off < most)
    given = f"With {int(form['n']):,} records at ε = {form['epsilon']},"
    warnings = epsilon_warnings(parse_epsilon(form["epsilon"]))
    if level in {"poor", "hopeless"}:
        warnings.append("Use more records, a larger ε, or fewer columns and values.")
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


def _row_sentence(answer: RowPlan) -> str:
    """Return how far a row can be from one drawn without privacy along the same network."""
    if answer.alpha is None:
        return (
            "no bound is known: a column depends on several columns that do not depend on each"
            " other."
        )
    exact = "rows drawn without privacy, with the same dependencies"
    if len(answer.columns) == 1:
        exact = "a random record's"
    return f"at most {percent(answer.alpha)} of rows differ from {exact}."


def _row_limits(answer: RowPlan) -> str:
    """Return what the bound omits: how far the network itself is from the data."""
    if len(answer.columns) == 1:
        return ""
    source = "learned" if answer.network_epsilon else "declared"
    return f"Dependencies that are not {source} are lost; that is not counted here."
