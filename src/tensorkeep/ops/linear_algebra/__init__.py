"""linear_algebra."""
