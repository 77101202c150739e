"""Graphs made from graphs: pure functions of GraphDef messages.

converting     what becomes of a graph when a variable in it becomes a constant
default_attrs  attributes that say what is so by default: taken out, or written into a graph
freezing       frozen graphs: GraphDef messages in which constants stand in the place of variables
frozen_nodes   the nodes and functions of a graph that is being frozen
frozen_tables  embedding variables of frozen graphs
pruning        what of a graph is needed, and what of it only training needs
"""
