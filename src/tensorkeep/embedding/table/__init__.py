"""The table itself: keys, rows, who is let in and who is dropped, and its memory.

admission        which keys are given rows
arguments        what a table is given, checked and made plain: keys as vectors of int64, rows as matrices
bloom            a counting Bloom filter: about how often a key occurred, in a fixed amount of memory
chunks           where the rows of a column lie
contents         what a table holds and how it changes, for one thread at a time
counted_keys     keys that are counted and have no row yet
embedding_table  tables of rows by key, which grow as keys appear
eviction         which rows a table drops when it is told to
index            from keys to row numbers
initial_rows     what a row is before it has been trained: a row of a default matrix, chosen by the key
kernels          the work on keys and rows that takes time, as a table sees it
locking          a lock that many readers share, or one writer has
native_index     an index of keys in compiled code
native_kernels   the work on keys and rows, done by the compiled library: large batches in several threads
reused_memory    memory for rows that are handed out in large pieces, batch after batch
rows             rows by number, in chunks of a few megabytes; columns are such rows with a name
snapshot         what an embedding table holds at one moment: what is saved, compared and exported
table_snapshots  snapshots of a table: its keys in order, and its chunks of rows as they were
tiers            where a table keeps its rows: in memory, or in a file, with those in memory that are used most
update_rules     how optimizers change rows
"""
