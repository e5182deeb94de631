"""Tables of PostgreSQL, counted by its own SQL."""
