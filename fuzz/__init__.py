"""Fuzzing: damaged bytes for every decoder, for as long as one likes (`make fuzz`)."""
