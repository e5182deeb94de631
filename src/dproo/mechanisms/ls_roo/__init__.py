"""LS-ROO: the sampler, its table, and how the table is found."""
