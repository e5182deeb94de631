"""A release of whole rows: its law, what it costs, what it tells, what it refuses."""

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from itertools import combinations_with_replacement, permutations, product
from math import exp
from types import SimpleNamespace

import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from support.chance import p_value
from support.releasing import sample

import dproo
from dproo import CodeBook, Ledger
from dproo.cli.commands import cli
from dproo.core.counts import Counts
from dproo.core.draw import RandomSource
from dproo.core.numbers import is_at_most_exp
from dproo.mechanisms.network import LEARNED_MAX, SENSITIVITY, Family, Network, dependence
from dproo.releases.protection import Groups, Protection
from dproo.releases.row import RowRequest, RowTables

pytestmark = pytest.mark.one_of(4)

ALPHA = 1e-6


def field(name, letters, **more):
    return {"name": name, "type": "string", "categories": letters, **more}


BOOK = {
    "schema": {
        "fields": [
            field("sex", ["F", "M"]),
            field("ward", ["A", "B", "C"], parents=["sex"]),
            {"name": "age", "type": "integer", "bins": [0, 18, 65, 120], "parents": ["ward"]},
        ]
    }
}
FREE = {
    "schema": {"fields": [field("a", ["x"]), field("b", ["x"]), field("c", ["x"])]},
}
ROWS = [
    *[{"sex": "F", "ward": "A", "age": 70}] * 9,
    *[{"sex": "M", "ward": "B", "age": 7}] * 6,
    *[{"sex": "M", "ward": "C", "age": "?"}] * 4,
    {"sex": None, "ward": "D", "age": 130},
]
ALL_OTHER = {"sex": "other", "ward": "other", "age": "other"}


def test_a_row_is_a_dict_of_every_column():
    drawn = sample(ROWS, codebook=BOOK, epsilon=50)
    assert drawn.value in [
        {"sex": "F", "ward": "A", "age": "[65, 120)"},
        {"sex": "M", "ward": "B", "age": "[0, 18)"},
        {"sex": "M", "ward": "C", "age": "other"},
        ALL_OTHER,
    ]
    receipt = drawn.receipt.as_dict()
    assert (receipt["n"], receipt["network"], receipt["epsilon_network"]) == (20, "declared", "0")
    assert [step["parents"] for step in receipt["columns"]] == [[], ["sex"], ["ward"]]
    assert sum(Fraction(step["epsilon"]) for step in receipt["columns"]) == 50
    assert receipt["codebook_sha256"] == CodeBook.of(BOOK).digest
    assert receipt["certificate"]["holds"]
    assert 0 < receipt["certificate"]["epsilon"] <= 50
    json.dumps(receipt)


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_the_law_of_many_releases_is_that_of_the_certified_steps(neighbours):
    request = RowRequest(
        codebook=CodeBook.of(BOOK),
        epsilon=Fraction(2),
        protection=Protection(neighbours=neighbours),
    )
    tables = counted(request)
    sampler = request.rows_by(request.declared, n=20)
    sizes = request.codebook.sizes
    looked_up = RowTables(dict(zip(request.counted_columns, tables, strict=True)), sizes)
    law = {row: sampler.probability(looked_up.matching, row) for row in product(*map(range, sizes))}
    assert sum(law.values()) == 1
    source = RandomSource()
    drawn = Counter(sampler.draw(looked_up.matching, source=source) for _ in range(20_000))
    assert p_value(drawn, law) > ALPHA
    off = replace(sampler, epsilon=Fraction(3), shares=())
    wrong = {row: off.probability(looked_up.matching, row) for row in law}
    assert p_value(drawn, wrong) < ALPHA


def counted(request, rows=ROWS):
    scan = dproo.counting.prepare(rows, alphabets=request.counted_alphabets)
    return scan.count_several()


@pytest.mark.parametrize("hold", [list, iter, pd.DataFrame, pl.DataFrame])
def test_any_engine_counts_the_tables_of_a_row(hold):
    rows = [{**row, "age": str(row["age"])} for row in ROWS]  # of one type, as frames are
    request = RowRequest(codebook=CodeBook.of(BOOK), epsilon=Fraction(1))
    assert counted(request, hold(rows)) == counted(request)
    assert sample(hold(rows), codebook=BOOK, epsilon=1).receipt.n == 20


