"""What many releases cost, printed: ``dproo plan --releases``."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dproo.analysis.composition import BASIC, JOINT, Way, compose, ways_within
from dproo.cli.output import echo, print_json
from dproo.core.numbers import float_upper, parse_delta, parse_epsilon
from dproo.mechanisms import PLAIN, SAMPLERS, Mechanism

EACH, TOGETHER = "each", "together"


def print_releases(releases: int, delta: str, *, as_json: bool, **known: Any) -> None:
    """Print what releases cost at epsilon each, and what one epsilon buys for all of them."""
    if None in (known["n"], known["k"], known["epsilon"]) or known["alpha"] is not None:
        raise ValueError("--releases requires --n, --k and --epsilon, and no --alpha.")
    sizes = {"n": known["n"], "k": known["k"]}
    epsilon = parse_epsilon(known["epsilon"])
    costs = [
        compose(sampler(epsilon=epsilon, **sizes), releases=releases, delta=delta)
        for sampler in SAMPLERS.values()
    ]

    def sampler(share: Fraction) -> Mechanism:
        return SAMPLERS[PLAIN](epsilon=share, **sizes)

    within = ways_within(
        sampler,
        costs[0].joint.sampler,
        lambda made: made.dominating_pair,
        releases=releases,
        epsilon=epsilon,
        delta=parse_delta(delta),
    )
    if BASIC not in {way.name for way in within}:
        share = sampler(epsilon / releases)
        within.append(Way(name=BASIC, sampler=share, epsilon=epsilon, delta=Fraction(0)))
    tables = {
        EACH: [_shown(way) for cost in costs for way in (cost.basic, cost.composed)],
        TOGETHER: [_shown(way) for way in within],
    }
    if as_json:
        print_json({"releases": releases, "delta": delta, **sizes, **tables})
        return
    if parse_delta(delta) * known["n"] >= 1:
        echo("Note: a delta of 1/n or more allows someone's record to be shown.", err=True)
    for name, rows in tables.items():
        echo(f"{releases:,} releases, epsilon {known['epsilon']} {name}:")
        echo(f"  {'sampler':<9}{'way':<9}{'epsilon':>14}{'delta':>9}{'alpha at worst':>16}")
        for row in rows:
            echo(
                f"  {row['sampler']:<9}{row['way']:<9}{row['epsilon']:>14.9g}"
                f"{row['delta']:>9.3g}{row['alpha']:>16.6g}"
            )


def _shown(way: Way) -> dict[str, Any]:
    return {
        "sampler": way.sampler.name,
        "way": way.name,
        "epsilon": float_upper(way.epsilon),
        "delta": float_upper(way.delta),
        "alpha": float(way.alpha),
        "epsilon_each": None if way.name == JOINT else float_upper(way.sampler.epsilon),
    }
