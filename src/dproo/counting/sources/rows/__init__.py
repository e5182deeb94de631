"""Files that are read row by row: Excel, SQLite, SPSS and Stata."""
