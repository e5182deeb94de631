"""Text files: their header, and what is done to their bytes before they are parsed."""