def test_a_learned_network_pays_for_its_choice():
    drawn = sample(ROWS, codebook=BOOK, epsilon=1, network="learned")
    receipt = drawn.receipt.as_dict()
    assert (receipt["network"], receipt["epsilon_network"]) == ("learned", "1/5")
    assert sum(Fraction(step["epsilon"]) for step in receipt["columns"]) == Fraction(4, 5)
    assert sum(bool(step["parents"]) for step in receipt["columns"]) == 2
    assert receipt["certificate"]["epsilon"] <= 1


def test_the_epsilon_of_each_column_can_be_given():
    shares = {"ward": "0.5", "sex": "0.2", "age": "0.3"}
    steps = sample(ROWS, codebook=BOOK, epsilon=1, shares=shares, size=2).receipt.details["columns"]
    assert [step["epsilon"] for step in steps] == ["1/10", "1/4", "3/20"]
    with pytest.raises(ValueError, match=r"^shares must add up to 2, got 1. That is epsilon, less"):
        sample(ROWS, codebook=BOOK, epsilon=2, shares=shares)
    with pytest.raises(ValueError, match=r"^shares must add up to 0.8, got 1"):
        sample(ROWS, codebook=BOOK, epsilon=1, shares=shares, network="learned")
    for wrong in ({"ward": 1}, {**shares, "bed": 1}, [1]):
        with pytest.raises(ValueError, match=r"^shares must name the epsilon of every column"):
            sample(ROWS, codebook=BOOK, epsilon=1, shares=wrong)


def test_several_rows_share_epsilon_and_a_person_divides_it():
    drawn = sample(ROWS, codebook=BOOK, epsilon=1, size=4, records_per_person=2)
    assert len(drawn.values) == 4
    assert drawn.receipt.details["epsilon_row"] == "1/4"
    assert drawn.receipt.protects == "one person with up to 2 records"
    request = RowRequest(
        codebook=CodeBook.of(BOOK), epsilon=Fraction(1), size=4, protection=Protection(records=2)
    )
    ratio = request.rows_by(request.declared, n=20).largest_ratio
    assert is_at_most_exp(ratio**8, Fraction(1))
    assert drawn.receipt.certificate["epsilon"] <= 1


@pytest.mark.parametrize(("size", "network"), [(5, "auto"), (6, "learned"), (40, "independent")])
def test_many_rows_come_from_a_private_table_for_the_same_epsilon(size, network):
    drawn = sample(ROWS, codebook=BOOK, epsilon=1, size=size, network=network)
    assert len(drawn.values) == size
    assert drawn.receipt.sampler == "table"
    assert drawn.receipt.certificate["holds"]
    assert drawn.receipt.certificate["epsilon"] <= 1
    more = dproo.Model.of_receipt(drawn.receipt.as_dict()).rows(3)
    assert {*more[0]} == {*drawn.values[0]}


@pytest.mark.parametrize("choice", [{"by": True}, {"shares": True}, {"is_large": True}])
def test_many_rows_pay_their_shares_where_a_table_cannot_serve(choice):
    choices = {"epsilon": 1, "size": 5, "codebook": BOOK}
    if "shares" in choice:
        choices["shares"] = {"ward": "0.5", "sex": "0.2", "age": "0.3"}
    if "by" in choice:
        choices = {**choices, "by": BY, "size": 1}
    if "is_large" in choice:
        large = {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 30_000}}
        choices["codebook"] = {"schema": {"fields": [large]}}
    data = GROUPED if "by" in choice else ROWS
    assert sample(data, **choices).receipt.sampler == "ls-roo"


# One row for each group

GROUPED = [{**row, "year": year} for year in (2023, 2024) for row in ROWS[:9] + ROWS[-1:]]
GROUPED += [{"sex": "M", "ward": "B", "age": 7, "year": 1999}] * 5
BY = {"year": [2022, 2023, 2024]}


