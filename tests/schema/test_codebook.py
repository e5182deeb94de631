"""The code book: what it takes from the standard, and what it refuses, with the place."""

import json
import os
import re
from decimal import Decimal

import pytest
from support.pages import ROOT

from dproo import Alphabet
from dproo.cli.commands import run
from dproo.codebooks.overview import overview
from dproo.core.paths import written
from dproo.schema import codebook
from dproo.schema.codebook import CodeBook


def book_of(*fields, **rest):
    return CodeBook.of({"name": "visits", "schema": {"fields": list(fields), **rest}})


SEX = {"name": "sex", "type": "string", "categories": ["F", "M"]}
AGE = {"name": "age", "type": "integer"}
DAY = {"name": "day", "type": "date", "categories": ["2026-01-01"]}


@pytest.mark.parametrize(
    ("field", "letters"),
    [
        (SEX, ["F", "M", "other"]),
        (
            {
                "name": "x",
                "type": "integer",
                "categories": [{"value": 1, "label": "yes"}, {"value": 2, "label": "no"}],
            },
            [1, 2, "other"],
        ),
        ({"name": "x", "type": "string", "constraints": {"enum": ["a", "b"]}}, ["a", "b", "other"]),
        (
            {"name": "x", "type": "integer", "constraints": {"minimum": -1, "maximum": 1}},
            [-1, 0, 1, "other"],
        ),
        ({"name": "x", "type": "number", "bins": [0, 0.5, 2]}, ["[0, 0.5)", "[0.5, 2)", "other"]),
        (
            {"name": "x", "type": "number", "bins": [0, 2], "constraints": {"maximum": 0}},
            ["[0, 2)", "other"],
        ),
        (
            {
                "name": "x",
                "type": "integer",
                "categories": [1, 3],
                "constraints": {"minimum": 1, "maximum": 3},
            },
            [1, 3, "other"],
        ),
        ({"name": "x", "type": "boolean"}, [False, True, "other"]),
        ({"name": "x", "type": "date", "categories": ["2026-01-01"]}, ["2026-01-01", "other"]),
        ({**SEX, "other": "neither"}, ["F", "M", "neither"]),
        ({**SEX, "title": "kept and ignored"}, ["F", "M", "other"]),
    ],
)
def test_the_letters_of_a_field(field, letters):
    (found,) = book_of(field).fields
    assert [found[place] for place in range(found.axis.size)] == letters


def test_a_row_has_a_letter_of_every_column():
    book = book_of(SEX, {"name": "age", "type": "integer", "bins": [0, 18, 99]})
    assert book.row((1, 0)) == {"sex": "M", "age": "[0, 18)"}
    assert (book.columns, book.sizes, book.parents) == (("sex", "age"), (3, 3), None)


def test_parents_are_those_declared():
    age = {"name": "age", "type": "integer", "bins": [0, 18, 99], "parents": ["sex"]}
    assert book_of(SEX, age).parents == {"sex": (), "age": ("sex",)}


def test_a_file_is_read_with_or_without_a_byte_order_mark(tmp_path):
    text = json.dumps({"schema": {"fields": [SEX]}})
    for encoding in ("utf-8", "utf-8-sig"):
        (tmp_path / "book.json").write_text(text, encoding=encoding)
        assert CodeBook.of(tmp_path / "book.json").columns == ("sex",)


