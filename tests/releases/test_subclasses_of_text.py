"""A text or number of a subclass, whatever its methods do, acts as its own characters or value."""

from __future__ import annotations

import enum
import inspect
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import dproo
from dproo.core.checks import exact
from dproo.integrations import agent
from dproo.integrations.agent import Desk
from dproo.ledger import Entry, Ledger, Limits, accept_restore, address_of, copy
from dproo.schema.reading import Reading
from dproo.synthesis import model

pytestmark = pytest.mark.one_of(4)

REPLACE: dict[str, Any] = {"neighbours": "replace"}
CELLS = ["flu"] * 700 + ["cold"] * 300
RECORDS = [{"a": cell, "w": "x", "p": str(at)} for at, cell in enumerate(CELLS)]
FIELD = {"name": "a", "type": "string", "categories": ["flu", "cold"]}
BOOK = {"schema": {"fields": [FIELD, {"name": "w", "type": "string", "categories": ["x", "y"]}]}}
LETTERS = ["flu", "cold"]


def _lie(*_: object) -> Any:
    return "lie"


def _fail(*_: object, **__: object) -> Any:
    raise RuntimeError("a method of a subclass was called")


_KEPT = {"__new__", "__init__", "__class__", "__getattribute__", "__getnewargs__", "__doc__"}
_KEPT |= {"__init_subclass__", "__subclasshook__", "__setattr__", "__delattr__", "__dir__"}
_METHODS = {name: _fail for name in dir(str) if name not in _KEPT}

TEXTS: dict[str, Callable[[str], str]] = {
    "a member of an enumeration": lambda text: enum.Enum("Name", {"ONE": text}, type=str).ONE,  # type: ignore[attr-defined]
    "one that is written otherwise": type(
        "Written", (str,), dict.fromkeys(("__str__", "__repr__", "__format__"), _lie)
    ),
    "one that equals everything": type(
        "Equal", (str,), {"__eq__": lambda *_: True, "__hash__": lambda _: 1}
    ),
    "one that equals nothing": type(
        "Unequal", (str,), {"__eq__": lambda *_: False, "__hash__": lambda _: 1}
    ),
    "one of another length": type("Long", (str,), {"__len__": lambda _: 10**6}),
    "one of no length": type("Short", (str,), {"__len__": lambda _: 0}),
    "one that cannot be hashed": type("Unhashable", (str,), {"__hash__": _fail}),
    "one that can do nothing": type("Refusing", (str,), _METHODS),
}
Text = Callable[[str], Any]


def named(text: Text, parts: dict[str, Any]) -> dict[Any, Any]:
    """Return a dict with every name replaced, unless a dict could not hold it."""
    try:
        found = {text(name): part for name, part in parts.items()}
    except RuntimeError:
        return parts
    return found if len(found) == len(parts) else parts


def deep(text: Text, value: Any) -> Any:
    """Return a descriptor with every text in it replaced."""
    if isinstance(value, dict):
        return named(text, {name: deep(text, part) for name, part in value.items()})
    if isinstance(value, list):
        return [deep(text, one) for one in value]
    return text(value) if isinstance(value, str) else value


def opened(ledger: Ledger, data: Any = None, **given: Any) -> dproo.Dataset:
    chosen = {"ledger": ledger, "dataset": "patients"} | given
    return dproo.open(RECORDS if data is None else data, **chosen)


def declare(ledger: Ledger, **given: Any) -> None:
    ledger.declare(**({"dataset": "new", "budget": 1, "neighbours": "replace"} | given))


def limited(ledger: Ledger, **given: Any) -> None:
    declare(ledger, limits=Limits(**given))


def reserve(ledger: Ledger, **given: Any) -> Entry:
    return ledger.reserve(
        **({"dataset": "patients", "epsilon": 1, "neighbours": "replace"} | given)
    )


def forged(ledger: Ledger, text: Text) -> None:
    entry = reserve(ledger)
    again = Entry(
        dataset=text(entry.dataset), number=entry.number, charge=entry.charge, hash=text(entry.hash)
    )
    ledger.record(again, {"values": [1]})


