"""Every certificate against brute force, on settings drawn anew at each run.

The brute force here shares nothing with the one in the package but the law of a release: two
datasets are neighbours by the definition, and probabilities are compared as integers. Where a
setting has more pairs than can be tried in its share of the time, random ones of them are.
"""

import os
from collections import Counter
from dataclasses import fields
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from math import prod

import pytest
from support.draws import DICE, SOAK

from dproo import Counts, certify, mechanism
from dproo.core.numbers import is_at_most_exp
from dproo.mechanisms import SAMPLERS, Mechanism, RevealOrObscure

USUALLY, RECORDS_MAX = 800, 6
EPSILONS = Fraction(1, 10**6), Fraction(20)
SETTINGS = int(os.environ.get("DPROO_SETTINGS", 20_000 if SOAK else USUALLY))
PARTS = 10

MOST_PROBABILITIES = 600
MOST_COMPARISONS = 10_000

ATTAINED = {"roo", "ds-roo", "ls-roo", "subrr"}
"""Samplers whose certificate is the largest ratio itself, and not a bound on it."""


def random_epsilon():
    ends = [*EPSILONS, Fraction(DICE.randint(150, 200), 10)]
    if DICE.random() < 0.25:
        return DICE.choice(ends)
    return Fraction(round(10 ** DICE.uniform(-6, 1.302) * 10**9), 10**9)


def random_prior(k):
    top = 10 ** DICE.randint(0, 4)
    return [DICE.randint(1, top) for _ in range(k)]


OPTIONS = {
    "draws": lambda n, _: DICE.choice([1, 1, 2, 2, 3, min(4, n)]),
    "records_per_person": lambda _, __: DICE.choice([1, 1, 2, 2, 3, 4, 7]),
    "prior": lambda _, k: random_prior(k) if DICE.random() < 0.4 else None,
    "as_printed": lambda _, __: DICE.random() < 0.2,
}


def random_setting():
    """Return the name of a sampler and all its options."""
    name = DICE.choice([*SAMPLERS, "roo", "roo"])
    n, k = DICE.randint(1, RECORDS_MAX), DICE.randint(2, 5)
    known = {field.name for field in fields(SAMPLERS[name])} - {"epsilon", "n", "k", "neighbours"}
    if "q" in known and DICE.random() < 0.05:
        return name, {"q": Fraction(DICE.randint(1, 99), 99), "n": n, "k": k}
    options = {option: OPTIONS[option](n, k) for option in sorted(known - {"q"})}
    if name == "subrr":
        options["draws"] = min(options["draws"], n)
    relation = DICE.choice(SAMPLERS[name].relations)
    return name, {
        "epsilon": random_epsilon(),
        "n": n,
        "k": k,
        "neighbours": relation,
        **options,
    }


@cache
def datasets(n, k, relation):
    sizes = {n} if relation == "replace" else range(n + 1)
    return [counts for counts in product(range(n + 1), repeat=k) if sum(counts) in sizes]


@cache
def neighbours(one, n, relation, records):
    """Return the positions of all datasets that one person's records can turn ``one`` into."""
    found = []
    for position, other in enumerate(datasets(n, len(one), relation)):
        changes = [b - a for a, b in zip(one, other, strict=True)]
        gained = sum(change for change in changes if change > 0)
        lost = gained - sum(changes)
        kinds = {"replace": gained == lost, "add-remove": min(gained, lost) == 0}
        is_one_change = kinds.get(relation, any(kinds.values()))
        if is_one_change and max(gained, lost) <= records:
            found.append(position)
    return found


def law(sampler, counts, outcomes):
    """Return the probability of every outcome as numerator and denominator."""
    if sampler.draws == 1:
        weights = list(sampler.weights(Counts.of(counts)))
        total = sum(weights)
        return [(weights[letter], total) for (letter,) in outcomes]
    if isinstance(sampler, RevealOrObscure):
        return urn(sampler, counts, outcomes)
    chances = (sampler.probability(Counts.of(counts), letters) for letters in outcomes)
    return [chance.as_integer_ratio() for chance in chances]


