"""changing."""
