"""The public alphabet: the possible values of one column, or of several."""

from dproo.schema.alphabet import OTHER, UNIFORM, Alphabet, Policy, Record

__all__ = ["OTHER", "UNIFORM", "Alphabet", "Policy", "Record"]
