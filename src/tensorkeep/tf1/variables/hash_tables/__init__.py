"""DeepRec's older tables by key: `tf.hash_table`, its lookups, its filters, and how they are saved.

admission  bloom filters that let keys into hash tables once they have occurred often enough
keys       the keys of hash tables, and what tables, slots and filters have in common
lookup     lookups in hash tables, and hooks that take part in them: DeepRec's hash_table/embedding.py
saving     how hash tables and their filters are saved and restored
store      get_hash_table: hash tables by name, in scopes, in parts, found again or made
table      DeepRec's older tables by key, `tf.hash_table`
"""
