"""From checkpoints into tables, full ones and incremental ones.

filling_empty_tables  from a checkpoint into a table that is empty, the short way
finding_deltas        which incremental checkpoint goes with a full one
incremental           incremental checkpoints: what changed since the last full one
reports               what became of the columns of a table when they were restored
restoring_deltas      from an incremental checkpoint into a table that the full one was restored into before
restoring_rows        from a checkpoint into a table, whatever the number of shards
"""
