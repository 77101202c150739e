"""coding."""
