"""How good a release is, said always, and warned of where it is not good."""

import re
from fractions import Fraction

import pytest
from click.testing import CliRunner
from support.draws import DICE
from support.releasing import sample

import dproo
from dproo.cli.commands import cli
from dproo.core.numbers import float_upper
from dproo.mechanisms import SAMPLERS
from dproo.mechanisms.base import enough

LETTERS = ["a", "b", "c"]
DATA = ["a"] * 600 + ["b"] * 400
BOOK = {
    "schema": {
        "fields": [
            {"name": "x", "type": "string", "categories": ["a", "b"]},
            {"name": "y", "type": "string", "categories": ["c", "d"], "parents": ["x"]},
        ]
    }
}
ROWS = [("a", "c"), ("b", "d")] * 500


def accuracy(data=DATA, **asked):
    asked = {"alphabet": LETTERS, "epsilon": 1} | asked
    return sample(data, **asked).receipt.as_dict()


def test_one_record_says_what_share_of_draws_differs():
    receipt = accuracy(sampler="ls-roo")
    law = dproo.mechanism("ls-roo", epsilon=1, n=1000, k=4)
    assert receipt["worst_alpha"] == float_upper(law.worst_alpha)
    assert receipt["accuracy"] == "at most 0.12 % of draws differ from a random record's"
    assert receipt["warnings"] == []


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"size": 5}, "for each record, at most 0.5"),
        ({"neighbours": "add-remove"}, "at 40 records, at most 2."),
        ({"size": 5, "neighbours": "add-remove"}, "for each record, at 200 records, at most 2."),
        ({"records_per_person": 3}, "at most 0.2"),
    ],
)
def test_several_and_people_have_their_own_sentence(asked, words):
    receipt = accuracy(**asked)
    assert receipt["accuracy"].startswith(words)
    assert receipt["accuracy"].endswith("with more, fewer do") == ("neighbours" in asked)


def test_under_add_remove_nothing_of_it_tells_the_number_of_records():
    few, many = (accuracy(["a"] * n, neighbours="add-remove") for n in (1, 10**5))
    for field in ("accuracy", "warnings", "sampler", "sampler_reason", "certificate"):
        assert few[field] == many[field]


def test_a_group_and_a_row_have_their_own_sentence(tmp_path):
    data = tmp_path / "wards.csv"
    data.write_text("ward,c\n" + "A,a\n" * 300 + "B,b\n" * 200)
    asked = {"alphabet": LETTERS, "epsilon": 1, "column": "c", "by": {"ward": ["A", "B"]}}
    private = sample(data, **asked).receipt.as_dict()
    assert private["accuracy"].startswith("in each group, at 40 records, at most 2.")
    covered = private["certificate"]["covers"]
    assert covered == "one record in one group; replaced, it may be in two"
    public = sample(data, **asked, are_groups_public=True).receipt.as_dict()
    assert public["accuracy"].startswith("in each group, at most 0.")
    assert public["certificate"]["covers"] == "one record in one group"
    row = sample(ROWS, codebook=BOOK, epsilon=1).receipt.as_dict()
    assert row["accuracy"].endswith(
        "of rows differ from rows drawn without privacy along the same dependencies"
    )
    assert row["certificate"]["covers"] == "one record, all columns together"
    hidden = sample(
        ROWS, codebook=BOOK, epsilon=1, size=2, neighbours="add-remove", records_per_person=2
    ).receipt.as_dict()
    assert hidden["accuracy"].startswith("for each row, at ")
    assert hidden["certificate"]["covers"] == "all records of a person, all columns together"


def test_a_row_without_a_bound_says_so():
    fields = [
        {"name": "x", "type": "string", "categories": ["a", "b"]},
        {"name": "y", "type": "string", "categories": ["c", "d"]},
        {"name": "z", "type": "string", "categories": ["e", "f"], "parents": ["x", "y"]},
    ]
    data = [("a", "c", "e")] * 50
    receipt = sample(data, codebook={"schema": {"fields": fields}}, epsilon=1).receipt.as_dict()
    assert receipt["accuracy"].startswith("no bound is known: ")
    assert "an unknown share of draws" in receipt["warnings"][0]


def test_a_person_is_covered_as_a_whole_only_by_a_sampler_that_does():
    whole = accuracy(sampler="roo", records_per_person=3)["certificate"]
    assert whole["covers"] == "all records of a person"
    assert 0.9 < whole["epsilon"] <= 1
    each = accuracy(sampler="ls-roo", records_per_person=4)["certificate"]
    assert each["covers"] == "each of 4 records of a person"
    assert each["epsilon"] <= 0.25


