"""Auditing: draw from any sampler, and bound its epsilon from below."""