def test_the_digest_tells_what_a_release_depends_on():
    plain, titled = book_of(SEX), book_of({**SEX, "title": "Sex"})
    assert plain.digest == titled.digest
    others = [
        book_of({**SEX, "name": "s"}),
        book_of({**SEX, "categories": ["M", "F"]}),
        book_of({**SEX, "other": "x"}),
        book_of({**SEX, "outside": "F"}),
        book_of({**SEX, "outside": "M"}),
        book_of({**SEX, "parents": []}),
    ]
    assert len({plain.digest, *(book.digest for book in others)}) == 7


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("sex", r"schema\.fields\[0\] must be an object, got 'sex'"),
        ({"type": "string"}, r"schema\.fields\[0\]\.name must be a text, got None"),
        ({"name": "x"}, r"fields\[0\]\.type must be one of string, .*, got None"),
        ({"name": "x", "type": "any"}, r"fields\[0\]\.type must be one of"),
        ({"name": "x", "type": "string"}, r"declare its letters in one way, got none"),
        ({"name": "x", "type": "string", "constraints": {"pattern": "a+"}}, "in one way, got none"),
        (
            {**SEX, "constraints": {"enum": ["F"]}},
            "in one way, got categories and enum",
        ),
        ({**SEX, "categories": "FM"}, r"fields\[0\]\.categories must be a list"),
        ({**SEX, "categories": [1]}, "must have values of type string, got 1"),
        ({"name": "x", "type": "integer", "categories": [True]}, "of type integer, got True"),
        ({"name": "x", "type": "number", "categories": [1.5]}, "not have type number"),
        ({**SEX, "categories": ["F", "F"]}, r"categories: letters must all differ"),
        ({**SEX, "categories": []}, r"categories: alphabet must have at least one letter"),
        ({**SEX, "bins": [1, 2]}, "in one way, got categories and bins"),
        ({"name": "x", "type": "string", "bins": [1, 2]}, "have type integer or number"),
        ({"name": "x", "type": "number", "bins": [2, 1]}, r"bins: edges must be"),
        (
            {"name": "x", "type": "integer", "constraints": {"minimum": 1, "maximum": 0}},
            r"constraints: stop must be",
        ),
        (
            {"name": "x", "type": "integer", "constraints": {"minimum": 0.5, "maximum": 2}},
            "minimum and maximum must be integers",
        ),
        ({**SEX, "constraints": []}, r"constraints must be an object"),
        ({**SEX, "other": "F"}, "other must be a text that is not a letter of the column"),
        ({**SEX, "other": 1}, "other must be a text"),
        ({**AGE, "bins": [0, 9], "other": "[0, 9)"}, "other must be a text that is not a letter"),
        (
            {**SEX, "outside": "other"},
            r"fields\[0\].outside must be a value of the column, got 'other'",
        ),
        ({**SEX, "outside": None}, "outside must be a value of the column, got None"),
        (
            {"name": "x", "type": "number", "bins": [0, 1], "outside": 0.5},
            "must have at least two letters besides 'outside', got 1",
        ),
        ({**SEX, "parents": [1]}, "parents must be a list of columns"),
        (
            {**AGE, "categories": [1, 7], "constraints": {"minimum": 0, "maximum": 5}},
            r"fields\[0\]\.categories must lie within constraints.minimum and maximum, got 7",
        ),
        (
            {**AGE, "constraints": {"enum": [1, 7], "minimum": 2}},
            r"fields\[0\]\.constraints\.enum must lie within .*, got 1\.$",
        ),
        (
            {**AGE, "type": "year", "categories": [1999], "constraints": {"minimum": 2000}},
            "categories must lie within .*, got 1999",
        ),
        (
            {**DAY, "constraints": {"maximum": "2025-12-31"}},
            "categories must lie within .*, got '2026-01-01'",
        ),
        (
            {**AGE, "bins": [0, 18, 65], "constraints": {"maximum": 17}},
            r"bins must lie within .*, got '\[18, 65\)'",
        ),
        (
            {**AGE, "type": "number", "bins": [0, 18, 65], "constraints": {"minimum": 18}},
            r"bins must lie within .*, got '\[0, 18\)'",
        ),
        (
            {**AGE, "categories": [1], "constraints": {"minimum": "low"}},
            r"fields\[0\]\.constraints: minimum and maximum must be numbers",
        ),
        (
            {**SEX, "constraints": {"minimum": "F", "maximum": "M"}},
            r"constraints\.minimum must be left out for type string, which has no order, got 'F'",
        ),
        ({**AGE, "type": "boolean", "constraints": {"maximum": 1}}, "left out for type boolean"),
        (
            {**DAY, "constraints": {"minimum": 2026}},
            r"fields\[0\]\.constraints: minimum and maximum must look like YYYY-MM-DD, got 2026",
        ),
        ({**SEX, "missingValues": ["F"]}, "categories must not also be missing values, got 'F'"),
        ({**SEX, "missingValues": [1]}, "missingValues must be texts, got 1"),
    ],
)
def test_a_wrong_field_is_refused_with_its_place(field, message):
    with pytest.raises(ValueError, match=message):
        book_of(field)


KINDS = {
    "a text": "x",
    "a list": ["x"],
    "an object": {"x": "y"},
    "true or false": True,
    "an integer": 3,
    "a number": 0.5,
    "nothing": None,
}
OF_EACH_TYPE = [
    SEX,
    DAY,
    {**AGE, "constraints": {"minimum": 0, "maximum": 9}},
    {**AGE, "type": "year", "constraints": {"minimum": 2000, "maximum": 2009}},
    {**AGE, "type": "yearmonth", "constraints": {"minimum": "2026-01", "maximum": "2026-12"}},
    {**AGE, "type": "number", "bins": [0, 1, 2]},
    {**AGE, "type": "boolean"},
]


