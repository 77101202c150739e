"""What each op becomes in ONNX: one rule per op, a paragraph each; families of a kind stated once.

    @rule("BiasAdd")
    def bias_add(to, value, bias, *, data_format):        # the graph to write to; a term per input; attributes by name
        return to.node("Add", value, …)                   # a term per output

A rule gets one term per input of the op's signature (a list of them where the signature has a list), and by keyword
those attributes that it names. It gives one term per output; with several outputs a tuple, and a list in the place of
an output that is a list. It runs nothing: what it knows of values before the model runs, it has from its terms.

arithmetic  arithmetic of single elements
control_flow   branches and loops: those that call functions, and the nodes of TensorFlow 1's
every       all rules: importing this makes them known
matrices    products of matrices
passing     what only passes values on, and where values come from
recurrent_cells  steps and sequences of LSTM and GRU as one op
registry    which op has which rule
tensor_arrays  arrays of tensors of TensorFlow 1
tensor_lists   TensorFlow 2's lists of tensors
"""
