"""What each op becomes in ONNX: one rule per op, a paragraph each; families of a kind stated once.

    @rule("BiasAdd")
    def bias_add(to, value, bias, *, data_format):        # the graph to write to; a term per input; attributes by name
        return to.node("Add", value, …)                   # a term per output

A rule gets one term per input of the op's signature (a list of them where the signature has a list), and by keyword
those attributes that it names. It gives one term per output; with several outputs a tuple, and a list in the place of
an output that is a list. It runs nothing: what it knows of values before the model runs, it has from its terms.

angles             the angle of a point, which ONNX has no operator for
arithmetic         arithmetic of two values that are stretched to each other
audio              spectrograms of sounds, and the cepstral coefficients of speech
bits               bits of whole numbers: logic, shifts, and how many are set
casts              conversions between element types
comparisons        comparisons, and logic
complex_numbers    complex numbers, which are pairs of floats in the file
einstein           sums of products by Einstein's notation
elementwise        operators on single elements, as rules use them: in which type they are computed
every              all rules: importing this makes them known
fourier            Fourier transforms
functions          functions of one value, element by element
matrices           products of matrices, determinants and inverses
passing            what only passes values on, and where values come from
quantisation       numbers as whole numbers of few bits over a range, and back
random             random numbers
reductions         reductions along axes: sums, means, products, extremes, truth, norms
registry           which op has which rule
special_functions  the error function and its inverses, gamma functions
"""
