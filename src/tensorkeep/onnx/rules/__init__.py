"""What each op becomes in ONNX: one rule per op, a paragraph each; families of a kind stated once.

    @rule("BiasAdd")
    def bias_add(to, value, bias, *, data_format):        # the graph to write to; a term per input; attributes by name
        return to.node("Add", value, …)                   # a term per output

A rule gets one term per input of the op's signature (a list of them where the signature has a list), and by keyword
those attributes that it names. It gives one term per output; with several outputs a tuple, and a list in the place of
an output that is a list. It runs nothing: what it knows of values before the model runs, it has from its terms.

_carriers   types that ONNX Runtime's kernels take, and the wider ones that others are computed in
arithmetic  arithmetic of single elements
diagonals   diagonals and bands of matrices: taken out, put in, made into matrices
every       all rules: importing this makes them known
gathering   elements found by index: Gather and its like
joining     values put together and taken apart along an axis: Pack, Concat, Split and their like
matrices    products of matrices
passing     what only passes values on, and where values come from
patches     images cut into blocks and patches: SpaceToDepth, SpaceToBatch, ExtractImagePatches
ragged      ragged tensors: values in rows of different lengths
registry    which op has which rule
scattering  values put in places given by index: ScatterNd and its like
segments    reductions of rows that belong together, by ids
selecting   elements chosen by what they are: Where, Select, Unique, ArgMax, TopK, and the counting of values
sequences   numbers in a row, and running totals: Range, LinSpace, Cumsum and its like
shapes      shapes of values and values of other shapes: Reshape, Transpose, Tile, Fill, Pad and their like
slicing     parts of values, cut out and replaced: Slice, StridedSlice and their like
sparse      sparse tensors: made dense, reshaped, multiplied with matrices, their empty rows filled
"""
