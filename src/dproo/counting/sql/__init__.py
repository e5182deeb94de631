"""One SQL builder, and what DuckDB, PostgreSQL and Spark call things."""