def test_a_row_is_released_for_each_public_group():
    drawn = sample(GROUPED, codebook=BOOK, epsilon=90, by=BY, neighbours="add-remove")
    assert [value["year"] for value in drawn.values] == [2022, 2023, 2024]
    assert all(set(value) == {"year", "sex", "ward", "age"} for value in drawn.values)
    assert {value["ward"] for value in drawn.values[1:]} <= {"A", "other"}  # no row of 1999
    assert drawn.receipt.details["groups"] == {"by": "year", "number": 3, "are_public": False}


@pytest.mark.parametrize(
    ("options", "cost"),
    [
        ({"neighbours": "add-remove"}, "1"),
        ({"neighbours": "replace"}, "2"),
        ({"neighbours": "replace", "are_groups_public": True}, "1"),
    ],
)
def test_a_record_that_can_move_between_groups_costs_twice(options, cost):
    drawn = sample(GROUPED, codebook=BOOK, epsilon=1, by=BY, **options)
    assert str(drawn.receipt.epsilon) == cost
    if "are_groups_public" in options:
        assert drawn.values[0] == {"year": 2022, "sex": None, "ward": None, "age": None}


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_the_rows_of_all_groups_together_leak_at_most_what_they_cost(neighbours):
    book = CodeBook.of({"schema": {"fields": [field("a", ["x"]), field("b", ["x"])]}})
    request = RowRequest(
        codebook=book,
        epsilon=Fraction(1),
        network="independent",
        protection=Protection(neighbours=neighbours),
        groups=Groups("g", ["A", "B"]),
    )
    kinds = [{"g": g, "a": a, "b": b} for g, a, b in product("AB?", "xy", "xy")]

    @cache
    def law(places):
        tables = counted(request, [kinds[place] for place in places])
        groups = zip(*map(request._by_group, tables), strict=True)
        laws = []
        for part in groups:
            sampler = request.rows_by(request.declared, n=part[0].n)
            looked_up = RowTables(dict(zip(request.counted_columns, part, strict=True)), (2, 2))
            laws.append(
                [
                    sampler.probability(looked_up.matching, row)
                    for row in product(range(2), repeat=2)
                ]
            )
        return [p * q for p, q in product(*laws)]

    for rest in combinations_with_replacement(range(12), 1):
        if neighbours == "add-remove":
            pairs = [(rest, tuple(sorted((*rest, more)))) for more in range(12)]
        else:
            pairs = product([tuple(sorted((*rest, more))) for more in range(12)], repeat=2)
        for one, other in pairs:
            assert sum(law(one)) == 1
            ratios = [max(p / q, q / p) for p, q in zip(law(one), law(other), strict=True)]
            assert is_at_most_exp(max(ratios), request.cost)


def test_a_bin_can_be_a_number_inside_it():
    for _ in range(50):
        value = sample(ROWS, codebook=BOOK, epsilon=9, within_bins=True).value["age"]
        assert value == "other" or (type(value) is int and 0 <= value < 120)
    numbers = {"schema": {"fields": [{"name": "age", "type": "number", "bins": [0, 1e-300, 2.5]}]}}
    value = sample([{"age": 1}] * 99, codebook=numbers, epsilon=9, within_bins=True).value["age"]
    assert value == "other" or (type(value) is float and 0 <= value < 2.5)
    years = {"schema": {"fields": [{"name": "born", "type": "year", "bins": [1990, 2000.5]}]}}
    value = sample([{"born": 1999}] * 99, codebook=years, epsilon=9, within_bins=True).value["born"]
    assert value == "other" or (type(value) is int and 1990 <= value <= 2000)
    narrow = {"schema": {"fields": [{"name": "a", "type": "integer", "bins": [0.1, 0.9]}]}}
    shown = sample([{"a": 0}] * 9, codebook=narrow, epsilon=9, within_bins=True).value["a"]
    assert shown in {"[0.1, 0.9)", "other"}


