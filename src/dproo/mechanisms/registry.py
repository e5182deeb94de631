"""The samplers by name, and what ``"auto"`` means.

``"auto"`` takes the sampler with the smallest proven worst case at public parameters. The worst
case is :attr:`~dproo.Mechanism.worst_alpha`, the largest distance between a released record and a
random one over all data; if several records are released, it is the worst case of each. If the
number of records is private, the samplers are compared at a number that depends only on epsilon
and the letters. No data is read, so the choice reveals nothing.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

from dproo.core.checks import exact, one_of
from dproo.core.numbers import Number, parse_epsilon, percent, require_share
from dproo.mechanisms.bal_roo.sampler import FUTILE, BalancedRevealOrObscure
from dproo.mechanisms.base import REPLACE, Mechanism, Relation, enough
from dproo.mechanisms.ds_roo import DataSpecificRevealOrObscure
from dproo.mechanisms.ls_roo.sampler import LetterSpecificRevealOrObscure
from dproo.mechanisms.roo import RevealOrObscure
from dproo.mechanisms.subrr import SubsampledRandomizedResponse

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
"""The sampler for groups and rows, and the yardstick of plans: certified for every relation."""


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
    name = exact(name)
    if isinstance(name, str) and name == AUTO:
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
    """Return the sampler that ``"auto"`` means; invalid arguments are left to a plain one."""
    if set(options) - {"n", "neighbours"}:
        raise TypeError(f"auto has no option {min(set(options) - {'n', 'neighbours'})!r}.")
    plain = mechanism(PLAIN, k=k, epsilon=epsilon, **options)
    n = plain.n if plain.neighbours == REPLACE else None
    return choose(epsilon=parse_epsilon(epsilon), k=k, n=n, neighbours=plain.neighbours).sampler


NOTICEABLE = 1 + Fraction(1, 1000)
"""How much better than LS-ROO another sampler must be: more than roundings can differ."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A sampler chosen by public parameters.

    Attributes:
        sampler: its name.
        alpha: its worst case, exact or proven, for each released record.
        reason: the reason, in one sentence.
    """

    sampler: str
    alpha: Fraction
    reason: str


@lru_cache(maxsize=64)
def choose(
    *,
    epsilon: Fraction,
    k: int,
    n: int | None = None,
    neighbours: Relation = REPLACE,
    draws: int = 1,
    records_per_person: int = 1,
) -> Choice:
    """Return the sampler with the smallest proven worst case.

    Args:
        epsilon: for all released records together.
        k: the number of letters.
        n: the number of records, or None if it is private.
        neighbours: the relation.
        draws: the number of released records, joint or each from its own block.
        records_per_person: the most records that one protected person may own.

    >>> choose(epsilon=Fraction(1), k=15, n=4000).sampler
    'bal-roo'
    >>> choose(epsilon=Fraction(1), k=15, n=20).reason
    'It has the smallest proven worst case: 17 % of draws; ls-roo has 21 %.'
    """
    records = n or enough(epsilon, k, draws=draws, records_per_person=records_per_person)

    def alpha_of(kind: type[Mechanism]) -> Fraction:
        if kind.is_closed_form and n and not takes(kind, "draws"):
            each = epsilon / records_per_person
            return kind.worst_alpha_at(n=max(1, n // draws), k=k, epsilon=each)
        options: dict[str, Any] = {"k": k, "neighbours": neighbours}
        if takes(kind, "draws"):
            options["draws"] = draws
        if not n and neighbours != REPLACE:
            law = certified(kind, epsilon, records_per_person, **options)
            return law.worst_alpha_of_each(records, draws=draws)
        options["n"] = records if takes(kind, "draws") else max(1, records // draws)
        return certified(kind, epsilon, records_per_person, **options).worst_alpha

    plain = LetterSpecificRevealOrObscure
    alphas = {plain.name: alpha_of(plain)}
    is_plain = epsilon / records_per_person < BalancedRevealOrObscure.plain_below(k)
    is_tried: dict[type[Mechanism], bool] = {
        BalancedRevealOrObscure: alphas[plain.name] < FUTILE and not is_plain,
        DataSpecificRevealOrObscure: k == 2,  # better by up to a tenth; never with more letters
        RevealOrObscure: max(draws, records_per_person) > 1,  # never with one record
    }
    for kind, is_worth_it in is_tried.items():
        if is_worth_it and neighbours in kind.relations:
            alphas[kind.name] = alpha_of(kind)
    best = min(alphas, key=lambda name: alphas[name])
    if alphas[plain.name] <= alphas[best] * NOTICEABLE:
        best = plain.name
    return Choice(sampler=best, alpha=alphas[best], reason=_reason(best, alphas, n, records))


def takes(kind: type[Mechanism], option: str) -> bool:
    """Return whether a sampler has an option of its own."""
    return option in {field.name for field in fields(kind)}


@lru_cache(maxsize=64)
def certified(
    kind: type[Mechanism], epsilon: Fraction, records_per_person: int, **options: Any
) -> Mechanism:
    """Return the certified sampler that spends epsilon on all records of a person.

    Several records of a person change the law once each, so a sampler without an option for
    them gets an equal share of epsilon. It is cached, so that releases share its tables.
    """
    if takes(kind, "records_per_person"):
        options["records_per_person"] = records_per_person
    else:
        epsilon /= records_per_person
        require_share(epsilon, "each record of a person")
    return kind(epsilon=epsilon, **options)


def _reason(best: str, alphas: dict[str, Fraction], n: int | None, records: int) -> str:
    where = "" if n else f" at {records:,} records, since their number is private"
    rest = {name: alpha for name, alpha in alphas.items() if name != best}
    other = min(rest, key=lambda name: rest[name], default="")
    if not other or alphas[other] <= alphas[best] * NOTICEABLE:
        return "No sampler has a noticeably smaller proven worst case here."
    least, next_least = percent(alphas[best]), percent(alphas[other])
    others = "hardly more" if next_least == least else next_least
    return f"It has the smallest proven worst case: {least} of draws{where}; {other} has {others}."
