"""Changes to an ONNX model as a whole, after all operations have been translated.

every      the passes in the order in which they run
"""