def test_under_add_remove_nothing_tells_n():
    receipts = []
    for rows in ([], ROWS[:2], ROWS):
        release = sample(rows, codebook=BOOK, epsilon=1, neighbours="add-remove")
        assert release.value
        receipt = release.receipt.as_dict()
        assert not {"n", "worst_alpha"} & set(receipt)
        receipts.append({key: fact for key, fact in receipt.items() if key != "values"})
    assert all(receipt == receipts[0] for receipt in receipts)


def test_a_row_is_charged_once_and_kept(tmp_path):
    ledger = Ledger.create(tmp_path / "ledger.db")
    ledger.declare("patients", budget="1.5", neighbours="replace")
    drawn = sample(ROWS, codebook=BOOK, epsilon=1, ledger=ledger, dataset="patients")
    assert drawn.receipt.ledger.charge_nano_epsilon == 10**9
    with pytest.raises(dproo.BudgetRefused):
        sample(ROWS, codebook=BOOK, epsilon=1, ledger=ledger, dataset="patients")
    (line,) = [line for account in ledger.show() for line in account.lines]
    assert line.request["columns"] == ["sex", "ward", "age"]
    assert line.request["codebook_sha256"] == CodeBook.of(BOOK).digest


# Everything that is random, enumerated: the network and the row


def flipped(scores, rate):
    """Return the probability of each choice by permute-and-flip, over all orders."""
    takes = [exp(float(-rate * (max(scores) - score))) for score in scores]
    law = [0.0] * len(scores)
    orders = list(permutations(range(len(scores))))
    for order in orders:
        left = 1.0
        for place in order:
            law[place] += left * takes[place] / len(orders)
            left *= 1 - takes[place]
    return law


def law_of_everything(request, records):
    """Return the probability of every network and row together, on three columns."""
    sizes = request.codebook.sizes
    tables = {
        pair: Counts.sparse(
            Counter(record[pair[0]] * sizes[pair[1]] + record[pair[1]] for record in records),
            k=sizes[pair[0]] * sizes[pair[1]],
        )
        for pair in request.counted_columns
    }
    score = {pair: dependence(counts, sizes[pair[1]]) for pair, counts in tables.items()}
    looked_up = RowTables(tables, sizes)
    rate = request.network_epsilon / 2 / (2 * SENSITIVITY[request.protection.neighbours])
    law = Counter()
    first = [(child, 0) for child in (1, 2)]
    for (child, parent), p in zip(
        first, flipped([score[0, c] for c, _ in first], rate), strict=True
    ):
        last = 3 - child
        edges = [(last, 0), (last, child)]
        scores = [score[min(edge), max(edge)] for edge in edges]
        for (_, above), q in zip(edges, flipped(scores, rate), strict=True):
            families = Family(0), Family(child, (parent,)), Family(last, (above,))
            network = Network(families, sizes)
            sampler = request.rows_by(network, n=len(records))
            for row in product(*map(range, sizes)):
                law[network, row] += p * q * float(sampler.probability(looked_up.matching, row))
    return law


@pytest.mark.parametrize("epsilon", [1, 8])
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_network_and_row_together_leak_at_most_epsilon(neighbours, epsilon):
    request = RowRequest(
        codebook=CodeBook.of(FREE),
        epsilon=Fraction(epsilon),
        protection=Protection(neighbours=neighbours),
    )
    rows = list(product(range(2), repeat=3))
    law = cache(partial(law_of_everything, request))
    worst = 1.0
    for n in [3] if neighbours == "replace" else [0, 1, 2]:
        for records in combinations_with_replacement(rows, n):
            one = law(records)
            assert sum(one.values()) == pytest.approx(1)
            rests = [records]
            if neighbours == "replace":
                rests = [records[:place] + records[place + 1 :] for place in range(n)]
            for rest, row in product(rests, rows):
                other = law(tuple(sorted((*rest, row))))
                ratios = [max(p / other[x], other[x] / p) for x, p in one.items()]
                worst = max(worst, *ratios)
    assert worst <= exp(epsilon) * (1 + 1e-9)
    assert worst > exp(0.3 * epsilon)


