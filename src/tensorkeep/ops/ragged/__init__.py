"""Ragged tensors: values, and the numbers that part them into rows.

rows      rows of different lengths: what kernels do with the numbers that part values into rows
tensors   ragged tensors: values in rows of different lengths, made dense, sparse, gathered
variants  ragged tensors as single values of variant tensors, which data pipelines and loops carry
"""
