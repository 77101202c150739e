"""Random kills, faults and load, and a model of what must be there afterwards."""
