"""An audit as an assertion: the fixture ``assert_private``, in pytest once dproo is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def assert_private() -> Callable[..., None]:
    """Return :func:`check`."""
    return check


def check(sampler: Any, epsilon: Any, *pair: Any, **options: Any) -> None:
    """Fail the test if an audit refutes that a sampler is epsilon-DP; passing proves nothing.

    Args:
        sampler: a function from a dataset to a letter, or a sampler of dproo.
        epsilon: the claimed privacy parameter.
        pair: two neighbouring datasets; a sampler of dproo needs none, since its certificate
            names the worst pair.
        options: arguments of :func:`dproo.audit`. By the default confidence of 0.999999, the test
            of a private sampler fails at most once in a million runs.
    """
    from dproo.analysis.certificate import certify  # noqa: PLC0415 - every test run loads this file
    from dproo.auditing.trials import NOT_REFUTED, audit  # noqa: PLC0415
    from dproo.mechanisms import Mechanism  # noqa: PLC0415

    if isinstance(sampler, Mechanism) and not pair:
        witness = certify(sampler).witness
        pair = (witness.before, witness.after)
    found = audit(sampler, *pair, epsilon=epsilon, **{"confidence": "0.999999", **options})
    if found.verdict != NOT_REFUTED:
        why = "its draws depend on each other"
        if found.are_independent:
            why = f"its epsilon is at least {found.epsilon_lower:.3g}"
        pytest.fail(
            f"sampler must be private for epsilon = {epsilon}, but {why}, with confidence"
            f" {float(found.confidence)}.",
            pytrace=False,
        )
