"""For study, never for release: accuracy, baselines, figures, the bound on average."""
