"""slices."""
