"""Sorted string tables: maps from bytes to bytes in one file, LevelDB's format, which checkpoints are made of.

block          blocks: runs of sorted entries, each key stored as its difference from the one before
block_plan     blocks (see block.py), planned and written
format         the fixed parts of a table file: handles, the footer, and the trailer behind every block
table          tables: sorted maps from bytes to bytes in one file (see format.py for its parts
table_writer   tables (see table.py), written
"""
