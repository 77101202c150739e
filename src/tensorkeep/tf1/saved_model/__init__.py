"""saved_model."""
