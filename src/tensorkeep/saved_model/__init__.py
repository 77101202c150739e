"""SavedModel directories."""
