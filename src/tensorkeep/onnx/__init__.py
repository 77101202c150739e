"""Models as ONNX: the operations of a graph become nodes of an ONNX graph, rule by rule.

`translate` takes some tensors of a graph and gives an ONNX model that computes them. It needs the package `onnx-ir`,
the extra `onnx`; nothing below this folder knows of it.

    engine/             the second engine: parts of plans that run in ONNX Runtime
    passes/             changes to a model as a whole, after all operations have been translated
    recurrent/          recurrent layers, found in loops: ONNX's LSTM, GRU and RNN in the place of a Loop
    rules/              what each op becomes: one rule per op, or per family of ops
    branches_and_loops  ONNX's If and Loop, made of pieces of a graph that others know how to write
    following_shapes    shapes that neither the graph nor a rule tells: by what ONNX says of each node
    graphs              the ONNX graph that rules write to: nodes, constants, and steps that many rules share
    known_axes          which axes of values are of one size, though that size is not known
    known_sizes         shapes that a graph computes with, as far as they are known: so many rows, whatever comes next
    limits              how much a translation may take: operations that are written out, and arrays that are made
    models              ONNX models made of graphs: translated, put in order, checked, as bytes
    not_in_onnx         ops that ONNX has no operators for: why, and what to do instead
    size_vectors        vectors of sizes, put together from what is known of each of them
    splitting           a plan in three: what comes before ONNX, what becomes ONNX, and what comes after
    tensor_lists        lists and arrays of tensors, as rows of one tensor, as sequences, or as what a loop fills
    terms               values as rules see them: a type, a shape, and what is known of the value itself
    translation         a graph to ONNX: operation by operation, with functions in their places and constants folded
"""
