"""Changes to an ONNX model as a whole, after all operations have been translated.

editing    what all passes do to graphs: constants looked at and made, nodes put in the place of others
every      the passes in the order in which they run
fusing     neighbours that fit made one: constants into weights, padding into windows
layout     the order of axes, once for the whole model
moments    normalisation of layers, as frameworks write it out, made one operator
"""
