"""Our samplers in other libraries: one file for each, imported by whoever has the library."""