def file_of(ledger: Ledger) -> str:
    path = Path(ledger.path).parent / "data.csv"  # type: ignore[arg-type]
    path.write_text("a;w\n" + "flu;x\n" * 50)
    return str(path)


# What is done with the ledger and the text; a result, if there is one, is compared.
CALLS: dict[str, Callable[[Ledger, Text], Any]] = {
    "Ledger": lambda ledger, t: Ledger(t(str(ledger.path))).head() == ledger.head(),
    "Ledger.create": lambda ledger, t: Ledger.create(t(str(ledger.path))).datasets(),
    "witness": lambda ledger, t: declare(
        Ledger(ledger.path, witness=t(str(ledger.path.parent / "witness.jsonl")))
    ),
    "declare dataset": lambda ledger, t: declare(ledger, dataset=t("new")),
    "declare neighbours": lambda ledger, t: declare(ledger, neighbours=t("add-remove")),
    "declare unit": lambda ledger, t: declare(ledger, unit=t("person")),
    "declare budget": lambda ledger, t: declare(ledger, budget=t("0.5"), delta=t("1e-6")),
    "limits of columns": lambda ledger, t: limited(ledger, columns=[t("b"), t("a"), t("a")]),
    "limits to a column": lambda ledger, t: limited(ledger, columns=t("ab")),
    "limits until": lambda ledger, t: limited(ledger, until=t("2099-01-01")),
    "limits codebook": lambda ledger, t: limited(ledger, codebook=t("a" * 64)),
    "limits per day": lambda ledger, t: limited(ledger, per_day=t("0.5")),
    "reserve dataset": lambda ledger, t: reserve(ledger, dataset=t("patients")).dataset,
    "reserve an unknown dataset": lambda ledger, t: reserve(ledger, dataset=t("nobody")),
    "reserve neighbours": lambda ledger, t: reserve(ledger, neighbours=t("replace")).charge,
    "reserve another relation": lambda ledger, t: reserve(ledger, neighbours=t("add-remove")),
    "reserve unit": lambda ledger, t: reserve(ledger, unit=t("record")).charge,
    "reserve epsilon": lambda ledger, t: reserve(ledger, epsilon=t("0.1")).charge,
    "reserve request": lambda ledger, t: (
        reserve(
            ledger,
            request=deep(t, {"columns": ["a", "b"], "purpose": "p", "other": {"b": 1, "a": 2}}),
        ).charge
    ),
    "a private request": lambda ledger, t: reserve(ledger, request=named(t, {"counts": 1})),
    "record": lambda ledger, t: sorted(
        ledger.record(reserve(ledger), deep(t, {"values": ["flu"], "purpose": "p", "ledger": "x"}))
    ),
    "a private receipt": lambda ledger, t: ledger.record(reserve(ledger), named(t, {"seed": 1})),
    "Entry": forged,
    "budget": lambda ledger, t: ledger.budget(t("patients")).left,
    "verify": lambda ledger, t: ledger.verify(expect_head=t(ledger.head())).events,
    "verify another head": lambda ledger, t: ledger.verify(expect_head=t("a" * 64)),
    "open dataset": lambda ledger, t: opened(ledger, dataset=t("patients")).budget.left,
    "open ledger": lambda ledger, t: opened(ledger, ledger=t(str(ledger.path))).budget.left,
    "open neighbours": lambda ledger, t: opened(ledger, neighbours=t("replace")).value(
        "a", LETTERS, epsilon=1
    ),
    "open person": lambda ledger, t: opened(ledger, dataset="people", person=t("p")).value(
        "a", LETTERS, epsilon=1
    ),
    "open path": lambda ledger, t: opened(ledger, t(file_of(ledger)), delimiter=";").value(
        "a", LETTERS, epsilon=1
    ),
    "open layout": lambda ledger, t: opened(
        ledger,
        file_of(ledger),
        delimiter=t(";"),
        encoding=t("latin-1"),
        format=t("csv"),
        quote=t('"'),
        comment=t("#"),
    ).value("a", LETTERS, epsilon=1),
    "open names": lambda ledger, t: opened(
        ledger, file_of(ledger), delimiter=t("semicolon"), has_header=False, names=(t("a"), "w")
    ).value("a", LETTERS, epsilon=1),
    "open missing": lambda ledger, t: opened(
        ledger, dataset="people", neighbours=dproo.Protection(person=t("p"), missing=t("each"))
    ).value("a", LETTERS, epsilon=1),
    "open table": lambda ledger, t: opened(ledger, file_of(ledger), table=t("x")).columns,
    "open engine": lambda ledger, t: opened(ledger, engine=t("flink")),
    "Charge": lambda ledger, t: dproo.open(
        RECORDS,
        ledger=dproo.Charge(
            ledger=ledger, dataset=t("patients"), purpose=t("p q"), operator=t("ann")
        ),
    ).value("a", LETTERS, epsilon=1),
    "purpose": lambda ledger, t: opened(ledger).value("a", LETTERS, epsilon=1, purpose=t("p q")),
    "a secret purpose": lambda ledger, t: opened(ledger).value(
        "a", LETTERS, epsilon=1, purpose=t("password=x")
    ),
    "column": lambda ledger, t: opened(ledger).value(t("a"), LETTERS, epsilon=1),
    "no such column": lambda ledger, t: opened(ledger).value(t("z"), LETTERS, epsilon=1),
    "column of a book": lambda ledger, t: opened(ledger).value(
        t("a"), dproo.CodeBook.of(BOOK), epsilon=1
    ),
    "letters": lambda ledger, t: opened(ledger).value("a", [t("flu"), t("cold")], epsilon=1),
    "a letter twice": lambda ledger, t: opened(ledger).value("a", [t("flu"), t("flu")], epsilon=1),
    "no letter": lambda ledger, t: opened(ledger).value("a", [t(""), "flu"], epsilon=1),
    "letters in one text": lambda ledger, t: opened(ledger).value("a", t("flu,cold"), epsilon=1),
    "letters of columns": lambda ledger, t: opened(ledger).value(
        None, named(t, {"a": [t("flu")], "w": ["x"]}), epsilon=1
    ),
    "open values": lambda ledger, t: opened(ledger).value(
        t("a"), t("open"), epsilon=1, delta=t("1e-6")
    ),
    "sampler": lambda ledger, t: opened(ledger).value("a", LETTERS, epsilon=1, sampler=t("roo")),
    "auto": lambda ledger, t: opened(ledger).values("a", LETTERS, epsilon=1, sampler=t("auto")),
    "no sampler": lambda ledger, t: opened(ledger).value("a", LETTERS, epsilon=1, sampler=t("x")),
    "epsilon": lambda ledger, t: opened(ledger).value("a", LETTERS, epsilon=t("0.1")),
    "groups": lambda ledger, t: opened(ledger).values(
        "a", LETTERS, epsilon=1, by=dproo.Groups(t("w"), [t("x")])
    ),
    "groups of the column": lambda ledger, t: opened(ledger).values(
        "a", LETTERS, epsilon=1, by=dproo.Groups(t("a"), ["flu"])
    ),
    "row of a book": lambda ledger, t: opened(ledger).row(deep(t, BOOK), epsilon=1),
    "network": lambda ledger, t: opened(ledger).row(BOOK, epsilon=1, network=t("independent")),
    "shares": lambda ledger, t: opened(ledger).row(
        BOOK, epsilon=1, network="independent", shares=named(t, {"a": "0.5", "w": t("0.5")})
    ),
    "synthesize": lambda ledger, t: sorted(
        opened(ledger).synthesize(deep(t, BOOK), epsilon=1, network=t("auto")).names
    ),
    "synthesize columns": lambda ledger, t: (
        opened(ledger)
        .synthesize(columns=[t("a"), t("w")], epsilon=5, delta=t("1e-3"), purpose=t("p"))
        .names
    ),
    "codebook columns": lambda ledger, t: (
        opened(ledger).codebook(columns=[t("a")], epsilon=5, delta="1e-3").columns
    ),
    "columns twice": lambda ledger, t: (
        opened(ledger).codebook(columns=[t("a"), t("a")], epsilon=5, delta="1e-3").columns
    ),
    "check": lambda ledger, t: str(
        opened(ledger, file_of(ledger), delimiter=";").check(t("a"), LETTERS, cell=t("flu")).cells
    ),
    "check a book": lambda ledger, t: str(
        opened(ledger, file_of(ledger), delimiter=";").check(
            deep(t, BOOK), cell=named(t, {"a": t("flu")})
        )
    ),
    "CodeBook.letters": lambda _, t: dproo.CodeBook.of(BOOK).letters(t("a")).digest,
    "CodeBook.digest": lambda _, t: dproo.CodeBook.of(deep(t, BOOK)).digest,
    "Alphabet": lambda _, t: dproo.Alphabet.of([t("b"), t("a")], policy=t("uniform")).digest,
    "Alphabet.product": lambda _, t: dproo.Alphabet.of(named(t, {"b": [t("a")]})).digest,
    "Reading": lambda _, t: repr(
        Reading(kind=t("number"), decimal=t(","), thousands=t(".")).text("1.000,5")
    ),
    "Reading of a day": lambda _, t: Reading(kind=t("date"), format=t("DD.MM.YYYY")).text(
        "1.2.2024"
    ),
    "mechanism": lambda _, t: (
        dproo.mechanism(t("roo"), epsilon=t("1"), n=10, k=3, neighbours=t("add-remove")).neighbours
    ),
    "plan": lambda _, t: str(dproo.plan(k=3, epsilon="1", n=99, samplers=[t("roo")])),
    "limit": lambda _, t: dproo.limit(n=10, k=3, epsilon=t("1"), neighbours=t("replace")).lower,
    "accuracy": lambda _, t: str(
        dproo.accuracy(
            dproo.mechanism("roo", epsilon=1, n=5, k=2), [t("0.5"), "0.5"], method=t("enumeration")
        )
    ),
}


