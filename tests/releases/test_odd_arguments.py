"""Any argument of any kind: a TypeError or a ValueError with a short sentence of ours."""

import json
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dproo
from dproo.core.checks import refusal, shown
from dproo.schema.axis import Bins


class Unwritable:
    """It refuses to be written."""

    def __repr__(self) -> str:
        raise RuntimeError


class UnwritableText(str):
    __slots__ = ()

    def __repr__(self) -> str:
        raise RuntimeError


LONG, LONGER = 10**400, 10**5000
ODD = [
    *(LONG, -LONG, LONGER, -LONGER, Fraction(LONGER, 3), Fraction(1, LONGER), [LONGER, 1], {1: 2}),
    *(1.5, -1, float("nan"), float("inf"), Decimal("sNaN"), "x", "9" * 5000, b"x", None, True),
    *([], [[1]], Unwritable(), [Unwritable()], UnwritableText("x"), np.array([1.5]), 1j),
]
BOOK = {
    "schema": {
        "fields": [
            {"name": name, "type": "string", "categories": ["a", "b"]} for name in ("w", "v")
        ]
    }
}
ROWS = [{"w": "a", "v": "b"}] * 60
ROO = dproo.mechanism("roo", epsilon=1, n=10, k=3)
MODEL = dproo.open(ROWS).synthesize(BOOK, epsilon=1)
RECEIPT = {**MODEL.receipt.as_dict(), "model": MODEL.kept}
KNOWN = {"n": 10, "k": 3, "epsilon": 1}

CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "plan": (dproo.plan, KNOWN),
    "limit": (dproo.limit, KNOWN),
    "compose": (dproo.compose, {"mechanism": ROO, "releases": 5, "delta": "1e-6"}),
    "mechanism": (dproo.mechanism, {"name": "roo", **KNOWN}),
    "accuracy": (dproo.accuracy, {"mechanism": ROO, "p": ["0.5", "0.25", "0.25"]}),
    "compare": (
        lambda **given: dproo.compare(trials=40, **given),
        {"n": 10, "k": 2, "epsilon": 1, "p": ["0.5", "0.5"]},
    ),
    "audit": (
        lambda **given: dproo.audit(lambda _: 1, [1], [2], **given),
        {"trials": 1000, "confidence": "0.9", "epsilon": 1, "delta": 0, "distance": 1},
    ),
    "certify": (dproo.certify, {"mechanism": ROO}),
    "alpha_of": (dproo.alpha_of, {"q": "0.1", "k": 3}),
    "epsilon_of": (dproo.epsilon_of, {"q": "0.1", "n": 10, "k": 3}),
    "Counts": (dproo.Counts, {"runs": [(1, 2)]}),
    "Counts.of": (dproo.Counts.of, {"counts": [1, 2]}),
    "Alphabet.of": (dproo.Alphabet.of, {"letters": ["a", "b"]}),
    "Alphabet.records": (dproo.Alphabet.of(["a"]).records, {"indices": [0, 1]}),
    "Alphabet.integers": (dproo.Alphabet.integers, {"start": 0, "stop": 9}),
    "Alphabet.bins": (dproo.Alphabet.bins, {"edges": [0, 9]}),
    "one bin": (lambda edge: dproo.Alphabet.bins([0, edge]), {"edge": 9}),
    "CodeBook.of": (dproo.CodeBook.of, {"book": BOOK}),
    "Groups": (dproo.Groups, {"by": "w", "groups": ["a"]}),
    "Protection": (dproo.Protection, {"neighbours": "replace", "person": "p", "records": 1}),
    "Charge": (dproo.Charge, {"purpose": "p", "operator": "o"}),
    "Layout": (dproo.Layout, {"skip_rows": 1, "comment": "#", "delimiter": ";", "encoding": None}),
    "Reading": (dproo.Reading, {"kind": "number", "decimal": ",", "thousands": "."}),
    "open": (lambda **given: dproo.open(ROWS, **given), {"person": None, "table": None}),
    "check": (dproo.open(ROWS).check, {"what": "w", "letters": ["a"], "cell": "a"}),
    "value": (
        dproo.open(ROWS).value,
        {"column": "w", "letters": ["a"], "epsilon": 1, "sampler": "roo"},
    ),
    "open value": (
        lambda **given: dproo.open(ROWS * 9).value("w", "open", epsilon=1, **given),
        {"delta": "1e-6", "minimum_people": 3},
    ),
    "values": (dproo.open(ROWS).values, {"column": "w", "letters": ["a"], "size": 1, "epsilon": 1}),
    "row": (
        dproo.open(ROWS).row,
        {
            "codebook": BOOK,
            "epsilon": 1,
            "shares": {"w": "0.5", "v": "0.5"},
            "network": "independent",
        },
    ),
    "a share": (
        lambda share: dproo.open(ROWS).row(
            BOOK, epsilon=1, network="independent", shares={"w": share, "v": "0.5"}
        ),
        {"share": "0.5"},
    ),
    "synthesize": (
        dproo.open(ROWS).synthesize,
        {"codebook": BOOK, "epsilon": 1, "network": "auto"},
    ),
    "draw_many": (ROO.draw_many, {"counts": [5, 3, 2], "size": 3}),
    "draw": (ROO.draw, {"counts": [5, 3, 2]}),
    "a count": (lambda count: ROO.pmf([count, 3, 2]), {"count": 5}),
    "Model.rows": (MODEL.rows, {"size": 3, "seed": 1}),
    "Model.counts": (lambda name: MODEL.counts("w", name), {"name": "v"}),
    "Model.of_receipt": (dproo.Model.of_receipt, {"receipt": RECEIPT}),
}


