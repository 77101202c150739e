"""Embedding variables, which DeepRec has: tables of rows by 64-bit keys, behind handles.

checkpoints             saving and restoring embedding variables
group_lookups           lookups in many tables by one op, under DeepRec's names
hash_table_checkpoints  restoring hash tables: the ops by which a graph reads them from checkpoints
hash_table_updates      the ops that optimizers update hash tables with, under DeepRec's names
hash_tables             DeepRec's older tables by key, `tf.hash_table`
incremental             incremental checkpoints: what was touched since the last full save, written and read
lookups                 embedding variables: tables of rows by 64-bit keys, behind handles
placements              where the tables of embedding variables are, if not in their session
_recording              what changed since a full checkpoint, for incremental ones
session_hash_tables     the hash tables of a session
session_tables          the embedding variables of a session
_snapshots              what a save writes of embedding variables: one snapshot for a table and all its slots
sparse_recording        incremental checkpoints as DeepRec's graphs have them
updates                 the ops that optimizers update embedding variables with, under DeepRec's names
"""
