"""Work on stored embeddings that needs no table: each makes a new checkpoint, or a report.

compacting      a full checkpoint and its newest incremental one, put together to a plain full checkpoint
dropping_slots  leaving out the slots of optimizers
histograms      how numbers are spread: counted between edges
pruning         leaving keys out of stored embeddings: the rare, the old, the small, or all but the best
quantising      storing the values of embeddings in fewer bits
querying        looking up single keys in a checkpoint
repairing       comparing the keys of weights and slots, which must be the same and, as DeepRec saves them
repartitioning  spreading stored embeddings over another number of shards, without loading them
rewriting       writing a checkpoint anew with some of its embeddings changed
statistics      what is in a stored embedding
"""
