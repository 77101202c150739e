"""Lookups of rows in tables, dense ones and embedding variables.

combining      DeepRec's other lookups by sparse ids
group_lookups  lookups in many tables at once, each with its own sparse ids
keys           lookups in embedding variables
lookups        embedding lookups: rows of a table, or of a table in shards, by ids
"""
