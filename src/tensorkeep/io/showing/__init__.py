"""showing."""
