"""BAL-ROO: the sampler, its table with levels, and the bounds proven for it."""
