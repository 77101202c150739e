"""What each op becomes in ONNX: one rule per op, a paragraph each; families of a kind stated once.

    @rule("BiasAdd")
    def bias_add(to, value, bias, *, data_format):        # the graph to write to; a term per input; attributes by name
        return to.node("Add", value, …)                   # a term per output

A rule gets one term per input of the op's signature (a list of them where the signature has a list), and by keyword
those attributes that it names. It gives one term per output; with several outputs a tuple, and a list in the place of
an output that is a list. It runs nothing: what it knows of values before the model runs, it has from its terms.

_carriers          types that ONNX Runtime's kernels take, and the wider ones that others are computed in
_groups            elements that belong together by a number, in the order of those numbers
_rounds            loops that rules write: so many rounds, each of which is told its number
activations        what a layer does with its sums: activations and softmax
addons             what decoders and clusters compute: beams read back, the nearest centers
arithmetic         arithmetic of single elements
audio              spectrograms of sounds, and the cepstral coefficients of speech
bessel             Bessel functions
bits               bits of whole numbers: logic, shifts, and how many are set
casts              conversions between element types
colors             colors of images: contrast, hue, saturation
comparisons        comparisons, and logic
complex_numbers    complex numbers, which are pairs of floats in the file
control_flow       branches and loops: those that call functions, and the nodes of TensorFlow 1's
convolutions       convolutions, and those that enlarge
counts             how often values occur: in ranges of one width, in rows of ragged and sparse tensors
detection          objects in images: which of many boxes are kept
diagonals          diagonals and bands of matrices: taken out, put in, made into matrices
dilations          convolutions between SpaceToBatchND and BatchToSpaceND: those with dilations
einstein           sums of products by Einstein's notation
elementwise        operators on single elements, as rules use them: in which type they are computed
embeddings         rows of embedding tables by keys, one by one and combined line by line
every              all rules: importing this makes them known
fourier            Fourier transforms
functions          functions of one value, element by element
fused              ops into which TensorFlow's optimizer has put their neighbours
gathering          elements found by index: Gather and its like
gradients          gradients, in models that give them
images             images of other sizes, and parts of images
joining            values put together and taken apart along an axis: Pack, Concat, Split and their like
linear_systems     linear systems: inverses, solutions, triangular factors, determinants
losses             losses that begin with a softmax, and the decoding of sequences of classes
matrices           products of matrices
normalisation      normalisation of batches and of neighbouring channels
passing            what only passes values on, and where values come from
patches            images cut into blocks and patches: SpaceToDepth, SpaceToBatch, ExtractImagePatches
patterns           patterns of strings that stand for one text or for some characters
pooling            the maximum or the average of what is under windows
quantisation       numbers as whole numbers of few bits over a range, and back
ragged             ragged tensors: values in rows of different lengths
random             random numbers
recurrent_cells    steps and sequences of LSTM and GRU as one op
reductions         reductions along axes: sums, means, products, extremes, truth, norms
registry           which op has which rule
scattering         values put in places given by index: ScatterNd and its like
segments           reductions of rows that belong together, by ids
selecting          elements chosen by what they are: Where, Select, Unique, ArgMax, TopK, and the counting of values
sequences          numbers in a row, and running totals: Range, LinSpace, Cumsum and its like
sets               sets in the rows of arrays: what is in both, in one of them, or in the first alone
shapes             shapes of values and values of other shapes: Reshape, Transpose, Tile, Fill, Pad and their like
slicing            parts of values, cut out and replaced: Slice, StridedSlice and their like
sparse             sparse tensors: made dense, reshaped, multiplied with matrices, their empty rows filled
sparse_parts       sparse tensors joined, split, cut, added, and reduced along axes
special_functions  the error function and its inverses, gamma functions
tables             lookup tables: keys to values
tensor_arrays      arrays of tensors of TensorFlow 1
tensor_lists       TensorFlow 2's lists of tensors
text               strings: joined, split, matched, as numbers and back
text_parts         strings put together of parts: characters replaced, spaces taken away, runs of words
warping            images sampled elsewhere: at places that are given, and as a transformation says
windows            windows that slide over images: the order of axes, strides and paddings, as ONNX says them
"""
