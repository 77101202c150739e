"""Sparse tensors.

tensors  sparse tensors: made, joined, cut, reduced, multiplied
"""
