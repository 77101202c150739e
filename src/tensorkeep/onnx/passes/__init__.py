"""Changes to an ONNX model as a whole, after all operations have been translated.

directions recurrent layers that run backwards or both ways, made one operator
every      the passes in the order in which they run
"""
