"""The server as a program: flags, workers, listeners, start and stop."""