def of_another_kind(keys):
    """Yield every key with a value of each kind that it must not have, and the kind it must."""
    for key, kind in keys.items():
        for other, value in KINDS.items():
            is_integer = other == "an integer" and "a number" in kind
            if not (other in kind or is_integer or kind == "anything"):
                yield key, value, kind


@pytest.mark.parametrize("field", OF_EACH_TYPE, ids=lambda field: field["type"])
def test_a_key_of_the_wrong_kind_is_refused_whatever_the_type(field):
    places = {
        "schema.fields[0].": (codebook._FIELD_KEYS, lambda wrong: {**field, **wrong}),
        "schema.fields[0].constraints.": (
            codebook._CONSTRAINT_KEYS,
            lambda wrong: {**field, "constraints": {**field.get("constraints", {}), **wrong}},
        ),
        "schema.fields[0].missingValues[1].": (
            codebook._VALUE_KEYS,
            lambda wrong: {**field, "missingValues": ["", {"value": "-", **wrong}]},
        ),
    }
    book_of(field)
    for place, (keys, changed) in places.items():
        for key, value, kind in of_another_kind(keys):
            with pytest.raises(ValueError, match=re.escape(f"{place}{key} must be {kind}, got ")):
                book_of(changed({key: value}))


def test_a_key_of_the_wrong_kind_is_refused_outside_the_columns():
    for key, value, kind in of_another_kind(codebook._SCHEMA_KEYS):
        with pytest.raises(ValueError, match=rf"^schema\.{key} must be {kind}, got "):
            book_of(SEX, **{key: value})
    for key, value, kind in of_another_kind(codebook._BOOK_KEYS):
        with pytest.raises(ValueError, match=rf"^{key} must be {kind}, got "):
            CodeBook.of({"schema": {"fields": [SEX]}, key: value})
    category = {"value": "F", "label": 3}
    with pytest.raises(ValueError, match=r"^schema\.fields\[0\]\.categories\[1\]\.label must be"):
        book_of({**SEX, "categories": ["M", category]})


@pytest.mark.parametrize(
    ("book", "message"),
    [
        ({}, "schema must be an object, got None"),
        ({"schema": {}}, r"schema\.fields must be a list, got None"),
        ({"schema": {"fields": []}}, "must list at least one column"),
        ({"schema": {"fields": [SEX, SEX]}}, "name every column once, got 'sex'"),
        ({"schema": {"fields": [SEX]}, "draft": True}, "codebook must be confirmed"),
        ({"schema": {"fields": [SEX], "missingValues": ["M"]}}, "not also be missing values"),
    ],
)
def test_a_wrong_book_is_refused(book, message):
    with pytest.raises(ValueError, match=message):
        CodeBook.of(book)


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b'{"a": 1, "a": 2}', b"[" * 100_000])
def test_a_file_that_is_no_code_book_is_refused(content, tmp_path):
    (tmp_path / "book.json").write_bytes(content)
    with pytest.raises(ValueError, match="codebook must"):
        CodeBook.of(tmp_path / "book.json")


def test_what_is_neither_a_path_nor_a_descriptor_is_refused(tmp_path):
    with pytest.raises(TypeError, match="codebook must be a path or a descriptor"):
        CodeBook.of(["sex"])
    with pytest.raises(ValueError, match="codebook must be a readable UTF-8 text file"):
        CodeBook.of(tmp_path / "none.json")


WHOLE = {
    "name": "visits",
    "title": "Visits",
    "dialect": {"delimiter": ";", "commentChar": "#"},
    "encoding": "utf-8",
    "mine": {"deep": ["x", {"deeper": "y"}]},
    "schema": {
        "missingValues": ["", {"value": "n/a", "label": "none"}],
        "fields": [
            {
                "name": "sex",
                "type": "string",
                "title": "Sex",
                "source": "the form",
                "other": "neither",
                "as": "text",
                "categories": [{"value": "F", "label": "female"}, {"value": "M", "label": "male"}],
            },
            {
                "name": "age",
                "type": "integer",
                "decimalChar": ",",
                "missingValues": ["-9"],
                "parents": ["sex"],
                "bins": [0, 18, 65],
            },
            {"name": "ward", "type": "string", "constraints": {"enum": ["A", "B"]}},
            {
                "name": "day",
                "type": "date",
                "format": "%Y-%m-%d",
                "outside": "2026-01-01",
                "categories": ["2026-01-01", "2026-01-02"],
            },
        ],
    },
}


def texts_of(value, place="", way=()):
    """Yield the place of every text in an object, and the way to it."""
    if isinstance(value, str):
        yield place, way
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from texts_of(part, f"{place}.{key}" if place else key, (*way, key))
    elif isinstance(value, list):
        for at, part in enumerate(value):
            yield from texts_of(part, f"{place}[{at}]", (*way, at))


