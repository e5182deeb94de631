"""The figures of the paper and of the documentation."""
