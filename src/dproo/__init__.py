"""Release one representative record of a sensitive dataset under pure differential privacy.

A public name is imported when it is first used, so that a command line starts at once.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dproo.accuracy import Accuracy, accuracy
    from dproo.alphabet import Alphabet
    from dproo.audit import Audit, audit
    from dproo.bound import Limit, limit
    from dproo.codebook import CodeBook
    from dproo.composition import Composition, compose
    from dproo.counts import Counts
    from dproo.engines import ReleaseError
    from dproo.law_audit import LawAudit, audit_law, exact_law
    from dproo.mechanisms import (
        DataSpecificRevealOrObscure,
        LetterSpecificRevealOrObscure,
        Mechanism,
        RevealOrObscure,
        SubsampledRandomizedResponse,
        Transition,
        alpha_of,
        epsilon_of,
        mechanism,
    )
    from dproo.planner import Plan, plan
    from dproo.privacy import Certificate, certify
    from dproo.release import Release, sample
    from dproo.synthesis import synthesize

__all__ = [
    "Accuracy",
    "Alphabet",
    "Audit",
    "Certificate",
    "CodeBook",
    "Composition",
    "Counts",
    "DataSpecificRevealOrObscure",
    "LawAudit",
    "LetterSpecificRevealOrObscure",
    "Limit",
    "Mechanism",
    "Plan",
    "Release",
    "ReleaseError",
    "RevealOrObscure",
    "SubsampledRandomizedResponse",
    "Transition",
    "accuracy",
    "alpha_of",
    "audit",
    "audit_law",
    "certify",
    "compose",
    "epsilon_of",
    "exact_law",
    "limit",
    "mechanism",
    "plan",
    "sample",
    "synthesize",
]

_HOMES = {
    name: home
    for home, names in {
        "accuracy": ("Accuracy", "accuracy"),
        "alphabet": ("Alphabet",),
        "audit": ("Audit", "audit"),
        "bound": ("Limit", "limit"),
        "codebook": ("CodeBook",),
        "composition": ("Composition", "compose"),
        "counts": ("Counts",),
        "engines": ("ReleaseError",),
        "law_audit": ("LawAudit", "audit_law", "exact_law"),
        "mechanisms": (
            "DataSpecificRevealOrObscure",
            "LetterSpecificRevealOrObscure",
            "Mechanism",
            "RevealOrObscure",
            "SubsampledRandomizedResponse",
            "Transition",
            "alpha_of",
            "epsilon_of",
            "mechanism",
        ),
        "planner": ("Plan", "plan"),
        "privacy": ("Certificate", "certify"),
        "release": ("Release", "sample"),
        "synthesis": ("synthesize",),
    }.items()
    for name in names
}


class _Package(ModuleType):
    """A package in which a public name is never taken by the module of the same name."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __getattr__(self, name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value: object = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *__all__})


sys.modules[__name__].__class__ = _Package
