"""ragged."""