@pytest.mark.one_of(4)
def test_the_audit_finds_no_more_than_epsilon_and_convicts_a_row_that_pays_for_one_column(
    monkeypatch,
):
    book = CodeBook.of(FREE)
    near = [{"a": "x", "b": "x", "c": "x"}] * 3
    pair = near, [*near[:-1], {"a": "?", "b": "?", "c": "?"}]
    options = {"trials": 20_000, "confidence": "0.999999", "epsilon": 1}

    def rows_of(request):
        def draw_many(records, times):
            tables = counted(request, records)
            source = RandomSource()
            sampler = request.rows_by(request.declared, n=len(records))
            looked_up = RowTables(
                dict(zip(request.counted_columns, tables, strict=True)), book.sizes
            )
            return [sampler.draw(looked_up.matching, source=source) for _ in range(times)]

        return SimpleNamespace(draw_many=draw_many)

    request = RowRequest(codebook=book, epsilon=Fraction(1), network="independent")
    assert dproo.audit(rows_of(request), *pair, **options).epsilon_lower <= 1
    monkeypatch.setattr(RowRequest, "rows_by", _each_column_pays_all)
    assert dproo.audit(rows_of(request), *pair, **options).epsilon_lower > 1


def _each_column_pays_all(request, network, n):
    class PaidOnce:
        def __init__(self):
            self.steps = [
                dproo.mechanism("ls-roo", epsilon=request.epsilon, n=n, k=k) for k in network.sizes
            ]

        def draw(self, matching, *, source):
            return tuple(
                step.draw(matching(family, ()), source=source)[0]
                for family, step in zip(network.families, self.steps, strict=True)
            )

    return PaidOnce()


