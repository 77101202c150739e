"""Answers to requests, whatever protocol they came by."""
