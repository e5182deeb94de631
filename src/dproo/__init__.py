"""Release one representative record of a sensitive dataset under pure differential privacy."""

from dproo.accuracy import Accuracy, accuracy
from dproo.alphabet import Alphabet
from dproo.audit import Audit, audit
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
    "Composition",
    "Counts",
    "DataSpecificRevealOrObscure",
    "LawAudit",
    "LetterSpecificRevealOrObscure",
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
    "mechanism",
    "plan",
    "sample",
    "synthesize",
]
