"""The samplers in other libraries, one file for each."""
