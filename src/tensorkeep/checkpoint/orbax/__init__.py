"""Checkpoints of Orbax, which is what JAX programs save with (the extra `orbax`).

folders  from a folder to the trees in it: steps, items
reader   the trees of a step as a checkpoint
stores   arrays in zarr, plain or within OCDBT, by tensorstore
tree     `_METADATA`: what is in a tree, and under which names it is stored
"""
