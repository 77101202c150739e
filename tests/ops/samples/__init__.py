"""Samples of every op, one file per family."""
