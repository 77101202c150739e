"""Random tensors and their seeds.

numbers  random tensors and their seeds
"""
