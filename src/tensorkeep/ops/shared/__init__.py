"""What families of ops share: rules about shapes, pieces of graph that gradients are written with, small helpers.

dimensions          arithmetic on sizes of which some are unknown (None)
expressions         small pieces of graph that gradients are written with
families            the paragraphs that whole families of ops share
half_sums           sums of float16 and bfloat16, and products of float16, rounded where TensorFlow rounds them
indexing            indexing of tensors as programs write it, `x[1:, ..., 0]`
kernel_types        what kernels take and give, and what rules of gradients do, as types; arrays of strings
matrix_expressions  pieces of graph that linear algebra is written with, named as TensorFlow's Python names them
shape_rules         shape rules that several ops share
stretches           work on large arrays, element by element, a stretch at a time
value_text          values as TensorFlow writes them in messages: numbers, strings, and whole tensors shortened
"""
