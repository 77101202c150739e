"""hash_table."""
