"""savers."""