def test_what_is_said_at_a_public_number_holds_for_more_records():
    for _ in range(5):
        k, epsilon = DICE.randint(2, 300), Fraction(f"{10 ** DICE.uniform(-2, 1):.3g}")
        n = enough(epsilon, k)
        for name, kind in SAMPLERS.items():
            if "add-remove" in kind.relations:
                said, *later = (
                    kind(epsilon=epsilon, k=k, n=more, neighbours="add-remove").worst_alpha
                    for more in (n, n + 1, 3 * n, 1000 * n)
                )
                assert max(later) <= said, (name, k, epsilon)


def test_poor_accuracy_and_a_large_epsilon_are_warned_of(tmp_path):
    data = tmp_path / "x.csv"
    data.write_text("c\n" + "a\n" * 50)
    letters = tmp_path / "letters.txt"
    letters.write_text("a\nb\nc\n")
    asked = ["sample", str(data), "--column", "c", "--alphabet", str(letters), "--no-ledger"]

    def told(*more):
        return CliRunner().invoke(cli, [*asked, *more]).stderr

    assert "Warning: The accuracy is poor: up to 66 % of draws" in told("--epsilon", "0.01")
    large = told("--epsilon", "11")
    assert large.startswith("Warning: Epsilon above 10 protects little")
    assert large.count("Warning") == 1
    assert "Warning" not in told("--epsilon", "10")
    assert not told("--epsilon", "0.01", "--quiet")
    assert not told("--epsilon", "0.01", "--json")


@pytest.mark.parametrize(("n", "epsilon", "share"), [(50, "0.01", "74 %"), (50, "1", "")])
def test_open_values_that_are_mostly_other_are_warned_of(n, epsilon, share):
    def warnings(**more):
        asked = {"alphabet": "open", "epsilon": epsilon, "delta": "0.01"} | more
        return sample(["a"] * n, **asked).receipt.as_dict()["warnings"]

    poor = (
        f"The accuracy is poor: at least {share} of draws are 'other', whatever the data. It takes"
        " more records or a larger epsilon; see dproo plan."
    )
    assert warnings() == [poor] * bool(share)
    assert warnings(neighbours="add-remove") == []  # their number is private


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_a_table_is_warned_of_where_noise_is_large_beside_its_records(neighbours):
    found = set()
    for epsilon in ("1e-6", "9", f"{10 ** DICE.uniform(-2, 0):.3f}", f"{DICE.uniform(0.3, 1):.3f}"):
        data = dproo.open(ROWS[:50], neighbours=neighbours)
        model = data.synthesize(BOOK, epsilon=epsilon)
        stated = re.search("counts of a column by at most ([0-9,]+)", model.receipt.accuracy)
        is_poor = 10 * int(stated[1].replace(",", "")) > model.records
        if abs(10 * int(stated[1].replace(",", "")) - model.records) < 1:
            continue  # whose decimals a model rounds
        found.add(is_poor)
        assert [text[:22] for text in model.receipt.warnings] == [
            "The accuracy is poor: "
        ] * is_poor
    assert found == {True, False}
    (several,) = data.rows(BOOK, size=7, epsilon="1e-6").receipt.warnings
    assert several == (
        "The accuracy is poor: noise may move counts of a column by more than 10 % of all records."
        " It takes more records, a larger epsilon, or fewer columns and possible values; see dproo"
        " plan."
    )


def test_groups_say_what_they_cost_before_the_charge(tmp_path):
    data = tmp_path / "x.csv"
    data.write_text("ward,c\n" + "A,a\n" * 50)
    letters, wards = tmp_path / "letters.txt", tmp_path / "wards.txt"
    letters.write_text("a\nb\n")
    wards.write_text("A\nB\n")
    asked = ["sample", str(data), "--column", "c", "--alphabet", str(letters), "--epsilon", "2"]
    asked += ["--by", "ward", "--groups", str(wards)]
    refused = CliRunner().invoke(cli, [*asked, "--ledger", str(tmp_path / "none")])
    assert refused.exit_code != 0
    assert "Warning: With --by this costs 2 x epsilon = 4: a record" in refused.stderr
    for once in (["--groups-public"], ["--neighbours", "add-remove"]):
        assert "With --by" not in CliRunner().invoke(cli, [*asked, *once, "--no-ledger"]).stderr
