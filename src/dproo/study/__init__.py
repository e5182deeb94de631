"""What is studied and never released by: accuracy, baselines, figures, bounds on average."""
