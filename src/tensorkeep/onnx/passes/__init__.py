"""Changes to an ONNX model as a whole, after all operations have been translated.

apart            convolutions of joined images as sums of two, where a processor is faster at that
detours          detours that frameworks take and ONNX need not: matrices of rows, tiles
directions       recurrent layers that run backwards or both ways, made one operator
early_casts      casts before transpositions, where a product takes both: ONNX Runtime ends the process otherwise
early_picks      rows that are picked out at the end, picked before they are computed
editing          what all passes do to graphs: constants looked at and made, nodes put in the place of others
every            the passes in the order in which they run
formulas         formulas that frameworks write out step by step, made one operator: layer normalisation, GELU
fusing           neighbours that fit made one: constants into weights, padding into windows
joined_tables    rows of many tables side by side, looked up in one table of all
layout           the order of axes, once for the whole model
row_images       sequences that a convolution slides over, as images of one row, for which there are faster kernels
single_rows      images of a single row, which TensorFlow makes of sequences: done as sequences
whole_pools      means and maxima over all rows and columns of images, as pools
wrapped_indices  indices that count from the end where they are below zero: ONNX's Gather does that by itself
"""