@pytest.mark.parametrize("is_draft", [False, True])
def test_a_text_that_no_file_can_hold_is_refused_wherever_it_stands(tmp_path, is_draft, capsys):
    CodeBook.of(WHOLE).save(tmp_path / "whole.json")
    assert CodeBook.of(tmp_path / "whole.json").digest == CodeBook.of(WHOLE).digest
    path = tmp_path / "book.json"
    for place, (*before, last) in texts_of(WHOLE):
        book = json.loads(json.dumps(WHOLE)) | ({"draft": ["note"]} if is_draft else {})
        part = book
        for key in before:
            part = part[key]
        for lone in ("\ud800", f"{part[last]}\udfff"):
            part[last] = lone
            sentence = f"{place} must be valid Unicode text, got {lone!r}."
            path.write_text(json.dumps(book))
            for given in (book, path):
                with pytest.raises(ValueError, match=re.escape(sentence)):
                    overview(given)
            assert run(["codebook", "preview", str(path)]) == 2
            assert capsys.readouterr().err == f"Error: {sentence}\n"
    for place in ("", "schema.", "schema.fields[2]."):
        book = json.loads(json.dumps(WHOLE))
        {"": book, "schema.": book["schema"]}.get(place, book["schema"]["fields"][2])["\ud800"] = 1
        sentence = f"{place[:-1] or 'the object'}: a key must be valid Unicode text"
        with pytest.raises(ValueError, match=re.escape(sentence)):
            CodeBook.of(book)
    with pytest.raises(ValueError, match="column must be valid Unicode text"):
        CodeBook.of(Alphabet.of({"\ud800": ["a", "b"]}))


@pytest.mark.parametrize("values", [range(3), (0, 1, 2), [0, 1, 2]])
def test_a_saved_code_book_is_the_same(values, tmp_path):
    field = {"name": "a", "type": "integer", "categories": values, "example": None}
    book = CodeBook.of({"schema": {"fields": [field]}})
    book.save(tmp_path / "a.json")
    again = CodeBook.of(tmp_path / "a.json")
    again.save(tmp_path / "b.json")
    assert again.digest == book.digest
    assert (tmp_path / "a.json").read_text() == (tmp_path / "b.json").read_text()


def test_a_code_book_that_no_file_can_hold_is_not_saved(tmp_path):
    field = {"name": "a", "type": "boolean", "example": Decimal(1)}
    for book, sentence in (
        (Alphabet.of({"a": ["x", "y"]}), "codebook must have a descriptor to be saved"),
        ({"schema": {"fields": [field]}}, "codebook must hold only what JSON can.*Decimal"),
    ):
        with pytest.raises(ValueError, match=sentence):
            CodeBook.of(book).save(tmp_path / "a.json")
    assert not any(tmp_path.iterdir())


def test_a_save_that_fails_leaves_no_file_and_overwrites_none(tmp_path):
    path = tmp_path / "book.json"
    with pytest.raises(UnicodeEncodeError):
        CodeBook((), {"name": "\ud800"}).save(path)  # past every check
    assert not path.exists()
    path.write_text("mine")
    with pytest.raises(FileExistsError):
        CodeBook.of(WHOLE).save(path)
    assert path.read_text() == "mine"


def test_what_is_no_file_of_its_own_is_not_removed(tmp_path):
    """As a device is none, or a link to one."""
    pipe, link, file = (tmp_path / name for name in ("pipe", "link", "file"))
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    for path in (pipe, link, file):
        with pytest.raises(ZeroDivisionError), written(path):
            1 / 0  # noqa: B018 - it fails
    os.close(reader)
    assert [path.exists() for path in (pipe, link, file)] == [True, True, False]


WORDS = re.compile(r"`([$\w]+)`").findall
DIALECT = {"delimiter", "quoteChar", "header", "headerRows", "commentChar", "sheetName", "table"}


def test_the_reference_has_every_key_and_no_other():
    text = (ROOT / "docs/reference/codebook.md").read_text(encoding="utf-8")
    tables, _, others = text.partition("A column states its values")
    told = {
        key for first in re.findall(r"^\|(.*?)\|", tables, re.MULTILINE) for key in WORDS(first)
    }
    known = {*codebook._BOOK_KEYS, *codebook._SCHEMA_KEYS, *codebook._FIELD_KEYS}
    assert told == known | DIALECT | {"$schema"}
    named = {word for words in re.findall("`[^`]*`", others) for word in re.findall(r"\w+", words)}
    assert named >= {*codebook._CONSTRAINT_KEYS}
