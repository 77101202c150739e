"""Saving and restoring what a session holds, by the operations of its graph, and folders of checkpoints.

applying              a retention policy applied to a folder as it is, whoever saved what is in it
dense_embeddings      embedding variables of a checkpoint as dense tensors
embedding_loads       the rows that loading gives an embedding variable
folder                a folder of checkpoints under a retention policy: where what a policy decides is done
following             what operations of a graph would set variables and tables to, found by following the graph
freezing              freezing a model: its graph and the values of its variables become one graph without
                      variables
ledger                the ledger: what we wrote in a folder of checkpoints
loaded_values         the values that loading a model gives its variables and tables, read from its checkpoint
named_restoring       restoring the variables of a session by their names, without operations that do it
restore_nodes         what the restoring operations of a graph want from a checkpoint
restored_embeddings   which embedding variables an operation restores, read off the graph
restored_hash_tables  which hash tables an operation restores, read off the graph
retention             which checkpoints are kept: rules as values, decided without looking at a disk or a clock
save_order            the order of saves: whoever finishes first
saver                 savers: variables of a session to checkpoints and back, by the graph's own operations, and which
                      embedding variables these save
session_restoring     restoring the variables of a session by the nodes of its graph
stored_values         the values of a graph's variables, looked up in a checkpoint by the variables' names
"""
