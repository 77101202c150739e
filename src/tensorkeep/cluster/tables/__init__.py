"""Embedding tables in parts, each of which is in a process of its own, on one machine or several.

gathered_snapshots  what the parts hold, seen as one snapshot
links               how the parts are reached: in this process, or as actors of a Ray cluster
partitions          one part of a table
placing             the tables of a graph, on a cluster: what `placement=` takes
routing             which keys of a batch go to which part
saving              all parts as one checkpoint
sharded_table       the table, with the interface of EmbeddingTable
specs               what a table is made with, and what is known of it outside its processes
"""
