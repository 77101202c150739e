"""Models as ONNX: the operations of a graph become nodes of an ONNX graph, rule by rule.

`translate` takes some tensors of a graph and gives an ONNX model that computes them. It needs the package `onnx-ir`,
the extra `onnx`; nothing below this folder knows of it.

    engine/       the second engine: parts of plans that run in ONNX Runtime
    passes/       changes to a model as a whole, after all operations have been translated
    rules/        what each op becomes: one rule per op, or per family of ops
    graphs        the ONNX graph that rules write to: nodes, constants, and steps that many rules share
    known_sizes   shapes that a graph computes with, as far as they are known: so many rows, whatever comes next
    models        ONNX models made of graphs: translated, put in order, checked, as bytes
    terms         values as rules see them: a type, a shape, and what is known of the value itself
    translation   a graph to ONNX: operation by operation, with functions in their places and constants folded
"""