# Refusals


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"by": {"sex": ["F"]}}, "by must be a column that is not released"),
        ({"by": {"x": ["A"]}, "size": 2}, "by must be used with one row a group, and a network"),
        ({"by": {"x": ["A"]}, "network": "learned"}, "by must be used with one row a group"),
        ({"network": "guessed"}, "network must be one of auto, declared, independent, learned"),
        ({"size": 0}, "size must be at least 1"),
        ({"neighbours": "both"}, "neighbours must be one of"),
        ({"epsilon": 0}, "epsilon must be"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_read(options, sentence):
    def unread():
        raise AssertionError
        yield

    with pytest.raises(ValueError, match=f"^{sentence}"):
        sample(unread(), **{"codebook": BOOK, "epsilon": 1, **options})


def test_a_network_of_huge_columns_is_not_learned():
    huge = {"name": "z", "type": "integer", "constraints": {"minimum": 0, "maximum": 10**9}}
    book = {"schema": {"fields": [huge, field("a", ["x"])]}}
    with pytest.raises(ValueError, match=r"^network must be declared or independent where two"):
        sample([{"z": 1, "a": "x"}], codebook=book, epsilon=1)
    drawn = sample([{"z": 1, "a": "x"}], codebook=book, epsilon=1, network="independent")
    assert set(drawn.value) == {"z", "a"}


def test_a_network_of_many_columns_is_not_learned():
    """It would be rehearsed for hours before its charge, and take as long after it."""
    many = LEARNED_MAX + 1
    book = CodeBook.of({"schema": {"fields": [field(f"c{i}", ["x"]) for i in range(many)]}})
    data = dproo.open([{f"c{i}": "x" for i in range(many)}] * 9)
    sentence = "network must be declared or independent where there are more than 300 columns"
    for refused in (
        lambda: data.row(book, epsilon=1),
        lambda: data.rows(book, size=9, epsilon=1),
        lambda: data.synthesize(book, epsilon=1),
        lambda: data.synthesize(columns=book.columns, epsilon=900, delta="1e-3"),
        lambda: dproo.plan(codebook=book, n=9, epsilon=1),
    ):
        with pytest.raises(ValueError, match=sentence):
            refused()
    warned = data.check(book).warnings
    assert sum(sentence in warning for warning in warned) == 2
    assert len(data.row(book, epsilon=1, network="independent").value) == many


def test_what_belongs_to_rows_needs_a_code_book():
    for options in (["--network", "learned"], ["--within-bins"], ["--share", "sex=1"]):
        asked = ["sample", "data.csv", "--column", "c", "--alphabet", "0..9", "--epsilon", "1"]
        refused = CliRunner().invoke(cli, [*asked, *options])
        assert f"{options[0]} cannot be used with listed values" in str(refused.exception)
    with pytest.raises(ValueError, match=r"^network must not be 'declared' where the code book"):
        sample(ROWS, codebook=FREE, epsilon=1, network="declared")


@pytest.mark.parametrize(
    ("parents", "sentence"),
    [
        ({"ward": ["age"], "age": ["ward"]}, "parents must not form a circle"),
        ({"ward": ["bed"]}, "parents of 'ward' must be other columns"),
        ({"ward": ["ward"]}, "parents of 'ward' must be other columns"),
    ],
)
def test_parents_that_cannot_be_drawn_first_are_refused(parents, sentence):
    fields = [field(name, ["x"], parents=parents.get(name, [])) for name in ("sex", "ward", "age")]
    with pytest.raises(ValueError, match=f"^{sentence}"):
        sample(ROWS, codebook={"schema": {"fields": fields}}, epsilon=1)


# The command line


def test_the_command_line_releases_a_row(tmp_path):
    (tmp_path / "book.json").write_text(json.dumps(BOOK))
    pd.DataFrame(ROWS).to_csv(tmp_path / "data.csv", index=False)
    asked = ["sample", str(tmp_path / "data.csv"), "--codebook", str(tmp_path / "book.json")]
    asked += ["--epsilon", "1", "--no-ledger"]
    plain = CliRunner().invoke(cli, [*asked, "--quiet"])
    assert plain.exit_code == 0, plain.output
    assert [part.split("=")[0] for part in plain.stdout.strip().split("\t")] == [
        "sex",
        "ward",
        "age",
    ]
    found = json.loads(CliRunner().invoke(cli, [*asked, "--json"]).stdout)
    assert set(found["values"][0]) == {"sex", "ward", "age"}
    told = CliRunner().invoke(cli, asked).stderr
    assert "declared: sex; sex -> ward; ward -> age" in told
    given = ["--share", "sex=0.25", "--share", "ward=0.5", "--share", "age=0.25", "--json"]
    found = json.loads(CliRunner().invoke(cli, [*asked, *given]).stdout)
    assert [step["epsilon"] for step in found["columns"]] == ["1/4", "1/2", "1/4"]
    twice = CliRunner().invoke(cli, [*asked, *given, "--share", "age=0.5"])
    assert str(twice.exception) == "--share must be given once for each column, got one twice."
    found = json.loads(CliRunner().invoke(cli, [*asked, "--column", "sex", "--json"]).stdout)
    assert found["values"][0] in {"F", "M", "other"}  # one value, by the code book
    mixed = CliRunner().invoke(cli, [*asked, "--column", "sex", "--column", "ward"])
    assert "--column cannot be used with --codebook, which describes every column." in str(
        mixed.exception
    )


def test_the_command_line_plans_a_row(tmp_path):
    (tmp_path / "book.json").write_text(json.dumps(BOOK))
    asked = ["plan", "--codebook", str(tmp_path / "book.json"), "--epsilon", "1"]
    found = json.loads(CliRunner().invoke(cli, [*asked, "--n", "9999", "--json"]).stdout)
    assert [step["column"] for step in found["columns"]] == ["sex", "ward", "age"]
    assert 0 < found["alpha"] < 0.05
    text = CliRunner().invoke(cli, [*asked, "--n", "20"]).stdout
    assert "hopeless" in text
    answer = dproo.plan(codebook=BOOK, n=9999, epsilon=1)
    assert float(answer.alpha) == pytest.approx(found["alpha"])
    assert sum(step.epsilon for step in answer.columns) == 1
    with pytest.raises(ValueError, match=r"^plan must be given n and epsilon, and no more"):
        dproo.plan(codebook=BOOK, n=5, epsilon=1, k=3)
