"""What objects show of themselves: one short line, or one table, and nothing twice."""

from html.parser import HTMLParser

import pytest
from support.releasing import sample

import dproo

DATA = ["<b>flu</b>"] * 100
LETTERS = ["<b>flu</b>", "cold"]


def tags(html):
    """The names of all tags in a piece of HTML, each once."""
    found = set()

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            assert not attrs
            found.add(tag)

    Reader().feed(html)
    return found


def shown():
    """One of each object that a notebook shows."""
    sampler = dproo.mechanism("auto", n=100, k=3, epsilon=1)
    return [
        sample(DATA, alphabet=LETTERS, epsilon=20),
        sample(DATA, alphabet=LETTERS, epsilon=1, size=50, purpose="a <i>test</i>"),
        sample([("a", "b")] * 9, alphabet={"x": ["a"], "y": ["b"]}, epsilon=1),
        dproo.plan(n=100, k=3, epsilon=1),
        dproo.plan(k=3, epsilon="0.0001", alpha="0.1"),
        dproo.certify(sampler),
        dproo.certify(dproo.mechanism("ls-roo", k=3, epsilon=1, neighbours="add-remove")),
    ]


def test_every_object_has_a_short_line_and_a_harmless_table():
    for thing in shown():
        assert len(repr(thing)) < 250
        assert "\n" not in repr(thing)
        assert tags(thing._repr_html_()) <= {"table", "caption", "tr", "th", "td"}


def test_a_release_shows_its_record_its_accuracy_and_its_warnings():
    release = shown()[0]
    expected = "<Release of '<b>flu</b>': epsilon 20, ls-roo, not charged to any budget>"
    assert repr(release) == expected
    html = release._repr_html_()
    assert "of draws differ from a random record" in html
    assert "Epsilon above 10 protects little" in html


def test_a_charged_release_and_its_ledger_say_so(tmp_path):
    ledger = dproo.Ledger.create(tmp_path / "ledger.sqlite3")
    ledger.declare("patients", budget=1, neighbours="replace")
    charged = {"ledger": ledger, "dataset": "patients"}
    release = sample(DATA, alphabet=LETTERS, epsilon="0.5", **charged)
    assert repr(release).endswith("entry 2 of 'patients'>")
    assert repr(ledger) == f"<Ledger '{tmp_path}/ledger.sqlite3'>"
    assert "<tr><th>patients</th><td>0.5</td><td>1</td><td>1</td>" in ledger._repr_html_()


def test_a_value_of_several_records_is_refused():
    several = sample(DATA, alphabet=LETTERS, epsilon=1, size=3)
    with pytest.raises(
        ValueError, match=r"value needs exactly one record, but 3 were .* use \.values"
    ):
        _ = several.value
    assert len(several.values) == 3


def test_a_float_is_charged_as_the_decimal_that_it_prints_as(tmp_path):
    ledger = dproo.Ledger.create(tmp_path / "ledger.sqlite3")
    ledger.declare("data", budget=0.3, neighbours="replace")
    asked = {"alphabet": LETTERS, "ledger": ledger, "dataset": "data"}
    for _ in range(3):
        assert str(sample(DATA, epsilon=0.1, **asked).receipt.epsilon) == "1/10"
    with pytest.raises(dproo.BudgetRefused, match="at most the 0 left"):
        sample(DATA, epsilon=1e-9, **asked)
