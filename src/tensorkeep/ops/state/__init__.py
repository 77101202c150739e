"""What lasts from run to run: variables, lookup tables, and tensors that a session keeps.

lookup_table_values  lookup tables, as the resources that ops look into
lookup_tables        lookup tables: made, filled, looked into
scatter_updates      changing parts of variables: rows by their positions, elements by their coordinates
session_tensors      tensors that a session keeps between runs: kept, found and forgotten by handles
variables            variables: where they live, reading them, assigning to them
"""
