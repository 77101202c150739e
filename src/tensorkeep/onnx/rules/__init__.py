"""What each op becomes in ONNX: one rule per op, a paragraph each; families of a kind stated once.

    @rule("BiasAdd")
    def bias_add(to, value, bias, *, data_format):        # the graph to write to; a term per input; attributes by name
        return to.node("Add", value, …)                   # a term per output

A rule gets one term per input of the op's signature (a list of them where the signature has a list), and by keyword
those attributes that it names. It gives one term per output; with several outputs a tuple, and a list in the place of
an output that is a list. It runs nothing: what it knows of values before the model runs, it has from its terms.

arrays/          rules for ops that move values about: shapes, indices, parts, joins, types
numbers/         rules for ops that compute: element by element, along axes, by matrices, by chance
layers/          rules for what layers of networks do, and what lies around them: embeddings, losses, gradients
pictures/        rules for ops on images
strings/         rules for ops on strings, and for the tables in which they are looked up
sparse_tensors/  rules for tensors whose values are not all there, or whose rows differ in length
loops/           rules for branches and loops, and for what loops fill
carriers         types that ONNX Runtime's kernels take, and the wider ones that others are computed in
every            all rules: importing this makes them known
registry         which op has which rule
"""
