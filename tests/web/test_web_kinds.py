"""Every field of a request to the page has a kind, and nothing of another kind stands for it."""

import re
from pathlib import Path

import pytest
from support.serving import ORDER, admissions, served

import dproo.web
from dproo.web.application import Api
from dproo.web.folder import FIELDS
from dproo.web.orders import _BUDGET_FIELDS, _FIELDS

REQUESTS = {
    "is_approved": lambda page, value: page.post(
        "/api/decide", {"number": 1, "is_approved": value}
    ),
    "as_printed": lambda page, value: page.get(
        f"/api/certify?sampler=ds-roo&n=10&k=3&epsilon=1&as_printed={value}"
    ),
}
ANSWERS = {"is_stopped", "is_complete"}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with served(*admissions(tmp_path_factory.mktemp("kinds"), budget="1000")) as page:
        yield page


def test_every_boolean_field_is_walked():
    texts = [path.read_text() for path in Path(dproo.web.__file__).parent.glob("*.py")]
    found = {name for text in texts for name in re.findall(r'"((?:is|are|has|as)_\w+)"', text)}
    assert found == {*REQUESTS} | ANSWERS


@pytest.mark.parametrize("name", REQUESTS)
@pytest.mark.parametrize("value", ["false", "true", "", 2, None, [], [True], {}])
def test_what_is_neither_true_nor_false_is_refused(page, name, value):
    answer = REQUESTS[name](page, str(value).replace(" ", "") if name == "as_printed" else value)
    assert answer.status == 400
    assert f"{name} must be" in answer.json["error"]


def test_a_decision_is_not_begun_by_what_is_refused():
    with pytest.raises(TypeError, match="is_approved must be True or False"):
        Api(folder=None, ledger=None, pool=None)._decide({"number": 1, "is_approved": "true"})


@pytest.mark.one_of(3)
@pytest.mark.parametrize("value", [False, True, 0, 1, [], {}, 0.0])
def test_what_is_not_a_text_is_not_an_empty_one(page, value):
    for name in _FIELDS:
        answer = page.post("/api/order", {**ORDER, name: value})
        assert answer.status == 400, name
        assert f"{name} must be text" in answer.json["error"]
    for name in _BUDGET_FIELDS:
        assert page.post("/api/budget", {name: value}).status == 400
    for name in FIELDS:
        assert page.post("/api/columns", {name: value}).status == 400
