"""Contexts that a program may set for its own decimals, and that must change nothing of ours."""

from __future__ import annotations

import decimal
from decimal import Context

_SIGNALS = [
    *(decimal.Clamped, decimal.DivisionByZero, decimal.FloatOperation, decimal.Inexact),
    *(decimal.InvalidOperation, decimal.Overflow, decimal.Rounded, decimal.Subnormal),
    decimal.Underflow,
]

CONTEXTS = {
    "one digit": Context(prec=1),
    "two digits, rounded down": Context(prec=2, rounding=decimal.ROUND_DOWN),
    "two digits, rounded up": Context(prec=2, rounding=decimal.ROUND_UP),
    "strict with floats": Context(traps=[decimal.FloatOperation]),
    "strict with everything": Context(prec=3, Emin=0, Emax=1, clamp=1, traps=_SIGNALS),
    "strict with nothing": Context(traps=[]),
}
