"""Work on stored embeddings that needs no table: each makes a new checkpoint, or a report.

compacting      a full checkpoint and its newest incremental one, put together to a plain full checkpoint
pruning         leaving out keys of stored embeddings (the rare, the old, the small, all but the best) or slots
quantising      storing the values of embeddings in fewer bits
querying        looking up single keys in a checkpoint
repairing       comparing the keys of weights and slots, which must be the same and, as DeepRec saves them
repartitioning  spreading stored embeddings over another number of shards, without loading them
rewriting       writing a checkpoint anew with some of its embeddings changed
statistics      what is in a stored embedding: amounts, and histograms of them
"""
