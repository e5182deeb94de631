"""One SQL builder, and the dialects of DuckDB, PostgreSQL and Spark."""
