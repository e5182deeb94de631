"""The exact core: parsed numbers, counts, randomness, and one draw from integer weights."""
