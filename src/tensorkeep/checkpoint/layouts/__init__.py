"""Layouts: how checkpoints lie on disk. One is a file here, and a row of the table; everybody else asks the table.

bundles      V2: an index and data files
orbax        Orbax: folders of steps, items and trees, as JAX programs save them
slice_files  V1: one file, or several that go by a pattern
table        what a layout can tell and do, all of them, and which of them a path has
"""
