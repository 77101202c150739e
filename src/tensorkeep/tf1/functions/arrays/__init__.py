"""Shapes, parts, orders and fillings of tensors.

counting  counts of values: in bins, in ranges, and of predictions beside labels
patches   images cut into blocks and patches
shapes    shapes, joins, orders and fillings of tensors, under the names that TensorFlow 1 gives them
slicing   parts of tensors by index and by mask, and values put into them; `tensor[key]` too
sorting   sorting along an axis, by what finds the largest
"""
