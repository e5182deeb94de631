"""Whole rows against their certificate at random; networks and their private choice."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from math import prod

import pytest
from support.draws import DICE, SOAK
from support.networks import every_network

from dproo.core.counts import Counts
from dproo.core.draw import RandomSource
from dproo.core.numbers import exp_lower, exp_upper, is_at_most_exp, log_upper
from dproo.mechanisms import LetterSpecificRevealOrObscure
from dproo.mechanisms.network import SENSITIVITY, Family, Network, chosen, dependence, grown_tree
from dproo.mechanisms.rows import RowSampler


def matching_in(records, sizes):
    """Return the counts that a list of records has for every family and its parents' letters."""

    @cache
    def matching(family, parents):
        found = Counter(
            record[family.column]
            for record in records
            if all(record[p] == letter for p, letter in zip(family.parents, parents, strict=True))
        )
        return Counts.sparse(found, k=sizes[family.column])

    return matching


def random_sampler(sizes, n):
    """Return a sampler of rows with a network, a relation and an epsilon drawn anew."""
    return RowSampler(
        epsilon=Fraction(10 ** DICE.uniform(-6, 1.3)),
        network=DICE.choice(list(every_network(sizes))),
        neighbours=DICE.choice(["replace", "add-remove"]),
        n=n,
    )


@pytest.mark.one_of(3)
def test_no_larger_dataset_drawn_at_random_beats_the_certificate():
    """Records are many of few kinds, most of them like the row in all columns but some."""
    best = 0
    for _ in range(20_000 if SOAK else 200):
        sizes = tuple(DICE.choices([2, 3, 6], k=DICE.randint(2, 4)))
        kinds = list(product(*map(range, sizes)))
        row = (0,) * len(sizes)
        some = [row, *DICE.sample(kinds, 4)]
        records = [kind for kind in some for _ in range(int(10 ** DICE.uniform(-0.5, 2.2)))]
        sampler = random_sampler(sizes, len(records) + 2)
        gone, new = DICE.choice([*some, row]), DICE.choice([*some, row])
        one, other = [*records, gone], [*records, new]
        if sampler.neighbours == "add-remove":
            one = records
        else:
            sampler = replace(sampler, n=len(one))
        p, q = (sampler.probability(matching_in(data, sizes), row) for data in (one, other))
        ratio = max(p, q) / min(p, q)
        assert ratio <= sampler.largest_ratio, (sampler, some, gone, new)
        best = max(best, float(log_upper(ratio) / log_upper(sampler.largest_ratio)))
    assert best > 0.8, "the search finds nothing that could say no"


def test_the_law_of_a_row_sums_to_one():
    sizes = (2, 3)
    (*_, network) = every_network(sizes)
    sampler = RowSampler(
        epsilon=Fraction(1),
        network=network,
        neighbours="add-remove",
        sampler=LetterSpecificRevealOrObscure,
    )
    rows = list(product(*map(range, sizes)))
    for records in combinations_with_replacement(rows, 3):
        matching = matching_in(records, sizes)
        assert sum(sampler.probability(matching, row) for row in rows) == 1


def test_the_shares_add_up_and_follow_the_roots_of_the_cells():
    network = Network.of({"a": (), "b": ("a",)}, [2, 8])
    sampler = RowSampler(
        epsilon=Fraction(3),
        network=network,
        neighbours="add-remove",
        sampler=LetterSpecificRevealOrObscure,
    )
    assert sum(sampler.shares) == 3
    assert float(sampler.shares[1] / sampler.shares[0]) == pytest.approx(8**0.5)


@pytest.mark.parametrize(
    ("families", "sizes"),
    [
        ((Family(1, (0,)), Family(0)), (2, 2)),
        ((Family(0), Family(0)), (2,)),
        ((Family(0),), (2, 2)),
    ],
)
def test_a_network_draws_every_column_once_after_its_parents(families, sizes):
    with pytest.raises(ValueError, match="network must draw every column once, after its parents"):
        Network(families, sizes)


def test_a_column_of_one_letter_is_no_column_of_a_network():
    with pytest.raises(ValueError, match="network must have at least 2 letters in every column"):
        Network((Family(0),), (1,))


def test_a_row_that_does_not_certify_is_not_drawn(monkeypatch):
    monkeypatch.setattr(RowSampler, "largest_ratio", Fraction(3))
    with pytest.raises(ValueError, match="the row did not certify at epsilon = 1"):
        RowSampler(
            epsilon=Fraction(1),
            network=Network.of({"a": ()}, [2]),
            neighbours="add-remove",
            sampler=LetterSpecificRevealOrObscure,
        )


def test_shares_that_do_not_add_up_are_refused():
    with pytest.raises(ValueError, match=r"shares must add up to epsilon = 1, got 0.75"):
        RowSampler(
            epsilon=Fraction(1),
            network=Network.of({"a": (), "b": ()}, [2, 2]),
            neighbours="add-remove",
            sampler=LetterSpecificRevealOrObscure,
            shares=(Fraction(1, 2), Fraction(1, 4)),
        )


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ({"a": ("b",), "b": ("a",)}, r"parents must not form a circle, got \['a', 'b'\]"),
        ({"a": (), "b": ("c",)}, "parents of 'b' must be other columns, got 'c'"),
        ({"a": ("a",), "b": ()}, "parents of 'a' must be other columns, got 'a'"),
        ({"a": (), "b": ("a", "a")}, "parents of 'b' must all differ"),
    ],
)
def test_a_wrong_network_is_refused(parents, message):
    with pytest.raises(ValueError, match=message):
        Network.of(parents, [2, 2])


