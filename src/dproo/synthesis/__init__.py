"""A private table: counts released once with exact noise, and rows drawn from them for nothing."""