@pytest.fixture
def folders(tmp_path: Path) -> Callable[[], Ledger]:
    """Return what makes a new ledger with two budgets."""
    numbers = iter(range(9))

    def make() -> Ledger:
        folder = tmp_path / str(next(numbers))
        folder.mkdir(mode=0o700)
        (folder / "witness.jsonl").touch()
        ledger = Ledger.create(folder / "ledger.sqlite3")
        ledger.declare("patients", budget=10, delta="1e-2", **REPLACE)
        ledger.declare("people", budget=10, unit="person", **REPLACE)
        return ledger

    return make


def outcome(ledger: Ledger, call: str, text: Text) -> tuple[Any, ...]:
    """Return what a call does: its refusal or result, and what the ledger then holds."""
    found: Any
    try:
        found = CALLS[call](ledger, text)
    except (dproo.LedgerError, TypeError, ValueError) as refused:
        folder = str(Path(ledger.path).parent)  # type: ignore[arg-type]
        found = type(refused).__name__, str(refused).replace(folder, "")
    found = None if isinstance(found, dproo.Release) else found
    again = Ledger(ledger.path)
    again.verify()
    events = [
        (event["kind"], event["dataset"], event["nano"], event["atto"], _choices(event["body"]))
        for event in again.export()
    ]
    return found, events


