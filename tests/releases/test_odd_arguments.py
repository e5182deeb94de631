"""Any argument of any kind: a TypeError or a ValueError with a short sentence of ours."""

import json
import secrets
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dproo
from dproo.core import checks
from dproo.core.checks import refusal, shown
from dproo.integrations.agent import Desk
from dproo.integrations.opendp import make_sampler
from dproo.ledger import (
    Database,
    Entry,
    Ledger,
    Limits,
    accept_restore,
    address_of,
    copy,
    install,
)
from dproo.schema.axis import Bins

pytestmark = pytest.mark.one_of(4)


class Unwritable:
    """It refuses to be written."""

    def __repr__(self) -> str:
        raise RuntimeError


class UnwritableText(str):
    __slots__ = ()

    def __repr__(self) -> str:
        raise RuntimeError


LONG, LONGER = 10**400, 10**5000
CIRCLE: dict[str, Any] = {}
CIRCLE["w"] = [CIRCLE]
DEEP: Any = "a"
for _ in range(5000):
    DEEP = {"w": [DEEP]}

ODD = [
    *(LONG, -LONG, LONGER, -LONGER, Fraction(LONGER, 3), Fraction(1, LONGER), [LONGER, 1], {1: 2}),
    *(1.5, -1, float("nan"), float("inf"), Decimal("sNaN"), "x", "9" * 5000, b"x", None, True),
    *(int, object(), (one for one in "ab"), "\ud800", -0.5, Decimal("NaN")),
    *([], [[1]], Unwritable(), [Unwritable()], UnwritableText("x"), np.array([1.5]), 1j),
    *(np.array(["a", "b"]), CIRCLE, [CIRCLE], DEEP, [DEEP]),
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
WEIGHED = dproo.Counts.of([5, 3, 2])
MODEL = dproo.open(ROWS).synthesize(BOOK, epsilon=1)
RECEIPT = {**MODEL.receipt.as_dict(), "model": MODEL.in_receipt}
KNOWN = {"n": 10, "k": 3, "epsilon": 1}

HERE: list[Path] = []


@pytest.fixture(autouse=True)
def here(tmp_path: Path) -> Iterator[None]:
    """Keep the ledgers of a test in its folder."""
    HERE.append(tmp_path)
    yield
    HERE.pop()


def with_ledger(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return a call of a new ledger in which one release was charged."""

    def made(**given: Any) -> Any:
        folder = HERE[-1] / secrets.token_hex(8)
        folder.mkdir(mode=0o700)
        ledger = Ledger.create(folder / "ledger.sqlite3")
        ledger.declare("patients", budget=1, neighbours="replace")
        entry = ledger.reserve("patients", epsilon="0.1", neighbours="replace")
        before = ledger.budget("patients").spent
        try:
            return call(ledger, entry, **given)
        except (TypeError, ValueError):
            assert ledger.budget("patients").spent == before
            raise
        finally:
            Ledger(ledger.path).verify()

    return made


CHARGED = {"dataset": "patients", "epsilon": "0.1", "neighbours": "replace"}
RULES = {
    "per_release": 1,
    "per_day": 1,
    "per_spender": 1,
    "until": "2099-12-31",
    "columns": ["w"],
    "codebook": "a" * 64,
    "approval_above": 1,
}
ON_LEDGERS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "Ledger": (
        with_ledger(
            lambda ledger, _, **given: Ledger(**{"path": ledger.path, **given}).reserve(**CHARGED)
        ),
        {"timeout": 30, "witness": None},
    ),
    "Ledger.create": (
        with_ledger(lambda ledger, _, **given: Ledger.create(ledger.path, **given)),
        {"timeout": 0, "witness": None},
    ),
    "declare": (
        with_ledger(lambda ledger, _, **given: ledger.declare(**given)),
        {
            "dataset": "people",
            "budget": 1,
            "neighbours": "replace",
            "records_per_person": 1,
            "unit": "record",
            "delta": 0,
            "limits": None,
        },
    ),
    "reserve": (
        with_ledger(lambda ledger, _, **given: ledger.reserve(**given)),
        {
            **CHARGED,
            "records_per_person": 1,
            "unit": "record",
            "request": {"columns": ["w"]},
            "delta": 0,
            "room": 100,
        },
    ),
    "record": (
        with_ledger(lambda ledger, entry, **given: ledger.record(**{"entry": entry, **given})),
        {"receipt": {"values": ["a"]}},
    ),
    "an entry": (
        with_ledger(lambda ledger, entry, odd: ledger.record(entry if odd is None else odd, {})),
        {"odd": None},
    ),
    "released": (
        with_ledger(
            lambda ledger, entry, number: (ledger.record(entry, {}), ledger.released(number))
        ),
        {"number": 2},
    ),
    "budget": (
        with_ledger(lambda ledger, _, dataset: ledger.budget(dataset)),
        {"dataset": "patients"},
    ),
    "verify": (
        with_ledger(lambda ledger, _, head: ledger.verify(expect_head=head)),
        {"head": None},
    ),
    "limited": (
        with_ledger(lambda ledger, _, limits: ledger.limited(limits).reserve(**CHARGED)),
        {"limits": Limits()},
    ),
    "Limits": (Limits, RULES),
    "Entry": (Entry, {"dataset": "a", "number": 1, "charge": 1, "hash": "a" * 64}),
    "opened with a ledger": (
        with_ledger(
            lambda ledger, _, **given: dproo.open(ROWS, **{"ledger": ledger, **given}).value(
                "w", ["a"], epsilon="0.1"
            )
        ),
        {"dataset": "patients"},
    ),
    "purpose": (
        with_ledger(
            lambda ledger, _, purpose: dproo.open(ROWS, ledger=ledger, dataset="patients").value(
                "w", ["a"], epsilon="0.1", purpose=purpose
            )
        ),
        {"purpose": None},
    ),
}
REFUSED_ANYWAY: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "install": (install, {"database": None}),
    "accept_restore": (
        with_ledger(lambda ledger, _, **given: accept_restore(**{"path": ledger.path, **given})),
        {"timeout": 30, "witness": None},
    ),
    "copy": (lambda source: copy(source, HERE[-1] / "copy.sqlite3"), {"source": None}),
    "a ledger's path": (Ledger, {"path": None}),
    "a new ledger's path": (
        lambda path: Ledger.create(HERE[-1] / path if isinstance(path, str) else path),
        {"path": None},
    ),
    "address_of": (address_of, {"ledger": None}),
    "Model.load": (dproo.Model.load, {"path": None}),
    "Alphabet.read": (dproo.Alphabet.read, {"path": None}),
    "import_codebook": (dproo.import_codebook, {"path": None}),
    "an agent's configuration": (Desk.of, {"config": None}),
    "OpenDP": (
        partial(make_sampler, epsilon=1),
        dict.fromkeys(("input_domain", "input_metric", "alphabet"), "x"),
    ),
    "Database": (Database, {"url": None}),
    "columns to find": (
        lambda columns: dproo.open(ROWS).synthesize(columns=columns, epsilon=1, delta="1e-6"),
        {"columns": None},
    ),
    "a column to find": (
        lambda column: dproo.open(ROWS).codebook(columns=[column], epsilon=1, delta="1e-6"),
        {"column": None},
    ),
}

CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "plan": (dproo.plan, KNOWN),
    "planned samplers": (
        lambda samplers: dproo.plan(k=3, n=10, epsilon=1, samplers=samplers),
        {"samplers": ["roo"]},
    ),
    "limit": (dproo.limit, KNOWN),
    "compose": (dproo.compose, {"mechanism": ROO, "releases": 5, "delta": "1e-6"}),
    "mechanism": (dproo.mechanism, {"name": "roo", **KNOWN}),
    "accuracy": (dproo.accuracy, {"mechanism": ROO, "p": ["0.5", "0.25", "0.25"]}),
    "compare": (
        lambda **given: dproo.compare(**{"trials": 40, **given}),
        {"n": 10, "k": 2, "epsilon": 1, "p": ["0.5", "0.5"], "trials": 40},
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
    "Counts.sparse": (dproo.Counts.sparse, {"seen": {0: 2}, "k": 3}),
    "Transition": (
        lambda **given: ROO.ratio(dproo.Transition(**given)),
        {"before": [5, 3, 2], "after": [4, 4, 2], "letters": (0,)},
    ),
    "ratio": (ROO.ratio, {"transition": dproo.Transition(WEIGHED, WEIGHED)}),
    "Alphabet.product": (dproo.Alphabet.product, {"columns": {"w": ["a"]}}),
    "read_as": (
        lambda **given: dproo.Alphabet.of(["2024-01-01"]).read_as(**given),
        {"kind": "date", "format": "DD.MM.YYYY"},
    ),
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
    "open": (
        lambda **given: dproo.open(ROWS, **given),
        {"person": None, "table": None, "layout": None},
    ),
    "check": (dproo.open(ROWS).check, {"what": "w", "letters": ["a"], "cell": "a"}),
    "value": (
        dproo.open(ROWS).value,
        {"column": "w", "letters": ["a"], "epsilon": 1, "sampler": "roo"},
    ),
    "open value": (
        lambda **given: dproo.open(ROWS * 9).value(letters="open", epsilon=1, **given),
        {"column": "w", "delta": "1e-6", "minimum_people": 3},
    ),
    "values": (
        dproo.open(ROWS).values,
        {"column": "w", "letters": ["a"], "size": 1, "epsilon": 1, "by": None},
    ),
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
    **ON_LEDGERS,
}


@pytest.mark.parametrize(
    ("call", "name"),
    [(call, name) for call, (_, given) in (CALLS | REFUSED_ANYWAY).items() for name in given],
)
def test_odd_arguments_are_refused_in_a_short_sentence(call: str, name: str) -> None:
    function, given = (CALLS | REFUSED_ANYWAY)[call]
    for odd in ODD:
        try:
            function(**{**given, name: odd})
        except (TypeError, ValueError, dproo.ReleaseError, dproo.LedgerError) as refused:
            text = str(refused)
            assert text.endswith((".", "?")), (shown(odd), text)  # Python's own sentences do not
            assert "set_int_max_str_digits" not in text, shown(odd)
            path = odd if isinstance(odd, str) and len(odd) > 1 else "no path"
            assert len(text.replace(path, "")) < 600, shown(odd)


@pytest.mark.parametrize(
    "call",
    [
        lambda: dproo.Alphabet.bins(range(10**18)),
        lambda: dproo.Alphabet.of(range(0, 10**18, 2)),
        lambda: ROO.draw(range(10**18)),
        lambda: dproo.compare(n=10**4, k=9, epsilon=1, p=[1] + [0] * 8, trials=10**30),
    ],
)
def test_more_than_can_be_done_is_refused(
    call: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "LISTED_MAX", 1000)  # sooner
    with pytest.raises(ValueError, match="must be at most"):
        call()


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


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("ready", [dict, lambda found: dproo.Counts.of([*found.values(), 0])])
def test_ready_counts_that_no_sampler_takes_are_refused_before_the_charge(
    neighbours: Any, ready: Callable[[dict[str, int]], Any], tmp_path: Path
) -> None:
    ledger = Ledger.create(tmp_path / "ledger.sqlite3")
    ledger.declare("patients", budget=1, neighbours=neighbours)
    charged: dict[str, Any] = {"ledger": ledger, "dataset": "patients", "neighbours": neighbours}
    for most in (2**80, 2**200):
        data = dproo.open(ready({"a": most, "b": 1}), **charged)
        with pytest.raises(ValueError, match=r"^counts must sum to at most 2\^80\.$"):
            data.value(None, ["a", "b"], epsilon="0.1")
    assert ledger.budget("patients").spent == 0
    dproo.open(ready({"a": 2**80 - 1, "b": 1}), **charged).value(None, ["a", "b"], epsilon="0.1")


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("ready", [dict, lambda found: dproo.Counts.of([*found.values(), 0])])
def test_more_ready_counts_than_can_be_dealt_are_refused_before_the_charge(
    neighbours: Any, ready: Callable[[dict[str, int]], Any], tmp_path: Path
) -> None:
    """What takes time for every record must not be charged and then never end."""
    ledger = Ledger.create(tmp_path / "ledger.sqlite3")
    ledger.declare("patients", budget=9, neighbours=neighbours)
    charged: dict[str, Any] = {"ledger": ledger, "dataset": "patients", "neighbours": neighbours}
    data = dproo.open(ready({"a": 2**60, "b": 1}), **charged)
    letters = dproo.Alphabet.of(["a", "b"])
    for size, sampler in ((2, "auto"), (3, "ls-roo"), (2, "bal-roo")):
        with pytest.raises(ValueError, match=r"^counts must sum to at most 17,179,869,184 where"):
            data.values(None, letters, size=size, sampler=sampler, epsilon="0.1")
    uniform = dproo.Alphabet.of(["a", "b", "c"], policy="uniform")
    with pytest.raises(ValueError, match=r"^counts must sum to at most 17,179,869,184 where"):
        data.value(None, uniform, epsilon="0.1")
    assert ledger.budget("patients").spent == 0
    assert len(data.values(None, letters, size=3, sampler="roo", epsilon="0.1").values) == 3
