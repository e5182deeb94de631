"""What a sampler guarantees, from public parameters alone: privacy, accuracy, cost, plans."""
