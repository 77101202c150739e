"""Compiled code, for what takes NumPy many passes over memory. All of it has an implementation in NumPy too."""
