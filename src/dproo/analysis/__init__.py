"""What a sampler promises, from public parameters alone: privacy, accuracy, cost, plans."""
