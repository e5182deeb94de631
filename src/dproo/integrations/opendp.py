"""Our samplers in OpenDP: measurements, and queries of its Context API.

Importing ``dproo`` registers nothing; :func:`enable` does, once. To use a measurement of another
library, OpenDP requires ``dp.enable_features("contrib", "honest-but-curious")`` first.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from dproo import counting
from dproo.core.checks import needing, one_of, refusal
from dproo.core.numbers import Number, float_upper, parse_epsilon
from dproo.errors import ReleaseError
from dproo.mechanisms import ADD_REMOVE, PLAIN, REPLACE, SAMPLERS, Mechanism
from dproo.schema import Alphabet, Record

_RELATIONS = {
    "ChangeOneDistance": REPLACE,
    "HammingDistance": REPLACE,
    "SymmetricDistance": ADD_REMOVE,
    "InsertDeleteDistance": ADD_REMOVE,
}
_OTHER_SIZE = "the data does not have the number of records that its domain states."


def make_sampler(
    input_domain: Any, input_metric: Any, alphabet: Any, epsilon: Number, sampler: str = PLAIN
) -> Any:
    """Return a sampler as an OpenDP measurement of pure epsilon-DP.

    The privacy map is ``log(1 + d_in (e^epsilon - 1))`` for ROO and ``d_in epsilon`` for the
    others, as the least float that is not below it.

    Guarantee: the map is never below the certified loss, and at distance 1 it is at most the float
    above epsilon.

    Args:
        input_domain: vectors of any atoms; under change-one distance, with a stated size, since
            that relation makes the number of records public.
        input_metric: ``change_one_distance()``, or ``symmetric_distance()`` for a sampler
            certified for added and removed records.
        alphabet: the public letters, in any form that :meth:`dproo.Alphabet.of` accepts.
        epsilon: the privacy parameter; in a query of a context, OpenDP finds it if omitted.
        sampler: its name.

    Raises:
        ValueError: an argument is wrong, or OpenDP is not installed.
    """
    measurements, measures = _library()
    letters = Alphabet.of(alphabet)
    kind = SAMPLERS[one_of("sampler", sampler, SAMPLERS)]
    exact = parse_epsilon(epsilon)
    options = _options(input_domain, input_metric, kind, letters.k)

    @cache
    def law() -> Mechanism:
        # Made only for data, not while OpenDP tries one epsilon after another.
        return kind(epsilon=exact, **options)

    def release(data: Any) -> Record:
        counts = counting.count(data, alphabet=letters)
        if counts.n != options.get("n", counts.n):
            raise ReleaseError(_OTHER_SIZE)
        return letters[law().draw(counts)[0]]

    def privacy_map(d_in: int) -> float:
        return float_upper(kind.group_loss(exact, d_in))

    return measurements.make_user_measurement(
        input_domain, input_metric, measures.max_divergence(), release, privacy_map
    )


def _options(domain: Any, metric: Any, kind: type[Mechanism], k: int) -> dict[str, Any]:
    """Return the sampler's arguments other than epsilon, checked."""
    relation = _RELATIONS.get(str(getattr(metric, "type", None)))
    if relation not in kind.relations:
        known = [name for name, relation in _RELATIONS.items() if relation in kind.relations]
        condition = f"be one of {', '.join(known)} for {kind.name}"
        raise ValueError(refusal("input_metric", condition, str(metric)))
    if getattr(getattr(domain, "type", None), "origin", None) != "VectorDomain":
        raise ValueError(refusal("input_domain", "be a domain of vectors", str(domain)))
    if k < 2:
        raise ValueError(refusal("alphabet", "have at least 2 letters", k))
    options: dict[str, Any] = {"k": k, "neighbours": relation}
    if relation == REPLACE:
        if not domain.size:
            raise ValueError(
                "input_domain must have a size above 0 under change-one distance, where the number "
                "of records is public: vector_domain(..., size=n)."
            )
        options["n"] = domain.size
    return options


def _library() -> tuple[Any, Any]:
    with needing("opendp", extra="opendp"):
        from opendp import measurements, measures
    return measurements, measures


def constructor(sampler: str) -> Callable[..., Any]:
    """Return the constructor of one sampler's measurements, such as ``make_ls_roo``."""

    def make(input_domain: Any, input_metric: Any, alphabet: Any, epsilon: Number) -> Any:
        return make_sampler(input_domain, input_metric, alphabet, epsilon, sampler)

    make.__name__ = f"make_{sampler.replace('-', '_')}"
    make.__doc__ = f"Return {sampler} as a measurement; see make_sampler."
    return make


@cache
def enable() -> None:
    """Register every sampler in OpenDP's Context API: ``context.query().roo(alphabet)``.

    Raises:
        ValueError: OpenDP is not installed, or another library has taken a name.
    """
    _library()
    from opendp.context import register

    for sampler in SAMPLERS:
        register(constructor(sampler))
