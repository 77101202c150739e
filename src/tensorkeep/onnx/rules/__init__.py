"""What each op becomes in ONNX: one rule per op, a paragraph each; families of a kind stated once.

    @rule("BiasAdd")
    def bias_add(to, value, bias, *, data_format):        # the graph to write to; a term per input; attributes by name
        return to.node("Add", value, …)                   # a term per output

A rule gets one term per input of the op's signature (a list of them where the signature has a list), and by keyword
those attributes that it names. It gives one term per output; with several outputs a tuple, and a list in the place of
an output that is a list. It runs nothing: what it knows of values before the model runs, it has from its terms.

activations    what a layer does with its sums: activations and softmax
arithmetic     arithmetic of single elements
colors         colors of images: contrast, hue, saturation
convolutions   convolutions, and those that enlarge
detection      objects in images: which of many boxes are kept
every          all rules: importing this makes them known
fused          ops into which TensorFlow's optimizer has put their neighbours
images         images of other sizes, and parts of images
losses         losses that begin with a softmax, and the decoding of sequences of classes
matrices       products of matrices
normalisation  normalisation of batches and of neighbouring channels
passing        what only passes values on, and where values come from
pooling        the maximum or the average of what is under windows
registry       which op has which rule
windows        windows that slide over images: the order of axes, strides and paddings, as ONNX says them
"""
