"""The samplers: frozen values that map counts to integer weights, and their one registry."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Final

from dproo.core.arguments import one_of
from dproo.core.exact import Number, parse_epsilon
from dproo.mechanisms.balanced import BalancedRevealOrObscure
from dproo.mechanisms.base import (
    ADD_REMOVE,
    BOTH,
    RECORDS_MAX,
    REPLACE,
    Mechanism,
    Relation,
    Transition,
)
from dproo.mechanisms.choice import choose
from dproo.mechanisms.data_specific import DataSpecificRevealOrObscure
from dproo.mechanisms.letter_specific import LetterSpecificRevealOrObscure
from dproo.mechanisms.randomized_response import SubsampledRandomizedResponse
from dproo.mechanisms.reveal_or_obscure import RevealOrObscure, alpha_of, epsilon_of

SAMPLERS: dict[str, type[Mechanism]] = {
    sampler.name: sampler
    for sampler in (
        RevealOrObscure,
        DataSpecificRevealOrObscure,
        LetterSpecificRevealOrObscure,
        BalancedRevealOrObscure,
        SubsampledRandomizedResponse,
    )
}

AUTO: Final = "auto"
"""The default: the sampler with the smallest proven worst case at public parameters."""

PLAIN: Final = LetterSpecificRevealOrObscure.name
"""The sampler of groups and rows, and the yardstick of plans: certified for every relation."""


def mechanism(name: str, *, k: int, epsilon: Number | None = None, **options: object) -> Mechanism:
    """Return the certified sampler called ``name``.

    Args:
        name: ``"roo"``, ``"ds-roo"``, ``"ls-roo"``, ``"bal-roo"`` or ``"subrr"``;
            ``"auto"`` for the one with the smallest proven worst case.
        k: the number of letters of the public alphabet.
        epsilon: the privacy parameter.
        options: ``n`` (required under replace neighbours), ``neighbours``, and the sampler's
            own options.

    >>> mechanism("ls-roo", epsilon="0.1", n=1000, k=9).name
    'ls-roo'
    >>> mechanism("auto", epsilon="0.1", n=1000, k=9).name
    'bal-roo'

    Raises:
        TypeError: an argument is missing, or the sampler has no such option.
        ValueError: an argument is out of its range.
    """
    if name == AUTO:
        name = _chosen(k=k, epsilon=epsilon, **options)
    sampler = SAMPLERS[one_of("sampler", name, SAMPLERS)]
    known = {field.name: field.default for field in fields(sampler)}
    for option in options:
        if option not in known:
            raise TypeError(f"{name} has no option {option!r}.")
    if "n" not in options and options.get("neighbours", REPLACE) == REPLACE:
        raise TypeError("n must be given under replace neighbours, where it is public.")
    if epsilon is not None:
        options["epsilon"] = epsilon
    elif known["epsilon"] is MISSING:
        raise TypeError("epsilon must be given.")
    return sampler(k=k, **options)  # type: ignore[arg-type]


def _chosen(*, k: int, epsilon: Number | None, **options: object) -> str:
    """Return what ``"auto"`` takes; a plain sampler refuses what is wrong."""
    if set(options) - {"n", "neighbours"}:
        raise TypeError(f"auto has no option {min(set(options) - {'n', 'neighbours'})!r}.")
    plain = mechanism(PLAIN, k=k, epsilon=epsilon, **options)
    n = plain.n if plain.neighbours == REPLACE else None
    return choose(epsilon=parse_epsilon(epsilon), k=k, n=n, neighbours=plain.neighbours).sampler


__all__ = [
    "ADD_REMOVE",
    "AUTO",
    "BOTH",
    "PLAIN",
    "RECORDS_MAX",
    "REPLACE",
    "SAMPLERS",
    "BalancedRevealOrObscure",
    "DataSpecificRevealOrObscure",
    "LetterSpecificRevealOrObscure",
    "Mechanism",
    "Relation",
    "RevealOrObscure",
    "SubsampledRandomizedResponse",
    "Transition",
    "alpha_of",
    "choose",
    "epsilon_of",
    "mechanism",
]
