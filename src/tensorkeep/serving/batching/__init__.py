"""Rows of several requests in one run."""
