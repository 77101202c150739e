"""Changes to an ONNX model as a whole, after all operations have been translated.

every            the passes in the order in which they run
wrapped_indices  indices that count from the end where they are below zero: ONNX's Gather does that by itself
"""