def _choices(body: dict[str, Any]) -> str:
    kept = {name: part for name, part in body.items() if name != "receipt"}
    return json.dumps(kept | {"receipt": sorted(body.get("receipt", ()))}, sort_keys=True)


@pytest.mark.parametrize("call", CALLS)
def test_a_text_acts_as_its_own_characters(folders: Callable[[], Ledger], call: str) -> None:
    said, held = outcome(folders(), call, str)
    for kind, of in TEXTS.items():
        theirs, holds = outcome(folders(), call, of)
        assert type(theirs) is type(said), kind
        assert holds == held, kind
        assert theirs == said, kind


def model_file(folder: Path) -> str:
    dproo.open(RECORDS).synthesize(BOOK, epsilon=1).save(folder / "m.json")
    return str(folder / "m.json")


def book_file(folder: Path) -> str:
    dproo.CodeBook.of(BOOK).save(folder / "b.json")
    return str(folder / "b.json")


def public_file(folder: Path, text: str, name: str = "p.csv") -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def config_file(folder: Path) -> str:
    book_file(folder)
    public_file(folder, "a,w\nflu,x\n", "d.csv")
    return public_file(
        folder,
        "[datasets.a]\ndata = 'd.csv'\ncodebook = 'b.json'\n"
        "epsilon_per_call = 1\nepsilon_per_day = 1\n",
        "c.toml",
    )


