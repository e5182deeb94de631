"""Any sampler from outside: draw from it, and bound its epsilon from below."""
