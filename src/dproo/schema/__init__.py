"""The public alphabet: the possible values of one column, or of several."""

from dproo.schema.alphabet import UNIFORM, Alphabet, Policy, Record
from dproo.schema.axis import OTHER

__all__ = ["OTHER", "UNIFORM", "Alphabet", "Policy", "Record"]