def refused(call: Callable[[], object], here: Path) -> str:
    with pytest.raises(ValueError, match="ledger") as error:
        call()
    return str(error.value).replace(str(here), "")


MODEL = dproo.open(RECORDS).synthesize(BOOK, epsilon=1)
# Every public function that takes a path, with a folder and a text; what it returns is compared.
PATHS: dict[str, Callable[[Path, Text], Any]] = {
    "Alphabet.read": lambda here, t: (
        dproo.Alphabet.read(t(public_file(here, "k,v\na,1\n")), column=t("k")).digest
    ),
    "Charge": lambda here, t: dproo.Charge(ledger=t(str(here / "l")), dataset="d").address.name,
    "CodeBook.save": lambda here, t: dproo.CodeBook.of(BOOK).save(t(str(here / "new.json"))),
    "CodeBook.of": lambda here, t: dproo.CodeBook.of(t(book_file(here))).digest,
    "Dataset.row": lambda here, t: (
        dproo.open(RECORDS).row(t(book_file(here)), epsilon=1).receipt.column_names
    ),
    "Dataset.rows": lambda here, t: (
        dproo.open(RECORDS).rows(t(book_file(here)), size=1, epsilon=1).receipt.column_names
    ),
    "Dataset.synthesize": lambda here, t: (
        dproo.open(RECORDS).synthesize(t(book_file(here)), epsilon=1).names
    ),
    "Desk.of": lambda here, t: list(Desk.of(t(config_file(here))).offers),
    "Ledger": lambda here, t: Ledger(Ledger.create(t(str(here / "l.sqlite3"))).path).datasets(),
    "Ledger.create": lambda here, t: Ledger.create(t(str(here / "l.sqlite3"))).datasets(),
    "Model.load": lambda here, t: dproo.Model.load(t(model_file(here))).names,
    "Model.save": lambda here, t: MODEL.save(t(str(here / "new.json"))),
    "Rows.write": lambda here, t: [
        MODEL.rows(2).write(t(str(here / name))) for name in ("r.csv", "r.jsonl", "r.parquet")
    ],
    "accept_restore": lambda here, t: refused(
        lambda: accept_restore(t(str(Ledger.create(here / "l.sqlite3").path))), here
    ),
    "address_of": lambda here, t: address_of(t(str(here / "x"))).name,
    "copy": lambda here, t: copy(
        Ledger.create(here / "l.sqlite3"), t(str(here / "l2.sqlite3"))
    ).datasets(),
    "draft_codebook": lambda here, t: dproo.draft_codebook(t(public_file(here, "a,w\nflu,x\n"))),
    "import_codebook": lambda here, t: dproo.import_codebook(
        t(public_file(here, "k,v\na,1\n")), column=t("c")
    ),
    "open": lambda here, t: [
        column.name for column in dproo.open(t(public_file(here, "a,w\nflu,x\n"))).columns
    ],
    "plan": lambda here, t: dproo.plan(codebook=t(book_file(here)), n=99, epsilon=1).alpha,
}


