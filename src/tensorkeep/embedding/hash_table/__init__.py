"""DeepRec's older tables, hash tables: rows by key without slots of their own, and their files.

admission  who lets keys into a hash table
files      hash tables and their filters in checkpoints
table      keys that are numbered as they appear, and rows by these numbers
"""
