"""Release private rows of a sensitive dataset: a table, a row or a value.

A public name is imported when it is first used, so that the command line starts at once.
"""

TYPE_CHECKING = False  # like typing's, which takes longer to import than everything here
if TYPE_CHECKING:
    from dproo.analysis.certificate import Certificate, certify
    from dproo.analysis.composition import Composition, compose
    from dproo.analysis.limit import Limit, limit
    from dproo.analysis.planner import Plan, plan
    from dproo.auditing.exact_law import LawAudit, audit_law, exact_law
    from dproo.auditing.trials import Audit, audit
    from dproo.codebooks.draft import draft_codebook
    from dproo.codebooks.importing import import_codebook
    from dproo.core.counts import Counts
    from dproo.counting.layout import Layout
    from dproo.errors import BudgetRefused, CorruptLedgerError, LedgerError, ReleaseError
    from dproo.ledger import Ledger
    from dproo.mechanisms import (
        BalancedRevealOrObscure,
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
    from dproo.releases.charge import Charge
    from dproo.releases.check import Check
    from dproo.releases.dataset import Dataset, open, sample  # noqa: A004 - dproo.open
    from dproo.releases.protection import Groups, Protection
    from dproo.releases.run import Release
    from dproo.schema import Alphabet
    from dproo.schema.codebook import CodeBook
    from dproo.schema.reading import Reading
    from dproo.study.accuracy import Accuracy, accuracy
    from dproo.study.comparison import compare
    from dproo.synthesis.model import Model

__version__ = "0.1.0"
"""Written here, not looked up: a copy inside another package has no metadata of its own."""

__all__ = [
    "Accuracy",
    "Alphabet",
    "Audit",
    "BalancedRevealOrObscure",
    "BudgetRefused",
    "Certificate",
    "Charge",
    "Check",
    "CodeBook",
    "Composition",
    "CorruptLedgerError",
    "Counts",
    "DataSpecificRevealOrObscure",
    "Dataset",
    "Groups",
    "LawAudit",
    "Layout",
    "Ledger",
    "LedgerError",
    "LetterSpecificRevealOrObscure",
    "Limit",
    "Mechanism",
    "Model",
    "Plan",
    "Protection",
    "Reading",
    "Release",
    "ReleaseError",
    "RevealOrObscure",
    "SubsampledRandomizedResponse",
    "Transition",
    "__version__",
    "accuracy",
    "alpha_of",
    "audit",
    "audit_law",
    "certify",
    "compare",
    "compose",
    "draft_codebook",
    "epsilon_of",
    "exact_law",
    "import_codebook",
    "limit",
    "mechanism",
    "open",
    "plan",
    "sample",
]

_HOMES = {
    "schema": ("Alphabet",),
    "schema.codebook": ("CodeBook",),
    "schema.reading": ("Reading",),
    "study.accuracy": ("Accuracy", "accuracy"),
    "analysis.certificate": ("Certificate", "certify"),
    "study.comparison": ("compare",),
    "analysis.composition": ("Composition", "compose"),
    "analysis.limit": ("Limit", "limit"),
    "analysis.planner": ("Plan", "plan"),
    "auditing.exact_law": ("LawAudit", "audit_law", "exact_law"),
    "auditing.trials": ("Audit", "audit"),
    "codebooks.draft": ("draft_codebook",),
    "codebooks.importing": ("import_codebook",),
    "core.counts": ("Counts",),
    "counting.layout": ("Layout",),
    "errors": ("BudgetRefused", "CorruptLedgerError", "LedgerError", "ReleaseError"),
    "ledger": ("Ledger",),
    "mechanisms": (
        "BalancedRevealOrObscure",
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
    "releases.charge": ("Charge",),
    "releases.check": ("Check",),
    "releases.dataset": ("Dataset", "open", "sample"),
    "releases.run": ("Release",),
    "releases.protection": ("Groups", "Protection"),
    "synthesis.model": ("Model",),
}


def __getattr__(name: str) -> object:
    from importlib import import_module  # noqa: PLC0415 - a command may end before it

    for home, names in _HOMES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f"dproo.{home}"), name)
            return value
    raise AttributeError(f"module 'dproo' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