def taking_a_path() -> Iterator[str]:
    """Yield the public functions whose signature has a path, or what may be one."""
    for module, names in (
        (dproo, dproo.__all__),
        (dproo.ledger, dproo.ledger.__all__),
        (agent, ["Desk"]),
        (model, ["Rows"]),
    ):
        for name in names:
            one = getattr(module, name)
            parts = inspect.getmembers_static(one) if inspect.isclass(one) else []
            methods = {f"{name}.{part}": found for part, found in parts if part[0] != "_"}
            for called, found in {name: one, **methods}.items():
                function = getattr(found, "__func__", found)
                if inspect.isfunction(function) or inspect.isclass(function):
                    with suppress(ValueError):  # an exception has no signature
                        given = inspect.signature(function).parameters.values()
                        if any("Path" in str(p.annotation) or p.name in ANY_PATH for p in given):
                            yield called


ANY_PATH = {"path", "data", "book", "codebook"}
# A fingerprint; the name of a file that is open; a code book that was read.
NO_PATH = {"Limits", "Layout.ending_of", "Protection.described_by"}


def test_every_function_that_takes_a_path_is_tried() -> None:
    assert {*taking_a_path()} - NO_PATH == {*PATHS}


class Place:
    """A path of its own kind, whose text is of a subclass."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __fspath__(self) -> str:
        return self.text


@pytest.mark.parametrize("call", PATHS)
def test_a_path_names_the_file_of_its_own_characters(tmp_path: Path, call: str) -> None:
    def done(name: str, text: Text) -> tuple[Any, list[str]]:
        here = tmp_path / name
        here.mkdir(mode=0o700)
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(here)
            return PATHS[call](here, text), sorted(path.name for path in here.iterdir())

    wanted = done("plain", str)
    for at, (kind, of) in enumerate(TEXTS.items()):
        assert done(f"{at}", of) == wanted, kind
    if call in {"CodeBook.save", "Model.save", "Model.load", "Rows.write", "CodeBook.of"}:
        lying = TEXTS["one that is written otherwise"]
        assert done("place", lambda text: Place(lying(text))) == wanted


class Number(int):
    """An integer that is written otherwise."""

    __slots__ = ()
    __str__ = __repr__ = __format__ = _lie  # type: ignore[assignment]
    __index__ = __int__ = lambda _: 7


class Size(enum.IntEnum):
    ONE = 1
    THREE = 3


@pytest.mark.parametrize("of", [Number, Size])
def test_an_integer_acts_as_its_own_value(folders: Callable[[], Ledger], of: Any) -> None:
    ledger = folders()
    declare(ledger, records_per_person=of(3), budget=of(3))
    entry = reserve(ledger, dataset="new", records_per_person=of(3), epsilon=of(1), room=of(3))
    assert ledger.record(entry, {"rows": of(3)})["rows"] == 3
    assert ledger.released(of(entry.number) if of is Number else entry.number)["rows"] == 3
    some = opened(ledger).values("a", LETTERS, size=of(3), epsilon=of(1))
    assert len(some.values) == 3
    assert len(opened(ledger).rows(BOOK, size=of(3), epsilon=of(1)).values) == 3
    assert dproo.Alphabet.of([of(1), of(3)]).digest == dproo.Alphabet.of([1, 3]).digest
    protection = dproo.Protection(neighbours="add-remove", records=of(3))
    assert protection.sentence == "one person with up to 3 records"
    assert "lie" not in json.dumps(Ledger(ledger.path).export())
    assert Ledger(ledger.path).verify().events == 9


@pytest.mark.parametrize("kind", TEXTS)
def test_exact_leaves_nothing_of_a_subclass(kind: str) -> None:
    of = TEXTS[kind]
    made = exact(named(of, {"b": [of("x"), (of("y"), named(of, {"z": of("1")}))], "a": True}))
    assert made == {"b": ["x", ("y", {"z": "1"})], "a": True}
    assert {type(name) for name in made} == {str}
    assert type(made["b"][1][0]) is str
    assert made["a"] is True