def urn(sampler, counts, outcomes):
    """Draw a letter, count it as one more record, draw again: in integers."""
    weights = list(sampler.weights(Counts.of(counts)))
    more = list(sampler.weights(Counts.of([counts[0] + 1, *counts[1:]])))
    record, total = more[0] - weights[0], sum(weights)
    under = prod(total + i * record for i in range(sampler.draws))
    return [
        (
            prod(
                weights[letter] + i * record
                for letter, times in Counter(letters).items()
                for i in range(times)
            ),
            under,
        )
        for letters in outcomes
    ]


def brute_force(sampler):
    """Return the largest ratio found, and whether every pair and outcome was tried."""
    every = datasets(sampler.n, sampler.k, sampler.neighbours)
    outcomes = list(combinations_with_replacement(range(sampler.k), sampler.draws))
    DICE.shuffle(outcomes)
    possible = len(outcomes)
    if sampler.draws > 1 and not isinstance(sampler, RevealOrObscure):
        del outcomes[max(1, MOST_PROBABILITIES // len(every)) :]
    laws = [law(sampler, counts, outcomes) for counts in every]
    befores = list(enumerate(every))
    if sampler.is_symmetric:
        befores = [(i, counts) for i, counts in befores if list(counts) == sorted(counts)]
    DICE.shuffle(befores)
    over, under, tried, left = 1, 1, 0, MOST_COMPARISONS
    for i, before in befores:
        if left <= 0:
            break
        afters = neighbours(before, sampler.n, sampler.neighbours, sampler.records_per_person)
        left -= len(afters) * len(outcomes)
        tried += 1
        for j in afters:
            for (a, b), (c, d) in zip(laws[j], laws[i], strict=True):
                if a * d * under > over * b * c:
                    over, under = a * d, b * c
    return Fraction(over, under), tried == len(befores) and len(outcomes) == possible


def verdict(sampler):
    """Return what is wrong with the certificate, and by what factor it is above brute force."""
    certificate = certify(sampler)
    found, is_complete = brute_force(sampler)
    wrong = []
    if certificate.ratio < found:
        wrong.append("a transition leaks more than is certified")
    if sampler.is_for_release and not is_at_most_exp(certificate.ratio, sampler.epsilon):
        wrong.append("it is above e^epsilon")
    if sampler.ratio(certificate.witness) > certificate.ratio:
        wrong.append("its witness leaks more than is certified")
    is_attained = sampler.name in ATTAINED or getattr(sampler, "plain", None) is not None
    if is_attained and is_complete and certificate.ratio != found:
        wrong.append("it is not attained")
    if is_attained and sampler.ratio(certificate.witness) != certificate.ratio:
        wrong.append("its witness does not have it")
    return wrong, certificate.ratio / found if is_complete else None


@pytest.mark.untraced
@pytest.mark.parametrize("part", range(PARTS))
def test_no_setting_leaks_more_than_certified_and_none_is_certified_above_epsilon(part):  # noqa: ARG001 - another one draws other settings
    for i in range(SETTINGS // PARTS):
        name, options = random_setting()
        wrong, _ = verdict(mechanism(name, **options))
        assert not wrong, f"setting {i}: {name} {options}: {wrong}"


def test_every_option_of_every_sampler_is_drawn():
    """A new sampler is in it by the registry alone; a new option must say how it is drawn."""
    public = {"epsilon", "n", "k", "neighbours", "q"}
    known = {field.name for sampler in SAMPLERS.values() for field in fields(sampler)}
    assert known - public == set(OPTIONS)
    assert all(issubclass(sampler, Mechanism) for sampler in SAMPLERS.values())


def test_brute_force_convicts_a_certificate_that_is_too_small(monkeypatch):
    sampler = mechanism("roo", epsilon=2, n=3, k=3)
    assert verdict(sampler) == ([], 1)
    less = sampler.largest_ratio * Fraction(999, 1000)
    monkeypatch.setattr(RevealOrObscure, "largest_ratio", less)
    assert "a transition leaks more than is certified" in verdict(sampler)[0]
