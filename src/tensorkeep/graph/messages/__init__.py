"""Graphs as messages: GraphDef in and out, without loss.

attrs             attribute values: AttrValue messages and the Python values that stand for them
files             graphs in files: GraphDef as bytes (`.pb`) or as text (`.pbtxt`)
full_types        full types: what a node says, beyond types and shapes, of what its outputs hold
graph_def         graphs as GraphDef messages, in and out, without loss
import_arguments  what the caller of an import says
versions          how old a graph is: who made it, who may read it, and nodes of older releases in today's form
"""
