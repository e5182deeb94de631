"""The only path from data to output: a request, its charge, its execution, its receipt."""