def test_a_family_of_too_many_cells_is_refused():
    with pytest.raises(ValueError, match="must leave at most 2\\^40 cells"):
        Network.of({"a": (), "b": ("a",)}, [1 << 21, 1 << 20])


def test_a_network_is_put_in_an_order_that_respects_the_parents():
    network = Network.of({"a": ("c",), "b": ("a",), "c": ()}, [2, 3, 4])
    assert [family.column for family in network.families] == [2, 0, 1]
    assert network.cells == (4, 8, 6)
    assert network.is_covered
    assert not Network.of({"a": (), "b": (), "c": ("a", "b")}, [2, 2, 2]).is_covered


RECORDS_MAX = 5


@pytest.mark.parametrize("sizes", [(2, 2), (2, 3), (3, 3)])
def test_one_record_changes_a_score_by_less_than_its_sensitivity(sizes):
    cells = prod(sizes)
    for total in range(RECORDS_MAX + 1 if cells < 9 else 4):
        for records in combinations_with_replacement(range(cells), total):
            score = {}
            for cell in [None, *range(cells)]:
                counts = Counter(records) + Counter([] if cell is None else [cell])
                score[cell] = dependence(Counts.sparse(counts, k=cells), sizes[1])
            added = [value for cell, value in score.items() if cell is not None]
            assert all(abs(value - score[None]) < SENSITIVITY["add-remove"] for value in added)
            assert max(added) - min(added) < SENSITIVITY["replace"]


def law_of_choice(scores, rate):
    """Return bounds on the law of permute-and-flip, from all orders of the candidates."""
    low, high = Counter(), Counter()

    def walk(waiting, reached_low, reached_high):
        for place in waiting:
            gap = rate * (max(scores) - scores[place])
            take_low, take_high = 1 / exp_upper(gap), 1 / exp_lower(gap)
            share = Fraction(1, len(waiting))
            low[place] += reached_low * share * take_low
            high[place] += reached_high * share * take_high
            rest = [other for other in waiting if other != place]
            if rest:
                walk(
                    rest,
                    reached_low * share * (1 - take_high),
                    reached_high * share * (1 - take_low),
                )

    walk(list(range(len(scores))), Fraction(1), Fraction(1))
    return low, high


def test_a_choice_is_private_at_the_stated_rate():
    """Scores that one record moves by up to 1 change every probability by at most e^(2 rate)."""
    rate = Fraction(1, 3)
    laws = {}
    for scores in product(range(4), repeat=3):
        laws[scores] = law_of_choice(scores, rate)
        assert sum(laws[scores][0].values()) <= 1 <= sum(laws[scores][1].values())
    for scores, moves in product(laws, product([-1, 0, 1], repeat=3)):
        moved = tuple(score + move for score, move in zip(scores, moves, strict=True))
        if moved in laws:
            for place in range(3):
                ratio = laws[scores][0][place] / laws[moved][1][place]
                assert is_at_most_exp(ratio, 2 * rate)


def test_the_best_score_is_always_taken_when_nothing_else_comes_near():
    scores = [Fraction(0), Fraction(10**9), Fraction(5)]
    assert {chosen(scores, Fraction(1), RandomSource()) for _ in range(50)} == {1}


def test_a_tree_finds_what_depends_on_what():
    rows = [(a, b, a) for a in range(2) for b in range(2) for _ in range(10_000)]

    def pair(a, b):
        return Counts.sparse(Counter(2 * row[a] + row[b] for row in rows), k=4)

    tree = grown_tree(
        pair, (2, 2, 2), epsilon=Fraction(1), neighbours="replace", source=RandomSource()
    )
    assert Family(2, (0,)) in tree.families


class Recorder(RandomSource):
    """Takes the first candidate whatever its score, and keeps what it was asked."""

    def __init__(self):
        super().__init__()
        self.asked = []

    def below(self, bound):
        del bound
        return 0

    def is_survived(self, exponent):
        self.asked.append(exponent)
        return True


@pytest.mark.parametrize(("neighbours", "sensitivity"), [("add-remove", 2), ("replace", 3)])
def test_every_edge_is_chosen_for_its_share_of_epsilon(neighbours, sensitivity):
    """The first edge has the score 0 where the best has 4, the second is the best itself."""
    tables = {
        (0, 1): Counts.of([1, 1, 1, 1]),
        (0, 2): Counts.of([4, 0, 0, 4]),
        (1, 2): Counts.of([1, 1, 1, 1]),
    }
    source = Recorder()
    options = {"epsilon": Fraction(1), "neighbours": neighbours, "source": source}
    grown_tree(lambda a, b: tables[a, b], (2, 2, 2), **options)
    best = dependence(tables[0, 2], 2)
    assert best == 4
    assert source.asked == [best * Fraction(1, 2) / (2 * sensitivity), 0]
