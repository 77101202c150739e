"""looking."""
