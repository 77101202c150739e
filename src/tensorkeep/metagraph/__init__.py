"""Meta graphs: a graph with its collections, its saver and the signatures of its ops, in one message.

collections  collections as CollectionDef messages, in and out
exporting    graphs to meta graphs; the one beside each checkpoint, made anew when it has changed
files        meta graphs in files: MetaGraphDef as bytes (`.meta`) or as text
importing    meta graphs into graphs, and parts of graphs into others by way of them
op_list      the ops that a graph uses, with their signatures
scoping      parts of graphs to export
"""
