"""What each op is in JAX: one function per op, or per family of ops.

activations    activations, losses that begin with a softmax, and their gradients
arithmetic     arithmetic on elements, functions of one number, comparisons, bits, types and complex numbers
control_flow   branches and loops that call functions of the graph's library, and calls of modules of StableHLO
convolutions   windows that slide over images: convolutions, pools, and their gradients
every          all lowerings: importing it makes them known
images         images of another size, boxes cut out of them, and their colors
matrices       products of matrices, einsum, diagonals, linear algebra, and Fourier's transform
normalisation  normalisation of batches and of neighbouring channels, and its gradients
passing        what only passes values on, and what only checks them
random         random numbers: of a seed that is an input, and of a key that the function is given
reductions     reductions along axes, of rows that belong together, and of values that are counted
shapes         shapes of values and values of other shapes, and numbers in a row
slicing        parts of values, cut out, put together, and taken or placed by index
tensor_lists   TensorFlow 2's lists of tensors, TensorFlow 1's arrays and stacks of tensors
variables      variables: read, assigned, changed in some rows, and by the steps of optimizers
"""