@pytest.mark.parametrize(
    ("call", "name"), [(call, name) for call, (_, given) in CALLS.items() for name in given]
)
def test_odd_arguments_are_refused_in_a_short_sentence(call: str, name: str) -> None:
    function, given = CALLS[call]
    for odd in ODD:
        try:
            function(**{**given, name: odd})
        except (TypeError, ValueError, dproo.ReleaseError) as refused:
            text = str(refused)
            assert "set_int_max_str_digits" not in text, shown(odd)
            assert len(text) < 600, shown(odd)


@pytest.mark.parametrize("call", CALLS)
def test_what_is_not_odd_is_accepted(call: str) -> None:
    function, given = CALLS[call]
    function(**given)


@pytest.mark.parametrize("digits", [17, 309, 310, 4000, 4301, 9000])
@pytest.mark.parametrize("sign", [1, -1])
def test_an_edge_of_many_digits_is_refused_like_any_other(digits, sign, tmp_path) -> None:
    edge = sign * 10 ** (digits - 1) * 9
    with pytest.raises(ValueError, match=r"^edge must be finite and, if an integer, from -2\^53"):
        Bins.of(sorted([0, edge]))
    field = {"name": "w", "type": "integer", "bins": sorted([0, edge])}
    with pytest.raises(ValueError, match="edge must be finite") as refused:
        dproo.CodeBook.of({"schema": {"fields": [field]}})
    assert len(str(refused.value)) < 200
    if digits <= 4000:  # Python cannot write, nor read, much longer ones
        path = tmp_path / "book.json"
        path.write_text(json.dumps({"schema": {"fields": [field]}}))
        with pytest.raises(ValueError, match="edge must be finite"):
            dproo.CodeBook.of(path)


def test_an_integer_of_a_file_that_python_does_not_read_is_refused(tmp_path) -> None:
    path = tmp_path / "book.json"
    path.write_text('{"schema": {"fields": [{"name": "w", "bins": [0, %s]}]}}' % ("9" * 5000))
    with pytest.raises(ValueError, match=r"^codebook must ") as refused:
        dproo.CodeBook.of(path)
    assert "set_int_max_str_digits" not in str(refused.value)


def test_numbers_are_shown_as_one_writes_them() -> None:
    assert shown(Fraction(1200)) == "1200"
    assert shown(Fraction(10**20)) == "1e20"
    assert shown(Fraction(-1, 8)) == "-0.125"
    assert shown(Fraction(1, 3)) == "about 0.333333333333"
    assert shown(Fraction(1, 3 * 10**30)) == "about 3.33333333333e-31"
    assert shown(Decimal("0.10")) == "0.10"
    assert shown((Fraction(1, 2), 3)) == "(0.5, 3)"
    assert shown(LONGER) == "an integer of about 5,001 digits"
    assert shown(Unwritable()).startswith("<Unwritable instance at")
    assert refusal("k", "be text", UnwritableText("x")).startswith("k must be text, got ")
