"""BAL-ROO: the sampler, its table with levels, and what is proven of it."""
