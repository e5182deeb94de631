"""What is studied and never drawn from: accuracy, baselines, figures, the bound on average."""
