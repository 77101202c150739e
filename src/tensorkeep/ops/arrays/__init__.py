"""arrays."""
