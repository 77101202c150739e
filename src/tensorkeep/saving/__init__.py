"""saving."""
