"""The samplers: frozen values that map counts to integer weights, and their one registry."""

from dproo.mechanisms.bal_roo.sampler import BalancedRevealOrObscure
from dproo.mechanisms.base import (
    ADD_REMOVE,
    BOTH,
    RECORDS_MAX,
    REPLACE,
    Mechanism,
    Relation,
    Transition,
)
from dproo.mechanisms.ds_roo import DataSpecificRevealOrObscure
from dproo.mechanisms.ls_roo.sampler import LetterSpecificRevealOrObscure
from dproo.mechanisms.registry import AUTO, PLAIN, SAMPLERS, choose, mechanism
from dproo.mechanisms.roo import RevealOrObscure, alpha_of, epsilon_of
from dproo.mechanisms.subrr import SubsampledRandomizedResponse

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
