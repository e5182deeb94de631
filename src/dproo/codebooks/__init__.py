"""Drafts of code books, from a schema or from what people have; a person completes them."""
