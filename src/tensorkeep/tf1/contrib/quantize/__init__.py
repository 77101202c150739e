"""`tf.contrib.quantize`: graphs rewritten so that they compute as they will with weights and activations of few bits.

folding        batch normalizations folded into the weights of the layers before them
graph_matcher  patterns as programs write them
layers         which weights and activations are quantized
matching       patterns of operations, found in graphs
ranges         numbers rounded to few bits, within a range that variables remember
rewriting      the functions of `tf.contrib.quantize`
"""
