"""The accuracy of several records of a private number is true of blocks whose size is random."""

import re
from fractions import Fraction
from itertools import product
from math import comb, prod
from operator import mul

import pytest
from support.draws import DICE
from support.releasing import sample

from dproo.core import partition
from dproo.core.numbers import is_at_most_exp, percent
from dproo.core.partition import mean_in_block
from dproo.mechanisms import AUTO, choose, mechanism
from dproo.mechanisms.base import enough
from dproo.mechanisms.registry import SAMPLERS, certified, takes

SETTINGS = 8
ONE = 1 << 4000
"""Shares are rounded down to one in so many, which also tells those of a large epsilon apart."""


def ways(records, blocks):
    """In how many ways some records can be in the first of several blocks, by their number."""
    return [
        comb(records, inside) * (blocks - 1) ** (records - inside) for inside in range(records + 1)
    ]


def distance(law, counts, blocks):
    """How far a letter drawn from the first block is from a random record's, exactly."""
    released = [Fraction(0)] * len(counts)
    each = [list(enumerate(ways(count, blocks))) for count in counts]
    for block in product(*each):
        weights = law.weights(law.checked([inside for inside, _ in block]))
        times = prod(number for _, number in block)
        for letter, weight in enumerate(weights):
            released[letter] += Fraction(times * weight * ONE // weights.total, ONE)
    n = sum(counts)
    pairs = zip(released, counts, strict=True)
    return sum(abs(share / blocks**n - Fraction(count, n)) for share, count in pairs) / 2


def of_one_letter(law, records, blocks):
    """The same where all records have one letter, rounded down by less than ``1/ONE``."""
    missing = 0
    each = enumerate(ways(records, blocks)) if blocks > 1 else [(records, 1)]
    for inside, number in each:
        weights = law.weights(law.checked([inside] + [0] * (law.k - 1)))
        missing += number * ((weights.total - weights[0]) * ONE // weights.total)
    return Fraction(missing // blocks**records, ONE)


def an_epsilon(low, high):
    return Fraction(f"{10 ** DICE.uniform(low, high):.3g}")


def said(letters, **asked):
    """The public number of records in a receipt, its share of draws, and its sampler."""
    receipt = sample(["x"] * 5, alphabet=letters, neighbours="add-remove", **asked).receipt
    told = receipt.as_dict()
    found = re.search(r"at ([\d,]+) records, at most ([\d.]+) %", told["accuracy"])
    return int(found[1].replace(",", "")), Fraction(found[2]) / 100, told


@pytest.mark.parametrize("sampler", ["ls-roo", "bal-roo", AUTO])
def test_a_receipt_says_what_enumeration_finds(sampler):
    for _ in range(SETTINGS):
        letters, size = ["x", "y", "z"][: DICE.randint(1, 3)], DICE.choice([2, 3, 5, 10])
        person = DICE.choice([1, 1, 2])
        epsilon = an_epsilon(-0.2, 1.6)
        asked = {"epsilon": epsilon, "size": size, "records_per_person": person}
        records, share, told = said(letters, sampler=sampler, **asked)
        kind = SAMPLERS[told["sampler"]]
        options = {"k": len(letters) + 1, "neighbours": "add-remove"}
        if takes(kind, "draws"):
            options["draws"] = size
        law = certified(kind, epsilon, person, **options)
        blocks = 1 if takes(kind, "draws") else size
        exact = of_one_letter(law, records, blocks)
        assert exact <= share, (sampler, asked, letters)
        assert of_one_letter(law, records + DICE.randint(1, records), blocks) <= share
        if told["sampler"] != "bal-roo":  # the others attain their worst case there
            assert f"{percent(exact)} of draws" in told["accuracy"], (sampler, asked, letters)
        if told["sampler_reason"]:
            assert (
                percent(share) in told["sampler_reason"] or "No sampler" in told["sampler_reason"]
            )


def test_no_data_of_two_letters_is_farther():
    for sampler in ("ls-roo", "bal-roo"):
        for _ in range(3):
            epsilon, size = an_epsilon(-0.2, 1.2), DICE.randint(2, 3)
            records, share, _ = said(["x"], sampler=sampler, epsilon=epsilon, size=size)
            law = mechanism(sampler, epsilon=epsilon, k=2, neighbours="add-remove")
            one = DICE.randint(0, records)
            assert distance(law, [one, records - one], size) <= share, (sampler, epsilon, size, one)


@pytest.mark.parametrize("name", ["roo", "ls-roo", "bal-roo"])
def test_the_unrounded_share_is_that_of_the_law_that_is_drawn_from(name):
    """Also at an epsilon where a receipt rounds it, and for more records of a person than that."""
    kind = SAMPLERS[name]
    for _ in range(SETTINGS):
        k, draws, person = DICE.randint(2, 9), DICE.choice([1, 2, 7]), DICE.choice([1, 3, 500])
        epsilon = an_epsilon(0, 3)
        records = enough(epsilon, k, draws=draws, records_per_person=person)
        if draws > 1 and not takes(kind, "draws") and records > 1000:
            continue
        options = {"k": k, "neighbours": "add-remove"}
        if takes(kind, "draws"):
            options["draws"] = draws
        law = certified(kind, epsilon, person, **options)
        exact = of_one_letter(law, records, 1 if takes(kind, "draws") else draws)
        stated = law.worst_alpha_of_each(records, draws=draws)
        rounding = Fraction(records + 1, 2**120) if draws > 1 else Fraction(1, ONE)
        assert exact <= stated, (name, epsilon, k, draws, person)
        if name != "bal-roo":
            assert stated <= exact * (1 + Fraction(1, 1000)) + rounding
        chosen = choose(
            epsilon=epsilon, k=k, neighbours="add-remove", draws=draws, records_per_person=person
        )
        assert chosen.alpha <= stated * (1 + Fraction(1, 1000)) or chosen.sampler == "ls-roo"
        if chosen.sampler == name:
            assert chosen.alpha == stated


def test_the_mean_over_blocks_is_that_of_the_binomial_law():
    for _ in range(60):
        n, parts = DICE.randint(1, 400), DICE.choice([2, 3, 10, 50, 1000])
        steps = sorted((DICE.random() ** 3 for _ in range(n + 1)), reverse=True)
        values = list(map(Fraction, steps))
        exact = sum(map(mul, ways(n, parts), values)) / parts**n
        found = mean_in_block(values.__getitem__, n, parts)
        assert exact <= found <= exact + Fraction(n + 1, 2**120), (n, parts)


def test_the_mean_over_large_blocks_is_barely_more_than_exact():
    """``E 1/(1 + size)`` is ``(1 - (1 - 1/s)^(n+1)) s / (n + 1)``; for large ``n``, ``s/(n+1)``."""
    for _ in range(20):
        mean, parts = int(10 ** DICE.uniform(2, 12)), DICE.choice([2, 3, 1000, 10**6])
        n = mean * parts
        exact = Fraction(parts, n + 1)
        missing = exact * Fraction(parts - 1, parts) ** (n + 1) if n < 3000 else exact / 2**130
        found = mean_in_block(lambda size: Fraction(1, 1 + size), n, parts)
        assert exact - missing <= found <= exact * (1 + Fraction(4, 1000)), (mean, parts)


def test_far_is_so_far_that_chernoff_leaves_nothing():
    assert is_at_most_exp(
        Fraction(partition._UNIT, partition._SMALL), Fraction(partition._FAR**2, 2)
    )


def test_a_sampler_of_a_public_number_knows_no_other():
    law = mechanism("subrr", epsilon=1, n=100, k=3)
    assert law.worst_alpha_among(100) == law.worst_alpha
    with pytest.raises(ValueError, match="records must be n = 100 for subrr, got 99"):
        law.worst_alpha_among(99)
