"""Operations of savers added to a graph, and variables that begin with values of a checkpoint.

embedding_initializing  embedding variables that take their rows from a checkpoint when they are initialized
hash_table_filters      dropping keys of hash tables that are not worth keeping: DeepRec's
                        hash_table/hash_filter.py
incremental             incremental checkpoints: between full saves, what changed since the last of them
incremental_graph       the operations by which a saver saves incrementally, beside those of full saves
initializing            variables that take their initial values from a checkpoint
remapping               initial values for a matrix whose rows or columns belong to a vocabulary
saver_graph             the operations of a saver
saver_recipe            savers that are yet to be made, and the SaverDefs that say what their operations are called
warm_starting           starting a model from the values of an earlier one
"""
